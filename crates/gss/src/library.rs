//! The interface to `libgssapi_krb5.so.2`: its functions, found by dlopen(3) and kept for the life of the
//! process, and [`Context`] on top of them. All unsafe code of this crate is here.
//!
//! Invariants: a buffer that the library fills is released by the library (`Filled`); every name, credential
//! and context is released when its owner is dropped; descriptors passed in point at memory that outlives the
//! call.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

#[cfg(unix)]
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use once_cell::race::OnceBox;

use crate::oid::{HOST_BASED_SERVICE, NTLM};
use crate::{Delegation, Error, Mechanism, Protection, Step, Target};

/// The name under which MIT Kerberos' library has been installed since 2004.
const SONAME: &str = "libgssapi_krb5.so.2";

/// Maximum number of texts for one status, in case a library never ends the list.
const MAX_MESSAGES: usize = 8;

const GSS_S_CONTINUE_NEEDED: u32 = 1;
/// GSS_ERROR of the header: calling and routine errors are in the upper half.
const ERRORS: u32 = 0xffff_0000;
const GSS_C_INITIATE: c_int = 1;
const GSS_C_GSS_CODE: c_int = 1;
const GSS_C_MECH_CODE: c_int = 2;
const GSS_C_DELEG_FLAG: u32 = 1;
const GSS_C_MUTUAL_FLAG: u32 = 2;
const GSS_C_REPLAY_FLAG: u32 = 4;
const GSS_C_SEQUENCE_FLAG: u32 = 8;
const GSS_C_CONF_FLAG: u32 = 16;
const GSS_C_INTEG_FLAG: u32 = 32;
const GSS_C_DELEG_POLICY_FLAG: u32 = 32768;

/// gss_OID_desc.
#[repr(C)]
struct Oid {
    length: u32,
    elements: *const c_void,
}

impl Oid {
    fn of(bytes: &'static [u8]) -> Oid {
        Oid { length: bytes.len() as u32, elements: bytes.as_ptr().cast() }
    }
}

/// gss_OID_set_desc.
#[repr(C)]
struct OidSet {
    count: usize,
    elements: *const Oid,
}

/// gss_buffer_desc.
#[repr(C)]
struct Buffer {
    length: usize,
    value: *const c_void,
}

impl Buffer {
    const EMPTY: Buffer = Buffer { length: 0, value: null() };

    fn of(bytes: &[u8]) -> Buffer {
        Buffer { length: bytes.len(), value: bytes.as_ptr().cast() }
    }
}

/// struct gss_channel_bindings_struct.
#[repr(C)]
struct ChannelBindings {
    initiator_type: u32,
    initiator: Buffer,
    acceptor_type: u32,
    acceptor: Buffer,
    application: Buffer,
}

/// gss_name_t, gss_cred_id_t and gss_ctx_id_t: opaque pointers.
type Handle = *mut c_void;

macro_rules! functions {
    ($($field:ident: $symbol:literal = fn($($argument:ty),* $(,)?);)*) => {
        /// The library's functions. All return a major status and set the minor one, their first argument.
        struct Functions {
            $($field: unsafe extern "C" fn(*mut u32, $($argument),*) -> u32,)*
        }

        impl Functions {
            /// Loads the library of this name and finds all of its functions.
            #[cfg(unix)]
            fn load(name: &str) -> Result<Functions, String> {
                // SAFETY: its initialisers are those of a system library that any program may link.
                let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| error.to_string())?;
                let functions = Functions {
                    // SAFETY: the function of this name has had this type since RFC 2744 (gss_set_neg_mechs
                    // since MIT Kerberos 1.8).
                    $($field: *unsafe { library.get($symbol.to_bytes_with_nul()) }.map_err(|error| error.to_string())?,)*
                };
                std::mem::forget(library); // the functions stay where they are
                Ok(functions)
            }

            /// Windows has its own interface (SSPI), which is not supported: no library is loaded.
            #[cfg(windows)]
            fn load(name: &str) -> Result<Functions, String> {
                Err(format!("{name} is not looked for on Windows"))
            }
        }
    };
}

