//! Decisions about frames that the application starts (curl_ws_send(3), curl_ws_start_frame(3)).

use tables::Code;
use tables::constant::{
    CURLWS_BINARY, CURLWS_CLOSE, CURLWS_CONT, CURLWS_OFFSET, CURLWS_PING, CURLWS_PONG, CURLWS_TEXT,
};
use wire::ws::{Kind, MAX_CONTROL};

use crate::error::{Error, Result};

/// Returns the CURLWS_* bit of a kind.
pub const fn bit(kind: Kind) -> i32 {
    match kind {
        Kind::Text => CURLWS_TEXT,
        Kind::Binary => CURLWS_BINARY,
        Kind::Close => CURLWS_CLOSE,
        Kind::Ping => CURLWS_PING,
        Kind::Pong => CURLWS_PONG,
    }
}

/// Returns the kind of frame that these bits ask for, and whether it ends its message. `in_message` says that
/// a message has begun.
pub fn kind(flags: u32, in_message: bool) -> Result<(Kind, bool)> {
    let bits = flags as i32 & !CURLWS_OFFSET;
    let last = bits & CURLWS_CONT == 0;
    let kinds = [Kind::Text, Kind::Binary, Kind::Close, Kind::Ping, Kind::Pong];
    let kind = kinds.into_iter().find(|kind| bit(*kind) == bits & !CURLWS_CONT);
    let bad = |text: String| Err(Error::new(Code::BadFunctionArgument, text));
    match kind {
        Some(kind) if kind.is_control() && !last => {
            bad(format!("[WS] {} frame must not be fragmented", kind.name()))
        }
        Some(kind) => Ok((kind, last)),
        // A later fragment has the type of its message.
        None if bits & !CURLWS_CONT == 0 && in_message => Ok((Kind::Binary, last)),
        None if bits == 0 => bad("[WS] no flags given".to_owned()),
        None if bits == CURLWS_CONT => bad("[WS] No ongoing fragmented message to continue".to_owned()),
        None => bad(format!("[WS] unknown flags: {flags:x}")),
    }
}

/// Returns the length of a frame that may start; `left` bytes of the previous one are still missing.
pub fn length(length: i64, left: u64) -> Result<u64> {
    let Ok(length) = u64::try_from(length) else {
        let text = format!("[WS] starting new frame with negative payload length {length}");
        return Err(Error::new(Code::SendError, text));
    };
    if left > 0 {
        let text = format!("[WS] starting new frame with {left} bytes from last one remaining to be sent");
        return Err(Error::new(Code::SendError, text));
    }
    Ok(length)
}

/// Fails for a control frame that is too long (RFC 6455 §5.5).
pub fn check_control(kind: Kind, length: u64) -> Result<()> {
    match kind.is_control() && length > MAX_CONTROL {
        true => Err(Error::new(Code::TooLarge, format!("[WS] given {} frame is too big", kind.name()))),
        false => Ok(()),
    }
}

/// Returns the length of the frame that starts with a piece of `len` bytes: the piece is the frame, or with
/// CURLWS_OFFSET the first part of `fragment` bytes.
pub fn whole_length(len: usize, fragment: i64, flags: u32) -> Result<i64> {
    let whole = flags as i32 & CURLWS_OFFSET == 0;
    let length = if whole { len as i64 } else { fragment };
    match length {
        0.. if (length as u64) < len as u64 => Err(unaligned(len, length as u64)),
        _ => Ok(length),
    }
}

/// Returns the error for more payload than a frame has room for.
pub fn unaligned(len: usize, room: u64) -> Error {
    Error::new(
        Code::BadFunctionArgument,
        format!("[WS] unaligned frame size (sending {len} instead of {room})"),
    )
}

/// The end of a WebSocket on a stream of HTTP/2, which no connection's end marks.
#[derive(Clone, Copy, Debug)]
pub struct Goodbye {
    /// The frames go over a stream.
    pub on_stream: bool,
    /// A close frame was sent.
    pub said: bool,
    /// A close frame has arrived.
    pub heard: bool,
    /// Bytes wait to be sent.
    pub waiting: bool,
    /// A frame that was begun is not complete.
    pub unfinished: bool,
}

