//! Options that a client sets for all its requests, and a request for itself.

use std::time::Duration;

use tables::{Code, EasyOption};

use super::error::Error;
use crate::PlainValue;

/// Default limit of buffered body; beyond it the sender has to wait.
const WINDOW: usize = 128 * 1024;

/// Options and header fields, as the caller set them.
#[derive(Clone)]
pub(super) struct Options {
    pub list: Vec<(EasyOption, PlainValue)>,
    pub headers: Vec<(String, String)>,
    pub window: usize,
    /// How long a transfer may move no byte.
    pub stall_limit: Option<Duration>,
    /// Whether the reasons of a transfer are kept.
    pub explain: bool,
    /// The first invalid option or field. Sending the request reports it.
    pub refused: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        // Signals are not delivered to a particular thread, and handlers belong to the program.
        let list = vec![(EasyOption::Nosignal, PlainValue::Long(1))];
        Options {
            list,
            headers: Vec::new(),
            window: WINDOW,
            stall_limit: None,
            explain: false,
            refused: None,
        }
    }
}

impl Options {
    pub fn set(&mut self, option: EasyOption, value: impl Into<PlainValue>) {
        self.list.push((option, value.into()));
    }

    /// Sets a field and replaces earlier ones of the same name.
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

/// The HTTP version to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HttpVersion {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2 if TLS negotiates it, otherwise HTTP/1.1. The default.
    Http2,
    /// HTTP/2 without negotiation.
    Http2PriorKnowledge,
    /// HTTP/3, raced against TCP.
    Http3,
    /// Only HTTP/3.
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

/// Defines the methods that [`ClientBuilder`](super::ClientBuilder) and
/// [`RequestBuilder`](super::RequestBuilder) share.
macro_rules! settings {
    ($builder:ident) => {
        impl $builder {
            /// Sets any option of curl's (<https://curl.se/libcurl/c/curl_easy_setopt.html>). URL, method and
            /// body are not set this way: the request's own values override them. Sending the request reports
            /// an option that is refused.
            pub fn option(mut self, option: EasyOption, value: impl Into<PlainValue>) -> Self {
                self.options.set(option, value);
                self
            }

            /// Sets a header field and replaces an earlier one of the same name. A name or value with a line
            /// break is refused when the request is sent.
            pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
                self.options.set_header(name.into(), value.into());
                self
            }

            /// Sets the User-Agent.
            pub fn user_agent(self, text: &str) -> Self {
                self.option(EasyOption::Useragent, text)
            }

            /// Adds a cookie to those of the client's jar.
            pub fn cookie(mut self, name: &str, value: &str) -> Self {
                self.options.add_cookie(name, value);
                self
            }

            /// Sets user and password, sent with the first request (HTTP's Basic, or the login of other
            /// protocols).
            pub fn basic_auth(self, user: &str, password: &str) -> Self {
                self.login(user, password, tables::constant::CURLAUTH_BASIC)
            }

            /// Sets user and password, for the best method that the server offers (Digest, NTLM, Negotiate
            /// …). The first request is sent without them to find out.
            pub fn any_auth(self, user: &str, password: &str) -> Self {
                self.login(user, password, tables::constant::CURLAUTH_ANY)
            }

            fn login(self, user: &str, password: &str, ways: u64) -> Self {
                self.option(EasyOption::Username, user)
                    .option(EasyOption::Password, password)
                    .option(EasyOption::Httpauth, ways as i64)
            }

            /// Sets a bearer token (RFC 6750).
            pub fn bearer_auth(self, token: &str) -> Self {
                self.option(EasyOption::Xoauth2Bearer, token)
                    .option(EasyOption::Httpauth, tables::constant::CURLAUTH_BEARER as i64)
            }

            /// Limits the time of the whole request, in milliseconds; zero is no limit.
            pub fn timeout(self, limit: Duration) -> Self {
                self.option(EasyOption::TimeoutMs, milliseconds(limit))
            }

            /// Limits the time to open a connection, TLS included.
            pub fn connect_timeout(self, limit: Duration) -> Self {
                self.option(EasyOption::ConnecttimeoutMs, milliseconds(limit))
            }

            /// Limits the time in which a connected transfer moves no byte (milliseconds); zero is no limit.
            pub fn stall_timeout(mut self, limit: Duration) -> Self {
                self.options.stall_limit = Some(limit);
                self
            }

            /// Keeps the reasons of each transfer: [`Response::why`](crate::Response::why) and
            /// [`Error::why`](crate::Error::why) return them.
            pub fn explain(mut self, on: bool) -> Self {
                self.options.explain = on;
                self
            }

            /// Follows up to `most` redirects, with the method that the status requires (RFC 9110, 15.4). By
            /// default none is followed.
            pub fn redirects(self, most: u32) -> Self {
                self.option(EasyOption::Followlocation, tables::constant::CURLFOLLOW_OBEYCODE)
                    .option(EasyOption::Maxredirs, i64::from(most))
            }

            /// Sets the proxy: `http://`, `https://`, `socks4://`, `socks4a://`, `socks5://` or `socks5h://`.
            /// By default the environment's variables decide.
            pub fn proxy(self, url: &str) -> Self {
                self.option(EasyOption::Proxy, url)
            }

            /// Uses no proxy, even if the environment sets one.
            pub fn no_proxy(self) -> Self {
                self.option(EasyOption::Proxy, "")
            }

            /// Sets user and password for the proxy.
            pub fn proxy_auth(self, user: &str, password: &str) -> Self {
                self.option(EasyOption::Proxyusername, user).option(EasyOption::Proxypassword, password)
            }

            /// Sets the trusted authorities, in PEM, in place of the system's.
            pub fn ca_pem(self, pem: impl Into<Vec<u8>>) -> Self {
                self.option(EasyOption::CainfoBlob, pem.into())
            }

            /// Sets the client certificate and its key, in PEM.
            pub fn identity_pem(self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
                self.option(EasyOption::SslcertBlob, certificate.into())
                    .option(EasyOption::SslkeyBlob, key.into())
            }

            /// Accepts only these server keys (`sha256//…`, separated by `;`), in addition to the certificate
            /// check.
            pub fn pinned_key(self, pins: &str) -> Self {
                self.option(EasyOption::Pinnedpublickey, pins)
            }

            /// Accepts any certificate for any name. For tests only: connections can be intercepted.
            pub fn danger_accept_any_certificate(self, yes: bool) -> Self {
                self.option(EasyOption::SslVerifypeer, !yes)
                    .option(EasyOption::SslVerifyhost, if yes { 0 } else { 2 })
            }

            /// Sets the HTTP version.
            pub fn http_version(self, version: HttpVersion) -> Self {
                self.option(EasyOption::HttpVersion, version.number())
            }

            /// Waits for a connection in progress, to see whether it can carry several requests (HTTP/2,
            /// HTTP/3), before opening another one. This delays the first requests if the server only has
            /// HTTP/1.
            pub fn wait_for_streams(self, yes: bool) -> Self {
                self.option(EasyOption::Pipewait, yes)
            }

            /// Requests compressed bodies, in every coding that is built in, and decodes them.
            pub fn compressed(self, yes: bool) -> Self {
                let value = if yes { PlainValue::Text(Vec::new()) } else { PlainValue::Default };
                self.option(EasyOption::AcceptEncoding, value)
            }

            /// Requests a byte range: `0-499`, `500-`, `-500`.
            pub fn range(self, range: &str) -> Self {
                self.option(EasyOption::Range, range)
            }

            /// Limits the received body that waits to be read, 128 KiB by default; beyond it the sender has
            /// to wait. Memory use is at most twice the limit plus two receive buffers.
            pub fn window(mut self, bytes: usize) -> Self {
                self.options.window = bytes.min(usize::MAX - 1);
                self
            }
        }
    };
}

pub(super) use settings;

/// Converts a duration to the milliseconds that options take.
pub(super) fn milliseconds(limit: std::time::Duration) -> i64 {
    i64::try_from(limit.as_millis()).unwrap_or(i64::MAX)
}
