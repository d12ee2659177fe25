//! A session against a scripted server: frames in, events and frames out.

use super::frame::{self, HEADER, Header, flag, kind};
use super::hpack::{Decoder, Encoder};
use super::*;

mod promises;
mod snapshots;

/// The server's end, and the output of the session so far.
struct Pair {
    session: Session,
    encoder: Encoder,
    decoder: Decoder,
}

fn field<'a>((name, value): &(&'a str, &'a str)) -> Field<'a> {
    Field { name: name.as_bytes(), value: value.as_bytes(), sensitive: false }
}

const GET: [(&str, &str); 4] =
    [(":method", "GET"), (":scheme", "https"), (":authority", "h"), (":path", "/")];

impl Pair {
    fn new(config: Config) -> Pair {
        Pair { session: Session::client(config), encoder: Encoder::default(), decoder: Decoder::new(4096) }
    }

    /// After the greetings.
    fn greeted(config: Config) -> Pair {
        let mut pair = Pair::new(config);
        pair.feed(&bytes(kind::SETTINGS, 0, 0, &[])).unwrap();
        pair.feed(&bytes(kind::SETTINGS, flag::ACK, 0, &[])).unwrap();
        pair.sent();
        pair
    }

    fn get(&mut self) -> StreamId {
        let opening = Opening { end: true, ..Opening::default() };
        self.session.open(GET.iter().map(field), opening).unwrap()
    }

    fn post(&mut self) -> StreamId {
        self.session.open(GET.iter().map(field), Opening::default()).unwrap()
    }

    /// Feeds bytes to the session and describes the events.
    fn feed(&mut self, input: &[u8]) -> Result<Vec<String>, Failure> {
        let (mut events, mut at) = (Vec::new(), 0);
        loop {
            let step = self.session.next(&input[at..])?;
            at += step.used;
            match step.event {
                Some(event) => events.push(words(&event)),
                None => return Ok(events),
            }
        }
    }

    fn block(&mut self, fields: &[(&str, &str)]) -> Vec<u8> {
        let mut out = Vec::new();
        self.encoder.begin(&mut out);
        fields.iter().for_each(|(n, v)| self.encoder.field(n.as_bytes(), v.as_bytes(), false, &mut out));
        out
    }

    fn head(&mut self, stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
        let block = self.block(fields);
        bytes(kind::HEADERS, flags | flag::END_HEADERS, stream, &block)
    }

    /// Describes all frames that are sent.
    fn sent(&mut self) -> Vec<String> {
        let mut out = Vec::new();
        self.session.write_into(&mut out, 1 << 20);
        self.read(&out)
    }

    /// Describes the frames in the session's output, as its server reads them.
    fn read(&mut self, out: &[u8]) -> Vec<String> {
        let mut rest = out.strip_prefix(PREFACE).unwrap_or(out);
        let mut frames = Vec::new();
        while !rest.is_empty() {
            let header = Header::parse(rest[..HEADER].try_into().unwrap());
            let (payload, after) = rest[HEADER..].split_at(header.length);
            frames.push(self.frame_words(&header, payload));
            rest = after;
        }
        frames
    }

    fn frame_words(&mut self, header: &Header, payload: &[u8]) -> String {
        let Header { stream, flags, length, .. } = *header;
        let end = if header.has(flag::END_STREAM) { " end" } else { "" };
        match header.kind {
            kind::DATA => format!("DATA {stream} {length}{end}"),
            kind::HEADERS if header.has(flag::END_HEADERS) => {
                let mut fields = Fields::default();
                self.decoder.decode(payload, &mut fields, 1 << 20).unwrap();
                format!("HEADERS {stream} {}{end}", list(&fields))
            }
            kind::RST_STREAM => format!("RST {stream} {}", ErrorCode(frame::number(payload, 0))),
            kind::GOAWAY => format!("GOAWAY {}", ErrorCode(frame::number(payload, 4))),
            kind::WINDOW_UPDATE => format!("UPDATE {stream} {}", frame::number(payload, 0)),
            kind::SETTINGS => format!("SETTINGS {flags} {length}"),
            kind::PING => format!("PING {flags} {payload:?}"),
            other => format!("{other} {stream} {flags} {length}"),
        }
    }
}

