//! One transfer for the engine: destination and source of its data, and its output on the way.

mod caching;
mod headers;
mod resuming;
mod uploading;

pub use caching::Caching;
pub use resuming::Resuming;
pub use uploading::{InUse, Uploading};

use crate::bytes::Bytes;
use crate::env::Env;
use crate::host_section::AppliedSections;
use crate::message::shown;
use crate::progress::{Bar, Counts, End, Meter, bar};
use crate::raw::archive::Exchanges;
use crate::raw::checksum::Check;
use crate::raw::segments::{Abort, Worker};
use crate::raw::sockets::SocketCallbacks;
use crate::raw::{CacheAnswer, PlannedRequest, ReplyAnswer};
use crate::raw::{
    Callbacks, DebugKind, Easy, EasyOption, ProgressCounts, ReadAnswer, SeekAnswer, WriteAnswer,
};
use crate::request::{Fail, Method, Request, Resume};
use crate::saved_queue::handle::EntryHandle;
use crate::sink::{Sink, Stream};
use crate::sockets::Sockets;
use crate::spool::Spool;
use crate::system;
use crate::system::path;
use crate::trace::Kind;
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Number of bytes examined before binary data may be written to a terminal.
const TERMINAL_PROBE: u64 = 2000;

/// The source of an upload.
pub enum Upload {
    None,
    /// Standard input, with the offset at which the upload starts if it is a file.
    Stdin(Option<u64>),
    /// Standard input as it comes, without waiting for it.
    Trickle(Option<u64>),
    /// Standard input that may be sent again.
    Spooled(Spool),
    File(File),
}

impl Upload {
    /// Moves to the offset, if possible.
    fn seek(&mut self, offset: u64) -> io::Result<bool> {
        match self {
            Upload::File(file) => file.seek(SeekFrom::Start(offset)).map(|_| true),
            Upload::Spooled(spool) => Ok(spool.seek(offset)),
            Upload::Stdin(Some(start)) | Upload::Trickle(Some(start)) => {
                system::seek_input(start.saturating_add(offset)).map(|()| true)
            }
            Upload::None | Upload::Stdin(None) | Upload::Trickle(None) => Ok(false),
        }
    }
}

pub struct Transfer {
    pub env: Rc<Env>,
    pub request: Rc<Request>,
    pub url: Bytes,
    pub url_number: usize,
    pub out: RefCell<Sink>,
    pub heads: RefCell<Option<Sink>>,
    pub etag: RefCell<Option<Sink>>,
    pub upload: RefCell<Upload>,
    /// The upload pauses until standard input has more.
    pub wants_input: Cell<bool>,
    /// The server may name the file; headers wait until it has or has not.
    honour_name: Cell<bool>,
    waiting: RefCell<Vec<Bytes>>,
    header_count: Cell<i64>,
    head_ended: Cell<bool>,
    pub counts: Cell<Counts>,
    pub quiet: bool,
    display: RefCell<Display>,
    /// When its first attempt could start, and when the last one did.
    pub created: Instant,
    pub started: Cell<Option<Instant>>,
    /// Whether an error with a text of its own was reported already.
    pub error_reported: Cell<bool>,
    /// Whether text goes to the terminal, where null bytes are refused.
    pub guards_terminal: bool,
    pub easy: RefCell<Option<Easy>>,
    pub retries: Cell<i64>,
    sockets: Option<Sockets>,
    /// Requests and replies, if a report needs them.
    pub exchanges: RefCell<Exchanges>,
    /// To be ended, because of another transfer.
    pub abort: Cell<bool>,
    /// Whether a body was refused because of its status (`--fail-on`).
    pub refused_body: Cell<bool>,
    /// Hashes of the received data, if it has to be compared.
    pub check: RefCell<Option<Check>>,
    /// Whether the received data is wrong and must be removed.
    pub condemned: Cell<bool>,
    /// An error that is not the library's.
    pub own_error: RefCell<Option<String>>,
    /// Another attempt may ask for the rest.
    pub resuming: RefCell<Option<Resuming>>,
    /// Receiver of the body in place of the output.
    pub divert: RefCell<Option<Rc<Worker>>>,
    /// The cache, if replies may be stored or used.
    pub caching: RefCell<Option<Rc<Caching>>>,
    /// Options of sections for the host, which another host does not get.
    pub sections: RefCell<Option<AppliedSections>>,
    /// The entry of a saved queue, which learns how this goes.
    pub saved: RefCell<Option<Rc<EntryHandle>>>,
}

