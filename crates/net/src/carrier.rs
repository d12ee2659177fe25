//! The carrier of a connection: a stack of filters, which is one stream of bytes, or QUIC, which has streams
//! of its own. The type of a connection says which.

use std::sync::Arc;

use runtime::{Idle, Reactor, Socket};

use crate::Filter;
use crate::tls::TlsInfo;

/// The interface of a carrier, and all that a pool knows of a connection: it is one socket with a reactor,
/// can be checked before reuse, and can be closed in an orderly way.
pub trait Carrier: Send {
    /// Makes one try to end politely, without waiting.
    fn retire(&mut self);

    /// Checks whether an unused connection may be reused. Processes input that belongs to the layer itself.
    fn idle_state(&mut self) -> Idle;

    /// Registers the socket with a reactor.
    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64);

    /// Takes the socket from its reactor.
    fn detach(&mut self);

    /// The socket at the bottom.
    fn socket(&self) -> &Socket;

    /// Returns the parameters of the topmost TLS layer, if there is one.
    fn tls(&self) -> Option<&Arc<TlsInfo>> {
        None
    }
}

/// A stack of filters: one stream of bytes.
pub type Stack = dyn Filter;