functions! {
    import_name: c"gss_import_name" = fn(*const Buffer, *const Oid, *mut Handle);
    release_name: c"gss_release_name" = fn(*mut Handle);
    display_name: c"gss_display_name" = fn(Handle, *mut Buffer, *mut *const Oid);
    indicate_mechs: c"gss_indicate_mechs" = fn(*mut *mut OidSet);
    release_oid_set: c"gss_release_oid_set" = fn(*mut *mut OidSet);
    acquire_cred: c"gss_acquire_cred" =
        fn(Handle, u32, *const OidSet, c_int, *mut Handle, *mut *mut OidSet, *mut u32);
    inquire_cred: c"gss_inquire_cred" = fn(Handle, *mut Handle, *mut u32, *mut c_int, *mut *mut OidSet);
    set_neg_mechs: c"gss_set_neg_mechs" = fn(Handle, *const OidSet);
    release_cred: c"gss_release_cred" = fn(*mut Handle);
    init_sec_context: c"gss_init_sec_context" = fn(
        Handle, *mut Handle, Handle, *const Oid, u32, u32, *const ChannelBindings, *const Buffer, *mut *const Oid,
        *mut Buffer, *mut u32, *mut u32,
    );
    inquire_context: c"gss_inquire_context" =
        fn(Handle, *mut Handle, *mut Handle, *mut u32, *mut *const Oid, *mut u32, *mut c_int, *mut c_int);
    delete_sec_context: c"gss_delete_sec_context" = fn(*mut Handle, *mut Buffer);
    wrap: c"gss_wrap" = fn(Handle, c_int, u32, *const Buffer, *mut c_int, *mut Buffer);
    unwrap: c"gss_unwrap" = fn(Handle, *const Buffer, *mut Buffer, *mut c_int, *mut u32);
    display_status: c"gss_display_status" = fn(u32, c_int, *const Oid, *mut u32, *mut Buffer);
    release_buffer: c"gss_release_buffer" = fn(*mut Buffer);
}

/// Returns the library's functions, loading them on first use.
fn functions() -> Result<&'static Functions, Error> {
    // Without a lock, which a child forked meanwhile would find taken.
    static LIBRARY: OnceBox<Result<Functions, String>> = OnceBox::new();
    let library = LIBRARY.get_or_init(|| Box::new(Functions::load(SONAME)));
    library.as_ref().map_err(|text| Error::Absent(text.clone()))
}

/// Returns the name of the user whose tickets this process uses by default. Reads the ticket cache.
pub fn default_user() -> Result<String, Error> {
    functions()?.default_user()
}

impl Functions {
    /// Returns the library's texts for both status numbers, each ended by a full stop.
    fn texts(&self, mechanism: Mechanism, major: u32, minor: u32) -> String {
        let mut out = String::new();
        for (status, kind) in [(major, GSS_C_GSS_CODE), (minor, GSS_C_MECH_CODE)] {
            // A minor status of 0 has no useful text ("Unknown error").
            if status != 0 {
                self.messages(mechanism, status, kind, &mut out);
            }
        }
        out
    }

    fn messages(&self, mechanism: Mechanism, status: u32, kind: c_int, out: &mut String) {
        let mechanism = Oid::of(mechanism.oid());
        let (mut minor, mut position) = (0, 0);
        for _ in 0..MAX_MESSAGES {
            let mut text = Filled::new(self);
            // SAFETY: all pointers are to locals; `position` starts at 0 and is the library's from then on.
            let major = unsafe {
                (self.display_status)(&mut minor, status, kind, &mechanism, &mut position, &mut text.buffer)
            };
            if major & ERRORS != 0 {
                return;
            }
            *out += &String::from_utf8_lossy(text.bytes());
            *out += ". ";
            if position == 0 {
                return;
            }
        }
    }

    /// Acquires the credential that this process uses by default. The caller releases it.
    fn default_credential(&self, mechanism: Mechanism) -> Result<Handle, Error> {
        let oid = Oid::of(mechanism.oid());
        let set = OidSet { count: 1, elements: &oid };
        let (mut minor, mut credential) = (0, null_mut());
        // SAFETY: no name means the default one; the set is live, and the place is a local's.
        let major = unsafe {
            let (no_set, no_time) = (null_mut(), null_mut());
            (self.acquire_cred)(
                &mut minor,
                null_mut(),
                u32::MAX,
                &set,
                GSS_C_INITIATE,
                &mut credential,
                no_set,
                no_time,
            )
        };
        self.checked("gss_acquire_cred", mechanism, (major, minor))?;
        Ok(credential)
    }

