//! Successful transfers: each way of driving one, pauses, removal, many at once, requests of each kind.

use std::time::Duration;

use testkit::http::HttpServer;

use super::{WAYS, case, ours, sum};
use crate::runner::{Case, Context};

pub fn cases() -> Vec<Case> {
    vec![
        case("library-is-the-chosen-one", chosen_library),
        case("get-by-easy-perform", easy_perform),
        case("get-by-every-way", every_way),
        case("get-from-nginx", from_nginx),
        case("kept-connection", kept_connection),
        case("idle-connection-closed-by-peer", closed_while_idle),
        case("died-on-reuse-is-replayed", died_on_reuse),
        case("paused-and-resumed", paused),
        case("removed-half-way", removed),
        case("1100-in-parallel", many),
        case("redirects-cookies-auth", redirects),
        case("bodies-of-every-coding", codings),
        case("uploads", uploads),
        case("form-and-post", form),
        ours("small-post-in-one-write", one_write),
        case("file-scheme", file_scheme),
    ]
}

fn chosen_library(run: &Context) {
    let version = run.program("version", &[]).stdout;
    assert_eq!(version.to_lowercase().contains("warmwire"), run.ours(), "{version}");
    assert!(version.starts_with("libcurl/"), "{version}");
}

// covers: curl_easy_perform, CURLOPT_URL, CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA,
// CURLINFO_RESPONSE_CODE
fn easy_perform(run: &Context) {
    let server = HttpServer::plain();
    let output = run.program("fetch", &[&server.url("/bytes/100000")]);
    assert_eq!((output.fact("code"), output.fact("http"), output.fact("sum")), ("0", "200", &*sum(100_000)));
}

// covers: curl_multi_perform, curl_multi_poll, curl_multi_wait, curl_multi_fdset, curl_multi_timeout,
// curl_multi_waitfds, curl_multi_socket_action, curl_multi_info_read, CURLMOPT_SOCKETFUNCTION,
// CURLMOPT_SOCKETDATA, CURLMOPT_TIMERFUNCTION, CURLMOPT_TIMERDATA, CURLOPT_PRIVATE, CURLINFO_PRIVATE
fn every_way(run: &Context) {
    for way in WAYS {
        let server = HttpServer::plain();
        let output = run.program("fetch", &["-w", way, "-n", "10", &server.url("/bytes/100000")]);
        if output.stdout.contains("absent") {
            assert!(!run.ours(), "{way} is missing");
            continue;
        }
        assert_eq!(output.facts("sum"), [&*sum(100_000); 10], "{way}: {output:?}");
        assert_eq!(output.facts("code"), ["0"; 10], "{way}");
        if way == "event" {
            assert_eq!(output.fact("left_watched"), "0", "sockets were not taken back");
        }
    }
}

fn from_nginx(run: &Context) {
    for way in ["easy", "poll", "event"] {
        let (plain, secure) = (run.world.nginx.http("/bytes-335114"), run.world.nginx.https("/bytes-335114"));
        let ca = format!("CAINFO={}", run.world.ca());
        let output = run.program("fetch", &["-w", way, "-n", "3", "-o", &ca, &plain, &secure]);
        assert_eq!(output.facts("sum"), [&*sum(335_114); 6], "{way}: {output:?}");
    }
}

// covers: CURLINFO_NUM_CONNECTS
fn kept_connection(run: &Context) {
    let server = HttpServer::plain();
    let output = run.program("fetch", &["-n", "50", &server.url("/bytes/10"), &server.url("/chunked/99/7")]);
    assert_eq!(output.facts("code"), ["0"; 100]);
    assert_eq!((server.accepts(), server.served()), (1, 100));
    let closing = HttpServer::plain();
    run.program("fetch", &["-n", "3", &closing.url("/last/bytes/10")]);
    assert_eq!(closing.accepts(), 3);
}

