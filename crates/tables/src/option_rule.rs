//! Columns of the option table that name no option: argument types, scope, support and the rules of pointers.

use crate::constant::{CURLAUTH_BASIC, CURLAUTH_GSSAPI};

/// Argument type of an option; the numbers are those of `curl_easytype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum ArgKind {
    /// A `long`.
    Long = 0,
    /// A `long` out of a documented set or a bitmask.
    Values = 1,
    /// A `curl_off_t`.
    OffT = 2,
    /// A pointer to something other than a string: a handle, a buffer, a `FILE *`.
    Object = 3,
    /// A NUL-terminated string that the library copies.
    String = 4,
    /// A `struct curl_slist *` that stays the application's.
    SList = 5,
    /// A pointer handed to a callback.
    CbPtr = 6,
    /// A `struct curl_blob *`.
    Blob = 7,
    /// A function pointer.
    Function = 8,
}

/// Scope of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The transfer only: a connection made with another value can be used again.
    Transfer,
    /// One transfer; the parsed URL or the route is made from the value.
    Route,
    /// The connection: one made with another value must not be used.
    Connection,
    /// The login: part of the key where scheme or authentication method tie credentials to the
    /// connection.
    Login,
}

/// Support of an option by this build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Stored and honoured.
    Built,
    /// Honoured where the system's TLS library can be loaded, CURLE_NOT_BUILT_IN elsewhere.
    SystemTls,
    /// Honoured where the system has Unix sockets, CURLE_UNKNOWN_OPTION elsewhere.
    UnixSockets,
    /// Accepted without effect: obsolete in curl 8.22 too, or about signals and threads that this library
    /// does not use.
    NoEffect,
    /// CURLE_NOT_BUILT_IN: curl knows the option, this build lacks the feature.
    NotBuilt,
    /// CURLE_UNKNOWN_OPTION: curl has removed the option.
    Removed,
}

/// The request method that a switch chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestMethod {
    /// CURLOPT_HTTPGET.
    Get,
    /// CURLOPT_POST.
    Post,
    /// CURLOPT_UPLOAD and its old name CURLOPT_PUT.
    Upload,
    /// CURLOPT_NOBODY.
    NoBody,
}

/// The rule by which a pointer is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerRule {
    /// Stored unchanged.
    Plain,
    /// Data of a POST that stays the application's.
    PostFields,
    /// Data of a POST that is copied at once.
    CopiedPostFields,
    /// A `curl_mime *`.
    Form,
    /// A `struct curl_httppost *`.
    OldForm,
    /// A `CURLU *`.
    UrlHandle,
    /// A `CURLSH *`.
    Share,
    /// The function that changes the context of the system's TLS library, or its data.
    TlsContext,
    /// Accepted and ignored.
    Ignored,
}

/// The log-in methods that CURLOPT_SOCKS5_AUTH may name, and its default.
pub const SOCKS5_SCHEMES: u64 = CURLAUTH_BASIC | CURLAUTH_GSSAPI;
