//! Downloads to files: over several connections, from several places, resumed and verified.
//!
//! A download runs on a thread of its own, with handles that have the options of its client. The machinery is
//! in [`segments`](crate::segments); the command line tool uses it, too.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use engine::archive::redact::without_login;
use engine::callbacks::{Callbacks, WriteAnswer};
use http::HeaderMap;
use tables::constant::CURLSSLOPT_AUTO_CLIENT_CERT;
use tables::{Code, EasyOption as O};

use super::error::{Error, RequestPhase};
use super::file_request::FileRequest;
use super::file_transfer::{FileTransfer, Progress};
use super::shared::Shared;
use super::task::{self, Task};
use super::timings::Timings;
use crate::segments::checksum::Sum;
use crate::segments::{Abort, Fetch, Host, Part, Prepared, Wanted, Worker, has_pieces};
use crate::{Easy, IntoUrl, Multi, PlainValue, Url, Why};

/// Most connections of a download.
const MOST: usize = 64;
/// Most requests of a download that are kept for [`Downloaded::requests`].
const MOST_REQUESTS: usize = 1000;

/// Options that a mirror gets beside those that reveal nothing about the user: how servers are judged, and
/// which redirects are followed.
const FOR_MIRRORS: [O; 8] = [
    O::CaInfoBlob,
    O::FollowLocation,
    O::ProxyCaInfoBlob,
    O::ProxySslVerifyHost,
    O::ProxySslVerifyPeer,
    O::SslVerifyHost,
    O::SslVerifyPeer,
    O::SslVersion,
];

/// A download to a file, under construction. [`Client::download`](crate::Client::download) returns it.
///
/// The file is fetched in pieces over several connections if the server can send pieces. It grows as
/// `NAME.part`, beside a journal, and gets its name when it is complete and its checksum is right. A download
/// that failed or was dropped leaves both; the next one with the same URL and name continues them if the
/// server still has the same file.
///
/// Only the URL itself gets cookies, header fields, logins and client certificates. Mirrors get the options
/// that say nothing about the user: network, proxies, time limits, trusted certificates, whether and how
/// servers are verified, and whether redirects are followed.
///
/// ```no_run
/// # async fn run(client: warmwire::Client) -> Result<(), warmwire::Error> {
/// let file = client
///     .download("https://example.com/image.iso")
///     .to("image.iso")
///     .mirror("https://mirror.example/image.iso")
///     .checksum("sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
///     .send()
///     .await?;
/// println!("{} bytes, {} of them now", file.size(), file.received());
/// # Ok(())
/// # }
/// ```
#[must_use = "a download does nothing before it is sent"]
pub struct Download(FileTransfer<Plan>);

/// The settings of a download beside its request.
pub(crate) struct Plan {
    pub file: Option<PathBuf>,
    pub mirrors: Vec<Url>,
    connections: Option<usize>,
    sums: Vec<Sum>,
    pub resumes: bool,
    pub progress: Option<Progress>,
}

/// A file that has been downloaded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Downloaded {
    path: PathBuf,
    size: u64,
    received: u64,
    requests: Vec<DownloadRequest>,
    warnings: Vec<String>,
}

/// A request of a [`Download`]: for the whole file, or for a piece of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DownloadRequest {
    url: String,
    timings: Timings,
    why: Option<Why>,
}

impl DownloadRequest {
    fn of(easy: &Easy) -> DownloadRequest {
        DownloadRequest {
            url: String::from_utf8_lossy(&without_login(&easy.effective_url())).into_owned(),
            timings: easy.info(|info| Timings::of(&info.found())),
            why: easy.why(),
        }
    }

    /// Returns the URL without a login; after redirects, the last one.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns times and sizes of the request.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Returns the reasons of the request, if `explain` was set for the client or the download.
    pub fn why(&self) -> Option<&Why> {
        self.why.as_ref()
    }
}

impl Downloaded {
    /// Returns the name of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size of the file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns how many bytes this download has fetched: fewer than the size if it continued an earlier one.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Returns the requests of this download in the order in which they ended, also those that failed. At
    /// most 1,000 are kept: the first ones, and the last one.
    pub fn requests(&self) -> &[DownloadRequest] {
        &self.requests
    }

    /// Returns why mirrors were dropped.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Download {
    pub(super) fn new(client: Arc<Shared>, url: impl IntoUrl) -> Download {
        let plan = Plan {
            file: None,
            mirrors: Vec::new(),
            connections: None,
            sums: Vec::new(),
            resumes: true,
            progress: None,
        };
        Download(FileTransfer::new(client, http::Method::GET, url, plan))
    }

    /// Starts the download. Dropping the future ends it within a tenth of a second; what has arrived is kept.
    pub fn send(self) -> impl Future<Output = Result<Downloaded, Error>> + Send + 'static {
        task::spawn("warmwire-download", "a download", |task| {
            let owner = Owner::new(self.0, task)?;
            Ok(move || owner.run())
        })
    }
}

