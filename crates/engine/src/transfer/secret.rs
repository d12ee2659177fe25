//! Secrets and their recipients. A password, token, Digest state, or header line with credentials can be read
//! from its [`Secret`] only with the name of the peer that it will be sent to; any other peer gets nothing.
//! Code that would write one to another connection does not compile, because it has no access to the bytes.

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;

use net::connection_key::{Origin, ProxyKind};
use wire::url::Url;

/// The role of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The origin of a URL.
    Server,
    /// A proxy in front of it.
    Proxy,
}

/// A recipient of secrets: scheme, host and port of a server or of a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    spoken: Spoken,
    origin: Origin,
}

/// The protocol of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Spoken {
    /// A server, the scheme of its URL.
    Scheme(Cow<'static, str>),
    /// A proxy.
    Proxy(ProxyKind),
}

impl Peer {
    /// Returns the server of this URL.
    pub fn server(url: &Url) -> Peer {
        let host = url.host_ascii().unwrap_or_default();
        let origin = Origin::new(&String::from_utf8_lossy(&host), url.port_or_default().unwrap_or_default());
        let known = url.known_scheme().map(|scheme| Cow::Borrowed(scheme.name()));
        let scheme = known.unwrap_or_else(|| url.scheme().unwrap_or_default().into());
        Peer { spoken: Spoken::Scheme(scheme), origin }
    }

    /// Returns a proxy as a peer.
    pub fn proxy(kind: ProxyKind, host: &str, port: u16) -> Peer {
        Peer { spoken: Spoken::Proxy(kind), origin: Origin::new(host, port) }
    }

    /// Returns its host and port.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns its host.
    pub fn host(&self) -> &str {
        &self.origin.host
    }
}

/// A value for one peer only.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T> {
    scope: Scope,
    value: T,
}

#[derive(Clone, PartialEq, Eq)]
enum Scope {
    Only(Rc<Peer>),
    /// CURLOPT_UNRESTRICTED_AUTH: every server, but no proxy.
    AnyServer,
}

impl<T> Secret<T> {
    /// Binds a value to one peer.
    pub fn of(peer: impl Into<Rc<Peer>>, value: T) -> Secret<T> {
        Secret { scope: Scope::Only(peer.into()), value }
    }

    /// Binds a value to every server, but no proxy (CURLOPT_UNRESTRICTED_AUTH).
    pub fn of_any_server(value: T) -> Secret<T> {
        Secret { scope: Scope::AnyServer, value }
    }

    /// Returns the value, to be sent to `peer`.
    pub fn for_peer(&self, peer: &Peer) -> Option<&T> {
        self.fits(peer).then_some(&self.value)
    }

    /// Returns the value for a change.
    pub fn for_peer_mut(&mut self, peer: &Peer) -> Option<&mut T> {
        self.fits(peer).then_some(&mut self.value)
    }

    fn fits(&self, peer: &Peer) -> bool {
        match &self.scope {
            Scope::Only(own) => **own == *peer,
            Scope::AnyServer => matches!(peer.spoken, Spoken::Scheme(_)),
        }
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_of_one_place_differ_by_kind() {
        let at = |kind, host: &str, port| Peer::proxy(kind, host, port);
        let secret = Secret::of(at(ProxyKind::Http, "p.test", 80), 1);
        let rows = [
            ("CURLOPT_PROXYUSERPWD(3): the proxy", at(ProxyKind::Http, "P.TEST", 80), true),
            ("CURLOPT_PROXYTYPE(3): in clear instead of TLS", at(ProxyKind::Https, "p.test", 80), false),
            ("CURLOPT_PROXYPORT(3): another port", at(ProxyKind::Http, "p.test", 81), false),
            ("CURLOPT_PROXY(3): another host", at(ProxyKind::Http, "q.test", 80), false),
            (
                "CURLOPT_USERPWD(3): the server there",
                Peer::server(&Url::parse(b"http://p.test/", 0).unwrap()),
                false,
            ),
        ];
        for (name, peer, wanted) in rows {
            assert_eq!(secret.for_peer(&peer).is_some(), wanted, "{name}");
        }
    }

    #[test]
    fn a_secret_is_changed_by_naming_its_peer() {
        let peer = Peer::proxy(ProxyKind::Http, "p.test", 80);
        let mut secret = Secret::of(peer.clone(), 1);
        let other = Peer::proxy(ProxyKind::Http, "q.test", 80);
        assert!(secret.for_peer_mut(&other).is_none(), "RFC 7616 §3.3: a nonce of another's");
        *secret.for_peer_mut(&peer).unwrap() = 2;
        assert_eq!(secret.for_peer(&peer), Some(&2), "RFC 7616 §3.3: a nonce that has been used");
        assert_eq!((peer.host(), peer.origin().port), ("p.test", 80), "the place that is shown");
    }

    #[test]
    fn only_the_peer_itself_learns_it() {
        let peer = |url: &str| Peer::server(&Url::parse(url.as_bytes(), 0).unwrap());
        let secret = Secret::of(peer("http://a.example/x"), 1);
        assert_eq!(secret.for_peer(&peer("http://A.example:80/y")), Some(&1));
        for other in
            ["https://a.example/", "https://a.example:80/", "http://a.example:81/", "http://b.a.example/"]
        {
            assert_eq!(secret.for_peer(&peer(other)), None, "{other}");
        }
        assert_eq!(secret.for_peer(&Peer::proxy(ProxyKind::Http, "a.example", 80)), None);
        let any = Secret { scope: Scope::AnyServer, value: 1 };
        assert!(any.for_peer(&peer("http://b.example/")).is_some());
        assert!(any.for_peer(&Peer::proxy(ProxyKind::Http, "a.example", 80)).is_none());
        assert_eq!(format!("{any:?}"), "Secret(..)");
    }
}