fn list(fields: &Fields) -> String {
    let each = fields.iter().map(|(n, v)| [n, b"=", v].concat());
    each.map(|field| String::from_utf8(field).unwrap()).collect::<Vec<_>>().join(",")
}

fn words(event: &Event<'_>) -> String {
    match event {
        Event::Informational { stream, status, .. } => format!("{} info {status}", stream.number()),
        Event::Head { stream, status, fields, end } => {
            format!("{} head {status} {} {end}", stream.number(), list(fields))
        }
        Event::Data { stream, data, end } => format!("{} data {} {end}", stream.number(), data.len()),
        Event::Trailers { stream, fields } => format!("{} trailers {}", stream.number(), list(fields)),
        Event::Reset { stream, code, why } => format!("{} reset {code} {}", stream.number(), why.is_some()),
        Event::Refused { stream } => format!("{} refused", stream.number()),
        Event::Writable { stream } => format!("{} writable", stream.number()),
        Event::Promise { parent, stream, .. } => format!("{} promise {}", parent.number(), stream.number()),
        Event::Pong(bytes) => format!("pong {bytes:?}"),
        Event::GoAway { last_stream, code, .. } => format!("goaway {last_stream} {code}"),
        Event::Settings => "settings".into(),
    }
}

fn bytes(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write(&mut out, kind, flags, stream, payload);
    out
}

fn setting(id: u16, value: u32) -> Vec<u8> {
    bytes(kind::SETTINGS, 0, 0, &[&id.to_be_bytes()[..], &value.to_be_bytes()].concat())
}

#[test]
fn a_get_and_its_reply_in_any_pieces() {
    for piece in [1, 2, 7, 1000] {
        let mut pair = Pair::new(Config::default());
        pair.get();
        let sent = pair.sent();
        assert_eq!(sent[0], "SETTINGS 0 18");
        assert!(sent[1].starts_with("UPDATE 0 "));
        assert_eq!(sent[2], "HEADERS 1 :method=GET,:scheme=https,:authority=h,:path=/ end");
        let mut input = bytes(kind::SETTINGS, 0, 0, &[]);
        input.extend(pair.head(1, 0, &[(":status", "103"), ("link", "x")]));
        input.extend(pair.head(1, 0, &[(":status", "200"), ("b", "1"), ("a", "2"), ("b", "3")]));
        input.extend(bytes(kind::DATA, flag::PADDED, 1, &[3, b'h', b'i', 0, 0, 0]));
        input.extend(bytes(kind::DATA, 0, 1, b"!"));
        input.extend(pair.head(1, flag::END_STREAM, &[("trailer", "t")]));
        let events: Vec<String> = input.chunks(piece).flat_map(|piece| pair.feed(piece).unwrap()).collect();
        assert_eq!(events[..3], ["settings", "1 info 103", "1 head 200 b=1,a=2,b=3 false"], "{piece}");
        assert_eq!(events.last().unwrap(), "1 trailers trailer=t");
        let body: usize = events
            .iter()
            .filter_map(|w| w.strip_prefix("1 data ")?.split(' ').next()?.parse::<usize>().ok())
            .sum();
        assert_eq!(body, 3);
        assert!(pair.session.is_idle());
        assert_eq!(pair.sent(), ["SETTINGS 1 0"]);
    }
}

