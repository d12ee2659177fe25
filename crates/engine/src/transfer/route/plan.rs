//! Plan: how the origin of a URL is reached, and the key of a connection that follows it.

use std::sync::Arc;

use net::Pool;
use net::connection_key::{ConnectionKey, HashedKey, HttpStart, Login as BoundLogin, Protocol};
use net::filter::open::Transport;
use net::http3;
use net::resolver::ResolveOptions;
use net::tls::TlsConfig;

use crate::settings::Settings;
use crate::stores::altsvc::Alternative;
use crate::transfer::proxy::Proxy;
use crate::transfer::tls_options::is_as_chosen;

/// How to reach the origin of a transfer's URL.
#[derive(Clone)]
pub struct Plan {
    /// The key that an idle connection must have to serve.
    pub key: HashedKey,
    /// Another key that serves, if such a connection is open already: the origin has named a better way
    /// for new ones.
    pub opened: Option<HashedKey>,
    /// The key of a connection with more protection, which serves if it is open already: ftps: to the same
    /// host and port also serves ftp:.
    pub protected: Option<HashedKey>,
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
    /// It leads to a data connection of FTP.
    pub for_data: bool,
    /// HTTP/3 may be tried, and when is not decided yet: an HTTPS record of the host counts.
    pub heeds_records: bool,
}

/// A plan outlives the easy handle that it was made for, and another thread may use the storage next.
const _: () = {
    const fn crosses_threads<T: Send + Sync>() {}
    crosses_threads::<Plan>();
};

/// The login that a connection is bound to, where a request authenticates the whole connection (NTLM,
/// Negotiate). The handler of the protocol names it.
#[derive(Default)]
pub struct LoginBinding {
    /// The login that the connection must have been made for.
    pub to: Option<Box<BoundLogin>>,
    /// A login whose connections serve as well.
    pub perhaps: Option<Box<BoundLogin>>,
}

/// Returns the key of a connection that is bound to a login.
pub fn belonging(key: &ConnectionKey, login: BoundLogin) -> HashedKey {
    let by_ticket = key.by_ticket || login.is_by_ticket();
    HashedKey::from(ConnectionKey { login: Some(login), by_ticket, ..key.clone() })
}

impl Plan {
    /// Returns the host and the port to which the socket is connected: those of the first proxy, if there is
    /// one.
    pub fn first_hop(&self) -> (&str, u16) {
        match self.pre_proxy.as_ref().or(self.proxy.as_ref()) {
            Some(proxy) => (&proxy.host, proxy.port),
            None => (&self.host, self.port),
        }
    }

    /// Returns the terms on which a kept reply depends besides its URL. An alternative service answers for
    /// its origin (RFC 7838).
    pub fn of_replies(&self) -> ConnectionKey {
        let key = self.key.of_replies();
        match self.alternative {
            Some(_) => ConnectionKey { connect_to: None, ..key },
            None => key,
        }
    }

    /// Shares equal values with the pool: ten thousand transfers to one host have one key between them,
    /// and one configuration of TLS.
    pub fn share(&mut self, pool: &Pool) {
        let known = pool.known(self.key.clone());
        if !known.may_replace(&self.key) {
            return;
        }
        self.key = known;
        if self.tls == self.key.tls {
            self.tls.clone_from(&self.key.tls);
        }
    }

    /// Returns whether the plan holds as far as files and the process are concerned: its files are as they
    /// were, and TLS would be served by the same library.
    pub fn is_as_chosen(&self, settings: &Settings) -> bool {
        let protected = self.protected.as_ref();
        let mut tls = self.tls.iter().chain(protected.and_then(|key| key.tls.as_ref()));
        let current = self.key.is_current() && protected.is_none_or(HashedKey::is_current);
        current && tls.all(|tls| is_as_chosen(tls, settings))
    }

