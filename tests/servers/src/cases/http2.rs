//! HTTP/2 with third-party servers: nginx, Apache's mod_http2, nghttpd, nghttpx, caddy. `streams` drives the
//! library, by poll and by its own event loop; the tool is tested beside it.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use testkit::launch::{Http2Kind, Http2Server};

use super::{case, deep, others, ours, sum};
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        case("http2-nginx", |run| usual(run, Http2Kind::Nginx)),
        case("http2-apache", |run| usual(run, Http2Kind::Apache)),
        case("http2-nghttpd", |run| usual(run, Http2Kind::Nghttpd)),
        case("http2-nghttpx", |run| usual(run, Http2Kind::Nghttpx)),
        case("http2-caddy", |run| usual(run, Http2Kind::Caddy)),
        ours("http2-restart-nginx", |run| restarted(run, Http2Kind::Nginx)),
        ours("http2-restart-apache", |run| restarted(run, Http2Kind::Apache)),
        ours("http2-restart-nghttpx", |run| restarted(run, Http2Kind::Nghttpx)),
        ours("http2-restart-caddy", |run| restarted(run, Http2Kind::Caddy)),
        ours("http2-goaway-each-100-requests", goaway),
        case("http2-loops-of-php-and-python", loops),
        deep(ours("http2-h2spec", h2spec)),
        deep(ours("http2-full-nginx", |run| full(run, Http2Kind::Nginx))),
        deep(ours("http2-full-apache", |run| full(run, Http2Kind::Apache))),
        deep(ours("http2-full-nghttpd", |run| full(run, Http2Kind::Nghttpd))),
        deep(ours("http2-full-nghttpx", |run| full(run, Http2Kind::Nghttpx))),
        deep(ours("http2-full-caddy", |run| full(run, Http2Kind::Caddy))),
    ]
}

const SMALL: usize = 1000;
const LARGE: usize = 1_000_000;
const FULL: usize = 10_000_000;

/// Any way that an application drives the library.
const DRIVEN: [&str; 3] = ["easy", "poll", "event"];

fn start(run: &Context, kind: Http2Kind) -> Http2Server {
    let sizes = [SMALL, LARGE, FULL];
    Http2Server::start(kind, &run.world.authority.good(), &sizes)
        .unwrap_or_else(|error| panic!("{kind:?}: {error}"))
}

/// Runs `streams` with words split at blanks; the output must be the pattern of `size` bytes.
fn streams(run: &Context, words: &str, size: usize, url: &str) -> Output {
    let (length, sum) = (size.to_string(), sum(size));
    let words: Vec<&str> = words.split(' ').chain(["-b", &length, "-e", &sum, url]).collect();
    let mut command = Command::new(run.world.program("streams"));
    let output = run.run(command.args(words).env("CA", run.world.ca()));
    assert_eq!(output.status, Some(0), "{url}: {output:?}");
    output
}

/// Runs that many transfers over HTTP/2, all of which succeed.
fn good(run: &Context, count: usize, words: &str, size: usize, url: &str) -> Output {
    let output = streams(run, &format!("-n {count} {words}"), size, url);
    let wanted = count.to_string();
    assert_eq!(
        (output.fact("good"), output.fact("second")),
        (&*wanted, &*wanted),
        "{url} {words}: {output:?}"
    );
    output
}

/// Runs the usual transfers, in moderate sizes, so that it takes seconds. Debian's 7.88 cannot reuse a
/// connection with HTTP/2 in clear, and sometimes hangs if a transfer has to wait for a window: it is tested
/// less.
fn usual(run: &Context, kind: Http2Kind) {
    let server = start(run, kind);
    let small = server.https(&format!("/bytes-{SMALL}?%d"));
    let (clear, size) = if run.ours() { (3, 100_000) } else { (1, SMALL) };
    for way in DRIVEN {
        good(run, clear, &format!("-w {way}"), SMALL, &server.http(&format!("/bytes-{SMALL}")));
        let output = good(run, 5, &format!("-w {way} -p 5 -c 1"), SMALL, &small);
        assert_eq!(output.fact("connects"), "1", "{way}: {output:?}");
        good(run, 3, &format!("-w {way} -p 3 -u {size}"), size, &server.https("/body/%d"));
    }
    let output = good(run, 1000, "-w event -p 50 -c 1", SMALL, &small);
    assert_eq!(output.fact("connects"), "1", "{output:?}");
    if run.ours() {
        together(run, &server);
        by_tool(run, &server);
    }
}

