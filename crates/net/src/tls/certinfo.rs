//! The lines of CURLINFO_CERTINFO, `name:value`, as curl with OpenSSL prints a certificate.
//!
//! Extensions that OpenSSL cannot print, and some rare ones, appear as their bytes.

use super::oids;
use super::x509::{self, Certificate, Extension};
use rustls::pki_types::CertificateDer;
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::base64;
use wire::der::{self, Reader};

/// curl's own limit for a described chain.
const MAX_CERTS: usize = 100;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns the lines of each certificate of a chain.
pub fn of_chain(certs: &[CertificateDer<'_>]) -> Vec<Vec<String>> {
    certs
        .iter()
        .take(MAX_CERTS)
        .map(|c| Certificate::parse(c).map(|c| lines(&c)).unwrap_or_default())
        .collect()
}

/// Formats a Name on one line, as X509_NAME_print_ex does with XN_FLAG_ONELINE.
pub fn name(name: &[u8]) -> String {
    let part = |(oid, value): (&[u8], der::Tlv<'_>)| {
        let text = x509::text(value);
        format!("{} = {}", oids::short_name(oid), quoted(&text))
    };
    x509::attributes(name).into_iter().map(part).collect::<Vec<_>>().join(", ")
}

/// The lines of verbose output about a certificate: subject, dates and issuer, without indentation.
pub fn summary(der: &[u8]) -> Vec<String> {
    let Some(c) = Certificate::parse(der) else {
        return Vec::new();
    };
    let line = |name: &[u8]| {
        let part = |(oid, value)| format!("{}={}", oids::short_name(oid), x509::text(value));
        let text = x509::attributes(name).into_iter().map(part).collect::<Vec<_>>().join("; ");
        text.replace(char::is_control, "?")
    };
    vec![
        format!("subject: {}", line(c.subject)),
        format!("start date: {}", date(c.not_before)),
        format!("expire date: {}", date(c.not_after)),
        format!("issuer: {}", line(c.issuer)),
    ]
}

/// `Feb 29 00:00:00 2020 GMT`
pub fn date(seconds: i64) -> String {
    let (days, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_from_days(days);
    let month = MONTHS[month as usize - 1];
    format!("{month} {day:2} {:02}:{:02}:{:02} {year} GMT", time / 3600, time / 60 % 60, time % 60)
}

/// The properties of a certificate that reports show, in OpenSSL's words.
pub(super) struct Described {
    pub serial: String,
    pub key: String,
    pub signed_with: String,
    pub names: Vec<String>,
    pub key_usage: Option<String>,
    pub extended_key_usage: Option<String>,
    /// The subtrees of nameConstraints.
    pub permitted: Vec<String>,
    pub excluded: Vec<String>,
}

impl Described {
    pub fn of(c: &Certificate<'_>) -> Described {
        let names = c.extension(x509::SUBJECT_ALT_NAME).and_then(|value| Reader::new(value).sequence());
        let constraints = c.extension(x509::NAME_CONSTRAINTS).and_then(|v| Reader::new(v).sequence());
        let subtrees = |list: Option<&[u8]>| list.map(subtrees).unwrap_or_default();
        let (permitted, excluded) = match constraints {
            Some(mut r) => (subtrees(r.optional(der::context(0))), subtrees(r.optional(der::context(1)))),
            None => (Vec::new(), Vec::new()),
        };
        Described {
            serial: serial(c.serial),
            key: oids::long_name(c.key_oid()),
            signed_with: oids::long_name(c.signature_oid()),
            names: names.map(name_list).unwrap_or_default().iter().map(|name| printable(name)).collect(),
            key_usage: c.extension(x509::KEY_USAGE).and_then(key_usage),
            extended_key_usage: c.extension(x509::EXT_KEY_USAGE).and_then(ext_key_usage),
            permitted,
            excluded,
        }
    }
}

/// Formats the base names of subtrees. A subtree of addresses has its mask behind the address.
fn subtrees(list: &[u8]) -> Vec<String> {
    let mut list = Reader::new(list);
    let mut out = Vec::new();
    while let Some(base) = list.sequence().and_then(|mut tree| tree.value()) {
        out.push(match base.tag {
            0x87 if base.body.len() == 8 || base.body.len() == 32 => {
                let (network, mask) = base.body.split_at(base.body.len() / 2);
                format!("{}/{}", address(network), address(mask).trim_start_matches("IP Address:"))
            }
            _ => printable(&general_names(Reader::new(base.whole))),
        });
    }
    out
}

/// Replaces control characters, which would change the lines of a report.
fn printable(text: &str) -> String {
    text.replace(char::is_control, "?")
}

fn lines(c: &Certificate<'_>) -> Vec<String> {
    let mut out = vec![
        format!("Subject:{}", name(c.subject)),
        format!("Issuer:{}", name(c.issuer)),
        format!("Version:{:x}", c.version),
        format!("Serial Number:{}", serial(c.serial)),
        format!("Signature Algorithm:{}", oids::long_name(c.signature_oid())),
        format!("Public Key Algorithm:{}", oids::long_name(c.key_oid())),
    ];
    out.extend(c.extensions.iter().map(|e| format!("{}:{}", oids::long_name(e.oid), extension(e))));
    out.push(format!("Start date:{}", date(c.not_before)));
    out.push(format!("Expire date:{}", date(c.not_after)));
    out.extend(rsa_key(c));
    let signature: String = c.signature.iter().map(|b| format!("{b:02x}:")).collect();
    out.push(format!("Signature:{signature}"));
    out.push(format!("Cert:{}", pem(c.der)));
    out
}

/// Formats the bytes of the number, with a sign if it is negative.
fn serial(bytes: &[u8]) -> String {
    let negative = bytes.first().is_some_and(|b| b & 0x80 != 0);
    let mut magnitude = bytes.to_vec();
    if negative {
        let mut carry = true;
        for b in magnitude.iter_mut().rev() {
            (*b, carry) = (!*b).overflowing_add(u8::from(carry));
        }
    }
    if magnitude.len() > 1 && magnitude[0] == 0 {
        magnitude.remove(0);
    }
    let digits: String = magnitude.iter().map(|b| format!("{b:02x}")).collect();
    if negative { format!("-{digits}") } else { digits }
}

fn rsa_key(c: &Certificate<'_>) -> Vec<String> {
    let read = || {
        let mut r = Reader::new(c.key).sequence()?;
        Some((r.expect(der::INTEGER)?, r.expect(der::INTEGER)?))
    };
    if c.key_oid() != oids::RSA {
        return Vec::new();
    }
    let Some((n, e)) = read() else {
        return Vec::new();
    };
    let n = &n[n.iter().take_while(|b| **b == 0).count()..];
    let bits = n.len() * 8 - n.first().map_or(0, |b| b.leading_zeros() as usize);
    vec![format!("RSA Public Key:{bits}"), format!("rsa(n):{}", number(n)), format!("rsa(e):{}", number(e))]
}

/// Formats a number as BN_print does: upper case, without leading zeros.
fn number(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().skip_while(|b| **b == 0).map(|b| format!("{b:02X}")).collect();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() { "0".into() } else { digits.to_string() }
}

fn pem(der: &[u8]) -> String {
    let mut out = String::from("-----BEGIN CERTIFICATE-----\n");
    let text = base64::encode(der);
    for line in text.as_bytes().chunks(64) {
        out.extend(line.iter().map(|b| char::from(*b)));
        out.push('\n');
    }
    out + "-----END CERTIFICATE-----\n"
}

fn extension(e: &Extension<'_>) -> String {
    let text = match e.oid {
        x509::SUBJECT_KEY_ID => Reader::new(e.value).expect(der::OCTET_STRING).map(colons),
        x509::AUTHORITY_KEY_ID => authority_key_id(e.value),
        x509::BASIC_CONSTRAINTS => basic_constraints(e.value),
        x509::KEY_USAGE => key_usage(e.value),
        x509::EXT_KEY_USAGE => ext_key_usage(e.value),
        x509::SUBJECT_ALT_NAME | oids::ISSUER_ALT_NAME => Reader::new(e.value).sequence().map(general_names),
        oids::TLS_FEATURE => tls_features(e.value),
        oids::NETSCAPE_COMMENT => Reader::new(e.value).value().map(x509::text),
        oids::AUTHORITY_INFO_ACCESS => information_access(e.value),
        oids::CRL_DISTRIBUTION_POINTS => distribution_points(e.value),
        oids::CERTIFICATE_POLICIES => policies(e.value),
        _ => None,
    };
    text.unwrap_or_else(|| {
        e.value.iter().map(|b| if b.is_ascii_graphic() { char::from(*b) } else { '.' }).collect()
    })
}

fn colons(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02X}")).collect::<Vec<_>>().join(":")
}

/// Formats the key's identifier, or it with the issuer's name and serial number, one per line.
fn authority_key_id(value: &[u8]) -> Option<String> {
    let mut parts = Reader::new(value).sequence()?;
    let key = parts.optional(der::context_primitive(0)).map(colons);
    let issuer = parts.optional(der::context(1)).map(|names| general_names(Reader::new(names)));
    let number = parts.optional(der::context_primitive(2)).map(colons);
    if issuer.is_none() && number.is_none() {
        return key;
    }
    let key = key.map(|key| format!("keyid:{key}"));
    let number = number.map(|number| format!("serial:{number}"));
    Some([key, issuer, number].into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

/// Formats the TLS extensions that the server must support (RFC 7633).
fn tls_features(value: &[u8]) -> Option<String> {
    let mut list = Reader::new(value).sequence()?;
    let mut names = Vec::new();
    while let Some(number) = list.small() {
        names.push(match number {
            5 => "status_request".to_string(),
            17 => "status_request_v2".to_string(),
            other => other.to_string(),
        });
    }
    Some(names.join(", "))
}

fn basic_constraints(value: &[u8]) -> Option<String> {
    let mut r = Reader::new(value).sequence()?;
    let ca = r.optional(der::BOOLEAN).is_some_and(|b| b != [0]);
    let ca = if ca { "CA:TRUE" } else { "CA:FALSE" };
    Some(match r.small() {
        Some(n) => format!("{ca}, pathlen:{n}"),
        None => ca.into(),
    })
}

fn key_usage(value: &[u8]) -> Option<String> {
    const NAMES: [&str; 9] = [
        "Digital Signature",
        "Non Repudiation",
        "Key Encipherment",
        "Data Encipherment",
        "Key Agreement",
        "Certificate Sign",
        "CRL Sign",
        "Encipher Only",
        "Decipher Only",
    ];
    let bits = Reader::new(value).expect(der::BIT_STRING)?.get(1..)?;
    Some(named_bits(bits, &NAMES))
}

fn ext_key_usage(value: &[u8]) -> Option<String> {
    let mut list = Reader::new(value).sequence()?;
    let mut out = Vec::new();
    while let Some(oid) = list.optional(der::OID) {
        out.push(oids::long_name(oid));
    }
    Some(out.join(", "))
}

/// Formats `OCSP - URI:http://…`, one per line.
fn information_access(value: &[u8]) -> Option<String> {
    let mut list = Reader::new(value).sequence()?;
    let mut out = Vec::new();
    while let Some(mut access) = list.sequence() {
        let method = oids::long_name(access.expect(der::OID)?);
        let place = access.value()?;
        out.push(format!("{method} - {}", general_names(Reader::new(place.whole))));
    }
    Some(out.join("\n"))
}

/// Formats the locations of revocation lists, as OpenSSL 3.0 does. It has no line break before "Reasons:".
fn distribution_points(value: &[u8]) -> Option<String> {
    let mut list = Reader::new(value).sequence()?;
    let mut out = Vec::new();
    while let Some(mut point) = list.sequence() {
        let mut text = String::new();
        if let Some(place) = point.optional(der::context(0)) {
            let mut place = Reader::new(place);
            if let Some(names) = place.optional(der::context(0)) {
                text.push_str(&format!("Full Name:\n{}", indented_names(names)));
            } else if let Some(part) = place.optional(der::context(1)) {
                text.push_str(&format!("Relative Name:\n  {}\n", relative_name(part)?));
            }
        }
        if let Some(bits) = point.optional(der::context_primitive(1)) {
            text.push_str(&format!("Reasons:\n  {}\n", reasons(bits.get(1..)?)));
        }
        if let Some(names) = point.optional(der::context(2)) {
            text.push_str(&format!("CRL Issuer:\n{}", indented_names(names)));
        }
        out.push(text);
    }
    Some(out.join("\n"))
}

/// Formats names, one per line. Here OpenSSL separates the parts of a directory name with commas.
fn indented_names(names: &[u8]) -> String {
    let mut names = Reader::new(names);
    let mut lines = Vec::new();
    while let Some(v) = names.value() {
        lines.push(match v.tag {
            0xa4 => format!(
                "  DirName:{}",
                Reader::new(v.body).expect(der::SEQUENCE).map(name).unwrap_or_default()
            ),
            _ => format!("  {}", general_names(Reader::new(v.whole))),
        });
    }
    lines.join("\n")
}

/// Formats the part of a name that a distribution point adds to its issuer's name.
fn relative_name(part: &[u8]) -> Option<String> {
    let mut attributes = Reader::new(part);
    let mut out = Vec::new();
    while let Some(mut attribute) = attributes.sequence() {
        let short = oids::short_name(attribute.expect(der::OID)?);
        out.push(format!("{short} = {}", quoted(&x509::text(attribute.value()?))));
    }
    Some(out.join(" + "))
}

fn reasons(bits: &[u8]) -> String {
    const NAMES: [&str; 9] = [
        "Unused",
        "Key Compromise",
        "CA Compromise",
        "Affiliation Changed",
        "Superseded",
        "Cessation Of Operation",
        "Certificate Hold",
        "Privilege Withdrawn",
        "AA Compromise",
    ];
    named_bits(bits, &NAMES)
}

/// Joins the names of the bits that are set in a BIT STRING.
fn named_bits(bits: &[u8], names: &[&str]) -> String {
    let set = |i: &usize| bits.get(i / 8).is_some_and(|b| b & (0x80 >> (i % 8)) != 0);
    (0..names.len()).filter(set).map(|i| names[i]).collect::<Vec<_>>().join(", ")
}

/// Formats each policy with the addresses of its statements.
fn policies(value: &[u8]) -> Option<String> {
    let mut list = Reader::new(value).sequence()?;
    let mut out = Vec::new();
    while let Some(mut policy) = list.sequence() {
        out.push(format!("Policy: {}", oids::long_name(policy.expect(der::OID)?)));
        let Some(mut qualifiers) = policy.sequence() else {
            continue;
        };
        while let Some(mut qualifier) = qualifiers.sequence() {
            let kind = qualifier.expect(der::OID)?;
            let text = qualifier.value()?;
            if kind != oids::CPS {
                return None; // user notices: shown as bytes
            }
            out.push(format!("  CPS: {}", String::from_utf8_lossy(text.body)));
        }
    }
    Some(out.join("\n"))
}

fn general_names(list: Reader<'_>) -> String {
    name_list(list).join(", ")
}

fn name_list(mut list: Reader<'_>) -> Vec<String> {
    let mut out = Vec::new();
    while let Some(v) = list.value() {
        let text = String::from_utf8_lossy(v.body);
        out.push(match v.tag {
            0x81 => format!("email:{text}"),
            0x82 => format!("DNS:{text}"),
            0x86 => format!("URI:{text}"),
            0x87 => address(v.body),
            0x88 => format!("Registered ID:{}", der::dotted(v.body)),
            0xa4 => {
                let slashed = Reader::new(v.body).expect(der::SEQUENCE).map(slashed_name);
                format!("DirName:{}", slashed.unwrap_or_default())
            }
            0xa0 => other_name(v.body).unwrap_or_else(|| "othername:<unsupported>".into()),
            _ => "othername:<unsupported>".into(),
        });
    }
    out
}

/// Formats a Name as X509_NAME_oneline does: `/C=SE/O=Org`.
fn slashed_name(name: &[u8]) -> String {
    let part = |(oid, value)| format!("/{}={}", oids::short_name(oid), x509::text(value));
    x509::attributes(name).into_iter().map(part).collect()
}

/// Formats an otherName whose value is a text.
fn other_name(body: &[u8]) -> Option<String> {
    let mut parts = Reader::new(body);
    let oid = parts.expect(der::OID)?;
    let value = Reader::new(parts.optional(der::context(0))?).value()?;
    let is_text = matches!(value.tag, 0x0c | 0x16); // UTF8String, IA5String
    is_text.then(|| format!("othername: {}::{}", oids::long_name(oid), x509::text(value)))
}

fn address(bytes: &[u8]) -> String {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return format!("IP Address:{}", Ipv4Addr::from(four));
    }
    match <[u8; 16]>::try_from(bytes) {
        Ok(all) => {
            let groups = Ipv6Addr::from(all).segments().map(|s| format!("{s:X}"));
            format!("IP Address:{}", groups.join(":"))
        }
        Err(_) => "IP Address:<invalid>".into(),
    }
}

/// Applies RFC 2253's escapes and quotes, as ASN1_STRFLGS_ESC_QUOTE, _ESC_CTRL and _ESC_MSB do.
fn quoted(text: &str) -> String {
    let special = |c: char| ",+<>;".contains(c);
    let quote = text.contains(special) || text.starts_with([' ', '#']) || text.ends_with(' ');
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_ascii_graphic() || c == ' ' => out.push(c),
            c => {
                let mut utf8 = [0; 4];
                c.encode_utf8(&mut utf8).bytes().for_each(|b| out.push_str(&format!("\\{b:02X}")));
            }
        }
    }
    if quote { format!("\"{out}\"") } else { out }
}

