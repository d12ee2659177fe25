//! Flags that are accepted so that old command lines work.

use super::flag::{Arg, Declaration, FLAG, Multi};

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "egd-file",
        arg: Arg::Text("<file>"),
        multi: Multi::Single,
        categories: &["deprecated"],
        protocols: "TLS",
        since: "7.7",
        help: "Entropy daemon socket (without effect)",
        about: "Kept so that old command lines work.",
        ..FLAG
    },
    Declaration {
        name: "false-start",
        categories: &["deprecated"],
        protocols: "TLS",
        since: "7.42.0",
        help: "TLS False Start (without effect)",
        about: "Kept so that old command lines work.",
        ..FLAG
    },
    Declaration {
        name: "krb",
        arg: Arg::Text("<level>"),
        multi: Multi::Single,
        categories: &["deprecated"],
        protocols: "FTP",
        since: "7.3",
        help: "Kerberos for FTP (without effect)",
        about: "Kept so that old command lines work.",
        ..FLAG
    },
    Declaration {
        name: "metalink",
        multi: Multi::Single,
        categories: &["deprecated"],
        since: "7.27.0",
        help: "Metalink (without effect)",
        about: "Kept so that old command lines work.",
        ..FLAG
    },
    Declaration {
        name: "no-npn",
        categories: &["deprecated"],
        protocols: "HTTPS",
        since: "7.36.0",
        help: "NPN in TLS (without effect)",
        about: "Kept so that old command lines work.",
        ..FLAG
    },
    Declaration {
        name: "ntlm-wb",
        multi: Multi::Mutex,
        categories: &["deprecated"],
        protocols: "HTTP",
        since: "7.22.0",
        help: "NTLM with winbind (without effect)",
        about: "Kept so that old command lines work.",
        ..FLAG
    },
    Declaration {
        name: "random-file",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["deprecated"],
        since: "7.7",
        help: "Source of random data (without effect)",
        about: "Kept so that old command lines work.",
        ..FLAG
    },
    Declaration {
        name: "sslv2",
        short: '2',
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["deprecated"],
        protocols: "SSL",
        since: "5.9",
        help: "SSL 2 (without effect)",
        about: "Long unsafe and gone.",
        ..FLAG
    },
    Declaration {
        name: "sslv3",
        short: '3',
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["deprecated"],
        protocols: "SSL",
        since: "5.9",
        help: "SSL 3 (without effect)",
        about: "Long unsafe and gone.",
        ..FLAG
    },
];
