//! Certificate revocation lists (RFC 5280, section 5), checked as OpenSSL does with
//! X509_V_FLAG_CRL_CHECK_ALL: every certificate of a chain needs a current list signed by its issuer, without
//! unknown critical extensions.
//!
//! Lists with another signer (indirect ones), lists for some reasons only, and deltas are skipped.

use super::checks::Fault;
use super::dn;
use super::profile::{Authority, CRL_SIGN, Point, Profile};
use super::signatures::{Signatures, Signed};
use super::verdict::*;
use super::x509::{self, Extension};
use std::collections::HashMap;
use wire::der::{self, Reader};

const AUTHORITY_KEY_ID: &[u8] = x509::AUTHORITY_KEY_ID;
const ISSUING_POINT: &[u8] = &[0x55, 0x1d, 28];
const DELTA: &[u8] = &[0x55, 0x1d, 27];
const REASON: &[u8] = &[0x55, 0x1d, 21];
const CERTIFICATE_ISSUER: &[u8] = &[0x55, 0x1d, 29];
const ENUMERATED: u8 = 0x0a;
const REMOVE_FROM_CRL: u8 = 8;

/// A certificate revocation list.
#[derive(Debug)]
pub struct Crl {
    tbs: Vec<u8>,
    algorithm: Vec<u8>,
    signature: Vec<u8>,
    /// In canonical form.
    issuer: Vec<u8>,
    from: i64,
    until: Option<i64>,
    /// By serial number: whether it is removed from the list again.
    revoked: HashMap<Vec<u8>, bool>,
    authority: Option<Vec<u8>>,
    scope: Scope,
    has_unknown_critical: bool,
}

/// Contents of issuingDistributionPoint.
#[derive(Debug, Default)]
struct Scope {
    point: Option<Vec<u8>>,
    only_users: bool,
    only_authorities: bool,
    only_attributes: bool,
    /// Indirect, for some reasons only, a delta, or not readable.
    is_foreign: bool,
}

impl Crl {
    /// Returns `None` for anything but a list.
    pub fn parse(der: &[u8]) -> Option<Crl> {
        let mut list = Reader::new(der).sequence()?;
        let tbs = list.whole(der::SEQUENCE)?;
        let outer = list.expect(der::SEQUENCE)?;
        let signature = list.expect(der::BIT_STRING)?.strip_prefix(&[0])?;
        let mut r = Reader::new(tbs).sequence()?;
        r.optional(der::INTEGER); // version
        let algorithm = r.expect(der::SEQUENCE)?;
        let issuer = dn::canonical(r.expect(der::SEQUENCE)?)?;
        let from = x509::time(r.value()?)?;
        let until = match r.peek() {
            Some(der::UTC_TIME | der::GENERALIZED_TIME) => Some(x509::time(r.value()?)?),
            _ => None,
        };
        let entries = r.optional(der::SEQUENCE).unwrap_or_default();
        let extensions = match r.optional(der::context(0)) {
            Some(list) => x509::extensions(list)?,
            None => Vec::new(),
        };
        let (revoked, odd_entries) = revoked(entries)?;
        let known = |e: &Extension<'_>| [ISSUING_POINT, AUTHORITY_KEY_ID, DELTA].contains(&e.oid);
        let find = |oid: &[u8]| extensions.iter().find(|e| e.oid == oid).map(|e| e.value);
        let mut scope = find(ISSUING_POINT).map_or_else(Scope::default, Scope::parse);
        scope.is_foreign |= find(DELTA).is_some() || outer != algorithm || !r.is_empty();
        Some(Crl {
            tbs: tbs.into(),
            algorithm: algorithm.into(),
            signature: signature.into(),
            issuer,
            from,
            until,
            revoked,
            authority: find(AUTHORITY_KEY_ID).map(<[u8]>::to_vec),
            scope,
            has_unknown_critical: odd_entries || extensions.iter().any(|e| e.critical && !known(e)),
        })
    }

    fn date(&self, now: i64) -> VerifyResult {
        match now {
            t if t < self.from => CRL_NOT_YET_VALID,
            t if self.until.is_some_and(|end| t >= end) => CRL_EXPIRED,
            _ => OK,
        }
    }

