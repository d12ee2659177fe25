//! Exim, Debian's default mail server, with PIPELINING, CHUNKING, SIZE, SMTPUTF8 and TLS. Accepted mails stay
//! in its queue, where tests read them. Dovecot checks its logins.

use std::io::{self, ErrorKind};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::geteuid;

use super::{Dovecot, Running, account, free_port, program, run, with_retries};
use crate::certs::Leaf;
use crate::temp::TempDir;

/// The server; mails to "nobody" are refused. Needs root: otherwise `start` returns PermissionDenied.
pub struct Exim {
    _running: Running,
    directory: TempDir,
    pub port: u16,
    /// Where TLS comes first.
    pub tls_port: u16,
}

/// As Dovecot calls them.
const MECHANISMS: [&str; 10] = [
    "PLAIN",
    "LOGIN",
    "CRAM-MD5",
    "DIGEST-MD5",
    "SCRAM-SHA-1",
    "SCRAM-SHA-256",
    "OAUTHBEARER",
    "XOAUTH2",
    "ANONYMOUS",
    "GSSAPI",
];

impl Exim {
    /// Starts a server with this certificate, and with logins if there is a Dovecot that knows them.
    pub fn start(leaf: &Leaf, logins: Option<&Dovecot>) -> io::Result<Exim> {
        with_retries(|| Exim::try_start(leaf, logins))
    }

    fn try_start(leaf: &Leaf, logins: Option<&Dovecot>) -> io::Result<Exim> {
        if !geteuid().is_root() {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "exim wants root"));
        }
        let exim = program("exim4", "exim4-daemon-heavy")?;
        let (user, group) = account("Debian-exim")?;
        let directory = TempDir::new("exim")?;
        let place = directory.path();
        std::fs::set_permissions(place, PermissionsExt::from_mode(0o755))?;
        std::fs::create_dir_all(place.join("spool"))?;
        let key = directory.write("key.pem", &leaf.key_pem)?;
        for own in [place.join("spool"), key] {
            chown(own, Some(user), Some(group))?;
        }
        directory.write("cert.pem", &leaf.cert_pem)?;
        let (port, tls_port) = (free_port()?, free_port()?);
        let text = config(place, port, tls_port, logins.map(Dovecot::logins).as_deref());
        let file = directory.write("exim.conf", text)?;
        let mut command = Command::new(exim);
        command.arg("-bdf").arg("-C").arg(file);
        let running = run(command, &place.join("log"), &[port, tls_port])?;
        Ok(Exim { _running: running, directory, port, tls_port })
    }

    /// Returns the accepted mails as in the queue: lines end in LF, without header fields.
    pub fn bodies(&self) -> Vec<Vec<u8>> {
        let read = |file: PathBuf| std::fs::read(file).expect("a queued mail can be read");
        self.queued("-D").into_iter().map(read).map(|data| behind_first_line(&data)).collect()
    }

    /// How many mails it has taken.
    pub fn count(&self) -> usize {
        self.queued("-H").len()
    }

    /// Returns its log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("spool/mainlog")).unwrap_or_default()
    }

    /// The files of its queue with that end.
    fn queued(&self, end: &str) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.directory.path().join("spool/input")) else {
            return Vec::new();
        };
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        files.filter(|file| file.to_string_lossy().ends_with(end)).collect()
    }
}

/// Returns the text after the first line, which contains the file's name.
fn behind_first_line(data: &[u8]) -> Vec<u8> {
    let start = data.iter().position(|b| *b == b'\n').map_or(0, |at| at + 1);
    data[start..].to_vec()
}

fn config(place: &Path, port: u16, tls_port: u16, logins: Option<&Path>) -> String {
    let place = place.display();
    let authenticators = logins.map_or_else(String::new, |socket| {
        let one = |name: &&str| {
            let label = name.to_ascii_lowercase().replace('-', "_");
            format!(
                "{label}:\n driver = dovecot\n public_name = {name}\n server_socket = {}\n server_set_id = $auth1\n",
                socket.display()
            )
        };
        MECHANISMS.iter().map(one).collect()
    });
    format!(
        "primary_hostname = localhost\nspool_directory = {place}/spool\nlog_file_path = {place}/spool/%slog
pid_file_path = {place}/spool/pid\nkeep_environment =\nlocal_interfaces = 127.0.0.1\ndaemon_smtp_ports = {port} : {tls_port}
tls_on_connect_ports = {tls_port}\ntls_advertise_hosts = *\ntls_certificate = {place}/cert.pem\ntls_privatekey = {place}/key.pem
queue_only = true\nsmtp_accept_max = 0\nsmtp_accept_max_per_connection = 0\nsmtp_accept_max_nonmail = 100000
disable_ipv6 = true\nhost_lookup =\nrfc1413_query_timeout = 0s\nmessage_size_limit = 100M\ncheck_spool_space = 0
check_log_space = 0\nchunking_advertise_hosts = *\npipelining_advertise_hosts = *\nsmtputf8_advertise_hosts = *
auth_advertise_hosts = *\nacl_smtp_rcpt = recipient\nacl_smtp_data = accept\nacl_smtp_vrfy = accept\nacl_smtp_expn = accept
helo_allow_chars = _\nbegin acl\nrecipient:\n deny message = no such user\n      local_parts = nobody\n accept
begin routers\nkept:\n driver = accept\n transport = nowhere
begin transports\nnowhere:\n driver = appendfile\n file = /dev/null\nbegin authenticators\n{authenticators}"
    )
}
