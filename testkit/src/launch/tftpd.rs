//! tftpd-hpa, serving a directory that may be written to.

use std::io;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use super::{Running, program, run_until, with_retries};
use crate::body::pattern;
use crate::temp::TempDir;

/// The server, ended when dropped. It becomes another user in its own root, and so wants to be started by
/// root.
pub struct Tftpd {
    _running: Running,
    directory: TempDir,
    port: u16,
}

impl Tftpd {
    /// Starts a server with `/bytes-N` files of these sizes.
    pub fn start(sizes: &[usize]) -> io::Result<Tftpd> {
        with_retries(|| Tftpd::try_start(sizes))
    }

    fn try_start(sizes: &[usize]) -> io::Result<Tftpd> {
        let tftpd = program("in.tftpd", "tftpd-hpa")?;
        let directory = TempDir::new("tftpd")?;
        for size in sizes {
            directory.write(&format!("root/bytes-{size}"), pattern(*size))?;
        }
        let root = directory.path().join("root");
        std::fs::set_permissions(&root, PermissionsExt::from_mode(0o777))?;
        let port = UdpSocket::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new(tftpd);
        command.args(["--foreground", "--address", &format!("127.0.0.1:{port}"), "--user", "root"]);
        command.args(["--create", "--secure"]).arg(&root);
        let running = run_until(command, &directory.path().join("log"), || answers(port))?;
        Ok(Tftpd { _running: running, directory, port })
    }

    pub fn url(&self, path: &str) -> String {
        format!("tftp://127.0.0.1:{}{path}", self.port)
    }

    /// A file below the served directory as it is now.
    pub fn file(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.directory.path().join("root").join(name)).ok()
    }
}

/// Whether it says that a file is missing.
fn answers(port: u16) -> bool {
    let ask = || -> io::Result<usize> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_read_timeout(Some(Duration::from_millis(200)))?;
        socket.send_to(b"\0\x01missing\0octet\0", ("127.0.0.1", port))?;
        socket.recv(&mut [0; 64])
    };
    ask().is_ok()
}
