//! WebSocket servers that say every message back: Python's `websockets` and Node's `ws`. What is sent to `/close` is answered
//! by closing with the code and the reason that it names, for good after 0.3 seconds.

use std::io;
use std::path::Path;
use std::process::Command;

use super::{Running, program, run_until};
use crate::temp::TempDir;

/// Whose server it is.
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
    port: u16,
}

impl Echo {
    /// With `deflate`, it agrees to permessage-deflate when that is offered.
    pub fn start(kind: EchoKind, deflate: bool) -> io::Result<Echo> {
        let (mut command, package, needed, source) = match kind {
            EchoKind::Python => {
                let mut python = Command::new("/usr/bin/python3");
                python.arg("-I");
                (
                    python,
                    "python3-websockets",
                    "/usr/lib/python3/dist-packages/websockets",
                    include_str!("echo.py"),
                )
            }
            EchoKind::Node => {
                let node = Command::new(program("node", "nodejs")?);
                (node, "node-ws", "/usr/share/nodejs/ws", include_str!("echo.js"))
            }
        };
        if !Path::new(needed).exists() {
            let text = format!("{needed} is missing: install the package {package}");
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let directory = TempDir::new("echo")?;
        let (file, told) = (directory.write("server", source)?, directory.path().join("port"));
        command.arg(file).arg(&told).arg(if deflate { "deflate" } else { "plain" });
        let port = || std::fs::read_to_string(&told).ok()?.trim_end().parse().ok();
        let running = run_until(command, &directory.path().join("log"), || port().is_some())?;
        let port = port().expect("it has just been told");
        Ok(Echo { _running: running, _directory: directory, port })
    }

    pub fn url(&self, path: &str) -> String {
        format!("ws://127.0.0.1:{}{path}", self.port)
    }
}
