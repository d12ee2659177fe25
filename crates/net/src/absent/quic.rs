//! QUIC without the feature `http3`: a carrier that no connection has, so that pools need no cases.

use std::convert::Infallible;
use std::sync::Arc;

use runtime::{Idle, Reactor, Socket};

use crate::Carrier;

/// A connection by QUIC. It has no value.
pub struct Quic(Infallible);

impl Quic {
    /// Returns any type: this is never called.
    pub(crate) fn never<T>(&self) -> T {
        match self.0 {}
    }
}

/// The use of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Streams.
    Streams,
    /// Streams, and datagrams of another protocol (RFC 9221).
    Datagrams,
}

/// The result of sending a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    Yes,
    /// The way has no room for one of this size, or the peer takes none.
    TooLarge,
    /// Too many wait.
    Blocked,
}

impl Carrier for Quic {
    fn retire(&mut self) {
        self.never()
    }

    fn idle_state(&mut self) -> Idle {
        self.never()
    }

    fn attach(&mut self, _: &Arc<Reactor>, _: u64) {
        self.never()
    }

    fn detach(&mut self) {
        self.never()
    }

    fn socket(&self) -> &Socket {
        self.never()
    }
}
