//! PEM (RFC 7468, and RFC 1421's headers of old encrypted keys): labelled base64 between other text.

use zeroize::Zeroizing;

/// More sections than any file has.
const MAX_SECTIONS: usize = 10_000;

/// A section from `-----BEGIN label-----` to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    pub label: String,
    /// `Proc-Type` and `DEK-Info`, if it has headers.
    pub headers: Vec<(String, String)>,
    /// The body may be a private key: it is wiped when dropped.
    pub body: Zeroizing<Vec<u8>>,
}

/// Returns the sections of a file, in order; skips other text.
pub fn sections(bytes: &[u8]) -> Vec<Section> {
    let mut out = Vec::new();
    let mut open: Option<(Section, Zeroizing<String>)> = None;
    for line in bytes.split(|b| *b == b'\n').map(|l| l.trim_ascii()) {
        let Ok(line) = std::str::from_utf8(line) else {
            continue;
        };
        if let Some(label) = line.strip_prefix("-----BEGIN ").and_then(|l| l.strip_suffix("-----")) {
            let body = Zeroizing::default();
            let section = Section { label: label.to_string(), headers: Vec::new(), body };
            // Allocated in advance, because a growing string would leave copies of a key in memory.
            open = Some((section, Zeroizing::new(String::with_capacity(8192))));
        } else if line.starts_with("-----END ") {
            if let Some((mut section, text)) = open.take()
                && let Some(body) = decode(&text)
                && out.len() < MAX_SECTIONS
            {
                section.body = Zeroizing::new(body);
                out.push(section);
            }
        } else if let Some((section, text)) = &mut open {
            match line.split_once(':') {
                Some((name, value)) => section.headers.push((name.to_string(), value.trim().to_string())),
                None => text.push_str(line),
            }
        }
    }
    out
}

/// Decodes base64 with its padding. Returns `None` for anything else.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    text.len().is_multiple_of(4).then(|| wire::base64::decode_unpadded(text.as_bytes()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_among_text() {
        let found = sections(
            b"Bag Attributes\n-----BEGIN A-----\r\nZm9v\r\n-----END A-----\nx\n-----BEGIN B-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nZm9v\nYg==\n-----END B-----\n-----BEGIN C-----\nZm9v",
        );
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].label.as_str(), found[0].body.as_slice()), ("A", &b"foo"[..]));
        assert_eq!(found[1].headers[1], ("DEK-Info".into(), "AES-128-CBC,00".into()));
        assert_eq!(*found[1].body, b"foob");
    }

    #[test]
    fn bad_base64() {
        for bad in ["Zg", "Zg=", "Z===", "Zg==Zg==", "Z!==", "A"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
        assert_eq!(decode("").unwrap(), b"");
        assert_eq!(decode("Zm8=").unwrap(), b"fo");
    }
}
