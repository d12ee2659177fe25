//! Proxies' conversations against scripted peers, cut off at every byte too.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::thread::JoinHandle;

use crate::common::{block_on, dial, listener, runtime};
use warmwire_net::filter::socks::{SocksRequest, Version, establish};
use warmwire_net::filter::{Filter, SocketFilter};
use warmwire_net::{NetError, NetErrorKind};
use wire::socks::Destination;

/// A peer that expects these bytes, replies, and so on; then it closes. Returns whether unexpected bytes
/// arrived.
fn scripted(script: Vec<(&'static [u8], Vec<u8>)>) -> (SocketAddr, JoinHandle<bool>) {
    let (listener, to) = listener();
    let thread = std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        for (expected, answer) in script {
            let mut got = vec![0; expected.len()];
            if peer.read_exact(&mut got).is_err() || got != expected {
                return false;
            }
            peer.write_all(&answer).unwrap();
        }
        true
    });
    (to, thread)
}

/// Requests a tunnel, and reads from it afterwards.
fn socks(to: SocketAddr, version: Version, name: bool, login: bool) -> Result<String, NetError> {
    let rt = runtime();
    let reactor = rt.reactor().clone();
    block_on(&rt, async move {
        let made = dial(reactor, vec![to], None).await.unwrap();
        let filter: Box<dyn Filter> = Box::new(SocketFilter::new(made.socket));
        let destination =
            if name { Destination::Name("a.b") } else { Destination::Ip("1.2.3.4".parse().unwrap()) };
        let user = login.then_some(&b"me"[..]);
        let request = SocksRequest {
            version,
            destination,
            port: 80,
            host: "a.b",
            user,
            password: b"pw",
            by_password: true,
            gssapi: None,
        };
        let mut filter = establish(filter, request).await?;
        let mut tunnel = [0; 6];
        filter.read_exact(&mut tunnel).await.unwrap();
        Ok(String::from_utf8_lossy(&tunnel).into_owned())
    })
}

fn with_tunnel(reply: &[u8]) -> Vec<u8> {
    [reply, b"tunnel"].concat()
}

#[test]
fn socks_4_and_4a() {
    let granted = with_tunnel(b"\0\x5a\0\0\0\0\0\0");
    let (to, peer) = scripted(vec![(b"\x04\x01\0\x50\x01\x02\x03\x04me\0", granted.clone())]);
    assert_eq!(socks(to, Version::V4, false, true).unwrap(), "tunnel");
    assert!(peer.join().unwrap());
    let (to, peer) = scripted(vec![(b"\x04\x01\0\x50\0\0\0\x01\0a.b\0", granted)]);
    assert_eq!(socks(to, Version::V4, true, false).unwrap(), "tunnel");
    assert!(peer.join().unwrap());
    let (to, _peer) = scripted(vec![(b"\x04\x01\0\x50\x01\x02\x03\x04\0", b"\0\x5b\0\0\0\0\0\0".to_vec())]);
    assert_eq!(socks(to, Version::V4, false, false).unwrap_err().kind, NetErrorKind::Proxy(26));
}

#[test]
fn socks_5_with_and_without_login() {
    let reply = with_tunnel(b"\x05\0\0\x03\x03x.y\x12\x34");
    let request: &[u8] = b"\x05\x01\0\x03\x03a.b\0\x50";
    let (to, peer) = scripted(vec![(b"\x05\x01\0", b"\x05\0".to_vec()), (request, reply.clone())]);
    assert_eq!(socks(to, Version::V5, true, false).unwrap(), "tunnel");
    assert!(peer.join().unwrap());
    let (to, peer) = scripted(vec![
        (b"\x05\x02\0\x02", b"\x05\x02".to_vec()),
        (b"\x01\x02me\x02pw", b"\x01\0".to_vec()),
        (request, reply),
    ]);
    assert_eq!(socks(to, Version::V5, true, true).unwrap(), "tunnel");
    assert!(peer.join().unwrap());
    let (to, _peer) = scripted(vec![
        (b"\x05\x02\0\x02", b"\x05\x02".to_vec()),
        (b"\x01\x02me\x02pw", b"\x01\x01".to_vec()),
    ]);
    let error = socks(to, Version::V5, true, true).unwrap_err();
    assert_eq!(
        (error.kind, &*error.message),
        (NetErrorKind::Proxy(33), "User was rejected by the SOCKS5 server (1 1).")
    );
}

#[test]
fn a_socks_proxy_cut_off_at_every_byte() {
    let reply: &[u8] = b"\x05\0\0\x01\0\0\0\0\0\0";
    for cut in 0..2 + reply.len() {
        let script = match cut {
            0..2 => vec![(&b"\x05\x01\0"[..], b"\x05\0"[..cut].to_vec())],
            _ => vec![
                (&b"\x05\x01\0"[..], b"\x05\0".to_vec()),
                (b"\x05\x01\0\x03\x03a.b\0\x50", reply[..cut - 2].to_vec()),
            ],
        };
        let (to, peer) = scripted(script);
        let error = socks(to, Version::V5, true, false).unwrap_err();
        assert_eq!(
            (error.kind, &*error.message),
            (NetErrorKind::Proxy(3), "connection to proxy closed"),
            "{cut}"
        );
        peer.join().unwrap();
    }
}
