//! Which curl this library stands in for, and who it is itself.

use crate::constant::{
    LIBCURL_VERSION_MAJOR, LIBCURL_VERSION_MINOR, LIBCURL_VERSION_NUM, LIBCURL_VERSION_PATCH,
};

/// What programs are told of.
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
}

/// The curl version whose interface this library has.
pub const CURL: &str = "8.22.0";

pub const fn version() -> Version {
    Version {
        curl: CURL,
        curl_number: LIBCURL_VERSION_NUM as u32,
        name: "Warmwire",
        own: env!("CARGO_PKG_VERSION"),
    }
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
}
