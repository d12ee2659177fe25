//! Which proxy a transfer goes through: CURLOPT_PROXY or the environment, unless CURLOPT_NOPROXY or
//! no_proxy says otherwise.

use std::cell::Cell;
use std::sync::Arc;

use net::NamedFile;
pub use net::connection_key::ProxyKind;
use net::filter::open::UnixSocket;
use net::http3;
use net::tls::backend::NOT_BY_QUIC;
use net::tls::{Backend, TlsConfig};
use tables::constant::{
    CURLPROXY_HTTP, CURLPROXY_HTTP_1_0, CURLPROXY_HTTPS, CURLPROXY_HTTPS2, CURLPROXY_HTTPS3,
    CURLPROXY_SOCKS4, CURLPROXY_SOCKS4A, CURLPROXY_SOCKS5, CURLPROXY_SOCKS5_HOSTNAME,
};
use tables::environment::PROXY;
use tables::scheme::Family;
use tables::{Code, EasyOption as O, Scheme};
use wire::escape::{self, Reject};
use wire::proxy_source::ProxySource;
use wire::url::{Url, flag};

use super::login::Login;
use super::secret::{Peer, Secret};
use super::tls_options::{TlsPeer, tls_config};
use crate::error::{Error, Result};
use crate::settings::{HTTP3_BUILT, Settings, WITHOUT_HTTP3, proxy_of_process};

/// A proxy to go through.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// The protocol of the proxy.
    pub kind: ProxyKind,
    /// The host name or address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The Unix socket on which the proxy listens, in place of a port: `socks5h://localhost/path`.
    pub unix: Option<UnixSocket>,
    /// User name for the proxy.
    pub user: Option<Vec<u8>>,
    /// Password for the proxy.
    pub password: Option<Vec<u8>>,
    /// TLS to the proxy.
    pub tls: Option<Arc<TlsConfig>>,
    /// Whether bytes go through a CONNECT tunnel.
    pub tunnel: bool,
}

impl Proxy {
    /// Returns the proxy as a recipient of secrets.
    pub fn peer(&self) -> Peer {
        Peer::proxy(self.kind, &self.host, self.port)
    }

    /// Returns whether the proxy receives requests and fetches by itself.
    pub fn forwards(&self) -> bool {
        !self.tunnel && !self.kind.is_socks()
    }

    /// Returns whether the proxy may provide a tunnel for datagrams. HTTP/1.0 has no upgrade.
    pub fn may_take_datagrams(&self) -> bool {
        !self.kind.is_socks() && self.kind != ProxyKind::Http10
    }

    /// Returns host and port, as a request names them.
    pub fn authority(&self) -> String {
        let bare = self.host.contains(':') && !self.host.starts_with('[');
        let host = if bare { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{host}:{}", self.port)
    }

    /// Returns the login for the proxy, if a user is set.
    pub fn login(&self) -> Option<Secret<Login>> {
        let user = self.user.clone()?;
        let password = self.password.clone().unwrap_or_default();
        Some(Secret::of(self.peer(), Login { user, password }))
    }

    /// Returns the login for the proxy. Without a user, a Kerberos ticket may name the user (`by_ticket`).
    pub fn login_or_unnamed(&self, by_ticket: bool) -> Option<Secret<Login>> {
        self.login().or_else(|| by_ticket.then(|| Secret::of(self.peer(), Login::default())))
    }
}

/// curl's default port of a proxy.
const DEFAULT_PORT: u16 = 1080;

/// The proxy variables of the environment, which count where no option decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    proxy: Option<Box<[u8]>>,
    no_proxy: Option<Box<[u8]>>,
    /// The entry of a list that is used now; empty for no proxy. It replaces what has the list.
    selected: Option<Box<[u8]>>,
}

impl Environment {
    /// Returns whether a variable names a proxy, or one of a list is used.
    pub fn names_proxy(&self) -> bool {
        self.proxy.is_some() || self.selected.is_some()
    }

    /// Returns the text that names the proxy.
    pub(super) fn text(&self) -> Option<&[u8]> {
        self.proxy.as_deref()
    }

