//! Trust anchors: their sources, and one copy of each set for the whole process.
//!
//! They are read only when the first server certificate is verified: a hundred certificates cost a
//! millisecond, and a resumed session needs none. A set is reused while its files are unchanged and its time
//! is not up (CURLOPT_CA_CACHE_TIMEOUT).

use super::CaSource;
use super::dn;
use super::profile::Profile;
use super::x509::Certificate;
use crate::file_cache::FileCache;
use crate::{NetError, NetErrorKind, sys};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Most files that are read of a certificate directory.
const MAX_FILES: usize = 20_000;

/// A set of trusted certificates.
#[derive(Default)]
pub struct Anchors {
    certs: Vec<CertificateDer<'static>>,
    /// Index of the certificates by subject.
    subjects: HashMap<Vec<u8>, Vec<usize>>,
}

impl Anchors {
    /// Returns whether exactly this certificate is trusted.
    pub fn contains(&self, der: &[u8]) -> bool {
        self.certs.iter().any(|c| c.as_ref() == der)
    }

    /// Returns the anchors with this subject, a name in canonical form.
    pub fn named(&self, subject: &[u8]) -> Vec<Profile<'_>> {
        let places = self.subjects.get(subject).into_iter().flatten();
        places.filter_map(|i| Profile::parse(&self.certs[*i])).collect()
    }

    pub fn len(&self) -> usize {
        self.certs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.certs.is_empty()
    }

    /// Adds the PEM certificates of `bytes`; skips what can't be read. Returns how many there were.
    fn add_pem(&mut self, bytes: &[u8]) -> usize {
        let mut found = 0;
        for der in CertificateDer::pem_slice_iter(bytes).filter_map(Result::ok) {
            found += usize::from(self.add(der));
        }
        found
    }

    /// Adds a certificate, unless it can't be read.
    fn add(&mut self, der: CertificateDer<'static>) -> bool {
        let Some(subject) = Certificate::parse(&der).and_then(|c| dn::canonical(c.subject)) else {
            return false;
        };
        self.subjects.entry(subject).or_default().push(self.certs.len());
        self.certs.push(der);
        true
    }
}

/// Returns the anchors of `sources`, from memory if they were loaded less than `keep` ago. The sources have
/// the stamps of their files, so that a changed file is another source.
pub fn load(sources: &[CaSource], keep: Option<Duration>) -> Result<Arc<Anchors>, NetError> {
    SETS.get(&sources.to_vec(), keep, || (), || read(sources))
}

/// Returns the path of the system's bundle, if there is one.
pub fn system_bundle() -> Option<PathBuf> {
    sys::BUNDLES.iter().map(Path::new).find(|p| p.is_file()).map(Path::to_path_buf)
}

static SETS: FileCache<Vec<CaSource>, (), Anchors> = FileCache::new();

/// Like curl, treats an unusable source as an error only if no earlier one had certificates.
fn read(sources: &[CaSource]) -> Result<Anchors, NetError> {
    let mut anchors = Anchors::default();
    for source in sources {
        let empty = anchors.is_empty();
        match source {
            CaSource::File(path) => {
                let found = fs::read(path.path()).map(|bytes| anchors.add_pem(&bytes)).unwrap_or(0);
                if found == 0 && empty {
                    let name = path.given().display();
                    return Err(bad(format!("error adding trust anchors from file: {name}")));
                }
            }
            CaSource::Path(path) => {
                if add_directory(&mut anchors, path.path()).is_err() && empty {
                    let name = path.given().display();
                    return Err(bad(format!("error adding trust anchors from path: {name}")));
                }
            }
            CaSource::Blob(bytes) => {
                if anchors.add_pem(bytes) == 0 {
                    return Err(bad("error adding trust anchors from certificate blob: 77".into()));
                }
            }
            CaSource::System(bundle) => {
                if let Some(bytes) = bundle.as_ref().and_then(|bundle| fs::read(bundle.path()).ok()) {
                    anchors.add_pem(&bytes);
                }
                for der in sys::trusted() {
                    anchors.add(der.into());
                }
            }
        }
    }
    Ok(anchors)
}

