//! Checks whether the name of an open connection's host still leads to the connection's address, before a
//! request uses the connection. One whose name has moved is left: it takes no further requests.
//!
//! The check is due when the answer that named the address is stale. Until then a request compares two times.

use std::future::Future;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use net::connect::RaceEvent;
use net::resolver::{Candidates, Family, QuestionAnswer};
use net::{AcquireRequest, Granted, Refusal};
use tables::LockData;

use super::Connector;
use super::route::plan::Plan;
use crate::error::Result;
use crate::process_pool;
use crate::settings::process_follows_names;

/// How long a request waits for a look-up of the name of a connection that is open already.
const PATIENCE: Duration = Duration::from_millis(250);

/// Time until the next check after one without an answer.
const AFTER_SILENCE: Duration = Duration::from_secs(10);

/// The answer of a look-up that checks open connections. It serves all that one request finds.
#[derive(Default)]
pub(super) struct NameAnswer {
    addresses: Vec<IpAddr>,
    /// The queries for IPv4 and for IPv6 were answered.
    is_answered: [bool; 2],
}

impl NameAnswer {
    /// Returns whether the name has moved away from the peer of an open connection, in its canonical form. A
    /// name without any address has not: there is nowhere else to go. Without an answer about the peer's
    /// family nothing is known.
    fn has_moved_from(&self, peer: IpAddr) -> bool {
        let is_answered = self.is_answered[usize::from(peer.is_ipv6())];
        is_answered && !self.addresses.is_empty() && !self.addresses.contains(&peer)
    }

    fn add(&mut self, answered: &QuestionAnswer) {
        self.addresses.extend(answered.candidates.iter().map(|one| one.address.ip().to_canonical()));
    }
}

impl Connector {
    /// Returns whether the name of a connection's host has to be looked up before a request uses it.
    pub(super) fn is_name_check_due(&self, lease: &Granted, now: Instant) -> bool {
        lease.about().is_address_stale(now) && self.follows_names()
    }

    /// Returns whether connections whose names have moved are left: by default where a pool outlives the
    /// handle.
    fn follows_names(&self) -> bool {
        let own = self.easy.settings.borrow().choices().follow_names;
        let by_default = || self.multi.pool_kind() != process_pool::Pool::Off && !self.easy.inner.get();
        own.or_else(process_follows_names).unwrap_or_else(by_default)
    }

    /// Returns the lease of a connection that was found, unless its host's name has moved: then the
    /// connection is closed, or takes no further streams. `answer` is kept for the next one that is found.
    pub(super) async fn unless_moved(
        &self,
        plan: &Plan,
        wish: &AcquireRequest<'_>,
        lease: Granted,
        answer: &mut Option<NameAnswer>,
        deadline: Instant,
    ) -> Result<Option<Granted>> {
        let Some(peer) = lease.about().endpoints.remote.map(|peer| peer.ip().to_canonical()) else {
            return Ok(Some(lease));
        };
        if answer.is_none() && self.is_name_check_due(&lease, self.now()) {
            let (found, until) = self.look_up_again(plan, peer, deadline).await?;
            lease.about().address_fresh_until.set(until);
            *answer = Some(found);
        }
        if !answer.as_ref().is_some_and(|answer| answer.has_moved_from(peer)) {
            return Ok(Some(lease));
        }
        self.easy.note(|| {
            let (host, id) = (plan.first_hop().0, lease.about().id);
            format!("{host} does not resolve to {peer} any more: leaving connection #{id}")
        });
        self.locked(LockData::Connect, || lease.retire());
        wish.refuse(Refusal::Moved(peer));
        Ok(None)
    }

    /// Looks up the name of the route's first host until the peer's address is found, all queries are
    /// answered, or the patience ends. Returns the answer, and when the name has to be looked up again.
    async fn look_up_again(
        &self,
        plan: &Plan,
        peer: IpAddr,
        deadline: Instant,
    ) -> Result<(NameAnswer, Option<Instant>)> {
        let (host, port) = plan.first_hop();
        let (started, mut answer) = (self.now(), NameAnswer::default());
        let mut names = self.candidates(plan, host, port, &plan.resolve)?;
        let patience = deadline.min(started + PATIENCE);
        let mut patience = pin!(self.multi.runtime.reactor().sleep_until(patience));
        poll_fn(|cx| {
            while let Poll::Ready(answered) = names.poll_next(cx) {
                let Some(answered) = answered else { return Poll::Ready(()) };
                self.explain_race(host, plan, started, &RaceEvent::Answered(&answered));
                answer.add(&answered);
                if answer.addresses.contains(&peer) {
                    return Poll::Ready(());
                }
            }
            patience.as_mut().poll(cx)
        })
        .await;
        drop(self.easy.published.take()); // nobody shakes hands
        answer.is_answered = [Family::V4, Family::V6].map(|family| names.has_answered(family));
        let until = names.fresh_until().or_else(|| retry_at(&names, self.now()));
        Ok((answer, until))
    }
}

/// Returns when a look-up without an address is repeated; `None` if the addresses were given.
fn retry_at(names: &Candidates, now: Instant) -> Option<Instant> {
    names.received().is_empty().then(|| now + AFTER_SILENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_moved_if_its_answer_lacks_the_peer() {
        let both = [true, true];
        let rows: [(&str, &[&str], [bool; 2], &str, bool); 9] = [
            ("still there", &["10.0.0.1"], both, "10.0.0.1", false),
            ("one of several", &["10.0.0.2", "10.0.0.1", "fd00::1"], both, "10.0.0.1", false),
            ("elsewhere", &["10.0.0.2"], both, "10.0.0.1", true),
            ("to the other family", &["fd00::1"], both, "10.0.0.1", true),
            ("no address at all", &[], both, "10.0.0.1", false),
            ("no answer", &[], [false, false], "10.0.0.1", false),
            ("no answer about the family", &["fd00::1"], [false, true], "10.0.0.1", false),
            ("the other family has failed", &["10.0.0.2"], [true, false], "10.0.0.1", true),
            ("elsewhere by IPv6", &["fd00::2"], [false, true], "fd00::1", true),
        ];
        for (name, addresses, is_answered, peer, wanted) in rows {
            let addresses = addresses.iter().map(|ip| ip.parse().unwrap()).collect();
            let answer = NameAnswer { addresses, is_answered };
            assert_eq!(answer.has_moved_from(peer.parse().unwrap()), wanted, "{name}");
        }
    }
}
