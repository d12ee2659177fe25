//! The header API (curl_easy_header.md, curl_easy_nextheader.md) on the fields stored by the engine.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr;

use runtime::cell::RefCell;

use engine::stores::headers::{Field, Headers};
use tables::{Code, Entry, HeaderCode};

use crate::easy::outputs::{Header, HeaderOutput};
use crate::easy::{self, EasyHandle};
use crate::text::bytes;

/// Bits of CURLH_*.
const ALL_ORIGINS: c_uint = 0x1f;

fn show(
    place: &RefCell<Option<HeaderOutput>>,
    field: &Field<'_>,
    amount: usize,
    index: usize,
    at: usize,
) -> *mut Header {
    let text = |bytes: &[u8]| CString::new(bytes.to_vec()).unwrap_or_default();
    let (name, value) = (text(field.name), text(field.value));
    let header = Box::new(Header {
        name: name.as_ptr(),
        value: value.as_ptr(),
        amount,
        index,
        // A marker bit: curl_easy_header(3) asks programs to mask the origin instead of comparing it.
        origin: field.origin as c_uint | 1 << 27,
        anchor: ptr::without_provenance_mut(at + 1),
    });
    let mut place = place.borrow_mut();
    let shown = place.insert(HeaderOutput::new(header, name, value));
    &raw mut *shown.header
}

/// Which request is meant: -1 is the last.
fn request(headers: &Headers, request: c_int) -> Result<usize, HeaderCode> {
    let last = headers.last_request();
    match (request, last) {
        (-1, Some(last)) => Ok(last),
        (-1, None) => Err(HeaderCode::Noheaders),
        (number, Some(last)) => {
            usize::try_from(number).ok().filter(|n| *n <= last).ok_or(HeaderCode::Norequest)
        }
        (_, None) => Err(HeaderCode::Noheaders),
    }
}

/// # Safety
/// `name` is NULL or a C string; `out` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_header(
    handle: *mut c_void,
    name: *const c_char,
    index: usize,
    origins: c_uint,
    number: c_int,
    out: *mut *mut Header,
) -> c_int {
    let refuse = |_: Code| HeaderCode::BadArgument.id();
    easy::with(handle, Entry::EasyHeader, refuse, |easy, _| {
        // SAFETY: the caller's promise.
        let name = unsafe { bytes(name) };
        let (Some(name), false) =
            (name, out.is_null() || origins == 0 || origins > ALL_ORIGINS || number < -1)
        else {
            return HeaderCode::BadArgument.id();
        };
        match lookup(easy, name, index, origins, number) {
            Ok(header) => {
                // SAFETY: not NULL, so writable by the caller's promise.
                unsafe { *out = header };
                HeaderCode::Ok.id()
            }
            Err(code) => code.id(),
        }
    })
}

fn lookup(
    easy: &EasyHandle,
    name: &[u8],
    index: usize,
    origins: c_uint,
    number: c_int,
) -> Result<*mut Header, HeaderCode> {
    let headers = easy.easy.state().headers.borrow();
    let request = request(&headers, number)?;
    let fields = headers.of(origins, Some(request));
    let named: Vec<_> =
        fields.into_iter().filter(|(_, field)| field.name.eq_ignore_ascii_case(name)).collect();
    if named.is_empty() {
        return Err(HeaderCode::Missing);
    }
    let (at, field) = named.get(index).ok_or(HeaderCode::Badindex)?;
    Ok(show(&easy.outputs().headers.found, field, named.len(), index, *at))
}

/// # Safety
/// `previous` is NULL or came from this function on the same handle.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_nextheader(
    handle: *mut c_void,
    origins: c_uint,
    number: c_int,
    previous: *mut Header,
) -> *mut Header {
    easy::with(
        handle,
        Entry::EasyNextheader,
        |_| ptr::null_mut(),
        |easy, _| {
            let headers = easy.easy.state().headers.borrow();
            let Ok(request) = request(&headers, number) else { return ptr::null_mut() };
            // SAFETY: the caller's promise.
            let after = unsafe { previous.as_ref() }.map_or(0, |header| header.anchor.addr());
            let fields = headers.of(origins, Some(request));
            let Some((at, field)) = fields.iter().find(|(at, _)| *at >= after) else {
                return ptr::null_mut();
            };
            let same: Vec<_> =
                fields.iter().filter(|(_, other)| other.name.eq_ignore_ascii_case(field.name)).collect();
            let index = same.iter().position(|(other, _)| other == at).unwrap_or(0);
            show(&easy.outputs().headers.walked, field, same.len(), index, *at)
        },
    )
}
