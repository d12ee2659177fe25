//! The functions of include/curl/warmwire.h: the process-wide pool, pipelining of FTP and SMTP commands,
//! WebSocket extensions, policies, priorities, uploads, the reasons of a transfer. They are not curl's, and
//! have their own version node.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint, c_void};
use std::fs::File;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use engine::process_pool::{self, Listed};
use engine::upload_resumption::UploadMode;
use engine::why::{Reasons, Record};
use engine::{FtpPipelining, SmtpPipelining, WebSocketOptions};
use tables::{Code, Entry};
use wire::priority::RequestPriority;
use wire::upload::compare;

use crate::easy;
use crate::global::prepare_process;
use crate::guard::entry;
use crate::memory;
use crate::sys::from_long;

/// `struct warmwire_connection`. It grows only at its end; `size` is its size in this version.
#[repr(C)]
pub struct Connection {
    size: usize,
    scheme: *const c_char,
    host: *const c_char,
    port: c_uint,
    tls: c_int,
    age_ms: i64,
    idle_ms: i64,
    uses: u64,
}

/// `warmwire_each_fn`
pub type EachFn = unsafe extern "C-unwind" fn(*const Connection, *mut c_void) -> c_int;

/// WARMWIRE_UPLOAD_VERIFY
const UPLOAD_VERIFY: i64 = 16;

/// Maximum count: a larger one is a mistake.
const MOST_TO_OPEN: usize = 10_000;

#[unsafe(no_mangle)]
pub extern "C-unwind" fn warmwire_pool(on: c_int) -> c_int {
    entry(0, || {
        prepare_process();
        let before = process_pool::kind() != process_pool::Pool::Off;
        if on >= 0 {
            process_pool::enable(on > 0);
        }
        c_int::from(before)
    })
}

/// # Safety
/// `each` is a function as the header describes it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_each(each: Option<EachFn>, user: *mut c_void) -> usize {
    entry(0, || {
        // A copy: the application may do anything from its function, and may jump out of it.
        let list = process_pool::list();
        let Some(each) = each else { return list.len() };
        let mut passed = 0;
        for row in &list {
            let text = |text: &str| CString::new(text).unwrap_or_default();
            let (scheme, host) = (text(&row.scheme), text(&row.origin.host));
            passed += 1;
            // SAFETY: the application's function; the texts outlive the call.
            if unsafe { each(&raw const *shape(row, &scheme, &host), user) } != 0 {
                break;
            }
        }
        passed
    })
}

fn shape(row: &Listed, scheme: &CStr, host: &CStr) -> Box<Connection> {
    let ms = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    Box::new(Connection {
        size: size_of::<Connection>(),
        scheme: scheme.as_ptr(),
        host: host.as_ptr(),
        port: c_uint::from(row.origin.port),
        tls: c_int::from(row.tls),
        age_ms: ms(row.age),
        idle_ms: ms(row.idle),
        uses: row.uses,
    })
}

/// # Safety
/// `host` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_close(host: *const c_char, port: c_uint) -> usize {
    entry(0, || {
        if host.is_null() {
            let count = process_pool::list().len();
            process_pool::close_all();
            return count;
        }
        // SAFETY: not NULL, so a C string by the caller's promise.
        let host = unsafe { CStr::from_ptr(host) }.to_string_lossy();
        u16::try_from(port).map_or(0, |port| process_pool::close_origin(&host, port))
    })
}

/// # Safety
/// `like` is NULL or an easy handle, `url` is NULL or a C string, `opened` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_open(
    like: *mut c_void,
    url: *const c_char,
    count: usize,
    timeout_ms: c_long,
    opened: *mut usize,
) -> c_int {
    let report = |number: usize| {
        if !opened.is_null() {
            // SAFETY: not NULL, so writable by the caller's promise.
            unsafe { ptr::write(opened, number) };
        }
    };
    report(0);
    if url.is_null() || count > MOST_TO_OPEN || timeout_ms < 0 {
        return Code::BadFunctionArgument.id();
    }
    // SAFETY: not NULL, so a C string by the caller's promise.
    let url = unsafe { CStr::from_ptr(url) }.to_bytes();
    let timeout = Duration::from_millis(from_long(timeout_ms).unsigned_abs());
    let open = |like: Option<&engine::Easy>| {
        prepare_process();
        let (number, code) = process_pool::open(like, url, count, timeout);
        report(number);
        code
    };
    if like.is_null() {
        return entry(Code::OutOfMemory.id(), || open(None).id());
    }
    easy::run(like, Entry::EasyDuphandle, |handle, _| match open(Some(&handle.easy)) {
        Code::Ok => Ok(()),
        code => Err(code),
    })
}

