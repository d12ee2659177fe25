//! Flags for traces, messages and reports.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "no-progress-meter",
        categories: &["verbose"],
        since: "7.67.0",
        help: "No progress meter",
        about: "Unlike --silent it leaves warnings and messages alone.",
        set: Set::NotGlobal(|g| &mut g.no_progress),
        ..FLAG
    },
    Declaration {
        name: "progress-bar",
        short: '#',
        categories: &["verbose", "global"],
        since: "5.10",
        help: "Show progress as a simple bar",
        about: "A line of hash signs instead of the meter. Set --progress=bars for one bar per \
            transfer.",
        set: Set::Global(|g| &mut g.progress_bar),
        ..FLAG
    },
    Declaration {
        name: "show-headers",
        short: 'i',
        categories: &["important", "verbose", "output", "http", "ftp"],
        protocols: "HTTP FTP",
        since: "4.8",
        help: "Show response headers in output",
        about: "Before the body, also those of redirects and proxies.",
        set: Set::Field(|r| &mut r.show_headers),
        ..FLAG
    },
    Declaration {
        name: "silent",
        short: 's',
        categories: &["important", "verbose"],
        since: "4.0",
        help: "Silent mode",
        about: "The data asked for is still written.",
        set: Set::Global(|g| &mut g.silent),
        ..FLAG
    },
    Declaration {
        name: "stderr",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["verbose", "global"],
        since: "6.2",
        help: "Write messages to this file",
        about: "All that would go to standard error; a dash is standard output.",
        set: Set::Act(act::stderr),
        ..FLAG
    },
    Declaration {
        name: "styled-output",
        categories: &["verbose", "global"],
        since: "7.61.0",
        help: "Bold header names on a terminal",
        about: "On by default; --no-styled-output turns it off.",
        set: Set::Global(|g| &mut g.styled),
        ..FLAG
    },
    Declaration {
        name: "trace-ascii",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["verbose", "global"],
        since: "7.9.7",
        help: "Write a trace of everything, as text",
        about: "To the file, or standard output for a dash, or standard error for a percent sign.",
        set: Set::Act(act::trace_ascii),
        ..FLAG
    },
    Declaration {
        name: "trace-config",
        arg: Arg::Text("<string>"),
        multi: Multi::Append,
        categories: &["verbose", "global"],
        since: "8.3.0",
        help: "Choose what -v and --trace tell",
        about: "Names of components with commas: ids, time, all, http/2, tcp and others; a dash in \
            front turns one off.",
        set: Set::Act(act::trace_config),
        ..FLAG
    },
    Declaration {
        name: "trace-ids",
        categories: &["verbose", "global"],
        since: "8.2.0",
        help: "Put transfer and connection numbers in the trace",
        about: "Before each line.",
        set: Set::Global(|g| &mut g.trace_ids),
        ..FLAG
    },
    Declaration {
        name: "trace-time",
        categories: &["verbose", "global"],
        since: "7.14.0",
        help: "Put the time in the trace",
        about: "Before each line.",
        set: Set::Global(|g| &mut g.trace_time),
        ..FLAG
    },
    Declaration {
        name: "trace",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["verbose", "global"],
        since: "7.9.7",
        help: "Write a trace of everything, with hex",
        about: "To the file, or standard output for a dash, or standard error for a percent sign.",
        set: Set::Act(act::trace),
        ..FLAG
    },
    Declaration {
        name: "verbose",
        short: 'v',
        categories: &["important", "verbose", "global"],
        since: "4.0",
        help: "Make the operation more talkative",
        about: "Lines with > were sent, with < received, and with * are remarks. Repeat the letter \
            for more.",
        set: Set::Toggle(act::verbose),
        ..FLAG
    },
    Declaration {
        name: "write-out",
        short: 'w',
        arg: Arg::Text("<format>"),
        multi: Multi::Single,
        categories: &["verbose"],
        since: "6.5",
        help: "Print this after each transfer",
        about: "Text in which %{name} stands for facts of the transfer. @file reads the format from \
            a file. See the chapter on variables.",
        set: Set::Act(act::write_out),
        ..FLAG
    },
];
