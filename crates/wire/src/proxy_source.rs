//! Sources that name the proxies of a URL only when they are asked: a PAC file, and the system's settings.

/// The word for the system's settings, in CURLOPT_PROXY. No host can be empty, so that curl refuses it.
pub const SYSTEM: &str = "auto://";
/// The beginning of the URL of a PAC file there. curl refuses proxies of such a scheme.
pub const PAC_PREFIX: &str = "pac+";

/// A source of proxies that is asked for each URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxySource {
    /// The PAC file at this URL.
    Pac(String),
    /// The settings of the desktop, or else the environment.
    System,
}

impl ProxySource {
    /// Returns the source that the text of a proxy names; `None` for a proxy or a list.
    pub fn of(text: &[u8]) -> Option<ProxySource> {
        if text == SYSTEM.as_bytes() {
            return Some(ProxySource::System);
        }
        let url = text.strip_prefix(PAC_PREFIX.as_bytes())?;
        Some(ProxySource::Pac(String::from_utf8_lossy(url).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_sources() {
        let pac = |url: &str| Some(ProxySource::Pac(url.to_owned()));
        for (text, wanted) in [
            ("auto://", Some(ProxySource::System)),
            ("auto", None),
            ("http://auto", None),
            ("pac+http://h/proxy.pac", pac("http://h/proxy.pac")),
            ("pac+file:///etc/proxy.pac", pac("file:///etc/proxy.pac")),
            ("pac", None),
            ("http://h:1 direct", None),
            ("", None),
        ] {
            assert_eq!(ProxySource::of(text.as_bytes()), wanted, "{text}");
        }
    }
}