    /// Returns whether there is nothing between the socket and the origin.
    pub fn is_direct(&self) -> bool {
        let through = self.proxy.is_some() || self.pre_proxy.is_some() || self.key.unix.is_some();
        !through && self.key.haproxy.is_none()
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
        match (self.offers(http3::ALPN), self.key.transport) {
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
        matches!(self.key.protocol, Protocol::Ssh(_))
    }

    /// Whether HTTP/2 is spoken without asking.
    pub fn knows_http2(&self) -> bool {
        matches!(self.key.protocol, Protocol::Http(HttpStart::PriorKnowledge))
    }

    /// Whether requests of HTTP/1 ask the server for HTTP/2 (RFC 7540 §3.2).
    pub fn asks_for_upgrade(&self) -> bool {
        matches!(self.key.protocol, Protocol::Http(HttpStart::Upgrade))
    }

    /// Returns the way for HTTP/1 alone: a server or the way of authentication demands HTTP/1.
    pub fn without_http2(&self) -> Plan {
        let mut key = ConnectionKey::clone(&self.key);
        key.transport = Transport::Tcp;
        let offer = vec!["http/1.1".to_owned()];
        let tls = self.tls.as_ref().map(|tls| Arc::new(TlsConfig { alpn: offer, ..(**tls).clone() }));
        key.tls = tls.clone().or(key.tls);
        if self.knows_http2() || self.asks_for_upgrade() {
            key.protocol = Protocol::default();
        }
        let mut proxy = self.proxy.clone();
        if self.forwarder_offers_http2() {
            let offer = vec!["http/1.1".to_owned()];
            let tls = proxy.as_ref().and_then(|proxy| proxy.tls.clone());
            let tls = tls.map(|tls| Arc::new(TlsConfig { alpn: offer, ..(*tls).clone() }));
            proxy.iter_mut().for_each(|proxy| proxy.tls.clone_from(&tls));
            key.proxies.iter_mut().next_back().into_iter().for_each(|proxy| proxy.tls.clone_from(&tls));
        }
        Plan { key: key.into(), opened: None, tls, proxy, heeds_records: false, ..self.clone() }
    }

    /// The HTTP proxy that requests are handed to, unless it is a tunnel.
    pub fn forwarder(&self) -> Option<&Proxy> {
        self.proxy.as_deref().filter(|proxy| proxy.forwards())
    }
}

/// A host in the case of letters that the application chose, for messages and for proxies. An
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::transfer;
    use tables::EasyOption as O;
    use tables::constant::{
        CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_2_0, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
        CURL_HTTP_VERSION_2TLS, CURL_HTTP_VERSION_3, CURL_HTTP_VERSION_3ONLY,
    };

    fn plan(url: &str, version: i64) -> Plan {
        Plan::clone(&transfer(url, &[], &[(O::HttpVersion, version)]).plan().unwrap())
    }

    fn offer(plan: &Plan) -> String {
        plan.tls.as_ref().map_or_else(String::new, |tls| tls.alpn.join(" "))
    }

    #[test]
    fn quic_is_tried_where_http3_is_offered() {
        let rows = [
            ("CURL_HTTP_VERSION_1_1", "https://h/", CURL_HTTP_VERSION_1_1, Quic::No),
            ("CURL_HTTP_VERSION_3", "https://h/", CURL_HTTP_VERSION_3, Quic::First),
            ("CURL_HTTP_VERSION_3ONLY", "https://h/", CURL_HTTP_VERSION_3ONLY, Quic::Only),
            ("RFC 9114 §3.1: http", "http://h/", CURL_HTTP_VERSION_3, Quic::No),
        ];
        for (name, url, version, wanted) in rows {
            assert_eq!(plan(url, version).quic(), wanted, "{name}");
        }
    }

