//! What asks a proxy for a tunnel on a stream, by HTTP/2 (RFC 9113 §8.5) and HTTP/3 (RFC 9114 §4.4) alike.

use std::io;

use wire::h2::{Field, Fields, hop_by_hop};

use crate::exchange::{RequestHead, is_sendable};

/// For what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked<'a> {
    /// Bytes, by TCP.
    Bytes,
    /// Datagrams, by UDP: an extended CONNECT (RFC 8441, RFC 9220, RFC 9298 §3.4) to this authority, which is the proxy's.
    Datagrams { proxy: &'a [u8] },
}

impl Asked<'_> {
    pub fn is_extended(self) -> bool {
        self != Asked::Bytes
    }
}

/// The fields of a CONNECT: for bytes the authority alone says what is asked for, for datagrams the path does.
pub fn fields_of(request: &RequestHead, asked: Asked<'_>) -> Fields {
    let mut fields = Fields::default();
    fields.push(b":method", b"CONNECT");
    match asked {
        Asked::Bytes => fields.push(b":authority", request.target()),
        Asked::Datagrams { proxy } => {
            fields.push(b":protocol", request.protocol.unwrap_or_default().as_bytes());
            fields.push(b":scheme", b"https");
            fields.push(b":authority", proxy);
            fields.push(b":path", request.target());
        }
    }
    for (name, value) in request.fields() {
        if !hop_by_hop(name) && !name.eq_ignore_ascii_case(b"host") && is_sendable(name, value) {
            fields.push(&name.to_ascii_lowercase(), value);
        }
    }
    fields
}

/// What proves who is asking stays out of the tables (RFC 7541 §7.1.3, RFC 9204 §7.1).
pub fn field<'a>((name, value): (&'a [u8], &'a [u8])) -> Field<'a> {
    Field { name, value, sensitive: name == b"proxy-authorization" }
}

/// The proxy has said that it knows no CONNECT for anything but bytes.
pub fn unknown_to_proxy() -> io::Error {
    io::ErrorKind::Unsupported.into()
}
