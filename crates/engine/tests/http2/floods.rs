//! Peers that flood with frames without progress, or excessive data: the transfer fails with curl's codes,
//! after a bounded number of bytes. The effect of each flood on a session's state is tested in `wire::h2`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tables::Code;
use testkit::frames::{FramePeer, Talk, block, flag, frame, kind};

use super::{message, to};

/// Returns the result of a GET if the peer sends this as long as it can, and the number of bytes.
fn flooded(
    opening: impl Fn(&mut Talk, u32) -> io::Result<()> + Send + Sync + 'static,
    flood: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static,
) -> (Code, String, usize) {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = sent.clone();
    let peer = FramePeer::start(move |talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        opening(talk, stream)?;
        let bytes = flood(stream).repeat(100);
        loop {
            talk.raw(&bytes)?;
            count.fetch_add(bytes.len(), Ordering::Relaxed);
        }
    });
    let (easy, _) = to(&peer);
    let code = easy.perform();
    (code, message(&easy), sent.load(Ordering::Relaxed))
}

fn nothing(_: &mut Talk, _: u32) -> io::Result<()> {
    Ok(())
}

fn begun(talk: &mut Talk, stream: u32) -> io::Result<()> {
    talk.head(stream, &[(":status", "200")], false)
}

/// The unread contents of sockets on both sides count as sent.
const UNREAD: usize = 16 << 20;

#[test]
fn frames_that_move_nothing_end_the_session() {
    type Flood = fn(u32) -> Vec<u8>;
    let floods: [(&str, Flood); 6] = [
        ("PING", |_| frame(kind::PING, 0, 0, &[0; 8])),
        ("SETTINGS", |_| frame(kind::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 9])),
        ("empty DATA", |stream| frame(kind::DATA, 0, stream, &[])),
        ("PRIORITY", |stream| frame(kind::PRIORITY, 0, stream, &[0, 0, 0, 9, 1])),
        ("unknown", |_| frame(200, 0, 0, &[1])),
        ("WINDOW_UPDATE", |_| frame(kind::WINDOW_UPDATE, 0, 0, &1u32.to_be_bytes())),
    ];
    for (name, flood) in floods {
        let (code, words, sent) = flooded(begun, flood);
        assert_eq!(code, Code::RecvError, "{name}: {words}");
        assert!(words.starts_with("Flooding was detected in this HTTP/2 session"), "{name}: {words}");
        assert!(sent < UNREAD, "{name}: {sent}");
    }
}

#[test]
fn interim_replies_without_an_end_are_too_many() {
    let interim =
        |stream| frame(kind::HEADERS, flag::END_HEADERS, stream, &block(&[(":status", "103"), ("a", "b")]));
    let (code, words, sent) = flooded(nothing, interim);
    assert!(matches!(code, Code::RecvError | Code::Http2Stream), "{code:?} {words}");
    assert!(sent < UNREAD, "{sent}");
}

#[test]
fn a_head_in_pieces_without_an_end() {
    let begin = |talk: &mut Talk, stream| talk.send(kind::HEADERS, 0, stream, &block(&[(":status", "200")]));
    for piece in [&[][..], &block(&[("a", "b")])] {
        let piece = piece.to_vec();
        let more = move |stream| frame(kind::CONTINUATION, 0, stream, &piece);
        let (code, words, sent) = flooded(begin, more);
        assert_eq!(code, Code::Http2, "{words}");
        assert!(sent < UNREAD, "{sent}");
    }
}

/// Returns the result of a GET whose reply has that many fields of that length, in as few frames as possible.
fn answered(count: usize, length: usize, trailers: bool) -> (Code, String) {
    let peer = FramePeer::start(move |talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        let value = "v".repeat(length);
        let mut bytes = if trailers { Vec::new() } else { block(&[(":status", "200")]) };
        (0..count).for_each(|number| bytes.extend(block(&[(&*format!("x{number}"), &*value)])));
        if trailers {
            talk.head(stream, &[(":status", "200")], false)?;
        }
        let frames = bytes.chunks(16_384);
        let last = frames.len() - 1;
        for (number, piece) in frames.enumerate() {
            let kind = if number == 0 { kind::HEADERS } else { kind::CONTINUATION };
            let end = if number == 0 { flag::END_STREAM } else { 0 };
            talk.send(kind, end | if number == last { flag::END_HEADERS } else { 0 }, stream, piece)?;
        }
        talk.request().map(|_| ())
    });
    let (easy, _) = to(&peer);
    (easy.perform(), message(&easy))
}

