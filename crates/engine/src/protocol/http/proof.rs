//! The parts of a request that its authentication covers, for the schemes that sign them.

use wire::url::{Part, Url, flag};

use super::fields::Custom;

/// The parts of a request that authentication schemes use.
pub struct Target<'a> {
    /// Method.
    pub method: &'a [u8],
    /// Value of the Host field.
    pub host: &'a [u8],
    /// The application's own lines.
    pub custom: &'a Custom,
    /// The request target, if it differs from the URL.
    pub uri: Option<&'a [u8]>,
}

/// Writes path and query. Non-ASCII octets in the path are encoded, and escapes get upper-case digits; the
/// query is unchanged, as in curl.
pub fn write_target(url: &Url, out: &mut Vec<u8>) {
    let start = out.len();
    url.write_path_and_query(out);
    let end = start + url.path().len();
    // A URL handle may contain unencoded blanks.
    if !out[start..end].iter().all(|b| matches!(b, 0x21..=0x7e) && *b != b'%') {
        let path = url.get(Part::Path, flag::URLENCODE).unwrap_or_default();
        out.splice(start..end, path);
    }
}

/// Writes one field.
pub fn field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}
