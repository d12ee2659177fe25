//! Servers that cut the connection, send malformed records or send too many.

use super::tests::*;
use super::*;
use crate::NetErrorKind;
use crate::tls::ech::tests::list;
use crate::tls::{Backend, Ech, TlsConfig};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;
use testkit::certs::Authority;

/// Passes bytes between client and server, but only the first `allowed` of the server's; then it closes.
/// Returns how many the server sent in all.
fn cut_after(server: u16, allowed: usize) -> (u16, std::thread::JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut upstream = TcpStream::connect(("127.0.0.1", server)).unwrap();
        let (mut from, mut to) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
        let up = std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
        let (mut passed, mut buf) = (0, [0; 4096]);
        while let Ok(n @ 1..) = upstream.read(&mut buf) {
            let take = n.min(allowed.saturating_sub(passed));
            if client.write_all(&buf[..take]).is_err() {
                break;
            }
            passed += n;
            if passed >= allowed {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
        let _ = upstream.shutdown(Shutdown::Both);
        up.join().unwrap();
        passed
    });
    (port, thread)
}

/// Reads a reply to its end and returns the body, or the error.
fn fetch(port: u16, config: &Arc<TlsConfig>) -> Result<Result<Vec<u8>, io::ErrorKind>, NetErrorKind> {
    let config = config.clone();
    run(move |reactor| {
        Box::pin(async move {
            let store = SessionStore::new();
            let made = agree(socket(port, &reactor), &config, "localhost", port, &store).await;
            let mut f = made.map_err(|e| e.kind)?;
            let sent = f.write_all(b"go\n").await;
            if let Err(e) = sent {
                return Ok(Err(e.kind()));
            }
            Ok(read_all(f.as_mut(), 1 << 16).await.map_err(|e| e.kind()))
        })
    })
}

#[test]
fn a_connection_cut_at_any_byte_is_an_error() {
    let authority = Authority::new();
    for config in by_either(trusting(&authority)) {
        let (server, _) =
            serve(authority.good().server_config().unwrap(), usize::MAX, |s| answer(s, b"0123456789"));
        let (port, relay) = cut_after(server, usize::MAX);
        assert_eq!(fetch(port, &config), Ok(Ok(b"0123456789".to_vec())));
        let whole = relay.join().unwrap();
        let mut clean = 0;
        // On Wine each connection takes its time.
        for n in (0..whole).step_by(if cfg!(windows) { 7 } else { 1 }) {
            let (port, relay) = cut_after(server, n);
            match fetch(port, &config) {
                Err(kind) => assert_eq!(kind, NetErrorKind::SslConnectError, "byte {n} of {whole}"),
                Ok(Err(
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe,
                )) => {}
                Ok(Err(other)) => panic!("byte {n} of {whole}: {other}"),
                Ok(Ok(body)) => {
                    // Signatures differ in length by a byte or two: the last ones may have been whole.
                    assert_eq!(body, b"0123456789", "byte {n} of {whole}");
                    assert!(n + 8 > whole, "byte {n} of {whole}");
                    clean += 1;
                }
            }
            relay.join().unwrap();
        }
        assert!(clean < 8);
    }
}

/// BoringSSL's runner cuts messages so: 40 tickets, each in several records, are no endless babble.
#[test]
fn tickets_in_small_records_are_read() {
    let authority = Authority::new();
    let mut server = (*authority.good().server_config().unwrap()).clone();
    server.max_fragment_size = Some(32);
    server.send_tls13_tickets = 40;
    let (port, _) = serve(Arc::new(server), 1, |s| answer(s, b"0123456789"));
    assert_eq!(fetch(port, &Arc::new(trusting(&authority))), Ok(Ok(b"0123456789".to_vec())));
}

/// A server without ECH reads `ech_required` behind the client's Finished (RFC 9849 section 6.1.6).
#[test]
fn an_alert_behind_another_message_is_sent() {
    let authority = Authority::new();
    let (sender, seen) = std::sync::mpsc::channel();
    let (port, server) = serve(authority.good().server_config().unwrap(), 1, move |mut s| {
        let read = s.read(&mut [0]).map_err(|e| e.to_string());
        sender.send(read).unwrap();
    });
    let (list, outer_name) = (list(0xfe0d).into(), Some("localhost".into()));
    let config = TlsConfig { ech: Some(Ech::Offer { list, outer_name }), ..trusting(&authority) };
    assert_eq!(fetch(port, &Arc::new(config)), Err(NetErrorKind::EchRequired));
    server.join().unwrap();
    let failed = seen.recv().unwrap().unwrap_err();
    assert!(failed.contains("EncryptedClientHelloRequired"), "{failed}");
}

#[test]
fn a_server_that_does_not_speak_tls() {
    backends().iter().for_each(does_not_speak_tls);
}