/// # Safety
/// `easy` is an easy handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_ftp_pipeline(easy: *mut c_void, level: c_long) -> c_int {
    easy::run(easy, Entry::EasySetopt, |handle, _| {
        let chosen = match level {
            -1 => None,
            level => Some(FtpPipelining::from_number(from_long(level)).ok_or(Code::BadFunctionArgument)?),
        };
        handle.easy.state().ftp_pipelining.set(chosen);
        Ok(())
    })
}

/// # Safety
/// `easy` is an easy handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_smtp_pipeline(easy: *mut c_void, level: c_long) -> c_int {
    easy::run(easy, Entry::EasySetopt, |handle, _| {
        let chosen = match level {
            -1 => None,
            level => Some(SmtpPipelining::from_number(from_long(level)).ok_or(Code::BadFunctionArgument)?),
        };
        handle.easy.state().smtp_pipelining.set(chosen);
        Ok(())
    })
}

/// # Safety
/// `easy` is an easy handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_websocket(easy: *mut c_void, bits: c_long) -> c_int {
    easy::run(easy, Entry::EasySetopt, |handle, _| {
        let chosen = match bits {
            -1 => None,
            bits => Some(WebSocketOptions::from_number(from_long(bits)).ok_or(Code::BadFunctionArgument)?),
        };
        handle.easy.state().settings.borrow_mut().set_websocket(chosen);
        Ok(())
    })
}

/// # Safety
/// `easy` is an easy handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_follow_names(easy: *mut c_void, on: c_long) -> c_int {
    easy::run(easy, Entry::EasySetopt, |handle, _| {
        let chosen = match on {
            -1 => None,
            0 => Some(false),
            1 => Some(true),
            _ => return Err(Code::BadFunctionArgument),
        };
        handle.easy.state().settings.borrow_mut().set_follow_names(chosen);
        Ok(())
    })
}

/// # Safety
/// `easy` is an easy handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_priority(
    easy: *mut c_void,
    urgency: c_long,
    incremental: c_int,
) -> c_int {
    easy::run(easy, Entry::EasySetopt, |handle, _| {
        let chosen = match from_long(urgency) {
            -1 => None,
            urgency => {
                let chosen = u8::try_from(urgency).ok().and_then(RequestPriority::new);
                Some(chosen.ok_or(Code::BadFunctionArgument)?.incremental(incremental != 0))
            }
        };
        handle.easy.state().settings.borrow_mut().set_priority(chosen);
        Ok(())
    })
}

/// # Safety
/// `easy` is an easy handle; `file` is NULL or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_policy(easy: *mut c_void, file: *const c_char) -> c_int {
    easy::run(easy, Entry::EasySetopt, |handle, _| {
        if file.is_null() {
            handle.easy.state().settings.borrow_mut().set_policy(None);
            return Ok(());
        }
        // SAFETY: not NULL, so a string by the caller's promise.
        let name = unsafe { CStr::from_ptr(file) }.to_bytes();
        let policy = engine::read_policy(&engine::sys::path(name));
        let faulty = policy.fault().is_some();
        handle.easy.state().settings.borrow_mut().set_policy(Some(Arc::new(policy)));
        if faulty { Err(Code::ReadError) } else { Ok(()) }
    })
}

