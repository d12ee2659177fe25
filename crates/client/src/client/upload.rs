//! Uploads of files that continue after a cut. An upload runs on a thread of its own, with a handle that has
//! the options of its client. The engine asks the server where its part ends (docs/decisions/0016). This
//! module decides whether there is another attempt, and keeps what has to survive the process.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::future::Future;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::callbacks::{Callbacks, ProgressCounts, ReadAnswer, SeekAnswer, WriteAnswer};
use engine::upload_resumption::UploadMode;
use tables::{Code, EasyOption as O};
use wire::base64;

use super::error::{Error, RequestPhase};
use super::file_request::{FileRequest, set};
use super::file_transfer::{FileTransfer, Progress};
use super::shared::Shared;
use super::task::{self, Task};
use super::timings::Timings;
use crate::uploads::{Held, Record, Stamp, compare, is_retryable, key};
use crate::{Easy, Failure, IntoUrl, Multi, Url, Why};

/// Attempts without a setting.
const ATTEMPTS: u32 = 10;
/// Pause before the second attempt; later ones are longer, up to a minute.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Most bytes of the last reply that are kept.
const LONGEST_REPLY: usize = 1 << 20;

/// An upload of a file, under construction. [`Client::upload`](crate::Client::upload) returns it.
///
/// When the connection is cut, the server is asked how much it has, and the rest is sent: over FTP by REST
/// and STOR, over SFTP by writing at an offset, over HTTP by a [`protocol`](Upload::protocol) that the server
/// must have. At the end the server must have as many bytes as the file.
///
/// An upload to Amazon S3, or a service like it, is signed by the option
/// [`AwsSigV4`](crate::EasyOption::AwsSigV4), with the keys as login.
///
/// With [`state_in`](Upload::state_in) the upload survives its process, too.
///
/// ```no_run
/// # async fn run(client: warmwire::Client) -> Result<(), warmwire::Error> {
/// use warmwire::UploadMode;
///
/// let upload = client
///     .upload("https://server.example/files/")
///     .from("image.iso")
///     .protocol(UploadMode::Tus)
///     .attempts(20)
///     .state_in("/var/lib/program/uploads")
///     .send()
///     .await?;
/// println!("{} bytes in {} attempts", upload.size(), upload.attempts());
/// # Ok(())
/// # }
/// ```
#[must_use = "an upload does nothing before it is sent"]
pub struct Upload(FileTransfer<Plan>);

/// The settings of an upload beside its request.
pub(crate) struct Plan {
    pub file: Option<PathBuf>,
    pub mode: UploadMode,
    pub attempts: u32,
    pub pause: Duration,
    pub folder: Option<PathBuf>,
    pub progress: Option<Progress>,
}

/// A file that has been uploaded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Uploaded {
    size: u64,
    sent: u64,
    attempts: u32,
    reply: Vec<u8>,
    verified: bool,
    why: Option<Why>,
}

impl Uploaded {
    /// Returns the size of the file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns how many bytes of the file this upload has sent. Bytes that were lost in a cut are sent twice;
    /// those that an earlier process has sent are not counted.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns how many attempts were made.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Returns whether the server's checksum of the file was compared. FTP servers have one if they know
    /// HASH, XSHA256, XMD5, XCRC or the like, SFTP servers if they know `check-file`; S3 has its ETags. One
    /// that differs is an error of the upload.
    pub fn is_verified(&self) -> bool {
        self.verified
    }

    /// Returns the body of the last reply over HTTP, at most its first MiB.
    pub fn reply(&self) -> &[u8] {
        &self.reply
    }

    /// Returns the reasons of the last attempt, if `explain` was set for the client or the upload.
    pub fn why(&self) -> Option<&Why> {
        self.why.as_ref()
    }
}

impl Upload {
    pub(super) fn new(client: Arc<Shared>, url: impl IntoUrl) -> Upload {
        let plan = Plan {
            file: None,
            mode: UploadMode::Resume,
            attempts: ATTEMPTS,
            pause: PAUSE,
            folder: None,
            progress: None,
        };
        Upload(FileTransfer::new(client, http::Method::PUT, url, plan))
    }

    /// Starts the upload. Dropping the future ends it; the next upload continues it if there is a folder for
    /// its state.
    pub fn send(self) -> impl Future<Output = Result<Uploaded, Error>> + Send + 'static {
        task::spawn("warmwire-upload", "an upload", |task| {
            let owner = Owner::new(self.0, task)?;
            Ok(move || owner.run())
        })
    }
}

