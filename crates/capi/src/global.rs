//! Global functions (curl_global_init.md, curl_global_init_mem.md, curl_global_sslset.md,
//! curl_global_trace.md).
//!
//! The engine needs no initialisation; these count, install the application's memory functions and
//! answer which TLS backends there are.

use std::ffi::{CStr, c_char, c_int, c_long};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use tables::Code;
use tables::constant::{
    CURLSSLBACKEND_GNUTLS, CURLSSLBACKEND_OPENSSL, CURLSSLBACKEND_RUSTLS, CURLSSLSET_OK,
    CURLSSLSET_UNKNOWN_BACKEND,
};

use crate::guard::entry;
use crate::memory::{self, CallocFn, FreeFn, MallocFn, ReallocFn, StrdupFn};
use crate::sys;
use crate::users::Users;
use crate::version::Flavour;

/// Calls of curl_global_init without their cleanup.
static USERS: Users = Users::new();

/// Prepares the process for the first handle: a forked child must not use its parent's threads and pollers,
/// and functions with large stack frames must be able to check the available room.
pub fn prepare_process() {
    // No `Once`: a child of a fork would wait for ever for a thread of its parent's that is in it.
    static PREPARED: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn in_child() {
        runtime::after_fork_in_child();
    }
    // Miri supports neither fork nor its handlers.
    if !cfg!(miri) && !PREPARED.swap(true, Ordering::AcqRel) {
        sys::in_forked_child(in_child);
        runtime::stack::set_bounds(|| sys::own_stack().map(|(start, end)| start..end));
    }
}

/// Registers fork handlers when the library is loaded, so that a fork concurrent with the first use is
/// noticed, too.
#[cfg(all(target_os = "linux", not(miri)))]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        prepare_process();
    }
    at_load
};

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_global_init(_flags: c_long) -> c_int {
    entry(Code::FailedInit.id(), || {
        prepare_process();
        USERS.enter(|| ());
        Code::Ok.id()
    })
}

/// # Safety
/// The functions behave like those of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_global_init_mem(
    _flags: c_long,
    malloc: Option<MallocFn>,
    free: Option<FreeFn>,
    realloc: Option<ReallocFn>,
    strdup: Option<StrdupFn>,
    calloc: Option<CallocFn>,
) -> c_int {
    entry(Code::FailedInit.id(), || {
        let (Some(malloc), Some(free), Some(_), Some(_), Some(_)) = (malloc, free, realloc, strdup, calloc)
        else {
            return Code::FailedInit.id();
        };
        prepare_process();
        // Like curl: later calls only count, since blocks of the first functions are about.
        USERS.enter(|| memory::install(memory::Functions { malloc, free }));
        Code::Ok.id()
    })
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_global_cleanup() {
    entry((), || {
        // Connections that handles left in the process-wide pool are given to the broker, or closed in an
        // orderly way.
        if USERS.leave() {
            crate::easy::forget_kept();
            engine::process_pool::end();
        }
    });
}

/// Gives connections to the broker at exit, and writes reports and archives; the shim's destructor calls it.
#[unsafe(no_mangle)]
extern "C" fn warmwire_exits() {
    let _ = std::panic::catch_unwind(engine::process_pool::give_all);
    let _ = std::panic::catch_unwind(engine::outputs::write);
}

/// Accepts any trace names, as curl does, including unknown ones. In curl they choose which components log
/// more in a verbose transfer; this library logs everything with CURLOPT_VERBOSE.
///
/// # Safety
/// `config` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_global_trace(_config: *const c_char) -> c_int {
    Code::Ok.id()
}

/// `curl_ssl_backend`.
#[repr(C)]
pub struct SslBackend {
    id: c_int,
    name: *const c_char,
}

#[repr(transparent)]
struct Backends([*const SslBackend; 3]);
// SAFETY: constants.
unsafe impl Sync for SslBackend {}
// SAFETY: constants.
unsafe impl Sync for Backends {}

/// The number that the system's TLS library has in curl: `curl_tlssessioninfo.backend` of such connections.
pub const SYSTEM_TLS: c_int = CURLSSLBACKEND_OPENSSL;

static OPENSSL: SslBackend = SslBackend { id: SYSTEM_TLS, name: c"openssl".as_ptr() };
static RUSTLS: SslBackend = SslBackend { id: CURLSSLBACKEND_RUSTLS, name: c"rustls".as_ptr() };
static GNUTLS: SslBackend = SslBackend { id: CURLSSLBACKEND_GNUTLS, name: c"gnutls".as_ptr() };
/// The TLS library that programs look for (the flavour), then the real one.
static BACKENDS: Backends = Backends([&raw const OPENSSL, &raw const RUSTLS, ptr::null()]);
static GNUTLS_BACKENDS: Backends = Backends([&raw const GNUTLS, &raw const RUSTLS, ptr::null()]);

/// # Safety
/// `name` is NULL or a C string; `available` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_global_sslset(
    id: c_int,
    name: *const c_char,
    available: *mut *const *const SslBackend,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { choose_backend(Flavour::Default, id, name, available) }
}

/// `curl_global_sslset` for programs of libcurl-gnutls.so.4.
///
/// # Safety
/// As for `curl_global_sslset`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn warmwire_gnutls_global_sslset(
    id: c_int,
    name: *const c_char,
    available: *mut *const *const SslBackend,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { choose_backend(Flavour::GnuTls, id, name, available) }
}

/// Chooses the TLS backend of later connections by number or name.
///
/// # Safety
/// `name` is NULL or a C string; `available` is NULL or writable.
unsafe fn choose_backend(
    flavour: Flavour,
    id: c_int,
    name: *const c_char,
    available: *mut *const *const SslBackend,
) -> c_int {
    entry(CURLSSLSET_UNKNOWN_BACKEND, || {
        let (backends, first) = match flavour {
            Flavour::Default => (&BACKENDS, (&OPENSSL, "openssl")),
            Flavour::GnuTls => (&GNUTLS_BACKENDS, (&GNUTLS, "gnutls")),
        };
        if !available.is_null() {
            // SAFETY: not NULL, so writable by the caller's promise.
            unsafe { *available = backends.0.as_ptr() };
        }
        // Either argument may name the backend; pycurl passes -1 and a name.
        let is = |(backend, text): (&SslBackend, &str)| {
            // SAFETY: not NULL, so a C string by the caller's promise.
            let named = || unsafe { CStr::from_ptr(name) }.to_bytes().eq_ignore_ascii_case(text.as_bytes());
            backend.id == id || (!name.is_null() && named())
        };
        let known = is(first) || is((&RUSTLS, "rustls"));
        // Both are always available, so it is never too late to choose: the choice applies to later
        // connections.
        if known {
            engine::prefer_system_tls(flavour == Flavour::Default && is(first));
        }
        if known { CURLSSLSET_OK } else { CURLSSLSET_UNKNOWN_BACKEND }
    })
}
