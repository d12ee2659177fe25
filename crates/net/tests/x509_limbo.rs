//! The chains of x509-limbo (C2SP), judged as servers' chains: what OpenSSL refuses is refused, and what both
//! OpenSSL and limbo accept is accepted. Where limbo expects a refusal and OpenSSL accepts, `x509_limbo.txt`
//! lists our refusals.
//!
//! With the OpenSSL backend, OpenSSL's verdict counts: a server presents the chains, without having their
//! keys. It signs with its own key, so that a client that accepts the chain fails only at the signature.
//!
//! The cases are external data (WARMWIRE_SHARED, or `shared` beside the checkout).

#[path = "common/json.rs"]
mod json;

use crate::common::{block_on, runtime};
use json::Json;
use runtime::Socket;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, ServerConnection};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use testkit::certs::Leaf;
use testkit::temp::TempDir;
use warmwire_net::filter::SocketFilter;
use warmwire_net::tls::checks::Check;
use warmwire_net::tls::handshake::{self, ChainDetail, Server, Tls};
use warmwire_net::tls::openssl::OpenSslClient;
use warmwire_net::tls::trust_report::{Outcome, TrustReport};
use warmwire_net::tls::verdict::UNSPECIFIED;
use warmwire_net::tls::verify::{Presented, Verifier, verdict};
use warmwire_net::tls::x509::days_from_civil;
use warmwire_net::tls::{Backend, CaSource, TlsConfig, TlsVersion};
use warmwire_net::{NetErrorKind, SessionStore};

const ARGUED: &str = include_str!("x509_limbo.txt");

/// Seconds since the epoch of `2024-01-01T00:00:00+00:00`; fractions are cut.
fn seconds(text: &str) -> u64 {
    let n: Vec<i64> =
        text.split(['-', 'T', ':', '+', '.']).map(|n| n.parse().expect("numbers and marks")).collect();
    (days_from_civil(n[0], n[1], n[2]) * 86_400 + n[3] * 3600 + n[4] * 60 + n[5]).try_into().unwrap()
}

fn pem(text: &str) -> Option<CertificateDer<'static>> {
    CertificateDer::from_pem_slice(text.as_bytes()).ok()
}

fn config(case: &Json, dir: &TempDir) -> TlsConfig {
    let crls = case["crls"].texts().concat();
    let crl = if crls.is_empty() { None } else { Some(dir.write("crl.pem", crls).unwrap().into()) };
    TlsConfig {
        ca: vec![CaSource::Blob(case["trusted_certs"].texts().join("\n").into_bytes().into())],
        ca_cache: Some(Duration::ZERO),
        crl,
        ..TlsConfig::default()
    }
}

/// Returns the verifier of a case, and its time.
fn verifier(case: &Json, dir: &TempDir) -> Result<(Verifier, UnixTime), String> {
    let config = config(case, dir);
    let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms;
    let verifier = Verifier::new(&Arc::new(config), algorithms, None).map_err(|e| e.message)?;
    let now = match case["validation_time"].text() {
        Some(text) => UnixTime::since_unix_epoch(Duration::from_secs(seconds(text))),
        None => UnixTime::now(),
    };
    Ok((verifier, now))
}

/// Returns what the server of a case presents, its certificate first, and its name.
fn presented(case: &Json) -> Result<(Vec<CertificateDer<'static>>, &str), String> {
    let leaf = pem(case["peer_certificate"].text().unwrap()).ok_or("no certificate")?;
    let others = case["untrusted_intermediates"].texts();
    let certs = std::iter::once(leaf).chain(others.iter().filter_map(|t| pem(t))).collect();
    Ok((certs, case["expected_peer_name"]["value"].text().unwrap_or("localhost")))
}

/// `Err` says why the chain is refused.
fn judge(case: &Json, dir: &TempDir) -> Result<(), String> {
    let (verifier, now) = verifier(case, dir)?;
    let (certs, host) = presented(case)?;
    let name = ServerName::try_from(host).map_err(|e| e.to_string())?;
    match verifier.verify_server_cert(&certs[0], &certs[1..], &name, &[], now) {
        Ok(_) => Ok(()),
        Err(e) => Err(verdict(&e).map_or_else(|| e.to_string(), |e| e.message)),
    }
}