fn closed_while_idle(run: &Context) {
    const CLOSES: usize = 20;
    // The first answer allows reuse, then the server closes; the request must not be sent into the void.
    let server = HttpServer::plain();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..CLOSES {
                std::thread::sleep(Duration::from_millis(5));
                let _ = server.close_connections();
            }
        });
        let output = run.program("fetch", &["-n", "200", &server.url("/bytes/10")]);
        let lost = output.facts("code").iter().filter(|code| **code != "0").count();
        // A request may meet the server's close. The distribution's library gives up then, once a close.
        let may_be_lost = if run.ours() { 0 } else { CLOSES };
        assert_eq!(output.facts("code").len(), 200, "{output:?}");
        assert!(lost <= may_be_lost, "{lost} lost: {output:?}");
    });
}

fn died_on_reuse(run: &Context) {
    // Second request on the connection: closed without a byte of reply. A fresh connection must carry it.
    let server = HttpServer::with(|request| {
        use testkit::http::{After, Response};
        (request.serial == 1).then(|| Response::raw("", After::Finish))
    });
    let output = run.program("fetch", &["-n", "4", &server.url("/bytes/10")]);
    assert_eq!(output.facts("code"), ["0"; 4], "{output:?}");
    let output = run.program("fetch", &["-n", "4", "-o", "POSTFIELDS=again", &server.url("/body")]);
    assert_eq!((output.facts("code"), output.facts("bytes")), (vec!["0"; 4], vec!["5"; 4]), "{output:?}");
}

// covers: curl_easy_pause, CURLOPT_READFUNCTION
fn paused(run: &Context) {
    for how in ["outside", "inside", "event"] {
        let server = HttpServer::plain();
        let output = run.program("pause", &[&server.url("/bytes/200000"), how]);
        assert_eq!((output.fact("code"), output.fact("sum")), ("0", &*sum(200_000)), "{how}: {output:?}");
        assert_eq!(output.fact("pauses"), "3", "{how}");
        assert!(output.number("turns") < 1000, "{how} spins: {output:?}");
    }
    let server = HttpServer::plain();
    let output = run.program("pause", &[&server.url("/sum"), "upload"]);
    assert_eq!((output.fact("code"), output.fact("sent")), ("0", "100000"), "{output:?}");
    assert_eq!(server.last_request().map(|request| request.body), Some(vec![b'u'; 100_000]));
}

// covers: curl_multi_remove_handle
fn removed(run: &Context) {
    let server = HttpServer::plain();
    let output = run.program("remove", &[&server.url("/drip/1000/5/bytes/50000"), &server.url("/bytes/777")]);
    assert_eq!(output.fact("half"), "1");
    assert_eq!(output.facts("sum"), [&*sum(777), &*sum(50_000)], "{output:?}");
}

// covers: curl_multi_add_handle
fn many(run: &Context) {
    for way in ["poll", "event"] {
        let server = HttpServer::plain();
        // All answers wait long enough for all connections to be open at once.
        let output = run.program("fetch", &["-w", way, "-n", "1100", &server.url("/delay/1500/bytes/1000")]);
        assert_eq!(output.facts("sum"), vec![&*sum(1000); 1100], "{way}");
        assert_eq!(server.accepts(), 1100, "{way}");
    }
}

fn redirects(run: &Context) {
    let server = HttpServer::plain();
    let output = run.program("fetch", &["-o", "FOLLOWLOCATION=1", &server.url("/redirect/5")]);
    assert_eq!((output.fact("code"), output.fact("redirects")), ("0", "5"), "{output:?}");
    let output =
        run.program("fetch", &["-o", "FOLLOWLOCATION=1", "-o", "MAXREDIRS=2", &server.url("/redirect/5")]);
    assert_eq!(output.fact("code"), "47", "{output:?}");
    assert_eq!(output.fact("message"), "Maximum (2) redirects followed");
    run.program("fetch", &["-o", "COOKIEFILE=", &server.url("/cookies/set/a/b"), &server.url("/cookies")]);
    assert_eq!(
        server.last_request().and_then(|request| request.field("Cookie").map(String::from)),
        Some("a=b".into())
    );
    let output = run.program("fetch", &["-o", "USERPWD=user:secret", &server.url("/basic/user/secret")]);
    assert_eq!(output.fact("http"), "200");
    let output = run.program("fetch", &["-o", "FAILONERROR=1", &server.url("/basic/user/secret")]);
    assert_eq!(output.fact("message"), "The requested URL returned error: 401");
}

