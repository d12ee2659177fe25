//! Tests of the two directions, without a connection. Frames of a server are written by hand: they are not
//! masked (RFC 6455 §5.1).

use std::rc::Rc;

use tables::constant::{CURLWS_CLOSE, CURLWS_CONT, CURLWS_OFFSET, CURLWS_PING, CURLWS_TEXT};
use tables::{Code, EasyOption as O};
use wire::ws::deflate::{Agreed, Deflater};

use super::*;
use crate::callbacks::Callbacks;
use crate::easy::Easy;

/// An application without functions.
struct NoCallbacks;

impl Callbacks for NoCallbacks {}

/// Creates a handle with these options.
fn easy(numbers: &[(O, i64)]) -> Easy {
    let easy = Easy::new(Rc::new(NoCallbacks));
    for (option, number) in numbers {
        easy.0.settings.borrow_mut().set_long(*option, *number).unwrap();
    }
    easy
}

/// A frame of a server. `first` has the bits and the opcode.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    [&[first, payload.len() as u8], payload].concat()
}

/// Takes all that is waiting to be sent.
fn sent(ws: &mut WebSocket) -> Vec<u8> {
    let mut out = vec![0; ws.waiting()];
    let n = ws.take_into(&mut out);
    assert_eq!((n, ws.waiting()), (out.len(), 0));
    out
}

/// Splits what a client sends into first octets and unmasked payloads. Every frame has to be masked.
fn unmasked(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut frames = Vec::new();
    while let [first, length, rest @ ..] = bytes {
        assert_eq!(length & 0x80, 0x80, "RFC 6455 §5.3: a client masks");
        let (mask, rest) = rest.split_at(4);
        let (payload, rest) = rest.split_at(usize::from(length & 0x7f));
        let plain = payload.iter().zip(mask.iter().cycle()).map(|(octet, mask)| octet ^ mask);
        frames.push((*first, plain.collect()));
        bytes = rest;
    }
    frames
}

/// Takes one piece of the bytes that have arrived. Returns its flags, offset, bytes left and payload.
fn piece(ws: &mut WebSocket, input: &[u8], room: usize) -> (usize, Option<(i32, i64, i64, Vec<u8>)>) {
    let (used, come) = ws.next(input, room, Pings::Answered).unwrap();
    let shown = come.map(|(frame, payload)| {
        let bytes = payload.bytes(input).to_vec();
        assert_eq!(frame.len, bytes.len());
        (frame.flags, frame.offset, frame.bytes_left, bytes)
    });
    (used, shown)
}

#[test]
fn frames_are_shown_with_their_kind() {
    let rows = [
        ("RFC 6455 §5.6: text", 0x81, CURLWS_TEXT),
        ("RFC 6455 §5.6: binary", 0x82, CURLWS_BINARY),
        ("RFC 6455 §5.4: a first fragment", 0x01, CURLWS_TEXT | CURLWS_CONT),
        ("RFC 6455 §5.5.1: close", 0x88, CURLWS_CLOSE),
        ("RFC 6455 §5.5.3: an unsolicited pong", 0x8a, tables::constant::CURLWS_PONG),
    ];
    for (name, first, flags) in rows {
        let found = piece(&mut WebSocket::default(), &frame(first, b"hi"), 100);
        assert_eq!(found, (4, Some((flags, 0, 0, b"hi".to_vec()))), "{name}");
    }
}

#[test]
fn later_fragments_have_the_kind_of_the_first() {
    let mut ws = WebSocket::default();
    let kinds = [0x01, 0x00, 0x80].map(|first| piece(&mut ws, &frame(first, b"x"), 9).1.unwrap().0);
    let more = CURLWS_TEXT | CURLWS_CONT;
    assert_eq!(kinds, [more, more, CURLWS_TEXT], "RFC 6455 §5.4, curl_ws_meta(3)");
}

#[test]
fn a_small_room_splits_a_frame() {
    let mut ws = WebSocket::default();
    let input = frame(0x82, b"abcde");
    let mut at = 0;
    let mut pieces = Vec::new();
    while at < input.len() {
        let (used, shown) = piece(&mut ws, &input[at..], 2);
        at += used;
        pieces.extend(shown.map(|(_, offset, left, bytes)| (offset, left, bytes)));
    }
    let wanted = [(0, 3, b"ab".to_vec()), (2, 1, b"cd".to_vec()), (4, 0, b"e".to_vec())];
    assert_eq!(pieces, wanted, "curl_ws_recv(3): offset and bytesleft");
}

