//! squid as an HTTP proxy on loopback, for everybody, for user "user" with password "secret", or for a
//! realm's users.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Kerberos, Running, free_port, program, run, with_retries};
use crate::temp::TempDir;

pub struct Squid {
    _running: Running,
    directory: TempDir,
    pub port: u16,
}

/// How squid asks who is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SquidLogin {
    Basic,
    Digest,
    /// With squid's own helper, which exchanges NTLM's three messages and accepts any name in the last one.
    Ntlm,
}

impl Squid {
    /// Starts a proxy that allows everybody on loopback, to any port.
    pub fn start() -> io::Result<Squid> {
        Squid::start_with(None)
    }

    /// Starts a proxy that requires a login.
    pub fn start_with(login: Option<SquidLogin>) -> io::Result<Squid> {
        with_retries(|| Squid::try_start(login, None))
    }

    /// Starts a proxy that requires a ticket for "HTTP/localhost".
    pub fn start_in(realm: &Kerberos) -> io::Result<Squid> {
        with_retries(|| Squid::try_start(None, Some(realm)))
    }

    fn try_start(login: Option<SquidLogin>, realm: Option<&Kerberos>) -> io::Result<Squid> {
        let program = program("squid", "squid")?;
        let directory = TempDir::new("squid")?;
        let port = free_port()?;
        // Started as root, squid becomes the user "proxy", who then writes its pid and log here.
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o777))?;
        let file = directory.write("squid.conf", config(directory.path(), port, login, realm))?;
        // Squid 5 tries only the first address of a tunnel's target; many machines have "::1 localhost", and
        // the tests' origins do not listen there.
        directory.write("hosts", "127.0.0.1 localhost\n")?;
        directory.write("basic", format!("{BASIC}\n"))?;
        directory.write("digest", format!("{DIGEST}\n"))?;
        let mut command = Command::new(program);
        // The name separates the shared memory of two instances.
        command.arg("-N").arg("-n").arg(format!("warmwire{port}")).arg("-f").arg(file);
        realm.into_iter().for_each(|realm| realm.environment(&mut command));
        let running = run(command, &directory.path().join("log"), &[port])?;
        Ok(Squid { _running: running, directory, port })
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The file with a line for each request that has ended.
    pub fn access_log(&self) -> PathBuf {
        self.directory.path().join("access.log")
    }
}

/// `openssl passwd -1`, which squid's helper understands.
const BASIC: &str = "user:$1$warmwire$eFm5zPZYra8.GzcuBqiH4.";
/// MD5 of "user:squid:secret".
const DIGEST: &str = "user:squid:087be69120e6dd4a4bb70114b105d307";

/// Rules for logged-in users.
const KNOWN: &str = "acl known proxy_auth REQUIRED\nhttp_access allow known\nhttp_access deny all";

fn config(directory: &Path, port: u16, login: Option<SquidLogin>, realm: Option<&Kerberos>) -> String {
    let place = directory.display();
    let helpers = "/usr/lib/squid";
    let access = match login {
        None if realm.is_some() => format!(
            "auth_param negotiate program {helpers}/negotiate_kerberos_auth -s GSS_C_NO_NAME
auth_param negotiate keep_alive on\n{KNOWN}"
        ),
        None => "http_access allow all".to_owned(),
        Some(SquidLogin::Basic) => format!(
            "auth_param basic program {helpers}/basic_ncsa_auth {place}/basic\nauth_param basic realm squid\n{KNOWN}"
        ),
        Some(SquidLogin::Digest) => format!(
            "auth_param digest program {helpers}/digest_file_auth -c {place}/digest
auth_param digest realm squid\n{KNOWN}"
        ),
        Some(SquidLogin::Ntlm) => {
            format!(
                "auth_param ntlm program {helpers}/ntlm_fake_auth\nauth_param ntlm keep_alive on\n{KNOWN}"
            )
        }
    };
    format!(
        "http_port 127.0.0.1:{port}\n{access}\ncache deny all\nshutdown_lifetime 0 seconds
pid_filename {place}/pid\naccess_log stdio:{place}/access.log\ncache_log {place}/cache.log
coredump_dir {place}
hosts_file {place}/hosts\nnetdb_filename none\npinger_enable off\nmax_filedescriptors 4096\nvisible_hostname localhost\n"
    )
}
