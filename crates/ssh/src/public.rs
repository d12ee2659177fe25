//! Public keys, their signatures and OpenSSH's certificates (RFC 4253 §6.6, RFC 5656, RFC 8332, RFC 8709,
//! OpenSSH's PROTOCOL.certkeys). Hosts' signatures are verified here; users' keys are in `keys`.

use crate::bytes::{Malformed, Put, Reader};
use crate::crypto::{self, Hash};

/// The components of a public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    Rsa { e: Vec<u8>, n: Vec<u8> },
    Ed25519(Vec<u8>),
    Ecdsa { curve: EcCurve, point: Vec<u8> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcCurve {
    P256,
    P384,
    P521,
}

impl EcCurve {
    pub const ALL: [EcCurve; 3] = [EcCurve::P256, EcCurve::P384, EcCurve::P521];

    /// Returns the name in key types: `nistp256`.
    pub fn name(self) -> &'static str {
        match self {
            EcCurve::P256 => "nistp256",
            EcCurve::P384 => "nistp384",
            EcCurve::P521 => "nistp521",
        }
    }

    /// Bytes of a coordinate.
    pub fn size(self) -> usize {
        match self {
            EcCurve::P256 => 32,
            EcCurve::P384 => 48,
            EcCurve::P521 => 66,
        }
    }

    fn key_type(self) -> &'static str {
        match self {
            EcCurve::P256 => "ecdsa-sha2-nistp256",
            EcCurve::P384 => "ecdsa-sha2-nistp384",
            EcCurve::P521 => "ecdsa-sha2-nistp521",
        }
    }

    fn provided(self) -> Option<crypto::Curve> {
        match self {
            EcCurve::P256 => Some(crypto::Curve::P256),
            EcCurve::P384 => Some(crypto::Curve::P384),
            EcCurve::P521 => None,
        }
    }
}

/// The type of the key in this blob, as it names itself.
pub fn type_of(blob: &[u8]) -> &str {
    Reader::new(blob).string().ok().and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default()
}

impl PublicKey {
    /// Parses a key. Trailing bytes are an error.
    pub fn parse(blob: &[u8]) -> Result<PublicKey, Malformed> {
        let mut reader = Reader::new(blob);
        let name = reader.string()?;
        let key = PublicKey::body(name, &mut reader)?;
        if reader.is_empty() { Ok(key) } else { Err(Malformed) }
    }

    fn body(name: &[u8], reader: &mut Reader) -> Result<PublicKey, Malformed> {
        match name {
            b"ssh-rsa" => {
                let (e, n) = (reader.mpint()?.to_vec(), reader.mpint()?.to_vec());
                Ok(PublicKey::Rsa { e, n })
            }
            b"ssh-ed25519" => {
                let key = reader.string()?;
                if key.len() == 32 { Ok(PublicKey::Ed25519(key.to_vec())) } else { Err(Malformed) }
            }
            _ => {
                let known = EcCurve::ALL.into_iter().find(|curve| curve.key_type().as_bytes() == name);
                let curve = known.ok_or(Malformed)?;
                if reader.string()? != curve.name().as_bytes() {
                    return Err(Malformed);
                }
                Ok(PublicKey::Ecdsa { curve, point: reader.string()?.to_vec() })
            }
        }
    }

    pub fn key_type(&self) -> &'static str {
        match self {
            PublicKey::Rsa { .. } => "ssh-rsa",
            PublicKey::Ed25519(_) => "ssh-ed25519",
            PublicKey::Ecdsa { curve, .. } => curve.key_type(),
        }
    }

    pub fn to_blob(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_string(self.key_type());
        match self {
            PublicKey::Rsa { e, n } => {
                out.put_mpint(e);
                out.put_mpint(n);
            }
            PublicKey::Ed25519(key) => out.put_string(key),
            PublicKey::Ecdsa { curve, point } => {
                out.put_string(curve.name());
                out.put_string(point);
            }
        }
        out
    }

    /// Whether `signature`, a blob, is this key's of `message` by `algorithm`. Signatures with SHA-1
    /// (`ssh-rsa`) are none.
    pub fn verify(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> bool {
        self.try_verify(algorithm, message, signature).unwrap_or(false)
    }

    fn try_verify(&self, algorithm: &str, message: &[u8], signature: &[u8]) -> Result<bool, Malformed> {
        let mut reader = Reader::new(signature);
        if reader.string()? != algorithm.as_bytes() {
            return Ok(false);
        }
        let bytes = reader.string()?;
        if !reader.is_empty() {
            return Ok(false);
        }
        Ok(match self {
            PublicKey::Rsa { e, n } => {
                let hash = match algorithm {
                    "rsa-sha2-512" => Hash::Sha512,
                    "rsa-sha2-256" => Hash::Sha256,
                    _ => return Ok(false),
                };
                // Some servers omit leading zeros.
                let missing = n.len().checked_sub(bytes.len()).ok_or(Malformed)?;
                let padded = [&vec![0; missing], bytes].concat();
                crypto::verify_rsa(hash, n, e, message, &padded)
            }
            PublicKey::Ed25519(key) => {
                algorithm == "ssh-ed25519" && crypto::verify_ed25519(key, message, bytes)
            }
            PublicKey::Ecdsa { curve, point } => {
                if algorithm != curve.key_type() {
                    return Ok(false);
                }
                let fixed = fixed_length(*curve, bytes)?;
                match curve.provided() {
                    Some(provided) => crypto::verify_ecdsa(provided, point, message, &fixed),
                    None => crypto::p521::verify(point, message, &fixed),
                }
            }
        })
    }
}