/// Adds the files with names made by `openssl rehash` if there are any; otherwise every file.
fn add_directory(anchors: &mut Anchors, path: &Path) -> std::io::Result<()> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(path)?.take(MAX_FILES).filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    let hashed: Vec<PathBuf> = files.iter().filter(|p| is_hashed(p)).cloned().collect();
    for file in if hashed.is_empty() { files } else { hashed } {
        if file.is_file()
            && let Ok(bytes) = fs::read(&file)
        {
            anchors.add_pem(&bytes);
        }
    }
    Ok(())
}

/// Eight hexadecimal digits, a dot, a number.
fn is_hashed(path: &Path) -> bool {
    let Some((hash, number)) = path.file_name().and_then(|n| n.to_str()).and_then(|n| n.split_once('.'))
    else {
        return false;
    };
    hash.len() == 8
        && hash.bytes().all(|b| b.is_ascii_hexdigit())
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
}

fn bad(message: String) -> NetError {
    NetError::new(NetErrorKind::SslCacertBadfile, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NamedFile;

    fn pem() -> String {
        let key = rcgen::KeyPair::generate().unwrap();
        rcgen::CertificateParams::default().self_signed(&key).unwrap().pem()
    }

    #[test]
    fn a_set_is_loaded_once_until_its_file_changes() {
        let dir = testkit::temp::TempDir::new("anchors").unwrap();
        let path = dir.write("ca.pem", pem()).unwrap();
        let sources = || [CaSource::File(path.clone().into())];
        let first = load(&sources(), None).unwrap();
        assert!(Arc::ptr_eq(&first, &load(&sources(), None).unwrap()));
        assert!(!Arc::ptr_eq(&first, &load(&sources(), Some(Duration::ZERO)).unwrap()));
        dir.write("ca.pem", pem() + &pem()).unwrap();
        assert_eq!(load(&sources(), None).unwrap().len(), 2);
        assert!(!Arc::ptr_eq(
            &load(&sources(), None).unwrap(),
            &load(&sources(), Some(Duration::from_nanos(1))).unwrap()
        ));
    }

    #[test]
    fn missing_and_empty_files_are_named() {
        let dir = testkit::temp::TempDir::new("anchors").unwrap();
        let empty = dir.write("empty.pem", "nothing here").unwrap();
        for path in [empty, dir.path().join("missing.pem")] {
            let e = load(&[CaSource::File(path.clone().into())], None).err().unwrap();
            assert_eq!(e.kind, NetErrorKind::SslCacertBadfile);
            assert_eq!(e.message, format!("error adding trust anchors from file: {}", path.display()));
        }
        let blob = CaSource::Blob(pem().into_bytes().into());
        let missing = CaSource::File(dir.path().join("missing.pem").into());
        assert_eq!(load(&[blob, missing], None).unwrap().len(), 1, "an earlier source is enough");
        assert!(load(&[CaSource::Blob(b"x"[..].into())], None).is_err());
        assert!(load(&[CaSource::Path(NamedFile::folder(dir.path().join("nowhere")))], None).is_err());
    }

    #[test]
    fn directories_by_hash_or_whole() {
        let dir = testkit::temp::TempDir::new("anchors").unwrap();
        dir.write("one.pem", pem()).unwrap();
        dir.write("two.crt", pem()).unwrap();
        assert_eq!(
            load(&[CaSource::Path(NamedFile::folder(dir.path()))], Some(Duration::ZERO)).unwrap().len(),
            2
        );
        dir.write("0123abcd.0", pem()).unwrap();
        assert_eq!(
            load(&[CaSource::Path(NamedFile::folder(dir.path()))], Some(Duration::ZERO)).unwrap().len(),
            1
        );
    }
}