    /// Returns the variables with the entry of a list that is used now.
    pub(super) fn with_selected(self, selected: Option<Box<[u8]>>) -> Environment {
        Environment { selected, ..self }
    }
}

/// Reads the variables that count for this scheme, or the handle's own rules in place of them.
///
/// A transfer inside another one (`is_inner`) asks no source of proxies: that source may need the transfer.
pub fn environment(
    settings: &Settings,
    scheme: &Scheme,
    host: impl FnOnce() -> String,
    is_inner: bool,
) -> Environment {
    let rules = settings.choices();
    if rules.proxies.is_some() && !settings.is_set(O::Proxy) {
        let proxy = rules.proxy_for(scheme, &host()).filter(|url| !url.is_empty());
        return Environment { proxy: proxy.map(|url| url.as_bytes().into()), ..Environment::default() };
    }
    let counts = |text: &&str| !is_inner || ProxySource::of(text.as_bytes()).is_none();
    let of_process = || proxy_of_process().filter(counts).map(|text| text.as_bytes().to_vec());
    let proxy = match settings.is_set(O::Proxy) {
        true => None,
        false => of_process().or_else(|| proxy_variable(scheme, variable)),
    };
    let any = proxy.is_some() || settings.is_set(O::Proxy) || settings.is_set(O::PreProxy);
    let listed = any && !settings.is_set(O::NoProxy);
    let no_proxy = || variable("no_proxy").or_else(|| variable("NO_PROXY"));
    let no_proxy = listed.then(no_proxy).flatten().map(Vec::into_boxed_slice);
    Environment { proxy: proxy.map(Vec::into_boxed_slice), no_proxy, selected: None }
}

/// Whatever bytes it has: one that is no UTF-8 must not let a transfer go without its proxy.
fn variable(name: &str) -> Option<Vec<u8>> {
    std::env::var_os(name).map(std::ffi::OsString::into_encoded_bytes)
}

/// Returns the proxy that the environment names for a scheme. An empty variable names none.
fn proxy_variable(scheme: &Scheme, variable: impl Fn(&str) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let get = |name: &str| variable(name).filter(|value| !value.is_empty());
    // HTTP_PROXY in capitals may come from a request's own "Proxy:" field in CGI programs.
    let own = match scheme {
        Scheme::Http => get("http_proxy"),
        Scheme::Https => get("https_proxy").or_else(|| get("HTTPS_PROXY")),
        Scheme::Ws => get("ws_proxy").or_else(|| get("WS_PROXY")).or_else(|| get("http_proxy")),
        Scheme::Wss => {
            let own = get("wss_proxy").or_else(|| get("WSS_PROXY"));
            own.or_else(|| get("https_proxy")).or_else(|| get("HTTPS_PROXY"))
        }
        _ => {
            let mut name = [scheme.name(), "_proxy"].concat();
            get(&name).or_else(|| {
                name.make_ascii_uppercase();
                get(&name)
            })
        }
    };
    own.or_else(|| get("all_proxy")).or_else(|| get("ALL_PROXY"))
}

/// Returns the option, the program or the variable that names the proxy for a scheme, if one does.
pub fn source(settings: &Settings, scheme: &Scheme) -> Option<String> {
    let named = |option: O| {
        let is_set = settings.text(option).is_some_and(|text| !text.is_empty());
        is_set.then(|| format!("CURLOPT_{}", option.name()))
    };
    let elsewhere = || match (settings.is_set(O::Proxy), &settings.choices().proxies) {
        (true, _) => None,
        (false, Some(rules)) => (!rules.is_empty()).then(|| "the client's proxies".to_owned()),
        (false, None) if proxy_of_process().is_some() => Some(PROXY.name.to_owned()),
        (false, None) => proxy_variable_name(scheme),
    };
    named(O::Proxy).or_else(elsewhere).or_else(|| named(O::PreProxy))
}

/// Returns the variable that names the proxy for a scheme, of those that are set.
fn proxy_variable_name(scheme: &Scheme) -> Option<String> {
    let last = Cell::new(None);
    let found = proxy_variable(scheme, |name| {
        let value = variable(name)?;
        if !value.is_empty() {
            last.set(Some(name.to_owned()));
        }
        Some(value)
    });
    found.and_then(|_| last.take())
}