/// r and s of an ECDSA signature (RFC 5656 §3.1.2) in their full length.
fn fixed_length(curve: EcCurve, bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut reader = Reader::new(bytes);
    let mut out = Vec::with_capacity(2 * curve.size());
    for number in [reader.mpint()?, reader.mpint()?] {
        let missing = curve.size().checked_sub(number.len()).ok_or(Malformed)?;
        out.resize(out.len() + missing, 0);
        out.extend_from_slice(number);
    }
    if reader.is_empty() { Ok(out) } else { Err(Malformed) }
}

/// The suffix of a certificate's type.
pub const CERT_SUFFIX: &str = "-cert-v01@openssh.com";

/// A host's certificate.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The host's key.
    pub key: PublicKey,
    /// Names of the host; none is all.
    pub principals: Vec<String>,
    /// Seconds since the epoch.
    pub valid_after: u64,
    pub valid_before: u64,
    /// The authority's key, a blob. It has signed.
    pub authority: Vec<u8>,
}

impl Certificate {
    /// Parses a host certificate and verifies the authority's signature. The caller checks whether the
    /// authority is trusted, and whether name and time match.
    pub fn parse(blob: &[u8]) -> Result<Certificate, Malformed> {
        let mut reader = Reader::new(blob);
        let name = std::str::from_utf8(reader.string()?).map_err(|_| Malformed)?;
        let plain = name.strip_suffix(CERT_SUFFIX).ok_or(Malformed)?;
        reader.string()?; // a nonce
        let key = PublicKey::body(plain.as_bytes(), &mut reader)?;
        reader.u64()?; // serial number
        let kind = reader.u32()?;
        reader.string()?; // key id
        let mut names = Reader::new(reader.string()?);
        let mut principals = Vec::new();
        while !names.is_empty() {
            principals.push(names.text()?);
        }
        let (valid_after, valid_before) = (reader.u64()?, reader.u64()?);
        let critical = reader.string()?;
        reader.string()?; // extensions
        reader.string()?; // reserved
        let authority = reader.string()?.to_vec();
        let signed = &blob[..blob.len() - reader.rest().len()];
        let signature = reader.string()?;
        // No critical option is defined for hosts, and one that is not understood makes a certificate
        // unusable.
        if kind != 2 || !critical.is_empty() || !reader.is_empty() {
            return Err(Malformed);
        }
        let algorithm = type_of(signature);
        let signer = PublicKey::parse(&authority)?;
        if !signer.verify(algorithm, signed, signature) {
            return Err(Malformed);
        }
        Ok(Certificate { key, principals, valid_after, valid_before, authority })
    }

    /// Whether it speaks of this host at this time.
    pub fn is_for(&self, host: &str, now: u64) -> bool {
        let named =
            self.principals.is_empty() || self.principals.iter().any(|name| name.eq_ignore_ascii_case(host));
        named && self.valid_after <= now && now < self.valid_before
    }
}

/// Host key algorithms, the cheapest first.
pub const HOST_ALGORITHMS: [&str; 6] = [
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
];

/// The type of the keys that prove themselves by this algorithm.
pub fn type_for(algorithm: &str) -> &str {
    let plain = algorithm.strip_suffix(CERT_SUFFIX).unwrap_or(algorithm);
    if plain.starts_with("rsa-sha2-") { "ssh-rsa" } else { plain }
}