    /// Returns the user name of a credential.
    fn user_of(&self, credential: Handle, mechanism: Mechanism) -> Result<String, Error> {
        let (mut minor, mut name) = (0, null_mut());
        // SAFETY: the caller's credential is live; only the name is wanted.
        let major = unsafe {
            let (no_time, no_usage) = (null_mut(), null_mut());
            (self.inquire_cred)(&mut minor, credential, &mut name, no_time, no_usage, null_mut())
        };
        self.checked("gss_inquire_cred", mechanism, (major, minor))?;
        self.display(name, mechanism)
    }

    /// Returns the text of a name, and releases the name.
    fn display(&self, mut name: Handle, mechanism: Mechanism) -> Result<String, Error> {
        let (mut minor, mut text) = (0, Filled::new(self));
        // SAFETY: `name` was created above; it is released whatever display_name returns.
        let major = unsafe {
            let major = (self.display_name)(&mut minor, name, &mut text.buffer, null_mut());
            (self.release_name)(&mut 0, &mut name);
            major
        };
        self.checked("gss_display_name", mechanism, (major, minor))?;
        Ok(String::from_utf8_lossy(text.bytes()).into_owned())
    }

    /// Returns the user name of the default tickets.
    fn default_user(&self) -> Result<String, Error> {
        let mut credential = self.default_credential(Mechanism::Spnego)?;
        let user = self.user_of(credential, Mechanism::Spnego);
        // SAFETY: the credential was created above, and nothing else refers to it.
        unsafe { (self.release_cred)(&mut 0, &mut credential) };
        user
    }

    fn checked(
        &self,
        call: &'static str,
        mechanism: Mechanism,
        (major, minor): (u32, u32),
    ) -> Result<(), Error> {
        if major & ERRORS == 0 {
            return Ok(());
        }
        Err(Error::Failed { call, text: self.texts(mechanism, major, minor) })
    }
}

/// A buffer that the library fills.
struct Filled<'a> {
    functions: &'a Functions,
    buffer: Buffer,
}

impl<'a> Filled<'a> {
    fn new(functions: &'a Functions) -> Filled<'a> {
        Filled { functions, buffer: Buffer::EMPTY }
    }

    fn bytes(&self) -> &[u8] {
        if self.buffer.value.is_null() {
            return &[];
        }
        // SAFETY: the library set both fields to its allocation, which lives until it is released on drop.
        unsafe { std::slice::from_raw_parts(self.buffer.value.cast(), self.buffer.length) }
    }
}

impl Drop for Filled<'_> {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: the buffer is empty or the library's own; releasing sets it to empty.
        unsafe { (self.functions.release_buffer)(&mut minor, &mut self.buffer) };
    }
}

/// The client's side of a security context with one service.
pub struct Context {
    functions: &'static Functions,
    mechanism: Mechanism,
    flags: u32,
    /// Flags of the context after its last step.
    granted: u32,
    bindings: Option<Vec<u8>>,
    target: Handle,
    credential: Handle,
    context: Handle,
    steps: u32,
}

// SAFETY: the library's objects belong to no thread; RFC 2744 and MIT Kerberos' manual ("Thread safety") only
// forbid using one of them from two threads at once, which `&mut self` or a single owner rules out.
unsafe impl Send for Context {}

impl Context {
    /// Creates a context with `service` on `host`. The user is the owner of this process's tickets.
    pub fn new(
        service: &str,
        host: &str,
        mechanism: Mechanism,
        delegation: Delegation,
    ) -> Result<Context, Error> {
        Context::with(&Target::Service(service, host), mechanism, delegation)
    }

    /// Creates a context with the given target.
    pub fn with(target: &Target, mechanism: Mechanism, delegation: Delegation) -> Result<Context, Error> {
        Context::by(functions()?, target, mechanism, delegation)
    }

    fn by(
        functions: &'static Functions,
        target: &Target,
        mechanism: Mechanism,
        delegation: Delegation,
    ) -> Result<Context, Error> {
        let mut context = Context {
            functions,
            mechanism,
            flags: GSS_C_MUTUAL_FLAG | GSS_C_REPLAY_FLAG | delegation_flag(delegation),
            granted: 0,
            bindings: None,
            target: null_mut(),
            credential: null_mut(),
            context: null_mut(),
            steps: 0,
        };
        match target {
            Target::Service(service, host) => context.name_target(&format!("{service}@{host}"), true)?,
            Target::Principal(name) => context.name_target(name, false)?,
        }
        if mechanism == Mechanism::Spnego {
            context.exclude_ntlm()?;
        }
        Ok(context)
    }

