//! The texts of codes (libcurl-errors.md), for any number that C passes.

use std::ffi::{c_char, c_int};
use std::ptr;

use tables::{Code, MultiCode, ShareCode, UrlCode};

use crate::guard::entry;

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_easy_strerror(code: c_int) -> *const c_char {
    entry(ptr::null(), || Code::c_text_of(code).as_ptr())
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_multi_strerror(code: c_int) -> *const c_char {
    entry(ptr::null(), || MultiCode::c_text_of(code).as_ptr())
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_share_strerror(code: c_int) -> *const c_char {
    entry(ptr::null(), || ShareCode::c_text_of(code).as_ptr())
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_url_strerror(code: c_int) -> *const c_char {
    entry(ptr::null(), || UrlCode::c_text_of(code).as_ptr())
}
