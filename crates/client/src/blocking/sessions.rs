//! Files and mail without futures. Their requests are defined beside those that are futures.

use crate::IntoUrl;
use crate::client::session::session_settings;

use super::Client;

/// A folder on a server, by FTP or SFTP: [`warmwire::Files`](crate::Files) for threads that wait.
///
/// ```no_run
/// let client = warmwire::blocking::Client::new();
/// let files = client.ftp("ftp://server.example/incoming").login("user", "password");
/// files.mkdir("today")?;
/// files.put("today/data", std::fs::File::open("data")?)?;
/// assert_eq!(files.list("today")?[0].name, "data");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(any(feature = "ftp", feature = "ssh"))]
#[derive(Clone)]
pub struct Files(pub(crate) crate::Files);

/// The mailboxes of a user, by IMAP: [`warmwire::Imap`](crate::Imap) for threads that wait.
///
/// ```no_run
/// let client = warmwire::blocking::Client::new();
/// let imap = client.imap("imaps://mail.example/").login("user", "password");
/// for uid in imap.search("INBOX", "UNSEEN")? {
///     println!("{} octets", imap.fetch("INBOX", uid)?.len());
/// }
/// # Ok::<(), warmwire::Error>(())
/// ```
#[cfg(feature = "mail")]
#[derive(Clone)]
pub struct Imap(pub(crate) crate::Imap);

/// A server that sends mail, by SMTP: [`warmwire::Smtp`](crate::Smtp) for threads that wait.
///
/// ```no_run
/// let client = warmwire::blocking::Client::new();
/// let envelope = warmwire::Envelope::new("me@example.com", ["you@example.com"]);
/// client.smtp("smtp://localhost").send(&envelope, "Subject: News\n\nNothing new.\n")?;
/// # Ok::<(), warmwire::Error>(())
/// ```
#[cfg(feature = "mail")]
#[derive(Clone)]
pub struct Smtp(pub(crate) crate::Smtp);

impl Client {
    /// Accesses files by FTP; see [`warmwire::Client::ftp`](crate::Client::ftp).
    #[cfg(feature = "ftp")]
    pub fn ftp(&self, url: impl IntoUrl) -> Files {
        Files(self.0.ftp(url))
    }

    /// Accesses files by SFTP; see [`warmwire::Client::sftp`](crate::Client::sftp).
    #[cfg(feature = "ssh")]
    pub fn sftp(&self, url: impl IntoUrl) -> Files {
        Files(self.0.sftp(url))
    }

    /// Accesses mailboxes by IMAP; see [`warmwire::Client::imap`](crate::Client::imap).
    #[cfg(feature = "mail")]
    pub fn imap(&self, url: impl IntoUrl) -> Imap {
        Imap(self.0.imap(url))
    }

    /// Sends mail by SMTP; see [`warmwire::Client::smtp`](crate::Client::smtp).
    #[cfg(feature = "mail")]
    pub fn smtp(&self, url: impl IntoUrl) -> Smtp {
        Smtp(self.0.smtp(url))
    }
}

#[cfg(any(feature = "ftp", feature = "ssh"))]
session_settings!(Files, 0.session);
#[cfg(feature = "mail")]
session_settings!(Imap, 0.session);
#[cfg(feature = "mail")]
session_settings!(Smtp, 0.session);
