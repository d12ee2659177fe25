//! `--cache`: a private HTTP cache (RFC 9111) in a directory. The library's rules, which are pure functions,
//! decide what may be stored and used. `folder` has the files, `entry` their contents, `partition` separates
//! users. The library calls `transfer::caching` before each request and for each reply.

mod dictionaries;
mod entry;
mod folder;
pub mod partition;
mod stored_body;

pub use entry::Entry;
pub use folder::{Draft, Folder};
pub use stored_body::{StoredBody, StoredPiece};

use crate::bytes::Bytes;
use crate::message::{os_text, shown};
use crate::raw::archive::fields::is_harmless;
use crate::raw::hex;
use crate::raw::rules::{self, Field, Selection};
use folder::digits;
use partition::Sums;
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::io;
use std::time::SystemTime;

/// Default maximum size of all entries.
pub const USUAL_SIZE: u64 = 1 << 30;

/// Replies for one URL: a server could make one of each request, and all are looked at.
const MOST_VARIANTS: usize = 100;

/// A request as far as a cache is concerned.
pub struct CacheRequest<'a> {
    /// Without login and fragment.
    pub url: &'a [u8],
    pub partition: &'a str,
    pub fields: &'a [Field],
    /// The value of the Range field.
    pub range: Option<&'a [u8]>,
    pub head: bool,
    /// A redirect may do without its body.
    pub follows: bool,
    /// Whether errors are repeated: then a stored error does not serve.
    pub retries: bool,
}

/// An entry that answers a request, perhaps together with others.
pub struct CacheHit {
    pub stem: String,
    pub entry: Entry,
    /// The stored bytes of the answer; `None` if only the head is stored.
    pub body: Option<StoredBody>,
    /// The bytes of the body that answer the request.
    pub selection: Selection,
    /// Stored parts that lack bytes of the answer.
    pub gap: Option<Gap>,
    /// All entries in it.
    parts: Vec<Part>,
}

/// An entry in an answer.
struct Part {
    stem: String,
    /// Whether the answer has all of its bytes.
    is_inside: bool,
}

/// The bytes that the server has to send.
pub struct Gap {
    /// First and last position.
    pub missing: (u64, u64),
    /// The length of the whole content.
    pub complete: Option<u64>,
    /// The stored bytes behind the gap.
    pub after: StoredBody,
}

pub struct Cache {
    folder: Folder,
    limit: u64,
    /// The size of the cache, as far as this process knows; `None` before the first look.
    size: Cell<Option<u64>>,
    /// Whether writing has failed and was reported.
    lost: Cell<bool>,
    pub sums: Sums,
}

/// Seconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64)
}

/// Under which all replies for a URL are found.
fn key(url: &[u8]) -> String {
    digits(&Sha256::digest(url))
}

/// Returns the name of the reply to such a request: the next one replaces it.
fn stem(entry: &Entry) -> String {
    let range = entry.range.as_deref().map(hex::encode).unwrap_or_default();
    let text = format!("{} {} {:?}{range}", entry.partition, entry.head_only, entry.selected);
    format!("{}-{}", key(&entry.url), digits(&Sha256::digest(text)))
}

impl CacheHit {
    fn of(stem: &str, entry: &Entry, body: Option<StoredBody>, selection: Selection) -> CacheHit {
        let (stem, entry) = (stem.to_owned(), entry.clone());
        let parts = vec![Part { stem: stem.clone(), is_inside: true }];
        CacheHit { stem, entry, body, selection, gap: None, parts }
    }

    fn stems(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| part.stem.as_str())
    }
}

impl Cache {
    /// The error says in words why there is none.
    pub fn open(name: &[u8], limit: u64) -> Result<Cache, String> {
        let folder = Folder::open(name)?;
        let key = folder
            .key()
            .map_err(|error| format!("The cache {} can't be used: {}", shown(name), os_text(&error)))?;
        Ok(Cache { folder, limit, size: Cell::new(None), lost: Cell::new(false), sums: Sums::new(key) })
    }

    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the stored reply for such a request; of several the latest (RFC 9111 §4). If none has all
    /// bytes, stored parts are combined.
    pub fn find(&self, wanted: &CacheRequest) -> Option<CacheHit> {
        let fitting = self.fitting(wanted);
        for (stem, entry) in &fitting {
            let Some(selection) = rules::select(wanted.range, entry.range_source()) else { continue };
            let Some(stored) = &entry.body else {
                return Some(CacheHit::of(stem, entry, None, selection));
            };
            if let Some(file) = self.folder.body(stem, stored) {
                let (offset, length) = selection.bytes(stored.length);
                let body = StoredBody::of(vec![StoredPiece::new(file, offset, length)]);
                return Some(CacheHit::of(stem, entry, Some(body), selection));
            }
        }
        // A HEAD has no bytes to combine.
        if wanted.head { None } else { self.combine(wanted, &fitting) }
    }

