//! TLS by the system's OpenSSL 3, for programs that request it. What they set up through libcurl is a context
//! of the library that they have loaded themselves. The library is loaded when it is first needed, and is
//! never required.
//!
//! A [`Connection`] moves no bytes: received bytes are put in, and output is taken out (memory BIOs,
//! BIO_s_mem(3)).

mod library;
mod numbers;

pub use library::{Connection, Context, Module, Store, engines, is_there, version};

use std::fmt;

/// TLS1_VERSION and its successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Protocol {
    Tls10 = 0x301,
    Tls11 = 0x302,
    Tls12 = 0x303,
    Tls13 = 0x304,
}

/// The result of a call that may have to wait for the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many bytes; a handshake that is over moves none.
    Done(usize),
    /// The peer's next bytes must be put in first.
    NeedsInput,
    /// The application's verify callback has no verdict yet (SSL_set_retry_verify): the handshake is called
    /// again later.
    Unjudged,
    /// close_notify.
    Closed,
}

/// Where a certificate or a key is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Pem,
    Der,
}

/// A session that may be resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// In the library's own form (i2d_SSL_SESSION(3)).
    pub der: Vec<u8>,
    /// 0x304 is TLS 1.3.
    pub version: u16,
    /// Lifetime in seconds from its creation.
    pub lifetime: i64,
    /// Bytes that the server takes with the hello.
    pub early: u32,
}

/// The first entry of OpenSSL's error queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// ERR_get_error(3); 0 where the queue was empty.
    pub code: u64,
    /// ERR_error_string_n(3): `error:0A000086:SSL routines::certificate verify failed`.
    pub text: String,
}

/// Why an engine or a provider is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotOpened {
    /// No module has that name.
    NotFound(Failure),
    /// It is there and cannot be used.
    NotInitialised(Failure),
    /// The name is invalid.
    BadName,
}

impl NotOpened {
    fn not_loaded(text: &'static str) -> NotOpened {
        NotOpened::NotFound(Failure::not_loaded(text))
    }
}

impl Failure {
    fn not_loaded(text: &'static str) -> Failure {
        Failure { code: 0, text: text.to_owned() }
    }

    /// Whether it is this reason of the SSL library's.
    pub fn is(&self, reason: u64) -> bool {
        self.code >> 23 & 0xff == ERR_LIB_SSL && self.code & 0x7f_ffff == reason
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

const ERR_LIB_SSL: u64 = 20;
/// SSL_R_CERTIFICATE_VERIFY_FAILED.
pub const CERTIFICATE_VERIFY_FAILED: u64 = 134;
/// SSL_R_UNEXPECTED_EOF_WHILE_READING.
pub const UNEXPECTED_EOF: u64 = 294;
/// SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED.
pub const CERTIFICATE_REQUIRED: u64 = 1116;
