//! WebSocket and server push functions: present, and answering that the protocol isn't built.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;

use tables::Code;

/// # Safety
/// Nothing is touched.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_ws_recv(
    _easy: *mut c_void,
    _buffer: *mut c_void,
    _len: usize,
    _received: *mut usize,
    _meta: *mut *const c_void,
) -> c_int {
    Code::NotBuiltIn.id()
}

/// # Safety
/// Nothing is touched.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_ws_send(
    _easy: *mut c_void,
    _buffer: *const c_void,
    _len: usize,
    _sent: *mut usize,
    _fragment_size: i64,
    _flags: c_uint,
) -> c_int {
    Code::NotBuiltIn.id()
}

/// # Safety
/// Nothing is touched.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_ws_start_frame(_easy: *mut c_void, _flags: c_uint, _len: i64) -> c_int {
    Code::NotBuiltIn.id()
}

/// # Safety
/// Nothing is touched.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_ws_meta(_easy: *mut c_void) -> *const c_void {
    ptr::null()
}

/// No stream is ever pushed, so there are no headers of one.
///
/// # Safety
/// Nothing is touched.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_pushheader_bynum(_headers: *mut c_void, _number: usize) -> *mut c_char {
    ptr::null_mut()
}

/// # Safety
/// Nothing is touched.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_pushheader_byname(
    _headers: *mut c_void,
    _name: *const c_char,
) -> *mut c_char {
    ptr::null_mut()
}
