//! The families of addresses, and the result of a query for one of them.

use std::net::IpAddr;

use wire::dns::Kind;

/// A family of addresses; each has its own query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    V6,
    V4,
}

impl Family {
    /// Returns the family of an address.
    pub fn of(address: &IpAddr) -> Family {
        if address.is_ipv4() { Family::V4 } else { Family::V6 }
    }

    /// Returns the type of DNS records.
    pub(super) fn kind(self) -> Kind {
        if self == Family::V4 { Kind::A } else { Kind::Aaaa }
    }
}

/// An address, and the scope of one that is link-local.
pub type Found = (IpAddr, u32);

/// The outcome of a question. An empty list is an answer: the name does not exist, or has no address of that
/// family.
pub type LookupResult = Result<Vec<Found>, NoAnswer>;

/// The query failed, and may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoAnswer;
