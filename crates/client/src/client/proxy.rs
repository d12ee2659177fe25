//! The proxies of a client.

use std::fmt;

use engine::archive::redact::without_login;
use wire::escape;
use wire::proxy_list::{self, ProxyEntry};
use wire::proxy_source::{PAC_PREFIX, ProxySource, SYSTEM};
use wire::url::{Url as Parsed, flag};

use crate::InvalidUrl;
use crate::transfers::{ProxiedSchemes, ProxyRule};

/// Schemes of the URLs of PAC files.
const PAC_SCHEMES: [&str; 3] = ["http", "https", "file"];

/// Schemes of proxies.
const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// A proxy for requests of a client: `http://`, `https://`, `socks4://`, `socks4a://`, `socks5://` or
/// `socks5h://`. Without a scheme it is an HTTP proxy. A client without proxies follows the environment's
/// variables (`https_proxy`, `all_proxy`, `no_proxy` …).
///
/// Several URLs with spaces between them are a list: the next one is tried when one cannot be reached, and
/// the word `direct` stands for none. Those that were dead are tried last for a while.
///
/// ```
/// use warmwire::Proxy;
/// let secure = Proxy::https("http://proxy.example:3128")?.basic_auth("user", "password");
/// let rest = Proxy::all("socks5h://one.example:1080 socks5h://two.example:1080 direct")?;
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
        let shown = |url: &str| String::from_utf8_lossy(&without_login(url.as_bytes())).into_owned();
        let url = self.url.split_ascii_whitespace().map(shown).collect::<Vec<_>>().join(" ");
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

    /// Creates the proxies that a PAC file names for each URL. Its own URL is one of `http`, `https` or
    /// `file`. Requests fail without the crate's feature `pac`, and if the file cannot be fetched or fails.
    ///
    /// ```
    /// let proxy = warmwire::Proxy::pac("http://wpad.example/proxy.pac")?;
    /// let client = warmwire::Client::builder().proxy(proxy).build()?;
    /// # Ok::<(), warmwire::Error>(())
    /// ```
    pub fn pac(url: &str) -> Result<Proxy, InvalidUrl> {
        let parsed = Parsed::parse(url.as_bytes(), flag::NON_SUPPORT_SCHEME);
        let scheme = parsed.map_err(|error| InvalidUrl::new(url, error))?.scheme().unwrap_or_default();
        match PAC_SCHEMES.contains(&scheme.as_str()) {
            true => Ok(Proxy::named(ProxiedSchemes::All, format!("{PAC_PREFIX}{url}"))),
            false => Err(InvalidUrl::with(format!("a PAC file has one of {}", PAC_SCHEMES.join(", ")))),
        }
    }

    /// Creates the proxies of the system: those of GNOME's settings, or else of the environment. Settings
    /// that name a PAC file need the crate's feature `pac`.
    ///
    /// ```
    /// let client = warmwire::Client::builder().proxy(warmwire::Proxy::system()).build()?;
    /// # Ok::<(), warmwire::Error>(())
    /// ```
    pub fn system() -> Proxy {
        Proxy::named(ProxiedSchemes::All, SYSTEM.to_owned())
    }

    fn named(schemes: ProxiedSchemes, url: String) -> Proxy {
        Proxy { schemes, url, login: None, exceptions: NoProxy::default() }
    }

    fn of(schemes: ProxiedSchemes, url: &str) -> Result<Proxy, InvalidUrl> {
        match proxy_list::parse(url.as_bytes()) {
            Some(list) => list.iter().filter(|entry| **entry != ProxyEntry::Direct).try_for_each(check)?,
            None => check(&ProxyEntry::Proxy(url.into()))?,
        }
        Ok(Proxy::named(schemes, url.to_owned()))
    }

    /// Sets user and password for the proxy, or for each one of a list. Those that a PAC file or the system
    /// names get none.
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
            Some((user, password)) => with_logins(&self.url, &user, &password),
            None => self.url,
        };
        ProxyRule { schemes: self.schemes, url, exceptions: self.exceptions.0 }
    }
}

/// Refuses what is no proxy.
fn check(entry: &ProxyEntry) -> Result<(), InvalidUrl> {
    let url = String::from_utf8_lossy(entry.text());
    let parsed = Parsed::parse(url.as_bytes(), flag::NON_SUPPORT_SCHEME | flag::DEFAULT_SCHEME);
    let scheme = parsed.map_err(|error| InvalidUrl::new(&url, error))?.scheme().unwrap_or_default();
    if url.contains("://") && !SCHEMES.contains(&scheme.as_str()) {
        return Err(InvalidUrl::with(format!("no proxy is of the kind {scheme}: {}", SCHEMES.join(", "))));
    }
    Ok(())
}

/// Writes a login into the URL of a proxy, or into each one of a list.
fn with_logins(url: &str, user: &str, password: &str) -> String {
    if ProxySource::of(url.as_bytes()).is_some() {
        return url.to_owned();
    }
    let Some(list) = proxy_list::parse(url.as_bytes()) else { return with_login(url, user, password) };
    let entry = |entry: &ProxyEntry| match entry {
        ProxyEntry::Direct => "direct".to_owned(),
        ProxyEntry::Proxy(url) => with_login(&String::from_utf8_lossy(url), user, password),
    };
    list.iter().map(entry).collect::<Vec<_>>().join(" ")
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
            ("http://h:1, DIRECT", "http://me:a%40b%2F@h:1 direct"),
            ("socks5h://old:one@localhost/a@b", "socks5h://me:a%40b%2F@localhost/a@b"),
        ] {
            assert_eq!(with_logins(url, "me", "a@b/"), wanted);
        }
    }

    #[test]
    fn logins_are_not_shown() {
        for url in ["http://anna:hidden@h:1", "http://anna:hidden@h:1 http://anna:hidden@i:2"] {
            let proxy = Proxy::all(url).unwrap().basic_auth("anna", "hidden");
            let shown = format!("{proxy:?}");
            assert!(
                shown.contains("http://h:1") && !shown.contains("hidden") && !shown.contains("anna"),
                "{shown}"
            );
        }
    }
}
