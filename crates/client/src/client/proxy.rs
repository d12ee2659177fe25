//! The proxies of a client.

use std::fmt;

use engine::archive::redact::without_login;
use wire::escape;
use wire::url::{Url as Parsed, flag};

use crate::InvalidUrl;
use crate::transfers::{ProxiedSchemes, ProxyRule};

/// Schemes of proxies.
const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// A proxy for requests of a client: `http://`, `https://`, `socks4://`, `socks4a://`, `socks5://` or
/// `socks5h://`. Without a scheme it is an HTTP proxy. A client without proxies follows the environment's
/// variables (`https_proxy`, `all_proxy`, `no_proxy` …).
///
/// ```
/// use warmwire::Proxy;
/// let secure = Proxy::https("http://proxy.example:3128")?.basic_auth("user", "password");
/// let rest = Proxy::all("socks5h://proxy.example:1080")?;
/// let client = warmwire::Client::builder().proxy(secure).proxy(rest).build()?;
/// # Ok::<(), warmwire::Error>(())
/// ```
#[derive(Clone)]
pub struct Proxy {
    schemes: ProxiedSchemes,
    url: String,
    login: Option<(String, String)>,
    exceptions: NoProxy,
}

/// Shows neither user nor password.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = String::from_utf8_lossy(&without_login(self.url.as_bytes())).into_owned();
        f.debug_struct("Proxy")
            .field("schemes", &self.schemes)
            .field("url", &url)
            .field("exceptions", &self.exceptions)
            .finish_non_exhaustive()
    }
}

impl Proxy {
    /// Creates a proxy for all URLs.
    pub fn all(url: &str) -> Result<Proxy, InvalidUrl> {
        Proxy::of(ProxiedSchemes::All, url)
    }

    /// Creates a proxy for URLs of the schemes `http` and `ws`.
    pub fn http(url: &str) -> Result<Proxy, InvalidUrl> {
        Proxy::of(ProxiedSchemes::Http, url)
    }

    /// Creates a proxy for URLs of the schemes `https` and `wss`.
    pub fn https(url: &str) -> Result<Proxy, InvalidUrl> {
        Proxy::of(ProxiedSchemes::Https, url)
    }

    fn of(schemes: ProxiedSchemes, url: &str) -> Result<Proxy, InvalidUrl> {
        let parsed = Parsed::parse(url.as_bytes(), flag::NON_SUPPORT_SCHEME | flag::DEFAULT_SCHEME);
        let scheme = parsed.map_err(|error| InvalidUrl::new(url, error))?.scheme().unwrap_or_default();
        if url.contains("://") && !SCHEMES.contains(&scheme.as_str()) {
            return Err(InvalidUrl::with(format!(
                "no proxy is of the kind {scheme}: {}",
                SCHEMES.join(", ")
            )));
        }
        Ok(Proxy { schemes, url: url.to_owned(), login: None, exceptions: NoProxy::default() })
    }

    /// Sets user and password for the proxy.
    pub fn basic_auth(mut self, user: &str, password: &str) -> Proxy {
        self.login = Some((user.to_owned(), password.to_owned()));
        self
    }

    /// Sets the hosts that are reached without the proxy.
    pub fn no_proxy(mut self, exceptions: Option<NoProxy>) -> Proxy {
        self.exceptions = exceptions.unwrap_or_default();
        self
    }

    pub(super) fn into_rule(self) -> ProxyRule {
        let url = match self.login {
            Some((user, password)) => with_login(&self.url, &user, &password),
            None => self.url,
        };
        ProxyRule { schemes: self.schemes, url, exceptions: self.exceptions.0 }
    }
}

/// Writes a login into a URL, in place of the one that it has.
fn with_login(url: &str, user: &str, password: &str) -> String {
    let (scheme, rest) = url.find("://").map_or(("", url), |at| url.split_at(at + "://".len()));
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..authority].rfind('@').map_or(rest, |at| &rest[at + 1..]);
    let encoded = |text: &str| String::from_utf8_lossy(&escape::encode(text.as_bytes())).into_owned();
    format!("{scheme}{}:{}@{host}", encoded(user), encoded(password))
}

/// Hosts that are reached without a proxy.
#[derive(Clone, Debug, Default)]
pub struct NoProxy(String);

impl NoProxy {
    /// Reads a list of host names, domains, addresses and networks in CIDR notation, separated by commas; `*`
    /// is every host. An empty list is `None`.
    pub fn from_string(list: &str) -> Option<NoProxy> {
        (!list.trim().is_empty()).then(|| NoProxy(list.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_written_into_the_url() {
        for (url, wanted) in [
            ("http://h:1", "http://me:a%40b%2F@h:1"),
            ("h", "me:a%40b%2F@h"),
            ("socks5h://old:one@localhost/a@b", "socks5h://me:a%40b%2F@localhost/a@b"),
        ] {
            assert_eq!(with_login(url, "me", "a@b/"), wanted);
        }
    }

    #[test]
    fn logins_are_not_shown() {
        let proxy = Proxy::all("http://anna:hidden@h:1").unwrap().basic_auth("anna", "hidden");
        let shown = format!("{proxy:?}");
        assert!(
            shown.contains("http://h:1") && !shown.contains("hidden") && !shown.contains("anna"),
            "{shown}"
        );
    }
}
