//! The multi handle: executor and reactor of its transfers, their pool of connections, and the one table of
//! waits behind perform, poll, wait, fdset, waitfds and socket_action.
//!
//! Everything runs on the caller's thread. Nothing here is borrowed while a task or the application is
//! called, and a call that makes a task ready outside a run invokes the timer callback before it returns.

mod pools;
mod renewal;
mod streams;
mod turns;

use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use runtime::cell::{RefCell, none_is_borrowed};

use net::connect::PreferredAddresses;
use net::exchange::BufferPool;
use net::{Pool, ResolveCache, SessionStore, SharedPool};
use runtime::fd::RawFd;
use runtime::{Clock, Descriptor, ExtraFd, Interest, NextCall, Recursive, Runtime, SocketHook, TaskId, Turn};
use slab::Slab;
use tables::{Code, MultiCode};

use crate::easy::{Easy, EasyState};
use crate::memories::Memories;
use crate::outputs::{self, Output};
use crate::own_connection::OwnConnection;
use crate::process_pool;
use crate::push::PushFunction;
use crate::recording::Recording;
use crate::share::KEPT;
pub use streams::Limits;
use streams::Streams;
use turns::Turns;

/// A multi handle. A clone is another reference to the same one.
#[derive(Clone)]
pub struct Multi(pub(crate) Rc<MultiState>);

/// Tells the application when to call again: milliseconds, or `None` for never. `false` stops all transfers.
pub type TimerCallback = Rc<dyn Fn(Option<u64>) -> bool>;

/// Called for each finished transfer, from inside the run.
pub type Completed = Rc<dyn Fn(&Easy)>;

/// A running transfer, of a handle or inside another transfer.
pub(crate) type Running<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Functions that create a handle's transfer. The handles do not depend on the protocols.
pub(crate) struct Runs {
    /// The task of a member, which ends with a message.
    pub task: fn(Rc<MultiState>, Rc<EasyState>) -> Running<'static, ()>,
    /// A transfer inside another's.
    pub inside: for<'a> fn(&'a Rc<MultiState>, &'a Rc<EasyState>) -> Running<'a, Code>,
    /// Reads a protocol's state of a connection from another process.
    pub decode_memory: net::handover::MemoryDecoder,
}

/// A finished transfer, for curl_multi_info_read.
pub struct Message {
    /// The handle of the transfer.
    pub easy: Easy,
    /// How it ended.
    pub code: Code,
}

/// State of a multi handle.
pub struct MultiState {
    pub(crate) runtime: Runtime,
    pub(crate) runs: &'static Runs,
    pub(crate) pool: Pool,
    /// Connections for look-ups: a transfer that waits for one counts against the connection limits already.
    for_names: RefCell<Option<Pool>>,
    shared_pools: RefCell<Vec<(Arc<SharedPool>, Pool)>>,
    /// Connections of a share stay here between transfers.
    keeps: Cell<bool>,
    /// Which pool idle connections go to; `None` is that of the process.
    pool_kind: Cell<Option<process_pool::Pool>>,
    pub resolved: Arc<ResolveCache>,
    /// Which addresses have won races.
    pub preferred_addresses: RefCell<PreferredAddresses>,
    pub sessions: SessionStore,
    pub(crate) limits: Cell<Limits>,
    pub(crate) streams: Streams,
    /// Whether exchanges are recorded or replayed; that of the process unless a test sets another.
    pub(crate) recording: OnceCell<Arc<Recording>>,
    /// The protocols' records about servers.
    pub(crate) memories: Memories,
    /// Values without a secret. A private multi handle keeps them for its next easy handle.
    pub(crate) public: Memories,
    pub(crate) for_easy: bool,
    /// Storage for heads, from one exchange to the next.
    pub(crate) buffers: BufferPool,
    /// Each member stores its index: an easy handle enters and leaves its own multi with every transfer, and
    /// ten thousand may leave a larger one.
    members: RefCell<Slab<Rc<EasyState>>>,
    running: Cell<usize>,
    /// In the order in which the transfers ended.
    messages: RefCell<VecDeque<(Rc<EasyState>, Code)>>,
    timer: RefCell<Option<TimerCallback>>,
    reported: Cell<Option<Instant>>, // by the timer callback
    /// Whether an event loop has ever registered a callback.
    has_event_loop: Cell<bool>,
    /// Whether the timer callback has failed since this was last reported to the application.
    stopped: Cell<bool>,
    completed: RefCell<Option<Completed>>,
    turns: Turns,
}