/// Returns the calendar date of a day counted from 1970-01-01.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    // An estimate that is right or one too high; the month is found by trial.
    let mut year = 1970 + days.div_euclid(365);
    while x509::days_from_civil(year, 1, 1) > days {
        year -= 1;
    }
    let month = (1..=12).rev().find(|m| x509::days_from_civil(year, *m, 1) <= days).unwrap_or(1);
    (year, month, days - x509::days_from_civil(year, month, 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn summaries() {
        let mut p = rcgen::CertificateParams::default();
        p.distinguished_name = rcgen::DistinguishedName::new();
        p.distinguished_name.push(rcgen::DnType::CountryName, "SE");
        p.distinguished_name.push(rcgen::DnType::CommonName, "a\nb");
        p.not_before = rcgen::date_time_ymd(2020, 1, 2);
        let der = p.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().der().to_vec();
        let lines = summary(&der);
        assert_eq!(lines[..2], ["subject: C=SE; CN=a?b", "start date: Jan  2 00:00:00 2020 GMT"]);
        assert!(summary(b"x").is_empty());
    }

    #[test]
    fn dates() {
        assert_eq!(date(0), "Jan  1 00:00:00 1970 GMT");
        assert_eq!(date(1_582_934_400 + 3661), "Feb 29 01:01:01 2020 GMT");
        assert_eq!(date(253_402_300_799), "Dec 31 23:59:59 9999 GMT");
        assert_eq!(date(-1), "Dec 31 23:59:59 1969 GMT");
    }

    /// Runs OpenSSL's own printing of the certificate.
    fn openssl(file: &std::path::Path, args: &str) -> String {
        let out =
            Command::new("openssl").args(["x509", "-noout", "-in"]).arg(file).args(args.split(' ')).output();
        let out = out.unwrap();
        assert!(out.status.success(), "{args}");
        String::from_utf8(out.stdout).unwrap()
    }

    #[test]
    fn lines_are_what_openssl_prints() {
        let dir = testkit::temp::TempDir::new("certinfo").unwrap();
        let made = Command::new("openssl")
            .args([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "k.pem", "-out", "c.pem",
                "-days", "3",
            ])
            .args(["-addext", "authorityInfoAccess=OCSP;URI:http://ocsp/,caIssuers;URI:http://ca/"])
            .args(["-addext", "crlDistributionPoints=URI:http://one/,URI:http://two/"])
            .args(["-addext", "tlsfeature=status_request", "-addext", "issuerAltName=email:i@s.example"])
            .args(["-addext", "certificatePolicies=2.23.140.1.2.1,1.3.6.1.4.1.44947.1.1.1"])
            .args(["-subj", "/C=SE/O=Ex, ample/OU=A+B/CN=local host/emailAddress=a@b.example", "-addext"])
            .args([
                "subjectAltName=DNS:a.example,IP:127.0.0.1,IP:2001:db8::1,email:x@y.example,URI:http://a/",
                "-addext",
            ])
            .args([
                "extendedKeyUsage=serverAuth,clientAuth",
                "-addext",
                "keyUsage=digitalSignature,keyCertSign",
            ])
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let file = dir.path().join("c.pem");
        let text = std::fs::read(&file).unwrap();
        let der = super::super::pem::sections(&text).remove(0).body.to_vec();
        let all = of_chain(&[CertificateDer::from(der)]).remove(0);
        let value = |name: &str| {
            all.iter()
                .find_map(|l| l.strip_prefix(name)?.strip_prefix(':'))
                .unwrap_or_else(|| panic!("{name}"))
        };
        let after = |args: &str| openssl(&file, args).trim().split_once('=').unwrap().1.to_string();
        assert_eq!(value("Subject"), after("-subject -nameopt oneline"));
        assert_eq!(value("Issuer"), value("Subject"));
        assert_eq!(value("Version"), "2");
        assert_eq!(value("Serial Number"), after("-serial").to_lowercase());
        assert_eq!(value("Start date"), after("-startdate"));
        assert_eq!(value("Expire date"), after("-enddate"));
        assert_eq!(value("Signature Algorithm"), "sha256WithRSAEncryption");
        assert_eq!(value("Public Key Algorithm"), "rsaEncryption");
        assert_eq!(value("RSA Public Key"), "2048");
        assert_eq!(value("rsa(n)"), after("-modulus"));
        assert_eq!(value("rsa(e)"), "10001");
        assert_eq!(value("Cert").as_bytes(), text);
        for (name, short) in [
            ("X509v3 Subject Alternative Name", "subjectAltName"),
            ("X509v3 Extended Key Usage", "extendedKeyUsage"),
            ("X509v3 Key Usage", "keyUsage"),
            ("X509v3 Basic Constraints", "basicConstraints"),
            ("X509v3 Subject Key Identifier", "subjectKeyIdentifier"),
            ("X509v3 Authority Key Identifier", "authorityKeyIdentifier"),
            ("Authority Information Access", "authorityInfoAccess"),
            ("X509v3 CRL Distribution Points", "crlDistributionPoints"),
            ("X509v3 Certificate Policies", "certificatePolicies"),
            ("X509v3 Issuer Alternative Name", "issuerAltName"),
            ("TLS Feature", "tlsfeature"),
        ] {
            // The command indents by four more than the library does for curl.
            let printed = openssl(&file, &format!("-ext {short}"));
            let printed: Vec<&str> =
                printed.lines().skip(1).map(|l| l.strip_prefix("    ").unwrap_or(l)).collect();
            assert_eq!(value(name), printed.join("\n").trim_end(), "{name}: no line break ends a value");
        }
    }

    /// A certificate with rare extensions, as printed by curl 8.22 with OpenSSL 3.0.19.
    #[test]
    fn rare_extensions() {
        let dir = testkit::temp::TempDir::new("certinfo-rare").unwrap();
        let config = "[req]\ndistinguished_name=dn\nprompt=no\n[dn]\nC=SE\nO=Test Org\nCN=localhost\n[ext]\n\
            subjectAltName=dirName:dn,otherName:1.2.3.4;UTF8:some\nsubjectKeyIdentifier=hash\n\
            authorityKeyIdentifier=keyid,issuer:always\ncrlDistributionPoints=one,two,URI:http://three\n\
            nsComment=a comment\n[one]\nfullname=URI:http://one,URI:http://two\nCRLissuer=dirName:dn\n\
            reasons=keyCompromise,CACompromise\n[two]\nrelativename=part\n[part]\nOU=part\n";
        std::fs::write(dir.path().join("config"), config).unwrap();
        let made = Command::new("openssl")
            .args(
                "req -x509 -newkey ed25519 -nodes -keyout k -out c -config config -extensions ext".split(' '),
            )
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let text = std::fs::read(dir.path().join("c")).unwrap();
        let der = super::super::pem::sections(&text).remove(0).body.to_vec();
        let all = of_chain(&[CertificateDer::from(der)]).remove(0);
        for line in [
            "X509v3 Subject Alternative Name:DirName:/C=SE/O=Test Org/CN=localhost, othername: 1.2.3.4::some",
            "X509v3 CRL Distribution Points:Full Name:\n  URI:http://one\n  URI:http://twoReasons:\n  \
             Key Compromise, CA Compromise\nCRL Issuer:\n  DirName:C = SE, O = Test Org, CN = localhost\n\
             Relative Name:\n  OU = part\n\nFull Name:\n  URI:http://three",
            "Netscape Comment:a comment",
        ] {
            assert!(all.iter().any(|found| found == line), "{line:?} in {all:#?}");
        }
        let key = all.iter().find(|line| line.starts_with("X509v3 Authority Key Identifier:")).unwrap();
        assert!(key.contains("DirName:/C=SE/O=Test Org/CN=localhost\nserial:"), "{key}");
    }
}
