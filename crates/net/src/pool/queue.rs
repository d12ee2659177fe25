//! The waiters for a slot, and whom to wake when there is one.
//!
//! All waiters of one host can continue, or none can. So hosts with room are ordered by the arrival of their
//! first waiter, and the oldest waiter that can continue is found at the front, however many wait. One free
//! slot wakes one.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::task::Waker;

use super::pooled::{Pooled, Session};
use super::request::AcquireRequest;
use super::state::{Inner, OpenResult, State};

/// Maximum number of connections to one host that are opened at once while others wait for the result: a
/// short transfer makes room sooner than a third connection would, and servers accept few that have not
/// logged in (OpenSSH's MaxStartups).
const MAX_OPENING: usize = 2;

/// The key of the connections on which sessions of a kind run.
pub(super) type KeyOf<S> = <<S as Session>::Connection as Pooled>::Key;

/// Sessions, openings and waiting requests of a bundle.
pub(super) struct Live<S: ?Sized> {
    /// By the numbers of their connections.
    pub sessions: Vec<(u64, Rc<S>)>,
    /// Connections that are being opened.
    pub opening: usize,
    /// Whether the last connection opened serves one transfer at a time: then nobody waits for a session.
    for_one: bool,
    /// The waiters, by the number that each drew.
    waiting: BTreeMap<u64, Waiter>,
}

struct Waiter {
    waker: Waker,
    /// Whether it waits for a slot, or else for the result of a connection being opened.
    for_slot: bool,
    /// See [`AcquireRequest::patience`].
    patience: usize,
}

impl<S: ?Sized> Default for Live<S> {
    fn default() -> Self {
        Live { sessions: Vec::new(), opening: 0, for_one: false, waiting: BTreeMap::new() }
    }
}

impl<S: ?Sized> Live<S> {
    /// The waiters for the result of a connection being opened.
    fn patient(&self) -> impl Iterator<Item = (u64, &Waiter)> {
        self.waiting.iter().filter(|(_, waiter)| !waiter.for_slot).map(|(ticket, waiter)| (*ticket, waiter))
    }

    /// Returns whether a waiter with that many before it should wait for the connection being opened.
    fn expects(&self, before: usize, patience: usize) -> bool {
        let few = before < self.opening.saturating_mul(patience);
        self.opening > 0 && !self.for_one && patience > 0 && (few || self.opening >= MAX_OPENING)
    }
}

/// Counts of an origin.
#[derive(Default)]
pub(super) struct Counts {
    /// Slots and leases.
    pub used: usize,
    /// The waiters for a slot at this origin, with their bundles.
    line: BTreeMap<u64, usize>,
    /// The number under which it is listed among those with room.
    listed: Option<u64>,
}

/// The origins with a waiter that can continue, by the number of their first waiter.
#[derive(Default)]
pub(super) struct Queue {
    ready: BTreeSet<(u64, usize)>,
    tickets: u64,
    waiting: usize,
}

impl Queue {
    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting
    }
}

impl<S: Session + ?Sized> State<S> {
    /// Returns the waker of the first waiter that can continue, and removes the waiter from the queue.
    pub(super) fn next_waker(&mut self) -> Option<Waker> {
        let room = !self.is_full() || self.table.idle_len() > 0;
        let (ticket, origin) = *self.queue.ready.first().filter(|_| room)?;
        let bundle = *self.table.origin(origin)?.line.get(&ticket)?;
        self.counters.wakes += 1;
        self.dequeue(bundle, ticket)
    }

    /// Returns whether a request waits for a connection being opened. A queued request counts those before
    /// it.
    pub(super) fn expects_session(
        &mut self,
        wish: AcquireRequest<'_, KeyOf<S>>,
        ticket: Option<u64>,
    ) -> bool {
        if !wish.streams || wish.fresh {
            return false;
        }
        let bundle = self.table.find(wish.key).and_then(|at| self.table.bundle(at));
        bundle.is_some_and(|bundle| {
            let before = bundle.live.patient().take_while(|(other, _)| ticket.is_none_or(|own| *other < own));
            bundle.live.expects(before.count(), wish.patience)
        })
    }

    /// A session as wished for that has room.
    pub(super) fn find_session(&mut self, wish: AcquireRequest<'_, KeyOf<S>>) -> Option<Rc<S>> {
        if !wish.streams {
            return None;
        }
        let at = self.table.find(wish.key)?;
        let sessions = &self.table.bundle(at)?.live.sessions;
        let fits = |session: &Rc<S>| session.vacancies() > 0 && wish.admits(session.is_by_quic());
        sessions.iter().find(|(_, session)| fits(session)).map(|(_, session)| session.clone())
    }

    pub(super) fn remove_session(&mut self, bundle: usize, id: u64) -> Option<Rc<S>> {
        let sessions = &mut self.table.bundle(bundle)?.live.sessions;
        let at = sessions.iter().position(|(number, _)| *number == id)?;
        Some(sessions.swap_remove(at).1)
    }

    /// All sessions that run.
    pub(super) fn sessions(&mut self) -> Vec<Rc<S>> {
        let all = self.table.bundles().flat_map(|(_, bundle)| bundle.live.sessions.iter());
        all.map(|(_, session)| session.clone()).collect()
    }

    /// All sessions, which the pool forgets.
    pub(super) fn take_sessions(&mut self) -> Vec<Rc<S>> {
        let all = self.table.bundles().flat_map(|(_, bundle)| bundle.live.sessions.drain(..));
        all.map(|(_, session)| session).collect()
    }

