//! Two more HTTP/3 servers besides caddy: aioquic in Python, quic-go in Go. Both serve `/bytes-N` and echo
//! uploads; tests/install.sh builds the programs.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Running, run_until};
use crate::body::pattern;
use crate::certs::Leaf;
use crate::temp::TempDir;

/// The implementation of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuicKind {
    Aioquic,
    QuicGo,
}

/// The server, ended when dropped.
pub struct QuicServer {
    running: Option<Running>,
    kind: QuicKind,
    program: PathBuf,
    directory: TempDir,
    port: u16,
}

impl QuicServer {
    /// `program` is the Python that has aioquic, or the server on quic-go.
    pub fn start(kind: QuicKind, program: &Path, leaf: &Leaf, sizes: &[usize]) -> io::Result<QuicServer> {
        let directory = TempDir::new("quic")?;
        for size in sizes {
            directory.write(&format!("root/bytes-{size}"), pattern(*size))?;
        }
        directory.write("cert.pem", &leaf.cert_pem)?;
        directory.write("key.pem", &leaf.key_pem)?;
        directory.write("server", include_str!("quic_aioquic.py"))?;
        let program = program.to_owned();
        let mut server = QuicServer { running: None, kind, program, directory, port: 0 };
        server.run()?;
        Ok(server)
    }

    fn run(&mut self) -> io::Result<()> {
        let file = |name| self.directory.path().join(name);
        let port_file = file("port");
        let mut command = Command::new(&self.program);
        if self.kind == QuicKind::Aioquic {
            command.arg("-I").arg(file("server"));
        }
        command.arg(&port_file).args(["cert.pem", "key.pem", "root"].map(file)).arg(self.port.to_string());
        let port = || std::fs::read_to_string(&port_file).ok()?.trim_end().parse().ok();
        self.running = Some(run_until(command, &file("log"), || port().is_some())?);
        self.port = port().expect("the server has written it");
        Ok(())
    }

    /// Ends it, which closes its connections, and starts it on the same port.
    pub fn restart(&mut self) -> io::Result<()> {
        self.running = None;
        std::fs::remove_file(self.directory.path().join("port"))?;
        self.run()
    }

    pub fn https(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the server's log, for diagnosing a failure.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}
