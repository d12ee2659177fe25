//! Public key pinning (CURLOPT_PINNEDPUBLICKEY): hashes of the key, or a file that holds it.

use super::PinnedKey;
use crate::NamedFile;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use wire::base64;

const PREFIX: &str = "sha256//";
/// Larger than any public key.
const MAX_FILE: u64 = 1024 * 1024;

impl PinnedKey {
    /// Reads the option's text: hashes, or the name of a file.
    pub fn parse(text: &[u8], file: impl FnOnce(&[u8]) -> NamedFile) -> PinnedKey {
        match std::str::from_utf8(text) {
            Ok(hashes) if hashes.starts_with(PREFIX) => PinnedKey::Hashes(hashes.to_owned()),
            _ => PinnedKey::File(file(text)),
        }
    }
}

/// Checks whether the key (SubjectPublicKeyInfo in DER) matches the pin.
pub fn matches(pin: &PinnedKey, spki: &[u8]) -> bool {
    let pin = match pin {
        PinnedKey::File(file) => return read(file.path()).is_some_and(|bytes| matches_file(&bytes, spki)),
        PinnedKey::Hashes(hashes) => hashes,
    };
    let hash = ring::digest::digest(&ring::digest::SHA256, spki);
    let ours = base64::encode(hash.as_ref());
    pin.split(';').filter_map(|p| p.strip_prefix(PREFIX)).any(|p| p == ours)
}

fn read(path: &Path) -> Option<Vec<u8>> {
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
        let matches = |text: &str, spki: &[u8]| {
            let file = |name: &[u8]| NamedFile::from(std::str::from_utf8(name).unwrap());
            matches(&PinnedKey::parse(text.as_bytes(), file), spki)
        };
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
