//! Results of a chain's verification: OpenSSL's X509_V_ERR_… numbers, which applications read, and their
//! texts.

/// 0 is "ok".
pub type VerifyResult = i64;
pub const OK: VerifyResult = 0;
/// Also curl's result before anything is verified.
pub const UNSPECIFIED: VerifyResult = 1;
pub const NO_ISSUER_OF_TRUSTED: VerifyResult = 2;
pub const NO_CRL: VerifyResult = 3;
pub const BAD_SIGNATURE: VerifyResult = 7;
pub const BAD_CRL_SIGNATURE: VerifyResult = 8;
pub const NOT_YET_VALID: VerifyResult = 9;
pub const EXPIRED: VerifyResult = 10;
pub const CRL_NOT_YET_VALID: VerifyResult = 11;
pub const CRL_EXPIRED: VerifyResult = 12;
pub const SELF_SIGNED_LEAF: VerifyResult = 18;
pub const SELF_SIGNED_IN_CHAIN: VerifyResult = 19;
pub const NO_ISSUER: VerifyResult = 20;
pub const TOO_LONG: VerifyResult = 22;
pub const REVOKED: VerifyResult = 23;
pub const PATH_LENGTH: VerifyResult = 25;
pub const WRONG_PURPOSE: VerifyResult = 26;
pub const CRITICAL_EXTENSION: VerifyResult = 34;
pub const NO_CRL_SIGN: VerifyResult = 35;
pub const CRITICAL_CRL_EXTENSION: VerifyResult = 36;
pub const PROXY_CERTIFICATE: VerifyResult = 40;
pub const INVALID_EXTENSION: VerifyResult = 41;
pub const CRL_SCOPE: VerifyResult = 44;
pub const PERMITTED_SUBTREE: VerifyResult = 47;
pub const EXCLUDED_SUBTREE: VerifyResult = 48;
pub const SUBTREE_RANGE: VerifyResult = 49;
pub const CONSTRAINT_TYPE: VerifyResult = 51;
pub const NAME_SYNTAX: VerifyResult = 53;
pub const WEAK_LEAF_KEY: VerifyResult = 66;
pub const WEAK_CA_KEY: VerifyResult = 67;
pub const WEAK_DIGEST: VerifyResult = 68;
pub const INVALID_CA: VerifyResult = 79;

/// Returns the text of X509_verify_cert_error_string for these numbers.
pub fn text(number: VerifyResult) -> &'static str {
    match number {
        OK => "ok",
        NO_ISSUER_OF_TRUSTED => "unable to get issuer certificate",
        NO_CRL => "unable to get certificate CRL",
        BAD_SIGNATURE => "certificate signature failure",
        BAD_CRL_SIGNATURE => "CRL signature failure",
        NOT_YET_VALID => "certificate is not yet valid",
        EXPIRED => "certificate has expired",
        CRL_NOT_YET_VALID => "CRL is not yet valid",
        CRL_EXPIRED => "CRL has expired",
        SELF_SIGNED_LEAF => "self-signed certificate",
        SELF_SIGNED_IN_CHAIN => "self-signed certificate in certificate chain",
        NO_ISSUER => "unable to get local issuer certificate",
        TOO_LONG => "certificate chain too long",
        REVOKED => "certificate revoked",
        PATH_LENGTH => "path length constraint exceeded",
        WRONG_PURPOSE => "unsuitable certificate purpose",
        CRITICAL_EXTENSION => "unhandled critical extension",
        NO_CRL_SIGN => "key usage does not include CRL signing",
        CRITICAL_CRL_EXTENSION => "unhandled critical CRL extension",
        PROXY_CERTIFICATE => "proxy certificates not allowed, please set the appropriate flag",
        INVALID_EXTENSION => "invalid or inconsistent certificate extension",
        CRL_SCOPE => "different CRL scope",
        PERMITTED_SUBTREE => "permitted subtree violation",
        EXCLUDED_SUBTREE => "excluded subtree violation",
        SUBTREE_RANGE => "name constraints minimum and maximum not supported",
        CONSTRAINT_TYPE => "unsupported name constraint type",
        NAME_SYNTAX => "unsupported or invalid name syntax",
        WEAK_LEAF_KEY => "EE certificate key too weak",
        WEAK_CA_KEY => "CA certificate key too weak",
        WEAK_DIGEST => "CA signature digest algorithm too weak",
        INVALID_CA => "invalid CA certificate",
        _ => "unspecified certificate verification error",
    }
}
