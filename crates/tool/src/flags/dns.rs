//! Flags for looking up names.

use super::{Arg, FLAG, Flag, Multi, Set};

pub const FLAGS: &[Flag] = &[
    Flag {
        name: "dns-interface",
        arg: Arg::Text("<interface>"),
        multi: Multi::Single,
        categories: &["dns"],
        protocols: "DNS",
        since: "7.33.0",
        help: "Network interface for name look-ups",
        about: "Needs a resolver library that this program is not built with.",
        set: Set::Absent,
        ..FLAG
    },
    Flag {
        name: "dns-ipv4-addr",
        arg: Arg::Text("<address>"),
        multi: Multi::Single,
        categories: &["dns"],
        protocols: "DNS",
        since: "7.33.0",
        help: "Local IPv4 address for name look-ups",
        about: "Needs a resolver library that this program is not built with.",
        set: Set::Absent,
        ..FLAG
    },
    Flag {
        name: "dns-ipv6-addr",
        arg: Arg::Text("<address>"),
        multi: Multi::Single,
        categories: &["dns"],
        protocols: "DNS",
        since: "7.33.0",
        help: "Local IPv6 address for name look-ups",
        about: "Needs a resolver library that this program is not built with.",
        set: Set::Absent,
        ..FLAG
    },
    Flag {
        name: "dns-servers",
        arg: Arg::Text("<addresses>"),
        multi: Multi::Single,
        categories: &["dns"],
        protocols: "DNS",
        since: "7.33.0",
        help: "Name servers to ask instead of the system's",
        about: "Needs a resolver library that this program is not built with.",
        set: Set::Absent,
        ..FLAG
    },
    Flag {
        name: "doh-cert-status",
        categories: &["dns", "tls"],
        protocols: "DNS",
        since: "7.76.0",
        help: "Demand an OCSP staple of the DoH server",
        about: "As --cert-status, for the server that answers DNS over HTTPS.",
        set: Set::On("DOH_SSL_VERIFYSTATUS"),
        ..FLAG
    },
    Flag {
        name: "doh-insecure",
        categories: &["dns", "tls"],
        protocols: "DNS",
        since: "7.76.0",
        help: "Do not verify the certificate of the DoH server",
        about: "As --insecure, for the server that answers DNS over HTTPS.",
        set: Set::Field(|r| &mut r.doh_insecure),
        ..FLAG
    },
    Flag {
        name: "doh-url",
        arg: Arg::Text("<URL>"),
        multi: Multi::Single,
        categories: &["dns"],
        protocols: "DNS",
        since: "7.62.0",
        help: "Look names up over HTTPS at this URL",
        about: "DNS questions are sent to this server inside HTTPS. An empty argument goes back to \
            the system's resolver.",
        set: Set::AnyText("DOH_URL"),
        ..FLAG
    },
];
