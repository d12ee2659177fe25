//! Decisions of SMTP (RFC 5321): pure functions from facts to a verdict.

use tables::Code;
use wire::smtp::{Extensions, Mailbox};

use crate::error::{Error, Result};
use crate::settings::Method;
use crate::transfer::dialogue::{breaks_line, succeeded};
use crate::transfer::mail_commands::{decode, sends_message};
use crate::transfer::sasl::SaslReply;

/// A mail up to this length may be one chunk, which is held in memory.
const CHUNK_LIMIT: u64 = 64 * 1024;

/// Code of a server that closes the connection, also when it has waited too long for a command (RFC 5321
/// §3.8).
pub const SERVICE_ENDS: u16 = 421;

/// Returns whether a server that refuses EHLO may be greeted by HELO, which knows no TLS.
pub fn may_be_old(protected: bool, tls_demanded: bool) -> bool {
    protected || !tls_demanded
}

/// The sender of a mail, and the server's extensions.
#[derive(Clone, Copy)]
pub struct Sender<'a> {
    /// CURLOPT_MAIL_FROM.
    pub from: Option<&'a Mailbox>,
    /// CURLOPT_MAIL_AUTH, of a client that has logged in.
    pub on_behalf: Option<&'a Mailbox>,
    /// The length of the mail, where it is known.
    pub size: Option<u64>,
    /// Everybody who gets it.
    pub recipients: &'a [Mailbox],
    /// The server's extensions.
    pub extensions: Extensions,
}

/// Returns the command that names the sender; without one it is empty, as in bounce messages.
pub fn mail_command(f: &Sender<'_>) -> Vec<u8> {
    let mut line = b"MAIL FROM:".to_vec();
    line.extend_from_slice(&f.from.map_or_else(|| b"<>".to_vec(), Mailbox::path));
    if let Some(author) = f.on_behalf {
        line.extend_from_slice(&[b" AUTH=<", &author.bare()[..], b">"].concat());
    }
    if let Some(size) = f.size.filter(|size| *size > 0 && f.extensions.size) {
        line.extend_from_slice(format!(" SIZE={size}").as_bytes());
    }
    let mut named = f.from.into_iter().chain(f.on_behalf).chain(f.recipients);
    if f.extensions.smtputf8 && named.any(Mailbox::is_international) {
        line.extend_from_slice(b" SMTPUTF8");
    }
    line
}

/// Returns the command that asks about a recipient: VRFY, or the application's own.
pub fn question(own: Option<&[u8]>, recipient: &[u8], smtputf8: bool) -> Vec<u8> {
    let mailbox = Mailbox::parse(recipient);
    let (mut line, utf8) = match own {
        None => ([b"VRFY ", &mailbox.bare()[..]].concat(), mailbox.is_international()),
        // EXPN may meet international names in a list (RFC 6531 §3.7.4.2).
        Some(own) => ([own, b" ", recipient].concat(), own == b"EXPN"),
    };
    if utf8 && smtputf8 {
        line.extend_from_slice(b" SMTPUTF8");
    }
    line
}

/// Returns whether the reply to a query is a document. 553 says that the name is ambiguous.
pub fn is_document(code: u16, has_recipients: bool) -> bool {
    succeeded(code) || code == 553 && has_recipients
}

/// Returns whether the mail is sent as one chunk (RFC 3030): it is known to be short, and the rate is not
/// limited.
pub fn is_one_chunk(chunking: bool, together: bool, data_sent: bool, size: Option<u64>, pace: i64) -> bool {
    chunking && together && !data_sent && pace == 0 && size.is_some_and(|size| size <= CHUNK_LIMIT)
}

/// Returns whether bytes received while the mail was being sent refuse it.
pub fn is_refusal(heard: &[u8]) -> bool {
    matches!(heard, [b'4' | b'5', ..]) && heard.contains(&b'\n')
}

/// The step after a reply to EHLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hello {
    /// The server has named its extensions.
    Extended,
    /// HELO.
    Plain,
    /// The server takes no mail from us.
    Denied,
}

