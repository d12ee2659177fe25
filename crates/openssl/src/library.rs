//! The interface to `libssl.so.3` and `libcrypto.so.3`: their functions, found by dlopen(3) and kept for the
//! life of the process, and [`Context`] and [`Connection`] on top of them. All unsafe code of this crate is
//! here.
//!
//! Invariants: an object is freed when its owner is dropped, by the library's own function; buffers passed in
//! outlive the call; texts are copied unless they are constants of the library, which is never unloaded. The
//! thread's error queue is emptied before a call whose errors are read.

#![allow(unsafe_code)]
#![allow(clippy::useless_conversion, reason = "C's long is an i32 on Windows")]

use std::ffi::{CStr, c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_void};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(unix)]
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use once_cell::race::OnceBox;

use crate::numbers::*;
use crate::{Encoding, Failure, Protocol, Session};

/// The names under which OpenSSL 3 has been installed since 2021.
const CRYPTO: &str = "libcrypto.so.3";
const SSL: &str = "libssl.so.3";

/// An opaque object of the library.
type Handle = *mut c_void;

type KeyLogFn = unsafe extern "C" fn(*const c_void, *const c_char);
type NewSessionFn = unsafe extern "C" fn(Handle, Handle) -> c_int;
type ReadPemFn = unsafe extern "C" fn(Handle, *mut Handle, Option<PasswordFn>, *mut c_void) -> Handle;
type PasswordFn = unsafe extern "C" fn(*mut c_char, c_int, c_int, *mut c_void) -> c_int;

