//! tftp:// against a server that answers truly, twice, late, from elsewhere, or not at all.
//!
//! covers: CURLOPT_TFTP_BLKSIZE, CURLOPT_TFTP_NO_OPTIONS, --tftp-blksize, --tftp-no-options

use std::net::{SocketAddr, UdpSocket};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};

/// The server's side of one file, on its own port after the request.
struct Side {
    listening: UdpSocket,
    talking: UdpSocket,
    client: SocketAddr,
}

impl Side {
    fn send(&self, packet: &[u8]) {
        self.talking.send_to(packet, self.client).unwrap();
    }

    fn data(&self, block: u16, bytes: &[u8]) {
        self.send(&[&[0, 3], &block.to_be_bytes()[..], bytes].concat());
    }

    /// The next packet, to the port of the answers.
    fn receive(&self) -> Vec<u8> {
        let mut buf = vec![0; 70_000];
        let n = self.talking.recv(&mut buf).unwrap_or(0);
        buf.truncate(n);
        buf
    }

    /// The next packet must be the acknowledgement of this block.
    fn acknowledged(&self, block: u16) {
        assert_eq!(self.receive(), [&[0, 4], &block.to_be_bytes()[..]].concat());
    }
}

/// A server for one request, which it gets first.
fn serve(work: impl FnOnce(&Side, Vec<u8>) + Send + 'static) -> (u16, JoinHandle<()>) {
    let listening = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = listening.local_addr().unwrap().port();
    let thread = spawn(move || {
        let mut buf = [0; 2000];
        let (n, client) = listening.recv_from(&mut buf).unwrap();
        let talking = UdpSocket::bind("127.0.0.1:0").unwrap();
        talking.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        work(&Side { listening, talking, client }, buf[..n].to_vec());
    });
    (port, thread)
}

fn fetch(
    set: impl FnOnce(&warmwire_engine::Easy),
    work: impl FnOnce(&Side, Vec<u8>) + Send + 'static,
) -> (Code, Vec<u8>, String) {
    let (port, thread) = serve(work);
    let (easy, app) = handle(&format!("tftp://127.0.0.1:{port}/dir/file"));
    set(&easy);
    let code = easy.perform();
    thread.join().unwrap();
    let body = app.body.borrow().clone();
    (code, body, easy.state().message())
}

#[test]
fn a_file_in_blocks_agreed_on() {
    let content: Vec<u8> = (0..2500u32).map(|n| n as u8).collect();
    let sent = content.clone();
    let (code, body, _) = fetch(
        |easy| long(easy, O::TftpBlkSize, 1000),
        move |side, request| {
            assert_eq!(request, b"\0\x01dir/file\0octet\0tsize\x000\0blksize\x001000\0timeout\x006\0");
            side.send(b"\0\x06tsize\x002500\0BLKSIZE\x001000\0");
            side.acknowledged(0);
            for (number, piece) in sent.chunks(1000).enumerate() {
                side.data(number as u16 + 1, piece);
                side.acknowledged(number as u16 + 1);
            }
        },
    );
    assert_eq!((code, body), (Code::Ok, content));
}

#[test]
fn a_server_without_options_and_a_file_that_fills_its_blocks() {
    let (code, body, _) = fetch(
        |easy| long(easy, O::TftpNoOptions, 1),
        |side, request| {
            assert_eq!(request, b"\0\x01dir/file\0octet\0");
            side.data(1, &[b'x'; 512]);
            side.acknowledged(1);
            side.data(2, b"");
            side.acknowledged(2);
        },
    );
    assert_eq!((code, body), (Code::Ok, vec![b'x'; 512]));
}

/// Duplicates are acknowledged and delivered once; block numbers wrap around.
#[test]
fn blocks_that_come_twice_and_more_than_there_are_numbers() {
    let (code, body, _) = fetch(
        |easy| long(easy, O::TftpBlkSize, 8),
        |side, _| {
            side.send(b"\0\x06blksize\x008\0");
            side.acknowledged(0);
            for number in 1..=70_000u32 {
                side.data(number as u16, b"12345678");
                side.acknowledged(number as u16);
                if number % 20_000 == 0 {
                    side.data(number as u16, b"12345678");
                    side.acknowledged(number as u16);
                    side.data(number as u16 - 1, b"old one!");
                }
            }
            side.data(70_001u32 as u16, b"end");
            side.acknowledged(70_001u32 as u16);
        },
    );
    assert_eq!((code, body.len()), (Code::Ok, 560_003));
}

