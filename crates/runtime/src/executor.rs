//! The executor of one multi handle: a slab of tasks, and bounded rounds of polling the woken ones.
//!
//! Tasks may spawn, wake and cancel tasks, including themselves, and code that they call may try to run the
//! executor again (refused). No borrow is held while a task is polled: the application's callbacks run
//! inside.
//!
//! A caller that waits for a single future keeps it on its own stack and runs it beside the tasks
//! ([`Runtime::run_with`]). It is woken like a task, without a slot, an allocation or a waker of its own.

use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::cell::RefCell;

use slab::Slab;

use crate::clock::Clock;
use crate::reactor::Reactor;
use crate::ready::TaskWaker;
use crate::wait::ExtraFd;

type LocalFuture = Pin<Box<dyn Future<Output = ()>>>;

/// Rounds per run: the caller regains control even if tasks keep waking each other.
const ROUNDS: usize = 64;
/// Rounds of dropping in `drain`: a future's drop may spawn.
const DRAIN_ROUNDS: usize = 64;

/// The executor of one multi handle. Clones are the same executor.
#[derive(Clone)]
pub struct Runtime(Rc<Inner>);

/// Names a task for ever: a later task in the same slot has another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskId {
    slot: usize,
    generation: u64,
}

/// The executor is running already; it was called from inside a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recursive;

struct Inner {
    // First, so that it is dropped before the reactor it registers with.
    tasks: RefCell<Slab<Task>>,
    /// Wakes the caller's future; created when first needed.
    root: OnceCell<(Arc<TaskWaker>, Waker)>,
    reactor: Arc<Reactor>,
    /// Tasks that the current round has yet to poll; stored here, so that nothing is lost when a task panics.
    batch: RefCell<VecDeque<TaskId>>,
    /// Tasks that yielded until the next run.
    later: RefCell<Vec<Waker>>,
    generation: Cell<u64>,
    running: Cell<bool>,
    /// The task that is being polled.
    polled: Cell<Option<TaskId>>,
    /// The task whose poll panicked or threw last.
    thrown: Cell<Option<TaskId>>,
    harvested: Cell<bool>,
}

struct Task {
    generation: u64,
    /// The future and its waker; absent while it is polled.
    future: Option<(LocalFuture, Waker)>,
    handle: Arc<TaskWaker>,
}

impl TaskId {
    /// The caller's future. No task has this slot.
    pub const ROOT: TaskId = TaskId { slot: usize::MAX, generation: 0 };
}

impl Runtime {
    /// Creates an executor without tasks.
    pub fn new(clock: Clock) -> Runtime {
        Runtime(Rc::new(Inner {
            tasks: RefCell::default(),
            root: OnceCell::new(),
            reactor: Reactor::new(clock),
            batch: RefCell::default(),
            later: RefCell::default(),
            generation: Cell::new(0),
            running: Cell::new(false),
            polled: Cell::new(None),
            thrown: Cell::new(None),
            harvested: Cell::new(false),
        }))
    }

    /// The table of waits.
    pub fn reactor(&self) -> &Arc<Reactor> {
        &self.0.reactor
    }

    /// Adds a task; it is polled in the next round.
    pub fn spawn(&self, future: LocalFuture) -> TaskId {
        let mut tasks = self.0.tasks.borrow_mut();
        let vacant = tasks.vacant_entry();
        let generation = self.0.generation.get() + 1;
        self.0.generation.set(generation);
        let id = TaskId { slot: vacant.key(), generation };
        let (handle, waker) = self.waker(id);
        vacant.insert(Task { generation, future: Some((future, waker)), handle });
        drop(tasks);
        self.0.reactor.ready.push(id);
        id
    }

    /// Polls the caller's future in the next round, whether it was woken or not.
    pub fn start_root(&self) {
        let (handle, _) = self.0.root.get_or_init(|| self.waker(TaskId::ROOT));
        handle.queued.store(true, SeqCst);
        self.0.reactor.ready.push(TaskId::ROOT);
    }

    /// Drops a task's future: now, or, when that task is being polled, as soon as its poll returns.
    pub fn cancel(&self, id: TaskId) {
        let task = self.remove(id);
        if task.as_ref().is_some_and(|task| task.handle.queued.load(SeqCst)) {
            self.0.reactor.ready.forget(id); // or an event loop would be woken for nothing
        }
        drop(task); // outside the borrow: the future's drop may call us
    }