/// The exit codes are those of curl 8.22 with nghttp2.
#[test]
fn large_heads_and_trailers_end_with_curls_codes() {
    let rows = [
        (128, 1000, Code::Ok, ""),
        (1, 65_536, Code::Ok, ""),
        (1, 65_537, Code::Http2, "COMPRESSION_ERROR"),
        (1, 262_144, Code::Http2, "COMPRESSION_ERROR"),
        (256, 1000, Code::Http2, "too many CONTINUATION frames"),
        (400, 800, Code::Http2, "too many CONTINUATION frames"),
    ];
    for (count, length, wanted, words) in rows {
        for trailers in [false, true] {
            let (code, message) = answered(count, length, trailers);
            assert_eq!(code, wanted, "{count} fields of {length}, trailers: {trailers}: {message}");
            assert!(message.contains(words), "{count} fields of {length}: {message}");
        }
    }
}

/// A value in the Huffman code fits on the wire and is too long for a line of a head.
#[test]
fn a_value_that_grows_beyond_a_line_fails_the_session() {
    let peer = FramePeer::start(move |talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        // Eight "e" are five bytes in the code (RFC 7541, appendix B): 104,000 of them are 65,000.
        let value = [0x29, 0x4a, 0x52, 0x94, 0xa5].repeat(13_000);
        let mut bytes = block(&[(":status", "200")]);
        bytes.extend_from_slice(&[0, 1, b'x', 0xff, 0xe9, 0xfa, 0x03]);
        bytes.extend_from_slice(&value);
        let frames = bytes.chunks(16_384);
        let last = frames.len() - 1;
        for (number, piece) in frames.enumerate() {
            let kind = if number == 0 { kind::HEADERS } else { kind::CONTINUATION };
            talk.send(kind, if number == last { flag::END_HEADERS } else { 0 }, stream, piece)?;
        }
        talk.request().map(|_| ())
    });
    let (easy, _) = to(&peer);
    assert_eq!(easy.perform(), Code::Http2);
    let words = "Error receiving HTTP2 header: 100(A value or data field grew larger than allowed)";
    assert_eq!(message(&easy), words);
}

/// A field in the table that is repeated: small on the wire, large in a list (CVE-2016-1544 and similar).
#[test]
fn a_bomb_of_fields_is_a_fault_of_its_stream() {
    let large = "x".repeat(3000);
    let peer = FramePeer::start(move |talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        let mut bytes = block(&[(":status", "200")]);
        // Put into the table once (RFC 7541 §6.2.1), then sixteen thousand times by its number.
        let mut kept = block(&[("x-large", &large)]);
        kept[0] = 0x40;
        bytes.extend_from_slice(&kept);
        bytes.extend(std::iter::repeat_n(0x80 | 62, 12_000));
        talk.send(kind::HEADERS, flag::END_HEADERS, stream, &bytes)?;
        let stream = talk.request()?;
        talk.answer(stream, 200, b"hi")?;
        talk.hold()
    });
    let (easy, app) = to(&peer);
    assert_eq!(easy.perform(), Code::Http2Stream, "{}", message(&easy));
    assert!(app.headers.borrow().is_empty());
    assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, 1), "{}", message(&easy));
}

/// Many fields that fit into a list, and are more than curl takes of all heads.
#[test]
fn heads_are_bounded_as_over_http_1() {
    let value = "y".repeat(4000);
    let head = move |stream| {
        let mut fields = vec![(":status", "103")];
        fields.extend(std::iter::repeat_n(("x", &value[..]), 3));
        frame(kind::HEADERS, flag::END_HEADERS, stream, &block(&fields))
    };
    let (code, words, sent) = flooded(nothing, head);
    assert!(matches!(code, Code::RecvError | Code::Http2Stream), "{code:?} {words}");
    assert!(sent < UNREAD, "{sent}");
}

#[test]
fn broken_frames_end_the_session_for_all() {
    for bytes in [
        frame(kind::DATA, 0, 0, b"x"),
        frame(kind::HEADERS, flag::END_HEADERS, 0, &[0x88]),
        frame(kind::HEADERS, flag::END_HEADERS, 1, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        frame(kind::SETTINGS, 0, 0, &[0; 5]),
        frame(kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0, 0, 0, 2, 0x88]),
        frame(kind::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
        vec![0xff; 100],
    ] {
        let sent = bytes.clone();
        let peer = FramePeer::start(move |talk| {
            talk.greet(&[])?;
            talk.request()?;
            talk.raw(&bytes)?;
            talk.hold()
        });
        let (easy, _) = to(&peer);
        assert_eq!((easy.perform(), peer.accepts()), (Code::Http2, 1), "{sent:?}: {}", message(&easy));
        super::eventually(|| peer.frames(0).iter().any(|frame| frame.is(kind::GOAWAY, 0)));
    }
}

/// Not HTTP/2 at all: a server of HTTP/1 with prior knowledge of HTTP/2.
#[test]
fn a_server_of_http_1_is_recognised_by_its_first_bytes() {
    let peer = FramePeer::start(|talk| {
        talk.raw(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")?;
        talk.hold()
    });
    let (easy, _) = to(&peer);
    assert_eq!(easy.perform(), Code::Http2, "{}", message(&easy));
}
