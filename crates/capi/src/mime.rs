//! The MIME API (curl_mime_init.md and related pages): trees of parts that applications build.
//!
//! A part keeps its settings until the tree is freed; a transfer lays the tree out anew for each pass
//! (`form_body`), so that later changes take effect.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::rc::Rc;

use runtime::cell::RefCell;

use engine::settings::own_text;
use tables::Code;
use wire::mime::{Content, Encoder, Part as Laid};

use crate::form_body::{Callback, Source};
use crate::guard::entry;
use crate::handles::Slab;
use crate::slist::{self, Slist};
use crate::sys;
use crate::text::bytes;

static MIMES: Slab<Mime> = Slab::new();
static PARTS: Slab<RefCell<Part>> = Slab::new();

/// How deep trees may be: layout recurses.
const MAX_DEPTH: usize = 100;

/// `curl_mime`.
struct Mime {
    /// The easy handle it was made for; parts of other handles' trees can't join.
    easy: *mut c_void,
    parts: RefCell<Vec<*mut c_void>>,
    /// The part that has this tree as its content.
    parent: Cell<*mut c_void>,
}

/// `curl_mimepart`.
#[derive(Default)]
struct Part {
    /// The tree it belongs to.
    mime: Address,
    name: Option<Vec<u8>>,
    filename: Option<Vec<u8>>,
    content_type: Option<Vec<u8>>,
    encoder: Option<Encoder>,
    headers: Headers,
    data: Data,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Address(*mut c_void);

impl Default for Address {
    fn default() -> Address {
        Address(ptr::null_mut())
    }
}

/// The application's list, freed with the part if ownership was passed.
struct Headers {
    list: *mut Slist,
    owned: bool,
}

impl Default for Headers {
    fn default() -> Headers {
        Headers { list: ptr::null_mut(), owned: false }
    }
}

impl Drop for Headers {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: the application gave the list away with take_ownership.
            unsafe { slist::free_all(self.list) }
        }
    }
}

#[derive(Default)]
enum Data {
    #[default]
    None,
    Memory(Rc<[u8]>),
    File(Vec<u8>),
    Callback(Rc<Callback>),
    Parts(*mut c_void),
}

/// Whether there is such a tree still.
pub fn is_alive(mime: *const c_void) -> bool {
    MIMES.find(mime).is_some()
}

/// The content of a tree for one pass, or the reason why it can't be sent.
pub fn lay_out(mime: *const c_void) -> Result<Vec<Laid<Source>>, Code> {
    lay_out_at(mime, 0)
}

fn lay_out_at(mime: *const c_void, depth: usize) -> Result<Vec<Laid<Source>>, Code> {
    let parts = MIMES.find(mime).filter(|_| depth < MAX_DEPTH).ok_or(Code::BadFunctionArgument)?;
    // SAFETY: alive; trees are used by one thread at a time, as the manual demands.
    let parts = unsafe { parts.value() }.parts.borrow().clone();
    parts
        .into_iter()
        .map(|part| with(part, |part| part.lay_out(depth)).unwrap_or(Err(Code::BadFunctionArgument)))
        .collect()
}

/// The tree of a copied handle; freed with its owner.
pub struct Copied(*mut c_void);

impl Copied {
    /// Copies the current tree for another easy handle; `None` if there is no such tree.
    pub fn of(mime: *const c_void) -> Option<Copied> {
        copy_at(mime, ptr::null_mut(), 0).map(Copied)
    }

    pub fn handle(&self) -> *mut c_void {
        self.0
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        free(self.0);
    }
}

fn copy_at(mime: *const c_void, parent: *mut c_void, depth: usize) -> Option<*mut c_void> {
    let original = MIMES.find(mime).filter(|_| depth < MAX_DEPTH)?;
    // SAFETY: alive; one thread at a time.
    let parts = unsafe { original.value() }.parts.borrow().clone();
    let copy = Mime { easy: ptr::null_mut(), parts: RefCell::default(), parent: Cell::new(parent) };
    let copy = MIMES.insert(Box::new(copy));
    // SAFETY: just made.
    let place = unsafe { MIMES.find(copy)?.value() };
    for part in parts {
        let own = PARTS.insert(Box::new(RefCell::new(Part { mime: Address(copy), ..Part::default() })));
        place.parts.borrow_mut().push(own);
        with(part, |part| part.copy_to(own, depth));
    }
    Some(copy)
}