    /// Returns the entries that were stored for such a request, the latest first.
    fn fitting(&self, wanted: &CacheRequest) -> Vec<(String, Entry)> {
        let mut all = self.folder.entries(&key(wanted.url));
        all.retain(|(name, entry)| {
            // One that does not have the name of its content was not put there by this program.
            let own = stem(entry) == *name;
            if !own {
                self.folder.remove(name);
            }
            own
        });
        all.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.received));
        let kept = all.len().min(MOST_VARIANTS);
        all.drain(kept..).for_each(|(stem, _)| self.folder.remove(&stem));
        all.retain(|(_, entry)| fits(entry, wanted));
        all
    }

    /// Combines stored parts of the latest content. Its latest reply has the fields (RFC 9111 §3.4).
    fn combine(&self, wanted: &CacheRequest, fitting: &[(String, Entry)]) -> Option<CacheHit> {
        let parts = fitting
            .iter()
            .filter_map(|(stem, entry)| Some((stem, entry, rules::StoredBytes::of(entry.range_source())?)));
        let parts: Vec<_> = parts.collect();
        let (stem, latest, whole) = parts.first()?;
        let of_one = |entry: &Entry| rules::are_of_one_content(&latest.fields, &entry.fields);
        let same = |part: &&(&String, &Entry, rules::StoredBytes)| {
            of_one(part.1) && part.2.complete == whole.complete
        };
        let parts: Vec<_> = parts.iter().filter(same).collect();
        let bytes: Vec<_> = parts.iter().map(|(_, _, bytes)| *bytes).collect();
        let found = rules::assemble(wanted.range, &bytes)?;
        let open = |pieces: &[rules::Piece]| {
            let piece = |piece: &rules::Piece| {
                let (stem, entry, _) = parts[piece.part];
                let file = self.folder.body(stem, entry.body.as_ref()?)?;
                Some(StoredPiece::new(file, piece.offset, piece.length))
            };
            pieces.iter().map(piece).collect::<Option<Vec<_>>>().map(StoredBody::of)
        };
        let (before, after) = (open(&found.before)?, open(&found.after)?);
        let selection = match wanted.range {
            Some(_) => Selection::Part { offset: 0, range: found.range },
            None => Selection::Complete(whole.complete),
        };
        let gap = found.missing.map(|missing| Gap { missing, complete: found.range.complete, after });
        let part = |(stem, _, bytes): &&(&String, &Entry, rules::StoredBytes)| {
            let is_inside = found.range.first <= bytes.first && bytes.last <= found.range.last;
            Part { stem: (*stem).clone(), is_inside }
        };
        let hit = CacheHit::of(stem, latest, Some(before), selection);
        Some(CacheHit { gap, parts: parts.iter().map(part).collect(), ..hit })
    }

    /// Updates an entry and keeps its body. An entry that now varies by other fields would need another name
    /// than its body.
    pub fn update(&self, found: &CacheHit, entry: Entry) -> Result<(), String> {
        if stem(&entry) != found.stem {
            self.remove(found);
            return Ok(());
        }
        self.keep(entry, None, None)
    }

    pub fn touch(&self, found: &CacheHit) {
        found.stems().for_each(|stem| self.folder.touch(stem));
    }

    pub fn remove(&self, found: &CacheHit) {
        found.stems().for_each(|stem| self.folder.remove(stem));
    }

    /// Removes the entries of a URL; returns whether there were any.
    pub fn forget(&self, url: &[u8]) -> bool {
        self.folder.forget(&key(url))
    }

    /// Creates a file for a body; `None` if the cache is not writable.
    pub fn draft(&self) -> Result<Option<Draft>, String> {
        if self.lost.get() {
            Ok(None)
        } else {
            self.folder.draft().map(Some).or_else(|error| self.failed(&error))
        }
    }

    /// Stores an entry, replacing an older one. An error is reported once.
    pub fn keep(&self, entry: Entry, body: Option<Draft>, old: Option<&CacheHit>) -> Result<(), String> {
        let stem = stem(&entry);
        if let Some(old) = old {
            let replaced = old.parts.iter().filter(|old| old.is_inside && old.stem != stem);
            replaced.for_each(|old| self.folder.remove(&old.stem));
        }
        let listed = entry.is_dictionary().then(|| entry.clone());
        let kept = self.folder.publish(&stem, entry, body);
        match kept {
            Ok(size) => {
                self.has_grown(size);
                listed.into_iter().for_each(|entry| self.list_dictionary(entry));
                Ok(())
            }
            // Another process swept the draft away before it was locked, or the user removed it all.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => self.failed(&error).map(|_| ()),
        }
    }

    /// Returns the error to report when writing fails for the first time.
    pub fn failed(&self, error: &io::Error) -> Result<Option<Draft>, String> {
        match self.lost.replace(true) {
            true => Ok(None),
            false => Err(format!("The cache can't be written: {}; continues without it", os_text(error))),
        }
    }

    fn has_grown(&self, by: u64) {
        let size = match self.size.get().map(|size| size.saturating_add(by)) {
            Some(size) if size <= self.limit => size,
            _ => self.folder.sweep(self.limit),
        };
        self.size.set(Some(size));
    }
}

/// Returns hashes of the request fields that the reply varies by. Fields that may identify the user are part
/// of the partition, whatever Vary says; no value is stored in a file.
pub fn selected(reply: &[Field], request: &[Field]) -> Vec<(Bytes, Option<Bytes>)> {
    let mut names = rules::nominated(reply).unwrap_or_default();
    names.retain(|name| is_harmless(name));
    sums_of(&names, request)
}

fn sums_of(names: &[Bytes], request: &[Field]) -> Vec<(Bytes, Option<Bytes>)> {
    let sum = |value: Bytes| digits(&Sha256::digest(value)).into_bytes();
    rules::selected(names, request).into_iter().map(|(name, value)| (name, value.map(sum))).collect()
}

fn fits(entry: &Entry, wanted: &CacheRequest) -> bool {
    let names: Vec<Bytes> = entry.selected.iter().map(|(name, _)| name.clone()).collect();
    let redirects = wanted.follows && (300..400).contains(&entry.status);
    entry.url == wanted.url
        && entry.partition == wanted.partition
        && !(wanted.retries && rules::is_error(entry.status))
        && (wanted.head || !entry.head_only && (entry.body.is_some() || redirects))
        && sums_of(&names, wanted.fields) == entry.selected
}
