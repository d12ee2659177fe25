//! `--retry-resume` on a transfer: the answer is looked at before its first byte is written.

use super::{Transfer, Upload, Uploading};
use crate::bytes::Bytes;
use crate::message::os_text;
use crate::options::ToolOption;
use crate::raw::checksum::{self, Algorithm};
use crate::raw::segments::{Answer, Marks};
use crate::raw::upload::digest::{Digest, Function};
use crate::raw::uploads::compare;
use crate::raw::{Easy, EasyOption as O, Headers, Origin, UploadMode};
use crate::request::Resume;
use crate::resume::{Piece, RestRequest, Resumption};
use std::io;

/// CURLE numbers.
const HTTP_ERROR: i32 = 22;
const WRITE_ERROR: i32 = 23;
const REST_ERROR: i32 = 31;
const RANGE_ERROR: i32 = 33;

/// The state for resuming a transfer in another attempt.
pub struct Resuming {
    download: Option<Resumption>,
    /// The headers that go with every request; none elsewhere than over HTTP.
    headers: Option<Vec<Bytes>>,
    /// The length of the output before the first attempt, and CURLOPT_RESUME_FROM_LARGE(3) for it.
    base: u64,
    offset: i64,
    /// The relation of this attempt's body to the existing part, once it is known.
    piece: Option<Piece>,
    /// Whether data was written that cannot be discarded.
    stuck: bool,
    /// Whether an upload from standard input has begun at the server.
    uploaded: bool,
    /// An upload of a file.
    pub(super) uploading: Option<Uploading>,
    /// How an upload continues.
    mode: UploadMode,
}

impl Resuming {
    /// `headers` are none elsewhere than over HTTP.
    pub fn download(download: Resumption, headers: Option<Vec<Bytes>>, base: u64, offset: i64) -> Resuming {
        Resuming {
            download: Some(download),
            headers,
            base,
            offset,
            ..Resuming::upload(UploadMode::Plain, None)
        }
    }

    /// Creates the state for an upload of a file, or from standard input.
    pub fn upload(mode: UploadMode, uploading: Option<Uploading>) -> Resuming {
        Resuming {
            download: None,
            headers: None,
            base: 0,
            offset: 0,
            piece: None,
            stuck: false,
            uploaded: false,
            uploading,
            mode,
        }
    }

    /// Sets how the upload continues, and where an earlier command has begun it over HTTP.
    pub fn set_up(&self, easy: &Easy) {
        easy.ask_upload_digest(true);
        easy.resume_uploads(self.mode, self.uploading.as_ref().and_then(Uploading::resource).as_deref());
    }

    /// Returns whether the upload is a resource of its own.
    pub(super) fn has_resource(&self) -> bool {
        self.mode.is_series_over_http()
    }

    /// Returns whether the file differs from that of the previous attempt.
    pub fn has_changed(&self) -> bool {
        self.piece == Some(Piece::Foreign) && !self.stuck
    }

    /// Returns whether the server refuses to continue its part of an upload. The next attempt sends all of
    /// it.
    pub fn has_lost_part(&self, code: i32) -> bool {
        self.download.is_none() && code == REST_ERROR
    }
}

impl Transfer {
    /// Returns whether received data is to be written. Examines the reply at its first byte.
    pub(super) fn is_wanted(&self) -> Result<bool, ()> {
        let mut resuming = self.resuming.borrow_mut();
        let Some(resuming) = resuming.as_mut() else { return Ok(true) };
        if resuming.piece.is_none() {
            self.examine(resuming).map_err(|_| ())?;
        }
        match resuming.piece {
            _ if resuming.stuck => self.refuse(),
            Some(Piece::Foreign) => self.refuse(),
            Some(Piece::Unwanted) => Ok(false),
            _ => Ok(true),
        }
    }

    /// Refuses the body; the caller reports the reason.
    fn refuse(&self) -> Result<bool, ()> {
        self.error_reported.set(true);
        Err(())
    }

    fn examine(&self, resuming: &mut Resuming) -> io::Result<()> {
        let easy = self.easy.borrow();
        let (Some(easy), Some(download)) = (easy.as_ref(), &mut resuming.download) else { return Ok(()) };
        let mut answer = Answer::of(easy);
        if resuming.headers.is_some() && self.is_decoded(easy) {
            answer.marks = Marks::default();
        }
        let piece = download.answered(&answer);
        resuming.piece = Some(piece);
        if piece == Piece::Anew {
            let mut out = self.out.borrow_mut();
            resuming.stuck = !out.can_forget()?;
            if !resuming.stuck {
                out.rewind_to(resuming.base)?;
                drop(out);
                self.restart_check()?;
            }
        }
        Ok(())
    }

