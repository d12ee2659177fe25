//! Reads keys that OpenSSL has written.

use super::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::temp::TempDir;

fn openssl(dir: &Path, args: &str) {
    let out = Command::new("openssl").args(args.split(' ')).current_dir(dir).output().unwrap();
    assert!(out.status.success(), "openssl {args}: {}", String::from_utf8_lossy(&out.stderr));
}

fn try_load(
    cert: PathBuf,
    cert_type: &str,
    key: Option<PathBuf>,
    key_type: &str,
    password: Option<&str>,
) -> Result<(), NetError> {
    let wanted = ClientCert {
        cert: CertSource::File(cert.into()),
        cert_type: cert_type.into(),
        key: key.map(|key| CertSource::File(key.into())),
        key_type: key_type.into(),
        password: password.map(Into::into),
    };
    load(&wanted, &rustls::crypto::ring::default_provider()).map(drop)
}

fn text(result: Result<(), NetError>) -> String {
    let e = result.expect_err("was loaded");
    let of_key = e.message.starts_with("unable to set private key file");
    let kind = if of_key { NetErrorKind::BadFunctionArgument } else { NetErrorKind::SslCertproblem };
    assert_eq!(e.kind, kind, "{e}");
    e.message
}

/// Creates a directory with `rsa` and `ec` keys and their certificates.
fn files() -> TempDir {
    let dir = TempDir::new("keys").unwrap();
    openssl(dir.path(), "genrsa -traditional -out rsa.pem 2048");
    openssl(dir.path(), "ecparam -name prime256v1 -genkey -noout -out ec.pem");
    for kind in ["rsa", "ec"] {
        openssl(
            dir.path(),
            &format!("req -x509 -new -key {kind}.pem -subj /CN={kind} -days 2 -out {kind}.crt"),
        );
    }
    dir
}

#[test]
fn every_form_of_key_opens_with_its_password_only() {
    let dir = files();
    let at = |name: &str| dir.path().join(name);
    for kind in ["rsa", "ec"] {
        let mut made = Vec::new();
        for cipher in ["des", "des3", "aes128", "aes192", "aes256"] {
            let legacy = if cipher == "des" { " -provider legacy -provider default" } else { "" };
            let form = if kind == "rsa" { " -traditional" } else { "" };
            let args = format!(
                "{kind} -in {kind}.pem -{cipher} -passout pass:secret -out {cipher}.old{form}{legacy}"
            );
            openssl(dir.path(), &args);
            assert!(std::fs::read_to_string(at(&format!("{cipher}.old"))).unwrap().contains("DEK-Info"));
            made.push(format!("{cipher}.old"));
        }
        for (i, scheme) in [
            "-v2 aes-256-cbc",
            "-v2 aes-128-cbc -v2prf hmacWithSHA1",
            "-v2 des3 -v2prf hmacWithSHA512",
            "-v1 PBE-SHA1-3DES",
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("new{i}");
            openssl(
                dir.path(),
                &format!("pkcs8 -topk8 -in {kind}.pem {scheme} -passout pass:secret -out {name}"),
            );
            made.push(name);
        }
        for name in made {
            let cert = at(&format!("{kind}.crt"));
            try_load(cert.clone(), "PEM", Some(at(&name)), "PEM", Some("secret"))
                .unwrap_or_else(|e| panic!("{kind} {name}: {e}"));
            for wrong in [Some("wrong"), None] {
                let e = text(try_load(cert.clone(), "PEM", Some(at(&name)), "PEM", wrong));
                assert_eq!(e, format!("unable to set private key file: '{}' type PEM", at(&name).display()));
            }
        }
        openssl(dir.path(), &format!("pkcs8 -topk8 -nocrypt -in {kind}.pem -out plain8"));
        openssl(dir.path(), &format!("pkey -in {kind}.pem -outform DER -out key.der"));
        openssl(dir.path(), &format!("{kind} -in {kind}.pem -outform DER -out trad.der"));
        openssl(
            dir.path(),
            &format!("pkcs8 -topk8 -in {kind}.pem -passout pass:secret -outform DER -out enc.der"),
        );
        openssl(dir.path(), &format!("x509 -in {kind}.crt -outform DER -out cert.der"));
        try_load(at(&format!("{kind}.crt")), "", Some(at("plain8")), "", None).unwrap();
        for key in ["key.der", "trad.der", "enc.der"] {
            try_load(at("cert.der"), "der", Some(at(key)), "DER", Some("secret")).unwrap();
        }
    }
}

#[test]
fn certificate_and_key_in_one_file() {
    let dir = files();
    let both = std::fs::read_to_string(dir.path().join("ec.pem")).unwrap()
        + &std::fs::read_to_string(dir.path().join("ec.crt")).unwrap();
    let path = dir.write("both.pem", both).unwrap();
    try_load(path, "PEM", None, "", None).unwrap();
}

#[test]
fn pkcs12_files() {
    let dir = files();
    let at = |name: &str| dir.path().join(name);
    for kind in ["rsa", "ec"] {
        let schemes = [
            "",
            " -keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-3DES -macalg sha1",
            " -keypbe NONE -certpbe NONE",
            " -legacy",
            " -nomac",
        ];
        for scheme in schemes {
            let args = format!(
                "pkcs12 -export -in {kind}.crt -inkey {kind}.pem -passout pass:secret -out a.p12{scheme}"
            );
            openssl(dir.path(), &args);
            try_load(at("a.p12"), "P12", None, "", Some("secret"))
                .unwrap_or_else(|e| panic!("{scheme}: {e}"));
            if scheme != " -nomac" {
                let e = text(try_load(at("a.p12"), "P12", None, "", Some("wrong")));
                assert!(e.starts_with("could not parse PKCS12 file, check password"), "{e}");
            }
        }
    }
    let bytes = std::fs::read(at("a.p12")).unwrap();
    for n in 0..bytes.len() {
        let _ = pkcs12::open(&bytes[..n], b"secret");
    }
    openssl(dir.path(), "pkcs12 -export -in ec.crt -inkey ec.pem -passout pass: -out empty.p12");
    try_load(at("empty.p12"), "P12", None, "", None).unwrap();
    assert!(text(try_load(at("ec.crt"), "P12", None, "", None)).starts_with("error reading PKCS12 file"));
    assert!(text(try_load(at("none"), "P12", None, "", None)).starts_with("could not open PKCS12 file"));
}

#[test]
fn mismatched_keys_and_certificates_are_reported() {
    let dir = files();
    let at = |name: &str| dir.path().join(name);
    let e = text(try_load(at("none.crt"), "PEM", None, "", None));
    let expected = format!(
        "could not load PEM client certificate from {}, OpenSSL error error:80000002:system library::No such file or \
         directory, {CHECK}",
        at("none.crt").display()
    );
    assert_eq!(e, expected);
    assert!(text(try_load(at("ec.pem"), "PEM", None, "", None)).contains("no start line"));
    let e = text(try_load(at("ec.crt"), "PEM", Some(at("rsa.pem")), "PEM", None));
    assert_eq!(e, "Private key does not match the certificate public key");
    assert!(text(try_load(at("ec.crt"), "DER", None, "", None)).contains("ASN1 client certificate"));
    assert_eq!(
        text(try_load(at("ec.crt"), "ENG", None, "", None)),
        "crypto engine not set, cannot load certificate"
    );
    let e = try_load(at("ec.crt"), "XYZ", None, "", None).unwrap_err();
    assert_eq!(e.kind, NetErrorKind::BadFunctionArgument);
}
