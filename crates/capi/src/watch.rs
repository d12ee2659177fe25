//! The functions `warmwire_watch...` of include/curl/warmwire.h: a watcher that polls URLs and reports
//! changes.
//!
//! A watcher is a handle of its own kind. One thread at a time is inside a call on it. Nothing is borrowed
//! while its callback runs, so that the application may ask for the state of a URL, or leave the callback by
//! an exception.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use engine::watch::{Event, EventKind, Status, Watcher};
use tables::{Code, Entry};

use crate::easy;
use crate::global::prepare_process;
use crate::guard::{Denied, entry};
use crate::handles::{Slab, Slot};
use crate::sys::from_long;

static WATCHERS: Slab<Handle> = Slab::new();

/// The longest wait in one piece.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The object behind a `WARMWIRE_WATCHER *`.
struct Handle {
    watcher: RefCell<Watcher>,
    /// The URLs, as they were given.
    urls: RefCell<Vec<CString>>,
    stops: AtomicBool,
    wake: Box<dyn Fn() + Send + Sync>,
}

/// `struct warmwire_watch_options`
#[repr(C)]
pub struct Options {
    size: usize,
    interval_ms: i64,
    deadline_ms: i64,
    contents: c_int,
    per_server: c_int,
    content_limit: i64,
}

/// `struct warmwire_change`. It grows only at its end; `size` is its size in this version.
#[repr(C)]
pub struct Change {
    size: usize,
    index: usize,
    url: *const c_char,
    kind: c_int,
    code: c_int,
    error: *const c_char,
    time_ms: i64,
    latency_us: i64,
    modified: i64,
    length: i64,
    etag: *const c_char,
    body: *const c_char,
    body_size: usize,
    message_type: *const c_char,
    message: *const c_char,
    message_size: usize,
    message_id: *const c_char,
}

/// `struct warmwire_watched`
#[repr(C)]
pub struct Watched {
    size: usize,
    exists: c_int,
    streams: c_int,
    code: c_int,
    age_ms: i64,
    changed_ms: i64,
    in_time: u64,
    missed: u64,
    p50_us: i64,
    p99_us: i64,
}

/// `warmwire_change_fn`
pub type ChangeFn = unsafe extern "C-unwind" fn(*const Change, *mut c_void) -> c_int;

/// Runs `body` on a living watcher, if no other call is inside that forbids it.
fn with(
    watcher: *const c_void,
    what: Entry,
    body: impl FnOnce(&'static Slot<Handle>, &Handle) -> Result<(), Code>,
) -> c_int {
    let code = entry(Code::FailedInit, || {
        let Some(slot) = WATCHERS.find(watcher) else { return Code::BadFunctionArgument };
        let inside = slot.gate().enter(what, |_| {
            // SAFETY: inside the gate; the watcher is freed by a call that the gate lets in alone.
            body(slot, unsafe { slot.value() })
        });
        match inside {
            Ok(Ok(())) => Code::Ok,
            Ok(Err(code)) => code,
            Err(Denied::Busy | Denied::Recursive) => Code::RecursiveApiCall,
        }
    });
    code.id()
}

/// # Safety
/// `options` is NULL, or points to the structure of the header with its `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_watch(options: *const Options) -> *mut c_void {
    entry(ptr::null_mut(), || {
        // SAFETY: NULL or readable by the caller's promise.
        let Some(options) = (unsafe { read_options(options) }) else { return ptr::null_mut() };
        prepare_process();
        let watcher = build(&options);
        let wake = Box::new(watcher.waker());
        WATCHERS.insert(Box::new(Handle {
            watcher: RefCell::new(watcher),
            urls: RefCell::default(),
            stops: AtomicBool::new(false),
            wake,
        }))
    })
}

/// Copies the options, as far as the caller's version of the structure has them. `None` for an interval that
/// is none, and for negative values.
///
/// # Safety
/// `options` is NULL, or points to `size` readable bytes.
unsafe fn read_options(options: *const Options) -> Option<Options> {
    if options.is_null() {
        return None;
    }
    // SAFETY: the first member is readable by the caller's promise.
    let size = unsafe { ptr::read(options.cast::<usize>()) };
    let mut copy =
        Options { size, interval_ms: 0, deadline_ms: 0, contents: 0, per_server: 0, content_limit: 0 };
    let known = size.min(size_of::<Options>());
    // SAFETY: both have that many bytes, and all values of integers are valid.
    unsafe { ptr::copy_nonoverlapping(options.cast::<u8>(), (&raw mut copy).cast::<u8>(), known) };
    let negative = copy.deadline_ms < 0 || copy.per_server < 0 || copy.content_limit < 0;
    (copy.interval_ms > 0 && !negative).then_some(copy)
}

