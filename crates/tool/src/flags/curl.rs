//! Flags about the tool itself: config files, URLs, variables, retries, help.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;
use crate::options::{Key::Lib, Key::Tool, ToolOption};
use crate::raw::EasyOption as O;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "config",
        short: 'K',
        arg: Arg::File("<file>"),
        multi: Multi::Append,
        categories: &["curl"],
        since: "4.10",
        help: "Read more options from a file",
        about: "Each line is one option, without the leading dashes if you like, and its argument \
            after a blank, a colon or an equals sign. Arguments with blanks go in double quotes, \
            in which \\\\, \\\", \\t, \\n, \\r and \\v are understood. A line that starts with # is a \
            comment. A single dash reads standard input.",
        set: Set::Config,
        ..FLAG
    },
    Declaration {
        name: "disable",
        short: 'q',
        categories: &["curl"],
        since: "5.0",
        help: "Do not read the default config file",
        about: "Works as the very first argument only: the file .curlrc is then left alone.",
        set: Set::Toggle(act::nothing),
        ..FLAG
    },
    Declaration {
        name: "disallow-username-in-url",
        categories: &["curl"],
        since: "7.61.0",
        help: "Refuse URLs that hold a user name",
        about: "The transfer fails when the URL given, or one redirected to, carries credentials.",
        set: Set::On(Lib(O::DisallowUsernameInUrl)),
        ..FLAG
    },
    Declaration {
        name: "fail-early",
        categories: &["curl", "global"],
        since: "7.52.0",
        help: "Stop at the first transfer that fails",
        about: "Without it the remaining URLs are still tried and the exit code is that of the last \
            failure.",
        set: Set::Global(|g| &mut g.fail_early),
        ..FLAG
    },
    Declaration {
        name: "globoff",
        short: 'g',
        categories: &["curl"],
        since: "7.6",
        help: "No expansion of {} and [] in URLs",
        about: "Braces and brackets are then sent as they stand, although they ought to be \
            percent-encoded.",
        set: Set::Field(|r| &mut r.globoff),
        ..FLAG
    },
    Declaration {
        name: "help",
        short: 'h',
        arg: Arg::Text("<subject>"),
        multi: Multi::Custom,
        categories: &["important", "curl"],
        since: "4.0",
        help: "Get help for commands",
        about: "Without an argument the most used options are listed. \"category\" lists the \
            categories, \"all\" every option, and a dash in front gives the manual text of one \
            option.",
        set: Set::Act(act::help),
        ..FLAG
    },
    Declaration {
        name: "ipfs-gateway",
        arg: Arg::Text("<URL>"),
        multi: Multi::Single,
        categories: &["curl"],
        protocols: "IPFS",
        since: "8.4.0",
        help: "Gateway for ipfs:// and ipns:// URLs",
        about: "Without it the environment variable IPFS_GATEWAY or the file ~/.ipfs/gateway is \
            used.",
        set: Set::Text(Tool(ToolOption::IpfsGateway)),
        ..FLAG
    },
    Declaration {
        name: "libcurl",
        arg: Arg::Text("<file>"),
        multi: Multi::Single,
        categories: &["curl", "global"],
        since: "7.16.1",
        help: "Write C code that does the same",
        about: "A program using libcurl with the options of this run is written to the file; a dash \
            is standard output.",
        set: Set::Act(act::libcurl),
        ..FLAG
    },
    Declaration {
        name: "manual",
        short: 'M',
        multi: Multi::Custom,
        categories: &["curl"],
        since: "5.2",
        help: "Show the full manual",
        about: "The text of the manual page, to standard output.",
        set: Set::Toggle(act::manual),
        ..FLAG
    },
    Declaration {
        name: "next",
        short: ':',
        arg: Arg::None,
        multi: Multi::Append,
        categories: &["curl"],
        since: "7.36.0",
        help: "Begin a new set of options for what follows",
        about: "URLs after it have options of their own; those that are global stay.",
        set: Set::Mark(act::next),
        ..FLAG
    },
    Declaration {
        name: "path-as-is",
        categories: &["curl"],
        since: "7.42.0",
        help: "Leave /../ and /./ in the URL alone",
        about: "They are squashed otherwise, as the standard says.",
        set: Set::On(Lib(O::PathAsIs)),
        ..FLAG
    },
    Declaration {
        name: "retry-all-errors",
        categories: &["curl"],
        since: "7.71.0",
        help: "Retry on any error",
        about: "With --retry. Use with care: output that went to a pipe is repeated.",
        set: Set::Field(|r| &mut r.retry_all_errors),
        ..FLAG
    },
    Declaration {
        name: "retry-connrefused",
        categories: &["curl"],
        since: "7.52.0",
        help: "Retry when the connection is refused",
        about: "With --retry.",
        set: Set::Field(|r| &mut r.retry_connrefused),
        ..FLAG
    },
    Declaration {
        name: "retry-delay",
        arg: Arg::Text("<seconds>"),
        multi: Multi::Single,
        categories: &["curl", "timeout"],
        since: "7.12.3",
        help: "Seconds between retries",
        about: "Instead of one second, doubled each time up to ten minutes.",
        set: Set::Act(act::retry_delay),
        ..FLAG
    },
    Declaration {
        name: "retry-max-time",
        arg: Arg::Text("<seconds>"),
        multi: Multi::Single,
        categories: &["curl", "timeout"],
        since: "7.12.3",
        help: "No more retries after this many seconds",
        about: "Counted from the first attempt.",
        set: Set::Act(act::retry_max_time),
        ..FLAG
    },
    Declaration {
        name: "retry",
        arg: Arg::Text("<num>"),
        multi: Multi::Single,
        categories: &["curl"],
        since: "7.12.3",
        help: "Try again after passing problems",
        about: "So many times, after a time-out, an FTP 4xx answer or the HTTP codes 408, 429, 500, \
            502, 503, 504, 522 and 524. A Retry-After header is obeyed.",
        set: Set::Act(act::retry),
        ..FLAG
    },
    Declaration {
        name: "show-error",
        short: 'S',
        categories: &["curl", "global"],
        since: "5.9",
        help: "Show errors in silent mode",
        about: "With --silent.",
        set: Set::Global(|g| &mut g.show_error),
        ..FLAG
    },
    Declaration {
        name: "skip-existing",
        categories: &["curl", "output"],
        since: "8.10.0",
        help: "Skip URLs whose output file exists",
        about: "The file is not looked into.",
        set: Set::Field(|r| &mut r.skip_existing),
        ..FLAG
    },
    Declaration {
        name: "upload-flags",
        arg: Arg::Text("<flags>"),
        multi: Multi::Single,
        categories: &["curl", "output", "imap", "upload"],
        protocols: "IMAP",
        since: "8.13.0",
        help: "Flags for an uploaded mail",
        about: "answered, deleted, draft, flagged, seen, with commas; a dash in front takes one \
            away.",
        set: Set::Act(act::upload_flags),
        ..FLAG
    },
    Declaration {
        name: "url",
        arg: Arg::Text("<url/file>"),
        multi: Multi::Append,
        categories: &["curl"],
        since: "7.5",
        help: "URL to work with",
        about: "For config files mostly. @file reads URLs from a file, one per line, each saved as \
            with --remote-name.",
        set: Set::Act(act::url),
        ..FLAG
    },
    Declaration {
        name: "variable",
        arg: Arg::Text("<[%]name=text/@file>"),
        multi: Multi::Append,
        categories: &["curl"],
        since: "8.3.0",
        help: "Set a variable for the --expand- options",
        about: "name=text, name@file, or %name to take it from the environment. {{name}} in an \
            option with the prefix --expand- is replaced; functions are trim, json, url, b64 and \
            64dec.",
        set: Set::Act(act::variable),
        ..FLAG
    },
    Declaration {
        name: "version",
        short: 'V',
        multi: Multi::Custom,
        categories: &["important", "curl"],
        since: "4.0",
        help: "Show version number and quit",
        about: "Then end.",
        set: Set::Toggle(act::version),
        ..FLAG
    },
];
