//! The contents of a certificate (RFC 5280, section 4), read in place. `profile` interprets its extensions
//! within a chain; `verify` and `chain` verify it.

use super::verdict::{EXPIRED, NOT_YET_VALID, OK, VerifyResult};
use wire::der::{self, Reader, Tlv};

/// A parsed certificate; every slice points into the DER it was read from.
#[derive(Clone, Debug)]
pub struct Certificate<'a> {
    pub der: &'a [u8],
    /// The signed part, with its header.
    pub tbs: &'a [u8],
    /// 0, 1 or 2, as encoded: version 3 is 2.
    pub version: u32,
    pub serial: &'a [u8],
    /// Contents of the inner AlgorithmIdentifier.
    pub signature_alg: &'a [u8],
    /// Whether the outer algorithm is the same; otherwise the signature proves nothing (RFC 5280, 4.1.1.2).
    pub is_consistent: bool,
    /// Contents of the Name; equal bytes mean equal names.
    pub issuer: &'a [u8],
    pub not_before: i64,
    pub not_after: i64,
    pub subject: &'a [u8],
    /// SubjectPublicKeyInfo with its header: the input of a pin's hash.
    pub spki: &'a [u8],
    /// Contents of the key's AlgorithmIdentifier.
    pub key_alg: &'a [u8],
    pub key: &'a [u8],
    pub extensions: Vec<Extension<'a>>,
    pub signature: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
pub struct Extension<'a> {
    /// Contents of the OID.
    pub oid: &'a [u8],
    pub critical: bool,
    pub value: &'a [u8],
}

pub const SUBJECT_KEY_ID: &[u8] = &[0x55, 0x1d, 14];
pub const KEY_USAGE: &[u8] = &[0x55, 0x1d, 15];
pub const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 17];
pub const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 19];
pub const NAME_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 30];
pub const AUTHORITY_KEY_ID: &[u8] = &[0x55, 0x1d, 35];
pub const EXT_KEY_USAGE: &[u8] = &[0x55, 0x1d, 37];
const COMMON_NAME: &[u8] = &[0x55, 4, 3];
/// More extensions than any certificate has; limits the memory that a peer can use.
const MAX_EXTENSIONS: usize = 64;