/// Frames that no server may send, and the error code that each gets.
#[test]
fn faults_end_in_the_right_code() {
    let table: &[(&str, Vec<u8>, &str)] = &[
        ("DATA on 0", bytes(0, 0, 0, b"x"), "PROTOCOL_ERROR"),
        ("DATA on idle", bytes(0, 0, 9, b"x"), "PROTOCOL_ERROR"),
        ("DATA, bad padding", bytes(0, 8, 1, &[4, 0, 0]), "PROTOCOL_ERROR"),
        ("DATA, no padding", bytes(0, 8, 1, &[]), "FRAME_SIZE_ERROR"),
        ("HEADERS on 0", bytes(1, 4, 0, &[0x88]), "PROTOCOL_ERROR"),
        ("HEADERS on idle", bytes(1, 4, 7, &[0x88]), "PROTOCOL_ERROR"),
        ("HEADERS on even idle", bytes(1, 4, 2, &[0x88]), "PROTOCOL_ERROR"),
        ("HEADERS, bad padding", bytes(1, 12, 1, &[9, 0x88]), "PROTOCOL_ERROR"),
        ("HEADERS, short priority", bytes(1, 0x24, 1, &[0; 4]), "FRAME_SIZE_ERROR"),
        ("HEADERS depend on themselves", bytes(1, 0x24, 1, &[0, 0, 0, 1, 5, 0x88]), "PROTOCOL_ERROR"),
        ("HEADERS, bad block", bytes(1, 4, 1, &[0xff]), "COMPRESSION_ERROR"),
        ("PRIORITY on 0", bytes(2, 0, 0, &[0; 5]), "PROTOCOL_ERROR"),
        ("RST on 0", bytes(3, 0, 0, &[0; 4]), "PROTOCOL_ERROR"),
        ("RST on idle", bytes(3, 0, 5, &[0; 4]), "PROTOCOL_ERROR"),
        ("RST, length", bytes(3, 0, 1, &[0; 3]), "FRAME_SIZE_ERROR"),
        ("SETTINGS on 1", bytes(4, 0, 1, &[]), "PROTOCOL_ERROR"),
        ("SETTINGS, length", bytes(4, 0, 0, &[0; 3]), "FRAME_SIZE_ERROR"),
        ("SETTINGS, ACK with payload", bytes(4, 1, 0, &[0; 6]), "FRAME_SIZE_ERROR"),
        ("SETTINGS, ACK of nothing", bytes(4, 1, 0, &[]), "PROTOCOL_ERROR"),
        ("SETTINGS, window", setting(4, 1 << 31), "FLOW_CONTROL_ERROR"),
        ("PUSH_PROMISE", bytes(5, 4, 1, &[0, 0, 0, 2, 0x82]), "PROTOCOL_ERROR"),
        ("PING on 1", bytes(6, 0, 1, &[0; 8]), "PROTOCOL_ERROR"),
        ("PING, length", bytes(6, 0, 0, &[0; 7]), "FRAME_SIZE_ERROR"),
        ("GOAWAY on 1", bytes(7, 0, 1, &[0; 8]), "PROTOCOL_ERROR"),
        ("GOAWAY, length", bytes(7, 0, 0, &[0; 7]), "FRAME_SIZE_ERROR"),
        ("UPDATE by 0", bytes(8, 0, 0, &[0; 4]), "PROTOCOL_ERROR"),
        ("UPDATE, length", bytes(8, 0, 0, &[0; 5]), "FRAME_SIZE_ERROR"),
        ("UPDATE on idle", bytes(8, 0, 5, &[0, 0, 0, 1]), "PROTOCOL_ERROR"),
        ("UPDATE beyond", bytes(8, 0, 0, &[0x7f, 0xff, 0xff, 0xff]), "FLOW_CONTROL_ERROR"),
        ("CONTINUATION of nothing", bytes(9, 4, 1, &[]), "PROTOCOL_ERROR"),
        ("interrupted block", [bytes(1, 0, 1, &[]), bytes(6, 0, 0, &[0; 8])].concat(), "PROTOCOL_ERROR"),
        ("another's CONTINUATION", [bytes(1, 0, 1, &[]), bytes(9, 4, 3, &[])].concat(), "PROTOCOL_ERROR"),
        ("unknown frame in a block", [bytes(1, 0, 1, &[]), bytes(99, 0, 1, &[])].concat(), "PROTOCOL_ERROR"),
        ("too long a frame", bytes(0, 0, 1, &[0; 16_385]), "FRAME_SIZE_ERROR"),
    ];
    for (what, input, code) in table {
        let mut pair = Pair::greeted(Config::default());
        pair.get();
        let head = pair.head(1, 0, &[(":status", "200")]);
        pair.feed(&head).unwrap();
        pair.sent();
        let failure = pair.feed(input).expect_err(what);
        assert_eq!(failure.code.name(), *code, "{what}");
        assert_eq!(pair.feed(&bytes(6, 0, 0, &[0; 8])), Err(failure), "nothing more is taken");
        assert_eq!(pair.sent(), [format!("GOAWAY {code}")], "{what}");
        assert_eq!(pair.session.vacancies(), 0);
    }
    let mut pair = Pair::new(Config::default());
    assert_eq!(pair.feed(&bytes(6, 0, 0, &[0; 8])).unwrap_err().code, ErrorCode::PROTOCOL_ERROR);
}

