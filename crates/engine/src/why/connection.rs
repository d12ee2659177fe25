//! Why a connection is new: a pure function of the facts, and the memory of connections that were closed.

use std::collections::VecDeque;

use net::{Eviction, HashedKey, Neighbour, Refusal};
use tables::EasyOption as O;

use super::difference::{Term, between};
use super::event::{CloseReason, NewReason};

/// Most closed connections that are remembered.
const MAX_CLOSED: usize = 32;

/// The facts about a request that found no connection.
#[derive(Default)]
pub struct Facts {
    /// CURLOPT_FRESH_CONNECT.
    pub fresh: bool,
    /// The request failed on an open connection before.
    pub repeated: bool,
    /// Files take turns on several connections, and one more is wanted.
    pub in_turns: bool,
    /// A connection of the right key was found and refused.
    pub refusal: Option<Refusal>,
    /// The last connection of that key was closed after its request.
    pub closed: Option<CloseReason>,
    /// Connections of that key in use.
    pub in_use: usize,
    /// The last connection of that key was closed to make room.
    pub eviction: Option<Eviction>,
    /// Terms in which other connections to this host and port differ, one list for each.
    pub others: Vec<Vec<Term>>,
    /// The application's functions make the sockets.
    pub own_sockets: bool,
}

impl Facts {
    /// Adds the facts about the pool's connections to the origin of a key.
    pub fn with_neighbours(mut self, wanted: &HashedKey, neighbours: &[Neighbour<HashedKey>]) -> Facts {
        for neighbour in neighbours {
            match neighbour.key == *wanted {
                // The slot of the new connection counts, too.
                true => self.in_use += neighbour.used.saturating_sub(1),
                false => self.others.push(between(wanted, &neighbour.key)),
            }
        }
        self
    }
}

/// Returns why no open connection serves a request. The first reason that holds counts.
pub fn reason(facts: &Facts) -> NewReason {
    let nearest = facts.others.iter().filter(|terms| !terms.is_empty()).min_by_key(|terms| terms.len());
    match (facts, nearest) {
        (Facts { in_turns: true, .. }, _) => NewReason::InTurns,
        (Facts { repeated: true, .. }, _) => NewReason::Repeated,
        (Facts { fresh: true, .. }, _) => NewReason::Forbidden(O::FreshConnect),
        (Facts { refusal: Some(why), .. }, _) if !is_of_broker(why) => NewReason::Refused(*why),
        (Facts { in_use: 1.., .. }, _) => NewReason::AllInUse { count: facts.in_use },
        (Facts { eviction: Some(why), .. }, _) => NewReason::Evicted(*why),
        (Facts { closed: Some(why), .. }, _) => NewReason::LastClosed(*why),
        (Facts { own_sockets: true, .. }, Some(_)) => NewReason::OwnSockets,
        (_, Some(terms)) => NewReason::Differs { terms: terms.clone(), others: facts.others.len() },
        // The broker is asked last, so its reason counts last.
        (Facts { refusal: Some(why), .. }, _) => NewReason::Refused(*why),
        _ => NewReason::NothingOpen,
    }
}

fn is_of_broker(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Broker(_))
}

/// The connections that were closed after their requests, by key, oldest first. Kept in a multi handle.
#[derive(Default)]
pub struct Closings(VecDeque<(HashedKey, CloseReason)>);

impl Closings {
    /// Records one.
    pub fn note(&mut self, key: HashedKey, why: CloseReason) {
        self.0.retain(|(known, _)| *known != key);
        if self.0.len() == MAX_CLOSED {
            self.0.pop_front();
        }
        self.0.push_back((key, why));
    }

    /// Returns why the last connection of a key was closed, if that is known.
    pub fn of(&self, key: &HashedKey) -> Option<CloseReason> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, why)| *why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::NoneFromBroker;
    use std::time::Duration;

    #[test]
    fn the_first_reason_that_holds_counts() {
        let verify = || vec![Term::Option(O::SslVerifyPeer)];
        let facts = Facts::default;
        let idle = Refusal::Idle(Duration::from_secs(200));
        let slow = Refusal::Broker(NoneFromBroker::Slow);
        let differs = NewReason::Differs { terms: verify(), others: 2 };
        let rows = [
            ("the first connection", facts(), NewReason::NothingOpen),
            (
                "the application forbids it",
                Facts { fresh: true, in_use: 2, ..facts() },
                NewReason::Forbidden(O::FreshConnect),
            ),
            (
                "a replay, whatever the options",
                Facts { repeated: true, fresh: true, ..facts() },
                NewReason::Repeated,
            ),
            (
                "files take turns",
                Facts { in_turns: true, repeated: true, in_use: 1, ..facts() },
                NewReason::InTurns,
            ),
            (
                "too old",
                Facts { refusal: Some(idle), closed: Some(CloseReason::Http10), ..facts() },
                NewReason::Refused(idle),
            ),
            ("the broker was slow", Facts { refusal: Some(slow), ..facts() }, NewReason::Refused(slow)),
            (
                "another reason than the broker's",
                Facts { refusal: Some(slow), in_use: 1, ..facts() },
                NewReason::AllInUse { count: 1 },
            ),
            (
                "in use",
                Facts { in_use: 3, others: vec![verify()], ..facts() },
                NewReason::AllInUse { count: 3 },
            ),
            (
                "closed by the server",
                Facts { closed: Some(CloseReason::PeerSaidClose), ..facts() },
                NewReason::LastClosed(CloseReason::PeerSaidClose),
            ),
            (
                "no room",
                Facts { eviction: Some(Eviction::Kept(5)), others: vec![verify()], ..facts() },
                NewReason::Evicted(Eviction::Kept(5)),
            ),
            (
                "the nearest of two",
                Facts { others: vec![[verify(), verify()].concat(), verify()], ..facts() },
                differs,
            ),
            (
                "own sockets",
                Facts { own_sockets: true, others: vec![verify()], ..facts() },
                NewReason::OwnSockets,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(reason(&facts), wanted, "{name}");
        }
    }
}
