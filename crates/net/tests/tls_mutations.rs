//! Certificates, lists, OCSP responses, keys and records from mutated seeds: no panic, and the invariants of
//! fuzz/tls.rs.

#[path = "../../../fuzz/tls.rs"]
mod parsers;

use parsers::PARSERS;
use testkit::mutation;

const ROUNDS: u32 = 1500;

#[test]
fn no_input_is_taken_for_signed() {
    mutation::run(PARSERS, ROUNDS);
}

#[test]
fn targets_match_parsers() {
    mutation::compare_with_targets(PARSERS, |name| name.starts_with("tls_"));
}
