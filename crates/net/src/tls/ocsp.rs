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

/// The statement of a stapled response about the server's certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StapledStatus {
    /// The server sent no response.
    Absent,
    Good,
    /// Revoked, with the number of the reason (RFC 5280, section 5.3.1); -1 if there is none.
    Revoked(i64),
    /// The responder does not know the certificate.
    Unknown,
    /// The response proves nothing, for this reason.
    Invalid(String),
}

impl StapledStatus {
    /// Returns the message for CURLE_SSL_INVALIDCERTSTATUS of any status but good.
    pub fn fault(&self) -> Result<(), String> {
        match self {
            StapledStatus::Good => Ok(()),
            StapledStatus::Absent => Err("No OCSP response received".into()),
            StapledStatus::Revoked(reason) => {
                Err(format!("SSL certificate revocation reason: {} ({reason})", reason_text(*reason)))
            }
            StapledStatus::Unknown => Err("SSL certificate status: unknown (2)".into()),
            StapledStatus::Invalid(text) => Err(text.clone()),
        }
    }
}

/// The source of a demand for a stapled response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Nobody: the server is not verified.
    Ignored,
    /// Nobody, but a response that says "revoked" counts.
    Offered,
    /// The certificate itself, by the TLS feature status_request (RFC 7633).
    ByCertificate,
    /// CURLOPT_SSL_VERIFYSTATUS.
    ByOption,
}

impl Demand {
    /// Decides whether a server with this status is refused; `Err` holds the message.
    ///
    /// RFC 7633 lets a client refuse a certificate whose feature it has asked for and did not get. Its owner
    /// wanted that: without it, a thief of the key leaves the response out. All others may be out of date
    /// because of the responder alone, so that only a proof of revocation refuses them.
    pub fn verdict(self, status: &StapledStatus) -> Result<(), String> {
        match (self, status) {
            (Demand::Ignored, _) => Ok(()),
            (_, StapledStatus::Good | StapledStatus::Revoked(_)) => status.fault(),
            (Demand::Offered, _) => Ok(()),
            (Demand::ByOption, _) => status.fault(),
            (Demand::ByCertificate, _) => status.fault().map_err(|text| {
                format!("{text}, and the certificate requires one that says good (RFC 7633)")
            }),
        }
    }
}

/// Returns whether a response says of this serial number that it is revoked. Nothing is verified: without
/// such a statement, a response that nobody demands need not be.
pub fn claims_revocation(response: &[u8], serial: &[u8]) -> bool {
    let basic = outer(response).and_then(|(_, basic)| Basic::parse(basic?));
    let claims =
        |single: Single<'_>| single.serial == serial && matches!(single.status, StapledStatus::Revoked(_));
    basic.is_some_and(|basic| basic.singles().any(claims))
}

/// Verifies a response and returns what it says. The issuer is among `issuers`.
pub fn status(
    response: &[u8],
    leaf: &Profile<'_>,
    issuers: &[Profile<'_>],
    signatures: &Signatures<'_>,
    now: i64,
) -> StapledStatus {
    if response.is_empty() {
        return StapledStatus::Absent;
    }
    read(response, leaf, issuers, signatures, now).unwrap_or_else(StapledStatus::Invalid)
}

fn read(
    response: &[u8],
    leaf: &Profile<'_>,
    issuers: &[Profile<'_>],
    signatures: &Signatures<'_>,
    now: i64,
) -> Result<StapledStatus, String> {
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
    Ok(single.status)
}

/// A statement about one certificate.
struct Single<'a> {
    /// The OID of the digest.
    hash: &'a [u8],
    issuer_name: &'a [u8],
    issuer_key: &'a [u8],
    serial: &'a [u8],
    status: StapledStatus,
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

    /// Returns the statement about this certificate.
    fn about(&self, leaf: &Certificate<'_>, issuer: &Certificate<'_>) -> Option<Single<'a>> {
        let name = der::wrap(der::SEQUENCE, issuer.subject);
        self.singles().find(|single| {
            let hash = match single.hash {
                [0x2b, 14, 3, 2, 26] => &ring::digest::SHA1_FOR_LEGACY_USE_ONLY,
                [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1] => &ring::digest::SHA256,
                _ => return false,
            };
            single.issuer_name == ring::digest::digest(hash, &name).as_ref()
                && single.issuer_key == ring::digest::digest(hash, issuer.key).as_ref()
                && single.serial == leaf.serial
        })
    }

    /// Returns the statements that can be read.
    fn singles(&self) -> impl Iterator<Item = Single<'a>> {
        let mut answers = Reader::new(self.answers);
        std::iter::from_fn(move || answers.sequence()).take(MAX_ENTRIES).filter_map(Single::parse)
    }
}

impl<'a> Single<'a> {
    fn parse(mut r: Reader<'a>) -> Option<Single<'a>> {
        let mut id = r.sequence()?;
        let hash = id.sequence()?.expect(der::OID)?;
        let (issuer_name, issuer_key) = (id.expect(der::OCTET_STRING)?, id.expect(der::OCTET_STRING)?);
        let serial = id.expect(der::INTEGER)?;
        let status = r.value()?;
        let status = match status.tag & 0x1f {
            0 => StapledStatus::Good,
            1 => StapledStatus::Revoked(reason(status.body)),
            _ => StapledStatus::Unknown,
        };
        let from = x509::time(r.value()?)?;
        let until = match r.optional(der::context(0)) {
            Some(t) => Some(x509::time(Reader::new(t).value()?)?),
            None => None,
        };
        Some(Single { hash, issuer_name, issuer_key, serial, status, from, until })
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
