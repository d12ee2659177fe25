//! Authentication with servers of many kinds: requests that are only sent to get a challenge, connections
//! that end in between, reused handles, invalid .netrc files.

use std::sync::Mutex;

use crate::common::{handle, long, text};
use tables::constant::{CURLAUTH_ANY, CURLAUTH_BASIC, CURLAUTH_DIGEST, CURLAUTH_NTLM};
use tables::{Code, EasyOption as O};
use testkit::http::{HttpServer, Request, Response};
use testkit::raw::{RawPeer, Step, expect};
use testkit::temp::TempDir;
use warmwire_engine::Easy;

const MESSAGE_2: &str = "NTLM TlRMTVNTUAACAAAAAAAAADAAAAABAgAAASNFZ4mrze8AAAAAAAAAAAAAAAAwAAAA";

fn perform(easy: &Easy) {
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
}

fn log_in(easy: &Easy, schemes: u64, login: &str) {
    long(easy, O::HttpAuth, schemes as i64);
    text(easy, O::UserPwd, login);
}

fn ask(challenge: &str) -> Response {
    Response::status(401).with("WWW-Authenticate", challenge)
}

fn auth_used(easy: &Easy) -> u64 {
    easy.state().info.borrow().rare.auth_used as u64
}

/// A server that requires Digest, with a new nonce for each challenge; `good` is the valid password.
fn digest_server() -> HttpServer {
    let count = Mutex::new(0);
    HttpServer::with(move |request| {
        let known = request.field("Authorization").is_some_and(|value| value.starts_with("Digest"));
        if known && request.path() == "/in" {
            return Some(Response::ok("in"));
        }
        let mut count = count.lock().unwrap();
        *count += 1;
        Some(ask(&format!("Digest realm=\"r\", nonce=\"n{count}\"")))
    })
}

/// Returns the nonce of each request with its path, or none.
fn nonces(server: &HttpServer) -> Vec<String> {
    let nonce = |request: &Request| {
        let value = request.field("Authorization").unwrap_or("none").to_owned();
        value
            .split("nonce=\"")
            .nth(1)
            .map_or(value.clone(), |rest| rest.split('"').next().unwrap().to_owned())
    };
    server.requests().iter().map(nonce).collect()
}

// covers: CURLOPT_HTTPAUTH, --digest
/// Digest continues with the server's last nonce on the next request of a handle, for any user.
#[test]
fn the_last_nonce_serves_the_next_user() {
    let server = digest_server();
    let (easy, _app) = handle(&server.url("/out"));
    log_in(&easy, CURLAUTH_DIGEST, "me:wrong");
    perform(&easy);
    text(&easy, O::Url, &server.url("/in"));
    log_in(&easy, CURLAUTH_DIGEST, "me:right");
    perform(&easy);
    perform(&easy);
    assert_eq!(nonces(&server), ["none", "n1", "n2", "n2"]);
}

/// A nonce is also learnt after another scheme has failed, and if CURLAUTH_ANY has chosen the scheme.
#[test]
fn a_nonce_is_learnt_beside_another_scheme() {
    let server = digest_server();
    let (easy, _app) = handle(&server.url("/out"));
    log_in(&easy, CURLAUTH_BASIC, "me:wrong");
    perform(&easy);
    text(&easy, O::Url, &server.url("/in"));
    log_in(&easy, CURLAUTH_DIGEST, "me:right");
    perform(&easy);
    assert_eq!(nonces(&server), ["Basic bWU6d3Jvbmc=", "n1"]);
    let (any, _app) = handle(&server.url("/in"));
    log_in(&any, CURLAUTH_ANY, "me:right");
    perform(&any);
    perform(&any);
    assert_eq!(nonces(&server)[2..], ["none", "n2", "n2"]);
}

