//! A file of the system's that is read again when it has changed.

use std::fs;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::SystemTime;

use crate::file_cache::FileCache;

/// More of a file is not read.
const LONGEST: u64 = 64 << 20;

/// The modification time and length of the file: while they are equal, it is unchanged.
type Stamp = (Option<SystemTime>, u64);

/// The parsed contents of a file, cached.
pub(super) struct Reread<T> {
    path: &'static str,
    read: fn(&str) -> T,
    known: FileCache<(), Stamp, T>,
}

impl<T> Reread<T> {
    pub(super) const fn new(path: &'static str, read: fn(&str) -> T) -> Reread<T> {
        Reread { path, read, known: FileCache::new() }
    }

    /// Returns the current contents. A file that does not exist, or is too long, is empty. If it cannot be
    /// read, for example for lack of descriptors, the previous contents are returned, and the next call tries
    /// again.
    pub(super) fn now(&self) -> Arc<T> {
        let length = || fs::metadata(self.path).map_or(0, |about| about.len());
        let stamp = || {
            let about = fs::metadata(self.path).ok();
            about.map_or((None, 0), |about| (about.modified().ok(), about.len()))
        };
        let read = || {
            let text = if length() <= LONGEST { fs::read(self.path) } else { Ok(Vec::new()) };
            let text =
                text.or_else(|e| if e.kind() == ErrorKind::NotFound { Ok(Vec::new()) } else { Err(e) })?;
            Ok::<_, io::Error>((self.read)(&String::from_utf8_lossy(&text)))
        };
        let content = self.known.get(&(), None, stamp, read);
        content.unwrap_or_else(|_| self.known.last(&()).unwrap_or_else(|| Arc::new((self.read)(""))))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::File;
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    /// A directory in the file's place, with its time and length: it cannot be read, like any file when no
    /// descriptors are left.
    #[test]
    fn unreadable_files_do_not_count_as_empty() {
        let folder = testkit::temp::TempDir::new("reread").unwrap();
        let path = folder.path().join("file");
        let reread: Reread<String> = Reread::new(path.to_str().unwrap().to_owned().leak(), str::to_owned);
        let when = |hours: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(3600 * hours);
        let touch = |path: &Path, hours| File::open(path).unwrap().set_modified(when(hours)).unwrap();
        let length = || fs::metadata(&path).unwrap().len() as usize;
        fs::create_dir(&path).unwrap();
        touch(&path, 1);
        assert_eq!(*reread.now(), "");
        let size = length();
        let put = |letter: &str, hours| {
            fs::write(&path, letter.repeat(size)).unwrap();
            touch(&path, hours);
        };
        fs::remove_dir(&path).unwrap();
        put("a", 1);
        assert_eq!(*reread.now(), "a".repeat(size), "of the same time and length as what could not be read");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        touch(&path, 2);
        assert_eq!((length(), &*reread.now()), (size, &"a".repeat(size)), "it is what it was");
        fs::remove_dir(&path).unwrap();
        put("b", 2);
        assert_eq!(*reread.now(), "b".repeat(size));
        fs::remove_file(&path).unwrap();
        assert_eq!(*reread.now(), "", "what is gone is gone");
    }
}
