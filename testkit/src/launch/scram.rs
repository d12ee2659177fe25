//! A POP3 server over TLS with only SCRAM with channel binding: no server in Debian supports it, so this one
//! is ours, in Python, with that language's primitives and OpenSSL's exporter.

use std::io;
use std::path::Path;
use std::process::Command;

use super::{Running, run_until};
use crate::certs::Leaf;
use crate::temp::TempDir;

const SERVER: &str = include_str!("scram.py");

/// The server, ended when dropped. Every user's password is "pa" and IX.
pub struct ScramServer {
    _running: Running,
    _directory: TempDir,
    pub port: u16,
}

impl ScramServer {
    /// `bound` is the certificate that it believes to be its own: another one simulates an attacker in the
    /// middle. `kinds` are its channel bindings, separated by commas.
    pub fn start(leaf: &Leaf, bound: &Leaf, kinds: &str) -> io::Result<ScramServer> {
        let directory = TempDir::new("scram")?;
        let (file, port_file) = (directory.write("server.py", SERVER)?, directory.path().join("port"));
        let mut command = Command::new("/usr/bin/python3");
        command.arg("-I").arg(file).arg(&port_file).arg(directory.write("cert.pem", &leaf.cert_pem)?);
        command.arg(directory.write("key.pem", &leaf.key_pem)?);
        command.arg(directory.write("bound.pem", &bound.cert_pem)?).arg(kinds);
        let running = run_until(command, &directory.path().join("log"), || port(&port_file).is_some())?;
        let port = port(&port_file).expect("the server has written it");
        Ok(ScramServer { _running: running, _directory: directory, port })
    }
}

fn port(port_file: &Path) -> Option<u16> {
    std::fs::read_to_string(port_file).ok()?.strip_prefix("port ")?.strip_suffix('\n')?.parse().ok()
}
