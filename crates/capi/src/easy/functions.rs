//! The functions on easy handles (libcurl-easy.md): their life, running them, pausing, and bytes on a
//! connection of one's own.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

use engine::Easy;
use engine::callbacks::Callbacks;
use tables::{Code, EasyOption, Entry};

use super::objects::Objects;
use super::{EasyHandle, find, run, with};
use crate::application::Application;
use crate::guard::entry;

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_easy_init() -> *mut c_void {
    entry(ptr::null_mut(), || {
        crate::global::prepare_process();
        EasyHandle::insert(|kept| {
            kept.unwrap_or_else(|| {
                let app = Application::new();
                Box::new(EasyHandle::new(Easy::new(app.clone()), app))
            })
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_duphandle(handle: *mut c_void) -> *mut c_void {
    with(
        handle,
        Entry::EasyDuphandle,
        |_| ptr::null_mut(),
        |original, _| {
            let app = Application::new();
            app.copy_from(&original.app);
            let copy = EasyHandle::new(original.easy.duplicate(app.clone()), app);
            let handle = EasyHandle::insert(|_| Box::new(copy));
            if let Some(slot) = find(handle) {
                // SAFETY: just created, and unknown to anybody else.
                let copy = unsafe { slot.value() };
                copy.share_objects(original);
                copy.lists.share(&original.lists);
            }
            handle
        },
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_reset(handle: *mut c_void) {
    with(
        handle,
        Entry::EasyReset,
        |_| (),
        |easy, _| {
            easy.easy.reset();
            easy.app.reset();
            easy.objects.set(Objects::default());
            easy.lists.clear();
        },
    );
}

/// Does nothing inside a callback (see the table of re-entry).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_cleanup(handle: *mut c_void) {
    let closed = with(
        handle,
        Entry::EasyCleanup,
        |_| false,
        |easy, gate| {
            easy.easy.close();
            gate.drive(None);
            true
        },
    );
    if closed {
        entry((), || EasyHandle::end(handle));
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_perform(handle: *mut c_void) -> c_int {
    with(handle, Entry::EasyPerform, Code::id, |easy, _| {
        easy.begin();
        easy.easy.perform().id()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_pause(handle: *mut c_void, bits: c_int) -> c_int {
    with(handle, Entry::EasyPause, Code::id, |easy, _| easy.easy.pause(i64::from(bits)).id())
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_upkeep(handle: *mut c_void) -> c_int {
    run(handle, Entry::EasyUpkeep, |easy, _| {
        easy.easy.upkeep();
        Ok(())
    })
}

/// # Safety
/// `buffer` has `len` writable bytes; `received` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_recv(
    handle: *mut c_void,
    buffer: *mut c_void,
    len: usize,
    received: *mut usize,
) -> c_int {
    run(handle, Entry::EasyRecv, |easy, _| {
        if buffer.is_null() || received.is_null() {
            return Err(Code::BadFunctionArgument);
        }
        // SAFETY: the caller's promise.
        let buffer = unsafe {
            *received = 0;
            std::slice::from_raw_parts_mut(buffer.cast::<u8>(), len)
        };
        let mut connected = easy.easy.state().connected.borrow_mut();
        let connection = connected.as_mut().ok_or_else(|| no_connection(easy))?;
        // SAFETY: the caller's promise.
        unsafe { *received = connection.receive(buffer)? };
        Ok(())
    })
}

/// # Safety
/// `buffer` has `len` bytes; `sent` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_send(
    handle: *mut c_void,
    buffer: *const c_void,
    len: usize,
    sent: *mut usize,
) -> c_int {
    run(handle, Entry::EasySend, |easy, _| {
        if buffer.is_null() || sent.is_null() {
            return Err(Code::BadFunctionArgument);
        }
        // SAFETY: the caller's promise.
        let bytes = unsafe {
            *sent = 0;
            std::slice::from_raw_parts(buffer.cast::<u8>(), len)
        };
        let mut connected = easy.easy.state().connected.borrow_mut();
        let connection = connected.as_mut().ok_or_else(|| no_connection(easy))?;
        // SAFETY: the caller's promise.
        unsafe { *sent = connection.send(bytes)? };
        Ok(())
    })
}

/// Why there is no connection that the application could use.
fn no_connection(easy: &EasyHandle) -> Code {
    let wanted = easy.easy.state().settings.borrow().on(EasyOption::ConnectOnly);
    easy.app.fail(if wanted { "Failed to get recent socket" } else { "CONNECT_ONLY is required" });
    Code::UnsupportedProtocol
}

/// `curl_ssls_export_cb`.
type ExportFn = unsafe extern "C-unwind" fn(
    *mut c_void,
    *mut c_void,
    *const c_char,
    *const u8,
    usize,
    *const u8,
    usize,
    i64,
    c_int,
    *const c_char,
    usize,
) -> c_int;

/// # Safety
/// `function` is NULL or a function of the type in the manual.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_ssls_export(
    handle: *mut c_void,
    function: Option<ExportFn>,
    user: *mut c_void,
) -> c_int {
    with(handle, Entry::EasySslsExport, Code::id, |easy, _| {
        let Some(function) = function else { return Code::BadFunctionArgument.id() };
        let exported = match easy.easy.export_sessions() {
            Ok(exported) => exported,
            Err(code) => return code.id(),
        };
        for one in exported {
            let text =
                |text: &Option<String>| text.as_deref().map(|text| CString::new(text).unwrap_or_default());
            let (name, alpn) = (text(&one.name), text(&one.session.alpn));
            let or_null = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
            // SAFETY: the application's function; its arguments live until it returns.
            let answer = unsafe {
                function(
                    handle,
                    user,
                    or_null(&name),
                    one.proof.as_ptr(),
                    one.proof.len(),
                    one.packed.as_ptr(),
                    one.packed.len(),
                    one.session.until,
                    one.session.version.into(),
                    or_null(&alpn),
                    one.session.early as usize,
                )
            };
            if answer != Code::Ok.id() {
                return answer;
            }
        }
        Code::Ok.id()
    })
}

/// # Safety
/// `name` is NULL or a C string; the others have as many bytes as is said behind them.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_ssls_import(
    handle: *mut c_void,
    name: *const c_char,
    proof: *const u8,
    proof_len: usize,
    session: *const u8,
    session_len: usize,
) -> c_int {
    run(handle, Entry::EasySslsImport, |easy, _| {
        let bytes = |at: *const u8, length| match at.is_null() {
            true => &[][..],
            // SAFETY: not NULL, so as many bytes by the caller's promise.
            false => unsafe { std::slice::from_raw_parts(at, length) },
        };
        let (proof, session) = (bytes(proof, proof_len), bytes(session, session_len));
        // SAFETY: not NULL, so a C string.
        let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy());
        easy.easy.import_session(name.as_deref(), proof, session)
    })
}
