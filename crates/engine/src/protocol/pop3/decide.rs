//! Decisions of POP3 (RFC 1939): pure functions from facts to a verdict.

use tables::Code;
use wire::auth::sasl::{Kind, Mechanisms};
use wire::pop3::{Status, status, timestamp};

use crate::error::{Error, Result};
use crate::transfer::mail_commands::decode;

/// A server that has no SASL mechanism in common with us, or has cancelled one.
#[derive(Clone, Copy, Debug)]
pub struct Login {
    /// There is a user.
    pub has_user: bool,
    /// The greeting has a timestamp.
    pub has_timestamp: bool,
    /// The server knows USER and PASS.
    pub knows_user: bool,
    /// The ways that the login options allow.
    pub kind: Kind,
}

/// The method that remains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainLogin {
    /// APOP, which answers the greeting's timestamp.
    Apop,
    /// USER and PASS.
    Clear,
    /// There is none.
    None,
}

/// Decides how to log in without SASL.
pub fn without_sasl(f: &Login) -> PlainLogin {
    match f {
        Login { has_user: false, .. } => PlainLogin::None,
        Login { has_timestamp: true, kind: Kind::Any | Kind::Own, .. } => PlainLogin::Apop,
        Login { knows_user: true, kind: Kind::Any, .. } => PlainLogin::Clear,
        _ => PlainLogin::None,
    }
}

/// Returns the command: the application's own, a list, or the message that the URL names.
pub fn command(own: Option<Vec<u8>>, message: &[u8], list: bool) -> Vec<u8> {
    let verb = match own {
        Some(own) => own,
        None if message.is_empty() || list => b"LIST".to_vec(),
        None => b"RETR".to_vec(),
    };
    if message.is_empty() { verb } else { [&verb[..], b" ", message].concat() }
}

/// Returns the message that the path of a URL names; empty for all of them.
pub fn message(path: &[u8]) -> Result<Vec<u8>> {
    decode(path.strip_prefix(b"/").unwrap_or(path))
}

/// Returns the timestamp of a greeting, if the line is one. Fails if the server refuses us.
pub fn greeting(line: &[u8]) -> Result<Option<Option<Vec<u8>>>> {
    match status(line) {
        Some(Status::Ok(text)) => Ok(Some(timestamp(text).map(<[u8]>::to_vec))),
        Some(Status::Err(_) | Status::Continue(_)) => {
            Err(Error::new(Code::WeirdServerReply, "Got unexpected pop3-server response"))
        }
        None => Ok(None),
    }
}

/// A line of the reply to CAPA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapaLine {
    /// A capability.
    Capability,
    /// The end of the list.
    End,
    /// The server does not know the command: it speaks USER and PASS (RFC 2449 §5).
    Refused,
}

/// Returns the meaning of a line that comes after CAPA.
pub fn capa_line(line: &[u8]) -> CapaLine {
    match line {
        _ if line.starts_with(b"-ERR") => CapaLine::Refused,
        b".\r\n" | b".\n" => CapaLine::End,
        _ => CapaLine::Capability,
    }
}

