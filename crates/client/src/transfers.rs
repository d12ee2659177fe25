//! Simultaneous transfers for an event loop that the caller runs.
//!
//! [`Transfers`] starts them, runs what is ready, and reports which have news. It never calls the caller:
//! bodies are buffered, up to a window beyond which the sender waits, and uploads are fed in. The futures of
//! [`Client`](crate::Client) and the Python package use it.

mod data;
mod outcome;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::rc::Rc;
use std::time::{Duration, Instant};

use engine::callbacks::{Callbacks, Endpoints, ReadAnswer, SeekAnswer, WriteAnswer};
use engine::multi::Limits;
use engine::process_pool::Pool;
use engine::{Descriptor, Easy, Multi, Share, Turn};
use slab::Slab;
use tables::constant::{CURLPAUSE_RECV, CURLPAUSE_SEND};
use tables::{Code, EasyOption, MultiCode};

use crate::{AccessPolicy, Failure, TransferInfo, Value, value};

pub use data::{Sink, Upload};
pub use engine::{Choices, ProxiedSchemes, ProxyRule, TlsLibrary};
pub use outcome::Outcome;

/// Number of handles kept for later transfers.
const SPARE: usize = 64;
/// Largest buffer of a head or a body that such a handle keeps.
const SPARE_STORAGE: usize = 16 * 1024;

/// A transfer to start.
pub struct Request {
    /// Options, in the order in which they are set.
    pub options: Vec<(EasyOption, Value)>,
    /// The data that [`EasyOption::Upload`] sends.
    pub upload: Upload,
    /// The destination of the body.
    pub sink: Sink,
    /// Limit of buffered body in bytes; beyond it the sender has to wait.
    pub window: usize,
    /// Whether [`Transfers::next_news`] reports an opened connection.
    pub reports_connection: bool,
    /// How long a connected transfer may move no byte; `None` is no limit.
    pub stall_limit: Option<Duration>,
    /// Whether the reasons of the transfer are kept.
    pub explain: bool,
    /// The TLS library, and proxies by scheme.
    pub choices: Choices,
    /// The policy that it must satisfy, beside that of the process.
    pub access_policy: Option<AccessPolicy>,
}

/// The transfers that have news, each listed once.
#[derive(Default)]
struct News(RefCell<VecDeque<usize>>);

/// The callbacks of one transfer.
struct App {
    state: RefCell<State>,
    news: Rc<News>,
    told: Cell<bool>,
    follows: Cell<bool>,
    authenticates: Cell<bool>,
    /// Whether a 101 ends the head: frames of a WebSocket follow, as they are.
    upgrades: Cell<bool>,
}

#[derive(Default)]
struct State {
    id: usize,
    sink: Sink,
    window: usize,
    reports_connection: bool,
    connected: bool,
    head: Vec<u8>,
    /// Offset of the last head.
    last_head: usize,
    head_is_final: bool,
    body: Vec<u8>,
    waits_for_taker: bool,
    upload: Upload,
    sent: usize,
    fed: VecDeque<u8>,
    fed_whole: bool,
    waits_for_food: bool,
    outcome: Option<Outcome>,
    write_error: Option<io::Error>,
}

impl App {
    fn tell(&self) {
        if !self.told.replace(true) {
            self.news.0.borrow_mut().push_back(self.state.borrow().id);
        }
    }

    /// Returns whether the head itself shows that it is the last one. Otherwise the first byte of body does.
    fn ends_it(&self, head: &[u8]) -> bool {
        let status = head.get(9..12).and_then(|s| std::str::from_utf8(s).ok()?.parse().ok()).unwrap_or(0);
        match status {
            101 => self.upgrades.get(),
            0..=199 => false,
            300..=399 => !self.follows.get(),
            401 | 407 => !self.authenticates.get(),
            _ => true,
        }
    }
}

