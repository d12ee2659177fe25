//! What SSH reads of servers and of files, on thousands of mutated seeds: no panic, and what fuzz/ssh.rs says must hold.

extern crate warmwire_ssh as ssh; // the name that the rest of the workspace knows it by

#[path = "../../../fuzz/ssh.rs"]
mod parsers;

use std::path::Path;

use parsers::PARSERS;
use testkit::mutation;

/// Fewer than others have: two of them exchange keys in each.
const ROUNDS: u32 = 1000;

fn fuzz() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

#[test]
fn no_input_makes_a_parser_panic() {
    mutation::run(PARSERS, &fuzz().join("corpus"), ROUNDS);
}

#[test]
fn targets_match_parsers() {
    let mut targets = mutation::targets(&fuzz().join("Cargo.toml"));
    targets.retain(|name| name.starts_with("ssh_"));
    let names: Vec<&str> = PARSERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(targets, names);
}
