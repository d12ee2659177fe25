//! Which library serves a TLS connection. This is the one place that chooses: rustls, unless the program asks
//! for the system's OpenSSL or a configuration needs it.
//!
//! Layers above speak of "the system's library" and ask [`Backend`] for its capabilities.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use runtime::Reactor;

use super::handshake::{Server, Tls};
use super::openssl::{self, OpenSslClient};
use super::rustls::RustlsClient;
use super::{Backend, Early, Module, SessionStore, TlsConfig, TlsVersion, suites};
use crate::{Filter, LayerError, NetError};

pub use super::openssl::{engines, is_there as has_system, open as open_module};

/// The text of an error: HTTP/3 was asked for together with what only the system's library has.
pub const NOT_BY_QUIC: &str = "HTTP/3 knows neither an SSL_CTX nor an engine of OpenSSL's";

/// The choice of the process: none yet, rustls, the system's library.
static CHOSEN: AtomicU8 = AtomicU8::new(0);

/// Chooses for the whole process (curl_global_sslset). The system's library serves where it can be loaded.
pub fn prefer_system(system: bool) {
    CHOSEN.store(if system { 2 } else { 1 }, Ordering::Relaxed);
}

/// Whether the process has chosen the system's library, by a call or else by CURL_SSL_BACKEND.
fn is_system_preferred() -> bool {
    if CHOSEN.load(Ordering::Relaxed) == 0 {
        let named =
            std::env::var_os("CURL_SSL_BACKEND").is_some_and(|name| name.eq_ignore_ascii_case("openssl"));
        prefer_system(named);
    }
    CHOSEN.load(Ordering::Relaxed) == 2
}

/// Whether the system's library serves a handle. Its settings may need that library (`asked`), or the handle
/// may have a choice of its own (`own`), which goes before that of the process.
pub fn is_system_chosen(asked: bool, own: Option<bool>) -> bool {
    (asked || own.unwrap_or_else(is_system_preferred)) && has_system()
}

/// Chooses the library for a configuration. `asked`: a setting of the handle has a meaning for the system's
/// library alone. `own`: the handle's own choice. `hook` and `module` are parts of [`Backend::System`].
pub fn choose(
    config: &TlsConfig,
    asked: bool,
    own: Option<bool>,
    hook: Option<[usize; 2]>,
    module: Option<Arc<Module>>,
) -> Backend {
    if is_system_chosen(asked || is_system_needed(config), own) {
        Backend::System { hook, module }
    } else {
        Backend::Rustls
    }
}

/// Whether rustls cannot meet a configuration: it knows no TLS below 1.2, neither old ciphers nor rare
/// groups, and no keys that it may not see.
pub(super) fn is_system_needed(config: &TlsConfig) -> bool {
    let lowered = config.cipher_list.as_deref().is_some_and(|list| list.contains("@SECLEVEL=0"));
    let (below_tls13, of_tls13) = config.cipher_lists();
    // Most name none: nothing is read for them.
    let any = below_tls13.or(of_tls13).or(config.curves.as_deref()).or(config.sigalgs.as_deref()).is_some();
    config.client.as_ref().is_some_and(openssl::asks_module)
        || config.max_version < TlsVersion::Tls12
        || lowered && config.min_version < TlsVersion::Tls12
        || any && !suites::are_known(config)
}

/// A handshake by the library that the configuration names.
pub enum Handshake {
    Rustls(RustlsClient),
    System(OpenSslClient),
}

impl Tls for Handshake {
    fn prepare(config: &Arc<TlsConfig>, reactor: &Arc<Reactor>) -> Result<Handshake, NetError> {
        match config.backend {
            Backend::Rustls => RustlsClient::prepare(config, reactor).map(Handshake::Rustls),
            Backend::System { .. } => OpenSslClient::prepare(config, reactor).map(Handshake::System),
        }
    }

    fn context(&self) -> Option<usize> {
        match self {
            Handshake::Rustls(client) => client.context(),
            Handshake::System(client) => client.context(),
        }
    }

    fn take_sessions(&mut self, server: Server<'_>, store: &SessionStore) -> Result<(), NetError> {
        match self {
            Handshake::Rustls(client) => client.take_sessions(server, store),
            Handshake::System(client) => client.take_sessions(server, store),
        }
    }

    fn early(&self, config: &TlsConfig) -> Option<Early> {
        match self {
            Handshake::Rustls(client) => client.early(config),
            Handshake::System(client) => client.early(config),
        }
    }

    fn begin_early(
        self,
        below: Box<dyn Filter>,
        server: Server<'_>,
        early: Early,
    ) -> Result<Box<dyn Filter>, NetError> {
        match self {
            Handshake::Rustls(client) => client.begin_early(below, server, early),
            Handshake::System(client) => client.begin_early(below, server, early),
        }
    }

