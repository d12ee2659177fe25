//! A report about the certificates of a server: the chain as sent and as built, each check with its outcome,
//! and when the first certificate expires. It is made only for a handshake that asks for it
//! ([`ChainDetail`](super::handshake::ChainDetail)).

use super::certinfo;
use super::checks::{Check, Fault};
use super::ocsp::{Demand, StapledStatus};
use super::profile::Profile;
use super::signatures::Signatures;
use super::strength;
use super::verdict::{self, VerifyResult};
use super::x509::Certificate;
use rustls::pki_types::CertificateDer;

/// Most certificates that are described of a chain.
const MAX_CERTIFICATES: usize = 100;
/// Most names of a certificate that are listed of one kind.
const MAX_NAMES: usize = 100;

/// The certificate of a chain that expires first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// Seconds since the epoch.
    pub not_after: i64,
    /// The length of its validity in seconds.
    pub lifetime: i64,
    /// Its subject if it is an authority, not the server's own certificate.
    pub authority: Option<String>,
}

impl Expiry {
    /// Returns the expiry of a chain, its leaf first; `None` for an empty one.
    pub fn of_chain(chain: &[Profile<'_>]) -> Option<Expiry> {
        let (at, first) = chain.iter().enumerate().min_by_key(|(_, profile)| profile.cert.not_after)?;
        let Certificate { not_before, not_after, subject, .. } = first.cert;
        let authority = (at > 0).then(|| certinfo::name(subject));
        Some(Expiry { not_after, lifetime: not_after.saturating_sub(not_before), authority })
    }
}

/// A report about a server's certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustReport {
    /// The reason why the server was refused.
    pub refusal: Option<String>,
    /// The number of certificates that the server sent.
    pub sent: usize,
    /// The chain from the server's certificate up, as far as it was built.
    pub chain: Vec<ChainLink>,
    /// Certificates that were sent and are not part of the chain.
    pub unused: Vec<CertificateFacts>,
    /// All checks in their order.
    pub checks: Vec<(Check, Outcome)>,
    pub stapled: StapledStatus,
    /// Seconds since the epoch.
    pub now: i64,
}

/// A certificate of the chain that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainLink {
    pub facts: CertificateFacts,
    pub signature: SignatureState,
    /// Whether it was sent by the server. Others come from the trusted certificates.
    pub is_sent: bool,
}

/// Whether a certificate is signed by the next one of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureState {
    Verified,
    Wrong,
    /// The end of the chain: it is trusted as it is.
    Trusted,
    /// The chain ends before a trusted certificate.
    NotVerified,
}

/// The contents of a certificate, as far as they matter for trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    pub subject: String,
    pub issuer: String,
    /// In hexadecimal.
    pub serial: String,
    /// OpenSSL's name of the algorithm.
    pub key: String,
    pub key_bits: Option<usize>,
    pub signed_with: String,
    pub not_before: i64,
    pub not_after: i64,
    /// Alternative names, as `DNS:a.example`; at most a hundred.
    pub names: Vec<String>,
    pub key_usage: Option<String>,
    pub extended_key_usage: Option<String>,
    /// Whether the certificate is an authority's, if it has basicConstraints.
    pub is_authority: Option<bool>,
    pub path_length: Option<u32>,
    /// Names that it may certify.
    pub permitted: Vec<String>,
    /// Names that it must not certify.
    pub excluded: Vec<String>,
    /// Whether it requires a stapled OCSP response (RFC 7633).
    pub must_staple: bool,
}

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Failed(Failure),
    /// It failed, and an option says not to care.
    Ignored(Failure),
    /// A check before it failed.
    NotReached,
    /// No option asks for it.
    NotAsked,
}

/// Why a check failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub text: String,
    /// The result for CURLINFO_SSL_VERIFYRESULT, for a check of the chain.
    pub result: Option<VerifyResult>,
    /// The place of the certificate in the chain.
    pub at: Option<usize>,
}

impl Failure {
    /// A failure that is about the server's certificate.
    pub fn of_leaf(text: String) -> Failure {
        Failure { text, result: None, at: Some(0) }
    }

    fn of_chain(Fault { at, result }: Fault) -> Failure {
        Failure { text: verdict::text(result).to_owned(), result: Some(result), at }
    }
}