    /// Handles the result of opening a connection; returns whom to wake. A session reports its streams
    /// itself; without one, one of the waiters opens the next connection.
    pub(super) fn opened(&mut self, bundle: usize, opened: OpenResult) -> Vec<Waker> {
        let Some(place) = self.table.bundle(bundle) else { return Vec::new() };
        let live = &mut place.live;
        live.opening = live.opening.saturating_sub(1);
        let count = match opened {
            OpenResult::ForOne => usize::MAX,
            OpenResult::ForMany => 0,
            OpenResult::Nothing => 1,
        };
        live.for_one = opened == OpenResult::ForOne || live.for_one && opened == OpenResult::Nothing;
        let tickets: Vec<u64> = live.patient().map(|(ticket, _)| ticket).take(count).collect();
        tickets.into_iter().filter_map(|ticket| self.dequeue(bundle, ticket)).collect()
    }

    /// Returns the first waiter of a bundle, if a session there has room for one more; or else the first one
    /// beyond the streams of the connections being opened, so that it opens another.
    pub(super) fn next_for_stream(&mut self, bundle: usize) -> Option<Waker> {
        let live = &self.table.bundle(bundle)?.live;
        let room = live.sessions.iter().any(|(_, session)| session.vacancies() > 0);
        let too_many = |(at, (_, waiter)): &(usize, (u64, &Waiter))| !live.expects(*at, waiter.patience);
        let ticket = match room {
            true => *live.waiting.first_key_value()?.0,
            false => live.patient().enumerate().find(too_many)?.1.0,
        };
        self.counters.wakes += 1;
        self.dequeue(bundle, ticket)
    }

    fn enqueue(&mut self, bundle: usize, ticket: u64, waiter: Waiter) {
        let Some(place) = self.table.bundle(bundle) else { return };
        let origin = place.origin;
        let for_slot = waiter.for_slot;
        if place.live.waiting.insert(ticket, waiter).is_none() {
            self.queue.waiting += 1;
        }
        if let Some(counts) = self.table.origin(origin).filter(|_| for_slot) {
            counts.line.insert(ticket, bundle);
        }
        self.relist(bundle);
    }

    fn dequeue(&mut self, bundle: usize, ticket: u64) -> Option<Waker> {
        let place = self.table.bundle(bundle)?;
        let origin = place.origin;
        let waiter = place.live.waiting.remove(&ticket)?;
        self.queue.waiting -= 1;
        self.table.origin(origin)?.line.remove(&ticket);
        self.relist(bundle);
        Some(waiter.waker)
    }

    /// Updates whether the waiters at the origin of that bundle can continue.
    pub(super) fn relist(&mut self, bundle: usize) {
        if let Some(origin) = self.table.bundle(bundle).map(|b| b.origin) {
            self.relist_origin(origin);
        }
    }

    /// Something has changed for all.
    pub(super) fn relist_all(&mut self) {
        let origins: Vec<usize> = self.table.origins().map(|(at, _)| at).collect();
        origins.into_iter().for_each(|origin| self.relist_origin(origin));
    }

    pub(super) fn relist_origin(&mut self, origin: usize) {
        let room = !self.host_is_full(origin) || self.table.idle_of(origin) > 0;
        let Some(counts) = self.table.origin(origin) else { return };
        let first = counts.line.first_key_value().map(|(ticket, _)| *ticket).filter(|_| room);
        if first == counts.listed {
            return;
        }
        let before = std::mem::replace(&mut counts.listed, first);
        before.map(|ticket| self.queue.ready.remove(&(ticket, origin)));
        first.map(|ticket| self.queue.ready.insert((ticket, origin)));
    }
}

/// A place in the queue. Leaving it, served or cancelled, wakes the next waiter.
pub(super) struct QueuePlace<'a, S: Session + ?Sized> {
    pool: &'a Rc<Inner<S>>,
    wish: AcquireRequest<'a, KeyOf<S>>,
    /// The number drawn, and the bundle, which is referenced as long as somebody waits there.
    stands: Option<(u64, usize)>,
}

impl<'a, S: Session + ?Sized> QueuePlace<'a, S> {
    pub fn new(pool: &'a Rc<Inner<S>>, wish: AcquireRequest<'a, KeyOf<S>>) -> Self {
        QueuePlace { pool, wish, stands: None }
    }

    /// The number that was drawn.
    pub fn ticket(&self) -> Option<u64> {
        self.stands.map(|(ticket, _)| ticket)
    }

    /// Queues: first at the end, and from then on at the same place.
    pub fn take(&mut self, waker: &Waker) {
        let mut state = self.pool.state();
        let (ticket, bundle) = *self.stands.get_or_insert_with(|| {
            state.queue.tickets += 1;
            (state.queue.tickets, state.table.hold(self.wish.key))
        });
        let for_slot = !state.expects_session(self.wish, Some(ticket));
        let patience = self.wish.patience;
        state.enqueue(bundle, ticket, Waiter { waker: waker.clone(), for_slot, patience });
    }

    pub fn leave(&mut self) {
        if let Some((ticket, bundle)) = self.stands.take() {
            let mut state = self.pool.state();
            state.dequeue(bundle, ticket);
            let next = state.next_for_stream(bundle);
            state.table.let_go(bundle);
            drop(state);
            next.into_iter().for_each(Waker::wake);
            self.pool.wake_next();
        }
    }
}

impl<S: Session + ?Sized> Drop for QueuePlace<'_, S> {
    fn drop(&mut self) {
        self.leave();
    }
}
