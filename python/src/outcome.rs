//! The result of a transfer as one value. Most of its parts are rarely read, and are converted to Python
//! objects at the first access.

use std::net::SocketAddr;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use warmwire::transfers::{Outcome as Ended, Transfers};
use warmwire::{TransferInfo, Why};

use crate::body;

/// A transfer that has finished, or whose head has arrived (`code` is -1 then).
#[pyclass(frozen, module = "warmwire._native")]
pub struct Outcome {
    /// curl's code; 0 is success.
    #[pyo3(get)]
    code: i32,
    /// Text of the error.
    #[pyo3(get)]
    message: String,
    /// Response code; 0 for protocols without one.
    #[pyo3(get)]
    status: i64,
    head: Vec<u8>,
    /// The body, or as much of it as was not taken before.
    #[pyo3(get)]
    body: Py<PyBytes>,
    url: Vec<u8>,
    /// CURL_HTTP_VERSION_.
    #[pyo3(get)]
    http_version: i64,
    /// Redirects followed.
    #[pyo3(get)]
    redirects: i64,
    /// How far the request got: 0 nothing, 1 name, 2 connection, 3 TLS, 4 sent, 5 answered.
    #[pyo3(get)]
    reached: u8,
    /// New connections made.
    #[pyo3(get)]
    connects: i64,
    /// Body bytes received, and sent.
    #[pyo3(get)]
    downloaded: i64,
    #[pyo3(get)]
    uploaded: i64,
    /// Size that was announced, or -1.
    #[pyo3(get)]
    announced: i64,
    /// Time of the document in seconds since 1970, or -1.
    #[pyo3(get)]
    file_time: i64,
    peer: Option<SocketAddr>,
    /// Seconds since the start until: the name was known, connected, TLS done, the request about to be sent,
    /// the first byte, the end. Nought where there was no such step.
    #[pyo3(get)]
    times: (f64, f64, f64, f64, f64, f64),
    /// The cookies of the transfer's own jar, in the lines of a cookie file; None where no reply has set or
    /// removed one.
    #[pyo3(get)]
    cookies: Option<Vec<Vec<u8>>>,
    /// The reasons of the transfer as JSON, if they were kept.
    why: Option<Why>,
}

impl Outcome {
    /// Returns curl's code; -1 while the transfer runs.
    pub fn code(&self) -> i32 {
        self.code
    }

    /// Returns the status; 0 without one.
    pub fn status(&self) -> i64 {
        self.status
    }

    /// Takes all that there is of a transfer.
    pub fn take(py: Python<'_>, transfers: &Transfers, id: usize) -> Outcome {
        let (code, message) = match transfers.take_outcome(id) {
            Some(Ended { code, message }) => (code.id(), message),
            None => (-1, String::new()),
        };
        let head = transfers.head(id, <[u8]>::to_vec);
        let cookies = transfers.sets_cookies(id).then(|| transfers.cookies(id));
        let body = body::take(py, transfers, id).unbind();
        let url = transfers.effective_url(id);
        let why = transfers.info(id, |info| info.why());
        transfers.info(id, |info| Outcome {
            code,
            message,
            status: info.response_code(),
            head,
            body,
            url,
            http_version: info.http_version(),
            redirects: info.redirect_count(),
            reached: info.reached() as u8,
            connects: info.connects(),
            downloaded: info.downloaded(),
            uploaded: info.uploaded(),
            announced: info.download_total().max(info.announced()),
            file_time: info.file_time(),
            peer: info.remote(),
            times: times(info),
            cookies,
            why,
        })
    }
}

#[pymethods]
impl Outcome {
    /// All heads, as they arrived.
    #[getter]
    fn head<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.head)
    }

    /// The URL last used.
    #[getter]
    fn url(&self) -> String {
        String::from_utf8_lossy(&self.url).into_owned()
    }

    /// The reasons of the transfer, as a story and as JSON; None if they were not kept.
    #[getter]
    fn why(&self) -> Option<(String, String)> {
        self.why.as_ref().map(|why| (why.to_string(), why.json()))
    }

    /// The peer's address and port; an empty one and -1 where there is none.
    #[getter]
    fn peer(&self) -> (String, i32) {
        self.peer.map_or((String::new(), -1), |peer| (peer.ip().to_string(), peer.port().into()))
    }
}

/// Seconds since the start, as [`Outcome::times`].
pub fn times(info: &TransferInfo<'_>) -> (f64, f64, f64, f64, f64, f64) {
    (
        info.name_lookup().as_secs_f64(),
        info.connect().as_secs_f64(),
        info.app_connect().as_secs_f64(),
        info.pre_transfer().as_secs_f64(),
        info.start_transfer().as_secs_f64(),
        info.total().as_secs_f64(),
    )
}
