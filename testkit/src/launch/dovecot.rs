//! Dovecot, the most common IMAP and POP3 server: each user's Maildir in a temporary directory, logins by
//! every mechanism it has, STARTTLS and TLS ports. Other servers may use its logins ([`Dovecot::logins`]).

use std::io::{self, ErrorKind};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::geteuid;

use super::{Kerberos, Running, free_port, program, run, with_retries};
use crate::certs::{Authority, Leaf};
use crate::temp::TempDir;

/// Its login mechanisms, by its names; GSSAPI only in a realm.
const MECHANISMS: &str =
    "plain login cram-md5 digest-md5 scram-sha-1 scram-sha-256 oauthbearer xoauth2 anonymous apop external";

/// Signed with [`TOKEN_KEY`], for "user", until 2096.
pub const TOKEN: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImRlZmF1bHQifQ.eyJzdWIiOiJ1c2VyIiwiaWF0IjoxNzAwMDAwMDAwLCJleHAiOjQwMDAwMDAwMDB9.r3yVnX0qFB6HRGjsomfAr-3ByywWD5WcWYUxHmJUk1c";
/// "the key of these tests alone, no secret" in base64.
const TOKEN_KEY: &str = "dGhlIGtleSBvZiB0aGVzZSB0ZXN0cyBhbG9uZSwgbm8gc2VjcmV0";

/// The server, with the user "user" and the password "secret", and logins by ticket or certificate. Needs
/// root: otherwise `start` returns PermissionDenied.
pub struct Dovecot {
    _running: Running,
    directory: TempDir,
    pub imap: u16,
    pub imaps: u16,
    pub pop3: u16,
    pub pop3s: u16,
}

/// The differences between instances.
struct InstanceOptions<'a> {
    leaf: &'a Leaf,
    authority: &'a Authority,
    realm: Option<&'a Kerberos>,
    /// Whether it announces IDLE.
    idles: bool,
}

impl Dovecot {
    /// Starts a server with this certificate; the authority has to sign certificates of clients.
    pub fn start(leaf: &Leaf, authority: &Authority) -> io::Result<Dovecot> {
        with_retries(|| Dovecot::try_start(&InstanceOptions { leaf, authority, realm: None, idles: true }))
    }

    /// Like `start`, without IDLE among the capabilities.
    pub fn start_without_idle(leaf: &Leaf, authority: &Authority) -> io::Result<Dovecot> {
        with_retries(|| Dovecot::try_start(&InstanceOptions { leaf, authority, realm: None, idles: false }))
    }

    /// Starts a server with GSSAPI, too.
    pub fn start_in(realm: &Kerberos, leaf: &Leaf, authority: &Authority) -> io::Result<Dovecot> {
        with_retries(|| {
            Dovecot::try_start(&InstanceOptions { leaf, authority, realm: Some(realm), idles: true })
        })
    }

