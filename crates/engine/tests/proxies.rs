//! HTTP proxies: what they receive, and their replies.

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::http::{HttpServer, Response};
use testkit::raw::{RawPeer, Step, expect, send};
use warmwire_engine::Easy;
use warmwire_engine::stores::headers::Origin;

fn perform(easy: &Easy) {
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
}

fn list(easy: &Easy, option: O, lines: &[&str]) {
    let lines = lines.iter().map(|line| line.as_bytes().into()).collect();
    easy.state().settings.borrow_mut().set_list(option, Some(lines)).unwrap();
}

fn bytes(easy: &Easy, option: O, value: &[u8]) {
    easy.set_text(option, Some(value)).unwrap();
}

/// A proxy that is also the server at the end of its tunnels.
fn proxy() -> HttpServer {
    HttpServer::with(|request| (request.method == "CONNECT").then(|| Response::ok("")))
}

/// CURLOPT_CONNECT_TO.md: a proxy that receives URLs would ignore it, so a tunnel is used. An entry without
/// an effect changes nothing.
// covers: CURLOPT_CONNECT_TO, --connect-to, CURLOPT_PROXY
#[test]
fn connect_to_elsewhere_makes_a_tunnel() {
    for (entry, target) in [
        ("a.example:80:b.example:81", Some("b.example:81")),
        ("::b.example:", Some("b.example:80")),
        ("::A.example:80", None),
        ("other::b.example:81", None),
    ] {
        let proxy = proxy();
        let (easy, _app) = handle("http://a.example/bytes/1");
        text(&easy, O::Proxy, &proxy.url(""));
        list(&easy, O::ConnectTo, &[entry]);
        perform(&easy);
        let first = &proxy.requests()[0];
        let connect_target = (first.method == "CONNECT").then_some(first.target.as_str());
        assert_eq!(connect_target, target, "{entry}");
        assert_eq!(proxy.last_request().unwrap().field("Host"), Some("a.example"));
    }
}

/// A proxy with a numeric address is used whatever address family is selected; so is a server.
// covers: CURLOPT_IPRESOLVE, --ipv4, --ipv6
#[test]
fn a_numeric_proxy_is_of_any_family() {
    let proxy = proxy();
    for family in [1, 2] {
        let (easy, _app) = handle("http://a.example/bytes/1");
        text(&easy, O::Proxy, &proxy.url(""));
        long(&easy, O::IpResolve, family);
        perform(&easy);
    }
    let (easy, _app) = handle(&proxy.url("/bytes/1"));
    long(&easy, O::IpResolve, 2);
    perform(&easy);
}

/// With CURLHEADER_UNIFIED a CONNECT has the application's own lines; those with secrets are only for the
/// first server.
// covers: CURLOPT_HEADEROPT, CURLOPT_HTTPHEADER, CURLOPT_NOPROXY
#[test]
fn secrets_of_a_direct_server_reach_no_proxy() {
    let proxy = HttpServer::with(|_| Some(Response::status(403)));
    let server = HttpServer::with(|_| Some(Response::status(302).with("Location", "https://b.example/")));
    let secrets = ["Authorization: Bearer abc", "cookie: own=1", "X-Plain: yes"];
    for (unrestricted, authorization) in [(0, None), (1, Some("Bearer abc"))] {
        let (easy, _app) = handle(&server.url("/"));
        text(&easy, O::Proxy, &proxy.url(""));
        text(&easy, O::NoProxy, "127.0.0.1");
        long(&easy, O::HeaderOpt, 0);
        long(&easy, O::FollowLocation, 1);
        long(&easy, O::UnrestrictedAuth, unrestricted);
        list(&easy, O::HttpHeader, &secrets);
        assert_eq!(easy.perform(), Code::CouldntConnect, "the proxy leads nowhere");
        let connect = proxy.last_request().unwrap();
        assert_eq!((connect.method.as_str(), connect.field("X-Plain")), ("CONNECT", Some("yes")));
        assert_eq!(
            (connect.field("Authorization"), connect.field("Cookie").is_some()),
            (authorization, authorization.is_some())
        );
    }
}

