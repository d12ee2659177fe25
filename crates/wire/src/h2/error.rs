//! Error codes (RFC 9113 §7), and connection errors.

use std::fmt;

/// A code of RST_STREAM and GOAWAY. Undefined codes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode(pub u32);

const NAMES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

impl ErrorCode {
    pub const NO_ERROR: ErrorCode = ErrorCode(0);
    pub const PROTOCOL_ERROR: ErrorCode = ErrorCode(1);
    pub const INTERNAL_ERROR: ErrorCode = ErrorCode(2);
    pub const FLOW_CONTROL_ERROR: ErrorCode = ErrorCode(3);
    pub const STREAM_CLOSED: ErrorCode = ErrorCode(5);
    pub const FRAME_SIZE_ERROR: ErrorCode = ErrorCode(6);
    pub const REFUSED_STREAM: ErrorCode = ErrorCode(7);
    pub const CANCEL: ErrorCode = ErrorCode(8);
    pub const COMPRESSION_ERROR: ErrorCode = ErrorCode(9);
    pub const ENHANCE_YOUR_CALM: ErrorCode = ErrorCode(11);
    pub const HTTP_1_1_REQUIRED: ErrorCode = ErrorCode(13);

    /// Its name; of an unknown one, that it is.
    pub fn name(self) -> &'static str {
        NAMES.get(self.0 as usize).copied().unwrap_or("unknown")
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a session ended: an error of the peer, which is reported to it in a GOAWAY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    pub code: ErrorCode,
    /// In words, for people.
    pub why: &'static str,
}

impl Failure {
    pub(super) fn new(code: ErrorCode, why: &'static str) -> Failure {
        Failure { code, why }
    }

    pub(super) fn protocol(why: &'static str) -> Failure {
        Failure::new(ErrorCode::PROTOCOL_ERROR, why)
    }

    pub(super) fn size(why: &'static str) -> Failure {
        Failure::new(ErrorCode::FRAME_SIZE_ERROR, why)
    }

    pub(super) fn flow(why: &'static str) -> Failure {
        Failure::new(ErrorCode::FLOW_CONTROL_ERROR, why)
    }
}
