//! Simultaneous transfers for an event loop that the caller runs.
//!
//! [`Transfers`] starts them, runs what is ready, and reports which have news. It never calls the caller:
//! bodies are buffered, up to a window beyond which the sender waits, and uploads are fed in. The futures of
//! [`Client`](crate::Client) and the Python package use it.

mod active;
mod app;
mod data;
mod outcome;
mod request;
mod template;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use engine::multi::Limits;
use engine::process_pool::Pool;
use engine::{Descriptor, Easy, Multi, Share, Turn};
use slab::Slab;
use tables::constant::{CURLPAUSE_RECV, CURLPAUSE_SEND};
use tables::{Code, EasyOption, MultiCode};

use crate::{AccessPolicy, Failure, TransferInfo, pac_files};

use active::Active;
use app::{App, News, State};
use data::Placed;
pub use data::{BodyBuffer, BodyMemory, Sink, Upload};
pub use engine::{Choices, ProxiedSchemes, ProxyRule, TlsLibrary};
pub use outcome::Outcome;
pub use request::Request;
pub use template::{Start, Template};

/// Number of handles kept for later transfers: a new one costs a quarter of a small transfer. The package
/// for Python tries as many hosts at a time.
const SPARE: usize = 1024;
/// Number of those that keep their buffers.
const SPARE_BUFFERS: usize = 64;
/// Largest buffer of a head or a body that such a handle keeps.
const SPARE_STORAGE: usize = 16 * 1024;

/// Empties a buffer and keeps its storage for the next transfer if it is small.
fn spare(buffer: &mut Vec<u8>) {
    match buffer.capacity() > SPARE_STORAGE {
        true => *buffer = Vec::new(),
        false => buffer.clear(),
    }
}

/// The transfers of one event loop.
pub struct Transfers {
    multi: Multi,
    share: Option<Share>,
    active: Slab<Active>,
    spare: Vec<Active>,
    news: Rc<News>,
    memory: Option<Rc<dyn BodyMemory>>,
}

impl Transfers {
    /// Creates an empty set. All its transfers use `share`, together with its other users on any thread.
    pub fn new(share: Option<Share>) -> Transfers {
        Transfers {
            multi: Multi::default(),
            share,
            active: Slab::new(),
            spare: Vec::new(),
            news: Rc::default(),
            memory: None,
        }
    }

    /// Sets whose memory whole bodies are received into. Call it before the first transfer.
    pub fn set_body_memory(&mut self, memory: Rc<dyn BodyMemory>) {
        self.memory = Some(memory);
    }

    /// Keeps connections of the share here between transfers, and returns them at the end. Useful for many
    /// similar transfers. Call it before the first one.
    pub fn keep_connections(&self) {
        self.multi.keep_connections();
    }

    /// Closes the idle connections kept here.
    pub fn close_idle(&self) {
        self.multi.close_idle();
    }

    /// Limits the number of connections, to one host and in all.
    pub fn set_limits(&self, limits: Limits) {
        self.multi.set_limits(limits);
    }

    /// Sets which pool idle connections go to at the end. Call it before the first transfer.
    pub fn set_pool(&self, kind: Pool) {
        self.multi.set_pool_kind(kind);
    }

    /// Starts a transfer; its number is valid until [`release`](Self::release). A failure names the option.
    pub fn start(&mut self, mut request: Request) -> Result<usize, Failure> {
        let mut active = self.spare.pop().unwrap_or_else(|| self.fresh());
        active.set(std::mem::take(&mut request.options))?;
        let data = (std::mem::take(&mut request.sink), std::mem::take(&mut request.upload));
        self.enter(active, &request, data)
    }

    /// Starts a transfer of a template.
    pub fn start_like(&mut self, template: &Rc<Template>, start: Start<'_>) -> Result<usize, Failure> {
        let mut active = self.spare.pop().unwrap_or_else(|| self.fresh());
        active.adopt(template, &start)?;
        let id = self.enter(active, &template.request, (start.sink, template.upload()))?;
        self.of(id, |state| state.reports_connection = start.reports_connection);
        Ok(id)
    }

