//! SETTINGS (RFC 9114 §7.2.4) of both sides.

use super::error::{ErrorCode, Failure};
use super::{MAX_FIELD_LIST, varint};

mod id {
    pub const QPACK_MAX_TABLE_CAPACITY: u64 = 1;
    pub const MAX_FIELD_SECTION_SIZE: u64 = 6;
    pub const QPACK_BLOCKED_STREAMS: u64 = 7;
    /// RFC 9220 §3.
    pub const ENABLE_CONNECT_PROTOCOL: u64 = 8;
    /// RFC 9297 §2.1.1.
    pub const H3_DATAGRAM: u64 = 0x33;
    /// Settings of HTTP/2 that must not be sent (§7.2.4.1).
    pub const OF_HTTP2: [u64; 4] = [2, 3, 4, 5];
}

/// More in one frame than any peer has to say.
const MOST: usize = 64;

/// The settings of a server, or the defaults until it sends them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerSettings {
    /// How large a list of fields it takes.
    pub max_field_list: u64,
    /// Whether CONNECT with `:protocol` is understood (RFC 9220).
    pub connect_protocol: bool,
    /// Whether datagrams of HTTP are (RFC 9297).
    pub datagrams: bool,
}

impl Default for PeerSettings {
    fn default() -> PeerSettings {
        PeerSettings { max_field_list: u64::MAX, connect_protocol: false, datagrams: false }
    }
}

impl PeerSettings {
    /// Reads a payload. Unknown settings are ignored.
    pub fn parse(mut payload: &[u8]) -> Result<PeerSettings, Failure> {
        let invalid = |why| Failure::connection(ErrorCode::SETTINGS_ERROR, why);
        let mut settings = PeerSettings::default();
        let mut seen = [0u64; MOST];
        let mut count = 0;
        while !payload.is_empty() {
            let (id, value) = pair(&mut payload).ok_or(Failure::frame("SETTINGS of a wrong length"))?;
            if count == MOST {
                return Err(Failure::connection(ErrorCode::EXCESSIVE_LOAD, "too many SETTINGS"));
            }
            if seen[..count].contains(&id) {
                return Err(invalid("a setting twice"));
            }
            (seen[count], count) = (id, count + 1);
            match id {
                id::MAX_FIELD_SECTION_SIZE => settings.max_field_list = value,
                id::ENABLE_CONNECT_PROTOCOL | id::H3_DATAGRAM if value > 1 => {
                    return Err(invalid("a setting is neither 0 nor 1"));
                }
                id::ENABLE_CONNECT_PROTOCOL => settings.connect_protocol = value == 1,
                id::H3_DATAGRAM => settings.datagrams = value == 1,
                id if id::OF_HTTP2.contains(&id) => return Err(invalid("a setting of HTTP/2")),
                _ => {}
            }
        }
        Ok(settings)
    }
}

fn pair(payload: &mut &[u8]) -> Option<(u64, u64)> {
    let (id, used) = varint::read(payload)?;
    let (value, more) = varint::read(&payload[used..])?;
    *payload = &payload[used + more..];
    Some((id, value))
}

/// Returns our settings: no dynamic table (the default, sent explicitly), the limit for lists of fields, and
/// whether HTTP datagrams are supported.
pub fn ours(datagrams: bool) -> Vec<u8> {
    let mut payload = Vec::new();
    let values = [
        (id::QPACK_MAX_TABLE_CAPACITY, 0),
        (id::QPACK_BLOCKED_STREAMS, 0),
        (id::MAX_FIELD_SECTION_SIZE, MAX_FIELD_LIST as u64),
    ];
    for (id, value) in values.into_iter().chain(datagrams.then_some((id::H3_DATAGRAM, 1))) {
        varint::write(&mut payload, id);
        varint::write(&mut payload, value);
    }
    payload
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        for datagrams in [false, true] {
            let settings = PeerSettings::parse(&ours(datagrams)).expect("ours are fine");
            assert_eq!(settings.max_field_list, MAX_FIELD_LIST as u64);
            assert_eq!(settings.datagrams, datagrams);
        }
        let peer = PeerSettings::parse(&[8, 1, 0x33, 1, 0x40, 0x99, 5]).expect("fine");
        assert!(peer.connect_protocol && peer.datagrams);
        assert_eq!(PeerSettings::parse(&[]), Ok(PeerSettings::default()));
    }

    #[test]
    fn forbidden_and_malformed_settings_are_errors() {
        for (payload, code) in [
            (&[6][..], ErrorCode::FRAME_ERROR),
            (&[6, 0x40], ErrorCode::FRAME_ERROR),
            (&[6, 1, 6, 1], ErrorCode::SETTINGS_ERROR),
            (&[2, 0], ErrorCode::SETTINGS_ERROR),
            (&[8, 2], ErrorCode::SETTINGS_ERROR),
        ] {
            assert_eq!(PeerSettings::parse(payload).map_err(|e| e.code), Err(code), "{payload:?}");
        }
        let many: Vec<u8> = (0..65u64).flat_map(|id| [0x7f, id as u8, 0]).collect();
        assert_eq!(PeerSettings::parse(&many).map_err(|e| e.code), Err(ErrorCode::EXCESSIVE_LOAD));
    }
}
