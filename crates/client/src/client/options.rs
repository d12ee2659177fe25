//! What a client sets for all its requests, and a request for itself.

use tables::{Code, EasyOption};

use super::error::Error;
use crate::PlainValue;

/// How much body may lie untaken before its sender has to wait.
const WINDOW: usize = 128 * 1024;

/// Options and header fields, as they were given.
#[derive(Clone)]
pub(super) struct Options {
    pub list: Vec<(EasyOption, PlainValue)>,
    pub headers: Vec<(String, String)>,
    pub window: usize,
    /// The first that cannot be; whoever sends is told.
    pub refused: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        // Threads are not told of signals, and a program's are its own.
        let list = vec![(EasyOption::Nosignal, PlainValue::Long(1))];
        Options { list, headers: Vec::new(), window: WINDOW, refused: None }
    }
}

impl Options {
    pub fn set(&mut self, option: EasyOption, value: impl Into<PlainValue>) {
        self.list.push((option, value.into()));
    }

    /// A later field takes the place of earlier ones of its name.
    pub fn set_header(&mut self, name: String, value: String) {
        let breaks = |text: &str| text.contains(['\r', '\n', '\0']);
        if name.is_empty() || name.contains([':', ' ']) || breaks(&name) || breaks(&value) {
            self.refused.get_or_insert(format!("the header field {name:?} cannot be sent"));
            return;
        }
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        self.headers.push((name, value));
    }

    pub fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    pub fn add_cookie(&mut self, name: &str, value: &str) {
        if [name, value].iter().any(|text| text.contains(['\r', '\n', '\0', ';'])) {
            self.refused.get_or_insert(format!("the cookie {name:?} cannot be sent"));
            return;
        }
        let known = self.list.iter_mut().find(|(option, _)| *option == EasyOption::Cookie);
        match known {
            Some((_, PlainValue::Text(line))) => {
                line.extend_from_slice(format!("; {name}={value}").as_bytes())
            }
            _ => self.set(EasyOption::Cookie, format!("{name}={value}").as_str()),
        }
    }

    pub fn check(&mut self) -> Result<(), Error> {
        match self.refused.take() {
            Some(message) => Err(Error::of(Code::BadFunctionArgument, message)),
            None => Ok(()),
        }
    }
}

/// Which version of HTTP is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HttpVersion {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2 where TLS settles it, else HTTP/1.1: the default.
    Http2,
    /// HTTP/2, without asking.
    Http2PriorKnowledge,
    /// HTTP/3, raced with the others.
    Http3,
    /// HTTP/3 and nothing else.
    Http3Only,
}

impl HttpVersion {
    pub(super) fn number(self) -> i64 {
        use tables::constant as c;
        match self {
            HttpVersion::Http10 => c::CURL_HTTP_VERSION_1_0,
            HttpVersion::Http11 => c::CURL_HTTP_VERSION_1_1,
            HttpVersion::Http2 => c::CURL_HTTP_VERSION_2TLS,
            HttpVersion::Http2PriorKnowledge => c::CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
            HttpVersion::Http3 => c::CURL_HTTP_VERSION_3,
            HttpVersion::Http3Only => c::CURL_HTTP_VERSION_3ONLY,
        }
    }
}

