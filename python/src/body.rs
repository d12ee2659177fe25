//! Bodies in place: the engine receives a body of a known length directly into the memory of the `bytes`
//! object that the program gets.
//!
//! The object is created when the head has arrived, with the interpreter's lock. Its bytes are written while
//! no program can have a reference to it, as the C API allows for `PyBytes_FromStringAndSize(NULL, n)`.

use std::any::Any;
use std::ptr::NonNull;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use warmwire::transfers::{BodyBuffer, BodyMemory, Transfers};

/// How much of the memory is lent, and cleared, at a time: what the processor's cache holds.
const STEP: usize = 256 * 1024;
/// Size of a large page on the processors that have them beside pages of 4 KiB.
const LARGE_PAGE: usize = 2 * 1024 * 1024;

/// Memory for bodies in Python's heap.
pub struct Memory;

impl BodyMemory for Memory {
    fn allocate(&self, length: usize) -> Option<Box<dyn BodyBuffer>> {
        // While the interpreter ends, threads of its own may still run. Their bodies stay in the engine's
        // buffer.
        Python::try_attach(|py| Some(Box::new(Place::new(py, length)?) as Box<dyn BodyBuffer>)).flatten()
    }
}

/// A `bytes` object of which the engine has the only reference.
struct Place {
    object: Py<PyBytes>,
    start: NonNull<u8>,
    length: usize,
    /// How many bytes have been written, by the engine or by [`room`](BodyBuffer::room).
    cleared: usize,
}

impl Place {
    /// Returns `None` if the memory cannot be had.
    fn new(py: Python<'_>, length: usize) -> Option<Place> {
        let size = ffi::Py_ssize_t::try_from(length).ok()?;
        // SAFETY: The interpreter's lock is held (`py`). NULL makes an object of `size` bytes with any
        // content, or returns NULL with an exception set.
        let new = unsafe { ffi::PyBytes_FromStringAndSize(std::ptr::null(), size) };
        // SAFETY: `new` is NULL or a new reference, which nobody else owns; `or_opt` takes either.
        let Some(object) = (unsafe { Bound::from_owned_ptr_or_opt(py, new) }) else {
            drop(PyErr::take(py));
            return None;
        };
        // SAFETY: The function made a `bytes` object.
        let object = unsafe { object.cast_into_unchecked::<PyBytes>() };
        // SAFETY: It is a `bytes` object; its content starts there, and stays there while the object lives.
        let start = NonNull::new(unsafe { ffi::PyBytes_AsString(object.as_ptr()) }.cast::<u8>())?;
        request_large_pages(start, length);
        Some(Place { object: object.unbind(), start, length, cleared: 0 })
    }

    /// Returns the object if all of it is the body, and a copy of the beginning otherwise.
    fn finish<'py>(mut self, py: Python<'py>, filled: usize) -> Bound<'py, PyBytes> {
        if filled == self.length && self.cleared == self.length {
            return self.object.into_bound(py);
        }
        PyBytes::new(py, self.written(filled))
    }

    /// Returns the first bytes.
    fn written(&mut self, count: usize) -> &[u8] {
        let count = count.min(self.cleared);
        // SAFETY: `count` is at most `cleared`: those bytes lie in the object, and have been written. `self`
        // has the only reference to it, and is borrowed as long as the slice lives.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), count) }
    }
}

impl BodyBuffer for Place {
    fn room(&mut self, offset: usize) -> &mut [u8] {
        let end = self.length.min(offset.saturating_add(STEP));
        let offset = offset.min(end);
        if end > self.cleared {
            // SAFETY: `cleared..end` lies in the object's content, which is `length` bytes long. Nothing
            // else refers to these bytes: `self` has the only reference to the object, Python's garbage
            // collector does not track `bytes`, and no slice of `self` is alive during `&mut self`.
            unsafe { self.start.as_ptr().add(self.cleared).write_bytes(0, end - self.cleared) };
            self.cleared = end;
        }
        // SAFETY: `offset..end` lies in the object's content. Each of its bytes has been written, above or
        // before, so that it may be read. Exclusive as above, as long as `self` is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(offset), end - offset) }
    }
}

/// Asks the kernel for large pages below this memory: the faults of small pages took half of the processor
/// time of a body of 10 MB. Where the kernel has no large pages, the small ones remain.
#[cfg(target_os = "linux")]
fn request_large_pages(start: NonNull<u8>, length: usize) {
    let to_boundary = start.align_offset(LARGE_PAGE);
    let whole_pages = length.saturating_sub(to_boundary) / LARGE_PAGE * LARGE_PAGE;
    if whole_pages > 0 {
        // SAFETY: The range lies in the object's memory. The advice changes neither its content nor its
        // protection.
        let _ = unsafe {
            rustix::mm::madvise(
                start.as_ptr().add(to_boundary).cast(),
                whole_pages,
                rustix::mm::Advice::LinuxHugepage,
            )
        };
    }
}

#[cfg(not(target_os = "linux"))]
fn request_large_pages(_start: NonNull<u8>, _length: usize) {}

/// Takes the body that has arrived, in place if all of it lies in one object.
pub fn take<'py>(py: Python<'py>, transfers: &Transfers, id: usize) -> Bound<'py, PyBytes> {
    let Some((mut place, filled)) = placed(transfers, id) else {
        return transfers.with_body(id, |body| PyBytes::new(py, body));
    };
    transfers.with_body(id, |beyond| match beyond {
        [] => (*place).finish(py, filled),
        // More bytes have arrived than were announced.
        beyond => PyBytes::new(py, &[place.written(filled), beyond].concat()),
    })
}

/// Shows the body that has arrived, once, in one part or two.
pub fn read(transfers: &Transfers, id: usize, mut show: impl FnMut(&[u8])) {
    if let Some((mut place, filled)) = placed(transfers, id) {
        show(place.written(filled));
    }
    transfers.with_body(id, show);
}

fn placed(transfers: &Transfers, id: usize) -> Option<(Box<Place>, usize)> {
    let (buffer, filled): (Box<dyn Any>, usize) = transfers.take_placed(id)?;
    Some((buffer.downcast().ok()?, filled))
}
