//! Finds recorded exchanges: by method, URL and chosen request fields, in the order of the record. Each is
//! replayed once in a process.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use runtime::LockFreeOnce;

use super::draft::FACTS;
use super::facts::Facts;
use super::secrets;

/// Most exchanges of a record.
const MAX_EXCHANGES: usize = 100_000;
/// Longest text with the facts.
const MAX_FACTS: u64 = 1 << 20;
/// Longest file of heads, trailers or FTP commands.
const MAX_TEXT: u64 = 16 << 20;
/// Exchanges that an error message names.
const NAMED: usize = 5;

/// A record that is replayed.
pub struct Player {
    folder: PathBuf,
    /// Request fields that must be equal.
    headers: Vec<String>,
    index: LockFreeOnce<Result<Index, String>>,
}

/// All exchanges of a record, in order.
struct Index {
    entries: Vec<Entry>,
    by_request: HashMap<Asked, Alike>,
    /// Number of exchanges that were not completed.
    incomplete: usize,
}

/// The exchanges of one method and URL.
#[derive(Default)]
struct Alike {
    /// Their positions among all entries, in order.
    numbers: Vec<usize>,
    /// How many at the beginning were replayed.
    used: AtomicUsize,
    /// The numbers of bytes after which the recorded requests stopped before the end of their body.
    stops: BTreeSet<u64>,
}

/// A recorded exchange.
pub struct Entry {
    folder: PathBuf,
    /// The facts about it.
    pub facts: Facts,
    used: AtomicBool,
}

impl Player {
    /// Creates a player; the folder is read when the first exchange is looked for.
    pub fn new(folder: PathBuf, headers: Vec<String>) -> Player {
        Player { folder, headers, index: LockFreeOnce::new() }
    }

    fn index(&self) -> Result<&Index, String> {
        let index = self.index.get(|| Index::read(&self.folder));
        index
            .as_ref()
            .map_err(|why| format!("the record {} cannot be replayed: {why}", self.folder.display()))
    }

    /// Returns the exchange that the next request of this method and URL gets, and leaves it there.
    pub fn peek(&self, asked: &Asked) -> Result<&Entry, String> {
        let index = self.index()?;
        index.unused(asked, 0).next().map(|(_, entry)| entry).ok_or_else(|| self.missing(index, asked))
    }

    /// Takes the next exchange of this method and URL. `head` is the request's, whose chosen fields must be
    /// equal to the recorded ones.
    pub fn take(&self, asked: &Asked, head: &[u8]) -> Result<&Entry, String> {
        let mut fitting = self.fitting(asked, head, 0)?;
        match fitting.find(|(_, entry)| self.claim(asked, entry)) {
            Some((_, entry)) => Ok(entry),
            None => Err(self.refusal(asked, head)),
        }
    }

    /// Returns the unused exchanges of this method and URL whose chosen fields equal those of the head, from
    /// a position on, each with its position.
    pub fn fitting<'a, 'h>(
        &'a self,
        asked: &Asked,
        head: &'h [u8],
        from: usize,
    ) -> Result<impl Iterator<Item = (usize, &'a Entry)> + use<'a, 'h>, String> {
        let unused = self.index()?.unused(asked, from);
        Ok(unused.filter(move |(_, entry)| self.difference(entry, head).is_none()))
    }

    /// Returns the positions at which recorded requests of this method and URL stopped within their body.
    pub fn stops(&self, asked: &Asked) -> BTreeSet<u64> {
        let alike = self.index().ok().and_then(|index| index.by_request.get(asked));
        alike.map(|alike| alike.stops.clone()).unwrap_or_default()
    }

    /// Marks an exchange as replayed. Returns whether it was not before.
    pub fn claim(&self, asked: &Asked, entry: &Entry) -> bool {
        if entry.used.swap(true, Ordering::Relaxed) {
            return false;
        }
        if let Ok(index) = self.index() {
            index.skip_used(asked);
        }
        true
    }

