//! WebSocket with scripted peers: the request, received frames, and sent frames.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::common::{App, handle, long, text, until_done};
use tables::constant::*;
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::raw::{RawPeer, Step, expect};
use warmwire_engine::callbacks::WriteAnswer;
use warmwire_engine::websocket::Frame;
use warmwire_engine::{Easy, Multi, WebSocketOptions};
use wire::ws::deflate::{Agreed, Deflater};
use wire::ws::{Kind, Writer};

const ACCEPTED: &str =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";

/// A peer that agrees, sends these frames with its reply, and continues.
fn peer(frames: &[u8], then: Vec<Step>) -> RawPeer {
    let reply = Step::Send([ACCEPTED.as_bytes(), frames].concat());
    RawPeer::start(vec![[expect("\r\n\r\n"), reply].into_iter().chain(then).collect()])
}

fn client(peer: &RawPeer) -> (Easy, Rc<App>) {
    handle(&format!("ws://127.0.0.1:{}/chat?room=1", peer.port()))
}

/// Returns what the peer received after the request, unmasked: first byte and payload of each short frame.
fn heard(peer: &RawPeer) -> Vec<(u8, Vec<u8>)> {
    let all = peer.received().concat();
    let at = all.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
    let (mut rest, mut frames) = (&all[at..], Vec::new());
    while let [first, length, mask @ ..] = rest {
        let length = usize::from(length - 0x80);
        let payload = mask[4..4 + length].iter().zip(mask[..4].iter().cycle()).map(|(b, m)| b ^ m).collect();
        frames.push((*first, payload));
        rest = &mask[4 + length..];
    }
    frames
}

/// Records the frame that each write callback could query.
fn watch(easy: &Easy, app: &App) -> Rc<RefCell<Vec<Frame>>> {
    let frames = Rc::new(RefCell::new(Vec::new()));
    let (easy, list) = (easy.clone(), frames.clone());
    *app.on_write.borrow_mut() = Some(Rc::new(move || list.borrow_mut().push(easy.ws_meta().unwrap())));
    frames
}

fn frame(flags: i32, offset: i64, bytes_left: i64, len: usize) -> Frame {
    Frame { flags, offset, bytes_left, len }
}

// covers: curl_ws_meta
#[test]
fn frames_are_delivered_with_their_meta_data() {
    let frames = b"\x01\x03hel\x89\x02hi\x80\x02lo\x82\x00\x8a\x01p\x88\x02\x03\xe8";
    let peer = peer(frames, vec![Step::ExpectBytes(8), Step::Finish]);
    let (easy, app) = client(&peer);
    let written = watch(&easy, &app);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(*app.body.borrow(), b"hellop\x03\xe8");
    let wanted = [
        frame(CURLWS_TEXT | CURLWS_CONT, 0, 0, 3),
        frame(CURLWS_TEXT, 0, 0, 2),
        frame(CURLWS_BINARY, 0, 0, 0),
        frame(CURLWS_PONG, 0, 0, 1),
        frame(CURLWS_CLOSE, 0, 0, 2),
    ];
    assert_eq!(*written.borrow(), wanted);
    assert_eq!(heard(&peer), [(0x8a, b"hi".to_vec())]);
    assert_eq!(easy.ws_meta(), None, "outside of callbacks there is none");
    assert_eq!(easy.state().info.borrow().downloaded, frames.len() as i64);
}

#[test]
fn the_request_is_curls() {
    let peer = peer(b"\x81\x00", vec![Step::Finish]);
    let (easy, _app) = client(&peer);
    long(&easy, O::HttpVersion, 1);
    assert_eq!(easy.perform(), Code::Ok);
    let request = String::from_utf8(peer.received().concat()).unwrap();
    let (before, key) = request.split_once("Sec-WebSocket-Key: ").unwrap();
    let host = format!("Host: 127.0.0.1:{}\r\n", peer.port());
    let wanted = "Accept: */*\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
    assert_eq!(before, format!("GET /chat?room=1 HTTP/1.1\r\n{host}{wanted}"));
    assert_eq!(&key[22..], "==\r\nConnection: Upgrade\r\n\r\n");
}

