//! The cases, by what they look at.

mod bindings;
mod ftp;
mod getting;
mod git;
mod http2;
mod installed;
mod lookups;
mod loops;
mod mail;
mod negotiate;
mod options;
mod others;
mod pooling;
mod process;
mod real;
mod reentry;
mod refusals;
mod small;
mod socks;
mod stores;
mod tls;
mod twin;
mod valgrind;
mod values;
mod wild;

use crate::runner::{Case, Context};

/// Every case.
pub fn all() -> Vec<Case> {
    let groups = [
        getting::cases(),
        refusals::cases(),
        stores::cases(),
        tls::cases(),
        real::cases(),
        reentry::cases(),
        process::cases(),
        ftp::cases(),
        options::cases(),
        lookups::cases(),
        pooling::cases(),
        valgrind::cases(),
        others::cases(),
        bindings::cases(),
        git::cases(),
        http2::cases(),
        installed::cases(),
        loops::cases(),
        mail::cases(),
        negotiate::cases(),
        small::cases(),
        socks::cases(),
        values::cases(),
        wild::cases(),
        twin::cases(),
    ];
    groups.into_iter().flatten().collect()
}

fn case(name: &'static str, run: fn(&Context)) -> Case {
    Case { name, run, ours_only: false, deep: false }
}

fn ours(name: &'static str, run: fn(&Context)) -> Case {
    Case { ours_only: true, ..case(name, run) }
}

fn deep(case: Case) -> Case {
    Case { deep: true, ..case }
}

/// The check sum that programs print for the pattern of this length.
fn sum(length: usize) -> String {
    format!("{:016x}", testkit::body::fnv1a(&testkit::body::pattern(length)))
}

/// The ways to drive a multi handle that `fetch -w` knows.
const WAYS: [&str; 5] = ["poll", "wait", "fdset", "waitfds", "event"];
