//! Every parser on thousands of mutated seeds: no panic, and the invariants of fuzz/parsers.rs. fuzz/ has the
//! same for libFuzzer, which finds more.

#[path = "../../../fuzz/parsers.rs"]
mod parsers;

use parsers::PARSERS;
use testkit::mutation;

const ROUNDS: u32 = 3000;

#[test]
fn no_input_makes_a_parser_panic() {
    mutation::run(PARSERS, ROUNDS);
}

/// Every parser has its fuzz target, and every target its parser. Parsers of other crates are tested there;
/// targets that compare with another implementation, which nothing else may depend on, are only in fuzz.
#[test]
fn targets_match_parsers() {
    let is_elsewhere =
        |name: &str| ["broker_", "quic_", "ssh_", "talk_", "tls_"].iter().any(|of| name.starts_with(of));
    mutation::compare_with_targets(PARSERS, |name| !is_elsewhere(name) && !name.ends_with("_oracle"));
}