impl Outcome {
    /// Returns the outcome of a check that has run; `enforced` says whether its failure refuses the server.
    pub fn of(result: Result<(), Failure>, enforced: bool) -> Outcome {
        match result {
            Ok(()) => Outcome::Passed,
            Err(failure) if enforced => Outcome::Failed(failure),
            Err(failure) => Outcome::Ignored(failure),
        }
    }

    /// Returns the outcome of a check of the server's certificate alone, if it is asked for.
    pub fn of_leaf(result: Option<Result<(), String>>) -> Outcome {
        result.map_or(Outcome::NotAsked, |result| Outcome::of(result.map_err(Failure::of_leaf), true))
    }
}

/// The rules under which a chain was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainRules {
    /// Whether a failure refuses the server (CURLOPT_SSL_VERIFYPEER).
    pub enforced: bool,
    /// Whether there are revocation lists.
    pub lists: bool,
}

/// Returns the outcomes of the checks of a chain, whose first fault is known: all before it have passed, and
/// those behind it were not reached.
pub fn outcomes(fault: Option<(Check, Fault)>, rules: ChainRules) -> Vec<(Check, Outcome)> {
    let mut failed = false;
    let outcome = |check: Check| match fault {
        Some((broken, fault)) if broken == check => {
            failed = true;
            Outcome::of(Err(Failure::of_chain(fault)), rules.enforced)
        }
        _ if check == Check::RevocationLists && !rules.lists => Outcome::NotAsked,
        _ if failed => Outcome::NotReached,
        _ => Outcome::Passed,
    };
    let results: Vec<Outcome> = Check::OF_CHAIN.into_iter().map(outcome).collect();
    Check::OF_CHAIN.into_iter().zip(results).collect()
}

/// Returns the outcome of the stapled response.
pub fn stapled_outcome(status: &StapledStatus, demand: Demand) -> Outcome {
    match (status, demand.verdict(status)) {
        (StapledStatus::Absent, Ok(())) => Outcome::NotAsked,
        (_, Err(text)) => Outcome::Failed(Failure::of_leaf(text)),
        (_, Ok(())) => Outcome::of(status.fault().map_err(Failure::of_leaf), false),
    }
}

impl TrustReport {
    /// Records that the trusted certificates could not be loaded, which ends the checks of the chain.
    pub fn set_anchor_failure(&mut self, text: String, enforced: bool) {
        for (check, outcome) in &mut self.checks {
            match check {
                Check::Encoding | Check::LeafKey => {}
                Check::Anchor => {
                    let failure = Failure { text: text.clone(), result: None, at: None };
                    *outcome = Outcome::of(Err(failure), enforced);
                }
                _ => *outcome = Outcome::NotReached,
            }
        }
    }
}

