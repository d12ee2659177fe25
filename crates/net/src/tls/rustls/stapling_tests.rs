//! Stapled OCSP answers from OpenSSL's server, good and bad.

use super::peers::{OpensslServer, openssl};
use super::tests::*;
use super::*;
use crate::NetErrorKind;
use crate::tls::pem::sections;
use crate::tls::profile::Profile;
use crate::tls::signatures::Signatures;
use crate::tls::{CaSource, TlsConfig, ocsp, p521};
use runtime::seconds_since_1970;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use testkit::certs::Leaf;
use testkit::temp::TempDir;

const GOOD: &str = "V\t400101000000Z\t\t05\tunknown\t/CN=localhost\n";
const REVOKED: &str = "R\t400101000000Z\t250101000000Z,keyCompromise\t05\tunknown\t/CN=localhost\n";
/// Knows another certificate alone.
const NEIGHBOUR: &str = "V\t400101000000Z\t\t06\tunknown\t/CN=localhost\n";

/// Makes an authority, another one of the same name, a certificate by the first, and requests about that
/// (`req`) and about one that does not exist (`neighbour`).
fn certified(dir: &TempDir) -> Leaf {
    certified_with(dir, "")
}

/// As [`certified`], with another extension of the certificate.
fn certified_with(dir: &TempDir, extension: &str) -> Leaf {
    for name in ["ca", "other"] {
        let key = format!("-keyout {name}.key -out {name}.pem");
        openssl(dir, &format!("req -x509 -newkey rsa:2048 -nodes {key} -subj /CN=root -days 2"));
    }
    openssl(dir, "req -new -newkey rsa:2048 -nodes -keyout leaf.key -out leaf.csr -subj /CN=localhost");
    dir.write("names", format!("subjectAltName = DNS:localhost\n{extension}\n")).unwrap();
    let by = "-CA ca.pem -CAkey ca.key -set_serial 5 -days 2 -extfile names";
    openssl(dir, &format!("x509 -req -in leaf.csr {by} -out leaf.pem"));
    openssl(dir, "ocsp -issuer ca.pem -cert leaf.pem -no_nonce -reqout req.der");
    openssl(dir, "ocsp -issuer ca.pem -serial 6 -no_nonce -reqout neighbour.der");
    let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    Leaf { cert_pem: text("leaf.pem"), key_pem: text("leaf.key") }
}

/// Returns the answer to a request from an authority that knows this, in `answer.der` as well.
fn answer_to(dir: &TempDir, request: &str, index: &str, signer: &str) -> Vec<u8> {
    dir.write("index.txt", index).unwrap();
    let asked = format!("ocsp -index index.txt -CA ca.pem -reqin {request}.der -ndays 1");
    openssl(dir, &format!("{asked} -respout answer.der -rsigner {signer}.pem -rkey {signer}.key"));
    std::fs::read(dir.path().join("answer.der")).unwrap()
}

/// Asserts how handshakes with this server end.
fn expect(dir: &TempDir, leaf: &Leaf, args: &[&str], expected: Option<&str>) {
    let (_server, port) = OpensslServer::start(dir, leaf, args);
    let ca = vec![CaSource::File(dir.path().join("ca.pem").into())];
    end_by(port, TlsConfig { ca, verify_status: true, ..TlsConfig::default() }, expected);
}

/// Asserts how handshakes with this configuration end, by either library.
fn end_by(port: u16, config: TlsConfig, expected: Option<&str>) {
    for config in by_either(config) {
        let got = run(move |reactor| {
            Box::pin(async move {
                let store = SessionStore::new();
                agree(socket(port, &reactor), &config, "localhost", port, &store)
                    .await
                    .map(|mut f| f.retire())
            })
        });
        assert!(got.as_ref().err().is_none_or(|e| e.kind == NetErrorKind::SslInvalidCertStatus));
        assert_eq!(got.err().map(|e| e.message).as_deref(), expected);
    }
}