#[test]
fn lost_datagrams_are_sent_again() {
    let (code, body, _) = fetch(
        |easy| long(easy, O::ConnectTimeoutMs, 3000),
        |side, request| {
            let mut buf = [0; 2000];
            let n = side.listening.recv(&mut buf).unwrap();
            assert_eq!(buf[..n], request, "the request once more");
            side.data(1, &[1; 512]);
            side.acknowledged(1);
            side.acknowledged(1);
            side.data(2, b"z");
            side.acknowledged(2);
        },
    );
    assert_eq!((code, body.len()), (Code::Ok, 513));
}

/// After each datagram the server is gone, or falls silent: a partial file is never reported as complete.
#[test]
fn servers_that_leave_early_complete_no_file() {
    let content: Vec<u8> = (0..1100u32).map(|n| n as u8).collect();
    for blocks in 0..=3 {
        for is_gone in [true, false] {
            let sent = content.clone();
            let (code, body, words) = fetch(
                |easy| long(easy, O::TimeoutMs, if blocks == 3 { 30_000 } else { 500 }),
                move |side, _| {
                    for (number, block) in sent.chunks(512).take(blocks).enumerate() {
                        side.data(number as u16 + 1, block);
                        side.acknowledged(number as u16 + 1);
                    }
                    if !is_gone && blocks < 3 {
                        side.talking.set_read_timeout(Some(Duration::from_millis(1500))).unwrap();
                        while !side.receive().is_empty() {}
                    }
                },
            );
            let context = format!("{blocks} blocks, then gone: {is_gone}: {code:?} {words}");
            assert!(content.starts_with(&body), "{context}");
            assert_eq!(code == Code::Ok, blocks == 3, "{context}");
            assert_eq!(body.len() == content.len(), blocks == 3, "{context}");
            let true_ones = [Code::Ok, Code::OperationTimedout, Code::RecvError, Code::SendError];
            assert!(true_ones.contains(&code) || (blocks == 0 && code == Code::CouldntConnect), "{context}");
        }
    }
}

#[test]
fn nobody_answers() {
    let (code, body, _) = fetch(|easy| long(easy, O::ConnectTimeoutMs, 2000), |_, _| {});
    assert_eq!((code, body), (Code::OperationTimedout, vec![]));
}

