//! Failures: each fault gives libcurl's code and message, at once, and no partial file is reported as
//! complete.

use std::process::Command;
use std::time::Duration;

use testkit::http::{After, HttpServer, Response};
use testkit::raw::RawPeer;

use super::{WAYS, case, deep, ours};
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        case("refused-by-every-way", refused),
        case("late-failure-by-every-way", late_failure),
        case("unknown-host", unknown_host),
        case("cut-at-every-byte-one-socket", cut_one),
        case("cut-at-every-byte-50-sockets", cut_many),
        case("cut-at-every-byte-tls", cut_tls),
        deep(case("reset-at-every-byte", reset_everywhere)),
        case("endless-headers", endless),
        case("silent-server-times-out", silent),
        case("full-disk", full_disk),
        case("file-size-limit", size_limit),
        case("callbacks-that-fail", failing_callbacks),
        ours("null-foreign-and-stale-handles", stale),
        case("unsupported-and-malformed-urls", bad_urls),
    ]
}

/// No answer, and the way isn't known to this library.
fn absent(run: &Context, way: &str, output: &Output) -> bool {
    let absent = output.stdout.contains("absent");
    assert!(!(absent && run.ours()), "{way} is missing");
    absent
}

fn refused(run: &Context) {
    let port = RawPeer::refused_port();
    for way in ["easy"].iter().chain(&WAYS) {
        let output = run.program("fetch", &["-w", way, &format!("http://127.0.0.1:{port}/")]);
        if absent(run, way, &output) {
            continue;
        }
        assert_eq!(output.fact("code"), "7", "{way}: {output:?}");
        let message = output.fact("message");
        // Older versions write "127.0.0.1 port 80".
        let head = format!("Failed to connect to 127.0.0.1:{port} after ");
        assert!(message.replace(" port ", ":").starts_with(&head), "{message}");
        assert!(output.number("elapsed_ms") < 1000, "{way}: {output:?}");
    }
}

fn late_failure(run: &Context) {
    let server = HttpServer::plain();
    for way in ["easy"].iter().chain(&WAYS) {
        let output = run.program("fetch", &["-w", way, &server.url("/delay/300/reset/0/bytes/9")]);
        if absent(run, way, &output) {
            continue;
        }
        // The delay is outside of the reset: nothing arrives, then RST.
        assert_eq!(output.fact("code"), "56", "{way}: {output:?}");
        let elapsed = output.number("elapsed_ms");
        assert!((250..1300).contains(&elapsed), "{way}: {elapsed} ms");
    }
}

// covers: CURLOPT_ERRORBUFFER
fn unknown_host(run: &Context) {
    for way in ["easy", "poll", "event"] {
        let output = run.program("fetch", &["-w", way, "http://nonexistent.invalid/"]);
        assert_eq!(output.fact("code"), "6", "{way}: {output:?}");
        assert_eq!(output.fact("message"), "Could not resolve host: nonexistent.invalid", "{way}");
    }
}

/// Fetches with the answer cut at every byte; `whole` is the length of the body that may be called complete.
fn cut_everywhere(run: &Context, server: &HttpServer, prefix: &str, path: &str, idles: usize, whole: usize) {
    let response = response_length(path);
    let idle_server = HttpServer::plain();
    let idle = idle_server.url("/delay/600000/bytes/1");
    let prefix = server.url(prefix);
    let mut command = Command::new(run.world.program("cutting"));
    command.args([&*prefix, path, &response.to_string(), &idle, &idles.to_string()]);
    let output = run.run(command.env("CA", run.world.ca()));
    assert_eq!(output.status, Some(0), "{path}: {output:?}");
    let (codes, bytes) = (output.facts("code"), output.facts("bytes"));
    assert_eq!(codes.len(), response + 1, "{path}: {output:?}");
    assert_eq!(codes[0], if prefix.contains("/reset") { "56" } else { "52" }, "{path}: empty reply");
    // A head cut after its status line is the end of an empty answer, as in curl; not so where the connection
    // was reset.
    let head = response - framed_length(path);
    let from = if run.ours() && prefix.contains("/reset") { 0 } else { head };
    assert!((0..head).all(|k| codes[k] != "0" || bytes[k] == "0"), "{path}: {output:?}");
    // The line end after the last chunk may be cut: then the body is known to be whole.
    let must_fail = from..response - if path.starts_with("/chunked") { 2 } else { 0 };
    for k in must_fail {
        assert_ne!(codes[k], "0", "{path} cut at {k} of {response} was called whole with {} bytes", bytes[k]);
    }
    assert_eq!((codes[response], bytes[response]), ("0", &*whole.to_string()), "{path}: the whole answer");
}

