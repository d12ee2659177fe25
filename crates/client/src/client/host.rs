//! The place of a client's own engine, which a thread or task that waits runs: leader and followers.
//!
//! A thread that waits in a call takes the engine and runs it, so that neither the request nor its reply
//! wakes another thread. A command is executed by the thread that gives it, if nobody leads. Futures are run
//! by a task in tokio's runtime, or by a background thread; `leadership` decides.

use std::future::Future;
use std::io;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use super::driver::{Driver, Engine};
use super::hub::Hub;
use super::leadership::{BackgroundThread, Facts, Leadership, Next, Runner, Step};
use super::movable::Movable;

/// Longest sleep of a leader.
const SLEEP: Duration = Duration::from_secs(3600);
/// How long transfers are left alone before the background thread leads.
const LOOK: Duration = Duration::from_millis(10);

/// A client's engine, and who runs it.
pub(crate) struct Host {
    hub: Arc<Hub>,
    leadership: Mutex<Leadership<Movable>>,
    /// Wakes the background thread.
    called: Condvar,
    /// Calls in which a thread waits.
    waits: AtomicUsize,
    /// Whether tokio may run it.
    #[cfg_attr(not(all(unix, feature = "tokio")), expect(dead_code))]
    is_async: bool,
    /// A forked child has a number of its own.
    generation: u64,
}

impl Host {
    pub(super) fn new(hub: Arc<Hub>, driver: Driver, is_async: bool) -> Host {
        Host {
            hub,
            leadership: Mutex::new(Leadership::new(Movable::new(driver))),
            called: Condvar::new(),
            waits: AtomicUsize::new(0),
            is_async,
            generation: engine::fork_generation(),
        }
    }

    /// Returns whether this is a child of the process that the engine belongs to.
    pub fn is_in_child(&self) -> bool {
        self.generation != engine::fork_generation()
    }

    fn lock(&self) -> MutexGuard<'_, Leadership<Movable>> {
        self.leadership.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes the commands in the queue, unless a leader does or a task will.
    pub fn run_commands(self: &Arc<Self>) {
        let engine = self.lock().take_for_commands();
        engine.map(|engine| self.lead(engine)).iter_mut().for_each(Lead::run_ready);
    }

    fn lead(self: &Arc<Self>, engine: Movable) -> Lead {
        Lead { host: self.clone(), engine: Some(engine), is_broken: false }
    }

    /// Prepares for futures that some executor polls: a thread or a task runs the engine from now on.
    pub fn serve_futures(self: &Arc<Self>) {
        if self.waits.load(SeqCst) > 0 {
            return; // the thread in the call runs it
        }
        #[cfg(all(unix, feature = "tokio"))]
        if self.is_async && tokio_task::serve(self) {
            return;
        }
        let mut leadership = self.lock();
        if leadership.runner != Runner::Thread {
            leadership.runner = Runner::Thread;
            self.call_thread(leadership);
        }
    }

    fn act(self: &Arc<Self>, next: Next) {
        next.wakes.into_iter().for_each(Waker::wake);
        if next.calls_thread {
            self.call_thread(self.lock());
        }
    }

    /// Wakes the background thread, or starts it.
    fn call_thread(self: &Arc<Self>, mut leadership: MutexGuard<'_, Leadership<Movable>>) {
        let is_absent = leadership.thread == BackgroundThread::Absent;
        leadership.thread = BackgroundThread::Awake;
        drop(leadership);
        if !is_absent {
            return self.called.notify_one();
        }
        let thread = std::thread::Builder::new().name("warmwire".to_owned());
        let host = self.clone();
        if let Err(error) = thread.spawn(move || host.run_thread()) {
            self.lock().thread = BackgroundThread::Absent;
            if self.waits.load(SeqCst) == 0 {
                self.hub.refuse(&format!("the client's thread cannot start: {error}"));
            }
        }
    }

