//! curl_ws_recv, curl_ws_send, curl_ws_start_frame and curl_ws_meta, without C.

use tables::constant::{CURLWS_NOAUTOPONG, CURLWS_RAW_MODE};
use tables::{Code, EasyOption as O};

use super::decide::unaligned;
use super::{Frame, Pings, WebSocket};
use crate::easy::{Easy, EasyState};
use crate::error::{Error, Result};
use crate::own_connection::OwnConnection;

/// Maximum amount sent from outside of callbacks that is buffered; beyond it the caller must wait.
const WAITS: usize = 64 * 1024;

impl EasyState {
    /// CURLWS_RAW_MODE: frames are the application's own business.
    pub fn ws_raw(&self) -> bool {
        self.settings.borrow().long(O::WsOptions) & i64::from(CURLWS_RAW_MODE) != 0
    }

    /// Returns who answers pings.
    pub fn ws_pings(&self) -> Pings {
        let bits = i64::from(CURLWS_NOAUTOPONG | CURLWS_RAW_MODE);
        if self.settings.borrow().long(O::WsOptions) & bits == 0 { Pings::Answered } else { Pings::Shown }
    }

    /// Whether both have said goodbye, where that is the end.
    pub(crate) fn ws_is_over(&self) -> bool {
        self.websocket.borrow().as_ref().is_some_and(|ws| ws.is_over())
    }

    /// Ends the WebSocket with the transfer, unless the application uses it itself.
    pub(crate) fn leave_websocket(&self) {
        let by_hand = self.websocket.borrow().as_ref().is_none_or(|ws| ws.is_by_hand());
        if !by_hand {
            drop(self.websocket.take());
        }
    }
}

impl Easy {
    /// Receives payload of one frame on a connection that the application uses itself (curl_ws_recv.md).
    /// [`Code::Again`] if nothing has arrived, [`Code::GotNothing`] at the end of the connection.
    pub fn ws_receive(&self, buf: &mut [u8]) -> Result<Frame, Code> {
        let pings = self.state().ws_pings();
        self.with_error_text(|| {
            self.by_hand(|ws, on| ws.receive(on, buf, pings)).unwrap_or_else(|| Err(self.nowhere()))
        })
    }

    /// Sends a frame, or a part of one (curl_ws_send.md). Returns how much payload was sent or, in a running
    /// transfer, was queued.
    pub fn ws_send(&self, bytes: &[u8], fragment: i64, flags: u32) -> Result<usize, Code> {
        let raw = self.state().ws_raw();
        if raw && (fragment != 0 || flags != 0) {
            let text = "[WS] fragsize and flags must be zero in raw mode";
            return self.with_error_text(|| Err(Error::new(Code::BadFunctionArgument, text)));
        }
        let own = self.by_hand(|ws, on| match raw {
            true => ws.send_raw(on, bytes),
            false => ws.send(on, bytes, fragment, flags),
        });
        self.with_error_text(|| own.unwrap_or_else(|| self.send_beside(bytes, fragment, flags, raw)))
    }

    /// Starts a frame in a read callback, which then provides its payload (curl_ws_start_frame.md).
    pub fn ws_start_frame(&self, flags: u32, length: i64) -> Result<(), Code> {
        if self.state().ws_raw() {
            let text = "cannot curl_ws_start_frame() with CURLWS_RAW_MODE enabled";
            return self.with_error_text(|| Err(Error::new(Code::FailedInit, text)));
        }
        self.with_error_text(|| {
            let mut ws = self.state().websocket.borrow_mut();
            let ws = ws.as_mut().ok_or_else(|| self.not_connected())?;
            if ws.is_by_hand() {
                return Err(Error::new(Code::SendError, "[WS] no read callback to fill a frame"));
            }
            if ws.frame_left() > 0 {
                return Err(Error::new(Code::SendError, "[WS] previous frame not finished"));
            }
            ws.begin(flags, length)
        })
    }

    /// Returns the frame of which the write callback has a piece (curl_ws_meta.md); `None` outside of
    /// callbacks and in raw mode.
    pub fn ws_meta(&self) -> Option<Frame> {
        let inside = self.multi().is_some_and(|multi| multi.in_run());
        let shown = self.state().websocket.borrow().as_ref().map(|ws| ws.shown);
        shown.filter(|_| inside && !self.state().ws_raw())
    }

    /// Runs `f` when the application has the connection.
    fn by_hand<R>(&self, f: impl FnOnce(&mut WebSocket, &mut OwnConnection) -> R) -> Option<R> {
        let mut ws = self.state().websocket.borrow_mut();
        let mut on = self.state().connected.borrow_mut();
        Some(f(ws.as_mut().filter(|ws| ws.is_by_hand())?, on.as_mut()?))
    }

    /// Sends in a running transfer. What a callback sends is buffered until the callback has returned.
    fn send_beside(&self, bytes: &[u8], fragment: i64, flags: u32, raw: bool) -> Result<usize> {
        let multi = self.multi();
        let inside = multi.as_ref().is_some_and(|multi| multi.in_run());
        let waker = {
            let mut ws = self.state().websocket.borrow_mut();
            let ws = ws.as_mut().filter(|ws| !ws.is_by_hand()).ok_or_else(|| self.not_connected())?;
            if !inside && ws.waiting() >= WAITS {
                return Err(Error::from(Code::Again));
            }
            ws.add(bytes, fragment, flags, raw)?;
            ws.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        if let Some(multi) = multi.filter(|_| !inside) {
            multi.report_changes();
        }
        Ok(bytes.len())
    }

    /// Returns why nothing can be received.
    fn nowhere(&self) -> Error {
        if !self.state().settings.borrow().on(O::ConnectOnly) {
            return Error::new(Code::UnsupportedProtocol, "[WS] CONNECT_ONLY is required");
        }
        let text = match self.state().connected.borrow().is_some() {
            true => "[WS] connection is not setup for websocket",
            false => "[WS] connection not found",
        };
        Error::new(Code::BadFunctionArgument, text)
    }

    /// Returns why nothing can be sent.
    fn not_connected(&self) -> Error {
        let connected = self.state().connected.borrow().is_some() || self.in_transfer();
        let text = if connected { "[WS] Not a websocket transfer" } else { "[WS] No associated connection" };
        Error::new(Code::SendError, text)
    }

    /// Copies a failure's text to the application's buffer; having to wait is not a failure.
    fn with_error_text<R>(&self, f: impl FnOnce() -> Result<R>) -> Result<R, Code> {
        f().map_err(|error| {
            if error.code() != Code::Again {
                self.state().set_message(&error.to_string());
            }
            error.code()
        })
    }
}

impl WebSocket {
    /// Queues a frame, or the next part of one.
    fn add(&mut self, bytes: &[u8], fragment: i64, flags: u32, raw: bool) -> Result<()> {
        if raw {
            self.raw(bytes);
            return Ok(());
        }
        match self.frame_left() {
            0 => self.begin_with(bytes.len(), fragment, flags)?,
            left if bytes.len() as u64 > left => return Err(unaligned(bytes.len(), left)),
            _ => {}
        }
        self.payload(bytes).map(drop)
    }
}
