//! How setting an option is answered, by the support that its row names, and which HTTP features are built.

use tables::constant::{
    CURLAUTH_AWS_SIGV4, CURLAUTH_BASIC, CURLAUTH_BEARER, CURLAUTH_DIGEST, CURLAUTH_DIGEST_IE,
    CURLAUTH_NEGOTIATE, CURLAUTH_NTLM, CURLAUTH_ONLY,
};
use tables::{Code, EasyOption, Support};

/// The schemes of HTTP authentication that this build speaks.
pub const SCHEMES_BUILT: u64 = CURLAUTH_BASIC
    | CURLAUTH_DIGEST
    | if tables::feature::is_built("SPNEGO") { CURLAUTH_NEGOTIATE } else { 0 }
    | CURLAUTH_DIGEST_IE
    | CURLAUTH_BEARER
    | CURLAUTH_NTLM
    | CURLAUTH_AWS_SIGV4;

/// Whether HTTP/2 is built in.
pub const HTTP2_BUILT: bool = tables::feature::is_built("HTTP2");

/// Whether HTTP/3 is built in.
pub const HTTP3_BUILT: bool = tables::feature::is_built("HTTP3");

/// The message where HTTP/3 is required and not built in.
pub const WITHOUT_HTTP3: &str = "HTTP/3 is not built in: the feature http3 is off";

/// Whether there are sockets with names in the file system.
const UNIX_SOCKETS_BUILT: bool = tables::feature::is_built("UnixSockets");

/// The schemes that CURLOPT_HTTPAUTH may name. CURLAUTH_ONLY is one of them: with one scheme it makes two, so
/// that nothing is sent without a challenge.
pub const SCHEMES_KNOWN: u64 = SCHEMES_BUILT | CURLAUTH_ONLY;

/// Returns the result of setting an option, by the support in its row. An option that is not built in may be
/// reset with NULL: programs that reset every option of a reused handle (PHP's pecl_http) request nothing by
/// it, and a libcurl with all features accepts it.
// exhaustive: options
#[inline]
pub fn answer(option: EasyOption, reset: bool) -> Result<(), Code> {
    match option.support() {
        Support::Built | Support::NoEffect => Ok(()),
        Support::UnixSockets if UNIX_SOCKETS_BUILT => Ok(()),
        Support::UnixSockets | Support::Removed => Err(Code::UnknownOption),
        Support::SystemTls | Support::NotBuilt if reset => Ok(()),
        Support::SystemTls if net::tls::backend::has_system() => Ok(()),
        Support::SystemTls | Support::NotBuilt => Err(Code::NotBuiltIn),
    }
}
