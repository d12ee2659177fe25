//! The configuration of a client, and the methods that set it.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use engine::Share;
use engine::multi::Limits;
use engine::process_pool::Pool;
use http::header::{HeaderMap, HeaderValue, USER_AGENT};
use tables::EasyOption as O;
use tables::constant as c;
use tables::share::LockData;

use super::Error;
use super::options::Options;
use super::redirect::Policy;
use super::{proxy::Proxy, tls};
use crate::PlainValue;
use crate::transfers::{ProxyRule, TlsLibrary};

/// The content codings that responses are decoded from, by curl's names.
const CODINGS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

/// Settings that all requests of a client share.
pub(crate) struct Config {
    pub options: Options,
    pub headers: HeaderMap,
    pub limits: Limits,
    pub share: Option<Share>,
    pub refused: Option<Error>,
    /// Which of [`CODINGS`] are decoded.
    codings: [bool; 4],
    roots: Vec<u8>,
    trusts_system: bool,
    versions: (i64, i64),
    resolves: Vec<Vec<u8>>,
    /// `None` leaves the choice to the environment.
    proxies: Option<Vec<ProxyRule>>,
    pub pool: Option<Pool>,
}

impl Default for Config {
    fn default() -> Config {
        let mut config = Config {
            options: Options::default(),
            headers: HeaderMap::new(),
            limits: Limits::default(),
            share: None,
            refused: None,
            codings: [true; 4],
            roots: Vec::new(),
            trusts_system: true,
            versions: (0, 0),
            resolves: Vec::new(),
            proxies: None,
            pool: None,
        };
        // Signals are not delivered to a particular thread, and handlers belong to the program.
        config.set(O::NoSignal, true);
        config.follow(Policy::default());
        config
    }
}

impl Config {
    pub fn set(&mut self, option: O, value: impl Into<PlainValue>) {
        self.options.set(option, value);
    }

    fn refuse(&mut self, error: http::Error) {
        self.refused.get_or_insert(error.into());
    }

    /// Completes the options from what several methods have set.
    pub fn finish(mut self) -> Result<Config, Error> {
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        let wanted: Vec<_> =
            (0..CODINGS.len()).filter(|at| self.codings[*at]).map(|at| CODINGS[at]).collect();
        if !wanted.is_empty() && !self.options.has(O::AcceptEncoding) {
            self.set(O::AcceptEncoding, wanted.join(", ").as_str());
        }
        if !self.roots.is_empty() {
            let roots = std::mem::take(&mut self.roots);
            self.set(O::CaInfoBlob, roots);
            if self.trusts_system {
                self.set(O::SslOptions, c::CURLSSLOPT_NATIVE_CA);
            }
        } else if !self.trusts_system {
            return Err(Error::option("without the system's authorities, add_root_certificate is needed"));
        }
        if self.versions != (0, 0) {
            let (lowest, highest) = self.versions;
            self.set(O::SslVersion, lowest | highest << 16);
        }
        if !self.resolves.is_empty() {
            let resolves = std::mem::take(&mut self.resolves);
            self.set(O::ConnectTo, resolves);
        }
        if self.options.choices.tls == Some(TlsLibrary::System) && !engine::has_system_tls() {
            return Err(Error::option(
                "use_native_tls needs the system's TLS library, which cannot be loaded",
            ));
        }
        self.options.choices.proxies = self.proxies.take().map(Into::into);
        Ok(self)
    }

    pub fn follow(&mut self, policy: Policy) {
        self.options.list.retain(|(option, _)| ![O::FollowLocation, O::MaxRedirs].contains(option));
        if policy != Policy::none() {
            self.set(O::FollowLocation, c::CURLFOLLOW_OBEYCODE);
            self.set(O::MaxRedirs, i64::from(policy.0));
        }
    }

    pub fn decode(&mut self, coding: &str, on: bool) {
        for (at, known) in CODINGS.iter().enumerate() {
            if *known == coding {
                self.codings[at] = on;
            }
        }
    }

