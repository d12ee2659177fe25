//! The state of kept connections that come from another process: which protocol reads it.

use std::time::Instant;

use net::connection_key::Protocol;
use net::{HashedKey, Memory};

#[cfg(feature = "ftp")]
use super::ftp;
#[cfg(feature = "mail")]
use super::{imap, pop3, smtp};

/// Reads the state that a protocol encoded in another process ([`net::Memory::encode`]) for a connection with
/// this key that was opened then; `None` if the state is invalid.
pub fn decode_memory(key: &HashedKey, bytes: &[u8], opened: Instant) -> Option<Box<dyn Memory>> {
    match key.protocol {
        Protocol::Http(_) => net::http2::decode_memory(bytes, opened),
        #[cfg(feature = "ftp")]
        Protocol::Ftp(_) => ftp::decode_memory(bytes),
        #[cfg(feature = "mail")]
        Protocol::Imap(_) => imap::decode_memory(bytes),
        #[cfg(feature = "mail")]
        Protocol::Pop3(_) => pop3::decode_memory(bytes),
        #[cfg(feature = "mail")]
        Protocol::Smtp(_) => smtp::decode_memory(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use net::ConnectionKey;
    use net::connection_key::{FtpTerms, StartTls};
    use testkit::dice::Dice;

    use super::*;

    fn key(protocol: Protocol) -> HashedKey {
        ConnectionKey { protocol, ..ConnectionKey::default() }.into()
    }

    /// Protocols with an encoded state of each.
    fn states() -> Vec<(HashedKey, Vec<u8>)> {
        let tls = StartTls::default();
        let ftp = [b"\x01\0\0\0\x01/\x01\0\0\0\x02a/\x01I\0\x01\0\0\0\0\x03\x02", &[0u8; 9][..]].concat();
        vec![
            (key(Protocol::Ftp(FtpTerms::default())), ftp),
            (key(Protocol::Imap(tls)), b"\x07\x01\0\0\0\x05INBOX\x01\0\0\0\x09\x02".to_vec()),
            (key(Protocol::Imap(tls)), b"\xff\0\0\0".to_vec()),
            (key(Protocol::Pop3(tls)), Vec::new()),
            (key(Protocol::Smtp(tls)), b"\x01\0\x01\0\x01\0\x01\0\x05".to_vec()),
        ]
    }

    #[test]
    fn each_state_has_one_encoding() {
        let mut dice = Dice::new(9);
        for (key, bytes) in states() {
            let encoded = |bytes: &[u8]| {
                decode_memory(&key, bytes, Instant::now()).map(|memory| memory.encode().unwrap().to_vec())
            };
            assert_eq!(encoded(&bytes).as_ref(), Some(&bytes), "{key:?}");
            assert!((0..bytes.len()).all(|n| encoded(&bytes[..n]).is_none()), "cut: {key:?}");
            assert_eq!(encoded(&[&bytes[..], b"\0"].concat()), None, "longer: {key:?}");
            for _ in 0..bytes.len() * 200 {
                let mut damaged = bytes.clone();
                damaged[dice.roll(bytes.len())] = dice.roll(256) as u8;
                assert!(encoded(&damaged).is_none_or(|again| again == damaged), "{damaged:?}");
            }
        }
    }

    #[test]
    fn other_protocols_have_no_state_that_moves() {
        for other in [key(Protocol::default()), key(Protocol::Rtsp)] {
            for (_, bytes) in states() {
                assert!(decode_memory(&other, &bytes, Instant::now()).is_none());
            }
        }
    }
}
