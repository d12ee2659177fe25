//! Protocols of one question and one answer: Gopher and DICT, from peers that answer truly, oddly or not at
//! all.
//!
//! covers: CURLOPT_URL

use std::time::Duration;

use crate::common::{handle, long};
use tables::{Code, EasyOption as O, Scheme};
use testkit::certs::Authority;
use testkit::raw::{RawPeer, Script, Step, expect, send};

/// Returns the result of a transfer of this URL if the peer follows the script.
fn fetch(scheme: &str, path: &str, script: Script) -> (Code, String) {
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = handle(&format!("{scheme}://127.0.0.1:{}{path}", peer.port()));
    long(&easy, O::TimeoutMs, 3000);
    let code = easy.perform();
    assert_eq!(easy.state().info.borrow().downloaded, app.body.borrow().len() as i64);
    (code, String::from_utf8(app.body.borrow().clone()).unwrap())
}

#[test]
fn a_selector_brings_what_it_names() {
    let script = vec![expect("/dir/file\r\n"), send("iA line\t\terror\t1\r\n"), send(".\r\n"), Step::Finish];
    assert_eq!(fetch("gopher", "/1/dir/file", script), (Code::Ok, "iA line\t\terror\t1\r\n.\r\n".into()));
    let search = vec![expect("/find\ttwo words?\r\n"), send("x"), Step::Finish];
    assert_eq!(fetch("gopher", "/7/find%09two%20words?", search), (Code::Ok, "x".into()));
    assert_eq!(fetch("gopher", "", vec![expect("\r\n"), Step::Finish]), (Code::Ok, "".into()));
    assert_eq!(fetch("gopher", "/1a%0d%0ab", vec![Step::Hold]), (Code::UrlMalformat, "".into()));
}

#[test]
fn gopher_over_tls() {
    let authority = Authority::new();
    let script = vec![expect("/secret\r\n"), send("content"), Step::Finish];
    let peer = RawPeer::tls(vec![script], authority.good().server_config().unwrap());
    let (easy, app) = handle(&format!("gophers://localhost:{}/0/secret", peer.port()));
    easy.set_text(O::CaInfoBlob, Some(authority.ca_pem().as_bytes())).unwrap();
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(*app.body.borrow(), b"content");
}

#[test]
fn a_word_is_defined() {
    let asked = format!("CLIENT libcurl {}\r\nDEFINE ! two\\ words\r\nQUIT\r\n", tables::version::CURL);
    let script = vec![expect(&asked), send("220 hello\r\n552 no match\r\n221 bye\r\n"), Step::Finish];
    assert_eq!(fetch("dict", "/d:two%20words", script).1, "220 hello\r\n552 no match\r\n221 bye\r\n");
    assert_eq!(fetch("dict", "/d:a%0aQUIT", vec![Step::Hold]), (Code::UrlMalformat, "".into()));
}

/// The end is that of the connection: truncated data cannot be distinguished from short data. A reset can.
#[test]
fn peers_that_break_off() {
    for scheme in ["gopher", "dict"] {
        assert_eq!(
            fetch(scheme, "/1x", vec![expect("\r\n"), send("part"), Step::Cut]),
            (Code::Ok, "part".into())
        );
        let reset = fetch(
            scheme,
            "/1x",
            vec![expect("\r\n"), send("part"), Step::Sleep(Duration::from_millis(50)), Step::Reset],
        );
        assert_eq!(reset, (Code::RecvError, "part".into()));
        let silent = fetch(scheme, "/1x", vec![expect("\r\n"), send("part"), Step::Hold]);
        assert_eq!(silent, (Code::OperationTimedout, "part".into()));
    }
}

/// As in curl 8.22: a control character in the URL's login is refused before anything is connected, by every
/// scheme of the table, even where no login is sent. HTTP encodes a login and takes all of them but a zero.
#[test]
fn a_login_with_a_control_character_is_refused() {
    let mut by_http = Vec::new();
    for scheme in Scheme::ALL.iter().filter(|scheme| scheme.built()) {
        let name = scheme.name();
        for login in ["a%0ab", "a%0d", "a:p%00", "a%01:p", ":%0a", "a%1f", "a;AUTH=%0a", "a%00"] {
            let (easy, _) = handle(&format!("{name}://{login}@127.0.0.1:1/x"));
            long(&easy, O::TimeoutMs, 3000);
            let code = easy.perform();
            if scheme.family().asks_by_http() && !login.contains("%00") {
                assert_eq!(code, Code::CouldntConnect, "{name} {login}");
                by_http.push(name);
                continue;
            }
            assert_eq!(code, Code::UrlMalformat, "{name} {login}");
            assert_eq!(easy.state().info.borrow().connects, 0);
            if *scheme != Scheme::File && !login.contains(';') {
                assert_eq!(easy.state().message(), "error extracting credentials from URL", "{name} {login}");
            }
        }
    }
    by_http.dedup();
    assert_eq!(by_http, ["http", "https", "ws", "wss"]);
}

/// A redirect leads to no login that the first URL could not have had.
#[test]
fn a_redirect_to_a_login_with_a_control_character_is_refused() {
    for scheme in ["ftp", "ftps"] {
        let reply = format!(
            "HTTP/1.1 302 Found\r\nLocation: {scheme}://a%0ab@127.0.0.1:1/x\r\nContent-Length: 0\r\n\r\n"
        );
        let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(&reply), Step::Finish]]);
        let (easy, _) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
        long(&easy, O::TimeoutMs, 3000);
        long(&easy, O::FollowLocation, 1);
        assert_eq!(easy.perform(), Code::UrlMalformat, "{scheme}");
        assert_eq!(easy.state().info.borrow().connects, 1, "{scheme}");
    }
}
