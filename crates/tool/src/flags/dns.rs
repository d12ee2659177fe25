//! Flags for looking up names.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::options::Key::Lib;
use crate::raw::EasyOption as O;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "dns-interface",
        arg: Arg::Text("<interface>"),
        multi: Multi::Single,
        categories: &["dns"],
        protocols: "DNS",
        since: "7.33.0",
        help: "Network interface for name look-ups",
        about: "Questions to name servers leave by this interface. They are then asked by curl itself, not by the system.",
        set: Set::Text(Lib(O::DnsInterface)),
        ..FLAG
    },
    Declaration {
        name: "dns-ipv4-addr",
        arg: Arg::Text("<address>"),
        multi: Multi::Single,
        categories: &["dns"],
        protocols: "DNS",
        since: "7.33.0",
        help: "Local IPv4 address for name look-ups",
        about: "Questions to name servers with IPv4 leave from this address. They are then asked by curl itself, not by the system.",
        set: Set::Text(Lib(O::DnsLocalIp4)),
        ..FLAG
    },
    Declaration {
        name: "dns-ipv6-addr",
        arg: Arg::Text("<address>"),
        multi: Multi::Single,
        categories: &["dns"],
        protocols: "DNS",
        since: "7.33.0",
        help: "Local IPv6 address for name look-ups",
        about: "Questions to name servers with IPv6 leave from this address. They are then asked by curl itself, not by the system.",
        set: Set::Text(Lib(O::DnsLocalIp6)),
        ..FLAG
    },
    Declaration {
        name: "dns-servers",
        arg: Arg::Text("<addresses>"),
        multi: Multi::Single,
        categories: &["dns"],
        protocols: "DNS",
        since: "7.33.0",
        help: "Name servers to ask instead of the system's",
        about: "These name servers are asked instead of the system's resolver: numeric addresses with commas between, each with a port or without.",
        set: Set::Text(Lib(O::DnsServers)),
        ..FLAG
    },
    Declaration {
        name: "doh-cert-status",
        categories: &["dns", "tls"],
        protocols: "DNS",
        since: "7.76.0",
        help: "Demand an OCSP staple of the DoH server",
        about: "As --cert-status, for the server that answers DNS over HTTPS.",
        set: Set::On(Lib(O::DohSslVerifyStatus)),
        ..FLAG
    },
    Declaration {
        name: "doh-insecure",
        categories: &["dns", "tls"],
        protocols: "DNS",
        since: "7.76.0",
        help: "Do not verify the certificate of the DoH server",
        about: "As --insecure, for the server that answers DNS over HTTPS.",
        set: Set::Field(|r| &mut r.doh_insecure),
        ..FLAG
    },
    Declaration {
        name: "doh-url",
        arg: Arg::Text("<URL>"),
        multi: Multi::Single,
        categories: &["dns"],
        protocols: "DNS",
        since: "7.62.0",
        help: "Look names up over HTTPS at this URL",
        about: "DNS questions are sent to this server inside HTTPS. An empty argument goes back to \
            the system's resolver.",
        set: Set::AnyText(Lib(O::DohUrl)),
        ..FLAG
    },
];
