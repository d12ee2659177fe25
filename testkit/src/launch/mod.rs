//! Launchers of third-party servers: Debian's packages, configured in a temporary directory, on ephemeral
//! loopback ports, ended by pid when dropped.
//!
//! `start` returns an error of kind NotFound if the program is not installed; its text names the package.

mod aiosmtpd;
mod apache;
mod asking_apache;
mod dictd;
mod dovecot;
mod ech_go;
mod echo;
mod exim;
mod ftpd;
mod git;
mod http2;
mod inetd;
mod kerberos;
mod mosquitto;
mod moto;
mod negotiate;
mod nginx;
mod nss;
mod php_fpm;
mod protocols;
mod quic;
mod rtsp;
mod scram;
mod slapd;
mod socks;
mod squid;
mod sshd;
mod tftpd;
mod tunnels;
mod tusd;
mod versitygw;
mod vsftpd;

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

pub use aiosmtpd::Aiosmtpd;
pub use apache::Apache;
pub use asking_apache::AskingApache;
pub use dictd::Dictd;
pub use dovecot::{Dovecot, TOKEN};
pub use ech_go::EchGo;
pub use echo::{Echo, EchoKind, StreamEchoKind};
pub use exim::Exim;
pub use ftpd::{Ftpd, FtpdKind};
pub use git::GitServer;
pub use http2::{Http2Kind, Http2Server, Nghttpx};
pub use inetd::{Gopher, Telnetd};
pub use kerberos::Kerberos;
pub use mosquitto::Mosquitto;
pub use moto::Moto;
pub use negotiate::NegotiateServer;
pub use nginx::Nginx;
pub use nss::{COVER, EchServer};
pub use php_fpm::PhpFpm;
pub use protocols::{DOWNLOAD, ProtocolTransfer, Protocols};
pub use quic::{QuicKind, QuicServer};
pub use rtsp::RtspServer;
pub use scram::ScramServer;
pub use slapd::Slapd;
pub use socks::SocksServer;
pub use squid::{Squid, SquidLogin};
pub use sshd::{Agent, PASSWORD as SSH_PASSWORD, Sshd, USER as SSH_USER, fingerprint, keygen, sshd_program};
pub use tftpd::Tftpd;
pub use tunnels::{TunnelKind, TunnelProxy};
pub use tusd::Tusd;
pub use versitygw::{S3_SIGNATURE, Versitygw};
pub use vsftpd::Vsftpd;

const READY_LIMIT: Duration = Duration::from_secs(20);
const END_LIMIT: Duration = Duration::from_secs(3);

/// A server in the foreground, ended on drop.
pub struct Running(Child);

impl Running {
    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(pid) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) else { return };
        let _ = kill_process(pid, Signal::TERM);
        let limit = Instant::now() + END_LIMIT;
        while Instant::now() < limit {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Finds a program in PATH or where Debian installs servers. The error names the package that has it.
pub fn program(name: &str, package: &str) -> io::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let missing =
        || io::Error::new(ErrorKind::NotFound, format!("{name} is missing: install the package {package}"));
    places.map(|place| place.join(name)).find(|file| file.is_file()).ok_or_else(missing)
}

/// Returns a port that was free a moment ago, for servers that cannot report their own. Successive calls
/// return different ports as long as possible: an earlier caller may not listen yet.
fn free_port() -> io::Result<u16> {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut port = 0;
    for _ in 0..1000 {
        port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        if given.insert(port) {
            break;
        }
    }
    Ok(port)
}

/// The user and the group of an account that a package made.
fn account(name: &str) -> io::Result<(u32, u32)> {
    let missing = || io::Error::new(ErrorKind::NotFound, format!("there is no account {name}"));
    let accounts = std::fs::read_to_string("/etc/passwd")?;
    let mut lines = accounts.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let mut numbers = lines.next().ok_or_else(missing)?.split(':').skip(1).map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(user)), Some(Ok(group))) => Ok((user, group)),
        _ => Err(missing()),
    }
}

/// Starts `command` in its foreground and waits until every port answers.
fn run(command: Command, log: &Path, ports: &[u16]) -> io::Result<Running> {
    let answers = |port: &u16| TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], *port))).is_ok();
    run_until(command, log, || ports.iter().all(answers))
}

/// Starts `command` in its foreground and waits until it is up.
fn run_until(mut command: Command, log: &Path, is_up: impl Fn() -> bool) -> io::Result<Running> {
    let file = std::fs::File::create(log)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let mut running = Running(command.spawn()?);
    let limit = Instant::now() + READY_LIMIT;
    while !is_up() {
        if running.0.try_wait()?.is_some() || Instant::now() > limit {
            let log_text = std::fs::read_to_string(log).unwrap_or_default();
            return Err(io::Error::other(format!("{command:?} does not serve: {log_text}")));
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(running)
}

/// A program in a network namespace.
fn inside(namespace: &str, program: impl AsRef<Path>) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace]).arg(program.as_ref());
    command
}

/// Returns whether a server listens there.
fn listens_inside(namespace: &str, address: &str, port: u16) -> bool {
    let mut probe = inside(namespace, "bash");
    probe.args(["-c", &format!("exec 3<>/dev/tcp/{address}/{port}")]).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Tries again when another process took the free port first.
fn with_retries<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..3 {
        match start() {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
                return Err(error);
            }
            Err(_) => continue,
            started => return started,
        }
    }
    start()
}