impl Callbacks for App {
    fn write(&self, data: &[u8]) -> WriteAnswer {
        let mut guard = self.state.borrow_mut();
        let state = &mut *guard;
        if let Sink::File(file) = &mut state.sink {
            if let Err(error) = file.write_all(data) {
                state.write_error = Some(error);
                return WriteAnswer::Failed(0);
            }
            state.head_is_final = true;
            return WriteAnswer::All;
        }
        state.head_is_final = true;
        if state.body.len() >= state.window {
            state.waits_for_taker = true;
            return WriteAnswer::Pause;
        }
        state.body.extend_from_slice(data);
        let streams = state.window < usize::MAX;
        drop(guard);
        if streams {
            self.tell();
        }
        WriteAnswer::All
    }

    fn header(&self, line: &[u8]) -> Option<WriteAnswer> {
        let mut guard = self.state.borrow_mut();
        let state = &mut *guard;
        if line.starts_with(b"HTTP/") {
            state.last_head = state.head.len();
            state.head.reserve(512); // most heads are smaller, and grow without copies
        }
        state.head.extend_from_slice(line);
        let ends = state.window < usize::MAX && matches!(line, b"\r\n" | b"\n");
        if ends && self.ends_it(&state.head[state.last_head..]) {
            state.head_is_final = true;
            drop(guard);
            self.tell();
        }
        Some(WriteAnswer::All)
    }

    fn read(&self, buf: &mut [u8]) -> ReadAnswer {
        let mut guard = self.state.borrow_mut();
        let state = &mut *guard;
        match &state.upload {
            Upload::Nothing => ReadAnswer::Bytes(0),
            Upload::Memory(bytes) => {
                let rest = &bytes[state.sent..];
                let count = rest.len().min(buf.len());
                buf[..count].copy_from_slice(&rest[..count]);
                state.sent += count;
                ReadAnswer::Bytes(count)
            }
            Upload::Fed if state.fed.is_empty() && !state.fed_whole => {
                state.waits_for_food = true;
                drop(guard);
                self.tell();
                ReadAnswer::Pause
            }
            Upload::Fed => {
                let count = io::Read::read(&mut state.fed, buf).unwrap_or(0);
                ReadAnswer::Bytes(count)
            }
        }
    }

    fn prereq(&self, _ends: &Endpoints) -> bool {
        let mut state = self.state.borrow_mut();
        let first = !std::mem::replace(&mut state.connected, true);
        let tells = first && state.reports_connection;
        drop(state);
        if tells {
            self.tell();
        }
        true
    }

    fn seek(&self, offset: u64) -> SeekAnswer {
        let mut state = self.state.borrow_mut();
        match &state.upload {
            Upload::Memory(bytes) if offset <= bytes.len() as u64 => {
                state.sent = offset as usize;
                SeekAnswer::Done
            }
            _ => SeekAnswer::Cannot,
        }
    }
}

/// A transfer that has not been released; it may have ended.
struct Active {
    easy: Easy,
    app: Rc<App>,
    /// The options that were set. A spare handle keeps them.
    set: Vec<(EasyOption, Value)>,
}

impl Active {
    /// Sets the options of a request. If they differ from the previous ones only in URL and header fields,
    /// only those are set, so that the handle keeps what it has derived from the rest.
    fn set(&mut self, options: Vec<(EasyOption, Value)>) -> Result<(), Failure> {
        let is_like = |((option, value), (before, known)): (&(EasyOption, Value), &(EasyOption, Value))| {
            option == before
                && match option {
                    EasyOption::Url | EasyOption::HttpHeader => true,
                    // The option is a command, not a state.
                    EasyOption::CookieList => false,
                    _ => value == known,
                }
        };
        let is_again = !self.set.is_empty()
            && self.set.len() == options.len()
            && options.iter().zip(&self.set).all(is_like);
        if !is_again {
            self.reset();
        }
        for (place, (option, value)) in options.iter().enumerate() {
            if is_again && self.set[place].1 == *value {
                continue;
            }
            match option {
                EasyOption::FollowLocation => self.app.follows.set(true),
                EasyOption::UserPwd | EasyOption::Username | EasyOption::ProxyUsername => {
                    self.app.authenticates.set(true)
                }
                EasyOption::WsOptions => self.app.upgrades.set(true),
                _ => {}
            }
            if let Err(code) = value::apply(value.clone(), *option, &self.easy) {
                return Err(Failure { code, message: format!("{}: {}", option.name(), code.text()) });
            }
        }
        self.set = options;
        Ok(())
    }