#[test]
fn replies_without_an_upgrade_are_refused() {
    for status in ["200 OK", "301 Moved\r\nLocation: /x", "401 No\r\nWWW-Authenticate: Basic realm=a"] {
        let reply = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nno");
        let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), Step::Send(reply.into_bytes())]]);
        let (easy, app) = client(&peer);
        long(&easy, O::FollowLocation, 1);
        assert_eq!(easy.perform(), Code::HttpReturnedError);
        assert_eq!(easy.state().message(), format!("Refused WebSocket upgrade: {}", &status[..3]));
        assert_eq!(*app.body.borrow(), b"");
    }
    for (frames, code, message) in [
        (&b""[..], Code::GotNothing, "Empty reply from server"),
        (b"\x81\x02hi\x83\x00", Code::RecvError, "[WS] invalid opcode: 83"),
        (b"\x81\x02hi\x81\x80", Code::RecvError, "[WS] masked input frame"),
        (b"\x81\x02hi\x81", Code::RecvError, "[WS] decode ending with 1 frame bytes remaining"),
        (b"\x81\x02hi\x82\x7f\0\0\x01", Code::RecvError, "[WS] decode ending with 5 frame bytes remaining"),
    ] {
        let peer = peer(frames, vec![Step::Finish]);
        let (easy, app) = client(&peer);
        assert_eq!((easy.perform(), easy.state().message()), (code, message.to_owned()));
        assert_eq!(*app.body.borrow(), if frames.is_empty() { &b""[..] } else { b"hi" });
    }
}

/// A frame is handed out in pieces; one that the application does not take now comes again as the same.
// covers: curl_ws_meta, curl_easy_pause
#[test]
fn a_pause_loses_nothing() {
    let mut frames = b"\x82\x7e\x9c\x40".to_vec();
    frames.extend((0..40_000).map(|i| i as u8));
    frames.extend_from_slice(b"\x81\x03end");
    let peer = peer(&frames, vec![Step::Finish]);
    let (easy, app) = client(&peer);
    let written = watch(&easy, &app);
    app.answers.borrow_mut().extend([WriteAnswer::All, WriteAnswer::Pause]);
    let multi = Multi::default();
    assert_eq!(multi.add(&easy), tables::MultiCode::Ok);
    while !easy.state().flow.receive_paused() {
        multi.perform();
        multi.wait(&mut [], Duration::from_millis(10), false).unwrap();
    }
    let stopped = *written.borrow().last().unwrap();
    assert_eq!(easy.pause(0), Code::Ok);
    assert_eq!(until_done(&multi), Code::Ok);
    assert_eq!(app.body.borrow()[..40_000], frames[4..40_004]);
    assert_eq!(app.body.borrow()[40_000..], *b"end");
    let written = written.borrow();
    let again = written.iter().filter(|piece| piece.offset == stopped.offset && piece.flags == stopped.flags);
    assert_eq!(again.count(), 2);
    assert!(
        written.iter().all(|p| p.flags == CURLWS_TEXT || p.offset + p.len as i64 + p.bytes_left == 40_000)
    );
}

// covers: CURLOPT_WS_OPTIONS
#[test]
fn raw_mode_and_pings_of_ones_own() {
    let frames = b"\x89\x02hi\x81\x01a";
    for (bits, body) in [(CURLWS_RAW_MODE, &frames[..]), (CURLWS_NOAUTOPONG, b"hia")] {
        let peer = peer(frames, vec![Step::Finish]);
        let (easy, app) = client(&peer);
        long(&easy, O::WsOptions, bits.into());
        assert_eq!(easy.perform(), Code::Ok);
        assert_eq!(*app.body.borrow(), body);
        assert_eq!(heard(&peer), []);
    }
}

/// Data sent from within the write callback goes out with the transfer, and so does an upload.
// covers: curl_ws_send, CURLOPT_UPLOAD
#[test]
fn a_callback_sends() {
    let peer = peer(b"\x81\x01a", vec![Step::ExpectBytes(6 + 5 + 6 + 1), Step::Finish]);
    let (easy, app) = client(&peer);
    long(&easy, O::Upload, 1);
    *app.upload.borrow_mut() = b"bytes".to_vec();
    let sender = easy.clone();
    let hook = move || assert_eq!(sender.ws_send(b"b", 0, CURLWS_TEXT as u32), Ok(1));
    *app.on_write.borrow_mut() = Some(Rc::new(hook));
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    let mut heard = heard(&peer);
    heard.sort();
    assert_eq!(heard, [(0x81, b"b".to_vec()), (0x82, b"bytes".to_vec())]);
    assert_eq!(easy.ws_send(b"b", 0, 1), Err(Code::SendError));
}

