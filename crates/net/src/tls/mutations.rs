//! Certificates, keys and records that are almost right: nothing may panic, and nothing forged may pass.

use super::*;
use crate::tls::chain::Judge;
use crate::tls::x509::Certificate;
use ::rustls::pki_types::{CertificateDer, UnixTime};
use testkit::dice::Dice;

/// A copy with a few bytes changed, cut out, doubled or made into large lengths.
fn damaged(dice: &mut Dice, seed: &[u8]) -> Vec<u8> {
    let mut out = seed.to_vec();
    for _ in 0..=dice.roll(4) {
        let at = dice.roll(out.len().max(1)).min(out.len().saturating_sub(1));
        match dice.roll(5) {
            0 if !out.is_empty() => out[at] = dice.roll(256) as u8,
            1 if !out.is_empty() => out[at] ^= 1 << dice.roll(8),
            2 => out.truncate(at),
            3 => out.extend_from_within(at..),
            _ if !out.is_empty() => out[at] = 0x84,
            _ => {}
        }
    }
    out
}

fn issuer(name: &str) -> (rcgen::Certificate, rcgen::Issuer<'static, rcgen::KeyPair>) {
    let mut p = rcgen::CertificateParams::default();
    p.distinguished_name.push(rcgen::DnType::CommonName, name);
    p.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Constrained(1));
    p.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign];
    let key = rcgen::KeyPair::generate().unwrap();
    (p.self_signed(&key).unwrap(), rcgen::Issuer::new(p, key))
}

#[test]
fn damaged_certificates_are_never_accepted() {
    let (root, signer) = issuer("root");
    let mut p = rcgen::CertificateParams::new(vec!["a.example".into(), "10.0.0.1".into()]).unwrap();
    p.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    p.use_authority_key_identifier_extension = true;
    let leaf = p.signed_by(&rcgen::KeyPair::generate().unwrap(), &signer).unwrap();
    let blob = CaSource::Blob(root.pem().into_bytes().into());
    let anchors = anchors::load(&[blob], Some(Duration::ZERO)).unwrap();
    let algorithms = ::rustls::crypto::ring::default_provider().signature_verification_algorithms.all;
    let judge = Judge { anchors: &anchors, algorithms, crls: &[], partial: true, now: UnixTime::now() };
    assert_eq!(judge.verify(leaf.der(), &[]), verdict::OK);
    let mut dice = Dice::new(0x5eed);
    for _ in 0..20_000 {
        let bad = damaged(&mut dice, leaf.der());
        let der = CertificateDer::from(bad);
        let _ = certinfo::of_chain(std::slice::from_ref(&der));
        let _ = certinfo::summary(&der);
        if let Some(c) = Certificate::parse(&der) {
            let _ = names::check(&c, "a.example");
        }
        // Bytes behind the end, or in the encoding of a length, may leave what was signed as it was.
        let same =
            Certificate::parse(&der).is_some_and(|c| Certificate::parse(leaf.der()).unwrap().tbs == c.tbs);
        assert!(same || judge.verify(&der, &[root.der().clone()]) != verdict::OK);
    }
}

#[test]
fn damaged_keys_and_files() {
    let key = rcgen::KeyPair::generate().unwrap();
    let pem_text = key.serialize_pem();
    let pkcs8 = key.serialize_der();
    let mut dice = Dice::new(0xf11e);
    for _ in 0..20_000 {
        let bad = damaged(&mut dice, pem_text.as_bytes());
        let _ = pem::sections(&bad);
        let bad = damaged(&mut dice, &pkcs8);
        let _ = pkcs12::open(&bad, b"x");
        let _ = decrypt::by_algorithm(&bad, &bad, b"x");
        let _ = decrypt::by_dek_info(&String::from_utf8_lossy(&bad), &bad, b"x");
    }
}

#[test]
fn damaged_cipher_lists_and_pins() {
    let mut dice = Dice::new(0xc1f);
    for _ in 0..5_000 {
        let bad = damaged(&mut dice, b"ECDHE+AESGCM:!aRSA:-AES:+CHACHA20:DEFAULT@SECLEVEL=2");
        let text = String::from_utf8_lossy(&bad);
        let _ = suites::choose(Some(&text), Some(&text));
        let _ = suites::groups(Some(&text));
        let _ = suites::schemes(Some(&text));
        assert!(!pin::matches(&super::PinnedKey::Hashes(format!("sha256//{text}")), b"key"));
    }
}
