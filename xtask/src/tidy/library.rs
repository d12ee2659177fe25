//! Files that name OpenSSL. Layers above net::tls speak of "the system's library" and ask `net::tls::Backend`
//! for its capabilities, so that a change of the library stays in one place.

/// Where the name belongs: the binding, and the implementations with the place that chooses between them.
const HOMES: &[&str] = &["crates/openssl/", "crates/net/src/tls/"];

/// Whether a source of the product names OpenSSL outside of its homes. Code, comments, texts, tests and rows
/// of tables count, in every spelling, and so do names of libcurl's interface (`CURLSSLBACKEND_OPENSSL`).
pub fn is_named_outside(path: &str, text: &str) -> bool {
    let product = path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs");
    product
        && !HOMES.iter().any(|home| path.starts_with(home))
        && text.to_ascii_lowercase().contains("openssl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_counts_in_every_spelling() {
        for text in ["// by OpenSSL\n", "Support::OpenSsl", "CURLSSLBACKEND_OPENSSL", "let a = \"openssl\";"]
        {
            assert!(is_named_outside("crates/engine/src/easy.rs", text), "{text}");
        }
        assert!(!is_named_outside("crates/engine/src/easy.rs", "// the system's library, libssl\n"));
    }

    #[test]
    fn its_homes_and_what_does_not_ship_are_free() {
        for path in [
            "crates/openssl/src/lib.rs",
            "crates/net/src/tls/rustls/tests.rs",
            "crates/engine/tests/https.rs",
            "testkit/src/lib.rs",
            "crates/net/src/tls.md",
        ] {
            assert!(!is_named_outside(path, "OpenSSL"), "{path}");
        }
        assert!(is_named_outside("crates/net/src/tls_like.rs", "OpenSSL"));
    }
}