/// The methods that [`ClientBuilder`](super::ClientBuilder) and [`RequestBuilder`](super::RequestBuilder)
/// have in common.
macro_rules! settings {
    ($builder:ident) => {
        impl $builder {
            /// Any option of curl's (<https://curl.se/libcurl/c/curl_easy_setopt.html>), set before what the
            /// request itself needs, so that URL, method and body are not to be set so. What the option
            /// refuses is told when the request is sent.
            pub fn option(mut self, option: EasyOption, value: impl Into<PlainValue>) -> Self {
                self.options.set(option, value);
                self
            }

            /// A header field; one of the same name that was given before is replaced. A name or value that
            /// would end its line is refused when the request is sent.
            pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
                self.options.set_header(name.into(), value.into());
                self
            }

            /// The User-Agent.
            pub fn user_agent(self, text: &str) -> Self {
                self.option(EasyOption::Useragent, text)
            }

            /// A cookie, beside those of the client's jar.
            pub fn cookie(mut self, name: &str, value: &str) -> Self {
                self.options.add_cookie(name, value);
                self
            }

            /// User and password, said with the first request (HTTP's Basic, other protocols' log-in).
            pub fn basic_auth(self, user: &str, password: &str) -> Self {
                self.login(user, password, tables::constant::CURLAUTH_BASIC)
            }

            /// User and password, in the best way that the server offers (Digest, NTLM, Negotiate …): it is
            /// asked first.
            pub fn any_auth(self, user: &str, password: &str) -> Self {
                self.login(user, password, tables::constant::CURLAUTH_ANY)
            }

            fn login(self, user: &str, password: &str, ways: u64) -> Self {
                self.option(EasyOption::Username, user)
                    .option(EasyOption::Password, password)
                    .option(EasyOption::Httpauth, ways as i64)
            }

            /// A token (RFC 6750).
            pub fn bearer_auth(self, token: &str) -> Self {
                self.option(EasyOption::Xoauth2Bearer, token)
                    .option(EasyOption::Httpauth, tables::constant::CURLAUTH_BEARER as i64)
            }

            /// The longest that everything may take, in milliseconds' resolution; zero is for ever.
            pub fn timeout(self, limit: Duration) -> Self {
                self.option(EasyOption::TimeoutMs, milliseconds(limit))
            }

            /// The longest that a connection may take to be made, TLS included.
            pub fn connect_timeout(self, limit: Duration) -> Self {
                self.option(EasyOption::ConnecttimeoutMs, milliseconds(limit))
            }

            /// How long nothing may move, in whole seconds, rounded up.
            pub fn stall_timeout(self, limit: Duration) -> Self {
                let seconds = limit.as_secs() + u64::from(limit.subsec_nanos() > 0);
                self.option(EasyOption::LowSpeedLimit, 1)
                    .option(EasyOption::LowSpeedTime, i64::try_from(seconds).unwrap_or(i64::MAX))
            }

            /// Follows up to so many redirects, with the method that the status asks for (RFC 9110, 15.4).
            /// Without this none is followed.
            pub fn redirects(self, most: u32) -> Self {
                self.option(EasyOption::Followlocation, tables::constant::CURLFOLLOW_OBEYCODE)
                    .option(EasyOption::Maxredirs, i64::from(most))
            }

            /// The proxy: `http://`, `https://`, `socks4://`, `socks4a://`, `socks5://` or `socks5h://`.
            /// Without this the environment says.
            pub fn proxy(self, url: &str) -> Self {
                self.option(EasyOption::Proxy, url)
            }

            /// No proxy, whatever the environment says.
            pub fn no_proxy(self) -> Self {
                self.option(EasyOption::Proxy, "")
            }

            /// User and password for the proxy.
            pub fn proxy_auth(self, user: &str, password: &str) -> Self {
                self.option(EasyOption::Proxyusername, user).option(EasyOption::Proxypassword, password)
            }

            /// The authorities that are trusted, in PEM, instead of the system's.
            pub fn ca_pem(self, pem: impl Into<Vec<u8>>) -> Self {
                self.option(EasyOption::CainfoBlob, pem.into())
            }

            /// The client's certificate and its key, in PEM.
            pub fn identity_pem(self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
                self.option(EasyOption::SslcertBlob, certificate.into())
                    .option(EasyOption::SslkeyBlob, key.into())
            }

            /// The server's key must be one of these (`sha256//…`, several apart by `;`), whoever vouches for
            /// it.
            pub fn pinned_key(self, pins: &str) -> Self {
                self.option(EasyOption::Pinnedpublickey, pins)
            }

            /// Whether any certificate for any name is taken: for tests, as whoever stands between is taken,
            /// too.
            pub fn danger_accept_any_certificate(self, yes: bool) -> Self {
                self.option(EasyOption::SslVerifypeer, !yes)
                    .option(EasyOption::SslVerifyhost, if yes { 0 } else { 2 })
            }

            /// The version of HTTP.
            pub fn http_version(self, version: HttpVersion) -> Self {
                self.option(EasyOption::HttpVersion, version.number())
            }

            /// Whether to wait for a connection that is being made, to see whether it carries several
            /// requests at once (HTTP/2, HTTP/3), instead of making another. Against a server of HTTP/1 that
            /// costs the first requests time.
            pub fn wait_for_streams(self, yes: bool) -> Self {
                self.option(EasyOption::Pipewait, yes)
            }

            /// Whether compressed bodies are asked for, in every coding that is built, and decoded.
            pub fn compressed(self, yes: bool) -> Self {
                let value = if yes { PlainValue::Text(Vec::new()) } else { PlainValue::Default };
                self.option(EasyOption::AcceptEncoding, value)
            }

            /// Which part is asked for, as bytes: `0-499`, `500-`, `-500`.
            pub fn range(self, range: &str) -> Self {
                self.option(EasyOption::Range, range)
            }

            /// How many bytes of a reply may lie untaken before the sender has to wait, 128 KiB by default.
            /// At most twice that is held, and what two receives brought.
            pub fn window(mut self, bytes: usize) -> Self {
                self.options.window = bytes.min(usize::MAX - 1);
                self
            }
        }
    };
}

pub(super) use settings;

/// As options have it.
pub(super) fn milliseconds(limit: std::time::Duration) -> i64 {
    i64::try_from(limit.as_millis()).unwrap_or(i64::MAX)
}
