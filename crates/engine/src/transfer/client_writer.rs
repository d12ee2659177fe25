//! Delivers received bytes to the application: header lines unchanged, body bytes through the content
//! decoders and in pieces of at most 16 KiB. What a pause leaves undelivered is kept here, bounded by one
//! receive buffer, and delivered later unchanged; nothing is decoded before it can be delivered.

use std::collections::VecDeque;
use std::hint::cold_path;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tables::{Code, EasyOption as O};
use wire::content_encoding::{self, Decoder, Dictionary};

use crate::callbacks::{DebugKind, WriteAnswer};
use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::transfer::body::FAIR_SHARE;
use crate::websocket::{Frame, Payload};

/// CURL_MAX_WRITE_SIZE: applications have buffers of this size.
const PIECE: usize = 16 * 1024;

/// The writing side of a transfer.
pub struct ClientWriter {
    easy: Rc<EasyState>,
    decoder: Option<Decoder>,
    /// The dictionary that the request offers.
    dictionary: Option<Rc<Dictionary>>,
    /// The decoder may have more without more input.
    decoding: bool,
    /// So much may still be decoded before others have their turn.
    share: usize,
    held: VecDeque<PausedData>,
    /// Longest piece handed out (CURLOPT_BUFFERSIZE).
    piece: usize,
    /// The body is read and dropped: a redirect or an authentication round follows.
    ignore_body: bool,
    /// Whether the application wants no body, and the protocol has nothing else to deliver.
    refuse_body: bool,
    /// Whether the body is frames of a WebSocket, whose payload is delivered.
    framed: bool,
    /// Whether the body is for the engine's upload, and not for the application.
    of_upload: bool,
}

/// Something that the application was not ready to take.
enum PausedData {
    Header(Vec<u8>),
    Body(Vec<u8>),
    /// Payload of a WebSocket's frame.
    Payload(Frame, Vec<u8>),
    /// Frames that were not taken apart yet.
    Frames(Vec<u8>),
}

impl ClientWriter {
    /// A writer to this handle's application.
    pub fn new(easy: Rc<EasyState>) -> ClientWriter {
        let wanted = easy.settings.borrow().long(O::BufferSize);
        let piece = usize::try_from(wanted).unwrap_or(PIECE).clamp(1, PIECE);
        let (held, share) = (VecDeque::new(), FAIR_SHARE);
        ClientWriter {
            easy,
            decoder: None,
            dictionary: None,
            decoding: false,
            share,
            held,
            piece,
            ignore_body: false,
            refuse_body: false,
            framed: false,
            of_upload: false,
        }
    }

    /// Returns whether body bytes are decoded before delivery.
    pub fn decodes(&self) -> bool {
        self.decoder.is_some()
    }

    /// Returns whether that many bytes of body go to the application unchanged and at once.
    pub fn passes_on(&self, left: u64) -> bool {
        let is_changed =
            self.decoder.is_some() || self.framed || self.ignore_body || self.refuse_body || self.of_upload;
        !is_changed && !self.must_hold() && !self.easy.callbacks.wants_debug() && self.room() as u64 >= left
    }

    /// Starts a new reply: removes decoders, and resets ignored bytes.
    pub fn begin(&mut self) {
        (self.decoder, self.decoding) = (None, false);
        (self.ignore_body, self.refuse_body, self.framed, self.of_upload) = (false, false, false, false);
    }

    /// The body of this reply is not the application's.
    pub fn ignore_body(&mut self, ignore: bool) {
        self.ignore_body = ignore;
    }

    /// The body of this reply is for the engine's upload.
    pub fn give_to_upload(&mut self) {
        self.of_upload = true;
    }

    /// Sets whether a body is refused (CURLOPT_NOBODY(3)); as in curl it is an error if no headers preceded
    /// it.
    pub fn refuse_body(&mut self, refuse: bool) {
        self.refuse_body = refuse;
    }

    /// Sets the dictionary that the next request offers.
    pub fn set_dictionary(&mut self, dictionary: Option<Rc<Dictionary>>) {
        self.dictionary = dictionary;
    }

    /// Returns the dictionary that the request has offered.
    pub fn dictionary(&self) -> Option<&Rc<Dictionary>> {
        self.dictionary.as_ref()
    }

    /// The body of this reply is encoded.
    pub fn decode(&mut self, decoder: Decoder) {
        self.decoder = Some(decoder);
    }

    /// The body of this reply is frames of a WebSocket.
    pub fn take_frames(&mut self) {
        self.framed = true;
    }

    /// Delivers a header line; `show` says whether it also goes into the body stream (CURLOPT_HEADER).
    pub fn header(&mut self, line: &[u8], show: bool) -> Result<()> {
        if show {
            cold_path();
            match self.must_hold() {
                true => self.held.push_back(PausedData::Body(line.to_vec())),
                false => self.deliver(line)?,
            }
        }
        if self.must_hold() {
            cold_path();
            self.held.push_back(PausedData::Header(line.to_vec()));
            return Ok(());
        }
        self.deliver_header(line)
    }

