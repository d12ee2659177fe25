//! The HSTS callbacks (CURLOPT_HSTSREADFUNCTION.md, CURLOPT_HSTSWRITEFUNCTION.md): entries of the cache as C
//! sees them.

use std::ffi::{CStr, c_char, c_int, c_void};

use engine::callbacks::{HstsAnswer, HstsEntry};
use tables::constant::{CURLSTS_FAIL, CURLSTS_OK};

pub type HstsReadFn = unsafe extern "C-unwind" fn(*mut c_void, *mut Entry, *mut c_void) -> c_int;
pub type HstsWriteFn = unsafe extern "C-unwind" fn(*mut c_void, *mut Entry, *mut Index, *mut c_void) -> c_int;

/// Room for a host name; one that needs more is cut off by the application.
const NAME_ROOM: usize = 2049;
/// "YYYYMMDD HH:MM:SS" and its zero.
const DATE_ROOM: usize = 18;

/// `struct curl_hstsentry`. The flag is a bit-field, behind which C packs the date.
#[repr(C)]
pub struct Entry {
    name: *mut c_char,
    name_length: usize,
    includes_subdomains: u8,
    expires: [c_char; DATE_ROOM],
}

/// `struct curl_index`.
#[repr(C)]
pub struct Index {
    pub index: usize,
    pub total: usize,
}

/// Reads an entry from the application.
///
/// # Safety
/// `function` and `user` are what the application set on `handle`.
pub unsafe fn read_entry(function: HstsReadFn, handle: *mut c_void, user: *mut c_void) -> HstsAnswer {
    let mut name = [0u8; NAME_ROOM];
    let mut entry = Entry {
        name: name.as_mut_ptr().cast(),
        name_length: NAME_ROOM - 1,
        includes_subdomains: 0,
        expires: [0; DATE_ROOM],
    };
    // SAFETY: the application's function, which fills the name's buffer and the date.
    let answer = unsafe { function(handle, &raw mut entry, user) };
    match answer {
        answer if answer == CURLSTS_OK => {}
        answer if answer == CURLSTS_FAIL => return HstsAnswer::Failed,
        _ => return HstsAnswer::Done,
    }
    let Ok(name) = CStr::from_bytes_until_nul(&name) else { return HstsAnswer::Invalid };
    if name.is_empty() {
        return HstsAnswer::Invalid;
    }
    let expires = entry.expires.iter().map(|octet| octet.to_ne_bytes()[0]);
    HstsAnswer::Entry(HstsEntry {
        host: name.to_bytes().to_vec(),
        includes_subdomains: entry.includes_subdomains & 1 != 0,
        expires: expires.take_while(|octet| *octet != 0).collect(),
    })
}

/// Passes an entry to the application; returns whether it wants more.
///
/// # Safety
/// `function` and `user` are what the application set on `handle`.
pub unsafe fn write_entry(
    function: HstsWriteFn,
    handle: *mut c_void,
    user: *mut c_void,
    entry: &HstsEntry,
    mut index: Index,
) -> bool {
    let mut name = [entry.host.as_slice(), b"\0"].concat();
    let mut passed = Entry {
        name: name.as_mut_ptr().cast(),
        name_length: entry.host.len(),
        includes_subdomains: u8::from(entry.includes_subdomains),
        expires: [0; DATE_ROOM],
    };
    for (to, from) in passed.expires.iter_mut().zip(entry.expires.iter().take(DATE_ROOM - 1)) {
        *to = c_char::from_ne_bytes([*from]);
    }
    // SAFETY: the application's function; its arguments outlive the call.
    unsafe { function(handle, &raw mut passed, &raw mut index, user) == CURLSTS_OK }
}
