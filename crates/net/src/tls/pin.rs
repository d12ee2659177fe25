//! Public key pinning (CURLOPT_PINNEDPUBLICKEY): hashes of the key, or a file that holds it.

use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;
use std::fs::File;
use std::io::Read;

use wire::base64;

const PREFIX: &str = "sha256//";
/// A public key is never longer.
const MAX_FILE: u64 = 1024 * 1024;

/// Does the key (SubjectPublicKeyInfo in DER) match the pin?
pub fn matches(pin: &str, spki: &[u8]) -> bool {
    if !pin.starts_with(PREFIX) {
        return read(pin).is_some_and(|bytes| matches_file(&bytes, spki));
    }
    let hash = ring::digest::digest(&ring::digest::SHA256, spki);
    let ours = base64::encode(hash.as_ref());
    pin.split(';').filter_map(|p| p.strip_prefix(PREFIX)).any(|p| p == ours)
}

fn read(path: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_FILE + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_FILE).then_some(bytes)
}

fn matches_file(bytes: &[u8], spki: &[u8]) -> bool {
    bytes == spki || SubjectPublicKeyInfoDer::from_pem_slice(bytes).is_ok_and(|key| key.as_ref() == spki)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_and_files() {
        let key = rcgen::KeyPair::generate().unwrap();
        let spki = rcgen::PublicKeyData::subject_public_key_info(&key);
        let pin = format!(
            "{PREFIX}{}",
            base64::encode(ring::digest::digest(&ring::digest::SHA256, &spki).as_ref())
        );
        assert!(matches(&pin, &spki));
        assert!(matches(&format!("sha256//AAAA;{pin}"), &spki));
        assert!(!matches("sha256//AAAA;", &spki));
        let dir = testkit::temp::TempDir::new("pin").unwrap();
        for content in [
            spki.clone(),
            rcgen::PublicKeyData::subject_public_key_info(&key),
            key.public_key_pem().into_bytes(),
        ] {
            let path = dir.write("key", content).unwrap();
            assert!(matches(path.to_str().unwrap(), &spki));
        }
        let other = rcgen::KeyPair::generate().unwrap().public_key_pem();
        assert!(!matches(dir.write("other", other).unwrap().to_str().unwrap(), &spki));
        assert!(!matches("/nonexistent/key", &spki));
    }
}
