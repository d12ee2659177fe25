//! Python's transfers and pools.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::MutexGuard;
use std::time::Duration;

use pyo3::exceptions::{PyKeyError, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use warmwire::transfers::{Request, Sink, Start, Template, Transfers, Upload};
use warmwire::{Descriptor, Failure, Limits, LockData, Share};

use crate::body::Memory;
use crate::options;
use crate::outcome::Outcome;
use crate::process_mutex::ProcessMutex;

/// How often a running engine checks for signals; one that arrives during a wait ends it anyway.
const TURN: Duration = Duration::from_secs(1);

/// Connections, names and TLS sessions that the engines of any threads have in common.
#[pyclass(frozen, module = "warmwire._native")]
pub struct Pool(Share);

#[pymethods]
impl Pool {
    /// Keeps at most `max_idle` idle connections.
    #[new]
    #[pyo3(signature = (max_idle=None))]
    fn new(max_idle: Option<usize>) -> Pool {
        let share = max_idle.map_or_else(Share::default, Share::with_idle_limit);
        for kind in [LockData::Connect, LockData::Dns, LockData::SslSession] {
            share.set_kind(kind, true);
        }
        Pool(share)
    }

    /// Closes the idle connections politely.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.close());
    }
}

/// The transfers of one loop; one thread at a time runs them.
#[pyclass(frozen, module = "warmwire._native")]
pub struct Engine(ProcessMutex<Inner>);

struct Inner {
    transfers: Transfers,
    descriptor: Option<Descriptor>,
    templates: Vec<Option<Rc<Template>>>,
}

// SAFETY: What is counted without atomics (`Rc`) belongs to the transfers only: none of it is handed out, and
// `Engine` accesses it under its mutex. It moves between threads as a whole, as the C API's handles do. What
// it shares with others (`Share`, the process's resolver) is thread-safe.
unsafe impl Send for Inner {}

impl Engine {
    fn known(inner: &Inner, id: usize) -> PyResult<&Transfers> {
        match inner.transfers.knows(id) {
            true => Ok(&inner.transfers),
            false => Err(PyKeyError::new_err(id)),
        }
    }

    /// Runs `ask` on the transfers after a check that the transfer exists.
    pub fn with<R>(&self, py: Python<'_>, id: usize, ask: impl FnOnce(&Transfers) -> R) -> PyResult<R> {
        let inner = self.0.lock(py)?;
        Self::known(&inner, id).map(ask)
    }

    /// Runs, waits at most so many seconds for news, and returns the locked transfers. The interpreter's
    /// lock is taken once for all news of a turn.
    fn wait_for_news(&self, py: Python<'_>, seconds: f64) -> PyResult<MutexGuard<'_, Inner>> {
        let max = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(TURN).min(TURN);
        let mut inner = self.0.lock(py)?;
        let moved = Shown(&mut inner.transfers);
        let waited = py.detach(move || moved.run_for(max));
        // Signals are checked without the engine's lock, because a handler may use the engine; after an
        // exception the news stay for the next call.
        drop(inner);
        py.check_signals()?;
        waited?;
        self.0.lock(py)
    }

    /// Runs for a turn, or until the transfer has something new.
    fn turn(&self, id: usize) -> io::Result<()> {
        let mut inner = self.0.lock_detached();
        let transfers = &mut inner.transfers;
        transfers.perform();
        let mut news = transfers.has_ended(id);
        while let Some(with) = transfers.next_news() {
            news |= with == id;
        }
        if news {
            return Ok(());
        }
        match transfers.wait(TURN) {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => Err(e),
            _ => Ok(()),
        }
    }
}

/// Builds a request with the body in memory: `upload` is None, bytes, or anything else if `feed` provides it.
fn request(
    options: &Bound<'_, PyList>,
    upload: Option<&Bound<'_, PyAny>>,
    window: Option<usize>,
) -> PyResult<Request> {
    let upload = match upload {
        None => Upload::Nothing,
        Some(given) => match given.cast::<PyBytes>() {
            Ok(bytes) => Upload::Memory(vec![bytes.as_bytes().to_vec().into()]),
            Err(_) => Upload::Fed,
        },
    };
    let options = options::read(options)?;
    Ok(Request {
        options: options.list,
        upload,
        sink: Sink::Memory,
        window: window.unwrap_or(usize::MAX),
        reports_connection: false,
        choices: options.choices,
        stall_limit: options.stall_limit,
        explain: options.explain,
        access_policy: options.access_policy,
    })
}

/// Returns the transfers with news since the last call, and the seconds until the next call if no descriptor
/// becomes readable.
fn news_and_timeout(transfers: &Transfers) -> (Vec<usize>, Option<f64>) {
    let news = std::iter::from_fn(|| transfers.next_news()).collect();
    (news, transfers.timeout().map(|timeout| timeout.as_secs_f64()))
}

/// Returns the sink of the body: memory, or a file from this offset on.
fn sink(path: Option<PathBuf>, at: u64) -> PyResult<Sink> {
    let Some(path) = path else { return Ok(Sink::Memory) };
    let mut file = OpenOptions::new().write(true).create(true).truncate(at == 0).open(path)?;
    io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
    Ok(Sink::File(file))
}

/// News of a transfer: its number, curl's code (-1 if it continues), status, and outcome if it was taken.
type Ending = (usize, i32, i64, Option<Outcome>);

/// The exception for a transfer that could not be started: curl's code and the reason.
fn refused(failure: Failure) -> PyErr {
    PyRuntimeError::new_err((failure.code.id(), failure.message))
}

#[pymethods]
impl Engine {
    /// Creates an engine. With `keeps`, connections from the pool stay here until the engine ends.
    #[new]
    #[pyo3(signature = (pool, keeps=false))]
    fn new(pool: Option<&Pool>, keeps: bool) -> Engine {
        let mut transfers = Transfers::new(pool.map(|pool| pool.0.clone()));
        if keeps {
            transfers.keep_connections();
        }
        transfers.set_body_memory(Rc::new(Memory));
        let inner = Inner { transfers, descriptor: None, templates: Vec::new() };
        Engine(ProcessMutex::new(inner, "an engine"))
    }

