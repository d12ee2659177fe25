//! A fake library in Rust that follows RFC 2744's ownership rules, so that Miri checks our side of them; and
//! broken libraries.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

// dlopen, which Miri does not know.
#[cfg(not(miri))]
#[test]
fn a_library_that_is_not_there_is_an_error() {
    let message = Functions::load("libno-such-thing.so.0").err().unwrap();
    assert!(message.contains("libno-such-thing.so.0"), "{message}");
    let shown = Error::Absent(message.clone()).to_string();
    assert_eq!(shown, format!("GSS-API is not there: {message}"));
}

#[cfg(not(miri))]
#[test]
fn a_library_that_lacks_functions_is_an_error() {
    let message = Functions::load("libc.so.6").err().unwrap();
    assert!(message.contains("gss_import_name"), "{message}");
}

const COMPLETE: u32 = 0;
/// GSS_S_BAD_MECH, as a routine error.
const BAD: u32 = 1 << 16;

/// Number of live names, credentials, contexts, sets and buffers; COUNTING serializes the tests that use it.
static LIVING: Mutex<isize> = Mutex::new(0);
static COUNTING: Mutex<()> = Mutex::new(());
static OFFERS_NTLM: AtomicBool = AtomicBool::new(true);

fn count(change: isize) -> isize {
    let mut living = LIVING.lock().unwrap();
    *living += change;
    *living
}

fn made<T>(value: T) -> *mut T {
    count(1);
    Box::into_raw(Box::new(value))
}

/// SAFETY: `place` holds a pointer from `made`, or null.
unsafe fn end<T>(place: *mut *mut T) {
    // SAFETY: the caller's promise.
    unsafe {
        assert!(!(*place).is_null());
        drop(Box::from_raw(*place));
        *place = null_mut();
    }
    count(-1);
}

/// SAFETY: a descriptor of living memory.
unsafe fn octets<'a>(buffer: *const Buffer) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe {
        match (*buffer).length {
            0 => &[],
            length => std::slice::from_raw_parts((*buffer).value.cast(), length),
        }
    }
}

/// SAFETY: as above.
unsafe fn oid<'a>(oid: *const Oid) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts((*oid).elements.cast(), (*oid).length as usize) }
}

/// SAFETY: a place for a buffer.
unsafe fn fill(place: *mut Buffer, bytes: &[u8]) {
    let (length, value) = (bytes.len(), Box::into_raw(bytes.to_vec().into_boxed_slice()));
    count(1);
    // SAFETY: the caller's promise.
    unsafe { place.write(Buffer { length, value: value.cast_const().cast() }) };
}

#[repr(C)]
struct Set {
    #[allow(dead_code)] // by its address, which is the whole's
    set: OidSet,
    _oids: Vec<Oid>,
}

struct Conversation {
    steps: u32,
}

/// The pointers are as RFC 2744 requires: that is what is tested.
#[allow(clippy::undocumented_unsafe_blocks)]
mod fake {
    use super::*;

    pub unsafe extern "C" fn import_name(
        minor: *mut u32,
        name: *const Buffer,
        kind: *const Oid,
        out: *mut Handle,
    ) -> u32 {
        unsafe {
            *minor = 0;
            let name = String::from_utf8(octets(name).to_vec()).unwrap();
            if name.starts_with("bad") {
                *minor = 7;
                return BAD;
            }
            assert!(kind.is_null() || oid(kind) == HOST_BASED_SERVICE);
            *out = made(name).cast();
        }
        COMPLETE
    }

    pub unsafe extern "C" fn release_name(_: *mut u32, name: *mut Handle) -> u32 {
        unsafe { end(name.cast::<*mut String>()) };
        COMPLETE
    }

    pub unsafe extern "C" fn display_name(
        _: *mut u32,
        name: Handle,
        out: *mut Buffer,
        _: *mut *const Oid,
    ) -> u32 {
        unsafe { fill(out, (*name.cast::<String>()).as_bytes()) };
        COMPLETE
    }

    pub unsafe extern "C" fn indicate_mechs(_: *mut u32, out: *mut *mut OidSet) -> u32 {
        let names: &[&'static [u8]] = match OFFERS_NTLM.load(Ordering::Relaxed) {
            true => &[Mechanism::Kerberos.oid(), NTLM],
            false => &[Mechanism::Kerberos.oid()],
        };
        let oids: Vec<Oid> = names.iter().map(|name| Oid::of(name)).collect();
        let set = OidSet { count: oids.len(), elements: oids.as_ptr() };
        unsafe { *out = made(Set { set, _oids: oids }).cast() };
        COMPLETE
    }

