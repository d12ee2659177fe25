//! Promises of replies that nobody asked for (RFC 9113 §8.4).

use super::*;

/// CVE-2024-2398: pushes that nobody asked for end the connection, and what is promised is bounded like any
/// head.
#[test]
fn promises_are_offered_only_when_asked_for() {
    let config = Config { push: true, max_concurrent_streams: 1, ..Config::default() };
    let mut pair = Pair::greeted(config);
    pair.get();
    pair.sent();
    let promise = |stream: u8, fields: &[(&str, &str)], pair: &mut Pair| {
        let block = pair.block(fields);
        bytes(5, 4, 1, &[&[0, 0, 0, stream][..], &block].concat())
    };
    let first = promise(2, &GET, &mut pair);
    assert_eq!(pair.feed(&first).unwrap(), ["1 promise 2"]);
    let second = promise(4, &GET, &mut pair);
    assert_eq!(pair.feed(&second).unwrap(), [""; 0]);
    assert_eq!(pair.sent(), ["RST 4 REFUSED_STREAM"]);
    let reply = [pair.head(2, 0, &[(":status", "200")]), bytes(0, 1, 2, b"pushed")].concat();
    assert_eq!(pair.feed(&reply).unwrap(), ["2 head 200  false", "2 data 6 true"]);
    let broken = promise(6, &GET[1..], &mut pair);
    pair.feed(&broken).unwrap();
    assert_eq!(pair.sent(), ["RST 6 PROTOCOL_ERROR"]);
    let again = promise(6, &GET, &mut pair);
    assert_eq!(pair.feed(&again).unwrap_err().code, ErrorCode::PROTOCOL_ERROR);
}

/// CVE-2024-2398: nothing is kept of a promise whose fields exceed the limit, however many come; nor of one
/// within a stream that was promised itself, which RFC 9113 §6.6 forbids.
#[test]
fn refused_promises_leave_no_state() {
    let config = Config { push: true, max_field_list: 1000, ..Config::default() };
    let mut pair = Pair::greeted(config);
    pair.get();
    pair.sent();
    let long = "x".repeat(900);
    let fields = [&GET[..], &[("x", &long)]].concat();
    for stream in (2u32..).step_by(2).take(3000) {
        let block = pair.block(&fields);
        let promise = bytes(5, 4, 1, &[&stream.to_be_bytes()[..], &block].concat());
        assert_eq!(pair.feed(&promise).unwrap(), [""; 0]);
        assert_eq!(pair.sent(), [format!("RST {stream} PROTOCOL_ERROR")]);
        assert_eq!(pair.session.streams.count(false), 0);
    }
    assert!(pair.session.fields.iter().count() <= GET.len() + 1);
    let mut within = |parent: u32, stream: u32| {
        let block = pair.block(&GET);
        let promise = bytes(5, 4, parent, &[&stream.to_be_bytes()[..], &block].concat());
        pair.feed(&promise)
    };
    assert_eq!(within(1, 10_000).unwrap(), ["1 promise 10000"]);
    assert_eq!(within(10_000, 10_002).unwrap_err().code, ErrorCode::PROTOCOL_ERROR);
}
