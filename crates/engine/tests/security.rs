//! curl's past vulnerabilities that concern HTTP, as scenarios: credentials that went to others, connections
//! that were used by others, cookies from others. Each names its CVE.
//!
//! covers: CURLOPT_UNRESTRICTED_AUTH, CURLOPT_HTTPAUTH, CURLOPT_PROXYAUTH, CURLOPT_NETRC, CURLOPT_NETRC_FILE,
//! CURLOPT_XOAUTH2_BEARER, CURLOPT_AUTOREFERER

use std::collections::HashSet;
use std::sync::Mutex;

use crate::common::{handle, long, text};
use tables::constant::{
    CURLAUTH_ANY, CURLAUTH_BEARER, CURLAUTH_DIGEST, CURLAUTH_NTLM, CURLHTTPSIG_HMAC_SHA256,
};
use tables::{Code, EasyOption as O};
use testkit::ftp::FtpServer;
use testkit::http::{HttpServer, Request, Response};
use testkit::temp::TempDir;
use warmwire_engine::{Easy, Multi};

const NONCE: &str = "Digest realm=\"r\", nonce=\"from-a\", qop=\"auth\"";

/// Sends everybody on to this URL.
fn redirecting(to: String) -> HttpServer {
    HttpServer::with(move |_| Some(Response::status(302).with("Location", &*to)))
}

fn follow(easy: &Easy) {
    long(easy, O::FollowLocation, 1);
    long(easy, O::Netrc, 0);
}

fn authorization(server: &HttpServer) -> Vec<String> {
    let all =
        |request: &Request| request.all("Authorization").iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
    server.requests().iter().flat_map(all).collect()
}

fn perform(easy: &Easy) {
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
}

/// Sets all kinds of credentials for the first server, and a line that is not a credential.
fn prove(easy: &Easy) {
    text(easy, O::UserPwd, "me:secret");
    text(easy, O::Cookie, "session=1");
    let lines = ["Authorization: Custom abc", "Cookie: own=1", "X-Plain: yes"];
    let lines = lines.iter().map(|l| l.as_bytes().into()).collect();
    easy.state().settings.borrow_mut().set_list(O::HttpHeader, Some(lines)).unwrap();
}

/// CVE-2018-1000007, CVE-2022-27776: credentials are only sent to the host and port that they were set for.
#[test]
fn a_redirect_to_another_port_gets_no_credentials() {
    let b = HttpServer::plain();
    let a = redirecting(b.url("/bytes/1"));
    let (easy, _app) = handle(&a.url("/x"));
    follow(&easy);
    prove(&easy);
    perform(&easy);
    assert_eq!(authorization(&a), ["Custom abc"]);
    let last = b.last_request().unwrap();
    assert_eq!((last.field("Authorization"), last.field("Cookie")), (None, None));
    assert_eq!(last.field("X-Plain"), Some("yes"));
}

/// CVE-2018-1000007: nor to another host on the same port, here behind the same proxy.
#[test]
fn a_redirect_to_another_host_gets_no_credentials() {
    let proxy = HttpServer::with(|request| {
        let first = request.field("Host") == Some("a.example");
        Some(if first {
            Response::status(302).with("Location", "http://b.example/")
        } else {
            Response::ok("b")
        })
    });
    let (easy, _app) = handle("http://a.example/");
    follow(&easy);
    text(&easy, O::Proxy, &proxy.url(""));
    prove(&easy);
    perform(&easy);
    assert_eq!(authorization(&proxy), ["Custom abc"]);
    let last = proxy.last_request().unwrap();
    assert_eq!((last.field("Host"), last.field("Cookie")), (Some("b.example"), None));
    assert_eq!(last.field("X-Plain"), Some("yes"));
}

/// A login in a URL is for its server, too: a redirect to another does not use it, one to the same server
/// keeps it.
#[test]
fn a_login_in_a_url_does_not_follow() {
    let b = HttpServer::plain();
    let to = b.url("/bytes/1");
    let a = HttpServer::with(move |request| {
        let next = if request.target == "/x" { "/y" } else { &*to };
        Some(Response::status(302).with("Location", next))
    });
    let (easy, _app) = handle(&a.url("/x").replace("http://", "http://me:secret@"));
    follow(&easy);
    perform(&easy);
    assert_eq!(authorization(&a), ["Basic bWU6c2VjcmV0"; 2]);
    assert_eq!((b.served(), authorization(&b)), (1, Vec::new()));
}

