//! The cookie engine of a handle or a share: the cookies of a request, those set by a reply, and the files
//! that they are read from and written to (CURLOPT_COOKIEFILE(3), COOKIEJAR(3), COOKIELIST(3)).

use std::cell::Cell;

use runtime::cell::RefCell;

use tables::{EasyOption as O, LockData};
use wire::cookie::{Command, Cookie, Jar, Target, Withheld};

use super::file::{read, write};
use super::{Keeper, now};
use crate::settings::{Text, own_text};

/// A handle's own cookies.
#[derive(Default)]
pub struct Store {
    jar: RefCell<Option<Jar>>,
    /// Files to be read before the next transfer.
    unread: RefCell<Vec<Text>>,
    /// All files, for RELOAD.
    files: RefCell<Vec<Text>>,
    dirty: Cell<bool>,
    /// Whether the application enabled cookies on this handle by an option other than CURLOPT_COOKIEJAR. A
    /// share with cookies does not disable them.
    on: Cell<Option<bool>>,
}

impl Store {
    /// Takes over the files of another handle, which are read again, and whether its engine is on; no
    /// cookies.
    pub fn copy_from(&self, other: &Store) {
        let files: Vec<Text> = other.files.borrow().iter().map(own_text).collect();
        self.unread.replace(files.clone());
        self.files.replace(files);
        self.on.set(other.on.get());
    }

    /// Drops the handle's own cookies. The setting that enabled them stays.
    pub fn forget(&self) {
        *self.jar.borrow_mut() = None;
    }
}

