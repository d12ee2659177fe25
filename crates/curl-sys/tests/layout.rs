//! Compares structures with the C headers in include/curl.
//!
//! `tests/judges/test_curl_crate.py` runs a copy of this file, and names the headers by WARMWIRE_INCLUDE.

use std::fmt::Write;
use std::fs;
use std::process::Command;

/// C compiles a text that states each size and offset that Rust has.
#[test]
fn structures_have_the_layout_of_the_c_headers() {
    let mut text = "#include <stddef.h>\n#include <curl/curl.h>\n".to_owned();
    let mut count = 0;
    // A structure inside another has no name in C; its fields are compared there.
    for (name, size, fields) in curl_sys::layouts() {
        let named = match name {
            "curl_fileinfo_strings" => "((struct curl_fileinfo *)0)->strings".to_owned(),
            "CURLMsg" => name.to_owned(),
            _ => format!("struct {name}"),
        };
        writeln!(text, "_Static_assert(sizeof({named}) == {size}, \"{name}\");").unwrap();
        for (field, offset) in fields {
            let field = field.trim_start_matches("r#");
            let (within, path, base) = match name {
                "curl_fileinfo_strings" => (
                    "struct curl_fileinfo",
                    format!("strings.{field}"),
                    "offsetof(struct curl_fileinfo, strings)",
                ),
                _ => (named.as_str(), field.to_owned(), "0"),
            };
            writeln!(text, "_Static_assert(offsetof({within}, {path}) == {base} + {offset}, \"{name}\");")
                .unwrap();
            count += 1;
        }
    }
    assert!(count > 100, "{count} fields");
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = folder.join("layout.c");
    fs::write(&source, text).unwrap();
    let include = std::env::var("WARMWIRE_INCLUDE")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../include").to_owned());
    let done = Command::new("cc")
        .args(["-std=c11", "-fsyntax-only", "-I", &include])
        .arg(&source)
        .output()
        .expect("the build script has found a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
