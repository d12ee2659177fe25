//! Cipher suites, groups and signature algorithms by the names of OpenSSL and IANA, and OpenSSL's syntax of
//! cipher lists (`ECDHE+AESGCM:!AES128`).

use super::TlsConfig;
use super::mlkem::X25519_MLKEM768;
use super::p521::SECP521R1;
use super::provider;
use crate::{NetError, NetErrorKind};
use rustls::crypto::{SupportedKxGroup, ring};
use rustls::{CipherSuite, NamedGroup, SignatureScheme, SupportedCipherSuite};

/// A suite with its names and its keywords in cipher lists.
struct Row {
    suite: CipherSuite,
    openssl: &'static str,
    iana: &'static str,
    keywords: &'static [&'static str],
}

const ROWS: [Row; 9] = [
    Row {
        suite: CipherSuite::TLS13_AES_256_GCM_SHA384,
        openssl: "TLS_AES_256_GCM_SHA384",
        iana: "",
        keywords: &[],
    },
    Row {
        suite: CipherSuite::TLS13_AES_128_GCM_SHA256,
        openssl: "TLS_AES_128_GCM_SHA256",
        iana: "",
        keywords: &[],
    },
    Row {
        suite: CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
        openssl: "TLS_CHACHA20_POLY1305_SHA256",
        iana: "",
        keywords: &[],
    },
    Row {
        suite: CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        openssl: "ECDHE-ECDSA-AES256-GCM-SHA384",
        iana: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        keywords: &["aECDSA", "ECDSA", "AESGCM", "AES", "AES256", "SHA384"],
    },
    Row {
        suite: CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        openssl: "ECDHE-RSA-AES256-GCM-SHA384",
        iana: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        keywords: &["aRSA", "AESGCM", "AES", "AES256", "SHA384"],
    },
    Row {
        suite: CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        openssl: "ECDHE-ECDSA-CHACHA20-POLY1305",
        iana: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        keywords: &["aECDSA", "ECDSA", "CHACHA20", "SHA256"],
    },
    Row {
        suite: CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        openssl: "ECDHE-RSA-CHACHA20-POLY1305",
        iana: "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        keywords: &["aRSA", "CHACHA20", "SHA256"],
    },
    Row {
        suite: CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        openssl: "ECDHE-ECDSA-AES128-GCM-SHA256",
        iana: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        keywords: &["aECDSA", "ECDSA", "AESGCM", "AES", "AES128", "SHA256"],
    },
    Row {
        suite: CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        openssl: "ECDHE-RSA-AES128-GCM-SHA256",
        iana: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        keywords: &["aRSA", "AESGCM", "AES", "AES128", "SHA256"],
    },
];
/// Keywords that apply to every suite below TLS 1.3.
const ALL: [&str; 10] = [
    "ALL",
    "DEFAULT",
    "COMPLEMENTOFDEFAULT",
    "HIGH",
    "ECDHE",
    "EECDH",
    "kECDHE",
    "kEECDH",
    "TLSv1.2",
    "FIPS",
];
const FIRST_TLS12: usize = 3;

/// Returns OpenSSL's name, for CURLINFO and verbose output.
pub fn name(suite: CipherSuite) -> &'static str {
    ROWS.iter().find(|r| r.suite == suite).map_or("unknown", |r| r.openssl)
}

/// Returns the suites that both lists allow, strongest first unless the lists say otherwise.
pub fn choose(list12: Option<&str>, list13: Option<&str>) -> Result<Vec<SupportedCipherSuite>, NetError> {
    let mut order: Vec<usize> = match list13 {
        Some(list) => tls13(list).ok_or_else(|| cipher_error("failed setting TLS 1.3 cipher suite", list))?,
        None => (0..FIRST_TLS12).collect(),
    };
    match list12 {
        Some(list) => {
            order.extend(tls12(list).ok_or_else(|| cipher_error("failed setting cipher list", list))?)
        }
        None => order.extend(FIRST_TLS12..ROWS.len()),
    }
    let available = ring::ALL_CIPHER_SUITES;
    Ok(order.iter().filter_map(|i| available.iter().find(|s| s.suite() == ROWS[*i].suite)).copied().collect())
}

/// Returns whether rustls supports any suite of a configuration's lists.
pub fn are_known(config: &TlsConfig) -> bool {
    let (below_tls13, of_tls13) = config.cipher_lists();
    choose(below_tls13, of_tls13).is_ok_and(|chosen| !chosen.is_empty())
        && groups(config.curves.as_deref()).is_ok()
        && schemes(config.sigalgs.as_deref()).is_ok()
}

/// Returns groups for the key exchange. A name unknown to OpenSSL is an error; one that only OpenSSL supports
/// is skipped.
pub fn groups(list: Option<&str>) -> Result<Vec<&'static dyn SupportedKxGroup>, NetError> {
    let Some(list) = list else {
        return Ok(provider::groups());
    };
    let error = || NetError::new(NetErrorKind::SslCipher, format!("failed setting curves list: '{list}'"));
    let mut out: Vec<&'static dyn SupportedKxGroup> = Vec::new();
    // Since OpenSSL 3.5 `/` separates sets of groups, `?` marks one that may be unknown, `*` a key share.
    for word in list.split([':', '/']) {
        let name = word.trim_start_matches(['?', '*']);
        let known = match group(name) {
            Some(known) => known,
            None if word.contains('?') => continue,
            None => return Err(error()),
        };
        out.extend(
            known.into_iter().filter(|g| !out.iter().any(|o| o.name() == g.name())).collect::<Vec<_>>(),
        );
    }
    if out.is_empty() { Err(error()) } else { Ok(out) }
}