/// A connection that the application uses itself.
fn by_hand(peer: &RawPeer) -> Easy {
    let (easy, _app) = client(peer);
    long(&easy, O::ConnectOnly, 2);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    easy
}

fn receive(easy: &Easy, buf: &mut [u8]) -> Result<Frame, Code> {
    let start = Instant::now();
    loop {
        match easy.ws_receive(buf) {
            Err(Code::Again) if start.elapsed() < Duration::from_secs(20) => {
                std::thread::sleep(Duration::from_millis(1));
            }
            result => return result,
        }
    }
}

// covers: curl_ws_recv, CURLOPT_CONNECT_ONLY
#[test]
fn by_hand_a_frame_comes_in_pieces() {
    let frames = b"\x89\x02hi\x81\x05hello\x82\x00\x01\x01a";
    let peer = peer(frames, vec![Step::ExpectBytes(8), Step::Finish]);
    let easy = by_hand(&peer);
    let mut buf = [0; 3];
    assert_eq!(receive(&easy, &mut []), Ok(frame(CURLWS_TEXT, 0, 5, 0)));
    assert_eq!(receive(&easy, &mut buf), Ok(frame(CURLWS_TEXT, 0, 2, 3)));
    assert_eq!(buf, *b"hel");
    assert_eq!(receive(&easy, &mut buf), Ok(frame(CURLWS_TEXT, 3, 0, 2)));
    assert_eq!(receive(&easy, &mut []), Ok(frame(CURLWS_BINARY, 0, 0, 0)));
    assert_eq!(receive(&easy, &mut buf), Ok(frame(CURLWS_TEXT | CURLWS_CONT, 0, 0, 1)));
    assert_eq!(receive(&easy, &mut buf), Err(Code::GotNothing));
    assert_eq!(heard(&peer), [(0x8a, b"hi".to_vec())]);
}

