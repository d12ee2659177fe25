//! Decisions of SMTP (RFC 5321): pure functions from facts to a verdict.

use wire::smtp::{Extensions, Mailbox};

/// A mail up to this length may be one chunk, which is held in memory.
const CHUNK_LIMIT: u64 = 64 * 1024;

/// Code of a server that closes the connection, also when it has waited too long for a command (RFC 5321 §3.8).
pub const SERVICE_ENDS: u16 = 421;

/// Returns whether a command has succeeded.
pub fn succeeded(code: u16) -> bool {
    code / 100 == 2
}

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

/// Returns whether an address contains a line break: what follows would be a command of its own.
pub fn breaks_line(address: &[u8]) -> bool {
    address.iter().any(|octet| b"\r\n".contains(octet))
}

/// Returns whether bytes received while the mail was being sent refuse it.
pub fn is_refusal(heard: &[u8]) -> bool {
    matches!(heard, [b'4' | b'5', ..]) && heard.contains(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes() {
        let rows = [
            ("RFC 5321 §4.2.1: positive completion", 250, true),
            ("RFC 5321 §4.2.1: the last of them", 299, true),
            ("RFC 5321 §4.2.1: intermediate", 354, false),
            ("RFC 5321 §4.2.1: transient failure", 450, false),
            ("RFC 5321 §4.2.1: permanent failure", 550, false),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(succeeded(code), wanted, "{name}");
        }
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
        let rows: [(_, bool, _); 7] = [
            ("RFC 5321 §4.1.2: an address", breaks_line(b"a@b"), false),
            ("RFC 5321 §2.3.8: a line feed", breaks_line(b"a@b>\nRCPT TO:<c"), true),
            ("RFC 5321 §2.3.8: a carriage return", breaks_line(b"a@b\r"), true),
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
