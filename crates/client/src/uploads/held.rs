//! A record in a folder, held by one process at a time. It is replaced as a whole; a process that is killed
//! leaves it, and what it held is free.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::record::{LONGEST, Record};
use crate::segments::system;

/// The place of a record, which no other process has meanwhile.
pub struct Held {
    _lock: File,
    lock: PathBuf,
    record: PathBuf,
    next: PathBuf,
}

impl Held {
    /// Takes the place of a record in a folder; `None` if another process has it.
    pub fn take(folder: &Path, key: &str) -> io::Result<Option<Held>> {
        let lock = folder.join(format!("{key}.lock"));
        let (record, next) = (folder.join(key), folder.join(format!("{key}.new")));
        let file = system::open_held(&lock)?;
        Ok(file.map(|file| Held { _lock: file, lock, record, next }))
    }

    /// Returns the record, if there is a valid one.
    pub fn read(&self) -> Option<Record> {
        let mut text = String::new();
        let opened = system::open_own(&self.record, OpenOptions::new().read(true)).ok()?;
        opened.take(LONGEST).read_to_string(&mut text).ok()?;
        Record::parse(&text)
    }

    /// Replaces the record.
    pub fn write(&self, record: &Record) -> io::Result<()> {
        // One that a killed process has left; the lock proves that.
        let _ = fs::remove_file(&self.next);
        let mut file = system::private(OpenOptions::new().write(true).create_new(true)).open(&self.next)?;
        file.write_all(record.text().as_bytes())?;
        // Otherwise a crash of the system could leave the name without its content.
        file.sync_all()?;
        fs::rename(&self.next, &self.record)
    }

    /// Removes the record.
    pub fn forget(&self) {
        let _ = fs::remove_file(&self.record);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.lock);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Stamp, key};
    use super::*;

    fn record(key: &str) -> Record {
        let file = fs::metadata(std::env::current_exe().unwrap()).unwrap();
        Record { key: key.to_owned(), stamp: Stamp::of(&file).unwrap(), resource: None }
    }

    #[test]
    fn a_record_has_one_owner_and_outlives_it() {
        let folder = testkit::temp::TempDir::new("uploads").unwrap();
        let key = key(b"ftp://h/f", b"/f");
        let take = || Held::take(folder.path(), &key).unwrap();
        let held = take().unwrap();
        assert!(take().is_none(), "held");
        assert!(Held::take(folder.path(), "other").unwrap().is_some());
        assert_eq!(held.read(), None);
        held.write(&record(&key)).unwrap();
        held.write(&record(&key)).unwrap();
        drop(held);
        let held = take().unwrap();
        assert_eq!(held.read(), Some(record(&key)));
        held.forget();
        assert_eq!(held.read(), None);
        drop(held);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn a_record_that_is_no_record_is_ignored() {
        let folder = testkit::temp::TempDir::new("uploads").unwrap();
        let held = Held::take(folder.path(), "k").unwrap().unwrap();
        for content in [b"".as_slice(), b"warmwire upload 1\n", &[0xff; 100], &[b'x'; 200_000]] {
            fs::write(folder.path().join("k"), content).unwrap();
            assert_eq!(held.read(), None);
        }
    }
}
