//! Server push (RFC 9113 §8.4; CURLMOPT_PUSHFUNCTION(3)): a server promises on one stream to answer a request
//! that was not made. It may do so only if the multi handle has a push function. The application accepts with
//! a new handle, whose transfer then reads the reply; otherwise the stream is reset.

use std::rc::Rc;

use net::HttpLease;
use wire::h2::Fields;

use crate::easy::Easy;

/// A promise of a server.
pub struct Promise {
    /// The URL of the promised reply.
    pub url: Vec<u8>,
    /// The fields of that request, pseudo-fields first, in their order.
    pub fields: Fields,
}

/// The application's decision about a promise.
pub enum Answer {
    /// This handle reads the reply.
    Taken(Easy),
    /// The promise is refused.
    Denied,
    /// The promise is refused, and the connection is closed.
    BreakOff,
}

/// CURLMOPT_PUSHFUNCTION: called for the handle on whose stream the promise was received.
pub type PushFunction = Rc<dyn Fn(&Easy, &Promise) -> Answer>;

/// The stream of an accepted promise, until its handle's transfer starts.
pub struct Adopted {
    /// The right to it.
    pub lease: HttpLease,
    /// The request that it answers.
    pub fields: Fields,
}

impl Adopted {
    /// Returns whether the reply has no body, whatever it announces.
    pub fn head_only(&self) -> bool {
        self.fields.value(b":method") == Some(b"HEAD")
    }
}
