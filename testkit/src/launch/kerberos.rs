//! A private Kerberos realm: MIT Kerberos' KDC on loopback, its database, a keytab and ticket caches in a
//! temporary directory. The system's configuration is not read.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{Running, free_port, program, run, with_retries};
use crate::temp::TempDir;

const REALM: &str = "WARMWIRE.TEST";

/// Every user's password.
const PASSWORD: &str = "secret";

/// Services with a key in the keytab. Hosts are taken as they are written.
const SERVICES: [&str; 7] = [
    "HTTP/localhost",
    "HTTP/127.0.0.1",
    "other/localhost",
    "rcmd/localhost",
    "imap/localhost",
    "pop/localhost",
    "smtp/localhost",
];

/// A realm with the users "alice" and "bob", and a keytab for `SERVICES`.
pub struct Kerberos {
    _running: Running,
    directory: TempDir,
}

impl Kerberos {
    pub fn start() -> io::Result<Kerberos> {
        with_retries(Kerberos::try_start)
    }

    fn try_start() -> io::Result<Kerberos> {
        let kdc = program("krb5kdc", "krb5-kdc")?;
        let directory = TempDir::new("kerberos")?;
        let port = free_port()?;
        directory.write("krb5.conf", config(directory.path(), port))?;
        directory.write("kdc.conf", kdc_config(directory.path(), port))?;
        // Servers that drop root privileges read the configuration and the keytab here.
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755))?;
        fill(&directory)?;
        let mut command = Command::new(kdc);
        command.arg("-n").arg("-P").arg(directory.path().join("pid"));
        environment(&directory, &mut command);
        let running = run(command, &directory.path().join("log"), &[port])?;
        Ok(Kerberos { _running: running, directory })
    }

    /// The principal of a user or service here.
    pub fn principal(&self, name: &str) -> String {
        format!("{name}@{REALM}")
    }

    /// The services' keys.
    pub fn keytab(&self) -> PathBuf {
        self.directory.path().join("keytab")
    }

    /// Sets the environment of `command` to this realm, as a server or as a client without a ticket.
    pub fn environment(&self, command: &mut Command) {
        environment(&self.directory, command);
        command.env("KRB5CCNAME", self.cache("nobody"));
    }

    /// Makes `command` run as `user`, who has logged in with [`Kerberos::login`].
    pub fn user(&self, command: &mut Command, user: &str) {
        environment(&self.directory, command);
        command.env("KRB5CCNAME", self.cache(user));
    }

    /// The name of a user's ticket cache.
    pub fn cache(&self, user: &str) -> String {
        format!("FILE:{}", self.directory.path().join(format!("tickets-{user}")).display())
    }

    /// Gets a user a ticket that may be forwarded.
    pub fn login(&self, user: &str) -> io::Result<()> {
        let mut command = Command::new(program("kinit", "krb5-user")?);
        command.args(["-f", "-V"]).arg(self.principal(user));
        self.user(&mut command, user);
        finish(command, &format!("{PASSWORD}\n"))
    }

    /// Destroys a user's tickets.
    pub fn logout(&self, user: &str) -> io::Result<()> {
        let mut command = Command::new(program("kdestroy", "krb5-user")?);
        self.user(&mut command, user);
        finish(command, "")
    }
}

/// The database with its principals, and the keytab.
fn fill(directory: &TempDir) -> io::Result<()> {
    let mut command = Command::new(program("kdb5_util", "krb5-kdc")?);
    command.args(["create", "-s", "-P", "database"]);
    environment(directory, &mut command);
    finish(command, "")?;
    let mut orders = String::new();
    for user in ["alice", "bob"] {
        orders += &format!("addprinc -pw {PASSWORD} +ok_as_delegate {user}\n");
    }
    for service in SERVICES {
        orders += &format!("addprinc -randkey {service}\n");
        orders += &format!("ktadd -k {} {service}\n", directory.path().join("keytab").display());
    }
    orders += "modprinc +ok_as_delegate other/localhost\n";
    let mut command = Command::new(program("kadmin.local", "krb5-admin-server")?);
    environment(directory, &mut command);
    command.arg("-r").arg(REALM);
    finish(command, &orders)?;
    std::fs::set_permissions(directory.path().join("keytab"), PermissionsExt::from_mode(0o644))
}

fn environment(directory: &TempDir, command: &mut Command) {
    command.env("KRB5_CONFIG", directory.path().join("krb5.conf"));
    command.env("KRB5_KDC_PROFILE", directory.path().join("kdc.conf"));
    command.env("KRB5_KTNAME", directory.path().join("keytab"));
    command.env("KRB5RCACHETYPE", "none");
}

/// Runs a command to its end, with this as its input.
fn finish(mut command: Command, input: &str) -> io::Result<()> {
    use std::io::Write;
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn()?;
    // A program that has ended without reading is judged by its status.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(io::Error::other(format!("{command:?}: {text}")))
}

fn config(directory: &std::path::Path, port: u16) -> String {
    format!(
        "[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n dns_lookup_realm = false
 dns_canonicalize_hostname = false\n rdns = false\n udp_preference_limit = 1\n forwardable = true
[realms]\n {REALM} = {{\n  kdc = 127.0.0.1:{port}\n }}
[logging]\n kdc = FILE:{}\n",
        directory.join("kdc.log").display()
    )
}

fn kdc_config(directory: &std::path::Path, port: u16) -> String {
    let place = directory.display();
    format!(
        "[kdcdefaults]\n kdc_listen = \"\"\n kdc_tcp_listen = 127.0.0.1:{port}
[realms]\n {REALM} = {{\n  database_name = {place}/principal\n  key_stash_file = {place}/stash
  acl_file = {place}/acl\n  kdc_listen = \"\"\n  kdc_tcp_listen = 127.0.0.1:{port}\n  max_life = 10h\n }}\n"
    )
}
