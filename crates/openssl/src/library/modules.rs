//! Keys outside of files: engines (engine(3), still in OpenSSL 3) and providers (provider(7)), for smart
//! cards and similar devices.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint, c_void};
use std::fmt;
use std::fs::OpenOptions;
use std::hash::{Hash, Hasher};
use std::ptr::{null, null_mut};

use once_cell::race::OnceBox;

#[cfg(unix)]
use super::open;
use super::{CRYPTO, Context, Functions, Handle, functions};
use crate::numbers::*;
use crate::{Failure, NotOpened};

type ReaderFn = unsafe extern "C" fn(Handle, Handle) -> c_int;

functions! {
    /// Functions of libcrypto for engines only: a library may be built without them.
    Engines {}
    CRYPTO {
        initialise: c"OPENSSL_init_crypto" = fn(u64, *const c_void) -> c_int;
        first: c"ENGINE_get_first" = fn() -> Handle;
        next: c"ENGINE_get_next" = fn(Handle) -> Handle;
        id: c"ENGINE_get_id" = fn(Handle) -> *const c_char;
        by_id: c"ENGINE_by_id" = fn(*const c_char) -> Handle;
        init: c"ENGINE_init" = fn(Handle) -> c_int;
        finish: c"ENGINE_finish" = fn(Handle) -> c_int;
        free: c"ENGINE_free" = fn(Handle) -> c_int;
        make_default: c"ENGINE_set_default" = fn(Handle, c_uint) -> c_int;
        control: c"ENGINE_ctrl" = fn(Handle, c_int, c_long, Handle, Handle) -> c_int;
        command: c"ENGINE_ctrl_cmd" = fn(Handle, *const c_char, c_long, Handle, Handle, c_int) -> c_int;
        load_key: c"ENGINE_load_private_key" = fn(Handle, *const c_char, Handle, *mut c_void) -> Handle;
    }
}

functions! {
    /// Functions for providers and their stores, and for PIN queries.
    Providers {}
    CRYPTO {
        new_library: c"OSSL_LIB_CTX_new" = fn() -> Handle;
        free_library: c"OSSL_LIB_CTX_free" = fn(Handle);
        configure: c"OSSL_LIB_CTX_load_config" = fn(Handle, *const c_char) -> c_int;
        is_available: c"OSSL_PROVIDER_available" = fn(Handle, *const c_char) -> c_int;
        load: c"OSSL_PROVIDER_try_load" = fn(Handle, *const c_char, c_int) -> Handle;
        unload: c"OSSL_PROVIDER_unload" = fn(Handle) -> c_int;
        open_store: c"OSSL_STORE_open_ex" =
            fn(*const c_char, Handle, *const c_char, Handle, *mut c_void, Handle, Handle, Handle) -> Handle;
        expect: c"OSSL_STORE_expect" = fn(Handle, c_int) -> c_int;
        load_next: c"OSSL_STORE_load" = fn(Handle) -> Handle;
        is_at_end: c"OSSL_STORE_eof" = fn(Handle) -> c_int;
        close_store: c"OSSL_STORE_close" = fn(Handle) -> c_int;
        key_in: c"OSSL_STORE_INFO_get1_PKEY" = fn(Handle) -> Handle;
        cert_in: c"OSSL_STORE_INFO_get1_CERT" = fn(Handle) -> Handle;
        kind_of: c"OSSL_STORE_INFO_get_type" = fn(Handle) -> c_int;
        free_info: c"OSSL_STORE_INFO_free" = fn(Handle);
        new_asking: c"UI_create_method" = fn(*const c_char) -> Handle;
        free_asking: c"UI_destroy_method" = fn(Handle);
        set_reader: c"UI_method_set_reader" = fn(Handle, Option<ReaderFn>) -> c_int;
        on_terminal: c"UI_OpenSSL" = fn() -> Handle;
        question: c"UI_get_string_type" = fn(Handle) -> c_int;
        asked_for: c"UI_get0_user_data" = fn(Handle) -> *mut c_void;
        set_answer: c"UI_set_result" = fn(Handle, Handle, *const c_char) -> c_int;
    }
}

