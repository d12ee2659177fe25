//! `curl_getdate` (curl_getdate.md) over `wire::date`.

use std::ffi::{CStr, c_char};

use crate::guard::entry;

/// # Safety
/// `text` is NULL or a C string; `now` is not used.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_getdate(text: *const c_char, _now: *const libc::time_t) -> libc::time_t {
    entry(-1, || {
        if text.is_null() {
            return -1;
        }
        // SAFETY: a C string by the caller's promise.
        wire::date::parse(unsafe { CStr::from_ptr(text) }.to_bytes()).unwrap_or(-1)
    })
}
