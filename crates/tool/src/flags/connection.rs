//! Flags for connections: addresses, ports, time limits and speeds.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;
use crate::options::{Key::Lib, Key::Tool, ToolOption};
use crate::raw::EasyOption as O;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "abstract-unix-socket",
        arg: Arg::File("<path>"),
        multi: Multi::Single,
        categories: &["connection", "http"],
        protocols: "HTTP",
        since: "7.53.0",
        help: "Talk to the server over this abstract Unix socket",
        about: "The connection is made to a Linux abstract-namespace socket instead of a network \
            address. The name is given without its leading null byte, and the host in the URL is \
            used only for headers and TLS.",
        set: Set::Act(act::abstract_socket),
        ..FLAG
    },
    Declaration {
        name: "connect-timeout",
        arg: Arg::Text("<seconds>"),
        multi: Multi::Single,
        categories: &["connection", "timeout"],
        since: "7.7",
        help: "Longest time to wait for a connection",
        about: "Covers name look-up, connecting, proxy and TLS handshakes. Fractions are allowed.",
        set: Set::Millis(Lib(O::ConnectTimeoutMs)),
        ..FLAG
    },
    Declaration {
        name: "connect-to",
        arg: Arg::Text("<HOST1:PORT1:HOST2:PORT2>"),
        multi: Multi::Append,
        categories: &["connection", "dns"],
        since: "7.49.0",
        help: "Connect elsewhere for a given host and port",
        about: "A request for HOST1:PORT1 goes to HOST2:PORT2 instead, while headers and certificate \
            checks keep the first name. Empty parts match anything or keep the value.",
        set: Set::List(Lib(O::ConnectTo)),
        ..FLAG
    },
    Declaration {
        name: "continue-at",
        short: 'C',
        arg: Arg::Text("<offset>"),
        multi: Multi::Single,
        categories: &["connection"],
        since: "4.8",
        help: "Resume a transfer at this offset",
        about: "That many bytes are skipped at the start. With a dash the offset is taken from the \
            size of the output file, or asked of the server for an upload.",
        set: Set::Act(act::continue_at),
        ..FLAG
    },
    Declaration {
        name: "happy-eyeballs-timeout-ms",
        arg: Arg::Text("<ms>"),
        multi: Multi::Single,
        categories: &["connection", "timeout"],
        since: "7.59.0",
        help: "Head start of IPv6 over IPv4, in milliseconds",
        about: "When a host has both kinds of address, the second kind is tried after this time. The \
            default is 200.",
        set: Set::Number(Lib(O::HappyEyeballsTimeoutMs)),
        ..FLAG
    },
    Declaration {
        name: "interface",
        arg: Arg::Text("<name>"),
        multi: Multi::Single,
        categories: &["connection"],
        since: "7.3",
        help: "Local interface, address or name to connect from",
        about: "The prefixes if!, host! and ifhost! say which of them is meant.",
        set: Set::Text(Lib(O::Interface)),
        ..FLAG
    },
    Declaration {
        name: "ip-tos",
        arg: Arg::Text("<string>"),
        multi: Multi::Single,
        categories: &["connection"],
        since: "8.9.0",
        help: "Type of Service for outgoing packets",
        about: "A number up to 255 or a name such as CS1, AF41, EF or LE.",
        set: Set::Act(act::ip_tos),
        ..FLAG
    },
    Declaration {
        name: "ipv4",
        short: '4',
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["connection", "dns"],
        since: "7.10.8",
        help: "Use IPv4 addresses only",
        about: "Names are looked up for IPv4 alone.",
        set: Set::Fixed(Lib(O::IpResolve), 1),
        ..FLAG
    },
    Declaration {
        name: "ipv6",
        short: '6',
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["connection", "dns"],
        since: "7.10.8",
        help: "Use IPv6 addresses only",
        about: "Names are looked up for IPv6 alone.",
        set: Set::Fixed(Lib(O::IpResolve), 2),
        ..FLAG
    },
    Declaration {
        name: "keepalive-cnt",
        arg: Arg::Text("<integer>"),
        multi: Multi::Single,
        categories: &["connection"],
        since: "8.9.0",
        help: "Keepalive probes before giving up",
        about: "How many may stay unanswered.",
        set: Set::Number(Lib(O::TcpKeepCnt)),
        ..FLAG
    },
    Declaration {
        name: "keepalive-time",
        arg: Arg::Text("<seconds>"),
        multi: Multi::Single,
        categories: &["connection", "timeout"],
        since: "7.18.0",
        help: "Idle seconds before the first keepalive probe",
        about: "Also the time between probes. The default is 60.",
        set: Set::Number(Tool(ToolOption::KeepaliveTime)),
        ..FLAG
    },
    Declaration {
        name: "limit-rate",
        arg: Arg::Text("<speed>"),
        multi: Multi::Single,
        categories: &["connection"],
        since: "7.10",
        help: "Slow the transfer to this many bytes per second",
        about: "Applies to each direction. The suffixes k, m, g, t and p multiply by powers of 1024.",
        set: Set::Act(act::limit_rate),
        ..FLAG
    },
    Declaration {
        name: "local-port",
        arg: Arg::Text("<range>"),
        multi: Multi::Single,
        categories: &["connection"],
        since: "7.15.2",
        help: "Local port or range of ports",
        about: "A number or two with a dash between.",
        set: Set::Act(act::local_port),
        ..FLAG
    },
    Declaration {
        name: "max-filesize",
        arg: Arg::Text("<bytes>"),
        multi: Multi::Single,
        categories: &["connection", "ftp", "http", "mqtt"],
        protocols: "FTP HTTP MQTT",
        since: "7.10.8",
        help: "Refuse files larger than this",
        about: "Exit code 63 when the size is known to exceed it, or when that much has come. \
            Suffixes as for --limit-rate.",
        set: Set::Act(act::max_filesize),
        ..FLAG
    },
    Declaration {
        name: "max-time",
        short: 'm',
        arg: Arg::Text("<seconds>"),
        multi: Multi::Single,
        categories: &["connection", "timeout"],
        since: "4.0",
        help: "Longest time for the whole transfer",
        about: "In seconds; fractions are allowed. With --retry it covers each attempt.",
        set: Set::Millis(Lib(O::TimeoutMs)),
        ..FLAG
    },
    Declaration {
        name: "mptcp",
        categories: &["connection"],
        since: "8.9.0",
        help: "Use Multipath TCP",
        about: "Falls back to TCP when the system or the server does not know it.",
        set: Set::Field(|r| &mut r.mptcp),
        ..FLAG
    },
    Declaration {
        name: "no-keepalive",
        categories: &["connection"],
        since: "7.18.0",
        help: "No TCP keepalive probes",
        about: "They are on otherwise.",
        set: Set::On(Lib(O::TcpKeepAlive)),
        ..FLAG
    },
    Declaration {
        name: "parallel-immediate",
        categories: &["connection", "curl", "global"],
        since: "7.68.0",
        help: "Prefer new connections to waiting",
        about: "In parallel transfers, a new connection is made rather than waiting for one that \
            could be shared.",
        set: Set::Global(|g| &mut g.parallel_immediate),
        ..FLAG
    },
    Declaration {
        name: "parallel-max-host",
        arg: Arg::Text("<num>"),
        multi: Multi::Single,
        categories: &["connection", "curl", "global"],
        since: "8.16.0",
        help: "Most parallel connections to one host",
        about: "No limit when 0, as by default.",
        set: Set::Act(act::parallel_max_host),
        ..FLAG
    },
    Declaration {
        name: "parallel-max",
        arg: Arg::Text("<num>"),
        multi: Multi::Single,
        categories: &["connection", "curl", "global"],
        since: "7.66.0",
        help: "Most transfers at the same time",
        about: "The default is 50, the largest 65535.",
        set: Set::Act(act::parallel_max),
        ..FLAG
    },
    Declaration {
        name: "parallel",
        short: 'Z',
        categories: &["connection", "curl", "global"],
        since: "7.66.0",
        help: "Transfer in parallel",
        about: "All URLs are worked on together, up to --parallel-max at a time.",
        set: Set::Global(|g| &mut g.parallel),
        ..FLAG
    },
    Declaration {
        name: "proto-default",
        arg: Arg::Text("<protocol>"),
        multi: Multi::Single,
        categories: &["connection", "curl"],
        since: "7.45.0",
        help: "Scheme for URLs without one",
        about: "Guessed from the host name otherwise, HTTP in the end.",
        set: Set::Act(act::proto_default),
        ..FLAG
    },
    Declaration {
        name: "proto-redir",
        arg: Arg::Text("<protocols>"),
        multi: Multi::Single,
        categories: &["connection", "curl"],
        since: "7.21.0",
        help: "Schemes allowed after a redirect",
        about: "Written like --proto. HTTP, HTTPS, FTP and FTPS by default.",
        set: Set::Act(act::proto_redir),
        ..FLAG
    },
    Declaration {
        name: "proto",
        arg: Arg::Text("<protocols>"),
        multi: Multi::Single,
        categories: &["connection", "curl"],
        since: "7.21.0",
        help: "Schemes allowed",
        about: "A list with commas; + allows, - forbids, = allows only, and \"all\" is all of them.",
        set: Set::Act(act::proto),
        ..FLAG
    },
    Declaration {
        name: "rate",
        arg: Arg::Text("<max request rate>"),
        multi: Multi::Single,
        categories: &["connection", "global"],
        since: "7.84.0",
        help: "How often transfers may start",
        about: "A number and a unit: 2/s, 3/m, 15/h, 200/d; plain numbers are per hour. For serial \
            transfers.",
        set: Set::Act(act::rate),
        ..FLAG
    },
    Declaration {
        name: "request",
        short: 'X',
        arg: Arg::Text("<method>"),
        multi: Multi::Single,
        categories: &["connection", "pop3", "ftp", "imap", "smtp"],
        since: "6.0",
        help: "Method or command to use",
        about: "For HTTP the word of the request line, kept for redirects too; for FTP, POP3, IMAP \
            and SMTP another command than the usual one. GET, HEAD, POST and PUT need no \
            --request.",
        set: Set::Act(act::request),
        ..FLAG
    },
    Declaration {
        name: "resolve",
        arg: Arg::Text("<[+]host:port:addr[,addr]...>"),
        multi: Multi::Append,
        categories: &["connection", "dns"],
        since: "7.21.3",
        help: "Use this address for a host and port",
        about: "Fills the name cache. A star is any host, a plus in front makes the entry time out \
            like others, a minus removes one.",
        set: Set::List(Lib(O::Resolve)),
        ..FLAG
    },
    Declaration {
        name: "speed-limit",
        short: 'Y',
        arg: Arg::Text("<speed>"),
        multi: Multi::Single,
        categories: &["connection"],
        since: "4.7",
        help: "Give up when slower than this",
        about: "Bytes per second over --speed-time seconds, 30 by default.",
        set: Set::Act(act::speed_limit),
        ..FLAG
    },
    Declaration {
        name: "speed-time",
        short: 'y',
        arg: Arg::Text("<seconds>"),
        multi: Multi::Single,
        categories: &["connection", "timeout"],
        since: "4.7",
        help: "Seconds of slowness before giving up",
        about: "With --speed-limit, which is 1 by default.",
        set: Set::Act(act::speed_time),
        ..FLAG
    },
    Declaration {
        name: "tcp-fastopen",
        categories: &["connection"],
        since: "7.49.0",
        help: "Send data with the first packet",
        about: "TCP Fast Open (RFC 7413).",
        set: Set::On(Lib(O::TcpFastOpen)),
        ..FLAG
    },
    Declaration {
        name: "tcp-nodelay",
        categories: &["connection"],
        since: "7.11.2",
        help: "Send small packets at once",
        about: "The default.",
        set: Set::On(Lib(O::TcpNoDelay)),
        ..FLAG
    },
    Declaration {
        name: "unix-socket",
        arg: Arg::File("<path>"),
        multi: Multi::Single,
        categories: &["connection", "http"],
        protocols: "HTTP",
        since: "7.40.0",
        help: "Talk to the server over this Unix socket",
        about: "Instead of the network; the host in the URL is used only for headers and TLS.",
        set: Set::Act(act::unix_socket),
        ..FLAG
    },
    Declaration {
        name: "vlan-priority",
        arg: Arg::Text("<priority>"),
        multi: Multi::Single,
        categories: &["connection"],
        since: "8.9.0",
        help: "VLAN priority of outgoing frames",
        about: "From 0 to 7, kept by the kernel as the priority of the socket; 7 needs the right to administer the \
            network.",
        set: Set::Act(act::vlan_priority),
        ..FLAG
    },
];
