//! Values that functions return to C by pointer and that the handle keeps owning: texts, certificates,
//! headers, frames, messages.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr;

use runtime::cell::RefCell;
use tables::constant::{CURLMSG_NONE, CURLSSLBACKEND_NONE};

use crate::slist::{self, Slist};

/// The structs and texts that functions return pointers to; they belong to their handle.
#[derive(Default)]
pub struct Outputs {
    /// Texts returned by curl_easy_getinfo, by info: each lives until the same info is requested again.
    pub texts: RefCell<HashMap<i32, CString>>,
    pub cert_info: RefCell<CertInfo>,
    pub tls_session: TlsSession,
    pub headers: HeaderPlace,
    pub ws_frame: FramePlace,
}

/// `struct curl_certinfo` with the lists that it owns. Its address is stable while its handle lives:
/// applications ask once and read it after each transfer.
pub struct CertInfo {
    header: Box<CertHeader>,
    lists: Vec<*mut Slist>,
}

impl Default for CertInfo {
    fn default() -> CertInfo {
        CertInfo { header: Box::new(CertHeader { count: 0, lists: ptr::null_mut() }), lists: Vec::new() }
    }
}

#[repr(C)]
struct CertHeader {
    count: c_int,
    lists: *mut *mut Slist,
}

impl CertInfo {
    pub fn fill(&mut self, certificates: &[Vec<std::rc::Rc<[u8]>>]) -> *const c_void {
        self.clear();
        self.lists = certificates.iter().map(|fields| slist::from_strings(fields.iter())).collect();
        *self.header = CertHeader { count: self.lists.len() as c_int, lists: self.lists.as_mut_ptr() };
        ptr::from_ref(&*self.header).cast()
    }

    fn clear(&mut self) {
        for list in self.lists.drain(..) {
            // SAFETY: made by `fill`; C only reads them.
            unsafe { slist::free_all(list) }
        }
    }
}

impl Drop for CertInfo {
    fn drop(&mut self) {
        self.clear();
    }
}

/// `struct curl_tlssessioninfo`. With the system's library, its own objects are returned. rustls has none,
/// although the version string names that library. The answers are chosen so that the fewest programs crash:
///
/// - On a new handle, or after a transfer, programs read only `backend`, and some dereference the pointer
///   whatever the code is (curl's own tool, OBS). There curl returns CURLE_OK with `internals` NULL, and so
///   do we: NONE and NULL.
/// - In a callback, on a connection with TLS, curl always has a pointer. Some programs check `backend` first
///   and ignore NONE; others check only the code and pass `internals` to their TLS library, which does not
///   accept NULL. So the code is an error there, as CURLINFO_TLS_SESSION.md says for a library without the
///   info, and the struct is set in addition.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TlsSessionInfo {
    pub backend: c_int,
    pub internals: *mut c_void,
}

/// The struct that was returned last.
pub struct TlsSession(pub Cell<TlsSessionInfo>);

impl Default for TlsSession {
    fn default() -> TlsSession {
        TlsSession(Cell::new(TlsSessionInfo { backend: CURLSSLBACKEND_NONE, internals: ptr::null_mut() }))
    }
}

/// `struct curl_header`.
#[repr(C)]
pub struct Header {
    pub name: *const c_char,
    pub value: *const c_char,
    pub amount: usize,
    pub index: usize,
    pub origin: c_uint,
    /// The field's position in the engine's list, in the place of curl's pointer.
    pub anchor: *mut c_void,
}

/// A header as C sees it; overwritten by the next call, as in libcurl, which has a place for either
/// function.
#[derive(Default)]
pub struct HeaderPlace {
    pub found: RefCell<Option<HeaderOutput>>,
    pub walked: RefCell<Option<HeaderOutput>>,
}

/// A `struct curl_header` with the texts that it points to.
pub struct HeaderOutput {
    pub header: Box<Header>,
    _name: CString,
    _value: CString,
}

impl HeaderOutput {
    pub fn new(header: Box<Header>, name: CString, value: CString) -> HeaderOutput {
        HeaderOutput { header, _name: name, _value: value }
    }
}

/// `struct curl_ws_frame`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct WsFrame {
    pub age: c_int,
    pub flags: c_int,
    pub offset: i64,
    pub bytes_left: i64,
    pub len: usize,
}

/// Where a handle's frame is shown: it stays in place until another WebSocket function is called.
pub type FramePlace = Cell<WsFrame>;

/// `struct CURLMsg`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Message {
    pub kind: c_int,
    pub easy: *mut c_void,
    /// A union of a pointer and a CURLcode.
    pub data: Data,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union Data {
    pub pointer: *mut c_void,
    pub result: c_int,
}

impl Default for Message {
    fn default() -> Message {
        Message { kind: CURLMSG_NONE, easy: ptr::null_mut(), data: Data { pointer: ptr::null_mut() } }
    }
}
