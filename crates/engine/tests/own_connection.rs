//! CURLOPT_CONNECT_ONLY: the application sends and receives itself, and no sent data stays behind while it
//! only waits for the reply.

use std::time::{Duration, Instant};

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::raw::{RawPeer, Step, expect, send};
use warmwire_engine::Easy;

/// A connection to a peer that speaks TLS and does this.
fn connected(script: Vec<Step>) -> (Easy, RawPeer) {
    let authority = Authority::new();
    let peer = RawPeer::tls(vec![script], authority.good().server_config().unwrap());
    let (easy, _app) = handle(&format!("https://localhost:{}/", peer.port()));
    text(&easy, O::CaInfoBlob, authority.ca_pem());
    long(&easy, O::ConnectOnly, 1);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    (easy, peer)
}

/// Receives until this has arrived.
fn receive(easy: &Easy, wanted: &str) {
    let (mut got, mut buf) = (Vec::new(), [0; 100]);
    let start = Instant::now();
    while got != wanted.as_bytes() {
        assert!(start.elapsed() < Duration::from_secs(20), "{got:?}");
        match easy.state().connected.borrow_mut().as_mut().unwrap().receive(&mut buf) {
            Ok(n) => got.extend_from_slice(&buf[..n]),
            Err(Code::Again) => std::thread::sleep(Duration::from_millis(1)),
            Err(code) => panic!("{code:?}"),
        }
    }
}

/// The end of the handshake is sent, even if nothing is ever written.
// covers: CURLOPT_CONNECT_ONLY, curl_easy_recv
#[test]
fn a_server_may_speak_first() {
    let (easy, _peer) = connected(vec![send("220 hello\r\n"), Step::Hold]);
    receive(&easy, "220 hello\r\n");
}

/// Data reported as sent reaches the peer without another call.
// covers: curl_easy_send
#[test]
fn reported_data_reaches_the_peer() {
    const LENGTH: usize = 24 << 20;
    let slow = [Step::Sleep(Duration::from_millis(300)), Step::ExpectBytes(LENGTH), send("got it")];
    let (easy, _peer) = connected(slow.into_iter().chain([Step::Hold]).collect());
    let all = vec![b'x'; LENGTH];
    let (mut sent, mut refused) = (0, 0);
    while sent < LENGTH {
        match easy.state().connected.borrow_mut().as_mut().unwrap().send(&all[sent..]) {
            Ok(n) => sent += n,
            Err(Code::Again) => {
                refused += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(code) => panic!("{code:?}"),
        }
    }
    assert!(refused > 0, "the peer reads late");
    // Nothing sends the rest while the application only waits for the socket.
    std::thread::sleep(Duration::from_millis(500));
    receive(&easy, "got it");
}

/// An application that stops sending and only receives still sends what was accepted.
#[test]
fn receiving_pushes_what_was_taken() {
    let (easy, peer) =
        connected(vec![Step::Sleep(Duration::from_millis(300)), expect("END"), send("got it"), Step::Hold]);
    let piece = [&[b'x'; 100_000][..], b"END"].concat();
    // Until one is taken in part.
    while easy.state().connected.borrow_mut().as_mut().unwrap().send(&piece).is_ok() {}
    receive(&easy, "got it");
    drop(peer);
}
