//! Which hosts are to be reached over TLS alone (RFC 6797), and the file that keeps them (CURLOPT_HSTS(3),
//! CURLOPT_HSTS_CTRL(3)). The cache and its format are wire's.

use std::cell::RefCell;
use std::rc::Rc;

use tables::EasyOption as O;
use wire::hsts::Cache;
use wire::url::{Part, Url, flag};

use super::cookies::{read, write};
use crate::easy::EasyState;
use crate::error::Result;
use crate::settings::Text;
use crate::transfer::Transfer;
use crate::transfer::auth::now;
use crate::transfer::prepare::{url_error, url_text};
use crate::transfer::target::Target;

/// CURLOPT_HSTS_CTRL.
const ENABLE: i64 = 1;
const READ_ONLY: i64 = 2;

/// A handle's own cache.
#[derive(Default)]
pub struct Store {
    cache: RefCell<Cache>,
    /// Files to be read before the next transfer.
    unread: RefCell<Vec<Text>>,
}

/// CURLOPT_HSTS: another file to read; NULL forgets them.
pub fn add_file(easy: &EasyState, name: Option<&[u8]>) {
    let mut unread = easy.stores.hsts.unread.borrow_mut();
    match name {
        Some(name) => unread.push(name.into()),
        None => unread.clear(),
    }
}

fn is_on(easy: &EasyState) -> bool {
    let settings = easy.settings.borrow();
    settings.is_set(O::Hsts) || settings.long(O::HstsCtrl) & ENABLE != 0
}

/// Reads the files that have not been read yet.
pub fn read_files(easy: &EasyState) {
    let files = std::mem::take(&mut *easy.stores.hsts.unread.borrow_mut());
    for name in files.iter().filter(|name| !name.is_empty()) {
        // A file that is not there yet will be made.
        if let Ok(bytes) = read(name) {
            easy.stores.hsts.cache.borrow_mut().load(&bytes, now());
        }
    }
}

/// http becomes https for a host that asked for it.
pub fn upgrade(t: &mut Transfer) -> Result<()> {
    if t.url.scheme().as_deref() != Some("http") || !is_on(&t.easy) {
        return Ok(());
    }
    let host = t.url.host_ascii().map_err(url_error)?;
    if !t.easy.stores.hsts.cache.borrow_mut().applies(&host, now()) {
        return Ok(());
    }
    let first = Rc::ptr_eq(&t.first_url, &t.url);
    let mut url = Url::clone(&t.url);
    url.set(Part::Scheme, Some(b"https"), flag::NON_SUPPORT_SCHEME).map_err(url_error)?;
    t.url = Rc::new(Target::from(url));
    if first {
        t.first_url = t.url.clone();
    }
    t.other_origin = t.first_url.origin() != t.url.origin();
    t.easy.note(|| {
        let url = String::from_utf8_lossy(&url_text(&t.url)).into_owned();
        format!("Switched from HTTP to HTTPS due to HSTS => {url}")
    });
    Ok(())
}

/// Strict-Transport-Security came. Only a host that was reached over TLS is believed (RFC 6797 §8.1).
pub fn received(t: &Transfer, value: &[u8]) {
    if !t.scheme().tls() || !is_on(&t.easy) {
        return;
    }
    let host = t.url.host_ascii().unwrap_or_default();
    if t.easy.stores.hsts.cache.borrow_mut().receive(&host, value, now()).is_err() {
        t.easy.note(|| "Illegal STS header skipped".to_owned());
    }
}

/// Writes the file, whole or not at all.
pub fn save(easy: &EasyState) {
    let settings = easy.settings.borrow();
    let name = settings.text(O::Hsts).filter(|name| !name.is_empty());
    let Some(name) = name.filter(|_| settings.long(O::HstsCtrl) & READ_ONLY == 0) else { return };
    drop(settings);
    read_files(easy);
    let bytes = easy.stores.hsts.cache.borrow().file();
    if let Err(e) = write(&name, &bytes) {
        let name = String::from_utf8_lossy(&name);
        easy.note(|| format!("WARNING: failed to save HSTS in {name}: {e}"));
    }
}
