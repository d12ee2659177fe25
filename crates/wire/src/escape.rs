//! Percent encoding and decoding of single components, as in `curl_easy_escape` and `curl_easy_unescape` (RFC
//! 3986 section 2.1). The module `url` decides which characters a whole URL may contain.

/// Which decoded octets make decoding fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reject {
    Nothing,
    Zero,
    /// Everything below 0x20, the zero octet included.
    Control,
}

/// A refused octet was found while decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RejectedOctet(pub u8);

/// The unreserved characters of RFC 3986 section 2.3: never encoded.
pub fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

/// Encodes everything but the unreserved characters, with upper case digits.
pub fn encode(input: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(input.len());
    for &octet in input {
        if is_unreserved(octet) { out.push(octet) } else { push_encoded(&mut out, octet) }
    }
    out
}

/// Decodes every complete `%XX`. Any other percent sign is literal.
pub fn decode(input: &[u8], reject: Reject) -> Result<Vec<u8>, RejectedOctet> {
    let mut out = Vec::with_capacity(input.len());
    let mut rest = input;
    while let Some((&first, tail)) = rest.split_first() {
        let (octet, used) = match encoded_octet(rest) {
            Some(octet) => (octet, 3),
            None => (first, 1),
        };
        let refused = match reject {
            Reject::Nothing => false,
            Reject::Zero => octet == 0,
            Reject::Control => octet < 0x20,
        };
        if refused {
            return Err(RejectedOctet(octet));
        }
        out.push(octet);
        rest = if used == 3 { &rest[3..] } else { tail };
    }
    Ok(out)
}

/// Appends `%XX`.
pub fn push_encoded(out: &mut Vec<u8>, octet: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend_from_slice(&[b'%', DIGITS[usize::from(octet >> 4)], DIGITS[usize::from(octet & 15)]]);
}

/// Decodes a `%XX` at the start of `input`.
pub fn encoded_octet(input: &[u8]) -> Option<u8> {
    match input {
        [b'%', high, low, ..] => Some((crate::hex::digit(*high)? << 4) | crate::hex::digit(*low)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_all_but_unreserved() {
        assert_eq!(encode(b"a-B.9_~ /\xe4%"), b"a-B.9_~%20%2F%E4%25");
        assert_eq!(encode(b""), b"");
    }

    #[test]
    fn decodes_complete_triplets_only() {
        let rows: &[(&[u8], &[u8])] = &[
            (b"a%20b", b"a b"),
            (b"%4a%4B", b"JK"),
            (b"%", b"%"),
            (b"%2", b"%2"),
            (b"%zz%41", b"%zzA"),
            (b"%%41", b"%A"),
            (b"+", b"+"),
        ];
        for (input, wanted) in rows {
            assert_eq!(decode(input, Reject::Nothing).as_deref(), Ok(*wanted), "{input:?}");
        }
    }

    #[test]
    fn decoding_refuses_the_chosen_octets() {
        assert_eq!(decode(b"a%00b", Reject::Zero), Err(RejectedOctet(0)));
        assert_eq!(decode(b"a%0ab", Reject::Control), Err(RejectedOctet(10)));
        assert_eq!(decode(b"a%0ab", Reject::Zero).as_deref(), Ok(&b"a\nb"[..]));
    }

    #[test]
    fn every_octet_survives_the_round_trip() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all), Reject::Nothing), Ok(all));
    }
}
