//! Alternative services (RFC 7838): other hosts, ports and protocols of an origin, the header that announces
//! them, and their file (CURLOPT_ALTSVC(3), CURLOPT_ALTSVC_CTRL(3)). The cache and its format are in wire. An
//! origin is stored with the HTTP version in which it announced its alternatives, and an alternative is used
//! in a version that the transfer allows.

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

/// CURLOPT_ALTSVC: reads the file at once. A file that cannot be read counts as empty, and will be created.
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
    settings.is_set(O::AltSvc) || settings.is_set(O::AltSvcCtrl)
}

/// Returns CURLOPT_ALTSVC_CTRL; by default all versions that are built in.
fn bits(keeper: Keeper<'_>) -> i64 {
    let settings = keeper.settings.borrow();
    let all = CURLALTSVC_H1 | CURLALTSVC_H2 | CURLALTSVC_H3;
    let built = if HTTP2_BUILT { all } else { all & !CURLALTSVC_H2 };
    if settings.is_set(O::AltSvcCtrl) { settings.long(O::AltSvcCtrl) } else { built }
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
    /// Returns the ALPN list in place of `offer`. At another host or port, a version other than the
    /// announcing one is the only one; at the same host and port HTTP/3 is tried before the others.
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

/// Returns the alternative to use for this host, which would be reached over TLS with those versions: the
/// alternative must present the same host's certificate. Alternatives announced in the latest version are
/// preferred. `quic`: HTTP/3 may be tried without being requested.
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
    let mut cache = keeper.stores.altsvc.cache.borrow_mut();
    let found = choose(bits(keeper), offer, quic, |from, may| {
        let source = source(from, host.as_bytes(), port);
        Some(cache.find(&source, may, now())?.destination.clone())
    });
    drop(cache);
    let (from, to) = found?;
    let host_there = String::from_utf8(to.host).ok()?;
    let elsewhere = !host_there.eq_ignore_ascii_case(host) || to.port != port;
    Some(Alternative { host: host_there, port: to.port, versions: (from, to.alpn), elsewhere })
}

/// Chooses an alternative: `find` looks one up that the origin announced in a version, and that may be used.
/// The latest version is tried first. `bits` is CURLOPT_ALTSVC_CTRL.
fn choose<T>(
    bits: i64,
    offer: &[String],
    quic: bool,
    mut find: impl FnMut(Alpn, &dyn Fn(Alpn) -> bool) -> Option<T>,
) -> Option<(Alpn, T)> {
    let offered = |name: &str| offer.iter().any(|offered| offered == name);
    // With prior knowledge of HTTP/2 no alternative is used.
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
    let spoken = spoken.into_iter().filter(|(_, asked)| *asked);
    spoken.map(|(from, _)| from).find_map(|from| Some((from, find(from, &may)?)))
}

/// Stores an Alt-Svc header that this host sent in that version. It is trusted only over TLS.
pub fn received(keeper: Keeper<'_>, version: Alpn, host: &[u8], port: u16, value: &[u8]) {
    let source = source(version, host, port);
    if keeper.stores.altsvc.cache.borrow_mut().receive(&source, value, now()).is_err() {
        keeper.note(|| "Illegal Alt-Svc header skipped".to_owned());
    }
}

fn source(alpn: Alpn, host: &[u8], port: u16) -> Service {
    Service { alpn, host: host.to_vec(), port }
}