/// Returns whether CURLOPT_NOPROXY or the environment exempts a host from proxies.
pub fn is_bypassed(settings: &Settings, host: &str, environment: &Environment) -> bool {
    let own = settings.text(O::NoProxy);
    let list = own.as_deref().or(environment.no_proxy.as_deref());
    list.is_some_and(|list| wire::noproxy::matches(host, &String::from_utf8_lossy(list)))
}

/// Returns the proxy that the variables of curl name for a scheme, with the name of the variable.
pub fn from_variables(scheme: &Scheme) -> Option<(Vec<u8>, String)> {
    Some((proxy_variable(scheme, variable)?, proxy_variable_name(scheme)?))
}

/// The proxies for this origin, if any: one before the proxy, and the proxy. A pre-proxy alone is the proxy.
pub fn choose(
    settings: &Settings,
    scheme: &Scheme,
    host: &str,
    environment: &Environment,
) -> Result<(Option<Proxy>, Option<Proxy>)> {
    let set = |option| settings.text(option).map(|text| Box::from(&text[..]));
    let selected = environment.selected.clone();
    let text = selected.or_else(|| set(O::Proxy)).or_else(|| environment.proxy.clone()).unwrap_or_default();
    let before = set(O::PreProxy).unwrap_or_default();
    if text.is_empty() && before.is_empty() || is_bypassed(settings, host, environment) {
        return Ok((None, None));
    }
    let read =
        |text: &[u8], kind| (!text.is_empty()).then(|| parse(settings, scheme, text, kind)).transpose();
    let shown = String::from_utf8_lossy(&before);
    let before = read(&before, Some(ProxyKind::Socks4))?;
    if before.as_ref().is_some_and(|proxy| !proxy.kind.is_socks()) {
        let text = format!("Unsupported pre-proxy type for '{shown}'");
        return Err(Error::new(Code::CouldntResolveProxy, text));
    }
    let proxy = read(&text, None)?;
    Ok(match (before, proxy) {
        // Two SOCKS proxies in a row are not spoken to: the later option counts, as in curl.
        (before, None) => (None, before),
        (_, Some(proxy)) if proxy.kind.is_socks() => (None, Some(proxy)),
        both => both,
    })
}

