//! curl's past vulnerabilities that concern what a handle keeps, counts or takes in: bodies that were the
//! wrong ones, stores that mixed hosts, limits that were counted apart. Each names its CVE.
//!
//! covers: CURLOPT_POSTFIELDS, CURLOPT_HSTS_CTRL, CURLOPT_COOKIEFILE

use std::cell::RefCell;
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::common::{handle, long, text};
use tables::constant::CURLAUTH_BEARER;
use tables::{Code, EasyOption as O, LockData};
use testkit::certs::Authority;
use testkit::ftp::{Faults, FtpServer};
use testkit::http::{Config, HttpServer, Response};
use testkit::raw::{RawPeer, expect, send};
use testkit::temp::TempDir;
use warmwire_engine::callbacks::{Callbacks, ChunkAnswer, FileInfo, WriteAnswer};
use warmwire_engine::{Easy, Share};
use wire::base64::decode;

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    std::io::Write::write_all(&mut encoder, plain).unwrap();
    encoder.finish().unwrap()
}

fn perform(easy: &Easy) {
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
}

/// CVE-2023-28322: a POST after a PUT sends its own fields, not data of the read callback.
#[test]
fn a_post_behind_a_put_sends_its_fields() {
    let server = HttpServer::plain();
    let (easy, app) = handle(&server.url("/body"));
    *app.upload.borrow_mut() = b"from the callback".to_vec();
    long(&easy, O::Upload, 1);
    long(&easy, O::InFileSizeLarge, 17);
    perform(&easy);
    app.read_at.set(0);
    long(&easy, O::Post, 1);
    text(&easy, O::CopyPostFields, "own fields");
    perform(&easy);
    let last = server.last_request().unwrap();
    assert_eq!((last.method.as_str(), last.body.as_slice()), ("POST", &b"own fields"[..]));
    assert_eq!(app.read_at.get(), 0);
}

/// CVE-2010-0734: no write is longer than CURL_MAX_WRITE_SIZE, unpacked bodies among them.
#[test]
fn writes_are_never_longer_than_the_limit() {
    struct Longest(RefCell<usize>);
    struct Sink(Rc<Longest>);
    impl Callbacks for Sink {
        fn write(&self, data: &[u8]) -> WriteAnswer {
            let mut longest = self.0.0.borrow_mut();
            *longest = data.len().max(*longest);
            WriteAnswer::All
        }
    }
    let server = HttpServer::plain();
    for path in ["/gzip/1000000", "/bytes/1000000"] {
        let longest = Rc::new(Longest(RefCell::new(0)));
        let easy = Easy::new(Rc::new(Sink(longest.clone())));
        text(&easy, O::Url, &server.url(path));
        text(&easy, O::AcceptEncoding, "gzip");
        perform(&easy);
        assert_eq!(easy.state().info.borrow().delivered, 1_000_000, "{path}");
        assert!(*longest.0.borrow() <= 16 * 1024, "{path}");
    }
}

/// CVE-2023-23916: the limit of stacked codings applies to all header lines together. The
/// body is sound: a damaged one would fail without any limit.
#[test]
fn codings_are_counted_over_all_lines() {
    for (codings, code) in [(5, Code::Ok), (6, Code::BadContentEncoding)] {
        let server = HttpServer::with(move |_| {
            let body = (0..codings).fold(b"x".to_vec(), |body, _| gzip(&body));
            let add = |response: Response, _| response.with("Content-Encoding", "gzip");
            Some((0..codings).fold(Response::ok(body), add))
        });
        let (easy, app) = handle(&server.url("/"));
        text(&easy, O::AcceptEncoding, "gzip");
        assert_eq!(easy.perform(), code, "{codings}: {}", easy.state().message());
        assert_eq!(*app.body.borrow() == b"x", code == Code::Ok);
    }
}

/// CVE-2023-38546: a copied handle reads no file that was not named.
#[test]
fn a_copied_handle_reads_no_file_called_none() {
    struct Planted;
    impl Drop for Planted {
        fn drop(&mut self) {
            let _ = std::fs::remove_file("none");
        }
    }
    let planted = Planted;
    std::fs::write("none", "127.0.0.1\tFALSE\t/\tFALSE\t0\tplanted\tx\n").unwrap();
    let server = HttpServer::with(|_| Some(Response::ok("x").with("Set-Cookie", "own=1")));
    let (easy, _app) = handle(&server.url("/"));
    easy.set_text(O::CookieFile, Some(b"")).unwrap();
    perform(&easy);
    let (_, other) = handle("http://unused.example/");
    let copy = easy.duplicate(Rc::new(crate::common::Callee(other)));
    perform(&copy);
    drop(planted);
    assert_eq!(server.last_request().unwrap().field("Cookie"), None);
}