#[test]
fn answers_from_elsewhere_and_nonsense() {
    let (code, body, message) = fetch(
        |_| {},
        |side, _| {
            side.data(1, &[1; 512]);
            side.acknowledged(1);
            side.listening.send_to(b"\0\x03\0\x02forged", side.client).unwrap();
        },
    );
    assert_eq!(
        (code, body.len(), message.as_str()),
        (Code::RecvError, 512, "Data received from another address")
    );
    let rows: [(&'static [u8], Code); 9] = [
        (b"\0\x05\0\x01no such file\0", Code::TftpNotfound),
        (b"\0\x05\0\x02\0", Code::TftpPerm),
        (b"\0\x05\0\x63odd", Code::AbortedByCallback),
        (b"\0\x06blksize\x00513\0", Code::TftpIllegal),
        (b"\0\x06blksize\x007\0", Code::TftpIllegal),
        (b"\0\x06tsize\0x\0", Code::TftpIllegal),
        (b"\0\x06broken", Code::TftpIllegal),
        (b"\0\x04\0\x00", Code::TftpIllegal),
        (b"\0\x63\0\x00", Code::TftpIllegal),
    ];
    for (packet, wanted) in rows {
        let (code, body, message) = fetch(|_| {}, move |side, _| side.send(packet));
        assert_eq!((code, body), (wanted, vec![]), "{packet:?}: {message}");
    }
    let long_block = fetch(|_| {}, |side, _| side.data(1, &[1; 513]));
    assert_eq!((long_block.0, long_block.1), (Code::TftpIllegal, vec![]));
}

/// A duplicate acknowledgement never causes the next block to be sent twice (the sorcerer's apprentice).
#[test]
fn a_file_is_stored_block_by_block() {
    let (port, thread) = serve(|side, request| {
        assert_eq!(request, b"\0\x02up\0netascii\0tsize\x001030\0blksize\x00512\0timeout\x006\0");
        for number in 0..3u16 {
            side.send(&[&[0, 4], &number.to_be_bytes()[..]].concat());
            side.send(&[&[0, 4], &number.to_be_bytes()[..]].concat());
            let length = [512, 512, 6][usize::from(number)];
            let packet = side.receive();
            assert_eq!((packet.len(), &packet[..4]), (length + 4, &[0, 3, 0, number as u8 + 1][..]));
        }
        side.send(b"\0\x04\0\x03");
    });
    let (easy, app) = handle(&format!("tftp://127.0.0.1:{port}/up;mode=netascii"));
    *app.upload.borrow_mut() = vec![7; 1030];
    long(&easy, O::Upload, 1);
    long(&easy, O::InFileSizeLarge, 1030);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    thread.join().unwrap();
}

/// A block's size is brought into RFC 2348's range; none is the usual one.
#[test]
fn sizes_of_blocks_are_brought_into_their_range() {
    for (asked, sent) in [(0, "512"), (1, "8"), (7, "8"), (65_465, "65464"), (1 << 30, "65464")] {
        let (code, ..) = fetch(
            |easy| long(easy, O::TftpBlkSize, asked),
            move |side, request| {
                let wanted = format!("\0blksize\0{sent}\0");
                assert!(String::from_utf8_lossy(&request).contains(&wanted), "{asked}: {request:?}");
                side.send(b"\0\x05\0\x01\0");
            },
        );
        assert_eq!(code, Code::TftpNotfound, "{asked}");
    }
}

#[test]
fn a_file_needs_a_name() {
    let (easy, _app) = handle("tftp://127.0.0.1:1/");
    assert_eq!(easy.perform(), Code::TftpIllegal);
    assert_eq!(easy.state().message(), "Missing filename");
}

/// There is no connection that could be late.
#[test]
fn silence_is_a_transfer_that_takes_too_long() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (easy, _app) = handle(&format!("tftp://{}/file", silent.local_addr().unwrap()));
    long(&easy, O::TimeoutMs, 100);
    assert_eq!(easy.perform(), Code::OperationTimedout);
    let message = easy.state().message();
    assert!(
        message.starts_with("Operation timed out after") && message.ends_with("with 0 bytes received"),
        "{message}"
    );
}

/// A request is no longer than a block is before anything was agreed on.
#[test]
fn names_have_a_longest() {
    let ask = |length: usize, options: bool, blksize: i64| {
        let (easy, _app) = handle(&format!("tftp://127.0.0.1:1/{}", "x".repeat(length)));
        long(&easy, O::TftpNoOptions, i64::from(!options));
        long(&easy, O::TftpBlkSize, blksize);
        long(&easy, O::TimeoutMs, 200);
        (easy.perform() == Code::TftpIllegal).then(|| easy.state().message())
    };
    let (long_name, no_room) = ("TFTP filename too long", "TFTP buffer too small for options");
    assert_eq!(ask(503, false, 512), None);
    assert_eq!(ask(504, false, 512).as_deref(), Some(long_name));
    assert_eq!(ask(504, true, 8192).as_deref(), Some(long_name), "the server knows of no larger block yet");
    assert_eq!(ask(503, true, 512).as_deref(), Some(no_room));
    assert_eq!(ask(470, true, 512), None);
}

#[test]
fn proxies_pass_no_datagrams_on() {
    for (proxy, wanted) in
        [("http://127.0.0.1:1", Code::UnsupportedProtocol), ("socks5://127.0.0.1:1", Code::Proxy)]
    {
        let (easy, _app) = handle("tftp://127.0.0.1:2/x");
        text(&easy, O::Proxy, proxy);
        assert_eq!(easy.perform(), wanted);
    }
}