fn engines_functions() -> Result<&'static Engines, &'static str> {
    // Without a lock, which a child forked meanwhile would find taken.
    static FOUND: OnceBox<Result<Engines, String>> = OnceBox::new();
    let load = || {
        let found = Engines::load()?;
        // SAFETY: numbers; repeated calls have no further effect.
        unsafe { (found.initialise)(OPENSSL_INIT_ENGINE_ALL_BUILTIN | OPENSSL_INIT_LOAD_CONFIG, null()) };
        Ok(found)
    };
    FOUND.get_or_init(|| Box::new(load())).as_ref().map_err(String::as_str)
}

fn provider_functions() -> Result<&'static Providers, &'static str> {
    static FOUND: OnceBox<Result<Providers, String>> = OnceBox::new();
    FOUND.get_or_init(|| Box::new(Providers::load())).as_ref().map_err(String::as_str)
}

/// Returns the names of the known engines (ENGINE_get_id(3)), without those that are only found by their
/// name.
pub fn engines() -> Vec<String> {
    let Ok(f) = engines_functions() else { return Vec::new() };
    let mut names = Vec::new();
    // SAFETY: moving to the next engine releases the reference to the previous one; an engine's name lives as
    // long as the engine.
    unsafe {
        let mut engine = (f.first)();
        while !engine.is_null() {
            names.push(CStr::from_ptr((f.id)(engine)).to_string_lossy().into_owned());
            engine = (f.next)(engine);
        }
    }
    names
}

/// An engine or a provider that is in use as long as this lives. Two of the same name are equal.
pub struct Module {
    name: String,
    kind: Kind,
}

enum Kind {
    /// An initialised ENGINE, with a functional and a structural reference.
    Engine { f: &'static Engines, engine: Handle },
    /// A library context with a loaded provider.
    Provider { f: &'static Providers, library: Library },
}

/// OSSL_LIB_CTX with its loaded providers, which are unloaded before it.
struct Library {
    f: &'static Providers,
    context: Handle,
    loaded: Vec<Handle>,
    properties: Option<CString>,
}

// SAFETY: engines and library contexts count and lock their users themselves (openssl-threads(7)).
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({:?})", self.name)
    }
}

impl PartialEq for Module {
    fn eq(&self, other: &Module) -> bool {
        (&self.name, self.is_engine()) == (&other.name, other.is_engine())
    }
}

impl Eq for Module {}

impl Hash for Module {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Module {
    /// The engine of that name or, where there is none, the provider. `name:properties` asks a provider's
    /// algorithms to have these properties.
    pub fn open(name: &str) -> Result<Module, NotOpened> {
        match Module::engine(name) {
            Err(NotOpened::NotFound(_)) => Module::provider(name),
            opened => opened,
        }
    }

    /// The engine of that name.
    pub fn engine(name: &str) -> Result<Module, NotOpened> {
        let all = functions().map_err(NotOpened::not_loaded)?;
        let f = engines_functions().map_err(NotOpened::not_loaded)?;
        all.forget_errors();
        // SAFETY: a text that lives until the call returns.
        let engine = unsafe { (f.by_id)(c_text(name.as_bytes()).as_ptr()) };
        if engine.is_null() {
            return Err(NotOpened::NotFound(all.failure()));
        }
        // SAFETY: we hold a reference to the engine, and release it if it cannot be used.
        unsafe {
            if (f.init)(engine) != 1 {
                let failure = all.failure();
                (f.free)(engine);
                return Err(NotOpened::NotInitialised(failure));
            }
        }
        Ok(Module { name: name.to_owned(), kind: Kind::Engine { f, engine } })
    }