/// Credentials for a proxy are bytes: two passwords in Latin-1 differ, and each is sent unchanged.
// covers: CURLOPT_PROXYUSERPWD, CURLOPT_PROXYPASSWORD
#[test]
fn proxy_logins_are_bytes() {
    let proxy = proxy();
    let (easy, _app) = handle("http://a.example/bytes/1");
    text(&easy, O::Proxy, &proxy.url(""));
    long(&easy, O::HttpProxyTunnel, 1);
    for password in [&b"\xe4"[..], b"\xf6", b"\xf6"] {
        bytes(&easy, O::ProxyUserPwd, &[b"m\xfc:", password].concat());
        perform(&easy);
    }
    let sent: Vec<_> =
        proxy.requests().iter().filter_map(|r| r.field("Proxy-Authorization").map(str::to_owned)).collect();
    let wanted = [b"m\xfc:\xe4", b"m\xfc:\xf6"].map(|login| format!("Basic {}", wire::base64::encode(login)));
    assert_eq!(sent, wanted, "one tunnel each, and the second is used again");
    let (easy, _app) = handle("http://a.example/bytes/1");
    bytes(&easy, O::Proxy, &[&b"http://u:\xe4@"[..], proxy.address().to_string().as_bytes()].concat());
    perform(&easy);
    let sent = proxy.last_request().unwrap().field("Proxy-Authorization").map(str::to_owned);
    assert_eq!(sent, Some(format!("Basic {}", wire::base64::encode(b"u:\xe4"))));
}

fn tunnel_through(reply: &str) -> (Code, String, Vec<(String, String)>) {
    let peer = RawPeer::start(vec![vec![
        expect("\r\n\r\n"),
        send(reply),
        expect("\r\n\r\n"),
        send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        Step::Hold,
    ]]);
    let (easy, app) = handle("http://a.example/");
    text(&easy, O::Proxy, &format!("http://127.0.0.1:{}", peer.port()));
    long(&easy, O::HttpProxyTunnel, 1);
    let code = easy.perform();
    let headers = String::from_utf8_lossy(&app.headers.borrow()).into_owned();
    let stored = easy.state().headers.borrow();
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let fields = stored.of(Origin::Connect as u32, Some(0)).into_iter();
    let fields = fields.map(|(_, field)| (lossy(field.name), lossy(field.value))).collect();
    (code, headers, fields)
}