/// CVE-2022-27775: the same address in two zones is two hosts.
#[test]
fn zones_tell_connections_apart() {
    let address = Some("[::1]:0".parse().unwrap());
    let server = HttpServer::start(Config { address, ..Config::default() }).expect("IPv6 on the loopback");
    let url = |zone| format!("http://[::1%25{zone}]:{}/bytes/1", server.port());
    let (easy, _app) = handle(&url(1));
    perform(&easy);
    perform(&easy);
    assert_eq!(server.accepts(), 1);
    text(&easy, O::Url, &url(2));
    // The second zone may lead nowhere on this machine; it must not lead to the first one's connection.
    let code = easy.perform();
    assert!(server.accepts() == 2 || code == Code::CouldntConnect, "{code:?}");
}

/// CVE-2022-42916: a full stop of another script is one for HSTS, too.
#[test]
fn hsts_looks_at_the_host_that_is_asked() {
    let authority = Authority::new();
    let strict = |_: &_| Some(Response::status(200).with("Strict-Transport-Security", "max-age=600"));
    let tls = Some(authority.for_names(&["strict.localhost"]).server_config().unwrap());
    let server =
        HttpServer::start(Config { tls, handler: Some(std::sync::Arc::new(strict)), ..Config::default() });
    let server = server.unwrap();
    let share = Share::default();
    share.set_kind(LockData::Hsts, true);
    let (easy, _app) = handle(&format!("https://strict.localhost:{}/", server.port()));
    easy.set_share(Some(share));
    text(&easy, O::CaInfoBlob, authority.ca_pem());
    let entry = format!("strict.localhost:{}:127.0.0.1", server.port());
    easy.state().settings.borrow_mut().set_list(O::Resolve, Some(vec![entry.as_bytes().into()])).unwrap();
    perform(&easy);
    text(&easy, O::ProtocolsStr, "http");
    for host in ["strict.localhost", "strict\u{3002}localhost", "STRICT.localhost."] {
        text(&easy, O::Url, &format!("http://{host}:1/"));
        assert_eq!(easy.perform(), Code::UnsupportedProtocol, "{host} has become https");
    }
}

/// CVE-2025-14524: a bearer token is not for FTP, where a redirect may lead.
#[test]
fn a_bearer_token_stays_with_http() {
    let ftp = FtpServer::with_file("/file", "x");
    let to = ftp.url("/file");
    let http = HttpServer::with(move |_| Some(Response::status(302).with("Location", &*to)));
    let (easy, _app) = handle(&http.url("/"));
    long(&easy, O::FollowLocation, 1);
    text(&easy, O::RedirProtocolsStr, "ftp");
    text(&easy, O::Xoauth2Bearer, "token");
    long(&easy, O::HttpAuth, CURLAUTH_BEARER as i64);
    perform(&easy);
    assert!(ftp.commands().contains(&"USER anonymous".to_owned()));
    assert!(!ftp.commands().iter().any(|command| command.contains("token")), "{:?}", ftp.commands());
}

/// CVE-2025-14524: nor to a mail server, which would understand it.
#[test]
fn a_bearer_token_does_not_turn_to_mail() {
    // user=me, auth=Bearer token
    const PROOF: &str = "dXNlcj1tZQFhdXRoPUJlYXJlciB0b2tlbgEB";
    for (scheme, greeting, asked, ways, go_on) in [
        ("imap", "* OK hi\r\n", " CAPABILITY\r\n", "* CAPABILITY AUTH=XOAUTH2\r\nA001 OK\r\n", "+ \r\n"),
        ("pop3", "+OK hi\r\n", "CAPA\r\n", "+OK\r\nSASL XOAUTH2\r\n.\r\n", "+ \r\n"),
        ("smtp", "220 hi\r\n", "EHLO client\r\n", "250 AUTH XOAUTH2\r\n", "334 \r\n"),
    ] {
        let heard = |redirected: bool| {
            // IMAP's tags say which of the handle's connections it is.
            let ways = if redirected { &ways.replace("A001", "B001") } else { ways };
            let mut script = vec![send(greeting), expect(asked), send(ways)];
            // Any other line than the login is not answered.
            script.extend(if redirected {
                vec![expect("\r\n")]
            } else {
                vec![expect("AUTH"), send(go_on), expect(PROOF)]
            });
            let peer = RawPeer::start(vec![script]);
            let to = format!("{scheme}://me@127.0.0.1:{}/client", peer.port());
            let mail = to.clone();
            let http = HttpServer::with(move |_| Some(Response::status(302).with("Location", &*mail)));
            let from = if redirected { http.url("/") } else { to };
            let (easy, _app) = handle(&from);
            long(&easy, O::FollowLocation, 1);
            text(&easy, O::RedirProtocolsStr, scheme);
            text(&easy, O::Xoauth2Bearer, "token");
            long(&easy, O::HttpAuth, CURLAUTH_BEARER as i64);
            assert_ne!(easy.perform(), Code::Ok, "{scheme}");
            easy.close();
            String::from_utf8(peer.received().concat()).unwrap()
        };
        let has_token = |text: &str| {
            let is_token =
                |word: &str| decode(word.as_bytes()).is_some_and(|b| b.windows(5).any(|w| w == b"token"));
            text.split_ascii_whitespace().any(is_token)
        };
        assert!(has_token(&heard(false)), "{scheme}: who is asked by name hears it");
        let text = heard(true);
        assert!(!text.is_empty() && !text.contains("XOAUTH2") && !has_token(&text), "{scheme}: {text}");
    }
}

