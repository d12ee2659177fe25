//! The part file and its journal in a folder: opened by one process at a time, renamed when complete.

use super::journal::{Journal, LONGEST};
use super::system::{self, os_text};
use engine::sys::is_device;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// A file that is being put together.
pub struct Part {
    file: File,
    /// The names of the file to be, of the part file, of the journal, and of the journal's successor.
    name: PathBuf,
    part: PathBuf,
    journal: PathBuf,
    next_journal: PathBuf,
    /// Why a file that has the name already stays; none if it is replaced.
    keeps: Option<&'static str>,
}

fn failed(what: &str, name: &Path, error: &io::Error) -> String {
    format!("Failed to {what} {}: {}", shown(name), os_text(error))
}

impl Part {
    /// Opens the part file or creates it, and locks it; returns the journal of an unfinished one. With
    /// `keeps`, a file of the final name is an error. The error is a text for the user.
    pub fn open(name: &Path, keeps: Option<&'static str>) -> Result<(Part, Option<Journal>), String> {
        if let Some(why) = keeps.filter(|_| fs::symlink_metadata(name).is_ok()) {
            return Err(taken(name, why));
        }
        if is_device(name) {
            return Err(format!("{} is not a regular file, which segments need", shown(name)));
        }
        let part = with(name, ".part");
        let journal = with(name, ".part.journal");
        let next_journal = with(name, ".part.journal.new");
        let file = lock(&part)?;
        let length = file.metadata().map_err(|error| failed("read", &part, &error))?.len();
        let this = Part { file, name: name.to_owned(), part, journal, next_journal, keeps };
        let begun = this.read_journal()?;
        let (shown_part, shown_journal) = (shown(&this.part), shown(&this.journal));
        match begun {
            // Killed before either file was written, or after the part was renamed and before the journal was
            // removed.
            _ if length == 0 => Ok((this, None)),
            None => Err(format!("{shown_part} exists without its journal; remove it to start over")),
            Some(begun) if begun.done.end() > length => {
                Err(format!("{shown_part} is shorter than {shown_journal} says; remove both to start over"))
            }
            Some(begun) => Ok((this, Some(begun))),
        }
    }

    fn read_journal(&self) -> Result<Option<Journal>, String> {
        let mut text = String::new();
        let opened = system::open_own(&self.journal, OpenOptions::new().read(true));
        let read = opened.and_then(|file| file.take(LONGEST).read_to_string(&mut text));
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
            Err(error) => return Err(failed("read", &self.journal, &error)),
            Ok(_) => {}
        }
        let journal = Journal::parse(&text).ok_or_else(|| {
            let (journal, part) = (shown(&self.journal), shown(&self.part));
            format!("{journal} is damaged, or not a journal; remove it and {part} to start over")
        })?;
        Ok(Some(journal))
    }

    pub fn write_at(&self, data: &[u8], at: u64) -> io::Result<()> {
        system::write_all_at(&self.file, data, at)
    }

    /// Starts a file of that many bytes.
    pub fn begin(&self, size: u64) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.set_len(size)
    }

    pub fn write_journal(&self, journal: &Journal) -> Result<(), String> {
        let written = self
            .new_journal()
            .and_then(|mut file| file.write_all(journal.text().as_bytes()))
            .and_then(|()| fs::rename(&self.next_journal, &self.journal));
        written.map_err(|error| {
            let _ = fs::remove_file(&self.next_journal);
            failed("write", &self.journal, &error)
        })
    }

    /// Creates a new file that only this user can access. One left by a killed process is removed; the lock
    /// proves that.
    fn new_journal(&self) -> io::Result<File> {
        let next = &self.next_journal;
        let create = || system::private(OpenOptions::new().write(true).create_new(true)).open(next);
        match create() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(next)?;
                create()
            }
            other => other,
        }
    }

    /// Reads the part from its beginning.
    pub fn reader(&self) -> io::Result<File> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        Ok(file)
    }

    pub fn name(&self) -> String {
        shown(&self.part)
    }

    /// Makes the part the file.
    pub fn finish(&self) -> Result<(), String> {
        let (part, name) = (&self.part, &self.name);
        if !system::is_called(&self.file, part) {
            return Err(format!("{} was replaced while it was written", shown(&self.part)));
        }
        let renamed =
            if self.keeps.is_some() { system::rename_new(part, name) } else { fs::rename(part, name) };
        renamed.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => taken(name, self.keeps.unwrap_or_default()),
            _ => failed("rename", &self.part, &error),
        })?;
        let _ = fs::remove_file(&self.journal);
        Ok(())
    }

    pub fn remove(&self) {
        // The journal last: a part without one is not ours to take.
        let _ = fs::remove_file(&self.part);
        let _ = fs::remove_file(&self.journal);
    }
}

/// Returns a name as text for a message.
fn shown(name: &Path) -> String {
    name.to_string_lossy().into_owned()
}

/// Returns the name with an ending.
fn with(name: &Path, ending: &str) -> PathBuf {
    let mut all = name.as_os_str().to_owned();
    all.push(ending);
    all.into()
}

fn taken(name: &Path, why: &str) -> String {
    format!("{} exists, and {why}", shown(name))
}

/// Opens the part file, which no other process has.
fn lock(part: &Path) -> Result<File, String> {
    loop {
        let held = || format!("{} is being fetched by another process", shown(part));
        let file = match open(part) {
            Ok(file) => file,
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) if system::is_held(&error) => return Err(held()),
            Err(error) => return Err(failed("open", part, &error)),
        };
        if !system::hold(&file) {
            return Err(held());
        }
        // Its previous owner may have renamed it in between.
        if system::is_called(&file, part) {
            return Ok(file);
        }
        if fs::symlink_metadata(part).is_ok_and(|meta| !meta.is_file()) {
            return Err(format!("{} is not a regular file", shown(part)));
        }
    }
}

/// Opens the part file. An existing one must belong to this user, and a missing one is created by this
/// process: in a directory that others may write to, nobody can redirect the output to another file.
fn open(part: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match system::open_own(part, system::to_hold(&mut options)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            system::open_own(part, options.create_new(true))
        }
        Ok(file) if system::has_other_names(&file)? => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "The file has other hard links"))
        }
        other => other,
    }
}