/// An entry of subjectAltName with a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AltName<'a> {
    Dns(&'a [u8]),
    Ip(&'a [u8]),
}

impl<'a> Certificate<'a> {
    pub fn parse(der: &'a [u8]) -> Option<Certificate<'a>> {
        let mut outer = Reader::new(der);
        let mut cert = outer.sequence()?;
        let tbs = cert.whole(der::SEQUENCE)?;
        let outer_alg = algorithm(&mut cert)?;
        let signature = bits(cert.expect(der::BIT_STRING)?)?;

        let mut r = Reader::new(tbs).sequence()?;
        let version = match r.optional(der::context(0)) {
            Some(v) => {
                let mut inside = Reader::new(v);
                inside.small().filter(|_| inside.is_empty())?
            }
            None => 0,
        };
        let serial = r.expect(der::INTEGER)?;
        let signature_alg = algorithm(&mut r)?;
        let issuer = r.expect(der::SEQUENCE)?;
        let mut validity = r.sequence()?;
        let (not_before, not_after) = (time(validity.value()?)?, time(validity.value()?)?);
        let subject = r.expect(der::SEQUENCE)?;
        let spki = r.whole(der::SEQUENCE)?;
        let mut key_info = Reader::new(spki).sequence()?;
        let key_alg = algorithm(&mut key_info)?;
        let key = bits(key_info.expect(der::BIT_STRING)?)?;
        r.optional(der::context_primitive(1)); // issuerUniqueID
        r.optional(der::context_primitive(2)); // subjectUniqueID
        let extensions = match r.optional(der::context(3)) {
            Some(list) => extensions(list)?,
            None => Vec::new(),
        };
        // Trailing data may have a meaning for other programs.
        if ![r, cert, validity, key_info].iter().all(Reader::is_empty) {
            return None;
        }
        Some(Certificate {
            der,
            tbs,
            version,
            serial,
            signature_alg,
            is_consistent: outer_alg == signature_alg,
            issuer,
            not_before,
            not_after,
            subject,
            spki,
            key_alg,
            key,
            extensions,
            signature,
        })
    }

    pub fn extension(&self, oid: &[u8]) -> Option<&'a [u8]> {
        self.extensions.iter().find(|e| e.oid == oid).map(|e| e.value)
    }

    /// Checks the dates. Like OpenSSL, a certificate is valid up to its last second.
    pub fn date(&self, now: i64) -> VerifyResult {
        match now {
            t if t < self.not_before => NOT_YET_VALID,
            t if t >= self.not_after => EXPIRED,
            _ => OK,
        }
    }

    /// Returns the host names and addresses of subjectAltName.
    pub fn alt_names(&self) -> Vec<AltName<'a>> {
        let mut names = Vec::new();
        let Some(mut list) = self.extension(SUBJECT_ALT_NAME).and_then(|v| Reader::new(v).sequence()) else {
            return names;
        };
        while let Some(v) = list.value() {
            match v.tag {
                0x82 => names.push(AltName::Dns(v.body)),
                0x87 => names.push(AltName::Ip(v.body)),
                _ => {}
            }
        }
        names
    }

    /// Returns whether it requires a stapled OCSP response: the TLS feature status_request (RFC 7633).
    pub fn must_staple(&self) -> bool {
        const STATUS_REQUEST: u32 = 5;
        let list = self.extension(super::oids::TLS_FEATURE).and_then(|value| Reader::new(value).sequence());
        list.is_some_and(|mut list| {
            std::iter::from_fn(|| list.small()).any(|number| number == STATUS_REQUEST)
        })
    }

    /// Returns the last, most specific, commonName of the subject.
    pub fn common_name(&self) -> Option<String> {
        attributes(self.subject).into_iter().rfind(|(oid, _)| *oid == COMMON_NAME).map(|(_, v)| text(v))
    }

    /// Returns the contents of the OID of the signature's algorithm.
    pub fn signature_oid(&self) -> &'a [u8] {
        Reader::new(self.signature_alg).expect(der::OID).unwrap_or_default()
    }

    /// Returns the contents of the OID of the key's algorithm.
    pub fn key_oid(&self) -> &'a [u8] {
        Reader::new(self.key_alg).expect(der::OID).unwrap_or_default()
    }
}

/// Returns the attributes of a Name in order: contents of the OID, value.
pub fn attributes(name: &[u8]) -> Vec<(&[u8], Tlv<'_>)> {
    let mut out = Vec::new();
    let mut sets = Reader::new(name);
    while let Some(set) = sets.optional(der::SET) {
        let mut set = Reader::new(set);
        while let Some(mut pair) = set.sequence() {
            if let (Some(oid), Some(value)) = (pair.expect(der::OID), pair.value()) {
                out.push((oid, value));
            }
        }
    }
    out
}

/// Converts a directory string of any encoding to UTF-8.
pub fn text(v: Tlv<'_>) -> String {
    match v.tag {
        der::BMP_STRING => {
            char::decode_utf16(v.body.as_chunks::<2>().0.iter().map(|c| u16::from_be_bytes(*c)))
                .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect()
        }
        der::UNIVERSAL_STRING => v
            .body
            .as_chunks::<4>()
            .0
            .iter()
            .map(|c| char::from_u32(u32::from_be_bytes(*c)).unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect(),
        der::UTF8_STRING => String::from_utf8_lossy(v.body).into_owned(),
        _ => v.body.iter().map(|b| char::from(*b)).collect(), // Latin-1 holds PrintableString and IA5String
    }
}

/// Returns the days since 1970-01-01 of a date in the Gregorian calendar.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Parses extensions with their header.
pub fn extensions(list: &[u8]) -> Option<Vec<Extension<'_>>> {
    let mut r = Reader::new(list);
    r.whole(der::SEQUENCE).filter(|_| r.is_empty())?;
    extension_list(Reader::new(list))
}

