//! Servers that speak on their standard input and output, one process for each connection: a gopher server,
//! over TLS by stunnel, and a TELNET server.

use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use super::{Running, free_port, program, run, with_retries};
use crate::body::pattern;
use crate::certs::Leaf;
use crate::temp::TempDir;

/// Starts a program for each connection. It serves until the process ends; the programs end with their
/// connections.
fn serve(program: PathBuf, arguments: Vec<String>) -> io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let Ok(other) = stream.try_clone() else { continue };
            let (input, output) = (OwnedFd::from(stream), OwnedFd::from(other));
            let mut command = Command::new(&program);
            command.args(&arguments).stdin(input).stdout(output).stderr(Stdio::null());
            if let Ok(mut child) = command.spawn() {
                drop(command); // it keeps the connection open
                thread::spawn(move || child.wait());
            }
        }
    });
    Ok(port)
}

/// Gophernicus, in the clear and behind stunnel.
pub struct Gopher {
    _running: Running,
    _directory: TempDir,
    port: u16,
    tls_port: u16,
}

impl Gopher {
    /// Starts a server with `/bytes-N.bin` files of these sizes, and a folder.
    pub fn start(leaf: &Leaf, sizes: &[usize]) -> io::Result<Gopher> {
        with_retries(|| Gopher::try_start(leaf, sizes))
    }

    fn try_start(leaf: &Leaf, sizes: &[usize]) -> io::Result<Gopher> {
        let stunnel = program("stunnel4", "stunnel4")?;
        program("gophernicus", "gophernicus")?;
        let directory = TempDir::new("gopher")?;
        for size in sizes {
            directory.write(&format!("root/bytes-{size}.bin"), pattern(*size))?;
        }
        directory.write("root/folder/two words.txt", "content\n")?;
        directory.write("cert.pem", format!("{}\n{}", leaf.cert_pem, leaf.key_pem))?;
        for place in ["", "root", "root/folder"] {
            std::fs::set_permissions(directory.path().join(place), PermissionsExt::from_mode(0o755))?;
        }
        let words = words(&directory.path().join("root"))?;
        let server = program(&words[0], "util-linux")?;
        let tls_port = free_port()?;
        let config = format!(
            "foreground = yes\npid =\n[gophers]\naccept = 127.0.0.1:{tls_port}\ncert = {}\nexec = {}\nexecArgs = {}\n",
            directory.path().join("cert.pem").display(),
            server.display(),
            words.join(" ")
        );
        let config = directory.write("stunnel.conf", config)?;
        let port = serve(server, words[1..].to_vec())?;
        let mut command = Command::new(stunnel);
        command.arg(config);
        let running = run(command, &directory.path().join("log"), &[tls_port])?;
        Ok(Gopher { _running: running, _directory: directory, port, tls_port })
    }

    pub fn gopher(&self, path: &str) -> String {
        format!("gopher://127.0.0.1:{}{path}", self.port)
    }

    pub fn gophers(&self, path: &str) -> String {
        format!("gophers://localhost:{}{path}", self.tls_port)
    }
}

/// The server's command: it refuses to be root's, and gets along without syslog, shared memory and virtual
/// hosts.
fn words(root: &Path) -> io::Result<Vec<String>> {
    let (server, root) =
        (program("gophernicus", "gophernicus")?.display().to_string(), root.display().to_string());
    let asks = [&*server, "-h", "localhost", "-r", &root, "-nv", "-nd", "-nm"];
    let drops: &[&str] = match rustix::process::geteuid().is_root() {
        true => &["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"],
        false => &["env"],
    };
    Ok([drops, &asks].concat().into_iter().map(str::to_owned).collect())
}

/// GNU inetutils' telnetd, with a program of ours in the place of login.
pub struct Telnetd {
    _directory: TempDir,
    port: u16,
}

impl Telnetd {
    /// `script` is a shell script that runs on the terminal.
    pub fn start(script: &str) -> io::Result<Telnetd> {
        let telnetd = program("telnetd", "inetutils-telnetd")?;
        let directory = TempDir::new("telnetd")?;
        let file = directory.write("login", format!("#!/bin/sh\n{script}"))?;
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755))?;
        let login = format!("--exec-login={}", file.display());
        let port = serve(telnetd, vec!["-h".into(), login])?;
        Ok(Telnetd { _directory: directory, port })
    }

    pub fn url(&self) -> String {
        format!("telnet://127.0.0.1:{}/", self.port)
    }
}
