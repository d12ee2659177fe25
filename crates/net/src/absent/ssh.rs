//! SSH without the feature `ssh`: a place that nobody gets, so that pools and leases need no cases.

use std::convert::Infallible;
use std::rc::Rc;

use runtime::Runtime;

use crate::Connection;
use crate::session::{ReturnWrapper, Session, Whole};

/// Channels at once.
pub const CHANNELS: usize = 1;

/// A place in a session of SSH's. It has no value.
pub struct ChannelSlot(Infallible);

impl ChannelSlot {
    /// Closes the session for new transfers.
    pub fn retire(&mut self) {
        match self.0 {}
    }
}

/// Returns whether a session is parked on the connection: none is.
pub fn is_parked(_: &mut Connection) -> bool {
    false
}

/// Returns the connection, on which no session is parked.
pub fn resume(
    whole: Whole,
    _: &Runtime,
    _: impl FnOnce() -> Option<ReturnWrapper>,
) -> Result<Rc<dyn Session>, Whole> {
    Err(whole)
}
