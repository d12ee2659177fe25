//! Hands received bytes to the application: header lines as they are, body bytes through the content
//! decoders and in pieces of at most 16 KiB. What a pause leaves undelivered is kept here, bounded by
//! one receive buffer, and handed out again as the same bytes.

use std::collections::VecDeque;
use std::hint::cold_path;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tables::{Code, EasyOption as O};
use wire::content_encoding::{self, Decoder, Failure};

use crate::callbacks::{DebugKind, Written};
use crate::easy::EasyState;
use crate::error::{Error, Result};

/// CURL_MAX_WRITE_SIZE: applications have buffers of this size.
const PIECE: usize = 16 * 1024;

/// A decoder is fed so much at a time: what one feeding may grow to stays bounded when a pause comes.
const DECODE_PIECE: usize = 4 * 1024;

/// The writing side of a transfer.
pub struct ClientWriter {
    easy: Rc<EasyState>,
    decoder: Option<Decoder>,
    held: VecDeque<Held>,
    /// Longest piece handed out (CURLOPT_BUFFERSIZE).
    piece: usize,
    /// The body is read and dropped: a redirect or an authentication round follows.
    ignore_body: bool,
}

/// Something that the application was not ready to take.
enum Held {
    Header(Vec<u8>),
    Body(Vec<u8>),
    /// Not decoded yet.
    Encoded(Vec<u8>),
}

impl ClientWriter {
    /// A writer to this handle's application.
    pub fn new(easy: Rc<EasyState>) -> ClientWriter {
        let wanted = easy.settings.borrow().long(O::Buffersize);
        let piece = usize::try_from(wanted).unwrap_or(PIECE).clamp(1, PIECE);
        ClientWriter { easy, decoder: None, held: VecDeque::new(), piece, ignore_body: false }
    }

    /// A new reply begins: forgets decoders and what was ignored.
    pub fn begin(&mut self) {
        self.decoder = None;
        self.ignore_body = false;
    }

    /// The body of this reply is not the application's.
    pub fn ignore_body(&mut self, ignore: bool) {
        self.ignore_body = ignore;
    }

    /// The body of this reply is encoded.
    pub fn decode(&mut self, decoder: Decoder) {
        self.decoder = Some(decoder);
    }

    /// Hands out a header line; `show` says whether it also goes into the body stream
    /// (CURLOPT_HEADER).
    pub fn header(&mut self, line: &[u8], show: bool) -> Result<()> {
        if show {
            cold_path();
            match self.must_hold() {
                true => self.held.push_back(Held::Body(line.to_vec())),
                false => self.deliver(line)?,
            }
        }
        if self.must_hold() {
            cold_path();
            self.held.push_back(Held::Header(line.to_vec()));
            return Ok(());
        }
        self.deliver_header(line)
    }

    /// Hands out body bytes as received.
    pub fn body(&mut self, data: &[u8]) -> Result<()> {
        if self.ignore_body || data.is_empty() {
            return Ok(());
        }
        self.easy.trace("write", || format!("{} bytes of body", data.len()));
        self.easy.callbacks.debug_if_wanted(DebugKind::DataIn, data);
        if self.must_hold() {
            cold_path();
            let held = data.to_vec();
            self.held.push_back(if self.decoder.is_some() { Held::Encoded(held) } else { Held::Body(held) });
            return Ok(());
        }
        if self.decoder.is_some() { self.decoded(data) } else { self.deliver(data) }
    }