/// Parses the Extensions at the beginning of `r`.
pub fn extension_list(mut r: Reader<'_>) -> Option<Vec<Extension<'_>>> {
    let mut out = Vec::new();
    let mut r = r.sequence()?;
    while !r.is_empty() {
        let mut e = r.sequence()?;
        let oid = e.expect(der::OID)?;
        let critical = match e.optional(der::BOOLEAN) {
            Some([truth]) => *truth != 0,
            Some(_) => return None,
            None => false,
        };
        let value = e.expect(der::OCTET_STRING)?;
        if out.len() == MAX_EXTENSIONS || !e.is_empty() {
            return None;
        }
        out.push(Extension { oid, critical, value });
    }
    Some(out)
}

/// Returns the contents of an AlgorithmIdentifier: an OID and at most one more value.
fn algorithm<'a>(r: &mut Reader<'a>) -> Option<&'a [u8]> {
    let body = r.expect(der::SEQUENCE)?;
    let mut inside = Reader::new(body);
    inside.expect(der::OID)?;
    (inside.is_empty() || inside.value().is_some() && inside.is_empty()).then_some(body)
}

/// Returns the octets of a BIT STRING without unused bits.
fn bits(body: &[u8]) -> Option<&[u8]> {
    match body.split_first() {
        Some((0, rest)) => Some(rest),
        _ => None,
    }
}

/// Converts UTCTime or GeneralizedTime to seconds since the epoch (RFC 5280, 4.1.2.5).
pub fn time(v: Tlv<'_>) -> Option<i64> {
    let digits = v.body.strip_suffix(b"Z")?;
    let (year, rest) = match v.tag {
        der::UTC_TIME if digits.len() == 12 => {
            let y = number(&digits[..2])?;
            (if y < 50 { 2000 + y } else { 1900 + y }, &digits[2..])
        }
        der::GENERALIZED_TIME if digits.len() == 14 => (number(&digits[..4])?, &digits[4..]),
        _ => return None,
    };
    let part = |i: usize| if rest.len() >= i + 2 { number(&rest[i..i + 2]) } else { Some(0) };
    let (month, day, hour, minute, second) = (part(0)?, part(2)?, part(4)?, part(6)?, part(8)?);
    if !(1..=12).contains(&month) || day < 1 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let day_number = days_from_civil(year, month, day);
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    if day_number >= days_from_civil(next_year, next_month, 1) {
        return None;
    }
    Some(day_number * 86_400 + hour * 3600 + minute * 60 + second)
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0i64, |n, d| d.is_ascii_digit().then(|| n * 10 + i64::from(d - b'0')))
}

#[cfg(test)]
mod tests {
    use super::super::profile::Profile;
    use super::*;

    fn certificate() -> Vec<u8> {
        let mut p = rcgen::CertificateParams::new(vec!["a.example".into(), "127.0.0.1".into()]).unwrap();
        p.distinguished_name.push(rcgen::DnType::CommonName, "common");
        p.not_before = rcgen::date_time_ymd(2020, 2, 29);
        p.not_after = rcgen::date_time_ymd(2051, 1, 2);
        p.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Constrained(3));
        p.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
        p.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn reads_a_certificate() {
        let der = certificate();
        let c = Certificate::parse(&der).unwrap();
        assert_eq!(c.version, 2);
        assert_eq!(c.common_name().as_deref(), Some("common"));
        assert_eq!(c.alt_names(), [AltName::Dns(b"a.example"), AltName::Ip(&[127, 0, 0, 1])]);
        assert_eq!(c.not_before, 1_582_934_400);
        assert_eq!(c.not_after, 2_556_230_400);
        assert_eq!(c.date(1_582_934_399), NOT_YET_VALID);
        assert_eq!(c.date(2_556_230_399), OK);
        assert_eq!(c.date(2_556_230_400), EXPIRED);
    }

    #[test]
    fn cut_or_damaged_certificates_do_not_panic() {
        let der = certificate();
        for n in 0..der.len() {
            assert!(Certificate::parse(&der[..n]).is_none());
            let mut bad = der.clone();
            bad[n] ^= 0x55;
            if let Some(c) = Certificate::parse(&bad) {
                let _ = (c.alt_names(), c.common_name(), Profile::of(c.clone()));
            }
        }
    }
}