    pub unsafe extern "C" fn release_oid_set(_: *mut u32, set: *mut *mut OidSet) -> u32 {
        unsafe { end(set.cast::<*mut Set>()) };
        COMPLETE
    }

    pub unsafe extern "C" fn acquire_cred(
        _: *mut u32,
        name: Handle,
        _: u32,
        mechanisms: *const OidSet,
        _: c_int,
        out: *mut Handle,
        _: *mut *mut OidSet,
        _: *mut u32,
    ) -> u32 {
        unsafe {
            assert!(name.is_null() && (*mechanisms).count == 1);
            assert_eq!(oid((*mechanisms).elements), Mechanism::Spnego.oid());
            *out = made(0_u8).cast();
        }
        COMPLETE
    }

    pub unsafe extern "C" fn inquire_cred(
        _: *mut u32,
        credential: Handle,
        name: *mut Handle,
        _: *mut u32,
        _: *mut c_int,
        _: *mut *mut OidSet,
    ) -> u32 {
        assert!(!credential.is_null());
        unsafe { *name = made("user@REALM".to_owned()).cast() };
        COMPLETE
    }

    pub unsafe extern "C" fn set_neg_mechs(_: *mut u32, cred: Handle, set: *const OidSet) -> u32 {
        unsafe {
            assert_eq!(*cred.cast::<u8>(), 0);
            assert_eq!(oid((*set).elements), Mechanism::Kerberos.oid());
        }
        COMPLETE
    }

    pub unsafe extern "C" fn release_cred(_: *mut u32, cred: *mut Handle) -> u32 {
        unsafe { end(cred.cast::<*mut u8>()) };
        COMPLETE
    }

    /// Two steps, the second with the other side's token and the same bindings.
    pub unsafe extern "C" fn init_sec_context(
        minor: *mut u32,
        _: Handle,
        context: *mut Handle,
        name: Handle,
        mechanism: *const Oid,
        flags: u32,
        _: u32,
        bindings: *const ChannelBindings,
        input: *const Buffer,
        _: *mut *const Oid,
        out: *mut Buffer,
        granted: *mut u32,
        _: *mut u32,
    ) -> u32 {
        unsafe {
            *minor = 0;
            assert!(!oid(mechanism).is_empty() && (*name.cast::<String>()).contains("host"));
            assert_eq!(octets(&raw const (*bindings).application), b"channel");
            if (*context).is_null() {
                assert!(input.is_null());
                *context = made(Conversation { steps: 0 }).cast();
            }
            let conversation = &mut *(*context).cast::<Conversation>();
            conversation.steps += 1;
            if conversation.steps == 1 {
                fill(out, b"hello");
                return GSS_S_CONTINUE_NEEDED;
            }
            if octets(input) != b"server" {
                *minor = 3;
                return BAD;
            }
            *granted = flags;
        }
        COMPLETE
    }

    pub unsafe extern "C" fn inquire_context(
        _: *mut u32,
        context: Handle,
        source: *mut Handle,
        _: *mut Handle,
        _: *mut u32,
        _: *mut *const Oid,
        _: *mut u32,
        _: *mut c_int,
        _: *mut c_int,
    ) -> u32 {
        if context.is_null() {
            return BAD;
        }
        unsafe { *source = made("user@REALM".to_owned()).cast() };
        COMPLETE
    }

    pub unsafe extern "C" fn delete_sec_context(_: *mut u32, context: *mut Handle, out: *mut Buffer) -> u32 {
        assert!(out.is_null());
        unsafe { end(context.cast::<*mut Conversation>()) };
        COMPLETE
    }

    pub unsafe extern "C" fn wrap(
        _: *mut u32,
        context: Handle,
        asked: c_int,
        _: u32,
        message: *const Buffer,
        done: *mut c_int,
        out: *mut Buffer,
    ) -> u32 {
        if context.is_null() {
            return BAD;
        }
        unsafe {
            *done = asked;
            fill(out, &octets(message).iter().rev().copied().collect::<Vec<u8>>());
        }
        COMPLETE
    }

    pub unsafe extern "C" fn unwrap(
        minor: *mut u32,
        context: Handle,
        message: *const Buffer,
        out: *mut Buffer,
        confidential: *mut c_int,
        _: *mut u32,
    ) -> u32 {
        unsafe { wrap(minor, context, 1, 0, message, confidential, out) }
    }