/// Defines the settings of an upload for both faces.
macro_rules! upload_settings {
    ($face:ident) => {
        impl $face {
            /// Sets the file.
            pub fn from(self, path: impl Into<std::path::PathBuf>) -> Self {
                let path = path.into();
                self.with(|_, plan| plan.file = Some(path))
            }

            /// Sets the protocol of an upload over HTTP. The URL of [`Tus`](crate::UploadMode::Tus) creates
            /// uploads, that of [`S3`](crate::UploadMode::S3) is the object's.
            pub fn protocol(self, mode: crate::UploadMode) -> Self {
                self.with(|_, plan| plan.mode = mode)
            }

            /// Sets the method of an upload by [`Draft`](crate::UploadMode::Draft), in place of PUT.
            pub fn method(self, method: http::Method) -> Self {
                self.with(|request, _| *request.method_mut() = method)
            }

            /// Sets the most attempts, in place of 10.
            pub fn attempts(self, most: u32) -> Self {
                self.with(|_, plan| plan.attempts = most.max(1))
            }

            /// Sets the pause before the second attempt, in place of one second. It doubles with each
            /// attempt, up to a minute.
            pub fn pause(self, pause: std::time::Duration) -> Self {
                self.with(|_, plan| plan.pause = pause)
            }

            /// Sets a folder for what is kept of an upload until it is complete: size and time of the file,
            /// and the URL of the part. The next upload of the same file to the same URL continues it. The
            /// folder must exist, and only this user should be able to write there.
            pub fn state_in(self, folder: impl Into<std::path::PathBuf>) -> Self {
                let folder = folder.into();
                self.with(|_, plan| plan.folder = Some(folder))
            }

            /// Limits the time of each attempt, in place of the limit of the client.
            pub fn timeout(self, limit: std::time::Duration) -> Self {
                self.with(|request, _| {
                    request.options.set_timeout(tables::EasyOption::TimeoutMs, Some(limit))
                })
            }

            /// Calls a function on the upload's thread as bytes are sent: how many of the current request,
            /// and of how many.
            pub fn progress(self, show: impl FnMut(u64, u64) + Send + 'static) -> Self {
                self.with(|_, plan| plan.progress = Some(Box::new(show)))
            }
        }

        crate::client::file_transfer::file_settings!($face, crate::client::upload::Plan);
    };
}

pub(crate) use upload_settings;

upload_settings!(Upload);

/// The task of an upload's thread.
struct Owner {
    task: Arc<Task<Uploaded>>,
    file: PathBuf,
    method: http::Method,
    request: FileRequest,
    plan: Plan,
}

impl Owner {
    fn new(transfer: FileTransfer<Plan>, task: Arc<Task<Uploaded>>) -> Result<Owner, Error> {
        let FileTransfer { client, request, mut plan } = transfer;
        let request = request?;
        let Some(file) = plan.file.take() else {
            return Err(Error::option("an upload needs a file: `from`"));
        };
        check_protocol(request.url(), plan.mode)?;
        let method = request.method().clone();
        Ok(Owner { task, file, method, request: FileRequest::new(&client, request), plan })
    }

    fn failed(&self, code: Code, why: impl ToString) -> Error {
        Error::of(code, why.to_string()).at(self.request.url.clone(), RequestPhase::Nothing)
    }

    /// Uploads the file on this thread.
    fn run(mut self) -> Result<Uploaded, Error> {
        let unread = |error| self.failed(Code::ReadError, format!("{}: {error}", self.file.display()));
        let file = File::open(&self.file).map_err(unread)?;
        let stamp = stamp(&file).map_err(unread)?;
        let state = State::open(&self, stamp)?;
        let sender = Rc::new(Sender {
            file: RefCell::new(file),
            state,
            easy: RefCell::default(),
            reply: RefCell::default(),
            progress: RefCell::new(self.plan.progress.take()),
        });
        let easy = Easy::new(sender.clone());
        sender.easy.replace(Some(easy.clone()));
        let uploaded = self.attempts(&easy, &sender);
        // The handle and its callbacks refer to each other.
        sender.easy.take();
        uploaded
    }

    /// Sets the options of the upload on its handle.
    fn prepare(&self, easy: &Easy, sender: &Sender) -> Result<(), Failure> {
        self.request.prepare(easy, self.request.url.as_str().as_bytes())?;
        set(easy, O::Upload, true)?;
        set(easy, O::InFileSizeLarge, sender.state.stamp.get().size as i64)?;
        set(easy, O::HttpHeader, self.header_lines())?;
        if self.method != http::Method::PUT {
            set(easy, O::CustomRequest, self.method.as_str())?;
        }
        easy.ask_upload_digest(true);
        easy.resume_uploads(self.plan.mode, sender.state.begun.borrow().as_deref());
        Ok(())
    }

