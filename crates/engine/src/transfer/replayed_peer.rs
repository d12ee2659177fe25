//! The peer of a connection in a replay.

use net::Filter;
use net::connect::Endpoints;
use net::filter::scripted::{Scripted, Silence};

use crate::recording::facts::Facts;

/// The recorded exchange that answers the transfer's current request.
pub struct ReplayedPeer {
    /// HTTP version of the request, as in [`Facts`].
    pub version: u8,
    /// The recorded ends of the connection.
    pub endpoints: Endpoints,
    /// The other end of a connection that is opened now.
    pub make_filter: Box<dyn Fn() -> std::io::Result<Box<dyn Filter>>>,
}

impl ReplayedPeer {
    /// Creates the peer of an exchange that does not read from its connection.
    pub fn silent(facts: &Facts) -> ReplayedPeer {
        ReplayedPeer::with(facts, || Ok(Box::new(Scripted::new(Silence)?)))
    }

    /// Creates a peer whose connections are made by this function.
    pub fn with(
        facts: &Facts,
        make_filter: impl Fn() -> std::io::Result<Box<dyn Filter>> + 'static,
    ) -> ReplayedPeer {
        let endpoints = Endpoints { remote: facts.remote, local: facts.local };
        ReplayedPeer { version: facts.version, endpoints, make_filter: Box::new(make_filter) }
    }
}
