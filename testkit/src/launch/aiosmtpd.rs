//! An SMTP server of quite another make: Python's aiosmtpd (the package python3-aiosmtpd), which takes one
//! command after the other. It has PLAIN, LOGIN, SIZE, SMTPUTF8 and STARTTLS.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Running, run_until};
use crate::certs::Leaf;
use crate::temp::TempDir;

/// The interpreter of Debian's packages; another one may be earlier in PATH.
const PYTHON: &str = "/usr/bin/python3";
const PACKAGE: &str = "/usr/lib/python3/dist-packages/aiosmtpd";
const SERVER: &str = include_str!("aiosmtpd.py");

/// The server, with the user "user" and the password "secret"; mails to "nobody" are refused.
pub struct Aiosmtpd {
    _running: Running,
    directory: TempDir,
    pub port: u16,
}

impl Aiosmtpd {
    pub fn start(leaf: &Leaf) -> io::Result<Aiosmtpd> {
        if !Path::new(PACKAGE).exists() {
            let text = "aiosmtpd is missing: install the package python3-aiosmtpd";
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let directory = TempDir::new("aiosmtpd")?;
        let (file, port_file) = (directory.write("server.py", SERVER)?, directory.path().join("port"));
        let certificate = directory.write("cert.pem", &leaf.cert_pem)?;
        let key = directory.write("key.pem", &leaf.key_pem)?;
        let mut command = Command::new(PYTHON);
        command.arg("-I").arg(file).arg(&port_file).arg(certificate).arg(key);
        let running = run_until(command, &directory.path().join("log"), || port(&port_file).is_some())?;
        let port = port(&port_file).expect("the server has written it");
        Ok(Aiosmtpd { _running: running, directory, port })
    }

    /// Returns the mails that it accepted, in order, unmodified.
    pub fn mails(&self) -> Vec<Vec<u8>> {
        let file = |n: &usize| -> PathBuf { self.directory.path().join(format!("port.mail-{n}")) };
        (1..).map_while(|n| std::fs::read(file(&n)).ok()).collect()
    }
}

fn port(port_file: &Path) -> Option<u16> {
    std::fs::read_to_string(port_file).ok()?.strip_prefix("port ")?.strip_suffix('\n')?.parse().ok()
}
