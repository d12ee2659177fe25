//! Messages after the handshake: key updates, requests for the client's certificate, and floods of both.

use super::peers::{OpensslServer, shown};
use super::tests::*;
use super::*;
use crate::tls::handshake::Server;
use crate::tls::openssl::filter;
use crate::tls::{Backend, TlsConfig, TlsVersion};
use std::io::{BufRead, BufReader, Write};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use testkit::certs::Authority;
use testkit::temp::TempDir;

/// An `s_server` that obeys commands and prints each TLS message.
struct Commanded {
    server: OpensslServer,
    commands: ChildStdin,
    heard: Receiver<String>,
    port: u16,
    _dir: TempDir,
}

impl Commanded {
    fn start(authority: &Authority, args: &[&str]) -> Commanded {
        let dir = TempDir::new("s_server").unwrap();
        let args = [&["-msg"], args].concat();
        let (mut server, port) = OpensslServer::with_commands(&dir, &authority.good(), &args);
        let commands = server.0.stdin.take().unwrap();
        let output = BufReader::new(server.0.stdout.take().unwrap());
        let (say, heard) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = say.send(line);
            }
        });
        Commanded { server, commands, heard, port, _dir: dir }
    }

    fn obey(&mut self, commands: &str) {
        self.commands.write_all(commands.as_bytes()).unwrap();
    }

    /// Reads until the server has printed these parts in one line, and appends the received bytes to `got`.
    async fn until(&self, reactor: &Arc<Reactor>, f: &mut dyn Filter, got: &mut Vec<u8>, parts: [&str; 2]) {
        let start = Instant::now();
        let mut buf = [0; 1000];
        while !self.heard.try_iter().any(|line| parts.iter().all(|part| line.contains(part))) {
            assert!(start.elapsed() < Duration::from_secs(15), "not heard: {parts:?}");
            let read = std::future::poll_fn(|cx| Poll::Ready(f.poll_read(cx, &mut buf))).await;
            if let Poll::Ready(n) = read {
                got.extend_from_slice(&buf[..n.unwrap()]);
            }
            reactor.sleep(Duration::from_millis(2)).await;
        }
    }
}

/// Reads until the received bytes end with `end`.
async fn read_until(f: &mut dyn Filter, got: &mut Vec<u8>, end: &str) {
    let mut buf = [0; 100];
    while !got.ends_with(end.as_bytes()) {
        let n = read(f, &mut buf).await.unwrap();
        assert!(n > 0);
        got.extend_from_slice(&buf[..n]);
    }
}

#[test]
fn openssl_renews_keys() {
    let authority = Authority::new();
    for config in by_either(trusting(&authority)).into_iter().step_by(2) {
        let mut server = Commanded::start(&authority, &[]);
        run(move |reactor| {
            Box::pin(async move {
                let store = SessionStore::new();
                let port = server.port;
                let mut f = agree(socket(port, &reactor), &config, "localhost", port, &store).await.unwrap();
                let mut got = Vec::new();
                // K: new keys, and ours wanted too. k: only its own.
                for (i, command) in ["K", "k", "K", ""].into_iter().enumerate() {
                    f.write_all(format!("client {i}\n").as_bytes()).await.unwrap();
                    if i == 1 || i == 3 {
                        // OpenSSL's answer leaves before what is written next, which is soon enough.
                        server.until(&reactor, f.as_mut(), &mut got, ["<<<", "KeyUpdate"]).await;
                    }
                    server.until(&reactor, f.as_mut(), &mut got, ["client", &format!("{i}")]).await;
                    if command.is_empty() {
                        break;
                    }
                    server.obey(&format!("{command}\n"));
                    server.until(&reactor, f.as_mut(), &mut got, [">>>", "KeyUpdate"]).await;
                    server.obey(&format!("server {i}\n"));
                    read_until(f.as_mut(), &mut got, &format!("server {i}\n")).await;
                }
                assert_eq!(got, b"server 0\nserver 1\nserver 2\n");
                drop(server.server);
            })
        });
    }
}

