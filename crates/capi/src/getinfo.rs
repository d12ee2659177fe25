//! curl_easy_getinfo: writes the engine's facts in the type of the info's row. Texts belong to the handle and
//! live until the same info is requested again.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

use engine::info::{self, Fact};
use tables::{Code, Entry, Info as I, InfoKind};

use crate::easy::outputs::{TlsSession, TlsSessionInfo};
use crate::easy::{self, EasyHandle};
use crate::global::SYSTEM_TLS;
use crate::slist::{self, Slist};
use crate::sys;

/// The shim's `curl_easy_getinfo`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn warmwire_easy_getinfo(
    handle: *mut c_void,
    number: c_int,
    out: *mut c_void,
) -> c_int {
    easy::run(handle, Entry::EasyGetinfo, |easy, _| {
        let info = I::from_id(number).ok_or(Code::UnknownOption)?;
        if out.is_null() {
            return Err(Code::UnknownOption); // as in libcurl
        }
        let fact = info::get(&easy.easy, info);
        // SAFETY: `out` points to the info's type, as the manual requires.
        unsafe {
            match info.kind() {
                InfoKind::String => *out.cast() = easy.text(info, &fact),
                InfoKind::Long => *out.cast() = sys::to_long(fact.number()),
                InfoKind::Double => *out.cast() = fact.real(),
                InfoKind::OffT => *out.cast() = fact.number(),
                InfoKind::Socket => *out.cast() = fact.number() as sys::RawSocket,
                InfoKind::SList => *out.cast() = list(&fact),
                InfoKind::Ptr => *out.cast() = easy.object(&fact),
            }
        }
        // With TLS, by a library that has no objects to show.
        let nothing_to_show = matches!(fact, Fact::Tls { in_use: true, object: None });
        if nothing_to_show { Err(Code::UnknownOption) } else { Ok(()) }
    })
}

/// A list that the caller frees.
fn list(fact: &Fact) -> *mut Slist {
    if let Fact::List(lines) = fact { slist::from_strings(lines) } else { ptr::null_mut() }
}

impl EasyHandle {
    /// Returns a text that the handle keeps until the same info is requested again.
    fn text(&self, info: I, fact: &Fact) -> *const c_char {
        if let Fact::Application = fact {
            return self.app.pointers.private().cast();
        }
        let Some(text) = fact.text() else { return ptr::null() };
        let text = CString::new(text).unwrap_or_default();
        let mut texts = self.outputs().texts.borrow_mut();
        texts.insert(info.id(), text);
        texts[&info.id()].as_ptr()
    }

    /// Returns a structure that the handle keeps.
    fn object(&self, fact: &Fact) -> *const c_void {
        let object = match fact {
            Fact::Certificates(certificates) => {
                return self.outputs().cert_info.borrow_mut().fill(certificates);
            }
            Fact::Tls { object, .. } => *object,
            Fact::Number(_) | Fact::Time(_) | Fact::List(_) | Fact::Application => None,
            Fact::Text(_) | Fact::OwnedText(_) | Fact::Constant(_) => None,
        };
        let native =
            object.map(|object| TlsSessionInfo { backend: SYSTEM_TLS, internals: object as *mut c_void });
        let session = &self.outputs().tls_session.0;
        session.set(native.unwrap_or_else(|| TlsSession::default().0.get()));
        session.as_ptr().cast_const().cast()
    }
}
