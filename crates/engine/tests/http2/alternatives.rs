//! Alternative services (RFC 7838) that speak HTTP/2, and origins that name them in it.

use std::rc::Rc;
use std::sync::Arc;

use tables::constant::{CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_2_0};
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::frames::FramePeer;
use testkit::http::{Config, HttpServer, Request, Response};
use testkit::temp::TempDir;
use warmwire_engine::Easy;

use super::{App, handle, long, message};
use crate::common::text;

/// Speaks only HTTP/2, and announces an alternative if one is given.
fn h2_server(authority: &Authority, value: Option<String>) -> FramePeer {
    let mut config = (*authority.good().server_config().unwrap()).clone();
    config.alpn_protocols = vec![b"h2".to_vec()];
    FramePeer::tls(Arc::new(config), move |talk| {
        talk.greet(&[])?;
        loop {
            let stream = talk.request()?;
            let mut head = vec![(":status", "200")];
            head.extend(value.as_ref().map(|value| ("alt-svc", &value[..])));
            talk.head(stream, &head, false)?;
            talk.data(stream, b"h2", true)?;
        }
    })
}

fn h1_server(authority: &Authority, value: String) -> HttpServer {
    let tls = Some(authority.good().server_config().unwrap());
    let answer = move |_: &Request| Some(Response::ok("h1").with("Alt-Svc", &*value));
    HttpServer::start(Config { tls, handler: Some(Arc::new(answer)), ..Config::default() }).unwrap()
}

fn asking(port: u16, authority: &Authority, file: &str) -> (Easy, Rc<App>) {
    let (easy, app) = handle(&format!("https://localhost:{port}/"));
    text(&easy, O::CaInfoBlob, authority.ca_pem());
    easy.set_text(O::AltSvc, Some(file.as_bytes())).unwrap();
    (easy, app)
}

/// covers: CURLOPT_ALTSVC, CURLOPT_ALTSVC_CTRL
#[test]
fn an_origin_of_http_1_names_one_of_http_2() {
    let authority = Authority::new();
    let there = h2_server(&authority, None);
    let here = h1_server(&authority, format!("h2=\"localhost:{}\"", there.port()));
    let folder = TempDir::new("altsvc").unwrap();
    let file = folder.path().join("file").to_str().unwrap().to_owned();
    let (easy, app) = asking(here.port(), &authority, &file);
    for (wanted, version) in [("h1", CURL_HTTP_VERSION_1_1), ("h2", CURL_HTTP_VERSION_2_0)] {
        app.notes.replace(Some(String::new()));
        assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
        assert_eq!(&app.body.take()[..], wanted.as_bytes());
        assert_eq!(easy.state().info.borrow().http_version, version);
    }
    let notes = app.notes.take().unwrap();
    let words =
        format!("Alt-svc connecting from [h1]localhost:{} to [h2]localhost:{}", here.port(), there.port());
    assert!(notes.contains(&words) && notes.contains("ALPN: curl offers h2\n"), "{notes}");
    // A transfer that may not, or does not want to, uses the origin.
    for (option, value) in [(O::AltSvcCtrl, 8), (O::HttpVersion, CURL_HTTP_VERSION_1_1)] {
        let (easy, app) = asking(here.port(), &authority, &file);
        long(&easy, option, value);
        for _ in 0..2 {
            assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
            assert_eq!(&app.body.take()[..], b"h1");
        }
    }
    easy.close();
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(
        kept.contains(&format!("h1 localhost {} h2 localhost {} \"", here.port(), there.port())),
        "{kept}"
    );
}

#[test]
fn alternatives_announced_over_http2_are_used() {
    let authority = Authority::new();
    let there = h2_server(&authority, None);
    let here = h2_server(&authority, Some(format!("h2=\":{}\"; ma=60", there.port())));
    let folder = TempDir::new("altsvc").unwrap();
    let file = folder.path().join("file").to_str().unwrap().to_owned();
    let (easy, _) = asking(here.port(), &authority, &file);
    for accepts in [(1, 0), (1, 1), (1, 1)] {
        assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
        assert_eq!((here.accepts(), there.accepts()), accepts);
    }
    easy.close();
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(
        kept.contains(&format!("h2 localhost {} h2 localhost {} \"", here.port(), there.port())),
        "{kept}"
    );
}