    fn enter(&mut self, active: Active, request: &Request, data: (Sink, Upload)) -> Result<usize, Failure> {
        let place = self.active.vacant_entry();
        active.choose(&request.choices);
        let Active { easy, app, .. } = &active;
        easy.state().tag.set(place.key() + 1);
        easy.keep_reasons(request.explain);
        let policy = request.access_policy.clone().map(AccessPolicy::into_inner);
        easy.state().settings.borrow_mut().set_policy(policy);
        easy.state().stall_limit.set(request.stall_limit.filter(|limit| !limit.is_zero()));
        {
            let mut state = app.state.borrow_mut();
            state.id = place.key();
            (state.sink, state.upload) = data;
            state.window = request.window;
            state.reports_connection = request.reports_connection;
        }
        if self.multi.add(easy) != MultiCode::Ok {
            return Err(Failure { code: Code::FailedInit, message: "the transfer was not begun".to_owned() });
        }
        let id = place.key();
        place.insert(active);
        Ok(id)
    }

    fn fresh(&self) -> Active {
        let app = Rc::new(App {
            state: RefCell::default(),
            news: self.news.clone(),
            memory: self.memory.clone(),
            is_listed: Cell::new(false),
            follows: Cell::new(false),
            authenticates: Cell::new(false),
            upgrades: Cell::new(false),
        });
        pac_files::register();
        let easy = Easy::new(app.clone());
        easy.set_share(self.share.clone());
        Active::new(easy, app)
    }

    /// Runs what is ready. Never blocks.
    pub fn perform(&mut self) {
        self.multi.perform();
        self.take_messages();
    }

    /// Runs what is ready without polling descriptors, for callers who watch [`descriptor`](Self::descriptor)
    /// and know that it is not readable.
    pub fn run_ready(&mut self) {
        self.multi.run_ready();
        self.take_messages();
    }

    /// Returns a guard: while it exists, calls on this object do not make [`descriptor`](Self::descriptor)
    /// readable. Use it before [`perform`](Self::perform).
    pub fn turn(&self) -> Turn {
        self.multi.turn()
    }

    fn take_messages(&mut self) {
        while let Some((message, _)) = self.multi.next_message() {
            let id = message.easy.state().tag.get() - 1;
            let Some(active) = self.active.get(id) else { continue };
            {
                let mut state = active.app.state.borrow_mut();
                let message_text = match (message.code, state.write_error.take()) {
                    (Code::Ok, _) => String::new(),
                    (_, Some(error)) => format!("cannot write the body: {error}"),
                    _ => message.easy.state().message(),
                };
                state.outcome = Some(Outcome { code: message.code, message: message_text });
            }
            active.app.list();
        }
    }

    /// Waits at most `max` for something to run. A signal fails it with [`io::ErrorKind::Interrupted`].
    pub fn wait(&self, max: Duration) -> io::Result<()> {
        self.multi.wait(&mut [], max, true).map(drop)
    }

