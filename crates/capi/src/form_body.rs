//! Reading a multipart body: `wire::mime` lays it out; this module reads the pieces from memory, files or the
//! application's callback, and passes them through their encoder.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::rc::Rc;

use engine::sys::path as path_of;
use runtime::cell::none_is_borrowed;
use tables::Code;
use tables::constant::{CURL_READFUNC_ABORT, CURL_READFUNC_PAUSE, CURL_SEEKFUNC_OK};
use wire::mime::{self, Body, Content, Encoding, Escape, Part, Piece};

pub type ReadFn = unsafe extern "C-unwind" fn(*mut c_char, usize, usize, *mut c_void) -> usize;
pub type SeekFn = unsafe extern "C-unwind" fn(*mut c_void, i64, c_int) -> c_int;
pub type FreeFn = unsafe extern "C-unwind" fn(*mut c_void);

/// The arguments of `curl_mime_data_cb`; its free function is called when the last user drops it.
pub struct Callback {
    size: i64,
    read: ReadFn,
    seek: Option<SeekFn>,
    free: Option<FreeFn>,
    arg: *mut c_void,
    /// Something was read: another pass needs a seek.
    used: Cell<bool>,
}

impl Callback {
    pub fn new(
        size: i64,
        read: ReadFn,
        seek: Option<SeekFn>,
        free: Option<FreeFn>,
        arg: *mut c_void,
    ) -> Callback {
        Callback { size, read, seek, free, arg, used: Cell::new(false) }
    }

    /// Returns a second reader with the same functions and argument.
    pub fn again(&self) -> Callback {
        Callback::new(self.size, self.read, self.seek, self.free, self.arg)
    }

    fn rewind(&self) -> Result<(), Code> {
        if !self.used.get() {
            return Ok(());
        }
        let seek = self.seek.ok_or(Code::SendFailRewind)?;
        none_is_borrowed();
        // SAFETY: the application's function with its own argument.
        if unsafe { seek(self.arg, 0, libc::SEEK_SET) } != CURL_SEEKFUNC_OK as c_int {
            return Err(Code::SendFailRewind);
        }
        self.used.set(false);
        Ok(())
    }

    fn read(&self, buffer: &mut [u8]) -> Got {
        self.used.set(true);
        none_is_borrowed();
        // SAFETY: the application's function; the buffer has the given length.
        let got = unsafe { (self.read)(buffer.as_mut_ptr().cast(), 1, buffer.len(), self.arg) };
        match got {
            CURL_READFUNC_ABORT_ => Got::Abort,
            CURL_READFUNC_PAUSE_ => Got::Pause,
            got if got > buffer.len() => Got::TooMany,
            got => Got::Bytes(got),
        }
    }
}

const CURL_READFUNC_ABORT_: usize = CURL_READFUNC_ABORT as usize;
const CURL_READFUNC_PAUSE_: usize = CURL_READFUNC_PAUSE as usize;

impl Drop for Callback {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            none_is_borrowed();
            // SAFETY: the application's function with its own argument, once.
            unsafe { free(self.arg) }
        }
    }
}

/// The source of a piece.
pub enum Source {
    /// A file, opened when its turn comes.
    File(Vec<u8>),
    Callback(Rc<Callback>),
}

impl Source {
    pub fn file(path: Vec<u8>) -> Result<Content<Source>, Code> {
        let metadata = std::fs::metadata(path_of(&path)).map_err(|_| Code::ReadError)?;
        let size = metadata.is_file().then_some(metadata.len());
        Ok(Content::Source { source: Source::File(path.clone()), size, path: Some(path) })
    }

    pub fn callback(callback: Rc<Callback>) -> Content<Source> {
        let size = u64::try_from(callback.size).ok();
        Content::Source { source: Source::Callback(callback), size, path: None }
    }

    pub fn readable(path: &[u8]) -> bool {
        File::open(path_of(path)).is_ok()
    }
}

/// Answer of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    /// 0: the end.
    Bytes(usize),
    Pause,
    Abort,
    TooMany,
}

/// A pass over a form.
pub struct FormBody {
    body: Body<Source>,
    next: usize,
    /// Bytes ready to be handed out, from `taken` on.
    ready: Rc<[u8]>,
    taken: usize,
    current: Option<Current>,
    /// The answer of a source that comes behind bytes that have been read.
    held_back: Option<Got>,
}

/// A source being read.
struct Current {
    input: Input,
    encoding: Option<Encoding>,
    left: Option<u64>,
}

enum Input {
    File(File),
    Callback(Rc<Callback>),
}

impl FormBody {
    pub fn open(parts: Vec<Part<Source>>, kind: Option<&[u8]>, escape: Escape) -> Result<FormBody, Code> {
        rewind_all(&parts)?;
        FormBody::of(mime::form(parts, kind, escape, &mut engine::mime::boundary))
    }

    /// Opens the parts as a mail, whose head has these lines.
    pub fn open_mail(parts: Vec<Part<Source>>, headers: &[Vec<u8>]) -> Result<FormBody, Code> {
        rewind_all(&parts)?;
        FormBody::of(mime::mail(parts, headers, &mut engine::mime::boundary))
    }

