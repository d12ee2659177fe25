//! Server push: the application decides about each promised response, and gets a new handle for it and the
//! fields of the promised request (CURLMOPT_PUSHFUNCTION(3), curl_pushheader_byname(3),
//! curl_pushheader_bynum(3)).

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::rc::Rc;

use engine::Easy;
use engine::push::{Answer, Promise};
use tables::EasyOption;
use tables::constant::{CURL_PUSH_DENY, CURL_PUSH_ERROROUT, CURL_PUSH_OK};

use crate::easy;
use crate::easy::functions::{curl_easy_cleanup, curl_easy_duphandle};
use crate::guard::entry;
use crate::handles::{Slab, Slot};
use crate::multi::{MultiHandle, PushFn};

static HEADERS: Slab<PushHeaders> = Slab::new();

/// The object behind a `struct curl_pushheaders *` during the call: "name:value" of each field.
struct PushHeaders(Vec<CString>);

/// The fields while they may be looked at; an exception of the application's ends that, too.
struct Shown(*mut c_void);

impl Shown {
    fn new(promise: &Promise) -> Shown {
        let line =
            |(name, value): (&[u8], &[u8])| CString::new([name, b":", value].concat()).unwrap_or_default();
        Shown(HEADERS.insert(Box::new(PushHeaders(promise.fields.iter().map(line).collect()))))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(HEADERS.remove(self.0));
    }
}

impl MultiHandle {
    /// Installs or removes the function; servers may push as long as there is one.
    pub fn install_push(&self, slot: &'static Slot<MultiHandle>, function: Option<PushFn>) {
        self.push.function.set(function);
        let ask = move |parent: &Easy, promise: &Promise| offer(slot, parent, promise);
        self.multi.set_push(function.map(|_| Rc::new(ask) as Rc<_>));
    }
}

/// Asks the application, with a copy of the handle on whose stream the promise was received.
fn offer(slot: &'static Slot<MultiHandle>, parent: &Easy, promise: &Promise) -> Answer {
    // SAFETY: called from a run of this multi handle, inside its gate.
    let multi = unsafe { slot.value() };
    let Some(function) = multi.push.function.get() else { return Answer::Denied };
    let parent = easy::handle_of(parent);
    // SAFETY: a living handle of ours.
    let copy = unsafe { curl_easy_duphandle(parent) };
    let Some(copied) = easy::find(copy) else { return Answer::Denied };
    // SAFETY: just created, and unknown to anybody else.
    let set = unsafe { copied.value() }.easy.set_text(EasyOption::Url, Some(&promise.url));
    let user = multi.push.user.get().map_or(ptr::null_mut(), |user| user.as_ptr());
    let shown = Shown::new(promise);
    let answer = match set {
        // SAFETY: the application's function.
        Ok(()) => unsafe { function(parent, copy, promise.fields.len(), shown.0, user) },
        Err(_) => CURL_PUSH_DENY,
    };
    drop(shown);
    if answer == CURL_PUSH_OK
        && let Some(taken) = adopt(multi, slot, copy)
    {
        return Answer::Taken(taken);
    }
    // SAFETY: a handle of ours, or one that was ended meanwhile, which its address reveals.
    unsafe { curl_easy_cleanup(copy) };
    if answer == CURL_PUSH_ERROROUT { Answer::BreakOff } else { Answer::Denied }
}

/// The application has said yes: the handle is in the multi handle from here on, unless it is somewhere
/// already.
fn adopt(multi: &MultiHandle, slot: &'static Slot<MultiHandle>, copy: *mut c_void) -> Option<Easy> {
    let copied = easy::find(copy)?;
    // SAFETY: alive, and unknown to anybody else.
    let handle = unsafe { copied.value() };
    if handle.easy.multi().is_some() {
        return None;
    }
    handle.begin();
    copied.gate().drive(Some(slot.gate()));
    multi.count_added();
    Some(handle.easy.clone())
}

/// Runs `body` on the fields behind a pointer; an invalid pointer has none.
fn with(headers: *const c_void, body: impl FnOnce(&[CString]) -> *mut c_char) -> *mut c_char {
    entry(ptr::null_mut(), || match HEADERS.find(headers) {
        // SAFETY: alive until the function that received it returns.
        Some(slot) => body(&unsafe { slot.value() }.0),
        None => ptr::null_mut(),
    })
}

/// "name:value" of one field, as long as the push function runs.
///
/// # Safety
/// None: `headers` is looked up.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_pushheader_bynum(headers: *mut c_void, number: usize) -> *mut c_char {
    with(headers, |lines| lines.get(number).map_or(ptr::null_mut(), |line| line.as_ptr().cast_mut()))
}

/// The value of the first field of that name; ":path" and its like are names, too.
///
/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_pushheader_byname(
    headers: *mut c_void,
    name: *const c_char,
) -> *mut c_char {
    with(headers, |lines| {
        if name.is_null() {
            return ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        let name = unsafe { CStr::from_ptr(name) }.to_bytes();
        if name.is_empty() || name == b":" || name[1..].contains(&b':') {
            return ptr::null_mut();
        }
        let value = lines.iter().find_map(|line| {
            let rest = line.to_bytes_with_nul().strip_prefix(name)?.strip_prefix(b":")?;
            Some(rest.as_ptr().cast::<c_char>().cast_mut())
        });
        value.unwrap_or(ptr::null_mut())
    })
}
