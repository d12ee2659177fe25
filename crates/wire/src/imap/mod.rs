//! IMAP (RFC 9051, RFC 3501; URLs by RFC 5092): writing commands, and parsing lines.
//!
//! `url` parses URLs, `response` classifies lines of the server, `list` parses the
//! replies to LIST and SEARCH. Literals are not buffered here: the reader
//! of the connection learns how many octets follow a line.

mod list;
mod response;
mod url;

pub use list::{Listed, found, listed};
pub use response::{Line, Status, Untagged, classify, literal_at_end};
pub use url::{Malformed, UrlPath};

/// The tag of a connection's n-th command: a letter for the connection and three digits for the command.
pub fn tag(connection: u64, command: u8) -> Vec<u8> {
    let digits = [command / 100, command / 10 % 10, command % 10].map(|digit| b'0' + digit);
    [&[b'A' + (connection % 26) as u8][..], &digits].concat()
}

/// A mailbox, user or password as an argument: as it is where it can be an atom, as a quoted string elsewhere
/// (RFC 9051 section 4). As in curl, a string that is empty stays so.
pub fn argument(text: &[u8]) -> Vec<u8> {
    match text.iter().any(|octet| b"() {%*]\\\"".contains(octet)) {
        true => [b"\"", &escaped(text)[..], b"\""].concat(),
        false => text.to_vec(),
    }
}

/// Escapes text for a quoted string.
pub fn escaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &octet in text {
        if matches!(octet, b'\\' | b'"') {
            out.push(b'\\');
        }
        out.push(octet);
    }
    out
}

/// The flags of a message, with CURLULFLAG_'s bits, as APPEND has them before the size (RFC 9051 section
/// 6.3.12).
pub fn flags(bits: i64) -> Vec<u8> {
    const NAMES: [(i64, &str); 5] =
        [(1, "\\Answered"), (2, "\\Deleted"), (4, "\\Draft"), (8, "\\Flagged"), (16, "\\Seen")];
    if bits == 0 {
        return Vec::new();
    }
    let names: Vec<&str> = NAMES.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect();
    format!(" ({})", names.join(" ")).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_name_connection_and_command() {
        assert_eq!(tag(0, 1), b"A001");
        assert_eq!(tag(27, 12), b"B012");
        assert_eq!(tag(25, 255), b"Z255");
    }

    #[test]
    fn arguments_are_quoted_where_they_must_be() {
        let rows: [(&str, &str); 7] = [
            ("INBOX", "INBOX"),
            ("a/b.c", "a/b.c"),
            ("", ""),
            ("two words", "\"two words\""),
            ("\"user", "\"\\\"user\""),
            ("sec\"ret{", "\"sec\\\"ret{\""),
            ("a\\b", "\"a\\\\b\""),
        ];
        for (text, wanted) in rows {
            assert_eq!(argument(text.as_bytes()), wanted.as_bytes(), "{text}");
        }
    }

    #[test]
    fn flags_stand_in_one_order() {
        assert_eq!(flags(0), b"");
        assert_eq!(flags(16), b" (\\Seen)");
        assert_eq!(flags(31), b" (\\Answered \\Deleted \\Draft \\Flagged \\Seen)");
        assert_eq!(flags(9), b" (\\Answered \\Flagged)");
    }
}
