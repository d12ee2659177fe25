//! The ways to agree on a secret: RFC 8731, RFC 5656, RFC 8268, and draft-ietf-sshm-mlkem-hybrid-kex.

use zeroize::Zeroizing;

use crate::bytes::Put;
use crate::crypto::dh::{self, Group};
use crate::crypto::kem::{CIPHERTEXT, Kem768};
use crate::crypto::{Agreement, Curve, Hash, Secret, p521};
use crate::error::Error;

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    MlKem768X25519,
    Ecdh(Curve, Hash),
    P521,
    Dh(Group, Hash),
}

/// By their names, the best first.
pub const METHODS: &[(&str, Method)] = &[
    ("mlkem768x25519-sha256", Method::MlKem768X25519),
    ("curve25519-sha256", Method::Ecdh(Curve::X25519, Hash::Sha256)),
    ("curve25519-sha256@libssh.org", Method::Ecdh(Curve::X25519, Hash::Sha256)),
    ("ecdh-sha2-nistp256", Method::Ecdh(Curve::P256, Hash::Sha256)),
    ("ecdh-sha2-nistp384", Method::Ecdh(Curve::P384, Hash::Sha384)),
    ("ecdh-sha2-nistp521", Method::P521),
    ("diffie-hellman-group16-sha512", Method::Dh(Group::G16, Hash::Sha512)),
    ("diffie-hellman-group18-sha512", Method::Dh(Group::G18, Hash::Sha512)),
    ("diffie-hellman-group14-sha256", Method::Dh(Group::G14, Hash::Sha256)),
];

impl Method {
    /// The hash of the exchange, which makes the keys, too.
    pub fn hash(self) -> Hash {
        match self {
            Method::MlKem768X25519 => Hash::Sha256,
            Method::P521 => Hash::Sha512,
            Method::Ecdh(_, hash) | Method::Dh(_, hash) => hash,
        }
    }

    /// Whether public values are numbers rather than strings.
    pub fn has_numbers(self) -> bool {
        matches!(self, Method::Dh(..))
    }
}

/// Our half of an exchange.
pub enum Ours {
    Hybrid(Kem768, Agreement),
    Ecdh(Agreement),
    P521(p521::Agreement),
    Dh(dh::Agreement),
}

impl Ours {
    /// New private values, and the public one that is sent.
    pub fn begin(method: Method) -> Result<(Ours, Vec<u8>), Error> {
        Ok(match method {
            Method::MlKem768X25519 => {
                let (kem, mut public) = Kem768::begin()?;
                let (agreement, point) = Agreement::begin(Curve::X25519)?;
                public.extend_from_slice(&point);
                (Ours::Hybrid(kem, agreement), public)
            }
            Method::Ecdh(curve, _) => {
                let (agreement, public) = Agreement::begin(curve)?;
                (Ours::Ecdh(agreement), public)
            }
            Method::P521 => {
                let (agreement, public) = p521::Agreement::begin()?;
                (Ours::P521(agreement), public)
            }
            Method::Dh(group, _) => {
                let (agreement, public) = dh::Agreement::begin(group)?;
                (Ours::Dh(agreement), public)
            }
        })
    }

    /// The shared secret as it goes into hashes: a number, or with a post-quantum half a string.
    pub fn finish(self, theirs: &[u8]) -> Result<Secret, Error> {
        let number = |secret: Secret| {
            let mut out = Zeroizing::new(Vec::with_capacity(secret.len() + 5));
            out.put_mpint(&secret);
            out
        };
        Ok(match self {
            Ours::Ecdh(agreement) => number(agreement.finish(theirs)?),
            Ours::P521(agreement) => number(agreement.finish(theirs)?),
            Ours::Dh(agreement) => number(agreement.finish(theirs)?),
            Ours::Hybrid(kem, agreement) => {
                let bad = Error::Exchange("a public value of a wrong length");
                let (ciphertext, point) = theirs.split_at_checked(CIPHERTEXT).ok_or(bad)?;
                let (first, second) = (kem.finish(ciphertext)?, agreement.finish(point)?);
                let mut out = Zeroizing::new(Vec::with_capacity(36));
                out.put_string(Hash::Sha256.of(&[&first, &second]));
                out
            }
        })
    }
}
