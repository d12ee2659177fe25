//! DICT (RFC 2229): the commands of a URL. All are sent at once, and the server closes after the last.

use crate::escape::{self, Reject, RejectedOctet};

/// Returns the commands for a URL's path: `/d:WORD:DATABASE` defines, `/m:WORD:DATABASE:STRATEGY` matches
/// words (section 5), with the aliases `define`, `lookup`, `match` and `find`. Anything else is a command
/// with colons in place of blanks (curl's docs/URL-SYNTAX.md). `client` is the client name sent to the
/// server.
pub fn request(path: &[u8], client: &str) -> Result<Vec<u8>, RejectedOctet> {
    let path = escape::decode(path, Reject::Control)?;
    let path = path.strip_prefix(b"/").unwrap_or(&path);
    let mut parts = path.split(|&octet| octet == b':');
    let verb = parts.next().unwrap_or_default();
    let is = |names: [&str; 3]| names.iter().any(|name| verb.eq_ignore_ascii_case(name.as_bytes()));
    let has_arguments = verb.len() < path.len();
    let mut argument = |default: &'static [u8]| match parts.next() {
        None | Some(b"") => default.to_vec(),
        Some(given) => given.to_vec(),
    };
    let command = if has_arguments && is(["match", "m", "find"]) {
        let (word, database, strategy) = (argument(b"default"), argument(b"!"), argument(b"."));
        [b"MATCH", &database[..], &strategy, &quoted(&word)].join(&b' ')
    } else if has_arguments && is(["define", "d", "lookup"]) {
        let (word, database) = (argument(b"default"), argument(b"!"));
        [b"DEFINE", &database[..], &quoted(&word)].join(&b' ')
    } else {
        path.iter().map(|&octet| if octet == b':' { b' ' } else { octet }).collect()
    };
    Ok([b"CLIENT ", client.as_bytes(), b"\r\n", &command, b"\r\nQUIT\r\n"].concat())
}

/// Quotes a word: a backslash before each character that would end it or has a special meaning (section 2.2).
fn quoted(word: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    for &octet in word {
        if octet <= b' ' || octet == 0x7f || matches!(octet, b'\'' | b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(octet);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands() {
        let rows = [
            ("/d:curl", "DEFINE ! curl"),
            ("/define:curl:fd-eng-swe", "DEFINE fd-eng-swe curl"),
            ("/LOOKUP:two%20words:*", "DEFINE * two\\ words"),
            ("/d:", "DEFINE ! default"),
            ("/d", "d"),
            ("/m:curl", "MATCH ! . curl"),
            ("/find:it's:web:prefix:3", "MATCH web prefix it\\'s"),
            ("/M:a\\b::", "MATCH ! . a\\\\b"),
            ("/show:db", "show db"),
            ("/", ""),
            ("", ""),
        ];
        for (path, wanted) in rows {
            let sent = String::from_utf8(request(path.as_bytes(), "me 1").unwrap()).unwrap();
            assert_eq!(sent, format!("CLIENT me 1\r\n{wanted}\r\nQUIT\r\n"), "{path}");
        }
    }

    #[test]
    fn no_command_of_its_own() {
        for bad in ["/d:a%0d%0aQUIT", "/show%0adb", "/d:%00", "/d:%09"] {
            assert!(request(bad.as_bytes(), "").is_err(), "{bad}");
        }
    }
}
