//! The chains of x509-limbo (C2SP), judged as a server's are: what OpenSSL refuses is refused, and what both OpenSSL and
//! limbo accept is accepted. Where limbo wants a refusal and OpenSSL accepts, our refusals stand in `x509_limbo.txt`.
//!
//! The cases are data from outside (WARMWIRE_SHARED, or `shared` beside the checkout).

#[path = "common/json.rs"]
mod json;

use json::Json;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use testkit::temp::TempDir;
use warmwire_net::tls::verify::{Verifier, verdict};
use warmwire_net::tls::x509::days_from_civil;
use warmwire_net::tls::{CaSource, TlsConfig};

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

/// `Err` says why the chain is refused.
fn judge(case: &Json, dir: &TempDir) -> Result<(), String> {
    let crls = case["crls"].texts().concat();
    let crl = if crls.is_empty() { None } else { Some(dir.write("crl.pem", crls).unwrap()) };
    let config = TlsConfig {
        ca: vec![CaSource::Blob(case["trusted_certs"].texts().join("\n").into_bytes().into())],
        ca_cache: Some(Duration::ZERO),
        crl,
        ..TlsConfig::default()
    };
    let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms;
    let verifier = Verifier::new(&Arc::new(config), algorithms, None).map_err(|e| e.message)?;
    let now = match case["validation_time"].text() {
        Some(text) => UnixTime::since_unix_epoch(Duration::from_secs(seconds(text))),
        None => UnixTime::now(),
    };
    let leaf = pem(case["peer_certificate"].text().unwrap()).ok_or("no certificate")?;
    let others: Vec<_> = case["untrusted_intermediates"].texts().iter().filter_map(|t| pem(t)).collect();
    let host = case["expected_peer_name"]["value"].text().unwrap_or("localhost");
    let name = ServerName::try_from(host).map_err(|e| e.to_string())?;
    match verifier.verify_server_cert(&leaf, &others, &name, &[], now) {
        Ok(_) => Ok(()),
        Err(e) => Err(verdict(&e).map_or_else(|| e.to_string(), |e| e.message)),
    }
}

/// Case, then what limbo asks for, what curl does, and its words.
fn expected(text: &str) -> BTreeMap<&str, Vec<&str>> {
    text.lines()
        .skip(1)
        .filter_map(|l| l.split_once('\t'))
        .map(|(id, rest)| (id, rest.split('\t').collect()))
        .collect()
}

#[test]
fn nothing_that_openssl_refuses_and_all_that_both_accept() {
    let shared = std::env::var_os("WARMWIRE_SHARED").map(PathBuf::from);
    let shared =
        shared.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")));
    let folder = shared.join("x509-limbo");
    let Ok(cases) = std::fs::read_to_string(folder.join("cases.json")) else {
        eprintln!("NOT RUN: no {}", folder.display());
        return;
    };
    let table = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
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
