//! Output files of a transfer: opened late, never overwriting protected files, and truncated for another
//! attempt.

use crate::bytes::Bytes;
use crate::message::{Messages, os_text, shown};
use crate::raw::is_device;
use crate::request::Clobber;
use crate::system::{self, make_folders, path};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::{Duration, UNIX_EPOCH};

/// Names tried after one that is taken, with `--no-clobber`.
const MOST_NUMBERED: usize = 100;

/// Where a body or headers go.
#[derive(Debug)]
pub enum Stream {
    /// Not opened yet.
    None,
    Stdout,
    Stderr,
    File(File),
    /// Thrown away.
    Null,
}

/// The output of one transfer.
#[derive(Debug)]
pub struct Sink {
    pub stream: Stream,
    pub name: Option<Bytes>,
    /// Whether the server chose the name: then nothing is overwritten by default.
    pub named_by_server: bool,
    pub clobber: Clobber,
    /// Written in this attempt.
    pub bytes: u64,
    /// Where this attempt began in the file.
    pub start: u64,
    pub unbuffered: bool,
    /// Whether other transfers write to standard output, too: then only whole lines are written.
    pub whole_lines: bool,
    buffer: Vec<u8>,
}

/// Small pieces are gathered before they are written to a file.
const GATHERED: usize = 64 * 1024;
/// A line that is longer is written in pieces: memory has a bound.
const LONGEST_LINE: usize = 1 << 20;

impl Sink {
    pub fn stdout() -> Sink {
        Sink::new(Stream::Stdout, None, Clobber::Default)
    }

    pub fn null() -> Sink {
        Sink::new(Stream::Null, None, Clobber::Default)
    }

    /// Creates a sink that opens its file when the first bytes arrive.
    pub fn file(name: Option<Bytes>, clobber: Clobber) -> Sink {
        Sink::new(Stream::None, name, clobber)
    }

    fn new(stream: Stream, name: Option<Bytes>, clobber: Clobber) -> Sink {
        Sink {
            stream,
            name,
            named_by_server: false,
            clobber,
            bytes: 0,
            start: 0,
            unbuffered: false,
            whole_lines: false,
            buffer: Vec::new(),
        }
    }

    pub fn is_open(&self) -> bool {
        !matches!(self.stream, Stream::None)
    }

    pub fn is_file(&self) -> bool {
        matches!(self.stream, Stream::File(_))
    }

    /// Opens the file; says why when that fails.
    pub fn open(&mut self, messages: &mut Messages) -> bool {
        let Some(name) = self.name.clone().filter(|name| !name.is_empty()) else {
            messages.warn("Remote filename has no length");
            return false;
        };
        let overwrite = match self.clobber {
            Clobber::Always => true,
            Clobber::Default => !self.named_by_server,
            Clobber::Never => false,
        };
        let opened = if overwrite { system::create(path(&name)) } else { self.open_new(&name) };
        match opened {
            Ok(file) => {
                self.stream = Stream::File(file);
                (self.bytes, self.start) = (0, 0);
                true
            }
            Err(error) => {
                let why = os_text(&error);
                messages.warn(&format!("Failed to open the file {}: {why}", shown(&name)));
                false
            }
        }
    }

    /// A file that did not exist; with `--no-clobber` a number makes the name a new one.
    fn open_new(&mut self, name: &[u8]) -> io::Result<File> {
        let new = |name: &[u8]| OpenOptions::new().write(true).create_new(true).open(path(name));
        let mut opened = new(name);
        for number in 1..=MOST_NUMBERED {
            let taken = matches!(&opened, Err(error) if error.kind() == io::ErrorKind::AlreadyExists);
            if !taken || self.clobber != Clobber::Never {
                break;
            }
            let numbered = [name, b".", number.to_string().as_bytes()].concat();
            opened = new(&numbered);
            if opened.is_ok() {
                self.name = Some(numbered);
            }
        }
        opened
    }

    /// Opens the file at its end, for a transfer that is resumed.
    pub fn append(&mut self) -> io::Result<()> {
        let name = self.name.clone().unwrap_or_default();
        let file = OpenOptions::new().append(true).create(true).open(path(&name))?;
        self.start = file.metadata()?.len();
        self.stream = Stream::File(file);
        Ok(())
    }

