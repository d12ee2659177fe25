//! Certificates, lists, OCSP answers, keys and records on mutated seeds: no panic, and what fuzz/tls.rs says must hold.

extern crate warmwire_net as net; // the name that the rest of the workspace knows it by

#[path = "../../../fuzz/tls.rs"]
mod parsers;

use std::path::Path;

use parsers::PARSERS;
use testkit::mutation;

const ROUNDS: u32 = 1500;

fn fuzz() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

#[test]
fn no_input_is_taken_for_signed() {
    mutation::run(PARSERS, &fuzz().join("corpus"), ROUNDS);
}

#[test]
fn targets_match_parsers() {
    let mut targets = mutation::targets(&fuzz().join("Cargo.toml"));
    targets.retain(|name| name.starts_with("tls_"));
    let names: Vec<&str> = PARSERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(targets, names);
}
