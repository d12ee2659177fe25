//! The refusal of a transfer by a policy: what was refused, by which rule, at which check.

use std::fmt;

/// The refusal of a question; displays which rule refused what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The place in a transfer at which the question was asked.
    pub check: Check,
    /// The name of the policy's file.
    pub policy: String,
    /// The refused value, as in `port 22`.
    pub subject: String,
    /// The line that refuses it, or why it is refused without one.
    pub rule: String,
}

impl Refusal {
    /// Returns the refusal, made at another check than the usual one of its question.
    pub fn at(self, check: Check) -> Refusal {
        Refusal { check, ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { check: _, policy, subject, rule } = self;
        write!(f, "policy {policy} refuses {subject}: {rule}")
    }
}

/// A place in a transfer at which policies are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The first URL: its scheme, host and port.
    Url,
    /// The URL of a redirect.
    Redirect,
    /// The host and port that replace those of the URL (CURLOPT_CONNECT_TO).
    ConnectTo,
    /// The address that a socket is connected to, or that a server answers from.
    Address,
    /// The address and port of an FTP data connection.
    DataConnection,
    /// A proxy.
    Proxy,
    /// A host whose address a proxy looks up.
    LookupByProxy,
    /// A unix socket.
    UnixSocket,
    /// The options of TLS, before a connection is opened.
    Tls,
    /// An alternative service (RFC 7838).
    AltSvc,
    /// The server of DNS over HTTPS.
    Doh,
}

impl Check {
    /// Returns the name in texts and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Check::Url => "url",
            Check::Redirect => "redirect",
            Check::ConnectTo => "connect-to",
            Check::Address => "address",
            Check::DataConnection => "data-connection",
            Check::Proxy => "proxy",
            Check::LookupByProxy => "lookup-by-proxy",
            Check::UnixSocket => "unix-socket",
            Check::Tls => "tls",
            Check::AltSvc => "alt-svc",
            Check::Doh => "doh",
        }
    }
}
