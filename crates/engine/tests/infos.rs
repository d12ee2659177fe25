//! Infos after a transfer (curl_easy_getinfo.md, its TIMES, and the pages of the single infos).

use std::os::unix::net::UnixListener;

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::body::pattern;
use testkit::ftp::FtpServer;
use testkit::http::HttpServer;

/// covers: CURLINFO_QUEUE_TIME_T, CURLINFO_POSTTRANSFER_TIME_T, CURLINFO_STARTTRANSFER_TIME_T
#[test]
fn moments_come_in_their_order() {
    let http = HttpServer::plain();
    let ftp = FtpServer::with_file("/file", pattern(2000));
    for (url, upload) in [
        (http.url("/delay/20/bytes/100"), false),
        (http.url("/sum"), true),
        (ftp.url("/file"), false),
        (ftp.url("/other"), true),
    ] {
        let (easy, app) = handle(&url);
        *app.upload.borrow_mut() = vec![b'x'; 1000];
        long(&easy, O::Upload, upload.into());
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        let i = easy.state().info.borrow();
        assert!(!i.queued.is_zero() && i.queued <= i.name_lookup, "{url}: {i:?}");
        assert!(i.pre_transfer <= i.post_transfer && i.post_transfer <= i.total, "{url}: {i:?}");
        assert!(!i.post_transfer.is_zero(), "{url}: {i:?}");
        if !upload {
            assert!(i.post_transfer <= i.start_transfer, "{url}: {i:?}");
        }
    }
}

/// covers: CURLINFO_NUM_CONNECTS
#[test]
fn data_connections_are_connections() {
    let ftp = FtpServer::with_file("/file", pattern(2000));
    let (easy, _app) = handle(&ftp.url("/file"));
    for connects in [2, 1] {
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        assert_eq!(easy.state().info.borrow().connects, connects);
    }
}

/// covers: CURLINFO_REQUEST_SIZE
#[test]
fn a_request_is_as_large_as_what_was_sent() {
    let server = HttpServer::plain();
    let (easy, _app) = handle(&server.url("/echo"));
    text(&easy, O::CopyPostFields, "name=value");
    assert_eq!(easy.perform(), Code::Ok);
    let request = server.last_request().unwrap();
    let size = easy.state().info.borrow().request_size;
    assert_eq!(size, (request.head.len() + request.body.len()) as i64);
}

/// covers: CURLINFO_PRIMARY_PORT, CURLINFO_LOCAL_PORT
#[test]
fn a_unix_socket_has_no_ports() {
    let folder = testkit::temp::TempDir::new("ports").unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut peer, _) = listener.accept().unwrap();
        let _ = peer.read(&mut [0; 4096]).unwrap();
        peer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
    });
    let (easy, _app) = handle("http://host/");
    text(&easy, O::UnixSocketPath, path.to_str().unwrap());
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    let ends = easy.state().info.borrow().ends;
    assert_eq!((ends.primary_port(), ends.local_port()), (-1, -1));
    server.join().unwrap();
}

/// Which times are set, as curl 8.22 was seen to set them: queue, name look-up, connect, app-connect,
/// pre-transfer, post-transfer, start-transfer, redirect. Each URL is fetched twice by one handle.
// covers: CURLINFO_APPCONNECT_TIME_T, CURLINFO_CONNECT_TIME_T, CURLINFO_NAMELOOKUP_TIME_T,
// CURLINFO_PRETRANSFER_TIME_T
// covers: CURLINFO_REDIRECT_TIME_T, CURLINFO_TOTAL_TIME_T
#[test]
fn times_are_set_as_curl_sets_them() {
    let authority = testkit::certs::Authority::new();
    let http = HttpServer::plain();
    let https = HttpServer::tls(authority.good().server_config().unwrap());
    let ftp = FtpServer::with_file("/file", pattern(2000));
    let empty = FtpServer::with_file("/empty", Vec::new());
    let folder = testkit::temp::TempDir::new("times").unwrap();
    std::fs::write(folder.path().join("full"), b"abc").unwrap();
    std::fs::write(folder.path().join("empty"), b"").unwrap();
    let file = |name: &str| format!("file://{}/{name}", folder.path().display());
    let (get, put, head) = (None, Some(O::Upload), Some(O::NoBody));
    for (url, how, code, first, second) in [
        (http.url("/bytes/10"), get, Code::Ok, "+++-+++-", "+---+++-"),
        (http.url("/bytes/0"), get, Code::Ok, "+++-+++-", "+---+++-"),
        (http.url("/bytes/10"), head, Code::Ok, "+++-+++-", "+---+++-"),
        (http.url("/sum"), put, Code::Ok, "+++-+++-", "+---+++-"),
        (https.url("/bytes/10"), get, Code::Ok, "+++++++-", "+---+++-"),
        (ftp.url("/file"), get, Code::Ok, "+++-+++-", "+---+++-"),
        (empty.url("/empty"), get, Code::Ok, "+++-+++-", "+---+++-"),
        (ftp.url("/"), get, Code::Ok, "+++-+++-", "+---+++-"),
        (ftp.url("/other"), put, Code::Ok, "+++-+++-", "+---+++-"),
        (ftp.url("/file"), head, Code::Ok, "+++-+++-", "+---+++-"),
        (ftp.url("/none"), get, Code::RemoteFileNotFound, "+++-+++-", "+---+++-"),
        (file("full"), get, Code::Ok, "++--+++-", "++--+++-"),
        (file("empty"), get, Code::Ok, "++--+++-", "++--+++-"),
        (file("full"), head, Code::Ok, "++--+++-", "++--+++-"),
        (file("new"), put, Code::Ok, "++--++--", "++--++--"),
        (file("none"), get, Code::FileCouldntReadFile, "----+++-", "----+++-"),
        ("http://127.0.0.1:1/".to_owned(), get, Code::CouldntConnect, "++--+++-", "++--+++-"),
        ("http://a b/".to_owned(), get, Code::UrlMalformat, "----+++-", "----+++-"),
        ("unknown://host/".to_owned(), get, Code::UnsupportedProtocol, "----+++-", "----+++-"),
    ] {
        let (easy, app) = handle(&url);
        text(&easy, O::CaInfoBlob, authority.ca_pem());
        *app.upload.borrow_mut() = vec![b'x'; 1000];
        how.into_iter().for_each(|option| long(&easy, option, 1));
        for wanted in [first, second] {
            assert_eq!(easy.perform(), code, "{url}: {}", easy.state().message());
            let i = easy.state().info.borrow();
            let before = [i.queued, i.name_lookup, i.connect, i.app_connect];
            let after = [i.pre_transfer, i.post_transfer, i.start_transfer, i.rare.redirect];
            let set = |time: &warmwire_engine::info::Nanos| if time.is_zero() { '-' } else { '+' };
            let seen: String = before.iter().chain(&after).map(set).collect();
            assert_eq!(seen, wanted, "{url} {how:?}: {i:?}");
            // A server may answer before it has heard all of an upload.
            let ordered = if how == put { &after[..2] } else { &after };
            assert!(ordered.iter().filter(|time| !time.is_zero()).is_sorted(), "{url} {how:?}: {i:?}");
        }
    }
}