/// Returns the length of the whole message; the head is written here so that a change of the server's is
/// noticed.
fn response_length(path: &str) -> usize {
    let head = match path.starts_with("/bytes") {
        true => "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\nContent-Length: 40\r\n\r\n",
        false => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    };
    head.len() + framed_length(path)
}

/// The length of a body of 40 bytes with its framing; chunked, in pieces of 15, 15 and 10.
fn framed_length(path: &str) -> usize {
    40 + if path.starts_with("/bytes") { 0 } else { "f\r\n\r\nf\r\n\r\na\r\n\r\n0\r\n\r\n".len() }
}

fn cut_one(run: &Context) {
    let server = HttpServer::plain();
    cut_everywhere(run, &server, "/cut", "/bytes/40", 0, 40);
    cut_everywhere(run, &server, "/cut", "/chunked/40/15", 0, 40);
}

fn cut_many(run: &Context) {
    let server = HttpServer::plain();
    cut_everywhere(run, &server, "/cut", "/bytes/40", 50, 40);
    cut_everywhere(run, &server, "/cut", "/chunked/40/15", 50, 40);
}

fn cut_tls(run: &Context) {
    let server = HttpServer::tls(run.world.authority.good().server_config().expect("a good certificate"));
    let response = response_length("/chunked/40/15");
    let mut command = Command::new(run.world.program("cutting"));
    command.args([&*server.url("/cut"), "/chunked/40/15", &response.to_string(), "http://127.0.0.1:1/", "0"]);
    let output = run.run(command.env("CA", run.world.ca()));
    let codes = output.facts("code");
    assert_eq!(codes.len(), response + 1, "{output:?}");
    let head = response - framed_length("/chunked/40/15");
    assert!(codes[head..response - 2].iter().all(|code| *code != "0"), "{output:?}");
    assert_eq!(codes[response], "0", "{output:?}");
    // Without close_notify a body delimited by the end may be truncated. (curl with OpenSSL accepts it.)
    let output = run.program(
        "fetch",
        &["-o", &format!("CAINFO={}", run.world.ca()), &server.url("/cut/1000000/close/5000")],
    );
    assert_ne!((output.fact("code"), run.ours()), ("0", true), "{output:?}");
}

fn reset_everywhere(run: &Context) {
    let server = HttpServer::plain();
    cut_everywhere(run, &server, "/reset", "/bytes/40", 0, 40);
    cut_everywhere(run, &server, "/reset", "/bytes/40", 50, 40);
}

fn endless(run: &Context) {
    let server = HttpServer::plain();
    let output = run.program("fetch", &[&server.url("/endless")]);
    assert_ne!(output.fact("code"), "0", "{output:?}");
    if run.ours() {
        // The distribution's version predates the limit of 300 KB on all headers.
        assert_eq!(output.fact("code"), "56", "{output:?}");
        let output = run.program("fetch", &[&server.url("/headers/1/200000")]);
        assert_eq!(output.fact("code"), "100", "one header above 100 KB: {output:?}");
    }
    assert_eq!(run.program("fetch", &[&server.url("/headers/100/1000")]).fact("code"), "0");
}

