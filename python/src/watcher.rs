//! Python's watcher of URLs.

use std::io;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant, SystemTime};

use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use warmwire::watch::Event;
use warmwire::{Descriptor, Failure, Handle, watch};

use crate::options;
use crate::process_mutex::ProcessMutex;

/// How often a wait looks whether the watch is closed. A signal ends it anyway.
const TURN: Duration = Duration::from_millis(250);

/// Polls URLs and returns what has changed; one thread at a time runs it.
#[pyclass(frozen, module = "warmwire._native")]
pub struct Watcher(ProcessMutex<Option<Inner>>);

struct Inner {
    watcher: watch::Watcher,
    descriptor: Option<Descriptor>,
}

// SAFETY: As with `Engine`: what is counted without atomics belongs to the watcher only, which moves between
// threads as a whole and is accessed under its mutex.
unsafe impl Send for Inner {}

/// Kind, time, latency, time and size of the file, ETag, content, message, failure; the number comes first.
type Change = (
    usize,
    &'static str,
    f64,
    f64,
    Option<i64>,
    Option<u64>,
    Option<String>,
    Option<Py<PyBytes>>,
    Option<(String, String, String)>,
    Option<(i32, String)>,
);

/// Whether the file exists and the server reports by itself, seconds since the last answer and change,
/// intervals with and without an answer, latencies, the last failure.
type Status =
    (Option<bool>, bool, Option<f64>, Option<f64>, u64, u64, Option<f64>, Option<f64>, Option<(i32, String)>);

impl Watcher {
    /// Runs `ask` on the watcher. Fails after `close`.
    fn with<R>(&self, py: Python<'_>, ask: impl FnOnce(&mut Inner) -> PyResult<R>) -> PyResult<R> {
        let mut inner = self.0.lock(py)?;
        let closed = || PyValueError::new_err("the watch is closed");
        ask(inner.as_mut().ok_or_else(closed)?)
    }

    /// Waits for an event at most for a turn. A signal ends it with none.
    fn turn(&self, most: Duration) -> io::Result<Option<Event>> {
        let mut inner = self.0.lock_detached();
        let Some(inner) = inner.as_mut() else { return Ok(None) };
        match inner.watcher.next_event(Some(most.min(TURN))) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(None),
            event => event,
        }
    }
}

#[pymethods]
impl Watcher {
    /// Polls each URL once in `interval` seconds. 0 stands for a default.
    #[new]
    fn new(
        interval: f64,
        deadline: f64,
        contents: bool,
        content_limit: usize,
        per_server: usize,
    ) -> PyResult<Watcher> {
        let seconds =
            |value: f64| Duration::try_from_secs_f64(value).map_err(|e| PyValueError::new_err(e.to_string()));
        let mut builder = watch::Watcher::builder(seconds(interval)?).keep_contents(contents);
        if deadline > 0.0 {
            builder = builder.deadline(seconds(deadline)?);
        }
        if content_limit > 0 {
            builder = builder.content_limit(content_limit);
        }
        if per_server > 0 {
            builder = builder.polls_per_server(per_server);
        }
        let inner = Inner { watcher: builder.build(), descriptor: None };
        Ok(Watcher(ProcessMutex::new(Some(inner), "a watch")))
    }

    /// Watches a URL with these options and returns its number.
    fn add(&self, py: Python<'_>, url: &str, options: &Bound<'_, PyList>) -> PyResult<usize> {
        let options = options::read(options)?;
        let mut like = Handle::new();
        for (option, value) in options.list {
            like.set(option, value)
                .map_err(|code| refused(Failure { code, message: option.name().to_owned() }))?;
        }
        like.easy().set_access_policy(options.access_policy);
        like.easy().set_follow_names(options.choices.follow_names);
        like.easy().set_priority(options.choices.priority);
        self.with(py, |inner| inner.watcher.add_like(url, like.easy()).map_err(refused))
    }

    /// Waits for the next change, at most so many seconds and no longer than a turn.
    fn next(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<Change>> {
        self.with(py, |_| Ok(()))?;
        let most = Duration::try_from_secs_f64(seconds).unwrap_or(TURN);
        let event = py.detach(|| self.turn(most))?;
        Ok(event.map(|event| change(py, event)))
    }

    /// Runs what is due, and returns the changes and the seconds until the next call, which is due earlier if
    /// the descriptor is readable.
    fn perform(&self, py: Python<'_>) -> PyResult<(Vec<Change>, Option<f64>)> {
        self.with(py, |inner| {
            inner.watcher.perform();
            let changes = std::iter::from_fn(|| inner.watcher.take_event());
            let changes = changes.map(|event| change(py, event)).collect();
            let due = inner.watcher.deadline();
            let left = due.map(|at| at.saturating_duration_since(Instant::now()).as_secs_f64());
            Ok((changes, left))
        })
    }

    /// A descriptor that is readable when there is something to perform.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        self.with(py, |inner| {
            if inner.descriptor.is_none() {
                inner.descriptor = Some(inner.watcher.descriptor()?);
            }
            let descriptor = inner.descriptor.as_ref().expect("it was just stored");
            Ok(descriptor.as_raw_fd())
        })
    }

    /// The state of a URL.
    fn status(&self, py: Python<'_>, index: usize) -> PyResult<Status> {
        self.with(py, |inner| {
            let status = inner.watcher.status(index).ok_or_else(|| PyIndexError::new_err(index))?;
            let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
            let failure = status.failure.map(|failure| (failure.code.id(), failure.message.clone()));
            Ok((
                status.exists,
                status.streams,
                seconds(status.age),
                seconds(status.since_change),
                status.windows.met,
                status.windows.missed,
                seconds(status.p50),
                seconds(status.p99),
                failure,
            ))
        })
    }

    /// Closes the connections. Further calls fail.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let closed = self.0.lock(py)?.take();
        drop(closed);
        Ok(())
    }
}

/// The exception for a URL that could not be added: curl's code and the reason.
fn refused(failure: Failure) -> PyErr {
    PyRuntimeError::new_err((failure.code.id(), failure.message))
}

fn change(py: Python<'_>, event: Event) -> Change {
    let since = event.time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (
        event.index,
        event.kind.name(),
        since.as_secs_f64(),
        event.latency.as_secs_f64(),
        event.stamp.modified,
        event.stamp.size,
        event.stamp.etag.map(|etag| String::from_utf8_lossy(&etag).into_owned()),
        event.body.map(|body| PyBytes::new(py, &body).unbind()),
        event.message.map(|message| (message.kind, message.data, message.id)),
        event.failure.map(|failure| (failure.code.id(), failure.message)),
    )
}
