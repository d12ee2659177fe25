//! Alternative services (RFC 7838): where else an origin may be reached, the header that says so, and the file that keeps
//! it (CURLOPT_ALTSVC(3), CURLOPT_ALTSVC_CTRL(3)). The cache and its format are wire's. An origin is known by the version in
//! which it named its alternatives, and an alternative is taken in a version that the transfer may speak.

use runtime::cell::RefCell;

use net::http3;
use tables::EasyOption as O;
use tables::constant::{CURLALTSVC_H1, CURLALTSVC_H2, CURLALTSVC_H3, CURLALTSVC_READONLYFILE};
use wire::altsvc::{Alpn, Cache, Service};

use super::file::{read, write};
use super::{Keeper, now};
use crate::settings::HTTP2_BUILT;

/// A handle's own cache.
#[derive(Default)]
pub struct Store {
    cache: RefCell<Cache>,
}

/// CURLOPT_ALTSVC: the file is read at once. One that cannot be read has nothing in it, and will be made.
pub fn load(keeper: Keeper<'_>, name: &[u8]) {
    if name.is_empty() {
        return;
    }
    if let Ok(bytes) = read(name) {
        keeper.stores.altsvc.cache.borrow_mut().load(&bytes, now());
    }
}

/// Whether the application wants alternatives to be remembered and used.
pub fn is_on(keeper: Keeper<'_>) -> bool {
    let settings = keeper.settings.borrow();
    settings.is_set(O::Altsvc) || settings.is_set(O::AltsvcCtrl)
}

/// CURLOPT_ALTSVC_CTRL; what is built when nothing was said.
fn bits(keeper: Keeper<'_>) -> i64 {
    let settings = keeper.settings.borrow();
    let all = CURLALTSVC_H1 | CURLALTSVC_H2 | CURLALTSVC_H3;
    let built = if HTTP2_BUILT { all } else { all & !CURLALTSVC_H2 };
    if settings.is_set(O::AltsvcCtrl) { settings.long(O::AltsvcCtrl) } else { built }
}

/// Where to go instead of an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    pub host: String,
    pub port: u16,
    /// In which version it was named, and is to be spoken to.
    pub versions: (Alpn, Alpn),
    /// It is not the origin itself, in one more version.
    pub elsewhere: bool,
}

impl Alternative {
    /// What is offered there by ALPN instead of `offer`: elsewhere, another version than the one in which it was named is the
    /// only one; at the same place HTTP/3 is tried before the others.
    pub fn offer(&self, mut offer: Vec<String>) -> Vec<String> {
        let only = |name: &str| vec![name.to_owned()];
        match self.versions {
            (from, to) if from == to => offer,
            (_, Alpn::H3) if self.elsewhere => only(http3::ALPN),
            (_, Alpn::H2) if self.elsewhere => only("h2"),
            (_, Alpn::H1) if self.elsewhere => only("http/1.1"),
            (_, Alpn::H3) if !offer.iter().any(|name| name == http3::ALPN) => {
                offer.insert(0, http3::ALPN.to_owned());
                offer
            }
            _ => offer,
        }
    }
}

/// Where to go instead of this host, which is asked over TLS and offered those versions: its certificate is asked for there,
/// too. What an origin named in the latest version is asked for first. `quic` says that HTTP/3 may be tried, unasked.
pub fn alternative(
    keeper: Keeper<'_>,
    host: &str,
    port: u16,
    offer: &[String],
    quic: bool,
) -> Option<Alternative> {
    if !is_on(keeper) {
        return None;
    }
    let bits = bits(keeper);
    let offered = |name: &str| offer.iter().any(|offered| offered == name);
    // Who knows that a server speaks HTTP/2 asks nobody.
    let spoken = [
        (Alpn::H3, offered(http3::ALPN)),
        (Alpn::H2, offered("h2") && offer.len() > 1),
        (Alpn::H1, offered("http/1.1")),
    ];
    let may = |alpn: Alpn| match alpn {
        Alpn::H1 => offered("http/1.1") && bits & CURLALTSVC_H1 != 0,
        Alpn::H2 => offered("h2") && bits & CURLALTSVC_H2 != 0,
        Alpn::H3 => quic && bits & CURLALTSVC_H3 != 0,
    };
    let mut cache = keeper.stores.altsvc.cache.borrow_mut();
    let found = spoken.into_iter().filter(|(_, asked)| *asked).find_map(|(from, _)| {
        let source = source(from, host.as_bytes(), port);
        let to = cache.find(&source, may, now())?.destination.clone();
        Some((from, to))
    });
    drop(cache);
    let (from, to) = found?;
    let host_there = String::from_utf8(to.host).ok()?;
    let elsewhere = !host_there.eq_ignore_ascii_case(host) || to.port != port;
    Some(Alternative { host: host_there, port: to.port, versions: (from, to.alpn), elsewhere })
}

/// Alt-Svc came from this host in that version, over TLS: otherwise it is not believed.
pub fn received(keeper: Keeper<'_>, version: Alpn, host: &[u8], port: u16, value: &[u8]) {
    let source = source(version, host, port);
    if keeper.stores.altsvc.cache.borrow_mut().receive(&source, value, now()).is_err() {
        keeper.note(|| "Illegal Alt-Svc header skipped".to_owned());
    }
}

fn source(alpn: Alpn, host: &[u8], port: u16) -> Service {
    Service { alpn, host: host.to_vec(), port }
}

/// Writes the file, whole or not at all.
pub fn save(keeper: Keeper<'_>) {
    let name = keeper.settings.borrow().text(O::Altsvc).filter(|name| !name.is_empty());
    let Some(name) = name.filter(|_| bits(keeper) & CURLALTSVC_READONLYFILE == 0) else { return };
    let bytes = keeper.stores.altsvc.cache.borrow().file();
    if let Err(e) = write(&name, &bytes) {
        let name = String::from_utf8_lossy(&name);
        keeper.note(|| format!("WARNING: failed to save alternative services in {name}: {e}"));
    }
}