/// Errors of one stream do not affect the others.
#[test]
fn faults_of_a_stream_reset_it_alone() {
    type Make = fn(&mut Pair) -> Vec<u8>;
    let ok = |pair: &mut Pair| pair.head(1, 0, &[(":status", "200")]);
    let table: &[(&str, Make, &str)] = &[
        ("no status", |p| p.head(1, 0, &[("a", "b")]), "PROTOCOL_ERROR"),
        ("upper case", |_| bytes(1, 4, 1, &[0x88, 0, 1, b'A', 1, b'b']), "PROTOCOL_ERROR"),
        ("DATA before a head", |_| bytes(0, 0, 1, b"x"), "PROTOCOL_ERROR"),
        ("status 101", |p| p.head(1, 0, &[(":status", "101")]), "PROTOCOL_ERROR"),
        ("1xx that ends", |p| p.head(1, 1, &[(":status", "100")]), "PROTOCOL_ERROR"),
        ("too little", |p| p.head(1, 1, &[(":status", "200"), ("content-length", "1")]), "PROTOCOL_ERROR"),
        ("update by nothing", |_| bytes(8, 0, 1, &[0; 4]), "PROTOCOL_ERROR"),
        ("window", |_| bytes(8, 0, 1, &[0x7f, 0xff, 0xff, 0xff]), "FLOW_CONTROL_ERROR"),
        ("PRIORITY, length", |_| bytes(2, 0, 1, &[0; 4]), "FRAME_SIZE_ERROR"),
        ("depends on itself", |_| bytes(2, 0, 1, &[0, 0, 0, 1, 0]), "PROTOCOL_ERROR"),
    ];
    for (what, make, code) in table {
        let mut pair = Pair::greeted(Config::default());
        pair.get();
        pair.get();
        pair.sent();
        let input = make(&mut pair);
        assert_eq!(pair.feed(&input).unwrap(), [format!("1 reset {code} true")], "{what}");
        assert_eq!(pair.sent(), [format!("RST 1 {code}")], "{what}");
        let late = [bytes(0, 0, 1, b"late"), bytes(8, 0, 1, &[0, 0, 0, 1])].concat();
        assert_eq!(pair.feed(&late).unwrap(), [""; 0], "{what}");
        let reply = pair.head(3, 1, &[(":status", "204")]);
        assert_eq!(pair.feed(&reply).unwrap(), ["3 head 204  true"], "{what}");
    }
    let mut pair = Pair::greeted(Config::default());
    pair.get();
    pair.sent();
    let input = [ok(&mut pair), ok(&mut pair)].concat();
    assert_eq!(pair.feed(&input).unwrap()[1], "1 reset PROTOCOL_ERROR true", "a second head");
}

#[test]
fn lengths_are_held_to() {
    for (length, body, good) in [("3", &b"abc"[..], true), ("2", b"abc", false), ("4", b"abc", false)] {
        let mut pair = Pair::greeted(Config::default());
        pair.get();
        let head = pair.head(1, 0, &[(":status", "200"), ("content-length", length)]);
        pair.feed(&head).unwrap();
        let events = pair.feed(&bytes(0, 1, 1, body)).unwrap();
        assert_eq!(events == ["1 data 3 true"], good, "{length} {events:?}");
    }
    let mut pair = Pair::greeted(Config::default());
    pair.session.open(GET.iter().map(field), Opening { end: true, head_only: true, ..Opening::default() });
    let head = pair.head(1, 1, &[(":status", "200"), ("content-length", "10")]);
    assert_eq!(pair.feed(&head).unwrap(), ["1 head 200 content-length=10 true"]);
}

