//! WebSocket extensions beyond curl (`warmwire_websocket`, WARMWIRE_WS).

use runtime::{LockFreeOnce, environment};
use tables::environment::WS;
use wire::ws::deflate::{MAX_WINDOW, MIN_WINDOW, Offer};

/// Bits of `warmwire_websocket` (include/curl/warmwire.h).
const DEFLATE: i64 = 1;
const FORGET: i64 = 2;
const HTTP2: i64 = 4;
/// Position of the window's number of bits, or 0.
const WINDOW: u32 = 8;

/// Which of a WebSocket's extensions a handle may use. curl's are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebSocketOptions {
    /// Messages may be compressed (RFC 7692), and how.
    pub deflate: Option<Offer>,
    /// A stream of HTTP/2 may carry it (RFC 8441).
    pub http2: bool,
}

impl WebSocketOptions {
    /// Returns the options with these bits in C.
    pub fn from_number(number: i64) -> Option<WebSocketOptions> {
        let (bits, window) = (number & ((1 << WINDOW) - 1), number >> WINDOW);
        let window = match window {
            0 => MAX_WINDOW,
            window => u8::try_from(window).ok().filter(|bits| (MIN_WINDOW..=MAX_WINDOW).contains(bits))?,
        };
        if bits & !(DEFLATE | FORGET | HTTP2) != 0 {
            return None;
        }
        let offer = Offer { forgets: bits & FORGET != 0, window };
        Some(WebSocketOptions { deflate: (bits & DEFLATE != 0).then_some(offer), http2: bits & HTTP2 != 0 })
    }

    /// Returns the options with these names in the environment, separated by commas.
    fn from_words(words: &str) -> WebSocketOptions {
        let bit = |word: &str| match word.trim() {
            "deflate" => DEFLATE,
            "forget" => FORGET,
            "http2" => HTTP2,
            _ => 0,
        };
        WebSocketOptions::from_number(words.split(',').map(bit).fold(0, |bits, bit| bits | bit))
            .unwrap_or_default()
    }

    /// Returns the default from the environment; read once.
    pub(crate) fn of_process() -> WebSocketOptions {
        static WORDS: LockFreeOnce<WebSocketOptions> = LockFreeOnce::new();
        *WORDS.get(|| {
            let words = environment::text(&WS).unwrap_or_default();
            WebSocketOptions::from_words(&words)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_number_and_by_name() {
        let offer = |forgets, window| Some(Offer { forgets, window });
        let all = WebSocketOptions { deflate: offer(true, 10), http2: true };
        assert_eq!(WebSocketOptions::from_number(7 | 10 << 8), Some(all));
        assert_eq!(WebSocketOptions::from_number(0), Some(WebSocketOptions::default()));
        assert_eq!(WebSocketOptions::from_number(2), Some(WebSocketOptions::default()));
        for wrong in [8, 1 | 7 << 8, 1 | 16 << 8, -1, i64::MAX] {
            assert_eq!(WebSocketOptions::from_number(wrong), None, "{wrong}");
        }
        assert_eq!(
            WebSocketOptions::from_words("deflate"),
            WebSocketOptions { deflate: offer(false, 15), http2: false }
        );
        assert_eq!(WebSocketOptions::from_words("http2, deflate").deflate, offer(false, 15));
        assert_eq!(WebSocketOptions::from_words(""), WebSocketOptions::default());
    }
}
