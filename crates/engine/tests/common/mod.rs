//! A minimal application: stores what it receives, and returns scripted results.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use tables::{Code, EasyOption as O};
use warmwire_engine::callbacks::{Callbacks, DebugKind, ReadAnswer, SeekAnswer, WriteAnswer};
use warmwire_engine::{Easy, FtpPipelining, Multi};

/// The application's side of one handle.
#[derive(Default)]
pub struct App {
    /// Body received.
    pub body: RefCell<Vec<u8>>,
    /// Header lines received.
    pub headers: RefCell<Vec<u8>>,
    /// Data for the read callback.
    pub upload: RefCell<Vec<u8>>,
    /// How much of it has been read.
    pub read_at: Cell<usize>,
    /// Trailers to send.
    pub trailers: RefCell<Vec<&'static str>>,
    /// Verbose output, if it is wanted.
    pub notes: RefCell<Option<String>>,
    /// Answers to the next writes; when empty, everything is taken.
    pub answers: RefCell<VecDeque<WriteAnswer>>,
    /// Called inside each write.
    #[allow(clippy::type_complexity)]
    pub on_write: RefCell<Option<Rc<dyn Fn()>>>,
}

/// Shared with the handle.
pub struct Callee(pub Rc<App>);

impl Callbacks for Callee {
    fn write(&self, data: &[u8]) -> WriteAnswer {
        let hook = self.0.on_write.borrow().clone();
        if let Some(hook) = hook {
            hook();
        }
        let answer = self.0.answers.borrow_mut().pop_front().unwrap_or(WriteAnswer::All);
        if answer == WriteAnswer::All {
            self.0.body.borrow_mut().extend_from_slice(data);
        }
        answer
    }

    fn header(&self, line: &[u8]) -> Option<WriteAnswer> {
        self.0.headers.borrow_mut().extend_from_slice(line);
        Some(WriteAnswer::All)
    }

    fn read(&self, buf: &mut [u8]) -> ReadAnswer {
        let upload = self.0.upload.borrow();
        let from = self.0.read_at.get();
        let n = buf.len().min(upload.len() - from);
        buf[..n].copy_from_slice(&upload[from..from + n]);
        self.0.read_at.set(from + n);
        ReadAnswer::Bytes(n)
    }

    fn trailers(&self) -> Option<Vec<Rc<[u8]>>> {
        Some(self.0.trailers.borrow().iter().map(|line| line.as_bytes().into()).collect())
    }

    fn wants_debug(&self) -> bool {
        self.0.notes.borrow().is_some()
    }

    fn traces(&self, _layer: &str) -> bool {
        true
    }

    fn debug(&self, kind: DebugKind, data: &[u8]) {
        if let (DebugKind::Text, Some(notes)) = (kind, &mut *self.0.notes.borrow_mut()) {
            notes.push_str(&String::from_utf8_lossy(data));
        }
    }

    fn seek(&self, offset: u64) -> SeekAnswer {
        self.0.read_at.set(offset as usize);
        SeekAnswer::Done
    }
}

/// A handle for this URL, and its application.
pub fn handle(url: &str) -> (Easy, Rc<App>) {
    let app = Rc::new(App::default());
    let easy = Easy::new(Rc::new(Callee(app.clone())));
    text(&easy, O::Url, url);
    (easy, app)
}

/// A handle for an FTP URL whose commands are pipelined so far, with a time limit.
#[allow(dead_code)]
pub fn ftp_handle(level: FtpPipelining, url: &str) -> (Easy, Rc<App>) {
    let (easy, app) = handle(url);
    easy.state().ftp_pipelining.set(Some(level));
    long(&easy, O::TimeoutMs, 20_000);
    (easy, app)
}

/// Performs the transfer; returns the body, or the error.
#[allow(dead_code)]
pub fn fetch(easy: &Easy, app: &App) -> Result<Vec<u8>, Code> {
    app.body.borrow_mut().clear();
    match easy.perform() {
        Code::Ok => Ok(app.body.take()),
        code => Err(code),
    }
}

/// Sets a string option.
pub fn text(easy: &Easy, option: O, value: &str) {
    easy.state().settings.borrow_mut().set_text(option, Some(value.as_bytes())).unwrap();
}

/// Sets a number option.
#[allow(dead_code)]
pub fn long(easy: &Easy, option: O, value: i64) {
    easy.state().settings.borrow_mut().set_long(option, value).unwrap();
}

/// Runs a multi handle until a condition holds.
#[allow(dead_code)]
pub fn run_until(multi: &Multi, mut is_done: impl FnMut() -> bool) {
    for _ in 0..100_000 {
        multi.perform();
        if is_done() {
            return;
        }
        multi.wait(&mut [], Duration::from_millis(20), false).unwrap();
    }
    panic!("the transfers have not come so far");
}

/// Waits up to ten seconds for a result of another thread.
#[allow(dead_code)]
pub fn eventually(mut is_done: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if is_done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("another thread has not finished within ten seconds");
}

/// Runs a multi until its one message comes.
#[allow(dead_code)]
pub fn until_done(multi: &Multi) -> Code {
    for _ in 0..10_000 {
        multi.perform();
        if let Some((message, _)) = multi.next_message() {
            return message.code;
        }
        multi.wait(&mut [], Duration::from_secs(1), false).unwrap();
    }
    panic!("the transfer did not end");
}
