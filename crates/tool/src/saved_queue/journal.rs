//! The file of a queue: records are added at its end, and it is rewritten when most of it is history.
//!
//! A killed process leaves at most a cut line at the end, which the next one removes. One process at a time
//! has the file; the lock ends with the process.

use super::record::{Added, FORMAT, Id, Record};
use super::state::{Place, State};
use crate::bytes::Bytes;
use crate::message::os_text;
use crate::raw::segments::system::{self as files, open_held};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A longer line is no record: an entry has at most 4 MiB of options and a line of URLs, each byte escaped.
const LONGEST_LINE: u64 = 16 << 20;
/// Ends of transfers are forced to the disk at most this often.
const SYNC_PAUSE: Duration = Duration::from_secs(1);

/// An open queue.
pub struct Journal {
    file: File,
    path: PathBuf,
    pub state: State,
    length: u64,
    /// Lines that are to be written together.
    pending: Bytes,
    synced: Instant,
    is_synced: bool,
}

/// The content of a queue's file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Content {
    pub state: State,
    /// The length without a cut line at the end.
    pub length: u64,
}

/// Reads a queue. Fails if it is none, or if a line within it is damaged; a cut line at the end is left out.
pub fn read(input: impl Read) -> Result<Content, String> {
    let mut input = BufReader::new(input);
    let mut content = Content::default();
    let (mut line, mut number, mut offset) = (Bytes::new(), 0, 0);
    let mut faulty = None;
    loop {
        line.clear();
        let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        read.map_err(|error| format!("can't be read: {}", os_text(&error)))?;
        if line.is_empty() {
            return Ok(content);
        }
        number += 1;
        let place = Place { offset, length: line.len() as u32 };
        offset += line.len() as u64;
        match Record::parse(&line) {
            Some(_) if faulty.is_some() => {
                return Err(format!("line {} is damaged; nothing was changed", faulty.unwrap_or(number)));
            }
            None if number == 1 && !title().starts_with(&line) => return Err("is not a queue".to_owned()),
            None => faulty = faulty.or(Some(number)),
            Some(Ok(Record::Title(FORMAT))) if number == 1 => content.length = offset,
            Some(Ok(Record::Title(format))) if number == 1 => {
                return Err(format!("has format {format}; this version knows {FORMAT}"));
            }
            Some(record) => {
                let applied =
                    record.ok().filter(|_| number > 1).map(|record| content.state.apply(record, place));
                if !matches!(applied, Some(Ok(()))) {
                    return Err(format!("line {number} is not a record that this version knows"));
                }
                content.length = offset;
            }
        }
    }
}

fn title() -> Bytes {
    Record::Title(FORMAT).line()
}

/// Reads a queue without holding it, while another process may work on it.
pub fn look(path: &Path) -> Result<(State, File), String> {
    let failed = |error: io::Error| format!("can't be opened: {}", os_text(&error));
    let file = files::open_own(path, OpenOptions::new().read(true)).map_err(failed)?;
    let content = read(&file)?;
    Ok((content.state, file))
}

/// Reads the record of an entry again.
pub fn added(mut file: &File, place: Place) -> Result<Added, String> {
    let mut line = vec![0; place.length as usize];
    let read = file.seek(SeekFrom::Start(place.offset)).and_then(|_| file.read_exact(&mut line));
    read.map_err(|error| format!("can't be read: {}", os_text(&error)))?;
    match Record::parse(&line) {
        Some(Ok(Record::Added(added))) => Ok(added),
        _ => Err("was changed by another program".to_owned()),
    }
}

impl Journal {
    /// Opens a queue or creates it. The path should be absolute: the folder may change.
    pub fn open(path: &Path) -> Result<Journal, String> {
        let failed = |error: io::Error| format!("can't be opened: {}", os_text(&error));
        let file = open_held(path).map_err(failed)?.ok_or("is in use by another process")?;
        let Content { state, length } = read(&file)?;
        let mut journal = Journal {
            file,
            path: path.to_owned(),
            state,
            length,
            pending: Bytes::new(),
            synced: Instant::now(),
            is_synced: true,
        };
        journal.file.set_len(length).map_err(|error| journal.failed(&error))?;
        if length == 0 {
            journal.pending = title();
            journal.write()?;
        }
        journal.compact_if_wasteful()?;
        Ok(journal)
    }

