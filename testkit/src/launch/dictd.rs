//! dictd with a dictionary of Debian's, English to French.

use std::io;
use std::path::Path;
use std::process::Command;

use super::{Running, free_port, program, run, with_retries};
use crate::temp::TempDir;

const DICTIONARY: &str = "/usr/share/dictd/freedict-eng-fra";

/// The server, ended when dropped.
pub struct Dictd {
    _running: Running,
    _directory: TempDir,
    port: u16,
}

impl Dictd {
    pub fn start() -> io::Result<Dictd> {
        with_retries(Dictd::try_start)
    }

    fn try_start() -> io::Result<Dictd> {
        let dictd = program("dictd", "dictd")?;
        if !Path::new(&format!("{DICTIONARY}.index")).exists() {
            let text = "a dictionary is missing: install the package dict-freedict-eng-fra";
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let directory = TempDir::new("dictd")?;
        let config = format!(
            "access {{ allow * }}\ndatabase eng-fra {{ data {DICTIONARY}.dict.dz index {DICTIONARY}.index }}\n"
        );
        let config = directory.write("dictd.conf", config)?;
        let port = free_port()?;
        let mut command = Command::new(dictd);
        command
            .args(["-d", "nodetach", "--listen-to", "127.0.0.1", "-p", &port.to_string(), "-c"])
            .arg(config);
        command.arg("--pid-file").arg(directory.path().join("pid"));
        let running = run(command, &directory.path().join("log"), &[port])?;
        Ok(Dictd { _running: running, _directory: directory, port })
    }

    pub fn url(&self, path: &str) -> String {
        format!("dict://127.0.0.1:{}{path}", self.port)
    }
}
