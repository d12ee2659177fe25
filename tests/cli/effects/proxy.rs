//! Flags about SOCKS and HTTP proxies, seen by a peer that follows a script.

use super::{clean, curl, empty_folder, ran, tool};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};
use testkit::http::HttpServer;
use testkit::launch::{Kerberos, SocksServer};
use testkit::needs;
use testkit::raw::{RawPeer, Step, expect, send};

const REPLY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

fn bytes(pieces: &[&[u8]]) -> Step {
    Step::Expect(pieces.concat())
}

fn answer(bytes: &[u8]) -> Step {
    Step::Send(bytes.to_vec())
}

/// Returns what a peer received from one command line that must succeed through it.
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

/// A proxy that opens a tunnel and answers inside.
fn tunnel() -> Vec<Step> {
    vec![expect("\r\n\r\n"), send("HTTP/1.1 200 Yes\r\n\r\n"), expect("\r\n\r\n"), send(REPLY)]
}

/// Logins are bytes: two that are not UTF-8 differ, and the connection of one is not used by the other.
// covers: --proxy, --proxytunnel
#[test]
fn passwords_for_proxies_are_bytes() {
    let peer = RawPeer::start(vec![tunnel(), tunnel()]);
    let word = |login: &[u8]| {
        OsString::from_vec([b"http://", login, b"@", peer.address().to_string().as_bytes()].concat())
    };
    let mut command = Command::new(tool());
    command.args(["-sSp", "-x"]).arg(word(b"u:\xe4")).arg("http://origin.example/");
    command.args(["--next", "-sSp", "-x"]).arg(word(b"u:\xf6")).arg("http://origin.example/");
    assert_eq!(ran(&mut command, empty_folder()).text(), "hihi");
    let received: Vec<String> =
        peer.received().iter().map(|b| String::from_utf8_lossy(b).into_owned()).collect();
    for (received, login) in received.iter().zip(["dTrk", "dTr2"]) {
        assert!(
            received.starts_with("CONNECT ") && received.contains(&format!("Basic {login}\r\n")),
            "{received}"
        );
    }
    assert_eq!(received.len(), 2);
}

/// A transfer does not go without its proxy because the variable is no UTF-8.
#[test]
fn a_proxy_of_the_environment_is_bytes() {
    let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(REPLY)]]);
    let proxy = [b"http://u:\xe4\xff@", peer.address().to_string().as_bytes()].concat();
    let mut command = Command::new(tool());
    clean(&mut command).args(["-sS", "http://origin.example/"]).env("http_proxy", OsString::from_vec(proxy));
    let out = command.current_dir(empty_folder()).stdin(Stdio::null()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "hi", "{out:?}");
    let received = String::from_utf8_lossy(&peer.received().concat()).into_owned();
    assert!(
        received.starts_with("GET http://origin.example/ ") && received.contains("Basic dTrk/w==\r\n"),
        "{received}"
    );
}

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

/// A proxy with MIT Kerberos sees the ticket's service, the negotiation of the protection level, and its use.
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

/// The next proxy of a list is tried when one is dead, once for both transfers: of the flag and of variables.
// covers: --proxy
#[test]
fn lists_of_proxies() {
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for variable in [None, Some("WARMWIRE_PROXY"), Some("http_proxy")] {
        let proxy = HttpServer::plain();
        let list = format!("http://me:secret@{dead}, {} direct", proxy.url("/"));
        let mut command = Command::new(tool());
        command.args(["-sS", "--why"]).args(["http://origin.example/bytes/2"; 2]);
        match variable {
            Some(name) => clean(&mut command).env(name, &list),
            None => clean(&mut command).args(["--proxy", &list]),
        };
        let out = needs::output(command.current_dir(empty_folder()).stdin(Stdio::null()));
        let reasons = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{reasons}");
        assert_eq!(proxy.served(), 2);
        let by = variable.unwrap_or("CURLOPT_PROXY");
        assert!(reasons.contains(&format!("from {by}\n")), "{reasons}");
        assert_eq!(reasons.matches(&format!("http://{dead} failed: ")).count(), 1, "{reasons}");
        assert!(!reasons.contains("secret"), "{reasons}");
    }
    let shown = curl(&["--dry-run", "-x", "http://a:b@one.test http://c:d@two.test", "http://h.test/"]);
    assert!(shown.text().contains("  by way of http://a:…@one.test http://c:…@two.test\n"));
}
