//! String helpers of the API: comparison, environment, percent-encoding
//! (curl_strequal.md, curl_getenv.md, curl_easy_escape.md, curl_easy_unescape.md).

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use wire::escape::{self, Reject};

use crate::guard::entry;
use crate::{memory, sys};

/// Maximum length of escaped text: the longest input with every byte escaped (curl's limit).
const MAX_ESCAPED: usize = 3 * engine::settings::MAX_INPUT_LENGTH;

/// The bytes of a C string that may be NULL.
///
/// # Safety
/// `text` is NULL or a C string that outlives the slice.
pub unsafe fn bytes<'a>(text: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// The first `length` bytes of `text`, or the whole C string when `length` is 0; None for NULL or a negative
/// length.
///
/// # Safety
/// `text` is NULL, or has `length` readable bytes, or is a C string when `length` is 0.
unsafe fn counted<'a>(text: *const c_char, length: c_int) -> Option<&'a [u8]> {
    if text.is_null() {
        return None;
    }
    match usize::try_from(length).ok()? {
        // SAFETY: the caller's promise.
        0 => unsafe { bytes(text) },
        // SAFETY: the caller's promise.
        length => Some(unsafe { std::slice::from_raw_parts(text.cast(), length) }),
    }
}

/// # Safety
/// Both are NULL or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_strequal(first: *const c_char, second: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let (first, second) = unsafe { (bytes(first), bytes(second)) };
    match (first, second) {
        (Some(first), Some(second)) => first.eq_ignore_ascii_case(second).into(),
        (None, None) => 1,
        _ => 0,
    }
}

/// # Safety
/// Both are NULL or readable up to a terminating zero or `max` bytes, whichever comes first.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_strnequal(
    first: *const c_char,
    second: *const c_char,
    max: usize,
) -> c_int {
    if first.is_null() || second.is_null() {
        return (first.is_null() && second.is_null() && max > 0).into();
    }
    for at in 0..max {
        // SAFETY: `at` is below `max`, and the loop ends at the first zero.
        let (a, b) = unsafe { (*first.add(at) as u8, *second.add(at) as u8) };
        if !a.eq_ignore_ascii_case(&b) {
            return 0;
        }
        if a == 0 {
            break;
        }
    }
    1
}

/// # Safety
/// `name` is NULL or a C string; no other thread changes the environment meanwhile (as for C's getenv).
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_getenv(name: *const c_char) -> *mut c_char {
    entry(ptr::null_mut(), || {
        if name.is_null() {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        let value = unsafe { sys::environment(name) };
        // An empty variable is none to curl.
        value.filter(|value| !value.is_empty()).map_or(ptr::null_mut(), |value| memory::copy_string(&value))
    })
}

/// # Safety
/// `text` is NULL or has `length` bytes (a C string for 0). The handle is not used.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_escape(
    _easy: *mut c_void,
    text: *const c_char,
    length: c_int,
) -> *mut c_char {
    entry(ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let text = unsafe { counted(text, length) }.filter(|text| text.len() <= MAX_ESCAPED);
        let escaped = text.map(escape::encode).filter(|escaped| escaped.len() <= MAX_ESCAPED);
        escaped.map_or(ptr::null_mut(), |escaped| memory::copy_string(&escaped))
    })
}

/// # Safety
/// As `curl_easy_escape`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_escape(text: *const c_char, length: c_int) -> *mut c_char {
    // SAFETY: the caller's promise.
    unsafe { curl_easy_escape(ptr::null_mut(), text, length) }
}

/// # Safety
/// `text` is NULL or has `length` bytes (a C string for 0); `out_length` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_unescape(
    _easy: *mut c_void,
    text: *const c_char,
    length: c_int,
    out_length: *mut c_int,
) -> *mut c_char {
    entry(ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let Some(text) = (unsafe { counted(text, length) }) else {
            return ptr::null_mut();
        };
        let Ok(decoded) = escape::decode(text, Reject::Nothing) else {
            return ptr::null_mut();
        };
        if !out_length.is_null() {
            let Ok(length) = c_int::try_from(decoded.len()) else {
                return ptr::null_mut();
            };
            // SAFETY: not NULL, so writable by the caller's promise.
            unsafe { *out_length = length };
        }
        memory::copy_string(&decoded)
    })
}

/// # Safety
/// As `curl_easy_unescape`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_unescape(text: *const c_char, length: c_int) -> *mut c_char {
    // SAFETY: the caller's promise.
    unsafe { curl_easy_unescape(ptr::null_mut(), text, length, ptr::null_mut()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_of_missing_strings() {
        let a = c"Abc".as_ptr();
        // SAFETY: NULL or literals.
        unsafe {
            assert_eq!(curl_strequal(ptr::null(), ptr::null()), 1);
            assert_eq!(curl_strequal(a, ptr::null()), 0);
            assert_eq!(curl_strnequal(ptr::null(), ptr::null(), 0), 0);
            assert_eq!(curl_strnequal(a, c"aBx".as_ptr(), 2), 1);
            assert_eq!(curl_strnequal(a, c"aB".as_ptr(), 9), 0);
        }
    }
}