macro_rules! functions {
    (
        $(#[$about:meta])* $name:ident { $($own:ident),* }
        $($library:ident { $($field:ident: $symbol:literal = fn($($argument:ty),* $(,)?) $(-> $result:ty)?;)* })*
    ) => {
        $(#[$about])*
        struct $name {
            $($($field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*)*
            $($own: c_int,)*
        }

        impl $name {
            /// Loads the libraries of these names and finds all of their functions.
            #[cfg(unix)]
            fn load() -> Result<$name, String> {
                $($(let $field;)*)*
                $({
                    let library = open($library)?;
                    // SAFETY: the function of this name has had this type in all releases of OpenSSL 3, whose
                    // ABI is stable.
                    $($field = *unsafe { library.get($symbol.to_bytes_with_nul()) }.map_err(|error| error.to_string())?;)*
                    std::mem::forget(library); // the functions stay where they are
                })*
                Ok($name { $($($field,)*)* $($own: 0,)* })
            }

            /// Returns an error on Windows: programs bring their own OpenSSL, and none is searched for.
            #[cfg(windows)]
            fn load() -> Result<$name, String> {
                $(let _ = $library;)*
                Err("OpenSSL is not looked for on Windows".to_owned())
            }
        }
    };
}

#[cfg(unix)]
fn open(name: &str) -> Result<Library, String> {
    // SAFETY: its initialisers are those of a system library that any program may link.
    unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| error.to_string())
}

mod connection;
mod modules;

pub use connection::Connection;
pub use modules::{Module, engines};

functions! {
    /// The functions of both libraries, and the indexes of a connection's and a context's application data.
    Functions { connection_data, context_data }
    CRYPTO {
        version_text: c"OpenSSL_version" = fn(c_int) -> *const c_char;
        new_ex_index: c"CRYPTO_get_ex_new_index" = fn(c_int, c_long, Handle, Handle, Handle, Handle) -> c_int;
        error: c"ERR_get_error" = fn() -> c_ulong;
        error_text: c"ERR_error_string_n" = fn(c_ulong, *mut c_char, usize);
        clear_errors: c"ERR_clear_error" = fn();
        memory_method: c"BIO_s_mem" = fn() -> *const c_void;
        new_bio: c"BIO_new" = fn(*const c_void) -> Handle;
        bio_of: c"BIO_new_mem_buf" = fn(*const c_void, c_int) -> Handle;
        read_bio: c"BIO_read" = fn(Handle, *mut c_void, c_int) -> c_int;
        write_bio: c"BIO_write" = fn(Handle, *const c_void, c_int) -> c_int;
        pending_bio: c"BIO_ctrl_pending" = fn(Handle) -> usize;
        ctrl_bio: c"BIO_ctrl" = fn(Handle, c_int, c_long, Handle) -> c_long;
        free_bio: c"BIO_free" = fn(Handle) -> c_int;
        pem_cert: c"PEM_read_bio_X509" = fn(Handle, *mut Handle, Option<PasswordFn>, *mut c_void) -> Handle;
        pem_trusted_cert: c"PEM_read_bio_X509_AUX" = fn(Handle, *mut Handle, Option<PasswordFn>, *mut c_void) -> Handle;
        der_cert: c"d2i_X509_bio" = fn(Handle, *mut Handle) -> Handle;
        cert_to_der: c"i2d_X509" = fn(Handle, *mut *mut c_uchar) -> c_int;
        free_cert: c"X509_free" = fn(Handle);
        pem_crl: c"PEM_read_bio_X509_CRL" = fn(Handle, *mut Handle, Option<PasswordFn>, *mut c_void) -> Handle;
        free_crl: c"X509_CRL_free" = fn(Handle);
        add_cert: c"X509_STORE_add_cert" = fn(Handle, Handle) -> c_int;
        add_crl: c"X509_STORE_add_crl" = fn(Handle, Handle) -> c_int;
        keep_store: c"X509_STORE_up_ref" = fn(Handle) -> c_int;
        free_store: c"X509_STORE_free" = fn(Handle);
        set_store_flags: c"X509_STORE_set_flags" = fn(Handle, c_ulong) -> c_int;
        verdict_text: c"X509_verify_cert_error_string" = fn(c_long) -> *const c_char;
        pem_key: c"PEM_read_bio_PrivateKey" = fn(Handle, *mut Handle, Option<PasswordFn>, *mut c_void) -> Handle;
        der_key: c"d2i_PrivateKey_bio" = fn(Handle, *mut Handle) -> Handle;
        free_key: c"EVP_PKEY_free" = fn(Handle);
        der_pkcs12: c"d2i_PKCS12_bio" = fn(Handle, *mut Handle) -> Handle;
        parse_pkcs12: c"PKCS12_parse" = fn(Handle, *const c_char, *mut Handle, *mut Handle, *mut Handle) -> c_int;
        free_pkcs12: c"PKCS12_free" = fn(Handle);
        count: c"OPENSSL_sk_num" = fn(Handle) -> c_int;
        nth: c"OPENSSL_sk_value" = fn(Handle, c_int) -> Handle;
        shift: c"OPENSSL_sk_shift" = fn(Handle) -> Handle;
        free_stack: c"OPENSSL_sk_free" = fn(Handle);
    }
    SSL {
        method: c"TLS_client_method" = fn() -> *const c_void;
        new_context: c"SSL_CTX_new" = fn(*const c_void) -> Handle;
        new_context_in: c"SSL_CTX_new_ex" = fn(Handle, *const c_char, *const c_void) -> Handle;
        free_context: c"SSL_CTX_free" = fn(Handle);
        ctrl_context: c"SSL_CTX_ctrl" = fn(Handle, c_int, c_long, Handle) -> c_long;
        set_options: c"SSL_CTX_set_options" = fn(Handle, u64) -> u64;
        set_cipher_list: c"SSL_CTX_set_cipher_list" = fn(Handle, *const c_char) -> c_int;
        set_suites: c"SSL_CTX_set_ciphersuites" = fn(Handle, *const c_char) -> c_int;
        set_alpn: c"SSL_CTX_set_alpn_protos" = fn(Handle, *const c_uchar, c_uint) -> c_int;
        set_verify: c"SSL_CTX_set_verify" = fn(Handle, c_int, Handle);
        set_later_auth: c"SSL_CTX_set_post_handshake_auth" = fn(Handle, c_int);
        store: c"SSL_CTX_get_cert_store" = fn(Handle) -> Handle;
        share_store: c"SSL_CTX_set1_cert_store" = fn(Handle, Handle);
        trust_file: c"SSL_CTX_load_verify_file" = fn(Handle, *const c_char) -> c_int;
        trust_folder: c"SSL_CTX_load_verify_dir" = fn(Handle, *const c_char) -> c_int;
        use_cert: c"SSL_CTX_use_certificate" = fn(Handle, Handle) -> c_int;
        use_key: c"SSL_CTX_use_PrivateKey" = fn(Handle, Handle) -> c_int;
        check_key: c"SSL_CTX_check_private_key" = fn(Handle) -> c_int;
        set_key_log: c"SSL_CTX_set_keylog_callback" = fn(Handle, Option<KeyLogFn>);
        set_new_session: c"SSL_CTX_sess_set_new_cb" = fn(Handle, Option<NewSessionFn>);
        set_context_data: c"SSL_CTX_set_ex_data" = fn(Handle, c_int, Handle) -> c_int;
        context_data_of: c"SSL_CTX_get_ex_data" = fn(Handle, c_int) -> Handle;
        new_ssl: c"SSL_new" = fn(Handle) -> Handle;
        free_ssl: c"SSL_free" = fn(Handle);
        context_of: c"SSL_get_SSL_CTX" = fn(Handle) -> Handle;
        ctrl: c"SSL_ctrl" = fn(Handle, c_int, c_long, Handle) -> c_long;
        set_bio: c"SSL_set_bio" = fn(Handle, Handle, Handle);
        be_client: c"SSL_set_connect_state" = fn(Handle);
        set_data: c"SSL_set_ex_data" = fn(Handle, c_int, Handle) -> c_int;
        data_of: c"SSL_get_ex_data" = fn(Handle, c_int) -> Handle;
        handshake: c"SSL_do_handshake" = fn(Handle) -> c_int;
        read: c"SSL_read" = fn(Handle, *mut c_void, c_int) -> c_int;
        write: c"SSL_write" = fn(Handle, *const c_void, c_int) -> c_int;
        renew_keys: c"SSL_key_update" = fn(Handle, c_int) -> c_int;
        shutdown: c"SSL_shutdown" = fn(Handle) -> c_int;
        why: c"SSL_get_error" = fn(Handle, c_int) -> c_int;
        protocol: c"SSL_get_version" = fn(Handle) -> *const c_char;
        cipher: c"SSL_get_current_cipher" = fn(Handle) -> *const c_void;
        cipher_name: c"SSL_CIPHER_get_name" = fn(*const c_void) -> *const c_char;
        group_name: c"SSL_group_to_name" = fn(Handle, c_int) -> *const c_char;
        alpn: c"SSL_get0_alpn_selected" = fn(Handle, *mut *const c_uchar, *mut c_uint);
        verdict: c"SSL_get_verify_result" = fn(Handle) -> c_long;
        chain: c"SSL_get_peer_cert_chain" = fn(Handle) -> Handle;
        leaf: c"SSL_get1_peer_certificate" = fn(Handle) -> Handle;
        is_resumed: c"SSL_session_reused" = fn(Handle) -> c_int;
        set_session: c"SSL_set_session" = fn(Handle, Handle) -> c_int;
        session_to_der: c"i2d_SSL_SESSION" = fn(Handle, *mut *mut c_uchar) -> c_int;
        der_session: c"d2i_SSL_SESSION" = fn(*mut Handle, *mut *const c_uchar, c_long) -> Handle;
        session_version: c"SSL_SESSION_get_protocol_version" = fn(Handle) -> c_int;
        session_lifetime: c"SSL_SESSION_get_timeout" = fn(Handle) -> c_long;
        session_early: c"SSL_SESSION_get_max_early_data" = fn(Handle) -> u32;
        free_session: c"SSL_SESSION_free" = fn(Handle);
        export: c"SSL_export_keying_material" =
            fn(Handle, *mut c_uchar, usize, *const c_char, usize, *const c_uchar, usize, c_int) -> c_int;
    }
}

/// Returns the library's functions; the first call loads it.
fn functions() -> Result<&'static Functions, &'static str> {
    // Without a lock, which a child forked in the meantime would find locked.
    static LIBRARY: OnceBox<Result<Functions, String>> = OnceBox::new();
    let load = || {
        let mut functions = Functions::load()?;
        // SAFETY: an index for each kind of object, without functions that copy or free its values.
        unsafe {
            let index =
                |class| (functions.new_ex_index)(class, 0, null_mut(), null_mut(), null_mut(), null_mut());
            (functions.connection_data, functions.context_data) =
                (index(CRYPTO_EX_INDEX_SSL), index(CRYPTO_EX_INDEX_SSL_CTX));
        }
        let has_room = functions.connection_data >= 0 && functions.context_data >= 0;
        has_room.then_some(functions).ok_or_else(|| "it has no room for our data".to_owned())
    };
    LIBRARY.get_or_init(|| Box::new(load())).as_ref().map_err(String::as_str)
}

/// Returns whether the system has the library; loads it to find out.
pub fn is_there() -> bool {
    functions().is_ok()
}

/// Returns for example "OpenSSL 3.0.19 27 Jan 2026", if the library can be loaded.
pub fn version() -> Option<&'static str> {
    let f = functions().ok()?;
    // SAFETY: OpenSSL_version(0) is a constant text.
    unsafe { constant((f.version_text)(0)) }
}

/// Returns a text that lives as long as the library.
///
/// # Safety
/// `text` is NULL or a constant of the library.
unsafe fn constant(text: *const c_char) -> Option<&'static str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not NULL, so a constant by the caller's promise; the library is never unloaded.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

impl Functions {
    fn forget_errors(&self) {
        // SAFETY: no arguments; it affects only this thread.
        unsafe { (self.clear_errors)() }
    }

    /// Returns the oldest error of this thread; drops the others.
    fn failure(&self) -> Failure {
        // SAFETY: as above.
        let code = unsafe { (self.error)() };
        self.forget_errors();
        if code == 0 {
            return Failure::default();
        }
        let mut text = [0u8; 256];
        // SAFETY: the buffer has the given length and receives a text that ends with a NUL.
        unsafe { (self.error_text)(code, text.as_mut_ptr().cast(), text.len()) };
        let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
        Failure { code: code.into(), text: text.to_string_lossy().into_owned() }
    }

    fn checked(&self, result: c_long) -> Result<(), Failure> {
        if result > 0 { Ok(()) } else { Err(self.failure()) }
    }

    /// Calls `f` with a BIO that reads `bytes`.
    fn reading<T>(&self, bytes: &[u8], f: impl FnOnce(Handle) -> T) -> T {
        self.forget_errors();
        // SAFETY: the BIO reads from `bytes`, which outlives it; `f` does not keep it.
        unsafe {
            let bio = (self.bio_of)(bytes.as_ptr().cast(), length(bytes));
            let read = f(bio);
            (self.free_bio)(bio);
            read
        }
    }

    /// Returns a certificate in DER.
    unsafe fn der(&self, cert: Handle) -> Vec<u8> {
        // SAFETY: a certificate by the caller's promise.
        unsafe { encoded(|place| (self.cert_to_der)(cert, place)) }
    }
}

/// Returns the output of an i2d function, which is first asked for the length.
fn encoded(mut write: impl FnMut(*mut *mut c_uchar) -> c_int) -> Vec<u8> {
    let mut bytes = vec![0u8; usize::try_from(write(null_mut())).unwrap_or(0)];
    let mut place = bytes.as_mut_ptr();
    if !bytes.is_empty() {
        write(&mut place);
    }
    bytes
}

/// Passes a password to OpenSSL, truncated to the size of the buffer.
unsafe extern "C" fn password(buffer: *mut c_char, size: c_int, _writing: c_int, user: *mut c_void) -> c_int {
    // SAFETY: `user` is the `&[u8]` that `with_password` put there, and lives until its call returns.
    let text = unsafe { *user.cast::<&[u8]>() };
    let n = text.len().min(usize::try_from(size).unwrap_or(0));
    // SAFETY: the buffer has `size` bytes.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, n) };
    n as c_int
}

/// Appends a line to the key log.
unsafe extern "C" fn log_key(connection: *const c_void, line: *const c_char) {
    let Ok(f) = functions() else { return };
    // SAFETY: the context's data is a file while the context lives (`Context::log_keys`); the line ends with
    // NUL.
    unsafe {
        let context = (f.context_of)(connection.cast_mut());
        let file = (f.context_data_of)(context, f.context_data).cast::<File>();
        let line = CStr::from_ptr(line).to_bytes();
        if let Some(mut file) = file.as_ref() {
            let _ = file.write_all(&[line, b"\n"].concat()); // nowhere to report it
        }
    }
}

/// Stores a new session.
unsafe extern "C" fn keep_session(connection: Handle, session: Handle) -> c_int {
    let Ok(f) = functions() else { return 0 };
    // SAFETY: the connection's data is null or its `NewSessions`, which lives as long; the session is alive
    // during this call, and 0 means that it is not kept.
    unsafe {
        let given = (f.data_of)(connection, f.connection_data).cast::<NewSessions>();
        if let Some(given) = given.as_ref() {
            let session = Session {
                der: encoded(|place| (f.session_to_der)(session, place)),
                version: u16::try_from((f.session_version)(session)).unwrap_or(0),
                lifetime: (f.session_lifetime)(session).into(),
                early: (f.session_early)(session),
            };
            given.0.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        }
    }
    0
}

/// Sessions that a connection received and that were not taken yet.
#[derive(Default)]
struct NewSessions(Mutex<Vec<Session>>);

/// SSL_CTX: the settings of connections. Each connection gets a new one, as programs that change it expect.
pub struct Context {
    f: &'static Functions,
    context: Handle,
    /// Read by [`log_key`]; behind an `Arc`, so that its address is stable.
    log: Option<Arc<File>>,
    /// The module whose library context or key it uses; dropped after the context.
    _module: Option<Arc<Module>>,
}

// SAFETY: OpenSSL's objects belong to no thread (openssl-threads(7)); one owner uses it at a time.
unsafe impl Send for Context {}

impl Context {
    /// Creates a context, with a provider's algorithms if one is given. Fails without a library.
    pub fn new(module: Option<Arc<Module>>) -> Result<Context, String> {
        let f = functions()?;
        f.forget_errors();
        let context = match &module {
            Some(module) => module.new_context(f),
            // SAFETY: the method is a constant; the context is freed by `drop`.
            None => unsafe { (f.new_context)((f.method)()) },
        };
        if context.is_null() {
            return Err(f.failure().text);
        }
        // SAFETY: the context has just been made.
        unsafe {
            (f.ctrl_context)(context, SSL_CTRL_MODE, MODES, null_mut());
            (f.set_options)(context, OPTIONS);
            (f.set_later_auth)(context, 1);
        }
        Ok(Context { f, context, log: None, _module: module })
    }

    /// The address of the SSL_CTX, for the program's own function: the program has loaded the same library.
    pub fn address(&self) -> usize {
        self.context as usize
    }

    fn control(&mut self, command: c_int, number: c_long, pointer: *const c_char) -> Result<(), Failure> {
        self.f.forget_errors();
        // SAFETY: the command's argument is a number or a text that lives until the call returns.
        self.f.checked(unsafe {
            (self.f.ctrl_context)(self.context, command, number, pointer.cast_mut().cast())
        })
    }

    /// Sets the lowest and the highest protocol version.
    pub fn set_versions(&mut self, least: Protocol, newest: Protocol) -> Result<(), Failure> {
        self.control(SSL_CTRL_SET_MIN_PROTO_VERSION, least as c_long, null())?;
        self.control(SSL_CTRL_SET_MAX_PROTO_VERSION, newest as c_long, null())
    }

    /// Sets the ciphers up to TLS 1.2, in OpenSSL's syntax.
    pub fn set_cipher_list(&mut self, list: &str) -> Result<(), Failure> {
        self.listed(self.f.set_cipher_list, list)
    }

    /// Sets the ciphers of TLS 1.3.
    pub fn set_suites(&mut self, list: &str) -> Result<(), Failure> {
        self.listed(self.f.set_suites, list)
    }

    fn listed(
        &mut self,
        set: unsafe extern "C" fn(Handle, *const c_char) -> c_int,
        list: &str,
    ) -> Result<(), Failure> {
        self.f.forget_errors();
        let list = c_text(list.as_bytes());
        // SAFETY: the text lives until the call returns; the library copies it.
        self.f.checked(unsafe { set(self.context, list.as_ptr()) }.into())
    }

    /// Sets the groups of the key exchange.
    pub fn set_groups(&mut self, list: &str) -> Result<(), Failure> {
        self.control(SSL_CTRL_SET_GROUPS_LIST, 0, c_text(list.as_bytes()).as_ptr())
    }

    /// Sets the signature algorithms.
    pub fn set_signature_algorithms(&mut self, list: &str) -> Result<(), Failure> {
        self.control(SSL_CTRL_SET_SIGALGS_LIST, 0, c_text(list.as_bytes()).as_ptr())
    }

    /// Sets the offered protocols, each with its length before it (RFC 7301, section 3.1).
    pub fn set_alpn(&mut self, list: &[u8]) {
        // SAFETY: the list lives until the call returns; the library copies it.
        unsafe { (self.f.set_alpn)(self.context, list.as_ptr(), list.len() as c_uint) };
    }

    /// Refuses a server whose chain is invalid.
    pub fn verify(&mut self) {
        // SAFETY: no callback is set.
        unsafe { (self.f.set_verify)(self.context, SSL_VERIFY_PEER, null_mut()) };
    }

    /// Adds the trust anchors of a file.
    pub fn trust_file(&mut self, file: &Path) -> Result<(), Failure> {
        self.trusted(self.f.trust_file, file)
    }

    /// Adds a directory of certificates with hashed names, which are read on demand.
    pub fn trust_folder(&mut self, folder: &Path) -> Result<(), Failure> {
        self.trusted(self.f.trust_folder, folder)
    }

    fn trusted(
        &mut self,
        load: unsafe extern "C" fn(Handle, *const c_char) -> c_int,
        from: &Path,
    ) -> Result<(), Failure> {
        self.f.forget_errors();
        let from = c_text(from.as_os_str().as_encoded_bytes());
        // SAFETY: the text lives until the call returns.
        self.f.checked(unsafe { load(self.context, from.as_ptr()) }.into())
    }

    /// Adds the trust anchors of these PEM certificates; returns their number.
    pub fn trust_pem(&mut self, bytes: &[u8]) -> usize {
        self.fill_store(bytes, self.f.pem_trusted_cert, self.f.add_cert, self.f.free_cert)
    }

    /// Returns the trust store of this context.
    pub fn store(&self) -> Store {
        // SAFETY: the store gets one more owner, which frees it.
        unsafe {
            let store = (self.f.store)(self.context);
            (self.f.keep_store)(store);
            Store { f: self.f, store }
        }
    }

    /// Trusts exactly what another context trusts.
    pub fn set_store(&mut self, store: &Store) {
        // SAFETY: the context takes its own reference.
        unsafe { (self.f.share_store)(self.context, store.store) };
    }

    /// Adds revocation lists, and checks every chain against them; returns their number.
    pub fn revoke_pem(&mut self, bytes: &[u8]) -> usize {
        self.set_flags(X509_V_FLAG_CRL_CHECK_ALL);
        self.fill_store(bytes, self.f.pem_crl, self.f.add_crl, self.f.free_crl)
    }

    /// Lets any trusted certificate end a chain, not only a self-signed one.
    pub fn allow_partial_chain(&mut self) {
        self.set_flags(X509_V_FLAG_PARTIAL_CHAIN);
    }

    fn set_flags(&mut self, flags: c_ulong) {
        // SAFETY: the store is the context's own.
        unsafe { (self.f.set_store_flags)((self.f.store)(self.context), flags) };
    }

    fn fill_store(
        &mut self,
        bytes: &[u8],
        read: ReadPemFn,
        add: unsafe extern "C" fn(Handle, Handle) -> c_int,
        free: unsafe extern "C" fn(Handle),
    ) -> usize {
        let mut found = 0;
        self.f.reading(bytes, |bio| {
            // SAFETY: the store takes its own reference, and ours is dropped.
            unsafe {
                let store = (self.f.store)(self.context);
                loop {
                    let object = with_password(b"", |user| read(bio, null_mut(), Some(password), user));
                    if object.is_null() {
                        break;
                    }
                    found += usize::from(add(store, object) == 1);
                    free(object);
                }
            }
        });
        self.f.forget_errors();
        found
    }

    /// Sets the client's certificate, and the others of its chain.
    pub fn use_certificate(
        &mut self,
        bytes: &[u8],
        encoding: Encoding,
        secret: &[u8],
    ) -> Result<(), Failure> {
        let f = self.f;
        f.reading(bytes, |bio| {
            let read_pem = |read: ReadPemFn| {
                // SAFETY: the BIO is alive; the password callback gets the data that it expects.
                with_password(secret, |user| unsafe { read(bio, null_mut(), Some(password), user) })
            };
            let own = match encoding {
                Encoding::Pem => read_pem(f.pem_trusted_cert),
                // SAFETY: the BIO is alive.
                Encoding::Der => unsafe { (f.der_cert)(bio, null_mut()) },
            };
            if own.is_null() {
                return Err(f.failure());
            }
            // SAFETY: a certificate that was just parsed; the context takes its own reference.
            let used = unsafe {
                let used = (f.use_cert)(self.context, own);
                (f.free_cert)(own);
                used
            };
            f.checked(used.into())?;
            let others = || if encoding == Encoding::Pem { read_pem(f.pem_cert) } else { null_mut() };
            loop {
                let other = others();
                if other.is_null() {
                    break;
                }
                self.append(other);
            }
            f.forget_errors(); // the end of the file is one
            Ok(())
        })
    }

    /// Appends a certificate to the client's chain, and takes ownership of it.
    fn append(&self, cert: Handle) {
        // SAFETY: a certificate that we own; on success the context takes over the reference.
        unsafe {
            if (self.f.ctrl_context)(self.context, SSL_CTRL_EXTRA_CHAIN_CERT, 0, cert) != 1 {
                (self.f.free_cert)(cert);
            }
        }
    }

    /// Sets the key of the client's certificate.
    pub fn use_key(&mut self, bytes: &[u8], encoding: Encoding, secret: &[u8]) -> Result<(), Failure> {
        let f = self.f;
        let key = f.reading(bytes, |bio| {
            match encoding {
                // SAFETY: the BIO is alive; the password callback gets the data that it expects.
                Encoding::Pem => with_password(secret, |user| unsafe {
                    (f.pem_key)(bio, null_mut(), Some(password), user)
                }),
                // SAFETY: the BIO is alive.
                Encoding::Der => unsafe { (f.der_key)(bio, null_mut()) },
            }
        });
        self.own_key(key)
    }

    fn own_key(&mut self, key: Handle) -> Result<(), Failure> {
        let f = self.f;
        if key.is_null() {
            return Err(f.failure());
        }
        // SAFETY: a key that was just parsed; the context takes its own reference.
        let used = unsafe {
            let used = (f.use_key)(self.context, key);
            (f.free_key)(key);
            used
        };
        f.checked(used.into())
    }

    /// Sets certificate, key and chain from a PKCS#12 file.
    pub fn use_pkcs12(&mut self, bytes: &[u8], secret: &[u8]) -> Result<(), Failure> {
        let f = self.f;
        // SAFETY: the BIO is alive.
        let file = f.reading(bytes, |bio| unsafe { (f.der_pkcs12)(bio, null_mut()) });
        if file.is_null() {
            return Err(f.failure());
        }
        let secret = c_text(secret);
        let (mut key, mut cert, mut others) = (null_mut(), null_mut(), null_mut());
        // SAFETY: three places for the results, which we own afterwards.
        let parsed = unsafe {
            let parsed = (f.parse_pkcs12)(file, secret.as_ptr(), &mut key, &mut cert, &mut others);
            (f.free_pkcs12)(file);
            parsed
        };
        f.checked(parsed.into())?;
        // SAFETY: the result, or null, which both functions refuse.
        let used = unsafe {
            let used = (f.use_cert)(self.context, cert);
            (f.free_cert)(cert);
            used
        };
        let used = f.checked(used.into());
        let keyed = self.own_key(key);
        // SAFETY: we own the stack and its contents; null is an empty stack.
        unsafe {
            loop {
                let other = (f.shift)(others);
                if other.is_null() {
                    break;
                }
                self.append(other);
            }
            (f.free_stack)(others);
        }
        used.and(keyed)
    }

    /// Returns whether the key belongs to the certificate.
    pub fn check_key(&mut self) -> Result<(), Failure> {
        self.f.forget_errors();
        // SAFETY: the context is our own.
        self.f.checked(unsafe { (self.f.check_key)(self.context) }.into())
    }

    /// Appends secrets to this file, in NSS's format.
    pub fn log_keys(&mut self, file: File) {
        let file = Arc::new(file);
        // SAFETY: the file's address is stable while context and connection live: both hold it.
        unsafe {
            let place = Arc::as_ptr(&file).cast_mut().cast();
            (self.f.set_context_data)(self.context, self.f.context_data, place);
            (self.f.set_key_log)(self.context, Some(log_key));
        }
        self.log = Some(file);
    }

    /// Collects new sessions for [`Connection::sessions`].
    pub fn keep_sessions(&mut self) {
        // SAFETY: the callback finds its data in the connection.
        unsafe {
            (self.f.ctrl_context)(self.context, SSL_CTRL_SET_SESS_CACHE_MODE, CLIENT_CACHE, null_mut());
            (self.f.set_new_session)(self.context, Some(keep_session));
        }
    }

    /// Creates a connection that has not sent anything. `name` is sent to the server (SNI).
    pub fn connect(self, name: Option<&str>) -> Result<Connection, Failure> {
        let f = self.f;
        f.forget_errors();
        let given = Box::<NewSessions>::default();
        // SAFETY: both BIOs go to the connection, which frees them. Its data has a stable address until
        // `drop`.
        let connection = unsafe {
            let ssl = (f.new_ssl)(self.context);
            if ssl.is_null() {
                return Err(f.failure());
            }
            let (input, output) = ((f.new_bio)((f.memory_method)()), (f.new_bio)((f.memory_method)()));
            (f.set_bio)(ssl, input, output);
            (f.be_client)(ssl);
            (f.set_data)(ssl, f.connection_data, (&raw const *given).cast_mut().cast());
            Connection { f, ssl, input, output, given, context: self }
        };
        // SAFETY: a text that is copied, and a number.
        unsafe {
            if let Some(name) = name {
                let name = c_text(name.as_bytes());
                (f.ctrl)(connection.ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, 0, name.as_ptr().cast_mut().cast());
            }
            (f.ctrl)(connection.ssl, SSL_CTRL_SET_TLSEXT_STATUS_REQ_TYPE, STATUS_TYPE_OCSP, null_mut());
        }
        Ok(connection)
    }
}

/// Calls `f` with the data that [`password`] expects.
fn with_password<T>(secret: &[u8], f: impl FnOnce(*mut c_void) -> T) -> T {
    let mut secret = secret;
    f((&raw mut secret).cast())
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: our own reference; a connection has another.
        unsafe { (self.f.free_context)(self.context) };
    }
}

/// X509_STORE: trust anchors, read once for many contexts.
pub struct Store {
    f: &'static Functions,
    store: Handle,
}

// SAFETY: as for `Context`; the library counts its owners and locks lookups.
unsafe impl Send for Store {}
// SAFETY: as above.
unsafe impl Sync for Store {}

impl Drop for Store {
    fn drop(&mut self) {
        // SAFETY: our own reference.
        unsafe { (self.f.free_store)(self.store) };
    }
}
