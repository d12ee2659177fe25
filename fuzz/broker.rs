//! Messages between a process and the broker of its user, as functions of bytes. The fuzz targets run them
//! under libFuzzer, crates/broker/tests/mutations.rs on mutated seeds.

use broker::message::{Head, Reply, Request};

type Parser = (&'static str, fn(&[u8]));

/// Name (also that of its directory of seeds) and function.
pub const PARSERS: &[Parser] = &[("broker_reply", replies), ("broker_request", requests)];

/// A request that can be read is written as it was.
pub fn requests(input: &[u8]) {
    if let Some(request) = Request::decode(input) {
        let head = Head::decode(input).expect("a request has a head");
        assert_eq!([&request.encode(&head.instance), request.payload()].concat(), input);
    }
}

/// A reply that can be read is written as it was.
pub fn replies(input: &[u8]) {
    if let Some(reply) = Reply::decode(input) {
        let head = Head::decode(input).expect("a reply has a head");
        assert_eq!([&reply.encode(&head.instance), reply.payload()].concat(), input);
    }
}