/// Decides how to go on after EHLO. `may_be_old` says that HELO is enough.
pub fn after_ehlo(code: u16, may_be_old: bool) -> Hello {
    match succeeded(code) {
        true => Hello::Extended,
        false if may_be_old => Hello::Plain,
        false => Hello::Denied,
    }
}

/// Returns the meaning of a reply to AUTH, or to a response that follows it (RFC 4954 §6). `text` is the
/// text of its last line.
pub fn sasl_reply(code: u16, text: Vec<u8>) -> SaslReply {
    match code {
        235 => SaslReply::Success,
        334 => SaslReply::Continue(text),
        _ => SaslReply::Failure,
    }
}

/// Returns whether a mail is sent, rather than a command: there is a body, and somebody to get it.
pub fn sends_mail(upload: bool, method: Method, has_recipients: bool) -> bool {
    sends_message(upload, method) && has_recipients
}

/// Returns the name by which this client introduces itself: the path of the URL, or else the host's name.
pub fn client_name(path: &[u8], host: impl FnOnce() -> Vec<u8>) -> Result<Vec<u8>> {
    match path.strip_prefix(b"/").unwrap_or(path) {
        b"" => Ok(host()),
        path => decode(path),
    }
}

/// Returns the size that MAIL declares: CURLOPT_INFILESIZE, before line endings are converted, or the length
/// of a form.
pub fn declared_size(option: i64, is_form: bool, known: Option<u64>) -> Option<u64> {
    u64::try_from(option).ok().filter(|_| !is_form).or(known)
}

/// Fails if the server does not accept a mail.
pub fn check_accepted(code: u16) -> Result<()> {
    if code == 250 { Ok(()) } else { Err(Error::new(Code::WeirdServerReply, "")) }
}

