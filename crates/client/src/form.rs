//! Multipart forms from memory, files and readers.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use engine::callbacks::ReadAnswer;
use engine::mime::{MimeReader, MimeSource, boundary};
use engine::{Error, Result};
use tables::Code;
use wire::mime::{self, Body, Content, Encoding, Escape, Part, Piece, Unsendable};

/// A source of a part's bytes that is not in memory.
#[derive(Clone)]
pub enum FormSource {
    /// A file, opened when its part is sent.
    File(PathBuf),
    /// A stream that can be read only once (standard input).
    Reader(Rc<RefCell<dyn Read>>),
}

/// A multipart form for CURLOPT_MIMEPOST.
pub struct Form {
    parts: Vec<Part<FormSource>>,
    escape: Escape,
}

impl Form {
    /// Creates a form.
    pub fn new(parts: Vec<Part<FormSource>>, escape: Escape) -> Form {
        Form { parts, escape }
    }

    /// Returns the content of a file.
    pub fn file(path: &Path) -> std::io::Result<Content<FormSource>> {
        let meta = std::fs::metadata(path)?;
        Ok(Content::Source {
            source: FormSource::File(path.to_owned()),
            size: meta.is_file().then_some(meta.len()),
            path: Some(engine::sys::name_of(path.as_os_str()).into_owned()),
        })
    }
}

impl MimeSource for Form {
    fn open(&self, kind: Option<&[u8]>) -> Result<Box<dyn MimeReader>> {
        let parts = self.parts.iter().map(copy).collect();
        Pass::of(mime::form(parts, kind, self.escape, &mut boundary))
    }

    fn open_mail(&self, headers: &[Vec<u8>]) -> Result<Box<dyn MimeReader>> {
        let parts = self.parts.iter().map(copy).collect();
        Pass::of(mime::mail(parts, headers, &mut boundary))
    }
}

fn copy(part: &Part<FormSource>) -> Part<FormSource> {
    Part {
        name: part.name.clone(),
        filename: part.filename.clone(),
        content_type: part.content_type.clone(),
        headers: part.headers.clone(),
        encoder: part.encoder,
        content: match &part.content {
            Content::Nothing => Content::Nothing,
            Content::Memory(bytes) => Content::Memory(bytes.clone()),
            Content::Source { source, size, path } => {
                Content::Source { source: source.clone(), size: *size, path: path.clone() }
            }
            Content::Parts(parts) => Content::Parts(parts.iter().map(copy).collect()),
        },
    }
}

/// A pass over a form.
struct Pass {
    content_type: Vec<u8>,
    size: Option<u64>,
    pieces: std::vec::IntoIter<Piece<FormSource>>,
    current: Option<Input>,
}

struct Input {
    reader: Box<dyn Read>,
    encoding: Option<Encoding>,
    ready: Cursor<Vec<u8>>,
    ended: bool,
}

struct Shared(Rc<RefCell<dyn Read>>);

impl Read for Shared {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().read(buf)
    }
}

impl Pass {
    fn of(body: std::result::Result<Body<FormSource>, Unsendable>) -> Result<Box<dyn MimeReader>> {
        let body = body.map_err(|why| match why {
            Unsendable::NotSevenBit => Error::from(Code::ReadError),
            Unsendable::LineBreak => Error::from(Code::BadFunctionArgument),
        })?;
        let pieces = body.pieces.into_iter();
        Ok(Box::new(Pass { content_type: body.content_type, size: body.size, pieces, current: None }))
    }
}

impl MimeReader for Pass {
    fn content_type(&self) -> Option<Vec<u8>> {
        Some(self.content_type.clone())
    }

    fn size(&self) -> Option<u64> {
        self.size
    }

    fn read(&mut self, buf: &mut [u8]) -> Result<ReadAnswer> {
        loop {
            if let Some(input) = &mut self.current {
                let n =
                    input.read(buf).map_err(|e| Error::os(Code::ReadError, "cannot read a form part", &e))?;
                if n > 0 {
                    return Ok(ReadAnswer::Bytes(n));
                }
                self.current = None;
            }
            match self.pieces.next() {
                None => return Ok(ReadAnswer::Bytes(0)),
                Some(piece) => self.current = Some(Input::open(piece)?),
            }
        }
    }
}

impl Input {
    fn open(piece: Piece<FormSource>) -> Result<Input> {
        let (reader, encoding): (Box<dyn Read>, _) = match piece {
            Piece::Bytes(bytes) => (Box::new(Cursor::new(bytes)), None),
            Piece::Source { source: FormSource::File(path), encoder, .. } => {
                let file = File::open(&path)
                    .map_err(|e| Error::os(Code::ReadError, format!("cannot open {}", path.display()), &e))?;
                (Box::new(file), encoder.map(Encoding::new))
            }
            Piece::Source { source: FormSource::Reader(reader), encoder, .. } => {
                (Box::new(Shared(reader)), encoder.map(Encoding::new))
            }
        };
        Ok(Input { reader, encoding, ready: Cursor::default(), ended: false })
    }

    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let Some(encoding) = &mut self.encoding else { return self.reader.read(buf) };
        loop {
            let n = self.ready.read(buf)?;
            if n > 0 || self.ended {
                return Ok(n);
            }
            let mut raw = vec![0; 8 * 1024];
            let got = self.reader.read(&mut raw)?;
            let mut out = Vec::new();
            let coded = if got == 0 {
                self.ended = true;
                encoding.finish(&mut out);
                Ok(())
            } else {
                encoding.push(&raw[..got], &mut out)
            };
            coded.map_err(|_| std::io::Error::other("an octet that 7bit cannot carry"))?;
            self.ready = Cursor::new(out);
        }
    }
}