/// Many bodies at once, both ways.
fn together(run: &Context, server: &Http2Server) {
    let large = server.https(&format!("/bytes-{LARGE}?%d"));
    good(run, 20, "-p 20", LARGE, &large);
    good(run, 20, &format!("-p 20 -u {LARGE}"), LARGE, &server.https("/body/%d"));
    // Every third reads little at a time; the others don't wait for it, and no more than its window is held
    // for it.
    good(run, 12, "-w event -p 12 -s 3", LARGE, &large);
    given_up(run, &large);
}

/// Aborts every fourth transfer in the middle; the others are not affected.
fn given_up(run: &Context, url: &str) {
    let output = streams(run, "-n 40 -p 20 -c 1 -x 4", LARGE, url);
    let facts = ["good", "given_up", "connects"].map(|name| output.fact(name));
    assert_eq!(facts, ["30", "10", "1"], "{output:?}");
}

fn tool(run: &Context, words: &[&str]) -> Output {
    let output = run.run(Command::new(run.world.tool()).args(["-q", "-sS", "--max-time", "60"]).args(words));
    assert_eq!(output.status, Some(0), "{words:?}: {output:?}");
    output
}

fn by_tool(run: &Context, server: &Http2Server) {
    let (ca, place) = (run.world.ca(), testkit::temp::TempDir::new("tool").expect("a folder is made"));
    let lines = ["-o", "/dev/null", "-w", "%{http_version} %{http_code} %{size_download}\n"];
    let each = format!("2 200 {SMALL}\n");
    let small = server.http(&format!("/bytes-{SMALL}"));
    let output = tool(run, &[&["--http2-prior-knowledge"][..], &lines, &[&small]].concat());
    assert_eq!(output.stdout, each);
    let many = server.https(&format!("/bytes-{SMALL}?[1-200]"));
    let output = tool(run, &[&["--cacert", &ca, "-Z"][..], &lines, &[&many]].concat());
    assert_eq!(output.stdout, each.repeat(200));
    let body = testkit::body::pattern(LARGE);
    let file = place.write("file", &body).expect("a file is written").display().to_string();
    let output = tool(run, &["--cacert", &ca, "-T", &file, &server.https("/body/1")]);
    assert_eq!(output.bytes(), body);
}

/// The sizes that count, with as many at once.
fn full(run: &Context, kind: Http2Kind) {
    let server = start(run, kind);
    let url = server.https(&format!("/bytes-{FULL}?%d"));
    for way in ["poll", "event"] {
        good(run, 100, &format!("-w {way} -p 100"), FULL, &url);
        good(run, 100, &format!("-w {way} -p 100 -u {FULL}"), FULL, &server.https("/body/%d"));
        good(run, 30, &format!("-w {way} -p 30 -s 3"), FULL, &url);
    }
    let lines = ["-o", "/dev/null", "-w", "%{http_version} %{http_code} %{size_download}\n"];
    let many = server.https(&format!("/bytes-{FULL}?[1-100]"));
    let output = tool(
        run,
        &[&["--cacert", &run.world.ca(), "-Z", "--parallel-max", "100"][..], &lines, &[&many]].concat(),
    );
    assert_eq!(output.stdout, format!("2 200 {FULL}\n").repeat(100));
}

/// Number of requests to a server that restarts or closes.
const ASKED: usize = 1000;

/// Checks that each of the requests was answered, and arrived once. Up to `lost` percent may be reported as
/// lost instead: they arrived once or never.
fn once_each(output: &Output, server: &Http2Server, lost: usize) {
    let (good, second) = (output.number("good"), output.number("second"));
    let failed = output.facts("code").len();
    assert!(good == second && good as usize + failed == ASKED, "{output:?}");
    assert!(failed * 100 <= ASKED * lost, "{output:?}\n{}", server.log());
    let mut seen = BTreeMap::new();
    for request in server.origin.requests() {
        *seen.entry(request.path().to_owned()).or_insert(0) += 1;
    }
    let twice: Vec<_> = seen.iter().filter(|(_, times)| **times != 1).collect();
    assert!(twice.is_empty(), "{twice:?}\n{output:?}");
    assert!(seen.len() + failed >= ASKED, "{output:?}");
}