    /// How many connections there may be, to one host and in all; 0 is no limit.
    fn set_limits(&self, py: Python<'_>, max_host: usize, max_total: usize) -> PyResult<()> {
        self.0.lock(py)?.transfers.set_limits(Limits { max_connects: 0, max_host, max_total });
        Ok(())
    }

    /// Closes the idle kept connections with the protocol's farewell.
    fn close_idle(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.0.lock(py)?;
        let moved = Shown(&mut inner.transfers);
        py.detach(move || moved.close_idle());
        Ok(())
    }

    /// Starts a transfer and returns its number. `upload` is None, bytes, or True if `feed` provides it;
    /// `window` is the most body that is held before the transfer pauses, `path` a file to which the body is
    /// written from offset `at`. With `reports_connection` a connection counts as news, too.
    #[expect(clippy::too_many_arguments, reason = "they have names where it is called")]
    #[pyo3(signature = (options, upload=None, window=None, path=None, at=0, reports_connection=false))]
    fn start(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyList>,
        upload: Option<&Bound<'_, PyAny>>,
        window: Option<usize>,
        path: Option<PathBuf>,
        at: u64,
        reports_connection: bool,
    ) -> PyResult<usize> {
        let sink = sink(path, at)?;
        let request = Request { sink, reports_connection, ..request(options, upload, window)? };
        self.0.lock(py)?.transfers.start(request).map_err(refused)
    }

    /// Converts what many transfers have in common, and returns its number for
    /// [`start_like`](Self::start_like). The options have no URL.
    #[pyo3(signature = (options, upload=None))]
    fn prepare(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyList>,
        upload: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let request = request(options, upload, None)?;
        let template = Some(Rc::new(Template::new(request)));
        let mut inner = self.0.lock(py)?;
        let templates = &mut inner.templates;
        let free = templates.iter().position(Option::is_none);
        if let Some(free) = free {
            templates[free] = template;
        } else {
            templates.push(template);
        }
        Ok(free.unwrap_or(templates.len() - 1))
    }

    /// Forgets prepared options. Transfers that were started with them go on. After a fork there is nothing
    /// to forget.
    fn forget(&self, py: Python<'_>, template: usize) {
        let Ok(mut inner) = self.0.lock(py) else { return };
        if let Some(place) = inner.templates.get_mut(template) {
            *place = None;
        }
    }

    /// Starts a transfer with prepared options, and returns its number. `range` is that of the body
    /// (CURLOPT_RANGE). The rest is as for [`start`](Self::start).
    #[pyo3(signature = (template, url, path=None, reports_connection=false, range=None, /))]
    fn start_like(
        &self,
        py: Python<'_>,
        template: usize,
        url: &Bound<'_, PyString>,
        path: Option<PathBuf>,
        reports_connection: bool,
        range: Option<&str>,
    ) -> PyResult<usize> {
        let sink = sink(path, 0)?;
        let url = url.to_cow()?;
        let mut inner = self.0.lock(py)?;
        let Inner { transfers, templates, .. } = &mut *inner;
        let known = templates.get(template).and_then(Option::as_ref);
        let template = known.ok_or_else(|| PyKeyError::new_err(template))?;
        let start = Start { url: url.as_bytes(), range, sink, reports_connection };
        transfers.start_like(template, start).map_err(refused)
    }

