//! Requests as lists of fields, as HTTP/2 and HTTP/3 send them.

use wire::h2::{Fields, hop_by_hop};
use wire::http1::te_accepts_trailers;

use super::{RequestHead, is_sendable};

/// Maximum size of a request's fields over HTTP/2, by [`sent_size`]. curl 8.22 with nghttp2 sends no more
/// than 64 KiB, and fails before it sends any of the request.
pub const MAX_SENT_HTTP2: usize = 65_536;

/// Returns the fields of a request's head, pseudo-fields first (RFC 9113 §8.3.1, RFC 8441 §4). Fields of the
/// connection (§8.2.2) and lines that are not fields (§8.2.1) are left out; of TE only "trailers" remains.
pub fn request_fields(request: &RequestHead) -> Fields {
    let is = |name: &[u8], known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    let mut fields = Fields::with_room();
    fields.push(b":method", request.method());
    if let Some(protocol) = request.protocol {
        fields.push(b":protocol", protocol.as_bytes());
    }
    fields.push(b":scheme", request.scheme().as_bytes());
    let authority = request.fields().find(|(name, value)| is(name, "host") && !value.is_empty());
    if let Some((_, host)) = authority.filter(|(name, host)| is_sendable(name, host)) {
        fields.push(b":authority", host);
    }
    fields.push(b":path", request.target());
    for (name, value) in request.fields() {
        if is(name, "te") {
            if te_accepts_trailers(value) {
                fields.push(b"te", b"trailers");
            }
        } else if !hop_by_hop(name) && !is(name, "host") {
            push(&mut fields, name, value);
        }
    }
    fields
}

/// Returns the largest size that the head can have on the wire, by the formula of curl's HTTP/2 library: 12
/// bytes for each field and 17 for the block beside names and values.
pub fn sent_size(request: &RequestHead) -> usize {
    request_fields(request).iter().map(|(name, value)| name.len() + value.len() + 12).sum::<usize>() + 17
}

/// Adds a field. One that must not be sent has been refused before ([`RequestHead::check`]); here it is
/// omitted.
fn push(fields: &mut Fields, name: &[u8], value: &[u8]) {
    if is_sendable(name, value) {
        fields.push_lower(name, value);
    }
}

/// Builds trailers from the lines of an application.
pub(super) fn trailer_fields(lines: &[&[u8]]) -> Fields {
    let mut fields = Fields::default();
    for line in lines {
        if let Some(at) = line.iter().position(|b| *b == b':') {
            push(&mut fields, line[..at].trim_ascii(), line[at + 1..].trim_ascii());
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::RequestBody;

    #[test]
    fn a_head_as_fields() {
        let mut head = RequestHead::new(b"GET", "https", |out| out.extend_from_slice(b"/a?b"), "HTTP/2");
        head.field("Host", b"h:1");
        head.field("User-Agent", b"x");
        head.field("TE", b"gzip, trailers");
        head.field("Connection", b"TE");
        head.line(&[b"X-Own:  a b "]);
        head.line(&[b"X-Odd: a\r\nb: c"]);
        head.end(RequestBody::None);
        let fields = request_fields(&head);
        let text = |(name, value): (&[u8], &[u8])| {
            format!("{}={}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
        };
        let fields: Vec<_> = fields.iter().map(text).collect();
        let wanted = [
            ":method=GET",
            ":scheme=https",
            ":authority=h:1",
            ":path=/a?b",
            "user-agent=x",
            "te=trailers",
            "x-own=a b",
        ];
        assert_eq!(fields, wanted);
    }

    /// curl 8.22 with nghttp2 1.52 sends this head, and refuses it with one byte more.
    #[test]
    fn the_largest_head_over_http2() {
        let mut head = RequestHead::new(b"GET", "http", |out| out.extend_from_slice(b"/x"), "HTTP/2");
        head.field("Host", b"127.0.0.1:18950");
        head.field("User-Agent", b"curl/8.22.0-DEV");
        head.field("Accept", b"*/*");
        head.field("X-A", &[b'v'; 65_345]);
        head.end(RequestBody::None);
        assert_eq!(sent_size(&head), MAX_SENT_HTTP2);
    }
}