/// A chunked POST that omits its body to get a challenge still sends the last chunk if the application set
/// the header itself; otherwise its length is 0.
// covers: CURLOPT_HTTPHEADER, CURLOPT_POST, CURLOPT_UPLOAD
#[test]
fn an_asking_request_ends_its_chunks() {
    for (scheme, challenge) in
        [(CURLAUTH_DIGEST, "Digest realm=\"r\", nonce=\"n\""), (CURLAUTH_NTLM, MESSAGE_2)]
    {
        for (put, named, framing) in [
            (false, true, "Transfer-Encoding: chunked\r\n"),
            (false, false, "Content-Length: 0\r\n"),
            (true, true, "Transfer-Encoding: chunked\r\n"),
            (true, false, "Content-Length: 0\r\n"),
        ] {
            let asked = std::sync::atomic::AtomicBool::new(false);
            let server = HttpServer::with(move |_| {
                let first = !asked.swap(true, std::sync::atomic::Ordering::SeqCst);
                Some(if first { ask(challenge) } else { Response::ok("done") })
            });
            let (easy, app) = handle(&server.url("/post"));
            *app.upload.borrow_mut() = b"the whole body".to_vec();
            long(&easy, if put { O::Upload } else { O::Post }, 1);
            log_in(&easy, scheme, "me:secret");
            let lines: &[&str] =
                if named { &["Transfer-Encoding: chunked", "Expect:"] } else { &["Expect:"] };
            let lines = lines.iter().map(|line| line.as_bytes().into()).collect();
            easy.state().settings.borrow_mut().set_list(O::HttpHeader, Some(lines)).unwrap();
            perform(&easy);
            let requests = server.requests();
            let head = String::from_utf8_lossy(&requests[0].head).into_owned();
            assert!(head.contains(framing), "{head}");
            assert_eq!((requests.len(), requests[0].body.len()), (2, 0));
            assert_eq!(requests[1].body, b"the whole body");
            assert_eq!(requests[1].field("Transfer-Encoding"), Some("chunked"));
            assert_eq!(requests[1].connection, 0);
        }
    }
}

/// A request without a body but with a chunked header sends the last chunk: the connection can be reused.
#[test]
fn promised_chunks_end_without_a_body() {
    let server = HttpServer::plain();
    let (easy, _app) = handle(&server.url("/bytes/3"));
    let lines = vec![b"Transfer-Encoding: chunked"[..].into()];
    easy.state().settings.borrow_mut().set_list(O::HttpHeader, Some(lines)).unwrap();
    perform(&easy);
    perform(&easy);
    assert_eq!((server.served(), server.accepts()), (2, 1));
}

/// NTLM authenticates a connection: where the server closes it in the middle there is no use in going on.
// covers: --ntlm, --http1.0
#[test]
fn ntlm_gives_up_when_the_connection_closes() {
    for close in ["HTTP/1.1 401 No\r\nConnection: close\r\n", "HTTP/1.0 401 No\r\n"] {
        let reply = format!("{close}WWW-Authenticate: {MESSAGE_2}\r\nContent-Length: 2\r\n\r\nno");
        let peer =
            RawPeer::start(vec![vec![expect("\r\n\r\n"), Step::Send(reply.into_bytes()), Step::Finish]]);
        let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
        log_in(&easy, CURLAUTH_NTLM, "me:secret");
        perform(&easy);
        assert_eq!((peer.accepts(), app.body.borrow().as_slice()), (1, &b"no"[..]));
        assert_eq!(easy.state().info.borrow().response_code, 401);
    }
}

/// CURLINFO_HTTPAUTH_USED names NTLM on a connection that needs no more words, and Digest before its first
/// answer.
// covers: CURLINFO_HTTPAUTH_USED
#[test]
fn the_scheme_in_use_is_reported_without_a_field() {
    let server = HttpServer::with(|request| match request.field("Authorization") {
        Some(value) if value.starts_with("NTLM TlRMTVNTUAAB") => Some(ask(MESSAGE_2)),
        _ => Some(Response::ok("in")),
    });
    let (easy, _app) = handle(&server.url("/"));
    log_in(&easy, CURLAUTH_NTLM, "me:secret");
    for requests in [2, 3] {
        perform(&easy);
        assert_eq!((auth_used(&easy), server.served()), (CURLAUTH_NTLM, requests));
    }
    assert_eq!(server.last_request().unwrap().field("Authorization"), None);
    let (easy, _app) = handle(&server.url("/"));
    log_in(&easy, CURLAUTH_DIGEST, "me:secret");
    perform(&easy);
    assert_eq!(auth_used(&easy), CURLAUTH_DIGEST);
    let (easy, _app) = handle(&server.url("/"));
    log_in(&easy, CURLAUTH_ANY, "me:secret");
    perform(&easy);
    assert_eq!(auth_used(&easy), 0, "nothing was settled on");
}

/// An answer that curl's message has no room for ends the transfer: for the names' sake, or the server's
/// description.
#[test]
fn ntlm_answers_have_a_size() {
    let mut message = b"NTLMSSP\0\x02\0\0\0\0\0\0\0\0\0\0\0\x01\x02\x80\0abcdefgh\0\0\0\0\0\0\0\0".to_vec();
    message.extend_from_slice(&[0xe8, 3, 0xe8, 3, 48, 0, 0, 0]);
    message.extend_from_slice(&[7; 1000]);
    let long_one = format!("NTLM {}", wire::base64::encode(&message));
    let rows = [
        (MESSAGE_2.to_owned(), "u".repeat(900), "user + domain + hostname too big for NTLM"),
        (long_one, "u".to_owned(), "incoming NTLM message too big"),
    ];
    for (challenge, user, words) in rows {
        let server = HttpServer::with(move |_| Some(ask(&challenge)));
        let (easy, _app) = handle(&server.url("/"));
        log_in(&easy, CURLAUTH_NTLM, &format!("{user}:secret"));
        assert_eq!(easy.perform(), Code::TooLarge);
        assert_eq!((easy.state().message().as_str(), server.served()), (words, 1));
    }
}

