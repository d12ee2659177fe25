//! Server push (RFC 9113 §8.4; CURLMOPT_PUSHFUNCTION(3)): a server says on one stream that it will answer a request nobody made.
//! It is told that it may only when the multi handle has somebody to ask; the application says yes with a handle of its own,
//! whose transfer then reads the reply, or the stream is reset.

use std::rc::Rc;

use net::Lease;
use wire::h2::Fields;

use crate::easy::Easy;

/// What a server has promised.
pub struct Promise {
    /// Where the reply would have been asked for.
    pub url: Vec<u8>,
    /// The fields of that request, pseudo-fields first, in their order.
    pub fields: Fields,
}

/// What the application says to it.
pub enum Answer {
    /// This handle reads the reply.
    Taken(Easy),
    /// Nobody does.
    Denied,
    /// Nobody does, and the connection ends.
    BreakOff,
}

/// CURLMOPT_PUSHFUNCTION: asked for the handle on whose stream the promise came.
pub type PushFunction = Rc<dyn Fn(&Easy, &Promise) -> Answer>;

/// A stream that a handle was made for, until its transfer begins.
pub struct Adopted {
    /// The right to it.
    pub lease: Lease,
    /// The request that it answers.
    pub fields: Fields,
}

impl Adopted {
    /// Whether the reply has no body, whatever it announces.
    pub fn head_only(&self) -> bool {
        self.fields.value(b":method") == Some(b"HEAD")
    }
}
