//! Checks of number options: each function takes the number that was set and returns the one to store.

use tables::Code;
use tables::constant::{
    CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE, CURL_HTTP_VERSION_3, CURL_HTTP_VERSION_3ONLY,
    CURL_HTTP_VERSION_NONE, CURL_SSLVERSION_DEFAULT, CURL_SSLVERSION_TLSv1, CURL_SSLVERSION_TLSv1_0,
    CURL_SSLVERSION_TLSv1_3,
};
use tables::easy_option::SOCKS5_SCHEMES;

use super::{SCHEMES_BUILT, SCHEMES_KNOWN};

/// CURLAUTH_ bits that name schemes; the bit above them changes the meaning of the others.
const SCHEME_BITS: u64 = 0x7fff_ffff;

/// Refuses a number outside the range.
pub fn within(value: i64, least: i64, most: i64) -> Result<i64, Code> {
    if (least..=most).contains(&value) { Ok(value) } else { Err(Code::BadFunctionArgument) }
}

/// Refuses 0.
pub fn not_zero(value: i64) -> Result<i64, Code> {
    if value == 0 { Err(Code::BadFunctionArgument) } else { Ok(value) }
}

/// Whether it is a weight of a stream (RFC 7540, section 5.3.2). curl ignores others.
pub fn is_stream_weight(value: i64) -> bool {
    (1..=256).contains(&value)
}

/// CURLOPT_SSL_VERIFYHOST: 1 and 2 both ask for the check of the name.
pub fn name_check(value: i64) -> i64 {
    if value == 1 { 2 } else { value }
}

/// Removes schemes that are not built in. A request for only such schemes must not become a request for none.
pub fn auth_schemes(value: i64) -> Result<i64, Code> {
    let left = value as u64 & !(SCHEMES_KNOWN & !SCHEMES_BUILT) & SCHEME_BITS;
    let refused = value != 0 && left == 0;
    if refused { Err(Code::NotBuiltIn) } else { Ok((value as u64 & SCHEMES_KNOWN) as i64) }
}

/// CURLOPT_SOCKS5_AUTH.
pub fn socks_schemes(value: i64) -> Result<i64, Code> {
    if value as u64 & !SOCKS5_SCHEMES == 0 { Ok(value) } else { Err(Code::NotBuiltIn) }
}

/// CURLOPT_SSLVERSION: the minimum version in the lower half, the maximum in the upper half. SSL 2 and 3 are
/// not supported.
pub fn tls_versions(value: i64) -> Result<i64, Code> {
    let known = |version: i64| {
        version == CURL_SSLVERSION_DEFAULT
            || version == CURL_SSLVERSION_TLSv1
            || (CURL_SSLVERSION_TLSv1_0..=CURL_SSLVERSION_TLSv1_3).contains(&version)
    };
    if known(value & 0xffff) && known(value >> 16) { Ok(value) } else { Err(Code::BadFunctionArgument) }
}

/// CURLOPT_HTTP_VERSION: an unknown version is unsupported, a negative number is no version.
pub fn http_version(value: i64) -> Result<i64, Code> {
    match value {
        CURL_HTTP_VERSION_NONE..=CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE => Ok(value),
        CURL_HTTP_VERSION_3 | CURL_HTTP_VERSION_3ONLY => Ok(value),
        _ if value < 0 => Err(Code::BadFunctionArgument),
        _ => Err(Code::UnsupportedProtocol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAD: Result<i64, Code> = Err(Code::BadFunctionArgument);

    #[test]
    fn ranges_include_their_ends() {
        assert_eq!([-1, 0, 3, 4].map(|n| within(n, 0, 3)), [BAD, Ok(0), Ok(3), BAD]);
        assert_eq!([0, 1, 256, 257].map(is_stream_weight), [false, true, true, false]);
        assert_eq!([-1, 0, 1].map(not_zero), [Ok(-1), BAD, Ok(1)]);
        assert_eq!([0, 1, 2].map(name_check), [0, 2, 2]);
    }

    #[test]
    fn versions_are_known_ones() {
        let unsupported = Err(Code::UnsupportedProtocol);
        let http = [-1, 0, 5, 6, 29, 30, 31, 32].map(http_version);
        assert_eq!(http, [BAD, Ok(0), Ok(5), unsupported, unsupported, Ok(30), Ok(31), unsupported]);
        for (lower, fits) in [(0, true), (1, true), (2, false), (3, false), (4, true), (7, true), (8, false)]
        {
            for value in [lower, lower << 16, lower | 4 << 16] {
                assert_eq!(tls_versions(value), if fits { Ok(value) } else { BAD }, "{value:x}");
            }
        }
        assert_eq!(tls_versions(-1), BAD);
    }

    #[test]
    fn schemes_that_are_not_known_are_refused_alone() {
        assert_eq!(socks_schemes(5), Ok(5));
        assert_eq!(socks_schemes(8), Err(Code::NotBuiltIn));
        assert_eq!(auth_schemes(0), Ok(0));
        assert_eq!(auth_schemes(1 | 1 << 20), Ok(1));
    }
}
