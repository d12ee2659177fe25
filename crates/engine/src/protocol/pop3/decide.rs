//! Decisions of POP3 (RFC 1939): pure functions from facts to a verdict.

use wire::auth::sasl::Kind;

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
pub enum Way {
    /// APOP, which answers the greeting's timestamp.
    Apop,
    /// USER and PASS.
    Clear,
    /// There is none.
    None,
}

/// Decides how to log in without SASL.
pub fn without_sasl(f: &Login) -> Way {
    match f {
        Login { has_user: false, .. } => Way::None,
        Login { has_timestamp: true, kind: Kind::Any | Kind::Own, .. } => Way::Apop,
        Login { knows_user: true, kind: Kind::Any, .. } => Way::Clear,
        _ => Way::None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways() {
        let all = Login { has_user: true, has_timestamp: true, knows_user: true, kind: Kind::Any };
        let clear = Login { has_timestamp: false, ..all };
        let rows = [
            ("RFC 1939 §7: APOP goes before a password in clear", all, Way::Apop),
            ("RFC 1939 §7: USER and PASS", clear, Way::Clear),
            ("RFC 2449 §6.3: a server without USER", Login { knows_user: false, ..clear }, Way::None),
            ("CURLOPT_LOGIN_OPTIONS(3): AUTH=+APOP", Login { kind: Kind::Own, ..all }, Way::Apop),
            (
                "CURLOPT_LOGIN_OPTIONS(3): AUTH=+APOP, without a timestamp",
                Login { kind: Kind::Own, ..clear },
                Way::None,
            ),
            ("CURLOPT_LOGIN_OPTIONS(3): AUTH=*", Login { kind: Kind::Sasl, ..all }, Way::None),
            ("CURLOPT_USERNAME(3): nobody", Login { has_user: false, ..all }, Way::None),
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
