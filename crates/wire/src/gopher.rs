//! Gopher (RFC 1436, URLs by RFC 4266): the one line that a client sends.

use crate::escape::{self, Reject, RejectedOctet};

/// The line that asks for the selector of a URL. Path and query stand as in the URL: the path's first
/// character is the item's type, meant for the client, and a question mark is part of the selector. Tabs part
/// the selector from a search; what would end the line, or the string in some servers, is refused.
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