/// The header lines of a scheme for `--show-headers`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    Http,
    /// Not HTTP, but headers are shown.
    WithHeaders,
    Otherwise,
}

/// The treatment of a failed attempt's data.
pub enum FailedAttempt {
    /// It is kept, and another attempt continues after that many bytes.
    Kept(u64),
    /// So many were thrown away.
    Thrown(u64),
}

/// How progress is shown.
pub enum Display {
    None,
    Meter(Meter),
    Bar(Bar),
    /// A bar with the name, rate and time left; with the time of the last update.
    Named(Option<Instant>),
    /// Counted only; another part shows it.
    Counted,
}

/// The parts of a new transfer.
pub struct Parts {
    pub env: Rc<Env>,
    pub request: Rc<Request>,
    pub url: Bytes,
    pub url_number: usize,
    pub out: Sink,
    pub heads: Option<Sink>,
    pub etag: Option<Sink>,
    pub upload: Upload,
    pub honour_name: bool,
    pub guards_terminal: bool,
    pub display: Display,
    pub check: Option<Check>,
}

impl Transfer {
    pub fn new(parts: Parts) -> Rc<Transfer> {
        Rc::new(Transfer {
            sockets: Sockets::of(&parts.request, &parts.env),
            env: parts.env,
            request: parts.request,
            url: parts.url,
            url_number: parts.url_number,
            out: RefCell::new(parts.out),
            heads: RefCell::new(parts.heads),
            etag: RefCell::new(parts.etag),
            upload: RefCell::new(parts.upload),
            wants_input: Cell::new(false),
            honour_name: Cell::new(parts.honour_name),
            waiting: RefCell::default(),
            header_count: Cell::new(0),
            head_ended: Cell::new(false),
            counts: Cell::default(),
            quiet: matches!(parts.display, Display::None),
            display: RefCell::new(parts.display),
            created: Instant::now(),
            started: Cell::new(None),
            error_reported: Cell::new(false),
            guards_terminal: parts.guards_terminal,
            easy: RefCell::default(),
            retries: Cell::new(0),
            exchanges: RefCell::default(),
            abort: Cell::new(false),
            refused_body: Cell::new(false),
            check: RefCell::new(parts.check),
            condemned: Cell::new(false),
            own_error: RefCell::default(),
            resuming: RefCell::default(),
            divert: RefCell::default(),
            caching: RefCell::default(),
            sections: RefCell::default(),
            saved: RefCell::default(),
        })
    }

    pub fn header_count(&self) -> i64 {
        self.header_count.get()
    }

    /// Returns why the command of `--proxy-command` is to blame for a failure.
    pub fn proxy_command_failure(&self) -> Option<String> {
        self.sockets.as_ref()?.command_failure()
    }

    /// Returns the status of the reply if the transfer fails because of it.
    pub fn failing_status(&self) -> Option<i64> {
        let (answers, status) = self.answer();
        self.request.fails_on(status, answers == Answers::Http).then_some(status)
    }

    /// Returns the kind of the reply, and its code so far.
    fn answer(&self) -> (Answers, i64) {
        let easy = self.easy.borrow();
        let Some(easy) = easy.as_ref() else { return (Answers::Otherwise, 0) };
        let (scheme, code) = easy.info(|info| (info.scheme(), info.response_code()));
        let is = |name: &&str| scheme.eq_ignore_ascii_case(name);
        let answers = if ["http", "https"].iter().any(is) {
            Answers::Http
        } else if ["file", "rtsp"].iter().any(is) {
            Answers::WithHeaders
        } else {
            Answers::Otherwise
        };
        (answers, code)
    }

