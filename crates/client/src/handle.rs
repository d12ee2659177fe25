//! A handle with closures for callbacks, and a transfer in one call.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use engine::Easy;
use engine::callbacks::{Callbacks, DebugKind, ProgressCounts, ReadAnswer, SeekAnswer, Written};
use tables::{Code, EasyOption};

use crate::Value;

/// A handle for transfers one after the other. Its connections stay open between them.
pub struct Handle {
    easy: Easy,
    app: Rc<App>,
}

/// What a transfer brought.
#[derive(Debug, Default)]
pub struct Reply {
    /// Response code, 0 for protocols without one.
    pub status: i64,
    /// Header lines as received.
    pub head: Vec<u8>,
    /// The body.
    pub body: Vec<u8>,
}

/// Why a transfer failed.
#[derive(Debug)]
pub struct Failure {
    /// curl's code.
    pub code: Code,
    /// What happened, in words.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}) {}", self.code.id(), self.message)
    }
}

impl std::error::Error for Failure {}

type Slot<F> = RefCell<Option<Box<F>>>;
type OnData = dyn FnMut(&[u8]) -> Written;
type OnRead = dyn FnMut(&mut [u8]) -> ReadAnswer;
type OnDebug = dyn FnMut(DebugKind, &[u8]);

/// The closures of a handle. Each is taken out while it runs, so that it may use the handle itself.
#[derive(Default)]
struct App {
    write: Slot<OnData>,
    header: Slot<OnData>,
    read: Slot<OnRead>,
    seek: Slot<dyn FnMut(u64) -> SeekAnswer>,
    progress: Slot<dyn FnMut(ProgressCounts) -> bool>,
    debug: Slot<OnDebug>,
}

fn call<F: ?Sized, R>(slot: &Slot<F>, run: impl FnOnce(&mut F) -> R) -> Option<R> {
    let mut closure = slot.borrow_mut().take()?;
    let result = run(&mut closure);
    slot.borrow_mut().get_or_insert(closure);
    Some(result)
}

impl Callbacks for App {
    fn write(&self, data: &[u8]) -> Written {
        call(&self.write, |f| f(data)).unwrap_or(Written::All)
    }

    fn header(&self, line: &[u8]) -> Option<Written> {
        call(&self.header, |f| f(line))
    }

    fn read(&self, buf: &mut [u8]) -> ReadAnswer {
        call(&self.read, |f| f(buf)).unwrap_or(ReadAnswer::Bytes(0))
    }

    fn seek(&self, offset: u64) -> SeekAnswer {
        call(&self.seek, |f| f(offset)).unwrap_or(SeekAnswer::Cannot)
    }

    fn wants_progress(&self) -> bool {
        self.progress.borrow().is_some()
    }

    fn progress(&self, counts: ProgressCounts) -> bool {
        call(&self.progress, |f| f(counts)).unwrap_or(true)
    }

    fn wants_debug(&self) -> bool {
        self.debug.borrow().is_some()
    }

    fn debug(&self, kind: DebugKind, data: &[u8]) {
        call(&self.debug, |f| f(kind, data));
    }
}

impl Default for Handle {
    fn default() -> Self {
        Handle::new()
    }
}

impl Handle {
    /// A handle with curl's defaults.
    pub fn new() -> Handle {
        let app = Rc::new(App::default());
        Handle { easy: Easy::new(app.clone()), app }
    }

    /// The engine's handle, for a [`Multi`](crate::Multi) and for everything that is not here.
    pub fn easy(&self) -> &Easy {
        &self.easy
    }

    /// Sets an option.
    pub fn set(&mut self, option: EasyOption, value: impl Into<Value>) -> Result<(), Code> {
        value.into().apply(option, &self.easy)
    }

    /// Receives the body.
    pub fn on_write(&mut self, f: impl FnMut(&[u8]) -> Written + 'static) {
        *self.app.write.borrow_mut() = Some(Box::new(f));
    }

    /// Receives header lines.
    pub fn on_header(&mut self, f: impl FnMut(&[u8]) -> Written + 'static) {
        *self.app.header.borrow_mut() = Some(Box::new(f));
    }

    /// Gives upload data.
    pub fn on_read(&mut self, f: impl FnMut(&mut [u8]) -> ReadAnswer + 'static) {
        *self.app.read.borrow_mut() = Some(Box::new(f));
    }

    /// Moves in the upload data.
    pub fn on_seek(&mut self, f: impl FnMut(u64) -> SeekAnswer + 'static) {
        *self.app.seek.borrow_mut() = Some(Box::new(f));
    }

    /// Hears of progress; `false` aborts.
    pub fn on_progress(&mut self, f: impl FnMut(ProgressCounts) -> bool + 'static) {
        *self.app.progress.borrow_mut() = Some(Box::new(f));
    }

    /// Hears what curl's verbose mode tells.
    pub fn on_debug(&mut self, f: impl FnMut(DebugKind, &[u8]) + 'static) {
        *self.app.debug.borrow_mut() = Some(Box::new(f));
    }

    /// Runs the transfer.
    pub fn perform(&mut self) -> Result<(), Failure> {
        match self.easy.perform() {
            Code::Ok => Ok(()),
            code => Err(Failure { code, message: self.easy.state().message() }),
        }
    }

    /// Runs the transfer and collects what it brings.
    pub fn fetch(&mut self) -> Result<Reply, Failure> {
        let reply = Rc::new(RefCell::new(Reply::default()));
        let (body, head) = (reply.clone(), reply.clone());
        self.on_write(move |data| {
            body.borrow_mut().body.extend_from_slice(data);
            Written::All
        });
        self.on_header(move |line| {
            head.borrow_mut().head.extend_from_slice(line);
            Written::All
        });
        let result = self.perform();
        *self.app.write.borrow_mut() = None;
        *self.app.header.borrow_mut() = None;
        result?;
        let mut reply = reply.take();
        reply.status = self.easy.state().info.borrow().response_code;
        Ok(reply)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.easy.close();
    }
}

/// Fetches a URL.
pub fn get(url: &str) -> Result<Reply, Failure> {
    let mut handle = Handle::new();
    handle.set(EasyOption::Url, url).map_err(|code| Failure { code, message: code.text().to_owned() })?;
    handle.fetch()
}
