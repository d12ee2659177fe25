//! Reads what the application uploads: fields in memory, a form, or its read callback. Can start again if a
//! redirect or an authentication round needs the same body again.

use std::hint::cold_path;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tables::{Code, EasyOption as O};

use crate::callbacks::{ReadAnswer, SeekAnswer};
use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::mime::MimeReader;
use crate::settings::{Method, Text};

/// The source of upload data.
enum Source {
    Nothing,
    Memory(Text),
    /// CURLOPT_POSTFIELDS: the application's own memory.
    PostFields,
    Callback,
    Form(Box<dyn MimeReader>, FormLayout),
}

/// The layout of a form.
#[derive(Clone, Copy)]
enum FormLayout {
    Form,
    Mail,
}

/// The reading side of one request.
pub struct ClientReader {
    easy: Rc<EasyState>,
    source: Source,
    /// Length when known.
    pub size: Option<u64>,
    /// Length of the application's data, before line feeds are converted.
    given: Option<u64>,
    position: u64,
    ended: bool,
    convert_lines: bool,
    after_cr: bool,
    held: Vec<u8>,
    /// Whether the data are frames of the handle's WebSocket, which has no end.
    frames: bool,
    /// Whether the digest of the data is computed for [`UploadResumption`](crate::upload_resumption).
    is_digested: bool,
}

impl ClientReader {
    /// Creates a reader without data.
    pub fn empty(easy: &Rc<EasyState>) -> ClientReader {
        ClientReader {
            easy: easy.clone(),
            source: Source::Nothing,
            size: Some(0),
            given: None,
            position: 0,
            ended: false,
            convert_lines: false,
            after_cr: false,
            held: Vec::new(),
            frames: false,
            is_digested: false,
        }
    }

    /// Creates a reader of data in memory.
    pub fn of(easy: &Rc<EasyState>, bytes: Vec<u8>) -> ClientReader {
        let size = Some(bytes.len() as u64);
        ClientReader { source: Source::Memory(bytes.into()), size, ..ClientReader::empty(easy) }
    }

    /// Creates a reader of a WebSocket's frames: those of the read callback if `upload`, and those of the
    /// application or our own replies in between.
    pub fn frames(easy: &Rc<EasyState>, upload: bool) -> ClientReader {
        let source = if upload { Source::Callback } else { Source::Nothing };
        ClientReader { source, size: None, ended: !upload, frames: true, ..ClientReader::empty(easy) }
    }

    /// The body that the settings ask for.
    pub fn open(easy: &Rc<EasyState>, method: Method) -> Result<ClientReader> {
        let is_text = easy.settings.borrow().on(O::TransferText);
        ClientReader::open_as(easy, method, is_text)
    }

    /// Like `open`, for protocols that mark text (`;type=` in a URL): line feeds are sent as CR LF.
    pub fn open_as(easy: &Rc<EasyState>, method: Method, is_text: bool) -> Result<ClientReader> {
        let settings = easy.settings.borrow();
        let length = |option| u64::try_from(settings.long(option)).ok();
        let copied = settings.uncommon.copied_post_fields.clone();
        let form = settings.uncommon.mime.clone();
        let (post_size, file_size) = (length(O::PostFieldSizeLarge), length(O::InFileSizeLarge));
        let convert_lines = settings.on(O::Crlf) || is_text;
        drop(settings);
        let (source, size) = match method {
            Method::Get | Method::Head => (Source::Nothing, Some(0)),
            Method::Put => (Source::Callback, file_size),
            Method::PostMime => match form {
                Some(form) => {
                    let reader = form.open(own_type(easy).as_deref())?;
                    let size = reader.size();
                    (Source::Form(reader, FormLayout::Form), size)
                }
                None => (Source::Nothing, Some(0)),
            },
            Method::Post => match (copied, easy.callbacks.post_fields_len()) {
                (Some(copy), _) => {
                    let size = post_size.map_or(copy.len() as u64, |n| n.min(copy.len() as u64));
                    (Source::Memory(copy), Some(size))
                }
                (None, Some(length)) => (Source::PostFields, Some(post_size.unwrap_or(length))),
                (None, None) => (Source::Callback, post_size),
            },
        };
        let given = size;
        let size = if convert_lines && !matches!(source, Source::Nothing) { None } else { size };
        Ok(ClientReader {
            easy: easy.clone(),
            source,
            size,
            given,
            position: 0,
            ended: false,
            convert_lines,
            after_cr: false,
            held: Vec::new(),
            frames: false,
            is_digested: false,
        })
    }

