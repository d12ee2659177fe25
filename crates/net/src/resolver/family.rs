//! The families of addresses, and what a question for one of them comes to.

use std::net::IpAddr;

use wire::dns::Kind;

/// A family of addresses; each is looked up by a question of its own.
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

    /// Returns the record type that name servers are asked for.
    pub(super) fn kind(self) -> Kind {
        if self == Family::V4 { Kind::A } else { Kind::Aaaa }
    }
}

/// An address, and the scope of one that is link-local.
pub type Found = (IpAddr, u32);

/// The outcome of a question. An empty list is an answer: the name does not exist, or has no address of that
/// family.
pub type Said = Result<Vec<Found>, NoAnswer>;

/// The question could not be answered, and may be asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoAnswer;
