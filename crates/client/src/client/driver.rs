//! The driver: owns a client's engine and runs it.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use engine::Share;
use engine::multi::Limits;
use engine::process_pool::{self, Pool};
use tables::EasyOption;

use super::call::{Call, Order, Prepared};
use super::config::Config;
use super::error::{Error, RequestPhase};
use super::event_loop::{EventLoop, Watch};
use super::head::{Head, url_of};
use super::hub::{Hub, Post};
use super::leadership::Facts;
use super::timings::Timings;
use super::whole_body;
use crate::transfers::{Request, Sink, Transfers};
use crate::{TransferInfo, Value};

/// Turns of the engine in one poll. The limit lets other tasks run although the driver always has work.
const TURNS: usize = 8;
/// Connections that a client keeps by default. curl's default is four for each transfer that runs, which
/// would close most of them whenever a burst of requests has ended.
const KEPT: usize = 128;
/// Longest sleep of a driver without an event loop.
const SLEEP: Duration = Duration::from_secs(3600);

/// Runs the transfers of a [`Client`](super::Client) when it is polled in an event loop.
///
/// It may move to another thread until it is [run](Self::run); the engine is created there and stays there.
/// When the driver is dropped, all transfers end with [`ErrorKind::Driver`](super::ErrorKind::Driver).
#[must_use = "without its driver a client's requests do not move"]
pub struct Driver {
    pub(super) post: Post,
    pub(super) limits: Limits,
    pub(super) share: Option<Share>,
    pub(super) pool: Option<Pool>,
}

impl Driver {
    pub(super) fn of(hub: &Arc<Hub>, config: &mut Config) -> Driver {
        let (limits, share, pool) = (config.limits, config.share.take(), config.pool);
        Driver { post: Post(hub.clone()), limits, share, pool }
    }

    /// Runs transfers until the last clone of the client and the last response are dropped. Meant for a task
    /// of its own on the current thread (`spawn_local`). Fails if the event loop fails or if no descriptors
    /// are left.
    pub async fn run(self, event_loop: impl EventLoop) -> io::Result<()> {
        let mut driven = self.begin(event_loop)?;
        std::future::poll_fn(|cx| driven.poll(cx)).await
    }

    /// Runs transfers while `future` runs, in the same task, and returns the output of `future`. Works with
    /// any executor and spawns nothing.
    pub async fn run_until<F: Future>(self, event_loop: impl EventLoop, future: F) -> F::Output {
        let hub = self.post.0.clone();
        // If the engine cannot be driven, `begin` has already failed every request.
        let mut driven = self.begin(event_loop).ok();
        let mut future = pin!(future);
        std::future::poll_fn(|cx| {
            hub.set_driver(None); // requests of the future are executed below
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(output);
            }
            if driven.as_mut().is_some_and(|driven| driven.poll(cx).is_ready()) {
                driven = None;
            }
            Poll::Pending
        })
        .await
    }

    /// Runs transfers on the current thread and blocks when there is nothing to run, until the last clone of
    /// the client and the last response are dropped. Needs no event loop and no feature.
    pub fn run_blocking(self) -> io::Result<()> {
        let mut engine = Engine::new(self);
        let waker = engine.interrupt();
        loop {
            engine.post.0.set_driver(Some(&waker));
            engine.turn(true);
            if engine.is_over() {
                return Ok(());
            }
            match engine.sleep(SLEEP) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(e),
                _ => {}
            }
        }
    }

    fn begin<E: EventLoop>(self, event_loop: E) -> io::Result<Driven<E::Watch>> {
        let engine = Engine::new(self);
        let watch = event_loop.watch(engine.transfers.descriptor()?)?;
        Ok(Driven { engine, watch })
    }
}

/// Wakes a driver that has no event loop.
struct Wakes<F>(F);

impl<F: Fn() + Send + Sync> Wake for Wakes<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

/// A driver in an event loop. `watch` is dropped first, because it holds a descriptor of the engine.
struct Driven<W> {
    watch: W,
    engine: Engine,
}

impl<W: Watch> Driven<W> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.engine.post.0.set_driver(Some(cx.waker()));
        poll_engine(&mut self.engine, &mut self.watch, cx)
    }
}