fn build(options: &Options) -> Watcher {
    let ms = |ms: i64| Duration::from_millis(ms.unsigned_abs());
    let mut builder = Watcher::builder(ms(options.interval_ms)).keep_contents(options.contents != 0);
    if options.deadline_ms > 0 {
        builder = builder.deadline(ms(options.deadline_ms));
    }
    if options.per_server > 0 {
        builder = builder.polls_per_server(options.per_server.unsigned_abs() as usize);
    }
    if options.content_limit > 0 {
        builder = builder.content_limit(usize::try_from(options.content_limit).unwrap_or(usize::MAX));
    }
    builder.build()
}

/// # Safety
/// `url` is NULL or a C string, `like` is NULL or an easy handle, `index` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_watch_add(
    watcher: *mut c_void,
    url: *const c_char,
    like: *mut c_void,
    index: *mut usize,
) -> c_int {
    if url.is_null() {
        return Code::BadFunctionArgument.id();
    }
    // SAFETY: not NULL, so a C string by the caller's promise.
    let url = unsafe { CStr::from_ptr(url) };
    with(watcher, Entry::EasyPerform, |_, handle| {
        let text = url.to_str().map_err(|_| Code::UrlMalformat)?;
        let add = |like: Option<&engine::Easy>| -> Result<(), Code> {
            let number = handle.watcher.borrow_mut().add(text, like).map_err(|failure| failure.code)?;
            handle.urls.borrow_mut().push(url.to_owned());
            if !index.is_null() {
                // SAFETY: not NULL, so writable by the caller's promise.
                unsafe { ptr::write(index, number) };
            }
            Ok(())
        };
        if like.is_null() {
            return add(None);
        }
        let mut added = Err(Code::BadFunctionArgument);
        easy::run(like, Entry::EasyDuphandle, |like, _| {
            added = add(Some(&like.easy));
            added
        });
        added
    })
}

/// # Safety
/// `changed` is a function as the header describes it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_watch_run(
    watcher: *mut c_void,
    timeout_ms: c_long,
    changed: Option<ChangeFn>,
    user: *mut c_void,
) -> c_int {
    let timeout_ms = from_long(timeout_ms);
    let Some(changed) = changed.filter(|_| timeout_ms >= -1) else {
        return Code::BadFunctionArgument.id();
    };
    with(watcher, Entry::EasyPerform, |_, handle| {
        let timeout = u64::try_from(timeout_ms).ok().map(Duration::from_millis);
        run(handle, timeout, |change| {
            // SAFETY: the application's function; what the change points to outlives the call.
            unsafe { changed(change, user) }
        })
    })
}

/// Runs polls until the time is over, a call of `warmwire_watch_stop`, a signal, or an answer of the callback
/// other than 0.
fn run(
    handle: &Handle,
    timeout: Option<Duration>,
    mut report: impl FnMut(&Change) -> c_int,
) -> Result<(), Code> {
    if handle.watcher.borrow().is_empty() {
        return Err(Code::BadFunctionArgument);
    }
    let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        handle.watcher.borrow_mut().perform();
        loop {
            if handle.stops.swap(false, Ordering::AcqRel) {
                return Ok(());
            }
            let event = handle.watcher.borrow_mut().take_event();
            let Some(event) = event else { break };
            if deliver(handle, &event, &mut report) != 0 {
                return Err(Code::AbortedByCallback);
            }
        }
        let left = until.map_or(LONGEST, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Ok(());
        }
        let waited = handle.watcher.borrow().wait(left.min(LONGEST));
        match waited {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(()),
            Err(_) => return Err(Code::UnrecoverablePoll),
        }
    }
}