    fn ids(&self) -> (i64, i64) {
        let easy = self.easy.borrow();
        let Some(easy) = easy.as_ref() else { return (-1, -1) };
        let connection = easy.info(|info| info.connection_id());
        (easy.transfer_id(), connection)
    }

    fn spent(&self) -> Duration {
        self.started.get().map_or(Duration::ZERO, |started| started.elapsed())
    }

    /// Opens the output if need be.
    fn opened(&self) -> bool {
        let mut out = self.out.borrow_mut();
        out.is_open() || out.open(&mut self.env.messages.borrow_mut())
    }

    fn put_head(&self, data: &[u8]) -> io::Result<()> {
        // A trace may go to standard output, too, and its lines are then between those of the head; so are
        // those of --dump-header.
        let dumped = self.heads.borrow().as_ref().is_some_and(|heads| matches!(heads.stream, Stream::Stdout));
        let together = !self.env.traces() && !dumped;
        self.out.borrow_mut().write_head(data, together, &mut self.env.messages.borrow_mut())
    }

    fn put(&self, data: &[u8]) -> io::Result<()> {
        self.out.borrow_mut().write(data, &mut self.env.messages.borrow_mut())
    }

    fn body(&self, data: &[u8]) -> Result<(), ()> {
        let divert = self.divert.borrow().clone();
        if let Some(divert) = divert {
            return divert.take(data).map_err(|Abort| self.error_reported.set(true));
        }
        if !self.is_wanted()? {
            return Ok(());
        }
        if self.request.fail_on.is_some()
            && self.request.fail != Fail::WithBody
            && self.failing_status().is_some()
        {
            self.refused_body.set(true);
            return Err(());
        }
        if !self.opened() {
            return Err(());
        }
        self.honour_name.set(false);
        self.release()?;
        self.report_opened();
        let probed = self.guards_terminal && self.out.borrow().bytes < TERMINAL_PROBE;
        if probed && data.contains(&0) {
            self.env.warn(
                "Binary output can mess up your terminal. Use \"--output -\" to tell curl to output it to your \
                 terminal anyway, or consider \"--output <FILE>\" to save to a file.",
            );
            self.error_reported.set(true);
            return Err(());
        }
        self.put(data).map_err(|_| ())?;
        if let Some(check) = &mut *self.check.borrow_mut() {
            check.update(data);
        }
        self.cache_body(data);
        Ok(())
    }

    /// Restarts hashing with the existing contents of the output.
    pub fn restart_check(&self) -> io::Result<()> {
        let mut check = self.check.borrow_mut();
        let Some(check) = check.as_mut() else { return Ok(()) };
        let out = self.out.borrow();
        match out.before()? {
            Some(mut before) => check.restart_behind(&mut before),
            None => {
                check.restart();
                Ok(())
            }
        }
    }

    /// Ten times a second at most.
    fn named_line(&self, drawn: &mut Option<Instant>, counts: Counts, end: Option<End>) -> Option<String> {
        if drawn.is_some_and(|at| at.elapsed() < Duration::from_millis(100)) {
            return None;
        }
        *drawn = Some(Instant::now());
        let (columns, _) = self.env.screen();
        let line = bar(&self.short_name(), counts, self.spent(), end, columns);
        Some(format!("\r{line}\x1b[K"))
    }

    /// The end of the URL, for bars.
    pub fn short_name(&self) -> String {
        let url = shown(&self.url);
        let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        path.rsplit('/').next().unwrap_or_default().to_string()
    }