/// A server of TLS 1.3 asks for the client's certificate when the connection has long been in use (RFC 8446,
/// section 4.6.2), twice: the client sends it, or an empty list. (rustls does not offer this, so no server
/// asks it.)
#[test]
fn a_certificate_is_shown_when_it_is_asked_for_later() {
    let authority = Authority::new();
    let client = authority.client("somebody");
    for certificate in [Some(&client), None] {
        // Without one the answer is an empty list, and nothing is proved.
        let reply = certificate.map_or(["<<<", ", Certificate"], |_| ["<<<", "CertificateVerify"]);
        let config = TlsConfig {
            client: certificate.map(shown),
            min_version: TlsVersion::Tls13,
            backend: Backend::SYSTEM,
            ..trusting(&authority)
        };
        let (config, mut server) = (Arc::new(config), Commanded::start(&authority, &[]));
        run(move |reactor| {
            Box::pin(async move {
                let store = SessionStore::new();
                let port = server.port;
                let mut f = agree(socket(port, &reactor), &config, "localhost", port, &store).await.unwrap();
                let mut got = Vec::new();
                for i in 0..2 {
                    f.write_all(format!("client {i}\n").as_bytes()).await.unwrap();
                    server.until(&reactor, f.as_mut(), &mut got, ["client", &format!("{i}")]).await;
                    server.obey("c\n");
                    server.until(&reactor, f.as_mut(), &mut got, reply).await;
                    server.until(&reactor, f.as_mut(), &mut got, ["<<<", "Finished"]).await;
                    server.obey(&format!("server {i}\n"));
                    read_until(f.as_mut(), &mut got, &format!("server {i}\n")).await;
                }
                drop(server.server);
            })
        });
    }
}

/// As rustls's filter: a key is renewed before its limit, here five records, the peer is asked for its own,
/// and nothing is lost.
#[test]
fn openssls_keys_are_renewed_before_their_limit() {
    let authority = Authority::new();
    for config in both(TlsConfig { backend: Backend::SYSTEM, ..trusting(&authority) }) {
        let server = Commanded::start(&authority, &["-rev"]);
        let renews = config.max_version == TlsVersion::Tls13;
        run(move |reactor| {
            Box::pin(async move {
                let (store, peer) = (SessionStore::new(), Server::new(&config, "localhost", server.port));
                let below = socket(server.port, &reactor);
                let mut f = filter::handshake(below, peer, &store, &reactor).await.unwrap();
                f.renew_keys_after(5);
                for round in 0..40 {
                    let line = format!("{round:08}{}", "x".repeat(2000));
                    (f.as_mut() as &mut dyn Filter).write_all(format!("{line}\n").as_bytes()).await.unwrap();
                    let mut got = vec![0; line.len() + 1];
                    (f.as_mut() as &mut dyn Filter).read_exact(&mut got).await.unwrap();
                    assert!(got[..line.len()].iter().rev().eq(line.as_bytes()), "{round}");
                }
                f.retire();
                let key_updates: Vec<String> =
                    server.heard.try_iter().filter(|l| l.contains("KeyUpdate")).collect();
                let of = |mark: &str| key_updates.iter().filter(|line| line.starts_with(mark)).count();
                match renews {
                    true => assert!((6..=40).contains(&of("<<<")) && of(">>>") >= 4, "{key_updates:?}"),
                    false => assert!(key_updates.is_empty(), "{key_updates:?}"),
                }
            })
        });
    }
}

/// Endless messages without data are an error, and cost neither time nor memory.
#[test]
fn a_server_that_renews_for_ever_is_left() {
    let authority = Authority::new();
    for config in by_either(trusting(&authority)).into_iter().step_by(2) {
        let (say, hear) = channel();
        let (port, server) = serve(authority.good().server_config().unwrap(), 1, move |mut s| {
            s.write_all(b"hello").unwrap();
            let mut sent = 0;
            while sent < 16 << 20 && s.conn.refresh_traffic_keys().is_ok() {
                let Ok(n) = s.conn.write_tls(&mut s.sock) else { break };
                sent += n;
            }
            say.send(sent).unwrap();
        });
        let error = run(move |reactor| {
            Box::pin(async move {
                let store = SessionStore::new();
                let mut f = agree(socket(port, &reactor), &config, "localhost", port, &store).await.unwrap();
                let error = read_all(f.as_mut(), 1 << 16).await.unwrap_err();
                assert!(f.try_read(&mut [0; 10]).is_ready(), "and stays so");
                error
            })
        });
        server.join().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        // What the sockets hold is sent all the same.
        assert!(hear.recv().unwrap() < 16 << 20, "{error}");
    }
}