    #[test]
    fn an_https_record_places_http3() {
        let heeding = |version, named: &[&str]| {
            let named: Vec<Vec<u8>> = named.iter().map(|name| name.as_bytes().to_vec()).collect();
            plan("https://h/", version).heeding(&named).map(|plan| offer(&plan))
        };
        let both = CURL_HTTP_VERSION_2TLS;
        let some = |text: &str| Some(text.to_owned());
        let rows: [(_, _, &[&str], _); 5] = [
            ("RFC 9460 §7.1: HTTP/3 first", both, &["h3", "h2"], some("h3 h2 http/1.1")),
            ("RFC 9460 §7.1: HTTP/3 last", both, &["h2", "h3"], some("h2 http/1.1 h3")),
            ("RFC 9460 §7.1: not named, and not asked for", both, &["h2"], None),
            ("RFC 9460 §7.1: not named, but asked for", CURL_HTTP_VERSION_3, &["h2"], some("h2 http/1.1 h3")),
            ("RFC 9460 §7.1: a record without ALPN", both, &[], None),
        ];
        for (name, version, named, wanted) in rows {
            assert_eq!(heeding(version, named), wanted, "{name}");
        }
    }

    #[test]
    fn tcp_and_quic_have_offers_of_their_own() {
        let plan = plan("https://h/", CURL_HTTP_VERSION_3);
        let by = |transport| plan.tls_by(transport).unwrap().alpn.join(" ");
        assert_eq!(by(Transport::Tcp), "h2 http/1.1", "RFC 9114 §3.1: h3 is not for TCP");
        assert_eq!(by(Transport::Udp), "h3", "RFC 9001 §8.1: nor others for QUIC");
    }

    #[test]
    fn without_http2_nothing_of_it_is_left() {
        let rows = [
            ("RFC 9113 §3.2: ALPN", "https://h/", CURL_HTTP_VERSION_2TLS),
            ("RFC 9114 §3.1: HTTP/3", "https://h/", CURL_HTTP_VERSION_3ONLY),
            ("RFC 9113 §3.3: prior knowledge", "http://h/", CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE),
            ("RFC 7540 §3.2: an upgrade", "http://h/", CURL_HTTP_VERSION_2_0),
        ];
        for (name, url, version) in rows {
            let before = plan(url, version);
            assert!(before.may_have_streams(), "{name}");
            let after = before.without_http2();
            assert!(!after.may_have_streams() && after.quic() == Quic::No, "{name}");
            assert_ne!(after.key, before.key, "{name}: another connection");
            assert_eq!(offer(&after), if url.starts_with("https") { "http/1.1" } else { "" }, "{name}");
        }
    }

    #[test]
    fn hosts_stand_as_they_were_written() {
        let rows: [(_, Option<&[u8]>, _, _); 4] = [
            ("RFC 3986 §3.2.2: letters", Some(b"Host.Test"), "host.test", "Host.Test"),
            ("RFC 3986 §3.2.2: brackets", Some(b"[::1]"), "::1", "::1"),
            (
                "RFC 5890 §2.3: an international name",
                Some("b\u{fc}cher.test".as_bytes()),
                "xn--bcher-kva.test",
                "xn--bcher-kva.test",
            ),
            ("RFC 3986 §3.2.2: none", None, "host.test", "host.test"),
        ];
        for (name, host, ascii, wanted) in rows {
            assert_eq!(written(host, ascii), wanted, "{name}");
        }
    }

    #[test]
    fn kept_replies_know_no_alternative_service() {
        let plan = plan("https://h/", CURL_HTTP_VERSION_2TLS);
        let mut key = ConnectionKey::clone(&plan.key);
        key.connect_to = Some(net::connection_key::Origin::new("b.test", 444));
        let led = Plan { key: key.into(), ..plan.clone() };
        let versions = (wire::altsvc::Alpn::H2, wire::altsvc::Alpn::H2);
        let to = Alternative { host: "b.test".into(), port: 444, versions, elsewhere: true };
        let alternative = Plan { alternative: Some(to), ..led.clone() };
        assert_eq!(alternative.of_replies(), plan.of_replies(), "RFC 7838 §2: it answers for its origin");
        assert_ne!(
            led.of_replies(),
            plan.of_replies(),
            "CURLOPT_CONNECT_TO(3): another place is another server"
        );
    }
}
