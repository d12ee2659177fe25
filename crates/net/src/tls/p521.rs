//! NIST's P-521, which the provider lacks: key agreement (secp521r1), and signatures of certificates, servers
//! and clients (ECDSA, FIPS 186-5). The arithmetic is RustCrypto's.

use std::fmt;
use std::sync::Arc;

use ::ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};
use p521::ecdh::EphemeralSecret;
use p521::ecdsa::signature::{Signer as _, hazmat::PrehashVerifier};
use p521::ecdsa::{Signature, SigningKey, VerifyingKey};
use p521::elliptic_curve::Generate;
use runtime::LockFreeOnce;
use rustls::crypto::{
    ActiveKeyExchange, KeyProvider, SharedSecret, SupportedKxGroup, WebPkiSupportedAlgorithms, ring,
};
use rustls::pki_types::{
    AlgorithmIdentifier, InvalidSignature, PrivateKeyDer, SignatureVerificationAlgorithm,
    SubjectPublicKeyInfoDer, alg_id,
};
use rustls::sign::{self, public_key_to_spki};
use rustls::{Error, NamedGroup, PeerMisbehaved, SignatureAlgorithm, SignatureScheme};

use wire::der::{self, Reader};

pub static SECP521R1: &dyn SupportedKxGroup = &Group;

/// Bytes of a number of the field.
const SIZE: usize = 66;
const SCHEME: SignatureScheme = SignatureScheme::ECDSA_NISTP521_SHA512;

/// A signature's algorithm: the curve with a digest.
struct Ecdsa {
    digest: &'static Algorithm,
    id: AlgorithmIdentifier,
}

static WITH_SHA256: Ecdsa = Ecdsa { digest: &SHA256, id: alg_id::ECDSA_SHA256 };
static WITH_SHA384: Ecdsa = Ecdsa { digest: &SHA384, id: alg_id::ECDSA_SHA384 };
static WITH_SHA512: Ecdsa = Ecdsa { digest: &SHA512, id: alg_id::ECDSA_SHA512 };

type Verification = &'static dyn SignatureVerificationAlgorithm;
type ByScheme = Vec<(SignatureScheme, &'static [Verification])>;

/// Returns the algorithms of the provider, and those of P-521. In TLS 1.2 a scheme names only a digest,
/// whatever the key's curve. TLS 1.3 uses the first algorithm of the scheme's list.
pub fn algorithms() -> WebPkiSupportedAlgorithms {
    static ALL: LockFreeOnce<Vec<Verification>> = LockFreeOnce::new();
    static BY_DIGEST: LockFreeOnce<[Vec<Verification>; 2]> = LockFreeOnce::new();
    static WITH_SHA512_ALONE: [Verification; 1] = [&WITH_SHA512];
    static MAPPING: LockFreeOnce<ByScheme> = LockFreeOnce::new();
    let all = ALL.get(|| {
        let own: [Verification; 3] = [&WITH_SHA256, &WITH_SHA384, &WITH_SHA512];
        [provided().all, &own].concat()
    });
    let [sha256, sha384] = BY_DIGEST.get(|| {
        let of =
            |scheme| provided().mapping.iter().find(|(s, _)| *s == scheme).map_or(&[][..], |(_, all)| *all);
        let with_sha256: [Verification; 1] = [&WITH_SHA256];
        let with_sha384: [Verification; 1] = [&WITH_SHA384];
        [
            [of(SignatureScheme::ECDSA_NISTP256_SHA256), &with_sha256].concat(),
            [of(SignatureScheme::ECDSA_NISTP384_SHA384), &with_sha384].concat(),
        ]
    });
    let mapping = MAPPING.get(|| {
        let each = |(scheme, all): &(SignatureScheme, &'static [Verification])| match *scheme {
            SignatureScheme::ECDSA_NISTP256_SHA256 => (*scheme, &sha256[..]),
            SignatureScheme::ECDSA_NISTP384_SHA384 => (*scheme, &sha384[..]),
            _ => (*scheme, *all),
        };
        provided().mapping.iter().map(each).chain([(SCHEME, &WITH_SHA512_ALONE[..])]).collect()
    });
    WebPkiSupportedAlgorithms { all, mapping }
}

fn provided() -> WebPkiSupportedAlgorithms {
    ring::default_provider().signature_verification_algorithms
}

impl fmt::Debug for Ecdsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ECDSA with P-521 and {:?}", self.digest)
    }
}

