//! CURLOPT_CONNECT_ONLY 2: the application receives and sends frames itself (curl_ws_recv.md,
//! curl_ws_send.md), and each call tries once.

use tables::Code;

use super::decide::unaligned;
use super::{Frame, Pings, WebSocket};
use crate::error::{Error, Result};
use crate::own_connection::OwnConnection;

/// So much is received at once, and made ready to be sent.
const CHUNK: usize = 64 * 1024;

/// State between the calls.
#[derive(Default)]
pub struct ManualFrames {
    /// Received bytes that were not parsed, from `at` on.
    received: Vec<u8>,
    at: usize,
    /// Whether the application does not know yet that a frame, or a part of it, has been sent.
    sending: bool,
    /// Amount of payload at the end of the queue that the application will pass again.
    unreported: usize,
}

impl ManualFrames {
    /// Returns whether nothing may be queued.
    pub fn is_sending(&self) -> bool {
        self.sending
    }

    /// Receives if nothing is left of earlier input.
    fn fill(&mut self, on: &mut OwnConnection) -> Result<()> {
        (self.received, self.at) = (vec![0; CHUNK], 0);
        let got = on.receive(&mut self.received);
        self.received.truncate(got.unwrap_or(0));
        match got {
            Ok(0) => Err(Error::new(Code::GotNothing, "[WS] connection closed")),
            Ok(_) => Ok(()),
            Err(code) => {
                self.received = Vec::new();
                Err(Error::from(code))
            }
        }
    }
}

impl WebSocket {
    /// Passes the connection to the application; `early` are bytes received after the reply's head.
    pub fn by_hand(self, early: Vec<u8>) -> WebSocket {
        WebSocket { hand: Some(ManualFrames { received: early, ..ManualFrames::default() }), ..self }
    }

    /// Whether the application has the connection.
    pub fn is_by_hand(&self) -> bool {
        self.hand.is_some()
    }

    /// Receives payload of one frame into `buf`. Without room the frame is reported, and its payload stays.
    pub fn receive(&mut self, on: &mut OwnConnection, buf: &mut [u8], pings: Pings) -> Result<Frame> {
        let mut shown: Option<Frame> = None;
        loop {
            if self.hand().received.len() == self.hand().at && !self.has_more() {
                if shown.is_some() {
                    break;
                }
                self.hand().fill(on)?;
            }
            // Taken out while it is parsed.
            let received = std::mem::take(&mut self.hand().received);
            let input = &received[self.hand().at..];
            let had = shown.map_or(0, |frame| frame.len);
            let next = self.next(input, buf.len() - had, pings);
            if let Ok((_, Some((piece, payload)))) = &next {
                let frame = shown.get_or_insert(Frame { len: 0, ..*piece });
                let payload = payload.bytes(input);
                buf[had..had + payload.len()].copy_from_slice(payload);
                (frame.len, frame.bytes_left) = (had + payload.len(), piece.bytes_left);
            }
            self.hand().received = received;
            self.hand().at += next?.0;
            if shown.is_some_and(|frame| frame.bytes_left == 0 || frame.len == buf.len()) {
                break;
            }
        }
        let _ = self.flush(on); // replies to pings
        self.shown = shown.unwrap_or_default();
        Ok(self.shown)
    }

    /// Sends a frame, or the next part of one; returns how much of the payload was sent. The rest has to be
    /// passed again.
    pub fn send(&mut self, on: &mut OwnConnection, bytes: &[u8], fragment: i64, flags: u32) -> Result<usize> {
        if self.hand().sending || self.frame_left() > 0 {
            self.check_rest(bytes.len())?;
        } else {
            self.flush(on)?;
            self.begin_with(bytes.len(), fragment, flags)?;
        }
        self.hand().sending = true;
        let (mut accepted, mut rest) = (0, bytes);
        loop {
            let unreported = self.hand().unreported;
            let room = CHUNK.saturating_sub(self.waiting());
            let more = self.payload(&rest[unreported..(unreported + room).min(rest.len())])?;
            self.hand().unreported += more;
            match self.flush(on) {
                Ok(()) => {
                    let sent = std::mem::take(&mut self.hand().unreported);
                    (accepted, rest) = (accepted + sent, &rest[sent..]);
                }
                Err(blocked) if blocked.code() == Code::Again => {
                    // Compressed data is reported when all of it has been sent.
                    let waiting = if self.compresses() { usize::MAX } else { self.waiting() };
                    let gone = self.hand().unreported.saturating_sub(waiting);
                    self.hand().unreported -= gone;
                    accepted += gone;
                    return if accepted > 0 { Ok(accepted) } else { Err(blocked) };
                }
                Err(failed) => return Err(failed),
            }
            if rest.is_empty() {
                self.hand().sending = false;
                self.answer()?;
                let _ = self.flush(on);
                return Ok(accepted);
            }
        }
    }

    /// Bytes of the application's own making, behind all that waits.
    pub fn send_raw(&mut self, on: &mut OwnConnection, bytes: &[u8]) -> Result<usize> {
        self.flush(on)?;
        if bytes.is_empty() { Ok(0) } else { on.send(bytes).map_err(Error::from) }
    }

    /// Checks that the rest of the frame may have this length.
    fn check_rest(&mut self, len: usize) -> Result<()> {
        let unreported = self.hand().unreported;
        let most = self.frame_left() + unreported as u64;
        if len < unreported {
            let text = format!("[WS] only {len} bytes of the {unreported} that wait were given again");
            return Err(Error::new(Code::BadFunctionArgument, text));
        }
        if len as u64 > most { Err(unaligned(len, most)) } else { Ok(()) }
    }

    fn flush(&mut self, on: &mut OwnConnection) -> Result<()> {
        while self.waiting() > 0 {
            match on.send(&self.out[self.sent..]) {
                Ok(0) => return Err(Error::from(Code::Again)),
                Ok(n) => self.mark_sent(n),
                Err(code) => return Err(Error::from(code)),
            }
        }
        Ok(())
    }

    fn hand(&mut self) -> &mut ManualFrames {
        self.hand.get_or_insert_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::constant::CURLWS_BINARY;

    #[test]
    fn blocked_data_must_be_passed_again() {
        // The frame wants five more octets; two of those that were given have not left.
        let mut ws = WebSocket::default().by_hand(Vec::new());
        ws.begin(CURLWS_BINARY as u32, 5).unwrap();
        ws.hand().unreported = 2;
        let bad = Err(Code::BadFunctionArgument);
        let rows = [
            ("curl_ws_send(3): fewer than wait", 1, bad),
            ("curl_ws_send(3): those that wait", 2, Ok(())),
            ("curl_ws_send(3): all of the rest", 7, Ok(())),
            ("curl_ws_send(3): more than the frame has", 8, bad),
        ];
        for (name, len, wanted) in rows {
            assert_eq!(ws.check_rest(len).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn a_pong_waits_while_a_frame_is_sent() {
        let mut ws = WebSocket::default().by_hand(Vec::new());
        ws.hand().sending = true;
        ws.next(b"\x89\x01p", 9, Pings::Answered).unwrap();
        assert_eq!(ws.waiting(), 0, "RFC 6455 §5.4: frames are not interleaved");
        ws.hand().sending = false;
        ws.answer().unwrap();
        assert_eq!(ws.waiting(), 7, "RFC 6455 §5.5.3: then it is sent");
    }
}
