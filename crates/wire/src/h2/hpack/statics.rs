//! The static table of header compression (RFC 7541 appendix A).

use crate::static_fields::{StaticFields, size};

/// Names and values in their order; the first has index 1.
#[rustfmt::skip]
const FIELDS: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
    (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
    (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
    ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
    ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""), ("etag", ""),
    ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""), ("if-modified-since", ""),
    ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""),
    ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""),
    ("www-authenticate", ""),
];

/// How many entries there are: dynamic ones follow.
pub(super) const COUNT: usize = FIELDS.len();

static TABLE: StaticFields<COUNT, { size(&FIELDS) }> = StaticFields::new(&FIELDS);

/// The entry at an index, counted from 1.
pub(super) fn entry(index: usize) -> Option<(&'static [u8], &'static [u8])> {
    TABLE.get(index.checked_sub(1)?)
}

/// Returns the index of a name's first entry; for a matching pair, the index of the pair and `true`.
pub(super) fn find(name: &[u8], value: &[u8]) -> Option<(usize, bool)> {
    let first = first_of(name)?;
    // Only pseudo-fields and one other have values here, the entries of a name side by side.
    let same = |index: &usize| entry(*index).is_some_and(|(n, v)| n == name && v == value);
    match (first..=first + 6).take_while(|index| entry(*index).is_some_and(|(n, _)| n == name)).find(same) {
        Some(index) if !value.is_empty() => Some((index, true)),
        _ => Some((first, false)),
    }
}

/// Returns the first index of a name.
fn first_of(name: &[u8]) -> Option<usize> {
    TABLE.places(name).next().map(|place| place + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_names_are_found() {
        assert_eq!(find(b":method", b"POST"), Some((3, true)));
        assert_eq!(find(b":method", b"PUT"), Some((2, false)));
        assert_eq!(find(b":status", b"500"), Some((14, true)));
        assert_eq!(find(b":authority", b""), Some((1, false)));
        assert_eq!(find(b"accept-encoding", b"gzip, deflate"), Some((16, true)));
        assert_eq!(find(b"www-authenticate", b"x"), Some((61, false)));
        assert_eq!(find(b"x-other", b""), None);
        assert_eq!(entry(0), None);
        assert_eq!(entry(62), None);
    }
}
