//! Distinguished names, compared as in RFC 5280, section 7.1, and OpenSSL: the string type, the case of ASCII
//! letters, and blanks that are doubled or at the ends do not matter; other values must be equal byte by
//! byte.

use super::x509;
use wire::der::{self, Reader, Tlv};

/// Returns the same bytes for all equal names: the contents of a Name, attribute sets in order. A name is
/// below another if it begins with it. `None` if it is not a Name.
pub fn canonical(name: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(name.len());
    let mut sets = Reader::new(name);
    while !sets.is_empty() {
        let mut set = Reader::new(sets.expect(der::SET)?);
        let mut attributes = Vec::new();
        while !set.is_empty() {
            attributes.push(attribute(set.sequence()?)?);
        }
        if attributes.is_empty() {
            return None;
        }
        attributes.sort();
        out.extend(der::wrap(der::SET, &attributes.concat()));
    }
    Some(out)
}

fn attribute(mut pair: Reader<'_>) -> Option<Vec<u8>> {
    let mut out = der::wrap(der::OID, pair.expect(der::OID)?);
    let value = pair.value()?;
    match folded(value)? {
        Some(text) => out.extend(der::wrap(der::UTF8_STRING, text.as_bytes())),
        None => out.extend_from_slice(value.whole),
    }
    pair.is_empty().then(|| der::wrap(der::SEQUENCE, &out))
}

/// Returns the text in lower case with single blanks; `Some(None)` if it is not a string, `None` for a
/// damaged one.
fn folded(value: Tlv<'_>) -> Option<Option<String>> {
    let whole = match value.tag {
        der::UTF8_STRING => std::str::from_utf8(value.body).is_ok(),
        der::BMP_STRING => value.body.len().is_multiple_of(2),
        der::UNIVERSAL_STRING => value.body.len().is_multiple_of(4),
        der::PRINTABLE_STRING | der::T61_STRING | der::IA5_STRING => true,
        der::NUMERIC_STRING | der::BIT_STRING | der::SEQUENCE => return Some(None),
        _ => return None, // OpenSSL reads no name with another
    };
    let text = whole.then(|| x509::text(value))?;
    let blank = |c: char| matches!(c, ' ' | '\t'..='\r');
    let words: Vec<&str> = text.split(blank).filter(|w| !w.is_empty()).collect();
    Some(Some(words.join(" ").to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a Name of common names, each encoded with the given tag.
    fn name(parts: &[(u8, &[u8])]) -> Vec<u8> {
        let set = |(tag, value): &(u8, &[u8])| {
            let pair = [der::wrap(der::OID, &[0x55, 4, 3]), der::wrap(*tag, value)].concat();
            der::wrap(der::SET, &der::wrap(der::SEQUENCE, &pair))
        };
        parts.iter().flat_map(set).collect()
    }

    #[test]
    fn kind_case_and_blanks_do_not_count() {
        let plain = canonical(&name(&[(der::UTF8_STRING, b"some ca")])).unwrap();
        for same in [
            (der::PRINTABLE_STRING, &b"Some CA"[..]),
            (der::IA5_STRING, b"  SOME \t ca "),
            (der::BMP_STRING, b"\0s\0o\0m\0e\0 \0C\0A"),
        ] {
            assert_eq!(canonical(&name(&[same])).unwrap(), plain, "{same:?}");
        }
        assert_ne!(canonical(&name(&[(der::UTF8_STRING, b"some  cb")])).unwrap(), plain);
        assert_ne!(canonical(&name(&[(der::BIT_STRING, b"some ca")])).unwrap(), plain);
        let below = canonical(&name(&[(der::UTF8_STRING, b"Some CA"), (der::UTF8_STRING, b"x")])).unwrap();
        assert!(below.starts_with(&plain));
    }

    #[test]
    fn malformed_names() {
        for bad in [&[0x30, 0][..], &[0x31, 0], &[0x31, 2, 0x30, 0], &name(&[(der::BMP_STRING, b"odd")])] {
            assert_eq!(canonical(bad), None, "{bad:?}");
        }
        assert_eq!(canonical(&name(&[(der::OCTET_STRING, b"some ca")])), None);
        assert_eq!(canonical(&name(&[(der::UTF8_STRING | 0x20, b"some ca")])), None);
        assert_eq!(canonical(&[]), Some(Vec::new()));
    }
}
