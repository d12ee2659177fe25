//! Output (RFC 9114 §4.1, §6.2, §7.2): heads and trailers as frames, the header of a piece of body, and the
//! streams of the connection.

use super::{Field, kind, qpack, settings, stream_kind, varint};

/// Appends a request's head, pseudo-fields first, or the fields behind a body; letters of names become lower
/// case.
pub fn headers<'a>(out: &mut Vec<u8>, fields: impl IntoIterator<Item = Field<'a>>) {
    let mut payload = Vec::with_capacity(256);
    let mut lower = Vec::new();
    qpack::begin(&mut payload);
    for Field { name, value, sensitive } in fields {
        lower.clear();
        lower.extend(name.iter().map(u8::to_ascii_lowercase));
        qpack::field(&mut payload, &lower, value, sensitive);
    }
    frame(out, kind::HEADERS, &payload);
}

/// Appends the frame header for that many bytes of body.
pub fn data_header(out: &mut Vec<u8>, len: usize) {
    varint::write(out, kind::DATA);
    varint::write(out, len as u64);
}

/// The first bytes of each unidirectional stream of ours: control with SETTINGS, which say whether datagrams
/// of HTTP are taken, and the two of header compression.
pub fn control_stream(datagrams: bool) -> [Vec<u8>; 3] {
    let mut control = Vec::new();
    varint::write(&mut control, stream_kind::CONTROL);
    frame(&mut control, kind::SETTINGS, &settings::ours(datagrams));
    [control, vec![stream_kind::QPACK_ENCODER as u8], vec![stream_kind::QPACK_DECODER as u8]]
}

/// Appends a goodbye for the control stream: no push is taken, the last one of none (§5.2).
pub fn go_away(out: &mut Vec<u8>) {
    frame(out, kind::GOAWAY, &[0]);
}

/// Appends another priority of a request, for the control stream (RFC 9218 §7.2).
pub fn priority_update(out: &mut Vec<u8>, request: u64, value: &str) {
    let mut payload = Vec::new();
    varint::write(&mut payload, request);
    payload.extend_from_slice(value.as_bytes());
    frame(out, kind::PRIORITY_UPDATE, &payload);
}

fn frame(out: &mut Vec<u8>, kind: u64, payload: &[u8]) {
    varint::write(out, kind);
    varint::write(out, payload.len() as u64);
    out.extend_from_slice(payload);
}
