//! The ways to agree on a secret: RFC 8731, RFC 5656, RFC 8268, draft-ietf-sshm-mlkem-hybrid-kex and
//! draft-ietf-sshm-ntruprime-ssh.

use zeroize::Zeroizing;

use crate::bytes::Put;
use crate::crypto::dh::{self, Group};
use crate::crypto::kem::{Kem, Scheme};
use crate::crypto::{Agreement, Curve, Hash, Secret, p521};
use crate::error::Error;

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A post-quantum scheme beside X25519.
    Hybrid(Scheme, Hash),
    Ecdh(Curve, Hash),
    P521,
    Dh(Group, Hash),
}

const SNTRUP761: Method = Method::Hybrid(Scheme::Sntrup761, Hash::Sha512);

/// By their names, the best first, in the order that OpenSSH's client has; the group of 2,048 bits comes
/// last.
pub const METHODS: &[(&str, Method)] = &[
    ("mlkem768x25519-sha256", Method::Hybrid(Scheme::MlKem768, Hash::Sha256)),
    ("sntrup761x25519-sha512", SNTRUP761),
    ("sntrup761x25519-sha512@openssh.com", SNTRUP761),
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
            Method::P521 => Hash::Sha512,
            Method::Hybrid(_, hash) | Method::Ecdh(_, hash) | Method::Dh(_, hash) => hash,
        }
    }

    /// Whether public values are numbers rather than strings.
    pub fn has_numbers(self) -> bool {
        matches!(self, Method::Dh(..))
    }
}

/// Our half of an exchange.
pub enum ClientExchange {
    Hybrid(Kem, Agreement, Hash),
    Ecdh(Agreement),
    P521(p521::Agreement),
    Dh(dh::Agreement),
}

impl ClientExchange {
    /// New private values, and the public one that is sent.
    pub fn begin(method: Method) -> Result<(ClientExchange, Vec<u8>), Error> {
        Ok(match method {
            Method::Hybrid(scheme, hash) => {
                let (kem, mut public) = Kem::begin(scheme)?;
                let (agreement, point) = Agreement::begin(Curve::X25519)?;
                public.extend_from_slice(&point);
                (ClientExchange::Hybrid(kem, agreement, hash), public)
            }
            Method::Ecdh(curve, _) => {
                let (agreement, public) = Agreement::begin(curve)?;
                (ClientExchange::Ecdh(agreement), public)
            }
            Method::P521 => {
                let (agreement, public) = p521::Agreement::begin()?;
                (ClientExchange::P521(agreement), public)
            }
            Method::Dh(group, _) => {
                let (agreement, public) = dh::Agreement::begin(group)?;
                (ClientExchange::Dh(agreement), public)
            }
        })
    }

    /// Returns the shared secret in the form that is hashed: a number, or with a post-quantum half a string.
    pub fn finish(self, theirs: &[u8]) -> Result<Secret, Error> {
        let number = |secret: Secret| {
            let mut out = Zeroizing::new(Vec::with_capacity(secret.len() + 5));
            out.put_mpint(&secret);
            out
        };
        Ok(match self {
            ClientExchange::Ecdh(agreement) => number(agreement.finish(theirs)?),
            ClientExchange::P521(agreement) => number(agreement.finish(theirs)?),
            ClientExchange::Dh(agreement) => number(agreement.finish(theirs)?),
            ClientExchange::Hybrid(kem, agreement, hash) => {
                let bad = Error::Exchange("a public value of a wrong length");
                let (ciphertext, point) = theirs.split_at_checked(kem.ciphertext()).ok_or(bad)?;
                let (first, second) = (kem.finish(ciphertext)?, agreement.finish(point)?);
                let mut out = Zeroizing::new(Vec::with_capacity(68));
                out.put_string(Zeroizing::new(hash.of(&[&first, &second])).as_slice());
                out
            }
        })
    }
}