/// Returns the groups of a name; `None` if it is unknown to OpenSSL, an empty list if only OpenSSL supports
/// it.
fn group(name: &str) -> Option<Vec<&'static dyn SupportedKxGroup>> {
    Some(match name.to_ascii_uppercase().as_str() {
        "X25519MLKEM768" => vec![X25519_MLKEM768],
        "X25519" => vec![ring::kx_group::X25519],
        "P-256" | "PRIME256V1" | "SECP256R1" => vec![ring::kx_group::SECP256R1],
        "P-384" | "SECP384R1" => vec![ring::kx_group::SECP384R1],
        "DEFAULT" => provider::groups(),
        "P-521" | "SECP521R1" => vec![SECP521R1],
        "X448" | "FFDHE2048" | "FFDHE3072" | "FFDHE4096" | "FFDHE6144" | "FFDHE8192"
        | "SECP256R1MLKEM768" | "SECP384R1MLKEM1024" | "MLKEM512" | "MLKEM768" | "MLKEM1024" => vec![],
        _ => return None,
    })
}

/// Returns the suite with this number, if it is offered here.
pub(crate) fn supported(number: u16) -> Option<SupportedCipherSuite> {
    ring::ALL_CIPHER_SUITES.iter().find(|suite| u16::from(suite.suite()) == number).copied()
}

/// Returns the name of a group from its text, `None` for one that [`group_name`] never returns.
pub(crate) fn known_group(name: &str) -> Option<&'static str> {
    const NAMES: [&str; 7] =
        ["", "X25519MLKEM768", "X25519", "prime256v1", "secp384r1", "secp521r1", "unknown"];
    NAMES.into_iter().find(|known| *known == name)
}

/// Returns the name of a group as OpenSSL prints it.
pub fn group_name(group: NamedGroup) -> &'static str {
    match group {
        NamedGroup::X25519MLKEM768 => "X25519MLKEM768",
        NamedGroup::X25519 => "X25519",
        NamedGroup::secp256r1 => "prime256v1",
        NamedGroup::secp384r1 => "secp384r1",
        NamedGroup::secp521r1 => "secp521r1",
        _ => "unknown",
    }
}

/// Returns signature algorithms in the given order, such as `RSA+SHA256`, `rsa_pss_rsae_sha256` or `ed25519`;
/// `None` leaves the default.
pub fn schemes(list: Option<&str>) -> Result<Option<Vec<SignatureScheme>>, NetError> {
    let Some(list) = list else {
        return Ok(None);
    };
    let found: Option<Vec<SignatureScheme>> = list.split(':').map(scheme).collect();
    match found {
        Some(schemes) if !schemes.is_empty() => Ok(Some(schemes)),
        _ => Err(NetError::new(
            NetErrorKind::SslCipher,
            format!("failed setting signature algorithms: '{list}'"),
        )),
    }
}

fn scheme(name: &str) -> Option<SignatureScheme> {
    Some(match name.trim_start_matches('?').to_ascii_lowercase().as_str() {
        "ecdsa_secp256r1_sha256" | "ecdsa+sha256" => SignatureScheme::ECDSA_NISTP256_SHA256,
        "ecdsa_secp384r1_sha384" | "ecdsa+sha384" => SignatureScheme::ECDSA_NISTP384_SHA384,
        "ecdsa_secp521r1_sha512" | "ecdsa+sha512" => SignatureScheme::ECDSA_NISTP521_SHA512,
        "ed25519" => SignatureScheme::ED25519,
        "ed448" => SignatureScheme::ED448,
        "rsa_pss_rsae_sha256" | "rsa-pss+sha256" | "pss+sha256" => SignatureScheme::RSA_PSS_SHA256,
        "rsa_pss_rsae_sha384" | "rsa-pss+sha384" | "pss+sha384" => SignatureScheme::RSA_PSS_SHA384,
        "rsa_pss_rsae_sha512" | "rsa-pss+sha512" | "pss+sha512" => SignatureScheme::RSA_PSS_SHA512,
        "rsa_pkcs1_sha256" | "rsa+sha256" => SignatureScheme::RSA_PKCS1_SHA256,
        "rsa_pkcs1_sha384" | "rsa+sha384" => SignatureScheme::RSA_PKCS1_SHA384,
        "rsa_pkcs1_sha512" | "rsa+sha512" => SignatureScheme::RSA_PKCS1_SHA512,
        _ => return None,
    })
}

fn cipher_error(what: &str, list: &str) -> NetError {
    NetError::new(NetErrorKind::SslCipher, format!("{what}: {list}"))
}

