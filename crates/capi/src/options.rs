//! Looking options up at run time (curl_easy_option_by_name.md, curl_easy_option_next.md), from `tables`.

use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::ptr;

use runtime::LockFreeOnce;
use tables::easy_option::BY_NAME;

use crate::guard::entry;

/// `struct curl_easyoption`.
#[repr(C)]
pub struct EasyOptionInfo {
    name: *const c_char,
    id: c_int,
    kind: c_int,
    flags: c_uint,
}

/// CURLOT_FLAG_ALIAS: an old name, kept for compatibility.
const FLAG_ALIAS: c_uint = 1;

struct Options(Vec<EasyOptionInfo>);
// SAFETY: the pointers are to texts that live for ever and are only read.
unsafe impl Send for Options {}
// SAFETY: as above.
unsafe impl Sync for Options {}

impl Drop for Options {
    /// A second table that another thread's made superfluous.
    fn drop(&mut self) {
        for option in &self.0 {
            // SAFETY: created by `into_raw` in `options`, and the table was never published.
            drop(unsafe { CString::from_raw(option.name.cast_mut()) });
        }
    }
}

fn options() -> &'static [EasyOptionInfo] {
    static OPTIONS: LockFreeOnce<Options> = LockFreeOnce::new();
    let row = |&(name, option, alias): &(&'static str, tables::EasyOption, bool)| EasyOptionInfo {
        name: CString::new(name).unwrap_or_default().into_raw(),
        id: option.id(),
        kind: option.kind() as c_int,
        flags: if alias { FLAG_ALIAS } else { 0 },
    };
    &OPTIONS.get(|| Options(BY_NAME.iter().map(row).collect())).0
}

fn find(matches: impl Fn(usize, &EasyOptionInfo) -> bool) -> *const EasyOptionInfo {
    let found = options().iter().enumerate().find(|(index, option)| matches(*index, option));
    found.map_or(ptr::null(), |(_, option)| ptr::from_ref(option))
}

/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_option_by_name(name: *const c_char) -> *const EasyOptionInfo {
    entry(ptr::null(), || {
        if name.is_null() {
            return ptr::null();
        }
        // SAFETY: a C string by the caller's promise.
        let name = unsafe { CStr::from_ptr(name) }.to_bytes();
        find(|index, _| BY_NAME[index].0.as_bytes().eq_ignore_ascii_case(name))
    })
}

/// The present name, never an alias.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_easy_option_by_id(id: c_int) -> *const EasyOptionInfo {
    entry(ptr::null(), || find(|_, option| option.id == id && option.flags & FLAG_ALIAS == 0))
}

/// # Safety
/// `previous` is NULL or came from this function.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_option_next(
    previous: *const EasyOptionInfo,
) -> *const EasyOptionInfo {
    entry(ptr::null(), || {
        let options = options();
        if previous.is_null() {
            return options.as_ptr();
        }
        // Compared by address: a pointer that isn't ours has no successor.
        let index = options.iter().position(|option| ptr::eq(option, previous));
        index.and_then(|index| options.get(index + 1)).map_or(ptr::null(), ptr::from_ref)
    })
}
