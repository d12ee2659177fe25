//! The state of a mirror, in its folder: the file of each URL, and the validators of its content. It is a
//! journal, so that the next run continues where a killed one ended.
//!
//! Each line is a record with fields that are separated by tabs and percent-encoded. A later record of a URL
//! replaces an earlier one. A line that was cut off, or that a newer version has written, is ignored.

use super::file_names::is_safe;
use crate::bytes::Bytes;
use crate::raw::escape::{Reject, decode};
use crate::replace::replace;
use crate::text::url_escape;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The first line of the journal.
const HEADER: &[u8] = b"warmwire-mirror 1";
const JOURNAL: &str = "state";
/// The file that is locked: on Windows, a locked file cannot be replaced.
const LOCK: &str = "lock";
/// A larger journal is not read: no mirror writes it.
const LARGEST: u64 = 1 << 30;

/// How a file is read for references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Html,
    Style,
    Other,
}

impl Kind {
    /// Returns the kind of a resource by its media type, or else by the end of its name.
    pub fn of(media_type: Option<&[u8]>, path: &[u8]) -> Kind {
        let media_type =
            media_type.unwrap_or_default().split(|octet| *octet == b';').next().unwrap_or_default();
        let path = path.to_ascii_lowercase();
        let has_end = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end.as_bytes()));
        match media_type.trim_ascii().to_ascii_lowercase().as_slice() {
            b"text/html" | b"application/xhtml+xml" => Kind::Html,
            b"text/css" => Kind::Style,
            b"" if has_end(&[".html", ".htm", ".xhtml"]) => Kind::Html,
            b"" if has_end(&[".css"]) => Kind::Style,
            _ => Kind::Other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Html => "html",
            Kind::Style => "style",
            Kind::Other => "other",
        }
    }
}

/// The state of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    File(StoredFile),
    /// It redirects to this URL.
    Moved(Bytes),
}

/// A file that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Its path in the mirror.
    pub path: Bytes,
    pub kind: Kind,
    pub size: u64,
    /// The time that the server reported, in seconds since the epoch.
    pub modified: Option<i64>,
    pub etag: Option<Bytes>,
    /// The run that has fetched or checked it.
    pub run: u64,
}

/// The state of a mirror, and its journal.
#[derive(Debug)]
pub struct State {
    folder: PathBuf,
    journal: File,
    _lock: File,
    pub records: BTreeMap<Bytes, Record>,
    /// The number of this run; one that was interrupted keeps its number when it continues.
    pub run: u64,
}

impl State {
    /// Opens the state in this folder. It is locked until the end of the process.
    pub fn open(folder: &Path) -> io::Result<State> {
        let lock = OpenOptions::new().append(true).create(true).open(folder.join(LOCK))?;
        if lock.try_lock().is_err() {
            return Err(io::Error::other("another command uses it"));
        }
        let path = folder.join(JOURNAL);
        let journal = OpenOptions::new().append(true).create(true).open(&path)?;
        if journal.metadata()?.len() > LARGEST {
            return Err(io::Error::other("its state is too large"));
        }
        let text = fs::read(&path)?;
        let (records, last, is_complete) = parse(&text);
        let mut state = State { folder: folder.to_owned(), journal, _lock: lock, records, run: last };
        if is_complete {
            state.run += 1;
        }
        let start = [&b"\n"[..], HEADER, b"\nrun\t", state.run.to_string().as_bytes(), b"\n"].concat();
        state.journal.write_all(&start)?;
        Ok(state)
    }

    /// Sets the record of a URL.
    pub fn set(&mut self, url: &[u8], record: Record) -> io::Result<()> {
        self.journal.write_all(&line(url, &record))?;
        self.records.insert(url.to_vec(), record);
        Ok(())
    }

    /// Forgets a URL.
    pub fn remove(&mut self, url: &[u8]) -> io::Result<()> {
        self.records.remove(url);
        self.journal.write_all(&[b"gone\t", url, b"\n"].concat())
    }

    /// Returns the file of a URL.
    pub fn file(&self, url: &[u8]) -> Option<&StoredFile> {
        match self.records.get(url)? {
            Record::File(file) => Some(file),
            Record::Moved(_) => None,
        }
    }

    /// Returns the file that a URL leads to, over redirects.
    pub fn file_behind(&self, url: &[u8]) -> Option<&StoredFile> {
        const MOST_REDIRECTS: usize = 20;
        let mut url = url;
        for _ in 0..=MOST_REDIRECTS {
            match self.records.get(url)? {
                Record::File(file) => return Some(file),
                Record::Moved(target) => url = target,
            }
        }
        None
    }

    /// Ends the run: the next one asks for everything again. Only the last record of each URL is kept.
    pub fn finish(&mut self) -> io::Result<()> {
        let mut text = [HEADER, b"\nrun\t", self.run.to_string().as_bytes(), b"\n"].concat();
        for (url, record) in &self.records {
            text.extend(line(url, record));
        }
        text.extend(b"end\n");
        let path = self.folder.join(JOURNAL).into_os_string().into_encoded_bytes();
        replace(&path, &text, None)
    }
}