/// Redirects lead only to HTTP and FTP by default: not to a local file, and not to a server that would
/// interpret a URL as commands.
// covers: CURLOPT_REDIR_PROTOCOLS_STR
#[test]
fn redirects_lead_to_http_and_ftp_only() {
    let dir = TempDir::new("redirect").unwrap();
    let file = format!("file://{}", dir.write("own", "own").unwrap().display());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let others =
        ["gopher", "dict", "telnet", "smtp", "ldap", "scp"].map(|s| format!("{s}://127.0.0.1:{port}/x"));
    let last = HttpServer::plain();
    let plain = last.url("/bytes/1");
    let get = |to: &str, set: &dyn Fn(&Easy)| {
        let to = to.to_owned();
        let first = HttpServer::with(move |_| Some(Response::status(302).with("Location", &*to)));
        let (easy, app) = handle(&first.url("/"));
        long(&easy, O::FollowLocation, 1);
        set(&easy);
        let code = easy.perform();
        assert_eq!((first.served(), app.body.take().len()), (1, usize::from(code == Code::Ok)));
        code
    };
    for to in others.iter().chain([&file]) {
        assert_eq!(get(to, &|_| {}), Code::UnsupportedProtocol, "{to}");
    }
    assert_eq!(get(&plain, &|_| {}), Code::Ok);
    let no_http = |easy: &Easy| text(easy, O::RedirProtocolsStr, "https");
    assert_eq!(get(&plain, &no_http), Code::UnsupportedProtocol);
    assert_eq!(last.served(), 1);
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "somebody was connected to");
}

/// The contents of a .netrc file cannot be a command.
#[test]
fn a_login_of_a_file_is_no_command() {
    let server = FtpServer::with_file("/file", "x");
    let dir = TempDir::new("netrc").unwrap();
    for entry in ["login \"me\\r\\nDELE file\" password x", "login me password \"x\\nDELE file\""] {
        let name = dir.write("netrc", format!("machine 127.0.0.1 {entry}\n")).unwrap();
        let (easy, _app) = handle(&server.url("/file"));
        long(&easy, O::Netrc, 1);
        text(&easy, O::NetrcFile, name.to_str().unwrap());
        assert_eq!(easy.perform(), Code::ReadError, "{entry}: {}", easy.state().message());
    }
    assert!(!server.commands().iter().any(|command| command.contains("DELE")), "{:?}", server.commands());
}

/// CVE-2020-8284: the address in a reply to PASV is not one to connect to.
#[test]
fn pasv_leads_to_the_host_that_was_asked() {
    let elsewhere = TcpListener::bind("127.0.0.9:0").unwrap();
    let port = elsewhere.local_addr().unwrap().port();
    let reply = format!("227 Entering (127,0,0,9,{},{})", port >> 8, port & 255);
    let faults = Faults { pasv_reply: Some(reply), ..Faults::default() };
    let server = FtpServer::with_faults("/file", "x", faults);
    let (easy, _app) = handle(&server.url("/file"));
    long(&easy, O::FtpUseEpsv, 0);
    long(&easy, O::TimeoutMs, 5000);
    assert_ne!(easy.perform(), Code::Ok);
    elsewhere.set_nonblocking(true).unwrap();
    let came: Result<(TcpStream, _), _> = elsewhere.accept();
    assert!(came.is_err(), "somebody connected to another host");
}

/// CVE-2020-8285: entries that the application skips cost no stack.
#[test]
fn thousands_of_skipped_entries() {
    struct Skips;
    impl Callbacks for Skips {
        fn chunk_begin(&self, _: &FileInfo, _: usize) -> ChunkAnswer {
            ChunkAnswer::Skip
        }
    }
    let files = (0..20_000).map(|n| (format!("/dir/f{n}"), Vec::new())).collect();
    let server = FtpServer::start(testkit::ftp::Config { files, ..Default::default() }).unwrap();
    let easy = Easy::new(Rc::new(Skips));
    text(&easy, O::Url, &server.url("/dir/f*"));
    long(&easy, O::WildcardMatch, 1);
    perform(&easy);
    assert!(!server.commands().iter().any(|command| command.starts_with("RETR")));
}
