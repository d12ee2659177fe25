//! Alternative services (RFC 7838): where else an origin may be reached, the header that says so, and the file that keeps
//! it (CURLOPT_ALTSVC(3), CURLOPT_ALTSVC_CTRL(3)). The cache and its format are wire's. While HTTP/1.1 is the only version
//! built, origins are known and alternatives are taken under the name "h1" alone.

use std::io::ErrorKind;

use runtime::cell::RefCell;

use tables::constant::{CURLALTSVC_H1, CURLALTSVC_READONLYFILE};
use tables::{Code, EasyOption as O};
use wire::altsvc::{Alpn, Cache, Service};

use super::file::{read, write};
use super::now;
use crate::easy::EasyState;

/// A handle's own cache.
#[derive(Default)]
pub struct Store {
    cache: RefCell<Cache>,
}

/// CURLOPT_ALTSVC: the file is read at once. One that is not there yet will be made.
pub fn load(easy: &EasyState, name: &[u8]) -> Result<(), Code> {
    if name.is_empty() {
        return Ok(());
    }
    match read(name) {
        Ok(bytes) => easy.stores.altsvc.cache.borrow_mut().load(&bytes, now()),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {}
        Err(_) => return Err(Code::ReadError),
    }
    Ok(())
}

/// Whether the application wants alternatives to be remembered and used.
pub fn is_on(easy: &EasyState) -> bool {
    let settings = easy.settings.borrow();
    settings.is_set(O::Altsvc) || settings.is_set(O::AltsvcCtrl)
}

/// CURLOPT_ALTSVC_CTRL; what is built when nothing was said.
fn bits(easy: &EasyState) -> i64 {
    let settings = easy.settings.borrow();
    if settings.is_set(O::AltsvcCtrl) { settings.long(O::AltsvcCtrl) } else { CURLALTSVC_H1 }
}

/// Where to go instead of this host, which is asked over TLS: its certificate is asked for there, too.
pub fn alternative(easy: &EasyState, host: &str, port: u16) -> Option<(String, u16)> {
    if !is_on(easy) || bits(easy) & CURLALTSVC_H1 == 0 {
        return None;
    }
    let source = source(host.as_bytes(), port);
    let mut cache = easy.stores.altsvc.cache.borrow_mut();
    let found = cache.find(&source, |alpn| alpn == Alpn::H1, now())?.destination.clone();
    drop(cache);
    Some((String::from_utf8(found.host).ok()?, found.port))
}

/// Alt-Svc came from this host, over TLS: otherwise it is not believed.
pub fn received(easy: &EasyState, host: &[u8], port: u16, value: &[u8]) {
    let source = source(host, port);
    if easy.stores.altsvc.cache.borrow_mut().receive(&source, value, now()).is_err() {
        easy.note(|| "Illegal Alt-Svc header skipped".to_owned());
    }
}

fn source(host: &[u8], port: u16) -> Service {
    Service { alpn: Alpn::H1, host: host.to_vec(), port }
}

/// Writes the file, whole or not at all.
pub fn save(easy: &EasyState) {
    let name = easy.settings.borrow().text(O::Altsvc).filter(|name| !name.is_empty());
    let Some(name) = name.filter(|_| bits(easy) & CURLALTSVC_READONLYFILE == 0) else { return };
    let bytes = easy.stores.altsvc.cache.borrow().file();
    if let Err(e) = write(&name, &bytes) {
        let name = String::from_utf8_lossy(&name);
        easy.note(|| format!("WARNING: failed to save alternative services in {name}: {e}"));
    }
}
