//! The part file and its journal in a folder: opened by one process at a time, renamed when complete.

use super::journal::{Journal, LONGEST};
use crate::bytes::Bytes;
use crate::message::{os_text, shown};
use crate::raw::is_device;
use crate::system::{self, path};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};

/// A file that is being put together.
pub struct Part {
    file: File,
    /// The names of the file to be, of the part file, of the journal, and of the journal's successor.
    name: Bytes,
    part: Bytes,
    journal: Bytes,
    next_journal: Bytes,
}

fn failed(what: &str, name: &[u8], error: &io::Error) -> String {
    format!("Failed to {what} {}: {}", shown(name), os_text(error))
}

impl Part {
    /// Opens what is there or makes it, and locks it; with the journal, if something was begun. Or words on why that can't be.
    pub fn open(name: &[u8]) -> Result<(Part, Option<Journal>), String> {
        if is_device(path(name)) {
            return Err(format!("{} is no file, and what comes in pieces needs one", shown(name)));
        }
        let part = [name, b".part"].concat();
        let journal = [name, b".part.journal"].concat();
        let next_journal = [name, b".part.journal.new"].concat();
        let file = lock(&part)?;
        let length = file.metadata().map_err(|error| failed("read", &part, &error))?.len();
        let this = Part { file, name: name.to_vec(), part, journal, next_journal };
        let begun = this.read_journal()?;
        let (shown_part, shown_journal) = (shown(&this.part), shown(&this.journal));
        match begun {
            // Killed before the first of the two was written, or when the part had got its name and the journal was not gone yet.
            _ if length == 0 => Ok((this, None)),
            None => Err(format!("{shown_part} is there without its journal; remove it to begin anew")),
            Some(begun) if begun.done.end() > length => {
                Err(format!("{shown_part} is shorter than {shown_journal} tells; remove both to begin anew"))
            }
            Some(begun) => Ok((this, Some(begun))),
        }
    }

    fn read_journal(&self) -> Result<Option<Journal>, String> {
        let mut text = String::new();
        let read =
            File::open(path(&self.journal)).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
            Err(error) => return Err(failed("read", &self.journal, &error)),
            Ok(_) => {}
        }
        let journal = Journal::parse(&text).ok_or_else(|| {
            let (journal, part) = (shown(&self.journal), shown(&self.part));
            format!("{journal} is no journal, or a damaged one; remove it and {part} to begin anew")
        })?;
        Ok(Some(journal))
    }

    pub fn write_at(&self, data: &[u8], at: u64) -> io::Result<()> {
        system::write_all_at(&self.file, data, at)
    }

    /// Begins anew with a file of so many bytes.
    pub fn begin(&self, size: u64) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.set_len(size)
    }

    pub fn tell(&self, journal: &Journal) -> Result<(), String> {
        let written = fs::write(path(&self.next_journal), journal.text())
            .and_then(|()| fs::rename(path(&self.next_journal), path(&self.journal)));
        written.map_err(|error| {
            let _ = fs::remove_file(path(&self.next_journal));
            failed("write", &self.journal, &error)
        })
    }

    /// From the beginning.
    pub fn reader(&self) -> io::Result<File> {
        File::open(path(&self.part))
    }

    pub fn name(&self) -> String {
        shown(&self.part)
    }

    /// The part becomes the file.
    pub fn finish(&self) -> Result<(), String> {
        fs::rename(path(&self.part), path(&self.name))
            .map_err(|error| failed("rename", &self.part, &error))?;
        let _ = fs::remove_file(path(&self.journal));
        Ok(())
    }

    pub fn remove(&self) {
        // The journal last: a part without one is not ours to take.
        let _ = fs::remove_file(path(&self.part));
        let _ = fs::remove_file(path(&self.journal));
    }
}

/// The part file, which no other process has.
fn lock(part: &[u8]) -> Result<File, String> {
    loop {
        let taken = || format!("{} is being fetched by another process", shown(part));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = system::to_hold(&mut options)
            .open(path(part))
            .map_err(|error| if system::is_held(&error) { taken() } else { failed("open", part, &error) })?;
        if !system::hold(&file) {
            return Err(taken());
        }
        // Whoever had it may have renamed it in between.
        if system::is_called(&file, path(part)) {
            return Ok(file);
        }
        if fs::symlink_metadata(path(part)).is_ok_and(|meta| !meta.is_file()) {
            return Err(format!("{} is no regular file", shown(part)));
        }
    }
}