    /// The form that is set, as a mail with the application's own header lines (CURLOPT_MIMEPOST(3),
    /// CURLOPT_HTTPHEADER(3)).
    pub fn mail(easy: &Rc<EasyState>) -> Result<ClientReader> {
        let mut reader = ClientReader::empty(easy);
        (reader.size, reader.source) = match open_mail(easy)? {
            Some(mail) => (mail.size(), Source::Form(mail, FormLayout::Mail)),
            None => (Some(0), Source::Nothing),
        };
        Ok(reader)
    }

    /// How long it is before line feeds become CR LF, if that is known: whether a request is worth asking for
    /// first hangs on it.
    pub fn size_as_given(&self) -> Option<u64> {
        self.size.or(self.given)
    }

    /// Line feeds are sent as CR LF from now on, as text files are.
    pub fn send_as_text(&mut self) {
        self.convert_lines = true;
        self.text_size_unknown();
    }

    /// Limits the data to a piece of the source, whose digest is computed as it is read.
    pub fn digest_piece(&mut self, length: u64) {
        (self.size, self.is_digested) = (Some(length), true);
    }

    fn text_size_unknown(&mut self) {
        if matches!(self.source, Source::Callback) {
            self.size = None;
        }
    }

    /// Ignores the announced size. Chunks need none: data of a callback continues until its end, whatever
    /// CURLOPT_POSTFIELDSIZE is.
    pub fn end_ends_it(&mut self) {
        self.text_size_unknown();
    }

    /// Whether there is anything to send.
    pub fn is_nothing(&self) -> bool {
        matches!(self.source, Source::Nothing) && !self.frames
    }

    /// Returns the whole body if it is in memory.
    pub fn whole(&self) -> Option<Vec<u8>> {
        match &self.source {
            Source::Nothing => Some(Vec::new()),
            Source::Memory(bytes) => Some(bytes[..self.size.map_or(bytes.len(), |n| n as usize)].to_vec()),
            Source::PostFields => {
                let mut all = vec![0; usize::try_from(self.size?).ok()?];
                let n = self.easy.callbacks.post_fields(0, &mut all).min(all.len());
                all.truncate(n);
                Some(all)
            }
            Source::Callback | Source::Form(..) => None,
        }
    }

    /// The form's Content-Type.
    pub fn form(&self) -> Option<&dyn MimeReader> {
        match &self.source {
            Source::Form(form, _) => Some(form.as_ref()),
            _ => None,
        }
    }

    /// Whether the end has been reached.
    pub fn ended(&self) -> bool {
        self.ended && self.held.is_empty() && !self.frames
    }

    /// Bytes read so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Begins an upload that may continue at this byte of the source, which an earlier attempt may have read.
    /// An application that cannot seek has to place the source itself.
    pub fn start_at(&mut self, from: u64) -> Result<()> {
        match self.easy.upload_resumption.reads() {
            _ if from > 0 => self.skip(from),
            true if self.easy.callbacks.seek(0) == SeekAnswer::Failed => {
                Err(Error::new(Code::ReadError, "Could not seek stream"))
            }
            _ => Ok(()),
        }
    }

    /// Skips what the server already has. Falls back to reading and dropping if the application cannot seek.
    pub fn skip(&mut self, offset: u64) -> Result<()> {
        match self.easy.callbacks.seek(offset) {
            SeekAnswer::Done => {}
            SeekAnswer::Failed => {
                return Err(Error::new(Code::ReadError, "Could not seek stream"));
            }
            SeekAnswer::Cannot => {
                let mut left = offset;
                let mut buf = vec![0; 16 * 1024];
                while left > 0 {
                    let n = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    match self.easy.callbacks.read(&mut buf[..n]) {
                        ReadAnswer::Bytes(got) if got > 0 => left -= got as u64,
                        _ => {
                            return Err(Error::new(
                                Code::ReadError,
                                format!("Could only read {} bytes from the input", offset - left),
                            ));
                        }
                    }
                }
            }
        }
        self.size = self.size.map(|s| s.saturating_sub(offset));
        Ok(())
    }

