//! Data that a handle keeps between transfers, besides its connections: cookies, received headers, HSTS and
//! alternative services. A store is queried with host, path and whether TLS protects them. It does not depend
//! on transfers, and of the handle only on [`Keeper`].

pub mod altsvc;
pub mod cookies;
pub mod file;
pub mod headers;
pub mod hsts;

use std::cell::OnceCell;
use std::ops::Deref;

use runtime::cell::RefCell;

use tables::EasyOption as O;
use tables::LockData;

use crate::callbacks::{Callbacks, note};
use crate::error::Result;
use crate::settings::Settings;
use crate::share::Share;

/// The clock of everything stored in files.
pub use runtime::seconds_since_1970 as now;

/// The stores of one easy handle.
#[derive(Default)]
pub struct Stores {
    /// Cookies, once the cookie engine is on.
    pub cookies: Seldom<cookies::Store>,
    /// Alternative services of origins.
    pub altsvc: Seldom<altsvc::Store>,
    /// Hosts that may only be reached over TLS.
    pub hsts: Seldom<hsts::Store>,
}

/// A store that most handles never have: it is created on first use.
#[derive(Default)]
pub struct Seldom<T>(OnceCell<Box<T>>);

impl<T> Seldom<T> {
    /// Returns the store if it exists; does not create it.
    pub fn made(&self) -> Option<&T> {
        self.0.get().map(|made| &**made)
    }
}

impl<T: Default> Deref for Seldom<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.get_or_init(Box::default)
    }
}

impl Stores {
    /// Copies the cookies, and the names of HSTS files, for curl_easy_duphandle.
    pub fn copy_from(&self, other: &Stores) {
        if let Some(cookies) = other.cookies.made() {
            self.cookies.copy_from(cookies);
        }
        if let Some(hsts) = other.hsts.made() {
            self.hsts.copy_from(hsts);
        }
    }

    /// Handles joining or leaving this share: data of the share no longer belongs to the handle
    /// (CURLOPT_SHARE.md), and its own data is dropped.
    pub fn shared(&self, share: &Share) {
        if let Some(cookies) = self.cookies.made().filter(|_| share.shares(LockData::Cookie)) {
            cookies.forget();
        }
        if let Some(hsts) = self.hsts.made().filter(|_| share.shares(LockData::Hsts)) {
            hsts.forget();
        }
    }
}

/// The owner of the stores, as far as these depend on it.
#[derive(Clone, Copy)]
pub struct Keeper<'a> {
    /// Its own stores.
    pub stores: &'a Stores,
    /// The share that may hold some of them instead.
    pub share: &'a RefCell<Option<Share>>,
    /// Its options.
    pub settings: &'a RefCell<Settings>,
    /// Its callbacks.
    pub callbacks: &'a dyn Callbacks,
    /// The handle's tag, for the application's lock functions.
    pub tag: usize,
}

impl Keeper<'_> {
    fn note(&self, text: impl FnOnce() -> String) {
        note(self.callbacks, text);
    }

    /// Returns the share if it holds this kind of data.
    fn sharing(&self, data: LockData) -> Option<Share> {
        self.share.borrow().as_ref().filter(|share| share.shares(data)).cloned()
    }
}

/// A handle was copied from another: it reads the file that was named.
pub fn duplicated(keeper: Keeper<'_>) {
    let name = keeper.settings.borrow().text(O::AltSvc);
    if let Some(name) = name {
        altsvc::load(keeper, &name);
    }
}

/// Starts a transfer.
pub fn begin(keeper: Keeper<'_>) -> Result<()> {
    cookies::read_files(keeper);
    hsts::read_files(keeper);
    hsts::read_entries(keeper)?;
    Ok(())
}

/// Writes the files of the stores (CURLOPT_COOKIEJAR) when the handle is closed.
pub fn save_at_close(keeper: Keeper<'_>) {
    cookies::save(keeper);
    hsts::save(keeper);
    altsvc::save(keeper);
}
