//! Request fields that are not credentials, so that a reply cannot depend on them as such. A field that is
//! not listed counts as one: X-Api-Key, PRIVATE-TOKEN and any future name.

/// Standard fields that do not identify the user. From (RFC 9110, section 10.1.2) and Origin (RFC 6454) do,
/// and Host names the server; they are omitted.
const HARMLESS: &[&str] = &[
    // Content negotiation: RFC 9110, section 12.5. A server names these in Vary.
    "Accept",
    "Accept-Charset",
    "Accept-Encoding",
    "Accept-Language",
    // Context: section 10.1. A Referer must not contain a login, and a server may not rely on User-Agent.
    "Expect",
    "Referer",
    "TE",
    "User-Agent",
    // Conditions and ranges: sections 13.1 and 14.2. They contain validators from the server.
    "If-Match",
    "If-Modified-Since",
    "If-None-Match",
    "If-Range",
    "If-Unmodified-Since",
    "Range",
    // Caching: RFC 9111, sections 5.2 and 5.4.
    "Cache-Control",
    "Pragma",
    // The message and the connection: RFC 9110, sections 7.6, 7.8 and 8, RFC 9112, RFC 9218.
    "Connection",
    "Content-Encoding",
    "Content-Language",
    "Content-Length",
    "Content-Type",
    "Date",
    "Keep-Alive",
    "Max-Forwards",
    "Priority",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    // Wishes for digests (RFC 9530) and for a page by TLS.
    "Upgrade-Insecure-Requests",
    "Want-Content-Digest",
    "Want-Repr-Digest",
];

/// Returns whether a request field is known not to be a credential.
pub fn is_harmless(name: &[u8]) -> bool {
    HARMLESS.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_may_prove_something() {
        for name in ["accept", "ACCEPT-LANGUAGE", "user-agent", "If-None-Match", "cache-control"] {
            assert!(is_harmless(name.as_bytes()), "{name}");
        }
        for name in [
            "Authorization",
            "Cookie",
            "X-Api-Key",
            "PRIVATE-TOKEN",
            "Host",
            "From",
            "Origin",
            "Accept-",
            "",
            "X",
        ] {
            assert!(!is_harmless(name.as_bytes()), "{name}");
        }
    }
}
