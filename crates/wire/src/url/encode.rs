//! The encoding for `flag::URLENCODE`: unlike `escape::encode`, it keeps the delimiters of a URL.

use crate::escape::{is_unreserved, push_encoded};

/// The encoding of a space.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    Percent,
    Plus,
    /// `%20` up to the first question mark, `+` after it.
    PlusInQuery,
}

/// Encodes spaces, control characters and non-ASCII octets in a piece of a URL. Existing escapes get
/// upper-case digits.
pub(super) fn encode_piece(piece: &[u8], space: Space) -> Vec<u8> {
    let mut out = Vec::with_capacity(piece.len());
    let mut plus = space == Space::Plus;
    for &octet in piece {
        match octet {
            b' ' if plus => out.push(b'+'),
            b' ' => out.extend_from_slice(b"%20"),
            ..0x20 | 0x7f.. => push_encoded(&mut out, octet),
            _ => out.push(octet),
        }
        plus = plus || (octet == b'?' && space == Space::PlusInQuery);
    }
    make_triplets_uppercase(&mut out);
    out
}

/// Encodes the value of a single path.
pub(super) fn encode_path(path: &[u8]) -> Vec<u8> {
    encode_value(path, |octet| b"!$&'()*+,/:;=@[]{}".contains(&octet))
}

/// Encodes the value of a query; of a `name=value` that is appended the first equals sign stays.
pub(super) fn encode_query(query: &[u8], is_pair: bool) -> Vec<u8> {
    let split = if is_pair { query.iter().position(|&octet| octet == b'=') } else { None };
    let mut out = Vec::with_capacity(query.len());
    for (index, &octet) in query.iter().enumerate() {
        match octet {
            b' ' => out.push(b'+'),
            b'=' if split == Some(index) => out.push(octet),
            _ if is_unreserved(octet) => out.push(octet),
            _ => push_encoded(&mut out, octet),
        }
    }
    out
}

/// Encodes all characters except unreserved ones and those that `keeps` accepts.
pub(super) fn encode_value(value: &[u8], keeps: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for &octet in value {
        if is_unreserved(octet) || keeps(octet) { out.push(octet) } else { push_encoded(&mut out, octet) }
    }
    out
}

/// The digits of every complete `%XX` in upper case (RFC 3986 section 6.2.2.1).
pub(super) fn uppercase_triplets(value: &[u8]) -> Vec<u8> {
    let mut out = value.to_vec();
    make_triplets_uppercase(&mut out);
    out
}

fn make_triplets_uppercase(out: &mut [u8]) {
    let mut index = 0;
    while index + 2 < out.len() {
        let is_triplet =
            out[index] == b'%' && out[index + 1].is_ascii_hexdigit() && out[index + 2].is_ascii_hexdigit();
        if is_triplet {
            out[index + 1..index + 3].make_ascii_uppercase();
        }
        index += if is_triplet { 3 } else { 1 };
    }
}
