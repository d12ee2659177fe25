//! SSH's parsers for servers' messages and files, on thousands of mutated seeds: no panic, and the invariants
//! of fuzz/ssh.rs.

extern crate warmwire_ssh as ssh; // the name that the rest of the workspace knows it by

#[path = "../../../fuzz/ssh.rs"]
mod parsers;

use parsers::PARSERS;
use testkit::mutation;

/// Fewer than others have: two of them exchange keys in each.
const ROUNDS: u32 = 1000;

#[test]
fn no_input_makes_a_parser_panic() {
    mutation::run(PARSERS, ROUNDS);
}

#[test]
fn targets_match_parsers() {
    mutation::compare_with_targets(PARSERS, |name| name.starts_with("ssh_"));
}
