//! Flags that curl does not have; off unless asked for, so that scripts see curl.

use super::{Arg, FLAG, Flag, Multi, Set};
use crate::act;

pub const FLAGS: &[Flag] = &[
    Flag {
        name: "dry-run",
        categories: &["extra"],
        help: "Show what would be requested, and do nothing",
        about: "Each transfer is shown with its method, URL, output file and the options it would set.",
        set: Set::Global(|g| &mut g.dry_run),
        ..FLAG
    },
    Flag {
        name: "generate",
        arg: Arg::Text("<what>"),
        multi: Multi::Custom,
        categories: &["extra"],
        help: "Print the manual page or completions",
        about: "One of man, bash, zsh and fish; for those who install the program.",
        set: Set::Act(act::generate),
        ..FLAG
    },
    Flag {
        name: "har",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["extra"],
        help: "Write an HTTP Archive of the run",
        about: "Requests, answers and timings of all transfers, in the HAR 1.2 format.",
        set: Set::Act(act::har),
        ..FLAG
    },
    Flag {
        name: "progress",
        arg: Arg::Text("<style>"),
        multi: Multi::Single,
        categories: &["extra"],
        help: "Style of the progress display: meter, bar or bars",
        about: "With bars each transfer has a bar with rate and time left, if standard error is a terminal.",
        set: Set::Act(act::progress),
        ..FLAG
    },
    Flag {
        name: "timeline",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["extra"],
        help: "Draw the run as an SVG or HTML picture",
        about: "A row per transfer with its phases, and which connection each one used.",
        set: Set::Act(act::timeline),
        ..FLAG
    },
];