/// RFC 9113 §5.1: frames after the end of a stream.
#[test]
fn frames_after_the_end() {
    let mut pair = Pair::greeted(Config::default());
    let half = pair.post();
    pair.get();
    let ends = [pair.head(1, 1, &[(":status", "200")]), pair.head(3, 1, &[(":status", "200")])].concat();
    pair.feed(&ends).unwrap();
    assert_eq!(pair.feed(&bytes(0, 0, 1, b"x")).unwrap(), ["1 reset STREAM_CLOSED true"], "half closed");
    assert_eq!(pair.session.queue(half, b"x"), 0);
    assert_eq!(pair.feed(&bytes(8, 0, 3, &[0, 0, 0, 1])).unwrap(), [""; 0]);
    assert_eq!(pair.feed(&bytes(3, 0, 3, &[0; 4])).unwrap(), [""; 0]);
    assert_eq!(pair.feed(&bytes(0, 0, 3, b"x")).unwrap_err().code, ErrorCode::STREAM_CLOSED);
    let mut pair = Pair::greeted(Config::default());
    pair.get();
    pair.sent();
    assert_eq!(pair.feed(&bytes(3, 0, 1, &[0, 0, 0, 8])).unwrap(), ["1 reset CANCEL false"]);
    assert_eq!(pair.feed(&bytes(0, 0, 1, b"x")).unwrap(), [""; 0]);
    assert_eq!(pair.sent(), ["RST 1 STREAM_CLOSED"]);
}

#[test]
fn an_upload_keeps_to_both_windows_and_hears_of_room() {
    let mut pair = Pair::greeted(Config::default());
    pair.feed(&setting(4, 20_000)).unwrap();
    let id = pair.post();
    assert_eq!(pair.session.queue(id, &[1; 30_000]), 20_000);
    assert_eq!(pair.session.queue(id, &[1; 30_000]), 0);
    assert_eq!(pair.sent()[2..], ["DATA 1 16384", "DATA 1 3616"]);
    assert_eq!(pair.feed(&bytes(8, 0, 1, &[0, 0, 0, 5])).unwrap(), ["1 writable"]);
    assert_eq!(pair.session.queue(id, b"1234567"), 5);
    pair.session.end_with(id, [field(&("t", "1"))]);
    assert_eq!(pair.sent(), ["DATA 1 5", "HEADERS 1 t=1 end"]);
    // The connection's window bounds all of them together.
    let ids = [pair.post(), pair.post(), pair.post()];
    for id in ids {
        assert_eq!(pair.session.queue(id, &[1; 20_000]), 20_000);
        pair.session.end(id);
    }
    let data: Vec<_> = pair.sent().into_iter().filter(|f| f.starts_with("DATA")).collect();
    assert_eq!(data[..3], ["DATA 3 16384", "DATA 5 16384", "DATA 7 12762"], "each in turn");
    assert!(!pair.session.has_output());
    pair.feed(&bytes(8, 0, 0, &[0, 1, 0, 0])).unwrap();
    let data: Vec<_> = pair.sent();
    assert_eq!(data.len(), 3, "{data:?}");
    assert!(data.iter().all(|frame| frame.ends_with("end")));
}

#[test]
fn an_upload_is_taken_with_the_storage_in_which_it_stands() {
    let mut pair = Pair::greeted(Config::default());
    pair.feed(&setting(4, 5)).unwrap();
    let id = pair.post();
    let mut storage = b"..1234567".to_vec();
    assert!(!pair.session.trade(id, &mut storage, 2, 10) && storage.len() == 9);
    assert!(pair.session.trade(id, &mut storage, 2, 9) && storage.is_empty());
    assert_eq!((pair.session.queued(id), pair.session.room(id)), (7, 0));
    assert!(!pair.session.trade(id, &mut b"8".to_vec(), 0, 1), "one piece at a time");
    pair.session.end(id);
    assert_eq!(pair.sent()[2..], ["DATA 1 5"]);
    pair.feed(&bytes(8, 0, 1, &[0, 0, 0, 9])).unwrap();
    assert_eq!(pair.sent(), ["DATA 1 2 end"]);
    assert!(!pair.session.trade(id, &mut b"8".to_vec(), 0, 1), "nothing after the end");
}