/// Writes the file, atomically.
pub fn save(keeper: Keeper<'_>) {
    let name = keeper.settings.borrow().text(O::AltSvc).filter(|name| !name.is_empty());
    let Some(name) = name.filter(|_| bits(keeper) & CURLALTSVC_READONLYFILE == 0) else { return };
    let bytes = keeper.stores.altsvc.cache.borrow().file();
    if let Err(e) = write(&name, &bytes) {
        let name = String::from_utf8_lossy(&name);
        keeper.note(|| format!("WARNING: failed to save alternative services in {name}: {e}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Alpn::{H1, H2, H3};

    const ALL: i64 = CURLALTSVC_H1 | CURLALTSVC_H2 | CURLALTSVC_H3;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Returns the version in which an origin's alternatives are searched first, and the versions that an
    /// alternative may have.
    fn asked(bits: i64, offer: &[&str], quic: bool) -> Option<(Alpn, Vec<Alpn>)> {
        choose(bits, &names(offer), quic, |_, may| {
            Some([H1, H2, H3].into_iter().filter(|alpn| may(*alpn)).collect::<Vec<_>>())
        })
    }

    #[test]
    fn choices() {
        let rows: [(_, _, &[&str], _, _); 7] = [
            (
                "RFC 7838 §2.2: all that both know",
                ALL,
                &["h2", "http/1.1"],
                true,
                Some((H2, vec![H1, H2, H3])),
            ),
            (
                "CURLOPT_ALTSVC_CTRL(3): CURLALTSVC_H2",
                CURLALTSVC_H2,
                &["h2", "http/1.1"],
                true,
                Some((H2, vec![H2])),
            ),
            (
                "CURLOPT_ALTSVC_CTRL(3): CURLALTSVC_H3",
                CURLALTSVC_H3,
                &["h2", "http/1.1"],
                true,
                Some((H2, vec![H3])),
            ),
            (
                "RFC 9114 §3.1.1: QUIC cannot be used",
                ALL,
                &["h2", "http/1.1"],
                false,
                Some((H2, vec![H1, H2])),
            ),
            ("CURLOPT_HTTP_VERSION(3): HTTP/1.1 alone", ALL, &["http/1.1"], false, Some((H1, vec![H1]))),
            (
                "CURLOPT_HTTP_VERSION(3): HTTP/3 first",
                ALL,
                &["h3", "h2", "http/1.1"],
                true,
                Some((H3, vec![H1, H2, H3])),
            ),
            ("CURLOPT_HTTP_VERSION(3): prior knowledge asks nobody", ALL, &["h2"], true, None),
        ];
        for (name, bits, offer, quic, wanted) in rows {
            assert_eq!(asked(bits, offer, quic), wanted, "{name}");
        }
    }

    #[test]
    fn origins_are_asked_version_by_version() {
        let only = |wanted| {
            let offer = names(&["h3", "h2", "http/1.1"]);
            choose(ALL, &offer, true, |from, _| (from == wanted).then_some(())).map(|(from, ())| from)
        };
        assert_eq!([H1, H2, H3].map(only), [Some(H1), Some(H2), Some(H3)], "RFC 7838 §2");
    }

    #[test]
    fn offers() {
        let there =
            |from, to, elsewhere| Alternative { host: "b".into(), port: 1, versions: (from, to), elsewhere };
        let usual: &[&str] = &["h2", "http/1.1"];
        let rows: [(_, _, &[&str]); 7] = [
            ("RFC 7838 §2.2: the same version", there(H2, H2, true), usual),
            ("RFC 7838 §2.2: HTTP/3 elsewhere", there(H2, H3, true), &["h3"]),
            ("RFC 7838 §2.2: HTTP/2 elsewhere", there(H1, H2, true), &["h2"]),
            ("RFC 7838 §2.2: HTTP/1.1 elsewhere", there(H2, H1, true), &["http/1.1"]),
            (
                "RFC 7838 §2.2: HTTP/3 at the same place goes first",
                there(H2, H3, false),
                &["h3", "h2", "http/1.1"],
            ),
            ("RFC 7838 §2.2: HTTP/2 at the same place is offered already", there(H1, H2, false), usual),
            ("RFC 7838 §2.2: HTTP/1.1 at the same place, too", there(H2, H1, false), usual),
        ];
        for (name, alternative, wanted) in rows {
            assert_eq!(alternative.offer(names(usual)), names(wanted), "{name}");
        }
        let named = there(H2, H3, false).offer(names(&["h3", "h2"]));
        assert_eq!(named, names(&["h3", "h2"]), "RFC 7838 §2.2: once is enough");
    }
}