impl Multi {
    /// Creates a multi handle with this clock and these transfer functions.
    pub(crate) fn with(clock: Clock, for_easy: bool, runs: &'static Runs) -> Multi {
        let runtime = Runtime::new(clock);
        let pool = Pool::new(runtime.reactor());
        let multi = Multi(Rc::new(MultiState {
            runtime,
            runs,
            pool,
            for_names: RefCell::default(),
            shared_pools: RefCell::default(),
            keeps: Cell::new(false),
            pool_kind: Cell::new(None),
            resolved: Arc::default(),
            preferred_addresses: RefCell::default(),
            sessions: SessionStore::new(),
            limits: Cell::default(),
            streams: Streams::default(),
            recording: OnceCell::new(),
            memories: Memories::default(),
            public: Memories::default(),
            for_easy,
            buffers: BufferPool::default(),
            members: RefCell::default(),
            running: Cell::new(0),
            messages: RefCell::default(),
            timer: RefCell::default(),
            reported: Cell::new(None),
            has_event_loop: Cell::new(false),
            stopped: Cell::new(false),
            completed: RefCell::default(),
            turns: Turns::default(),
        }));
        multi.find_process_pool();
        multi
    }

    /// curl_multi_add_handle.
    pub fn add(&self, easy: &Easy) -> MultiCode {
        if easy.multi().is_some() {
            return MultiCode::AddedAlready;
        }
        self.enter(easy);
        let task = self.0.runtime.spawn((self.0.runs.task)(self.0.clone(), easy.0.clone()));
        easy.0.task.set(Some(task));
        self.report_changes();
        if self.was_stopped() {
            self.remove(easy);
            return MultiCode::AbortedByCallback;
        }
        MultiCode::Ok
    }

    /// Makes the handle a member and prepares its transfer.
    fn enter(&self, easy: &Easy) {
        *easy.0.multi.borrow_mut() = Rc::downgrade(&self.0);
        easy.0.begin();
        easy.0.place.set(Some(self.0.members.borrow_mut().insert(easy.0.clone())));
        self.0.running.set(self.0.running.get() + 1);
    }

    /// curl_multi_remove_handle: drops a running transfer with its connection, even if a callback fails.
    pub fn remove(&self, easy: &Easy) -> MultiCode {
        if !easy.multi().is_some_and(|m| Rc::ptr_eq(&m.0, &self.0)) {
            return if easy.multi().is_some() { MultiCode::BadEasyHandle } else { MultiCode::Ok };
        }
        if let Some(task) = easy.0.task.take() {
            self.0.running.set(self.0.running.get() - 1);
            self.0.runtime.cancel(task);
        }
        drop(easy.0.adopted.take());
        *easy.0.multi.borrow_mut() = Default::default();
        easy.0.leave_websocket();
        if !self.0.for_easy {
            drop(easy.0.connected.take()); // a CONNECT_ONLY connection belongs to the multi handle
            easy.0.forget_socket();
        }
        if let Some(place) = easy.0.place.take() {
            self.0.members.borrow_mut().remove(place);
        }
        if easy.0.message_waits.take() {
            // Handles are removed about in the order in which they end: it is found near the front.
            let mut messages = self.0.messages.borrow_mut();
            let at = messages.iter().position(|(m, _)| Rc::ptr_eq(m, &easy.0));
            at.and_then(|at| messages.remove(at));
        }
        self.report_changes();
        self.after_telling()
    }