    /// The last line of the display.
    pub fn finish_progress(&self, code: i32) {
        let status = match self.answer() {
            (Answers::Http, status) => status,
            _ => 0,
        };
        let end = End { code, status };
        let line = match &mut *self.display.borrow_mut() {
            Display::Meter(meter) => meter.line(self.counts.get(), self.spent(), true),
            Display::Bar(bar) if bar.shown => Some("\n".to_string()),
            Display::Named(Some(_)) => {
                self.named_line(&mut None, self.counts.get(), Some(end)).map(|line| format!("{line}\n"))
            }
            _ => None,
        };
        if let Some(line) = line {
            self.env.messages.borrow_mut().raw(line.as_bytes());
        }
        let mut display = self.display.borrow_mut();
        if let Display::Meter(meter) = &mut *display {
            *meter = meter.again();
        } else if let Display::Bar(bar) = &mut *display {
            bar.shown = false;
        }
    }

    /// Shows the progress of a file that other transfers fetch.
    pub fn show_whole(&self, there: i64, all: i64) {
        let counts = Counts { download: there, download_total: all, ..Counts::default() };
        self.counts.set(counts);
        self.draw(counts);
    }

    /// Resets the state of one piece before the request of another.
    pub fn before_piece(&self) {
        self.header_count.set(0);
        self.head_ended.set(false);
        self.error_reported.set(false);
        self.exchanges.take();
        self.started.set(Some(Instant::now()));
    }

    fn draw(&self, counts: Counts) {
        let line = match &mut *self.display.borrow_mut() {
            Display::Meter(meter) => meter.line(counts, self.spent(), false),
            Display::Bar(bar) => bar.line(counts, self.spent()),
            Display::Named(drawn) => self.named_line(drawn, counts, None),
            Display::None | Display::Counted => None,
        };
        if let Some(line) = line {
            self.env.messages.borrow_mut().raw(line.as_bytes());
        }
    }

    /// Prepares another attempt; returns what happens to the received bytes.
    pub fn prepare_retry(&self) -> io::Result<FailedAttempt> {
        self.header_count.set(0);
        self.head_ended.set(false);
        self.waiting.borrow_mut().clear();
        self.condemned.set(false);
        self.refused_body.set(false);
        self.own_error.take();
        self.error_reported.set(false);
        if let Some(caching) = self.caching.borrow().as_ref() {
            caching.reset();
        }
        self.upload.borrow_mut().seek(0)?;
        if self.requests_rest()? {
            return Ok(FailedAttempt::Kept(0));
        }
        let mut out = self.out.borrow_mut();
        if !out.is_file() {
            drop(out);
            self.restart_check()?;
            return Ok(FailedAttempt::Thrown(0));
        }
        let resumes =
            self.request.resume == Some(Resume::Current) && self.request.method == Method::Unspecified;
        if !resumes || !matches!(*self.upload.borrow(), Upload::None) {
            let thrown = out.rewind()?;
            drop(out);
            self.restart_check()?;
            return Ok(FailedAttempt::Thrown(thrown));
        }
        // Received data is kept, and the next attempt continues after it.
        let kept = out.bytes;
        let offset = out.keep()? as i64;
        if let Some(check) = &mut *self.check.borrow_mut() {
            check.go_on();
        }
        if let Some(easy) = self.easy.borrow().as_ref() {
            let _ = easy.set(EasyOption::ResumeFromLarge, offset);
        }
        Ok(FailedAttempt::Kept(kept))
    }
}

impl Callbacks for Transfer {
    fn write(&self, data: &[u8]) -> WriteAnswer {
        match self.body(data) {
            Ok(()) => WriteAnswer::All,
            Err(()) => WriteAnswer::Failed(usize::MAX),
        }
    }

    fn header(&self, line: &[u8]) -> Option<WriteAnswer> {
        if self.caching.borrow().as_ref().is_some_and(|caching| caching.holds_back(line)) {
            return Some(WriteAnswer::All);
        }
        self.keep_upload_place();
        Some(match self.header_line(line) {
            Ok(()) => WriteAnswer::All,
            Err(()) => WriteAnswer::Failed(usize::MAX),
        })
    }

