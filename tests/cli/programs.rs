//! `--libcurl`: the C programs it writes compile without a warning, run, and ask for the same.

use super::{empty_folder, run, tool};
use std::path::Path;
use testkit::http::{HttpServer, Request};

/// The parts of two requests that must agree; the boundary of a form is random, and its length differs
/// between versions.
fn comparable(request: &Request) -> String {
    let body = without_boundaries(&String::from_utf8_lossy(&request.body));
    let mut text = format!("{} {}\n", request.method, request.target);
    let form = request.field("Content-Type").is_some_and(|kind| kind.starts_with("multipart"));
    for (name, value) in request.fields.iter().filter(|(name, _)| !(form && name == "Content-Length")) {
        let value = value.split("; boundary=").next().unwrap_or_default();
        text.push_str(&format!("{name}: {value}\n"));
    }
    text + &body
}

/// A boundary is many dashes and then letters and digits.
fn without_boundaries(body: &str) -> String {
    let mut pieces = body.split("------------------------");
    let mut text = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        text.push('B');
        text.push_str(
            piece.trim_start_matches('-').trim_start_matches(|letter: char| letter.is_ascii_alphanumeric()),
        );
    }
    text
}

fn compiled(folder: &Path) {
    testkit::needs::libcurl_headers();
    let words = ["-Wall", "-Werror", "-o", "program", "code.c", "-lcurl"];
    let out = run("gcc", &words, folder);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

// covers: --libcurl
#[test]
fn generated_programs_send_the_requests_of_the_tool() {
    let server = HttpServer::plain();
    let url = server.url("/echo?a=b");
    let lines: &[&[&str]] = &[
        &[&url],
        &[
            "-d",
            "one=\"1\"\n\\two",
            "-H",
            "X-One: 1",
            "-H",
            "X-Two;",
            "-A",
            "agent ?",
            "-e",
            "http://from/",
            &url,
        ],
        &["-X", "DELETE", "-u", "me:secret", "-b", "a=b; c=d", "--compressed", &url],
        &["-F", "a=b;type=text/x", "-F", "f=@file;filename=other", "--form-string", "s=@x", &url],
        &[
            "-F",
            "=(;type=multipart/alternative",
            "-F",
            "=plain",
            "-F",
            "=<file;type=text/html",
            "-F",
            "=)",
            &url,
        ],
        &["-I", "-r", "1-2", "-m", "20", "--connect-timeout", "5", "-L", "--max-redirs", "3", &url],
        &["-T", "file", "--limit-rate", "1M", "--http1.0", "-k", "--tlsv1.2", "--ciphers", "X", &url],
        &["--json", "{}", "--retry", "2", "--proto", "=http,https", "--resolve", "x:1:127.0.0.1", &url],
    ];
    for words in lines {
        let folder = empty_folder();
        std::fs::write(folder.join("file"), "content\n").unwrap();
        let out = run(tool(), &[&["-s", "--libcurl", "code.c"], *words].concat(), &folder);
        assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
        compiled(&folder);
        let before = server.served();
        let uploads = words.contains(&"-T"); // the program decides how much is read
        let redirected = if uploads { "./program <file" } else { "./program" };
        let again = run("sh", &["-c", redirected], &folder);
        assert!(again.status.success(), "{words:?}: {:?}", again.status);
        assert_eq!(server.served(), before + 1, "{words:?}");
        let requests = server.requests();
        let [.., first, second] = requests.as_slice() else { panic!("{words:?}") };
        assert_eq!(comparable(first), comparable(second), "{words:?}");
    }
}
