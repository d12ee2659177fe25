//! Flags for the files that are written.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;
use crate::options::{Key::Tool, ToolOption};

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "create-dirs",
        categories: &["output"],
        since: "7.10.3",
        help: "Make missing local directories for the output",
        about: "Directories in the path of --output, --output-dir and --dump-header are made when \
            needed, with mode 0750.",
        set: Set::Field(|r| &mut r.create_dirs),
        ..FLAG
    },
    Declaration {
        name: "no-buffer",
        short: 'N',
        categories: &["output"],
        since: "6.5",
        help: "Do not buffer the output",
        about: "Data is written as it comes.",
        set: Set::NotField(|r| &mut r.no_buffer),
        ..FLAG
    },
    Declaration {
        name: "no-clobber",
        categories: &["output"],
        since: "7.83.0",
        help: "Do not overwrite files",
        about: "When the file exists a number is added to the name, from 1 to 100.",
        set: Set::Toggle(act::clobber),
        ..FLAG
    },
    Declaration {
        name: "out-null",
        multi: Multi::PerUrl,
        categories: &["output"],
        since: "8.16.0",
        help: "Throw the output away",
        about: "The body is received and discarded, without opening a file.",
        set: Set::Toggle(act::out_null),
        ..FLAG
    },
    Declaration {
        name: "output-dir",
        arg: Arg::Text("<dir>"),
        multi: Multi::Single,
        categories: &["output"],
        since: "7.73.0",
        help: "Directory for the output files",
        about: "For names given with --output or --remote-name. It must exist unless --create-dirs \
            is given.",
        set: Set::Text(Tool(ToolOption::OutputDir)),
        ..FLAG
    },
    Declaration {
        name: "output",
        short: 'o',
        arg: Arg::File("<file>"),
        multi: Multi::PerUrl,
        categories: &["important", "output"],
        since: "4.0",
        help: "Write to file instead of stdout",
        about: "#1, #2 and so on stand for what a glob in the URL matched, #<name> for a named one. \
            A dash is standard output. One is needed per URL.",
        set: Set::Act(act::output),
        ..FLAG
    },
    Declaration {
        name: "remote-header-name",
        short: 'J',
        categories: &["output", "http"],
        protocols: "HTTP",
        since: "7.20.0",
        help: "Take the file name from the answer",
        about: "With --remote-name, the name in Content-Disposition or Location is used. Paths in it \
            are cut off and existing files are not overwritten.",
        set: Set::Field(|r| &mut r.remote_header_name),
        ..FLAG
    },
    Declaration {
        name: "remote-name-all",
        categories: &["output"],
        since: "7.19.0",
        help: "Treat every URL as with --remote-name",
        about: "Use --no-remote-name for a single one.",
        set: Set::Field(|r| &mut r.remote_name_all),
        ..FLAG
    },
    Declaration {
        name: "remote-name",
        short: 'O',
        multi: Multi::PerUrl,
        categories: &["important", "output"],
        since: "4.0",
        help: "Write output to file named as remote file",
        about: "The last part of the path in the URL, in the current directory.",
        set: Set::Toggle(act::remote_name),
        ..FLAG
    },
    Declaration {
        name: "remote-time",
        short: 'R',
        categories: &["output"],
        since: "7.9",
        help: "Give the file the server's time",
        about: "When the server tells when the file was changed.",
        set: Set::Field(|r| &mut r.remote_time),
        ..FLAG
    },
    Declaration {
        name: "remove-on-error",
        categories: &["output"],
        since: "7.83.0",
        help: "Delete the output file when the transfer fails",
        about: "So that no half file is left behind.",
        set: Set::Toggle(act::remove_on_error),
        ..FLAG
    },
    Declaration {
        name: "xattr",
        categories: &["output"],
        since: "7.21.3",
        help: "Store the URL in the file's extended attributes",
        about: "With the type of the content and so on.",
        set: Set::Field(|r| &mut r.xattr),
        ..FLAG
    },
];
