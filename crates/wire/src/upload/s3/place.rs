//! The place of an upload that has begun: the URL of the object, with the number of the upload in its query.

use crate::escape;
use crate::escape::Reject;

const PARAMETER: &[u8] = b"uploadId=";

/// Returns the parameter of a query that names an upload.
pub(super) fn parameter(upload_id: &[u8]) -> String {
    let id = [PARAMETER, &escape::encode(upload_id)].concat();
    String::from_utf8_lossy(&id).into_owned()
}

/// Returns the place of an upload to the object with this URL.
pub fn place(url: &[u8], upload_id: &[u8]) -> Vec<u8> {
    let url = url.split(|octet| *octet == b'#').next().unwrap_or_default();
    let joint = if url.contains(&b'?') { b"&" } else { b"?" };
    [url, joint, parameter(upload_id).as_bytes()].concat()
}

/// Returns the number of the upload in such a place.
pub fn upload_id_in(place: &[u8]) -> Option<Vec<u8>> {
    let query = place.iter().position(|octet| *octet == b'?').map(|at| &place[at + 1..])?;
    let value = query.split(|octet| *octet == b'&').rev().find_map(|pair| pair.strip_prefix(PARAMETER))?;
    escape::decode(value, Reject::Control).ok().filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_the_number_of_its_upload() {
        for (url, id, wanted) in [
            ("http://h/b/k", "VXBsb2Fk-_.", "http://h/b/k?uploadId=VXBsb2Fk-_."),
            ("http://h/b/k?x-id=a#f", "a/b+c=&d", "http://h/b/k?x-id=a&uploadId=a%2Fb%2Bc%3D%26d"),
            ("http://h/b/k?uploadId=old", "new", "http://h/b/k?uploadId=old&uploadId=new"),
        ] {
            let found = place(url.as_bytes(), id.as_bytes());
            assert_eq!(String::from_utf8_lossy(&found), wanted);
            assert_eq!(upload_id_in(&found).as_deref(), Some(id.as_bytes()), "{wanted}");
        }
        for other in ["http://h/uploadId=1", "http://h/?uploadId=", "http://h/?uploadId=%0a", "", "?"] {
            assert_eq!(upload_id_in(other.as_bytes()), None, "{other}");
        }
    }
}