    /// Starts over.
    pub fn rewind(&mut self) -> Result<()> {
        if self.position == 0 && !self.ended {
            return Ok(());
        }
        match &mut self.source {
            Source::Nothing | Source::Memory(_) | Source::PostFields => {}
            Source::Form(_, FormLayout::Mail) => {
                self.source =
                    Source::Form(open_mail(&self.easy)?.ok_or_else(cannot_rewind)?, FormLayout::Mail);
            }
            Source::Form(_, FormLayout::Form) => {
                let form = self.easy.settings.borrow().uncommon.mime.clone();
                let form = form.ok_or_else(cannot_rewind)?;
                self.source = Source::Form(form.open(own_type(&self.easy).as_deref())?, FormLayout::Form);
            }
            Source::Callback => match self.easy.callbacks.seek(0) {
                SeekAnswer::Done => {}
                SeekAnswer::Failed | SeekAnswer::Cannot => return Err(cannot_rewind()),
            },
        }
        (self.position, self.ended) = (0, false);
        self.held.clear();
        Ok(())
    }

    /// Reads the next bytes; 0 is the end.
    pub fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<usize>> {
        if self.frames {
            return self.poll_frames(cx, buf);
        }
        if !self.convert_lines {
            return self.poll_raw(cx, buf);
        }
        // Each line feed may become two bytes.
        if self.held.is_empty() {
            let mut raw = vec![0; (buf.len() / 2).max(1)];
            let n = ready!(self.poll_raw(cx, &mut raw))?;
            for byte in &raw[..n] {
                // A line that ends as it should already stays as it is.
                if *byte == b'\n' && !self.after_cr {
                    self.held.push(b'\r');
                }
                self.after_cr = *byte == b'\r';
                self.held.push(*byte);
            }
        }
        let n = self.held.len().min(buf.len());
        buf[..n].copy_from_slice(&self.held[..n]);
        self.held.drain(..n);
        Poll::Ready(Ok(n))
    }

    /// Returns whether no data is available, so that no buffer is needed. The task is woken when there is.
    pub fn waits(&self, cx: &Context<'_>) -> bool {
        if !self.frames {
            return false;
        }
        let mut ws = self.easy.websocket.borrow_mut();
        let Some(ws) = ws.as_mut() else { return true };
        ws.waker = Some(cx.waker().clone());
        ws.waiting() == 0 && self.ended
    }

