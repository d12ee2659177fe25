//! The visits of a mirror: the request for each URL, and the handling of the answer.

use super::frontier::{Listed, Visit, server_of};
use super::html::{self, Document};
use super::listing::{self, EntryKind};
use super::reply::{Failure, Meaning, Reply};
use super::scope::Role;
use super::site::{Mirror, Task};
use super::state::{Kind, Record, StoredFile};
use super::{address, file_names};
use crate::bytes::Bytes;
use crate::event_lines;
use crate::message::{os_text, shown};
use crate::queue::Item;
use crate::raw::{EasyOption as O, http_date};
use crate::request::Request;
use crate::system::{self, path};
use crate::url::parse_url;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::rc::Rc;
use warmwire::watch::{EventKind, Stamp};

/// Longer chains of redirects fail.
const MOST_REDIRECTS: u32 = 20;
/// A larger document is stored, and not read for links.
const LARGEST_DOCUMENT: u64 = 32 << 20;
/// CURLE numbers.
const WRITE_ERROR: i32 = 23;
const TOO_MANY_REDIRECTS: i32 = 47;
const BAD_LIST: i32 = 87;
/// The server refused a command.
const COULD_NOT_RETRIEVE: i32 = 19;

impl Mirror {
    /// Returns the transfer of a visit, or `None` if nothing has to be requested.
    pub(super) fn start(&mut self, visit: Visit) -> Option<Item> {
        let url = visit.url.clone();
        if listing::is_folder(&url) {
            let is_mlsd = listing::may_know_mlsd(&url) && !self.without_mlsd.contains(server_of(&url));
            return Some(self.listing_item(visit, is_mlsd));
        }
        let has_given_name =
            |file: &&StoredFile| self.given_names.get(&url).is_none_or(|given| *given == file.path);
        let known = self.state.file(&url).filter(has_given_name);
        let known = known.filter(|file| self.is_intact(file)).cloned();
        if let Some(file) = known.as_ref().filter(|file| file.run == self.state.run) {
            self.counts.continued += usize::from(!visit.is_again);
            self.follow_stored(&visit, file);
            return None;
        }
        let syncs = self.env.globals.mirror.sync;
        if syncs && visit.listed.is_some_and(|listed| self.is_as_listed(&url, &listed)) {
            self.note_unchanged(&visit);
            return None;
        }
        let request = self.requests.of(&url).clone();
        match known.filter(|_| syncs) {
            Some(file) if url.starts_with(b"http") => {
                let request = Rc::new(conditional(&request, &file));
                Some(self.item(&url, Task::Visit(visit), request))
            }
            Some(_) => {
                let request = Rc::new(Request { head: true, ..Request::clone(&request) });
                Some(self.item(&url, Task::Stat(visit), request))
            }
            None => Some(self.item(&url, Task::Visit(visit), request)),
        }
    }

    fn listing_item(&mut self, visit: Visit, is_mlsd: bool) -> Item {
        let url = visit.url.clone();
        let mut request = self.requests.of(&url).clone();
        if is_mlsd {
            Rc::make_mut(&mut request).options.set_text(O::CustomRequest, b"MLSD");
        }
        self.item(&url, Task::Listing(visit, is_mlsd), request)
    }

    /// Returns whether the file of a record is there, with its size.
    pub(super) fn is_intact(&self, file: &StoredFile) -> bool {
        let source = self.tree.source(&file.path);
        source.and_then(|source| fs::metadata(source).ok()).is_some_and(|about| about.len() == file.size)
    }

    /// Returns whether the file is the one that a listing describes, by size and time.
    fn is_as_listed(&self, url: &[u8], listed: &Listed) -> bool {
        let (Some(size), Some(modified)) = (listed.size, listed.modified) else { return false };
        let known = self.state.file(url).filter(|file| self.is_intact(file));
        known.is_some_and(|file| file.size == size && file.modified == Some(modified))
    }