impl Part {
    /// Copies the part's settings, as curl_easy_duphandle does. The argument of the application's functions
    /// is used by both parts, and freed for both (curl_mime_data_cb.md).
    fn copy_to(&self, own: *mut c_void, depth: usize) {
        let data = match &self.data {
            Data::None => Data::None,
            Data::Memory(bytes) => Data::Memory(own_text(bytes)),
            Data::File(path) => Data::File(path.clone()),
            Data::Callback(callback) => Data::Callback(Rc::new(callback.again())),
            Data::Parts(mime) => copy_at(*mime, own, depth + 1).map_or(Data::None, Data::Parts),
        };
        with(own, |part| {
            part.name.clone_from(&self.name);
            part.filename.clone_from(&self.filename);
            part.content_type.clone_from(&self.content_type);
            part.encoder = self.encoder;
            // SAFETY: the manual asks the application to keep the list until the tree is freed.
            let lines = unsafe { slist::strings(self.headers.list) }.map(CStr::to_bytes);
            part.headers = Headers { list: slist::from_strings(lines), owned: true };
            part.data = data;
        });
    }

    fn lay_out(&mut self, depth: usize) -> Result<Laid<Source>, Code> {
        // SAFETY: the manual asks the application to keep the list until the tree is freed.
        let headers =
            unsafe { slist::strings(self.headers.list) }.map(|line| line.to_bytes().to_vec()).collect();
        let content = match &self.data {
            Data::None => Content::Nothing,
            Data::Memory(bytes) => Content::Memory(bytes.clone()),
            Data::File(path) => Source::file(path.clone())?,
            Data::Callback(callback) => Source::callback(callback.clone()),
            Data::Parts(mime) => Content::Parts(lay_out_at(*mime, depth + 1)?),
        };
        Ok(Laid {
            name: self.name.clone(),
            filename: self.filename.clone(),
            content_type: self.content_type.clone(),
            headers,
            encoder: self.encoder,
            content,
        })
    }

    /// Clears the content; a subtree is freed with it, as curl documents.
    fn clear(&mut self) {
        if let Data::Parts(mime) = std::mem::take(&mut self.data) {
            free(mime);
        }
    }
}

fn with<R>(part: *mut c_void, body: impl FnOnce(&mut Part) -> R) -> Option<R> {
    let slot = PARTS.find(part)?;
    // SAFETY: alive; trees are used by one thread at a time, and nothing in `body` calls the application.
    let cell = unsafe { slot.value() };
    Some(body(&mut *cell.try_borrow_mut().ok()?))
}

/// Run on a part, for a code.
fn set(part: *mut c_void, body: impl FnOnce(&mut Part) -> Result<(), Code>) -> c_int {
    entry(Code::OutOfMemory.id(), || {
        let result = with(part, body).unwrap_or(Err(Code::BadFunctionArgument));
        result.map_or_else(Code::id, |()| Code::Ok.id())
    })
}

/// Returns whether `mime` is `inner` or contains it.
fn holds(mime: *mut c_void, inner: *mut c_void) -> bool {
    let mut at = inner;
    for _ in 0..=MAX_DEPTH {
        if at == mime {
            return true;
        }
        let Some(slot) = MIMES.find(at) else { return false };
        // SAFETY: alive; one thread at a time.
        let parent = unsafe { slot.value() }.parent.get();
        let Some(above) = with(parent, |part| part.mime.0) else { return false };
        at = above;
    }
    true // too deep to decide: refuse
}

