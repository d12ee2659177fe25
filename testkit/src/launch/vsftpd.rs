//! vsftpd, serving a directory to anonymous users, uploads allowed.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use super::{Running, free_port, inside, listens_inside, program, run, run_until, with_retries};
use crate::body::pattern;
use crate::link::Link;
use crate::temp::TempDir;

/// Where a server behind a link is reached.
pub const FAR: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// For data connections, where each must have a door.
const DATA_PORTS: usize = 8;

/// vsftpd with `/bytes-N` files and `/up/` for uploads. Its anonymous login needs root: without it `start`
/// answers PermissionDenied.
pub struct Vsftpd {
    running: Option<Running>,
    directory: TempDir,
    address: IpAddr,
    pub port: u16,
}

impl Drop for Vsftpd {
    fn drop(&mut self) {
        self.hang(false);
        self.stop();
    }
}

impl Vsftpd {
    pub fn start(sizes: &[usize]) -> io::Result<Vsftpd> {
        with_retries(|| Vsftpd::try_start(sizes))
    }

    /// Starts it behind a link: at [`FAR`], where its data ports have doors, too.
    pub fn start_behind(link: &Link, sizes: &[usize]) -> io::Result<Vsftpd> {
        with_retries(|| {
            let ports = free_ports()?;
            let mut server = Vsftpd::start_with(sizes, Some(ports))?;
            let at = |ip: Ipv4Addr, port| SocketAddr::from((ip, port));
            let door = |port| link.door_at(at(FAR, port), at(Ipv4Addr::LOCALHOST, port)).map(drop);
            [server.port].into_iter().chain(ports).try_for_each(door)?;
            server.address = FAR.into();
            Ok(server)
        })
    }

    /// Starts it in a network namespace, at an address there.
    pub fn start_inside(namespace: &str, address: Ipv4Addr, sizes: &[usize]) -> io::Result<Vsftpd> {
        if !rustix::process::geteuid().is_root() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "vsftpd wants root"));
        }
        let directory = served(sizes)?;
        let port = free_port()?;
        let text = config(directory.path(), (address, port), None);
        let mut command = inside(namespace, program("vsftpd", "vsftpd")?);
        command.arg(directory.write("vsftpd.conf", text)?);
        let log = directory.path().join("log");
        let is_up = || listens_inside(namespace, &address.to_string(), port);
        let running = run_until(command, &log, is_up)?;
        Ok(Vsftpd { running: Some(running), directory, address: address.into(), port })
    }

    fn try_start(sizes: &[usize]) -> io::Result<Vsftpd> {
        Vsftpd::start_with(sizes, None)
    }

    fn start_with(sizes: &[usize], data: Option<[u16; DATA_PORTS]>) -> io::Result<Vsftpd> {
        if !rustix::process::geteuid().is_root() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "vsftpd wants root"));
        }
        let program = program("vsftpd", "vsftpd")?;
        let directory = served(sizes)?;
        let port = free_port()?;
        directory.write("vsftpd.conf", config(directory.path(), (Ipv4Addr::LOCALHOST, port), data))?;
        let running = Some(launch(&program, &directory, port)?);
        Ok(Vsftpd { running, directory, address: Ipv4Addr::LOCALHOST.into(), port })
    }

    /// Ends it with all its connections.
    pub fn stop(&mut self) {
        let Some(running) = self.running.take() else { return };
        let sessions = descendants(running.pid());
        drop(running);
        sessions.into_iter().for_each(|pid| signal(pid, Signal::KILL));
    }

    /// Starts it again on its port, after [`stop`](Self::stop) or anew.
    pub fn restart(&mut self) -> io::Result<()> {
        self.stop();
        self.running = Some(launch(&program("vsftpd", "vsftpd")?, &self.directory, self.port)?);
        Ok(())
    }

    /// Makes it hang with all its connections, or ends that.
    pub fn hang(&self, hangs: bool) {
        let Some(running) = &self.running else { return };
        let signal_kind = if hangs { Signal::STOP } else { Signal::CONT };
        // First the listener, which would make further processes.
        signal(running.pid(), signal_kind);
        descendants(running.pid()).into_iter().for_each(|pid| signal(pid, signal_kind));
    }

    /// Writes a file below the served directory, in place.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> io::Result<()> {
        self.directory.write(&format!("root/{}", path.trim_start_matches('/')), content).map(drop)
    }

    /// The served directory.
    pub fn root(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    pub fn url(&self, path: &str) -> String {
        format!("ftp://{}:{}{path}", self.address, self.port)
    }

    /// A file below the served directory as it is now.
    pub fn file(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.directory.path().join("root").join(path.trim_start_matches('/'))).ok()
    }
}

fn launch(program: &Path, directory: &TempDir, port: u16) -> io::Result<Running> {
    let mut command = Command::new(program);
    command.arg(directory.path().join("vsftpd.conf"));
    run(command, &directory.path().join("log"), &[port])
}

/// Returns the processes that a process has made, and those that they have made.
fn descendants(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children: Vec<u32> = children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    let further = children.iter().flat_map(|child| descendants(*child)).collect::<Vec<u32>>();
    children.into_iter().chain(further).collect()
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// The directory that is served: files to fetch, and one to store into.
fn served(sizes: &[usize]) -> io::Result<TempDir> {
    let directory = TempDir::new("vsftpd")?;
    for size in sizes {
        directory.write(&format!("root/bytes-{size}"), pattern(*size))?;
    }
    let up = directory.path().join("root/up");
    std::fs::create_dir_all(&up)?;
    // vsftpd refuses a root that the anonymous user may write to; the upload directory below is open.
    std::fs::set_permissions(&up, PermissionsExt::from_mode(0o777))?;
    std::fs::set_permissions(directory.path().join("root"), PermissionsExt::from_mode(0o755))?;
    std::fs::create_dir_all(directory.path().join("empty"))?;
    Ok(directory)
}

/// Returns ports in a row that were free a moment ago.
fn free_ports() -> io::Result<[u16; DATA_PORTS]> {
    for _ in 0..100 {
        let first = free_port()?;
        let ports = std::array::from_fn(|n| first.saturating_add(n as u16));
        if ports.iter().all(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok()) {
            return Ok(ports);
        }
    }
    Err(io::ErrorKind::AddrInUse.into())
}

fn config(directory: &Path, (address, port): (Ipv4Addr, u16), data: Option<[u16; DATA_PORTS]>) -> String {
    let place = directory.display();
    let data = data.map_or(String::new(), |ports| {
        format!("pasv_min_port={}\npasv_max_port={}\n", ports[0], ports[DATA_PORTS - 1])
    });
    format!(
        "listen=YES\nlisten_port={port}\nlisten_address={address}\nbackground=NO\nanonymous_enable=YES
local_enable=NO\nwrite_enable=YES\nanon_upload_enable=YES\nanon_mkdir_write_enable=YES\nanon_other_write_enable=YES
anon_umask=022\nno_anon_password=YES\nanon_root={place}/root\nsecure_chroot_dir={place}/empty
xferlog_enable=NO\nseccomp_sandbox=NO\nmax_clients=2000\nmax_per_ip=2000\nisolate=NO\nisolate_network=NO\n{data}"
    )
}
