//! Whole dialogues over HTTP/1 and FTP with a server that sends mutated seeds: no panic, no hang, and the
//! invariants of fuzz/talk.rs. They have their own program: a child process that another test starts holds a
//! copy of each socket until `exec`, so the peer would not see that the client has closed.

extern crate warmwire_engine as engine; // the name that the rest of the workspace knows it by

#[path = "../../../fuzz/talk.rs"]
mod parsers;

use parsers::PARSERS;
use tables::Code;
use testkit::mutation;

const ROUNDS: u32 = 1000;

#[test]
fn no_server_makes_a_transfer_panic_or_hang() {
    mutation::run(PARSERS, ROUNDS);
}

/// The server that says anything is one that is understood.
#[test]
fn sound_input_is_accepted() {
    let outcome = |name: &str, is_ftp| parsers::outcome(&mutation::seed(name), is_ftp);
    assert_eq!(outcome("talk_http1/kept", false), [(Code::Ok, 5), (Code::Ok, 12)]);
    assert_eq!(outcome("talk_http1/led_away", false), [(Code::Ok, 4), (Code::Ok, 3)]);
    assert_eq!(
        outcome("talk_ftp/files", true).iter().map(|end| end.0).collect::<Vec<_>>(),
        [Code::Ok, Code::Ok]
    );
}

#[test]
fn targets_match_parsers() {
    mutation::compare_with_targets(PARSERS, |name| name.starts_with("talk_"));
}
