//! HTTP through SOCKS proxies, against a small one of our own in front of the embedded server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use crate::common::{handle, text};
use tables::{Code, EasyOption as O};
use testkit::http::HttpServer;

/// A proxy that leads everything to one address. Reports each request's bytes, or refuses with `status`.
fn proxy(to: SocketAddr, status: u8) -> (u16, std::sync::mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let request = converse(&client, status);
            sender.send(request).unwrap();
            if status == 0 {
                relay(client, TcpStream::connect(to).unwrap());
            }
        }
    });
    (port, receiver)
}

/// The proxy's side of version 4 or 5, up to its last answer.
fn converse(mut client: &TcpStream, status: u8) -> Vec<u8> {
    let mut head = [0; 2];
    client.read_exact(&mut head).unwrap();
    if head[0] == 4 {
        let mut rest = vec![0; 512];
        let n = client.read(&mut rest).unwrap();
        client.write_all(&[0, if status == 0 { 90 } else { 91 }, 0, 0, 0, 0, 0, 0]).unwrap();
        return [&head[..], &rest[..n]].concat();
    }
    let mut methods = vec![0; usize::from(head[1])];
    client.read_exact(&mut methods).unwrap();
    let chosen = if methods.contains(&2) { 2 } else { 0 };
    client.write_all(&[5, chosen]).unwrap();
    let mut received = vec![0; 512];
    if chosen == 2 {
        let n = client.read(&mut received).unwrap();
        assert_eq!(&received[..n], b"\x01\x02me\x02pw");
        client.write_all(&[1, 0]).unwrap();
    }
    let n = client.read(&mut received).unwrap();
    client.write_all(&[5, status, 0, 1, 127, 0, 0, 1, 0, 80]).unwrap();
    received[..n].to_vec()
}

fn relay(client: TcpStream, server: TcpStream) {
    let (mut up, mut down) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    thread::spawn(move || std::io::copy(&mut up, &mut { server }));
    thread::spawn(move || std::io::copy(&mut down, &mut { client }));
}

// covers: CURLOPT_PROXY, CURLPROXY_SOCKS4, CURLPROXY_SOCKS4A, CURLPROXY_SOCKS5, CURLPROXY_SOCKS5_HOSTNAME
#[test]
fn every_kind_of_socks_leads_there_and_is_kept() {
    let server = HttpServer::plain();
    for (kind, asked) in [
        ("socks4://me@", &b"\x04\x01\x12\x34\x7f\0\0\x01me\0"[..]),
        ("socks4a://", b"\x04\x01\x12\x34\0\0\0\x01\0localhost\0"),
        ("socks5://", b"\x05\x01\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x12\x34"),
        ("socks5h://", b"\x05\x01\0\x03\x09localhost\x12\x34"),
        ("socks5h://me:pw@", b"\x05\x01\0\x03\x09localhost\x12\x34"),
    ] {
        let (port, requests) = proxy(([127, 0, 0, 1], server.port()).into(), 0);
        let (easy, app) = handle("http://localhost:4660/bytes/1000");
        text(&easy, O::Proxy, &format!("{kind}127.0.0.1:{port}"));
        for _ in 0..2 {
            assert_eq!(easy.perform(), Code::Ok, "{kind}: {}", easy.state().message());
        }
        assert_eq!(app.body.borrow().len(), 2000);
        assert_eq!(requests.recv().unwrap(), asked, "{kind}");
        assert!(requests.try_recv().is_err(), "{kind}: the second request is on the same connection");
    }
}

// covers: CURLE_PROXY, CURLINFO_PROXY_ERROR
#[test]
fn a_refusal_sets_proxy_error() {
    let (port, _requests) = proxy(([127, 0, 0, 1], 1).into(), 5);
    for (kind, number) in [("socks5h", 19), ("socks4a", 26)] {
        let (easy, _app) = handle("http://localhost:4660/");
        text(&easy, O::Proxy, &format!("{kind}://127.0.0.1:{port}"));
        assert_eq!(easy.perform(), Code::Proxy, "{}", easy.state().message());
        assert_eq!(easy.state().info.borrow().rare.proxy_error, number);
    }
    let (easy, _app) = handle("http://nowhere.invalid/");
    text(&easy, O::Proxy, &format!("socks5://127.0.0.1:{port}"));
    assert_eq!(easy.perform(), Code::Proxy);
    assert_eq!(easy.state().message(), "Failed to resolve \"nowhere.invalid\" for SOCKS5 connect.");
    assert_eq!(easy.state().info.borrow().rare.proxy_error, 27);
}

// covers: CURLOPT_PRE_PROXY
#[test]
fn a_socks_proxy_before_an_http_proxy() {
    let server = HttpServer::plain();
    let (port, requests) = proxy(([127, 0, 0, 1], server.port()).into(), 0);
    let (easy, _app) = handle("http://origin.invalid/bytes/10");
    text(&easy, O::PreProxy, &format!("socks5h://127.0.0.1:{port}"));
    text(&easy, O::Proxy, "http://proxy.invalid:4660");
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(requests.recv().unwrap(), b"\x05\x01\0\x03\x0dproxy.invalid\x12\x34");
    assert_eq!(server.last_request().unwrap().target, "http://origin.invalid/bytes/10");

    let (easy, _app) = handle("http://origin.invalid:4660/bytes/10");
    text(&easy, O::PreProxy, &format!("socks5h://127.0.0.1:{port}"));
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(requests.recv().unwrap(), b"\x05\x01\0\x03\x0eorigin.invalid\x12\x34");
}