/// CURLOPT_COOKIEFILE: another file to read; an empty name only turns the engine on, `None` turns it off and
/// forgets the files and the handle's own cookies.
pub fn add_file(keeper: Keeper<'_>, name: Option<&[u8]>) {
    let store = &keeper.stores.cookies;
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
pub fn jar_named(keeper: Keeper<'_>) {
    keeper.stores.cookies.on.set(Some(true));
}

/// CURLOPT_COOKIELIST: adds a cookie, which enables the engine, or executes a command on the stored ones.
pub fn command(keeper: Keeper<'_>, text: &[u8]) {
    match Command::parse(text) {
        Command::All => with_jar(keeper, |jar| jar.as_mut().map_or((), Jar::clear)),
        Command::Session => with_jar(keeper, |jar| jar.as_mut().map_or((), Jar::clear_session)),
        Command::Flush => save(keeper),
        Command::Reload => {
            let files = keeper.stores.cookies.files.borrow().clone();
            *keeper.stores.cookies.unread.borrow_mut() = files;
            read_files(keeper);
        }
        Command::Line(line) => {
            keeper.stores.cookies.on.set(Some(true));
            with_jar(keeper, |jar| {
                let _ = jar.get_or_insert_with(Jar::new).add_line(line, now());
            });
        }
    }
}

/// All cookies in Netscape format (CURLINFO_COOKIELIST).
pub fn list(keeper: Keeper<'_>) -> Vec<Vec<u8>> {
    with_jar(keeper, |jar| jar.as_mut().map(|j| j.lines(now())).unwrap_or_default())
}

/// Reads the files that have not been read yet. Turns the engine on when a file was named.
pub fn read_files(keeper: Keeper<'_>) {
    let nothing_new = keeper.stores.cookies.made().is_none_or(|store| store.unread.borrow().is_empty());
    if nothing_new && !is_on(keeper) {
        return;
    }
    let files = std::mem::take(&mut *keeper.stores.cookies.unread.borrow_mut());
    let new_session = keeper.settings.borrow().on(O::CookieSession);
    let contents: Vec<Vec<u8>> = files.iter().filter_map(|name| content(keeper, name)).collect();
    with_jar(keeper, |jar| {
        let jar = jar.get_or_insert_with(Jar::new);
        jar.begin();
        contents.iter().for_each(|bytes| jar.load(bytes, new_session, now()));
        if new_session && !files.is_empty() {
            jar.remove_expired(now());
        }
    });
}

/// Returns the contents of a cookie file. It is read before the jar is locked: a failure is reported to the
/// application.
fn content(keeper: Keeper<'_>, name: &[u8]) -> Option<Vec<u8>> {
    if name.is_empty() {
        return Some(Vec::new());
    }
    let report = |e: &std::io::Error| {
        let name = String::from_utf8_lossy(name);
        keeper.note(|| format!("WARNING: failed to open cookie file \"{name}\": {e}"));
    };
    read(name).inspect_err(report).ok()
}

/// Returns the Cookie field for a request: stored cookies, and those set with CURLOPT_COOKIE.
pub fn header_for(keeper: Keeper<'_>, target: Target<'_>, literal: Option<&[u8]>) -> Option<Vec<u8>> {
    let stored = with_jar(keeper, |jar| Some(jar.as_mut()?.header(target, literal, now())));
    // Without a jar only the literal ones are sent.
    stored.unwrap_or_else(|| literal.map(<[u8]>::to_vec))
}

/// Returns the names of the cookies that a request carries, and of those of its site that it does not carry.
/// It must be called before the request is made: that forgets expired cookies.
pub fn explain(keeper: Keeper<'_>, target: Target<'_>) -> (Vec<String>, Vec<(String, Withheld)>) {
    let name = |cookie: &Cookie| String::from_utf8_lossy(&cookie.name).into_owned();
    let read = |jar: &mut Option<Jar>| {
        let jar = jar.as_mut()?;
        let withheld =
            jar.withheld(target, now()).into_iter().map(|(cookie, why)| (name(cookie), why)).collect();
        Some((jar.matching(target, now()).into_iter().map(name).collect(), withheld))
    };
    with_jar(keeper, read).unwrap_or_default()
}

/// A reply to a request there sets a cookie.
pub fn received(keeper: Keeper<'_>, target: Target<'_>, value: &[u8]) {
    let outcome = with_jar(keeper, |jar| Some(jar.as_mut()?.receive(value, target, now()).map(|_| ())));
    match outcome {
        Some(Ok(())) => keeper.stores.cookies.dirty.set(true),
        Some(Err(why)) => keeper.note(|| format!("cookie refused: {why:?}")),
        None => {}
    }
}

/// Returns whether the application enabled cookies.
pub fn is_on(keeper: Keeper<'_>) -> bool {
    let by_store = keeper.stores.cookies.made().and_then(|store| store.on.get());
    by_store.unwrap_or_else(|| keeper.settings.borrow().is_set(O::CookieJar))
}

/// Writes the jar file, atomically. A jar that no transfer has used, or that was left behind with a share,
/// does not replace the file of an earlier program.
pub fn save(keeper: Keeper<'_>) {
    let Some(name) = keeper.settings.borrow().text(O::CookieJar) else { return };
    if !is_on(keeper) {
        return;
    }
    let file = |jar: &mut Option<Jar>| Some(jar.as_mut().filter(|jar| jar.is_in_use())?.file(now()));
    let Some(bytes) = with_jar(keeper, file) else { return };
    if let Err(e) = write(&name, &bytes) {
        let name = String::from_utf8_lossy(&name);
        keeper.note(|| format!("WARNING: failed to save cookies in {name}: {e}"));
    }
}

/// Runs `f` on the jar of the share, or on the handle's own.
fn with_jar<R>(keeper: Keeper<'_>, f: impl FnOnce(&mut Option<Jar>) -> R) -> R {
    match keeper.sharing(LockData::Cookie) {
        Some(share) => share.with_cookies(keeper.tag, f),
        None if is_on(keeper) => f(&mut keeper.stores.cookies.jar.borrow_mut()),
        None => match keeper.stores.cookies.made() {
            Some(store) => f(&mut store.jar.borrow_mut()),
            None => f(&mut None),
        },
    }
}
