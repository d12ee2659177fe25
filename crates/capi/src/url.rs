//! The URL API (curl_url.md, curl_url_set.md, curl_url_get.md): `wire::url` behind C handles.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;

use runtime::cell::RefCell;

use tables::{Scheme, UrlCode};
use wire::url::{Part, Url, UrlError, flag};

use crate::guard::entry;
use crate::handles::Slab;
use crate::memory;
use crate::text::bytes;

static URLS: Slab<RefCell<Url>> = Slab::new();

/// Copies the URL behind a `CURLU *`, for CURLOPT_CURLU.
pub fn find(handle: *const c_void) -> Option<Url> {
    with(handle, |url| url.clone())
}

fn with<R>(handle: *const c_void, body: impl FnOnce(&mut Url) -> R) -> Option<R> {
    let slot = URLS.find(handle)?;
    // SAFETY: alive; as in curl, one thread at a time uses a URL handle, and nothing in `body` calls back.
    let cell = unsafe { slot.value() };
    Some(body(&mut *cell.try_borrow_mut().ok()?))
}

fn answer(result: Result<(), UrlError>) -> c_int {
    result.map_or_else(UrlError::number, |()| 0)
}

/// A scheme that isn't built is refused unless the flags allow it, as curl's own build would.
fn refuse_unbuilt(url: &Url, flags: c_uint) -> Result<(), UrlError> {
    let unbuilt = url.scheme().is_some_and(|name| !Scheme::from_name(&name).is_some_and(Scheme::built));
    if unbuilt && flags & flag::NON_SUPPORT_SCHEME == 0 { Err(UrlError::UnsupportedScheme) } else { Ok(()) }
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_url() -> *mut c_void {
    entry(ptr::null_mut(), || URLS.insert(Box::default()))
}

/// # Safety
/// `handle` is NULL or a URL handle; it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_url_cleanup(handle: *mut c_void) {
    entry((), || drop(URLS.remove(handle)));
}

/// # Safety
/// `handle` is NULL or a URL handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_url_dup(handle: *const c_void) -> *mut c_void {
    entry(ptr::null_mut(), || {
        find(handle).map_or(ptr::null_mut(), |url| URLS.insert(Box::new(RefCell::new(url))))
    })
}

/// # Safety
/// `handle` is NULL or a URL handle; `out` is NULL or a place for a string to be freed with curl_free.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_url_get(
    handle: *const c_void,
    part: c_int,
    out: *mut *mut c_char,
    flags: c_uint,
) -> c_int {
    entry(UrlCode::OutOfMemory.id(), || {
        if URLS.find(handle).is_none() {
            return UrlCode::BadHandle.id();
        }
        if out.is_null() {
            return UrlCode::BadPartpointer.id();
        }
        // SAFETY: not NULL, so writable by the caller's promise.
        unsafe { *out = ptr::null_mut() };
        let Some(part) = Part::from_number(part) else {
            return UrlCode::UnknownPart.id();
        };
        match with(handle, |url| url.get(part, flags)) {
            Some(Ok(text)) => {
                let copy = memory::copy_string(&text);
                // SAFETY: as above.
                unsafe { *out = copy };
                if copy.is_null() { UrlCode::OutOfMemory.id() } else { 0 }
            }
            Some(Err(error)) => error.number(),
            None => UrlCode::BadHandle.id(),
        }
    })
}

/// # Safety
/// `handle` is NULL or a URL handle; `value` is NULL (take the part away) or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_url_set(
    handle: *mut c_void,
    part: c_int,
    value: *const c_char,
    flags: c_uint,
) -> c_int {
    entry(UrlCode::OutOfMemory.id(), || {
        // SAFETY: the caller's promise.
        let value = unsafe { bytes(value) };
        let set = |url: &mut Url| {
            let Some(part) = Part::from_number(part) else {
                return UrlCode::UnknownPart.id();
            };
            let mut changed = url.clone();
            let result = changed.set(part, value, flags).and_then(|()| match part {
                Part::Url | Part::Scheme => refuse_unbuilt(&changed, flags),
                _ => Ok(()),
            });
            if result.is_ok() {
                *url = changed;
            }
            answer(result)
        };
        with(handle, set).unwrap_or(UrlCode::BadHandle.id())
    })
}
