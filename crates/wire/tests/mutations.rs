//! Every parser on thousands of mutated seeds: no panic, and the invariants of fuzz/parsers.rs, fields.rs
//! and s3.rs. fuzz/ has the same for libFuzzer, which finds more.

#[path = "../../../fuzz/fields.rs"]
mod fields;
#[path = "../../../fuzz/parsers.rs"]
mod parsers;
#[path = "../../../fuzz/s3.rs"]
mod s3;

use parsers::PARSERS;
use testkit::mutation;

const ROUNDS: u32 = 3000;

#[test]
fn no_input_makes_a_parser_panic() {
    mutation::run(PARSERS, ROUNDS);
    mutation::run(fields::PARSERS, ROUNDS);
    mutation::run(s3::PARSERS, ROUNDS);
}

/// Every parser has its fuzz target, and every target its parser. Parsers of other crates are tested there;
/// targets that compare with another implementation, which nothing else may depend on, are only in fuzz.
#[test]
fn targets_match_parsers() {
    let elsewhere = ["broker_", "field_", "quic_", "s3_", "ssh_", "talk_", "tls_"];
    let is_elsewhere = |name: &str| elsewhere.iter().any(|of| name.starts_with(of));
    mutation::compare_with_targets(PARSERS, |name| !is_elsewhere(name) && !name.ends_with("_oracle"));
    mutation::compare_with_targets(fields::PARSERS, |name| name.starts_with("field_"));
    mutation::compare_with_targets(s3::PARSERS, |name| name.starts_with("s3_"));
}
