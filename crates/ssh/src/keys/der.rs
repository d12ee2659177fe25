//! Private keys in DER: PKCS#1 (RFC 8017 §A.1.2), SEC 1 (RFC 5915) and PKCS#8 (RFC 5208, RFC 8410).

use crypto_bigint::{BoxedUint, NonZero};
use zeroize::Zeroizing;

use super::PrivateKey;
use crate::crypto::Secret;
use crate::public::EcCurve;

const INTEGER: u8 = 2;
const BIT_STRING: u8 = 3;
const OCTET_STRING: u8 = 4;
const OID: u8 = 6;
const SEQUENCE: u8 = 0x30;
const EXPLICIT_0: u8 = 0xa0;
const EXPLICIT_1: u8 = 0xa1;

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const CURVES: [(&[u8], EcCurve); 3] = [
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7], EcCurve::P256),
    (&[0x2b, 0x81, 4, 0, 0x22], EcCurve::P384),
    (&[0x2b, 0x81, 4, 0, 0x23], EcCurve::P521),
];

struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The next value, if it has this tag.
    fn next(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (found, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match *first {
            short @ 0..=0x7f => (usize::from(short), rest),
            long @ 0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(long - 0x80))?;
                (digits.iter().fold(0, |n, digit| n << 8 | usize::from(*digit)), rest)
            }
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(length)?;
        (*found == tag).then(|| {
            self.0 = rest;
            value
        })
    }

    /// A number that is not negative, without leading zeros.
    fn number(&mut self) -> Option<&'a [u8]> {
        let bytes = self.next(INTEGER)?;
        let zeros = bytes.iter().take_while(|b| **b == 0).count();
        Some(&bytes[zeros..])
    }
}

/// Whichever of the three it is.
pub fn read(der: &[u8]) -> Option<PrivateKey> {
    let mut inner = Der(Der(der).next(SEQUENCE)?);
    let version = inner.number()?;
    match *inner.0.first()? {
        SEQUENCE => pkcs8(inner),
        INTEGER => pkcs1(der),
        OCTET_STRING if version == [1] => sec1(inner, None),
        _ => None,
    }
}

fn pkcs8(mut inner: Der) -> Option<PrivateKey> {
    let mut algorithm = Der(inner.next(SEQUENCE)?);
    let oid = algorithm.next(OID)?;
    let key = inner.next(OCTET_STRING)?;
    match oid {
        RSA => pkcs1(key),
        ED25519 => PrivateKey::ed25519(Der(key).next(OCTET_STRING)?),
        EC => {
            let curve = curve(algorithm.next(OID)?)?;
            let mut inner = Der(Der(key).next(SEQUENCE)?);
            inner.number()?;
            sec1(inner, Some(curve))
        }
        _ => None,
    }
}

fn pkcs1(der: &[u8]) -> Option<PrivateKey> {
    let mut inner = Der(Der(der).next(SEQUENCE)?);
    inner.number()?;
    let (n, e) = (inner.number()?, inner.number()?);
    PrivateKey::rsa(der, n, e)
}

/// Behind the version of an ECPrivateKey.
fn sec1(mut inner: Der, known: Option<EcCurve>) -> Option<PrivateKey> {
    let scalar = inner.next(OCTET_STRING)?;
    let zeros = scalar.iter().take_while(|b| **b == 0).count();
    let named = inner.next(EXPLICIT_0).and_then(|mut own| Der(std::mem::take(&mut own)).next(OID));
    let curve = named.and_then(curve).or(known)?;
    let point = inner.next(EXPLICIT_1).and_then(|bits| Der(bits).next(BIT_STRING));
    PrivateKey::ecdsa(curve, &scalar[zeros..], point.and_then(|bits| bits.get(1..)))
}

fn curve(oid: &[u8]) -> Option<EcCurve> {
    CURVES.iter().find(|(known, _)| *known == oid).map(|(_, curve)| *curve)
}

/// The parts of an RSA key that OpenSSH's files have.
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
    /// As PKCS#1 has them, with the two exponents that are computed of the others.
    pub fn to_der(&self) -> Option<Secret> {
        let mut out = Zeroizing::new(Vec::with_capacity(self.n.len() * 6));
        put(&mut out, INTEGER, &[0]);
        let (dp, dq) = (reduced(self.d, self.p)?, reduced(self.d, self.q)?);
        for number in [self.n, self.e, self.d, self.p, self.q, &dp, &dq, self.inverse] {
            put_number(&mut out, number);
        }
        let mut whole = Zeroizing::new(Vec::with_capacity(out.len() + 8));
        put(&mut whole, SEQUENCE, &out);
        Some(whole)
    }
}

/// d modulo (prime - 1).
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

fn put_number(out: &mut Vec<u8>, number: &[u8]) {
    let zeros = number.iter().take_while(|b| **b == 0).count();
    let number = &number[zeros..];
    match number.first() {
        Some(first) if *first < 0x80 => put(out, INTEGER, number),
        _ => put(out, INTEGER, &Zeroizing::new([&[0], number].concat())),
    }
}

fn put(out: &mut Vec<u8>, tag: u8, value: &[u8]) {
    out.push(tag);
    match value.len() {
        short @ 0..=0x7f => out.push(short as u8),
        long => {
            out.push(0x83);
            out.extend_from_slice(&(long as u32).to_be_bytes()[1..]);
            // DER wants the shortest form.
            let at = out.len() - 3;
            let zeros = out[at..].iter().take_while(|b| **b == 0).count();
            out[at - 1] -= zeros as u8;
            out.drain(at..at + zeros);
        }
    }
    out.extend_from_slice(value);
}
