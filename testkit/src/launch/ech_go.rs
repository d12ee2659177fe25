//! A server in Go with Encrypted Client Hello that reports what it saw; tests/install.sh builds the program.

use std::io;
use std::process::Command;

use super::ftpd::target;
use super::nss::COVER;
use super::{Running, run_until};
use crate::certs::Leaf;
use crate::temp::TempDir;

/// The server, ended when dropped. Its replies say `name NAME, encrypted true` of the hello that counted.
pub struct EchGo {
    _running: Running,
    _directory: TempDir,
    pub port: u16,
    /// Its ECHConfigList; the name in the outer hello is [`COVER`].
    pub configs: Vec<u8>,
    /// One of another key, which it can't open.
    pub foreign: Vec<u8>,
}

impl EchGo {
    pub fn start(leaf: &Leaf) -> io::Result<EchGo> {
        let program = target().join("ech-go/server");
        if !program.is_file() {
            let text = format!("{} is missing: run tests/install.sh ech_server", program.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let directory = TempDir::new("ech-go")?;
        directory.write("cert.pem", &leaf.cert_pem)?;
        directory.write("key.pem", &leaf.key_pem)?;
        let file = |name| directory.path().join(name);
        let report = file("report");
        let mut command = Command::new(program);
        command.arg(&report).args(["cert.pem", "key.pem"].map(file)).arg(COVER);
        let running = run_until(command, &file("log"), || report.exists())?;
        let text = std::fs::read_to_string(&report)?;
        let lines: Vec<&str> = text.lines().collect();
        let [port, configs, foreign] = lines[..] else { return Err(io::Error::other(text)) };
        let port = port.parse().map_err(io::Error::other)?;
        let (configs, foreign) = (octets(configs)?, octets(foreign)?);
        Ok(EchGo { _running: running, _directory: directory, port, configs, foreign })
    }
}

fn octets(digits: &str) -> io::Result<Vec<u8>> {
    let octet = |at| u8::from_str_radix(&digits[at..at + 2], 16).map_err(io::Error::other);
    (0..digits.len() / 2).map(|n| octet(2 * n)).collect()
}