    pub(super) fn finish_visit(&mut self, visit: Visit, number: usize, reply: &Reply) -> i32 {
        match reply.meaning() {
            Meaning::Content => self.store(&visit, number, reply),
            Meaning::Unchanged => {
                self.note_unchanged(&visit);
                0
            }
            Meaning::Moved(target) => self.follow_redirect(&visit, &target),
            Meaning::Gone(failure) => self.note_gone(&visit, failure),
            Meaning::Failed(failure) => self.fail(&visit.url, &failure),
        }
    }

    pub(super) fn finish_stat(&mut self, visit: Visit, reply: &Reply) -> i32 {
        match reply.meaning() {
            Meaning::Gone(failure) => return self.note_gone(&visit, failure),
            Meaning::Failed(failure) => return self.fail(&visit.url, &failure),
            _ => {}
        }
        let known = self.state.file(&visit.url);
        // SFTP reports no size for an empty file: the listing does.
        let size = reply.announced.or(visit.listed.and_then(|listed| listed.size));
        let is_same = known.is_some_and(|file| {
            file.modified.is_some() && file.modified == reply.modified && Some(file.size) == size
        });
        if is_same {
            self.note_unchanged(&visit);
            return 0;
        }
        if let Some(Record::File(file)) = self.state.records.get_mut(&visit.url) {
            file.modified = None;
            file.size = u64::MAX; // it is fetched now, whatever is known
        }
        self.frontier.push(visit);
        0
    }