    /// Binds the context to the channel it is made on (RFC 5056), named by these octets.
    pub fn bind(&mut self, channel: Vec<u8>) {
        self.bindings = Some(channel);
    }

    /// Requests a context whose messages can be signed, encrypted and checked for their order.
    pub fn protect_messages(&mut self) {
        self.flags |= GSS_C_SEQUENCE_FLAG | GSS_C_CONF_FLAG | GSS_C_INTEG_FLAG;
    }

    /// Returns the protection that an established context supports.
    pub fn protection(&self) -> Protection {
        match self.granted {
            granted if granted & GSS_C_CONF_FLAG != 0 => Protection::Confidential,
            granted if granted & GSS_C_INTEG_FLAG != 0 => Protection::Signed,
            _ => Protection::None,
        }
    }

    /// Whether anything has been said yet.
    pub fn is_fresh(&self) -> bool {
        self.steps == 0
    }

    fn name_target(&mut self, name: &str, of_service: bool) -> Result<(), Error> {
        let (name, service) = (Buffer::of(name.as_bytes()), Oid::of(HOST_BASED_SERVICE));
        let kind = if of_service { &service as *const Oid } else { null() };
        let mut minor = 0;
        // SAFETY: descriptors of live memory, no kind meaning the mechanism's own form of names, and a place
        // for the name, which `drop` releases.
        let major = unsafe { (self.functions.import_name)(&mut minor, &name, kind, &mut self.target) };
        self.functions.checked("gss_import_name", self.mechanism, (major, minor))
    }

    /// Excludes NTLM from SPNEGO, because it gives any peer a hash of the password: if a package provides
    /// NTLM, only the other mechanisms are negotiated.
    fn exclude_ntlm(&mut self) -> Result<(), Error> {
        if !self.functions.offers(NTLM) {
            return Ok(());
        }
        self.acquire()?;
        let kerberos = Oid::of(Mechanism::Kerberos.oid());
        let only = OidSet { count: 1, elements: &kerberos };
        let (f, mut minor) = (self.functions, 0);
        // SAFETY: the credential has just been made; the library copies the set.
        let major = unsafe { (f.set_neg_mechs)(&mut minor, self.credential, &only) };
        f.checked("gss_set_neg_mechs", self.mechanism, (major, minor))
    }

    /// Acquires the default credential unless the context has one.
    fn acquire(&mut self) -> Result<(), Error> {
        if !self.credential.is_null() {
            return Ok(());
        }
        self.credential = self.functions.default_credential(self.mechanism)?;
        Ok(())
    }

    /// Returns the user name of the tickets that the context uses. A context that has not started keeps these
    /// tickets, even if the ticket cache is replaced.
    pub fn credential_user(&mut self) -> Result<String, Error> {
        self.acquire()?;
        self.functions.user_of(self.credential, self.mechanism)
    }

    /// Processes the peer's token (`None` at the start) and returns the next one.
    pub fn step(&mut self, token: Option<&[u8]>) -> Result<Step, Error> {
        self.steps += 1;
        let (f, mechanism) = (self.functions, Oid::of(self.mechanism.oid()));
        let (mut minor, mut answer) = (0, Filled::new(f));
        let input = token.map(Buffer::of);
        let input = input.as_ref().map_or(null(), |input| input as *const Buffer);
        let channel = self.bindings.as_deref().map(|octets| ChannelBindings {
            initiator_type: 0,
            initiator: Buffer::EMPTY,
            acceptor_type: 0,
            acceptor: Buffer::EMPTY,
            application: Buffer::of(octets),
        });
        let channel = channel.as_ref().map_or(null(), |channel| channel as *const ChannelBindings);
        // SAFETY: credential, name and context belong to this object or are null (default credential, new
        // context); descriptors and bindings live until the call returns; unused results are null.
        let major = unsafe {
            (f.init_sec_context)(
                &mut minor,
                self.credential,
                &mut self.context,
                self.target,
                &mechanism,
                self.flags,
                0,
                channel,
                input,
                null_mut(),
                &mut answer.buffer,
                &mut self.granted,
                null_mut(),
            )
        };
        f.checked("gss_init_sec_context", self.mechanism, (major, minor))?;
        let answer = answer.bytes().to_vec();
        let unfinished = major & GSS_S_CONTINUE_NEEDED != 0;
        Ok(if unfinished { Step::Continue(answer) } else { Step::Complete(answer) })
    }