    /// Says why no exchange answers this request.
    pub fn refusal(&self, asked: &Asked, head: &[u8]) -> String {
        let index = match self.index() {
            Ok(index) => index,
            Err(why) => return why,
        };
        match index.of(asked).find_map(|entry| self.difference(entry, head)) {
            Some(name) => format!(
                "the record {} has {asked} with another {name} only, or replayed it before",
                self.folder.display()
            ),
            None => self.missing(index, asked),
        }
    }

    /// Returns all exchanges with a host and port, for a dialogue that continues differently.
    pub fn with_peer(&self, protocol: &str, url: &str) -> Vec<&Entry> {
        let of_url = |url: &str| url.split('/').take(3).map(str::to_owned).collect::<Vec<_>>();
        let wanted = of_url(url);
        let Ok(index) = self.index() else { return Vec::new() };
        let fits = |entry: &&Entry| entry.facts.protocol == protocol && of_url(&entry.facts.url) == wanted;
        index.entries.iter().filter(fits).collect()
    }

    /// Returns the chosen field in which a request differs from a recorded one.
    fn difference(&self, entry: &Entry, head: &[u8]) -> Option<&str> {
        if self.headers.is_empty() {
            return None;
        }
        let head = secrets::request_head(head);
        let recorded = entry.text("request.head").unwrap_or_default();
        self.headers.iter().find(|name| values(&head, name) != values(&recorded, name)).map(String::as_str)
    }

    /// Says what was asked for, and what there is.
    fn missing(&self, index: &Index, asked: &Asked) -> String {
        let folder = self.folder.display();
        let known = index.of(asked).count();
        if known > 0 {
            return format!("the record {folder} has {asked} {}, and all were replayed", times(known));
        }
        let mut requests: Vec<String> = Vec::new();
        for Entry { facts, .. } in &index.entries {
            let request = format!("{} {}", facts.method, facts.url);
            if !requests.contains(&request) {
                requests.push(request);
            }
            if requests.len() > NAMED {
                break;
            }
        }
        let more = requests.len() > NAMED;
        requests.truncate(NAMED);
        let list = requests.join(", ") + if more { ", ..." } else { "" };
        let incomplete = match index.incomplete {
            0 => String::new(),
            count => format!("; {} not completed", exchanges(count)),
        };
        match index.entries.len() {
            0 => format!("the record {folder} has no exchange, and {asked} was requested{incomplete}"),
            count => {
                format!("the record {folder} has no {asked}; it has {}: {list}{incomplete}", exchanges(count))
            }
        }
    }
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn exchanges(count: usize) -> String {
    format!("{count} exchange{}", if count == 1 { "" } else { "s" })
}

/// Method and URL of a request, as records name them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    method: String,
    url: String,
}

impl Asked {
    /// Names a request; secrets in the URL are replaced.
    pub fn new(method: &[u8], url: &[u8]) -> Asked {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Asked { method: text(method), url: text(&secrets::url(url)) }
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.url)
    }
}

/// Returns the values of a field in a head.
fn values(head: &[u8], name: &str) -> Vec<Vec<u8>> {
    let field = |line: &[u8]| {
        let colon = line.iter().position(|b| *b == b':')?;
        let fits = line[..colon].eq_ignore_ascii_case(name.as_bytes());
        fits.then(|| line[colon + 1..].trim_ascii().to_vec())
    };
    head.split(|b| *b == b'\n').filter_map(field).collect()
}