#[test]
fn the_end_of_an_upload_is_reported_if_requested() {
    let mut pair = Pair::greeted(Config::default());
    let id = pair.post();
    assert_eq!(pair.session.queue(id, b"body"), 4);
    pair.session.end(id);
    assert!(!pair.session.want_sent(id));
    assert_eq!(pair.sent()[1..], ["DATA 1 4 end"]);
    assert_eq!(pair.feed(&[]).unwrap(), ["1 writable"]);
    assert!(pair.session.want_sent(id));
}

#[test]
fn enhance_your_calm_is_not_retried() {
    let mut pair = Pair::greeted(Config::default());
    let ids = [pair.get(), pair.get()];
    let calm = [&1u32.to_be_bytes()[..], &11u32.to_be_bytes()].concat();
    let events = pair.feed(&bytes(kind::GOAWAY, 0, 0, &calm)).unwrap();
    assert!(events[0].starts_with("3 reset") || events[1].starts_with("3 reset"), "{events:?}");
    assert!(pair.session.has_begun(ids[0].number()) && !pair.session.has_begun(ids[1].number()));
    assert!(Session::taken_away().is_closing() && Session::taken_away().vacancies() == 0);
}

#[test]
fn an_end_alone_needs_no_window() {
    let mut pair = Pair::greeted(Config::default());
    pair.feed(&setting(4, 0)).unwrap();
    let id = pair.post();
    assert_eq!(pair.session.queue(id, b"x"), 0);
    pair.session.end(id);
    assert_eq!(pair.sent().last().unwrap(), "DATA 1 0 end");
}

#[test]
fn a_shrunken_window_is_paid_back_first() {
    let mut pair = Pair::greeted(Config::default());
    let id = pair.post();
    assert_eq!(pair.session.queue(id, &[0; 1000]), 1000);
    pair.sent();
    pair.feed(&setting(4, 500)).unwrap();
    assert_eq!(pair.session.room(id), 0);
    pair.feed(&bytes(8, 0, 1, &[0, 0, 1, 0xf5])).unwrap(); // 501
    assert_eq!(pair.session.room(id), 1);
}

#[test]
fn windows_grow_as_they_are_read_and_a_pause_withholds_them() {
    let mut pair = Pair::greeted(Config::default());
    let (quick, _slow) = (pair.get(), pair.get());
    pair.sent();
    let heads = [pair.head(1, 0, &[(":status", "200")]), pair.head(3, 0, &[(":status", "200")])].concat();
    pair.feed(&heads).unwrap();
    for stream in [1, 3] {
        (0..4).for_each(|_| drop(pair.feed(&bytes(0, 0, stream, &[0; 16_384])).unwrap()));
    }
    pair.session.consume(quick, 65_536);
    assert_eq!(pair.sent(), ["UPDATE 1 131072"], "nothing for the slow one");
    assert_eq!(pair.feed(&bytes(0, 0, 3, b"x")).unwrap(), ["3 reset FLOW_CONTROL_ERROR true"]);
    let mut pair = Pair::greeted(Config::default());
    let opening = Opening { end: true, max_window: Some(65_536), ..Opening::default() };
    let id = pair.session.open(GET.iter().map(field), opening).unwrap();
    let head = pair.head(1, 0, &[(":status", "200")]);
    pair.feed(&head).unwrap();
    pair.sent();
    (0..4).for_each(|_| drop(pair.feed(&bytes(0, 0, 1, &[0; 16_384])).unwrap()));
    pair.session.consume(id, 65_536);
    assert_eq!(pair.sent(), ["UPDATE 1 65536"], "a slow one's stays small");
}

#[test]
fn limits_of_streams_are_the_peers() {
    let mut pair = Pair::greeted(Config::default());
    assert_eq!(pair.session.vacancies(), 100);
    assert_eq!(pair.feed(&setting(3, 2)).unwrap(), ["settings"]);
    pair.get();
    pair.get();
    assert!(pair.session.open(GET.iter().map(field), Opening::default()).is_none());
    let reply = pair.head(1, 1, &[(":status", "204")]);
    pair.feed(&reply).unwrap();
    assert_eq!(pair.session.vacancies(), 1);
}

