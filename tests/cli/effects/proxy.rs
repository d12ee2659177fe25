//! Flags about SOCKS and HTTP proxies, seen by a peer that follows a script.

use super::{curl, empty_folder, ran, tool};
use std::process::Command;
use testkit::http::HttpServer;
use testkit::launch::{Kerberos, SocksServer};
use testkit::raw::{RawPeer, Step, expect, send};

const REPLY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

fn bytes(pieces: &[&[u8]]) -> Step {
    Step::Expect(pieces.concat())
}

fn answer(bytes: &[u8]) -> Step {
    Step::Send(bytes.to_vec())
}

/// What a peer received of one command line that must succeed through it.
fn through(script: Vec<Step>, flag: &str, more: &[&str]) -> Vec<u8> {
    let peer = RawPeer::start(vec![script]);
    let proxy = peer.address().to_string();
    let words = [&[flag, &proxy], more, &["http://origin.example/"]].concat();
    assert_eq!(curl(&words).text(), "hi");
    peer.received().concat()
}

const HOST: &[u8] = b"origin.example";
/// Port 80.
const PORT: &[u8] = &[0, 80];
const GRANTED: &[u8] = &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0];

// covers: --socks4a
#[test]
fn socks_4_with_a_name() {
    let script =
        vec![bytes(&[HOST, &[0]]), answer(&[0, 0x5a, 0, 0, 0, 0, 0, 0]), expect("\r\n\r\n"), send(REPLY)];
    let received = through(script, "--socks4a", &[]);
    assert!(received.starts_with(&[4, 1, 0, 80, 0, 0, 0, 1]), "{received:?}");
}

// covers: --socks5-hostname
#[test]
fn socks_5_with_a_name() {
    let asked = [&[5, 1, 0, 3, HOST.len() as u8], HOST, PORT].concat();
    let script = vec![
        bytes(&[&[5]]),
        answer(&[5, 0]),
        Step::Expect(asked.clone()),
        answer(GRANTED),
        expect("\r\n\r\n"),
        send(REPLY),
    ];
    let received = through(script, "--socks5-hostname", &[]);
    assert!(received.windows(asked.len()).any(|window| window == asked), "{received:?}");
}

// covers: --socks5-basic
#[test]
fn socks_5_with_a_password() {
    let login: &[u8] = b"\x01\x02me\x06secret";
    let asked = [&[5, 1, 0, 3, HOST.len() as u8], HOST, PORT].concat();
    let script = vec![
        bytes(&[&[5, 2, 0, 2]]),
        answer(&[5, 2]),
        bytes(&[login]),
        answer(&[1, 0]),
        Step::Expect(asked),
        answer(GRANTED),
        expect("\r\n\r\n"),
        send(REPLY),
    ];
    through(script, "--socks5-hostname", &["--socks5-basic", "--proxy-user", "me:secret"]);
}

/// What the ticket is for, how the level of protection is told, and whether there is any, is seen by a proxy with MIT
/// Kerberos in it.
// covers: --socks5-gssapi, --socks5-gssapi-nec, --socks5-gssapi-service
#[test]
fn socks_5_with_a_ticket() {
    let (realm, server) = (Kerberos::start().unwrap(), HttpServer::plain());
    realm.login("alice").unwrap();
    let rows: [(&str, &[&str], i32); 7] = [
        ("0", &["--socks5-gssapi"], 0),
        ("2", &["--socks5-gssapi"], 0),
        ("0", &["--socks5-basic", "--proxy-user", "me:secret"], 97),
        ("0", &["--socks5-basic", "--socks5-gssapi"], 0),
        ("nec", &["--socks5-gssapi-nec"], 0),
        ("0", &["--socks5-gssapi-nec"], 97),
        ("0", &["--socks5-gssapi-service", "unheard-of"], 97),
    ];
    for (protection, words, code) in rows {
        let proxy = SocksServer::start(&realm, protection).unwrap();
        let mut command = Command::new(tool());
        command.args(["-sS", "--socks5-hostname", &proxy.address(), &server.url("/bytes/3")]).args(words);
        realm.user(&mut command, "alice");
        let ran = ran(&mut command, empty_folder());
        assert_eq!(ran.code, code, "{protection} {words:?}: {} {:?}", ran.stderr, proxy.logins());
        let came = proxy.logins().iter().any(|line| line.starts_with("alice@WARMWIRE.TEST asked=2"));
        assert_eq!(came, code == 0, "{protection} {words:?}: {:?}", proxy.logins());
    }
}

// covers: --proxy-basic, --proxy-user
#[test]
fn the_password_of_an_http_proxy() {
    let proxy = HttpServer::plain();
    let words = [
        "-x",
        &proxy.url("/"),
        "--proxy-basic",
        "--proxy-user",
        "me:secret",
        "http://origin.example/bytes/2",
    ];
    curl(&words).text();
    let request = proxy.last_request().unwrap();
    assert_eq!(request.target, "http://origin.example/bytes/2");
    assert_eq!(request.field("Proxy-Authorization"), Some("Basic bWU6c2VjcmV0"));
    assert_eq!(request.field("Authorization"), None);
}