impl SignatureVerificationAlgorithm for Ecdsa {
    fn verify_signature(&self, key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let key = VerifyingKey::from_sec1_bytes(key).map_err(|_| InvalidSignature)?;
        let signature = numbers(signature).ok_or(InvalidSignature)?;
        let hash = digest(self.digest, message);
        // As a number of the field: a digest is shorter than one.
        let mut number = [0; SIZE];
        number[SIZE - hash.as_ref().len()..].copy_from_slice(hash.as_ref());
        key.verify_prehash(&number, &signature).map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P521
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.id
    }
}

/// ECDSA-Sig-Value (RFC 3279, section 2.2.3).
fn numbers(signature: &[u8]) -> Option<Signature> {
    let mut outer = Reader::new(signature);
    let mut inner = outer.sequence().filter(|_| outer.is_empty())?;
    let mut both = [0; 2 * SIZE];
    for half in both.chunks_exact_mut(SIZE) {
        let number = match inner.expect(der::INTEGER)? {
            [0, rest @ ..] if rest.first().is_some_and(|b| b & 0x80 != 0) => rest,
            [0, ..] | [] => return None, // zero, or longer than need be
            number if number[0] & 0x80 != 0 => return None,
            number => number,
        };
        half[SIZE.checked_sub(number.len())?..].copy_from_slice(number);
    }
    inner.is_empty().then(|| Signature::from_slice(&both).ok())?
}

#[derive(Debug)]
struct Group;

impl SupportedKxGroup for Group {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let private = EphemeralSecret::try_generate().map_err(|_| Error::FailedToGetRandomBytes)?;
        let public = private.public_key().to_sec1_bytes().to_vec();
        Ok(Box::new(Active { private, public }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::secp521r1
    }
}

struct Active {
    private: EphemeralSecret,
    public: Vec<u8>,
}

impl ActiveKeyExchange for Active {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        // Uncompressed points alone (RFC 8446, section 4.2.8.2).
        let peer = match peer.first() {
            Some(4) => p521::PublicKey::from_sec1_bytes(peer).ok(),
            _ => None,
        };
        let peer = peer.ok_or(PeerMisbehaved::InvalidKeyShare)?;
        let secret = self.private.diffie_hellman(&peer);
        Ok(SharedSecret::from(&secret.raw_secret_bytes()[..]))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::secp521r1
    }
}

/// Private keys: the provider's, and this.
#[derive(Debug)]
pub struct Keys;

impl KeyProvider for Keys {
    fn load_private_key(&self, der: PrivateKeyDer<'static>) -> Result<Arc<dyn sign::SigningKey>, Error> {
        match key(&der) {
            Some(key) => Ok(Arc::new(key)),
            None => ring::default_provider().key_provider.load_private_key(der),
        }
    }
}

/// A private key, by RFC 5958 or RFC 5915.
fn key(der: &PrivateKeyDer<'_>) -> Option<Key> {
    let secret = match der {
        PrivateKeyDer::Pkcs8(pkcs8) => {
            let mut info = Reader::new(pkcs8.secret_pkcs8_der()).sequence()?;
            info.expect(der::INTEGER)?;
            info.expect(der::SEQUENCE).filter(|algorithm| *algorithm == alg_id::ECDSA_P521.as_ref())?;
            info.expect(der::OCTET_STRING)?
        }
        PrivateKeyDer::Sec1(sec1) => sec1.secret_sec1_der(),
        _ => return None,
    };
    let mut secret = Reader::new(secret).sequence()?;
    secret.expect(der::INTEGER)?;
    // Its length tells the curve, where nothing else does.
    let scalar = secret.expect(der::OCTET_STRING).filter(|scalar| scalar.len() == SIZE)?;
    SigningKey::from_slice(scalar).ok().map(|key| Key(Arc::new(key)))
}

