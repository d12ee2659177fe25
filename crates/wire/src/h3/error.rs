//! Error codes (RFC 9114 §8.1, RFC 9204 §6), and the scope of an error.

use std::fmt;

/// An application error code of QUIC. Undefined codes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode(pub u64);

const FIRST: u64 = 0x100;
const NAMES: [&str; 17] = [
    "H3_NO_ERROR",
    "H3_GENERAL_PROTOCOL_ERROR",
    "H3_INTERNAL_ERROR",
    "H3_STREAM_CREATION_ERROR",
    "H3_CLOSED_CRITICAL_STREAM",
    "H3_FRAME_UNEXPECTED",
    "H3_FRAME_ERROR",
    "H3_EXCESSIVE_LOAD",
    "H3_ID_ERROR",
    "H3_SETTINGS_ERROR",
    "H3_MISSING_SETTINGS",
    "H3_REQUEST_REJECTED",
    "H3_REQUEST_CANCELLED",
    "H3_REQUEST_INCOMPLETE",
    "H3_MESSAGE_ERROR",
    "H3_CONNECT_ERROR",
    "H3_VERSION_FALLBACK",
];
const FIRST_QPACK: u64 = 0x200;
const QPACK_NAMES: [&str; 3] =
    ["QPACK_DECOMPRESSION_FAILED", "QPACK_ENCODER_STREAM_ERROR", "QPACK_DECODER_STREAM_ERROR"];

impl ErrorCode {
    pub const NO_ERROR: ErrorCode = ErrorCode(0x100);
    pub const STREAM_CREATION_ERROR: ErrorCode = ErrorCode(0x103);
    pub const CLOSED_CRITICAL_STREAM: ErrorCode = ErrorCode(0x104);
    pub const FRAME_UNEXPECTED: ErrorCode = ErrorCode(0x105);
    pub const FRAME_ERROR: ErrorCode = ErrorCode(0x106);
    pub const EXCESSIVE_LOAD: ErrorCode = ErrorCode(0x107);
    pub const ID_ERROR: ErrorCode = ErrorCode(0x108);
    pub const SETTINGS_ERROR: ErrorCode = ErrorCode(0x109);
    pub const MISSING_SETTINGS: ErrorCode = ErrorCode(0x10a);
    /// The request was not processed and may be sent again.
    pub const REQUEST_REJECTED: ErrorCode = ErrorCode(0x10b);
    pub const REQUEST_CANCELLED: ErrorCode = ErrorCode(0x10c);
    pub const MESSAGE_ERROR: ErrorCode = ErrorCode(0x10e);
    /// Send the request with an older version of HTTP.
    pub const VERSION_FALLBACK: ErrorCode = ErrorCode(0x110);
    pub const QPACK_DECOMPRESSION_FAILED: ErrorCode = ErrorCode(0x200);
    pub const QPACK_ENCODER_STREAM_ERROR: ErrorCode = ErrorCode(0x201);
    pub const QPACK_DECODER_STREAM_ERROR: ErrorCode = ErrorCode(0x202);

    /// Its name; of an unknown one, that it is.
    pub fn name(self) -> &'static str {
        let within = |first: u64, names: &'static [&'static str]| {
            let at = usize::try_from(self.0.checked_sub(first)?).ok()?;
            names.get(at).copied()
        };
        within(FIRST, &NAMES).or_else(|| within(FIRST_QPACK, &QPACK_NAMES)).unwrap_or("unknown")
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How much a fault of the peer's ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Stream,
    Connection,
}

/// A fault of the peer's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    pub scope: Scope,
    pub code: ErrorCode,
    /// In words, for people.
    pub why: &'static str,
}

impl Failure {
    pub(super) fn connection(code: ErrorCode, why: &'static str) -> Failure {
        Failure { scope: Scope::Connection, code, why }
    }

    pub(super) fn message(why: &'static str) -> Failure {
        Failure { scope: Scope::Stream, code: ErrorCode::MESSAGE_ERROR, why }
    }

    pub(super) fn frame(why: &'static str) -> Failure {
        Failure::connection(ErrorCode::FRAME_ERROR, why)
    }

    pub(super) fn unexpected(why: &'static str) -> Failure {
        Failure::connection(ErrorCode::FRAME_UNEXPECTED, why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names() {
        assert_eq!(ErrorCode::NO_ERROR.name(), "H3_NO_ERROR");
        assert_eq!(ErrorCode::VERSION_FALLBACK.name(), "H3_VERSION_FALLBACK");
        assert_eq!(ErrorCode::QPACK_DECODER_STREAM_ERROR.name(), "QPACK_DECODER_STREAM_ERROR");
        for unknown in [0, 0xff, 0x111, 0x203, u64::MAX] {
            assert_eq!(ErrorCode(unknown).name(), "unknown");
        }
    }
}