    fn of(body: Result<Body<Source>, mime::Unsendable>) -> Result<FormBody, Code> {
        let body = body.map_err(|why| match why {
            mime::Unsendable::NotSevenBit => Code::ReadError,
            mime::Unsendable::LineBreak => Code::BadFunctionArgument,
        })?;
        Ok(FormBody { body, next: 0, ready: Rc::from([]), taken: 0, current: None, held_back: None })
    }

    pub fn content_type(&self) -> &[u8] {
        &self.body.content_type
    }

    pub fn size(&self) -> Option<u64> {
        self.body.size
    }

    /// Reads the next bytes. One read may combine several pieces, but asks a source only once: as with curl,
    /// a chunk of a chunked upload has what the application returned from one call, and the text of the form
    /// around it.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<Got, Code> {
        if let Some(answer) = self.held_back.take() {
            return Ok(answer);
        }
        let mut filled = 0;
        let mut asked = false;
        while filled < buffer.len() {
            if self.taken < self.ready.len() {
                let len = (buffer.len() - filled).min(self.ready.len() - self.taken);
                buffer[filled..filled + len].copy_from_slice(&self.ready[self.taken..self.taken + len]);
                (filled, self.taken) = (filled + len, self.taken + len);
            } else if let Some(current) = &self.current {
                let asks = current.left != Some(0);
                if asks && asked && filled > 0 {
                    break;
                }
                asked |= asks;
                match self.read_source(&mut buffer[filled..])? {
                    Got::Bytes(len) => filled += len,
                    // Data that was read already comes first.
                    other if filled > 0 => {
                        self.held_back = Some(other);
                        break;
                    }
                    other => return Ok(other),
                }
            } else if !self.next_piece()? {
                break;
            }
        }
        Ok(Got::Bytes(filled))
    }

    fn next_piece(&mut self) -> Result<bool, Code> {
        if self.next == self.body.pieces.len() {
            return Ok(false);
        }
        match &self.body.pieces[self.next] {
            Piece::Bytes(bytes) => (self.ready, self.taken) = (bytes.clone(), 0),
            Piece::Source { source, encoder, size } => {
                let input = match source {
                    Source::File(path) => {
                        Input::File(File::open(path_of(path)).map_err(|_| Code::ReadError)?)
                    }
                    Source::Callback(callback) => Input::Callback(callback.clone()),
                };
                self.current = Some(Current { input, encoding: encoder.map(Encoding::new), left: *size });
            }
        }
        self.next += 1;
        Ok(true)
    }

    /// Read from the current source: bytes into the buffer, or 0 when they are in `ready` or the source has
    /// ended.
    fn read_source(&mut self, buffer: &mut [u8]) -> Result<Got, Code> {
        let Some(current) = &mut self.current else { return Ok(Got::Bytes(0)) };
        // At most the announced size, even if the file has grown.
        let room = current
            .left
            .map_or(buffer.len(), |left| buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
        let got = if room == 0 { Got::Bytes(0) } else { current.input.read(&mut buffer[..room])? };
        let Got::Bytes(len) = got else { return Ok(got) };
        current.left = current.left.map(|left| left - len as u64);
        if len == 0 && current.left.is_some_and(|left| left > 0) {
            return Err(Code::ReadError); // shorter than announced
        }
        let Some(encoding) = &mut current.encoding else {
            if len == 0 {
                self.current = None;
            }
            return Ok(got);
        };
        let mut encoded = Vec::new();
        if len == 0 {
            encoding.finish(&mut encoded);
            self.current = None;
        } else {
            encoding.push(&buffer[..len], &mut encoded).map_err(|_| Code::ReadError)?;
        }
        (self.ready, self.taken) = (encoded.into(), 0);
        Ok(Got::Bytes(0))
    }
}

impl Input {
    fn read(&mut self, buffer: &mut [u8]) -> Result<Got, Code> {
        match self {
            Input::Callback(callback) => Ok(callback.read(buffer)),
            Input::File(file) => loop {
                match file.read(buffer) {
                    Ok(len) => return Ok(Got::Bytes(len)),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => return Err(Code::ReadError),
                }
            },
        }
    }
}

/// Callbacks start over; files do so by being opened.
fn rewind_all(parts: &[Part<Source>]) -> Result<(), Code> {
    for part in parts {
        match &part.content {
            Content::Source { source: Source::Callback(callback), .. } => callback.rewind()?,
            Content::Parts(parts) => rewind_all(parts)?,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &mut FormBody, chunk: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut buffer = vec![0; chunk];
        loop {
            match body.read(&mut buffer).unwrap() {
                Got::Bytes(0) => return out,
                Got::Bytes(len) => out.extend_from_slice(&buffer[..len]),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn any_buffer_size_reads_the_same_length_as_announced() {
        let path = std::env::temp_dir().join(format!("form-body-{}", std::process::id()));
        std::fs::write(&path, [0xff; if cfg!(miri) { 50 } else { 1000 }]).unwrap();
        for chunk in [1, 7, 64, 4096] {
            let part = |encoder| Part {
                name: Some(b"file".to_vec()),
                encoder,
                content: Source::file(path.to_str().unwrap().into()).unwrap(),
                ..Part::default()
            };
            let parts = vec![part(None), part(Some(mime::Encoder::Base64))];
            let mut body = FormBody::open(parts, None, Escape::Percent).unwrap();
            let size = body.size().unwrap();
            assert_eq!(text(&mut body, chunk).len() as u64, size);
        }
        std::fs::remove_file(path).unwrap();
    }
}
