//! Plan: how the origin of a URL is reached, and the identity of a connection that follows it.

use std::sync::Arc;

use net::Pool;
use net::filter::open::Transport;
use net::http3;
use net::identity::{HttpStart, Identity, Key, Login as BoundLogin, Protocol};
use net::resolver::ResolveOptions;
use net::tls::TlsConfig;

use crate::stores::altsvc::Alternative;
use crate::transfer::proxy::Proxy;

/// How to reach the origin of a transfer's URL.
#[derive(Clone)]
pub struct Plan {
    /// The identity that an idle connection must have to serve.
    pub identity: Key,
    /// Another identity that serves, if such a connection is open already: the origin has named a better way
    /// for new ones.
    pub opened: Option<Key>,
    /// Host that a direct connection leads to (after CURLOPT_CONNECT_TO), in the letters it was written with.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// They are an alternative service (RFC 7838).
    pub alternative: Option<Alternative>,
    /// The proxy, unless there is none or it is bypassed.
    pub proxy: Option<Box<Proxy>>,
    /// A SOCKS proxy on the way to the proxy (CURLOPT_PRE_PROXY).
    pub pre_proxy: Option<Box<Proxy>>,
    /// TLS to the origin from the first byte on.
    pub tls: Option<Arc<TlsConfig>>,
    /// Name look-up.
    pub resolve: ResolveOptions,
    /// HTTP/3 may be tried, and when is not decided yet: an HTTPS record of the host counts.
    pub heeds_records: bool,
}

/// The login that a connection is bound to, where a request authenticates the whole connection (NTLM,
/// Negotiate). The handler of the protocol names it.
#[derive(Default)]
pub struct Bound {
    /// The login that the connection must have been made for.
    pub to: Option<Box<BoundLogin>>,
    /// A login whose connections serve as well.
    pub perhaps: Option<Box<BoundLogin>>,
}

/// Returns the identity of a connection that is bound to a login.
pub fn belonging(identity: &Identity, login: BoundLogin) -> Key {
    let by_ticket = identity.by_ticket || login.is_by_ticket();
    Key::from(Identity { login: Some(login), by_ticket, ..identity.clone() })
}

impl Plan {
    /// Returns the terms on which a kept reply depends besides its URL. An alternative service answers for
    /// its origin (RFC 7838).
    pub fn of_replies(&self) -> Identity {
        let identity = self.identity.of_replies();
        match self.alternative {
            Some(_) => Identity { connect_to: None, ..identity },
            None => identity,
        }
    }

    /// Shares equal values with the pool: ten thousand transfers to one host have one identity between them,
    /// and one configuration of TLS.
    pub fn share(&mut self, pool: &Pool) {
        let known = pool.known(self.identity.clone());
        if !known.may_replace(&self.identity) {
            return;
        }
        self.identity = known;
        if self.tls == self.identity.tls {
            self.tls.clone_from(&self.identity.tls);
        }
    }

    /// Nothing stands between the socket and the origin.
    pub fn is_direct(&self) -> bool {
        let through = self.proxy.is_some() || self.pre_proxy.is_some() || self.identity.unix.is_some();
        !through && self.identity.haproxy.is_none()
    }

    /// Whether a stream may serve a transfer along it.
    pub fn may_have_streams(&self) -> bool {
        self.is_ssh()
            || self.knows_http2()
            || self.asks_for_upgrade()
            || self.offers("h2")
            || self.offers(http3::ALPN)
            || self.forwarder_offers_http2()
    }

    /// Whether requests may be handed to the proxy in HTTP/2 (CURLPROXY_HTTPS2).
    fn forwarder_offers_http2(&self) -> bool {
        let tls = self.forwarder().and_then(|proxy| proxy.tls.as_ref());
        tls.is_some_and(|tls| tls.alpn.iter().any(|name| name == "h2"))
    }

    /// Whether QUIC is tried, and TCP beside it.
    pub fn quic(&self) -> Quic {
        match (self.offers(http3::ALPN), self.identity.transport) {
            (false, _) => Quic::No,
            (true, Transport::Udp) => Quic::Only,
            (true, Transport::Tcp) if self.tls.as_ref().is_some_and(|tls| tls.alpn[0] == http3::ALPN) => {
                Quic::First
            }
            (true, Transport::Tcp) => Quic::Second,
        }
    }