    /// Waits until everything held has been taken. Ready at once when nothing is held.
    pub fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        loop {
            ready!(self.easy.flow.poll_receive(cx));
            let Some(next) = self.held.pop_front() else { return Poll::Ready(Ok(())) };
            cold_path();
            let later = std::mem::take(&mut self.held);
            let result = match next {
                Held::Header(line) => self.deliver_header(&line),
                Held::Body(data) => self.deliver(&data),
                Held::Encoded(data) => self.decoded(&data),
            };
            self.held.extend(later);
            if let Err(e) = result {
                return Poll::Ready(Err(e));
            }
        }
    }

    /// The reply's body has ended: a decoder must have ended too.
    pub fn body_end(&mut self) -> Result<()> {
        if let Some(decoder) = self.decoder.as_mut()
            && !self.ignore_body
            && self.held.is_empty()
        {
            decoder.finish().map_err(decode_error)?;
        }
        Ok(())
    }

    /// The transfer has ended.
    pub fn finish(&mut self) -> Result<()> {
        debug_assert!(self.held.is_empty(), "pump_body and the head reader wait for what is held");
        Ok(())
    }

    /// Whether what comes now must wait behind what the application has not taken yet.
    fn must_hold(&self) -> bool {
        !self.held.is_empty() || self.easy.flow.receive_paused()
    }

    fn deliver_header(&mut self, line: &[u8]) -> Result<()> {
        match self.easy.callbacks.header(line) {
            None | Some(Written::All) => Ok(()),
            Some(Written::Pause) => {
                cold_path();
                self.easy.flow.pause_receive();
                self.held.push_front(Held::Header(line.to_vec()));
                Ok(())
            }
            Some(Written::Failed(n)) => Err(write_failed(line.len(), n)),
        }
    }

    /// Decodes a piece after the other; what a pause leaves is held undecoded.
    fn decoded(&mut self, data: &[u8]) -> Result<()> {
        let mut decoder = self.decoder.take().expect("only called when there is one");
        let mut at = 0;
        let mut result = Ok(());
        while at < data.len() && result.is_ok() {
            if self.easy.flow.receive_paused() {
                self.held.push_back(Held::Encoded(data[at..].to_vec()));
                break;
            }
            let end = (at + DECODE_PIECE).min(data.len());
            let decoded = decoder.decode(&data[at..end], &mut |plain: &[u8]| {
                if self.easy.flow.receive_paused() {
                    self.held.push_back(Held::Body(plain.to_vec()));
                    return Ok(());
                }
                self.deliver(plain)
            });
            result = decoded.map_err(|e| match e {
                Failure::Coding(e) => decode_error(e),
                Failure::Sink(e) => e,
            });
            at = end;
        }
        self.decoder = Some(decoder);
        result
    }

    fn deliver(&mut self, data: &[u8]) -> Result<()> {
        let mut at = 0;
        while at < data.len() {
            let end = (at + self.piece).min(data.len());
            let room = self.room();
            if room == 0 {
                return Err(self.too_large());
            }
            let end = end.min(at.saturating_add(room));
            let piece = &data[at..end];
            match self.easy.callbacks.write(piece) {
                Written::All => {
                    self.easy.info.borrow_mut().delivered += piece.len() as i64;
                    at = end;
                }
                Written::Pause => {
                    cold_path();
                    self.easy.flow.pause_receive();
                    self.held.push_front(Held::Body(data[at..].to_vec()));
                    return Ok(());
                }
                Written::Failed(n) => return Err(write_failed(piece.len(), n)),
            }
        }
        Ok(())
    }

    /// CURLOPT_MAXFILESIZE also holds for a body whose length nobody told beforehand: what fits is handed out.
    fn room(&self) -> usize {
        match self.easy.settings.borrow().long(O::MaxfilesizeLarge) {
            limit if limit > 0 => {
                let left = limit - self.easy.info.borrow().delivered;
                usize::try_from(left).unwrap_or(0)
            }
            _ => usize::MAX,
        }
    }

    fn too_large(&self) -> Error {
        let limit = self.easy.settings.borrow().long(O::MaxfilesizeLarge);
        let delivered = self.easy.info.borrow().delivered;
        let text = format!("Exceeded the maximum allowed file size ({limit}) with {delivered} bytes");
        Error::new(Code::FilesizeExceeded, text)
    }
}

/// A body that is not encoded as its head says.
pub fn decode_error(e: content_encoding::Error) -> Error {
    let code = match e {
        content_encoding::Error::TrailingData => Code::WriteError,
        _ => Code::BadContentEncoding,
    };
    Error::new(code, e.to_string())
}

#[cold]
fn write_failed(passed: usize, returned: usize) -> Error {
    let text = if returned == usize::MAX {
        format!("client returned ERROR on write, {passed} bytes")
    } else {
        format!("Failure writing output to destination, passed {passed} returned {returned}")
    };
    Error::new(Code::WriteError, text)
}