/// # Safety
/// `easy` is an easy handle; `begun` is NULL or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_upload(
    easy: *mut c_void,
    mode: c_long,
    begun: *const c_char,
) -> c_int {
    easy::run(easy, Entry::EasySetopt, |handle, _| {
        let number = from_long(mode);
        let mode = UploadMode::from_number(number & !UPLOAD_VERIFY).ok_or(Code::BadFunctionArgument)?;
        let resumption = &handle.easy.state().upload_resumption;
        resumption.set(mode);
        resumption.ask_digest(number & UPLOAD_VERIFY != 0);
        if !begun.is_null() {
            // SAFETY: not NULL, so a string by the caller's promise.
            resumption.set_place(unsafe { CStr::from_ptr(begun) }.to_bytes());
        }
        Ok(())
    })
}

/// # Safety
/// `easy` is an easy handle; `place` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_upload_place(easy: *mut c_void, place: *mut *mut c_char) -> c_int {
    if place.is_null() {
        return Code::BadFunctionArgument.id();
    }
    // SAFETY: not NULL, so writable by the caller's promise.
    unsafe { ptr::write(place, ptr::null_mut()) };
    easy::run(easy, Entry::EasyGetinfo, |handle, _| {
        let Some(known) = handle.easy.state().upload_resumption.place() else { return Ok(()) };
        let copy = memory::copy_string(&known);
        if copy.is_null() {
            return Err(Code::OutOfMemory);
        }
        // SAFETY: as above.
        unsafe { ptr::write(place, copy) };
        Ok(())
    })
}

/// # Safety
/// `easy` is an easy handle; `file` is NULL or a string; `compared` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_upload_verify(
    easy: *mut c_void,
    file: *const c_char,
    compared: *mut c_long,
) -> c_int {
    if file.is_null() {
        return Code::BadFunctionArgument.id();
    }
    let note = |found: bool| {
        if !compared.is_null() {
            // SAFETY: not NULL, so writable by the caller's promise.
            unsafe { ptr::write(compared, found.into()) };
        }
    };
    note(false);
    easy::run(easy, Entry::EasyGetinfo, |handle, _| {
        let state = handle.easy.state();
        let Some(digest) = state.upload_resumption.take_digest() else {
            note(state.upload_resumption.is_compared());
            return Ok(());
        };
        // SAFETY: not NULL, so a string by the caller's promise.
        let path = engine::sys::path(unsafe { CStr::from_ptr(file) }.to_bytes());
        let fail = |code: Code, text: String| {
            state.set_message(&text);
            code
        };
        let comparison = File::open(&path).and_then(|mut source| compare(&mut source, &digest));
        let unreadable = |error| fail(Code::FileCouldntReadFile, format!("{}: {error}", path.display()));
        let verdict = comparison.map_err(unreadable)?;
        note(true);
        verdict.map_err(|difference| fail(Code::RangeError, difference))
    })
}

/// Sets which reasons a handle keeps.
fn keep_reasons(easy: *mut c_void, reasons: Reasons) -> c_int {
    easy::run(easy, Entry::EasySetopt, |handle, _| {
        handle.easy.keep_reasons(reasons);
        Ok(())
    })
}

/// # Safety
/// `easy` is an easy handle; `text` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_why(
    easy: *mut c_void,
    what: c_long,
    text: *mut *mut c_char,
) -> c_int {
    if !text.is_null() {
        // SAFETY: not NULL, so writable by the caller's promise.
        unsafe { ptr::write(text, ptr::null_mut()) };
    }
    let write: fn(&Record) -> String = match from_long(what) {
        0 => return keep_reasons(easy, Reasons::Off),
        1 => return keep_reasons(easy, Reasons::Decisions),
        4 => return keep_reasons(easy, Reasons::Certificates),
        2 if !text.is_null() => Record::text,
        3 if !text.is_null() => Record::json,
        5 if !text.is_null() => Record::certificates,
        6 if !text.is_null() => Record::certificates_json,
        _ => return Code::BadFunctionArgument.id(),
    };
    easy::run(easy, Entry::EasyGetinfo, |handle, _| {
        let written = handle.easy.state().why.read(write).ok_or(Code::BadFunctionArgument)?;
        let copy = memory::copy_string(written.as_bytes());
        if copy.is_null() {
            return Err(Code::OutOfMemory);
        }
        // SAFETY: checked above: not NULL, so writable by the caller's promise.
        unsafe { ptr::write(text, copy) };
        Ok(())
    })
}