/// A required .netrc file that is missing or unreadable fails the transfer before connecting; an optional one
/// is ignored; and none is read if the application set a user. A missing entry is reported by a call of the
/// application, which may change the handle's settings.
// covers: CURLOPT_NETRC, CURLOPT_NETRC_FILE
#[test]
fn a_host_missing_in_netrc_is_reported_where_logins_separate_connections() {
    use testkit::raw::{RawPeer, Step, expect, send};
    let folder = TempDir::new("netrc").unwrap();
    let file = folder.path().join("netrc");
    std::fs::write(&file, "machine elsewhere.example login a password b\n").unwrap();
    let script = vec![
        send("+OK\r\n"),
        expect("CAPA\r\n"),
        send("-ERR\r\n"),
        expect("STAT\r\n"),
        send("+OK\r\n"),
        Step::Hold,
    ];
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = handle(&format!("pop3://127.0.0.1:{}/", peer.port()));
    *app.notes.borrow_mut() = Some(String::new());
    text(&easy, O::CustomRequest, "STAT");
    text(&easy, O::NetrcFile, file.to_str().unwrap());
    long(&easy, O::Netrc, 1);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    let notes = app.notes.borrow().clone().unwrap();
    assert!(notes.contains("Could not find host 127.0.0.1 in the "), "{notes}");
}

// covers: CURLOPT_NETRC, CURLOPT_NETRC_FILE, --netrc, --netrc-optional
#[test]
fn wrong_netrc_files() {
    let folder = TempDir::new("netrc").unwrap();
    let broken = folder.path().join("broken");
    std::fs::write(&broken, "machine 127.0.0.1 login me password \"never ends \\\"\n").unwrap();
    let rows = [
        (broken, ".netrc error: syntax error"),
        (folder.path().join("missing"), ".netrc error: no such file"),
        (folder.path().to_owned(), ".netrc error: no such file"),
    ];
    for (file, words) in rows {
        let server = HttpServer::plain();
        let plain = server.url("/bytes/1");
        for url in [&plain, &plain.replace("http://", "http://me@")] {
            let (easy, _app) = handle(url);
            text(&easy, O::NetrcFile, file.to_str().unwrap());
            long(&easy, O::Netrc, 2);
            let before = server.accepts();
            assert_eq!(easy.perform(), Code::ReadError, "{words}");
            assert_eq!((easy.state().message().as_str(), server.accepts()), (words, before));
            text(&easy, O::UserPwd, "given:secret");
            perform(&easy);
            let (easy, _app) = handle(url);
            text(&easy, O::NetrcFile, file.to_str().unwrap());
            long(&easy, O::Netrc, 1);
            perform(&easy);
        }
    }
}

fn values(server: &HttpServer) -> Vec<String> {
    let value = |request: &Request| request.field("Authorization").unwrap_or("none").to_owned();
    server.requests().iter().map(value).collect()
}

/// CURLAUTH_ANY gets a challenge first, chooses, and keeps the choice for the same user; for another one it
/// starts again.
// covers: --anyauth
#[test]
fn any_scheme_asks_first_for_each_user() {
    let server = HttpServer::with(|request| match request.field("Authorization") {
        Some(_) => Some(Response::ok("in")),
        None => Some(ask("Basic realm=\"r\", Unknown x=1")),
    });
    let (easy, _app) = handle(&server.url("/"));
    for (login, requests) in [("me:secret", 2), ("me:secret", 3), ("you:secret", 5), ("you:other", 7)] {
        log_in(&easy, CURLAUTH_ANY, login);
        perform(&easy);
        assert_eq!((server.served(), auth_used(&easy)), (requests, CURLAUTH_BASIC), "{login}");
    }
    let me = "Basic bWU6c2VjcmV0";
    assert_eq!(values(&server)[..3], ["none", me, me]);
    assert_eq!(values(&server)[3], "none");
}