    fn is_decoded(&self, easy: &Easy) -> bool {
        let options = &self.request.options;
        let is_coded = |headers: &Headers| {
            let fields = headers.of(Origin::Header as u32, None);
            fields.iter().any(|(_, field)| field.name.eq_ignore_ascii_case(b"Content-Encoding"))
        };
        options.is_on(ToolOption::Compressed) && !options.is_on(ToolOption::Raw) && easy.headers(is_coded)
    }

    /// Returns the error of an attempt whose reply does not continue the file.
    pub fn resumed(&self, code: i32) -> Option<(i32, String)> {
        let mut resuming = self.resuming.borrow_mut();
        let resuming = resuming.as_mut()?;
        let download = resuming.download.as_mut()?;
        if self.condemned.get() {
            download.forget();
        }
        let continues = download.continues();
        if resuming.piece.is_none() && continues && code == 0 && self.examine(resuming).is_err() {
            return Some((WRITE_ERROR, "Failed writing body".into()));
        }
        if resuming.stuck {
            let why = "The server sends the whole file again, and written output can't be undone";
            return Some((RANGE_ERROR, why.into()));
        }
        match resuming.piece {
            Some(Piece::Foreign) => {
                Some((RANGE_ERROR, "The server's reply does not continue the file".into()))
            }
            Some(Piece::Unwanted) if code == 0 => {
                let status = self.answer().1;
                Some((HTTP_ERROR, format!("The requested URL returned error: {status}")))
            }
            _ => None,
        }
    }

    /// Data of the upload is read: the server has accepted it.
    pub(super) fn note_upload_begun(&self) {
        if self.resuming.borrow().as_ref().is_some_and(Resuming::has_resource) {
            return self.keep_upload_place();
        }
        self.with_uploading(|uploading| uploading.begin(&self.env));
    }

    /// Keeps the URL of an upload over HTTP, if the server has named one.
    pub(super) fn keep_upload_place(&self) {
        if !self.resuming.borrow().as_ref().is_some_and(Resuming::has_resource) {
            return;
        }
        let place = self.easy.borrow().as_ref().and_then(Easy::upload_place);
        if let Some(place) = place {
            self.with_uploading(|uploading| uploading.keep(&self.env, &place));
        }
    }

    /// Compares the server's checksum of an uploaded file with that of the source.
    pub fn compare_upload(&self, easy: &Easy) -> Result<(), String> {
        let is_one =
            self.resuming.borrow().as_ref().is_some_and(|resuming| resuming.mode != UploadMode::Plain);
        if !is_one {
            return Ok(());
        }
        if !matches!(*self.upload.borrow(), Upload::File(_) | Upload::Spooled(_)) {
            return Ok(());
        }
        if easy.upload_is_compared() {
            self.env.note("The server's ETags of the upload are those of the source");
            return Ok(());
        }
        let Some(digest) = easy.take_upload_digest().or_else(|| digest_of_reply(easy)) else {
            self.env.note("The server has no checksum of the upload; its size was compared");
            return Ok(());
        };
        let mut upload = self.upload.borrow_mut();
        let read = upload.seek(0).and_then(|_| compare(&mut Source(&mut upload), &digest));
        read.unwrap_or_else(|error| Err(format!("The source can't be read again: {}", os_text(&error))))?;
        self.env
            .note(&format!("The server's {} of the upload is that of the source", digest.function.name()));
        Ok(())
    }

    /// Reports the file of an entry of a saved queue when the first bytes of its content have come.
    pub(super) fn report_opened(&self) {
        let saved = self.saved.borrow();
        let (Some(entry), out) = (saved.as_ref(), self.out.borrow()) else { return };
        if out.bytes > 0 || !out.is_file() {
            return;
        }
        let resuming = self.resuming.borrow();
        let begins = |resuming: &Resuming| matches!(resuming.piece, Some(Piece::First | Piece::Anew));
        if resuming.as_ref().is_some_and(|resuming| !begins(resuming)) {
            return;
        }
        // A file that began at an offset of the user's choice says nothing about that part.
        let is_whole = !matches!(self.request.resume, Some(Resume::At(_)));
        let download = resuming.as_ref().and_then(|resuming| resuming.download.as_ref()).filter(|_| is_whole);
        let marks = download.and_then(Resumption::marks).cloned().unwrap_or_default();
        entry.open(out.name.as_deref().unwrap_or_default(), &marks);
    }