    fn choose(&self, choices: &Choices) {
        self.easy.state().settings.borrow_mut().set_choices(choices);
        if choices.proxies.iter().flat_map(|rules| rules.iter()).any(|rule| rule.url.contains('@')) {
            self.app.authenticates.set(true);
        }
    }

    fn reset(&mut self) {
        self.set.clear();
        self.easy.reset();
        [&self.app.follows, &self.app.authenticates, &self.app.upgrades]
            .iter()
            .for_each(|flag| flag.set(false));
    }
}

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
        }
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
    pub fn start(&mut self, request: Request) -> Result<usize, Failure> {
        let mut active = self.spare.pop().unwrap_or_else(|| self.fresh());
        active.set(request.options)?;
        let place = self.active.vacant_entry();
        active.choose(&request.choices);
        let Active { easy, app, .. } = &active;
        easy.state().tag.set(place.key() + 1);
        easy.keep_reasons(request.explain);
        let policy = request.access_policy.map(AccessPolicy::into_inner);
        easy.state().settings.borrow_mut().set_policy(policy);
        easy.state().stall_limit.set(request.stall_limit.filter(|limit| !limit.is_zero()));
        {
            let mut state = app.state.borrow_mut();
            state.id = place.key();
            (state.sink, state.window, state.upload) = (request.sink, request.window, request.upload);
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
            told: Cell::new(false),
            follows: Cell::new(false),
            authenticates: Cell::new(false),
            upgrades: Cell::new(false),
        });
        let easy = Easy::new(app.clone());
        easy.set_share(self.share.clone());
        Active { easy, app, set: Vec::new() }
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
            active.app.tell();
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
                active.app.told.set(false);
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
            (found, std::mem::take(&mut state.waits_for_taker))
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

    /// Returns the number of buffered bytes of body.
    pub fn waiting_body(&self, id: usize) -> usize {
        self.of(id, |state| state.body.len())
    }

    /// Takes the buffered body.
    pub fn take_body(&self, id: usize) -> Vec<u8> {
        let (body, waits) = self
            .of(id, |state| (std::mem::take(&mut state.body), std::mem::take(&mut state.waits_for_taker)));
        if waits {
            self.go_on(id);
        }
        body
    }

    /// Returns whether the transfer waits for more upload data.
    pub fn wants_upload(&self, id: usize) -> bool {
        self.of(id, |state| state.waits_for_food)
    }

    /// Adds upload data.
    pub fn feed(&self, id: usize, bytes: &[u8]) {
        self.of(id, |state| state.fed.extend(bytes));
        self.go_on_sending(id);
    }

    /// Ends the upload data.
    pub fn end_upload(&self, id: usize) {
        self.of(id, |state| state.fed_whole = true);
        self.go_on_sending(id);
    }

    /// Returns the code the transfer ended with; `None` while it runs.
    pub fn ending(&self, id: usize) -> Option<Code> {
        self.of(id, |state| state.outcome.as_ref().map(|outcome| outcome.code))
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
            let (mut head, mut body) = (std::mem::take(&mut state.head), std::mem::take(&mut state.body));
            [&mut head, &mut body].into_iter().for_each(spare);
            *state = State { head, body, ..State::default() };
        }
        active.app.told.set(false);
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
        if self.of(id, |state| std::mem::take(&mut state.waits_for_food)) {
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
