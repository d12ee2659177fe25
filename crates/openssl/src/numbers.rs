//! Numbers of OpenSSL's headers, by their names there, and conversions of texts and lengths for C.

use std::collections::BTreeSet;
use std::ffi::{CString, c_int, c_long, c_uint, c_ulong};
use std::sync::Mutex;

pub const SSL_ERROR_WANT_READ: c_int = 2;
pub const SSL_ERROR_ZERO_RETURN: c_int = 6;
pub const SSL_ERROR_WANT_RETRY_VERIFY: c_int = 12;
pub const SSL_CTRL_EXTRA_CHAIN_CERT: c_int = 14;
pub const SSL_CTRL_MODE: c_int = 33;
pub const SSL_CTRL_SET_SESS_CACHE_MODE: c_int = 44;
pub const SSL_CTRL_SET_TLSEXT_HOSTNAME: c_int = 55;
pub const SSL_CTRL_SET_TLSEXT_STATUS_REQ_TYPE: c_int = 65;
pub const SSL_CTRL_GET_TLSEXT_STATUS_REQ_OCSP_RESP: c_int = 70;
pub const SSL_CTRL_SET_GROUPS_LIST: c_int = 92;
pub const SSL_CTRL_SET_SIGALGS_LIST: c_int = 98;
pub const SSL_CTRL_SET_MIN_PROTO_VERSION: c_int = 123;
pub const SSL_CTRL_SET_MAX_PROTO_VERSION: c_int = 124;
pub const SSL_CTRL_GET_NEGOTIATED_GROUP: c_int = 134;
/// SSL_MODE_ENABLE_PARTIAL_WRITE, ACCEPT_MOVING_WRITE_BUFFER, RELEASE_BUFFERS.
pub const MODES: c_long = 1 | 2 | 16;
/// SSL_SESS_CACHE_CLIENT, NO_INTERNAL: the owner stores sessions.
pub const CLIENT_CACHE: c_long = 1 | 0x300;
pub const SSL_VERIFY_PEER: c_int = 1;
pub const STATUS_TYPE_OCSP: c_long = 1;
pub const BIO_C_SET_BUF_MEM_EOF_RETURN: c_int = 130;
pub const X509_V_FLAG_CRL_CHECK_ALL: c_ulong = 4 | 8;
/// X509_V_FLAG_TRUSTED_FIRST, which 3.0 has by default, and PARTIAL_CHAIN.
pub const X509_V_FLAG_PARTIAL_CHAIN: c_ulong = 0x80000;
/// SSL_OP_NO_COMPRESSION, as in curl; the library chooses all other options.
pub const OPTIONS: u64 = 1 << 17;
pub const CRYPTO_EX_INDEX_SSL: c_int = 0;
pub const CRYPTO_EX_INDEX_SSL_CTX: c_int = 1;
pub const OPENSSL_INIT_LOAD_CONFIG: u64 = 0x40;
/// All except the engine for the kernel's sockets, which has to be named explicitly.
pub const OPENSSL_INIT_ENGINE_ALL_BUILTIN: u64 = 0x7600;
pub const ENGINE_CTRL_GET_CMD_FROM_NAME: c_int = 13;
pub const ENGINE_METHOD_ALL: c_uint = 0xffff;
pub const OSSL_STORE_INFO_PKEY: c_int = 4;
pub const OSSL_STORE_INFO_CERT: c_int = 5;
pub const UIT_PROMPT: c_int = 1;
pub const UIT_VERIFY: c_int = 2;

/// Maximum number of objects of one URI that are examined.
pub const MAX_STORED: usize = 100;
/// The longest name of a provider, as in curl.
pub const MAX_PROVIDER_NAME: usize = 128;
/// The longest chain of certificates that is reported.
pub const MAX_CHAIN: c_int = 100;

/// Returns a text that ends with a NUL; anything after an embedded NUL is cut off, as in C.
pub fn c_text(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

pub fn length(bytes: &[u8]) -> c_int {
    c_int::try_from(bytes.len()).unwrap_or(c_int::MAX)
}

/// Returns one permanent copy of each name: there are few groups.
pub fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    // In a forked child the thread that held the lock may not exist: a caller that does not get it makes a
    // copy.
    let mut names = NAMES.try_lock().ok();
    if let Some(known) = names.as_ref().and_then(|names| names.get(name)) {
        return known;
    }
    let name: &'static str = Box::leak(name.into());
    if let Some(names) = &mut names {
        names.insert(name);
    }
    name
}