    /// Opens the provider of that name, in a library context of its own.
    pub fn provider(name: &str) -> Result<Module, NotOpened> {
        let (provider, properties) = match name.split_once(':') {
            Some((provider, properties)) => (provider, Some(c_text(properties.as_bytes()))),
            None => (name, None),
        };
        if provider.is_empty() || provider.len() > MAX_PROVIDER_NAME {
            return Err(NotOpened::BadName);
        }
        let all = functions().map_err(NotOpened::not_loaded)?;
        let f = provider_functions().map_err(NotOpened::not_loaded)?;
        all.forget_errors();
        // SAFETY: no arguments; its owner frees the result on drop.
        let context = unsafe { (f.new_library)() };
        if context.is_null() {
            return Err(NotOpened::NotInitialised(all.failure()));
        }
        let mut library = Library { f, context, loaded: Vec::new(), properties };
        let wanted = c_text(provider.as_bytes());
        // SAFETY: the context has just been made; NULL is the system's own configuration, and that there is
        // none is no fault.
        let available = unsafe {
            (f.configure)(context, null());
            (f.is_available)(context, wanted.as_ptr()) == 1
        };
        // The base provider is needed in addition: without it no file can be read.
        for name in [&*wanted, c"base"].into_iter().filter(|_| !available) {
            all.forget_errors();
            // SAFETY: the text lives until the call returns; the provider stays in the library context until
            // that is dropped.
            match unsafe { (f.load)(context, name.as_ptr(), 1) } {
                loaded if loaded.is_null() => return Err(NotOpened::NotFound(all.failure())),
                loaded => library.loaded.push(loaded),
            }
        }
        all.forget_errors();
        Ok(Module { name: name.to_owned(), kind: Kind::Provider { f, library } })
    }

    /// Returns the name as requested.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn is_engine(&self) -> bool {
        matches!(self.kind, Kind::Engine { .. })
    }

    /// Makes the engine the default of the process (ENGINE_set_default(3)). Providers do not support this.
    pub fn make_default(&self) -> Result<(), Failure> {
        let Kind::Engine { f, engine } = self.kind else { return Ok(()) };
        let all = functions().map_err(Failure::not_loaded)?;
        all.forget_errors();
        // SAFETY: the engine is in use.
        all.checked(unsafe { (f.make_default)(engine, ENGINE_METHOD_ALL) }.into())
    }

    /// SSL_CTX_new_ex(3): in the provider's library context, or in the process's own.
    pub(super) fn new_context(&self, all: &Functions) -> Handle {
        // SAFETY: the library context lives as long as the module, which the context's owner keeps;
        // properties are copied.
        unsafe {
            match &self.kind {
                Kind::Engine { .. } => (all.new_context)((all.method)()),
                Kind::Provider { library, .. } => {
                    (all.new_context_in)(library.context, library.properties(), (all.method)())
                }
            }
        }
    }

    /// The certificate of that name: an engine's own, or a URI.
    fn certificate(&self, all: &Functions, id: &str, secret: &[u8]) -> Result<Handle, Failure> {
        match &self.kind {
            Kind::Engine { f, engine } => {
                let id = c_text(id.as_bytes());
                let mut wanted = LoadCert { id: id.as_ptr(), cert: null_mut() };
                let name = c"LOAD_CERT_CTRL".as_ptr();
                all.forget_errors();
                // SAFETY: the command's argument is a text and a place after it; we own the engine.
                unsafe {
                    let known = (f.control)(
                        *engine,
                        ENGINE_CTRL_GET_CMD_FROM_NAME,
                        0,
                        name.cast_mut().cast(),
                        null_mut(),
                    );
                    if known <= 0 {
                        let text = "ssl engine does not support loading certificates".to_owned();
                        return Err(Failure { code: 0, text });
                    }
                    let place = (&raw mut wanted).cast();
                    all.checked((f.command)(*engine, name, 0, place, null_mut(), 1).into())?;
                }
                Ok(wanted.cert)
            }
            Kind::Provider { f, library } => library.stored(all, id, secret, OSSL_STORE_INFO_CERT, f.cert_in),
        }
    }

    /// The private key of that name.
    fn key(&self, all: &Functions, id: &str, secret: &[u8]) -> Result<Handle, Failure> {
        match &self.kind {
            Kind::Engine { f, engine } => {
                let asked = provider_functions().map_err(Failure::not_loaded)?;
                let id = c_text(id.as_bytes());
                all.forget_errors();
                // SAFETY: a text and the way to ask for a PIN, both of which live until the call returns.
                let key = asking(asked, secret, |method, user| unsafe {
                    (f.load_key)(*engine, id.as_ptr(), method, user)
                });
                if key.is_null() { Err(all.failure()) } else { Ok(key) }
            }
            Kind::Provider { f, library } => library.stored(all, id, secret, OSSL_STORE_INFO_PKEY, f.key_in),
        }
    }
}

/// Argument of LOAD_CERT_CTRL: the certificate's name, and a place for it.
#[repr(C)]
struct LoadCert {
    id: *const c_char,
    cert: Handle,
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Kind::Engine { f, engine } = self.kind {
            // SAFETY: our own two references.
            unsafe {
                (f.finish)(engine);
                (f.free)(engine);
            }
        }
    }
}

