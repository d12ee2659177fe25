//! The easy handle behind a `CURL *`: how it is found, and the gate that each call on it passes.

pub mod functions;
pub mod objects;
pub mod outputs;

use std::cell::{Cell, OnceCell};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::rc::Rc;

use engine::{Easy, Multi};
use tables::{Code, Entry};

use crate::application::Application;
use crate::guard::{Denied, Gate, entry};
use crate::handles::{Slab, Slot};
use crate::lists::Lists;
use crate::sys::{self, RawSocket};
use objects::Objects;
use outputs::{Message, Outputs};

static EASIES: Slab<EasyHandle> = Slab::new();

/// The object behind a `CURL *`.
pub struct EasyHandle {
    pub easy: Easy,
    pub app: Rc<Application>,
    outputs: OnceCell<Box<Outputs>>,
    /// The form and the URL handle that were set, for a copy of the handle.
    pub objects: Cell<Objects>,
    pub lists: Lists,
    /// The message that curl_multi_info_read points to.
    pub message: Cell<Message>,
}

impl EasyHandle {
    /// Returns the outputs, created on first use: most handles never need them.
    pub fn outputs(&self) -> &Outputs {
        self.outputs.get_or_init(Box::default)
    }

    /// Starts a transfer.
    pub fn begin(&self) {
        self.app.begin();
        self.lists.read_again(&self.easy);
    }

    /// Detects a run that nobody is inside any more, because the application jumped out of a callback.
    fn forget_jumped(&self) {
        self.easy.multi().iter().for_each(forget_run);
        self.easy.own_multi().iter().for_each(forget_run);
    }

    fn new(easy: Easy, app: Rc<Application>) -> EasyHandle {
        EasyHandle {
            easy,
            app,
            outputs: OnceCell::new(),
            objects: Cell::default(),
            lists: Lists::default(),
            message: Cell::default(),
        }
    }

    /// A new handle; `make` may use one that was closed and made as new.
    fn insert(make: impl FnOnce(Option<Box<EasyHandle>>) -> Box<EasyHandle>) -> *mut c_void {
        let handle = EASIES.insert_with(make);
        if let Some(slot) = find(handle) {
            // SAFETY: just created, and unknown to anybody else.
            let easy = unsafe { slot.value() };
            easy.app.handle.set(handle);
            easy.easy.state().tag.set(handle.expose_provenance());
        }
        handle
    }

    /// Makes a closed handle as new. Returns false if anything refers to it still.
    fn renew(&mut self) -> bool {
        // This one and the engine's handle.
        if Rc::strong_count(&self.app) != 2 || Rc::weak_count(&self.app) > 0 || !self.easy.renew() {
            return false;
        }
        let EasyHandle { easy: _, app, outputs, objects, lists, message } = self;
        app.reset();
        outputs.take();
        objects.take();
        lists.clear();
        message.take();
        true
    }

    /// Ends the life of a closed handle.
    fn end(handle: *mut c_void) {
        EASIES.retire(handle, EasyHandle::renew);
    }
}

/// Ends a run of a multi handle that was jumped out of.
#[inline]
fn forget_run(multi: &Multi) {
    if multi.in_run() {
        close_lost(multi.abandon_run());
    }
}

/// Frees what closed handles have left for later ones.
pub fn forget_kept() {
    EASIES.forget_kept();
}

/// Close the descriptors of a transfer that the application jumped out of.
pub fn close_lost(descriptors: Vec<RawSocket>) {
    for fd in descriptors {
        // SAFETY: its owner was lost with the frames that were jumped over, so nothing uses or drops it: the
        // gate has seen that those frames are gone.
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

/// Like [`with`], for functions that return a CURLcode.
pub fn run(
    handle: *const c_void,
    what: Entry,
    body: impl FnOnce(&EasyHandle, &'static Gate) -> Result<(), Code>,
) -> c_int {
    with(handle, what, Code::id, |easy, gate| body(easy, gate).map_or_else(Code::id, |()| Code::Ok.id()))
}