/// Returns the links of a chain. `is_whole` says that its end is trusted.
pub fn links(
    chain: &[Profile<'_>],
    sent: &[CertificateDer<'_>],
    is_whole: bool,
    signatures: &Signatures<'_>,
) -> Vec<ChainLink> {
    let link = |(at, profile): (usize, &Profile<'_>)| ChainLink {
        facts: CertificateFacts::of(profile),
        signature: match chain.get(at + 1) {
            Some(issuer) if signatures.verify(&issuer.cert, &profile.cert) => SignatureState::Verified,
            Some(_) => SignatureState::Wrong,
            None if is_whole => SignatureState::Trusted,
            None => SignatureState::NotVerified,
        },
        is_sent: sent.iter().any(|der| **der == *profile.cert.der),
    };
    chain.iter().enumerate().take(MAX_CERTIFICATES).map(link).collect()
}

/// Returns the certificates that were sent and are not part of the chain.
pub fn unused(chain: &[Profile<'_>], sent: &[CertificateDer<'_>]) -> Vec<CertificateFacts> {
    let is_used = |der: &CertificateDer<'_>| chain.iter().any(|profile| *profile.cert.der == **der);
    let left = sent.iter().filter(|der| !is_used(der)).filter_map(|der| Profile::parse(der));
    left.take(MAX_CERTIFICATES).map(|profile| CertificateFacts::of(&profile)).collect()
}

/// Returns the first names of a list, which may be long.
fn first(mut names: Vec<String>) -> Vec<String> {
    names.truncate(MAX_NAMES);
    names
}

impl CertificateFacts {
    fn of(profile: &Profile<'_>) -> CertificateFacts {
        let cert = &profile.cert;
        let described = certinfo::Described::of(cert);
        CertificateFacts {
            subject: certinfo::name(cert.subject),
            issuer: certinfo::name(cert.issuer),
            serial: described.serial,
            key: described.key,
            key_bits: strength::key_bits(cert.key_oid(), cert.key),
            signed_with: described.signed_with,
            not_before: cert.not_before,
            not_after: cert.not_after,
            names: first(described.names),
            key_usage: described.key_usage,
            extended_key_usage: described.extended_key_usage,
            is_authority: profile.ca,
            path_length: profile.path_length,
            permitted: first(described.permitted),
            excluded: first(described.excluded),
            must_staple: cert.must_staple(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_behind_a_fault_are_not_reached() {
        let fault = Fault::of(1, verdict::EXPIRED);
        for (fault, rules, wanted) in [
            (None, (true, true), "PPPPPPPPP"),
            (None, (false, false), "PPPPPAPPP"),
            (Some((Check::SignaturesAndDates, fault)), (true, false), "PPPPPAFNN"),
            (Some((Check::SignaturesAndDates, fault)), (false, true), "PPPPPPINN"),
            (Some((Check::Encoding, fault)), (true, true), "FNNNNNNNN"),
            (Some((Check::Anchor, fault)), (true, false), "PPFNNANNN"),
        ] {
            let rules = ChainRules { enforced: rules.0, lists: rules.1 };
            let letter = |(_, outcome): &(Check, Outcome)| match outcome {
                Outcome::Passed => 'P',
                Outcome::Failed(_) => 'F',
                Outcome::Ignored(_) => 'I',
                Outcome::NotReached => 'N',
                Outcome::NotAsked => 'A',
            };
            assert_eq!(outcomes(fault, rules).iter().map(letter).collect::<String>(), wanted, "{fault:?}");
        }
    }

    /// Each result of another library belongs to a check.
    #[test]
    fn each_result_belongs_to_a_check_of_the_chain() {
        for (result, check) in [
            (verdict::EXPIRED, Check::SignaturesAndDates),
            (verdict::NO_ISSUER, Check::Anchor),
            (verdict::REVOKED, Check::RevocationLists),
            (verdict::PERMITTED_SUBTREE, Check::NameConstraints),
            (verdict::WRONG_PURPOSE, Check::Extensions),
            (verdict::WEAK_LEAF_KEY, Check::LeafKey),
            (verdict::WEAK_DIGEST, Check::ChainKeys),
            (verdict::UNSPECIFIED, Check::SecondOpinion),
        ] {
            assert_eq!(Check::of_result(result), check, "{result}");
        }
    }

    #[test]
    fn a_stapled_response_refuses_only_by_demand_or_if_revoked() {
        let revoked = StapledStatus::Revoked(1);
        let stale = StapledStatus::Invalid("old".into());
        let good = StapledStatus::Good;
        for (status, demand, refuses, shown) in [
            (&StapledStatus::Absent, Demand::Offered, false, false),
            (&StapledStatus::Absent, Demand::ByCertificate, true, true),
            (&StapledStatus::Absent, Demand::ByOption, true, true),
            (&good, Demand::Offered, false, false),
            (&good, Demand::ByOption, false, false),
            (&stale, Demand::Offered, false, true),
            (&stale, Demand::ByCertificate, true, true),
            (&StapledStatus::Unknown, Demand::Offered, false, true),
            (&StapledStatus::Unknown, Demand::ByCertificate, true, true),
            (&revoked, Demand::Offered, true, true),
            (&revoked, Demand::ByOption, true, true),
            (&revoked, Demand::Ignored, false, true),
            (&StapledStatus::Absent, Demand::Ignored, false, false),
        ] {
            let outcome = stapled_outcome(status, demand);
            assert_eq!(demand.verdict(status).is_err(), refuses, "{status:?} {demand:?}");
            assert_eq!(matches!(outcome, Outcome::Failed(_)), refuses, "{status:?} {demand:?}");
            assert_eq!(matches!(outcome, Outcome::Failed(_) | Outcome::Ignored(_)), shown, "{outcome:?}");
        }
    }
}