/// Any unknown name is an error, as in OpenSSL.
fn tls13(list: &str) -> Option<Vec<usize>> {
    let names = list.split(':').filter(|n| !n.is_empty());
    names.map(|n| ROWS[..FIRST_TLS12].iter().position(|r| r.openssl.eq_ignore_ascii_case(n))).collect()
}

/// Unknown names are skipped; it is an error only if nothing is left.
fn tls12(list: &str) -> Option<Vec<usize>> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut banned: Vec<usize> = Vec::new();
    for word in list.split([':', ',', ' ', ';']) {
        // "DEFAULT@SECLEVEL=1": the level is ignored.
        let word = word.split('@').next().unwrap_or_default();
        if word.is_empty() {
            continue;
        }
        if let Some(rest) = word.strip_prefix('!') {
            banned.extend(matching(rest));
            chosen.retain(|i| !banned.contains(i));
        } else if let Some(rest) = word.strip_prefix('-') {
            let drop = matching(rest);
            chosen.retain(|i| !drop.contains(i));
        } else if let Some(rest) = word.strip_prefix('+') {
            let (last, first): (Vec<usize>, Vec<usize>) =
                chosen.iter().partition(|i| matching(rest).contains(i));
            chosen = [first, last].concat();
        } else {
            let new = matching(word).into_iter().filter(|i| !chosen.contains(i) && !banned.contains(i));
            chosen.extend(new.collect::<Vec<_>>());
        }
    }
    (!chosen.is_empty()).then_some(chosen)
}

/// Returns the suites to which all the keywords joined by `+` apply.
fn matching(word: &str) -> Vec<usize> {
    let falls_under = |row: &Row, k: &str| {
        row.openssl.eq_ignore_ascii_case(k)
            || row.iana.eq_ignore_ascii_case(k)
            || row.keywords.contains(&k)
            || ALL.contains(&k)
    };
    (FIRST_TLS12..ROWS.len()).filter(|i| word.split('+').all(|k| falls_under(&ROWS[*i], k))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list12: Option<&str>, list13: Option<&str>) -> Vec<&'static str> {
        choose(list12, list13).unwrap().iter().map(|s| name(s.suite())).collect()
    }

    #[test]
    fn everything_by_default() {
        assert_eq!(names(None, None).len(), 9);
        assert_eq!(names(None, None)[0], "TLS_AES_256_GCM_SHA384");
    }

    #[test]
    fn lists_choose_and_order() {
        let only = |list| names(Some(list), Some("TLS_AES_128_GCM_SHA256"))[1..].to_vec();
        assert_eq!(only("ECDHE-RSA-AES128-GCM-SHA256"), ["ECDHE-RSA-AES128-GCM-SHA256"]);
        assert_eq!(only("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256:nonsense"), ["ECDHE-RSA-AES128-GCM-SHA256"]);
        assert_eq!(
            only("ECDHE+AESGCM:!aECDSA:+AES256"),
            ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"]
        );
        assert_eq!(only("DEFAULT@SECLEVEL=1:!AESGCM,-aECDSA"), ["ECDHE-RSA-CHACHA20-POLY1305"]);
        assert_eq!(only("DEFAULT:!aNULL:!nonsense").len(), 6);
        assert_eq!(only("ALL:!CHACHA20").len(), 4);
    }

    #[test]
    fn unknown_suites_are_errors() {
        for (l12, l13, text) in [
            (Some("RC4-SHA"), None, "failed setting cipher list: RC4-SHA"),
            (Some("ALL:!ALL"), None, "failed setting cipher list: ALL:!ALL"),
            (
                None,
                Some("TLS_AES_128_CCM_SHA256"),
                "failed setting TLS 1.3 cipher suite: TLS_AES_128_CCM_SHA256",
            ),
        ] {
            let e = choose(l12, l13).unwrap_err();
            assert_eq!((e.kind, e.message.as_str()), (NetErrorKind::SslCipher, text));
        }
        assert_eq!(groups(Some("bogus")).unwrap_err().message, "failed setting curves list: 'bogus'");
        assert_eq!(groups(Some("X448")).unwrap_err().kind, NetErrorKind::SslCipher);
        assert_eq!(
            schemes(Some("bogus")).unwrap_err().message,
            "failed setting signature algorithms: 'bogus'"
        );
    }

    #[test]
    fn groups_keep_their_order() {
        let found = groups(Some("P-384:X25519:X448:P-384")).unwrap();
        assert_eq!(found.iter().map(|g| group_name(g.name())).collect::<Vec<_>>(), ["secp384r1", "X25519"]);
        let names = |list| -> Vec<_> { groups(list).unwrap().iter().map(|g| group_name(g.name())).collect() };
        assert_eq!(names(None), ["X25519MLKEM768", "X25519", "prime256v1", "secp384r1", "secp521r1"]);
        assert_eq!(names(Some("P-384:DEFAULT"))[..2], ["secp384r1", "X25519MLKEM768"]);
        assert_eq!(
            names(Some("?*X25519MLKEM768/?SecP256r1MLKEM768:?new:P-256")),
            ["X25519MLKEM768", "prime256v1"]
        );
    }
}