    /// Two sentences for each status.
    pub unsafe extern "C" fn display_status(
        _: *mut u32,
        status: u32,
        kind: c_int,
        _: *const Oid,
        position: *mut u32,
        out: *mut Buffer,
    ) -> u32 {
        unsafe {
            fill(out, format!("{kind} says {status}").as_bytes());
            *position = (*position + 1) % 2;
        }
        COMPLETE
    }

    pub unsafe extern "C" fn release_buffer(_: *mut u32, buffer: *mut Buffer) -> u32 {
        unsafe {
            if !(*buffer).value.is_null() {
                let all = std::ptr::slice_from_raw_parts_mut(
                    (*buffer).value.cast_mut().cast::<u8>(),
                    (*buffer).length,
                );
                drop(Box::from_raw(all));
                count(-1);
            }
            buffer.write(Buffer::EMPTY);
        }
        COMPLETE
    }
}

static FAKE: Functions = Functions {
    import_name: fake::import_name,
    release_name: fake::release_name,
    display_name: fake::display_name,
    indicate_mechs: fake::indicate_mechs,
    release_oid_set: fake::release_oid_set,
    acquire_cred: fake::acquire_cred,
    inquire_cred: fake::inquire_cred,
    set_neg_mechs: fake::set_neg_mechs,
    release_cred: fake::release_cred,
    init_sec_context: fake::init_sec_context,
    inquire_context: fake::inquire_context,
    delete_sec_context: fake::delete_sec_context,
    wrap: fake::wrap,
    unwrap: fake::unwrap,
    display_status: fake::display_status,
    release_buffer: fake::release_buffer,
};

fn context(target: &Target, mechanism: Mechanism) -> Result<Context, Error> {
    Context::by(&FAKE, target, mechanism, Delegation::Never)
}

#[test]
fn users_of_credentials_are_named_and_released() {
    let _alone = COUNTING.lock().unwrap();
    assert_eq!(FAKE.default_user().unwrap(), "user@REALM");
    for offers_ntlm in [true, false] {
        OFFERS_NTLM.store(offers_ntlm, Ordering::Relaxed);
        let mut context = context(&Target::Service("HTTP", "host.example"), Mechanism::Spnego).unwrap();
        assert_eq!(context.credential_user().unwrap(), "user@REALM");
        assert_eq!(context.credential_user().unwrap(), "user@REALM");
    }
    assert_eq!(count(0), 0);
}

#[test]
fn a_conversation_leaves_nothing_behind() {
    let _alone = COUNTING.lock().unwrap();
    for (mechanism, offers_ntlm) in
        [(Mechanism::Kerberos, true), (Mechanism::Spnego, true), (Mechanism::Spnego, false)]
    {
        OFFERS_NTLM.store(offers_ntlm, Ordering::Relaxed);
        let mut context = context(&Target::Service("HTTP", "host.example"), mechanism).unwrap();
        context.bind(b"channel".to_vec());
        context.protect_messages();
        assert!(context.is_fresh() && context.user().is_err() && context.wrap(b"early", true).is_err());
        assert!(matches!(context.step(None), Ok(Step::Continue(token)) if token == b"hello"));
        assert!(matches!(context.step(Some(b"server")), Ok(Step::Complete(token)) if token.is_empty()));
        assert!(matches!(context.protection(), Protection::Confidential));
        assert_eq!(context.user().unwrap(), "user@REALM");
        assert_eq!(context.wrap(b"abc", true).unwrap(), b"cba");
        assert_eq!(context.unwrap(b"cba").unwrap(), (b"abc".to_vec(), true));
        assert_eq!(context.wrap(b"", false).unwrap(), b"");
        drop(context);
        assert_eq!(count(0), 0);
    }
}

#[test]
fn nor_does_what_fails() {
    let _alone = COUNTING.lock().unwrap();
    let message = context(&Target::Principal("bad name"), Mechanism::Kerberos).err().unwrap().to_string();
    for text in ["1 says 65536. 1 says 65536. ", "2 says 7. 2 says 7. "] {
        assert!(message.contains(text), "{message}");
    }
    let mut refused = context(&Target::Principal("host"), Mechanism::Spnego).unwrap();
    refused.bind(b"channel".to_vec());
    assert!(refused.step(None).is_ok() && refused.step(Some(b"")).is_err());
    drop(refused);
    // Never begun.
    drop(context(&Target::Principal("host"), Mechanism::Spnego));
    assert_eq!(count(0), 0);
}
