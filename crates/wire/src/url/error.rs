//! `CURLUcode` and its texts, which programs print and compare.

use std::fmt;

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
        message(self.number())
    }
}

/// The text of `curl_url_strerror` for any number.
pub fn message(number: i32) -> &'static str {
    match number {
        0 => "No error",
        1 => "An invalid CURLU pointer was passed as argument",
        2 => "An invalid 'part' argument was passed as argument",
        3 => "Malformed input to a URL function",
        4 => "Port number was not a decimal number between 0 and 65535",
        5 => "Unsupported URL scheme",
        6 => "URL decode error, most likely because of rubbish in the input",
        7 => "A memory function failed",
        8 => "Credentials was passed in the URL when prohibited",
        9 => "An unknown part ID was passed to a URL API function",
        10 => "No scheme part in the URL",
        11 => "No user part in the URL",
        12 => "No password part in the URL",
        13 => "No options part in the URL",
        14 => "No host part in the URL",
        15 => "No port part in the URL",
        16 => "No query part in the URL",
        17 => "No fragment part in the URL",
        18 => "No zoneid part in the URL",
        19 => "Bad file:// URL",
        20 => "Bad fragment",
        21 => "Bad hostname",
        22 => "Bad IPv6 address",
        23 => "Bad login part",
        24 => "Bad password",
        25 => "Bad path",
        26 => "Bad query",
        27 => "Bad scheme",
        28 => "Unsupported number of slashes following scheme",
        29 => "Bad user",
        30 => "libcurl lacks IDN support",
        31 => "A value or data field is larger than allowed",
        32 => "Found a backslash where a forward slash was expected",
        _ => "CURLUcode unknown",
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.message())
    }
}

impl std::error::Error for UrlError {}
