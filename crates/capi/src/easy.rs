//! Easy handles (libcurl-easy.md): their life, running them, pausing, and bytes on a connection of one's own.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::rc::Rc;

use runtime::cell::RefCell;

use engine::Easy;
use engine::callbacks::Callbacks;
use tables::{Code, EasyOption, Entry};

use crate::application::Application;
use crate::getinfo::{CertInfo, TlsSession};
use crate::guard::{Denied, Gate, entry};
use crate::handles::{Slab, Slot};
use crate::header::HeaderPlace;
use crate::lists::Lists;
use crate::multi::Message;
use crate::setopt::Objects;
use crate::sys::{self, RawSocket};
use crate::ws::FramePlace;

static EASIES: Slab<EasyHandle> = Slab::new();

/// What a `CURL *` points to.
pub struct EasyHandle {
    pub easy: Easy,
    pub app: Rc<Application>,
    shown: OnceCell<Box<Shown>>,
    /// The form and the URL handle that were set, for a copy of the handle.
    pub objects: Cell<Objects>,
    pub lists: Lists,
    /// What curl_multi_info_read points to.
    pub message: Cell<Message>,
}

/// Where stands what a handle was asked for, and shows by a pointer.
#[derive(Default)]
pub struct Shown {
    /// Texts handed out by curl_easy_getinfo, by info: they live until the same is asked again.
    pub texts: RefCell<HashMap<i32, CString>>,
    pub cert_info: RefCell<CertInfo>,
    pub tls_session: TlsSession,
    pub headers: HeaderPlace,
    pub ws_frame: FramePlace,
}

impl EasyHandle {
    /// Made when it is first needed: of thousands of handles few are asked.
    pub fn shown(&self) -> &Shown {
        self.shown.get_or_init(Box::default)
    }

    /// A transfer begins.
    pub fn begin(&self) {
        self.app.begin();
        self.lists.read_again(&self.easy);
    }

    /// A run that is under way though nobody is inside: the application jumped out of a callback.
    fn forget_jumped(&self) {
        for multi in [self.easy.multi(), self.easy.own_multi()].into_iter().flatten() {
            if multi.in_run() {
                close_lost(multi.abandon_run());
            }
        }
    }

    fn insert(easy: Easy, app: Rc<Application>) -> *mut c_void {
        let handle = EASIES.insert(Box::new(EasyHandle {
            easy: easy.clone(),
            app: app.clone(),
            shown: OnceCell::new(),
            objects: Cell::default(),
            lists: Lists::default(),
            message: Cell::default(),
        }));
        app.handle.set(handle);
        easy.state().tag.set(handle.expose_provenance());
        handle
    }
}

/// Close the descriptors of a transfer that the application jumped out of.
pub fn close_lost(descriptors: Vec<RawSocket>) {
    for fd in descriptors {
        // SAFETY: what owned it was lost with the frames that were jumped over, and is used by nothing and dropped by
        // nobody: the gate has seen that those frames are gone.
        unsafe { sys::close(fd) };
    }
}

/// The slot of a living easy handle.
pub fn find(handle: *const c_void) -> Option<&'static Slot<EasyHandle>> {
    EASIES.find(handle)
}

/// The C handle of an engine handle.
pub fn handle_of(easy: &Easy) -> *mut c_void {
    ptr::with_exposed_provenance_mut(easy.state().tag.get())
}

