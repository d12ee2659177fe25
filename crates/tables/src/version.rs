//! The version of curl that this library replaces, and its own.

use crate::constant::{
    LIBCURL_VERSION_MAJOR, LIBCURL_VERSION_MINOR, LIBCURL_VERSION_NUM, LIBCURL_VERSION_PATCH,
};

/// Version information for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// `LIBCURL_VERSION`
    pub curl: &'static str,
    /// `LIBCURL_VERSION_NUM`
    pub curl_number: u32,
    /// This library's own name.
    pub name: &'static str,
    /// This library's own version.
    pub own: &'static str,
    /// The own version as a number, eight bits for each part.
    pub own_number: u32,
}

/// The curl version whose interface this library has.
pub const CURL: &str = "8.22.0";

pub const fn version() -> Version {
    Version {
        curl: CURL,
        curl_number: LIBCURL_VERSION_NUM as u32,
        name: "Warmwire",
        own: env!("CARGO_PKG_VERSION"),
        own_number: number(env!("CARGO_PKG_VERSION_MAJOR")) << 16
            | number(env!("CARGO_PKG_VERSION_MINOR")) << 8
            | number(env!("CARGO_PKG_VERSION_PATCH")),
    }
}

/// TLS of the library and of the tool: the release of OpenSSL that it replaces, which programs parse, then
/// the actual backend.
pub const AS_DEFAULT: &str = "OpenSSL/3.0.0 (rustls/0.23)";
/// TLS of the library that takes the place of libcurl-gnutls.
pub const AS_GNUTLS: &str = "GnuTLS/3.7.9 (rustls/0.23)";

/// The release of nghttp2 whose limits HTTP/2 keeps. Suites that skip HTTP/2 cases look for its name.
pub const AS_NGHTTP2: &str = "nghttp2/1.52.0";

/// The releases of the formats that the decoders follow.
pub const ZLIB: &str = "1.3.1";
/// Of Brotli, as number and text.
pub const BROTLI: ((u32, u32, u32), &str) = ((1, 1, 0), "1.1.0");
/// Of Zstandard.
pub const ZSTD: ((u32, u32, u32), &str) = ((1, 5, 5), "1.5.5");

/// Returns the line that `curl_version` and `curl -V` have in common, with this name for TLS. The parentheses
/// after a library name the part of Warmwire that is used in its place.
pub fn line(tls: &str) -> String {
    let Version { curl, name, own, .. } = version();
    let codings = format!("zlib/{ZLIB} brotli/{} zstd/{}", BROTLI.1, ZSTD.1);
    format!("libcurl/{curl} {tls} {AS_NGHTTP2} ({name}/{own}) {codings}")
}

/// Returns a part of a version as a number.
const fn number(digits: &str) -> u32 {
    let (digits, mut at, mut number) = (digits.as_bytes(), 0, 0);
    while at < digits.len() {
        number = number * 10 + (digits[at] - b'0') as u32;
        at += 1;
    }
    number
}

const _: () = assert!(
    LIBCURL_VERSION_NUM == LIBCURL_VERSION_MAJOR << 16 | LIBCURL_VERSION_MINOR << 8 | LIBCURL_VERSION_PATCH,
    "the parts of the version number agree"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_and_text_agree() {
        let text = format!("{LIBCURL_VERSION_MAJOR}.{LIBCURL_VERSION_MINOR}.{LIBCURL_VERSION_PATCH}");
        assert_eq!(version().curl, text);
        assert_eq!(version().curl_number, 0x08_16_00);
    }

    /// curl's suites read features off these words; each is beside the library that is really used.
    #[test]
    fn words_of_the_line() {
        let own = format!("(Warmwire/{})", version().own);
        let line = line(AS_DEFAULT);
        let words: Vec<&str> = line.split(' ').collect();
        let after = |name: &str| {
            let at = words.iter().position(|word| word.starts_with(name));
            words[at.unwrap_or_else(|| panic!("{name} in {line}")) + 1]
        };
        assert_eq!((after("OpenSSL/"), after("nghttp2/")), ("(rustls/0.23)", own.as_str()));
    }
}
