//! ETags of S3: the MD5 digest of a part or an object that was sent in one request, and the digest of the
//! parts' digests with their number for an object of several. Encryption by a key of its own has others.

use md5::{Digest as _, Md5};

use crate::hex;

/// An MD5 digest.
pub type Digest = [u8; 16];

/// The digest of a piece of the source, as it is read.
#[derive(Clone, Debug, Default)]
pub struct PieceDigest {
    hasher: Md5,
    length: u64,
}

impl PieceDigest {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
    }

    /// Returns the digest if it is that of so many bytes.
    pub fn of_length(self, length: u64) -> Option<Digest> {
        (self.length == length).then(|| self.hasher.finalize().into())
    }
}

/// Returns the digest in the ETag of a part, or of an object that was sent in one request.
pub fn digest_in(etag: &[u8]) -> Option<Digest> {
    hex::decode(unquoted(etag))?.try_into().ok()
}

/// Returns the digest of the digests in the ETag of an object, and the number of its parts.
pub fn of_parts(etag: &[u8]) -> Option<(Digest, u32)> {
    let etag = unquoted(etag);
    let dash = etag.iter().position(|octet| *octet == b'-')?;
    let count = std::str::from_utf8(&etag[dash + 1..]).ok()?.parse().ok()?;
    Some((digest_in(&etag[..dash])?, count))
}

/// Returns the digest in the ETag of an object that consists of such parts.
pub fn digest_of_parts<'a>(parts: impl Iterator<Item = &'a Digest>) -> Digest {
    let mut hasher = Md5::new();
    parts.for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

/// Returns whether a field of a reply says that ETags of this object are no digests of its bytes: it is
/// encrypted by another key than the service's own.
pub fn hides_digest(name: &[u8], value: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    match name.as_slice() {
        b"x-amz-server-side-encryption" => value.trim_ascii() != b"AES256",
        b"x-amz-server-side-encryption-customer-algorithm" => true,
        _ => false,
    }
}

fn unquoted(etag: &[u8]) -> &[u8] {
    let etag = etag.trim_ascii();
    etag.strip_prefix(b"\"").and_then(|etag| etag.strip_suffix(b"\"")).unwrap_or(etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_etag_is_a_digest_or_is_none() {
        let empty = Some([
            0xd4, 0x1d, 0x8c, 0xd9, 0x8f, 0x00, 0xb2, 0x04, 0xe9, 0x80, 0x09, 0x98, 0xec, 0xf8, 0x42, 0x7e,
        ]);
        for (etag, part, object) in [
            ("\"d41d8cd98f00b204e9800998ecf8427e\"", empty, None),
            ("D41D8CD98F00B204E9800998ECF8427E", empty, None),
            ("\"d41d8cd98f00b204e9800998ecf8427e-3\"", None, empty.map(|digest| (digest, 3))),
            ("\"d41d8cd98f00b204e9800998ecf8427\"", None, None),
            ("\"d41d8cd98f00b204e9800998ecf8427e-\"", None, None),
            ("W/\"d41d8cd98f00b204e9800998ecf8427e\"", None, None),
            ("\"", None, None),
            ("", None, None),
        ] {
            assert_eq!((digest_in(etag.as_bytes()), of_parts(etag.as_bytes())), (part, object), "{etag}");
        }
    }

    #[test]
    fn a_digest_is_that_of_all_bytes() {
        let mut digest = PieceDigest::default();
        digest.update(b"1234");
        digest.update(b"56789");
        // The check value that comparison.rs has, too.
        let wanted = digest_in(b"25f9e794323b453885f5181f1b624d0b");
        assert_eq!((digest.clone().of_length(9), digest.of_length(8)), (wanted, None));
        // Of two parts "1234" and "56789", by Python's hashlib.
        let parts = [b"1234".as_slice(), b"56789"].map(|part| Md5::digest(part).into());
        assert_eq!(hex::encode(&digest_of_parts(parts.iter())), "d8399932ce6023ac3365f50fbbcde132");
    }

    #[test]
    fn a_key_of_its_own_hides_the_digest() {
        for (name, value, hidden) in [
            ("x-amz-server-side-encryption", "AES256", false),
            ("X-Amz-Server-Side-Encryption", "aws:kms", true),
            ("x-amz-server-side-encryption", "aws:kms:dsse", true),
            ("x-amz-server-side-encryption-customer-algorithm", "AES256", true),
            ("x-amz-server-side-encryption-bucket-key-enabled", "true", false),
            ("ETag", "\"x\"", false),
        ] {
            assert_eq!(hides_digest(name.as_bytes(), value.as_bytes()), hidden, "{name}: {value}");
        }
    }
}
