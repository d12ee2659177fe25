//! Memory that C frees: allocated with the application's functions (`curl_global_init_mem`) or the C
//! library's, released by `curl_free`. Rust's own memory never crosses the boundary.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

pub type MallocFn = unsafe extern "C-unwind" fn(usize) -> *mut c_void;
pub type FreeFn = unsafe extern "C-unwind" fn(*mut c_void);
pub type ReallocFn = unsafe extern "C-unwind" fn(*mut c_void, usize) -> *mut c_void;
pub type StrdupFn = unsafe extern "C-unwind" fn(*const c_char) -> *mut c_char;
pub type CallocFn = unsafe extern "C-unwind" fn(usize, usize) -> *mut c_void;

/// The functions given to `curl_global_init_mem`. Strings and blocks of known length only use `malloc`.
#[derive(Clone, Copy)]
pub struct Functions {
    pub malloc: MallocFn,
    pub free: FreeFn,
}

/// NULL: the C library's. Otherwise a leaked [`Functions`]; replaced at most once per global initialisation.
static FUNCTIONS: AtomicPtr<Functions> = AtomicPtr::new(ptr::null_mut());

/// Use the application's functions from now on.
pub fn install(functions: Functions) {
    FUNCTIONS.store(Box::into_raw(Box::new(functions)), Ordering::Release);
}

/// `len` bytes for C, or NULL.
pub fn allocate(len: usize) -> *mut c_void {
    let functions = FUNCTIONS.load(Ordering::Acquire);
    if functions.is_null() {
        // SAFETY: malloc has no preconditions.
        return unsafe { libc::malloc(len.max(1)) };
    }
    // SAFETY: `functions` was leaked by `install`, so it lives for ever; the application vouches for its
    // malloc.
    unsafe { ((*functions).malloc)(len.max(1)) }
}

/// Frees what [`allocate`] returned; NULL is ignored.
///
/// # Safety
/// `block` is NULL or came from [`allocate`] (or from the application's matching functions) and is not used
/// again.
pub unsafe fn release(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    let functions = FUNCTIONS.load(Ordering::Acquire);
    if functions.is_null() {
        // SAFETY: the caller's promise.
        unsafe { libc::free(block) }
    } else {
        // SAFETY: leaked by `install`; the caller's promise covers the block.
        unsafe { ((*functions).free)(block) }
    }
}

/// A copy of `bytes` with a terminating zero, or NULL when memory is out.
pub fn copy_string(bytes: &[u8]) -> *mut c_char {
    let block = allocate(bytes.len() + 1).cast::<u8>();
    if !block.is_null() {
        // SAFETY: `block` has room for the bytes and the zero, and is new, so nothing overlaps.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), block, bytes.len());
            *block.add(bytes.len()) = 0;
        }
    }
    block.cast()
}

/// A value for C, or NULL when memory is out.
pub fn place<T>(value: T) -> *mut T {
    let block = allocate(size_of::<T>()).cast::<T>();
    if !block.is_null() {
        // SAFETY: malloc aligns for every C type, and the block is large enough.
        unsafe { block.write(value) }
    }
    block
}

/// `curl_free`.
///
/// # Safety
/// As for C's `free`: NULL, or a block that this library handed out.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_free(block: *mut c_void) {
    // SAFETY: the C caller's promise is ours.
    unsafe { release(block) }
}