    /// Returns the index of the list's signer in `chain` for the certificate at `at`: directly above it (or
    /// itself at the end), or further up under the same name.
    fn signer(&self, chain: &[Profile<'_>], at: usize) -> Option<usize> {
        if self.scope.is_foreign || self.issuer != chain[at].issuer {
            return None;
        }
        let authority = match &self.authority {
            Some(value) => Authority::parse(value)?,
            None => Authority::default(),
        };
        let next = (at + 1).min(chain.len() - 1);
        let above = (next + 1..chain.len()).filter(|i| chain[*i].subject == self.issuer);
        std::iter::once(next).chain(above).find(|i| authority.names(&chain[*i]))
    }

    /// Returns whether the list covers certificates of this kind.
    fn covers(&self, cert: &Profile<'_>) -> bool {
        let scope = &self.scope;
        let excluded = if cert.ca == Some(true) { scope.only_users } else { scope.only_authorities };
        if scope.only_attributes || excluded {
            return false;
        }
        let by_point = cert.distribution().iter().any(|p| {
            self.is_issuer_of(p)
                && match (&scope.point, p.name) {
                    (Some(ours), Some(theirs)) => shares_name(ours, theirs),
                    _ => true,
                }
        });
        by_point || scope.point.is_none()
    }

    fn is_issuer_of(&self, point: &Point<'_>) -> bool {
        match point.crl_issuer {
            None => true,
            Some(names) => super::general_name::all(Reader::new(names)).is_some_and(|names| {
                names.contains(&super::general_name::GeneralName::Directory(self.issuer.clone()))
            }),
        }
    }
}

impl Scope {
    fn parse(value: &[u8]) -> Scope {
        Scope::read(value).unwrap_or_else(|| Scope { is_foreign: true, ..Scope::default() })
    }

    fn read(value: &[u8]) -> Option<Scope> {
        let mut r = Reader::new(value).sequence()?;
        let point = r.optional(der::context(0)).map(<[u8]>::to_vec);
        let mut flag = |n| r.optional(der::context_primitive(n)).is_some_and(|b| b != [0]);
        let (only_users, only_authorities) = (flag(1), flag(2));
        let some_reasons = flag(3);
        let (indirect, only_attributes) = (flag(4), flag(5));
        let kinds = [only_users, only_authorities, only_attributes].iter().filter(|k| **k).count();
        let is_foreign = some_reasons || indirect || kinds > 1 || !r.is_empty();
        Some(Scope { point, only_users, only_authorities, only_attributes, is_foreign })
    }
}

/// Checks a chain, its leaf first.
pub fn check(
    lists: &[Crl],
    chain: &[Profile<'_>],
    signatures: &Signatures<'_>,
    now: i64,
) -> Result<(), Fault> {
    (0..chain.len()).try_for_each(|at| Fault::unless_ok(at, of_one(lists, chain, at, signatures, now)))
}

fn of_one(
    lists: &[Crl],
    chain: &[Profile<'_>],
    at: usize,
    signatures: &Signatures<'_>,
    now: i64,
) -> VerifyResult {
    let cert = &chain[at];
    let ours = lists.iter().rev().filter_map(|l| Some((l, l.signer(chain, at)?)));
    // The best list decides the error: readable, for this kind, current, newest; the first of equals.
    let best = ours.max_by_key(|(l, _)| (!l.has_unknown_critical, l.covers(cert), l.date(now) == OK, l.from));
    let Some((list, signer)) = best else {
        return NO_CRL;
    };
    let signer = &chain[signer];
    if !signer.allows(CRL_SIGN) {
        return NO_CRL_SIGN;
    }
    if !list.covers(cert) {
        return CRL_SCOPE;
    }
    match list.date(now) {
        OK => {}
        fault => return fault,
    }
    let signed = Signed { algorithm: &list.algorithm, data: &list.tbs, signature: &list.signature };
    if !signatures.verify(&signer.cert, signed) {
        return BAD_CRL_SIGNATURE;
    }
    if list.has_unknown_critical {
        return CRITICAL_CRL_EXTENSION;
    }
    match list.revoked.get(cert.cert.serial) {
        Some(false) => REVOKED,
        // If this list is one of several for the certificate, the others are missing.
        _ if cert.distribution().iter().any(|p| p.has_reasons && list.is_issuer_of(p)) => NO_CRL,
        _ => OK,
    }
}

/// Returns the serial numbers, and whether an entry has an unknown critical extension.
fn revoked(entries: &[u8]) -> Option<(HashMap<Vec<u8>, bool>, bool)> {
    let mut r = Reader::new(entries);
    let (mut out, mut odd) = (HashMap::new(), false);
    while !r.is_empty() {
        let mut entry = r.sequence()?;
        let serial = entry.expect(der::INTEGER)?;
        x509::time(entry.value()?)?;
        let extensions = if entry.is_empty() { Vec::new() } else { x509::extension_list(entry)? };
        odd |= extensions.iter().any(|e| e.critical && e.oid != CERTIFICATE_ISSUER);
        let reason = extensions.iter().find(|e| e.oid == REASON);
        let reason = reason.and_then(|e| Reader::new(e.value).expect(ENUMERATED));
        out.insert(serial.to_vec(), reason == Some(&[REMOVE_FROM_CRL]));
    }
    Some((out, odd))
}

/// Returns whether two DistributionPointNames have a name in common.
fn shares_name(a: &[u8], b: &[u8]) -> bool {
    let names = |point| {
        let mut r = Reader::new(point);
        let list = r
            .optional(der::context(0))
            .map_or(Some(Vec::new()), |l| super::general_name::all(Reader::new(l)));
        list.unwrap_or_default()
    };
    let b = names(b);
    names(a).iter().any(|n| b.contains(n))
}