/// A folded field of a CONNECT reply is one field, and one line for the application.
// covers: CURLH_CONNECT
#[test]
fn folded_fields_of_a_connect_reply() {
    let (code, headers, fields) =
        tunnel_through("HTTP/1.1 200 OK\r\nA: one \r\n \t two\r\n\tthree\r\nB: \r\n x\r\n\r\n");
    assert_eq!(code, Code::Ok);
    assert!(headers.starts_with("HTTP/1.1 200 OK\r\nA: one two three\r\nB: x\r\n\r\n"), "{headers}");
    let wanted = [("A", "one two three"), ("B", "x")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(fields, wanted);
}

/// Possible contents of a CONNECT reply, and their effect.
#[test]
fn garbage_in_a_connect_reply() {
    let fine = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    let rows = [
        (fine("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), Code::Ok),
        (fine("Content-Length: no number\r\n"), Code::Ok),
        (fine(": no name\r\nCon nection: what\r\n"), Code::Ok),
        (fine("no colon\r\n"), Code::BadFunctionArgument),
        ("HTTP/1.1 200\r\n\r\n".to_owned(), Code::Ok),
        ("HTTP/1.0 201 \r\n\r\n".to_owned(), Code::Ok),
        ("HTTP/1.1 2000 OK\r\n\r\n".to_owned(), Code::CouldntConnect),
        ("HTTP/2 200 OK\r\n\r\n".to_owned(), Code::CouldntConnect),
        ("200 OK\r\n\r\n".to_owned(), Code::CouldntConnect),
        ("HTTP/1.1 403 No\r\nContent-Length: what\r\n\r\n".to_owned(), Code::WeirdServerReply),
        ("HTTP/1.1 403 No\r\nContent-Length: 9999999999999999999\r\n\r\n".to_owned(), Code::WeirdServerReply),
        ("HTTP/1.1 403 No\r\nContent-Length: 3 bytes\r\n\r\n".to_owned(), Code::CouldntConnect),
    ];
    for (reply, wanted) in rows {
        assert_eq!(tunnel_through(&reply).0, wanted, "{reply}");
    }
}

/// CURLOPT_FAILONERROR also applies to a proxy's refusal, with the same text.
// covers: CURLOPT_FAILONERROR, --fail, CURLOPT_HTTPPROXYTUNNEL
#[test]
fn failonerror_reports_a_refused_tunnel_as_an_http_error() {
    let refused = |reply: &str, login: &str, fail: i64| {
        let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(reply), Step::Finish]]);
        let (easy, _app) = handle("http://a.example/");
        text(&easy, O::Proxy, &format!("http://{login}127.0.0.1:{}", peer.port()));
        long(&easy, O::HttpProxyTunnel, 1);
        long(&easy, O::FailOnError, fail);
        (easy.perform(), easy.state().message())
    };
    let asks = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 2\r\n\r\n";
    for (reply, login, fail, code, words) in [
        (
            "HTTP/1.1 404 No\r\n\r\n".to_owned(),
            "",
            1,
            Code::HttpReturnedError,
            "The requested URL returned error: 404",
        ),
        (
            "HTTP/1.1 404 No\r\n\r\n".to_owned(),
            "",
            0,
            Code::CouldntConnect,
            "CONNECT tunnel failed, response 404",
        ),
        (format!("{asks}no"), "", 1, Code::HttpReturnedError, "The requested URL returned error: 407"),
        (format!("{asks}no"), "u:p@", 1, Code::HttpReturnedError, "HTTP response code said error"),
        (format!("{asks}no"), "u:p@", 0, Code::CouldntConnect, "CONNECT tunnel failed, response 407"),
        (format!("{asks}n"), "", 1, Code::RecvError, "Proxy CONNECT aborted"),
        (
            "\r\nHTTP/1.1 200 OK\r\n\r\n".to_owned(),
            "",
            0,
            Code::CouldntConnect,
            "CONNECT tunnel failed, response 0",
        ),
    ] {
        assert_eq!(refused(&reply, login, fail), (code, words.to_owned()), "{reply:?} {login} {fail}");
    }
}

/// A challenge of a proxy without a length has no body, and is answered on the same connection; after a close
/// a new one is opened.
// covers: CURLOPT_PROXYAUTH, --proxy-digest
#[test]
fn a_proxy_asks_in_its_own_way() {
    let challenge = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n\r\n";
    let established = [send("HTTP/1.1 200 OK\r\n\r\n"), expect("\r\n\r\n")];
    let reply = [send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), Step::Hold];
    let script =
        [&[expect("\r\n\r\n"), send(challenge), expect("\r\n\r\n")], &established[..], &reply].concat();
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = handle("http://a.example/");
    text(&easy, O::Proxy, &format!("http://127.0.0.1:{}", peer.port()));
    text(&easy, O::ProxyUserPwd, "me:secret");
    long(&easy, O::ProxyAuth, 2);
    long(&easy, O::HttpProxyTunnel, 1);
    perform(&easy);
    assert_eq!((peer.accepts(), app.body.borrow().as_slice()), (1, &b"ok"[..]));

    let stale = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"m\", stale=true\r\n";
    let first = vec![expect("\r\n\r\n"), send(challenge), expect("\r\n\r\n"), send(stale), Step::Finish];
    let second = [&[expect("nonce=\"m\""), expect("\r\n\r\n")], &established[..], &reply].concat();
    let peer = RawPeer::start(vec![first, second]);
    text(&easy, O::Proxy, &format!("http://127.0.0.1:{}", peer.port()));
    perform(&easy);
    assert_eq!(peer.accepts(), 2);
}