/// Defines the settings of a download for both faces.
macro_rules! download_settings {
    ($face:ident) => {
        impl $face {
            /// Sets the name of the file. One that exists is replaced when the download is complete.
            pub fn to(self, path: impl Into<std::path::PathBuf>) -> Self {
                let path = path.into();
                self.with(|_, plan| plan.file = Some(path))
            }

            /// Sets the number of connections, from 1 to 64. By default it grows while that makes the
            /// download faster.
            pub fn segments(self, count: usize) -> Self {
                self.edit(|_, plan| plan.set_connections(count))
            }

            /// Adds another place of the same file. It gets no cookies, header fields or logins of the
            /// client. Its pieces are used if its ETag is that of the URL, or if there is a checksum.
            pub fn mirror(self, url: impl crate::IntoUrl) -> Self {
                self.edit(|_, plan| {
                    plan.mirrors.push(url.into_url()?);
                    Ok(())
                })
            }

            /// Adds an expected checksum, like `sha256=…` in hexadecimal digits; several are separated by
            /// commas. md5, sha1, sha256, sha384, sha512, sha3-256, sha3-384, sha3-512 and blake3 are known.
            /// A file with another sum is removed, and the download fails.
            pub fn checksum(self, sum: &str) -> Self {
                self.edit(|_, plan| plan.add_sums(sum))
            }

            /// Sets whether the part of an earlier download is continued, as is the default, or removed.
            pub fn resume(self, yes: bool) -> Self {
                self.with(|_, plan| plan.resumes = yes)
            }

            /// Limits the time of the download, in place of the limit of the client.
            pub fn timeout(self, limit: std::time::Duration) -> Self {
                self.with(|request, _| {
                    request.options.set_timeout(tables::EasyOption::TimeoutMs, Some(limit))
                })
            }

            /// Calls a function on the download's thread as bytes arrive: how many are complete, and the
            /// size, both without those of an earlier download.
            pub fn progress(self, show: impl FnMut(u64, u64) + Send + 'static) -> Self {
                self.with(|_, plan| plan.progress = Some(Box::new(show)))
            }
        }

        crate::client::file_transfer::file_settings!(
            $face,
            crate::client::download::Plan,
            "Mirrors do not get it.",
            "The documentation of the type says which of them mirrors get."
        );
    };
}

pub(crate) use download_settings;

download_settings!(Download);

impl Plan {
    pub fn set_connections(&mut self, count: usize) -> Result<(), Error> {
        if !(1..=MOST).contains(&count) {
            return Err(Error::option(format!("a download has 1 to {MOST} segments, not {count}")));
        }
        self.connections = Some(count);
        Ok(())
    }

    pub fn add_sums(&mut self, text: &str) -> Result<(), Error> {
        self.sums.extend(Sum::parse(text.as_bytes()).map_err(Error::option)?);
        Ok(())
    }
}

/// The task of a download's thread.
struct Owner {
    task: Arc<Task<Downloaded>>,
    file: PathBuf,
    request: FileRequest,
    plan: Plan,
}

impl Owner {
    fn new(transfer: FileTransfer<Plan>, task: Arc<Task<Downloaded>>) -> Result<Owner, Error> {
        let FileTransfer { client, request, mut plan } = transfer;
        let request = request?;
        let Some(file) = plan.file.take() else {
            return Err(Error::option("a download needs a file: `to`"));
        };
        if !has_pieces(&request.url().scheme().to_ascii_lowercase()) {
            return Err(Error::option(format!("{} cannot be downloaded in pieces", request.url())));
        }
        let mut request = FileRequest::new(&client, request);
        // Pieces of a coded body cannot be joined.
        request.options.list.retain(|(option, _)| *option != O::AcceptEncoding);
        Ok(Owner { task, file, request, plan })
    }

    /// Downloads the file on this thread.
    fn run(self) -> Result<Downloaded, Error> {
        let (url, file) = (self.request.url.clone(), self.file.clone());
        let failed = |code: Code, why: String| Error::of(code, why).at(url.clone(), RequestPhase::Sent);
        let open = || Part::open(&file, None).map_err(|why| failed(Code::WriteError, why));
        let (mut part, mut journal) = open()?;
        if !self.plan.resumes && journal.is_some() {
            part.remove();
            drop(part);
            (part, journal) = open()?;
        }
        let handles = Handles::new(self);
        let mut fetch = Fetch::new(&handles, handles.wanted(), part);
        let end = fetch.run(journal);
        if let Err((code, _)) = &end {
            fetch.leave(*code);
        }
        let received = fetch.received();
        fetch.close();
        handles.multi.close();
        let mut requests = handles.requests.take();
        if let Err((code, why)) = end {
            let error = failed(Code::from_id(code).unwrap_or(Code::RecvError), why);
            return Err(match requests.pop() {
                Some(last) => error.measured(last.timings).explained(last.why.map(Box::new)),
                None => error,
            });
        }
        let size = file.metadata().map_err(|error| failed(Code::ReadError, error.to_string()))?.len();
        let received = received.unwrap_or(size);
        Ok(Downloaded { path: file, size, received, requests, warnings: handles.warnings.take() })
    }
}

