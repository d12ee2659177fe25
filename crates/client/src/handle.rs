//! A handle with closures for callbacks, and a transfer in one call.

use std::cell::RefCell;
use std::rc::Rc;

pub use engine::error::Failure;

use engine::callbacks::{Callbacks, DebugKind, ProgressCounts, ReadAnswer, SeekAnswer, WriteAnswer};
use tables::{Code, EasyOption};

use crate::{Easy, TransferInfo, Value};

/// A handle for successive transfers. Its connections stay open between them.
///
/// ```no_run
/// use warmwire::EasyOption;
///
/// let mut handle = warmwire::Handle::new();
/// handle.set(EasyOption::Url, "https://example.com/")?;
/// handle.set(EasyOption::FollowLocation, true)?;
/// let reply = handle.fetch()?;
/// println!("{} {}", reply.status, String::from_utf8_lossy(&reply.body));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Handle {
    easy: Easy,
    app: Rc<App>,
}

/// The result of a transfer.
#[derive(Debug, Default)]
pub struct Reply {
    /// Response code, 0 for protocols without one.
    pub status: i64,
    /// Header lines as received.
    pub head: Vec<u8>,
    /// The body.
    pub body: Vec<u8>,
}

type Slot<F> = RefCell<Option<Box<F>>>;
type OnData = dyn FnMut(&[u8]) -> WriteAnswer;
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
    fn write(&self, data: &[u8]) -> WriteAnswer {
        call(&self.write, |f| f(data)).unwrap_or(WriteAnswer::All)
    }

    fn header(&self, line: &[u8]) -> Option<WriteAnswer> {
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
    /// Creates a handle with curl's defaults.
    pub fn new() -> Handle {
        let app = Rc::new(App::default());
        Handle { easy: Easy::new(app.clone()), app }
    }

    /// Returns the underlying [`Easy`], for a [`Multi`](crate::Multi) and for functions that are missing
    /// here.
    pub fn easy(&self) -> &Easy {
        &self.easy
    }

    /// Reads the facts about the last transfer, or the one in progress: times, sizes, addresses, codes.
    ///
    /// Times are [`Duration`](std::time::Duration)s since the transfer began, sizes are in bytes, and -1 is
    /// an unknown size or date.
    pub fn info<R>(&self, read: impl FnOnce(&TransferInfo<'_>) -> R) -> R {
        self.easy.info(read)
    }

    /// Sets an option, for this and all later transfers of the handle.
    ///
    /// Numbers and switches, strings, lists and forms convert to a [`Value`]. Times are in milliseconds if
    /// the option's name ends in `Ms`, otherwise in seconds; speeds are in bytes a second. The errors are
    /// curl's: [`Code::BadFunctionArgument`] for an invalid value, [`Code::NotBuiltIn`] or
    /// [`Code::UnknownOption`] for an option of a feature that is not built in.
    pub fn set(&mut self, option: EasyOption, value: impl Into<Value>) -> Result<(), Code> {
        self.easy.set(option, value)
    }

    /// Sets the closure that receives the body, piece by piece, decoded as the options request. Without it,
    /// and outside of [`fetch`](Handle::fetch), the body is discarded.
    ///
    /// [`WriteAnswer::Failed`] ends the transfer with [`Code::WriteError`].
    pub fn on_write(&mut self, f: impl FnMut(&[u8]) -> WriteAnswer + 'static) {
        *self.app.write.borrow_mut() = Some(Box::new(f));
    }

    /// Sets the closure that receives header lines, one at a time with their line ends: the status line
    /// first, the empty line last. Redirects and interim replies add heads.
    pub fn on_header(&mut self, f: impl FnMut(&[u8]) -> WriteAnswer + 'static) {
        *self.app.header.borrow_mut() = Some(Box::new(f));
    }

    /// Sets the closure that provides upload data: it fills the buffer and returns the number of bytes; 0 is
    /// the end. Used by transfers with [`EasyOption::Upload`], and by a POST without a body of its own.
    pub fn on_read(&mut self, f: impl FnMut(&mut [u8]) -> ReadAnswer + 'static) {
        *self.app.read.borrow_mut() = Some(Box::new(f));
    }

    /// Sets the closure that seeks in the upload data, to an offset in bytes from its start. Needed when a
    /// request is sent again.
    pub fn on_seek(&mut self, f: impl FnMut(u64) -> SeekAnswer + 'static) {
        *self.app.seek.borrow_mut() = Some(Box::new(f));
    }

    /// Sets the closure that receives progress, about once a second and whenever much data has been
    /// transferred. `false` ends the transfer with [`Code::AbortedByCallback`]. [`EasyOption::NoProgress`]
    /// must be off.
    pub fn on_progress(&mut self, f: impl FnMut(ProgressCounts) -> bool + 'static) {
        *self.app.progress.borrow_mut() = Some(Box::new(f));
    }

    /// Sets the closure that receives curl's verbose output: remarks, heads and data, in both directions.
    /// [`EasyOption::Verbose`] must be on.
    pub fn on_debug(&mut self, f: impl FnMut(DebugKind, &[u8]) + 'static) {
        *self.app.debug.borrow_mut() = Some(Box::new(f));
    }

    /// Runs the transfer to its end. The connection stays open for the next one.
    pub fn perform(&mut self) -> Result<(), Failure> {
        match self.easy.perform() {
            Code::Ok => Ok(()),
            code => Err(Failure { code, message: self.easy.message() }),
        }
    }

    /// Runs the transfer and collects the result in memory. Removes the closures for body and headers.
    ///
    /// An HTTP error status is not a failure, unless [`EasyOption::FailOnError`] is on.
    pub fn fetch(&mut self) -> Result<Reply, Failure> {
        let reply = Rc::new(RefCell::new(Reply::default()));
        let (body, head) = (reply.clone(), reply.clone());
        self.on_write(move |data| {
            body.borrow_mut().body.extend_from_slice(data);
            WriteAnswer::All
        });
        self.on_header(move |line| {
            head.borrow_mut().head.extend_from_slice(line);
            WriteAnswer::All
        });
        let result = self.perform();
        *self.app.write.borrow_mut() = None;
        *self.app.header.borrow_mut() = None;
        result?;
        let mut reply = reply.take();
        reply.status = self.easy.info(|info| info.response_code());
        Ok(reply)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.easy.close();
    }
}
