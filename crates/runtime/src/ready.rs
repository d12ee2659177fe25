//! The part of a runtime that other threads use: the queue of woken tasks and the wake-up descriptor.
//!
//! The descriptor is created when first needed and owned here, behind the `Arc` that every waker holds: a
//! waker that outlives its runtime writes into a descriptor that still exists. It is written only if somebody
//! sleeps on it: the runtime in `wait`, or an application's own event loop while a wake guard is held.
//!
//! tests/interleavings.rs compiles this file once more, with locks and atomics whose order of steps is
//! decided by a seed.

use std::collections::VecDeque;
use std::io;
use std::task::Wake;
use std::time::Duration;

use rustix::fd::{AsRawFd, RawFd};

use crate::executor::TaskId;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use crate::sync::{Arc, Mutex, MutexGuard, PoisonError};
use crate::sys::eventfd::{self, EventFd};

#[derive(Default)]
pub(crate) struct Ready {
    queue: Mutex<VecDeque<TaskId>>,
    /// The owner is in `wait`, or about to be.
    sleeping: AtomicBool,
    /// Number of runs, and of guarded turns around them, in progress: each will check the queue again.
    turns: AtomicUsize,
    /// How many wake guards are held: an application's loop may be watching the descriptor.
    watchers: AtomicUsize,
    /// The descriptor has been written and not yet drained.
    kicked: AtomicBool,
    /// `wakeup` was called and no interruptible wait has returned since.
    woken: AtomicBool,
    descriptor: Mutex<Option<Arc<EventFd>>>,
}

impl Ready {
    /// Queues a task and ends the sleep, if there is one.
    pub(crate) fn push(&self, id: TaskId) {
        lock(&self.queue).push_back(id);
        if self.somebody_sleeps() {
            self.kick();
        }
    }

    pub(crate) fn take_all(&self, into: &mut VecDeque<TaskId>) {
        let mut queue = lock(&self.queue);
        if queue.is_empty() {
            return;
        }
        if into.is_empty() {
            std::mem::swap(into, &mut queue);
        } else {
            into.append(&mut queue);
        }
    }

    /// Removes a dropped task. Tasks end roughly in the order in which they were queued, so it is found near
    /// the front.
    pub(crate) fn forget(&self, id: TaskId) {
        let mut queue = lock(&self.queue);
        let at = queue.iter().position(|queued| *queued == id);
        at.and_then(|at| queue.remove(at));
    }

    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.queue).is_empty()
    }

    /// Ends the present or next interruptible wait; from any thread.
    pub(crate) fn wakeup(&self) {
        self.woken.store(true, SeqCst);
        if self.somebody_sleeps() {
            self.kick();
        }
    }

    /// Whether nothing is queued, and nobody sleeps, runs or watches.
    pub(crate) fn is_unused(&self) -> bool {
        let counts = self.turns.load(SeqCst) + self.watchers.load(SeqCst);
        self.is_empty() && counts == 0 && !self.woken() && !self.sleeping.load(SeqCst)
    }

    pub(crate) fn woken(&self) -> bool {
        self.woken.load(SeqCst)
    }

    pub(crate) fn take_woken(&self) -> bool {
        self.woken.swap(false, SeqCst)
    }

    /// Calls `wait` with this duration, or zero if there is work. The state "asleep" is stored before the
    /// queue and `may_wake` are checked: a thread that queues a task after the check sees it and kicks.
    pub(crate) fn asleep<T>(&self, max: Duration, may_wake: bool, wait: impl FnOnce(Duration) -> T) -> T {
        self.sleeping.store(!max.is_zero(), SeqCst);
        let called = may_wake && self.woken();
        let slept = wait(if self.is_empty() && !called { max } else { Duration::ZERO });
        self.awake();
        self.drain();
        slept
    }

    /// The wait is over: waking a task from here on must not write the descriptor.
    pub(crate) fn awake(&self) {
        self.sleeping.store(false, SeqCst);
    }

    pub(crate) fn begin_turn(&self) {
        self.turns.fetch_add(1, SeqCst);
    }

    /// Leaving the last turn with tasks still queued while an application's loop watches the descriptor: it
    /// must come back.
    pub(crate) fn end_turn(&self) {
        let is_last = self.turns.fetch_sub(1, SeqCst) == 1;
        if is_last && self.watchers.load(SeqCst) > 0 && !self.is_empty() {
            self.kick();
        }
    }

    pub(crate) fn watchers(&self) -> usize {
        self.watchers.load(SeqCst)
    }

    pub(crate) fn watch(&self) {
        self.watchers.fetch_add(1, SeqCst);
        // On failure the descriptor is absent: waits are then bounded only by the caller's timeout.
        let _ = self.descriptor();
    }

    pub(crate) fn unwatch(&self) {
        self.watchers.fetch_sub(1, SeqCst);
    }

    /// The wake-up descriptor, made when missing.
    pub(crate) fn descriptor(&self) -> io::Result<Arc<EventFd>> {
        let mut slot = lock(&self.descriptor);
        if let Some(fd) = &*slot {
            return Ok(fd.clone());
        }
        let fd = Arc::new(eventfd::create()?);
        *slot = Some(fd.clone());
        drop(slot);
        // A wake-up from before the descriptor existed must not be lost on a loop that watches it. Who runs
        // looks again.
        if self.woken() || self.turns.load(SeqCst) == 0 && !self.is_empty() {
            self.kick();
        }
        Ok(fd)
    }

    pub(crate) fn descriptor_if_made(&self) -> Option<Arc<EventFd>> {
        lock(&self.descriptor).clone()
    }

    pub(crate) fn raw_descriptor(&self) -> Option<RawFd> {
        lock(&self.descriptor).as_ref().map(|fd| fd.as_raw_fd())
    }

    /// Empties the descriptor. The order matters: a thread that saw `kicked` set had queued its task before,
    /// and the caller checks the queue after this. Returns whether it had been written.
    pub(crate) fn drain(&self) -> bool {
        if !self.kicked.load(SeqCst) {
            return false;
        }
        let slot = lock(&self.descriptor);
        if let Some(fd) = &*slot {
            eventfd::drain(fd);
        }
        self.kicked.store(false, SeqCst);
        true
    }

    /// Forgets the descriptor after a fork: it is shared with the parent, whose wake-ups are not ours.
    pub(crate) fn forget_descriptor(&self) {
        let mut slot = lock(&self.descriptor);
        *slot = None;
        self.kicked.store(false, SeqCst);
    }

    fn somebody_sleeps(&self) -> bool {
        self.sleeping.load(SeqCst) || self.watchers.load(SeqCst) > 0 && self.turns.load(SeqCst) == 0
    }

    /// `kicked` matches the descriptor's state only because both change under its lock. If it were drained
    /// between the two, it would stay readable without being marked: nobody would drain it, and a loop that
    /// watches it would spin.
    fn kick(&self) {
        let slot = lock(&self.descriptor);
        if let Some(fd) = &*slot
            && !self.kicked.swap(true, SeqCst)
        {
            eventfd::write(fd);
        }
    }
}

/// Wakes one task. It stays valid forever, and does nothing once the task is gone.
pub(crate) struct TaskWaker {
    pub(crate) id: TaskId,
    pub(crate) queued: AtomicBool,
    pub(crate) ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, SeqCst) {
            self.ready.push(self.id);
        }
    }
}

/// Locks and ignores poison: the tables stay consistent at every point where a foreign panic could strike.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