    /// Returns a function that ends [`wait`](Self::wait) from any thread.
    pub fn waker(&self) -> impl Fn() + Send + Sync + 'static {
        self.multi.waker()
    }

    /// Returns a descriptor that is readable when there is something to [`perform`](Self::perform).
    pub fn descriptor(&self) -> io::Result<Descriptor> {
        self.multi.descriptor()
    }

    /// Returns how long to wait before [`perform`](Self::perform) is due even if nothing is readable.
    pub fn timeout(&self) -> Option<Duration> {
        self.multi.timeout()
    }

    /// Returns when the next timer expires.
    pub fn deadline(&self) -> Option<Instant> {
        self.multi.deadline()
    }

    /// Returns the next transfer with news: a head, part of its body, room for more upload, its end.
    pub fn next_news(&self) -> Option<usize> {
        loop {
            let id = self.news.0.borrow_mut().pop_front()?;
            if let Some(active) = self.active.get(id) {
                active.app.is_listed.set(false);
                return Some(id);
            }
        }
    }

    /// Returns whether [`next_news`](Self::next_news) has any.
    pub fn has_news(&self) -> bool {
        !self.news.0.borrow().is_empty()
    }

    /// Returns how many transfers have not ended.
    pub fn running(&self) -> usize {
        self.multi.running()
    }

    /// Returns whether `id` is a transfer that was started and not released.
    pub fn knows(&self, id: usize) -> bool {
        self.active.contains(id)
    }

    /// Returns whether the transfer has had a connection.
    pub fn is_connected(&self, id: usize) -> bool {
        self.of(id, |state| state.connected)
    }

    /// Returns whether the last head has been received, or the transfer has ended.
    pub fn has_head(&self, id: usize) -> bool {
        self.of(id, |state| state.head_is_final || state.outcome.is_some())
    }

    /// Returns whether a head was received that no other head follows, or the first byte of body. Unlike
    /// [`has_head`](Self::has_head), the end of the transfer does not count.
    pub fn has_final_head(&self, id: usize) -> bool {
        self.of(id, |state| state.head_is_final)
    }

    /// Returns whether the transfer has ended. Part of its body may still be buffered.
    pub fn has_ended(&self, id: usize) -> bool {
        self.of(id, |state| state.outcome.is_some())
    }

    /// Shows the buffered body, once.
    pub fn with_body<R>(&self, id: usize, read: impl FnOnce(&[u8]) -> R) -> R {
        let (found, waits) = self.of(id, |state| {
            let found = read(&state.body);
            spare(&mut state.body);
            (found, std::mem::take(&mut state.waits_for_reader))
        });
        if waits {
            self.go_on(id);
        }
        found
    }

    /// Takes all heads received so far, unmodified.
    pub fn take_head(&self, id: usize) -> Vec<u8> {
        self.of(id, |state| std::mem::take(&mut state.head))
    }

    /// Returns the number of buffered bytes of body, in memory of the caller or in the engine's.
    pub fn waiting_body(&self, id: usize) -> usize {
        self.of(id, |state| state.body.len() + state.placed.as_ref().map_or(0, Placed::filled))
    }

    /// Takes the memory of the caller that the body was received into, and how many bytes of it are the body.
    /// Bytes beyond the announced length are in [`with_body`](Self::with_body), and so is a body without such
    /// memory.
    pub fn take_placed(&self, id: usize) -> Option<(Box<dyn Any>, usize)> {
        let (buffer, filled) = self.of(id, |state| state.placed.take())?.into_parts();
        Some((buffer, filled))
    }

    /// Takes the buffered body.
    pub fn take_body(&self, id: usize) -> Vec<u8> {
        let (body, waits) = self
            .of(id, |state| (std::mem::take(&mut state.body), std::mem::take(&mut state.waits_for_reader)));
        if waits {
            self.go_on(id);
        }
        body
    }

    /// Receives the rest of the body without a window, to be taken at its end. `arrived` goes before it: what
    /// was taken of the body already.
    pub fn collect_body(&self, id: usize, arrived: Vec<u8>) {
        let waits = self.of(id, |state| {
            state.window = usize::MAX;
            if !arrived.is_empty() {
                let later = std::mem::replace(&mut state.body, arrived);
                state.body.extend_from_slice(&later);
            }
            std::mem::take(&mut state.waits_for_reader)
        });
        if waits {
            self.go_on(id);
        }
    }

    /// Returns whether the transfer waits for more upload data.
    pub fn wants_upload(&self, id: usize) -> bool {
        self.of(id, |state| state.waits_for_upload)
    }

    /// Adds upload data.
    pub fn feed(&self, id: usize, bytes: &[u8]) {
        self.of(id, |state| state.fed.extend(bytes));
        self.go_on_sending(id);
    }

    /// Ends the upload data.
    pub fn end_upload(&self, id: usize) {
        self.of(id, |state| state.fed_all = true);
        self.go_on_sending(id);
    }

    /// Returns the code the transfer ended with; `None` while it runs.
    pub fn ending(&self, id: usize) -> Option<Code> {
        self.of(id, |state| state.outcome.as_ref().map(|outcome| outcome.code))
    }

    /// Returns whether a head received so far sets a cookie.
    pub fn sets_cookies(&self, id: usize) -> bool {
        self.of(id, |state| state.has_cookies)
    }

    /// Shows all heads received so far.
    pub fn head<R>(&self, id: usize, read: impl FnOnce(&[u8]) -> R) -> R {
        self.of(id, |state| read(&state.head))
    }

    /// Takes the outcome; `None` while the transfer runs.
    pub fn take_outcome(&self, id: usize) -> Option<Outcome> {
        self.of(id, |state| state.outcome.take())
    }

    /// Reads the facts about the transfer.
    pub fn info<R>(&self, id: usize, read: impl FnOnce(&TransferInfo<'_>) -> R) -> R {
        read(&TransferInfo(&self.active[id].easy))
    }

    /// Returns the last URL used.
    pub fn effective_url(&self, id: usize) -> Vec<u8> {
        self.active[id].easy.state().effective_url().to_vec()
    }

    /// Returns the cookies of the transfer's own jar, as lines of a cookie file.
    pub fn cookies(&self, id: usize) -> Vec<Vec<u8>> {
        self.active[id].easy.cookies()
    }

    /// Releases the transfer. One that has not ended is aborted: connection closed, or stream reset.
    pub fn release(&mut self, id: usize) {
        let Some(mut active) = self.active.try_remove(id) else { return };
        let _ = self.multi.remove(&active.easy);
        if self.spare.len() == SPARE {
            active.easy.close();
            return;
        }
        {
            let mut state = active.app.state.borrow_mut();
            let (mut head, mut body) = match self.spare.len() < SPARE_BUFFERS {
                true => (std::mem::take(&mut state.head), std::mem::take(&mut state.body)),
                false => Default::default(),
            };
            [&mut head, &mut body].into_iter().for_each(spare);
            *state = State { head, body, ..State::default() };
        }
        active.app.is_listed.set(false);
        let flow = &active.easy.state().flow;
        let was_paused = flow.receive_paused() || flow.send_paused();
        // The next transfer must not see these cookies; only a share may keep them.
        let has_cookies = !active.easy.cookies().is_empty();
        if has_cookies || was_paused {
            active.reset();
        }
        if has_cookies {
            let _ = active.easy.set_text(EasyOption::CookieFile, None);
        }
        self.spare.push(active);
    }

    fn of<R>(&self, id: usize, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.active[id].app.state.borrow_mut())
    }

    fn go_on(&self, id: usize) {
        let easy = &self.active[id].easy;
        let sends = if easy.state().flow.send_paused() { i64::from(CURLPAUSE_SEND) } else { 0 };
        let _ = easy.pause(sends);
    }

    fn go_on_sending(&self, id: usize) {
        if self.of(id, |state| std::mem::take(&mut state.waits_for_upload)) {
            let easy = &self.active[id].easy;
            let receives = if easy.state().flow.receive_paused() { i64::from(CURLPAUSE_RECV) } else { 0 };
            let _ = easy.pause(receives);
        }
    }
}

