//! object_store's `ClientOptions` as settings of a client. Their keys and texts are the same in all versions.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use http::HeaderMap;
use warmwire::{Certificate, Client, ClientBuilder, EasyOption, NoProxy, Proxy};

use crate::WarmwireConnector;

/// The User-Agent of a store that has none of its own.
const USER_AGENT: &str = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));

/// Limit of a body that has arrived and waits to be read. With the client's default of 128 KiB a second of
/// processor time reads a quarter less of large objects; larger windows are slower (benches/connectors.rs).
const WINDOW: usize = 256 << 10;

/// Options without a counterpart in the engine.
const NOT_SUPPORTED: [&str; 3] =
    ["http2_keep_alive_interval", "http2_max_frame_size", "pool_max_idle_per_host"];

/// An option for which no client can be built.
#[derive(Debug)]
pub(crate) enum OptionError {
    NotSupported(&'static str),
    Invalid(&'static str, Box<dyn StdError + Send + Sync>),
    Client(warmwire::Error),
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::NotSupported(key) => write!(f, "WarmwireConnector has no option {key}"),
            OptionError::Invalid(key, reason) => write!(f, "the option {key} is refused: {reason}"),
            OptionError::Client(error) => write!(f, "no client is built: {error}"),
        }
    }
}

impl StdError for OptionError {}

/// The options of a store. The function returns the text of a key; `None` is an option that is not set, or
/// that the version does not have.
pub(crate) struct Options<'o>(pub &'o dyn Fn(&str) -> Option<String>);

impl Options<'_> {
    /// Builds the client of a store.
    pub(crate) fn client(
        &self,
        connector: &WarmwireConnector,
        headers: Option<&HeaderMap>,
    ) -> Result<Client, OptionError> {
        if let Some(key) = NOT_SUPPORTED.into_iter().find(|key| (self.0)(key).is_some()) {
            return Err(OptionError::NotSupported(key));
        }
        let mut builder = self.limits(Client::builder().window(WINDOW))?;
        builder = self.trust(self.protocols(builder)?)?;
        builder = self.proxy(builder)?;
        builder = builder.user_agent((self.0)("user_agent").as_deref().unwrap_or(USER_AGENT));
        if let Some(headers) = headers {
            builder = builder.default_headers(headers.clone());
        }
        builder = connector.changes.iter().fold(builder, |builder, change| change(builder));
        builder.build().map_err(OptionError::Client)
    }

    fn limits(&self, builder: ClientBuilder) -> Result<ClientBuilder, OptionError> {
        let builder = builder
            .timeout(self.duration("timeout")?)
            .connect_timeout(self.duration("connect_timeout")?)
            .read_timeout(self.duration("read_timeout")?);
        Ok(match self.duration("pool_idle_timeout")? {
            Some(limit) => builder.pool_idle_timeout(limit),
            None => builder,
        })
    }

    fn protocols(&self, builder: ClientBuilder) -> Result<ClientBuilder, OptionError> {
        // A decoded body has another length than its object. A signature is for the path as it is written.
        let coded = builder.gzip(false).deflate(false).brotli(false).zstd(false);
        let builder = coded
            .option(EasyOption::PathAsIs, true)
            .option(EasyOption::DnsShuffleAddresses, self.flag("randomize_addresses")?);
        let builder = match self.flag("allow_http")? {
            true => builder
                .option(EasyOption::ProtocolsStr, "http,https")
                .option(EasyOption::RedirProtocolsStr, "http,https"),
            false => builder.https_only(true),
        };
        Ok(if self.flag("http2_only")? {
            builder.http2_prior_knowledge()
        } else if self.flag("http1_only")? {
            builder.http1_only()
        } else {
            builder
        })
    }

    fn trust(&self, builder: ClientBuilder) -> Result<ClientBuilder, OptionError> {
        Ok(builder
            .tls_built_in_root_certs(!self.flag("disable_system_certificates")?)
            .danger_accept_invalid_certs(self.flag("allow_invalid_certificates")?))
    }

    /// Sets the proxy. If there is none, the environment's variables decide, as with object_store's own
    /// connector. The certificate is for the proxy, and for what it presents in the name of servers.
    fn proxy(&self, builder: ClientBuilder) -> Result<ClientBuilder, OptionError> {
        let Some(url) = (self.0)("proxy_url") else { return Ok(builder) };
        let excludes = (self.0)("proxy_excludes").and_then(|list| NoProxy::from_string(&list));
        let proxy = Proxy::all(&url).map_err(invalid("proxy_url"))?.no_proxy(excludes);
        let builder = builder.proxy(proxy);
        let key = "proxy_ca_certificate";
        let Some(pem) = (self.0)(key) else { return Ok(builder) };
        let certificate = Certificate::from_pem(pem.as_bytes()).map_err(invalid(key))?;
        Ok(builder.add_root_certificate(certificate).option(EasyOption::ProxyCaInfoBlob, pem.into_bytes()))
    }

    fn duration(&self, key: &'static str) -> Result<Option<Duration>, OptionError> {
        (self.0)(key).map(|text| humantime::parse_duration(&text).map_err(invalid(key))).transpose()
    }

    fn flag(&self, key: &'static str) -> Result<bool, OptionError> {
        let Some(text) = (self.0)(key) else { return Ok(false) };
        match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "on" | "yes" | "y" => Ok(true),
            "0" | "false" | "off" | "no" | "n" => Ok(false),
            _ => Err(OptionError::Invalid(key, format!("{text:?} is neither true nor false").into())),
        }
    }
}