struct Key(Arc<SigningKey>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key of P-521")
    }
}

impl sign::SigningKey for Key {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn sign::Signer>> {
        offered.contains(&SCHEME).then(|| Box::new(Key(self.0.clone())) as Box<dyn sign::Signer>)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        let point = VerifyingKey::from(&*self.0).to_sec1_point(false);
        Some(public_key_to_spki(&alg_id::ECDSA_P521, point.as_bytes()))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }
}

impl sign::Signer for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let signature: Signature = self.0.sign(message);
        let number = |half: &[u8]| {
            let start = half.iter().position(|b| *b != 0).unwrap_or(half.len());
            let sign: &[u8] = if half.get(start).is_some_and(|b| b & 0x80 != 0) { &[0] } else { &[] };
            der::wrap(der::INTEGER, &[sign, &half[start..]].concat())
        };
        let bytes = signature.to_bytes();
        Ok(der::wrap(der::SEQUENCE, &[number(&bytes[..SIZE]), number(&bytes[SIZE..])].concat()))
    }

    fn scheme(&self) -> SignatureScheme {
        SCHEME
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::sign::Signer;

    fn own() -> Key {
        Key(Arc::new(SigningKey::from_slice(&[[0; 65].as_slice(), &[7]].concat()).unwrap()))
    }

    /// As rustls checks it, and nothing that differs from it by a bit or in its form.
    #[test]
    fn signatures_and_what_is_none() {
        let key = own();
        let spki = sign::SigningKey::public_key(&key).unwrap();
        let point = &spki.as_ref()[spki.as_ref().len() - 133..];
        let signature = key.sign(b"signed").unwrap();
        assert!(WITH_SHA512.verify_signature(point, b"signed", &signature).is_ok());
        assert!(WITH_SHA384.verify_signature(point, b"signed", &signature).is_err());
        assert!(WITH_SHA512.verify_signature(point, b"other", &signature).is_err());
        for at in 0..signature.len() {
            let mut bad = signature.clone();
            bad[at] ^= 1;
            assert!(WITH_SHA512.verify_signature(point, b"signed", &bad).is_err(), "byte {at}");
            assert!(numbers(&signature[..at]).is_none());
        }
        assert!(numbers(&[&signature[..], &[0]].concat()).is_none());
        for numbers_of in [
            &b"\x30\x06\x02\x01\x00\x02\x01\x01"[..],
            b"\x30\x07\x02\x02\x00\x01\x02\x01\x01",
            b"\x30\x06\x02\x01\x80\x02\x01\x01",
        ] {
            assert!(numbers(numbers_of).is_none(), "{numbers_of:x?}");
        }
    }

    #[test]
    fn both_sides_agree_and_points_off_the_curve_are_refused() {
        let (one, two) = (SECP521R1.start().unwrap(), SECP521R1.start().unwrap());
        let shares = [one.pub_key().to_vec(), two.pub_key().to_vec()];
        let secrets = [one.complete(&shares[1]).unwrap(), two.complete(&shares[0]).unwrap()];
        assert_eq!(secrets[0].secret_bytes(), secrets[1].secret_bytes());
        assert_eq!(secrets[0].secret_bytes().len(), SIZE);
        let mut off = shares[0].clone();
        off[132] ^= 1;
        let compressed = [&[2 + (shares[0][132] & 1)], &shares[0][1..67]].concat();
        for bad in [off, compressed, vec![0], vec![], vec![4; 133]] {
            assert!(SECP521R1.start().unwrap().complete(&bad).is_err());
        }
    }
}