fn silent(run: &Context) {
    let server = HttpServer::plain();
    for way in ["easy", "poll", "event"] {
        let output =
            run.program("fetch", &["-w", way, "-o", "TIMEOUT_MS=400", &server.url("/delay/60000/bytes/1")]);
        assert_eq!(output.fact("code"), "28", "{way}: {output:?}");
        let message = output.fact("message");
        let after =
            message.strip_prefix("Operation timed out after ").and_then(|rest| rest.split(' ').next());
        let after = after.and_then(|number| number.parse::<u32>().ok());
        assert!(after.is_some_and(|ms| ms >= 400) && message.ends_with(" received"), "{message}");
        assert!(output.elapsed < Duration::from_secs(3), "{way}: {output:?}");
    }
    let output = run.program("fetch", &["-o", "TIMEOUT_MS=400", &server.url("/drip/10/100/bytes/1000")]);
    let message = output.fact("message");
    assert!(message.contains(" out of 1000 bytes received"), "{message}");
    let output = run.program(
        "fetch",
        &["-o", "LOW_SPEED_LIMIT=1000", "-o", "LOW_SPEED_TIME=1", &server.url("/drip/10/100/bytes/1000")],
    );
    assert_eq!(output.fact("code"), "28", "{output:?}");
    let message = output.fact("message");
    assert!(
        message.starts_with("Operation too slow. Less than 1000 bytes/sec transferred the last 1 s"),
        "{message}"
    );
}

fn full_disk(run: &Context) {
    let server = HttpServer::plain();
    let output = run.program("fetch", &["-f", "/dev/full", &server.url("/bytes/1000000")]);
    assert_eq!(output.fact("code"), "23", "{output:?}");
    assert!(output.fact("message").starts_with("Failure writing output to destination"), "{output:?}");
}

fn size_limit(run: &Context) {
    let server = HttpServer::plain();
    let path = run.world.directory.path().join(format!("limited-{}", run.subject.name()));
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "ulimit -f 100; trap '' XFSZ; exec \"$@\"", "sh"]).arg(run.world.program("fetch"));
    let output = run.run(command.args(["-f", &path.display().to_string(), &server.url("/bytes/1000000")]));
    assert_eq!(output.fact("code"), "23", "{output:?}");
}

// covers: CURLOPT_HEADERFUNCTION, CURLOPT_XFERINFOFUNCTION, CURLOPT_NOPROGRESS,
// CURLOPT_OPENSOCKETFUNCTION, CURLOPT_CLOSESOCKETFUNCTION, CURLOPT_SOCKOPTFUNCTION, CURLOPT_SEEKFUNCTION
fn failing_callbacks(run: &Context) {
    let expected = [
        ("write", "23"),
        ("write-more", "23"),
        ("header", "23"),
        ("read", "42"),
        ("read-more", "26"),
        ("read-short", "26"),
        ("progress", "42"),
        ("opensocket", "7"),
        ("sockopt", "42"),
        ("seek", "26"),
        ("sockets", "0"),
    ];
    for (which, code) in expected {
        if which == "read-short" && !run.ours() {
            continue; // the distribution's version waits for ever when an upload ends early
        }
        let server = HttpServer::plain();
        let output = run.program("callbacks", &[&server.url("/bytes/100000"), which]);
        assert_eq!(output.fact("code"), code, "{which}: {output:?}");
        if which == "sockets" {
            assert_eq!((output.number("opened"), output.number("closed")), (1, 1), "{output:?}");
        }
    }
}

fn stale(run: &Context) {
    let output = run.program("stale", &[]);
    assert!(output.stdout.ends_with("end\n"), "{output:?}");
    for line in output.stdout.lines().filter(|line| !line.starts_with("share") && *line != "end") {
        let zero = line.split(' ').skip(1).any(|code| code == "0");
        assert!(!zero, "a bad handle was accepted: {line}");
    }
}

fn bad_urls(run: &Context) {
    let server = HttpServer::with(|request| {
        (request.path() == "/odd")
            .then(|| Response::raw("HTTP/1.1 200 OK\r\nContent-Length: nine\r\n\r\n", After::Finish))
    });
    let expected = [
        ("nosuch://host/", "1"),
        ("http://[::1/", "3"),
        ("http://host:99999/", "3"),
        ("http:///", "3"),
        ("", "3"),
    ];
    for (url, code) in expected {
        let output = run.program("fetch", &[url]);
        assert_eq!(output.fact("code"), code, "{url}: {output:?}");
    }
    assert_eq!(run.program("fetch", &[&server.url("/odd")]).fact("code"), "8");
}
