//! Flags whose protocol or feature is not built: each is answered as a curl that lacks it answers, never with silence.
//!
//! The rows fail when the feature or scheme is built, so that its flags then get tests of what they do.

use super::{Ran, curl};

/// curl asks its library before it takes these.
const NOT_SUPPORTED: &str = "the installed libcurl version does not support this";

fn features() -> String {
    let version = curl(&["-V"]).text();
    version.lines().find(|line| line.starts_with("Features:")).unwrap().to_string()
}

/// A run on a file with this flag before it, so that nothing else can go wrong.
fn on_a_file(flag: &[&str]) -> Ran {
    curl(&[flag, &["file:///dev/null"]].concat())
}

// refuses: --tlsauthtype, --tlsuser, --tlspassword, --proxy-tlsauthtype, --proxy-tlsuser, --proxy-tlspassword
#[test]
fn features_that_the_library_lacks() {
    let features = features();
    let rows: &[(&str, &[&[&str]])] = &[
        ("TLS-SRP", &[&["--tlsauthtype", "SRP"], &["--tlsuser", "me"], &["--tlspassword", "secret"]]),
        ("TLS-SRP", &[&["--proxy-tlsauthtype", "SRP"], &["--proxy-tlsuser", "me"]]),
        ("TLS-SRP", &[&["--proxy-tlspassword", "secret"]]),
    ];
    for (feature, flags) in rows {
        assert!(!features.contains(feature), "{feature} is built: say what its flags do");
        for flag in *flags {
            let ran = on_a_file(flag);
            assert_eq!(ran.code, 2, "{flag:?}: {}", ran.stderr);
            let first = ran.stderr.lines().next().unwrap_or_default();
            assert_eq!(first, format!("curl: option {}: {NOT_SUPPORTED}", flag[0]));
            assert!(ran.stderr.contains("\ncurl: try 'curl --help'"), "{}", ran.stderr);
        }
    }
}

#[test]
fn values_that_are_none() {
    for wrong in [["--hostpubmd5", "short"], ["--upload-flags", "read"], ["--tftp-blksize", "x"]] {
        assert_eq!(on_a_file(&wrong).code, 2, "{wrong:?}");
    }
}
