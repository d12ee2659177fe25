//! A SOCKS 5 proxy that requires a ticket: Debian's dante is built without GSS-API, so this one is ours, in
//! Python, with MIT Kerberos' own acceptor (the package python3-gssapi). It reports what it negotiates with a
//! client.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Kerberos, Running, run_until};
use crate::temp::TempDir;

/// The interpreter of Debian's packages; another one may be earlier in PATH.
const PYTHON: &str = "/usr/bin/python3";
const PACKAGE: &str = "/usr/lib/python3/dist-packages/gssapi";
const SERVER: &str = include_str!("socks_gssapi.py");

/// The proxy, ended when dropped.
pub struct SocksServer {
    _running: Running,
    report: PathBuf,
    directory: TempDir,
    pub port: u16,
}

impl SocksServer {
    /// `protection` is its reply to a request for protection: a level's number, `wanted`, or `nec`. With
    /// `eager` it chooses a method before the client offers any.
    pub fn start(realm: &Kerberos, protection: &str) -> io::Result<SocksServer> {
        if !Path::new(PACKAGE).exists() {
            let text = "gssapi is missing: install the package python3-gssapi";
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let directory = TempDir::new("socks")?;
        let (file, report) = (directory.write("server.py", SERVER)?, directory.path().join("report"));
        let mut command = Command::new(PYTHON);
        command.arg("-I").arg(file).arg(protection).arg(&report);
        realm.environment(&mut command);
        let running = run_until(command, &directory.path().join("log"), || port(&report).is_some())?;
        let port = port(&report).expect("the server has written it");
        Ok(SocksServer { _running: running, report, directory, port })
    }

    /// Returns the address with the host name, because tickets are for the name.
    pub fn address(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// A client in the same language, with the same library's other side, that asks for this level of
    /// protection and then for 100,000 bytes.
    pub fn witness(&self, level: u8, to: &str) -> Command {
        let mut command = Command::new(PYTHON);
        command.arg("-I").arg(self.directory.path().join("server.py"));
        command.args(["client", &self.port.to_string(), &level.to_string(), to]);
        command
    }

    /// Returns the logins so far, with their destinations.
    pub fn logins(&self) -> Vec<String> {
        let report = std::fs::read_to_string(&self.report).unwrap_or_default();
        report.lines().skip(1).map(str::to_owned).collect()
    }
}

fn port(report: &Path) -> Option<u16> {
    std::fs::read_to_string(report).ok()?.strip_prefix("port ")?.split_once('\n')?.0.parse().ok()
}