    pub fn set_user_agent<V>(&mut self, value: V)
    where
        V: TryInto<HeaderValue>,
        V::Error: Into<http::Error>,
    {
        match value.try_into() {
            Ok(value) => drop(self.headers.insert(USER_AGENT, value)),
            Err(error) => self.refuse(error.into()),
        }
    }

    pub fn add_proxy(&mut self, proxy: Proxy) {
        self.proxies.get_or_insert_default().push(proxy.into_rule());
    }

    pub fn use_no_proxy(&mut self) {
        self.proxies = Some(Vec::new());
    }

    pub fn set_tls(&mut self, library: TlsLibrary) {
        self.options.choices.tls = Some(library);
    }

    pub fn add_root(&mut self, certificate: tls::Certificate) {
        self.roots.extend(certificate.0);
        self.roots.push(b'\n');
    }

    pub fn trust_system(&mut self, yes: bool) {
        self.trusts_system = yes;
    }

    pub fn set_identity(&mut self, identity: tls::Identity) {
        self.set(O::SslCertBlob, identity.certificate);
        self.set(O::SslKeyBlob, identity.key);
    }

    pub fn set_lowest(&mut self, version: tls::Version) {
        self.versions.0 = version.0;
    }

    pub fn set_highest(&mut self, version: tls::Version) {
        self.versions.1 = version.0;
    }

    pub fn keep_cookies(&mut self, yes: bool) {
        self.options.list.retain(|(option, _)| *option != O::CookieFile);
        if yes {
            self.share.get_or_insert_default().set_kind(LockData::Cookie, true);
            self.set(O::CookieFile, "");
        }
    }

    /// Connects to an address in place of a host. Port 0 keeps that of the URL.
    pub fn resolve(&mut self, host: &str, address: SocketAddr) {
        let ip = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let port = if address.port() == 0 { String::new() } else { address.port().to_string() };
        self.resolves.push(format!("{host}::{ip}:{port}").into_bytes());
    }

    pub fn connect_to(&mut self, from: &str, to: &str) {
        self.resolves.push(format!("{from}:{to}").into_bytes());
    }

    pub fn keep_alive(&mut self, interval: Option<Duration>) {
        self.set(O::TcpKeepAlive, interval.is_some());
        if let Some(interval) = interval {
            let seconds = i64::try_from(interval.as_secs().max(1)).unwrap_or(i64::MAX);
            self.set(O::TcpKeepIdle, seconds);
            self.set(O::TcpKeepIntvl, seconds);
        }
    }

    pub fn set_path(&mut self, option: O, path: &Path) {
        self.set(option, engine::sys::name_of(path.as_os_str()).into_owned());
    }
}