/// A login that was refused is not sent again, and the refusal is the reply.
#[test]
fn a_refusal_ends_the_conversation() {
    let digest = "Digest realm=\"r\", nonce=\"n\"";
    for (scheme, challenge, requests) in [
        (CURLAUTH_BASIC, "Basic realm=\"r\"", 1),
        (CURLAUTH_DIGEST, digest, 2),
        (CURLAUTH_DIGEST, "Basic realm=\"r\"", 1),
        (CURLAUTH_NTLM, MESSAGE_2, 2),
        (CURLAUTH_ANY, "Basic realm=\"r\"", 2),
        (CURLAUTH_ANY, digest, 2),
        (CURLAUTH_ANY, "Unknown", 1),
    ] {
        let server = HttpServer::with(move |request| {
            let again = request.field("Authorization").is_some_and(|value| value.len() > 100);
            Some(ask(if again && challenge == MESSAGE_2 { "NTLM" } else { challenge }))
        });
        let (easy, _app) = handle(&server.url("/"));
        log_in(&easy, scheme, "me:wrong");
        perform(&easy);
        assert_eq!(server.served(), requests, "{scheme} {challenge}");
        assert_eq!(easy.state().info.borrow().response_code, 401);
    }
}

/// A stale nonce is not a refusal: the same request, with its body, is sent again with the new one.
#[test]
fn a_stale_nonce_is_replaced() {
    let server = HttpServer::with(|request| match request.field("Authorization") {
        Some(value) if value.contains("nonce=\"2\"") => Some(Response::ok("in")),
        Some(_) => Some(ask("Digest realm=\"r\", nonce=\"2\", stale=true")),
        None => Some(ask("Digest realm=\"r\", nonce=\"1\"")),
    });
    let (easy, app) = handle(&server.url("/"));
    *app.upload.borrow_mut() = b"body".to_vec();
    long(&easy, O::Upload, 1);
    long(&easy, O::InFileSizeLarge, 4);
    log_in(&easy, CURLAUTH_DIGEST, "me:secret");
    perform(&easy);
    let bodies: Vec<_> = server.requests().iter().map(|request| request.body.len()).collect();
    assert_eq!((nonces(&server), bodies), (["none", "1", "2"].map(str::to_owned).to_vec(), vec![0, 4, 4]));
}

/// If no login is needed, the request that omitted its body is sent again with it.
#[test]
fn a_server_that_does_not_ask_gets_the_body() {
    let server = HttpServer::with(|_| Some(Response::ok("in")));
    let (easy, _app) = handle(&server.url("/"));
    text(&easy, O::CopyPostFields, "body");
    log_in(&easy, CURLAUTH_DIGEST, "me:secret");
    perform(&easy);
    let bodies: Vec<_> = server.requests().iter().map(|request| request.body.clone()).collect();
    assert_eq!(bodies, [&b""[..], b"body"]);
    assert_eq!(values(&server), ["none", "none"]);
}

/// A redirect within a server keeps its nonce; one to another server takes nothing along.
// covers: CURLOPT_UNRESTRICTED_AUTH
#[test]
fn digest_follows_redirects_of_its_own_server() {
    let other = HttpServer::plain();
    let away = other.url("/bytes/1");
    let server = HttpServer::with(move |request| match (request.field("Authorization"), request.path()) {
        (None, _) => Some(ask("Digest realm=\"r\", nonce=\"n\"")),
        (_, "/near") => Some(Response::status(302).with("Location", "/far")),
        _ => Some(Response::status(302).with("Location", &*away)),
    });
    let (easy, _app) = handle(&server.url("/near"));
    long(&easy, O::FollowLocation, 1);
    log_in(&easy, CURLAUTH_DIGEST, "me:secret");
    perform(&easy);
    assert_eq!(nonces(&server), ["none", "n", "n"]);
    assert_eq!(values(&other), ["none"]);
}

/// An empty user with an empty password is no login, and yields to the one in the URL; a password alone is
/// one.
// covers: CURLOPT_USERPWD, CURLOPT_PASSWORD, --user
#[test]
fn an_empty_login_proves_nothing() {
    let server = HttpServer::plain();
    for (set, in_url, wanted) in [
        (Some((O::UserPwd, "")), "", None),
        (Some((O::UserPwd, ":")), "", None),
        (Some((O::Username, "")), "", None),
        (Some((O::UserPwd, ":")), ":x@", Some("Basic Ong=")),
        (Some((O::UserPwd, ":x")), "", Some("Basic Ong=")),
        (Some((O::Password, "x")), "", Some("Basic Ong=")),
        (Some((O::Password, "")), "", None),
        (None, ":@", None),
        (None, "x@", Some("Basic eDo=")),
    ] {
        let url = server.url("/body/1").replacen("http://", &format!("http://{in_url}"), 1);
        let (easy, _app) = handle(&url);
        set.iter().for_each(|(option, value)| text(&easy, *option, value));
        perform(&easy);
        let request = server.last_request().unwrap();
        assert_eq!(request.field("Authorization"), wanted, "{set:?} {url}");
    }
}