/// Runs the engine until it has to wait for its event loop. Ready when it is over, or when the event loop has
/// failed.
pub(super) fn poll_engine<W: Watch>(
    engine: &mut Engine,
    watch: &mut W,
    cx: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    // Work that is started here also runs here. Without the guard, each request would make the descriptor
    // readable once more than its reply does.
    let _turn = engine.transfers.turn();
    let mut ready = false;
    for left in (0..TURNS).rev() {
        engine.turn(ready);
        if engine.is_over() {
            return Poll::Ready(Ok(()));
        }
        if left == 0 {
            break; // an event that is taken now is lost: the next poll begins without one
        }
        ready = engine.is_ready();
        if ready {
            continue;
        }
        match watch.poll(engine.transfers.deadline(), cx) {
            Poll::Ready(result) => result?,
            Poll::Pending => return Poll::Pending,
        }
        ready = true;
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// The transfers of a client, and their calls.
pub(super) struct Engine {
    transfers: Transfers,
    /// Calls by the engine's number of the transfer.
    calls: Vec<Option<Arc<Call>>>,
    post: Post,
    limits: Limits,
    /// Whether the number of kept connections is ours to choose.
    keeps_more: bool,
    interrupt: Option<Waker>,
    /// Dropped last, when the pool of the process has the idle connections of `transfers`.
    _gives: Option<GivesToBroker>,
}

/// Gives pooled connections to the user's broker when a driver ends, which may be the end of the process.
struct GivesToBroker;

impl Drop for GivesToBroker {
    fn drop(&mut self) {
        process_pool::give_pooled();
    }
}

impl Engine {
    pub fn new(driver: Driver) -> Engine {
        let mut transfers = Transfers::new(driver.share);
        transfers.set_body_memory(Rc::new(whole_body::Heap));
        let mut limits = driver.limits;
        let keeps_more = limits.max_connects == 0;
        if keeps_more {
            limits.max_connects = KEPT;
        }
        transfers.set_limits(limits);
        driver.pool.into_iter().for_each(|kind| transfers.set_pool(kind));
        let _gives = (driver.pool == Some(Pool::User)).then_some(GivesToBroker);
        Engine {
            transfers,
            calls: Vec::new(),
            post: driver.post,
            limits,
            keeps_more,
            interrupt: None,
            _gives,
        }
    }

    /// Returns whether all clients are gone and no command is left.
    pub fn is_over(&self) -> bool {
        let inbox = self.post.0.lock();
        inbox.closed && inbox.orders.is_empty()
    }

    /// Executes commands, runs what is ready and delivers the results. `ready`: check the descriptors even if
    /// there was no command.
    pub fn turn(&mut self, ready: bool) {
        let orders = std::mem::take(&mut self.post.0.lock().orders);
        if orders.is_empty() && !ready {
            return;
        }
        orders.into_iter().for_each(|order| self.execute(order));
        match ready {
            true => self.transfers.perform(),
            false => self.transfers.run_ready(),
        }
        while let Some(id) = self.transfers.next_news() {
            self.deliver(id);
        }
    }

    /// Returns whether there is work that no event reports: taking body may let a transfer continue.
    fn is_ready(&self) -> bool {
        self.transfers.timeout() == Some(Duration::ZERO)
    }

    /// Executes commands and what is ready then, without waiting.
    pub fn run_ready(&mut self) {
        let _turn = self.transfers.turn();
        self.turn(false);
        for _ in 1..TURNS {
            if !self.is_ready() {
                return;
            }
            self.turn(true);
        }
    }

    /// Waits for events.
    pub fn sleep(&self, max: Duration) -> io::Result<()> {
        self.transfers.wait(max)
    }

    /// Returns a waker that ends [`sleep`](Self::sleep).
    pub fn interrupt(&mut self) -> Waker {
        let transfers = &self.transfers;
        self.interrupt.get_or_insert_with(|| Waker::from(Arc::new(Wakes(transfers.waker())))).clone()
    }

    pub fn facts(&self) -> Facts {
        Facts { transfers_run: self.transfers.running() > 0, deadline: self.transfers.deadline() }
    }

    #[cfg(all(unix, feature = "tokio"))]
    pub fn descriptor(&self) -> io::Result<engine::Descriptor> {
        self.transfers.descriptor()
    }

    fn execute(&mut self, order: Order) {
        match order {
            Order::Start(prepared, call) => {
                let url = prepared.url.clone();
                call.lock().decodes = prepared.decodes;
                match self.start(*prepared) {
                    Ok(id) => {
                        call.lock().id = Some(id);
                        if self.calls.len() <= id {
                            self.calls.resize(id + 1, None);
                        }
                        self.calls[id] = Some(call);
                    }
                    Err(error) => call.fail(error.at(url, RequestPhase::Nothing)),
                }
            }
            Order::Take(call) => {
                let id = call.lock().id;
                id.into_iter().for_each(|id| self.deliver(id));
            }
            Order::Collect(call) => {
                let mut state = call.lock();
                let Some(id) = state.id else { return };
                let arrived = std::mem::take(&mut state.body);
                drop(state);
                self.transfers.collect_body(id, arrived);
            }
            Order::Feed(call, piece) => {
                let mut state = call.lock();
                state.upload_is_queued = false;
                match (state.id, piece) {
                    (Some(id), Some(piece)) => self.transfers.feed(id, &piece),
                    (Some(id), None) => self.transfers.end_upload(id),
                    (None, _) => {}
                }
            }
            Order::Cancel(call) => {
                let id = call.lock().id.take();
                id.into_iter().for_each(|id| self.release(id));
            }
        }
    }

    fn start(&mut self, prepared: Prepared) -> Result<usize, Error> {
        let mut options: Vec<(EasyOption, Value)> = Vec::with_capacity(prepared.options.len() + 2);
        options.extend(prepared.options.into_iter().map(|(option, value)| (option, value.or_form())));
        options.push((EasyOption::Url, Value::Text(String::from(prepared.url).into_bytes())));
        if let Some(form) = prepared.form {
            let form = form.for_engine().map_err(|(code, message)| Error::of(code, message))?;
            options.push((EasyOption::MimePost, form.into()));
        }
        let request = Request {
            options,
            upload: prepared.upload,
            sink: Sink::Memory,
            window: prepared.window,
            reports_connection: false,
            stall_limit: prepared.stall_limit,
            explain: prepared.explain,
            choices: prepared.choices,
            access_policy: prepared.access_policy,
        };
        let most = self.transfers.running() + 1;
        if self.keeps_more && most > self.limits.max_connects {
            self.limits.max_connects = most.next_power_of_two();
            self.transfers.set_limits(self.limits);
        }
        self.transfers.start(request).map_err(Error::of_failure)
    }

    /// Passes a transfer's news to its task. Body stays in the engine while the task has some.
    fn deliver(&mut self, id: usize) {
        let transfers = &self.transfers;
        let Some(call) = self.calls.get(id).and_then(Option::as_ref) else { return };
        let ended = transfers.has_ended(id);
        let mut state = call.lock();
        state.wants_upload = transfers.wants_upload(id) && !state.upload_is_queued;
        if !state.has_had_head && transfers.has_head(id) {
            state.has_had_head = true;
            state.body_follows = transfers.has_final_head(id);
            let (lines, decodes) = (transfers.take_head(id), state.decodes);
            let head = transfers.info(id, |info| Head::of(lines, &info.found(), decodes));
            state.head = Some(Box::new(head));
        }
        let wants_body = !state.collects && state.body.is_empty();
        if state.has_had_head && (ended || wants_body) {
            let body = whole_body::take(transfers, id);
            match state.body.is_empty() {
                true => state.body = body,
                false => state.body.extend_from_slice(&body),
            }
        }
        if ended {
            let why = transfers.info(id, |info| info.why()).map(Box::new);
            state.id = None;
            state.trailers = transfers.take_head(id);
            state.why.clone_from(&why);
            state.ended = transfers.take_outcome(id).map(|outcome| {
                let found = |info: &TransferInfo<'_>| match outcome.result() {
                    Ok(()) => Ok(Timings::of(&info.found())),
                    Err(failure) => {
                        let found = &*info.found();
                        Err(Error::of_failure(failure)
                            .at(url_of(found), RequestPhase::of(found))
                            .measured(Timings::of(found))
                            .explained(why.clone()))
                    }
                };
                transfers.info(id, found)
            });
        }
        let news = ended || state.head.is_some() || state.wants_upload || !state.body.is_empty();
        let waker = if news { state.waker.take() } else { None };
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        if ended {
            self.release(id);
        }
    }

    fn release(&mut self, id: usize) {
        self.calls[id] = None;
        self.transfers.release(id);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        for call in self.calls.drain(..).flatten() {
            call.fail(Error::no_driver("the client's driver has ended"));
        }
    }
}
