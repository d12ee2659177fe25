//! What a transfer says of itself afterwards (curl_easy_getinfo.md, its TIMES, and the pages of the single infos).

mod common;

use std::os::unix::net::UnixListener;

use common::{handle, long, text};
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
    text(&easy, O::Copypostfields, "name=value");
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
