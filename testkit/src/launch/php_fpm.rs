//! PHP's process manager with one worker, and a FastCGI client that runs scripts in it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{Running, free_port, run, with_retries};
use crate::temp::TempDir;

/// Types of records (FastCGI 1.0, section 8).
const BEGIN: u8 = 1;
const END: u8 = 3;
const PARAMETERS: u8 = 4;
const INPUT: u8 = 5;
const OUTPUT: u8 = 6;
const ERRORS: u8 = 7;

/// The manager and its worker, ended when dropped.
pub struct PhpFpm {
    _running: Running,
    directory: TempDir,
    port: u16,
}

impl PhpFpm {
    /// Starts the manager with additional lines in the pool's configuration. `prepare` sets its environment.
    pub fn start(pool: &str, prepare: impl Fn(&mut Command)) -> io::Result<PhpFpm> {
        with_retries(|| PhpFpm::try_start(pool, &prepare))
    }

    fn try_start(pool: &str, prepare: &dyn Fn(&mut Command)) -> io::Result<PhpFpm> {
        let manager = program()?;
        let directory = TempDir::new("php-fpm")?;
        let port = free_port()?;
        let place = directory.path().display();
        let config = format!(
            "[global]\npid = {place}/pid\nerror_log = {place}/errors\ndaemonize = no
[www]\nlisten = 127.0.0.1:{port}\nuser = root\ngroup = root\npm = static\npm.max_children = 1
catch_workers_output = yes\n{pool}\n"
        );
        let config = directory.write("fpm.conf", config)?;
        let mut command = Command::new(manager);
        prepare(&mut command);
        // Without the flag, php-fpm refuses a pool of root.
        command.args(["--nodaemonize", "--allow-to-run-as-root", "--fpm-config"]).arg(config);
        let running = run(command, &directory.path().join("log"), &[port])?;
        Ok(PhpFpm { _running: running, directory, port })
    }

    /// Runs PHP code in the worker and returns the body of its reply.
    pub fn output_of(&self, code: &str) -> io::Result<String> {
        let script = self.directory.write("script.php", format!("<?php\n{code}\n"))?;
        let reply = self.ask(&script)?;
        let body = reply.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        body.ok_or_else(|| io::Error::other(format!("no head: {reply:?}")))
    }

    fn ask(&self, script: &Path) -> io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        // Role: responder. Flags: none, so the connection ends with the reply.
        let mut request = record(BEGIN, &[0, 1, 0, 0, 0, 0, 0, 0]);
        let script = script.to_string_lossy();
        let parameters =
            [("SCRIPT_FILENAME", &*script), ("REQUEST_METHOD", "GET"), ("SCRIPT_NAME", "/script.php")];
        let parameters: Vec<u8> = parameters.iter().flat_map(|(name, value)| pair(name, value)).collect();
        request.extend(record(PARAMETERS, &parameters));
        request.extend(record(PARAMETERS, &[]));
        request.extend(record(INPUT, &[]));
        stream.write_all(&request)?;
        let mut output = Vec::new();
        loop {
            let mut head = [0; 8];
            stream.read_exact(&mut head)?;
            let length = usize::from(u16::from_be_bytes([head[4], head[5]]));
            let mut content = vec![0; length + usize::from(head[6])];
            stream.read_exact(&mut content)?;
            match head[1] {
                OUTPUT => output.extend_from_slice(&content[..length]),
                ERRORS => {
                    return Err(io::Error::other(String::from_utf8_lossy(&content[..length]).into_owned()));
                }
                END => return Ok(String::from_utf8_lossy(&output).into_owned()),
                _ => {}
            }
        }
    }
}

/// A record of request 1.
fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).expect("tests send little").to_be_bytes();
    [&[1, kind, 0, 1, length[0], length[1], 0, 0], content].concat()
}

/// A parameter: both lengths in four bytes, then both texts.
fn pair(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| (text.len() as u32 | 1 << 31).to_be_bytes();
    [&length(name)[..], &length(value), name.as_bytes(), value.as_bytes()].concat()
}

/// Finds the manager, whose name has PHP's version in it.
fn program() -> io::Result<PathBuf> {
    let named = |name: &OsString| name.to_string_lossy().starts_with("php-fpm");
    let entries = fs::read_dir("/usr/sbin").into_iter().flatten().flatten();
    let found = entries.map(|entry| entry.file_name()).filter(named).max();
    let missing = || io::Error::new(ErrorKind::NotFound, "php-fpm is missing: install the package php-fpm");
    found.map(|name| Path::new("/usr/sbin").join(name)).ok_or_else(missing)
}