impl Library {
    fn properties(&self) -> *const c_char {
        self.properties.as_ref().map_or(null(), |text| text.as_ptr())
    }

    /// Returns the first object of that kind at a URI (ossl_store(7)).
    fn stored(
        &self,
        all: &Functions,
        uri: &str,
        secret: &[u8],
        kind: c_int,
        get: unsafe extern "C" fn(Handle) -> Handle,
    ) -> Result<Handle, Failure> {
        let f = self.f;
        let uri = c_text(uri.as_bytes());
        all.forget_errors();
        // SAFETY: the texts and the PIN callback live until the store is closed. Loaded objects are freed,
        // and the result is our own reference.
        asking(f, secret, |method, user| unsafe {
            let none = null_mut();
            let store =
                (f.open_store)(uri.as_ptr(), self.context, self.properties(), method, user, none, none, none);
            if store.is_null() {
                return Err(all.failure());
            }
            (f.expect)(store, kind);
            let mut found: Handle = null_mut();
            for _ in 0..MAX_STORED {
                if !found.is_null() || (f.is_at_end)(store) != 0 {
                    break;
                }
                let info = (f.load_next)(store);
                if !info.is_null() {
                    if (f.kind_of)(info) == kind {
                        found = get(info);
                    }
                    (f.free_info)(info);
                }
            }
            let failure = all.failure();
            (f.close_store)(store);
            if found.is_null() { Err(failure) } else { Ok(found) }
        })
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: our own; providers go before the context in which they were loaded.
        unsafe {
            while let Some(loaded) = self.loaded.pop() {
                (self.f.unload)(loaded);
            }
            (self.f.free_library)(self.context);
        }
    }
}

/// Calls `f` with the way to ask for a PIN: a given PIN is used, otherwise the terminal asks, if there is
/// one. Standard input belongs to the program.
fn asking<T>(f: &Providers, secret: &[u8], ask: impl FnOnce(Handle, *mut c_void) -> T) -> T {
    let terminal = || OpenOptions::new().read(true).write(true).open("/dev/tty").is_ok();
    if secret.is_empty() && terminal() {
        // SAFETY: a constant of the library's.
        return ask(unsafe { (f.on_terminal)() }, null_mut());
    }
    let mut secret = (!secret.is_empty()).then(|| c_text(secret));
    // SAFETY: the method and its data live until `ask` returns, which keeps neither.
    unsafe {
        let method = (f.new_asking)(c"PIN".as_ptr());
        (f.set_reader)(method, Some(answer));
        let done = ask(method, (&raw mut secret).cast());
        (f.free_asking)(method);
        done
    }
}

/// Answers a query with the PIN passed to [`asking`]; without one the query fails.
unsafe extern "C" fn answer(asked: Handle, question: Handle) -> c_int {
    let Ok(f) = provider_functions() else { return 0 };
    // SAFETY: both are alive during this call, and the data is what `asking` passed.
    unsafe {
        if !matches!((f.question)(question), UIT_PROMPT | UIT_VERIFY) {
            return 1; // a message, not a query
        }
        let secret = (f.asked_for)(asked).cast::<Option<CString>>().as_ref();
        match secret.and_then(Option::as_ref) {
            Some(secret) => c_int::from((f.set_answer)(asked, question, secret.as_ptr()) >= 0),
            None => 0,
        }
    }
}

impl Context {
    /// The client's certificate, which a module has.
    pub fn use_certificate_of(&mut self, module: &Module, id: &str, secret: &[u8]) -> Result<(), Failure> {
        let cert = module.certificate(self.f, id, secret)?;
        if cert.is_null() {
            return Err(Failure { code: 0, text: "no certificate was given".to_owned() });
        }
        // SAFETY: a certificate of our own; the context takes a reference.
        let used = unsafe {
            let used = (self.f.use_cert)(self.context, cert);
            (self.f.free_cert)(cert);
            used
        };
        self.f.checked(used.into())
    }

    /// Uses a key of the module, which does not export it, for the client's certificate.
    pub fn use_key_of(&mut self, module: &Module, id: &str, secret: &[u8]) -> Result<(), Failure> {
        let key = module.key(self.f, id, secret)?;
        self.own_key(key)
    }
}
