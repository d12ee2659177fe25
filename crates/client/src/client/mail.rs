//! Mail: mailboxes by IMAP, and sending by SMTP.

use bytes::Bytes;
use http::Method;
use tables::EasyOption;

use super::session::{Session, check_text, done, encode, faces, session_settings};
use crate::{Body, Client, Error, IntoUrl};

/// The mailboxes of a user, by IMAP. [`Client::imap`] returns it.
///
/// ```no_run
/// # async fn run(client: warmwire::Client) -> Result<(), warmwire::Error> {
/// let imap = client.imap("imaps://mail.example/").login("user", "password");
/// for mailbox in imap.list().await? {
///     println!("{}", mailbox.name);
/// }
/// for uid in imap.search("INBOX", "UNSEEN FROM \"alice\"").await? {
///     let message = imap.fetch("INBOX", uid).await?;
///     imap.append("Archive", message).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Imap {
    pub(crate) session: Session,
}

/// A mailbox as a server lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mailbox {
    /// The name as the server spells it: other letters than ASCII's are in modified UTF-7 (RFC 3501 §5.1.3).
    pub name: String,
    /// The separator of the name's levels.
    pub delimiter: Option<char>,
    /// The attributes, like `\HasNoChildren`.
    pub attributes: Vec<String>,
}

/// A server that sends mail, by SMTP. [`Client::smtp`] returns it.
///
/// ```no_run
/// # async fn run(client: warmwire::Client) -> Result<(), warmwire::Error> {
/// use warmwire::Envelope;
/// let smtp = client.smtp("smtp://mail.example:587").login("user", "password").require_tls();
/// let envelope = Envelope::new("me@example.com", ["you@example.com"]);
/// smtp.send(&envelope, "From: me@example.com\r\nSubject: News\r\n\r\nNothing new.\r\n").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Smtp {
    pub(crate) session: Session,
}

/// The sender and the recipients of a mail. The header fields of the message do not count for its delivery.
///
/// ```
/// let envelope = warmwire::Envelope::new("me@example.com", ["a@example.com", "b@example.com"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    from: String,
    to: Vec<String>,
}

impl Envelope {
    /// Creates an envelope. An empty sender is that of a delivery report (RFC 5321 §3.6.3).
    pub fn new<T: Into<String>>(from: impl Into<String>, to: impl IntoIterator<Item = T>) -> Envelope {
        Envelope { from: from.into(), to: to.into_iter().map(Into::into).collect() }
    }
}

impl Client {
    /// Accesses mailboxes by IMAP, at a URL like `imaps://mail.example/`. An invalid URL is reported by the
    /// first request.
    pub fn imap(&self, url: impl IntoUrl) -> Imap {
        Imap { session: Session::new(self, url, &["imap", "imaps"]) }
    }

    /// Sends mail by SMTP, at a URL like `smtp://mail.example:587`. A path is the name by which the client
    /// greets the server. An invalid URL is reported by the first request.
    pub fn smtp(&self, url: impl IntoUrl) -> Smtp {
        Smtp { session: Session::new(self, url, &["smtp", "smtps"]) }
    }
}

session_settings!(Imap, session);

faces! { Imap:
    /// Lists all mailboxes.
    fn list(&self) -> Vec<Mailbox> {
        let lines = self.session.request(Method::GET, "")?.send().await?.bytes().await?;
        Ok(wire::imap::listed(&lines).into_iter().map(Mailbox::from).collect())
    }

    /// Searches a mailbox, and returns the UIDs of the messages found. The criteria are those of IMAP (RFC
    /// 9051 §6.4.4), like `ALL`, `UNSEEN` or `SINCE 1-Feb-2026 FROM "alice"`.
    fn search(&self, mailbox: &str, criteria: &str) -> Vec<u32> {
        let criteria = check_text(criteria, "search")?.replace('%', "%25");
        let command = format!("UID SEARCH {criteria}");
        let request = self.session.request(Method::GET, &place(mailbox)?)?;
        let lines = request.option(EasyOption::CustomRequest, command.as_str()).send().await?.bytes().await?;
        Ok(wire::imap::found(&lines))
    }

    /// Fetches a message by its UID.
    fn fetch(&self, mailbox: &str, uid: u32) -> Bytes {
        let path = format!("{}/;UID={uid}", place(mailbox)?);
        self.session.request(Method::GET, &path)?.send().await?.bytes().await
    }

    /// Adds a message to a mailbox, marked as seen. A stream as message needs a length
    /// ([`Body::with_length`]).
    fn append(&self, mailbox: &str, message: impl Into<Body>) -> () {
        done(self.session.request(Method::PUT, &place(mailbox)?)?.body(message)).await
    }
}

session_settings!(Smtp, session);

mod smtp {
    use super::{Smtp, *};

    faces! { Smtp:
        /// Sends a message: header fields, an empty line, and text. Line feeds are sent as CR LF. Fails if
        /// the server refuses the sender, a recipient or the message.
        fn send(&self, envelope: &Envelope, message: impl Into<Body>) -> () {
            for address in envelope.to.iter().chain([&envelope.from]) {
                check_text(address, "address")?;
            }
            if envelope.to.is_empty() {
                return Err(Error::option("a mail needs a recipient"));
            }
            let to: Vec<Vec<u8>> = envelope.to.iter().map(|to| to.clone().into_bytes()).collect();
            let request = self.session.request(Method::PUT, "")?.body(message);
            let request = request.option(EasyOption::MailFrom, envelope.from.as_str());
            done(request.option(EasyOption::MailRcpt, to).option(EasyOption::Crlf, true)).await
        }
    }
}

/// Encodes a mailbox for a URL.
fn place(mailbox: &str) -> Result<String, Error> {
    match check_text(mailbox, "mailbox")? {
        "" => Err(Error::option("the mailbox has no name")),
        mailbox => Ok(encode(mailbox)),
    }
}

impl From<wire::imap::Listed> for Mailbox {
    fn from(listed: wire::imap::Listed) -> Mailbox {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Mailbox {
            name: text(&listed.name),
            delimiter: listed.delimiter.map(char::from),
            attributes: listed.attributes.iter().map(|attribute| text(attribute)).collect(),
        }
    }
}
