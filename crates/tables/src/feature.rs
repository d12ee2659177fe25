//! Features that curl_version_info(3) and `curl -V` name, in the order of their names there, and which are
//! built.

use crate::constant::*;

/// A feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    pub name: &'static str,
    /// Its CURL_VERSION_ bit; 0 for newer features, which have none.
    pub bit: i32,
    pub built: bool,
}

const fn row(name: &'static str, bit: i32, built: bool) -> Feature {
    Feature { name, bit, built }
}

/// Features that Windows provides differently (SSPI), or not at all.
const ON_UNIX: bool = cfg!(unix);

/// Features of libraries that are loaded when needed. A static program on musl has no loader.
const BY_LOADING: bool = cfg!(all(unix, not(target_feature = "crt-static")));

/// Sorted as curl sorts them: without regard to case.
pub const ALL: [Feature; 29] = [
    row("alt-svc", CURL_VERSION_ALTSVC, true),
    // Corresponds to c-ares beside curl's threads: HTTPS records are queried beside getaddrinfo.
    row("asyn-rr", 0, true),
    row("AsynchDNS", CURL_VERSION_ASYNCHDNS, true),
    row("brotli", CURL_VERSION_BROTLI, true),
    row("Debug", CURL_VERSION_DEBUG, false),
    row("ECH", 0, true),
    row("gsasl", CURL_VERSION_GSASL, false),
    row("GSS-API", CURL_VERSION_GSSAPI, BY_LOADING),
    row("HSTS", CURL_VERSION_HSTS, true),
    row("HTTP2", CURL_VERSION_HTTP2, true),
    row("HTTP3", CURL_VERSION_HTTP3, cfg!(feature = "http3")),
    row("HTTPS-proxy", CURL_VERSION_HTTPS_PROXY, true),
    row("HTTPSIG", 0, true),
    row("HTTPSRR", 0, true),
    row("IDN", CURL_VERSION_IDN, true),
    row("IPv6", CURL_VERSION_IPV6, true),
    row("Kerberos", CURL_VERSION_KERBEROS5, BY_LOADING),
    row("Largefile", CURL_VERSION_LARGEFILE, true),
    row("libz", CURL_VERSION_LIBZ, true),
    row("MultiSSL", CURL_VERSION_MULTI_SSL, BY_LOADING),
    row("NTLM", CURL_VERSION_NTLM, true),
    row("proxy-HTTP3", 0, cfg!(feature = "http3")),
    row("PSL", CURL_VERSION_PSL, true),
    row("SPNEGO", CURL_VERSION_SPNEGO, BY_LOADING),
    row("SSL", CURL_VERSION_SSL, true),
    row("SSLS-EXPORT", 0, ON_UNIX),
    row("threadsafe", CURL_VERSION_THREADSAFE, true),
    row("UnixSockets", CURL_VERSION_UNIX_SOCKETS, ON_UNIX),
    row("zstd", CURL_VERSION_ZSTD, true),
];

/// Whether the feature of this name is built.
pub const fn is_built(name: &str) -> bool {
    let mut at = 0;
    while at < ALL.len() {
        if same(ALL[at].name.as_bytes(), name.as_bytes()) {
            return ALL[at].built;
        }
        at += 1;
    }
    false
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Returns the names of the features that are built in.
pub fn built_names() -> impl Iterator<Item = &'static str> {
    ALL.iter().filter(|feature| feature.built).map(|feature| feature.name)
}

/// Returns the CURL_VERSION_ bits of the features that are built in.
pub fn built_bits() -> i32 {
    ALL.iter().filter(|feature| feature.built).fold(0, |bits, feature| bits | feature.bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_bits_differ() {
        assert!(ALL.is_sorted_by_key(|feature| feature.name.to_ascii_lowercase()));
        for feature in ALL.iter().filter(|feature| feature.bit != 0) {
            assert_eq!(ALL.iter().filter(|other| other.bit == feature.bit).count(), 1, "{}", feature.name);
        }
    }
}
