//! `struct curl_slist`: linked lists of strings that cross the boundary both ways (curl_slist_append.md).

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use crate::guard::entry;
use crate::memory;

#[repr(C)]
pub struct Slist {
    pub data: *mut c_char,
    pub next: *mut Slist,
}

/// The strings of a list, in order. A node without data is skipped.
///
/// # Safety
/// `list` is NULL or a well-formed list that outlives the iterator.
pub unsafe fn strings<'a>(list: *const Slist) -> impl Iterator<Item = &'a CStr> {
    let mut node = list;
    std::iter::from_fn(move || {
        while !node.is_null() {
            // SAFETY: the caller's promise: every node is valid, its data a C string or NULL.
            let (data, next) = unsafe { ((*node).data, (*node).next) };
            node = next;
            if !data.is_null() {
                // SAFETY: as above.
                return Some(unsafe { CStr::from_ptr(data) });
            }
        }
        None
    })
}

/// Creates a list for C from `items`; NULL for an empty one, or if memory is out.
pub fn from_strings<S: AsRef<[u8]>>(items: impl IntoIterator<Item = S>) -> *mut Slist {
    let mut head = ptr::null_mut();
    let mut tail: *mut Slist = ptr::null_mut();
    for item in items {
        let node = node(item.as_ref());
        if node.is_null() {
            // SAFETY: `head` is the list built so far, unknown to anybody else.
            unsafe { free_all(head) };
            return ptr::null_mut();
        }
        if tail.is_null() {
            head = node;
        } else {
            // SAFETY: `tail` is the node made in the round before.
            unsafe { (*tail).next = node }
        }
        tail = node;
    }
    head
}

/// # Safety
/// `list` is NULL or a list whose nodes and strings came from this library; it is not used again.
pub unsafe fn free_all(mut list: *mut Slist) {
    while !list.is_null() {
        // SAFETY: the caller's promise; the node is read before it is released.
        unsafe {
            let next = (*list).next;
            memory::release((*list).data.cast());
            memory::release(list.cast::<c_void>());
            list = next;
        }
    }
}

fn node(text: &[u8]) -> *mut Slist {
    let data = memory::copy_string(text);
    if data.is_null() {
        return ptr::null_mut();
    }
    let node = memory::place(Slist { data, next: ptr::null_mut() });
    if node.is_null() {
        // SAFETY: just allocated, and unknown to anybody else.
        unsafe { memory::release(data.cast()) };
    }
    node
}

/// # Safety
/// `list` is NULL or a list made by this function; `text` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_slist_append(list: *mut Slist, text: *const c_char) -> *mut Slist {
    entry(ptr::null_mut(), || {
        if text.is_null() {
            return ptr::null_mut();
        }
        // SAFETY: not NULL, so a C string by the caller's promise.
        let new = node(unsafe { CStr::from_ptr(text) }.to_bytes());
        if list.is_null() || new.is_null() {
            return new;
        }
        let mut last = list;
        // SAFETY: every node of the caller's list is valid; the last one has no next.
        unsafe {
            while !(*last).next.is_null() {
                last = (*last).next;
            }
            (*last).next = new;
        }
        list
    })
}

/// # Safety
/// `list` is NULL or a list made by `curl_slist_append` or handed out by this library, not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_slist_free_all(list: *mut Slist) {
    // SAFETY: the caller's promise is ours.
    entry((), || unsafe { free_all(list) })
}