    /// Starts a transfer and does what can be done at once, for a loop that watches [`fileno`](Self::fileno).
    /// Returns its number and the result of [`drive`](Self::drive).
    #[pyo3(signature = (options, upload=None, window=None))]
    fn begin(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyList>,
        upload: Option<&Bound<'_, PyAny>>,
        window: Option<usize>,
    ) -> PyResult<(usize, Vec<usize>, Option<f64>)> {
        let request = request(options, upload, window)?;
        let mut inner = self.0.lock(py)?;
        // Otherwise the descriptor would become readable for what runs here.
        let _turn = inner.transfers.turn();
        let id = inner.transfers.start(request).map_err(refused)?;
        let moved = Shown(&mut inner.transfers);
        py.detach(move || moved.run_ready());
        let (news, timeout) = news_and_timeout(&inner.transfers);
        Ok((id, news, timeout))
    }

    /// Runs what is ready, without waiting. Returns the transfers with news, and the seconds until the next
    /// call if no descriptor becomes readable.
    fn drive(&self, py: Python<'_>) -> PyResult<(Vec<usize>, Option<f64>)> {
        let mut inner = self.0.lock(py)?;
        // Otherwise each task that an event wakes would make the descriptor readable, and it would have to be
        // drained.
        let _turn = inner.transfers.turn();
        let moved = Shown(&mut inner.transfers);
        py.detach(move || moved.perform());
        Ok(news_and_timeout(&inner.transfers))
    }

    /// Runs one transfer to its end, and releases it.
    fn fetch(&self, py: Python<'_>, id: usize) -> PyResult<Outcome> {
        loop {
            let turned = py.detach(|| self.turn(id));
            let signalled = py.check_signals();
            let mut inner = self.0.lock(py)?;
            let transfers = Self::known(&inner, id)?;
            if let Err(error) = turned.map_err(PyOSError::new_err).and(signalled) {
                inner.transfers.release(id);
                return Err(error);
            }
            if transfers.has_ended(id) {
                let outcome = Outcome::take(py, transfers, id);
                inner.transfers.release(id);
                return Ok(outcome);
            }
        }
    }

    /// Runs until there is something new of this transfer: its head, some body, hunger, its end. A turn
    /// without any ends after a second.
    fn advance(&self, py: Python<'_>, id: usize) -> PyResult<()> {
        Self::known(&*self.0.lock(py)?, id)?;
        py.detach(|| self.turn(id))?;
        py.check_signals()
    }

    /// Runs what is ready, without waiting. Returns the transfers with news.
    fn run(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        let mut inner = self.0.lock(py)?;
        let transfers = &mut inner.transfers;
        let moved = Shown(transfers);
        py.detach(move || moved.perform());
        Ok(std::iter::from_fn(|| inner.transfers.next_news()).collect())
    }

    /// Runs, and waits at most so many seconds for news. Returns the transfers with news.
    fn run_for(&self, py: Python<'_>, seconds: f64) -> PyResult<Vec<usize>> {
        let inner = self.wait_for_news(py, seconds)?;
        Ok(std::iter::from_fn(|| inner.transfers.next_news()).collect())
    }

    /// Runs the transfers as [`run_for`](Self::run_for) does, and releases those that have ended. Returns
    /// number, curl's code, status and outcome of each with news; code -1 and no outcome if it continues.
    fn results<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Bound<'py, PyList>> {
        let mut inner = self.wait_for_news(py, seconds)?;
        // No vector of outcomes: it would copy each of them, half a kilobyte, several times.
        let found = PyList::empty(py);
        while let Some(id) = inner.transfers.next_news() {
            if !inner.transfers.has_ended(id) {
                found.append((id, -1, 0, None::<Outcome>))?;
                continue;
            }
            let outcome = Outcome::take(py, &inner.transfers, id);
            inner.transfers.release(id);
            let (code, status) = (outcome.code(), outcome.status());
            found.append((id, code, status, outcome))?;
        }
        Ok(found)
    }

    /// Runs the transfers as [`results`](Self::results) does; those that have ended stay until they are
    /// released.
    fn endings(&self, py: Python<'_>, seconds: f64) -> PyResult<Vec<Ending>> {
        let inner = self.wait_for_news(py, seconds)?;
        let transfers = &inner.transfers;
        let ending = |id| {
            let status = transfers.info(id, |info| info.response_code());
            (id, transfers.ending(id).map_or(-1, |code| code.id()), status, None)
        };
        Ok(std::iter::from_fn(|| transfers.next_news()).map(ending).collect())
    }