impl Index {
    fn read(folder: &Path) -> Result<Index, String> {
        let list = fs::read_dir(folder).and_then(|list| list.collect::<io::Result<Vec<_>>>());
        let mut names: Vec<PathBuf> =
            list.map_err(|e| e.to_string())?.into_iter().map(|e| e.path()).collect();
        let before = names.len();
        // A hidden folder is an exchange that was not completed.
        names.retain(|path| !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")));
        let incomplete = before - names.len();
        names.retain(|path| path.join(FACTS).is_file());
        names.sort();
        if names.len() > MAX_EXCHANGES {
            return Err(format!("it has {} exchanges, more than {MAX_EXCHANGES}", names.len()));
        }
        let entries = Vec::with_capacity(names.len());
        let mut index = Index { entries, by_request: HashMap::new(), incomplete };
        for folder in names {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let entry = Entry::read(folder).map_err(|why| format!("{name}/{FACTS}: {why}"))?;
            let Facts { method, url, .. } = &entry.facts;
            let asked = Asked { method: method.clone(), url: url.clone() };
            let alike = index.by_request.entry(asked).or_default();
            alike.numbers.push(index.entries.len());
            if entry.facts.request_stopped {
                alike.stops.insert(entry.facts.request_body);
            }
            index.entries.push(entry);
        }
        Ok(index)
    }

    fn of(&self, asked: &Asked) -> impl Iterator<Item = &Entry> {
        let numbers = self.by_request.get(asked).map(|alike| &alike.numbers);
        numbers.into_iter().flatten().map(|number| &self.entries[*number])
    }

    /// Returns the unused exchanges of a request from a position on, each with its position.
    fn unused<'a>(
        &'a self,
        asked: &Asked,
        from: usize,
    ) -> impl Iterator<Item = (usize, &'a Entry)> + use<'a> {
        let alike = self.by_request.get(asked);
        let from = alike.map_or(0, |alike| alike.used.load(Ordering::Relaxed)).max(from);
        let numbers = alike.into_iter().flat_map(|alike| alike.numbers.iter().enumerate());
        let entries = numbers.skip(from).map(|(at, number)| (at, &self.entries[*number]));
        entries.filter(|(_, entry)| !entry.used.load(Ordering::Relaxed))
    }

    /// Moves the beginning of the unused exchanges: a program that polls one URL must not search them all.
    fn skip_used(&self, asked: &Asked) {
        let Some(alike) = self.by_request.get(asked) else { return };
        let first = self.unused(asked, 0).next().map_or(alike.numbers.len(), |(at, _)| at);
        alike.used.fetch_max(first, Ordering::Relaxed);
    }
}

impl Entry {
    fn read(folder: PathBuf) -> Result<Entry, String> {
        let text = read_limited(&folder.join(FACTS), MAX_FACTS).map_err(|e| e.to_string())?;
        let text = String::from_utf8(text).map_err(|_| "it is not UTF-8".to_owned())?;
        Ok(Entry { facts: Facts::parse(&text)?, folder, used: AtomicBool::new(false) })
    }

    /// Returns a text of the record; an empty one if the record has none of that name.
    pub fn text(&self, name: &str) -> Result<Vec<u8>, String> {
        match read_limited(&self.folder.join(name), MAX_TEXT) {
            Ok(text) => Ok(text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(e) => Err(self.damaged(name, &e.to_string())),
        }
    }

    /// Opens a body of the record, which must have this length.
    pub fn body(&self, name: &str, length: u64) -> Result<Box<dyn Read + Send>, String> {
        let file = match open_file(&self.folder.join(name)) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound && length == 0 => return Ok(Box::new(io::empty())),
            Err(e) => return Err(self.damaged(name, &e.to_string())),
        };
        match file.metadata().map(|about| about.len()) {
            Ok(found) if found == length => Ok(Box::new(file)),
            Ok(found) => Err(self.damaged(name, &format!("it has {found} bytes, not {length}"))),
            Err(e) => Err(self.damaged(name, &e.to_string())),
        }
    }

    /// Opens a body of the record, if it has one of that name.
    pub fn open(&self, name: &str) -> Option<File> {
        open_file(&self.folder.join(name)).ok()
    }