    /// Runs the background thread.
    fn run_thread(self: Arc<Self>) {
        let mut seen = 0;
        let mut leadership = self.lock();
        loop {
            match leadership.step(&mut seen) {
                Step::End => return,
                Step::Lead(engine) => {
                    drop(leadership);
                    self.lead(engine).run_in_background();
                    leadership = self.lock();
                }
                Step::Look => {
                    let waited = self.called.wait_timeout(leadership, LOOK);
                    leadership = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                Step::Sleep => {
                    while leadership.thread == BackgroundThread::Asleep {
                        leadership = self.called.wait(leadership).unwrap_or_else(PoisonError::into_inner);
                    }
                }
            }
        }
    }

    /// Blocks the thread until the future has an output, and runs the engine meanwhile.
    pub fn wait<F: Future>(self: &Arc<Self>, future: F) -> F::Output {
        let waiting = Waiting::begin(self);
        let mut future = std::pin::pin!(future);
        let mut cx = Context::from_waker(&waiting.waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
            waiting.run();
        }
    }

    /// Ends the engine, because the last client is gone.
    pub fn close(self: &Arc<Self>) {
        if self.is_in_child() {
            return; // its connections are the parent's
        }
        let engine = self.lock().take();
        match engine {
            Some(engine) if engine.is_created() => self.lead(engine).run_ready(),
            Some(unused) => self.end(unused),
            None => {} // its leader notices
        }
    }

    fn end(&self, engine: Movable) {
        drop(engine);
        let mut leadership = self.lock();
        let wakers = leadership.end();
        let thread = std::mem::replace(&mut leadership.thread, BackgroundThread::Awake);
        drop(leadership);
        wakers.into_iter().for_each(Waker::wake);
        if thread == BackgroundThread::Asleep {
            self.called.notify_one();
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if self.is_in_child() {
            // Not locked: a thread that exists in the parent alone may have had the lock when it forked.
            let leadership = self.leadership.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(leadership.take());
        }
    }
}

/// The engine in the hands of its leader. Dropping it puts the engine back.
struct Lead {
    host: Arc<Host>,
    engine: Option<Movable>,
    /// Whether the engine cannot be used any more: it panicked, or has no descriptors.
    is_broken: bool,
}

impl Lead {
    fn engine(&mut self) -> &mut Engine {
        self.engine.as_mut().expect("it is put back by drop alone").engine()
    }

    /// Runs the engine's turn. If that panics, the engine is not used again.
    fn turn(&mut self, ready: bool) {
        self.is_broken = true;
        self.engine().turn(ready);
        self.is_broken = false;
    }

    /// Executes commands and all that is ready, without waiting.
    fn run_ready(&mut self) {
        self.is_broken = true;
        self.engine().run_ready();
        self.is_broken = false;
    }

    /// Waits for events. Returns false if the engine cannot.
    fn sleep(&mut self) -> bool {
        match self.engine().sleep(SLEEP) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => self.is_broken = true,
            _ => {}
        }
        !self.is_broken
    }

    /// Runs transfers until the background thread is not needed, or gives way.
    fn run_in_background(&mut self) {
        let interrupt = self.engine().interrupt();
        loop {
            self.host.hub.set_driver(Some(&interrupt));
            self.turn(true);
            let (is_over, transfers_run) = (self.engine().is_over(), self.engine().facts().transfers_run);
            if is_over || !self.host.lock().thread_goes_on(&interrupt, transfers_run) || !self.sleep() {
                return;
            }
        }
    }

    /// Runs transfers until the thread of the call is woken.
    fn run_until_woken(&mut self, call: &Call) {
        let interrupt = self.engine().interrupt();
        self.host.hub.set_driver(Some(&interrupt));
        self.turn(false);
        while call.sleeps_in(&interrupt) {
            let sleeps = self.sleep();
            call.is_awake();
            if !sleeps {
                return;
            }
            self.host.hub.set_driver(Some(&interrupt));
            self.turn(true);
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        let Some(mut engine) = self.engine.take() else { return };
        let host = self.host.clone();
        let executor = host.lock().executor_of_commands();
        host.hub.set_driver(executor.as_ref());
        loop {
            let is_over = engine.created().is_some_and(|engine| engine.is_over());
            if self.is_broken || is_over {
                return host.end(engine);
            }
            let facts = engine.created().map_or_else(Facts::default, |engine| engine.facts());
            let next = host.lock().put(engine, facts);
            host.act(next);
            // Commands that came meanwhile, or the end, have woken nobody.
            if !host.hub.has_news() {
                return;
            }
            match host.lock().take() {
                Some(taken) => engine = taken,
                None => return,
            }
            self.is_broken = true;
            engine.engine().run_ready();
            self.is_broken = false;
        }
    }
}

const RUNS: u8 = 0;
const PARKED: u8 = 1;
const IN_ENGINE: u8 = 2;
const WOKEN: u8 = 3;

/// A thread in a call that waits, and how to wake it.
struct Call {
    thread: Thread,
    state: AtomicU8,
    interrupt: Mutex<Option<Waker>>,
}

impl Wake for Call {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        match self.state.swap(WOKEN, SeqCst) {
            PARKED => self.thread.unpark(),
            IN_ENGINE => {
                let interrupt = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner).clone();
                interrupt.into_iter().for_each(Waker::wake);
            }
            _ => {}
        }
    }
}

impl Call {
    /// Enters a state of sleep, unless the thread was woken since it last ran.
    fn falls_asleep(&self, state: u8) -> bool {
        self.state.compare_exchange(RUNS, state, SeqCst, SeqCst).is_ok()
    }