    fn try_start(wanted: &InstanceOptions) -> io::Result<Dovecot> {
        if !geteuid().is_root() {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "dovecot wants root"));
        }
        let dovecot = program("dovecot", "dovecot-imapd, dovecot-pop3d and dovecot-gssapi")?;
        let directory = TempDir::new("dovecot")?;
        let place = directory.path();
        std::fs::set_permissions(place, PermissionsExt::from_mode(0o755))?;
        directory.write("cert.pem", &wanted.leaf.cert_pem)?;
        directory.write("key.pem", &wanted.leaf.key_pem)?;
        directory.write("ca.pem", wanted.authority.ca_pem())?;
        directory.write("users", "user:{PLAIN}secret\nanonymous:{PLAIN}none\n")?;
        directory.write("keys/default/HS256/default", TOKEN_KEY)?;
        directory.write(
            "oauth.conf",
            format!(
                "introspection_mode = local\nusername_attribute = sub\nlocal_validation_key_dict = fs:posix:prefix={}/keys/\n",
                place.display()
            ),
        )?;
        std::fs::create_dir_all(place.join("mail"))?;
        std::fs::set_permissions(place.join("mail"), PermissionsExt::from_mode(0o777))?;
        let [imap, imaps, pop3, pop3s] = [free_port()?, free_port()?, free_port()?, free_port()?];
        let file = directory.write("dovecot.conf", config(place, [imap, imaps, pop3, pop3s], wanted))?;
        let mut command = Command::new(dovecot);
        command.arg("-F").arg("-c").arg(file);
        wanted.realm.into_iter().for_each(|realm| realm.environment(&mut command));
        let running = run(command, &place.join("log"), &[imap, imaps, pop3, pop3s])?;
        Ok(Dovecot { _running: running, directory, imap, imaps, pop3, pop3s })
    }

    /// The socket on which another server asks it (Dovecot's protocol for SASL).
    pub fn logins(&self) -> PathBuf {
        self.directory.path().join("run/logins")
    }

    /// Delivers a message into the mailbox of a user who has none yet.
    pub fn deliver(&self, user: &str, name: &str, message: &[u8]) -> io::Result<()> {
        let mailbox = self.directory.path().join("mail").join(user);
        for part in ["", "cur", "new", "tmp"] {
            std::fs::create_dir_all(mailbox.join(part))?;
            give_away(&mailbox.join(part), self.owner()?)?;
        }
        let file = mailbox.join("new").join(name);
        std::fs::write(&file, message)?;
        give_away(&file, self.owner()?)
    }

    /// Returns its log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("dovecot.log")).unwrap_or_default()
    }

    /// Returns the owner of the mailboxes: root may not read mail.
    fn owner(&self) -> io::Result<(u32, u32)> {
        super::account("dovecot")
    }
}

fn give_away(file: &Path, (user, group): (u32, u32)) -> io::Result<()> {
    chown(file, Some(user), Some(group))
}

fn config(place: &Path, ports: [u16; 4], wanted: &InstanceOptions) -> String {
    let realm = wanted.realm;
    let capability = match wanted.idles {
        true => "",
        false => "imap_capability = IMAP4rev1 SASL-IR LITERAL+ UIDPLUS\n",
    };
    let place = place.display();
    let [imap, imaps, pop3, pop3s] = ports;
    let kerberos = realm.map_or_else(String::new, |realm| {
        format!(
            "auth_krb5_keytab = {}\nauth_gssapi_hostname = \"$ALL\"\nimport_environment = KRB5_CONFIG KRB5_KTNAME KRB5RCACHETYPE\n",
            realm.keytab().display()
        )
    });
    let gssapi = if realm.is_some() { "gssapi" } else { "" };
    format!(
        "{capability}protocols = imap pop3
listen = 127.0.0.1\nbase_dir = {place}/run\nstate_dir = {place}/state
log_path = {place}/dovecot.log\nssl = yes\nssl_cert = <{place}/cert.pem\nssl_key = <{place}/key.pem\nssl_ca = <{place}/ca.pem
ssl_verify_client_cert = yes\nssl_require_crl = no\nauth_ssl_username_from_cert = yes\ndisable_plaintext_auth = no
auth_mechanisms = {MECHANISMS} {gssapi}\nauth_username_format = %Ln\nauth_failure_delay = 0\n{kerberos}
mail_location = maildir:{place}/mail/%u\nfirst_valid_uid = 1\nmail_max_userip_connections = 100\nmail_fsync = never
passdb {{\n driver = static\n mechanisms = external gssapi anonymous\n args = nopassword=y\n}}
passdb {{\n driver = oauth2\n mechanisms = xoauth2 oauthbearer\n args = {place}/oauth.conf\n}}
passdb {{\n driver = passwd-file\n args = scheme=PLAIN {place}/users\n}}
userdb {{\n driver = static\n args = uid=dovecot gid=dovecot home={place}/mail/%u\n}}
service imap-login {{\n inet_listener imap {{\n port = {imap}\n }}
 inet_listener imaps {{\n port = {imaps}\n ssl = yes\n }}\n}}
service pop3-login {{\n inet_listener pop3 {{\n port = {pop3}\n }}
 inet_listener pop3s {{\n port = {pop3s}\n ssl = yes\n }}\n}}
service anvil {{\n unix_listener anvil-auth-penalty {{\n mode = 0\n }}\n}}
service auth {{\n unix_listener logins {{\n mode = 0666\n }}\n}}\n"
    )
}