    fn redirected(&self, url: &[u8]) {
        let easy = self.easy.borrow().clone();
        if let (Some(sections), Some(easy)) = (&*self.sections.borrow(), easy) {
            sections.go_to(&self.env.globals.sections, url, &easy);
        }
    }

    fn has_cache(&self) -> bool {
        self.caching.borrow().is_some()
    }

    fn before_request(&self, request: PlannedRequest<'_>) -> CacheAnswer {
        self.ask_cache(request)
    }

    fn before_body(&self, status: Option<u16>) -> ReplyAnswer {
        self.check_reply(status)
    }

    fn read(&self, buf: &mut [u8]) -> ReadAnswer {
        self.note_upload_begun();
        let got = match &mut *self.upload.borrow_mut() {
            Upload::None => Ok(0),
            Upload::Trickle(_) if !system::input_is_ready() => {
                self.wants_input.set(true);
                return ReadAnswer::Pause;
            }
            Upload::Stdin(_) | Upload::Trickle(_) => system::read_input(buf),
            Upload::Spooled(spool) => spool.read(buf, system::read_input),
            Upload::File(file) => file.read(buf),
        };
        match got {
            Ok(count) => ReadAnswer::Bytes(count),
            Err(_) => ReadAnswer::Abort,
        }
    }

    fn seek(&self, offset: u64) -> SeekAnswer {
        match self.upload.borrow_mut().seek(offset) {
            Ok(true) => SeekAnswer::Done,
            Ok(false) | Err(_) => SeekAnswer::Cannot,
        }
    }

    fn wants_progress(&self) -> bool {
        !self.quiet || self.abort.get()
    }

    fn progress(&self, counts: ProgressCounts) -> bool {
        let counts = Counts {
            download_total: counts.download_total,
            download: counts.download_now,
            upload_total: counts.upload_total,
            upload: counts.upload_now,
        };
        self.counts.set(counts);
        if self.divert.borrow().is_none() {
            self.draw(counts);
        }
        !self.abort.get()
    }

    fn sockets(&self) -> Option<&dyn SocketCallbacks> {
        self.sockets.as_ref().map(|sockets| sockets as &dyn SocketCallbacks)
    }

    fn wants_debug(&self) -> bool {
        self.env.traces() || self.env.globals.reports()
    }

    fn traces(&self, layer: &str) -> bool {
        self.env.globals.layers.includes(layer)
    }

    fn debug(&self, kind: DebugKind, data: &[u8]) {
        let kind = match kind {
            DebugKind::Text => Kind::Text,
            DebugKind::HeaderIn => Kind::HeaderIn,
            DebugKind::HeaderOut => Kind::HeaderOut,
            DebugKind::DataIn => Kind::DataIn,
            DebugKind::DataOut => Kind::DataOut,
            DebugKind::TlsDataIn => Kind::TlsIn,
            DebugKind::TlsDataOut => Kind::TlsOut,
        };
        if self.env.globals.reports() {
            let mut exchanges = self.exchanges.borrow_mut();
            match kind {
                Kind::Text => exchanges.noted(data),
                Kind::HeaderOut => exchanges.asked(data),
                Kind::DataOut => exchanges.sent(data),
                Kind::HeaderIn => exchanges.answered(data),
                _ => {}
            }
        }
        self.env.trace(kind, data, self.ids());
    }
}

/// Opens the file to upload; returns its size if it is known.
pub fn open_upload(name: &[u8]) -> io::Result<(Upload, Option<u64>)> {
    match name {
        b"-" => return Ok((Upload::Stdin(system::input_position()), None)),
        b"." => return Ok((Upload::Trickle(system::input_position()), None)),
        _ => {}
    }
    let file = File::open(path(name))?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let size = metadata.is_file().then_some(metadata.len());
    Ok((Upload::File(file), size))
}

/// Flushes standard output, which is buffered until here.
pub fn flush_stdout() -> io::Result<()> {
    system::stdout().flush()
}