    /// Returns our own user name in this context.
    pub fn user(&mut self) -> Result<String, Error> {
        let (f, mut minor, mut name) = (self.functions, 0, null_mut());
        let nothing = null_mut();
        // SAFETY: the context belongs to this object or is null, which the library refuses; only the first
        // name is requested.
        let major = unsafe {
            (f.inquire_context)(
                &mut minor,
                self.context,
                &mut name,
                nothing,
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
            )
        };
        f.checked("gss_inquire_context", self.mechanism, (major, minor))?;
        f.display(name, self.mechanism)
    }

    /// Signs a message, and encrypts it when it is to be `confidential`.
    pub fn wrap(&mut self, message: &[u8], confidential: bool) -> Result<Vec<u8>, Error> {
        let (f, mut minor, mut out) = (self.functions, 0, Filled::new(self.functions));
        let (message, asked, mut done) = (Buffer::of(message), c_int::from(confidential), 0);
        // SAFETY: the context is this object's own or null, which the library refuses.
        let major =
            unsafe { (f.wrap)(&mut minor, self.context, asked, 0, &message, &mut done, &mut out.buffer) };
        f.checked("gss_wrap", self.mechanism, (major, minor))?;
        if confidential && done == 0 {
            return Err(Error::Failed {
                call: "gss_wrap",
                text: "the message is not encrypted. ".to_owned(),
            });
        }
        Ok(out.bytes().to_vec())
    }

    /// Opens a message that the peer has signed. Returns its content and whether it was encrypted, too.
    /// Refuses a message that has arrived before, or out of order.
    pub fn unwrap(&mut self, message: &[u8]) -> Result<(Vec<u8>, bool), Error> {
        let (f, mut minor, mut out) = (self.functions, 0, Filled::new(self.functions));
        let (message, mut confidential) = (Buffer::of(message), 0);
        // SAFETY: the context is this object's own or null, which the library refuses.
        let major = unsafe {
            (f.unwrap)(&mut minor, self.context, &message, &mut out.buffer, &mut confidential, null_mut())
        };
        f.checked("gss_unwrap", self.mechanism, (major, minor))?;
        if major != 0 {
            return Err(Error::Failed { call: "gss_unwrap", text: f.texts(self.mechanism, major, minor) });
        }
        Ok((out.bytes().to_vec(), confidential != 0))
    }
}

impl Functions {
    /// Whether a mechanism is installed.
    fn offers(&self, mechanism: &[u8]) -> bool {
        let (mut minor, mut set) = (0, null_mut::<OidSet>());
        // SAFETY: a place for the set, which is released below.
        let major = unsafe { (self.indicate_mechs)(&mut minor, &mut set) };
        if major & ERRORS != 0 || set.is_null() {
            return false;
        }
        // SAFETY: the library made the set: `elements` are `count` descriptors, each of `length` octets.
        unsafe {
            let oids = std::slice::from_raw_parts((*set).elements, (*set).count);
            let found = oids.iter().any(|oid| {
                std::slice::from_raw_parts(oid.elements.cast::<u8>(), oid.length as usize) == mechanism
            });
            (self.release_oid_set)(&mut minor, &mut set);
            found
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let (f, mut minor) = (self.functions, 0);
        // SAFETY: each belongs to this object or is null, and is not used afterwards. No final token is
        // requested.
        unsafe {
            if !self.context.is_null() {
                (f.delete_sec_context)(&mut minor, &mut self.context, null_mut());
            }
            if !self.credential.is_null() {
                (f.release_cred)(&mut minor, &mut self.credential);
            }
            if !self.target.is_null() {
                (f.release_name)(&mut minor, &mut self.target);
            }
        }
    }
}

fn delegation_flag(delegation: Delegation) -> u32 {
    match delegation {
        Delegation::Never => 0,
        Delegation::ByPolicy => GSS_C_DELEG_POLICY_FLAG,
        Delegation::Always => GSS_C_DELEG_FLAG,
    }
}

#[cfg(test)]
mod tests;
