//! Ed25519 signatures (RFC 8032), for HTTP Message Signatures.

use ring::signature::Ed25519KeyPair;

/// Signs a text with the key derived from a seed of 32 bytes.
pub fn sign(seed: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
    Some(pair.sign(text).as_ref().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, 7.1, test 1.
    #[test]
    fn the_first_test_of_the_standard() {
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
        };
        let seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let signature = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
                         d25bf5f0595bbe24655141438e7a100b";
        assert_eq!(sign(&seed, b"").unwrap(), hex(signature));
        assert_eq!(sign(b"short", b""), None);
    }
}