    /// Writes a header line. Headers before the body are kept when another attempt discards the body. On
    /// standard output the lines of one head are written `together`, so that a reader of only the first one
    /// (`| head -1`) causes no failure.
    pub fn write_head(&mut self, data: &[u8], together: bool, messages: &mut Messages) -> io::Result<()> {
        if together && !self.unbuffered && matches!(self.stream, Stream::Stdout) {
            self.buffer.extend_from_slice(data);
            let ends = matches!(data, b"\r\n" | b"\n") || self.buffer.len() >= GATHERED;
            return if ends { self.flush() } else { Ok(()) };
        }
        let bytes = self.bytes;
        self.write(data, messages)?;
        self.bytes = bytes;
        Ok(())
    }

    /// Takes a piece; the stream must be open. Reports a full disk, which curl's message does not name.
    pub fn write(&mut self, data: &[u8], messages: &mut Messages) -> io::Result<()> {
        let written = self.write_piece(data, messages);
        if let Err(error) = &written {
            self.report_full_disk(error, messages);
        }
        written
    }

    /// Says that the disk is full if that is the error.
    pub fn report_full_disk(&self, error: &io::Error, messages: &mut Messages) {
        if error.kind() == io::ErrorKind::StorageFull {
            let name = self.name.as_deref().map_or_else(|| "standard output".to_owned(), shown);
            messages.error(&format!("{name}: No space left on device"));
        }
    }

    fn write_piece(&mut self, data: &[u8], messages: &mut Messages) -> io::Result<()> {
        match &mut self.stream {
            Stream::File(file) => {
                if self.unbuffered || self.buffer.is_empty() && data.len() >= GATHERED {
                    file.write_all(data)?;
                } else {
                    self.buffer.extend_from_slice(data);
                    if self.buffer.len() >= GATHERED {
                        file.write_all(&self.buffer)?;
                        self.buffer.clear();
                    }
                }
            }
            Stream::Stdout if self.whole_lines => {
                let ends = data.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
                let rest =
                    if self.buffer.len() + data.len() > LONGEST_LINE { Some(data.len()) } else { None };
                if let Some(end) = ends.or(rest) {
                    let mut out = system::stdout();
                    out.write_all(&std::mem::take(&mut self.buffer))?;
                    out.write_all(&data[..end])?;
                    out.flush()?;
                }
                self.buffer.extend_from_slice(&data[ends.or(rest).unwrap_or(0)..]);
            }
            Stream::Stdout => {
                let mut out = system::stdout();
                out.write_all(&std::mem::take(&mut self.buffer))?;
                out.write_all(data)?;
                if self.unbuffered {
                    out.flush()?;
                }
            }
            Stream::Stderr => messages.raw(data),
            Stream::None | Stream::Null => {}
        }
        self.bytes += data.len() as u64;
        Ok(())
    }

    pub fn flush(&mut self) -> io::Result<()> {
        match &mut self.stream {
            Stream::File(file) => {
                file.write_all(&self.buffer)?;
                self.buffer.clear();
                Ok(())
            }
            Stream::Stdout => {
                let mut out = system::stdout();
                out.write_all(&std::mem::take(&mut self.buffer))?;
                out.flush()
            }
            _ => Ok(()),
        }
    }

    /// Truncates a regular file.
    pub fn empty(&mut self) -> io::Result<()> {
        self.buffer.clear();
        match &mut self.stream {
            Stream::File(file) if file.metadata()?.is_file() => file.set_len(0),
            _ => Ok(()),
        }
    }

    /// Returns a reader of the file's contents before this attempt.
    pub fn before(&self) -> io::Result<Option<impl Read>> {
        let name = self.name.as_deref().filter(|_| self.start > 0 && self.is_file());
        name.map(|name| Ok(File::open(path(name))?.take(self.start))).transpose()
    }

    /// Prepares another attempt that continues where this one stopped; returns the offset.
    pub fn keep(&mut self) -> io::Result<u64> {
        self.flush()?;
        self.start += self.bytes;
        self.bytes = 0;
        Ok(self.start)
    }

    /// Prepares another attempt: truncates what this one wrote.
    pub fn rewind(&mut self) -> io::Result<u64> {
        let thrown = self.bytes;
        if thrown == 0 {
            return Ok(0);
        }
        self.buffer.clear();
        if let Stream::File(file) = &mut self.stream {
            // A device or a pipe keeps what was written.
            if file.metadata()?.is_file() {
                file.set_len(self.start)?;
                file.seek(SeekFrom::Start(self.start))?;
            }
        }
        self.bytes = 0;
        Ok(thrown)
    }

