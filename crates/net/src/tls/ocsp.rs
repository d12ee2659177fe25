//! OCSP stapling (RFC 6960, sent as in RFC 6066, section 8): checks that the server's certificate is not
//! revoked.
//!
//! The response must be signed by the certificate's issuer, or by a responder that the issuer has certified
//! for it.

use super::profile::Profile;
use super::signatures::{Signatures, Signed};
use super::verdict::OK;
use super::x509::{self, Certificate};
use wire::der::{self, Reader};

/// Allowed difference between clocks.
const SKEW_SECONDS: i64 = 300;
const BASIC_RESPONSE: [u8; 9] = [0x2b, 6, 1, 5, 5, 7, 48, 1, 1];
const OCSP_SIGNING: [u8; 8] = [0x2b, 6, 1, 5, 5, 7, 3, 9];
const ENUMERATED: u8 = 0x0a;
/// Most certificates and single responses that are read.
const MAX_ENTRIES: usize = 32;

/// `Err` holds the message for CURLE_SSL_INVALIDCERTSTATUS.
pub fn check(
    response: &[u8],
    leaf: &Profile<'_>,
    issuers: &[Profile<'_>],
    signatures: &Signatures<'_>,
    now: i64,
) -> Result<(), String> {
    if response.is_empty() {
        return Err("No OCSP response received".into());
    }
    let invalid = || "Invalid OCSP response".to_string();
    let (status, basic) = outer(response).ok_or_else(invalid)?;
    if status != 0 {
        return Err(format!("Invalid OCSP response status: {} ({status})", status_text(status)));
    }
    let basic = Basic::parse(basic.ok_or_else(invalid)?).ok_or_else(invalid)?;
    // A certificate sent by the server proves nothing if it only has the issuer's name.
    let issued = |by: &Profile<'_>| leaf.is_issued_by(by) && signatures.verify(&by.cert, &leaf.cert);
    let issuer = issuers
        .iter()
        .find(|by| issued(by) && basic.is_signed_for(by, signatures, now))
        .ok_or("OCSP response verification failed")?;
    let single =
        basic.about(&leaf.cert, &issuer.cert).ok_or("Could not find certificate ID in OCSP response")?;
    if single.from > now + SKEW_SECONDS || single.until.is_some_and(|t| t < now - SKEW_SECONDS) {
        return Err("OCSP response has expired".into());
    }
    match single.status {
        Status::Good => Ok(()),
        Status::Revoked(reason) => {
            Err(format!("SSL certificate revocation reason: {} ({reason})", reason_text(reason)))
        }
        Status::Unknown => Err("SSL certificate status: unknown (2)".into()),
    }
}

enum Status {
    Good,
    Revoked(i64),
    Unknown,
}

struct Single {
    status: Status,
    from: i64,
    until: Option<i64>,
}

struct Basic<'a> {
    tbs: &'a [u8],
    answers: &'a [u8],
    algorithm: &'a [u8],
    signature: &'a [u8],
    certs: &'a [u8],
}