#[test]
fn streams_above_the_last_of_a_goaway_may_be_retried() {
    let mut pair = Pair::greeted(Config::default());
    pair.get();
    pair.get();
    pair.get();
    let goaway = |last: u8| bytes(7, 0, 0, &[&[0, 0, 0, last, 0, 0, 0, 0][..], b"bye"].concat());
    assert_eq!(pair.feed(&goaway(3)).unwrap(), ["goaway 3 NO_ERROR", "5 refused"]);
    assert!(pair.session.is_closing() && pair.session.vacancies() == 0);
    assert_eq!(pair.feed(&goaway(1)).unwrap(), ["goaway 1 NO_ERROR", "3 refused"]);
    let reply = pair.head(1, 1, &[(":status", "204")]);
    assert_eq!(pair.feed(&reply).unwrap(), ["1 head 204  true"]);
    let mut pair = Pair::greeted(Config::default());
    pair.get();
    assert_eq!(pair.feed(&bytes(3, 0, 1, &[0, 0, 0, 7])).unwrap(), ["1 refused"]);
}

/// Floods end the connection, and their frames do not accumulate.
#[test]
fn floods_end_in_enhance_your_calm() {
    let empty_data = bytes(0, 0, 1, &[]);
    let priority = bytes(2, 0, 9, &[0; 5]);
    let update = bytes(8, 0, 1, &[0, 0, 0, 1]);
    for (what, frame, most) in [
        ("SETTINGS", bytes(4, 0, 0, &[]), 1000),
        ("PING", bytes(6, 0, 0, &[0; 8]), 1000),
        ("empty DATA", empty_data, 10_000),
        ("DATA of padding alone", bytes(0, 8, 1, &[3, 0, 0, 0]), 10_000),
        ("DATA of one octet of padding", bytes(0, 8, 1, &[0]), 10_000),
        ("PRIORITY", priority, 10_000),
        ("WINDOW_UPDATE", update, 10_000),
        ("unknown", bytes(77, 0, 0, &[]), 10_000),
    ] {
        let mut pair = Pair::greeted(Config::default());
        pair.get();
        let head = pair.head(1, 0, &[(":status", "200")]);
        pair.feed(&head).unwrap();
        let borne = (0..20_000).take_while(|_| pair.feed(&frame).is_ok()).count();
        assert!((most - 10..=most + 10).contains(&borne), "{what}: {borne}");
        assert!(pair.session.control.len() < 64 << 10, "{what}");
        assert_eq!(pair.feed(&[]).unwrap_err().code, ErrorCode::ENHANCE_YOUR_CALM, "{what}");
    }
}

/// A server that updates the windows of stream and connection for each KiB of an upload is not a flood.
#[test]
fn an_upload_may_be_acknowledged_in_small_pieces() {
    let mut pair = Pair::greeted(Config::default());
    let id = pair.post();
    let more = 1024u32.to_be_bytes();
    let updates = [bytes(8, 0, 0, &more), bytes(8, 0, 1, &more)].concat();
    for _ in 0..20_000 {
        assert_eq!(pair.session.queue(id, &[0; 1024]), 1024);
        assert_eq!(pair.sent().last().unwrap(), "DATA 1 1024");
        pair.feed(&updates).unwrap();
    }
}

#[test]
fn blocks_are_bounded() {
    let mut pair = Pair::greeted(Config::default());
    pair.get();
    pair.feed(&bytes(1, 0, 1, &[])).unwrap();
    let borne = (0..1000).take_while(|_| pair.feed(&bytes(9, 0, 1, &[])).is_ok()).count();
    assert_eq!(borne, 8);
    let mut pair = Pair::greeted(Config::default());
    pair.get();
    pair.feed(&bytes(1, 0, 1, &[])).unwrap();
    let borne = (0..1000).take_while(|_| pair.feed(&bytes(9, 0, 1, &[0; 16_384])).is_ok()).count();
    assert_eq!(borne, 8);
    // A list that is too large resets its stream; the next block is read by the same table.
    let mut pair = Pair::greeted(Config { max_field_list: 1000, ..Config::default() });
    pair.get();
    pair.get();
    let long = "x".repeat(800);
    let large = pair.head(1, 0, &[(":status", "200"), ("a", &long), ("b", &long)]);
    assert_eq!(pair.feed(&large).unwrap(), ["1 reset ENHANCE_YOUR_CALM true"]);
    let reply = pair.head(3, 1, &[(":status", "200"), ("b", &long)]);
    assert_eq!(pair.feed(&reply).unwrap(), [format!("3 head 200 b={long} true")]);
}

