//! moto, a server that answers as Amazon's services do, from PyPI (tests/install.sh python_tools).

use std::io::{self, ErrorKind};
use std::process::Command;

use super::ftpd::target;
use super::{Running, free_port, run, with_retries};
use crate::temp::TempDir;

/// A server of S3's API. Any key and signature is accepted.
pub struct Moto {
    _running: Running,
    _directory: TempDir,
    port: u16,
}

impl Moto {
    pub fn start() -> io::Result<Moto> {
        with_retries(|| {
            let python = target().join("python/tools/bin/python");
            let text = format!("{} is missing: run tests/install.sh python_tools", python.display());
            python.is_file().then_some(()).ok_or_else(|| io::Error::new(ErrorKind::NotFound, text))?;
            let (directory, port) = (TempDir::new("moto")?, free_port()?);
            let mut command = Command::new(python);
            command.args(["-c", "from moto.server import main; main()", "-H", "127.0.0.1"]);
            command.args(["-p", &port.to_string()]);
            let running = run(command, &directory.path().join("log"), &[port])?;
            Ok(Moto { _running: running, _directory: directory, port })
        })
    }

    /// Returns the address of the service, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}