impl<'a> Basic<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Basic<'a>> {
        let mut r = Reader::new(bytes).sequence()?;
        let tbs = r.whole(der::SEQUENCE)?;
        let algorithm = r.expect(der::SEQUENCE)?;
        let signature = r.expect(der::BIT_STRING)?.strip_prefix(&[0])?;
        let certs = match r.optional(der::context(0)) {
            Some(list) => Reader::new(list).expect(der::SEQUENCE)?,
            None => &[],
        };
        let mut data = Reader::new(tbs).sequence()?;
        data.optional(der::context(0)); // version
        data.value()?; // responder
        data.expect(der::GENERALIZED_TIME)?; // when it was made
        Some(Basic { tbs, answers: data.expect(der::SEQUENCE)?, algorithm, signature, certs })
    }

    /// Checks that the issuer signed it, or a responder that the issuer has delegated this to.
    fn is_signed_for(&self, issuer: &Profile<'_>, signatures: &Signatures<'_>, now: i64) -> bool {
        let answer = || Signed { algorithm: self.algorithm, data: self.tbs, signature: self.signature };
        if signatures.verify(&issuer.cert, answer()) {
            return true;
        }
        let mut certs = Reader::new(self.certs);
        let listed = std::iter::from_fn(|| certs.whole(der::SEQUENCE)).take(MAX_ENTRIES);
        listed.filter_map(Profile::parse).any(|c| {
            c.cert.date(now) == OK
                && may_sign_answers(&c.cert)
                && c.is_issued_by(issuer)
                && signatures.verify(&issuer.cert, &c.cert)
                && signatures.verify(&c.cert, answer())
        })
    }

    fn about(&self, leaf: &Certificate<'_>, issuer: &Certificate<'_>) -> Option<Single> {
        let mut answers = Reader::new(self.answers);
        std::iter::from_fn(|| answers.sequence()).take(MAX_ENTRIES).find_map(|mut single| {
            let mut id = single.sequence()?;
            let hash = match id.sequence()?.expect(der::OID)? {
                [0x2b, 14, 3, 2, 26] => &ring::digest::SHA1_FOR_LEGACY_USE_ONLY,
                [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1] => &ring::digest::SHA256,
                _ => return None,
            };
            let name = der::wrap(der::SEQUENCE, issuer.subject);
            let same = id.expect(der::OCTET_STRING)? == ring::digest::digest(hash, &name).as_ref()
                && id.expect(der::OCTET_STRING)? == ring::digest::digest(hash, issuer.key).as_ref()
                && id.expect(der::INTEGER)? == leaf.serial;
            if !same {
                return None;
            }
            let status = single.value()?;
            let status = match status.tag & 0x1f {
                0 => Status::Good,
                1 => Status::Revoked(reason(status.body)),
                _ => Status::Unknown,
            };
            let from = x509::time(single.value()?)?;
            let until = match single.optional(der::context(0)) {
                Some(t) => Some(x509::time(Reader::new(t).value()?)?),
                None => None,
            };
            Some(Single { status, from, until })
        })
    }
}

/// Returns the status, and the basic response if there is one.
fn outer(response: &[u8]) -> Option<(u8, Option<&[u8]>)> {
    let mut r = Reader::new(response).sequence()?;
    let [status] = r.expect(ENUMERATED)? else {
        return None;
    };
    let Some(bytes) = r.optional(der::context(0)) else {
        return Some((*status, None));
    };
    let mut bytes = Reader::new(bytes).sequence()?;
    let basic = bytes.expect(der::OID)? == BASIC_RESPONSE;
    Some((*status, bytes.expect(der::OCTET_STRING).filter(|_| basic)))
}

fn may_sign_answers(cert: &Certificate<'_>) -> bool {
    let Some(mut list) = cert.extension(x509::EXT_KEY_USAGE).and_then(|v| Reader::new(v).sequence()) else {
        return false;
    };
    std::iter::from_fn(|| list.value()).any(|v| v.body == OCSP_SIGNING)
}

/// Returns the reason after the time of revocation; -1 if there is none.
fn reason(revoked: &[u8]) -> i64 {
    let mut r = Reader::new(revoked);
    r.value();
    match r.optional(der::context(0)).and_then(|v| Reader::new(v).expect(ENUMERATED)) {
        Some([n]) => i64::from(*n),
        _ => -1,
    }
}

fn status_text(status: u8) -> &'static str {
    match status {
        1 => "malformedrequest",
        2 => "internalerror",
        3 => "trylater",
        5 => "sigrequired",
        6 => "unauthorized",
        _ => "(UNKNOWN)",
    }
}

fn reason_text(reason: i64) -> &'static str {
    match reason {
        0 => "unspecified",
        1 => "keyCompromise",
        2 => "cACompromise",
        3 => "affiliationChanged",
        4 => "superseded",
        5 => "cessationOfOperation",
        6 => "certificateHold",
        8 => "removeFromCRL",
        9 => "privilegeWithdrawn",
        10 => "aACompromise",
        _ => "(UNKNOWN)",
    }
}
