//! HTTP/3 on a QUIC connection with a server that sends mutated seeds: no panic, no hang, and the invariants
//! of fuzz/quic.rs.

#[path = "../../../fuzz/quic.rs"]
mod parsers;

use parsers::PARSERS;
use testkit::mutation;

/// Few: there is a handshake in each.
const ROUNDS: u32 = 200;

#[test]
fn no_input_makes_a_connection_panic_or_hang() {
    mutation::run(PARSERS, ROUNDS);
}

/// The server that everything is said by is one that is understood.
#[test]
fn sound_input_is_accepted() {
    let seed = |name: &str| mutation::seed(&format!("quic_session/{name}"));
    assert_eq!(parsers::outcome(&seed("replies")), (12, Vec::new()));
    let (received, faults) = parsers::outcome(&seed("refusals"));
    assert!(received == 4 && faults.len() == 3, "{received} {faults:?}");
}

#[test]
fn targets_match_parsers() {
    mutation::compare_with_targets(PARSERS, |name| name.starts_with("quic_"));
}
