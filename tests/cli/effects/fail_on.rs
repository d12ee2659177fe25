//! `--fail-on`: the statuses that fail a transfer.

use super::curl;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::http::{HttpServer, Response};

/// A server that answers `/NNN` with that status and a body.
fn statuses() -> HttpServer {
    HttpServer::with(|request| {
        let status = request.path()[1..4].parse().unwrap();
        Some(Response { body: b"body\n".to_vec(), ..Response::status(status) })
    })
}

#[test]
fn listed_statuses_fail_and_no_others_do() {
    let server = statuses();
    for (list, status, fails) in [
        ("404", "404", true),
        ("404", "403", false),
        ("404", "500", false),
        ("5xx", "503", true),
        ("5xx", "404", false),
        ("300-399", "302", true),
        ("404,5xx,300-399", "500", true),
        ("200", "200", true),
        ("200", "404", false),
    ] {
        let url = server.url(&format!("/{status}"));
        let ran = curl(&["--fail-on", list, &url, "-w", "%{stderr}%{exitcode} %{errormsg}"]);
        let text = format!("The requested URL returned error: {status}");
        let (code, stdout, stderr) = match fails {
            true => (22, "", format!("curl: (22) {text}\n22 {text}")),
            false => (0, "body\n", "0 ".to_owned()),
        };
        assert_eq!((ran.code, ran.stdout.as_str()), (code, stdout), "{list} {status}");
        assert_eq!(ran.stderr, stderr, "{list} {status}");
    }
}

// covers: --fail, --fail-with-body
#[test]
fn the_list_replaces_that_of_the_other_flags() {
    let server = statuses();
    let ran = curl(&["--fail", "--fail-on", "5xx", &server.url("/404")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "body\n"));
    let ran = curl(&["--fail-with-body", "--fail-on", "302", &server.url("/302")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (22, "body\n"));
    let ran = curl(&["--fail-on", "404", "-o", "f", &server.url("/404")]);
    assert!(ran.code == 22 && !ran.folder.join("f").exists(), "{}", ran.stderr);
    // A redirect that is followed is no final response.
    let server = HttpServer::plain();
    let ran = curl(&["-L", "--fail-on", "3xx", &server.url("/redirect/2")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

// covers: --fail-early, --parallel
#[test]
fn parallel_transfers_fail_one_by_one() {
    let server = statuses();
    let [missing, found] = ["/404", "/200"].map(|path| server.url(path));
    let format = "%{stderr}%{response_code}=%{exitcode}\n";
    let ran = curl(&["-Z", "--fail-on", "4xx", "-w", format, &missing, &found]);
    assert_eq!((ran.code, ran.stdout.as_str()), (22, "body\n"));
    for line in ["404=22\n", "200=0\n"] {
        assert!(ran.stderr.contains(line), "{}", ran.stderr);
    }
    // Each group has its own list.
    let ran = curl(&["--fail-on", "5xx", &missing, "--next", "-sS", "--fail-on", "404", &missing]);
    assert_eq!((ran.code, ran.stdout.as_str()), (22, "body\n"));
    let ran = curl(&["--fail-early", "--fail-on", "404", &missing, &found]);
    assert_eq!((ran.code, ran.stdout.as_str()), (22, ""));
}

// covers: --retry
#[test]
fn transient_statuses_are_retried() {
    let count = AtomicUsize::new(0);
    let server = HttpServer::with(move |request| {
        let is_first = count.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
        let status = request.path()[1..4].parse().unwrap();
        Some(if is_first {
            Response { body: b"bad".into(), ..Response::status(status) }
        } else {
            Response::ok("good")
        })
    });
    let retry = ["--retry", "2", "--retry-delay", "0.01", "--fail-on", "4xx,5xx"];
    let ran = curl(&[&retry[..], &[&server.url("/503")]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "good"), "{}", ran.stderr);
    let ran = curl(&[&retry[..], &[&server.url("/404")]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (22, ""), "{}", ran.stderr);
    let server_requests = server.requests().len();
    assert_eq!(server_requests, 3);
}

#[test]
fn other_protocols_have_no_statuses() {
    let folder = super::folder_with("f", "x");
    let url = format!("file://{}", folder.join("f").display());
    assert_eq!(curl(&["--fail-on", "100-599", &url]).text(), "x");
}
