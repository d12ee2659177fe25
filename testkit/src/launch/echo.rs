//! WebSocket servers that echo every message: Python's `websockets` and Node's `ws`, and over TLS hypercorn
//! and Node's `http2`. A message to `/close` is answered with a close frame with its code and reason, and the
//! connection is closed after 0.3 seconds.

use std::ffi::OsString;
use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use super::{Running, program, run_until};
use crate::certs::Leaf;
use crate::temp::TempDir;

/// The implementation of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoKind {
    Python,
    Node,
}

impl EchoKind {
    pub const ALL: [EchoKind; 2] = [EchoKind::Python, EchoKind::Node];
}

/// The server, ended when dropped.
pub struct Echo {
    _running: Running,
    _directory: TempDir,
    scheme: &'static str,
    port: u16,
}

/// The implementation of the server with HTTP/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEchoKind {
    /// Its streams carry WebSockets (RFC 8441).
    Hypercorn,
    /// Node's http2, reached by HTTP/1.1.
    Node,
}

impl Echo {
    /// Starts a server. With `deflate`, it agrees to permessage-deflate when that is offered.
    pub fn start(kind: EchoKind, deflate: bool) -> io::Result<Echo> {
        let directory = TempDir::new("echo")?;
        let compression = OsString::from(if deflate { "deflate" } else { "plain" });
        let (command, source) = match kind {
            EchoKind::Python => (python("websockets")?, include_str!("echo.py")),
            EchoKind::Node => (node()?, include_str!("echo.js")),
        };
        Echo::run(command, source, directory, "ws", &[compression])
    }

    /// Starts a server over TLS.
    pub fn secured(kind: StreamEchoKind, leaf: &Leaf) -> io::Result<Echo> {
        let directory = TempDir::new("echo")?;
        let cert = directory.write("cert.pem", &leaf.cert_pem)?.into_os_string();
        let key = directory.write("key.pem", &leaf.key_pem)?.into_os_string();
        let (command, source) = match kind {
            StreamEchoKind::Hypercorn => (python("hypercorn")?, include_str!("echo_hypercorn.py")),
            StreamEchoKind::Node => (node()?, include_str!("echo_http2.js")),
        };
        Echo::run(command, source, directory, "wss", &[cert, key])
    }

    /// Runs a script that writes its port to a file.
    fn run(
        mut command: Command,
        source: &str,
        directory: TempDir,
        scheme: &'static str,
        words: &[OsString],
    ) -> io::Result<Echo> {
        let (file, port_file) = (directory.write("server", source)?, directory.path().join("port"));
        command.arg(file).arg(&port_file).args(words);
        let port = || std::fs::read_to_string(&port_file).ok()?.trim_end().parse::<u16>().ok();
        let answers = || port().is_some_and(|port| TcpStream::connect(("127.0.0.1", port)).is_ok());
        let running = run_until(command, &directory.path().join("log"), answers)?;
        let port = port().expect("the server has written it");
        Ok(Echo { _running: running, _directory: directory, scheme, port })
    }

    pub fn url(&self, path: &str) -> String {
        let host = if self.scheme == "ws" { "127.0.0.1" } else { "localhost" };
        format!("{}://{host}:{}{path}", self.scheme, self.port)
    }
}

/// Python, where Debian's package of that module is.
fn python(module: &str) -> io::Result<Command> {
    installed(&format!("/usr/lib/python3/dist-packages/{module}"), &format!("python3-{module}"))?;
    let mut python = Command::new("/usr/bin/python3");
    python.arg("-I");
    Ok(python)
}

/// Node, with ws.
fn node() -> io::Result<Command> {
    installed("/usr/share/nodejs/ws", "node-ws")?;
    Ok(Command::new(program("node", "nodejs")?))
}

fn installed(path: &str, package: &str) -> io::Result<()> {
    if Path::new(path).exists() {
        return Ok(());
    }
    let text = format!("{path} is missing: install the package {package}");
    Err(io::Error::new(io::ErrorKind::NotFound, text))
}
