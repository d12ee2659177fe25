//! vsftpd, serving a directory to anonymous users, uploads allowed.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use super::{Running, free_port, program, run, run_until, with_retries};
use crate::body::pattern;
use crate::temp::TempDir;

/// vsftpd with `/bytes-N` files and `/up/` for uploads. Its anonymous login needs root: without it `start` answers
/// PermissionDenied.
pub struct Vsftpd {
    _running: Running,
    directory: TempDir,
    address: String,
    pub port: u16,
}

impl Vsftpd {
    pub fn start(sizes: &[usize]) -> io::Result<Vsftpd> {
        with_retries(|| Vsftpd::try_start(sizes))
    }

    /// The same inside a network namespace (ip-netns(8)), at an address of its.
    pub fn start_in(namespace: &str, address: &str, port: u16, sizes: &[usize]) -> io::Result<Vsftpd> {
        let directory = served(sizes)?;
        let file = directory.write("vsftpd.conf", config(directory.path(), address, port))?;
        let inside = || {
            let mut command = Command::new("ip");
            command.args(["netns", "exec", namespace]);
            command
        };
        let mut command = inside();
        command.arg(program("vsftpd", "vsftpd")?).arg(file);
        let answers = || {
            let mut probe = inside();
            probe.args(["bash", "-c", &format!("exec 3<>/dev/tcp/{address}/{port}")]).stderr(Stdio::null());
            probe.status().is_ok_and(|status| status.success())
        };
        let running = run_until(command, &directory.path().join("log"), answers)?;
        Ok(Vsftpd { _running: running, directory, address: address.into(), port })
    }

    fn try_start(sizes: &[usize]) -> io::Result<Vsftpd> {
        let program = program("vsftpd", "vsftpd")?;
        let directory = served(sizes)?;
        let port = free_port()?;
        let file = directory.write("vsftpd.conf", config(directory.path(), "127.0.0.1", port))?;
        let mut command = Command::new(program);
        command.arg(file);
        let running = run(command, &directory.path().join("log"), &[port])?;
        Ok(Vsftpd { _running: running, directory, address: "127.0.0.1".into(), port })
    }

    pub fn url(&self, path: &str) -> String {
        format!("ftp://{}:{}{path}", self.address, self.port)
    }

    /// A file below the served directory as it is now.
    pub fn file(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.directory.path().join("root").join(path.trim_start_matches('/'))).ok()
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

fn config(directory: &std::path::Path, address: &str, port: u16) -> String {
    let place = directory.display();
    format!(
        "listen=YES\nlisten_port={port}\nlisten_address={address}\nbackground=NO\nanonymous_enable=YES
local_enable=NO\nwrite_enable=YES\nanon_upload_enable=YES\nanon_mkdir_write_enable=YES\nanon_other_write_enable=YES
anon_umask=022\nno_anon_password=YES\nanon_root={place}/root\nsecure_chroot_dir={place}/empty
xferlog_enable=NO\nseccomp_sandbox=NO\nmax_clients=2000\nmax_per_ip=2000\nisolate=NO\nisolate_network=NO\n"
    )
}
