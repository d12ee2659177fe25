//! Alternative services (RFC 7838): where else an origin may be reached, the header that says so, and the file that keeps
//! it (CURLOPT_ALTSVC(3), CURLOPT_ALTSVC_CTRL(3)). The cache and its format are wire's. An origin is known by the version in
//! which it named its alternatives, and an alternative is taken in a version that the transfer may speak.

use std::io::ErrorKind;

use runtime::cell::RefCell;

use tables::constant::{CURLALTSVC_H1, CURLALTSVC_H2, CURLALTSVC_READONLYFILE};
use tables::{Code, EasyOption as O};
use wire::altsvc::{Alpn, Cache, Service};

use super::file::{read, write};
use super::now;
use crate::easy::EasyState;
use crate::transfer::plan::HTTP2;

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
    let built = if HTTP2 { CURLALTSVC_H1 | CURLALTSVC_H2 } else { CURLALTSVC_H1 };
    if settings.is_set(O::AltsvcCtrl) { settings.long(O::AltsvcCtrl) } else { built }
}

/// Where to go instead of an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    pub host: String,
    pub port: u16,
    /// In which version it was named, and is to be spoken to.
    pub versions: (Alpn, Alpn),
}

impl Alternative {
    /// What is offered there by ALPN instead of `offer`: another version than the one in which it was named is the only one.
    pub fn offer(&self, offer: Vec<String>) -> Vec<String> {
        match self.versions {
            (from, to) if from == to => offer,
            (_, Alpn::H2) => vec!["h2".to_owned()],
            _ => vec!["http/1.1".to_owned()],
        }
    }
}

/// Where to go instead of this host, which is asked over TLS and offered those versions: its certificate is asked for there,
/// too. What an origin named in HTTP/2 is asked for first.
pub fn alternative(easy: &EasyState, host: &str, port: u16, offer: &[String]) -> Option<Alternative> {
    if !is_on(easy) {
        return None;
    }
    let bits = bits(easy);
    let offered = |name: &str| offer.iter().any(|offered| offered == name);
    // Who knows that a server speaks HTTP/2 asks nobody.
    let spoken = [(Alpn::H2, offered("h2") && offer.len() > 1), (Alpn::H1, offered("http/1.1"))];
    let may = |alpn: Alpn| match alpn {
        Alpn::H1 => offered("http/1.1") && bits & CURLALTSVC_H1 != 0,
        Alpn::H2 => offered("h2") && bits & CURLALTSVC_H2 != 0,
        Alpn::H3 => false,
    };
    let mut cache = easy.stores.altsvc.cache.borrow_mut();
    let found = spoken.into_iter().filter(|(_, asked)| *asked).find_map(|(from, _)| {
        let source = source(from, host.as_bytes(), port);
        let to = cache.find(&source, may, now())?.destination.clone();
        Some((from, to))
    });
    drop(cache);
    let (from, to) = found?;
    let host_there = String::from_utf8(to.host).ok()?;
    // The origin itself, in one more version, is no other place.
    let elsewhere = !host_there.eq_ignore_ascii_case(host) || to.port != port;
    elsewhere.then_some(Alternative { host: host_there, port: to.port, versions: (from, to.alpn) })
}

/// Alt-Svc came from this host in that version, over TLS: otherwise it is not believed.
pub fn received(easy: &EasyState, version: Alpn, host: &[u8], port: u16, value: &[u8]) {
    let source = source(version, host, port);
    if easy.stores.altsvc.cache.borrow_mut().receive(&source, value, now()).is_err() {
        easy.note(|| "Illegal Alt-Svc header skipped".to_owned());
    }
}

fn source(alpn: Alpn, host: &[u8], port: u16) -> Service {
    Service { alpn, host: host.to_vec(), port }
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
