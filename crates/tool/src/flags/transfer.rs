//! Flags for TELNET and TFTP.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::options::Key::Lib;
use crate::raw::EasyOption as O;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "telnet-option",
        short: 't',
        arg: Arg::Text("<opt=val>"),
        multi: Multi::Append,
        categories: &["telnet"],
        protocols: "TELNET",
        since: "7.7",
        help: "Set a telnet option",
        about: "TTYPE=term, XDISPLOC=display or NEW_ENV=var,value.",
        set: Set::List(Lib(O::TelnetOptions)),
        ..FLAG
    },
    Declaration {
        name: "tftp-blksize",
        arg: Arg::Text("<value>"),
        multi: Multi::Single,
        categories: &["tftp"],
        protocols: "TFTP",
        since: "7.20.0",
        help: "Block size for TFTP",
        about: "From 8 to 65464; the default is 512.",
        set: Set::Number(Lib(O::TftpBlkSize)),
        ..FLAG
    },
    Declaration {
        name: "tftp-no-options",
        categories: &["tftp"],
        protocols: "TFTP",
        since: "7.48.0",
        help: "Send no TFTP options",
        about: "For servers that choke on them.",
        set: Set::On(Lib(O::TftpNoOptions)),
        ..FLAG
    },
];