// covers: CURLOPT_ACCEPT_ENCODING
fn codings(run: &Context) {
    let server = HttpServer::plain();
    for path in ["/bytes/90000", "/chunked/90000/1", "/chunked/90000/4096", "/close/90000"] {
        assert_eq!(run.program("fetch", &[&server.url(path)]).fact("sum"), sum(90_000), "{path}");
    }
    for path in ["/gzip/90000", "/deflate/90000"] {
        let output = run.program("fetch", &["-o", "ACCEPT_ENCODING=", &server.url(path)]);
        assert_eq!(output.fact("sum"), sum(90_000), "{path} {output:?}");
    }
    let output = run.program("fetch", &["-o", "RANGE=10-19", &server.url("/bytes/1000")]);
    assert_eq!((output.fact("http"), output.fact("bytes")), ("206", "10"));
    let output = run.program("fetch", &["-o", "RESUME_FROM=990", &server.url("/bytes/1000")]);
    assert_eq!((output.fact("code"), output.fact("bytes")), ("0", "10"));
    let output = run.program("fetch", &["-o", "NOBODY=1", &server.url("/bytes/1000")]);
    assert_eq!((output.fact("code"), output.fact("bytes")), ("0", "0"));
}

fn uploads(run: &Context) {
    let server = HttpServer::plain();
    let body = |server: &HttpServer| server.last_request().map(|request| request.body).unwrap_or_default();
    let output = run.program("fetch", &["-o", "POSTFIELDS=a=b&c=d", &server.url("/echo")]);
    assert_eq!((output.fact("code"), body(&server)), ("0", b"a=b&c=d".to_vec()));
    let long = format!("POSTFIELDS={}", "x".repeat(100_000));
    let output =
        run.program("fetch", &["-o", &long, "-o", "HTTPHEADER=Expect: 100-continue", &server.url("/sum")]);
    assert_eq!((output.fact("code"), body(&server).len()), ("0", 100_000), "{output:?}");
    let output = run.program(
        "fetch",
        &[
            "-o",
            "POSTFIELDS=five5",
            "-o",
            "HTTPHEADER=Transfer-Encoding: chunked|X-Own: 1|User-Agent:",
            &server.url("/body"),
        ],
    );
    let request = server.last_request().expect("a request came");
    assert_eq!((output.fact("bytes"), request.field("X-Own")), ("5", Some("1")), "{output:?}");
    assert_eq!(request.body, b"five5");
}

// covers: curl_mime_init, curl_mime_addpart, curl_mime_name, curl_mime_data, curl_mime_filename,
// curl_mime_type, curl_mime_free, CURLOPT_MIMEPOST, curl_easy_reset
fn form(run: &Context) {
    let server = HttpServer::plain();
    let output = run.program("mime", &[&server.url("/sum")]);
    assert_eq!((output.fact("form"), output.fact("post")), ("0", "0"));
    assert_eq!((output.fact("connects"), server.accepts()), ("0", 1), "reset must keep the connection");
    let request = &server.requests()[0];
    let kind = request.field("Content-Type").unwrap_or("");
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").expect("a multipart form");
    let expected = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"field\"\r\n\r\nvalue one\r\n--{boundary}\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"a %22quoted%22 name.txt\"\r\n\
         Content-Type: text/plain\r\n\r\nfile content\n\r\n--{boundary}--\r\n"
    );
    assert_eq!(String::from_utf8_lossy(&request.body), expected);
}

fn one_write(run: &Context) {
    let server = HttpServer::plain();
    run.program("mime", &[&server.url("/sum")]);
    let reads: Vec<usize> = server.requests().iter().map(|request| request.reads).collect();
    assert_eq!(reads, [1, 1], "head and body came apart");
}

fn file_scheme(run: &Context) {
    let path =
        run.world.directory.write("file-scheme", testkit::body::pattern(5000)).expect("a file is written");
    let output = run.program("fetch", &[&format!("file://{}", path.display()), "file:///nonexistent/file"]);
    assert_eq!(output.facts("code"), ["0", "37"], "{output:?}");
    assert_eq!(output.fact("sum"), sum(5000));
    // Newer versions write "Could not".
    assert!(output.facts("message")[1].ends_with(" open file /nonexistent/file"), "{output:?}");
}
