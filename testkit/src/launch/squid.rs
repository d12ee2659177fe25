//! squid as an HTTP proxy on loopback, with or without Basic authentication.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{Running, free_port, program, run, with_retries};
use crate::temp::TempDir;

pub struct Squid {
    _running: Running,
    _directory: TempDir,
    pub port: u16,
}

impl Squid {
    /// Lets everybody on loopback through to any port.
    pub fn start() -> io::Result<Squid> {
        with_retries(Squid::try_start)
    }

    fn try_start() -> io::Result<Squid> {
        let program = program("squid", "squid")?;
        let directory = TempDir::new("squid")?;
        let port = free_port()?;
        // Started as root, squid becomes the user "proxy", who then writes its pid and log here.
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o777))?;
        let file = directory.write("squid.conf", config(directory.path(), port))?;
        let mut command = Command::new(program);
        // The name keeps the shared memory of two instances apart.
        command.arg("-N").arg("-n").arg(format!("warmwire{port}")).arg("-f").arg(file);
        let running = run(command, &directory.path().join("log"), &[port])?;
        Ok(Squid { _running: running, _directory: directory, port })
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn config(directory: &std::path::Path, port: u16) -> String {
    let place = directory.display();
    format!(
        "http_port 127.0.0.1:{port}\nhttp_access allow all\ncache deny all\nshutdown_lifetime 0 seconds
pid_filename {place}/pid\naccess_log none\ncache_log {place}/cache.log\ncoredump_dir {place}
netdb_filename none\npinger_enable off\nmax_filedescriptors 4096\nvisible_hostname localhost\n"
    )
}
