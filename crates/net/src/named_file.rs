//! Files that options name: certificates, keys, lists of revoked certificates, sockets. Each is identified by
//! its absolute path and by a stamp of its content, so that one relative name in two directories is two
//! files, and a replaced file is another one.
//!
//! A stamp is one `stat` (about 1 µs), taken when a transfer is planned and again by each later transfer that
//! wants to reuse that plan. Two kinds of file are checked at most once a second, because a check for each
//! transfer would cost more than the transfer's own work on a kept connection: the system's trust anchors,
//! which no option names and which change with a package, and the entries of a directory of certificates,
//! which may be hundreds.

use std::fmt;
use std::fs::{self, Metadata};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ring::digest;

use crate::sys;

/// How long a stamp is valid that is too expensive to take for each transfer.
const FOR_A_WHILE: Duration = Duration::from_secs(1);
/// Entries of a folder that count at most.
const MAX_ENTRIES: usize = 20_000;
/// Files and folders whose state is cached.
const MAX_CACHED: usize = 16;

/// A file by its absolute path and the state of its content. Cheap to clone.
#[derive(Clone)]
pub struct NamedFile(Arc<Inner>);

struct Inner {
    /// The name in the option's own words, for messages.
    given: PathBuf,
    path: PathBuf,
    stamp: FileStamp,
    kind: Kind,
}

/// How a file is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// At each transfer.
    File,
    /// A directory; its entries count.
    Folder,
    /// The system's own file: once a second at most.
    System,
}

/// The state of a file's content, as far as it is visible without reading.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FileStamp {
    /// The file does not exist or cannot be accessed.
    Missing,
    /// Device, inode, size, and the times of the last change of content and of inode. For a pipe or a
    /// terminal only device and inode, because its times change while it is read.
    File(sys::FileState),
    /// The state of a directory, and a digest of its entries with their states.
    Folder(sys::FileState, [u8; 32]),
    /// The working folder is not known. No other file is this one.
    Unknown(u64),
}

impl NamedFile {
    /// The file of this name as it is now, relative to the working folder.
    pub fn new(given: impl Into<PathBuf>) -> NamedFile {
        NamedFile::inspect(given.into(), Kind::File)
    }

    /// A directory and its entries.
    pub fn folder(given: impl Into<PathBuf>) -> NamedFile {
        NamedFile::inspect(given.into(), Kind::Folder)
    }

    /// A file of the system's own choice.
    pub fn of_system(path: impl Into<PathBuf>) -> NamedFile {
        NamedFile::inspect(path.into(), Kind::System)
    }

    /// The name in the option's own words, for messages.
    pub fn given(&self) -> &Path {
        &self.0.given
    }

    /// The absolute path, by which it is opened.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The state of its content when this value was made.
    pub fn stamp(&self) -> &FileStamp {
        &self.0.stamp
    }

    /// Whether the same name leads to the same content now.
    pub fn is_current(&self) -> bool {
        let Inner { given, path, stamp, kind } = &*self.0;
        match given.is_absolute() {
            true => FileStamp::of(path, *kind) == *stamp,
            false => NamedFile::inspect(given.clone(), *kind) == *self,
        }
    }

    fn inspect(given: PathBuf, kind: Kind) -> NamedFile {
        let (path, stamp) = match std::path::absolute(&given) {
            Ok(path) => {
                let stamp = FileStamp::of(&path, kind);
                (path, stamp)
            }
            // The empty name, or a working folder that was removed.
            Err(_) => (given.clone(), FileStamp::unknown()),
        };
        NamedFile(Arc::new(Inner { given, path, stamp, kind }))
    }
}

impl FileStamp {
    fn of(path: &Path, kind: Kind) -> FileStamp {
        let now = || {
            fs::metadata(path).map_or(FileStamp::Missing, |about| FileStamp::File(sys::file_state(&about)))
        };
        match kind {
            Kind::File => now(),
            Kind::System => cached_stamp(path, &FileStamp::Missing, now),
            Kind::Folder => match now() {
                FileStamp::File(own) => {
                    let all = || FileStamp::Folder(own, entries(path));
                    cached_stamp(path, &FileStamp::File(own), all)
                }
                missing => missing,
            },
        }
    }

