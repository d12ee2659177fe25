//! The texts of codes (libcurl-errors.md), for any number that C passes.

use std::ffi::{c_char, c_int};
use std::ptr;

use tables::{Code, MultiCode, ShareCode, UrlCode};

use crate::guard::entry;
use crate::strings::c_text;

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_easy_strerror(code: c_int) -> *const c_char {
    entry(ptr::null(), || c_text(Code::text_of(code)))
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_multi_strerror(code: c_int) -> *const c_char {
    entry(ptr::null(), || c_text(MultiCode::text_of(code)))
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_share_strerror(code: c_int) -> *const c_char {
    entry(ptr::null(), || c_text(ShareCode::text_of(code)))
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_url_strerror(code: c_int) -> *const c_char {
    entry(ptr::null(), || c_text(UrlCode::text_of(code)))
}