#[test]
fn late_frames_of_a_cancelled_stream_keep_to_its_window() {
    let mut pair = Pair::greeted(Config::default());
    let id = pair.get();
    pair.session.reset(id, ErrorCode::CANCEL);
    assert_eq!(pair.sent().last().unwrap(), "RST 1 CANCEL");
    let data = bytes(0, 0, 1, &[0; 16_384]);
    (0..4).for_each(|_| assert_eq!(pair.feed(&data).unwrap(), [""; 0]));
    assert_eq!(pair.sent(), [""; 0]);
    pair.feed(&data).unwrap();
    assert_eq!(pair.sent(), ["RST 1 STREAM_CLOSED"]);
}

#[test]
fn large_heads_leave_in_several_frames() {
    let mut pair = Pair::greeted(Config::default());
    let long = "\u{1}".repeat(40_000); // the Huffman code does not shorten it
    let fields = GET.iter().copied().chain([("a", long.as_str())]);
    let list: Vec<_> = fields.collect();
    pair.session.open(list.iter().map(field), Opening { end: true, ..Opening::default() });
    let mut out = Vec::new();
    pair.session.write_into(&mut out, 1 << 20);
    let (mut block, mut rest, mut kinds) = (Vec::new(), &out[..], Vec::new());
    while !rest.is_empty() {
        let header = Header::parse(rest[..HEADER].try_into().unwrap());
        kinds.push((header.kind, header.flags));
        block.extend_from_slice(&rest[HEADER..HEADER + header.length]);
        rest = &rest[HEADER + header.length..];
    }
    assert_eq!(kinds, [(1, 1), (9, 0), (9, 4)]);
    let mut fields = Fields::default();
    pair.decoder.decode(&block, &mut fields, 1 << 20).unwrap();
    assert_eq!(fields.value(b"a").unwrap(), long.as_bytes());
}

#[test]
fn an_upgraded_request_is_stream_one() {
    let (session, id) = Session::upgraded(Config::default(), false);
    let mut pair = Pair { session, encoder: Encoder::default(), decoder: Decoder::new(4096) };
    assert_eq!(id.number(), 1);
    pair.feed(&bytes(4, 0, 0, &[])).unwrap();
    let reply = pair.head(1, 1, &[(":status", "200")]);
    assert_eq!(pair.feed(&reply).unwrap(), ["1 head 200  true"]);
    assert_eq!(pair.get().number(), 3);
}

#[test]
fn pings_and_priorities_and_goodbyes_leave() {
    let mut pair = Pair::greeted(Config::default());
    let priority = Priority { depends_on: 0, exclusive: false, weight: 32 };
    let opening = Opening { end: true, priority: Some(priority), ..Opening::default() };
    let id = pair.session.open(GET.iter().map(field), opening).unwrap();
    let mut out = Vec::new();
    pair.session.write_into(&mut out, 1000);
    assert_eq!((out[4], &out[HEADER..HEADER + 5]), (0x25, &[0, 0, 0, 0, 31][..]));
    pair.session.prioritise(id, priority);
    pair.session.ping([7; 8]);
    pair.session.go_away(ErrorCode::NO_ERROR);
    assert_eq!(pair.sent(), ["2 1 0 5", "PING 0 [7, 7, 7, 7, 7, 7, 7, 7]", "GOAWAY NO_ERROR"]);
    assert_eq!(pair.feed(&bytes(6, 1, 0, &[7; 8])).unwrap(), ["pong [7, 7, 7, 7, 7, 7, 7, 7]"]);
    assert_eq!(pair.session.vacancies(), 0);
}
