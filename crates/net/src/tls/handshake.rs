//! The trait of a TLS library: the steps by which a client gets from a configuration to an encrypted
//! connection.
//!
//! The steps are apart for two reasons. An application's lock is held around [`Tls::take_sessions`] and
//! [`Tls::settle`] alone, not while the server is waited for. And a race between addresses begins several
//! handshakes and finishes one of them. The connection itself is a [`Filter`]: its records pass no other
//! layer.

use std::future::Future;
use std::sync::Arc;

use runtime::Reactor;

use super::{Early, SessionStore, TlsConfig};
use crate::{Filter, LayerError, NetError, NetErrorKind};

/// The server of a handshake, and the terms on which TLS is spoken with it.
#[derive(Clone, Copy)]
pub struct Server<'a> {
    pub config: &'a Arc<TlsConfig>,
    /// A name or an address, without brackets.
    pub host: &'a str,
    /// Tells the sessions of two servers on one host apart.
    pub port: u16,
    pub detail: ChainDetail,
}

/// How much a handshake reports about the server's certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChainDetail {
    /// The server's own certificate.
    #[default]
    Leaf,
    /// Also which certificate of the chain expires first.
    Expiry,
    /// Also each check of the chain. No session is resumed then, since the server would send no chain.
    Checks,
}

impl<'a> Server<'a> {
    /// A server of whose certificates nothing special is reported.
    pub fn new(config: &'a Arc<TlsConfig>, host: &'a str, port: u16) -> Server<'a> {
        Server { config, host, port, detail: ChainDetail::Leaf }
    }

    /// Returns whether a handshake may resume a session of the store.
    pub(super) fn takes_session(&self) -> bool {
        self.config.resumes() && self.detail != ChainDetail::Checks
    }
}

/// A handshake of a client by one library. The methods are called in their order here; a caller that
/// stops early drops the value, and after [`take_sessions`](Tls::take_sessions) calls
/// [`settle`](Tls::settle) before.
pub trait Tls: Sized {
    /// Reads the configuration in the library's terms. Nothing is sent.
    fn prepare(config: &Arc<TlsConfig>, reactor: &Arc<Reactor>) -> Result<Self, NetError>;

    /// Returns the address of the library's context, which the application may change before the
    /// handshake (CURLOPT_SSL_CTX_FUNCTION).
    fn context(&self) -> Option<usize> {
        None
    }

    /// Takes out of the store what the handshake may resume.
    fn take_sessions(&mut self, server: Server<'_>, store: &SessionStore) -> Result<(), NetError>;

    /// Returns what may leave with the hello, by the session that was taken.
    fn early(&self, _config: &TlsConfig) -> Option<Early> {
        None
    }

    /// Begins a connection that is used before its handshake is over: what is written first leaves with the
    /// hello. It settles its sessions itself.
    fn begin_early(
        self,
        _below: Box<dyn Filter>,
        _server: Server<'_>,
        _early: Early,
    ) -> Result<Box<dyn Filter>, NetError> {
        Err(NetError::new(NetErrorKind::NotBuiltIn, "this TLS library sends no early data"))
    }

    /// Shakes hands until the server has answered and is verified. Nothing has left by then that proves who
    /// the client is, or that is not meant for everybody.
    fn begin(
        &mut self,
        below: Box<dyn Filter>,
        server: Server<'_>,
    ) -> impl Future<Output = Result<(), LayerError>>;

    /// Ends the handshake that was begun.
    fn finish(&mut self, server: Server<'_>) -> impl Future<Output = Result<(), NetError>>;

    /// Puts the sessions that came with the handshake into the store. After one that failed, nothing that was
    /// kept of this server is used again.
    fn settle(&mut self, finished: bool);

    /// Returns the connection of a handshake that is finished.
    fn into_filter(self) -> Result<Box<dyn Filter>, NetError>;
}

/// Shakes hands from beginning to end.
pub async fn connect<T: Tls>(
    below: Box<dyn Filter>,
    server: Server<'_>,
    store: &SessionStore,
    reactor: &Arc<Reactor>,
) -> Result<Box<dyn Filter>, NetError> {
    let mut handshake = T::prepare(server.config, reactor)?;
    handshake.take_sessions(server, store)?;
    let outcome = run(&mut handshake, below, server).await;
    handshake.settle(outcome.is_ok());
    outcome?;
    handshake.into_filter()
}

/// Runs both halves of a handshake that has its sessions.
pub async fn run(
    handshake: &mut impl Tls,
    below: Box<dyn Filter>,
    server: Server<'_>,
) -> Result<(), NetError> {
    handshake.begin(below, server).await.map_err(LayerError::into_error)?;
    handshake.finish(server).await
}

/// Progress of a handshake: prepared, answered by a verified server, or done.
pub(super) enum Stage<Prepared, Answered, Done> {
    Prepared(Prepared),
    Answered(Answered),
    Done(Done),
    /// Failed, or between two steps.
    Over,
}

impl<Prepared, Answered, Done> Stage<Prepared, Answered, Done> {
    /// Takes the stage out, to be replaced by the next one.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Stage::Over)
    }
}

/// The error of a step that is requested out of order.
pub(super) fn out_of_order() -> NetError {
    NetError::new(NetErrorKind::SslConnectError, "TLS connect error: a step of the handshake is missing")
}
