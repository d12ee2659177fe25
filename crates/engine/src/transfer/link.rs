//! The connection of a transfer, with the plan by which it was reached. A link for HTTP may hold a stream,
//! never a channel of SSH.

use std::sync::Arc;

use net::session::{SessionPlace, Stream};
use net::{Lease, Whole};
use tables::Code;

use super::proxy::Proxy;
use super::route::plan::Plan;
use crate::error::{Error, Result};

/// A leased connection, with the plan for its requests.
pub struct Link<P = SessionPlace> {
    /// The connection; dropping it closes it.
    pub lease: Lease<P>,
    /// The plan by which it was reached.
    pub plan: Arc<Plan>,
}

/// A link on which HTTP is spoken.
pub type HttpLink = Link<Box<dyn Stream>>;

impl Link {
    /// Returns the link for HTTP.
    pub fn into_http(self) -> Result<HttpLink> {
        let lease = self.lease.into_http().ok_or_else(|| Error::from(Code::FailedInit))?;
        Ok(Link { lease, plan: self.plan })
    }
}

impl<P> Link<P> {
    /// Returns the whole connection, for a protocol without streams.
    pub fn into_whole(self) -> Result<Whole> {
        self.lease.into_whole().ok_or_else(|| Error::from(Code::FailedInit))
    }

    /// Returns the HTTP proxy that receives requests with whole URLs, without a tunnel.
    pub fn forwarder(&self) -> Option<&Proxy> {
        self.plan.forwarder()
    }
}