/// Returns for each case limbo's expectation, curl's verdict, and its text.
fn expected(text: &str) -> BTreeMap<&str, Vec<&str>> {
    text.lines()
        .skip(1)
        .filter_map(|l| l.split_once('\t'))
        .map(|(id, rest)| (id, rest.split('\t').collect()))
        .collect()
}

/// Presents these certificates, whatever the client requests, and signs with another key.
#[derive(Debug)]
struct Shown(Arc<CertifiedKey>);

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }
}

/// Runs one handshake with a server that presents this chain.
fn show(chain: Vec<CertificateDer<'static>>) -> (u16, std::thread::JoinHandle<()>) {
    let key = PrivateKeyDer::from_pem_slice(Leaf::self_signed().key_pem.as_bytes()).unwrap();
    let key = rustls::crypto::ring::sign::any_supported_type(&key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).unwrap().with_no_client_auth();
    let server = builder.with_cert_resolver(Arc::new(Shown(Arc::new(CertifiedKey::new(chain, key)))));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut connection = ServerConnection::new(Arc::new(server)).unwrap();
        let _ = connection.complete_io(&mut stream); // the client disconnects
    });
    (port, thread)
}

/// Judges by OpenSSL: it checks the chain in a handshake; the name and the rest are checked as usual.
fn judge_by_openssl(case: &Json, dir: &TempDir) -> Result<(), String> {
    let config = TlsConfig { backend: Backend::SYSTEM, min_version: TlsVersion::Tls13, ..config(case, dir) };
    let config = Arc::new(config);
    let rt = runtime();
    let mut client = OpenSslClient::prepare(&config, rt.reactor()).map_err(|e| e.message)?;
    let (certs, host) = presented(case)?;
    let (port, server) = show(certs.clone());
    let (reactor, peer, own) = (rt.reactor().clone(), host.to_owned(), config.clone());
    let failed = block_on(&rt, async move {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nonblocking(true).unwrap();
        let mut socket = Socket::new(stream.into());
        socket.attach(&reactor, 0);
        let (below, store) = (Box::new(SocketFilter::new(socket)), SessionStore::new());
        let server = Server { detail: ChainDetail::Checks, ..Server::new(&own, &peer, port) };
        client.take_sessions(server, &store).unwrap();
        handshake::run(&mut client, below, server).await.err()
    });
    server.join().unwrap();
    let failed = failed.expect("nobody can sign for that");
    // The signature: "bad signature", or one of another kind than the key is.
    if failed.kind != NetErrorKind::SslConnectError || !failed.message.contains("signature") {
        let report = failed.trust.as_ref().expect("a report of each refusal");
        assert_eq!(report.refusal.as_ref(), Some(&failed.message));
        let named = named_faults(report);
        assert!(is_named(&named, &failed.message), "{}: {named:?}", failed.message);
        return Err(failed.message);
    }
    let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms;
    let verifier = Verifier::new(&config, algorithms, None).map_err(|e| e.message)?;
    verifier.check_leaf(&certs[0], &certs[1..], host, &[], UnixTime::now()).map_err(|e| e.message)
}

/// Returns whether the failed checks have the one of a message: OpenSSL's with its number, or that of names.
fn is_named(failed: &[(Check, Option<i64>)], message: &str) -> bool {
    let number = message.rsplit_once('(').and_then(|(_, rest)| rest.trim_end_matches(')').parse().ok());
    match number.filter(|_| message.contains("verify result")) {
        // An unspecified error: any check may have a limit of its own.
        Some(UNSPECIFIED) => failed.iter().any(|(_, result)| *result == Some(UNSPECIFIED)),
        Some(result) => failed.contains(&(Check::of_result(result), Some(result))),
        None => failed.contains(&(Check::HostName, None)),
    }
}

/// Returns the checks that a report calls failed, with their results.
fn named_faults(report: &TrustReport) -> Vec<(Check, Option<i64>)> {
    let failed = report.checks.iter().filter_map(|(check, outcome)| match outcome {
        Outcome::Failed(failure) => Some((*check, failure.result)),
        _ => None,
    });
    failed.collect()
}

