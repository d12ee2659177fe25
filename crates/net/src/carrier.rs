//! The carrier of a connection: a stack of filters, which is one stream of bytes, or QUIC, which has its own
//! streams.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use runtime::{Idle, Reactor, Socket};

use crate::Filter;
use crate::quic::Quic;
use crate::tls::TlsInfo;

/// The interface of a carrier, and all that a pool knows of a connection: it is one socket with a reactor,
/// can be checked before reuse, and can be closed in an orderly way.
pub trait Carrier: Send {
    /// One try, without waiting, to end politely.
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

/// One or the other.
pub enum Carried {
    Bytes(Box<dyn Filter>),
    Quic(Box<Quic>),
}

impl Carried {
    /// The topmost filter, for a protocol that speaks on one stream of bytes.
    pub fn filter(&mut self) -> &mut (dyn Filter + 'static) {
        match self {
            Carried::Bytes(filter) => filter.as_mut(),
            Carried::Quic(_) => unreachable!("who speaks on bytes asks for no connection of QUIC's"),
        }
    }

    /// The stack, for a layer to be put on it or taken off.
    pub fn into_filter(self) -> Box<dyn Filter> {
        match self {
            Carried::Bytes(filter) => filter,
            Carried::Quic(_) => unreachable!("who speaks on bytes asks for no connection of QUIC's"),
        }
    }

    /// QUIC, for HTTP/3.
    pub fn quic(&mut self) -> &mut Quic {
        match self {
            Carried::Quic(quic) => quic,
            Carried::Bytes(_) => unreachable!("HTTP/3 asks for no connection of TCP's"),
        }
    }
}

impl From<Box<dyn Filter>> for Carried {
    fn from(filter: Box<dyn Filter>) -> Carried {
        Carried::Bytes(filter)
    }
}

impl From<Quic> for Carried {
    fn from(quic: Quic) -> Carried {
        Carried::Quic(Box::new(quic))
    }
}

impl Deref for Carried {
    type Target = dyn Carrier;

    fn deref(&self) -> &(dyn Carrier + 'static) {
        match self {
            Carried::Bytes(filter) => filter.as_ref(),
            Carried::Quic(quic) => quic.as_ref(),
        }
    }
}

impl DerefMut for Carried {
    fn deref_mut(&mut self) -> &mut (dyn Carrier + 'static) {
        match self {
            Carried::Bytes(filter) => filter.as_mut(),
            Carried::Quic(quic) => quic.as_mut(),
        }
    }
}