/// Nor does another server get a signature, the first one's name, or the cookies that were set under that
/// name.
// covers: CURLOPT_HTTPSIG_ALGORITHM, CURLOPT_HTTPSIG_KEY, CURLOPT_HTTPSIG_KEYID, CURLOPT_HTTPHEADER
#[test]
fn fields_for_the_first_server_stay_with_it() {
    let b = HttpServer::plain();
    let to = b.url("/bytes/1");
    let a = HttpServer::with(move |_| {
        Some(Response::status(302).with("Location", &*to).with("Set-Cookie", "a=1"))
    });
    let (easy, _app) = handle(&a.url("/x"));
    follow(&easy);
    easy.set_text(O::CookieFile, Some(b"")).unwrap();
    long(&easy, O::HttpSigAlgorithm, CURLHTTPSIG_HMAC_SHA256);
    text(&easy, O::HttpSigKey, "00ff");
    text(&easy, O::HttpSigKeyId, "me");
    let own = vec![b"Host: first.example"[..].into()];
    easy.state().settings.borrow_mut().set_list(O::HttpHeader, Some(own)).unwrap();
    for cookie in [None, Some("a=1")] {
        perform(&easy);
        let (first, last) = (a.last_request().unwrap(), b.last_request().unwrap());
        assert_eq!((first.field("Host"), first.field("Cookie")), (Some("first.example"), cookie));
        assert!(first.field("Signature").is_some());
        assert_eq!(last.field("Host"), b.url("").strip_prefix("http://"));
        for field in ["Signature", "Signature-Input", "Cookie"] {
            assert_eq!(last.field(field), None, "{field}");
        }
    }
}

/// With CURLOPT_UNRESTRICTED_AUTH every host gets the credentials.
#[test]
fn unless_the_application_says_so() {
    let b = HttpServer::plain();
    let a = redirecting(b.url("/bytes/1"));
    let (easy, _app) = handle(&a.url("/x"));
    follow(&easy);
    text(&easy, O::UserPwd, "me:secret");
    long(&easy, O::UnrestrictedAuth, 1);
    perform(&easy);
    assert_eq!(authorization(&b), ["Basic bWU6c2VjcmV0"]);
}

/// CVE-2026-11856: Digest state of one host is of no use for another, whether the first accepted the answer
/// or not.
#[test]
fn digest_state_stays_with_its_host() {
    for accepts in [false, true] {
        let a = HttpServer::with(move |request| {
            let accepted = accepts && request.field("Authorization").is_some();
            let refused = || Response::status(401).with("WWW-Authenticate", NONCE);
            Some(if accepted { Response::ok("a") } else { refused() })
        });
        let b = HttpServer::plain();
        let (easy, _app) = handle(&a.url("/x"));
        text(&easy, O::UserPwd, "me:secret");
        long(&easy, O::HttpAuth, CURLAUTH_DIGEST as i64);
        perform(&easy);
        assert_eq!(authorization(&a).len(), 1, "the answer to the challenge");
        text(&easy, O::Url, &b.url("/bytes/1"));
        perform(&easy);
        assert_eq!(authorization(&b), Vec::<String>::new(), "{accepts}");
    }
}

/// CVE-2026-7168: nor does a second proxy receive the first one's nonce.
#[test]
fn proxy_digest_state_stays_with_its_proxy() {
    for accepts in [false, true] {
        let a = HttpServer::with(move |request| {
            let accepted = accepts && request.field("Proxy-Authorization").is_some();
            let refused = || Response::status(407).with("Proxy-Authenticate", NONCE);
            Some(if accepted { Response::ok("a") } else { refused() })
        });
        let b = HttpServer::with(|_| Some(Response::ok("b")));
        let (easy, _app) = handle("http://origin.example/");
        text(&easy, O::Proxy, &a.url(""));
        text(&easy, O::ProxyUserPwd, "me:secret");
        long(&easy, O::ProxyAuth, CURLAUTH_DIGEST as i64);
        perform(&easy);
        assert!(a.last_request().unwrap().field("Proxy-Authorization").unwrap().contains("from-a"));
        text(&easy, O::Proxy, &b.url(""));
        perform(&easy);
        assert_eq!(b.last_request().unwrap().field("Proxy-Authorization"), None, "{accepts}");
    }
}