fn deliver(handle: &Handle, event: &Event, report: &mut impl FnMut(&Change) -> c_int) -> c_int {
    let text = |text: &[u8]| CString::new(text.iter().copied().filter(|b| *b != 0).collect::<Vec<u8>>());
    let own = |bytes: Option<&[u8]>| bytes.map(|bytes| text(bytes).unwrap_or_default());
    let shown = |text: &Option<CString>| text.as_deref().map_or(ptr::null(), CStr::as_ptr);
    let url = handle.urls.borrow().get(event.index).cloned();
    let error = own(event.failure.as_ref().map(|failure| failure.message.as_bytes()));
    let etag = own(event.stamp.etag.as_deref());
    let message = event.message.as_ref();
    let kind = own(message.map(|message| message.kind.as_bytes()));
    let id = own(message.map(|message| message.id.as_bytes()));
    let terminated = |bytes: Option<&[u8]>| bytes.map(|bytes| [bytes, &[0]].concat());
    let body = terminated(event.body.as_deref());
    let data = terminated(message.map(|message| message.data.as_bytes()));
    let start = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(ptr::null(), |bytes| bytes.as_ptr().cast());
    let length = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, |bytes| bytes.len() - 1);
    let since = event.time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    report(&Change {
        size: size_of::<Change>(),
        index: event.index,
        url: shown(&url),
        kind: number_of(event.kind),
        code: event.failure.as_ref().map_or(0, |failure| failure.code.id()),
        error: shown(&error),
        time_ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        latency_us: us(event.latency),
        modified: event.stamp.modified.unwrap_or(-1),
        length: event.stamp.size.and_then(|size| i64::try_from(size).ok()).unwrap_or(-1),
        etag: shown(&etag),
        body: start(&body),
        body_size: length(&body),
        message_type: shown(&kind),
        message: start(&data),
        message_size: length(&data),
        message_id: shown(&id),
    })
}

/// The constants `WARMWIRE_CHANGE_...`.
fn number_of(kind: EventKind) -> c_int {
    match kind {
        EventKind::First => 0,
        EventKind::Changed => 1,
        EventKind::Gone => 2,
        EventKind::Appeared => 3,
        EventKind::Message => 4,
        EventKind::Failed => 5,
        EventKind::Recovered => 6,
    }
}

fn us(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

/// # Safety
/// `watched` is NULL, or writable for its `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_watch_status(
    watcher: *mut c_void,
    index: usize,
    watched: *mut Watched,
) -> c_int {
    if watched.is_null() {
        return Code::BadFunctionArgument.id();
    }
    with(watcher, Entry::EasyGetinfo, |_, handle| {
        let watcher = handle.watcher.borrow();
        let status = watcher.status(index).ok_or(Code::BadFunctionArgument)?;
        // SAFETY: not NULL; the first member is set by the caller's promise.
        let size = unsafe { ptr::read(watched.cast::<usize>()) };
        let found = watched_of(&status, size);
        let known = size.min(size_of::<Watched>());
        // SAFETY: writable for `size` bytes by the caller's promise, and `found` has `known` of them.
        unsafe { ptr::copy_nonoverlapping((&raw const found).cast::<u8>(), watched.cast::<u8>(), known) };
        Ok(())
    })
}

fn watched_of(status: &Status<'_>, size: usize) -> Watched {
    let ms = |time: Option<Duration>| time.map_or(-1, |time| us(time) / 1000);
    Watched {
        size,
        exists: status.exists.map_or(-1, c_int::from),
        streams: c_int::from(status.streams),
        code: status.failure.map_or(0, |failure| failure.code.id()),
        age_ms: ms(status.age),
        changed_ms: ms(status.since_change),
        in_time: status.windows.met,
        missed: status.windows.missed,
        p50_us: status.p50.map_or(-1, us),
        p99_us: status.p99.map_or(-1, us),
    }
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn warmwire_watch_stop(watcher: *mut c_void) -> c_int {
    let code = entry(Code::FailedInit, || {
        let Some(slot) = WATCHERS.find(watcher) else { return Code::BadFunctionArgument };
        // SAFETY: the header forbids to free the watcher meanwhile. The members used here may be used by any
        // thread while another one is inside.
        let handle = unsafe { slot.value() };
        handle.stops.store(true, Ordering::Release);
        (handle.wake)();
        Code::Ok
    });
    code.id()
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn warmwire_watch_free(watcher: *mut c_void) -> c_int {
    let code = with(watcher, Entry::EasyPerform, |_, _| Ok(()));
    if code == Code::Ok.id() {
        return entry(Code::FailedInit.id(), || {
            drop(WATCHERS.remove(watcher));
            code
        });
    }
    code
}