    /// A descriptor that is readable when there is something to run.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        let mut inner = self.0.lock(py)?;
        if inner.descriptor.is_none() {
            inner.descriptor = Some(inner.transfers.descriptor()?);
        }
        Ok(inner.descriptor.as_ref().map_or(-1, AsRawFd::as_raw_fd))
    }

    /// Seconds until the next call if no descriptor becomes readable; None if there is no timer.
    fn timeout(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        Ok(self.0.lock(py)?.transfers.timeout().map(|timeout| timeout.as_secs_f64()))
    }

    /// How many transfers have not ended.
    fn running(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.0.lock(py)?.transfers.running())
    }

    /// Whether the transfer has had a connection.
    fn is_connected(&self, py: Python<'_>, id: usize) -> PyResult<bool> {
        let inner = self.0.lock(py)?;
        Ok(Self::known(&inner, id)?.is_connected(id))
    }

    /// Whether its last head has arrived, whether it waits for more to send, and whether it has ended.
    fn state(&self, py: Python<'_>, id: usize) -> PyResult<(bool, bool, bool)> {
        let inner = self.0.lock(py)?;
        let transfers = Self::known(&inner, id)?;
        Ok((transfers.has_head(id), transfers.wants_upload(id), transfers.has_ended(id)))
    }

    /// curl's code and the status of one that has ended, and None of one that has not.
    fn ending(&self, py: Python<'_>, id: usize) -> PyResult<Option<(i32, i64)>> {
        self.with(py, id, |transfers| {
            let status = transfers.info(id, |info| info.response_code());
            transfers.ending(id).map(|code| (code.id(), status))
        })
    }

    /// All heads that have come; they stay.
    fn head<'py>(&self, py: Python<'py>, id: usize) -> PyResult<Bound<'py, PyBytes>> {
        self.with(py, id, |transfers| transfers.head(id, |head| PyBytes::new(py, head)))
    }

    /// Returns all that is known of a transfer; it continues, or stays until it is released.
    fn take(&self, py: Python<'_>, id: usize) -> PyResult<Outcome> {
        let inner = self.0.lock(py)?;
        Ok(Outcome::take(py, Self::known(&inner, id)?, id))
    }

    /// How many bytes of body lie untaken.
    fn waiting_body(&self, py: Python<'_>, id: usize) -> PyResult<usize> {
        self.with(py, id, |transfers| transfers.waiting_body(id))
    }

    /// Returns the result of a finished transfer and releases it; None if it has not finished.
    fn finish(&self, py: Python<'_>, id: usize) -> PyResult<Option<Outcome>> {
        let mut inner = self.0.lock(py)?;
        let transfers = Self::known(&inner, id)?;
        if !transfers.has_ended(id) {
            return Ok(None);
        }
        let outcome = Outcome::take(py, transfers, id);
        inner.transfers.release(id);
        Ok(Some(outcome))
    }

    /// Takes the body that has arrived since the last call.
    fn take_body<'py>(&self, py: Python<'py>, id: usize) -> PyResult<Bound<'py, PyBytes>> {
        let inner = self.0.lock(py)?;
        Ok(crate::body::take(py, Self::known(&inner, id)?, id))
    }

    /// More to send; None is the end.
    fn feed(&self, py: Python<'_>, id: usize, bytes: Option<&[u8]>) -> PyResult<()> {
        let inner = self.0.lock(py)?;
        let transfers = Self::known(&inner, id)?;
        match bytes {
            Some(bytes) => transfers.feed(id, bytes),
            None => transfers.end_upload(id),
        }
        Ok(())
    }

    /// Releases a transfer. One that has not finished is aborted.
    pub fn release(&self, py: Python<'_>, id: usize) -> PyResult<()> {
        self.0.lock(py)?.transfers.release(id);
        Ok(())
    }
}

/// The transfers, while their engine is locked by the thread that runs them without the interpreter's lock.
struct Shown<'a>(&'a mut Transfers);

// SAFETY: As for `Inner`; the borrow is that of the mutex's guard, which outlives the call.
unsafe impl Send for Shown<'_> {}

impl Shown<'_> {
    fn perform(self) {
        self.0.perform();
    }

    fn run_ready(self) {
        self.0.run_ready();
    }

    fn close_idle(self) {
        self.0.close_idle();
    }

    fn run_for(self, max: Duration) -> io::Result<()> {
        self.0.run_ready();
        if self.0.has_news() {
            return Ok(());
        }
        let waited = self.0.wait(max);
        self.0.perform();
        match waited {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => Err(e),
            _ => Ok(()),
        }
    }
}
