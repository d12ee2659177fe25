//! The last step of SASL GSSAPI, once a security context exists (RFC 4752 section 3.1): the server offers
//! security layers, and the client chooses one. The choice is always none, because mail is protected by TLS
//! or not at all.

/// The answer to the server's offer, before it is wrapped; `None` when the offer is none, or when the server
/// insists on more.
pub fn no_protection(offer: &[u8], authzid: &[u8]) -> Option<Vec<u8>> {
    const NONE: u8 = 1;
    let [layers, _, _, _] = offer else { return None };
    (layers & NONE != 0).then(|| [&[NONE, 0, 0, 0], authzid].concat())
}

/// Returns whether the user name has a realm, or takes it from the ticket. Only then GSSAPI is tried.
pub fn is_of_a_realm(user: &[u8]) -> bool {
    match user.iter().position(|b| b"/\\@".contains(b)) {
        Some(at) => at > 0 && at + 1 < user.len(),
        None => user.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers() {
        assert_eq!(no_protection(&[7, 0, 16, 0], b""), Some(vec![1, 0, 0, 0]));
        assert_eq!(no_protection(&[1, 0, 0, 0], b"bob"), Some(b"\x01\0\0\0bob".to_vec()));
        for bad in [&[6, 0, 16, 0][..], &[1, 0, 0], &[1, 0, 0, 0, 0], b""] {
            assert_eq!(no_protection(bad, b""), None);
        }
    }

    #[test]
    fn realms() {
        for of_one in ["", "alice@EXAMPLE", "EXAMPLE\\alice", "EXAMPLE/alice"] {
            assert!(is_of_a_realm(of_one.as_bytes()), "{of_one}");
        }
        for of_none in ["alice", "@alice", "alice@", "\\x"] {
            assert!(!is_of_a_realm(of_none.as_bytes()), "{of_none}");
        }
    }
}