    /// Polls the task in the next round.
    pub fn wake(&self, id: TaskId) {
        let handle = match id {
            TaskId::ROOT => self.0.root.get().map(|(handle, _)| handle.clone()),
            id => self.with_task(id, |task| task.handle.clone()),
        };
        handle.into_iter().for_each(Wake::wake);
    }

    /// Polls every task in the next round.
    fn wake_all(&self) {
        let tasks = self.0.tasks.borrow();
        let handles: Vec<_> = tasks.iter().map(|(_, task)| task.handle.clone()).collect();
        drop(tasks);
        let root = self.0.root.get().map(|(handle, _)| handle.clone());
        handles.into_iter().chain(root).for_each(Wake::wake);
    }

    /// Wakes a task after the current run. A task with much work thus returns control to the caller and lets
    /// events be processed before it continues; waking it at once would only start the next round of the same
    /// run.
    pub fn wake_later(&self, waker: Waker) {
        self.0.later.borrow_mut().push(waker);
    }

    /// Returns whether the task has neither finished nor been cancelled.
    pub fn is_alive(&self, id: TaskId) -> bool {
        self.with_task(id, |_| ()).is_some()
    }

    /// How many tasks there are.
    pub fn tasks(&self) -> usize {
        self.0.tasks.borrow().len()
    }

    /// Returns whether there is no task, and nothing was woken.
    pub fn is_idle(&self) -> bool {
        self.tasks() == 0 && self.0.reactor.ready.is_empty()
    }

    /// Whether a run is under way.
    pub fn running(&self) -> bool {
        self.0.running.get()
    }

    /// Fires due timers and polls woken tasks, in a bounded number of rounds.
    pub fn run(&self) -> Result<(), Recursive> {
        self.run_with(pin!(std::future::pending::<()>())).map(drop)
    }

    /// Like [`Runtime::run`], beside a future of the caller's that was [started](Self::start_root). Returns
    /// its output, if it has completed.
    pub fn run_with<T>(&self, mut root: Pin<&mut impl Future<Output = T>>) -> Result<Poll<T>, Recursive> {
        let _running = Running::start(self)?;
        let mut ended = Poll::Pending;
        self.0.reactor.fire_timers();
        for _ in 0..ROUNDS {
            self.0.reactor.ready.take_all(&mut self.0.batch.borrow_mut());
            if self.0.batch.borrow().is_empty() {
                break;
            }
            while let Some(id) = self.next_in_batch() {
                match id {
                    TaskId::ROOT if ended.is_pending() => ended = self.poll_root(root.as_mut()),
                    TaskId::ROOT => {}
                    id => self.poll_task(id),
                }
            }
        }
        Ok(ended)
    }

    /// Takes the events that have happened, unless `wait` just did, then runs.
    pub fn perform(&self) -> Result<(), Recursive> {
        if self.running() {
            return Err(Recursive);
        }
        if !self.0.harvested.replace(false) {
            // On failure (no memory, no descriptors) the tasks keep waiting; their timers still run.
            let _ = self.0.reactor.harvest();
        }
        self.run()
    }

    /// Waits for events, at most until the next timer; not at all if tasks are ready. Returns how many
    /// descriptors are ready, ours and `extra`. [`Reactor::wakeup`] ends the wait only with `may_wake`. A
    /// signal ends it, too, and then every task is polled: an interrupted program should check its state.
    pub fn wait(&self, extra: &mut [ExtraFd<'_>], max: Duration, may_wake: bool) -> io::Result<usize> {
        let ready = match self.0.reactor.wait(extra, max, may_wake) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {
                self.wake_all();
                0
            }
            ready => ready?,
        };
        self.0.harvested.set(true);
        Ok(ready)
    }

    /// Drops every task. One that is being polled is dropped when its poll returns.
    pub fn drain(&self) {
        for _ in 0..DRAIN_ROUNDS {
            let tasks = std::mem::take(&mut *self.0.tasks.borrow_mut());
            if tasks.is_empty() {
                return;
            }
            drop(tasks);
        }
    }