    /// Returns the header fields of the request, and those that an upload needs beside them.
    fn header_lines(&self) -> Vec<Vec<u8>> {
        let has = |name: &str| self.request.headers.contains_key(name);
        let mut lines = self.request.header_lines();
        if !has("expect") {
            lines.push(b"Expect:".to_vec()); // a server that does not know it costs a second
        }
        if self.plan.mode == UploadMode::Tus && !has("upload-metadata") {
            let name = base64::encode(self.file.file_name().unwrap_or_default().as_encoded_bytes());
            lines.push(format!("Upload-Metadata: filename {name}").into_bytes());
        }
        lines
    }

    fn attempts(&self, easy: &Easy, sender: &Sender) -> Result<Uploaded, Error> {
        let multi = self.request.multi(&self.task);
        self.prepare(easy, sender).map_err(|failure| self.failed(failure.code, failure.message))?;
        let (mut sent, mut pause) = (0, self.plan.pause);
        for attempt in 1.. {
            sender.reply.borrow_mut().clear();
            let code = self.attempt(&multi, easy)?;
            sender.keep();
            let timings = easy.info(|info| Timings::of(&info.found()));
            sent += timings.uploaded;
            if code == Code::Ok {
                sender.state.end();
                let verified = sender.verify(easy).map_err(|error| self.failed(Code::ReadError, error))?;
                let verified =
                    verified.map_err(|why| self.failed(Code::RangeError, why).measured(timings))?;
                let (size, reply) = (sender.state.stamp.get().size, sender.reply.take());
                return Ok(Uploaded { size, sent, attempts: attempt, reply, verified, why: easy.why() });
            }
            let response = easy.info(|info| info.response_code());
            if attempt >= self.plan.attempts || !is_retryable(code, response, easy.upload_must_wait()) {
                if code == Code::RangeError {
                    sender.state.end();
                }
                return Err(self
                    .failed(code, easy.message())
                    .measured(timings)
                    .explained(easy.why().map(Box::new)));
            }
            self.wait(&multi, pause)?;
            pause = (pause * 2).min(LONGEST_PAUSE);
            sender
                .rewind_source(easy, self.plan.mode)
                .map_err(|error| self.failed(Code::ReadError, error))?;
        }
        unreachable!("the last attempt returns")
    }

    /// Runs one transfer.
    fn attempt(&self, multi: &Multi, easy: &Easy) -> Result<Code, Error> {
        multi.add(easy);
        let ended = loop {
            multi.perform();
            if let Some((message, _)) = multi.next_message() {
                break Ok(message.code);
            }
            if let Err(error) = self.wait_on(multi, Duration::from_secs(1)) {
                break Err(error);
            }
        };
        multi.remove(easy);
        ended
    }

    /// Waits before another attempt.
    fn wait(&self, multi: &Multi, pause: Duration) -> Result<(), Error> {
        let end = Instant::now() + pause;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.wait_on(multi, left)?;
        }
    }

    fn wait_on(&self, multi: &Multi, pause: Duration) -> Result<(), Error> {
        multi.wait(&mut [], pause, true).map_err(|error| self.failed(Code::RecvError, error))?;
        match self.task.is_cancelled() {
            true => Err(self.failed(Code::AbortedByCallback, "the upload was dropped")),
            false => Ok(()),
        }
    }
}

/// Refuses an upload that could not continue after a cut.
fn check_protocol(url: &Url, mode: UploadMode) -> Result<(), Error> {
    match (&*url.scheme().to_ascii_lowercase(), mode) {
        ("http" | "https", mode) if mode.is_series_over_http() => Ok(()),
        ("http" | "https", _) => {
            let text = "an upload over HTTP continues only by a protocol of the server: `protocol`";
            Err(Error::option(text))
        }
        ("ftp" | "ftps" | "sftp", _) => Ok(()),
        _ => Err(Error::option(format!("an upload to {url} cannot continue"))),
    }
}

fn stamp(file: &File) -> std::io::Result<Stamp> {
    let found = file.metadata()?;
    match found.is_file() {
        true => Stamp::of(&found),
        false => Err(std::io::ErrorKind::InvalidInput.into()),
    }
}

/// The file that survives the process.
struct State {
    key: String,
    stamp: Cell<Stamp>,
    held: RefCell<Option<Held>>,
    /// The part at the server, as it is kept.
    begun: RefCell<Option<Vec<u8>>>,
}

