//! Choices for one handle that no option of curl's expresses: the TLS library, proxies by scheme, whether
//! names are followed, and the priority of a request.

use std::sync::Arc;

use net::tls::backend;
use tables::Scheme;
use wire::priority::RequestPriority;

use super::Settings;

/// The library that serves TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TlsLibrary {
    /// rustls, which is built in. A configuration that only the system's library can meet still uses that.
    BuiltIn,
    /// The system's library, where it can be loaded.
    System,
}

/// The choices of a Rust program for a handle. A copy of the handle has them, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// `None` is the choice of the process.
    pub tls: Option<TlsLibrary>,
    /// Proxies in the order in which they are tried. They replace the environment's variables; an empty list
    /// is no proxy. CURLOPT_PROXY overrides them.
    pub proxies: Option<Arc<[ProxyRule]>>,
    /// Whether a connection is left when the name of its host has moved to other addresses. `None` is the
    /// choice of the process, or else yes where a pool outlives the handle.
    pub follow_names: Option<bool>,
    /// The importance of the request among others of the same client.
    pub priority: Option<RequestPriority>,
}

impl Settings {
    /// Sets the priority of coming requests, and of one that is under way (`warmwire_priority`).
    pub fn set_priority(&mut self, priority: Option<RequestPriority>) {
        self.set_choices(&Choices { priority, ..self.choices().clone() });
    }
}

/// A proxy for the URLs of some schemes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyRule {
    /// The schemes.
    pub schemes: ProxiedSchemes,
    /// The URL of the proxy, with its login.
    pub url: String,
    /// Hosts that the rule does not apply to, as in CURLOPT_NOPROXY.
    pub exceptions: String,
}

/// The schemes of a [`ProxyRule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxiedSchemes {
    /// Each scheme.
    All,
    /// `http` and `ws`.
    Http,
    /// `https` and `wss`.
    Https,
}

impl ProxyRule {
    /// Returns whether the rule applies to a host.
    fn applies(&self, scheme: &Scheme, host: &str) -> bool {
        let is_of_scheme = match self.schemes {
            ProxiedSchemes::All => true,
            ProxiedSchemes::Http => matches!(scheme, Scheme::Http | Scheme::Ws),
            ProxiedSchemes::Https => matches!(scheme, Scheme::Https | Scheme::Wss),
        };
        is_of_scheme && !wire::noproxy::matches(host, &self.exceptions)
    }
}

impl Choices {
    /// Returns the URL of the first proxy whose rule applies; empty if none does. `None` without rules.
    pub fn proxy_for(&self, scheme: &Scheme, host: &str) -> Option<&str> {
        let rules = self.proxies.as_ref()?;
        Some(rules.iter().find(|rule| rule.applies(scheme, host)).map_or("", |rule| &rule.url))
    }
}

impl Settings {
    /// Returns whether the system's TLS library serves the handle, unless a configuration needs another.
    pub fn uses_system_tls(&self) -> bool {
        backend::is_system_chosen(self.needs_system_tls(), self.own_tls())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_applies_counts() {
        let rule = |schemes, url: &str, exceptions: &str| ProxyRule {
            schemes,
            url: url.to_owned(),
            exceptions: exceptions.to_owned(),
        };
        let choices = Choices {
            proxies: Some(Arc::from([
                rule(ProxiedSchemes::Https, "http://secure:1", "near.test"),
                rule(ProxiedSchemes::Http, "http://plain:1", ""),
                rule(ProxiedSchemes::All, "socks5h://rest:1", "here.test"),
            ])),
            ..Choices::default()
        };
        for (scheme, host, wanted) in [
            (Scheme::Https, "far.test", "http://secure:1"),
            (Scheme::Wss, "far.test", "http://secure:1"),
            (Scheme::Http, "near.test", "http://plain:1"),
            (Scheme::Ws, "far.test", "http://plain:1"),
            (Scheme::Https, "near.test", "socks5h://rest:1"),
            (Scheme::Ftp, "far.test", "socks5h://rest:1"),
            (Scheme::Ftp, "here.test", ""),
        ] {
            assert_eq!(choices.proxy_for(&scheme, host), Some(wanted), "{scheme:?} {host}");
        }
        assert_eq!(Choices::default().proxy_for(&Scheme::Http, "far.test"), None);
        let none = Choices { proxies: Some(Arc::from([])), ..Choices::default() };
        assert_eq!(none.proxy_for(&Scheme::Http, "far.test"), Some(""));
    }
}