#[test]
fn pings_are_answered_with_their_payload_and_not_shown() {
    let mut ws = WebSocket::default();
    assert_eq!(piece(&mut ws, &frame(0x89, b"are you there"), 100), (15, None), "RFC 6455 §5.5.2");
    assert_eq!(unmasked(&sent(&mut ws)), [(0x8a, b"are you there".to_vec())], "RFC 6455 §5.5.3");
}

#[test]
fn a_ping_that_comes_in_pieces_is_answered_when_complete() {
    let mut ws = WebSocket::default();
    let input = frame(0x89, b"abcd");
    for octet in &input[..input.len() - 1] {
        assert_eq!(piece(&mut ws, &[*octet], 1), (1, None), "RFC 6455 §5.5.2");
        assert_eq!(ws.waiting(), 0);
    }
    piece(&mut ws, b"d", 1);
    assert_eq!(unmasked(&sent(&mut ws)), [(0x8a, b"abcd".to_vec())], "RFC 6455 §5.5.3");
}

#[test]
fn pings_of_an_application_that_answers_itself_are_shown() {
    let mut ws = WebSocket::default();
    let input = frame(0x89, b"x");
    let (used, come) = ws.next(&input, 9, Pings::Shown).unwrap();
    let flags = come.map(|(frame, _)| frame.flags);
    assert_eq!((used, flags, ws.waiting()), (3, Some(CURLWS_PING), 0), "CURLWS_NOAUTOPONG");
}

#[test]
fn one_pong_answers_the_last_ping_behind_a_frame_in_progress() {
    let mut ws = WebSocket::default();
    ws.begin(CURLWS_TEXT as u32, 4).unwrap();
    ws.payload(b"ab").unwrap();
    for ping in [b"1", b"2"] {
        piece(&mut ws, &frame(0x89, ping), 9);
    }
    ws.payload(b"cd").unwrap();
    let frames = unmasked(&sent(&mut ws));
    let wanted = [(0x81, b"abcd".to_vec()), (0x8a, b"2".to_vec())];
    assert_eq!(frames, wanted, "RFC 6455 §5.5.3: one answer to several pings");
}

#[test]
fn every_frame_has_a_mask_of_its_own() {
    let mut ws = WebSocket::default();
    let masks: Vec<[u8; 4]> = (0..40)
        .map(|_| {
            ws.begin(CURLWS_BINARY as u32, 0).unwrap();
            sent(&mut ws)[2..6].try_into().unwrap()
        })
        .collect();
    let mut distinct = masks.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() >= 39, "RFC 6455 §5.3: unpredictable: {masks:?}");
}

#[test]
fn read_data_without_a_frame_is_binary() {
    let mut ws = WebSocket::default();
    ws.uploaded(b"plain").unwrap();
    assert_eq!(unmasked(&sent(&mut ws)), [(0x82, b"plain".to_vec())], "curl_ws_start_frame(3)");
    ws.begin(CURLWS_TEXT as u32, 2).unwrap();
    ws.uploaded(b"abcd").unwrap();
    let wanted = [(0x81, b"ab".to_vec()), (0x82, b"cd".to_vec())];
    assert_eq!(unmasked(&sent(&mut ws)), wanted, "curl_ws_start_frame(3): what the frame has no room for");
}

#[test]
fn frames_may_not_begin_within_another() {
    let mut ws = WebSocket::default();
    ws.begin(CURLWS_BINARY as u32, 3).unwrap();
    let again = ws.begin(CURLWS_BINARY as u32, 1).map_err(|e| e.code());
    assert_eq!(again, Err(Code::SendError), "curl_ws_start_frame(3)");
    assert_eq!((ws.frame_left(), ws.payload(b"abcdef").unwrap()), (3, 3), "no more than it has room for");
}