impl State {
    fn open(owner: &Owner, stamp: Stamp) -> Result<State, Error> {
        let path = &owner.file;
        let whole = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let mode = format!("\0{:?}", owner.plan.mode);
        let source = [whole.as_os_str().as_encoded_bytes(), mode.as_bytes()].concat();
        let key = key(owner.request.url.as_str().as_bytes(), &source);
        let held = owner.plan.folder.as_ref().map(|folder| match Held::take(folder, &key) {
            Ok(Some(held)) => Ok(held),
            Ok(None) => {
                let text = format!("{} is being uploaded to this URL by another process", path.display());
                Err(owner.failed(Code::UploadFailed, text))
            }
            Err(error) => {
                let text = format!("{}: {error}", folder.display());
                Err(owner.failed(Code::WriteError, text))
            }
        });
        let held = held.transpose()?;
        let record = held.as_ref().and_then(Held::read);
        let record = record.filter(|record| record.key == key && record.stamp == stamp);
        let begun = RefCell::new(record.and_then(|record| record.resource));
        Ok(State { key, stamp: Cell::new(stamp), held: RefCell::new(held), begun })
    }

    /// Keeps the part at the server. A state that can't be written ends with the process.
    fn keep(&self, place: Vec<u8>) {
        if self.begun.borrow().as_ref() == Some(&place) {
            return;
        }
        let record = Record { key: self.key.clone(), stamp: self.stamp.get(), resource: Some(place.clone()) };
        self.begun.replace(Some(place));
        if let Some(held) = self.held.borrow().as_ref() {
            let _ = held.write(&record);
        }
    }

    fn end(&self) {
        if let Some(held) = self.held.take() {
            held.forget();
        }
    }
}

/// The callbacks of an upload.
struct Sender {
    file: RefCell<File>,
    state: State,
    easy: RefCell<Option<Easy>>,
    reply: RefCell<Vec<u8>>,
    progress: RefCell<Option<Progress>>,
}

impl Sender {
    fn keep(&self) {
        let place = self.easy.borrow().as_ref().and_then(Easy::upload_place);
        place.into_iter().for_each(|place| self.state.keep(place));
    }

    /// Compares the file with the server's checksum. Returns whether there was one.
    fn verify(&self, easy: &Easy) -> std::io::Result<Result<bool, String>> {
        let Some(digest) = easy.take_upload_digest() else { return Ok(Ok(easy.upload_is_compared())) };
        let mut file = self.file.borrow_mut();
        file.rewind()?;
        Ok(compare(&mut *file, &digest)?.map(|()| true))
    }

    /// Prepares another attempt. A source that has changed is another upload.
    fn rewind_source(&self, easy: &Easy, mode: UploadMode) -> std::io::Result<()> {
        self.file.borrow_mut().rewind()?;
        let found = stamp(&self.file.borrow())?;
        if found == self.state.stamp.replace(found) {
            return Ok(());
        }
        easy.resume_uploads(mode, None);
        self.state.begun.take();
        let set = easy.set(O::InFileSizeLarge, found.size as i64);
        debug_assert!(set.is_ok(), "the size of a file is in range");
        Ok(())
    }
}

impl Callbacks for Sender {
    fn read(&self, buf: &mut [u8]) -> ReadAnswer {
        self.keep();
        match self.file.borrow_mut().read(buf) {
            Ok(count) => ReadAnswer::Bytes(count),
            Err(_) => ReadAnswer::Abort,
        }
    }

    fn seek(&self, offset: u64) -> SeekAnswer {
        match self.file.borrow_mut().seek(SeekFrom::Start(offset)) {
            Ok(_) => SeekAnswer::Done,
            Err(_) => SeekAnswer::Failed,
        }
    }

    fn header(&self, _: &[u8]) -> Option<WriteAnswer> {
        self.keep();
        Some(WriteAnswer::All)
    }

    fn write(&self, data: &[u8]) -> WriteAnswer {
        let mut reply = self.reply.borrow_mut();
        let room = LONGEST_REPLY.saturating_sub(reply.len());
        reply.extend_from_slice(&data[..data.len().min(room)]);
        WriteAnswer::All
    }

    fn wants_progress(&self) -> bool {
        self.progress.borrow().is_some()
    }

    fn progress(&self, counts: ProgressCounts) -> bool {
        if let Some(show) = &mut *self.progress.borrow_mut() {
            let count = |number: i64| u64::try_from(number).unwrap_or(0);
            show(count(counts.upload_now), count(counts.upload_total));
        }
        true
    }
}