    fn damaged(&self, name: &str, why: &str) -> String {
        format!("the recorded {}: {why}", self.folder.join(name).display())
    }
}

/// Opens a regular file: a pipe would make the program wait.
fn open_file(path: &Path) -> io::Result<File> {
    match fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

fn read_limited(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(io::Error::other(format!("it is longer than {most} bytes"))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::facts::End;
    use testkit::temp::TempDir;

    fn add(folder: &Path, name: &str, method: &str, url: &str, accept: &str) {
        let folder = folder.join(name);
        fs::create_dir(&folder).unwrap();
        let (method, url) = (method.to_owned(), url.to_owned());
        let facts = Facts {
            protocol: "http".into(),
            method,
            url,
            version: 11,
            end: End::Complete,
            ..Facts::default()
        };
        fs::write(folder.join(FACTS), facts.text()).unwrap();
        let head = format!("GET / HTTP/1.1\r\nHost: h\r\nAccept: {accept}\r\nCookie: (redacted)\r\n\r\n");
        fs::write(folder.join("request.head"), head).unwrap();
    }

    fn name(found: Result<&Entry, String>) -> String {
        found.map_or_else(|why| why, |entry| entry.folder.file_name().unwrap().to_string_lossy().into_owned())
    }

    #[test]
    fn exchanges_are_found_in_order_and_once() {
        let dir = TempDir::new("player").unwrap();
        for (number, url) in
            [("3", "http://h/a"), ("1", "http://h/a"), ("2", "http://h/b"), (".4.part", "http://h/c")]
        {
            add(dir.path(), number, "GET", url, "*/*");
        }
        let player = Player::new(dir.path().to_owned(), Vec::new());
        let take = |method: &[u8], url: &str| name(player.take(&Asked::new(method, url.as_bytes()), b""));
        assert_eq!(name(player.peek(&Asked::new(b"GET", b"http://h/a"))), "1");
        assert_eq!(take(b"GET", "http://u:p@h/a"), "1");
        assert_eq!(take(b"GET", "http://h/a"), "3");
        assert_eq!(take(b"GET", "http://h/b"), "2");
        let folder = dir.path().display();
        let used = format!("the record {folder} has GET http://h/a 2 times, and all were replayed");
        assert_eq!(take(b"GET", "http://h/a"), used);
        let list = "it has 3 exchanges: GET http://h/a, GET http://h/b; 1 exchange not completed";
        assert_eq!(
            take(b"POST", "http://h/a"),
            format!("the record {folder} has no POST http://h/a; {list}")
        );
        assert_eq!(take(b"GET", "http://h/c"), format!("the record {folder} has no GET http://h/c; {list}"));
    }

    #[test]
    fn chosen_fields_must_be_equal() {
        let dir = TempDir::new("player").unwrap();
        add(dir.path(), "1", "GET", "http://h/a", "text/html");
        add(dir.path(), "2", "GET", "http://h/a", "text/plain");
        let player = Player::new(dir.path().to_owned(), vec!["accept".into(), "cookie".into()]);
        let asked = Asked::new(b"GET", b"http://h/a");
        let head = |accept: &str| format!("GET /a HTTP/1.1\r\nAccept: {accept}\r\nCookie: a=secret\r\n\r\n");
        let take = |accept: &str| name(player.take(&asked, head(accept).as_bytes()));
        assert_eq!(take("text/plain"), "2");
        assert_eq!(take("text/html"), "1");
        assert!(take("image/png").contains("with another accept only"), "{}", take("image/png"));
    }

    #[test]
    fn damaged_records_say_what_is_wrong() {
        let dir = TempDir::new("player").unwrap();
        let missing = Player::new(dir.path().join("none"), Vec::new());
        let asked = Asked::new(b"GET", b"http://h/a");
        assert!(name(missing.peek(&asked)).contains("cannot be replayed"));
        add(dir.path(), "1", "GET", "http://h/a", "*/*");
        let player = Player::new(dir.path().to_owned(), Vec::new());
        let entry = player.peek(&asked).unwrap();
        fs::write(dir.path().join("1/response.body"), "abc").unwrap();
        assert!(entry.body("response.body", 3).is_ok());
        let error = entry.body("response.body", 4).err().unwrap();
        assert!(error.contains("it has 3 bytes, not 4"), "{error}");
        fs::write(dir.path().join("1").join(FACTS), "Warmwire-Record: 1\nMethod: GET\n").unwrap();
        let player = Player::new(dir.path().to_owned(), Vec::new());
        let error = name(player.peek(&asked));
        assert!(error.contains("1/exchange.txt: it is cut off"), "{error}");
    }
}