#[test]
fn frames_that_break_the_protocol_fail_the_transfer() {
    let long = [0x89, 126, 0, 126];
    let rows: [(_, &[u8]); 8] = [
        ("RFC 6455 §5.1: a masked frame of a server", &[0x81, 0x80, 0, 0, 0, 0]),
        ("RFC 6455 §5.2: a reserved bit", &[0xa1, 0]),
        ("RFC 7692 §6: compressed, and nobody has agreed to that", &[0xc1, 0]),
        ("RFC 6455 §5.2: a reserved opcode", &[0x83, 0]),
        ("RFC 6455 §5.4: nothing to continue", &[0x80, 0]),
        ("RFC 6455 §5.5: a fragmented ping", &[0x09, 0]),
        ("RFC 6455 §5.5: a ping of 126 octets", &long),
        ("RFC 6455 §5.2: a length of 64 bits", &[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]),
    ];
    for (name, input) in rows {
        let failed = WebSocket::default().next(input, 9, Pings::Answered).err().map(|e| e.code());
        assert_eq!(failed, Some(Code::RecvError), "{name}");
    }
}

#[test]
fn a_message_may_not_begin_within_another() {
    let mut ws = WebSocket::default();
    piece(&mut ws, &frame(0x01, b"a"), 9);
    let between = piece(&mut ws, &frame(0x89, b"p"), 9);
    assert_eq!(between, (3, None), "RFC 6455 §5.4: control frames may come between");
    let failed = ws.next(&frame(0x81, b"b"), 9, Pings::Answered).err().map(|e| e.code());
    assert_eq!(failed, Some(Code::RecvError), "RFC 6455 §5.4");
}

#[test]
fn the_end_may_come_between_frames_but_not_in_a_head() {
    let mut ws = WebSocket::default();
    piece(&mut ws, &frame(0x81, b"a"), 9);
    assert!(ws.check_end().is_ok(), "RFC 6455 §7.1.1: between two frames");
    piece(&mut ws, &[0x81], 9);
    assert_eq!(ws.check_end().map_err(|e| e.code()), Err(Code::RecvError), "RFC 6455 §5.2: in a head");
}

#[test]
fn a_stream_is_over_when_both_have_said_goodbye() {
    let mut ws = WebSocket::default().on_stream();
    piece(&mut ws, &frame(0x88, b""), 9);
    assert!(!ws.is_over(), "RFC 6455 §5.5.1: the answer is still to be sent");
    ws.begin(CURLWS_CLOSE as u32, 0).unwrap();
    assert!(!ws.is_over(), "RFC 6455 §5.5.1: it waits");
    sent(&mut ws);
    assert!(ws.is_over(), "RFC 8441 §5");
    let mut ws = WebSocket::default();
    piece(&mut ws, &frame(0x88, b""), 9);
    ws.begin(CURLWS_CLOSE as u32, 0).unwrap();
    sent(&mut ws);
    assert!(!ws.is_over(), "RFC 6455 §7.1.1: the server closes the connection");
}

#[test]
fn a_peer_that_never_reads_fills_no_memory() {
    let mut ws = WebSocket::default();
    ws.raw(&vec![0; MUCH]);
    assert!(!ws.is_full(), "just enough");
    ws.raw(b"x");
    assert!(ws.is_full(), "one octet more");
    let mut some = [0; 10];
    assert_eq!((ws.take_into(&mut some), ws.is_full()), (10, false), "room again");
}

#[test]
fn raw_bytes_leave_as_they_are() {
    let mut ws = WebSocket::default();
    ws.raw(b"\x81\x01x");
    assert_eq!(sent(&mut ws), b"\x81\x01x", "CURLWS_RAW_MODE");
}

const AGREED: Agreed = Agreed { server_forgets: false, client_forgets: false, client_window: 15 };

#[test]
fn compressed_messages_are_handed_out_plain() {
    let mut ws = WebSocket::default().compressed(AGREED);
    let mut packed = Vec::new();
    let mut deflater = Deflater::new(AGREED);
    deflater.piece(b"hello hello hello", &mut packed);
    deflater.end(true, &mut packed);
    let input = frame(0xc1, &packed);
    let (used, come) = ws.next(&input, 100, Pings::Answered).unwrap();
    let (shown, payload) = come.unwrap();
    assert_eq!(payload.bytes(&input), b"hello hello hello", "RFC 7692 §6.2");
    assert_eq!((used, shown.flags, shown.bytes_left), (input.len(), CURLWS_TEXT, 0));
}

