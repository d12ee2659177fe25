//! curl's printf family (curl_mprintf.md). The C entries of `shim/variadic.c` call it with the arguments
//! behind function pointers. `format` parses format strings, `render` writes values; this file fetches
//! arguments and has the four destinations: bounded buffer, unbounded buffer, FILE and allocated string.

pub mod format;
mod render;

use std::ffi::{CStr, c_char, c_int, c_longlong, c_void};
use std::ptr;

use crate::guard::entry;
use crate::memory;
use format::{Format, Kind, Width};
use render::{Sink, Value};

/// `curl_maprintf` refuses to make a string longer than this (curl's limit).
const MAX_ALLOCATED: usize = 8_000_000;

/// `struct arguments` of the shim; the fields after the getters are private to the shim.
#[repr(C)]
pub struct Arguments {
    integer: unsafe extern "C" fn(*mut Arguments, c_int) -> c_longlong,
    real: unsafe extern "C" fn(*mut Arguments, c_int) -> f64,
    pointer: unsafe extern "C" fn(*mut Arguments) -> *mut c_void,
}

impl Arguments {
    /// # Safety
    /// `this` came from the shim, and the caller of the C function passed an argument of that type next.
    pub unsafe fn integer(this: *mut Arguments, width: Width) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { ((*this).integer)(this, width as c_int) }
    }

    /// # Safety
    /// As `integer`.
    pub unsafe fn real(this: *mut Arguments, long_double: bool) -> f64 {
        // SAFETY: the caller's promise.
        unsafe { ((*this).real)(this, long_double.into()) }
    }

    /// # Safety
    /// As `integer`.
    pub unsafe fn pointer(this: *mut Arguments) -> *mut c_void {
        // SAFETY: the caller's promise.
        unsafe { ((*this).pointer)(this) }
    }
}

/// Formats into `sink` and returns the number of bytes written; 0 for an invalid format, as in curl.
///
/// # Safety
/// `format` is NULL or a C string, and `args` has the arguments that it requires.
unsafe fn print(sink: &mut dyn Sink, format: *const c_char, args: *mut Arguments) -> usize {
    if format.is_null() {
        return 0;
    }
    // SAFETY: a C string by the caller's promise.
    let text = unsafe { CStr::from_ptr(format) }.to_bytes();
    let Some(format) = Format::parse(text) else {
        return 0;
    };
    // SAFETY: the format's kinds, in the order of the arguments.
    let values: Vec<Value> = format.arguments.iter().map(|&kind| unsafe { fetch(args, kind) }).collect();
    render::all(sink, &format, &values)
}

/// # Safety
/// The next argument is of that kind.
unsafe fn fetch(args: *mut Arguments, kind: Kind) -> Value {
    // SAFETY: the caller's promise, for each arm.
    unsafe {
        match kind {
            Kind::Integer(width) => Value::Integer(Arguments::integer(args, width)),
            Kind::Real { long } => Value::Real(Arguments::real(args, long)),
            Kind::String | Kind::Pointer | Kind::Count(_) => Value::Pointer(Arguments::pointer(args)),
        }
    }
}

/// A caller's buffer; reserves a byte for the terminating zero.
struct Buffer {
    at: *mut u8,
    room: usize,
}

impl Sink for Buffer {
    fn put(&mut self, bytes: &[u8]) -> bool {
        let len = bytes.len().min(self.room);
        // SAFETY: the creator of the Buffer guarantees `room` writable bytes and a zero after them.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.at, len);
            self.at = self.at.add(len);
        }
        self.room -= len;
        len == bytes.len()
    }
}

struct Stream(*mut libc::FILE);

impl Sink for Stream {
    fn put(&mut self, bytes: &[u8]) -> bool {
        // SAFETY: the application's open FILE.
        unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), self.0) == bytes.len() }
    }
}

struct Bounded(Vec<u8>);

impl Sink for Bounded {
    fn put(&mut self, bytes: &[u8]) -> bool {
        let fits = self.0.len() + bytes.len() <= MAX_ALLOCATED;
        if fits {
            self.0.extend_from_slice(bytes);
        }
        fits
    }
}

/// Counts the bytes that the inner sink accepted, and remembers a refusal.
struct Counted<'a> {
    sink: &'a mut dyn Sink,
    failed: bool,
}

impl Sink for Counted<'_> {
    fn put(&mut self, bytes: &[u8]) -> bool {
        self.failed |= !self.sink.put(bytes);
        !self.failed
    }
}

/// # Safety
/// Called by the shim with the C caller's buffer of `size` bytes.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn warmwire_vsnprintf(
    buffer: *mut c_char,
    size: usize,
    format: *const c_char,
    args: *mut Arguments,
) -> c_int {
    entry(0, || {
        if buffer.is_null() || size == 0 {
            return 0;
        }
        let mut sink = Buffer { at: buffer.cast(), room: size - 1 };
        // SAFETY: the shim's caller guarantees format and arguments; the sink reserves one byte for the zero.
        unsafe {
            print(&mut sink, format, args);
            *sink.at = 0;
            sink.at.offset_from(buffer.cast::<u8>()) as c_int
        }
    })
}

/// # Safety
/// Called by the shim; the C caller vouches that the buffer is large enough, as for sprintf.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn warmwire_vsprintf(
    buffer: *mut c_char,
    format: *const c_char,
    args: *mut Arguments,
) -> c_int {
    // SAFETY: the caller's promise; the bound only keeps pointer arithmetic sound.
    unsafe { warmwire_vsnprintf(buffer, c_int::MAX as usize, format, args) }
}

/// # Safety
/// Called by the shim with the C caller's open FILE.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn warmwire_vfprintf(
    file: *mut libc::FILE,
    format: *const c_char,
    args: *mut Arguments,
) -> c_int {
    entry(0, || {
        if file.is_null() {
            return 0;
        }
        // SAFETY: the shim's caller vouches for file, format and arguments.
        unsafe { print(&mut Stream(file), format, args) as c_int }
    })
}

/// # Safety
/// Called by the shim.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn warmwire_vaprintf(format: *const c_char, args: *mut Arguments) -> *mut c_char {
    entry(ptr::null_mut(), || {
        if format.is_null() {
            return ptr::null_mut();
        }
        let mut text = Bounded(Vec::new());
        let mut sink = Counted { sink: &mut text, failed: false };
        // SAFETY: the shim's caller vouches for format and arguments.
        unsafe { print(&mut sink, format, args) };
        if sink.failed {
            return ptr::null_mut();
        }
        memory::copy_string(&text.0)
    })
}