/// CVE-2026-9079, CVE-2026-9546: NULL forgets a proxy's password and a referer.
#[test]
fn null_forgets() {
    let proxy = HttpServer::with(|_| Some(Response::ok("b")));
    for login in
        [&[(O::ProxyUserPwd, "me:secret")][..], &[(O::ProxyUsername, "me"), (O::ProxyPassword, "secret")]]
    {
        let (easy, _app) = handle("http://origin.example/");
        text(&easy, O::Proxy, &proxy.url(""));
        let given = || login.iter().chain(&[(O::Referer, "http://before.example/")]);
        given().for_each(|(option, value)| text(&easy, *option, value));
        perform(&easy);
        let first = proxy.last_request().unwrap();
        assert_eq!(first.field("Proxy-Authorization"), Some("Basic bWU6c2VjcmV0"));
        assert!(first.field("Referer").is_some());
        for (option, _) in given() {
            easy.state().settings.borrow_mut().set_text(*option, None).unwrap();
        }
        perform(&easy);
        let second = proxy.last_request().unwrap();
        assert_eq!((second.field("Proxy-Authorization"), second.field("Referer")), (None, None), "{login:?}");
    }
}

/// CVE-2024-11053, CVE-2026-6429: an incomplete .netrc entry is not completed from another host's, also if
/// both are reached over one connection to a proxy.
#[test]
fn netrc_entries_are_not_mixed() {
    for (other, theirs) in [
        ("default\n", None),
        ("machine b.example\n", None),
        ("machine b.example\nlogin bob\n", Some("Basic Ym9iOg==")),
        ("machine b.example\npassword his\n", Some("Basic Omhpcw==")),
    ] {
        let dir = TempDir::new("netrc").unwrap();
        let file =
            dir.write("netrc", format!("machine a.example\nlogin alice\npassword hers\n{other}")).unwrap();
        let proxy = HttpServer::with(|request| {
            let to = "http://b.example/";
            let first = request.field("Host") == Some("a.example");
            Some(if first { Response::status(302).with("Location", to) } else { Response::ok("b") })
        });
        let (easy, _app) = handle("http://a.example/");
        follow(&easy);
        text(&easy, O::Proxy, &proxy.url(""));
        long(&easy, O::Netrc, 1);
        text(&easy, O::NetrcFile, file.to_str().unwrap());
        perform(&easy);
        assert_eq!(authorization(&proxy)[0], "Basic YWxpY2U6aGVycw==");
        assert_eq!(proxy.last_request().unwrap().field("Authorization"), theirs, "{other}");
        assert_eq!((proxy.accepts(), proxy.served()), (1, 2));
    }
}

/// CVE-2026-3783: a bearer token does not follow to a host that has a .netrc entry.
#[test]
fn a_bearer_token_does_not_follow() {
    let dir = TempDir::new("bearer").unwrap();
    let file = dir.write("netrc", "default login bob password his\n").unwrap();
    let b = HttpServer::plain();
    let a = redirecting(b.url("/bytes/1"));
    let (easy, _app) = handle(&a.url("/x"));
    follow(&easy);
    text(&easy, O::Xoauth2Bearer, "token");
    long(&easy, O::HttpAuth, CURLAUTH_BEARER as i64);
    long(&easy, O::Netrc, 1);
    text(&easy, O::NetrcFile, file.to_str().unwrap());
    perform(&easy);
    assert_eq!(authorization(&a), ["Bearer token"]);
    assert_eq!(authorization(&b), Vec::<String>::new());
}

/// CVE-2021-22876: the referer of a redirect contains neither password nor fragment.
#[test]
fn the_automatic_referer_is_clean() {
    let b = HttpServer::plain();
    let a = redirecting(b.url("/bytes/1"));
    let url = a.url("/x#part").replace("http://", "http://me:secret@");
    let (easy, _app) = handle(&url);
    follow(&easy);
    long(&easy, O::AutoReferer, 1);
    perform(&easy);
    assert_eq!(b.last_request().unwrap().field("Referer"), Some(a.url("/x").as_str()));
}

/// CVE-2015-3236: a handle that was reset does not remember who used it.
#[test]
fn a_reset_handle_has_no_credentials() {
    let server = HttpServer::plain();
    let (easy, _app) = handle(&server.url("/bytes/1"));
    text(&easy, O::UserPwd, "me:secret");
    perform(&easy);
    easy.reset();
    text(&easy, O::Url, &server.url("/bytes/1"));
    perform(&easy);
    assert_eq!(server.last_request().unwrap().field("Authorization"), None);
    assert_eq!(server.accepts(), 1);
}

