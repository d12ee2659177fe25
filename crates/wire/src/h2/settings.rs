//! SETTINGS (RFC 9113 §6.5) of both sides.

use super::error::{ErrorCode, Failure};
use super::frame::{USUAL_PAYLOAD, whole_number};
use super::window::LARGEST;

mod id {
    pub const HEADER_TABLE_SIZE: u16 = 1;
    pub const ENABLE_PUSH: u16 = 2;
    pub const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub const INITIAL_WINDOW_SIZE: u16 = 4;
    pub const MAX_FRAME_SIZE: u16 = 5;
    /// RFC 8441 §3.
    pub const ENABLE_CONNECT_PROTOCOL: u16 = 8;
}

/// Bytes of one setting.
const SETTING: usize = 6;
/// Most settings in one frame: no peer needs more, and each costs time.
const MOST: usize = 64;

/// The settings of a server, or the defaults until it sends them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerSettings {
    pub header_table_size: usize,
    /// How many streams of ours may be open at once.
    pub max_concurrent_streams: usize,
    /// Initial send window of a stream.
    pub initial_window: u32,
    pub max_frame: usize,
    /// Whether CONNECT with `:protocol` is understood (RFC 8441).
    pub connect_protocol: bool,
}

impl Default for PeerSettings {
    fn default() -> PeerSettings {
        PeerSettings {
            header_table_size: 4096,
            // By RFC 9113 §6.5.2 there is no limit until one is received, and none below this is recommended.
            max_concurrent_streams: 100,
            initial_window: 65_535,
            max_frame: USUAL_PAYLOAD,
            connect_protocol: false,
        }
    }
}

impl PeerSettings {
    /// Takes in a payload. Unknown settings are ignored.
    pub fn apply(&mut self, payload: &[u8]) -> Result<(), Failure> {
        if !payload.len().is_multiple_of(SETTING) {
            return Err(Failure::size("SETTINGS of a wrong length"));
        }
        if payload.len() > MOST * SETTING {
            return Err(Failure::new(ErrorCode::ENHANCE_YOUR_CALM, "too many SETTINGS in a frame"));
        }
        for setting in payload.chunks_exact(SETTING) {
            self.set(u16::from_be_bytes([setting[0], setting[1]]), whole_number(setting, 2))?;
        }
        Ok(())
    }

    /// Whether a server can have sent these.
    pub(super) fn is_valid(&self) -> bool {
        let fits = |size: usize| u32::try_from(size).is_ok();
        fits(self.header_table_size)
            && fits(self.max_concurrent_streams)
            && self.initial_window <= LARGEST
            && (USUAL_PAYLOAD..1 << 24).contains(&self.max_frame)
    }

    fn set(&mut self, id: u16, value: u32) -> Result<(), Failure> {
        match id {
            id::HEADER_TABLE_SIZE => self.header_table_size = value as usize,
            // A server may only send 0 (RFC 9113 §6.5.2).
            id::ENABLE_PUSH if value != 0 => return Err(Failure::protocol("a server enables push")),
            id::MAX_CONCURRENT_STREAMS => self.max_concurrent_streams = value as usize,
            id::INITIAL_WINDOW_SIZE if value > LARGEST => {
                return Err(Failure::flow("SETTINGS_INITIAL_WINDOW_SIZE too large"));
            }
            id::INITIAL_WINDOW_SIZE => self.initial_window = value,
            id::MAX_FRAME_SIZE if !(USUAL_PAYLOAD as u32..1 << 24).contains(&value) => {
                return Err(Failure::protocol("SETTINGS_MAX_FRAME_SIZE out of range"));
            }
            id::MAX_FRAME_SIZE => self.max_frame = value as usize,
            id::ENABLE_CONNECT_PROTOCOL if value > 1 || (value == 0 && self.connect_protocol) => {
                return Err(Failure::protocol("SETTINGS_ENABLE_CONNECT_PROTOCOL out of range"));
            }
            id::ENABLE_CONNECT_PROTOCOL => self.connect_protocol = value == 1,
            _ => {}
        }
        Ok(())
    }
}

