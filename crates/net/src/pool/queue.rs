//! Who waits for a slot, and who is to be woken when there is one.
//!
//! All who wait for one host can go on, or none can: so hosts that have room are kept by the arrival of the first who
//! waits for each, and whoever has waited for longest of those who can go is found at the front, however many wait. One
//! free slot wakes one.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::task::Waker;

use super::state::{Inner, State};
use crate::identity::Key;

/// The queue of a bundle: who waits there, by the number that each drew.
pub(super) type Waiters = BTreeMap<u64, Waker>;

/// What is counted of an origin.
#[derive(Default)]
pub(super) struct Counts {
    /// Slots and leases.
    pub used: usize,
    /// Who waits for a slot at this origin, and in which bundle.
    line: BTreeMap<u64, usize>,
    /// The number under which it stands among those that have room.
    listed: Option<u64>,
}

/// The origins at which somebody waits and could go on, by the number of the first there.
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

impl State {
    /// Who is to be woken: the first who can go on now. The place in the queue is given up.
    pub(super) fn next_waker(&mut self) -> Option<Waker> {
        let room = !self.is_full() || self.table.idle_len() > 0;
        let (ticket, origin) = *self.queue.ready.first().filter(|_| room)?;
        let bundle = *self.table.origin(origin)?.line.get(&ticket)?;
        self.counters.wakes += 1;
        self.dequeue(bundle, ticket)
    }

    fn enqueue(&mut self, bundle: usize, ticket: u64, waker: Waker) {
        let Some(place) = self.table.bundle(bundle) else { return };
        let origin = place.origin;
        if place.live.insert(ticket, waker).is_none() {
            self.queue.waiting += 1;
        }
        if let Some(counts) = self.table.origin(origin) {
            counts.line.insert(ticket, bundle);
        }
        self.relist(bundle);
    }

    fn dequeue(&mut self, bundle: usize, ticket: u64) -> Option<Waker> {
        let place = self.table.bundle(bundle)?;
        let origin = place.origin;
        let waker = place.live.remove(&ticket)?;
        self.queue.waiting -= 1;
        self.table.origin(origin)?.line.remove(&ticket);
        self.relist(bundle);
        Some(waker)
    }

    /// Something has changed at the origin of that bundle: whether those who wait there could go on.
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

/// A place in the queue. Whoever leaves it, served or cancelled, lets the next one look.
pub(super) struct Place<'a> {
    pool: &'a Rc<Inner>,
    identity: &'a Key,
    /// The number that was drawn, and the bundle, which is held as long as somebody waits there.
    stands: Option<(u64, usize)>,
}

impl<'a> Place<'a> {
    pub fn new(pool: &'a Rc<Inner>, identity: &'a Key) -> Place<'a> {
        Place { pool, identity, stands: None }
    }

    /// Stands in line, at first at its end and from then on where it was.
    pub fn take(&mut self, waker: &Waker) {
        let mut state = self.pool.state.borrow_mut();
        let (ticket, bundle) = *self.stands.get_or_insert_with(|| {
            state.queue.tickets += 1;
            (state.queue.tickets, state.table.hold(self.identity))
        });
        state.enqueue(bundle, ticket, waker.clone());
    }

    pub fn leave(&mut self) {
        if let Some((ticket, bundle)) = self.stands.take() {
            let mut state = self.pool.state.borrow_mut();
            state.dequeue(bundle, ticket);
            state.table.let_go(bundle);
            drop(state);
            self.pool.wake_next();
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}
