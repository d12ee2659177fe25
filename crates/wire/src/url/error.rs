//! The errors of the URL functions. Their texts are in the table of codes.

use std::fmt;

use tables::UrlCode;

/// Why a URL or a part was refused, or why a part is not there. The discriminants are curl's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum UrlError {
    BadHandle = 1,
    BadPartPointer = 2,
    MalformedInput = 3,
    BadPortNumber = 4,
    UnsupportedScheme = 5,
    UrlDecode = 6,
    OutOfMemory = 7,
    UserNotAllowed = 8,
    UnknownPart = 9,
    NoScheme = 10,
    NoUser = 11,
    NoPassword = 12,
    NoOptions = 13,
    NoHost = 14,
    NoPort = 15,
    NoQuery = 16,
    NoFragment = 17,
    NoZoneId = 18,
    BadFileUrl = 19,
    BadFragment = 20,
    BadHostname = 21,
    BadIpv6 = 22,
    BadLogin = 23,
    BadPassword = 24,
    BadPath = 25,
    BadQuery = 26,
    BadScheme = 27,
    BadSlashes = 28,
    BadUser = 29,
    LacksIdn = 30,
    TooLarge = 31,
    Backslash = 32,
}

impl UrlError {
    /// The `CURLUcode`.
    pub fn number(self) -> i32 {
        i32::from(self as u8)
    }

    /// The text of `curl_url_strerror`.
    pub fn message(self) -> &'static str {
        UrlCode::text_of(self.number())
    }
}

impl From<UrlError> for UrlCode {
    fn from(error: UrlError) -> UrlCode {
        UrlCode::from_id(error.number()).expect("every discriminant is a row of the table")
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.message())
    }
}

impl std::error::Error for UrlError {}
