//! The proxy of a client.

use std::fmt;

use engine::archive::redact::without_login;
use wire::url::{Url as Parsed, flag};

use crate::InvalidUrl;

/// Schemes of proxies.
const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// A proxy for all requests of a client. Without one, the environment's variables decide (`https_proxy`,
/// `all_proxy`, `no_proxy` …).
///
/// ```
/// use warmwire::Proxy;
/// let proxy = Proxy::all("socks5h://proxy.example:1080")?.basic_auth("user", "password");
/// let client = warmwire::Client::builder().proxy(proxy).build()?;
/// # Ok::<(), warmwire::Error>(())
/// ```
#[derive(Clone)]
pub struct Proxy {
    pub(crate) url: String,
    pub(crate) login: Option<(String, String)>,
    pub(crate) exceptions: NoProxy,
}

/// Shows neither user nor password.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = String::from_utf8_lossy(&without_login(self.url.as_bytes())).into_owned();
        f.debug_struct("Proxy")
            .field("url", &url)
            .field("exceptions", &self.exceptions)
            .finish_non_exhaustive()
    }
}

impl Proxy {
    /// Creates a proxy: `http://`, `https://`, `socks4://`, `socks4a://`, `socks5://` or `socks5h://`.
    /// Without a scheme it is an HTTP proxy.
    pub fn all(url: &str) -> Result<Proxy, InvalidUrl> {
        let parsed = Parsed::parse(url.as_bytes(), flag::NON_SUPPORT_SCHEME | flag::DEFAULT_SCHEME);
        let scheme = parsed.map_err(|error| InvalidUrl::new(url, error))?.scheme().unwrap_or_default();
        if url.contains("://") && !SCHEMES.contains(&scheme.as_str()) {
            return Err(InvalidUrl::with(format!(
                "no proxy is of the kind {scheme}: {}",
                SCHEMES.join(", ")
            )));
        }
        Ok(Proxy { url: url.to_owned(), login: None, exceptions: NoProxy::default() })
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
}

/// Hosts that are reached without a proxy.
#[derive(Clone, Debug, Default)]
pub struct NoProxy(pub(crate) String);

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
    fn logins_are_not_shown() {
        let proxy = Proxy::all("http://me:hidden@h:1").unwrap().basic_auth("me", "hidden");
        let shown = format!("{proxy:?}");
        assert!(
            shown.contains("http://h:1") && !shown.contains("hidden") && !shown.contains("me"),
            "{shown}"
        );
    }
}
