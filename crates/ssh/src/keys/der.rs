//! Private keys in DER: PKCS#1 (RFC 8017 §A.1.2), SEC 1 (RFC 5915) and PKCS#8 (RFC 5208, RFC 8410).

use crypto_bigint::{BoxedUint, NonZero};
use wire::der::{BIT_STRING, INTEGER, OCTET_STRING, OID, Reader, SEQUENCE, context, push};
use zeroize::Zeroizing;

use super::PrivateKey;
use crate::crypto::Secret;
use crate::public::EcCurve;

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const CURVES: [(&[u8], EcCurve); 3] = [
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7], EcCurve::P256),
    (&[0x2b, 0x81, 4, 0, 0x22], EcCurve::P384),
    (&[0x2b, 0x81, 4, 0, 0x23], EcCurve::P521),
];

/// Reads a number that is not negative, without leading zeros.
fn number<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    Some(without_zeros(reader.expect(INTEGER)?))
}

fn without_zeros(number: &[u8]) -> &[u8] {
    &number[number.iter().take_while(|octet| **octet == 0).count()..]
}

/// Reads a key in any of the three forms.
pub fn read(der: &[u8]) -> Option<PrivateKey> {
    let mut inner = Reader::new(der).sequence()?;
    let version = number(&mut inner)?;
    match inner.peek()? {
        SEQUENCE => pkcs8(inner),
        INTEGER => pkcs1(der),
        OCTET_STRING if version == [1] => sec1(inner, None),
        _ => None,
    }
}

fn pkcs8(mut inner: Reader) -> Option<PrivateKey> {
    let mut algorithm = inner.sequence()?;
    let oid = algorithm.expect(OID)?;
    let key = inner.expect(OCTET_STRING)?;
    match oid {
        RSA => pkcs1(key),
        ED25519 => PrivateKey::ed25519(Reader::new(key).expect(OCTET_STRING)?),
        EC => {
            let curve = curve(algorithm.expect(OID)?)?;
            let mut inner = Reader::new(key).sequence()?;
            number(&mut inner)?;
            sec1(inner, Some(curve))
        }
        _ => None,
    }
}

fn pkcs1(der: &[u8]) -> Option<PrivateKey> {
    let mut inner = Reader::new(der).sequence()?;
    number(&mut inner)?;
    let (n, e) = (number(&mut inner)?, number(&mut inner)?);
    PrivateKey::rsa(der, n, e)
}

/// Reads the part of an ECPrivateKey after the version.
fn sec1(mut inner: Reader, known: Option<EcCurve>) -> Option<PrivateKey> {
    let scalar = inner.expect(OCTET_STRING)?;
    let named = inner.optional(context(0)).and_then(|own| Reader::new(own).expect(OID));
    let curve = named.and_then(curve).or(known)?;
    let point = inner.optional(context(1)).and_then(|bits| Reader::new(bits).expect(BIT_STRING));
    PrivateKey::ecdsa(curve, without_zeros(scalar), point.and_then(|bits| bits.get(1..)))
}

fn curve(oid: &[u8]) -> Option<EcCurve> {
    CURVES.iter().find(|(known, _)| *known == oid).map(|(_, curve)| *curve)
}

/// The parts of an RSA key that OpenSSH's files contain.
pub struct RsaParts<'a> {
    pub n: &'a [u8],
    pub e: &'a [u8],
    pub d: &'a [u8],
    pub p: &'a [u8],
    pub q: &'a [u8],
    /// The inverse of q modulo p.
    pub inverse: &'a [u8],
}

impl RsaParts<'_> {
    /// Returns the key in PKCS#1, with the two exponents computed from the other numbers.
    pub fn to_der(&self) -> Option<Secret> {
        let mut out = Zeroizing::new(Vec::with_capacity(self.n.len() * 6));
        push(&mut out, INTEGER, &[0]);
        let (dp, dq) = (reduced(self.d, self.p)?, reduced(self.d, self.q)?);
        for number in [self.n, self.e, self.d, self.p, self.q, &dp, &dq, self.inverse] {
            push_number(&mut out, number);
        }
        let mut whole = Zeroizing::new(Vec::with_capacity(out.len() + 8));
        push(&mut whole, SEQUENCE, &out);
        Some(whole)
    }
}

/// Returns d modulo (prime - 1).
fn reduced(d: &[u8], prime: &[u8]) -> Option<Secret> {
    let bits = u32::try_from(d.len().max(prime.len())).ok()?.checked_mul(8)?;
    if bits > 16384 {
        return None;
    }
    let number = |bytes: &[u8]| BoxedUint::from_be_slice(bytes, bits).ok();
    let less = number(prime)?.wrapping_sub(BoxedUint::one_with_precision(bits));
    let modulus = Option::from(NonZero::new(less))?;
    let rest = number(d)?.rem(&modulus);
    Some(Zeroizing::new(rest.to_be_bytes().to_vec()))
}

fn push_number(out: &mut Vec<u8>, number: &[u8]) {
    let number = without_zeros(number);
    match number.first() {
        Some(first) if *first < 0x80 => push(out, INTEGER, number),
        _ => push(out, INTEGER, &Zeroizing::new([&[0], number].concat())),
    }
}
