//! Effects of single options: each row sets some and examines the received request or the transfer's facts.
//!
//! A row whose option our library refuses (CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION) is skipped; COVERAGE.md
//! then lists the option as missing.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;

use testkit::http::{HttpServer, Request, Response};
use testkit::raw::{RawPeer, Step, send};

use super::case;
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        case("options-request-line", request_line),
        case("options-request-fields", request_fields),
        case("options-request-body", request_body),
        case("options-credentials", credentials),
        case("options-redirects", redirects),
        case("options-protocols", protocols),
        case("options-names-and-addresses", addresses),
        case("options-limits", limits),
        case("options-body-handling", body_handling),
        case("options-odd-answers", odd_answers),
        case("options-reuse", reuse),
        case("options-cookies", cookies),
        case("options-netrc", netrc),
        case("options-http-proxy", http_proxy),
        case("options-tls", tls),
    ]
}

/// Options, path, and the condition on the transfer and on the last request.
type Row = (&'static [&'static str], &'static str, fn(&Output, &Request) -> bool);

/// Runs each row against its own server and reports all that fail.
fn rows(run: &Context, rows: &[Row]) {
    let mut wrong = Vec::new();
    for (options, path, holds) in rows {
        let server = HttpServer::plain();
        let Some(output) = fetch(run, options, &[&server.url(path)]) else { continue };
        let request = server.last_request().unwrap_or_default();
        if !holds(&output, &request) {
            wrong.push(format!("{options:?} {path}: {output:?}\n{}", String::from_utf8_lossy(&request.head)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// None when our library refuses one of the options.
fn fetch(run: &Context, options: &[&str], urls: &[&str]) -> Option<Output> {
    let arguments: Vec<&str> = options.iter().flat_map(|o| ["-o", o]).chain(urls.iter().copied()).collect();
    let output = run.program("fetch", &arguments);
    let refusal = |line: &str| {
        line.starts_with("setopt ") && (line.contains(": 4 ") || line.contains(": 48 ")) && run.ours()
    };
    if output.stdout.lines().any(refusal) { None } else { Some(output) }
}

/// A server whose /away redirects there.
fn sending_to(location: String) -> HttpServer {
    HttpServer::with(move |request| {
        (request.path() == "/away").then(|| Response::status(302).with("Location", &*location))
    })
}

fn code(output: &Output) -> &str {
    output.fact("code")
}

// covers: CURLOPT_CUSTOMREQUEST, CURLOPT_NOBODY, CURLOPT_REQUEST_TARGET, CURLOPT_PATH_AS_IS,
// CURLOPT_HTTP_VERSION,
// CURLOPT_HTTPGET, CURLOPT_UPLOAD, CURLOPT_INFILESIZE, CURLOPT_INFILESIZE_LARGE
fn request_line(run: &Context) {
    rows(
        run,
        &[
            (&["CUSTOMREQUEST=PATCH"], "/bytes/1", |_, r| r.method == "PATCH"),
            (&["NOBODY=1"], "/bytes/1", |_, r| r.method == "HEAD"),
            (&["CUSTOMREQUEST=OPTIONS", "REQUEST_TARGET=*"], "/x", |_, r| r.target == "*"),
            (&["PATH_AS_IS=1"], "/a/../bytes/1", |_, r| r.target == "/a/../bytes/1"),
            (&["PATH_AS_IS=0"], "/a/../bytes/1", |_, r| r.target == "/bytes/1"),
            (&["HTTP_VERSION=1"], "/bytes/1", |_, r| r.head.starts_with(b"GET /bytes/1 HTTP/1.0\r\n")),
            (&["POSTFIELDS=x", "HTTPGET=1"], "/bytes/1", |_, r| r.method == "GET" && r.body.is_empty()),
            (&["UPLOAD=1", "INFILESIZE=0"], "/body", |o, r| r.method == "PUT" && code(o) == "0"),
            (&["UPLOAD=1", "INFILESIZE_LARGE=0"], "/body", |_, r| r.field("Content-Length") == Some("0")),
        ],
    );
}

// covers: CURLOPT_USERAGENT, CURLOPT_REFERER, CURLOPT_COOKIE, CURLOPT_HTTPHEADER, CURLOPT_ACCEPT_ENCODING,
// CURLOPT_TRANSFER_ENCODING, CURLOPT_TIMECONDITION, CURLOPT_TIMEVALUE, CURLOPT_TIMEVALUE_LARGE,
// CURLOPT_RANGE, CURLOPT_RESUME_FROM, CURLOPT_RESUME_FROM_LARGE
fn request_fields(run: &Context) {
    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    rows(
        run,
        &[
            (&["USERAGENT=own/1"], "/x", |_, r| r.all("User-Agent") == ["own/1"]),
            (&["REFERER=http://from/"], "/x", |_, r| r.field("Referer") == Some("http://from/")),
            (&["COOKIE=a=b; c=d"], "/x", |_, r| r.all("Cookie") == ["a=b; c=d"]),
            (&["HTTPHEADER=X-A: 1|X-B;|Accept:"], "/x", |_, r| {
                r.field("X-A") == Some("1") && r.field("X-B") == Some("") && r.field("Accept").is_none()
            }),
            (&["HTTPHEADER=Host: other"], "/x", |_, r| r.all("Host") == ["other"]),
            (&["ACCEPT_ENCODING=gzip"], "/x", |_, r| r.field("Accept-Encoding") == Some("gzip")),
            (&["TRANSFER_ENCODING=1"], "/x", |_, r| r.field("TE") == Some("gzip")),
            (&["TIMECONDITION=1", "TIMEVALUE=784111777"], "/x", |_, r| {
                r.field("If-Modified-Since") == Some(DATE)
            }),
            (&["TIMECONDITION=2", "TIMEVALUE_LARGE=784111777"], "/x", |_, r| {
                r.field("If-Unmodified-Since") == Some(DATE)
            }),
            (&["RANGE=5-9,20-"], "/x", |_, r| r.field("Range") == Some("bytes=5-9,20-")),
            (&["RESUME_FROM=7"], "/bytes/9", |o, r| {
                r.field("Range") == Some("bytes=7-") && o.fact("bytes") == "2"
            }),
            (&["RESUME_FROM_LARGE=4294967297"], "/x", |_, r| r.field("Range") == Some("bytes=4294967297-")),
        ],
    );
}

// covers: CURLOPT_POSTFIELDS, CURLOPT_COPYPOSTFIELDS, CURLOPT_POSTFIELDSIZE, CURLOPT_POSTFIELDSIZE_LARGE,
// CURLOPT_EXPECT_100_TIMEOUT_MS, CURLOPT_POST
fn request_body(run: &Context) {
    rows(
        run,
        &[
            (&["POSTFIELDS=abcdef"], "/body", |o, r| {
                r.body == b"abcdef"
                    && r.field("Content-Type") == Some("application/x-www-form-urlencoded")
                    && o.fact("bytes") == "6"
            }),
            (&["COPYPOSTFIELDS=abcdef"], "/body", |_, r| r.body == b"abcdef"),
            (&["POSTFIELDSIZE=3", "POSTFIELDS=abcdef"], "/body", |_, r| r.body == b"abc"),
            (&["POSTFIELDSIZE_LARGE=2", "POSTFIELDS=abcdef"], "/body", |_, r| r.body == b"ab"),
            (&["POST=1", "POSTFIELDSIZE=0"], "/body", |o, r| r.method == "POST" && code(o) == "0"),
            (
                &["HTTPHEADER=Expect: 100-continue", "EXPECT_100_TIMEOUT_MS=50", "POSTFIELDS=late"],
                "/no-continue/1",
                |o, r| r.body == b"late" && o.number("elapsed_ms") < 800,
            ),
        ],
    );
}

// covers: CURLOPT_USERPWD, CURLOPT_USERNAME, CURLOPT_PASSWORD, CURLOPT_HTTPAUTH, CURLOPT_XOAUTH2_BEARER,
// CURLOPT_UNRESTRICTED_AUTH, CURLOPT_DISALLOW_USERNAME_IN_URL
fn credentials(run: &Context) {
    const BASIC: Option<&str> = Some("Basic bWU6c2VjcmV0");
    rows(
        run,
        &[
            (&["USERPWD=me:secret"], "/x", |_, r| r.field("Authorization") == BASIC),
            (&["USERNAME=me", "PASSWORD=secret"], "/x", |_, r| r.field("Authorization") == BASIC),
            (&["HTTPAUTH=64", "XOAUTH2_BEARER=token"], "/x", |_, r| {
                r.field("Authorization") == Some("Bearer token")
            }),
        ],
    );
    let other = HttpServer::plain();
    let server = sending_to(format!("http://localhost:{}/x", other.port()));
    let away = server.url("/away");
    for (unrestricted, expected) in [("UNRESTRICTED_AUTH=0", None), ("UNRESTRICTED_AUTH=1", BASIC)] {
        if fetch(run, &["USERPWD=me:secret", "FOLLOWLOCATION=1", unrestricted], &[&away]).is_some() {
            let request = other.last_request().expect("the redirect was followed");
            assert_eq!(request.field("Authorization"), expected, "{unrestricted}");
        }
    }
    let named = format!("http://me:secret@127.0.0.1:{}/x", server.port());
    if let Some(output) = fetch(run, &["DISALLOW_USERNAME_IN_URL=1"], &[&named]) {
        assert_eq!(code(&output), "67", "{output:?}");
    }
}

// covers: CURLOPT_FOLLOWLOCATION, CURLOPT_MAXREDIRS, CURLOPT_AUTOREFERER, CURLOPT_POSTREDIR,
// CURLINFO_REDIRECT_COUNT
fn redirects(run: &Context) {
    rows(
        run,
        &[
            (&["FOLLOWLOCATION=0"], "/redirect/2", |o, _| o.fact("http") == "302"),
            (&["FOLLOWLOCATION=1"], "/redirect/2", |o, _| {
                o.fact("http") == "200" && o.fact("redirects") == "2"
            }),
            (&["FOLLOWLOCATION=1", "MAXREDIRS=1"], "/redirect/2", |o, _| code(o) == "47"),
            (&["FOLLOWLOCATION=1", "AUTOREFERER=1"], "/redirect/1", |_, r| {
                r.field("Referer").is_some_and(|from| from.ends_with("/redirect/1"))
            }),
            (&["FOLLOWLOCATION=1", "POSTFIELDS=x"], "/redirect/1/301", |_, r| r.method == "GET"),
            (&["FOLLOWLOCATION=1", "POSTFIELDS=x", "POSTREDIR=1"], "/redirect/1/301", |_, r| {
                r.method == "POST" && r.body == b"x"
            }),
            (&["FOLLOWLOCATION=1", "POSTFIELDS=x"], "/redirect/1/307", |_, r| r.method == "POST"),
            (&["FOLLOWLOCATION=1", "POSTFIELDS=x", "POSTREDIR=2"], "/redirect/1/302", |_, r| {
                r.method == "POST"
            }),
            (&["FOLLOWLOCATION=1", "POSTFIELDS=x"], "/redirect/1/303", |_, r| r.method == "GET"),
        ],
    );
}

// covers: CURLOPT_PROTOCOLS_STR, CURLOPT_REDIR_PROTOCOLS_STR, CURLOPT_PROTOCOLS, CURLOPT_REDIR_PROTOCOLS,
// CURLOPT_DEFAULT_PROTOCOL, CURLOPT_PORT
fn protocols(run: &Context) {
    rows(
        run,
        &[
            (&["PROTOCOLS_STR=https,ftp"], "/x", |o, _| code(o) == "1"),
            (&["PROTOCOLS_STR=http"], "/bytes/1", |o, _| code(o) == "0"),
            (&["PROTOCOLS=2"], "/x", |o, _| code(o) == "1"),
            (&["REDIR_PROTOCOLS_STR=https", "FOLLOWLOCATION=1"], "/redirect/1", |o, _| code(o) == "1"),
            (&["REDIR_PROTOCOLS=2", "FOLLOWLOCATION=1"], "/redirect/1", |o, _| code(o) == "1"),
        ],
    );
    // A redirect to a file is not followed by default either.
    let server = sending_to("file:///etc/hostname".to_owned());
    let output = run.program("fetch", &["-o", "FOLLOWLOCATION=1", &server.url("/away")]);
    assert_eq!(code(&output), "1", "{output:?}");
    let bare = format!("127.0.0.1:{}/bytes/1", server.port());
    for (option, expected) in [("DEFAULT_PROTOCOL=http", "0"), ("DEFAULT_PROTOCOL=nosuch", "1")] {
        if let Some(output) = fetch(run, &[option], &[&bare]) {
            assert_eq!(code(&output), expected, "{option}: {output:?}");
        }
    }
    if let Some(output) = fetch(run, &[&format!("PORT={}", server.port())], &["http://127.0.0.1:1/bytes/1"]) {
        assert_eq!(code(&output), "0", "{output:?}");
    }
}

/// A listener that answers one request and returns the client's address.
fn peer_of(run: &Context, options: &[&str]) -> Option<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
    let asked = std::thread::spawn(move || {
        let (mut stream, peer) = listener.accept().ok()?;
        let _head = stream.read(&mut [0; 4096]).ok()?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()?;
        Some(peer)
    });
    let output = fetch(run, options, &[&url])?;
    assert_eq!(code(&output), "0", "{options:?}: {output:?}");
    asked.join().expect("the listener does not panic")
}

// covers: CURLOPT_RESOLVE, CURLOPT_CONNECT_TO, CURLOPT_INTERFACE, CURLOPT_LOCALPORT, CURLOPT_LOCALPORTRANGE,
// CURLOPT_IPRESOLVE, CURLOPT_UNIX_SOCKET_PATH
fn addresses(run: &Context) {
    let server = HttpServer::plain();
    let port = server.port();
    let named = format!("http://nonexistent.invalid:{port}/bytes/1");
    if let Some(output) = fetch(run, &[&format!("RESOLVE=nonexistent.invalid:{port}:127.0.0.1")], &[&named]) {
        assert_eq!(code(&output), "0", "{output:?}");
        let host = server.last_request().and_then(|r| r.field("Host").map(str::to_owned));
        assert_eq!(host, Some(format!("nonexistent.invalid:{port}")));
    }
    let to = format!("CONNECT_TO=nonexistent.invalid:80:127.0.0.1:{port}");
    if let Some(output) = fetch(run, &[&to], &["http://nonexistent.invalid/bytes/1"]) {
        assert_eq!(code(&output), "0", "{output:?}");
    }
    if let Some(peer) = peer_of(run, &["INTERFACE=127.0.0.3"]) {
        assert_eq!(peer.ip().to_string(), "127.0.0.3");
    }
    if let Some(output) = fetch(run, &["INTERFACE=203.0.113.9"], &[&server.url("/bytes/1")]) {
        assert_eq!(code(&output), "45", "{output:?}");
    }
    let first = 20_000 + std::process::id() % 20_000;
    let local = format!("LOCALPORT={first}");
    if let Some(peer) = peer_of(run, &[&local, "LOCALPORTRANGE=50"]) {
        assert!((first..first + 50).contains(&u32::from(peer.port())), "{peer}");
    }
    if let Some(output) = fetch(run, &["IPRESOLVE=2"], &[&format!("http://127.0.0.1:{port}/")]) {
        // 7.88 refuses a literal address, 8.22 selects only among those of a name.
        let taken = code(&output) == "0";
        assert_eq!(taken, run.subject.name() == "ours", "an IPv4 address, and only IPv6 allowed: {output:?}");
    }
    unix_socket(run);
}

fn unix_socket(run: &Context) {
    let path = run.world.directory.path().join(format!("{}-unix", run.subject.name()));
    let listener = UnixListener::bind(&path).expect("the directory takes a socket");
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().ok()?;
        let length = stream.read(&mut [0; 4096]).ok()?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlocal").ok()?;
        Some(length)
    });
    let option = format!("UNIX_SOCKET_PATH={}", path.display());
    if let Some(output) = fetch(run, &[&option], &["http://somewhere.invalid/"]) {
        assert_eq!((code(&output), output.fact("bytes")), ("0", "5"), "{output:?}");
        answering.join().expect("the listener does not panic");
    }
}

// covers: CURLOPT_TIMEOUT_MS, CURLOPT_TIMEOUT, CURLOPT_LOW_SPEED_LIMIT, CURLOPT_LOW_SPEED_TIME,
// CURLOPT_MAXFILESIZE,
// CURLOPT_MAXFILESIZE_LARGE, CURLOPT_MAX_RECV_SPEED_LARGE, CURLOPT_MAX_SEND_SPEED_LARGE
fn limits(run: &Context) {
    rows(
        run,
        &[
            (&["TIMEOUT_MS=200"], "/delay/9000/bytes/1", |o, _| {
                code(o) == "28" && (150..2000).contains(&o.number("elapsed_ms"))
            }),
            (&["TIMEOUT=1"], "/delay/9000/bytes/1", |o, _| code(o) == "28" && o.number("elapsed_ms") < 3000),
            (&["LOW_SPEED_LIMIT=100000", "LOW_SPEED_TIME=1"], "/drip/10/50/bytes/9000", |o, _| {
                code(o) == "28" && o.number("elapsed_ms") < 8000
            }),
            (&["MAXFILESIZE=10"], "/bytes/11", |o, _| code(o) == "63"),
            (&["MAXFILESIZE_LARGE=10"], "/bytes/10", |o, _| code(o) == "0"),
            (&["MAX_RECV_SPEED_LARGE=2500000"], "/bytes/5000000", |o, _| {
                o.fact("bytes") == "5000000" && o.number("elapsed_ms") > 600
            }),
        ],
    );
    let server = HttpServer::plain();
    let long = format!("POSTFIELDS={}", "x".repeat(100_000));
    if let Some(output) = fetch(run, &[&long, "MAX_SEND_SPEED_LARGE=50000"], &[&server.url("/sum")]) {
        assert!(code(&output) == "0" && output.number("elapsed_ms") > 400, "{output:?}");
    }
}

// covers: CURLOPT_HEADER, CURLOPT_FAILONERROR, CURLOPT_HTTP_CONTENT_DECODING, CURLOPT_HTTP_TRANSFER_DECODING
fn body_handling(run: &Context) {
    rows(
        run,
        &[
            (&["HEADER=1"], "/bytes/100", |o, _| o.number("bytes") > 120),
            (&["FAILONERROR=1"], "/status/404", |o, _| code(o) == "22" && o.fact("bytes") == "0"),
            (&["FAILONERROR=0"], "/status/404", |o, _| code(o) == "0" && o.fact("bytes") == "4"),
            (&["ACCEPT_ENCODING=gzip"], "/gzip/5000", |o, _| o.fact("bytes") == "5000"),
            (&["ACCEPT_ENCODING=gzip", "HTTP_CONTENT_DECODING=0"], "/gzip/5000", |o, _| {
                code(o) == "0" && o.fact("bytes") != "5000"
            }),
            // Ten chunks of ten bytes: "a\r\n" and "\r\n" around each, "0\r\n\r\n" at the end.
            (&["HTTP_TRANSFER_DECODING=0"], "/chunked/100/10", |o, _| o.fact("bytes") == "155"),
        ],
    );
}

// covers: CURLOPT_IGNORE_CONTENT_LENGTH, CURLOPT_HTTP09_ALLOWED, CURLOPT_HTTP200ALIASES
fn odd_answers(run: &Context) {
    let short_length = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n0123456789";
    let expected = [
        ("IGNORE_CONTENT_LENGTH=1", short_length, "0", "10"),
        ("IGNORE_CONTENT_LENGTH=0", short_length, "0", "3"),
        ("HTTP09_ALLOWED=1", "just a body", "0", "11"),
        ("HTTP09_ALLOWED=0", "just a body", "1", "0"),
        ("HTTP200ALIASES=ICY 200 OK", "ICY 200 OK\r\n\r\nradio", "0", "5"),
    ];
    for (option, answer, expected_code, bytes) in expected {
        let peer = RawPeer::start(vec![vec![Step::ExpectBytes(16), send(answer)]]);
        let url = format!("http://127.0.0.1:{}/", peer.port());
        if let Some(output) = fetch(run, &[option], &[&url]) {
            assert_eq!((code(&output), output.fact("bytes")), (expected_code, bytes), "{option}: {output:?}");
        }
    }
}

// covers: CURLOPT_FORBID_REUSE, CURLOPT_FRESH_CONNECT, CURLOPT_MAXCONNECTS, CURLINFO_NUM_CONNECTS
fn reuse(run: &Context) {
    for (option, accepts) in [("FORBID_REUSE=1", 3), ("FRESH_CONNECT=1", 3), ("FORBID_REUSE=0", 1)] {
        let server = HttpServer::plain();
        let url = server.url("/bytes/1");
        if let Some(output) = fetch(run, &[option], &[&url, &url, &url]) {
            assert_eq!(output.facts("code"), ["0"; 3], "{option}: {output:?}");
            assert_eq!(server.accepts(), accepts, "{option}");
            let connects: i64 = output.facts("connects").iter().map(|n| n.parse::<i64>().unwrap_or(0)).sum();
            assert_eq!(connects, accepts as i64, "{option}: {output:?}");
        }
    }
    for (option, accepts) in [("MAXCONNECTS=1", 2), ("MAXCONNECTS=2", 1)] {
        let (one, other) = (HttpServer::plain(), HttpServer::plain());
        // curl dates the use of a connection in milliseconds: two uses within one leave open which is older.
        let urls = [one.url("/bytes/1"), other.url("/delay/20/bytes/1"), one.url("/bytes/1")];
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        if let Some(output) = fetch(run, &[option], &urls) {
            assert_eq!(output.facts("code"), ["0"; 3], "{option}: {output:?}");
            assert_eq!(one.accepts(), accepts, "{option}: {output:?}");
        }
    }
}

// covers: CURLOPT_COOKIEFILE, CURLOPT_COOKIEJAR, CURLOPT_COOKIELIST, CURLOPT_COOKIESESSION
fn cookies(run: &Context) {
    let server = HttpServer::plain();
    let sent = || server.last_request().and_then(|r| r.field("Cookie").map(str::to_owned));
    let jar = run.world.directory.path().join(format!("{}-jar", run.subject.name()));
    let (jar_option, file_option) =
        (format!("COOKIEJAR={}", jar.display()), format!("COOKIEFILE={}", jar.display()));
    if fetch(run, &[&jar_option], &[&server.url("/cookies/set/name/value")]).is_some() {
        let text = std::fs::read_to_string(&jar).expect("the jar was written");
        assert!(text.lines().any(|line| line == "127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue"), "{text}");
        fetch(run, &[&file_option], &[&server.url("/x")]);
        assert_eq!(sent().as_deref(), Some("name=value"));
        fetch(run, &[&file_option, "COOKIESESSION=1"], &[&server.url("/x")]);
        assert_eq!(sent(), None, "a session cookie was kept for another session");
    }
    let list = "COOKIELIST=Set-Cookie: a=b; domain=127.0.0.1; path=/";
    if fetch(run, &[list], &[&server.url("/x")]).is_some() {
        assert_eq!(sent().as_deref(), Some("a=b"));
    }
}

// covers: CURLOPT_NETRC, CURLOPT_NETRC_FILE
fn netrc(run: &Context) {
    let server = HttpServer::plain();
    let text = "machine 127.0.0.1 login me password secret\n";
    let path =
        run.world.directory.write(&format!("{}-netrc", run.subject.name()), text).expect("a file is written");
    let file = format!("NETRC_FILE={}", path.display());
    for (option, expected) in [("NETRC=1", Some("Basic bWU6c2VjcmV0")), ("NETRC=0", None)] {
        if fetch(run, &[option, &file], &[&server.url("/x")]).is_some() {
            let request = server.last_request().expect("a request came");
            assert_eq!(request.field("Authorization"), expected, "{option}");
        }
    }
}

// covers: CURLOPT_PROXY, CURLOPT_PROXYPORT, CURLOPT_PROXYUSERPWD, CURLOPT_PROXYUSERNAME,
// CURLOPT_PROXYPASSWORD,
// CURLOPT_NOPROXY, CURLOPT_PROXYHEADER, CURLOPT_HTTPPROXYTUNNEL
fn http_proxy(run: &Context) {
    const BASIC: Option<&str> = Some("Basic bWU6c2VjcmV0");
    let proxy = HttpServer::plain();
    let (with_port, port) =
        (format!("PROXY=http://127.0.0.1:{}/", proxy.port()), format!("PROXYPORT={}", proxy.port()));
    let far = "http://far.invalid/bytes/7";
    if let Some(output) = fetch(run, &[&with_port], &[far]) {
        assert_eq!((code(&output), output.fact("bytes")), ("0", "7"), "{output:?}");
        assert_eq!(proxy.last_request().map(|r| r.target), Some(far.to_owned()));
    }
    if let Some(output) = fetch(run, &["PROXY=127.0.0.1", &port], &[far]) {
        assert_eq!(code(&output), "0", "{output:?}");
    }
    let names = ["PROXYUSERPWD=me:secret"].as_slice();
    for credentials in [names, &["PROXYUSERNAME=me", "PROXYPASSWORD=secret"]] {
        let options = [&[&*with_port], credentials].concat();
        if fetch(run, &options, &[far]).is_some() {
            let request = proxy.last_request().expect("a request came");
            assert_eq!(request.field("Proxy-Authorization"), BASIC, "{credentials:?}");
            assert_eq!(request.field("Authorization"), None);
        }
    }
    let origin = HttpServer::plain();
    let served = proxy.served();
    if fetch(run, &[&with_port, "NOPROXY=127.0.0.1"], &[&origin.url("/bytes/1")]).is_some() {
        assert_eq!((origin.served(), proxy.served()), (1, served));
    }
    // The test's proxy opens no tunnel: it knows no such path.
    let tunnel = [&*with_port, "HTTPPROXYTUNNEL=1", "PROXYHEADER=X-Proxy: 1"];
    if let Some(output) = fetch(run, &tunnel, &["http://far.invalid:81/"]) {
        assert_ne!(code(&output), "0", "{output:?}");
        let request = proxy.last_request().expect("a request came");
        assert_eq!((&*request.method, &*request.target), ("CONNECT", "far.invalid:81"));
        assert_eq!(request.field("X-Proxy"), Some("1"));
    }
}

// covers: CURLOPT_CAINFO, CURLOPT_PINNEDPUBLICKEY, CURLOPT_SSLVERSION, CURLOPT_SSL_CIPHER_LIST,
// CURLOPT_TLS13_CIPHERS, CURLOPT_SSLCERT, CURLOPT_CRLFILE, CURLOPT_ISSUERCERT, CURLOPT_SSL_ENABLE_ALPN,
// CURLOPT_SSL_EC_CURVES, CURLOPT_SSL_SESSIONID_CACHE
fn tls(run: &Context) {
    let config = || run.world.authority.good().server_config().expect("a usable pair");
    let ca = format!("CAINFO={}", run.world.ca());
    let expected: [(&[&str], &str); 12] = [
        (&["SSLVERSION=7"], "0"),
        (&["SSLVERSION=393222"], "0"), // at least and at most 1.2
        (&["PINNEDPUBLICKEY=sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="], "90"),
        (&["SSL_CIPHER_LIST=NOSUCH"], "59"),
        (&["TLS13_CIPHERS=NOSUCH"], "59"),
        (&["SSLCERT=/nonexistent/cert"], "58"),
        (&["CRLFILE=/nonexistent/crl"], "82"),
        (&["ISSUERCERT=/nonexistent/issuer"], "83"),
        (&["SSL_ENABLE_ALPN=0"], "0"),
        (&["SSL_EC_CURVES=X25519"], "0"),
        (&["SSL_EC_CURVES=NOSUCH"], "59"),
        (&["SSL_SESSIONID_CACHE=0"], "0"),
    ];
    let mut wrong = Vec::new();
    for (options, wanted) in expected {
        let server = HttpServer::tls(config());
        let options = [&[&*ca], options].concat();
        let Some(output) = fetch(run, &options, &[&server.url("/bytes/9")]) else { continue };
        if code(&output) != wanted {
            wrong.push(format!(
                "{options:?}: {} and not {wanted}: {}",
                code(&output),
                output.fact("message")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
