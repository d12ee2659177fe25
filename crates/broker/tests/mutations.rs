//! Decoders of the broker's messages, on thousands of mutated seeds: no panic, and the invariants of
//! fuzz/broker.rs.

#[path = "../../../fuzz/broker.rs"]
mod parsers;

use parsers::PARSERS;
use testkit::mutation;

const ROUNDS: u32 = 30_000;

#[test]
fn no_message_makes_a_decoder_panic() {
    mutation::run(PARSERS, ROUNDS);
}

#[test]
fn targets_match_parsers() {
    mutation::compare_with_targets(PARSERS, |name| name.starts_with("broker_"));
}