/// Parses a proxy. One without a scheme is of the kind `without`, or of CURLOPT_PROXYTYPE.
fn parse(settings: &Settings, scheme: &Scheme, text: &[u8], without: Option<ProxyKind>) -> Result<Proxy> {
    let shown = String::from_utf8_lossy(text);
    let bad = |why: &str| {
        Error::new(Code::CouldntResolveProxy, format!("Unsupported proxy syntax in '{shown}'{why}"))
    };
    let bits = flag::NON_SUPPORT_SCHEME | flag::GUESS_SCHEME;
    let url = Url::parse(text, bits).map_err(|e| bad(&format!(": {e}")))?;
    let explicit = text.windows(3).any(|three| three == b"://");
    let named = url.scheme();
    let kind = match named.as_deref() {
        Some("https") if explicit => match settings.long(O::ProxyType) {
            CURLPROXY_HTTPS2 => ProxyKind::Https2,
            CURLPROXY_HTTPS3 => ProxyKind::Https3,
            _ => ProxyKind::Https,
        },
        Some("http") if explicit => match settings.long(O::ProxyType) {
            CURLPROXY_HTTP_1_0 => ProxyKind::Http10,
            _ => ProxyKind::Http,
        },
        other => match (other.and_then(ProxyKind::of_scheme), without) {
            (Some(kind), _) => kind,
            (None, _) if explicit => {
                let text = format!("Unsupported proxy scheme for '{shown}'");
                return Err(Error::new(Code::CouldntConnect, text));
            }
            (None, Some(kind)) => kind,
            (None, None) => by_type(settings.long(O::ProxyType))?,
        },
    };
    let option_port = u16::try_from(settings.long(O::ProxyPort)).ok().filter(|p| *p > 0);
    let secure = matches!(kind, ProxyKind::Https | ProxyKind::Https2 | ProxyKind::Https3);
    let default = if secure { 443 } else { DEFAULT_PORT };
    let host = host_name(&url).ok_or_else(|| bad(""))?;
    let decoded = |part: &[u8]| escape::decode(part, Reject::Nothing).unwrap_or_default();
    let set = |option| settings.text(option).map(|text| text.to_vec());
    // A login in the URL excludes the options, even one that is empty.
    let (user, password) = if url.user().is_some() || url.password().is_some() {
        let user = url.user().map(decoded).filter(|u| !u.is_empty() || url.password().is_some());
        (user, url.password().map(decoded))
    } else {
        let user = set(O::ProxyUsername);
        let password = user.as_ref().and_then(|_| set(O::ProxyPassword));
        (user, password)
    };
    let forwards = scheme.family() == Family::Http && !scheme.tls() && !settings.on(O::HttpProxyTunnel);
    // FTP through an HTTP proxy is asked for as a URL, unless a tunnel is wanted.
    let ftp = scheme.family() == Family::Ftp && !settings.on(O::HttpProxyTunnel);
    // Requests are handed to a proxy in HTTP/1 or HTTP/2; where it is spoken to in HTTP/3 all goes through
    // tunnels.
    let tunnel = !kind.is_socks() && (!forwards && !ftp || kind == ProxyKind::Https3);
    let offer: &[&str] = match kind {
        ProxyKind::Https3 => &[http3::ALPN],
        ProxyKind::Https2 => &["h2", "http/1.1"],
        _ => &["http/1.1"],
    };
    let offer = offer.iter().map(|name| (*name).to_owned()).collect();
    let mut tls = secure.then(|| tls_config(settings, TlsPeer::Proxy, offer)).transpose()?;
    if kind == ProxyKind::Https3 {
        if !HTTP3_BUILT {
            return Err(Error::new(Code::NotBuiltIn, WITHOUT_HTTP3));
        }
        if settings.needs_system_tls() {
            return Err(Error::new(Code::NotBuiltIn, NOT_BY_QUIC));
        }
        tls.iter_mut().for_each(|tls| tls.backend = Backend::OF_QUIC);
    }
    let tls = tls.map(Arc::new);
    Ok(Proxy {
        kind,
        port: url.port().or(option_port).unwrap_or(default),
        unix: unix_path(kind, &host, &url),
        host,
        user,
        password,
        tls,
        tunnel,
    })
}

/// The proxy's host, an international name in its ASCII form.
fn host_name(url: &Url) -> Option<String> {
    let plain = url.host_unbracketed()?;
    String::from_utf8(if plain.is_ascii() { plain.to_vec() } else { url.host_name().ok()? }).ok()
}

/// A SOCKS proxy on this host may be a unix socket: its URL has a path.
fn unix_path(kind: ProxyKind, host: &str, url: &Url) -> Option<UnixSocket> {
    let path = escape::decode(url.path(), Reject::Nothing).ok().filter(|path| path.len() > 1)?;
    let is_one = kind.is_socks() && host == "localhost";
    is_one.then(|| UnixSocket::Path(NamedFile::new(crate::sys::path(&path))))
}

/// CURLPROXY_*.
fn by_type(number: i64) -> Result<ProxyKind> {
    Ok(match number {
        CURLPROXY_HTTP => ProxyKind::Http,
        CURLPROXY_HTTP_1_0 => ProxyKind::Http10,
        CURLPROXY_HTTPS => ProxyKind::Https,
        CURLPROXY_HTTPS2 => ProxyKind::Https2,
        CURLPROXY_HTTPS3 => ProxyKind::Https3,
        CURLPROXY_SOCKS4 => ProxyKind::Socks4,
        CURLPROXY_SOCKS5 => ProxyKind::Socks5,
        CURLPROXY_SOCKS4A => ProxyKind::Socks4a,
        CURLPROXY_SOCKS5_HOSTNAME => ProxyKind::Socks5h,
        _ => return Err(Error::new(Code::NotBuiltIn, "this proxy type is not built in")),
    })
}

