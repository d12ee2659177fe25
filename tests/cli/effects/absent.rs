//! Flags without a function, and values that a flag refuses.

use super::{Ran, curl};

/// Runs on a file with this flag before it, so that nothing else can fail.
fn on_a_file(flag: &[&str]) -> Ran {
    curl(&[flag, &["file:///dev/null"]].concat())
}

// covers: --tlsauthtype, --tlsuser, --tlspassword, --proxy-tlsauthtype, --proxy-tlsuser, --proxy-tlspassword
#[test]
fn flags_of_tls_srp_are_accepted_and_do_nothing() {
    // As curl 8.22 has them: a warning, and the transfer is made.
    for name in ["tlsauthtype", "tlsuser", "tlspassword"] {
        for flag in [format!("--{name}"), format!("--proxy-{name}")] {
            let ran = on_a_file(&["--no-silent", "--no-progress-meter", &flag, "SRP"]);
            assert_eq!(ran.code, 0, "{flag}: {}", ran.stderr);
            let warning = format!("Warning: {flag} is deprecated and has no function anymore\n");
            assert!(ran.stderr.starts_with(&warning), "{}", ran.stderr);
            assert_eq!(curl(&[&flag]).code, 2, "{flag} wants a value");
        }
    }
}

#[test]
fn malformed_values_of_absent_features_are_refused() {
    for wrong in [["--hostpubmd5", "short"], ["--upload-flags", "read"], ["--tftp-blksize", "x"]] {
        assert_eq!(on_a_file(&wrong).code, 2, "{wrong:?}");
    }
}