impl Drop for Transfers {
    fn drop(&mut self) {
        self.multi.close();
        self.active.drain().chain(self.spare.drain(..)).for_each(|active| active.easy.close());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_handles_are_used_again_and_few_keep_their_buffers() {
        let mut transfers = Transfers::new(None);
        let request = Request {
            options: Vec::new(),
            upload: Upload::Nothing,
            sink: Sink::Memory,
            window: usize::MAX,
            reports_connection: false,
            stall_limit: None,
            explain: crate::Reasons::Off,
            choices: Choices::default(),
            access_policy: None,
        };
        let template = Rc::new(Template::new(request));
        let start = || Start { url: b"file:///", range: None, sink: Sink::Memory, reports_connection: false };
        let most = SPARE + 10;
        for _ in 0..2 {
            let ids: Vec<usize> =
                (0..most).map(|_| transfers.start_like(&template, start()).unwrap()).collect();
            assert!(transfers.spare.is_empty(), "{most} transfers at a time use all handles");
            for id in ids {
                transfers.of(id, |state| (state.head.reserve(10), state.body.reserve(10)));
                transfers.release(id);
            }
            let has_buffers = |active: &&Active| {
                let state = active.app.state.borrow();
                state.head.capacity() > 0 && state.body.capacity() > 0
            };
            assert_eq!(transfers.spare.len(), SPARE);
            assert_eq!(transfers.spare.iter().filter(has_buffers).count(), SPARE_BUFFERS);
        }
    }
}
