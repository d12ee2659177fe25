//! HTTP/2: nghttpx in front of the case's HTTP/1 server, as in curl's harness; upgrade and prior knowledge on
//! one port, TLS on another. The cases expect what it adds to a reply (`via`, `server`).

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::case_context::Hall;
use super::tls;
use crate::prepro::Variables;

const NGHTTPX: &str = "/usr/sbin/nghttpx";
const READY_LIMIT: Duration = Duration::from_secs(10);
/// Number of attempts: a free port may be taken a moment later.
const TRIES: usize = 3;

/// Whether nghttpx is on this machine.
pub fn is_there() -> bool {
    Path::new(NGHTTPX).exists()
}

/// A server of a case that is a process, ended with it.
pub struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts it in front of the server with port `HTTPPORT`, and sets its own ports.
pub fn engage(hall: &mut Hall, variables: &mut Variables) -> Result<(), String> {
    let origin = variables.text("HTTPPORT").ok_or("HTTP/2 needs the HTTP server behind it")?.to_owned();
    let (certificate, key) = (hall.socket_path("nghttpx.crt"), hall.socket_path("nghttpx.key"));
    let (certificate_pem, key_pem) = tls::usual_pair()?;
    std::fs::write(&certificate, certificate_pem).map_err(|e| e.to_string())?;
    std::fs::write(&key, key_pem).map_err(|e| e.to_string())?;
    let mut told = String::new();
    for _ in 0..TRIES {
        let (plain, secure) = (free_port()?, free_port()?);
        match start(&origin, plain, secure, [&key, &certificate]) {
            Ok(server) => {
                variables.set("HTTP2PORT", plain.to_string());
                variables.set("HTTP2TLSPORT", secure.to_string());
                hall.keep(server);
                return Ok(());
            }
            Err(e) => told = e,
        }
    }
    Err(told)
}

fn start(origin: &str, plain: u16, secure: u16, files: [&PathBuf; 2]) -> Result<Server, String> {
    let mut command = Command::new(NGHTTPX);
    command.args(["--conf=/dev/null", "--single-process", "--no-ocsp", "--log-level=FATAL"]);
    command.arg(format!("--backend=127.0.0.1,{origin}"));
    command.arg(format!("--frontend=127.0.0.1,{plain};no-tls"));
    command.arg(format!("--frontend=127.0.0.1,{secure}"));
    command.args(files).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = Server(command.spawn().map_err(|e| format!("nghttpx: {e}"))?);
    let until = Instant::now() + READY_LIMIT;
    while ![plain, secure].iter().all(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok()) {
        if server.0.try_wait().map_err(|e| e.to_string())?.is_some() || Instant::now() > until {
            return Err("nghttpx does not serve".to_owned());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(server)
}

fn free_port() -> Result<u16, String> {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    port.map(|address| address.port()).map_err(|e| e.to_string())
}