    fn failed(&self, error: &io::Error) -> String {
        format!("can't be written: {}", os_text(error))
    }

    /// Adds a record to those that [`write`](Self::write) writes together.
    pub fn push(&mut self, record: Record) {
        let line = record.line();
        let offset = self.length + self.pending.len() as u64;
        let applied = self.state.apply(record, Place { offset, length: line.len() as u32 });
        debug_assert!(applied.is_ok(), "records of this process fit its state");
        self.pending.extend(line);
    }

    /// Returns how many bytes wait to be written.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Writes all of them or none.
    pub fn write(&mut self) -> Result<(), String> {
        if let Err(error) = files::write_all_at(&self.file, &self.pending, self.length) {
            // A part of a line is no harm to the next process, but its space may help.
            let _ = self.file.set_len(self.length);
            return Err(self.failed(&error));
        }
        self.length += self.pending.len() as u64;
        self.pending.clear();
        self.is_synced = false;
        Ok(())
    }

    /// Writes a record at once, so that it survives the process. Within a second it is forced to the disk.
    pub fn append(&mut self, record: Record) -> Result<(), String> {
        self.push(record);
        self.write()?;
        if self.synced.elapsed() < SYNC_PAUSE {
            return Ok(());
        }
        self.sync()?;
        self.compact_if_wasteful()
    }

    /// Forces what was written to the disk.
    pub fn sync(&mut self) -> Result<(), String> {
        if !self.is_synced {
            self.file.sync_data().map_err(|error| self.failed(&error))?;
            self.is_synced = true;
        }
        self.synced = Instant::now();
        Ok(())
    }

    /// Reads the record of an entry again.
    pub fn added(&self, id: Id) -> Result<Added, String> {
        let entry = self.state.entries.get(&id).ok_or("has no such entry")?;
        added(&self.file, entry.place)
    }

    fn compact_if_wasteful(&mut self) -> Result<(), String> {
        if self.state.is_wasteful(self.length) { self.compact() } else { Ok(()) }
    }

    /// Replaces the file by one without history. The old one stays until the new one is complete.
    pub fn compact(&mut self) -> Result<(), String> {
        let mut next = self.path.clone().into_os_string();
        next.push(".new");
        let next = PathBuf::from(next);
        let replaced = self.rewritten(&next).and_then(|file| {
            fs::rename(&next, &self.path)?;
            Ok(file)
        });
        let file = replaced.map_err(|error| {
            let _ = fs::remove_file(&next);
            self.failed(&error)
        })?;
        // The old file is held until here.
        self.file = file;
        files::sync_folder(&self.path);
        let content = read(self.reader()?)?;
        (self.state, self.length) = (content.state, content.length);
        Ok(())
    }

    fn reader(&self) -> Result<&File, String> {
        let mut file = &self.file;
        file.rewind().map_err(|error| format!("can't be read: {}", os_text(&error)))?;
        Ok(file)
    }

    /// Writes the state to another file, and holds that.
    fn rewritten(&self, next: &Path) -> io::Result<File> {
        // One that a killed process has left; the lock proves that.
        let _ = fs::remove_file(next);
        let file = open_held(next)?.ok_or(io::ErrorKind::ResourceBusy)?;
        let mut out = BufWriter::new(&file);
        out.write_all(&title())?;
        for (id, setup) in &self.state.setups {
            let (folder, options) = (setup.folder.clone(), setup.options.clone());
            out.write_all(&Record::Setup { id: *id, folder, options }.line())?;
        }
        for id in self.state.entries.keys() {
            let added = self.added(*id).map_err(io::Error::other)?;
            out.write_all(&Record::Added(added).line())?;
            for record in self.state.history(*id) {
                out.write_all(&record.line())?;
            }
        }
        out.flush()?;
        drop(out);
        file.sync_all()?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests;