    /// curl_multi_perform: runs what is ready; returns the number of transfers still running.
    pub fn perform(&self) -> (MultiCode, usize) {
        if outputs::has(Output::Report) {
            self.0.turns.note_run(self.running());
        }
        self.run_by(Runtime::perform)
    }

    /// Like `perform`, for callers who know that [`descriptor`](Self::descriptor) is not readable.
    /// Descriptors are polled only if new waits would make it readable.
    pub fn run_ready(&self) -> (MultiCode, usize) {
        match self.run_by(Runtime::run) {
            (MultiCode::Ok, _) if self.0.runtime.reactor().has_unasked() => self.perform(),
            ran => ran,
        }
    }

    fn run_by(&self, run: fn(&Runtime) -> Result<(), Recursive>) -> (MultiCode, usize) {
        let _ends = EndsThrown(self);
        if run(&self.0.runtime).is_err() {
            return (MultiCode::RecursiveApiCall, self.running());
        }
        self.report_changes();
        (self.after_telling(), self.running())
    }

    /// Returns a guard for a caller that is about to run: while it exists, actions do not make
    /// [`descriptor`](Self::descriptor) readable.
    pub fn turn(&self) -> Turn {
        self.0.runtime.reactor().turn()
    }

    /// curl_multi_socket_action; `None` is CURL_SOCKET_TIMEOUT.
    pub fn socket_action(&self, fd: Option<RawFd>, ready: Interest, error: bool) -> (MultiCode, usize) {
        match fd {
            Some(fd) => self.0.runtime.reactor().ready(fd, ready, error),
            // The application's timer is one-shot: the last one has been used up.
            None => self.0.reported.set(None),
        }
        self.run_by(Runtime::run)
    }

    /// curl_multi_wait and curl_multi_poll: waits for our descriptors and `extra`; how many are ready.
    pub fn wait(&self, extra: &mut [ExtraFd], max: Duration, may_wake: bool) -> io::Result<usize> {
        self.0.turns.note_wait(!max.is_zero());
        self.0.runtime.wait(extra, max, may_wake)
    }

