//! The cookie engine of a handle or a share: which cookies go with a request, what a reply sets, and
//! the files they are read from and written to (CURLOPT_COOKIEFILE(3), COOKIEJAR(3), COOKIELIST(3)).

use std::cell::Cell;

use runtime::cell::RefCell;

use tables::EasyOption as O;
use wire::cookie::{Command, Jar, Target};

use super::file::{read, write};
use super::now;
use crate::easy::EasyState;
use crate::settings::{Text, own_text};

/// A handle's own cookies.
#[derive(Default)]
pub struct Store {
    jar: RefCell<Option<Jar>>,
    /// Files to be read before the next transfer.
    unread: RefCell<Vec<Text>>,
    /// All files given, for RELOAD.
    files: RefCell<Vec<Text>>,
    dirty: Cell<bool>,
    /// Whether the application wants cookies on this handle, when it has said so other than by CURLOPT_COOKIEJAR. A share
    /// that holds some does not turn them on.
    on: Cell<Option<bool>>,
}

impl Store {
    /// Takes over the files of another handle, which are read again, and whether its engine is on; no cookies.
    pub fn copy_from(&self, other: &Store) {
        let files: Vec<Text> = other.files.borrow().iter().map(own_text).collect();
        self.unread.replace(files.clone());
        self.files.replace(files);
        self.on.set(other.on.get());
    }

    /// The handle's own cookies are lost. That it was asked for some is not forgotten.
    pub fn forget(&self) {
        *self.jar.borrow_mut() = None;
    }
}

/// CURLOPT_COOKIEFILE: another file to read; an empty name only turns the engine on, `None` turns it off and forgets
/// the files and the handle's own cookies.
pub fn add_file(easy: &EasyState, name: Option<&[u8]>) {
    let store = &easy.stores.cookies;
    match name {
        None => {
            store.unread.borrow_mut().clear();
            store.files.borrow_mut().clear();
            store.on.set(Some(false));
            store.forget();
        }
        Some(name) => {
            store.on.set(Some(true));
            store.unread.borrow_mut().push(name.into());
            store.files.borrow_mut().push(name.into());
        }
    }
}

/// CURLOPT_COOKIEJAR: a file to write turns the engine on.
pub fn jar_named(easy: &EasyState) {
    easy.stores.cookies.on.set(Some(true));
}

/// CURLOPT_COOKIELIST: a cookie, which turns the engine on, or something to be done at once with those that there are.
pub fn command(easy: &EasyState, text: &[u8]) {
    match Command::parse(text) {
        Command::All => with_jar(easy, |jar| jar.as_mut().map_or((), Jar::clear)),
        Command::Session => with_jar(easy, |jar| jar.as_mut().map_or((), Jar::clear_session)),
        Command::Flush => save(easy),
        Command::Reload => {
            let files = easy.stores.cookies.files.borrow().clone();
            *easy.stores.cookies.unread.borrow_mut() = files;
            read_files(easy);
        }
        Command::Line(line) => {
            easy.stores.cookies.on.set(Some(true));
            with_jar(easy, |jar| {
                let _ = jar.get_or_insert_with(Jar::new).add_line(line, now());
            });
        }
    }
}

/// All cookies in Netscape format (CURLINFO_COOKIELIST).
pub fn list(easy: &EasyState) -> Vec<Vec<u8>> {
    with_jar(easy, |jar| jar.as_mut().map(|j| j.lines(now())).unwrap_or_default())
}

/// Reads the files that have not been read yet. Turns the engine on when a file was named.
pub fn read_files(easy: &EasyState) {
    if !is_on(easy) && easy.stores.cookies.unread.borrow().is_empty() {
        return;
    }
    let files = std::mem::take(&mut *easy.stores.cookies.unread.borrow_mut());
    let new_session = easy.settings.borrow().on(O::Cookiesession);
    let contents: Vec<Vec<u8>> = files.iter().filter_map(|name| content(easy, name)).collect();
    with_jar(easy, |jar| {
        let jar = jar.get_or_insert_with(Jar::new);
        contents.iter().for_each(|bytes| jar.load(bytes, new_session, now()));
        if new_session && !files.is_empty() {
            jar.remove_expired(now());
        }
    });
}

/// What a cookie file holds. Read before the jar is taken: what cannot be read is told to the application.
fn content(easy: &EasyState, name: &[u8]) -> Option<Vec<u8>> {
    if name.is_empty() {
        return Some(Vec::new());
    }
    let told = |e: &std::io::Error| {
        let name = String::from_utf8_lossy(name);
        easy.note(|| format!("WARNING: failed to open cookie file \"{name}\": {e}"));
    };
    read(name).inspect_err(told).ok()
}

/// The Cookie field for a request there: stored cookies, and those set with CURLOPT_COOKIE.
pub fn header_for(easy: &EasyState, target: Target<'_>, literal: Option<&[u8]>) -> Option<Vec<u8>> {
    let stored = with_jar(easy, |jar| Some(jar.as_mut()?.header(target, literal, now())));
    // Without a jar the literal ones go alone.
    stored.unwrap_or_else(|| literal.map(<[u8]>::to_vec))
}

/// A reply to a request there sets a cookie.
pub fn received(easy: &EasyState, target: Target<'_>, value: &[u8]) {
    let outcome = with_jar(easy, |jar| Some(jar.as_mut()?.receive(value, target, now()).map(|_| ())));
    match outcome {
        Some(Ok(())) => easy.stores.cookies.dirty.set(true),
        Some(Err(why)) => easy.note(|| format!("cookie refused: {why:?}")),
        None => {}
    }
}

/// Whether the application asked for cookies.
pub fn is_on(easy: &EasyState) -> bool {
    easy.stores.cookies.on.get().unwrap_or_else(|| easy.settings.borrow().is_set(O::Cookiejar))
}

/// Writes the jar file, whole or not at all.
pub fn save(easy: &EasyState) {
    let Some(name) = easy.settings.borrow().text(O::Cookiejar) else { return };
    read_files(easy);
    let Some(bytes) = with_jar(easy, |jar| jar.as_mut().map(|j| j.file(now()))) else { return };
    if let Err(e) = write(&name, &bytes) {
        let name = String::from_utf8_lossy(&name);
        easy.note(|| format!("WARNING: failed to save cookies in {name}: {e}"));
    }
}

/// Runs `f` on the jar of the share, or on the handle's own.
fn with_jar<R>(easy: &EasyState, f: impl FnOnce(&mut Option<Jar>) -> R) -> R {
    let share = easy.share.borrow().clone();
    match share.filter(|s| s.shares(tables::LockData::Cookie)) {
        Some(share) => share.with_cookies(easy.tag.get(), f),
        None => f(&mut easy.stores.cookies.jar.borrow_mut()),
    }
}
