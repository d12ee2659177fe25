//! Python's uploads that continue after a cut.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use warmwire::{Client, EasyOption, Error, PlainValue, UploadMode, Uploaded, Value};

use crate::options;
use crate::process_mutex::ProcessMutex;

/// The longest wait. A signal or `close` may end the upload afterwards.
const TURN: Duration = Duration::from_millis(250);

/// How the upload is sent: protocol and method over HTTP, most attempts, seconds before the second one, and
/// the folder for what survives the process.
#[derive(FromPyObject)]
pub struct Plan(String, Option<String>, u32, f64, Option<PathBuf>);

/// The reasons of a transfer: as text and as JSON.
type Reasons = Option<(String, String)>;

/// Size of the file, bytes sent, attempts, whether a checksum was compared, the last reply, reasons.
type Done = (u64, u64, u32, bool, Py<PyBytes>, Reasons);

/// curl's code, message, reasons.
type Failed = (i32, String, Reasons);

/// An upload of a file, on a thread of its own.
#[pyclass(frozen, module = "warmwire._native")]
pub struct Upload {
    running: ProcessMutex<Option<Running>>,
    progress: Arc<Progress>,
}

type Running = Pin<Box<dyn Future<Output = Result<Uploaded, Error>> + Send>>;

/// Bytes of the current request that were sent, and all of them.
#[derive(Default)]
struct Progress {
    sent: AtomicU64,
    total: AtomicU64,
}

#[pymethods]
impl Upload {
    /// Starts the upload of a file with these options and header fields.
    #[new]
    fn new(
        url: &str,
        file: PathBuf,
        options: &Bound<'_, PyList>,
        fields: Vec<(Vec<u8>, Vec<u8>)>,
        plan: Plan,
    ) -> PyResult<Upload> {
        let Plan(protocol, method, attempts, pause, folder) = plan;
        let options = options::read(options)?;
        let client = Client::builder().explain(options.explain);
        let client = match options.access_policy {
            Some(policy) => client.access_policy(policy),
            None => client,
        };
        let client = match options.choices.follow_names {
            Some(yes) => client.follow_names(yes),
            None => client,
        };
        let client = client.build().map_err(|error| refused(&error))?;
        let pause = Duration::try_from_secs_f64(pause).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let mut upload =
            client.upload(url).from(file).protocol(mode(&protocol)?).attempts(attempts).pause(pause);
        if let Some(method) = method {
            let method = method.parse().map_err(|_| PyValueError::new_err(format!("method {method:?}")))?;
            upload = upload.method(method);
        }
        if let Some(folder) = folder {
            upload = upload.state_in(folder);
        }
        if let Some(priority) = options.choices.priority {
            upload = upload.priority(priority);
        }
        if let Some(limit) = options.stall_limit {
            // The engine measures the speed of whole seconds: one without a byte counts.
            upload = upload.option(EasyOption::LowSpeedLimit, 1);
            upload = upload.option(EasyOption::LowSpeedTime, limit.as_secs_f64().ceil() as i64);
        }
        for (option, value) in options.list {
            upload = upload.option(option, plain(option, value)?);
        }
        for (name, value) in fields {
            upload = upload.header(name.as_slice(), value);
        }
        let progress = Arc::<Progress>::default();
        let shown = progress.clone();
        let upload = upload.progress(move |sent, total| {
            shown.sent.store(sent, Ordering::Relaxed);
            shown.total.store(total, Ordering::Relaxed);
        });
        let running: Running = Box::pin(upload.send());
        Ok(Upload { running: ProcessMutex::new(Some(running), "an upload"), progress })
    }

    /// Waits at most a turn for the end. Returns the result or the failure, once; otherwise nothing.
    fn wait(&self, py: Python<'_>) -> PyResult<(Option<Done>, Option<Failed>)> {
        let gone = || PyValueError::new_err("the upload has ended");
        self.running.lock(py)?.as_ref().ok_or_else(gone)?;
        let reasons = |why: Option<&warmwire::Why>| why.map(|why| (why.to_string(), why.json()));
        Ok(match py.detach(|| self.turn()) {
            None => (None, None),
            Some(Ok(done)) => {
                let reply = PyBytes::new(py, done.reply()).unbind();
                let why = reasons(done.why());
                (Some((done.size(), done.sent(), done.attempts(), done.is_verified(), reply, why)), None)
            }
            Some(Err(error)) => {
                let why = reasons(error.why());
                (None, Some((error.code().id(), error.message().to_owned(), why)))
            }
        })
    }

    /// Bytes of the current request that were sent, and of how many.
    fn progress(&self) -> (u64, u64) {
        let Progress { sent, total } = &*self.progress;
        (sent.load(Ordering::Relaxed), total.load(Ordering::Relaxed))
    }

    /// Ends the upload. The next one continues it.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let running = self.running.lock(py)?.take();
        drop(running);
        Ok(())
    }
}

impl Upload {
    /// Waits at most a turn. An upload that has ended, or that another thread has closed, is gone afterwards.
    fn turn(&self) -> Option<Result<Uploaded, Error>> {
        let mut place = self.running.lock_detached();
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let (mut context, end) = (Context::from_waker(&waker), Instant::now() + TURN);
        loop {
            if let Poll::Ready(result) = place.as_mut()?.as_mut().poll(&mut context) {
                *place = None;
                return Some(result);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            thread::park_timeout(left);
        }
    }
}

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn mode(protocol: &str) -> PyResult<UploadMode> {
    match protocol {
        "" => Ok(UploadMode::Resume),
        "tus" => Ok(UploadMode::Tus),
        "ietf" => Ok(UploadMode::Draft),
        "s3" => Ok(UploadMode::S3),
        _ => {
            let text = format!("protocol is \"tus\", \"ietf\" or \"s3\", not {protocol:?}");
            Err(PyValueError::new_err(text))
        }
    }
}

/// Returns the value of an option that another thread may set: any but a form.
fn plain(option: EasyOption, value: Value) -> PyResult<PlainValue> {
    Ok(match value {
        Value::Default => PlainValue::Default,
        Value::Long(number) => PlainValue::Long(number),
        Value::Text(text) => PlainValue::Text(text),
        Value::List(list) => PlainValue::List(list),
        Value::Form(_) => {
            return Err(PyTypeError::new_err(format!("an upload of a file takes no {}", option.name())));
        }
    })
}

fn refused(error: &Error) -> PyErr {
    PyRuntimeError::new_err((error.code().id(), error.message().to_owned()))
}
