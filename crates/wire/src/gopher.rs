//! Gopher (RFC 1436, URLs by RFC 4266): the request line.

use crate::escape::{self, Reject, RejectedOctet};

/// Returns the request line for a URL. The selector is path and query without the path's first character,
/// which is the item type and meant for the client; a question mark is part of the selector. Tabs separate
/// the selector from a search. Octets that would end the line, or the string in some servers, are refused.
pub fn request(path_and_query: &[u8]) -> Result<Vec<u8>, RejectedOctet> {
    let selector = path_and_query.get(2..).unwrap_or_default();
    let mut line = escape::decode(selector, Reject::Zero)?;
    match line.iter().find(|octet| matches!(octet, b'\r' | b'\n')) {
        Some(&octet) => Err(RejectedOctet(octet)),
        None => {
            line.extend_from_slice(b"\r\n");
            Ok(line)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors() {
        let rows: [(&str, &str); 7] = [
            ("", "\r\n"),
            ("/", "\r\n"),
            ("/1", "\r\n"),
            ("/1/", "/\r\n"),
            ("/1/a/b", "/a/b\r\n"),
            ("/7/find%09two%20words", "/find\ttwo words\r\n"),
            ("/0/a?b", "/a?b\r\n"),
        ];
        for (path, wanted) in rows {
            assert_eq!(request(path.as_bytes()).as_deref(), Ok(wanted.as_bytes()), "{path}");
        }
    }

    #[test]
    fn no_second_line_and_no_nul() {
        for bad in ["/1a%0d%0ab", "/1a%0ab", "/1a%0D", "/1%00"] {
            assert!(request(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