/// Fails if an address breaks its line.
pub fn check_addresses<'a>(addresses: impl IntoIterator<Item = &'a [u8]>) -> Result<()> {
    match addresses.into_iter().any(breaks_line) {
        true => {
            let text = "Refusing to send email address with a CR or LF";
            Err(Error::new(Code::BadFunctionArgument, text))
        }
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_ehlo_falls_back_on_helo_where_tls_may_be_missing() {
        let rows = [
            ("RFC 5321 §4.1.1.1: 250", 250, false, Hello::Extended),
            ("RFC 5321 §3.2: 502, and no TLS is needed", 502, true, Hello::Plain),
            ("RFC 5321 §4.1.4: 504", 504, true, Hello::Plain),
            ("RFC 3207 §4: HELO knows no STARTTLS", 502, false, Hello::Denied),
            ("RFC 5321 §4.2.1: 354 is no success", 354, true, Hello::Plain),
        ];
        for (name, code, may_be_old, wanted) in rows {
            assert_eq!(after_ehlo(code, may_be_old), wanted, "{name}");
        }
    }

    #[test]
    fn logins_end_by_235() {
        let rows = [
            ("RFC 4954 §4: 235", 235, SaslReply::Success),
            ("RFC 4954 §4: 334", 334, SaslReply::Continue(b"eA==".to_vec())),
            ("RFC 4954 §6: 250 is no login", 250, SaslReply::Failure),
            ("RFC 4954 §6: 535", 535, SaslReply::Failure),
            ("RFC 4954 §6: 454", 454, SaslReply::Failure),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(sasl_reply(code, b"eA==".to_vec()), wanted, "{name}");
        }
    }

    #[test]
    fn mails_have_a_body_and_recipients() {
        let rows = [
            ("CURLOPT_UPLOAD(3)", true, Method::Get, true, true),
            ("CURLOPT_MIMEPOST(3)", false, Method::PostMime, true, true),
            ("CURLOPT_UPLOAD(3): by its method", false, Method::Put, true, true),
            ("CURLOPT_MAIL_RCPT(3): nobody gets it", true, Method::Put, false, false),
            ("CURLOPT_MAIL_RCPT(3): VRFY", false, Method::Get, true, false),
            ("CURLOPT_POSTFIELDS(3): no mail", false, Method::Post, true, false),
        ];
        for (name, upload, method, has_recipients, wanted) in rows {
            assert_eq!(sends_mail(upload, method, has_recipients), wanted, "{name}");
        }
    }

    #[test]
    fn the_path_names_the_client() {
        let bad = Err(Code::UrlMalformat);
        let rows: [(_, &[u8], Result<&[u8], Code>); 5] = [
            ("CURLOPT_URL(3): a name", b"/mail.example", Ok(b"mail.example")),
            ("CURLOPT_URL(3): encoded", b"/a%2db", Ok(b"a-b")),
            ("RFC 5321 §4.1.1.1: the host's own", b"/", Ok(b"host")),
            ("RFC 5321 §4.1.1.1: no path at all", b"", Ok(b"host")),
            ("RFC 5321 §2.3.8: a line break", b"/a%0d%0aQUIT", bad),
        ];
        for (name, path, wanted) in rows {
            let found = client_name(path, || b"host".to_vec()).map_err(|e| e.code());
            assert_eq!(found, wanted.map(<[u8]>::to_vec), "{name}");
        }
    }

    #[test]
    fn the_declared_size_is_the_applications() {
        let rows = [
            ("CURLOPT_INFILESIZE(3)", 9, false, Some(12), Some(9)),
            ("CURLOPT_INFILESIZE(3): of a form it says nothing", 9, true, Some(12), Some(12)),
            ("CURLOPT_INFILESIZE(3): not set", -1, false, Some(12), Some(12)),
            ("RFC 1870 §4: not known", -1, false, None, None),
        ];
        for (name, option, is_form, known, wanted) in rows {
            assert_eq!(declared_size(option, is_form, known), wanted, "{name}");
        }
    }

    #[test]
    fn a_mail_is_accepted_by_250_alone() {
        let rows = [
            ("RFC 5321 §4.1.1.4: 250", 250, true),
            ("RFC 5321 §4.2.1: another success", 251, false),
            ("RFC 5321 §4.2.2: 552", 552, false),
            ("RFC 5321 §4.2.2: 451", 451, false),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(check_accepted(code).is_ok(), wanted, "{name}");
        }
    }

    #[test]
    fn one_bad_address_refuses_the_mail() {
        let good: [&[u8]; 2] = [b"a@x.example", b"b@x.example"];
        assert!(check_addresses(good).is_ok() && check_addresses([]).is_ok(), "RFC 5321 §4.1.2");
        let failed = check_addresses([good[0], b"b@x.example\r\nRCPT TO:<c>"]).err().map(|e| e.code());
        assert_eq!(failed, Some(Code::BadFunctionArgument), "RFC 5321 §2.3.8");
    }

    #[test]
    fn old_servers() {
        let rows = [
            ("RFC 5321 §3.2: HELO where EHLO is not known", (false, false), true),
            ("RFC 3207 §4: HELO has no STARTTLS", (false, true), false),
            ("RFC 8314 §3: under TLS it needs none", (true, true), true),
        ];
        for (name, (protected, demanded), wanted) in rows {
            assert_eq!(may_be_old(protected, demanded), wanted, "{name}");
        }
    }

    #[test]
    fn senders() {
        let [plain, foreign, author] =
            ["a@x.example", "\u{e9}@x.example", "b@x.example"].map(|a| Mailbox::parse(a.as_bytes()));
        let all = Extensions { size: true, smtputf8: true, ..Extensions::default() };
        let base =
            Sender { from: Some(&plain), on_behalf: None, size: Some(9), recipients: &[], extensions: all };
        let none = Sender { extensions: Extensions::default(), ..base };
        let to = [foreign.clone()];
        let rows = [
            ("RFC 5321 §4.1.1.2", none, "MAIL FROM:<a@x.example>"),
            ("RFC 5321 §4.5.5: a notice of failure", Sender { from: None, ..none }, "MAIL FROM:<>"),
            ("RFC 1870 §4: SIZE", base, "MAIL FROM:<a@x.example> SIZE=9"),
            ("RFC 1870 §4: of unknown length", Sender { size: None, ..base }, "MAIL FROM:<a@x.example>"),
            ("CURLOPT_INFILESIZE(3): nothing", Sender { size: Some(0), ..base }, "MAIL FROM:<a@x.example>"),
            (
                "RFC 4954 §5: AUTH",
                Sender { on_behalf: Some(&author), ..none },
                "MAIL FROM:<a@x.example> AUTH=<b@x.example>",
            ),
            (
                "RFC 6531 §3.4: an international recipient",
                Sender { recipients: &to, size: None, ..base },
                "MAIL FROM:<a@x.example> SMTPUTF8",
            ),
            (
                "RFC 6531 §3.4: a server that does not know them",
                Sender { recipients: &to, ..none },
                "MAIL FROM:<a@x.example>",
            ),
            (
                "RFC 6531 §3.4: an international sender",
                Sender { from: Some(&foreign), size: None, ..base },
                "MAIL FROM:<\u{e9}@x.example> SMTPUTF8",
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(String::from_utf8_lossy(&mail_command(&facts)), wanted, "{name}");
        }
    }

    #[test]
    fn questions() {
        let rows: [(_, Option<&[u8]>, _, _, _); 5] = [
            ("RFC 5321 §3.5.1: VRFY", None, "a@x.example", true, "VRFY a@x.example"),
            ("RFC 6531 §3.7.4.2: VRFY", None, "\u{e9}@x.example", true, "VRFY \u{e9}@x.example SMTPUTF8"),
            ("RFC 6531 §3.7.4.2: not offered", None, "\u{e9}@x.example", false, "VRFY \u{e9}@x.example"),
            ("RFC 6531 §3.7.4.2: EXPN", Some(b"EXPN"), "list", true, "EXPN list SMTPUTF8"),
            ("CURLOPT_CUSTOMREQUEST(3)", Some(b"TURN"), "x", true, "TURN x"),
        ];
        for (name, own, recipient, smtputf8, wanted) in rows {
            let line = question(own, recipient.as_bytes(), smtputf8);
            assert_eq!(String::from_utf8_lossy(&line), wanted, "{name}");
        }
    }

    #[test]
    fn documents() {
        let rows = [
            ("RFC 5321 §3.5.3: 250", 250, true, true),
            ("RFC 5321 §3.5.3: 252 cannot verify, but takes", 252, true, true),
            ("RFC 5321 §3.5.1: 553 is ambiguous", 553, true, true),
            ("RFC 5321 §4.2.3: 553 to HELP", 553, false, false),
            ("RFC 5321 §4.2.3: 550", 550, true, false),
        ];
        for (name, code, has_recipients, wanted) in rows {
            assert_eq!(is_document(code, has_recipients), wanted, "{name}");
        }
    }

    #[test]
    fn chunks() {
        // CHUNKING, together, DATA sent, size, pace.
        let rows = [
            ("RFC 3030 §2: a short mail", (true, true, false, Some(CHUNK_LIMIT), 0), true),
            ("RFC 3030 §2: not offered", (false, true, false, Some(1), 0), false),
            ("RFC 2920 §3.1: the user wants one command at a time", (true, false, false, Some(1), 0), false),
            ("RFC 3030 §3: DATA has gone ahead", (true, true, true, Some(1), 0), false),
            ("RFC 3030 §2: too long to be held", (true, true, false, Some(CHUNK_LIMIT + 1), 0), false),
            ("RFC 3030 §2: of unknown length", (true, true, false, None, 0), false),
            ("CURLOPT_MAX_SEND_SPEED_LARGE(3)", (true, true, false, Some(1), 10), false),
        ];
        for (name, (chunking, together, data, size, pace), wanted) in rows {
            assert_eq!(is_one_chunk(chunking, together, data, size, pace), wanted, "{name}");
        }
    }

    #[test]
    fn bytes_from_outside() {
        let rows: [(_, bool, _); 4] = [
            ("RFC 5321 §4.2.1: refused in the middle", is_refusal(b"552 too much\r\n"), true),
            ("RFC 5321 §4.2.1: for now", is_refusal(b"421 bye\r\n"), true),
            ("RFC 5321 §4.2: not a whole line yet", is_refusal(b"552 too"), false),
            ("RFC 5321 §4.2.1: no refusal", is_refusal(b"250 ok\r\n"), false),
        ];
        for (name, found, wanted) in rows {
            assert_eq!(found, wanted, "{name}");
        }
    }
}