    /// Prepares another attempt: it requests the rest, if possible; otherwise the caller starts again.
    pub fn requests_rest(&self) -> io::Result<bool> {
        let changed = self.changed_source();
        let mut resuming = self.resuming.borrow_mut();
        let Some(resuming) = resuming.as_mut() else { return Ok(false) };
        let easy = self.easy.borrow();
        let Some(easy) = easy.as_ref() else { return Ok(false) };
        resuming.piece = None;
        if !matches!(*self.upload.borrow(), Upload::None) {
            if let Some(size) = changed {
                easy.resume_uploads(resuming.mode, None);
                let set = easy.set(O::InFileSizeLarge, size as i64);
                debug_assert!(set.is_ok(), "the size of a file is in range");
            }
            if resuming.has_resource() {
                return Ok(false);
            }
            resuming.uploaded |= easy.info(|info| info.uploaded()) > 0;
            let begun = resuming.uploading.as_ref().map_or(resuming.uploaded, Uploading::has_begun);
            // The file at the server belongs to this upload, which was started.
            set_offset(easy, if begun { -1 } else { 0 });
            return Ok(false);
        }
        let mut out = self.out.borrow_mut();
        let Some(download) = &mut resuming.download else { return Ok(false) };
        if self.condemned.get() {
            download.forget();
        }
        let asked = download.next(out.start + out.bytes - resuming.base);
        if let Some(request) = &asked {
            out.keep()?;
            if let Some(check) = &mut *self.check.borrow_mut() {
                check.go_on();
            }
            self.env.note(&format!("Requests the rest from byte {}", request.from));
        } else if out.can_forget()? {
            out.rewind_to(resuming.base)?;
            drop(out);
            self.restart_check()?;
        } else if out.start + out.bytes > resuming.base {
            return Err(io::ErrorKind::NotSeekable.into());
        }
        match (&resuming.headers, &asked) {
            (Some(headers), _) => {
                set_offset(easy, if asked.is_some() { 0 } else { resuming.offset });
                self.set_http_range(easy, headers, asked.as_ref());
            }
            (None, Some(request)) => set_offset(easy, request.from as i64),
            (None, None) => set_offset(easy, resuming.offset),
        }
        Ok(asked.is_some())
    }

    fn set_http_range(&self, easy: &Easy, headers: &[Bytes], request: Option<&RestRequest>) {
        let mut headers = headers.to_vec();
        let given = self.request.options.text(O::Range).map(<[u8]>::to_vec);
        let range = request.map(|rest| {
            let to = rest.to.map(|to| to.to_string()).unwrap_or_default();
            format!("{}-{to}", rest.from).into_bytes()
        });
        if let Some(validator) = request.and_then(|rest| rest.if_range.as_ref()) {
            headers.push([b"If-Range: ".as_slice(), validator].concat());
        }
        let range = easy.set(O::Range, range.or(given));
        let list = easy.set(O::HttpHeader, headers);
        debug_assert!(range.is_ok() && list.is_ok(), "any text is one");
    }
}

/// Returns the checksum in a reply to an upload over HTTP. Without content, Repr-Digest is that of the
/// resource (RFC 9530 §3.1), which is then what was uploaded.
fn digest_of_reply(easy: &Easy) -> Option<Digest> {
    let has_content = easy.info(|info| info.downloaded()) > 0;
    if has_content || !matches!(&*easy.effective_method(), b"PUT" | b"PATCH") {
        return None;
    }
    easy.headers(|headers| {
        let fields = headers.of(Origin::Header as u32, None);
        let fields = fields.iter().filter(|(_, field)| field.name.eq_ignore_ascii_case(b"Repr-Digest"));
        let values: Vec<&[u8]> = fields.map(|(_, field)| field.value).collect();
        let (_, sum) = checksum::field::sums(&values.join(b",".as_slice())).into_iter().next()?;
        let function = if sum.algorithm == Algorithm::Sha512 { Function::Sha512 } else { Function::Sha256 };
        Some(Digest { function, value: sum.digest })
    })
}

/// The source of an upload, from its start.
struct Source<'a>(&'a mut Upload);

impl io::Read for Source<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.0 {
            Upload::File(file) => file.read(buf),
            Upload::Spooled(spool) => spool.read(buf, |_| Ok(0)),
            Upload::None | Upload::Stdin(_) | Upload::Trickle(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }
}

fn set_offset(easy: &Easy, offset: i64) {
    let set = easy.set(O::ResumeFromLarge, offset);
    debug_assert!(set.is_ok(), "any offset is one");
}