/// CVE-2003-1605, CVE-2026-3784: a tunnel's password is sent only to the proxy, and a tunnel opened by one
/// user serves no other.
#[test]
fn a_tunnel_belongs_to_its_user() {
    let established = || Response::raw("HTTP/1.1 200 OK\r\n\r\n", testkit::http::After::Keep);
    let proxy = HttpServer::with(move |request| {
        Some(if request.method == "CONNECT" { established() } else { Response::ok("x") })
    });
    let (easy, _app) = handle("http://origin.example/");
    text(&easy, O::Proxy, &proxy.url(""));
    long(&easy, O::HttpProxyTunnel, 1);
    for user in ["one:1", "one:1", "two:2", "Two:2"] {
        text(&easy, O::ProxyUserPwd, user);
        perform(&easy);
    }
    let requests = proxy.requests();
    let connects = requests.iter().filter(|r| r.method == "CONNECT");
    assert_eq!(connects.count(), 3, "CVE-2016-8616: logins are compared with their case");
    assert!(requests.iter().filter(|r| r.method == "GET").all(|r| r.field("Proxy-Authorization").is_none()));
}

/// CVE-2016-8616: names and passwords of sessions differ in case, too.
#[test]
fn a_session_belongs_to_its_login() {
    let server = FtpServer::with_file("/file", "x");
    let (easy, _app) = handle(&server.url("/file"));
    for (login, accepts) in [("me:secret", 1), ("me:secret", 1), ("Me:secret", 2), ("Me:Secret", 3)] {
        text(&easy, O::UserPwd, login);
        perform(&easy);
        assert_eq!(server.accepts(), accepts, "{login}");
    }
}

/// CVE-2015-3143, CVE-2014-0015: a connection authenticated by NTLM serves only its user.
#[test]
fn an_ntlm_connection_belongs_to_its_user() {
    // A challenge of version 1, without a description of the target.
    const MESSAGE_2: &str = "NTLM TlRMTVNTUAACAAAAAAAAADAAAAABAgAAASNFZ4mrze8AAAAAAAAAAAAAAAAwAAAA";
    let server = HttpServer::with(|request| {
        let ask = |value: &str| Response::status(401).with("WWW-Authenticate", value);
        Some(match request.field("Authorization") {
            Some(value) if value.starts_with("NTLM TlRMTVNTUAAB") => ask(MESSAGE_2),
            _ => Response::ok("in"),
        })
    });
    let (easy, app) = handle(&server.url("/"));
    text(&easy, O::UserPwd, "one:1");
    long(&easy, O::HttpAuth, CURLAUTH_NTLM as i64);
    perform(&easy);
    perform(&easy);
    assert_eq!((server.accepts(), server.served()), (1, 3), "two rounds, and one request without any");
    text(&easy, O::UserPwd, "two:1");
    perform(&easy);
    assert_eq!(server.accepts(), 2);
    easy.state().settings.borrow_mut().set_text(O::UserPwd, None).unwrap();
    perform(&easy);
    assert_eq!(server.accepts(), 3);
    assert_eq!(*app.body.borrow(), b"inininin");
}

/// A transfer that does not know the scheme yet finds the connection already authenticated for the same user,
/// as in curl; no other transfer does. If the server has lost its state, authentication starts again.
#[test]
fn an_ntlm_connection_serves_only_its_user() {
    const MESSAGE_2: &str = "NTLM TlRMTVNTUAACAAAAAAAAADAAAAABAgAAASNFZ4mrze8AAAAAAAAAAAAAAAAwAAAA";
    for (status, field, reply) in
        [(401, "Authorization", "WWW-Authenticate"), (407, "Proxy-Authorization", "Proxy-Authenticate")]
    {
        let known = Mutex::new(HashSet::new());
        let server = HttpServer::with(move |request| {
            let ask =
                |value: &str| Some(Response::status(status).with(reply, value).with("Content-Type", "x"));
            let mut known = known.lock().unwrap();
            if request.target.ends_with("/forget") && request.field(field).is_none() {
                known.remove(&request.connection);
            }
            match request.field(field) {
                Some(value) if value.starts_with("NTLM TlRMTVNTUAAB") => return ask(MESSAGE_2),
                Some(_) => known.insert(request.connection),
                None if !known.contains(&request.connection) => return ask("NTLM"),
                None => false,
            };
            Some(Response::ok("in"))
        });
        let multi = Multi::default();
        let get = |user: &str, path: &str| {
            let (easy, app) = handle(&server.url(path));
            let (login, schemes) = match status {
                401 => (O::UserPwd, O::HttpAuth),
                _ => (O::ProxyUserPwd, O::ProxyAuth),
            };
            if status == 407 {
                text(&easy, O::Url, &format!("http://origin.example{path}"));
                text(&easy, O::Proxy, &server.url(""));
            }
            text(&easy, login, user);
            long(&easy, schemes, CURLAUTH_ANY as i64);
            multi.add(&easy);
            assert_eq!(crate::common::until_done(&multi), Code::Ok, "{}", easy.state().message());
            multi.remove(&easy);
            let delivered = app.body.borrow().clone();
            (server.accepts(), server.served(), delivered)
        };
        let inside = b"in".to_vec();
        assert_eq!(get("one:1", "/"), (1, 3, inside.clone()), "{status}: asked, challenged, in");
        assert_eq!(get("one:1", "/"), (1, 4, inside.clone()), "{status}: at once");
        assert_eq!(get("two:2", "/"), (2, 7, inside.clone()), "{status}: another user");
        assert_eq!(get("one:2", "/"), (3, 10, inside.clone()), "{status}: another password");
        assert_eq!(get("one:1", "/forget"), (3, 13, inside), "{status}: forgotten");
    }
}

