//! A place where a host may be reached, and the answer that names it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use super::family::Family;

/// An address of a host, with the parameters of its HTTPS record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Includes the port, because an HTTPS record may name another than the URL.
    pub address: SocketAddr,
    /// SvcPriority of RFC 9460: the lowest comes first. Addresses without a record come last.
    pub priority: u16,
    /// Protocols spoken there, by their ALPN names; `None` if no record says so.
    pub protocols: Option<Arc<[Vec<u8>]>>,
    /// An ECHConfigList for it.
    pub ech: Option<Arc<[u8]>>,
}

impl From<SocketAddr> for Candidate {
    fn from(address: SocketAddr) -> Candidate {
        Candidate { address, priority: u16::MAX, protocols: None, ech: None }
    }
}

/// One of the questions of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Addresses(Family),
    /// HTTPS records. Its candidates replace those with the same address that have not been tried.
    Services,
}

impl Part {
    /// Returns the type of the DNS record with the answer.
    pub fn record(self) -> &'static str {
        match self {
            Part::Addresses(Family::V4) => "A",
            Part::Addresses(Family::V6) => "AAAA",
            Part::Services => "HTTPS",
        }
    }
}

/// The answer to one of the questions.
#[derive(Clone, Debug)]
pub struct QuestionAnswer {
    pub part: Part,
    /// The best first, otherwise in the order of the answer; empty if there are none or the question failed.
    pub candidates: Vec<Candidate>,
    /// The time of the answer, in the past for a cached one. The resolution delay starts then.
    pub at: Instant,
    /// Another process had asked ([`SharedNames`](super::SharedNames)).
    pub shared: bool,
}