/// Returns whether nothing more is sent or received.
pub fn is_over(f: &Goodbye) -> bool {
    f.on_stream && f.said && f.heard && !f.waiting && !f.unfinished
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        let (text, binary, cont) = (CURLWS_TEXT, CURLWS_BINARY, CURLWS_CONT);
        let bad = Err(Code::BadFunctionArgument);
        let rows = [
            ("RFC 6455 §5.6: text", text, false, Ok((Kind::Text, true))),
            ("RFC 6455 §5.6: binary", binary, false, Ok((Kind::Binary, true))),
            ("RFC 6455 §5.4: the first fragment", text | cont, false, Ok((Kind::Text, false))),
            ("RFC 6455 §5.4: a fragment in between", cont, true, Ok((Kind::Binary, false))),
            ("RFC 6455 §5.4: the last fragment", 0, true, Ok((Kind::Binary, true))),
            ("RFC 6455 §5.5.1: close", CURLWS_CLOSE, false, Ok((Kind::Close, true))),
            ("RFC 6455 §5.5.2: a ping between fragments", CURLWS_PING, true, Ok((Kind::Ping, true))),
            ("RFC 6455 §5.5.3: pong", CURLWS_PONG, false, Ok((Kind::Pong, true))),
            ("RFC 6455 §5.5: control frames are whole", CURLWS_PING | cont, false, bad),
            ("RFC 6455 §5.5: a close frame, too", CURLWS_CLOSE | cont, false, bad),
            ("RFC 6455 §5.4: nothing to continue", cont, false, bad),
            ("curl_ws_send(3): no flags", 0, false, bad),
            ("curl_ws_send(3): two kinds", text | binary, false, bad),
            (
                "curl_ws_send(3): CURLWS_OFFSET is about lengths",
                text | CURLWS_OFFSET,
                false,
                Ok((Kind::Text, true)),
            ),
        ];
        for (name, flags, in_message, wanted) in rows {
            assert_eq!(kind(flags as u32, in_message).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn lengths() {
        let rows = [
            ("curl_ws_start_frame(3): empty", (0, 0), Ok(0)),
            ("curl_ws_start_frame(3): of any length", (i64::MAX, 0), Ok(i64::MAX as u64)),
            ("curl_ws_start_frame(3): negative", (-1, 0), Err(Code::SendError)),
            ("curl_ws_start_frame(3): the one before is not complete", (5, 1), Err(Code::SendError)),
        ];
        for (name, (given, left), wanted) in rows {
            assert_eq!(length(given, left).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn control_frames() {
        let rows = [
            ("RFC 6455 §5.5: 125 octets", Kind::Ping, 125, Ok(())),
            ("RFC 6455 §5.5: one more", Kind::Ping, 126, Err(Code::TooLarge)),
            ("RFC 6455 §5.5.1: a reason that is too long", Kind::Close, 126, Err(Code::TooLarge)),
            ("RFC 6455 §5.6: data has no limit", Kind::Text, 1 << 40, Ok(())),
        ];
        for (name, kind, length, wanted) in rows {
            assert_eq!(check_control(kind, length).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn first_pieces() {
        let offset = CURLWS_OFFSET;
        let rows = [
            ("curl_ws_send(3): the piece is the frame", (5, 0, 0), Ok(5)),
            ("curl_ws_send(3): fragsize counts with CURLWS_OFFSET alone", (5, 9, 0), Ok(5)),
            ("curl_ws_send(3): a part of a larger frame", (5, 9, offset), Ok(9)),
            ("curl_ws_send(3): all of it", (5, 5, offset), Ok(5)),
            ("curl_ws_send(3): more than the frame has", (5, 4, offset), Err(Code::BadFunctionArgument)),
            ("curl_ws_send(3): a negative length is refused when the frame begins", (5, -1, offset), Ok(-1)),
        ];
        for (name, (len, fragment, flags), wanted) in rows {
            assert_eq!(whole_length(len, fragment, flags as u32).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn goodbyes() {
        let both = Goodbye { on_stream: true, said: true, heard: true, waiting: false, unfinished: false };
        let rows = [
            ("RFC 8441 §5: both have said goodbye", both, true),
            (
                "RFC 6455 §7.1.1: the server closes the connection",
                Goodbye { on_stream: false, ..both },
                false,
            ),
            ("RFC 6455 §7.1.2: the server has not", Goodbye { heard: false, ..both }, false),
            ("RFC 6455 §5.5.1: the answer is still to be sent", Goodbye { said: false, ..both }, false),
            ("RFC 6455 §5.5.1: it waits", Goodbye { waiting: true, ..both }, false),
            ("RFC 6455 §5.4: a frame is not complete", Goodbye { unfinished: true, ..both }, false),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(is_over(&facts), wanted, "{name}");
        }
    }
}
