//! vsftpd, serving a directory to anonymous users, uploads allowed.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{Running, free_port, program, run, with_retries};
use crate::body::pattern;
use crate::temp::TempDir;

/// vsftpd with `/bytes-N` files and `/up/` for uploads. Its anonymous login needs root: without it `start` answers
/// PermissionDenied.
pub struct Vsftpd {
    _running: Running,
    directory: TempDir,
    pub port: u16,
}

impl Vsftpd {
    pub fn start(sizes: &[usize]) -> io::Result<Vsftpd> {
        with_retries(|| Vsftpd::try_start(sizes))
    }

    fn try_start(sizes: &[usize]) -> io::Result<Vsftpd> {
        let program = program("vsftpd", "vsftpd")?;
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
        let port = free_port()?;
        let file = directory.write("vsftpd.conf", config(directory.path(), port))?;
        let mut command = Command::new(program);
        command.arg(file);
        let running = run(command, &directory.path().join("log"), &[port])?;
        Ok(Vsftpd { _running: running, directory, port })
    }

    pub fn url(&self, path: &str) -> String {
        format!("ftp://127.0.0.1:{}{path}", self.port)
    }

    /// A file below the served directory as it is now.
    pub fn file(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.directory.path().join("root").join(path.trim_start_matches('/'))).ok()
    }
}

fn config(directory: &std::path::Path, port: u16) -> String {
    let place = directory.display();
    format!(
        "listen=YES\nlisten_port={port}\nlisten_address=127.0.0.1\nbackground=NO\nanonymous_enable=YES
local_enable=NO\nwrite_enable=YES\nanon_upload_enable=YES\nanon_mkdir_write_enable=YES\nanon_other_write_enable=YES
anon_umask=022\nno_anon_password=YES\nanon_root={place}/root\nsecure_chroot_dir={place}/empty
xferlog_enable=NO\nseccomp_sandbox=NO\nmax_clients=2000\nmax_per_ip=2000\nisolate=NO\nisolate_network=NO\n"
    )
}
