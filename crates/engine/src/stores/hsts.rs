//! Hosts that may only be reached over TLS (RFC 6797), and their file (CURLOPT_HSTS(3),
//! CURLOPT_HSTS_CTRL(3)), or the application's functions (CURLOPT_HSTSREADFUNCTION(3),
//! CURLOPT_HSTSWRITEFUNCTION(3)). The cache and its format are in wire.

use runtime::cell::RefCell;

use tables::{Code, EasyOption as O, LockData, Scheme};
use wire::hsts::{Cache, parse_expiry};

use super::file::{read, write};
use super::{Keeper, now};
use crate::callbacks::{HstsAnswer, HstsEntry};
use crate::error::{Error, Result};
use crate::settings::{Text, own_text};

/// CURLOPT_HSTS_CTRL.
const ENABLE: i64 = 1;
const READ_ONLY: i64 = 2;

/// A handle's own cache.
#[derive(Default)]
pub struct Store {
    cache: RefCell<Cache>,
    /// Files to be read before the next transfer.
    unread: RefCell<Vec<Text>>,
    /// All that were named, for a copy of the handle.
    files: RefCell<Vec<Text>>,
}

impl Store {
    /// Drops the handle's own entries.
    pub fn forget(&self) {
        self.cache.take();
    }

    /// A copy of the handle reads the same files.
    pub fn copy_from(&self, other: &Store) {
        let files: Vec<Text> = other.files.borrow().iter().map(own_text).collect();
        self.unread.replace(files.clone());
        self.files.replace(files);
    }
}

/// CURLOPT_HSTS: adds a file to read; NULL removes the files and their entries.
pub fn add_file(keeper: Keeper<'_>, name: Option<&[u8]>) {
    let store = &keeper.stores.hsts;
    let (mut unread, mut files) = (store.unread.borrow_mut(), store.files.borrow_mut());
    match name {
        Some(name) => {
            let name = Text::from(name);
            if !files.contains(&name) {
                files.push(name.clone());
            }
            unread.push(name);
        }
        None => {
            unread.clear();
            files.clear();
            store.forget();
        }
    }
}

/// Returns whether HSTS is enabled, by an option or by a share with the cache.
pub fn is_on(keeper: Keeper<'_>) -> bool {
    let settings = keeper.settings.borrow();
    settings.is_set(O::Hsts)
        || settings.long(O::HstsCtrl) & ENABLE != 0
        || keeper.sharing(LockData::Hsts).is_some()
}

/// Runs `f` on the share's cache, or on the handle's own.
fn with_cache<R>(keeper: Keeper<'_>, f: impl FnOnce(&mut Cache) -> R) -> R {
    match keeper.sharing(LockData::Hsts) {
        Some(share) => share.with_hsts(keeper.tag, f),
        None => f(&mut keeper.stores.hsts.cache.borrow_mut()),
    }
}

/// Calls CURLOPT_HSTSREADFUNCTION for entries until it has no more, before each transfer.
pub fn read_entries(keeper: Keeper<'_>) -> Result<()> {
    if !is_on(keeper) {
        return Ok(());
    }
    loop {
        let entry = match keeper.callbacks.hsts_read() {
            HstsAnswer::Entry(entry) => entry,
            HstsAnswer::Done => return Ok(()),
            HstsAnswer::Failed => {
                return Err(Error::new(Code::AbortedByCallback, "HSTS read callback failed"));
            }
            HstsAnswer::Invalid => {
                return Err(Error::new(Code::BadFunctionArgument, "HSTS read callback gave no host name"));
            }
        };
        // Without a date it is for ever; one that cannot be read has passed.
        let expires = match entry.expires.as_slice() {
            [] => i64::MAX,
            text => parse_expiry(text).unwrap_or(0),
        };
        with_cache(keeper, |cache| cache.add(&entry.host, entry.includes_subdomains, expires, now()));
    }
}

/// Passes all entries to CURLOPT_HSTSWRITEFUNCTION, when the handle is closed.
fn write_entries(keeper: Keeper<'_>) {
    if !is_on(keeper) {
        return;
    }
    let entries = with_cache(keeper, |cache| cache.entries().to_vec());
    for (index, entry) in entries.iter().enumerate() {
        let passed = HstsEntry {
            host: entry.host.clone(),
            includes_subdomains: entry.includes_subdomains,
            expires: entry.expiry_text().into_bytes(),
        };
        if !keeper.callbacks.hsts_write(&passed, index, entries.len()) {
            return;
        }
    }
}