/// The report of each chain that OpenSSL refuses names the check at which OpenSSL failed; that of an accepted
/// chain names none. Two servers found no cipher for their keys, so that OpenSSL's client saw no chain.
#[test]
fn reports_name_the_check_that_openssl_failed_at() {
    let (cases, table) = shared();
    let expected = expected(&table);
    let dir = TempDir::new("limbo").unwrap();
    let (mut refused, mut faults) = (0, Vec::new());
    for case in Json::parse(&cases).expect("JSON").items() {
        let id = case["id"].text().unwrap();
        let Some([_, openssl, words, ..]) = expected.get(id).map(Vec::as_slice) else { continue };
        let (Ok((verifier, now)), Ok((certs, host))) = (verifier(case, &dir), presented(case)) else {
            continue;
        };
        let report = verifier.report(Presented { certs: &certs, host, stapled: &[], now }, None, None);
        let named = named_faults(&report);
        if named.is_empty() != judge(case, &dir).is_ok() {
            faults.push(format!("{id}: {named:?}, but {:?}", judge(case, &dir)));
        }
        if *openssl == "refuse" && words.contains("curl: (60)") {
            refused += 1;
            if !is_named(&named, words) {
                faults.push(format!("{id}: {named:?} | {words}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {refused}:\n{}", faults.len(), faults.join("\n"));
    assert!(refused > 50, "only {refused} refused");
}

/// Returns the cases and the expected results. Without the cases, the test is named as left out.
fn shared() -> (String, String) {
    let shared = std::env::var_os("WARMWIRE_SHARED").map(PathBuf::from);
    let shared =
        shared.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")));
    let folder = shared.join("x509-limbo");
    let Ok(cases) = std::fs::read_to_string(folder.join("cases.json")) else {
        panic!("left out without data: no chains at {}", folder.display())
    };
    (cases, std::fs::read_to_string(folder.join("expected.tsv")).unwrap())
}

/// Compares with OpenSSL alone. It uses the current time: cases for another time are skipped, except those
/// that have expired since.
#[test]
fn openssl_judges_when_it_is_requested() {
    let (cases, table) = shared();
    let expected = expected(&table);
    let dir = TempDir::new("limbo").unwrap();
    let (mut faults, mut judged) = (Vec::new(), 0);
    for case in Json::parse(&cases).expect("JSON").items() {
        let id = case["id"].text().unwrap();
        let Some([_, openssl, words, ..]) = expected.get(id).map(Vec::as_slice) else { continue };
        let of_now = case["validation_time"].text().is_none() || words.contains("has expired");
        // A server without a signature that the client would take is not refused for its chain.
        if !of_now || words.contains("curl: (35)") {
            continue;
        }
        judged += 1;
        match (*openssl, judge_by_openssl(case, &dir)) {
            ("refuse", Ok(())) => faults.push(format!("{id}: accepted, but OpenSSL: {words}")),
            ("accept", Err(why)) => faults.push(format!("{id}: refused, {why}")),
            ("refuse", Err(why)) if std::env::var_os("VERBOSE").is_some() => {
                eprintln!("{id}: {why} | {words}")
            }
            _ => {}
        }
    }
    assert!(judged > 100, "only {judged} cases");
    assert!(faults.is_empty(), "{} of {judged}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn our_verdicts_agree_with_openssl_and_webpki() {
    let (cases, table) = shared();
    let expected = expected(&table);
    let dir = TempDir::new("limbo").unwrap();
    let mut argued: BTreeSet<&str> =
        ARGUED.lines().filter(|l| !l.starts_with('#')).filter_map(|l| Some(l.split_once(": ")?.0)).collect();
    let (mut faults, mut judged) = (Vec::new(), 0);
    for case in Json::parse(&cases).expect("JSON").items() {
        let id = case["id"].text().unwrap();
        let Some([limbo, openssl, words, ..]) = expected.get(id).map(Vec::as_slice) else {
            continue;
        };
        judged += 1;
        let ours = judge(case, &dir);
        let is_argued = argued.remove(id);
        match (*openssl, &ours) {
            ("refuse", Ok(())) => faults.push(format!("{id}: accepted, but OpenSSL: {words}")),
            ("accept", Err(why)) if !is_argued => faults.push(format!("{id} ({limbo}): refused, {why}")),
            ("accept", Ok(())) | ("refuse", _) if is_argued => faults.push(format!("{id}: nothing to argue")),
            ("refuse", Err(why)) if std::env::var_os("VERBOSE").is_some() => {
                eprintln!("{id}: {why} | {words}")
            }
            _ => {}
        }
    }
    assert!(judged > 100, "only {judged} cases");
    assert!(argued.is_empty(), "argued, but no case: {argued:?}");
    assert!(faults.is_empty(), "{} of {judged}:\n{}", faults.len(), faults.join("\n"));
}