/// Returns the value of an option in requests to a mirror; `None` if it may say something about the user.
fn for_mirror(option: O, value: &PlainValue) -> Option<PlainValue> {
    match option {
        O::SslOptions => Some(PlainValue::Long(value.number() & !CURLSSLOPT_AUTO_CLIENT_CERT)),
        _ => (option.is_impersonal() || FOR_MIRRORS.contains(&option)).then(|| value.clone()),
    }
}

/// Returns the request as mirrors get it.
fn request_for_mirrors(request: &FileRequest) -> FileRequest {
    let mut mirrors = FileRequest { headers: HeaderMap::new(), share: None, ..request.clone() };
    mirrors.options.list.clear();
    for (option, value) in &request.options.list {
        mirrors.options.list.extend(for_mirror(*option, value).map(|value| (*option, value)));
    }
    mirrors
}

/// Prepares the handles of a download.
struct Handles {
    owner: Owner,
    /// The request as mirrors get it.
    mirror_request: FileRequest,
    multi: Multi,
    progress: RefCell<Option<Progress>>,
    requests: RefCell<Vec<DownloadRequest>>,
    warnings: RefCell<Vec<String>>,
}

impl Handles {
    fn new(mut owner: Owner) -> Handles {
        let multi = owner.request.multi(&owner.task);
        let mirror_request = request_for_mirrors(&owner.request);
        let progress = owner.plan.progress.take().into();
        let (requests, warnings) = Default::default();
        Handles { owner, mirror_request, multi, progress, requests, warnings }
    }

    fn wanted(&self) -> Wanted {
        let Owner { request: FileRequest { url, options, .. }, plan, .. } = &self.owner;
        let number = |wanted: O| {
            let found = options.list.iter().rev().find(|(option, _)| *option == wanted);
            found.map_or(0, |(_, value)| value.number())
        };
        let bytes = |url: &Url| url.as_str().as_bytes().to_vec();
        let limit = u64::try_from(number(O::TimeoutMs)).ok().filter(|limit| *limit > 0);
        Wanted {
            url: bytes(url),
            mirrors: plan.mirrors.iter().map(bytes).collect(),
            url_is_foreign: false,
            connections: plan.connections,
            has_version: options.has(O::HttpVersion),
            rate: number(O::MaxRecvSpeedLarge),
            deadline: limit.map(Duration::from_millis),
            sums: plan.sums.clone(),
            has_own_sum: !plan.sums.is_empty(),
        }
    }
}

/// The callbacks of one handle.
struct Receiver(Rc<Worker>);

impl Callbacks for Receiver {
    fn write(&self, data: &[u8]) -> WriteAnswer {
        match self.0.take(data) {
            Ok(()) => WriteAnswer::All,
            Err(Abort) => WriteAnswer::Failed(0),
        }
    }
}

impl Host for Handles {
    type Handle = ();

    fn prepare(&self, url: &[u8], foreign: bool, worker: &Rc<Worker>) -> Result<Prepared<()>, String> {
        let easy = Easy::new(Rc::new(Receiver(worker.clone())));
        let request = if foreign { &self.mirror_request } else { &self.owner.request };
        request.prepare(&easy, url).map_err(|failure| failure.message)?;
        Ok(Prepared { handle: (), easy, headers: request.header_lines() })
    }

    fn multi(&self) -> &Multi {
        &self.multi
    }

    fn wait(&self, pause: Duration) -> io::Result<()> {
        self.multi.wait(&mut [], pause, true)?;
        match self.owner.task.is_cancelled() {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => Ok(()),
        }
    }

    fn begin_piece(&self, (): &()) {}

    fn ended(&self, (): &(), easy: &Easy, _: i32) {
        let mut requests = self.requests.borrow_mut();
        requests.truncate(MOST_REQUESTS - 1); // The last one stays, for an error.
        requests.push(DownloadRequest::of(easy));
    }

    fn released(&self, (): ()) {}

    fn note(&self, _: &str) {}

    fn warn(&self, text: &str) {
        self.warnings.borrow_mut().push(text.to_owned());
    }

    fn show(&self, received: u64, size: u64) {
        if let Some(show) = &mut *self.progress.borrow_mut() {
            show(received, size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_get_only_options_that_say_nothing_about_the_user() {
        let cases: [(O, PlainValue, Option<PlainValue>); 8] = [
            (O::Cookie, "a=b".into(), None),
            (O::Username, "me".into(), None),
            (O::SslCert, "cert.pem".into(), None),
            (O::HttpAuth, 1.into(), None),
            (O::Proxy, "http://proxy:8080".into(), Some("http://proxy:8080".into())),
            (O::FollowLocation, true.into(), Some(true.into())),
            (O::SslVerifyPeer, false.into(), Some(false.into())),
            (O::SslOptions, (CURLSSLOPT_AUTO_CLIENT_CERT | 2).into(), Some(2.into())),
        ];
        for (option, value, wanted) in cases {
            let found = for_mirror(option, &value);
            assert_eq!(format!("{found:?}"), format!("{wanted:?}"), "{option:?}");
        }
    }
}