/// Long enough for any of them to have started.
const BETWEEN_RESTARTS: Duration = Duration::from_millis(500);

/// PUTs, which must not be repeated, while the server restarts repeatedly.
fn restarted(run: &Context, kind: Http2Kind) {
    let server = start(run, kind);
    let (ended, restarts) = (AtomicBool::new(false), std::sync::atomic::AtomicUsize::new(0));
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::SeqCst) {
                std::thread::sleep(BETWEEN_RESTARTS);
                server.restart().unwrap_or_else(|error| panic!("{kind:?}: {error}"));
                restarts.fetch_add(1, Ordering::SeqCst);
            }
        });
        let words = format!("-n {ASKED} -w event -p 20 -u {SMALL}");
        let output = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            streams(run, &words, SMALL, &server.https("/delay/40/body/%d"))
        }));
        ended.store(true, Ordering::SeqCst);
        output.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    });
    // Apache announces that it accepts a connection's first requests, and closes it, if a restart is
    // requested meanwhile.
    once_each(&output, &server, if kind == Http2Kind::Apache { 5 } else { 0 });
    let restarts = restarts.into_inner();
    assert!(restarts >= 3 && output.number("connects") >= 2, "{restarts} restarts: {output:?}");
}

/// nginx sends GOAWAY after each hundred requests, while others are in transit.
fn goaway(run: &Context) {
    let server = start(run, Http2Kind::NginxHundred);
    let output = streams(run, &format!("-n {ASKED} -p 40 -u {SMALL}"), SMALL, &server.https("/body/%d"));
    once_each(&output, &server, 0);
    assert!((10..=25).contains(&output.number("connects")), "{output:?}");
}

/// Third-party programs written for HTTP/1 do the same over HTTP/2, which libcurl offers by default. (git's
/// loop is beside its server.)
fn loops(run: &Context) {
    let server = start(run, Http2Kind::Nginx);
    others::php_at(run, &server.https(""));
    others::pycurl_at(run, run.world.python().as_os_str(), &server.https(""));
    others::pycurl_at(run, "/usr/bin/python3".as_ref(), &server.https(""));
    let requests = server.origin.requests();
    assert!(requests.len() >= 130, "{} requests", requests.len());
    assert!(requests.iter().all(|request| request.field("X-Version") == Some("HTTP/2.0")));
}

/// h2specd's requirements for a client, in clear and over TLS.
fn h2spec(run: &Context) {
    let leaf = run.world.authority.good();
    let file = |name: &str, text: &str| {
        run.world.directory.write(name, text).expect("a file is written").display().to_string()
    };
    let (cert, key) = (file("h2spec.pem", &leaf.cert_pem), file("h2spec.key", &leaf.key_pem));
    let tool = run.world.tool().display().to_string();
    for (words, client) in [
        (&[][..], "--http2-prior-knowledge"),
        (&["--tls", "--cert-file", &cert, "--cert-key-file", &key], "--http2 -k"),
    ] {
        let exec = format!("{tool} -q -sS --max-time 2 {client}");
        let output = h2specd(run, &[words, &["--exec", &exec]].concat());
        let summary = output.stdout.lines().rfind(|line| line.contains(" tests, ")).unwrap_or("");
        assert_eq!(
            summary, "57 tests, 57 passed, 0 skipped, 0 failed",
            "{}\n{}",
            output.stdout, output.stderr
        );
    }
}

/// Runs h2specd. It listens on consecutive ports, one for each of its cases: repeated elsewhere if one of
/// them is taken.
fn h2specd(run: &Context, words: &[&str]) -> Output {
    let mut from = 20_000 + std::process::id() % 10_000;
    loop {
        let (port, first) = (from.to_string(), (from + 1).to_string());
        let mut command = Command::new(run.world.h2specd());
        let output = run.run(command.args(["--port", &port, "--from-port", &first]).args(words));
        if !output.stdout.contains("address already in use")
            && !output.stderr.contains("address already in use")
        {
            return output;
        }
        from = 20_000 + (from + 100) % 10_000;
    }
}