    fn poll_frames(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<usize>> {
        let easy = self.easy.clone();
        let raw = easy.ws_raw();
        loop {
            let room = {
                let mut ws = easy.websocket.borrow_mut();
                let Some(ws) = ws.as_mut() else { return Poll::Pending };
                let n = ws.take_into(buf);
                if n > 0 {
                    return Poll::Ready(Ok(n));
                }
                (ws.waker, ws.begun) = (Some(cx.waker().clone()), false);
                match ws.frame_left() {
                    0 => buf.len(),
                    left => buf.len().min(usize::try_from(left).unwrap_or(usize::MAX)),
                }
            };
            if self.ended {
                return Poll::Pending;
            }
            let read = self.poll_raw(cx, &mut buf[..room]);
            let mut ws = easy.websocket.borrow_mut();
            let Some(ws) = ws.as_mut() else { return Poll::Pending };
            match read {
                // A callback that pauses may have begun a frame all the same.
                Poll::Pending if ws.waiting() == 0 => return Poll::Pending,
                Poll::Pending => {}
                Poll::Ready(Ok(n)) if raw && n > 0 => return Poll::Ready(Ok(n)),
                // Zero bytes are not the end if a frame was started (curl_ws_start_frame.md).
                Poll::Ready(Ok(0)) => self.ended = !ws.begun,
                Poll::Ready(Ok(n)) => ws.uploaded(&buf[..n])?,
                failed => return failed,
            }
        }
    }

    fn poll_raw(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<usize>> {
        let left = self.size.map(|s| s - self.position);
        let room = left.map_or(buf.len(), |l| buf.len().min(usize::try_from(l).unwrap_or(usize::MAX)));
        if room == 0 || self.ended {
            self.ended = true;
            return Poll::Ready(Ok(0));
        }
        let buf = &mut buf[..room];
        let n = match &mut self.source {
            Source::Nothing => 0,
            Source::Memory(bytes) => {
                let from = self.position as usize;
                let n = room.min(bytes.len() - from);
                buf[..n].copy_from_slice(&bytes[from..from + n]);
                n
            }
            Source::PostFields => self.easy.callbacks.post_fields(self.position, buf).min(room),
            Source::Callback => {
                let n = ready!(poll_application(&self.easy, cx, |easy| Ok(easy.callbacks.read(buf))))?;
                self.easy.why.count_read(n);
                n
            }
            Source::Form(form, _) => ready!(poll_application(&self.easy, cx, |_| form.read(buf)))?,
        };
        if self.is_digested {
            cold_path();
            self.easy.upload_resumption.take_sent(&buf[..n]);
        }
        self.position += n as u64;
        self.ended = n == 0 || self.size == Some(self.position);
        if n == 0
            && let Some(left) = left
        {
            let size = left + self.position;
            return Poll::Ready(Err(Error::new(
                Code::ReadError,
                format!("client read function EOF fail, only {}/{size} of needed bytes read", self.position),
            )));
        }
        Poll::Ready(Ok(n))
    }
}

/// Calls the application, which may pause, abort, or return an invalid value.
fn poll_application(
    easy: &Rc<EasyState>,
    cx: &mut Context<'_>,
    read: impl FnOnce(&EasyState) -> Result<ReadAnswer>,
) -> Poll<Result<usize>> {
    ready!(easy.flow.poll_send(cx));
    match read(easy)? {
        ReadAnswer::Bytes(n) => Poll::Ready(Ok(n)),
        ReadAnswer::Pause => {
            easy.flow.pause_send();
            // The application may have unpaused already, from another of its callbacks.
            ready!(easy.flow.poll_send(cx));
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        ReadAnswer::Abort => {
            Poll::Ready(Err(Error::new(Code::AbortedByCallback, "operation aborted by callback")))
        }
        ReadAnswer::TooMany => {
            Poll::Ready(Err(Error::new(Code::ReadError, "read function returned funny value")))
        }
    }
}

/// The form that is set, as a mail.
fn open_mail(easy: &EasyState) -> Result<Option<Box<dyn MimeReader>>> {
    let settings = easy.settings.borrow();
    let form = settings.uncommon.mime.clone();
    let headers: Vec<_> = settings.list(O::HttpHeader).iter().map(|line| line.to_vec()).collect();
    drop(settings);
    form.map(|form| form.open_mail(&headers)).transpose()
}

/// Returns the application's own Content-Type header for a form.
fn own_type(easy: &EasyState) -> Option<Vec<u8>> {
    let value = |line: &Text| {
        let at = line.iter().position(|byte| *byte == b':')?;
        let names = line[..at].trim_ascii_end().eq_ignore_ascii_case(b"Content-Type");
        names.then(|| line[at + 1..].trim_ascii().to_vec())
    };
    easy.settings.borrow().list(O::HttpHeader).iter().find_map(value).filter(|kind| !kind.is_empty())
}

fn cannot_rewind() -> Error {
    Error::new(Code::SendFailRewind, "necessary data rewind was not possible")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::easy;
    use std::task::Waker;

    fn read(reader: &mut ClientReader, room: usize) -> Vec<u8> {
        let mut buf = vec![0; room];
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(n) = reader.poll_read(&mut cx, &mut buf) else { panic!("nothing pauses") };
        buf.truncate(n.unwrap());
        buf
    }

    fn all(reader: &mut ClientReader, room: usize) -> Vec<u8> {
        let mut out = Vec::new();
        loop {
            match read(reader, room) {
                piece if piece.is_empty() => return out,
                piece => out.extend_from_slice(&piece),
            }
        }
    }

    #[test]
    fn line_feeds_of_a_text_become_crlf_in_any_buffer() {
        let rows: [(_, &str, &[u8]); 4] = [
            ("RFC 959 §3.1.1.1: a line feed", "a\nb\n", b"a\r\nb\r\n"),
            ("RFC 959 §3.1.1.1: a line that ends as it should", "a\r\nb", b"a\r\nb"),
            ("RFC 959 §3.1.1.1: a carriage return alone stays", "a\rb", b"a\rb"),
            ("RFC 959 §3.1.1.1: two empty lines", "\n\n", b"\r\n\r\n"),
        ];
        let easy = easy(&[], &[]);
        for (name, text, wanted) in rows {
            for room in 1..7 {
                let mut reader = ClientReader::of(&easy.0, text.as_bytes().to_vec());
                reader.send_as_text();
                assert_eq!(all(&mut reader, room), wanted, "{name}, in pieces of {room}");
            }
        }
    }

    #[test]
    fn a_body_in_memory_can_be_sent_again() {
        let easy = easy(&[], &[]);
        let mut reader = ClientReader::of(&easy.0, b"abcdef".to_vec());
        assert_eq!((reader.size, reader.is_nothing()), (Some(6), false));
        assert_eq!((read(&mut reader, 4), reader.position()), (b"abcd".to_vec(), 4));
        reader.rewind().unwrap();
        assert_eq!((all(&mut reader, 4), reader.ended()), (b"abcdef".to_vec(), true), "RFC 9110 §15.4");
        assert_eq!(reader.whole(), Some(b"abcdef".to_vec()));
    }

    #[test]
    fn a_body_that_cannot_be_rewound_fails() {
        let easy = easy(&[], &[]);
        let mut reader = ClientReader::open(&easy.0, Method::Put).unwrap();
        assert!(reader.rewind().is_ok(), "nothing was read");
        assert!(all(&mut reader, 9).is_empty());
        let failed = reader.rewind().err().map(|e| e.code());
        assert_eq!(failed, Some(Code::SendFailRewind), "CURLOPT_SEEKFUNCTION(3): not set");
    }

    #[test]
    fn the_size_of_an_upload_is_the_options_unless_lines_are_converted() {
        let of = |method, numbers: &[(O, i64)]| {
            let easy = easy(&[], numbers);
            let reader = ClientReader::open(&easy.0, method).unwrap();
            (reader.size, reader.size_as_given())
        };
        let (nine, size) = (Some(9), (O::InFileSizeLarge, 9));
        let rows: [(_, _, &[(O, i64)], _); 6] = [
            ("CURLOPT_INFILESIZE(3)", Method::Put, &[size], (nine, nine)),
            ("CURLOPT_INFILESIZE(3): not set", Method::Put, &[], (None, None)),
            (
                "CURLOPT_CRLF(3): the size as sent is not known",
                Method::Put,
                &[size, (O::Crlf, 1)],
                (None, nine),
            ),
            ("CURLOPT_TRANSFERTEXT(3)", Method::Put, &[size, (O::TransferText, 1)], (None, nine)),
            ("CURLOPT_POSTFIELDSIZE(3)", Method::Post, &[(O::PostFieldSizeLarge, 9)], (nine, nine)),
            ("RFC 9110 §9.3.1: a GET has no body", Method::Get, &[size], (Some(0), Some(0))),
        ];
        for (name, method, numbers, wanted) in rows {
            assert_eq!(of(method, numbers), wanted, "{name}");
        }
    }

    #[test]
    fn a_resumed_upload_that_ends_early_fails() {
        let easy = easy(&[], &[(O::InFileSizeLarge, 9)]);
        let mut reader = ClientReader::open(&easy.0, Method::Put).unwrap();
        let failed = reader.skip(4).err();
        let found = failed.as_ref().map(|e| (e.code(), e.message()));
        let wanted = (Code::ReadError, "Could only read 0 bytes from the input");
        assert_eq!(found, Some(wanted), "CURLOPT_RESUME_FROM_LARGE(3)");
    }
}