    /// Delivers received body bytes.
    pub fn body(&mut self, data: &[u8]) -> Result<()> {
        if self.ignore_body || data.is_empty() {
            return Ok(());
        }
        if self.refuse_body {
            cold_path();
            return Err(Error::from(Code::WeirdServerReply));
        }
        self.easy.trace("write", || format!("{} bytes of body", data.len()));
        self.easy.callbacks.debug_if_wanted(DebugKind::DataIn, data);
        if self.framed {
            cold_path();
            return self.frames(data);
        }
        if let Some(decoder) = &mut self.decoder {
            cold_path();
            decoder.feed(data);
            self.decoding = true;
            return if self.held.is_empty() { self.decode_on() } else { Ok(()) };
        }
        if self.must_hold() {
            cold_path();
            self.held.push_back(PausedData::Body(data.to_vec()));
            return Ok(());
        }
        self.deliver(data)
    }

    /// Waits until everything held back has been accepted, and everything decodable was decoded. Ready at
    /// once if nothing is held back.
    pub fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        loop {
            ready!(self.easy.flow.poll_receive(cx));
            if self.framed && self.easy.websocket.borrow().as_ref().is_some_and(|ws| ws.is_full()) {
                return Poll::Pending; // the upload of the same task continues, and wakes it
            }
            let Some(next) = self.held.pop_front() else {
                if !self.decoding {
                    return Poll::Ready(Ok(()));
                }
                cold_path();
                if self.share == 0 {
                    ready!(self.poll_next_turn(cx));
                }
                self.decode_on()?;
                continue;
            };
            cold_path();
            if self.share == 0 {
                self.held.push_front(next);
                ready!(self.poll_next_turn(cx));
                continue;
            }
            let later = std::mem::take(&mut self.held);
            let result = match next {
                PausedData::Header(line) => self.deliver_header(&line),
                PausedData::Body(data) => self.deliver(&data),
                PausedData::Payload(frame, data) => self.deliver_payload(frame, &data),
                PausedData::Frames(data) => self.frames(&data),
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
        match &*self.easy.websocket.borrow() {
            Some(ws) if self.framed => ws.check_end(),
            _ => Ok(()),
        }
    }

    /// Returns whether new data must wait for data that the application has not accepted yet.
    fn must_hold(&self) -> bool {
        !self.held.is_empty() || self.decoding || self.easy.flow.receive_paused()
    }

    /// A little data may decode to gigabytes: others have their turn in between.
    fn poll_next_turn(&mut self, cx: &Context<'_>) -> Poll<()> {
        self.share = FAIR_SHARE;
        self.easy.poll_next_turn(cx)
    }

    /// Parses frames and delivers their payload, as long as the application accepts it.
    fn frames(&mut self, data: &[u8]) -> Result<()> {
        let easy = self.easy.clone();
        let pings = easy.ws_pings();
        let has_more = || easy.websocket.borrow().as_ref().is_some_and(|ws| ws.has_more());
        let mut rest = data;
        while !rest.is_empty() || has_more() {
            if self.must_hold() || self.share == 0 {
                self.held.push_back(PausedData::Frames(rest.to_vec()));
                return Ok(());
            }
            let next = easy.websocket.borrow_mut().as_mut().map(|ws| ws.next(rest, usize::MAX, pings));
            let (used, piece) = next.unwrap_or_else(|| Err(Error::from(Code::FailedInit)))?;
            if let Some((frame, payload)) = piece {
                if let Payload::Inflated(bytes) = &payload {
                    self.share = self.share.saturating_sub(bytes.len());
                }
                self.deliver_payload(frame, payload.bytes(rest))?;
            }
            rest = &rest[used..];
        }
        Ok(())
    }

    /// Delivers payload, or reports a frame without any; in the callback the application may query the frame
    /// (curl_ws_meta). `frame` describes all of `data`.
    fn deliver_payload(&mut self, frame: Frame, data: &[u8]) -> Result<()> {
        let mut at = 0_usize;
        loop {
            let room = self.room();
            if room == 0 {
                return Err(self.too_large());
            }
            let piece = &data[at..data.len().min(at.saturating_add(self.piece.min(room)))];
            let behind = (data.len() - at - piece.len()) as i64;
            let (offset, bytes_left) = (frame.offset + at as i64, frame.bytes_left + behind);
            if let Some(ws) = self.easy.websocket.borrow_mut().as_mut() {
                ws.shown = Frame { offset, bytes_left, len: piece.len(), ..frame };
            }
            match self.easy.callbacks.write(piece) {
                WriteAnswer::All => at += piece.len(),
                WriteAnswer::Pause => {
                    self.easy.flow.pause_receive();
                    let rest = Frame { offset, ..frame };
                    self.held.push_front(PausedData::Payload(rest, data[at..].to_vec()));
                    return Ok(());
                }
                WriteAnswer::Failed(n) => return Err(write_failed(piece.len(), n)),
            }
            self.easy.info.borrow_mut().delivered += piece.len() as i64;
            if at == data.len() {
                return Ok(());
            }
        }
    }

    fn deliver_header(&mut self, line: &[u8]) -> Result<()> {
        match self.easy.callbacks.header(line) {
            None | Some(WriteAnswer::All) => Ok(()),
            Some(WriteAnswer::Pause) => {
                cold_path();
                self.easy.flow.pause_receive();
                self.held.push_front(PausedData::Header(line.to_vec()));
                Ok(())
            }
            Some(WriteAnswer::Failed(n)) => Err(write_failed(line.len(), n)),
        }
    }

    /// Decodes and delivers, until nothing is left, the application pauses, or other transfers must run.
    fn decode_on(&mut self) -> Result<()> {
        let Some(mut decoder) = self.decoder.take() else { return Ok(()) };
        let result = self.decode_with(&mut decoder);
        self.decoder = Some(decoder);
        result
    }

    fn decode_with(&mut self, decoder: &mut Decoder) -> Result<()> {
        while self.share > 0 && self.held.is_empty() && !self.easy.flow.receive_paused() {
            let Some(plain) = decoder.next_slice().map_err(decode_error)? else {
                self.decoding = false;
                return Ok(());
            };
            self.share = self.share.saturating_sub(plain.len());
            // A body that exceeds the limit by decoding is not delivered beyond it.
            if plain.len() > self.room() {
                return Err(Error::new(Code::FilesizeExceeded, "Would have exceeded max file size"));
            }
            self.deliver(plain)?;
        }
        Ok(())
    }

    fn deliver(&mut self, data: &[u8]) -> Result<()> {
        if self.of_upload {
            cold_path();
            return self.easy.upload_resumption.take_reply(data);
        }
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
                WriteAnswer::All => {
                    self.easy.info.borrow_mut().delivered += piece.len() as i64;
                    at = end;
                }
                WriteAnswer::Pause => {
                    cold_path();
                    self.easy.flow.pause_receive();
                    self.held.push_front(PausedData::Body(data[at..].to_vec()));
                    return Ok(());
                }
                WriteAnswer::Failed(n) => return Err(write_failed(piece.len(), n)),
            }
        }
        Ok(())
    }

    /// Returns the room that CURLOPT_MAXFILESIZE leaves. It also applies to a body of unknown length: what
    /// fits is delivered.
    fn room(&self) -> usize {
        match self.easy.settings.borrow().long(O::MaxFileSizeLarge) {
            limit if limit > 0 => {
                let left = limit - self.easy.info.borrow().delivered;
                usize::try_from(left).unwrap_or(0)
            }
            _ => usize::MAX,
        }
    }

    fn too_large(&self) -> Error {
        let limit = self.easy.settings.borrow().long(O::MaxFileSizeLarge);
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
        format!("client returned ERROR on write of {passed} bytes")
    } else {
        format!("Failure writing output to destination, passed {passed} returned {returned}")
    };
    Error::new(Code::WriteError, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Easy;
    use crate::callbacks::Callbacks;
    use runtime::cell::RefCell;
    use std::cell::Cell;
    use wire::content_encoding::DEPTH_LIMIT;

    /// An application that notes what it gets.
    struct Recorder {
        pieces: RefCell<Vec<Vec<u8>>>,
        headers: RefCell<Vec<u8>>,
        answer: Cell<WriteAnswer>,
    }

    impl Callbacks for Recorder {
        fn write(&self, data: &[u8]) -> WriteAnswer {
            self.pieces.borrow_mut().push(data.to_vec());
            self.answer.get()
        }

        fn header(&self, line: &[u8]) -> Option<WriteAnswer> {
            self.headers.borrow_mut().extend_from_slice(line);
            Some(WriteAnswer::All)
        }
    }

    fn writer(numbers: &[(O, i64)], answer: WriteAnswer) -> (Rc<Recorder>, Easy, ClientWriter) {
        let recorder =
            Recorder { pieces: RefCell::default(), headers: RefCell::default(), answer: Cell::new(answer) };
        let recorder = Rc::new(recorder);
        let easy = Easy::new(recorder.clone());
        for (option, number) in numbers {
            easy.0.settings.borrow_mut().set_long(*option, *number).unwrap();
        }
        let writer = ClientWriter::new(easy.0.clone());
        (recorder, easy, writer)
    }

    fn lengths(recorder: &Recorder) -> Vec<usize> {
        recorder.pieces.borrow().iter().map(Vec::len).collect()
    }

    #[test]
    fn bodies_are_handed_out_in_pieces_of_sixteen_kib() {
        let (recorder, _easy, mut writer) = writer(&[], WriteAnswer::All);
        writer.body(&vec![b'x'; 40_000]).unwrap();
        assert_eq!(lengths(&recorder), [16_384, 16_384, 7232], "CURLOPT_WRITEFUNCTION(3)");
    }

    #[test]
    fn a_smaller_buffer_makes_smaller_pieces() {
        let (recorder, _easy, mut writer) = writer(&[(O::BufferSize, 1024)], WriteAnswer::All);
        writer.body(&[b'x'; 2500]).unwrap();
        assert_eq!(lengths(&recorder), [1024, 1024, 452], "CURLOPT_BUFFERSIZE(3)");
    }

    #[test]
    fn bytes_below_the_limit_are_delivered() {
        let (recorder, _easy, mut writer) = writer(&[(O::MaxFileSizeLarge, 5)], WriteAnswer::All);
        let failed = writer.body(b"1234567").err().map(|e| e.code());
        assert_eq!(failed, Some(Code::FilesizeExceeded), "CURLOPT_MAXFILESIZE(3)");
        assert_eq!(lengths(&recorder), [5], "of unknown length");
    }

    #[test]
    fn an_application_that_takes_less_fails_the_transfer() {
        let rows = [
            (3, "Failure writing output to destination, passed 5 returned 3"),
            (usize::MAX, "client returned ERROR on write of 5 bytes"),
        ];
        for (taken, text) in rows {
            let (_, _easy, mut writer) = writer(&[], WriteAnswer::Failed(taken));
            let failed = writer.body(b"12345").unwrap_err();
            assert_eq!(
                (failed.code(), failed.message()),
                (Code::WriteError, text),
                "CURLOPT_WRITEFUNCTION(3)"
            );
        }
    }

    #[test]
    fn a_body_that_is_not_the_applications_is_dropped_or_refused() {
        let (recorder, _easy, mut writer) = writer(&[], WriteAnswer::All);
        writer.ignore_body(true);
        writer.body(b"redirected").unwrap();
        assert!(lengths(&recorder).is_empty(), "CURLOPT_FOLLOWLOCATION(3): a redirect's");
        writer.begin();
        writer.refuse_body(true);
        let failed = writer.body(b"x").err().map(|e| e.code());
        assert_eq!(failed, Some(Code::WeirdServerReply), "CURLOPT_NOBODY(3): where no headers come before");
        assert!(writer.body(b"").is_ok(), "CURLOPT_NOBODY(3): nothing is no body");
        writer.begin();
        writer.body(b"mine").unwrap();
        assert_eq!(lengths(&recorder), [4], "the next reply");
    }

    #[test]
    fn a_pause_holds_back_what_was_not_taken_and_all_behind_it() {
        let (recorder, easy, mut writer) = writer(&[], WriteAnswer::Pause);
        writer.body(b"first").unwrap();
        assert!(easy.0.flow.receive_paused(), "CURL_WRITEFUNC_PAUSE");
        writer.header(b"Trailer: x\r\n", false).unwrap();
        writer.body(b"second").unwrap();
        assert_eq!(lengths(&recorder), [5], "curl_easy_pause(3): nothing while it is paused");
        assert!(recorder.headers.borrow().is_empty(), "RFC 9112 §7.1.2: a trailer waits, too");
    }

    #[test]
    fn headers_go_into_the_body_if_shown() {
        let (recorder, _easy, mut writer) = writer(&[], WriteAnswer::All);
        writer.header(b"A: 1\r\n", false).unwrap();
        writer.header(b"B: 2\r\n", true).unwrap();
        assert_eq!(*recorder.headers.borrow(), b"A: 1\r\nB: 2\r\n", "CURLOPT_HEADERFUNCTION(3)");
        assert_eq!(*recorder.pieces.borrow(), [b"B: 2\r\n".to_vec()], "CURLOPT_HEADER(3)");
    }

    #[test]
    fn an_encoded_body_that_is_not_one_fails() {
        let (recorder, _easy, mut writer) = writer(&[], WriteAnswer::All);
        writer.decode(Decoder::new("gzip", DEPTH_LIMIT).unwrap());
        assert!(writer.decodes());
        let failed = writer.body(b"this is no gzip stream").err().map(|e| e.code());
        assert_eq!(failed, Some(Code::BadContentEncoding), "RFC 9110 §8.4");
        assert!(lengths(&recorder).is_empty());
        assert_eq!(
            decode_error(content_encoding::Error::TrailingData).code(),
            Code::WriteError,
            "as in curl"
        );
    }
}
