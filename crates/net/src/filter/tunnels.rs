//! CONNECT on a stream, the same for HTTP/2 (RFC 9113 §8.5) and HTTP/3 (RFC 9114 §4.4).

use std::io;

use wire::h2::{Field, Fields, hop_by_hop};

use crate::exchange::{RequestHead, is_sendable};

/// The payload of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TunnelPayload<'a> {
    /// Bytes, by TCP.
    Bytes,
    /// Datagrams, by UDP: an extended CONNECT (RFC 8441, RFC 9220, RFC 9298 §3.4) to this authority, the
    /// proxy's.
    Datagrams { proxy: &'a [u8] },
}

impl TunnelPayload<'_> {
    pub fn is_extended(self) -> bool {
        self != TunnelPayload::Bytes
    }
}

/// Returns the fields of a CONNECT: for bytes the authority names the destination, for datagrams the path
/// does.
pub fn fields_of(request: &RequestHead, asked: TunnelPayload<'_>) -> Fields {
    let mut fields = Fields::default();
    fields.push(b":method", b"CONNECT");
    match asked {
        TunnelPayload::Bytes => fields.push(b":authority", request.target()),
        TunnelPayload::Datagrams { proxy } => {
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

/// Credentials stay out of the dynamic tables (RFC 7541 §7.1.3, RFC 9204 §7.1).
pub fn field<'a>((name, value): (&'a [u8], &'a [u8])) -> Field<'a> {
    Field { name, value, sensitive: name == b"proxy-authorization" }
}

/// The error if the proxy supports CONNECT only for bytes.
pub fn unknown_to_proxy() -> io::Error {
    io::ErrorKind::Unsupported.into()
}