    async fn begin(&mut self, below: Box<dyn Filter>, server: Server<'_>) -> Result<(), LayerError> {
        match self {
            Handshake::Rustls(client) => client.begin(below, server).await,
            Handshake::System(client) => client.begin(below, server).await,
        }
    }

    async fn finish(&mut self, server: Server<'_>) -> Result<(), NetError> {
        match self {
            Handshake::Rustls(client) => client.finish(server).await,
            Handshake::System(client) => client.finish(server).await,
        }
    }

    fn settle(&mut self, finished: bool) {
        match self {
            Handshake::Rustls(client) => client.settle(finished),
            Handshake::System(client) => client.settle(finished),
        }
    }

    fn into_filter(self) -> Result<Box<dyn Filter>, NetError> {
        match self {
            Handshake::Rustls(client) => client.into_filter(),
            Handshake::System(client) => client.into_filter(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use runtime::{Clock, Runtime};

    use super::*;
    use crate::NetErrorKind;
    use crate::tls::Capability;
    use crate::tls::rustls::tests::backends;

    fn client(backend: Backend) -> (Arc<TlsConfig>, Handshake) {
        let config =
            Arc::new(TlsConfig { backend, ca: Vec::new(), verify_peer: false, ..TlsConfig::default() });
        let runtime = Runtime::new(Clock::system());
        let handshake = Handshake::prepare(&config, runtime.reactor()).unwrap();
        (config, handshake)
    }

    #[test]
    fn a_step_out_of_order_is_an_error() {
        for backend in backends() {
            let (config, mut handshake) = client(backend.clone());
            let server = Server::new(&config, "localhost", 443);
            let Poll::Ready(finished) =
                pin!(handshake.finish(server)).poll(&mut Context::from_waker(Waker::noop()))
            else {
                panic!("{backend:?}: waits for nothing");
            };
            assert_eq!(finished.map_err(|e| e.kind), Err(NetErrorKind::SslConnectError), "{backend:?}");
            handshake.settle(false); // nothing was taken
            assert!(handshake.into_filter().is_err(), "{backend:?}");
        }
    }

    #[test]
    fn early_data_needs_a_library_that_sends_it() {
        for backend in backends() {
            let (config, mut handshake) = client(backend.clone());
            let server = Server::new(&config, "localhost", 443);
            handshake.take_sessions(server, &SessionStore::new()).unwrap();
            assert_eq!(handshake.early(&config), None, "{backend:?}: no session");
            assert_eq!(handshake.context().is_some(), *backend == Backend::SYSTEM);
            let below = Box::new(crate::filter::SocketFilter::new(socket()));
            let early = Early { alpn: "http/1.1".into(), most: 1 };
            let begun = handshake.begin_early(below, server, early).map(drop).map_err(|e| e.kind);
            let able = backend.supports(Capability::EarlyData);
            assert_eq!(begun, if able { Ok(()) } else { Err(NetErrorKind::NotBuiltIn) }, "{backend:?}");
        }
    }

    /// A socket that is used for nothing.
    fn socket() -> runtime::Socket {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        stream.set_nonblocking(true).unwrap();
        runtime::Socket::new(stream.into())
    }

    #[cfg(unix)] // the system's library is looked for there alone
    #[test]
    fn rustls_serves_unless_another_is_asked_for_or_needed() {
        let usual = TlsConfig::default();
        let old = TlsConfig {
            min_version: TlsVersion::Tls10,
            max_version: TlsVersion::Tls11,
            ..TlsConfig::default()
        };
        assert_eq!(choose(&usual, false, None, None, None), Backend::Rustls);
        assert_eq!(choose(&old, false, None, None, None), Backend::SYSTEM);
        assert_eq!(choose(&usual, false, Some(true), None, None), Backend::SYSTEM, "of the handle");
        assert_eq!(choose(&old, false, Some(false), None, None), Backend::SYSTEM, "rustls cannot");
        let hooked = choose(&usual, true, None, Some([1, 2]), None);
        assert!(hooked.is_hooked() && !hooked.is_unchanged(), "{hooked:?}");
        let lenient = TlsConfig { min_version: TlsVersion::Tls10, ..TlsConfig::default() };
        assert_eq!(choose(&lenient, false, None, None, None), Backend::Rustls, "what is newer will do");
        assert!(lenient.caveat().is_some() && usual.caveat().is_none());
        assert_eq!(TlsConfig { backend: Backend::SYSTEM, ..lenient }.caveat(), None);
    }
}