    pub(super) fn finish_listing(&mut self, visit: Visit, number: usize, reply: Reply, is_mlsd: bool) -> i32 {
        let code = reply.code;
        if is_mlsd && code == COULD_NOT_RETRIEVE {
            self.without_mlsd.insert(server_of(&visit.url).to_vec());
            self.frontier.push(visit);
            return 0;
        }
        let text = match read_up_to(&self.tree.draft(number), LARGEST_DOCUMENT) {
            _ if code != 0 => Err(Failure { reason: reply.text, code }),
            Ok(text) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Failure { reason: os_text(&error), code: WRITE_ERROR }),
        };
        let unknown = || Failure { reason: "the listing can not be read".to_owned(), code: BAD_LIST };
        match text.and_then(|text| listing::read(&text, is_mlsd).ok_or_else(unknown)) {
            Ok(folder) => {
                self.listed.insert(visit.url.clone());
                self.identities.extend(folder.identity.map(|identity| (visit.url.clone(), identity)));
                folder.entries.into_iter().for_each(|entry| self.offer_entry(&visit, entry));
                0
            }
            Err(failure) => {
                self.unlisted.insert(visit.url.clone());
                self.fail(&visit.url, &failure)
            }
        }
    }

    fn offer_entry(&mut self, folder: &Visit, entry: listing::Entry) {
        let url = listing::url_of(&folder.url, &entry);
        if self.env.globals.mirror.sync_delete {
            self.present.insert(url.clone());
        }
        match entry.kind {
            EntryKind::File => {
                let listed = Some(entry.listed);
                self.offer(Visit { depth: folder.depth, listed, ..Visit::start(url) });
            }
            EntryKind::Folder if self.is_circle(&url, entry.identity.as_deref()) => {
                self.counts.symbolic_links += 1
            }
            EntryKind::Folder => {
                self.identities.extend(entry.identity.map(|identity| (url.clone(), identity)));
                self.offer(Visit { depth: folder.depth + 1, ..Visit::start(url) });
            }
            EntryKind::Link => self.counts.symbolic_links += 1,
            EntryKind::Other => {}
        }
    }

    /// Returns whether a folder is one of those that contain it, by a link that the server does not show.
    fn is_circle(&self, url: &[u8], identity: Option<&[u8]>) -> bool {
        let least = server_of(url).len();
        let is_same = |end: usize| self.identities.get(&url[..=end]).map(Vec::as_slice) == identity;
        identity.is_some() && (least..url.len() - 1).any(|end| url[end] == b'/' && is_same(end))
    }

    /// Counts a failure, and reports it. Returns its exit code.
    pub(super) fn fail(&mut self, url: &[u8], failure: &Failure) -> i32 {
        self.env.error_line(&format!("curl: ({}) {}: {}", failure.code, shown(url), failure.reason));
        self.print(|| event_lines::of_failure(&shown(url), failure.code, &failure.reason));
        self.counts.fail(&failure.reason);
        failure.code
    }

    fn note_unchanged(&mut self, visit: &Visit) {
        self.counts.unchanged += 1;
        let run = self.state.run;
        let Some(file) = self.state.file(&visit.url).cloned() else { return };
        let file = StoredFile { run, ..file };
        self.follow_stored(visit, &file);
        self.record(&visit.url, Record::File(file));
    }

    /// Handles a resource that does not exist. One that nothing leads to any more may go without an error.
    /// Servers of FTP also answer so if a file may not be read: there only the listing counts.
    fn note_gone(&mut self, visit: &Visit, failure: Failure) -> i32 {
        if self.env.globals.mirror.sync_delete && !listing::is_listed_scheme(&visit.url) {
            self.remove(&visit.url);
        }
        if visit.role == Role::Mention { 0 } else { self.fail(&visit.url, &failure) }
    }

    fn follow_redirect(&mut self, visit: &Visit, target: &[u8]) -> i32 {
        let failed = |reason: &str| Failure { reason: reason.to_owned(), code: TOO_MANY_REDIRECTS };
        let Some(target) = address::resolve(&visit.url, target) else {
            return self.fail(&visit.url, &failed("a redirect leads to no URL that a mirror can have"));
        };
        if visit.redirects >= MOST_REDIRECTS {
            return self.fail(&visit.url, &failed("too many redirects"));
        }
        if let Some(name) = self.given_names.get(&visit.url).cloned() {
            self.given_names.insert(target.url.clone(), name);
        }
        if visit.depth == 0
            && let (Ok(old), Ok(new)) = (parse_url(&visit.url), parse_url(&target.url))
        {
            self.scope.move_root(&old, &new);
        }
        self.record(&visit.url, Record::Moved(target.url.clone()));
        let next = Visit { url: target.url, redirects: visit.redirects + 1, listed: None, ..visit.clone() };
        self.offer(next);
        0
    }

    /// Stores the content of a URL under its name, and follows its links.
    fn store(&mut self, visit: &Visit, number: usize, reply: &Reply) -> i32 {
        let draft = self.tree.draft(number);
        let Ok(url) = parse_url(&visit.url) else { return 0 };
        let kind = Kind::of(reply.media_type.as_deref(), url.path());
        if self.env.globals.mirror.is_on && !self.scope.accepts(&url) {
            self.follow_file(visit, path(&draft), kind);
            return 0;
        }
        let known = || self.state.file(&visit.url).map(|file| file.path.clone());
        let name = match self.given_names.get(&visit.url).cloned().or_else(known) {
            Some(name) => name,
            None => match file_names::wanted_parts(&url) {
                Some(parts) => self.names.assign(&parts),
                None => {
                    let reason = "the path is too long for a file".to_owned();
                    return self.fail(&visit.url, &Failure { reason, code: WRITE_ERROR });
                }
            },
        };
        let converts = self.env.globals.mirror.convert_links && kind != Kind::Other;
        let placed = fs::metadata(path(&draft))
            .and_then(|about| self.tree.place(&draft, &name, converts).map(|()| about.len()));
        match placed {
            Ok(size) => {
                let run = self.state.run;
                let (modified, etag) = (reply.modified, reply.etag.clone());
                let file = StoredFile { path: name, kind, size, modified, etag, run };
                let is_new = self.state.file(&visit.url).is_none();
                self.announce(if is_new { EventKind::First } else { EventKind::Changed }, &visit.url, &file);
                self.counts.fetched += 1;
                self.counts.bytes += size;
                self.record(&visit.url, Record::File(file.clone()));
                self.follow_stored(visit, &file);
                0
            }
            Err(error) => {
                let reason = format!("cannot write {}: {}", shown(&name), os_text(&error));
                self.fail(&visit.url, &Failure { reason, code: WRITE_ERROR })
            }
        }
    }

    /// Prints a line about a file, for `--watch-json`.
    pub(super) fn announce(&self, kind: EventKind, url: &[u8], file: &StoredFile) {
        self.print(|| {
            let mut stamp = Stamp::default();
            if kind != EventKind::Gone {
                (stamp.modified, stamp.size) = (file.modified, Some(file.size));
                stamp.etag.clone_from(&file.etag);
            }
            let saved = self.tree.file(&file.path);
            event_lines::of_file(kind, &shown(url), &stamp, Some(&saved.to_string_lossy()))
        });
    }

    fn print(&self, line: impl FnOnce() -> Vec<u8>) {
        if self.env.globals.watch_json {
            let mut out = system::stdout();
            // A reader that is gone does not end a mirror: its files are its result.
            let _ = out.write_all(&line()).and_then(|()| out.flush());
        }
    }

    /// Notes the state of a URL. A mirror whose state cannot be written ends: nothing would be known of it.
    pub(super) fn record(&mut self, url: &[u8], record: Record) {
        if let Err(error) = self.state.set(url, record) {
            let reason = format!("cannot write the state of the mirror: {}", os_text(&error));
            self.fail(url, &Failure { reason, code: WRITE_ERROR });
            self.frontier.clear();
            self.is_cut = true;
        }
    }

    /// Follows the links of a file of the mirror.
    fn follow_stored(&mut self, visit: &Visit, file: &StoredFile) {
        if let Some(source) = self.tree.source(&file.path) {
            self.follow_file(visit, &source, file.kind);
        }
    }

    fn follow_file(&mut self, visit: &Visit, source: &Path, kind: Kind) {
        if !self.env.globals.mirror.is_on {
            return;
        }
        if let Some((_, document)) = read_document(source, kind) {
            let base = document.base_url(&visit.url);
            let obeys = self.env.globals.mirror.obeys_robots;
            for (reference, text) in document.references() {
                let is_followed = match reference.role {
                    Role::Page => !(obeys && document.is_nofollow),
                    Role::Requisite => true,
                    Role::Mention | Role::Base => false,
                };
                if let Some(found) = address::resolve(&base, &text).filter(|_| is_followed) {
                    let (role, depth) = (reference.role, visit.depth + 1);
                    self.offer(Visit { depth, role, ..Visit::start(found.url) });
                }
            }
        }
    }

    /// Adds a URL if it belongs to the mirror.
    fn offer(&mut self, visit: Visit) {
        let Ok(url) = parse_url(&visit.url) else { return };
        let checked = match self.env.globals.mirror.is_on {
            true => self.scope.check(&url, &visit.url, visit.role, visit.depth),
            false => Ok(()),
        };
        if let Err(reason) = checked {
            *self.counts.outside.entry(reason).or_default() += 1;
        } else if !self.frontier.has_seen(&visit.url)
            && self.frontier.seen() >= self.env.globals.mirror.max_files
        {
            self.counts.beyond_limit += 1;
        } else {
            self.frontier.add(visit);
        }
    }
}

