//! Every parser on thousands of mutated seeds: no panic, and what fuzz/parsers.rs says must hold. fuzz/ has
//! the same for libFuzzer, which finds more.

extern crate warmwire_wire as wire; // the name that the rest of the workspace knows it by

#[path = "../../../fuzz/parsers.rs"]
mod parsers;

use parsers::PARSERS;
use testkit::mutation;

const ROUNDS: u32 = 3000;

#[test]
fn no_input_makes_a_parser_panic() {
    mutation::run(PARSERS, ROUNDS);
}

/// Every parser has its fuzz target, and every target its parser; those of other crates are tested there, and
/// those that ask another's implementation, which nothing else shall depend on, are in fuzz alone.
#[test]
fn targets_match_parsers() {
    let is_elsewhere = |name: &str| ["quic_", "ssh_", "talk_", "tls_"].iter().any(|of| name.starts_with(of));
    mutation::compare_with_targets(PARSERS, |name| !is_elsewhere(name) && !name.ends_with("_oracle"));
}
