//! The end of a multi handle, and the reuse of a private one. A private multi handle that has lost its easy
//! handle serves the next one: its executor, reactor, pool and buffers are a third of the cost of a handle
//! that makes one small request.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use net::{Pool, ResolveCache, SessionStore};
use runtime::cell::RefCell;

use super::turns::Turns;
use super::{Limits, Multi, MultiState};
use crate::process_pool;

impl Multi {
    /// curl_multi_cleanup: removes handles still inside; connections go to the process pool or are closed.
    pub fn close(&self) {
        self.wind_up();
        self.0.buffers.forget();
    }

    /// Closes a handle whose buffers may have another user.
    fn wind_up(&self) {
        *self.0.timer.borrow_mut() = None;
        if self.any_member().is_some() {
            for easy in self.members() {
                self.remove(&easy);
            }
        }
        if !self.0.runtime.is_idle() {
            // Sessions that have lost their last stream park, so that others may go on with them.
            let _ = self.0.runtime.run();
            self.0.runtime.drain();
        }
        self.0.pool.give_up();
        self.0.shared_pools.borrow().iter().for_each(|(_, pool)| pool.give_up());
        self.0.for_names.take().iter().for_each(Pool::close_all);
        let reactor = self.0.runtime.reactor();
        reactor.set_hook(None);
        // Frees large buffers and descriptors: a transfer that was jumped out of holds a reference forever.
        reactor.end();
        drop(self.0.shared_pools.take());
    }

    /// Closes a private multi handle and makes it as new, but for its storage. Returns `None` if anything
    /// refers to it still, or is left of its transfers.
    pub(crate) fn close_for_another(mut self) -> Option<Multi> {
        self.wind_up();
        if Rc::get_mut(&mut self.0).is_some_and(MultiState::renew) {
            return Some(self);
        }
        self.0.buffers.forget();
        None
    }

    /// Searches the pool that the process uses now, as a new multi handle does.
    pub(crate) fn find_process_pool(&self) {
        let behind = process_pool::in_use(process_pool::kind(), self.0.runs.decode_memory);
        self.0.pool.set_behind(behind);
    }
}

impl MultiState {
    fn renew(&mut self) -> bool {
        // Every field is named here: a new one must not carry something of one easy handle to another.
        let MultiState {
            runtime,
            runs: _,
            pool,
            for_names,
            shared_pools,
            keeps,
            pool_kind,
            resolved,
            preferred_addresses,
            sessions,
            limits,
            streams,
            recording,
            memories,
            public: _,
            for_easy,
            buffers,
            members,
            running,
            messages,
            timer,
            reported,
            has_event_loop,
            stopped,
            completed,
            turns,
        } = self;
        let left = running.get() > 0 || !members.get_mut().is_empty() || !messages.get_mut().is_empty();
        // A recording is chosen when a handle is created, and stays.
        if left || !*for_easy || recording.get().is_some() || !pool.renew() || !runtime.renew() {
            return false;
        }
        drop(for_names.take());
        drop(shared_pools.take());
        [keeps, has_event_loop, stopped].into_iter().for_each(|switch| switch.set(false));
        pool_kind.set(None);
        // A thread that looks names up may put an answer there later.
        match Arc::get_mut(resolved) {
            Some(names) => names.clear(),
            None => *resolved = Arc::<ResolveCache>::default(),
        }
        drop(preferred_addresses.take());
        if !sessions.is_unused() {
            *sessions = SessionStore::new();
        }
        limits.set(Limits::default());
        streams.renew();
        *recording = OnceCell::new();
        memories.clear();
        buffers.renew();
        *timer = RefCell::default();
        reported.set(None);
        *completed = RefCell::default();
        *turns = Turns::default();
        true
    }
}