/// Returns whether a login by SASL is tried: both sides may, and the server offers a mechanism.
pub fn tries_sasl(kind: Kind, offered: Mechanisms) -> bool {
    kind != Kind::Own && !offered.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_decoded() {
        let bad = Err(Code::UrlMalformat);
        let found = |path: &[u8]| message(path).map_err(|e| e.code());
        assert_eq!(found(b"/7"), Ok(b"7".to_vec()), "RFC 2384 §3");
        assert_eq!(found(b"/"), Ok(Vec::new()), "RFC 2384 §3: all");
        assert_eq!(found(b"/7%0d%0aDELE%208"), bad, "RFC 1939 §3: a line break");
    }

    #[test]
    fn greetings_may_have_a_timestamp() {
        let rows: [(_, &[u8], Result<Option<Option<&[u8]>>, Code>); 5] = [
            ("RFC 1939 §7: with one", b"+OK ready <1.2@x>\r\n", Ok(Some(Some(b"<1.2@x>")))),
            ("RFC 1939 §4: without", b"+OK ready\r\n", Ok(Some(None))),
            ("RFC 1939 §3: refused", b"-ERR busy\r\n", Err(Code::WeirdServerReply)),
            ("RFC 5034 §4: a challenge", b"+ go on\r\n", Err(Code::WeirdServerReply)),
            ("RFC 1939 §3: a line that is no reply", b"welcome\r\n", Ok(None)),
        ];
        for (name, line, wanted) in rows {
            let found = greeting(line).map_err(|e| e.code());
            assert_eq!(found, wanted.map(|line| line.map(|stamp| stamp.map(<[u8]>::to_vec))), "{name}");
        }
    }

    #[test]
    fn capa_ends_by_a_dot_or_a_refusal() {
        let rows: [(_, &[u8], _); 6] = [
            ("RFC 2449 §5: the first line", b"+OK list follows\r\n", CapaLine::Capability),
            ("RFC 2449 §6: a capability", b"STLS\r\n", CapaLine::Capability),
            ("RFC 1939 §3: the end", b".\r\n", CapaLine::End),
            ("RFC 1939 §3: with a line feed alone", b".\n", CapaLine::End),
            ("RFC 1939 §3: a dot before something", b"..x\r\n", CapaLine::Capability),
            ("RFC 2449 §5: not known", b"-ERR what?\r\n", CapaLine::Refused),
        ];
        for (name, line, wanted) in rows {
            assert_eq!(capa_line(line), wanted, "{name}");
        }
    }

    #[test]
    fn sasl_is_tried_if_a_mechanism_is_offered() {
        let mut plain = Mechanisms::NONE;
        plain.offer(b"PLAIN");
        let rows = [
            ("RFC 5034 §4: a mechanism", Kind::Any, plain, true),
            ("RFC 5034 §4: none", Kind::Any, Mechanisms::NONE, false),
            ("CURLOPT_LOGIN_OPTIONS(3): AUTH=PLAIN", Kind::Sasl, plain, true),
            ("CURLOPT_LOGIN_OPTIONS(3): AUTH=+APOP", Kind::Own, plain, false),
        ];
        for (name, kind, offered, wanted) in rows {
            assert_eq!(tries_sasl(kind, offered), wanted, "{name}");
        }
    }

    #[test]
    fn ways() {
        let all = Login { has_user: true, has_timestamp: true, knows_user: true, kind: Kind::Any };
        let clear = Login { has_timestamp: false, ..all };
        let rows = [
            ("RFC 1939 §7: APOP goes before a password in clear", all, PlainLogin::Apop),
            ("RFC 1939 §7: USER and PASS", clear, PlainLogin::Clear),
            ("RFC 2449 §6.3: a server without USER", Login { knows_user: false, ..clear }, PlainLogin::None),
            ("CURLOPT_LOGIN_OPTIONS(3): AUTH=+APOP", Login { kind: Kind::Own, ..all }, PlainLogin::Apop),
            (
                "CURLOPT_LOGIN_OPTIONS(3): AUTH=+APOP, without a timestamp",
                Login { kind: Kind::Own, ..clear },
                PlainLogin::None,
            ),
            ("CURLOPT_LOGIN_OPTIONS(3): AUTH=*", Login { kind: Kind::Sasl, ..all }, PlainLogin::None),
            ("CURLOPT_USERNAME(3): nobody", Login { has_user: false, ..all }, PlainLogin::None),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(without_sasl(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn commands() {
        type Row = (&'static str, Option<&'static [u8]>, &'static [u8], bool, &'static [u8]);
        let rows: [Row; 6] = [
            ("RFC 2384 §3: the list", None, b"", false, b"LIST"),
            ("RFC 1939 §5: a message", None, b"7", false, b"RETR 7"),
            ("CURLOPT_DIRLISTONLY(3): the list's line", None, b"7", true, b"LIST 7"),
            ("CURLOPT_CUSTOMREQUEST(3): about a message", Some(b"TOP"), b"7 0", false, b"TOP 7 0"),
            ("CURLOPT_CUSTOMREQUEST(3): about all", Some(b"STAT"), b"", false, b"STAT"),
            ("CURLOPT_CUSTOMREQUEST(3): goes before the list", Some(b"UIDL"), b"", true, b"UIDL"),
        ];
        for (name, own, message, list, wanted) in rows {
            assert_eq!(command(own.map(<[u8]>::to_vec), message, list), wanted, "{name}");
        }
    }
}