/// Our settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// How many streams a server may push at once.
    pub max_concurrent_streams: u32,
    /// Bytes that a server may send on a stream before any of it is consumed, up to 2^31 - 1.
    pub initial_window: u32,
    /// Maximum of that window, which grows while everything is consumed.
    pub max_window: u32,
    /// The window for all streams together.
    pub connection_window: u32,
    /// Whether a server may push.
    pub push: bool,
    /// Largest list of fields accepted (RFC 9113 §6.5.2). It is not announced: a server that knew it would
    /// send an error of its own in place of the fields.
    pub max_field_list: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            max_concurrent_streams: 100,
            initial_window: 64 << 10,
            max_window: 10 << 20,
            connection_window: 1000 << 20,
            push: false,
            max_field_list: 384 << 10,
        }
    }
}

impl Config {
    /// Whether flow control allows the windows. A list of fields is longer than any server needs at 16 MB.
    pub(super) fn is_valid(&self) -> bool {
        const LONGEST_LIST: usize = 16 << 20;
        let windows = [self.initial_window, self.max_window, self.connection_window];
        windows.into_iter().all(|window| window <= LARGEST) && self.max_field_list <= LONGEST_LIST
    }

    /// The payload of our SETTINGS. Its order is curl's, since the upgrade shows it in the request.
    pub fn payload(&self) -> Vec<u8> {
        [
            (id::MAX_CONCURRENT_STREAMS, self.max_concurrent_streams),
            (id::INITIAL_WINDOW_SIZE, self.initial_window),
            (id::ENABLE_PUSH, u32::from(self.push)),
        ]
        .iter()
        .flat_map(|(id, value)| id.to_be_bytes().into_iter().chain(value.to_be_bytes()))
        .collect()
    }

    /// The value of `HTTP2-Settings` in a request that asks for the upgrade (RFC 7540 §3.2.1).
    pub fn upgrade_value(&self) -> String {
        crate::base64::encode_url(&self.payload())
    }
}

/// The largest HEADER_TABLE_SIZE that a server may use with us: the default, since we announce no other.
pub(super) const OUR_HEADER_TABLE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(id: u16, value: u32) -> Vec<u8> {
        [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()
    }

    #[test]
    fn the_value_of_an_upgrade_is_curls() {
        assert_eq!(Config::default().upgrade_value(), "AAMAAABkAAQAAQAAAAIAAAAA");
    }

    #[test]
    fn settings_are_taken_in_and_judged() {
        let mut peer = PeerSettings::default();
        let all =
            [setting(3, 7), setting(4, 0), setting(5, 1 << 20), setting(8, 1), setting(99, 1), setting(2, 0)];
        peer.apply(&all.concat()).unwrap();
        assert_eq!((peer.max_concurrent_streams, peer.initial_window, peer.max_frame), (7, 0, 1 << 20));
        assert!(peer.connect_protocol);
        for (id, value, code) in [
            (2, 1, ErrorCode::PROTOCOL_ERROR),
            (4, 1 << 31, ErrorCode::FLOW_CONTROL_ERROR),
            (5, 16_383, ErrorCode::PROTOCOL_ERROR),
            (5, 1 << 24, ErrorCode::PROTOCOL_ERROR),
            (8, 2, ErrorCode::PROTOCOL_ERROR),
            (8, 0, ErrorCode::PROTOCOL_ERROR),
        ] {
            assert_eq!(peer.apply(&setting(id, value)).unwrap_err().code, code, "{id} {value}");
        }
        assert_eq!(peer.apply(&[0; 5]).unwrap_err().code, ErrorCode::FRAME_SIZE_ERROR);
        assert_eq!(peer.apply(&setting(3, 1).repeat(65)).unwrap_err().code, ErrorCode::ENHANCE_YOUR_CALM);
    }
}