fn does_not_speak_tls(backend: &Backend) {
    for (reply, text) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "wrong version number"),
        (&[21, 3, 1, 0, 2, 2, 40], "ssl/tls alert handshake failure"),
        (&[21, 3, 1, 0, 2, 2, 70], "tlsv1 alert protocol version"),
        (b"", "unexpected eof while reading"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut s, _) = listener.accept().unwrap();
            let mut hello = [0; 4096];
            let _ = s.read(&mut hello);
            s.write_all(reply).unwrap();
            let _ = s.shutdown(Shutdown::Write);
            let _ = s.read(&mut hello);
        });
        let (backend, rustls) = (backend.clone(), *backend == Backend::Rustls);
        let e = run(move |reactor| {
            Box::pin(async move {
                let config = Arc::new(TlsConfig { backend, ..TlsConfig::default() });
                agree(socket(port, &reactor), &config, "localhost", port, &SessionStore::new())
                    .await
                    .err()
                    .unwrap()
            })
        });
        let of_version = rustls && reply.ends_with(&[2, 70]); // another hello may do
        let kind = if of_version { NetErrorKind::SslVersion } else { NetErrorKind::SslConnectError };
        assert_eq!(e.kind, kind);
        let before_3_2 = text.replace("ssl/tls alert", "sslv3 alert");
        let names_alert = e.message.ends_with(text) || !rustls && e.message.ends_with(&before_3_2);
        assert!(e.message.starts_with("TLS connect error: error:0A000") && names_alert, "{e}");
        server.join().unwrap();
    }
}

/// A TLS connection whose server side then writes `raw` straight to the socket.
fn after_handshake(config: &Arc<TlsConfig>, authority: &Authority, raw: Vec<u8>) -> io::Result<Vec<u8>> {
    let (port, server) = serve(authority.good().server_config().unwrap(), 1, move |mut s| {
        let mut line = [0; 3];
        s.read_exact(&mut line).unwrap();
        s.write_all(b"first").unwrap();
        s.sock.write_all(&raw).unwrap();
        let _ = s.sock.shutdown(Shutdown::Write);
        s.sock.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let _ = s.sock.read(&mut [0; 1000]);
    });
    let config = config.clone();
    let result = run(move |reactor| {
        Box::pin(async move {
            let mut f = agree(socket(port, &reactor), &config, "localhost", port, &SessionStore::new())
                .await
                .unwrap();
            f.write_all(b"go\n").await.unwrap();
            read_all(f.as_mut(), 1 << 16).await
        })
    });
    server.join().unwrap();
    result
}

#[test]
fn forged_records_end_the_connection() {
    let authority = Authority::new();
    for config in by_either(trusting(&authority)) {
        for (raw, kind) in [
            ([&[23u8, 3, 3, 0, 40][..], &[0; 40]].concat(), io::ErrorKind::InvalidData),
            ([&[21u8, 3, 3, 0, 40][..], &[0; 40]].concat(), io::ErrorKind::InvalidData),
            (vec![23, 3, 3, 0xff, 0xff], io::ErrorKind::InvalidData),
            (b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), io::ErrorKind::InvalidData),
            (vec![21, 3, 3, 0, 2, 1, 0], io::ErrorKind::InvalidData),
            (vec![], io::ErrorKind::UnexpectedEof),
            (vec![23, 3, 3, 0, 40, 1, 2], io::ErrorKind::UnexpectedEof),
        ] {
            let text = format!("{raw:?}");
            let error = after_handshake(&config, &authority, raw).expect_err(&text);
            assert_eq!(error.kind(), kind, "{text}: {error}");
        }
    }
}

/// A certificate that says it has 16 MB, and comes, until the client has had enough.
#[test]
fn an_endless_certificate_is_not_heard_out() {
    for backend in backends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut s, _) = listener.accept().unwrap();
            let _ = s.read(&mut [0; 4096]);
            // ServerHello of TLS 1.2 with ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 and an empty renegotiation_info
            // (RFC 5746), extended_master_secret (RFC 7627); then the head of a Certificate.
            let extensions = [&[0xff, 1, 0, 1, 0][..], &[0, 23, 0, 0]].concat();
            let hello = [&[3, 3][..], &[7; 32], &[0, 0xc0, 0x2b, 0, 0, 9], &extensions].concat();
            let message = [&[2, 0, 0, hello.len() as u8][..], &hello].concat();
            s.write_all(&[&[22, 3, 3, 0, message.len() as u8][..], &message].concat()).unwrap();
            let mut piece =
                [&[22, 3, 3, 0x40, 0][..], &[11, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc], &[0; 16377]].concat();
            let mut sent = 0;
            while sent < 1 << 24 && s.write_all(&piece).is_ok() {
                sent += piece.len();
                piece[5..12].fill(0);
            }
            sent
        });
        let e = run(move |reactor| {
            Box::pin(async move {
                let config = Arc::new(TlsConfig { backend: backend.clone(), ..TlsConfig::default() });
                let store = SessionStore::new();
                agree(socket(port, &reactor), &config, "localhost", port, &store).await.err().unwrap()
            })
        });
        assert_eq!(e.kind, NetErrorKind::SslConnectError, "{e}");
        // What the sockets hold is sent all the same.
        assert!(server.join().unwrap() < 1 << 24, "{e}");
    }
}