#[test]
fn agreed_compression_marks_messages_and_not_control_frames() {
    let mut ws = WebSocket::default().compressed(AGREED);
    ws.begin(CURLWS_TEXT as u32, 5).unwrap();
    assert_eq!((ws.payload(b"hello").unwrap(), ws.frame_left()), (5, 0));
    ws.begin(CURLWS_PING as u32, 1).unwrap();
    ws.payload(b"p").unwrap();
    let frames = unmasked(&sent(&mut ws));
    let firsts: Vec<u8> = frames.iter().map(|(first, _)| *first).collect();
    assert_eq!(firsts, [0xc1, 0x89], "RFC 7692 §6: RSV1; §5: not on control frames");
    assert_eq!(frames[1].1, b"p");
}

#[test]
fn corrupt_compression_fails_the_transfer() {
    let mut ws = WebSocket::default().compressed(AGREED);
    let failed = ws.next(&frame(0xc1, b"\xff\xff\xff"), 100, Pings::Answered).err().map(|e| e.code());
    assert_eq!(failed, Some(Code::RecvError), "RFC 7692 §7.2.2");
}

#[test]
fn options_leave_pings_to_the_application() {
    use tables::constant::{CURLWS_NOAUTOPONG, CURLWS_RAW_MODE};
    let rows = [
        ("CURLOPT_WS_OPTIONS(3): none", 0, (false, Pings::Answered)),
        ("CURLOPT_WS_OPTIONS(3): CURLWS_NOAUTOPONG", CURLWS_NOAUTOPONG, (false, Pings::Shown)),
        ("CURLOPT_WS_OPTIONS(3): CURLWS_RAW_MODE", CURLWS_RAW_MODE, (true, Pings::Shown)),
    ];
    for (name, bits, wanted) in rows {
        let easy = easy(&[(O::WsOptions, i64::from(bits))]);
        assert_eq!((easy.0.ws_raw(), easy.0.ws_pings()), wanted, "{name}");
    }
}

#[test]
fn calls_without_a_websocket_fail_with_curls_codes() {
    use tables::constant::CURLWS_RAW_MODE;
    let plain = easy(&[]);
    let by_hand = easy(&[(O::ConnectOnly, 2)]);
    let raw = easy(&[(O::WsOptions, i64::from(CURLWS_RAW_MODE))]);
    let text = CURLWS_TEXT as u32;
    let rows = [
        (
            "curl_ws_recv(3): without CONNECT_ONLY",
            plain.ws_receive(&mut [0]).err(),
            Code::UnsupportedProtocol,
        ),
        ("curl_ws_recv(3): not connected", by_hand.ws_receive(&mut [0]).err(), Code::BadFunctionArgument),
        ("curl_ws_send(3): not connected", plain.ws_send(b"x", 0, text).err(), Code::SendError),
        ("curl_ws_send(3): flags in raw mode", raw.ws_send(b"x", 0, text).err(), Code::BadFunctionArgument),
        ("curl_ws_send(3): fragsize in raw mode", raw.ws_send(b"x", 1, 0).err(), Code::BadFunctionArgument),
        ("curl_ws_start_frame(3): in raw mode", raw.ws_start_frame(text, 1).err(), Code::FailedInit),
        ("curl_ws_start_frame(3): not connected", plain.ws_start_frame(text, 1).err(), Code::SendError),
    ];
    for (name, failed, wanted) in rows {
        assert_eq!(failed, Some(wanted), "{name}");
    }
    assert!(plain.ws_meta().is_none(), "curl_ws_meta(3): outside of callbacks");
}

#[test]
fn a_large_frame_is_announced_by_its_first_piece() {
    let mut ws = WebSocket::default();
    ws.begin_with(2, 5, (CURLWS_TEXT | CURLWS_OFFSET) as u32).unwrap();
    ws.payload(b"ab").unwrap();
    assert_eq!(ws.frame_left(), 3, "curl_ws_send(3): CURLWS_OFFSET");
    ws.payload(b"cde").unwrap();
    assert_eq!(unmasked(&sent(&mut ws)), [(0x81, b"abcde".to_vec())]);
}