    /// curl_multi_wakeup, from any thread.
    pub fn waker(&self) -> impl Fn() + Send + Sync + 'static {
        let reactor = self.0.runtime.reactor().clone();
        move || reactor.wakeup()
    }

    /// Returns a descriptor that is readable whenever [`perform`](Self::perform) has something to do, in
    /// addition to [`timeout`](Self::timeout): for event loops to which a table of descriptors is costly.
    pub fn descriptor(&self) -> io::Result<Descriptor> {
        self.0.runtime.reactor().descriptor()
    }

    /// Which descriptors are waited for, and how.
    pub fn interests(&self) -> Vec<(RawFd, Interest)> {
        self.0.turns.note_wait(true);
        self.0.runtime.reactor().interests()
    }

    /// Returns the descriptors that an application's own loop watches. As in curl 8.22 the wake-up descriptor
    /// is the first of them while a transfer waits for any.
    pub fn descriptors_to_watch(&self) -> Vec<(RawFd, Interest)> {
        self.0.turns.note_wait(true);
        let reactor = self.0.runtime.reactor();
        if self.running() == 0 || reactor.interests().is_empty() {
            return reactor.interests();
        }
        let _shown = reactor.wake_interest();
        let mut rows = reactor.interests();
        rows.rotate_right(1);
        rows
    }

    /// curl_multi_timeout.
    pub fn timeout(&self) -> Option<Duration> {
        self.0.turns.note_wait(true);
        self.0.runtime.reactor().timeout()
    }

    /// Returns when the next timer expires, for loops that use absolute times.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.runtime.reactor().next_deadline()
    }

    /// Transfers not finished.
    pub fn running(&self) -> usize {
        self.0.running.get()
    }

    /// Returns how many transfers wait because of a connection limit.
    pub fn pending(&self) -> usize {
        let shared = self.0.shared_pools.borrow();
        self.0.pool.waiting() + shared.iter().map(|(_, pool)| pool.waiting()).sum::<usize>()
    }

    /// Checks the idle connections that were not checked for `interval` (curl_easy_upkeep).
    pub fn upkeep(&self, interval: Duration) {
        self.0.pool.upkeep(interval);
        self.report_changes();
    }

    /// Returns whether a connection is open and serves the next transfer: idle, or with room for a stream.
    /// `number` is CURLINFO_CONN_ID of a transfer that used it. Closes an idle one if its server has.
    pub fn keeps(&self, number: i64) -> bool {
        let Ok(number) = u64::try_from(number) else { return false };
        self.0.pools().iter().any(|pool| {
            let mut sessions = pool.sessions().into_iter();
            pool.has_idle(number)
                || sessions.any(|session| session.about().id == number && session.vacancies() > 0)
        })
    }

    /// All handles added and not removed.
    pub fn members(&self) -> Vec<Easy> {
        self.0.members.borrow().iter().map(|(_, easy)| Easy(easy.clone())).collect()
    }

    /// Returns one of the handles.
    pub fn any_member(&self) -> Option<Easy> {
        self.0.members.borrow().iter().next().map(|(_, easy)| Easy(easy.clone()))
    }

    /// curl_multi_info_read: the next finished transfer, and how many more there are.
    pub fn next_message(&self) -> Option<(Message, usize)> {
        let mut messages = self.0.messages.borrow_mut();
        let (easy, code) = messages.pop_front()?;
        easy.message_waits.set(false);
        Some((Message { easy: Easy(easy), code }, messages.len()))
    }

    /// Whether messages wait to be read.
    pub fn has_messages(&self) -> bool {
        !self.0.messages.borrow().is_empty()
    }

    /// The socket callback of an event loop.
    pub fn set_socket_hook(&self, hook: Option<Arc<dyn SocketHook>>) {
        self.0.has_event_loop.set(true);
        self.0.runtime.reactor().set_hook(hook);
        self.report_changes();
    }

    /// The timer callback of an event loop.
    pub fn set_timer(&self, timer: Option<TimerCallback>) {
        self.0.has_event_loop.set(true);
        *self.0.timer.borrow_mut() = timer;
        self.0.reported.set(None);
        self.report_changes();
    }

    /// Called whenever a transfer has finished and its message waits.
    pub fn set_completed(&self, f: Option<Completed>) {
        *self.0.completed.borrow_mut() = f;
    }

    /// Connection limits.
    pub fn set_limits(&self, limits: Limits) {
        self.0.limits.set(limits);
    }

    /// Sets whether transfers share a connection with streams (CURLMOPT_PIPELINING); the default is yes.
    pub fn set_multiplexing(&self, on: bool) {
        self.0.streams.apart.set(!on);
    }

    /// Sets the function for server pushes; without one they are disabled (CURLMOPT_PUSHFUNCTION).
    pub fn set_push(&self, function: Option<PushFunction>) {
        let before = self.0.streams.push.replace(function);
        drop(before);
    }

    /// How many streams a connection may carry at once (CURLMOPT_MAX_CONCURRENT_STREAMS).
    pub fn set_max_streams(&self, most: usize) {
        self.0.streams.most.set(most);
    }

    /// Keeps connections of a share in this handle from their first use until it is closed. This is for many
    /// successive transfers, each of which would otherwise put its connection into the share's table and take
    /// it out again. Call it before the first one.
    pub fn keep_connections(&self) {
        self.0.keeps.set(true);
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        self.0.limits.get()
    }

    /// Abandons a run after the application has jumped out of a callback over its frames. The transfer in
    /// progress ends with CURLE_ABORTED_BY_CALLBACK. Its future is leaked, and with it the descriptors that
    /// it owned: they are returned, because nothing else will ever close them. Descriptors that the
    /// application opened are left to it.
    pub fn abandon_run(&self) -> Vec<RawFd> {
        let lost = self.0.runtime.abandon_run();
        let was_lost = |easy: &Easy| lost.is_some() && easy.0.task.get() == lost;
        let Some(easy) = self.members().into_iter().find(was_lost) else { return Vec::new() };
        if self.0.for_easy {
            self.remove(&easy);
        } else {
            self.0.finished(&easy.0, Code::AbortedByCallback);
        }
        // Idle connections may belong to the same handle. After closing them, and sessions without streams,
        // only the leaked ones remain. A session's connection belongs to its driver, whose transfers may
        // continue.
        let pools = self.0.pools();
        pools.iter().for_each(Pool::close_all);
        if self.running() == 0 {
            self.0.runtime.drain();
            pools.iter().for_each(Pool::forget_leases);
        }
        if easy.0.callbacks.sockets().is_some() {
            return Vec::new();
        }
        let kept = easy.0.connected.borrow().as_deref().map(OwnConnection::raw_fd);
        let driven: Vec<i64> = pools.iter().flat_map(Pool::session_sockets).collect();
        let stays = |fd: RawFd| Some(fd) == kept || driven.contains(&(fd as i64));
        self.0.runtime.reactor().disown(easy.0.owner_number(), stays)
    }

    /// Whether a task of this multi is running now: the application is inside a callback.
    pub fn in_run(&self) -> bool {
        self.0.runtime.running()
    }

    /// The next run looks at this transfer.
    pub(crate) fn wake(&self, task: TaskId) {
        self.0.runtime.wake(task);
    }

    /// Closes all idle connections (CURLMOPT_NETWORK_CHANGED), including kept ones of a share.
    pub fn close_idle(&self) {
        self.0.pools().iter().for_each(Pool::close_all);
    }

    /// Forgets looked-up names (CURLMOPT_NETWORK_CHANGED).
    pub fn forget_names(&self) {
        self.0.resolved.clear();
        self.0.preferred_addresses.take();
    }

    /// Reports changes to the application's event loop: sockets first, then the timer.
    pub fn report_changes(&self) {
        if self.0.runtime.running() || !self.0.has_event_loop.get() {
            return; // reported once, when the run ends
        }
        let reactor = self.0.runtime.reactor();
        let (call, reported) = (reactor.report_changes(), self.0.reported.get());
        // Most events change no timer: then the clock is not read.
        let unchanged = match call {
            NextCall::Never => reported.is_none(),
            NextCall::At(at) => reported == Some(at),
            NextCall::Now => false,
        };
        if unchanged {
            return;
        }
        let timer = self.0.timer.borrow().clone();
        let Some(timer) = timer else { return };
        let now = reactor.now();
        let next = match call {
            NextCall::Never => None,
            NextCall::At(at) if at > now => Some(at),
            _ => Some(reported.filter(|t| *t <= now).unwrap_or(now)),
        };
        if next == reported {
            return;
        }
        self.0.reported.set(next);
        // Rounded up: a timer that fires too early finds nothing due and wastes a turn.
        let ms = next.map(|t| t.saturating_duration_since(now).as_micros().div_ceil(1000) as u64);
        none_is_borrowed();
        if !timer(ms) {
            self.0.stopped.set(true);
            self.stop();
        }
    }

    /// Ends every transfer with CURLE_ABORTED_BY_CALLBACK after a socket or timer callback has failed. The
    /// handle itself stays usable (CURLMOPT_SOCKETFUNCTION.md, CURLMOPT_TIMERFUNCTION.md).
    pub fn stop(&self) {
        for easy in self.members() {
            if let Some(task) = easy.0.task.take() {
                self.0.runtime.cancel(task);
                self.0.finished(&easy.0, Code::AbortedByCallback);
            }
        }
    }

    /// Returns, once, whether the timer callback has failed; the caller reports it to the application.
    pub(crate) fn was_stopped(&self) -> bool {
        self.0.stopped.take()
    }

    fn after_telling(&self) -> MultiCode {
        if self.was_stopped() { MultiCode::AbortedByCallback } else { MultiCode::Ok }
    }

    /// Runs one easy handle to its end. Its transfer is on the caller's stack, and its result is not a
    /// message.
    pub(crate) fn run_one(&self, easy: &Easy, transfer: Pin<&mut impl Future<Output = Code>>) -> Code {
        self.enter(easy);
        let _leaves = Leaves { multi: self, easy };
        easy.0.task.set(Some(TaskId::ROOT));
        self.0.runtime.start_root();
        self.run_to_end(transfer)
    }

    fn run_to_end(&self, mut transfer: Pin<&mut impl Future<Output = Code>>) -> Code {
        loop {
            // Nothing waits before the first run, and `wait` collects the events of later ones.
            match self.0.runtime.run_with(transfer.as_mut()) {
                Ok(Poll::Ready(code)) => return code,
                Ok(Poll::Pending) => {}
                Err(Recursive) => return Code::RecursiveApiCall,
            }
            if self.wait(&mut [], Duration::from_secs(1), false).is_err() {
                return Code::UnrecoverablePoll;
            }
        }
    }
}