/// CVE-2022-32205, CVE-2014-3613: a flood of cookies does not make a request too big to send, and a numeric
/// host's cookies are for that host.
#[test]
fn cookies_have_limits() {
    let server = HttpServer::with(|_| {
        let long = "x".repeat(900);
        let add = |response: Response, i| response.with("Set-Cookie", format!("c{i}={long}"));
        // First, because the limit would exclude it after the others.
        let tail = Response::ok("x").with("Set-Cookie", "tail=1; domain=0.0.1");
        Some((0..60).fold(tail, add))
    });
    let (easy, _app) = handle(&server.url("/"));
    easy.set_text(O::CookieFile, Some(b"")).unwrap();
    perform(&easy);
    assert_eq!(easy.cookies().len(), 49, "of one reply, the one that is refused counted");
    perform(&easy);
    let sent = server.last_request().unwrap().field("Cookie").unwrap().to_owned();
    assert!(sent.len() <= 8190 && sent.starts_with("c"), "{}", sent.len());
    assert!(!easy.cookies().iter().any(|line| line.windows(4).any(|w| w == b"tail")));
}

/// A host that is not ASCII has one name for everybody: the proxy that fetches for us, cookies and .netrc.
// covers: CURLOPT_COOKIELIST, CURLOPT_NETRC_FILE
#[test]
fn an_international_host_is_known_by_its_ascii_name() {
    let dir = TempDir::new("idn").unwrap();
    let file = dir
        .write("netrc", "machine t\u{e4}st.example login wrong\nmachine xn--tst-qla.example login me\n")
        .unwrap();
    let proxy =
        HttpServer::with(|_| Some(Response::ok("b").with("Set-Cookie", "n=v; domain=xn--tst-qla.example")));
    let (easy, _app) = handle("http://t\u{e4}st.example/p");
    text(&easy, O::Proxy, &proxy.url(""));
    easy.set_text(O::CookieFile, Some(b"")).unwrap();
    long(&easy, O::Netrc, 1);
    text(&easy, O::NetrcFile, file.to_str().unwrap());
    perform(&easy);
    perform(&easy);
    let seen = proxy.last_request().unwrap();
    assert_eq!(seen.target, "http://xn--tst-qla.example/p");
    assert_eq!(seen.field("Host"), Some("xn--tst-qla.example"));
    assert_eq!(seen.field("Cookie"), Some("n=v"));
    assert_eq!(seen.field("Authorization"), Some("Basic bWU6"));
    text(&easy, O::Url, "http://t\u{e4}st.example\u{ff0f}.evil.example/");
    assert_eq!(easy.perform(), Code::UrlMalformat, "a slash of full width");
}

/// A jar without cookies is still written: it replaces the cookies of an earlier file.
// covers: CURLOPT_COOKIEJAR
#[test]
fn an_empty_jar_is_a_file() {
    let dir = TempDir::new("jar").unwrap();
    let name = dir.path().join("jar");
    let server = HttpServer::with(|_| Some(Response::ok("b")));
    let (easy, _app) = handle(&server.url("/"));
    text(&easy, O::CookieJar, name.to_str().unwrap());
    perform(&easy);
    easy.close();
    assert!(std::fs::read_to_string(&name).unwrap().starts_with("# Netscape HTTP Cookie File"));
}
