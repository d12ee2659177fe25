//! The checks of a server's certificate by name, in their order, and the place of a fault.

use super::verdict::*;

/// A check of a server's certificates. All up to the second opinion are of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The server's certificate can be read.
    Encoding,
    /// The server's key is strong enough.
    LeafKey,
    /// The chain reaches a trusted certificate.
    Anchor,
    /// Extensions: purposes, authorities, path lengths.
    Extensions,
    /// The keys of authorities and the digests of signatures are strong enough.
    ChainKeys,
    /// Revocation lists (CURLOPT_CRLFILE).
    RevocationLists,
    /// Each certificate is signed by the next one, and today is between its dates.
    SignaturesAndDates,
    NameConstraints,
    /// webpki accepts the chain, too.
    SecondOpinion,
    /// The certificate is for the host.
    HostName,
    /// The stapled OCSP response.
    StapledStatus,
    /// CURLOPT_ISSUERCERT.
    Issuer,
    /// CURLOPT_PINNEDPUBLICKEY.
    PinnedKey,
}

impl Check {
    /// The checks of a chain, in their order.
    pub const OF_CHAIN: [Check; 9] = [
        Check::Encoding,
        Check::LeafKey,
        Check::Anchor,
        Check::Extensions,
        Check::ChainKeys,
        Check::RevocationLists,
        Check::SignaturesAndDates,
        Check::NameConstraints,
        Check::SecondOpinion,
    ];

    /// Returns the check of a chain that has this result when it fails.
    pub fn of_result(result: VerifyResult) -> Check {
        match result {
            WEAK_LEAF_KEY => Check::LeafKey,
            NO_ISSUER_OF_TRUSTED | SELF_SIGNED_LEAF | SELF_SIGNED_IN_CHAIN | NO_ISSUER | TOO_LONG => {
                Check::Anchor
            }
            INVALID_CA | PATH_LENGTH | WRONG_PURPOSE | CRITICAL_EXTENSION | PROXY_CERTIFICATE
            | INVALID_EXTENSION => Check::Extensions,
            WEAK_CA_KEY | WEAK_DIGEST => Check::ChainKeys,
            NO_CRL
            | BAD_CRL_SIGNATURE
            | CRL_NOT_YET_VALID
            | CRL_EXPIRED
            | REVOKED
            | NO_CRL_SIGN
            | CRITICAL_CRL_EXTENSION
            | CRL_SCOPE => Check::RevocationLists,
            BAD_SIGNATURE | NOT_YET_VALID | EXPIRED => Check::SignaturesAndDates,
            PERMITTED_SUBTREE | EXCLUDED_SUBTREE | SUBTREE_RANGE | CONSTRAINT_TYPE | NAME_SYNTAX => {
                Check::NameConstraints
            }
            _ => Check::SecondOpinion,
        }
    }

    /// Returns the check's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Check::Encoding => "encoding",
            Check::LeafKey => "server key",
            Check::Anchor => "trust anchor",
            Check::Extensions => "extensions",
            Check::ChainKeys => "keys and digests",
            Check::RevocationLists => "revocation lists",
            Check::SignaturesAndDates => "signatures and dates",
            Check::NameConstraints => "name constraints",
            Check::SecondOpinion => "second opinion",
            Check::HostName => "host name",
            Check::StapledStatus => "stapled OCSP",
            Check::Issuer => "issuer",
            Check::PinnedKey => "pinned key",
        }
    }
}

/// The result of a failed check of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place of the certificate in the chain, its leaf first; `None` if the check is of all.
    pub at: Option<usize>,
    pub result: VerifyResult,
}

impl Fault {
    /// A fault of the certificate at this place.
    pub fn of(at: usize, result: VerifyResult) -> Fault {
        Fault { at: Some(at), result }
    }

    /// Returns a fault unless the result is good.
    pub fn unless_ok(at: usize, result: VerifyResult) -> Result<(), Fault> {
        if result == OK { Ok(()) } else { Err(Fault::of(at, result)) }
    }
}