/// The option with the application's own lines for a proxy.
pub fn own_lines(settings: &Settings) -> O {
    let separate = settings.long(O::HeaderOpt) & tables::constant::CURLHEADER_SEPARATE != 0;
    if separate { O::ProxyHeader } else { O::HttpHeader }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::easy;
    use tables::constant::CURLHEADER_UNIFIED;

    /// The proxies for `http://host.test` with these options: pre-proxy and proxy.
    fn chosen(
        scheme: Scheme,
        texts: &[(O, &str)],
        numbers: &[(O, i64)],
    ) -> Result<(Option<Proxy>, Option<Proxy>), Code> {
        let easy = easy(texts, numbers);
        let settings = easy.0.settings.borrow();
        choose(&settings, &scheme, "host.test", &Environment::default()).map_err(|e| e.code())
    }

    fn proxy(scheme: Scheme, text: &str, numbers: &[(O, i64)]) -> Result<Proxy, Code> {
        chosen(scheme, &[(O::Proxy, text)], numbers).map(|(_, proxy)| proxy.unwrap())
    }

    #[test]
    fn variables_are_looked_at_in_order() {
        let rows: [(_, _, &[&str], _); 10] = [
            ("CURLOPT_PROXY(3): http_proxy", Scheme::Http, &["http_proxy", "all_proxy"], Some("http_proxy")),
            ("CVE-2016-5385: HTTP_PROXY may be a field's", Scheme::Http, &["HTTP_PROXY"], None),
            (
                "CURLOPT_PROXY(3): https_proxy",
                Scheme::Https,
                &["HTTPS_PROXY", "https_proxy"],
                Some("https_proxy"),
            ),
            ("CURLOPT_PROXY(3): HTTPS_PROXY", Scheme::Https, &["HTTPS_PROXY"], Some("HTTPS_PROXY")),
            ("CURLOPT_PROXY(3): ws falls back on http", Scheme::Ws, &["http_proxy"], Some("http_proxy")),
            ("CURLOPT_PROXY(3): wss falls back on https", Scheme::Wss, &["https_proxy"], Some("https_proxy")),
            (
                "CURLOPT_PROXY(3): WSS_PROXY goes first",
                Scheme::Wss,
                &["https_proxy", "WSS_PROXY"],
                Some("WSS_PROXY"),
            ),
            ("CURLOPT_PROXY(3): ftp_proxy", Scheme::Ftp, &["ftp_proxy", "ALL_PROXY"], Some("ftp_proxy")),
            ("CURLOPT_PROXY(3): FTP_PROXY", Scheme::Ftp, &["FTP_PROXY"], Some("FTP_PROXY")),
            (
                "CURLOPT_PROXY(3): all_proxy goes before ALL_PROXY",
                Scheme::Imap,
                &["ALL_PROXY", "all_proxy"],
                Some("all_proxy"),
            ),
        ];
        for (name, scheme, set, wanted) in rows {
            let get = |name: &str| set.contains(&name).then(|| name.as_bytes().to_vec());
            let found = proxy_variable(&scheme, get);
            assert_eq!(found.as_deref(), wanted.map(str::as_bytes), "{name}");
        }
        let empty = proxy_variable(&Scheme::Http, |name| {
            Some(if name == "http_proxy" { Vec::new() } else { b"x".to_vec() })
        });
        assert_eq!(empty.as_deref(), Some(&b"x"[..]), "CURLOPT_PROXY(3): an empty variable names none");
    }

    #[test]
    fn the_scheme_of_a_proxy_names_its_kind() {
        let rows = [
            ("CURLOPT_PROXY(3): none", "p.test", ProxyKind::Http, 1080),
            ("CURLOPT_PROXY(3): http", "http://p.test", ProxyKind::Http, 1080),
            ("CURLOPT_PROXY(3): https", "https://p.test", ProxyKind::Https, 443),
            ("CURLOPT_PROXY(3): socks4", "socks4://p.test", ProxyKind::Socks4, 1080),
            ("CURLOPT_PROXY(3): socks4a", "socks4a://p.test", ProxyKind::Socks4a, 1080),
            ("CURLOPT_PROXY(3): socks5", "socks5://p.test", ProxyKind::Socks5, 1080),
            ("CURLOPT_PROXY(3): socks5h", "socks5h://p.test", ProxyKind::Socks5h, 1080),
            ("CURLOPT_PROXY(3): a port", "socks5h://p.test:9", ProxyKind::Socks5h, 9),
        ];
        for (name, text, kind, port) in rows {
            let found = proxy(Scheme::Http, text, &[]).unwrap();
            assert_eq!((found.kind, &found.host[..], found.port), (kind, "p.test", port), "{name}");
            assert_eq!(found.tls.is_some(), kind == ProxyKind::Https, "{name}");
        }
        let failed = proxy(Scheme::Http, "ldap://p.test", &[]).err();
        assert_eq!(failed, Some(Code::CouldntConnect), "CURLOPT_PROXY(3): a scheme that no proxy has");
    }

    #[test]
    fn the_type_counts_for_a_proxy_without_a_scheme() {
        let rows = [
            ("CURLOPT_PROXYTYPE(3): HTTP", "p.test", CURLPROXY_HTTP, ProxyKind::Http),
            ("CURLOPT_PROXYTYPE(3): HTTP/1.0", "p.test", CURLPROXY_HTTP_1_0, ProxyKind::Http10),
            ("CURLOPT_PROXYTYPE(3): HTTPS2", "p.test", CURLPROXY_HTTPS2, ProxyKind::Https2),
            ("CURLOPT_PROXYTYPE(3): SOCKS5", "p.test", CURLPROXY_SOCKS5, ProxyKind::Socks5),
            ("CURLOPT_PROXYTYPE(3): SOCKS5 by name", "p.test", CURLPROXY_SOCKS5_HOSTNAME, ProxyKind::Socks5h),
            (
                "CURLOPT_PROXYTYPE(3): a scheme is stronger",
                "socks4://p.test",
                CURLPROXY_HTTP,
                ProxyKind::Socks4,
            ),
            (
                "CURLOPT_PROXYTYPE(3): of https it chooses the version",
                "https://p.test",
                CURLPROXY_HTTPS2,
                ProxyKind::Https2,
            ),
            ("CURLOPT_PROXYTYPE(3): of http, too", "http://p.test", CURLPROXY_HTTP_1_0, ProxyKind::Http10),
        ];
        for (name, text, number, wanted) in rows {
            let found = proxy(Scheme::Http, text, &[(O::ProxyType, number)]).unwrap();
            assert_eq!(found.kind, wanted, "{name}");
        }
    }

    #[test]
    fn the_port_of_a_proxy_is_the_urls_then_the_options() {
        let rows = [
            ("CURLOPT_PROXYPORT(3): not set", "p.test", 0, 1080),
            ("CURLOPT_PROXYPORT(3)", "p.test", 8080, 8080),
            ("CURLOPT_PROXYPORT(3): the URL's goes first", "p.test:3128", 8080, 3128),
            ("CURLOPT_PROXY(3): https has 443", "https://p.test", 0, 443),
        ];
        for (name, text, option, wanted) in rows {
            let numbers: Vec<_> = (option > 0).then_some((O::ProxyPort, option)).into_iter().collect();
            assert_eq!(proxy(Scheme::Http, text, &numbers).unwrap().port, wanted, "{name}");
        }
    }

    #[test]
    fn tunnels_carry_what_a_proxy_cannot_be_asked_for() {
        let through = [(O::HttpProxyTunnel, 1)];
        let rows: [(_, _, _, &[(O, i64)], _); 9] = [
            ("RFC 9110 §7.7: http is forwarded", Scheme::Http, "p.test", &[], false),
            ("RFC 9110 §9.3.6: https is tunnelled", Scheme::Https, "p.test", &[], true),
            ("CURLOPT_HTTPPROXYTUNNEL(3)", Scheme::Http, "p.test", &through, true),
            ("CURLOPT_PROXY(3): ftp is forwarded", Scheme::Ftp, "p.test", &[], false),
            ("CURLOPT_HTTPPROXYTUNNEL(3): ftp", Scheme::Ftp, "p.test", &through, true),
            ("RFC 9110 §9.3.6: mail is tunnelled", Scheme::Imap, "p.test", &[], true),
            ("RFC 6455 §4.1: a WebSocket is tunnelled", Scheme::Ws, "p.test", &[], true),
            ("RFC 1928 §3: SOCKS needs none", Scheme::Https, "socks5://p.test", &[], false),
            (
                "RFC 9114 §4.4: HTTP/3 is a tunnel always",
                Scheme::Http,
                "https://p.test",
                &[(O::ProxyType, CURLPROXY_HTTPS3)],
                true,
            ),
        ];
        for (name, scheme, text, numbers, wanted) in rows {
            let found = proxy(scheme, text, numbers).unwrap();
            assert_eq!(found.tunnel, wanted, "{name}");
            assert_eq!(found.forwards(), !wanted && !found.kind.is_socks(), "{name}");
        }
    }

    #[test]
    fn hosts_on_the_list_are_reached_without_the_proxy() {
        let rows = [
            ("CURLOPT_NOPROXY(3): the host", "host.test", false),
            ("CURLOPT_NOPROXY(3): its domain", ".test", false),
            ("CURLOPT_NOPROXY(3): all", "*", false),
            ("CURLOPT_NOPROXY(3): others", "a.test,b.test", true),
            ("CURLOPT_NOPROXY(3): a name that ends alike", "ost.test", true),
            ("CURLOPT_NOPROXY(3): none", "", true),
        ];
        for (name, list, wanted) in rows {
            let found = chosen(Scheme::Http, &[(O::Proxy, "p.test"), (O::NoProxy, list)], &[]).unwrap();
            assert_eq!(found.1.is_some(), wanted, "{name}");
        }
    }

    #[test]
    fn options_silence_the_environment() {
        let of = |texts: &[(O, &str)], proxy: Option<&str>, no_proxy: Option<&str>| {
            let easy = easy(texts, &[]);
            let bytes = |text: &str| Box::from(text.as_bytes());
            let environment =
                Environment { proxy: proxy.map(bytes), no_proxy: no_proxy.map(bytes), selected: None };
            assert_eq!(environment.names_proxy(), proxy.is_some());
            let settings = easy.0.settings.borrow();
            let found = choose(&settings, &Scheme::Http, "host.test", &environment).unwrap().1;
            found.map(|proxy| proxy.host)
        };
        let p = |text: &str| Some(text.to_owned());
        assert_eq!(of(&[], Some("e.test"), None), p("e.test"), "CURLOPT_PROXY(3): the environment");
        assert_eq!(of(&[(O::Proxy, "")], Some("e.test"), None), None, "CURLOPT_PROXY(3): an empty text");
        assert_eq!(of(&[(O::Proxy, "o.test")], Some("e.test"), None), p("o.test"), "CURLOPT_PROXY(3)");
        assert_eq!(of(&[], Some("e.test"), Some("host.test")), None, "CURLOPT_NOPROXY(3): no_proxy");
        let own = of(&[(O::NoProxy, "")], Some("e.test"), Some("host.test"));
        assert_eq!(own, p("e.test"), "CURLOPT_NOPROXY(3): an empty text overrides no_proxy");
    }

    #[test]
    fn a_pre_proxy_speaks_socks() {
        let kinds = |pre: &str, proxy: &str| {
            let texts = [(O::PreProxy, pre), (O::Proxy, proxy)];
            chosen(Scheme::Http, &texts, &[]).map(|(pre, proxy)| (pre.map(|p| p.kind), proxy.map(|p| p.kind)))
        };
        use ProxyKind::{Http, Socks4, Socks5};
        let rows = [
            ("CURLOPT_PRE_PROXY(3)", "socks5://a", "http://b", Ok((Some(Socks5), Some(Http)))),
            ("CURLOPT_PRE_PROXY(3): SOCKS4 unless named", "a", "http://b", Ok((Some(Socks4), Some(Http)))),
            ("CURLOPT_PRE_PROXY(3): alone it is the proxy", "socks5://a", "", Ok((None, Some(Socks5)))),
            ("CURLOPT_PRE_PROXY(3): two of SOCKS", "socks5://a", "socks4://b", Ok((None, Some(Socks4)))),
            ("CURLOPT_PRE_PROXY(3): HTTP", "http://a", "http://b", Err(Code::CouldntResolveProxy)),
        ];
        for (name, pre, proxy, wanted) in rows {
            assert_eq!(kinds(pre, proxy), wanted, "{name}");
        }
    }

    #[test]
    fn a_login_in_the_url_stands_for_itself() {
        let of = |text: &str| {
            let texts = [(O::Proxy, text), (O::ProxyUsername, "o"), (O::ProxyPassword, "q")];
            let found = chosen(Scheme::Http, &texts, &[]).unwrap().1.unwrap();
            let part = |part: Option<Vec<u8>>| part.map(|part| String::from_utf8(part).unwrap());
            (part(found.user), part(found.password))
        };
        let some = |text: &str| Some(text.to_owned());
        let rows = [
            ("CURLOPT_PROXYUSERNAME(3)", "p.test", (some("o"), some("q"))),
            ("CURLOPT_PROXY(3): a login", "u:p@p.test", (some("u"), some("p"))),
            ("CURLOPT_PROXY(3): encoded", "u%40x:p%3a@p.test", (some("u@x"), some("p:"))),
            ("CURLOPT_PROXY(3): a user alone has no password", "u@p.test", (some("u"), None)),
            ("CURLOPT_PROXY(3): an empty one is nobody", "@p.test", (None, None)),
        ];
        for (name, text, wanted) in rows {
            assert_eq!(of(text), wanted, "{name}");
        }
    }

    #[test]
    fn proxies_are_named_with_their_port() {
        let rows = [
            ("RFC 9110 §7.2", "p.test:8080", "p.test:8080"),
            ("RFC 3986 §3.2.2: brackets", "[::1]:8080", "[::1]:8080"),
            ("CURLOPT_PROXY(3): the default port, too", "p.test", "p.test:1080"),
        ];
        for (name, text, wanted) in rows {
            assert_eq!(proxy(Scheme::Http, text, &[]).unwrap().authority(), wanted, "{name}");
        }
    }

    #[test]
    fn datagrams_need_a_proxy_that_knows_upgrades() {
        let rows = [
            ("RFC 9298 §3: HTTP/1.1", "http://p.test", CURLPROXY_HTTP, true),
            ("RFC 9298 §3: HTTP/1.0 knows no upgrade", "http://p.test", CURLPROXY_HTTP_1_0, false),
            ("RFC 9298 §3: SOCKS", "socks5://p.test", CURLPROXY_HTTP, false),
            ("RFC 9298 §3: HTTP/3", "https://p.test", CURLPROXY_HTTPS3, true),
        ];
        for (name, text, number, wanted) in rows {
            let found = proxy(Scheme::Https, text, &[(O::ProxyType, number)]).unwrap();
            assert_eq!(found.may_take_datagrams(), wanted, "{name}");
        }
    }

    #[test]
    fn header_lines_for_a_proxy_are_its_own_when_separate() {
        let lines = |number| own_lines(&easy(&[], &[(O::HeaderOpt, number)]).0.settings.borrow());
        assert_eq!(lines(CURLHEADER_UNIFIED), O::HttpHeader, "CURLOPT_HEADEROPT(3): unified");
        let separate = tables::constant::CURLHEADER_SEPARATE;
        assert_eq!(lines(separate), O::ProxyHeader, "CURLOPT_HEADEROPT(3): separate");
    }

    #[test]
    fn a_unix_socket_is_a_socks_proxy_on_localhost() {
        let rows = [
            ("CURLOPT_PROXY(3): a path", "socks5h://localhost/run/s", true),
            ("CURLOPT_PROXY(3): no path", "socks5h://localhost", false),
            ("CURLOPT_PROXY(3): another host", "socks5h://p.test/run/s", false),
            ("CURLOPT_PROXY(3): HTTP", "http://localhost/run/s", false),
        ];
        for (name, text, wanted) in rows {
            assert_eq!(proxy(Scheme::Http, text, &[]).unwrap().unix.is_some(), wanted, "{name}");
        }
    }
}