/// A frame of 24 MiB to a slow reader, over TLS: data that does not fit is passed again.
// covers: curl_ws_send
#[test]
fn by_hand_a_large_frame_goes_in_pieces() {
    const LENGTH: usize = 24 << 20;
    let authority = Authority::new();
    let script = vec![
        expect("\r\n\r\n"),
        Step::Send(ACCEPTED.into()),
        Step::Sleep(Duration::from_secs(3)),
        Step::ExpectBytes(LENGTH + 14 + 8),
        Step::Send(b"\x81\x06got it".to_vec()),
        Step::Hold,
    ];
    let peer = RawPeer::tls(vec![script], authority.good().server_config().unwrap());
    let (easy, _app) = handle(&format!("wss://localhost:{}/", peer.port()));
    text(&easy, O::CaInfoBlob, authority.ca_pem());
    long(&easy, O::ConnectOnly, 2);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    let all: Vec<u8> = (0..LENGTH).map(|i| (i / 7) as u8).collect();
    let (mut sent, mut refused) = (0, 0);
    while sent < LENGTH {
        let piece = (LENGTH - sent).min(1_000_000);
        let (whole, flags) =
            if sent == 0 { (LENGTH as i64, CURLWS_OFFSET | CURLWS_BINARY) } else { (0, CURLWS_OFFSET) };
        match easy.ws_send(&all[sent..sent + piece], whole, flags as u32) {
            Ok(n) => sent += n,
            Err(Code::Again) => {
                refused += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(code) => panic!("{code:?}"),
        }
    }
    assert!(refused > 0, "the peer reads late");
    assert_eq!(easy.ws_send(b"hi", 0, CURLWS_PING as u32), Ok(2));
    let mut buf = [0; 10];
    assert_eq!(receive(&easy, &mut buf), Ok(frame(CURLWS_TEXT, 0, 0, 6)));
    let heard = peer.received().concat();
    let at = heard.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
    let (mut out, mut writer) = (Vec::new(), Writer::default());
    let mask: [u8; 4] = heard[at + 10..at + 14].try_into().unwrap();
    writer.begin(Kind::Binary, true, LENGTH as u64, mask, &mut out);
    writer.payload(&all, &mut out);
    assert!(heard[at..at + out.len()] == out[..]);
    assert_eq!(heard[at + out.len()..at + out.len() + 2], [0x89, 0x82]);
}

/// A frame that cannot be sent reports the reason.
// covers: curl_ws_send, curl_ws_start_frame
#[test]
fn frames_that_cannot_be_sent() {
    let peer = peer(b"", vec![Step::Hold]);
    let easy = by_hand(&peer);
    for (bytes, fragment, flags, code, message) in [
        (&b"x"[..], 0, 0, Code::BadFunctionArgument, "[WS] no flags given"),
        (b"x", 0, CURLWS_CONT, Code::BadFunctionArgument, "[WS] No ongoing fragmented message to continue"),
        (
            b"x",
            0,
            CURLWS_PING | CURLWS_CONT,
            Code::BadFunctionArgument,
            "[WS] PING frame must not be fragmented",
        ),
        (b"x", 0, CURLWS_TEXT | CURLWS_BINARY, Code::BadFunctionArgument, "[WS] unknown flags: 3"),
        (&[0; 126], 0, CURLWS_CLOSE, Code::TooLarge, "[WS] given CLOSE frame is too big"),
        (
            b"x",
            -1,
            CURLWS_TEXT | CURLWS_OFFSET,
            Code::SendError,
            "[WS] starting new frame with negative payload length -1",
        ),
        (
            b"x",
            0,
            CURLWS_TEXT | CURLWS_OFFSET,
            Code::BadFunctionArgument,
            "[WS] unaligned frame size (sending 1 instead of 0)",
        ),
    ] {
        assert_eq!(easy.ws_send(bytes, fragment, flags as u32), Err(code));
        assert_eq!(easy.state().message(), message);
    }
    // A frame is begun for a read callback, and here is none.
    assert_eq!(easy.ws_start_frame(CURLWS_TEXT as u32, 1), Err(Code::SendError));
    assert_eq!(easy.ws_send(b"x", 0, CURLWS_TEXT as u32), Ok(1));
    let offset = (CURLWS_TEXT | CURLWS_OFFSET) as u32;
    assert_eq!(easy.ws_send(b"ab", 3, offset), Ok(2));
    assert_eq!(easy.ws_start_frame(CURLWS_TEXT as u32, 1), Err(Code::SendError));
    assert_eq!(easy.ws_send(b"cd", 0, offset), Err(Code::BadFunctionArgument));
    assert_eq!(easy.ws_send(b"c", 0, offset), Ok(1));
}

/// CVE-2026-11586, CVE-2025-5399: a server that asks without end and hears no answer is heard no more once a
/// bounded number of answers waits; the time limit ends it.
#[test]
fn pings_without_end_are_not_answered_without_end() {
    let pings = [&b"\x89\x7d"[..], &[b'p'; 125]].concat().repeat(250_000);
    let peer = peer(&[], vec![Step::Send(pings), Step::Finish]);
    let (easy, _app) = client(&peer);
    long(&easy, O::TimeoutMs, 1500);
    assert_eq!(easy.perform(), Code::OperationTimedout, "all was taken in: {}", easy.state().message());
}

/// CVE-2025-10148: each frame has its own mask.
#[test]
fn masks_are_not_used_again() {
    let peer = peer(&b"\x89\x00".repeat(20), vec![Step::ExpectBytes(120), Step::Finish]);
    let (easy, _app) = client(&peer);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    let all = peer.received().concat();
    let pongs = &all[all.len() - 120..];
    let masks: std::collections::HashSet<&[u8]> = pongs.chunks(6).map(|pong| &pong[2..]).collect();
    assert_eq!(masks.len(), 20);
}

const AGREED: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=11\r\n\r\n";

const USUAL: Agreed = Agreed { server_forgets: false, client_forgets: false, client_window: 15 };

/// warmwire_websocket().
fn allow(easy: &Easy, bits: i64) {
    easy.state().settings.borrow_mut().set_websocket(WebSocketOptions::from_number(bits));
}

/// A handle that offers compression to a peer that agrees and sends these frames.
fn compressing(frames: &[u8], then: Vec<Step>) -> (RawPeer, Easy, Rc<App>) {
    let reply = Step::Send([AGREED.as_bytes(), frames].concat());
    let peer = RawPeer::start(vec![[expect("\r\n\r\n"), reply].into_iter().chain(then).collect()]);
    let (easy, app) = client(&peer);
    allow(&easy, 1);
    (peer, easy, app)
}

/// A server's frame.
fn from_server(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u64;
    [&[first, 127][..], &length.to_be_bytes(), payload].concat()
}

/// A message, compressed.
fn packed(deflater: &mut Deflater, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    deflater.piece(message, &mut out);
    deflater.end(true, &mut out);
    out
}

/// The application receives plain payload, each piece as a frame of known length, mixed with uncompressed
/// messages.
#[test]
fn compressed_messages_are_delivered_plain() {
    let mut deflater = Deflater::new(USUAL);
    let long = b"0123456789abcdef".repeat(2500);
    let (hello, again, long_packed) =
        (packed(&mut deflater, b"hello"), packed(&mut deflater, b"hello"), packed(&mut deflater, &long));
    assert!(again.len() < hello.len() && long_packed.len() < 1000);
    let frames = [
        from_server(0xc1, &hello),
        from_server(0x41, &again[..2]),
        b"\x89\x02hi".to_vec(),
        from_server(0x80, &again[2..]),
        b"\x82\x03raw".to_vec(),
        from_server(0xc2, &long_packed),
        from_server(0xc1, b"\0"),
    ];
    let (peer, easy, app) = compressing(&frames.concat(), vec![Step::ExpectBytes(8), Step::Finish]);
    let written = watch(&easy, &app);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(*app.body.borrow(), [&b"hellohelloraw"[..], &long].concat());
    let (text, binary) = (CURLWS_TEXT, CURLWS_BINARY);
    let whole = written.borrow();
    assert_eq!(whole[0], frame(text, 0, 0, 5));
    let ends: Vec<_> = whole.iter().filter(|piece| piece.flags & CURLWS_CONT == 0).map(|p| p.flags).collect();
    assert_eq!(ends, [text, text, binary, binary, text]);
    assert!(whole.iter().all(|piece| piece.offset == 0 && piece.bytes_left == 0 && piece.len <= 16 * 1024));
    assert_eq!(heard(&peer), [(0x8a, b"hi".to_vec())]);
}

/// 64 MiB out of 64 KiB: a pause in the middle loses nothing, and nothing is decompressed in advance.
// covers: curl_easy_pause
#[test]
fn a_bomb_can_be_paused() {
    const LENGTH: usize = 64 << 20;
    let bomb = packed(&mut Deflater::new(USUAL), &vec![b'x'; LENGTH]);
    assert!(bomb.len() < 100_000);
    let (_peer, easy, app) = compressing(&from_server(0xc2, &bomb), vec![Step::Finish]);
    app.answers.borrow_mut().extend([WriteAnswer::All, WriteAnswer::Pause]);
    let multi = Multi::default();
    assert_eq!(multi.add(&easy), tables::MultiCode::Ok);
    while !easy.state().flow.receive_paused() {
        multi.perform();
        multi.wait(&mut [], Duration::from_millis(10), false).unwrap();
    }
    assert_eq!(app.body.borrow().len(), 16 * 1024);
    assert_eq!(easy.pause(0), Code::Ok);
    assert_eq!(until_done(&multi), Code::Ok);
    let body = app.body.borrow();
    assert!(body.len() == LENGTH && body.iter().all(|byte| *byte == b'x'));
}

/// Frames of the application are sent compressed, within the window that the server allows, and keep their
/// types.
// covers: curl_ws_send, curl_ws_recv, CURLOPT_CONNECT_ONLY
#[test]
fn by_hand_messages_leave_compressed() {
    let hello = from_server(0xc1, &packed(&mut Deflater::new(USUAL), b"hello"));
    let mut deflater = Deflater::new(Agreed { client_window: 11, ..USUAL });
    let (mut first, mut second, mut third) = (Vec::new(), Vec::new(), Vec::new());
    deflater.piece(b"one ", &mut first);
    deflater.end(false, &mut first);
    for piece in [&b"two"[..], b"x", b"!"] {
        deflater.piece(piece, &mut second);
    }
    deflater.end(true, &mut second);
    deflater.end(true, &mut third);
    let wanted = [(0x41, first), (0x89, b"hi".to_vec()), (0x80, second), (0xc2, third)];
    let length = wanted.iter().map(|(_, payload)| 6 + payload.len()).sum();
    let (peer, easy, _app) = compressing(&hello, vec![Step::ExpectBytes(length), Step::Finish]);
    long(&easy, O::ConnectOnly, 2);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    let mut buf = [0; 3];
    assert_eq!(receive(&easy, &mut []), Ok(frame(CURLWS_TEXT, 0, 5, 0)));
    assert_eq!(receive(&easy, &mut buf), Ok(frame(CURLWS_TEXT, 0, 2, 3)));
    assert_eq!(receive(&easy, &mut buf), Ok(frame(CURLWS_TEXT, 3, 0, 2)));
    let (text, offset) = (CURLWS_TEXT as u32, CURLWS_OFFSET as u32);
    assert_eq!(easy.ws_send(b"one ", 0, text | CURLWS_CONT as u32), Ok(4));
    assert_eq!(easy.ws_send(b"hi", 0, CURLWS_PING as u32), Ok(2));
    assert_eq!(easy.ws_send(b"two", 5, text | offset), Ok(3));
    assert_eq!(easy.ws_send(b"x", 0, text), Ok(1), "the flags of a rest say nothing");
    assert_eq!(easy.ws_send(b"!", 0, offset), Ok(1));
    assert_eq!(easy.ws_send(b"", 0, CURLWS_BINARY as u32), Ok(0));
    assert_eq!(receive(&easy, &mut buf), Err(Code::GotNothing));
    assert_eq!(heard(&peer), wanted);
}

/// Nothing is offered in raw mode, if the application has its own header line, or by default.
// covers: CURLOPT_WS_OPTIONS, CURLOPT_HTTPHEADER
#[test]
fn offers_of_compression() {
    for (bits, raw, own, offered) in [
        (1, false, false, Some("permessage-deflate; client_max_window_bits\r\n")),
        (
            3 | 9 << 8,
            false,
            false,
            Some(
                "permessage-deflate; client_max_window_bits=9; server_max_window_bits=9; \
                 server_no_context_takeover; client_no_context_takeover\r\n",
            ),
        ),
        (0, false, false, None),
        (1, true, false, None),
        (1, false, true, Some("own\r\n")),
    ] {
        // An unrequested extension in the reply is ignored, as in curl.
        let reply = if offered.is_some_and(|offer| offer.starts_with('p')) { ACCEPTED } else { AGREED };
        let then =
            vec![expect("\r\n\r\n"), Step::Send([reply.as_bytes(), b"\x81\x01a"].concat()), Step::Finish];
        let peer = RawPeer::start(vec![then]);
        let (easy, app) = client(&peer);
        allow(&easy, bits);
        if raw {
            long(&easy, O::WsOptions, CURLWS_RAW_MODE.into());
        }
        if own {
            let lines = vec![b"Sec-WebSocket-Extensions: own"[..].into()];
            easy.state().settings.borrow_mut().set_list(O::HttpHeader, Some(lines)).unwrap();
        }
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        assert!(app.body.borrow().ends_with(b"a"));
        let request = String::from_utf8(peer.received().concat()).unwrap();
        let value = request.split_once("Sec-WebSocket-Extensions: ").map(|(_, value)| value);
        assert!(match offered {
            Some(offer) => value.is_some_and(|value| value.starts_with(offer)),
            None => value.is_none(),
        });
    }
}

#[test]
fn compression_that_is_none() {
    let bad = AGREED.replace("client_max_window_bits=11", "client_max_window_bits=16");
    let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), Step::Send(bad.into()), Step::Finish]]);
    let (easy, _app) = client(&peer);
    allow(&easy, 1);
    assert_eq!(easy.perform(), Code::WeirdServerReply);
    let message = "[WS] the server accepts what was not offered: client_max_window_bits=16";
    assert_eq!(easy.state().message(), message);
    for (frames, message) in [
        (&b"\xc1\x03\xff\xff\xff"[..], "[WS] a compressed message is corrupt"),
        (b"\xa1\x00", "[WS] invalid reserved bits: a1"),
        (b"\xc9\x00", "[WS] invalid reserved bits: c9"),
    ] {
        let (_peer, easy, _app) = compressing(frames, vec![Step::Finish]);
        assert_eq!((easy.perform(), easy.state().message()), (Code::RecvError, message.to_owned()));
    }
}