impl Document {
    /// Returns the URL against which the links of the document at this URL are resolved.
    pub fn base_url(&self, url: &[u8]) -> Bytes {
        let base = self.base.as_ref().and_then(|base| address::resolve(url, base));
        base.map_or_else(|| url.to_vec(), |base| base.url)
    }
}

/// Reads a document for its references. `None` if it has none, or is too large.
pub(super) fn read_document(source: &Path, kind: Kind) -> Option<(Bytes, Document)> {
    if kind == Kind::Other || fs::metadata(source).ok()?.len() > LARGEST_DOCUMENT {
        return None;
    }
    let text = fs::read(source).ok()?;
    let document = if kind == Kind::Html { html::parse(&text) } else { html::parse_style(&text) };
    Some((text, document))
}

fn read_up_to(file: &[u8], limit: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path(file))?.take(limit + 1).read_to_end(&mut text)?;
    match text.len() as u64 > limit {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(text),
    }
}

/// Returns a request for what has changed since the file was fetched.
fn conditional(request: &Request, file: &StoredFile) -> Request {
    let mut request = request.clone();
    if let Some(etag) = &file.etag {
        request.options.push(O::HttpHeader, &[b"If-None-Match: ", &etag[..]].concat());
    }
    if let Some(seconds) = file.modified {
        let field = format!("If-Modified-Since: {}", http_date(seconds));
        request.options.push(O::HttpHeader, field.as_bytes());
    }
    request
}
