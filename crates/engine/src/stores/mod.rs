//! What a handle remembers from one transfer to the next, besides its connections: cookies, received headers, and how
//! its authentication went.

pub mod altsvc;
pub mod cookies;
mod file;
pub mod headers;
pub mod hsts;

use std::time::{SystemTime, UNIX_EPOCH};

use runtime::cell::RefCell;

use tables::EasyOption as O;
use tables::LockData;
use tables::constant::{CURLAUTH_AWS_SIGV4, CURLAUTH_HTTPSIG};

use crate::easy::EasyState;
use crate::error::Result;
use crate::share::Share;
use crate::transfer::auth;

/// Seconds since 1970: what is kept in files has no other clock.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64)
}

/// The stores of one easy handle.
#[derive(Default)]
pub struct Stores {
    /// Cookies, once the cookie engine is on.
    pub cookies: cookies::Store,
    /// Where else origins are to be found.
    pub altsvc: altsvc::Store,
    /// Hosts that are reached over TLS alone.
    pub hsts: hsts::Store,
    /// Authentication with servers and proxies.
    pub auth: RefCell<auth::Memory>,
}

impl Stores {
    /// curl_easy_duphandle copies the cookies, and which files say what is reached over TLS.
    pub fn copy_from(&self, other: &Stores) {
        self.cookies.copy_from(&other.cookies);
        self.hsts.copy_from(&other.hsts);
    }

    /// The handle joins this share, or leaves it: what the share holds is the handle's no more (CURLOPT_SHARE.md), and what it
    /// had of its own is lost.
    pub fn shared(&self, share: &Share) {
        if share.shares(LockData::Cookie) {
            self.cookies.forget();
        }
        if share.shares(LockData::Hsts) {
            self.hsts.forget();
        }
    }

    /// curl_easy_reset: what was learnt with the old settings is of no use for others.
    pub fn reset(&self) {
        self.auth.take();
    }
}

/// A handle was copied from another: it reads the file that was named.
pub fn duplicated(easy: &EasyState) {
    let name = easy.settings.borrow().text(O::Altsvc);
    if let Some(name) = name {
        let _ = altsvc::load(easy, &name);
    }
}

/// A transfer begins.
pub fn begin(easy: &EasyState) -> Result<()> {
    cookies::read_files(easy);
    hsts::read_files(easy);
    hsts::ask(easy)?;
    let settings = easy.settings.borrow();
    let signs = settings.text(O::AwsSigv4).is_some_and(|text| !text.is_empty());
    let messages = settings.long(O::HttpsigAlgorithm) != 0;
    let server = if messages {
        CURLAUTH_HTTPSIG
    } else if signs {
        CURLAUTH_AWS_SIGV4
    } else {
        settings.long(O::Httpauth) as u64
    };
    easy.stores.auth.borrow_mut().begin(server, settings.long(O::Proxyauth) as u64);
    Ok(())
}

/// Writes files that were asked for (CURLOPT_COOKIEJAR) when the handle goes.
pub fn save_at_close(easy: &EasyState) {
    cookies::save(easy);
    hsts::save(easy);
    altsvc::save(easy);
}