/// Reads the files that have not been read yet.
pub fn read_files(keeper: Keeper<'_>) {
    if keeper.stores.hsts.made().is_none_or(|store| store.unread.borrow().is_empty()) {
        return;
    }
    let files = std::mem::take(&mut *keeper.stores.hsts.unread.borrow_mut());
    for name in files.iter().filter(|name| !name.is_empty()) {
        // A file that is not there yet will be made.
        if let Ok(bytes) = read(name) {
            with_cache(keeper, |cache| cache.load(&bytes, now()));
        }
    }
}

/// Returns whether this host may only be reached over TLS.
pub fn applies(keeper: Keeper<'_>, host: &[u8]) -> bool {
    with_cache(keeper, |cache| cache.applies(host, now()))
}

/// Returns whether a URL of this scheme is upgraded to https (RFC 6797 §8.3). `applies` says whether the host
/// requires it.
pub fn upgrades(scheme: Option<Scheme>, on: bool, applies: impl FnOnce() -> bool) -> bool {
    scheme == Some(Scheme::Http) && on && applies()
}

/// Stores a Strict-Transport-Security header. It is trusted only if the host was reached over TLS (RFC 6797
/// §8.1).
pub fn received(keeper: Keeper<'_>, host: &[u8], value: &[u8]) {
    if with_cache(keeper, |cache| cache.receive(host, value, now())).is_err() {
        keeper.note(|| "Illegal STS header skipped".to_owned());
    }
}

/// Passes the entries to the application and writes the file, when the handle is closed.
pub fn save(keeper: Keeper<'_>) {
    write_file(keeper);
    write_entries(keeper);
}

/// Writes the file, atomically.
fn write_file(keeper: Keeper<'_>) {
    let settings = keeper.settings.borrow();
    let name = settings.text(O::Hsts).filter(|name| !name.is_empty());
    let Some(name) = name.filter(|_| settings.long(O::HstsCtrl) & READ_ONLY == 0) else { return };
    drop(settings);
    read_files(keeper);
    let bytes = with_cache(keeper, |cache| cache.file());
    if let Err(e) = write(&name, &bytes) {
        let name = String::from_utf8_lossy(&name);
        keeper.note(|| format!("WARNING: failed to save HSTS in {name}: {e}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upgraded() {
        let rows = [
            ("RFC 6797 §8.3: http to a known host", Some(Scheme::Http), true, true, true),
            ("RFC 6797 §8.3: a host that is not known", Some(Scheme::Http), true, false, false),
            ("CURLOPT_HSTS_CTRL(3): off", Some(Scheme::Http), false, true, false),
            ("RFC 6797 §8.3: https already", Some(Scheme::Https), true, true, false),
            ("CURLOPT_HSTS(3): HTTP alone", Some(Scheme::Ftp), true, true, false),
            ("CURLOPT_HSTS(3): ws is not http", Some(Scheme::Ws), true, true, false),
            ("CURLOPT_HSTS(3): an unknown scheme", None, true, true, false),
        ];
        for (name, scheme, on, applies, wanted) in rows {
            assert_eq!(upgrades(scheme, on, || applies), wanted, "{name}");
        }
    }

    /// RFC 6797 §8.2: which hosts an entry applies to.
    #[test]
    fn hosts() {
        let mut cache = Cache::default();
        let _ = cache.receive(b"a.example", b"max-age=100; includeSubDomains", 1000);
        let _ = cache.receive(b"b.example", b"max-age=100", 1000);
        let _ = cache.receive(b"b.example", b"max-age=100", 1000);
        let _ = cache.receive(b"c.example", b"max-age=100", 1000);
        let _ = cache.receive(b"c.example", b"max-age=0", 1000);
        let rows: [(_, &[u8], _, _); 8] = [
            ("RFC 6797 §8.2: the host itself", b"a.example", 1050, true),
            ("RFC 6797 §8.2: in any case", b"A.Example", 1050, true),
            ("RFC 6797 §6.1.2: a subdomain", b"x.a.example", 1050, true),
            ("RFC 6797 §6.1.2: no subdomain was meant", b"x.b.example", 1050, false),
            ("RFC 6797 §8.2: another host that ends alike", b"xa.example", 1050, false),
            ("RFC 6797 §6.1.1: expired", b"b.example", 1200, false),
            ("RFC 6797 §6.1.1: max-age=0 forgets", b"c.example", 1050, false),
            ("RFC 6797 §8.2: a host that never said so", b"d.example", 1050, false),
        ];
        for (name, host, now, wanted) in rows {
            assert_eq!(cache.applies(host, now), wanted, "{name}");
        }
    }
}
