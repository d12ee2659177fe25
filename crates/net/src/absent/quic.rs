//! QUIC without the feature `http3`: a carrier that no connection has, so that pools need no cases.

use std::convert::Infallible;
use std::sync::Arc;

use runtime::{Idle, Reactor, Socket};

use crate::Carrier;

#[path = "../quic/terms.rs"]
mod terms;

pub use terms::{Purpose, SendOutcome};

/// A connection by QUIC. It has no value.
pub struct Quic(Infallible);

impl Quic {
    /// Returns any type: this is never called.
    pub(crate) fn never<T>(&self) -> T {
        match self.0 {}
    }
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