/// CVE-2020-8286, CVE-2024-8096: an answer about another certificate or by another authority fails, and so
/// does any but "good".
#[test]
fn stapled_ocsp_answers_are_checked() {
    let dir = TempDir::new("ocsp").unwrap();
    let leaf = certified(&dir);
    let stapled = ["-rev", "-status_file", "answer.der"];
    for (index, request, signer, expected) in [
        (GOOD, "req", "ca", None),
        (REVOKED, "req", "ca", Some("SSL certificate revocation reason: keyCompromise (1)")),
        (NEIGHBOUR, "req", "ca", Some("SSL certificate status: unknown (2)")),
        (NEIGHBOUR, "neighbour", "ca", Some("Could not find certificate ID in OCSP response")),
        (GOOD, "req", "other", Some("OCSP response verification failed")),
    ] {
        answer_to(&dir, request, index, signer);
        expect(&dir, &leaf, &stapled, expected);
    }
    // OCSPResponse with the status 6 and nothing else.
    std::fs::write(dir.path().join("answer.der"), [0x30, 3, 0x0a, 1, 6]).unwrap();
    expect(&dir, &leaf, &stapled, Some("Invalid OCSP response status: unauthorized (6)"));
    expect(&dir, &leaf, &["-rev"], Some("No OCSP response received"));
}

/// A certificate that says revoked refuses the server, although nobody has asked for its status. Any other
/// response is ignored then, and so is revocation without verification.
#[test]
fn a_revoked_certificate_is_refused_by_default() {
    let dir = TempDir::new("ocsp").unwrap();
    let leaf = certified(&dir);
    let revoked = "SSL certificate revocation reason: keyCompromise (1)";
    for (index, request, signer, expected) in [
        (GOOD, "req", "ca", None),
        (REVOKED, "req", "ca", Some(revoked)),
        (REVOKED, "req", "other", None),
        (NEIGHBOUR, "req", "ca", None),
        (NEIGHBOUR, "neighbour", "ca", None),
    ] {
        answer_to(&dir, request, index, signer);
        let (_server, port) = OpensslServer::start(&dir, &leaf, &["-rev", "-status_file", "answer.der"]);
        let ca = || vec![CaSource::File(dir.path().join("ca.pem").into())];
        end_by(port, TlsConfig { ca: ca(), ..TlsConfig::default() }, expected);
        let careless = TlsConfig { ca: ca(), verify_peer: false, verify_host: false, ..TlsConfig::default() };
        end_by(port, careless, None);
    }
}

/// RFC 7633: a certificate may require a response. Without verification that is ignored, too.
#[test]
fn a_certificate_may_require_a_response() {
    let dir = TempDir::new("ocsp").unwrap();
    let leaf = certified_with(&dir, "tlsfeature = status_request");
    let ca = || vec![CaSource::File(dir.path().join("ca.pem").into())];
    let unless_good = ", and the certificate requires one that says good (RFC 7633)";
    for (index, signer, expected) in [
        (Some(GOOD), "ca", None),
        (Some(REVOKED), "ca", Some("SSL certificate revocation reason: keyCompromise (1)".to_owned())),
        (Some(GOOD), "other", Some(format!("OCSP response verification failed{unless_good}"))),
        (Some(NEIGHBOUR), "ca", Some(format!("SSL certificate status: unknown (2){unless_good}"))),
        (None, "ca", Some(format!("No OCSP response received{unless_good}"))),
    ] {
        let stapled = ["-rev", "-status_file", "answer.der"];
        index.map(|index| answer_to(&dir, "req", index, signer));
        let (_server, port) =
            OpensslServer::start(&dir, &leaf, &stapled[..if index.is_some() { 3 } else { 1 }]);
        end_by(port, TlsConfig { ca: ca(), ..TlsConfig::default() }, expected.as_deref());
        let careless = TlsConfig { ca: ca(), verify_peer: false, verify_host: false, ..TlsConfig::default() };
        end_by(port, careless, None);
    }
}