fn invalid<E: StdError + Send + Sync + 'static>(key: &'static str) -> impl FnOnce(E) -> OptionError {
    move |error| OptionError::Invalid(key, error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(options: &[(&str, &str)]) -> Result<Client, String> {
        let value =
            |key: &str| options.iter().find(|(known, _)| *known == key).map(|(_, text)| (*text).to_owned());
        Options(&value).client(&WarmwireConnector::new(), None).map_err(|error| error.to_string())
    }

    #[test]
    fn what_cannot_be_honoured_is_refused_by_name() {
        for (key, text, reason) in [
            ("http2_keep_alive_interval", "5s", "has no option http2_keep_alive_interval"),
            ("http2_max_frame_size", "16384", "has no option http2_max_frame_size"),
            ("pool_max_idle_per_host", "8", "has no option pool_max_idle_per_host"),
            ("timeout", "soon", "the option timeout is refused"),
            ("allow_http", "perhaps", "allow_http is refused: \"perhaps\" is neither true nor false"),
            ("proxy_url", "gopher://proxy", "the option proxy_url is refused"),
            ("user_agent", "a\nb", "no client is built"),
            ("disable_system_certificates", "true", "add_root_certificate is needed"),
        ] {
            let error = build(&[(key, text)]).unwrap_err();
            assert!(error.contains(reason), "{key}: {error}");
        }
        let certificate = ("proxy_ca_certificate", "none");
        assert!(build(&[certificate]).is_ok(), "it is for a proxy, and there is none");
        let error = build(&[("proxy_url", "http://proxy"), certificate]).unwrap_err();
        assert!(error.contains("proxy_ca_certificate is refused"), "{error}");
    }

    #[test]
    fn all_other_options_are_accepted() {
        let texts = ["1", "True", "on", "YES", "y", "0", "false", "Off", "no", "n"];
        for (key, text) in texts.map(|text| ("http1_only", text)).into_iter().chain([
            ("connect_timeout", "1s 500ms"),
            ("read_timeout", "2m"),
            ("pool_idle_timeout", "90s"),
            ("http2_only", "true"),
            ("http2_keep_alive_timeout", "5s"),
            ("http2_keep_alive_while_idle", "true"),
            ("randomize_addresses", "true"),
            ("allow_invalid_certificates", "true"),
            ("default_content_type", "text/plain"),
        ]) {
            assert!(build(&[(key, text)]).is_ok(), "{key}={text}");
        }
        assert!(build(&[]).is_ok());
    }
}
