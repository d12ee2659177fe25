//! Proxies with tunnels for datagrams and for bytes (RFC 9298): HTTP/3 by aioquic, HTTP/2 and HTTP/1.1 by
//! Node.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Running, program, run_until};
use crate::certs::Leaf;
use crate::temp::TempDir;

/// The implementation of the proxy.
#[derive(Clone, Copy, Debug)]
pub enum TunnelKind<'a> {
    /// By this Python, which has aioquic.
    Aioquic(&'a Path),
    Node,
}

/// The proxy, ended when dropped.
pub struct TunnelProxy {
    _running: Running,
    directory: TempDir,
    port: u16,
}

impl TunnelProxy {
    /// `words` are the script's own.
    pub fn start(kind: TunnelKind<'_>, leaf: &Leaf, words: &[&str]) -> io::Result<TunnelProxy> {
        let directory = TempDir::new("tunnels")?;
        directory.write("cert.pem", &leaf.cert_pem)?;
        directory.write("key.pem", &leaf.key_pem)?;
        let file = |name: &str| -> PathBuf { directory.path().join(name) };
        let mut command = match kind {
            TunnelKind::Aioquic(python) => {
                directory.write("server", include_str!("tunnels_aioquic.py"))?;
                let mut command = Command::new(python);
                command.arg("-I");
                command
            }
            TunnelKind::Node => {
                directory.write("server", include_str!("tunnels_node.js"))?;
                Command::new(program("node", "nodejs")?)
            }
        };
        let port_file = file("port");
        command.arg(file("server")).arg(&port_file).args(["cert.pem", "key.pem"].map(file)).args(words);
        let port = || std::fs::read_to_string(&port_file).ok()?.trim_end().parse().ok();
        let running = run_until(command, &file("log"), || port().is_some())?;
        let port = port().expect("the server has written it");
        Ok(TunnelProxy { _running: running, directory, port })
    }

    pub fn https(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    /// Returns its log, line by line.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}
