//! One server each for http, https, ftp, sftp, imap and smtp, and a transfer on each as words of a command
//! line: for tests of properties that all protocols share (stack depth, use after fork).

use std::io;
use std::path::PathBuf;

use super::{Aiosmtpd, Dovecot, Nginx, Sshd, Vsftpd, keygen};
use crate::certs::Authority;
use crate::temp::TempDir;

/// Bytes that each download brings.
pub const DOWNLOAD: usize = 335_114;

/// The servers; they end when this is dropped.
pub struct Protocols {
    nginx: Nginx,
    ftp: Vsftpd,
    ssh: Sshd,
    mail: Dovecot,
    smtp: Aiosmtpd,
    directory: TempDir,
}

/// A transfer: a name, and the words `URL OPTION=VALUE...`.
pub struct ProtocolTransfer {
    /// The protocol, with a suffix where it has several transfers.
    pub name: &'static str,
    /// The URL, then libcurl options by their names.
    pub words: Vec<String>,
}

impl Protocols {
    /// Starts the servers. Dovecot needs root.
    pub fn start() -> io::Result<Protocols> {
        let authority = Authority::new();
        let leaf = authority.good();
        let directory = TempDir::new("protocols")?;
        directory.write("ca.pem", authority.ca_pem())?;
        let mail = Dovecot::start(&leaf, &authority)?;
        mail.deliver(
            "user",
            "1",
            format!("Subject: one\n\n{}", "a line of the mail\n".repeat(5000)).as_bytes(),
        )?;
        let ssh = Sshd::start("")?;
        ssh.write("file", vec![b'x'; DOWNLOAD])?;
        keygen(&ssh.path(""), "user_rsa", &["-t", "rsa", "-b", "3072", "-N", "phrase"])?;
        let known = ["user_ed25519.pub", "user_rsa.pub"].map(|name| std::fs::read_to_string(ssh.path(name)));
        ssh.write("authorized_keys", known.into_iter().collect::<io::Result<String>>()?)?;
        Ok(Protocols {
            nginx: Nginx::start(&leaf, &[DOWNLOAD])?,
            ftp: Vsftpd::start(&[DOWNLOAD])?,
            smtp: Aiosmtpd::start(&leaf)?,
            ssh,
            mail,
            directory,
        })
    }

    /// Returns the file with the authority that signed the servers' certificates.
    pub fn ca(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    /// Returns the transfers, in the order of this file's heading.
    pub fn transfers(&self) -> Vec<ProtocolTransfer> {
        let file = format!("/bytes-{DOWNLOAD}");
        let ca = format!("CAINFO={}", self.ca().display());
        let sftp = |name: &str| self.ssh.url("sftp", &self.ssh.path(name).display().to_string());
        let key = format!("SSH_PRIVATE_KEYFILE={}", self.ssh.path("user_ed25519").display());
        let rsa = format!("SSH_PRIVATE_KEYFILE={}", self.ssh.path("user_rsa").display());
        let known = self.ssh.known_hosts().expect("a file can be written");
        let known = format!("SSH_KNOWNHOSTS={}", known.display());
        let imap = |scheme: &str, port: u16| format!("{scheme}://localhost:{port}/INBOX/;MAILINDEX=1");
        let smtp = format!("smtp://localhost:{}/client", self.smtp.port);
        let login = "USERPWD=user:secret";
        let sent = ["MAIL_FROM=me@example.com", "MAIL_RCPT=you@example.com", "UPLOAD=1"];
        let secured = ["USE_SSL=3", &ca, login];
        let transfer = |name, url: String, options: &[&str]| ProtocolTransfer {
            name,
            words: std::iter::once(url).chain(options.iter().map(|&word| word.to_owned())).collect(),
        };
        vec![
            transfer("http", self.nginx.http(&file), &[]),
            transfer("https", self.nginx.https(&file), &[&ca]),
            transfer("https-tls12", self.nginx.https(&file), &[&ca, "SSLVERSION=393216"]),
            transfer("ftp", self.ftp.url(&file), &[]),
            transfer("sftp", sftp("file"), &[&key, &known]),
            transfer("sftp-rsa-upload", sftp("sent"), &[&rsa, "KEYPASSWD=phrase", &known, "UPLOAD=1"]),
            transfer("imap", imap("imap", self.mail.imap), &[login]),
            transfer("imap-starttls", imap("imap", self.mail.imap), &secured),
            transfer("imaps", imap("imaps", self.mail.imaps), &[login, &ca]),
            transfer("smtp", smtp.clone(), &sent),
            transfer("smtp-starttls", smtp, &[&secured[..], &sent].concat()),
        ]
    }
}