    /// Makes the executor as new, and keeps its storage and that of its reactor for another user. Returns
    /// false, and changes nothing, if anything of an earlier use is left.
    pub fn renew(&self) -> bool {
        let Inner {
            tasks,
            root: _,
            reactor,
            batch,
            later,
            generation: _,
            running,
            polled,
            thrown,
            harvested,
        } = &*self.0;
        let idle = !running.get() && polled.get().is_none() && thrown.get().is_none();
        let empty = tasks.borrow().is_empty() && batch.borrow().is_empty() && later.borrow().is_empty();
        let renewed = idle && empty && Rc::strong_count(&self.0) == 1 && reactor.renew();
        if renewed {
            harvested.set(false);
        }
        renewed
    }

    /// Abandons a run that never returned because the application jumped out of a callback over our frames.
    /// Returns the task that was being polled. Its future is leaked: it was in the middle of a step, and only
    /// that step knew what it owned.
    pub fn abandon_run(&self) -> Option<TaskId> {
        self.end_run();
        let lost = self.0.polled.take()?;
        drop(self.remove(lost));
        Some(lost)
    }

    /// Returns the task that panicked, or that an exception of the application came out of, since the last
    /// call. It no longer exists.
    pub fn take_thrown(&self) -> Option<TaskId> {
        self.0.thrown.take()
    }

    fn end_run(&self) {
        self.0.later.take().into_iter().for_each(Waker::wake);
        if self.0.running.replace(false) {
            self.0.reactor.ready.end_turn();
        }
    }

    fn next_in_batch(&self) -> Option<TaskId> {
        self.0.batch.borrow_mut().pop_front()
    }

    fn poll_task(&self, id: TaskId) {
        let taken = self.with_task(id, |task| {
            task.handle.queued.store(false, SeqCst);
            task.future.take()
        });
        let Some((mut future, waker)) = taken.flatten() else { return };
        self.0.polled.set(Some(id));
        let step = future.as_mut().poll(&mut Context::from_waker(&waker));
        self.0.polled.set(None);
        match step {
            Poll::Ready(()) => {
                drop(future);
                drop(self.remove(id));
            }
            Poll::Pending => {
                // If the task was cancelled meanwhile, the future comes back and is dropped here, outside the
                // borrow.
                let mut back = Some((future, waker));
                self.with_task(id, |task| task.future = back.take());
                drop(back);
            }
        }
    }

    fn poll_root<T>(&self, root: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        let Some((handle, waker)) = self.0.root.get() else { return Poll::Pending };
        handle.queued.store(false, SeqCst);
        self.0.polled.set(Some(TaskId::ROOT));
        let step = root.poll(&mut Context::from_waker(waker));
        self.0.polled.set(None);
        step
    }

    fn waker(&self, id: TaskId) -> (Arc<TaskWaker>, Waker) {
        let ready = self.0.reactor.ready.clone();
        let handle = Arc::new(TaskWaker { id, queued: AtomicBool::new(true), ready });
        let waker = Waker::from(handle.clone());
        (handle, waker)
    }

    fn with_task<T>(&self, id: TaskId, f: impl FnOnce(&mut Task) -> T) -> Option<T> {
        let mut tasks = self.0.tasks.borrow_mut();
        tasks.get_mut(id.slot).filter(|task| task.generation == id.generation).map(f)
    }

    fn remove(&self, id: TaskId) -> Option<Task> {
        let mut tasks = self.0.tasks.borrow_mut();
        let alive = tasks.get(id.slot).is_some_and(|task| task.generation == id.generation);
        alive.then(|| tasks.remove(id.slot))
    }
}

/// Marks the runtime as running; also unmarks it when a task panics.
struct Running<'a>(&'a Runtime);

impl<'a> Running<'a> {
    fn start(runtime: &'a Runtime) -> Result<Running<'a>, Recursive> {
        if runtime.0.running.replace(true) {
            return Err(Recursive);
        }
        runtime.0.reactor.ready.begin_turn();
        Ok(Running(runtime))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.end_run();
        if let Some(thrown) = self.0.0.polled.take() {
            // Still set: its poll is unwinding. Its future is gone, and it is never polled again.
            drop(self.0.remove(thrown));
            self.0.0.thrown.set(Some(thrown));
        }
    }
}
