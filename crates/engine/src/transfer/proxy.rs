//! Which proxy a transfer goes through: CURLOPT_PROXY or the environment, unless CURLOPT_NOPROXY or
//! no_proxy says otherwise.

use std::sync::Arc;

use net::NamedFile;
use net::filter::open::UnixSocket;
use net::http3;
pub use net::identity::ProxyKind;
use net::tls::{Backend, TlsConfig};
use tables::constant::{
    CURLPROXY_HTTP, CURLPROXY_HTTP_1_0, CURLPROXY_HTTPS, CURLPROXY_HTTPS2, CURLPROXY_HTTPS3,
    CURLPROXY_SOCKS4, CURLPROXY_SOCKS4A, CURLPROXY_SOCKS5, CURLPROXY_SOCKS5_HOSTNAME,
};
use tables::scheme::Family;
use tables::{Code, EasyOption as O, Scheme};
use wire::escape::{self, Reject};
use wire::url::{Url, flag};

use super::login::Login;
use super::secret::{Peer, Secret};
use super::tls_options::{TlsPeer, tls_config};
use crate::error::{Error, Result};
use crate::settings::Settings;

/// A proxy to go through.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// What it speaks.
    pub kind: ProxyKind,
    /// Its host.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Where it listens instead: `socks5h://localhost/path`.
    pub unix: Option<UnixSocket>,
    /// User name for it.
    pub user: Option<Vec<u8>>,
    /// Password for it.
    pub password: Option<Vec<u8>>,
    /// TLS to it.
    pub tls: Option<Arc<TlsConfig>>,
    /// Bytes go through a CONNECT tunnel.
    pub tunnel: bool,
}

impl Proxy {
    /// The proxy as somebody who may be told secrets.
    pub fn peer(&self) -> Peer {
        Peer::proxy(self.kind, &self.host, self.port)
    }

    /// Whether it is handed requests and fetches by itself.
    pub fn forwards(&self) -> bool {
        !self.tunnel && !self.kind.is_socks()
    }

    /// Whether it may be asked for a tunnel for datagrams: HTTP/1.0 knows no upgrade.
    pub fn may_take_datagrams(&self) -> bool {
        !self.kind.is_socks() && self.kind != ProxyKind::Http10
    }

    /// Its host and port, as a request names them.
    pub fn authority(&self) -> String {
        let bare = self.host.contains(':') && !self.host.starts_with('[');
        let host = if bare { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{host}:{}", self.port)
    }

    /// Who we are for it.
    pub fn login(&self) -> Option<Secret<Login>> {
        let user = self.user.clone()?;
        let password = self.password.clone().unwrap_or_default();
        Some(Secret::of(self.peer(), Login { user, password }))
    }

    /// The same; whoever the process is when nobody is named and a ticket will do.
    pub fn login_or_unnamed(&self, by_ticket: bool) -> Option<Secret<Login>> {
        self.login().or_else(|| by_ticket.then(|| Secret::of(self.peer(), Login::default())))
    }
}

/// curl's default port of a proxy.
const DEFAULT_PORT: u16 = 1080;

/// What the environment says of proxies, when the settings leave it the word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    proxy: Option<Vec<u8>>,
    no_proxy: Option<Vec<u8>>,
}

impl Environment {
    /// Whether there is a proxy for its sake.
    pub fn names_proxy(&self) -> bool {
        self.proxy.is_some()
    }
}

/// Reads the variables that count for this scheme.
pub fn environment(settings: &Settings, scheme: &Scheme) -> Environment {
    let proxy = if settings.is_set(O::Proxy) { None } else { proxy_variable(scheme) };
    let any = proxy.is_some() || settings.is_set(O::Proxy) || settings.is_set(O::PreProxy);
    let listed = any && !settings.is_set(O::Noproxy);
    let no_proxy = || variable("no_proxy").or_else(|| variable("NO_PROXY"));
    Environment { proxy, no_proxy: listed.then(no_proxy).flatten() }
}