/// The authority may delegate responses to a certificate for that purpose (RFC 6960, section 4.2.2.2), and to
/// no other one. OpenSSL's own check has the same verdict.
#[test]
fn a_delegated_responder_needs_the_purpose() {
    let dir = TempDir::new("ocsp").unwrap();
    let leaf = certified(&dir);
    for (name, purpose, expected) in [
        ("responder", "extendedKeyUsage = OCSPSigning", None),
        ("impostor", "extendedKeyUsage = serverAuth", Some("OCSP response verification failed")),
    ] {
        openssl(
            &dir,
            &format!("req -new -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.csr -subj /CN={name}"),
        );
        dir.write("purpose", format!("{purpose}\n")).unwrap();
        let by = "-CA ca.pem -CAkey ca.key -set_serial 9 -days 2 -extfile purpose";
        openssl(&dir, &format!("x509 -req -in {name}.csr {by} -out {name}.pem"));
        answer_to(&dir, "req", GOOD, name);
        expect(&dir, &leaf, &["-rev", "-status_file", "answer.der"], expected);
        let mut judge = std::process::Command::new("openssl");
        let words = "ocsp -respin answer.der -issuer ca.pem -cert leaf.pem -CAfile ca.pem -no_nonce";
        let judged = judge.args(words.split(' ')).current_dir(dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&judged.stderr).into_owned();
        assert_eq!(said.contains("Response verify OK"), expected.is_none(), "{name}: {said}");
    }
}

/// CVE-2024-0853: a resumed session would bring no answer, so the second handshake is a full one, too.
#[test]
fn an_ocsp_answer_is_wanted_each_time() {
    let dir = TempDir::new("ocsp").unwrap();
    let leaf = certified(&dir);
    let stapled = answer_to(&dir, "req", GOOD, "ca");
    let chain = vec![CertificateDer::from_pem_slice(leaf.cert_pem.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(leaf.key_pem.as_bytes()).unwrap();
    let stapling = rustls::ServerConfig::builder().with_no_client_auth();
    let stapling = Arc::new(stapling.with_single_cert_with_ocsp(chain, key, stapled).unwrap());
    let ca = vec![CaSource::File(dir.path().join("ca.pem").into())];
    for verify_status in [false, true] {
        for config in by_either(TlsConfig { ca: ca.clone(), verify_status, ..TlsConfig::default() }) {
            let (port, server) = serve(stapling.clone(), 2, |s| answer(s, b"x"));
            let store = SessionStore::new();
            let resumed = || exchange(port, "localhost", &config, &store).unwrap().0.resumed;
            assert_eq!([resumed(), resumed()], [false, !verify_status]);
            server.join().unwrap();
        }
    }
}

#[test]
fn no_part_of_an_ocsp_answer_is_accepted() {
    let dir = TempDir::new("ocsp").unwrap();
    let leaf = certified(&dir);
    let answer = answer_to(&dir, "req", GOOD, "ca");
    let ca = std::fs::read(dir.path().join("ca.pem")).unwrap();
    let [leaf, ca] = [leaf.cert_pem.as_bytes(), &ca[..]].map(|pem| sections(pem).remove(0).body.to_vec());
    let (leaf, ca) = (Profile::parse(&leaf).unwrap(), [Profile::parse(&ca).unwrap()]);
    let check = |answer: &[u8]| {
        let signatures = Signatures::new(p521::algorithms().all);
        ocsp::status(answer, &leaf, &ca, &signatures, seconds_since_1970()).fault()
    };
    assert_eq!(check(&answer), Ok(()), "the whole is");
    for n in 0..answer.len() {
        assert!(check(&answer[..n]).is_err(), "{n} of {}", answer.len());
    }
    // It is valid for a day, give or take the difference between clocks.
    let at = |seconds: i64| {
        let signatures = Signatures::new(p521::algorithms().all);
        ocsp::status(&answer, &leaf, &ca, &signatures, seconds_since_1970() + seconds).fault()
    };
    let stale = Err("OCSP response has expired".to_owned());
    assert_eq!([at(86_400), at(86_400 + 400), at(-400)], [Ok(()), stale.clone(), stale]);
}