/// Pass the gate of a handle and run `body` on it.
pub fn with<R>(
    handle: *const c_void,
    what: Entry,
    refuse: impl Fn(Code) -> R,
    body: impl FnOnce(&EasyHandle, &'static Gate) -> R,
) -> R {
    entry(refuse(Code::FailedInit), || {
        let Some(slot) = find(handle) else {
            return refuse(Code::BadFunctionArgument);
        };
        let gate = slot.gate();
        let inside = |nested: bool| {
            // SAFETY: alive, and inside its gate; cleanup is refused from inside.
            let easy = unsafe { slot.value() };
            if !nested {
                easy.forget_jumped();
            }
            body(easy, gate)
        };
        match gate.enter(what, inside) {
            Ok(result) => result,
            Err(Denied::Recursive) => refuse(Code::RecursiveApiCall),
            Err(Denied::Busy) => refuse(Code::BadFunctionArgument),
        }
    })
}

/// The same for functions that answer a CURLcode.
pub fn run(
    handle: *const c_void,
    what: Entry,
    body: impl FnOnce(&EasyHandle, &'static Gate) -> Result<(), Code>,
) -> c_int {
    with(handle, what, Code::id, |easy, gate| body(easy, gate).map_or_else(Code::id, |()| Code::Ok.id()))
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_easy_init() -> *mut c_void {
    entry(ptr::null_mut(), || {
        crate::global::prepare_process();
        let app = Application::new();
        EasyHandle::insert(Easy::new(app.clone()), app)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_duphandle(handle: *mut c_void) -> *mut c_void {
    with(
        handle,
        Entry::EasyDuphandle,
        |_| ptr::null_mut(),
        |original, _| {
            let app = Application::new();
            app.copy_from(&original.app);
            let handle = EasyHandle::insert(original.easy.duplicate(app.clone()), app);
            if let Some(slot) = find(handle) {
                // SAFETY: just made, known to nobody else.
                let copy = unsafe { slot.value() };
                copy.share_objects(original);
                copy.lists.share(&original.lists);
            }
            handle
        },
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_reset(handle: *mut c_void) {
    with(
        handle,
        Entry::EasyReset,
        |_| (),
        |easy, _| {
            easy.easy.reset();
            easy.app.reset();
            easy.objects.set(Objects::default());
            easy.lists.clear();
        },
    );
}

/// From inside a callback nothing happens, as the table of re-entry has it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_cleanup(handle: *mut c_void) {
    let closed = with(
        handle,
        Entry::EasyCleanup,
        |_| false,
        |easy, gate| {
            easy.easy.close();
            gate.drive(None);
            true
        },
    );
    if closed {
        entry((), || drop(EASIES.remove(handle)));
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_perform(handle: *mut c_void) -> c_int {
    with(handle, Entry::EasyPerform, Code::id, |easy, _| {
        easy.begin();
        easy.easy.perform().id()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_pause(handle: *mut c_void, bits: c_int) -> c_int {
    with(handle, Entry::EasyPause, Code::id, |easy, _| easy.easy.pause(i64::from(bits)).id())
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_upkeep(handle: *mut c_void) -> c_int {
    run(handle, Entry::EasyUpkeep, |easy, _| {
        easy.easy.upkeep();
        Ok(())
    })
}

/// # Safety
/// `buffer` has `len` writable bytes; `received` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_recv(
    handle: *mut c_void,
    buffer: *mut c_void,
    len: usize,
    received: *mut usize,
) -> c_int {
    run(handle, Entry::EasyRecv, |easy, _| {
        if buffer.is_null() || received.is_null() {
            return Err(Code::BadFunctionArgument);
        }
        // SAFETY: the caller's promise.
        let buffer = unsafe {
            *received = 0;
            std::slice::from_raw_parts_mut(buffer.cast::<u8>(), len)
        };
        let mut connected = easy.easy.state().connected.borrow_mut();
        let connection = connected.as_mut().ok_or_else(|| no_connection(easy))?;
        // SAFETY: the caller's promise.
        unsafe { *received = connection.receive(buffer)? };
        Ok(())
    })
}

/// # Safety
/// `buffer` has `len` bytes; `sent` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_send(
    handle: *mut c_void,
    buffer: *const c_void,
    len: usize,
    sent: *mut usize,
) -> c_int {
    run(handle, Entry::EasySend, |easy, _| {
        if buffer.is_null() || sent.is_null() {
            return Err(Code::BadFunctionArgument);
        }
        // SAFETY: the caller's promise.
        let bytes = unsafe {
            *sent = 0;
            std::slice::from_raw_parts(buffer.cast::<u8>(), len)
        };
        let mut connected = easy.easy.state().connected.borrow_mut();
        let connection = connected.as_mut().ok_or_else(|| no_connection(easy))?;
        // SAFETY: the caller's promise.
        unsafe { *sent = connection.send(bytes)? };
        Ok(())
    })
}

/// Why there is no connection that the application could use.
fn no_connection(easy: &EasyHandle) -> Code {
    let wanted = easy.easy.state().settings.borrow().on(EasyOption::ConnectOnly);
    easy.app.fail(if wanted { "Failed to get recent socket" } else { "CONNECT_ONLY is required" });
    Code::UnsupportedProtocol
}

/// `curl_ssls_export_cb`.
type ExportFn = unsafe extern "C-unwind" fn(
    *mut c_void,
    *mut c_void,
    *const c_char,
    *const u8,
    usize,
    *const u8,
    usize,
    i64,
    c_int,
    *const c_char,
    usize,
) -> c_int;

/// # Safety
/// `function` is NULL or the application's, as the manual has it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_ssls_export(
    handle: *mut c_void,
    function: Option<ExportFn>,
    user: *mut c_void,
) -> c_int {
    with(handle, Entry::EasySslsExport, Code::id, |easy, _| {
        let Some(function) = function else { return Code::BadFunctionArgument.id() };
        let exported = match easy.easy.export_sessions() {
            Ok(exported) => exported,
            Err(code) => return code.id(),
        };
        for one in exported {
            let text =
                |text: &Option<String>| text.as_deref().map(|text| CString::new(text).unwrap_or_default());
            let (name, alpn) = (text(&one.name), text(&one.session.alpn));
            let or_null = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
            // SAFETY: the application's function; what it is shown lives until it returns.
            let answer = unsafe {
                function(
                    handle,
                    user,
                    or_null(&name),
                    one.proof.as_ptr(),
                    one.proof.len(),
                    one.packed.as_ptr(),
                    one.packed.len(),
                    one.session.until,
                    one.session.version.into(),
                    or_null(&alpn),
                    one.session.early as usize,
                )
            };
            if answer != Code::Ok.id() {
                return answer;
            }
        }
        Code::Ok.id()
    })
}

/// # Safety
/// `name` is NULL or a C string; the others have as many bytes as is said behind them.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_easy_ssls_import(
    handle: *mut c_void,
    name: *const c_char,
    proof: *const u8,
    proof_len: usize,
    session: *const u8,
    session_len: usize,
) -> c_int {
    run(handle, Entry::EasySslsImport, |easy, _| {
        let bytes = |at: *const u8, length| match at.is_null() {
            true => &[][..],
            // SAFETY: not NULL, so as many bytes by the caller's promise.
            false => unsafe { std::slice::from_raw_parts(at, length) },
        };
        let (proof, session) = (bytes(proof, proof_len), bytes(session, session_len));
        // SAFETY: not NULL, so a C string.
        let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy());
        easy.easy.import_session(name.as_deref(), proof, session)
    })
}
