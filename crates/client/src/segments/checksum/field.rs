//! Repr-Digest and Content-Digest (RFC 9530): dictionaries of structured fields (RFC 8941) whose values are
//! byte sequences.

use super::{Algorithm, Sum};
use wire::base64;

/// The algorithms that RFC 9530 registers as active.
pub const ALGORITHMS: [(&str, Algorithm); 2] =
    [("sha-256", Algorithm::Sha256), ("sha-512", Algorithm::Sha512)];

/// Returns the sums in a field that can be checked. Unknown algorithms and malformed members are ignored, as
/// section 2 requires; of a repeated key the last value counts.
pub fn sums(value: &[u8]) -> Vec<(&'static str, Sum)> {
    let mut found: Vec<(&'static str, Sum)> = Vec::new();
    for member in value.split(|byte| *byte == b',') {
        let member = member.trim_ascii();
        let Some(equals) = member.iter().position(|byte| *byte == b'=') else { continue };
        let (key, rest) = (&member[..equals], &member[equals + 1..]);
        let Some((key, algorithm)) = ALGORITHMS.iter().find(|row| row.0.as_bytes() == key) else { continue };
        let sum = rest.strip_prefix(b":").and_then(|rest| {
            let end = rest.iter().position(|byte| *byte == b':')?;
            let digest = base64::decode(&rest[..end])?;
            (digest.len() == algorithm.length()).then_some(Sum { algorithm: *algorithm, digest })
        });
        found.retain(|(known, _)| known != key);
        found.extend(sum.map(|sum| (*key, sum)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supported_digests_are_read_strongest_first() {
        let [short, long] = [32, 64].map(|length| base64::encode(&vec![7; length]));
        let text = format!("md5=:AAAA:, sha-512=:{long}:;a=1,  sha-256=:{short}:");
        let keys: Vec<&str> = sums(text.as_bytes()).iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, ["sha-512", "sha-256"]);
        let twice = format!("sha-256=:{short}:,sha-256=:{}:", base64::encode(&[9; 32]));
        assert_eq!(sums(twice.as_bytes())[0].1.digest, [9; 32]);
    }

    #[test]
    fn malformed_fields_are_ignored() {
        for text in [
            "",
            ",",
            "sha-256",
            "sha-256=",
            "sha-256=:",
            "sha-256=::",
            "sha-256=:AAAA:",
            "SHA-256=:AAAA:",
            "sha-256=AAAA",
        ] {
            assert!(sums(text.as_bytes()).is_empty(), "{text}");
        }
    }
}