    fn unknown() -> FileStamp {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        FileStamp::Unknown(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The state of a file, valid for a while.
struct CachedStamp {
    path: PathBuf,
    /// The stamp of the folder itself under which it is valid.
    own: FileStamp,
    at: Instant,
    stamp: FileStamp,
}

/// Returns the cached stamp, if it is less than a second old and was taken under the same `own`.
fn cached_stamp(path: &Path, own: &FileStamp, inspect: impl FnOnce() -> FileStamp) -> FileStamp {
    static CACHE: Mutex<Vec<CachedStamp>> = Mutex::new(Vec::new());
    // In a forked child the thread that held the lock may not exist: without the lock, the caller checks for
    // itself.
    let Ok(mut cached) = CACHE.try_lock() else { return inspect() };
    let known = cached.iter().find(|known| known.path == path && known.own == *own);
    if let Some(known) = known.filter(|known| known.at.elapsed() < FOR_A_WHILE) {
        return known.stamp.clone();
    }
    let (at, stamp) = (Instant::now(), inspect());
    cached.retain(|known| known.path != path);
    if cached.len() == MAX_CACHED {
        cached.remove(0);
    }
    cached.push(CachedStamp { path: path.to_owned(), own: own.clone(), at, stamp: stamp.clone() });
    stamp
}

/// A digest of the names and states of all entries.
fn entries(path: &Path) -> [u8; 32] {
    let state = |about: Metadata| FileStamp::File(sys::file_state(&about));
    let list = fs::read_dir(path).into_iter().flatten().flatten().take(MAX_ENTRIES);
    let mut all: Vec<_> = list
        .map(|entry| (entry.file_name(), fs::metadata(entry.path()).map_or(FileStamp::Missing, state)))
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let mut sum = digest::Context::new(&digest::SHA256);
    for (name, stamp) in all {
        let name = name.as_encoded_bytes();
        sum.update(&(name.len() as u64).to_be_bytes());
        sum.update(name);
        let state = if let FileStamp::File(state) = stamp { state } else { Default::default() };
        state.iter().for_each(|number| sum.update(&number.to_be_bytes()));
    }
    sum.finish().as_ref().try_into().unwrap_or_default()
}

impl PartialEq for NamedFile {
    fn eq(&self, other: &NamedFile) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.path == other.0.path && self.0.stamp == other.0.stamp
    }
}

impl Eq for NamedFile {}

impl Hash for NamedFile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.path.hash(state);
        self.0.stamp.hash(state);
    }
}

impl fmt::Debug for NamedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NamedFile({:?})", self.0.path)
    }
}

impl From<PathBuf> for NamedFile {
    fn from(given: PathBuf) -> NamedFile {
        NamedFile::new(given)
    }
}

impl From<&str> for NamedFile {
    fn from(given: &str) -> NamedFile {
        NamedFile::new(given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::temp::TempDir;

    #[test]
    fn a_replaced_file_is_another_one() {
        let dir = TempDir::new("named").unwrap();
        let path = dir.write("key", "one").unwrap();
        let one = NamedFile::new(&path);
        assert_eq!(one, NamedFile::new(&path));
        assert!(one.is_current());
        fs::rename(dir.write("other", "two").unwrap(), &path).unwrap();
        assert!(!one.is_current());
        assert_ne!(one, NamedFile::new(&path));
        fs::remove_file(&path).unwrap();
        let gone = NamedFile::new(&path);
        assert_eq!((gone.stamp(), gone.is_current()), (&FileStamp::Missing, true));
    }

    #[test]
    fn names_are_absolute() {
        let relative = NamedFile::new("Cargo.toml");
        assert!(relative.path().is_absolute() && relative.given().is_relative());
        assert_eq!(relative, NamedFile::new(std::env::current_dir().unwrap().join("Cargo.toml")));
        assert!(relative.is_current());
        assert_ne!(NamedFile::new(""), NamedFile::new(""), "where nothing is known, nothing is the same");
    }

    #[test]
    fn a_folder_is_known_by_what_is_in_it() {
        let dir = TempDir::new("folder").unwrap();
        dir.write("a.pem", "one").unwrap();
        let first = entries(dir.path());
        assert_eq!(first, entries(dir.path()));
        dir.write("a.pem", "longer").unwrap();
        let second = entries(dir.path());
        assert_ne!(first, second, "changed in place");
        let named = NamedFile::folder(dir.path());
        assert!(named.is_current());
        dir.write("b.pem", "two").unwrap();
        assert!(!named.is_current(), "another entry is seen at once");
    }

    /// The system's own files may have been changed for up to a second.
    #[test]
    fn dear_looks_last_for_a_while() {
        let dir = TempDir::new("dear").unwrap();
        let path = dir.write("bundle", "one").unwrap();
        let bundle = NamedFile::of_system(&path);
        dir.write("bundle", "longer").unwrap();
        assert!(bundle.is_current());
        std::thread::sleep(FOR_A_WHILE);
        assert!(!bundle.is_current());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_stays_itself_while_it_is_read() {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        let (reader, mut writer) = std::io::pipe().unwrap();
        let name = format!("/proc/self/fd/{}", reader.as_raw_fd());
        if !Path::new(&name).exists() {
            return;
        }
        let before = NamedFile::new(&name);
        writer.write_all(b"key").unwrap();
        assert!(before.is_current());
        let (other, _writer) = std::io::pipe().unwrap();
        assert_ne!(before, NamedFile::new(format!("/proc/self/fd/{}", other.as_raw_fd())));
    }
}