    /// Returns the plan where a record names what is spoken there, the best first: HTTP/3 has the place that
    /// it has there, and the last one when it was asked for and is not named (as in curl, of whose two
    /// attempts the record names the first).
    pub fn heeding(&self, named: &[Vec<u8>]) -> Option<Plan> {
        let tls = self.tls.as_ref().filter(|_| !named.is_empty())?;
        let place = |name: &str| named.iter().position(|one| one == name.as_bytes());
        let others = || tls.alpn.iter().filter(|name| *name != http3::ALPN);
        let quic = place(http3::ALPN);
        if quic.is_none() && !self.offers(http3::ALPN) {
            return None;
        }
        let first = quic.is_some() && others().filter_map(|name| place(name)).all(|other| quic < Some(other));
        let mut alpn: Vec<String> = others().cloned().collect();
        alpn.insert(if first { 0 } else { alpn.len() }, http3::ALPN.to_owned());
        Some(Plan { tls: Some(Arc::new(TlsConfig { alpn, ..(**tls).clone() })), ..self.clone() })
    }

    /// Returns TLS along TCP or along QUIC alone: each has its own to offer.
    pub fn tls_by(&self, transport: Transport) -> Option<Arc<TlsConfig>> {
        let tls = self.tls.as_ref()?;
        if self.quic() == Quic::No {
            return Some(tls.clone());
        }
        let fits = |name: &&String| (*name == http3::ALPN) == (transport == Transport::Udp);
        let alpn = tls.alpn.iter().filter(fits).cloned().collect();
        Some(Arc::new(TlsConfig { alpn, ..(**tls).clone() }))
    }

    fn offers(&self, protocol: &str) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.alpn.iter().any(|name| name == protocol))
    }

    /// Whether SSH is spoken, whose channels are its streams.
    pub fn is_ssh(&self) -> bool {
        matches!(self.identity.protocol, Protocol::Ssh(_))
    }

    /// Whether HTTP/2 is spoken without asking.
    pub fn knows_http2(&self) -> bool {
        matches!(self.identity.protocol, Protocol::Http(HttpStart::PriorKnowledge))
    }

    /// Whether requests of HTTP/1 ask the server for HTTP/2 (RFC 7540 §3.2).
    pub fn asks_for_upgrade(&self) -> bool {
        matches!(self.identity.protocol, Protocol::Http(HttpStart::Upgrade))
    }

    /// Returns the way for HTTP/1 alone: a server or the way of authentication demands HTTP/1.
    pub fn without_http2(&self) -> Plan {
        let mut identity = Identity::clone(&self.identity);
        identity.transport = Transport::Tcp;
        let offer = vec!["http/1.1".to_owned()];
        let tls = self.tls.as_ref().map(|tls| Arc::new(TlsConfig { alpn: offer, ..(**tls).clone() }));
        identity.tls = tls.clone().or(identity.tls);
        if self.knows_http2() || self.asks_for_upgrade() {
            identity.protocol = Protocol::default();
        }
        let mut proxy = self.proxy.clone();
        if self.forwarder_offers_http2() {
            let offer = vec!["http/1.1".to_owned()];
            let tls = proxy.as_ref().and_then(|proxy| proxy.tls.clone());
            let tls = tls.map(|tls| Arc::new(TlsConfig { alpn: offer, ..(*tls).clone() }));
            proxy.iter_mut().for_each(|proxy| proxy.tls.clone_from(&tls));
            identity.proxies.iter_mut().next_back().into_iter().for_each(|proxy| proxy.tls.clone_from(&tls));
        }
        Plan { identity: identity.into(), opened: None, tls, proxy, heeds_records: false, ..self.clone() }
    }

    /// The HTTP proxy that requests are handed to, unless it is a tunnel.
    pub fn forwarder(&self) -> Option<&Proxy> {
        self.proxy.as_deref().filter(|proxy| proxy.forwards())
    }
}

/// A host in the case of letters that the application chose: so it stands in messages and goes to proxies. An
/// international name has its ASCII form.
pub fn written(host: Option<&[u8]>, ascii: &str) -> String {
    let host = host.and_then(|host| std::str::from_utf8(host).ok()).filter(|host| host.is_ascii());
    let host = host.map(|host| host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host));
    host.unwrap_or(ascii).to_owned()
}

/// Whether QUIC is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quic {
    No,
    /// And TCP when it does not answer at once.
    First,
    /// When TCP does not.
    Second,
    Only,
}