/// Defines the methods of a client's builder. Its field `config` is a [`Config`].
macro_rules! client_settings {
    ($builder:ident) => {
        impl $builder {
            /// Sets header fields for all requests. A field of a request replaces one of the same name.
            pub fn default_headers(mut self, headers: http::HeaderMap) -> Self {
                self.config.headers.extend(headers);
                self
            }

            /// Sets the User-Agent. By default none is sent.
            pub fn user_agent<V>(mut self, value: V) -> Self
            where
                V: TryInto<http::HeaderValue>,
                V::Error: Into<http::Error>,
            {
                self.config.set_user_agent(value);
                self
            }

            /// Limits the time of a request, from its start to the end of the response's body; `None` is no
            /// limit and the default.
            pub fn timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
                self.config.options.set_timeout(O::TimeoutMs, limit.into());
                self
            }

            /// Limits the time to open a connection, TLS included. The default is five minutes.
            pub fn connect_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
                self.config.options.set_timeout(O::ConnectTimeoutMs, limit.into());
                self
            }

            /// Limits the time in which a connected transfer moves no byte; `None` is no limit and the
            /// default.
            pub fn read_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
                self.config.options.read_timeout = limit.into();
                self
            }

            /// Sets the rule for redirects. By default ten are followed.
            pub fn redirect(mut self, policy: Policy) -> Self {
                self.config.follow(policy);
                self
            }

            /// Sends the Referer when a redirect is followed. Off by default.
            pub fn referer(mut self, yes: bool) -> Self {
                self.config.set(O::AutoReferer, yes);
                self
            }

            /// Adds a proxy. The first one that is for the URL counts, also after a redirect; a URL that none
            /// is for is reached without. By default the environment's variables decide.
            pub fn proxy(mut self, proxy: Proxy) -> Self {
                self.config.add_proxy(proxy);
                self
            }

            /// Removes all proxies, and uses none even if the environment names one.
            pub fn no_proxy(mut self) -> Self {
                self.config.use_no_proxy();
                self
            }

            /// Uses the system's TLS library, whatever the process has chosen. HTTP/3 stays with rustls.
            /// Building the client fails if the library cannot be loaded.
            pub fn use_native_tls(mut self) -> Self {
                self.config.set_tls(TlsLibrary::System);
                self
            }

            /// Uses rustls for TLS, whatever the process has chosen. Settings that only the system's library
            /// can meet, such as TLS 1.0, still use that.
            pub fn use_rustls_tls(mut self) -> Self {
                self.config.set_tls(TlsLibrary::BuiltIn);
                self
            }

            /// Sets which pool gets the client's idle connections when the client ends, and is searched
            /// before a new connection is opened: none ([`Pool::Off`]), that of the process
            /// ([`Pool::Process`]), or that of the user's processes ([`Pool::User`]), whose broker keeps
            /// them. By default the environment's `WARMWIRE_POOL` decides. The process has one pool: after a
            /// client with `Pool::User`, all that is in it may go to the broker.
            pub fn pool(mut self, kind: Pool) -> Self {
                self.config.pool = Some(kind);
                self
            }

            /// Sets whether a connection is left when its host's name has moved to other addresses. If the
            /// answer of the look-up that led to an open connection is stale, the name is looked up again
            /// before the next request uses the connection. By default `WARMWIRE_FOLLOW_NAMES` decides, or
            /// else the [`pool`](Self::pool): yes with that of the process and that of the user.
            ///
            /// ```
            /// # fn main() -> Result<(), warmwire::Error> {
            /// let client = warmwire::Client::builder().follow_names(true).build()?;
            /// # Ok(())
            /// # }
            /// ```
            pub fn follow_names(mut self, yes: bool) -> Self {
                self.config.options.choices.follow_names = Some(yes);
                self
            }

            /// Trusts these authorities in addition to the system's.
            pub fn add_root_certificate(mut self, certificate: tls::Certificate) -> Self {
                self.config.add_root(certificate);
                self
            }

            /// Sets whether the system's authorities are trusted, as they are by default.
            pub fn tls_built_in_root_certs(mut self, yes: bool) -> Self {
                self.config.trust_system(yes);
                self
            }

            /// Sets the certificate and key that servers may ask for.
            pub fn identity(mut self, identity: tls::Identity) -> Self {
                self.config.set_identity(identity);
                self
            }

            /// Sets the lowest version of TLS. The default is 1.2.
            pub fn min_tls_version(mut self, version: tls::Version) -> Self {
                self.config.set_lowest(version);
                self
            }

            /// Sets the highest version of TLS. The default is 1.3.
            pub fn max_tls_version(mut self, version: tls::Version) -> Self {
                self.config.set_highest(version);
                self
            }

            /// Accepts only these server keys (`sha256//…`, separated by `;`), in addition to the check of
            /// the certificate.
            pub fn pinned_key(mut self, pins: &str) -> Self {
                self.config.set(O::PinnedPublicKey, pins);
                self
            }

            /// Accepts any certificate for any name. For tests only: connections can be intercepted.
            pub fn danger_accept_invalid_certs(mut self, yes: bool) -> Self {
                self.config.set(O::SslVerifyPeer, !yes);
                self.config.set(O::SslVerifyHost, if yes { 0 } else { 2 });
                self
            }

            /// Accepts a valid certificate for any name. For tests only: connections can be intercepted.
            pub fn danger_accept_invalid_hostnames(mut self, yes: bool) -> Self {
                self.config.set(O::SslVerifyHost, if yes { 0 } else { 2 });
                self
            }

            /// Refuses URLs and redirects of other schemes than `https`.
            pub fn https_only(mut self, yes: bool) -> Self {
                let names = if yes { PlainValue::from("https") } else { PlainValue::Default };
                self.config.set(O::ProtocolsStr, names.clone());
                self.config.set(O::RedirProtocolsStr, names);
                self
            }

            /// Uses HTTP/1.1 even if the server offers HTTP/2.
            pub fn http1_only(mut self) -> Self {
                self.config.set(O::HttpVersion, c::CURL_HTTP_VERSION_1_1);
                self
            }

            /// Uses HTTP/2 without negotiation.
            pub fn http2_prior_knowledge(mut self) -> Self {
                self.config.set(O::HttpVersion, c::CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
                self
            }

            /// Tries HTTP/3, raced against TCP.
            pub fn http3(mut self) -> Self {
                self.config.set(O::HttpVersion, c::CURL_HTTP_VERSION_3);
                self
            }

            /// Uses HTTP/3 only.
            pub fn http3_prior_knowledge(mut self) -> Self {
                self.config.set(O::HttpVersion, c::CURL_HTTP_VERSION_3ONLY);
                self
            }

            /// Sets whether bodies may arrive in the coding gzip, which is then decoded. On by default, as
            /// are the other codings.
            pub fn gzip(mut self, yes: bool) -> Self {
                self.config.decode("gzip", yes);
                self
            }

            /// Sets whether bodies may arrive in the coding deflate.
            pub fn deflate(mut self, yes: bool) -> Self {
                self.config.decode("deflate", yes);
                self
            }

            /// Sets whether bodies may arrive in the coding br.
            pub fn brotli(mut self, yes: bool) -> Self {
                self.config.decode("br", yes);
                self
            }

            /// Sets whether bodies may arrive in the coding zstd.
            pub fn zstd(mut self, yes: bool) -> Self {
                self.config.decode("zstd", yes);
                self
            }

            /// Keeps cookies in memory from one request to the next.
            pub fn cookie_store(mut self, yes: bool) -> Self {
                self.config.keep_cookies(yes);
                self
            }

            /// Shares connections, names or cookies with other clients and handles, on any thread.
            pub fn share(mut self, share: Share) -> Self {
                self.config.share = Some(share);
                self
            }

            /// Sets how long an idle connection is kept. The default is 118 seconds.
            pub fn pool_idle_timeout(mut self, limit: Duration) -> Self {
                let seconds = i64::try_from(limit.as_secs().max(1)).unwrap_or(i64::MAX);
                self.config.set(O::MaxAgeConn, seconds);
                self
            }

            /// Limits the number of simultaneous connections; 0 is no limit. Requests beyond the limit wait.
            pub fn connections(mut self, most: usize) -> Self {
                self.config.limits.max_total = most;
                self
            }

            /// Limits the number of simultaneous connections to one host; 0 is no limit. Requests beyond the
            /// limit wait.
            pub fn connections_per_host(mut self, most: usize) -> Self {
                self.config.limits.max_host = most;
                self
            }

            /// Waits for a connection in progress, to see whether it can carry several requests (HTTP/2,
            /// HTTP/3), before opening another one. This delays the first requests if the server only has
            /// HTTP/1.
            pub fn wait_for_streams(mut self, yes: bool) -> Self {
                self.config.set(O::PipeWait, yes);
                self
            }

            /// Connects to an address in place of a host. Port 0 keeps the port of the URL. The name stays in
            /// the request and in TLS.
            pub fn resolve(mut self, host: &str, address: SocketAddr) -> Self {
                self.config.resolve(host, address);
                self
            }

            /// Connects to the host and port `to` in place of `from`, each as `host:port`. Either part of
            /// `from` may be empty: it then stands for any host or port.
            pub fn connect_to(mut self, from: &str, to: &str) -> Self {
                self.config.connect_to(from, to);
                self
            }

            /// Resolves names by DNS over HTTPS (RFC 8484) at this URL.
            pub fn dns_over_https(mut self, url: &str) -> Self {
                self.config.set(O::DohUrl, url);
                self
            }

            /// Sends requests from this network interface.
            pub fn interface(mut self, name: &str) -> Self {
                self.config.set(O::Interface, format!("if!{name}").as_str());
                self
            }

            /// Sends requests from this address.
            pub fn local_address(mut self, address: IpAddr) -> Self {
                self.config.set(O::Interface, format!("host!{address}").as_str());
                self
            }

            /// Sends all requests through the Unix socket at this path.
            pub fn unix_socket(mut self, path: impl AsRef<Path>) -> Self {
                self.config.set_path(O::UnixSocketPath, path.as_ref());
                self
            }

            /// Sets the interval of TCP's probes on idle connections; `None`, the default, is no probe.
            pub fn tcp_keepalive(mut self, interval: impl Into<Option<Duration>>) -> Self {
                self.config.keep_alive(interval.into());
                self
            }

            /// Sets whether small packets are sent at once, as they are by default.
            pub fn tcp_nodelay(mut self, yes: bool) -> Self {
                self.config.set(O::TcpNoDelay, yes);
                self
            }

            /// Limits the rate of each response's body, in bytes a second; 0 is no limit.
            pub fn max_download_speed(mut self, bytes: u64) -> Self {
                self.config.set(O::MaxRecvSpeedLarge, i64::try_from(bytes).unwrap_or(i64::MAX));
                self
            }

            /// Limits the rate of each request's body, in bytes a second; 0 is no limit.
            pub fn max_upload_speed(mut self, bytes: u64) -> Self {
                self.config.set(O::MaxSendSpeedLarge, i64::try_from(bytes).unwrap_or(i64::MAX));
                self
            }

            /// Limits the received body that waits to be read, 128 KiB by default; beyond it the sender has
            /// to wait. Memory use is at most twice the limit plus two receive buffers.
            pub fn window(mut self, bytes: usize) -> Self {
                self.config.options.window = Some(bytes);
                self
            }

            /// Keeps the reasons of each transfer: [`Response::why`](crate::Response::why) and
            /// [`Error::why`](crate::Error::why) return them.
            pub fn explain(mut self, reasons: impl Into<crate::Reasons>) -> Self {
                self.config.options.explain = Some(reasons.into());
                self
            }

            /// Sets the policy that all requests must satisfy, beside that of the process (WARMWIRE_POLICY).
            pub fn access_policy(mut self, policy: AccessPolicy) -> Self {
                self.config.options.access_policy = Some(policy);
                self
            }

            /// Sets any option of curl's (<https://curl.se/libcurl/c/curl_easy_setopt.html>) for all
            /// requests. URL, method, header fields and body are not set this way: the request's own override
            /// them.
            /// Sending a request reports an option that is refused.
            pub fn option(mut self, option: EasyOption, value: impl Into<PlainValue>) -> Self {
                self.config.set(option, value);
                self
            }
        }
    };
}

pub(crate) use client_settings;

/// The names that [`client_settings`] needs where it is used.
pub(crate) mod names {
    pub(crate) use super::super::redirect::Policy;
    pub(crate) use super::super::{proxy::Proxy, tls};
    pub(crate) use crate::transfers::TlsLibrary;
    pub(crate) use crate::{AccessPolicy, PlainValue};
    pub(crate) use engine::Share;
    pub(crate) use engine::process_pool::Pool;
    pub(crate) use std::net::{IpAddr, SocketAddr};
    pub(crate) use std::path::Path;
    pub(crate) use std::time::Duration;
    pub(crate) use tables::constant as c;
    pub(crate) use tables::{EasyOption, EasyOption as O};
}
