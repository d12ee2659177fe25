//! The four FTP servers that most machines run, each with the same tree, the user "user" with the password
//! "secret", and TLS on request: vsftpd, proftpd and pure-ftpd from Debian's packages, pyftpdlib from PyPI
//! (tests/install.sh ftp_servers). They want root: without it `start` answers PermissionDenied.

use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::sshd::keygen;
use super::{Running, free_port, program, run, with_retries};
use crate::body::pattern;
use crate::certs::Leaf;
use crate::temp::TempDir;

/// Which server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FtpdKind {
    /// Anonymous only; wants the control connection's TLS session on data connections.
    Vsftpd,
    /// Wants that, too.
    Proftpd,
    /// ProFTPD with SFTP in place of FTP.
    ProftpdSftp,
    PureFtpd,
    Pyftpdlib,
}

impl FtpdKind {
    pub const ALL: [FtpdKind; 4] =
        [FtpdKind::Vsftpd, FtpdKind::Proftpd, FtpdKind::PureFtpd, FtpdKind::Pyftpdlib];
}

/// A running server with `/bytes-N` files, and `/up/` for uploads.
pub struct Ftpd {
    _running: Running,
    directory: TempDir,
    kind: FtpdKind,
    implicit: bool,
    pub port: u16,
}

impl Ftpd {
    /// A server that offers TLS with this certificate.
    pub fn start(kind: FtpdKind, leaf: &Leaf, sizes: &[usize]) -> io::Result<Ftpd> {
        with_retries(|| Ftpd::try_start(kind, leaf, sizes, false))
    }

    /// Starts a server with implicit TLS; `None` if the program does not support that.
    pub fn start_implicit(kind: FtpdKind, leaf: &Leaf, sizes: &[usize]) -> io::Result<Option<Ftpd>> {
        match kind {
            // It has, for a port 990 that it decides on by itself.
            FtpdKind::PureFtpd => Ok(None),
            _ => with_retries(|| Ftpd::try_start(kind, leaf, sizes, true)).map(Some),
        }
    }

    fn try_start(kind: FtpdKind, leaf: &Leaf, sizes: &[usize], implicit: bool) -> io::Result<Ftpd> {
        if !rustix::process::geteuid().is_root() {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "an FTP server wants root"));
        }
        let directory = TempDir::new("ftpd")?;
        let place = directory.path();
        for size in sizes {
            directory.write(&format!("root/bytes-{size}"), pattern(*size))?;
        }
        std::fs::create_dir_all(place.join("root/up"))?;
        std::fs::create_dir_all(place.join("empty"))?;
        for (path, mode) in [("", 0o755), ("root", 0o755), ("root/up", 0o777)] {
            std::fs::set_permissions(place.join(path), PermissionsExt::from_mode(mode))?;
        }
        directory.write("cert.pem", &leaf.cert_pem)?;
        let key = directory.write("key.pem", &leaf.key_pem)?;
        let both = directory.write("both.pem", format!("{}{}", leaf.key_pem, leaf.cert_pem))?;
        for secret in [key, both] {
            std::fs::set_permissions(secret, PermissionsExt::from_mode(0o600))?;
        }
        let port = free_port()?;
        let command = match kind {
            FtpdKind::Vsftpd => vsftpd(&directory, port, implicit)?,
            FtpdKind::Proftpd => {
                let (lines, implicit) = (TLS_LINES, if implicit { "TLSOptions UseImplicitSSL" } else { "" });
                proftpd(&directory, port, &format!("{lines}{implicit}"))?
            }
            FtpdKind::ProftpdSftp => {
                keygen(place, "host_key", &["-t", "rsa", "-m", "PEM", "-N", ""])?;
                proftpd(&directory, port, SFTP_LINES)?
            }
            FtpdKind::PureFtpd => pure_ftpd(&directory, port)?,
            FtpdKind::Pyftpdlib => pyftpdlib(&directory, port, implicit)?,
        };
        let running = run(command, &place.join("log"), &[port])?;
        Ok(Ftpd { _running: running, directory, kind, implicit, port })
    }

    /// Returns a URL with the user, if there is one. The host is a name, for certificates.
    pub fn url(&self, path: &str) -> String {
        let scheme = match self.kind {
            FtpdKind::ProftpdSftp => "sftp",
            _ if self.implicit => "ftps",
            _ => "ftp",
        };
        let user = if self.kind == FtpdKind::Vsftpd { "" } else { "user:secret@" };
        format!("{scheme}://{user}localhost:{}{path}", self.port)
    }

    /// A file below the served directory as it is now.
    pub fn file(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.place_of(path)).ok()
    }

    /// Writes a file below the served directory, which clients may replace.
    pub fn put(&self, path: &str, content: &[u8]) -> io::Result<()> {
        std::fs::write(self.place_of(path), content)?;
        std::fs::set_permissions(self.place_of(path), PermissionsExt::from_mode(0o666))
    }

    pub fn remove(&self, path: &str) -> io::Result<()> {
        std::fs::remove_file(self.place_of(path))
    }

    /// Returns the place of a file below the served directory.
    pub fn place_of(&self, path: &str) -> PathBuf {
        self.directory.path().join("root").join(path.trim_start_matches('/'))
    }
}

/// Returns where tests/install.sh puts its output.
pub(super) fn target() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.join(std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(|| "target".into()))
}

/// Returns a program of the unpacked packages, with their libraries.
fn unpacked(name: &str) -> io::Result<Command> {
    let packages = target().join("servers");
    let program = packages.join(name);
    let text = format!("{} is missing: run tests/install.sh ftp_servers", program.display());
    program.is_file().then_some(()).ok_or_else(|| io::Error::new(ErrorKind::NotFound, text))?;
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", packages.join("usr/lib/x86_64-linux-gnu"));
    Ok(command)
}