fn free(mime: *mut c_void) {
    let Some(mime) = MIMES.remove(mime) else { return };
    for part in mime.parts.take() {
        if let Some(part) = PARTS.remove(part) {
            part.take().clear();
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_mime_init(easy: *mut c_void) -> *mut c_void {
    entry(ptr::null_mut(), || {
        let mime = Mime { easy, parts: RefCell::default(), parent: Cell::new(ptr::null_mut()) };
        MIMES.insert(Box::new(mime))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_mime_free(mime: *mut c_void) {
    entry((), || {
        let Some(slot) = MIMES.find(mime) else { return };
        // SAFETY: alive; one thread at a time.
        let parent = unsafe { slot.value() }.parent.get();
        with(parent, |part| part.data = Data::None);
        free(mime);
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_mime_addpart(mime: *mut c_void) -> *mut c_void {
    entry(ptr::null_mut(), || {
        let Some(slot) = MIMES.find(mime) else {
            return ptr::null_mut();
        };
        let part = PARTS.insert(Box::new(RefCell::new(Part { mime: Address(mime), ..Part::default() })));
        if !part.is_null() {
            // SAFETY: alive; one thread at a time.
            unsafe { slot.value() }.parts.borrow_mut().push(part);
        }
        part
    })
}

/// # Safety
/// `name` is NULL or a C string, here and below.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_mime_name(part: *mut c_void, name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let name = unsafe { bytes(name) }.map(<[u8]>::to_vec);
    set(part, |part| {
        part.name = name;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_mime_filename(part: *mut c_void, filename: *const c_char) -> c_int {
    // SAFETY: a C string or NULL.
    let filename = unsafe { bytes(filename) }.map(<[u8]>::to_vec);
    set(part, |part| {
        part.filename = filename;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_mime_type(part: *mut c_void, content_type: *const c_char) -> c_int {
    // SAFETY: a C string or NULL.
    let content_type = unsafe { bytes(content_type) }.map(<[u8]>::to_vec);
    set(part, |part| {
        part.content_type = content_type;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_mime_encoder(part: *mut c_void, encoding: *const c_char) -> c_int {
    // SAFETY: a C string or NULL.
    let encoding = unsafe { bytes(encoding) };
    set(part, |part| {
        // The previous encoder is removed, even if the new name is unknown.
        part.encoder = encoding.and_then(Encoder::from_name);
        let unknown = encoding.is_some() && part.encoder.is_none();
        if unknown { Err(Code::BadFunctionArgument) } else { Ok(()) }
    })
}

/// # Safety
/// `data` is NULL, or has `size` bytes, or is a C string when `size` is CURL_ZERO_TERMINATED.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_mime_data(part: *mut c_void, data: *const c_char, size: usize) -> c_int {
    const ZERO_TERMINATED: usize = usize::MAX;
    let data: Option<Rc<[u8]>> = match (data.is_null(), size) {
        (true, _) => None,
        // SAFETY: the caller's promise.
        (_, ZERO_TERMINATED) => unsafe { bytes(data) }.map(Rc::from),
        // SAFETY: the caller's promise.
        _ => Some(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) }.into()),
    };
    set(part, |part| {
        part.clear();
        part.data = data.map_or(Data::None, Data::Memory);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_mime_filedata(part: *mut c_void, path: *const c_char) -> c_int {
    // SAFETY: a C string or NULL.
    let path = unsafe { bytes(path) };
    set(part, |part| {
        part.clear();
        let Some(path) = path else { return Ok(()) };
        part.data = Data::File(path.to_vec());
        // As in curl: the part is sent under the file's own name, and an unreadable file is reported at once.
        part.filename = Some(sys::base_name(path).to_vec());
        Source::readable(path).then_some(()).ok_or(Code::ReadError)
    })
}

/// # Safety
/// The functions are callable with `arg` until the tree is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_mime_data_cb(
    part: *mut c_void,
    size: i64,
    read: Option<crate::form_body::ReadFn>,
    seek: Option<crate::form_body::SeekFn>,
    free: Option<crate::form_body::FreeFn>,
    arg: *mut c_void,
) -> c_int {
    set(part, |part| {
        part.clear();
        if let Some(read) = read {
            part.data = Data::Callback(Rc::new(Callback::new(size, read, seek, free, arg)));
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_mime_subparts(part: *mut c_void, subparts: *mut c_void) -> c_int {
    entry(Code::OutOfMemory.id(), || {
        let Some(mime) = with(part, |part| part.mime.0) else {
            return Code::BadFunctionArgument.id();
        };
        if subparts.is_null() {
            return set(part, |part| {
                part.clear();
                Ok(())
            });
        }
        if with(part, |part| matches!(part.data, Data::Parts(present) if present == subparts)) == Some(true) {
            return Code::Ok.id();
        }
        let (Some(inner), Some(outer)) = (MIMES.find(subparts), MIMES.find(mime)) else {
            return Code::BadFunctionArgument.id();
        };
        // SAFETY: alive; one thread at a time.
        let (inner, outer) = unsafe { (inner.value(), outer.value()) };
        let foreign = !inner.easy.is_null() && !outer.easy.is_null() && inner.easy != outer.easy;
        if !inner.parent.get().is_null() || foreign || holds(subparts, mime) {
            return Code::BadFunctionArgument.id();
        }
        inner.parent.set(part);
        set(part, |part| {
            part.clear();
            part.data = Data::Parts(subparts);
            Ok(())
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_mime_headers(
    part: *mut c_void,
    headers: *mut Slist,
    take_ownership: c_int,
) -> c_int {
    set(part, |part| {
        if part.headers.list == headers {
            part.headers.owned |= take_ownership != 0;
        } else {
            part.headers = Headers { list: headers, owned: take_ownership != 0 };
        }
        Ok(())
    })
}