    /// Returns whether the output of this attempt and of earlier ones can be discarded.
    pub fn can_forget(&self) -> io::Result<bool> {
        Ok(match &self.stream {
            Stream::File(file) => file.metadata()?.is_file(),
            Stream::None | Stream::Null => true,
            Stream::Stdout | Stream::Stderr => false,
        })
    }

    /// Rewinds as [`Sink::rewind`] does, over all attempts since the file had this length.
    pub fn rewind_to(&mut self, start: u64) -> io::Result<u64> {
        self.bytes += self.start.saturating_sub(start);
        self.start = start;
        self.rewind()
    }

    /// Writes the rest and closes.
    pub fn close(&mut self) -> io::Result<()> {
        let flushed = self.flush();
        if self.is_file() {
            self.stream = Stream::None;
        }
        flushed
    }
}

/// Makes the directories above a file, for `--create-dirs`.
pub fn create_directories(file: &[u8], messages: &mut Messages) -> bool {
    let Some(parent) = path(file).parent().filter(|parent| !parent.as_os_str().is_empty()) else {
        return true;
    };
    match make_folders(parent, 0o750) {
        Ok(()) => true,
        Err(error) => {
            let (parent, why) = (parent.display(), os_text(&error));
            messages.error(&format!("Failed to create directory {parent}: {why}"));
            false
        }
    }
}

/// `--remove-on-error`.
pub fn remove(name: &[u8], messages: &mut Messages) {
    let shown = shown(name);
    let path = path(name);
    let regular = !is_device(path) && fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    if !regular {
        messages.warn(&format!("Skipping removal; not a regular file: {shown}"));
    } else if fs::remove_file(path).is_ok() {
        messages.note(&format!("Removed output file: {shown}"));
    } else {
        messages.warn(&format!("Failed removing: {shown}"));
    }
}

/// `--remote-time`.
pub fn set_time(name: &[u8], seconds: i64, messages: &mut Messages) {
    let span = Duration::from_secs(seconds.unsigned_abs());
    let time = if seconds < 0 { UNIX_EPOCH.checked_sub(span) } else { UNIX_EPOCH.checked_add(span) };
    let Some(time) = time else { return };
    let set = OpenOptions::new().write(true).open(path(name)).and_then(|file| file.set_modified(time));
    if let Err(error) = set {
        let why = os_text(&error);
        messages.warn(&format!("Failed to set filetime {seconds} on '{}': {why}", shown(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::in_directory;

    fn messages() -> Messages {
        Messages::new(Box::new(io::sink()), None)
    }

    fn folder(name: &str) -> Bytes {
        let folder = std::env::temp_dir().join(format!("warmwire-sink-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder.into_os_string().into_encoded_bytes()
    }

    #[test]
    fn no_clobber_numbers_the_file() {
        let name = in_directory(Some(&folder("number")), b"f");
        fs::write(path(&name), "old").unwrap();
        let mut sink = Sink::file(Some(name.clone()), Clobber::Never);
        assert!(sink.open(&mut messages()));
        sink.write(b"new", &mut messages()).unwrap();
        sink.close().unwrap();
        assert_eq!(fs::read(path(&name)).unwrap(), b"old");
        assert_eq!(fs::read(path(&sink.name.unwrap())).unwrap(), b"new");
    }

    /// CVE-2020-8177
    #[test]
    fn a_servers_name_overwrites_nothing() {
        let name = in_directory(Some(&folder("server")), b"f");
        let there = path(&name);
        fs::write(there, "old").unwrap();
        let mut sink = Sink::file(Some(name.clone()), Clobber::Default);
        sink.named_by_server = true;
        assert!(!sink.open(&mut messages()));
        assert_eq!(fs::read(there).unwrap(), b"old");
    }

    #[test]
    fn rewinding_keeps_what_was_there() {
        let name = in_directory(Some(&folder("rewind")), b"f");
        fs::write(path(&name), "old").unwrap();
        let mut sink = Sink::file(Some(name.clone()), Clobber::Default);
        sink.append().unwrap();
        sink.write(&[b'x'; 100_000], &mut messages()).unwrap();
        assert_eq!(sink.rewind().unwrap(), 100_000);
        sink.write(b"new", &mut messages()).unwrap();
        sink.close().unwrap();
        assert_eq!(fs::read(path(&name)).unwrap(), b"oldnew");
    }

    #[test]
    fn directories_are_made() {
        let name = in_directory(Some(&folder("dirs")), b"a/b/f");
        assert!(create_directories(&name, &mut messages()));
        assert!(create_directories(b"plain", &mut messages()));
        assert!(path(&name).parent().unwrap().is_dir());
    }
}