fn vsftpd(directory: &TempDir, port: u16, implicit: bool) -> io::Result<Command> {
    let place = directory.path().display();
    let implicit = if implicit { "YES" } else { "NO" };
    let text = format!(
        "listen=YES\nlisten_port={port}\nlisten_address=127.0.0.1\nbackground=NO\nanonymous_enable=YES
local_enable=NO\nwrite_enable=YES\nanon_upload_enable=YES\nanon_mkdir_write_enable=YES\nanon_other_write_enable=YES
anon_umask=022\nno_anon_password=YES\nanon_root={place}/root\nsecure_chroot_dir={place}/empty\nxferlog_enable=NO
seccomp_sandbox=NO\nisolate=NO\nisolate_network=NO\nssl_enable=YES\nallow_anon_ssl=YES\nrequire_ssl_reuse=YES
rsa_cert_file={place}/cert.pem\nrsa_private_key_file={place}/key.pem\nimplicit_ssl={implicit}\n"
    );
    let file = directory.write("vsftpd.conf", text)?;
    let mut command = Command::new(program("vsftpd", "vsftpd")?);
    command.arg(file);
    Ok(command)
}

/// SHA-512 of "secret".
const PASSWORD: &str =
    "$6$testkit$0s1Dbz2y5KL/uCYSzkV9UIkg1Au/UYIvO8T4ZYZSXWUEJQPA20Usn9gw0LFkUpvgf2dojcxw0am6YoeGTsSbs/";

/// Lines of ProFTPD's configuration for a protocol; `PLACE` is the server's folder.
const TLS_LINES: &str = "LoadModule mod_tls.c\nTLSEngine on\nTLSRSACertificateFile PLACE/cert.pem
TLSRSACertificateKeyFile PLACE/key.pem\nTLSLog PLACE/tls.log\n";
const SFTP_LINES: &str =
    "LoadModule mod_sftp.c\nSFTPEngine on\nSFTPHostKey PLACE/host_key\nSFTPLog PLACE/sftp.log";

fn proftpd(directory: &TempDir, port: u16, protocol: &str) -> io::Result<Command> {
    let mut command = unpacked("usr/sbin/proftpd")?;
    let place = directory.path().display();
    let users = directory.write("users", format!("user:{PASSWORD}:65534:65534::{place}/root:/bin/sh\n"))?;
    std::fs::set_permissions(users, PermissionsExt::from_mode(0o600))?;
    let modules = target().join("servers/usr/lib/proftpd");
    let modules = std::fs::canonicalize(modules)?;
    let protocol = protocol.replace("PLACE", &place.to_string());
    let text = format!(
        "ModulePath {}\nLoadModule mod_digest.c\nServerType standalone\nServerName testkit\nDefaultAddress 127.0.0.1
Port {port}\nUseIPv6 off\nPidFile {place}/pid\nScoreboardFile {place}/scoreboard\nDelayTable none\nDelayEngine off
UseReverseDNS off\nWtmpLog off\nTransferLog none\nSystemLog {place}/system.log\nUser nobody\nGroup nogroup
AuthUserFile {place}/users\nAuthOrder mod_auth_file.c\nRequireValidShell off\nDefaultRoot {place}/root
AllowOverwrite on\nAllowStoreRestart on\n{protocol}\n",
        modules.display()
    );
    let file = directory.write("proftpd.conf", text)?;
    command.arg("-n").arg("-c").arg(file);
    Ok(command)
}

fn pure_ftpd(directory: &TempDir, port: u16) -> io::Result<Command> {
    let place = directory.path();
    let database = place.join("users.pdb");
    let line = format!("user:{PASSWORD}:65534:65534::{}/./::::::::::::\n", place.join("root").display());
    let passwords = directory.write("passwords", line)?;
    let mut make = unpacked("usr/bin/pure-pw")?;
    make.arg("mkdb").arg(&database).arg("-f").arg(&passwords);
    if !make.status()?.success() {
        return Err(io::Error::other("pure-pw does not make its database"));
    }
    let mut command = unpacked("usr/sbin/pure-ftpd")?;
    command.args(["-S", &format!("127.0.0.1,{port}"), "-H", "-Y", "1", "-c", "500", "-C", "500"]);
    command.arg("-l").arg(format!("puredb:{}", database.display()));
    command.arg("-2").arg(place.join("both.pem")).arg("-g").arg(place.join("pid"));
    Ok(command)
}

fn pyftpdlib(directory: &TempDir, port: u16, implicit: bool) -> io::Result<Command> {
    let python = target().join("pyftpdlib/bin/python");
    let text = format!("{} is missing: run tests/install.sh ftp_servers", python.display());
    python.is_file().then_some(()).ok_or_else(|| io::Error::new(ErrorKind::NotFound, text))?;
    let place = directory.path().display();
    let implicit = if implicit { "True" } else { "False" };
    let script = format!(
        "from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import TLS_FTPHandler
from pyftpdlib.servers import FTPServer
users = DummyAuthorizer()
users.add_user('user', 'secret', '{place}/root', perm='elradfmwMT')
class Handler(TLS_FTPHandler):
    certfile = '{place}/both.pem'
    authorizer = users
    max_login_attempts = 100
    def handle(self):
        if {implicit}:
            self.secure_connection(self.get_ssl_context())
            self._auth_ssl = True
        super().handle()
FTPServer(('127.0.0.1', {port}), Handler).serve_forever()
"
    );
    let file = directory.write("server.py", script)?;
    let mut command = Command::new(python);
    command.arg(file);
    Ok(command)
}