/// Removes a transfer that runs to its end from the multi handle, even if its run unwinds.
struct Leaves<'a> {
    multi: &'a Multi,
    easy: &'a Easy,
}

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.multi.0.runtime.take_thrown();
        self.multi.remove(self.easy);
    }
}

/// Ends the transfer that unwound the run, by a panic or an exception. The other transfers continue.
struct EndsThrown<'a>(&'a Multi);

impl Drop for EndsThrown<'_> {
    fn drop(&mut self) {
        let Some(thrown) = self.0.0.runtime.take_thrown() else { return };
        let of_it = |easy: &Easy| easy.0.task.get() == Some(thrown);
        let Some(easy) = self.0.members().into_iter().find(of_it) else { return };
        let code = match std::thread::panicking() {
            true => Code::FailedInit, // libcurl-errors.md: likely to be an internal error
            false => Code::AbortedByCallback,
        };
        self.0.0.finished(&easy.0, code);
    }
}

impl MultiState {
    /// Returns the function that decides about server pushes.
    pub(crate) fn push_function(&self) -> Option<PushFunction> {
        self.streams.push.borrow().clone()
    }

    /// A transfer has ended: its message is queued for curl_multi_info_read.
    pub(crate) fn finished(&self, easy: &Rc<EasyState>, code: Code) {
        easy.task.set(None);
        self.running.set(self.running.get() - 1);
        easy.message_waits.set(true);
        self.messages.borrow_mut().push_back((easy.clone(), code));
        let completed = self.completed.borrow().clone();
        if let Some(completed) = completed {
            completed(&Easy(easy.clone()));
        }
    }

    fn pools(&self) -> Vec<Pool> {
        let (shared, for_names) = (self.shared_pools.borrow(), self.for_names.borrow());
        let shared = shared.iter().map(|(_, pool)| pool);
        std::iter::once(&self.pool).chain(for_names.iter()).chain(shared).cloned().collect()
    }

    /// Returns the maximum number of idle connections.
    pub(crate) fn max_idle(&self, of_easy: i64) -> usize {
        if self.for_easy {
            return usize::try_from(of_easy).ok().filter(|n| *n > 0).unwrap_or(5);
        }
        match self.limits.get().max_connects {
            // They are a share's, and stay as many as they would there.
            0 if self.keeps.get() => KEPT,
            // Like curl: four times the number of handles added.
            0 => self.members.borrow().len().max(1) * 4,
            n => n,
        }
    }
}