    /// Enters the sleep of a thread that leads, unless it was woken. `interrupt` ends it.
    fn sleeps_in(&self, interrupt: &Waker) -> bool {
        let mut known = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            *known = Some(interrupt.clone());
        }
        drop(known);
        self.falls_asleep(IN_ENGINE)
    }

    /// Notes that a sleep was ended by something else.
    fn is_awake(&self) {
        let _ = self.state.compare_exchange(IN_ENGINE, RUNS, SeqCst, SeqCst);
    }

    fn park(&self) {
        if self.falls_asleep(PARKED) {
            while self.state.load(SeqCst) != WOKEN {
                std::thread::park();
            }
        }
    }
}

/// A call that waits. Dropping it lets others lead.
struct Waiting<'a> {
    host: &'a Arc<Host>,
    call: Arc<Call>,
    waker: Waker,
    follows: std::cell::Cell<bool>,
}

impl<'a> Waiting<'a> {
    fn begin(host: &'a Arc<Host>) -> Waiting<'a> {
        host.waits.fetch_add(1, SeqCst);
        let (thread, state) = (std::thread::current(), AtomicU8::new(RUNS));
        let call = Arc::new(Call { thread, state, interrupt: Mutex::default() });
        let waker = Waker::from(call.clone());
        Waiting { host, call, waker, follows: std::cell::Cell::new(false) }
    }

    /// Leads, or follows, until the thread is woken.
    fn run(&self) {
        if self.call.state.load(SeqCst) != WOKEN {
            let (engine, gives_way) = self.host.lock().take_or_follow(&self.waker);
            gives_way.into_iter().for_each(Waker::wake);
            match engine {
                Some(engine) => self.host.lead(engine).run_until_woken(&self.call),
                None => {
                    self.follows.set(true);
                    self.call.park();
                }
            }
        }
        self.call.state.store(RUNS, SeqCst);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.host.waits.fetch_sub(1, SeqCst);
        if self.follows.get() {
            let next = self.host.lock().withdraw(&self.waker);
            self.host.act(next);
        }
    }
}

#[cfg(all(unix, feature = "tokio"))]
mod tokio_task {
    //! The task that runs an engine in tokio's runtime.

    use std::hash::{DefaultHasher, Hash, Hasher};

    use tokio::runtime::{Handle, RuntimeFlavor};

    use super::super::driver::poll_engine;
    use super::super::event_loop::{EventLoop, Tokio, Watched};
    use super::*;

    /// Returns whether the runtime of the current thread runs the engine: since this call, or since an
    /// earlier one. A client that is used in several runtimes gets a thread, because one of them may be
    /// blocked. So does one in a runtime with several threads, whose requests come from all of them.
    pub(super) fn serve(host: &Arc<Host>) -> bool {
        let Ok(handle) = Handle::try_current() else { return false };
        if handle.runtime_flavor() != RuntimeFlavor::CurrentThread {
            return false;
        }
        let number = number_of(&handle);
        let mut leadership = host.lock();
        match leadership.runner {
            Runner::Task(known) => return known == number,
            Runner::Thread => return false,
            Runner::Callers => leadership.runner = Runner::Task(number),
        }
        drop(leadership);
        handle.spawn(run(Ends(host.clone())));
        true
    }

    fn number_of(handle: &Handle) -> u64 {
        let mut hasher = DefaultHasher::new();
        handle.id().hash(&mut hasher);
        hasher.finish()
    }

    /// Notes the end of the task: with its runtime, or because that has no I/O.
    struct Ends(Arc<Host>);

    impl Drop for Ends {
        fn drop(&mut self) {
            let mut leadership = self.0.lock();
            leadership.lose_task();
            let needs_thread = leadership.runner == Runner::Thread && !leadership.has_ended();
            if needs_thread {
                self.0.call_thread(leadership);
            }
        }
    }

    async fn run(ends: Ends) {
        let host = &ends.0;
        let mut watch: Option<Watched> = None;
        std::future::poll_fn(|cx| {
            let mut leadership = host.lock();
            if leadership.has_ended() || !matches!(leadership.runner, Runner::Task(_)) {
                return Poll::Ready(());
            }
            let (engine, gives_way) = leadership.take_or_follow(cx.waker());
            drop(leadership);
            gives_way.into_iter().for_each(Waker::wake);
            let Some(engine) = engine else { return Poll::Pending };
            host.lead(engine).poll_task(&mut watch, cx)
        })
        .await;
    }

    impl Lead {
        fn poll_task(&mut self, watch: &mut Option<Watched>, cx: &mut Context<'_>) -> Poll<()> {
            let watch = match watch {
                Some(watch) => watch,
                none => match self.engine().descriptor().and_then(|descriptor| Tokio.watch(descriptor)) {
                    Ok(made) => none.insert(made),
                    Err(_) => return Poll::Ready(()), // the background thread tries without
                },
            };
            self.host.lock().set_task(cx.waker(), None);
            self.host.hub.set_driver(Some(cx.waker()));
            self.is_broken = true;
            let polled = poll_engine(self.engine(), watch, cx);
            self.is_broken = false;
            self.host.lock().set_task(cx.waker(), watch.armed());
            polled.map(drop)
        }
    }
}