/// Whatever bytes it has: one that is no UTF-8 must not let a transfer go without its proxy.
fn variable(name: &str) -> Option<Vec<u8>> {
    std::env::var_os(name).map(std::ffi::OsString::into_encoded_bytes)
}

fn proxy_variable(scheme: &Scheme) -> Option<Vec<u8>> {
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

/// The proxies for this origin, if any: one before the proxy, and the proxy. A pre-proxy alone is the proxy.
pub fn choose(
    settings: &Settings,
    scheme: &Scheme,
    host: &str,
    environment: &Environment,
) -> Result<(Option<Proxy>, Option<Proxy>)> {
    let set = |option| settings.text(option).map(|text| text.to_vec());
    let text = set(O::Proxy).or_else(|| environment.proxy.clone()).unwrap_or_default();
    let before = set(O::PreProxy).unwrap_or_default();
    let spared = set(O::Noproxy).or_else(|| environment.no_proxy.clone());
    let bypassed = spared.is_some_and(|list| wire::noproxy::matches(host, &String::from_utf8_lossy(&list)));
    if text.is_empty() && before.is_empty() || bypassed {
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

/// Without a scheme the proxy is of the kind that is given, or of CURLOPT_PROXYTYPE.
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
        Some("https") if explicit => match settings.long(O::Proxytype) {
            CURLPROXY_HTTPS2 => ProxyKind::Https2,
            CURLPROXY_HTTPS3 => ProxyKind::Https3,
            _ => ProxyKind::Https,
        },
        Some("http") if explicit => match settings.long(O::Proxytype) {
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
            (None, None) => by_type(settings.long(O::Proxytype))?,
        },
    };
    let option_port = u16::try_from(settings.long(O::Proxyport)).ok().filter(|p| *p > 0);
    let secure = matches!(kind, ProxyKind::Https | ProxyKind::Https2 | ProxyKind::Https3);
    let default = if secure { 443 } else { DEFAULT_PORT };
    let host = host_name(&url).ok_or_else(|| bad(""))?;
    let decoded = |part: &[u8]| escape::decode(part, Reject::Nothing).unwrap_or_default();
    let set = |option| settings.text(option).map(|text| text.to_vec());
    // A login in the URL stands for itself, even one that is empty; the options are for a URL without.
    let (user, password) = if url.user().is_some() || url.password().is_some() {
        let user = url.user().map(decoded).filter(|u| !u.is_empty() || url.password().is_some());
        (user, url.password().map(decoded))
    } else {
        let user = set(O::Proxyusername);
        let password = user.as_ref().and_then(|_| set(O::Proxypassword));
        (user, password)
    };
    let forwards = scheme.family() == Family::Http && !scheme.tls() && !settings.on(O::Httpproxytunnel);
    // FTP through an HTTP proxy is asked for as a URL, unless a tunnel is wanted.
    let ftp = scheme.family() == Family::Ftp && !settings.on(O::Httpproxytunnel);
    // Requests are handed to a proxy in HTTP/1 or HTTP/2; where it is spoken to in HTTP/3 all goes through tunnels.
    let tunnel = !kind.is_socks() && (!forwards && !ftp || kind == ProxyKind::Https3);
    let offer: &[&str] = match kind {
        ProxyKind::Https3 => &[http3::ALPN],
        ProxyKind::Https2 => &["h2", "http/1.1"],
        _ => &["http/1.1"],
    };
    let offer = offer.iter().map(|name| (*name).to_owned()).collect();
    let mut tls = secure.then(|| tls_config(settings, TlsPeer::Proxy, offer)).transpose()?;
    if kind == ProxyKind::Https3 {
        if settings.is_for_openssl() {
            let text = "HTTP/3 knows neither an SSL_CTX nor an engine of OpenSSL's";
            return Err(Error::new(Code::NotBuiltIn, text));
        }
        tls.iter_mut().for_each(|tls| tls.backend = Backend::Rustls); // QUIC's
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
    let separate = settings.long(O::Headeropt) & tables::constant::CURLHEADER_SEPARATE != 0;
    if separate { O::Proxyheader } else { O::Httpheader }
}