fn line(url: &[u8], record: &Record) -> Vec<u8> {
    let number = |number: Option<i64>| number.map_or(Vec::new(), |number| number.to_string().into_bytes());
    let fields = match record {
        Record::Moved(target) => vec![b"moved".to_vec(), url.to_vec(), target.clone()],
        Record::File(file) => vec![
            b"file".to_vec(),
            url.to_vec(),
            url_escape(&file.path),
            file.kind.name().into(),
            file.size.to_string().into_bytes(),
            number(file.modified),
            url_escape(file.etag.as_deref().unwrap_or_default()),
            file.run.to_string().into_bytes(),
        ],
    };
    let mut line = fields.join(&b'\t');
    line.push(b'\n');
    line
}

/// Returns the records, the number of the last run, and whether it has ended.
fn parse(text: &[u8]) -> (BTreeMap<Bytes, Record>, u64, bool) {
    let (mut records, mut run, mut is_complete) = (BTreeMap::new(), 0, true);
    // An interrupted write leaves an incomplete last line.
    let end = text.iter().rposition(|octet| *octet == b'\n').unwrap_or(0);
    for line in text[..end].split(|octet| *octet == b'\n') {
        let fields: Vec<&[u8]> = line.split(|octet| *octet == b'\t').collect();
        match fields[..] {
            [b"run", number] => (run, is_complete) = (parsed(number).unwrap_or(run), false),
            [b"end"] => is_complete = true,
            [b"gone", url] => drop(records.remove(url)),
            [b"moved", url, target] => drop(records.insert(url.to_vec(), Record::Moved(target.to_vec()))),
            [b"file", url, ref rest @ ..] => {
                if let Some(file) = parse_file(rest) {
                    records.insert(url.to_vec(), Record::File(file));
                }
            }
            _ => {}
        }
    }
    (records, run, is_complete)
}

fn parse_file(fields: &[&[u8]]) -> Option<StoredFile> {
    let &[path, kind, size, modified, etag, run] = fields else { return None };
    let path = decode(path, Reject::Control).ok()?;
    let kind =
        [Kind::Html, Kind::Style, Kind::Other].into_iter().find(|known| known.name().as_bytes() == kind)?;
    let etag = decode(etag, Reject::Control).ok().filter(|etag| !etag.is_empty());
    let file =
        StoredFile { kind, size: parsed(size)?, modified: parsed(modified), etag, run: parsed(run)?, path };
    is_safe(&file.path).then_some(file)
}

fn parsed<N: std::str::FromStr>(text: &[u8]) -> Option<N> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, run: u64) -> StoredFile {
        let etag = Some(b"\"a\tb\"".to_vec());
        StoredFile { path: path.into(), kind: Kind::Html, size: 7, modified: Some(-1), etag, run }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("warmwire-mirror-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn records_survive_until_the_last_complete_line() {
        let folder = folder("state");
        let record = Record::File(StoredFile { etag: Some(b"\"a b\"".to_vec()), ..file("h/a b\u{e4}", 1) });
        let mut state = State::open(&folder).unwrap();
        assert_eq!((state.run, state.records.len()), (1, 0));
        state.set(b"http://h/a", record.clone()).unwrap();
        state.set(b"http://h/b", Record::Moved(b"http://h/a".to_vec())).unwrap();
        state.set(b"http://h/c", record.clone()).unwrap();
        state.remove(b"http://h/c").unwrap();
        state.journal.write_all(b"file\thttp://h/d\th/d\thtml\t1").unwrap();
        assert!(State::open(&folder).is_err(), "locked");
        drop(state);
        let mut state = State::open(&folder).unwrap();
        assert_eq!((state.run, state.records.len()), (1, 2), "the run continues");
        assert_eq!(state.file_behind(b"http://h/b"), state.file(b"http://h/a"));
        assert_eq!(state.records[&b"http://h/a"[..]], record);
        state.finish().unwrap();
        drop(state);
        let state = State::open(&folder).unwrap();
        assert_eq!((state.run, state.records.len()), (2, 2), "the next run");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn wrong_lines_name_no_file() {
        for path in ["../x", "/x", ".warmwire-mirror/state", "a/%00", "a//b"] {
            let text = format!("file\thttp://h/\t{path}\thtml\t1\t\t\t1\n\n");
            assert_eq!(parse(text.as_bytes()).0.len(), 0, "{path}");
        }
        for text in
            ["file", "file\tu", "file\tu\tp\tother kind\t1\t\t\t1", "file\tu\tp\thtml\t-1\t\t\t1", "\t\t", ""]
        {
            assert_eq!(parse(format!("{text}\n\n").as_bytes()).0.len(), 0, "{text:?}");
        }
        let loops = parse(b"moved\ta\tb\nmoved\tb\ta\n").0;
        let folder = folder("loops");
        let state = State { records: loops, ..State::open(&folder).unwrap() };
        assert_eq!(state.file_behind(b"a"), None);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn kinds() {
        for (media_type, path, kind) in [
            (Some("text/html; charset=utf-8"), "/x", Kind::Html),
            (Some("TEXT/CSS"), "/x", Kind::Style),
            (Some("text/plain"), "/x.html", Kind::Other),
            (None, "/x.HTM", Kind::Html),
            (None, "/x.css", Kind::Style),
            (None, "/x", Kind::Other),
        ] {
            assert_eq!(Kind::of(media_type.map(str::as_bytes), path.as_bytes()), kind, "{path}");
        }
    }
}
