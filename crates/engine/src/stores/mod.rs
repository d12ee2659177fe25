//! What a handle remembers from one transfer to the next, besides its connections: cookies, received headers, and which
//! hosts are reached otherwise than a URL says. A store is asked with host, path and whether TLS protects them; it knows no
//! transfer, and of the handle only what a [`Keeper`] is.

pub mod altsvc;
pub mod cookies;
mod file;
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

/// What is kept in files has no other clock.
pub use runtime::seconds_since_1970 as now;

/// The stores of one easy handle.
#[derive(Default)]
pub struct Stores {
    /// Cookies, once the cookie engine is on.
    pub cookies: Seldom<cookies::Store>,
    /// Where else origins are to be found.
    pub altsvc: Seldom<altsvc::Store>,
    /// Hosts that are reached over TLS alone.
    pub hsts: Seldom<hsts::Store>,
}

/// What most handles never have: it is made when somebody first asks for it.
#[derive(Default)]
pub struct Seldom<T>(OnceCell<Box<T>>);

impl<T> Seldom<T> {
    /// The same without making it.
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
    /// curl_easy_duphandle copies the cookies, and which files say what is reached over TLS.
    pub fn copy_from(&self, other: &Stores) {
        if let Some(cookies) = other.cookies.made() {
            self.cookies.copy_from(cookies);
        }
        if let Some(hsts) = other.hsts.made() {
            self.hsts.copy_from(hsts);
        }
    }

    /// The handle joins this share, or leaves it: what the share holds is the handle's no more (CURLOPT_SHARE.md), and what it
    /// had of its own is lost.
    pub fn shared(&self, share: &Share) {
        if let Some(cookies) = self.cookies.made().filter(|_| share.shares(LockData::Cookie)) {
            cookies.forget();
        }
        if let Some(hsts) = self.hsts.made().filter(|_| share.shares(LockData::Hsts)) {
            hsts.forget();
        }
    }
}

/// The handle whose stores they are, as far as these know it.
#[derive(Clone, Copy)]
pub struct Keeper<'a> {
    /// What it has of its own.
    pub stores: &'a Stores,
    /// The share that may hold some of it instead.
    pub share: &'a RefCell<Option<Share>>,
    /// What the application asked for.
    pub settings: &'a RefCell<Settings>,
    /// Whom it has to be told.
    pub callbacks: &'a dyn Callbacks,
    /// The handle's tag, for the application's lock functions.
    pub tag: usize,
}

impl Keeper<'_> {
    fn note(&self, text: impl FnOnce() -> String) {
        note(self.callbacks, text);
    }

    /// The share, when it holds this kind of data.
    fn sharing(&self, data: LockData) -> Option<Share> {
        self.share.borrow().as_ref().filter(|share| share.shares(data)).cloned()
    }
}

/// A handle was copied from another: it reads the file that was named.
pub fn duplicated(keeper: Keeper<'_>) {
    let name = keeper.settings.borrow().text(O::Altsvc);
    if let Some(name) = name {
        altsvc::load(keeper, &name);
    }
}

/// A transfer begins.
pub fn begin(keeper: Keeper<'_>) -> Result<()> {
    cookies::read_files(keeper);
    hsts::read_files(keeper);
    hsts::ask(keeper)?;
    Ok(())
}

/// Writes files that were asked for (CURLOPT_COOKIEJAR) when the handle goes.
pub fn save_at_close(keeper: Keeper<'_>) {
    cookies::save(keeper);
    hsts::save(keeper);
    altsvc::save(keeper);
}
