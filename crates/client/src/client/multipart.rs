//! Multipart forms that may go to another thread (multipart/form-data, RFC 7578).
//!
//! The engine reads a form of bytes and files itself, and can send it again. A form with a stream becomes a
//! stream as a whole.

mod streamed;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use tables::Code;
use wire::mime::{Content, Escape};

use super::body::{Body, Kind};
use crate::FormSource;

/// A form of several parts. Files are opened and read as they are sent. A form with a stream among its parts
/// cannot be sent again, as a redirect or an authentication challenge may require.
///
/// ```no_run
/// # async fn send(client: warmwire::Client) -> Result<(), Box<dyn std::error::Error>> {
/// use warmwire::multipart::{Form, Part};
/// let notes = Part::bytes(&b"first line\n"[..]).file_name("notes.txt").mime_str("text/plain")?;
/// let form = Form::new().text("name", "value").part("notes", notes).file("photo", "photo.jpg")?;
/// client.post("https://example.com/upload").multipart(form).send().await?.error_for_status()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Form(Vec<(Cow<'static, str>, Part)>);

/// A part of a [`Form`].
#[derive(Debug)]
pub struct Part {
    content: PartContent,
    file_name: Option<Cow<'static, str>>,
    media_type: Option<HeaderValue>,
    headers: HeaderMap,
}

#[derive(Debug)]
enum PartContent {
    Bytes(Bytes),
    File(PathBuf),
    Stream(Body, Option<u64>),
}

impl Form {
    /// Creates a form without parts.
    pub fn new() -> Form {
        Form::default()
    }

    /// Adds a field.
    pub fn text(self, name: impl Into<Cow<'static, str>>, value: impl Into<Cow<'static, str>>) -> Form {
        self.part(name, Part::text(value))
    }

    /// Adds a file under its own name. Fails if the file does not exist.
    pub fn file(self, name: impl Into<Cow<'static, str>>, path: impl AsRef<Path>) -> io::Result<Form> {
        Ok(self.part(name, Part::file(path)?))
    }

    /// Adds a part.
    pub fn part(mut self, name: impl Into<Cow<'static, str>>, part: Part) -> Form {
        self.0.push((name.into(), part));
        self
    }

    /// Copies the form, unless a part is a stream.
    pub(super) fn try_clone(&self) -> Option<Form> {
        let copy = |(name, part): &(Cow<'static, str>, Part)| Some((name.clone(), part.try_clone()?));
        self.0.iter().map(copy).collect::<Option<_>>().map(Form)
    }

    /// Returns whether a part is a stream.
    pub(super) fn is_streamed(&self) -> bool {
        self.0.iter().any(|(_, part)| matches!(part.content, PartContent::Stream(..)))
    }

    /// Converts the form for the engine. A file that has gone is reported with the reason.
    pub(super) fn for_engine(self) -> Result<crate::Form, (Code, String)> {
        let parts =
            self.0.into_iter().map(|(name, part)| part.for_engine(&name)).collect::<Result<_, _>>()?;
        Ok(crate::Form::new(parts, Escape::Percent))
    }
}

impl Part {
    /// Creates a part from text. It gets no Content-Type.
    pub fn text(value: impl Into<Cow<'static, str>>) -> Part {
        Part::of(PartContent::Bytes(match value.into() {
            Cow::Borrowed(text) => Bytes::from_static(text.as_bytes()),
            Cow::Owned(text) => text.into(),
        }))
    }

    /// Creates a part from bytes.
    pub fn bytes(value: impl Into<Cow<'static, [u8]>>) -> Part {
        Part::of(PartContent::Bytes(match value.into() {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => bytes.into(),
        }))
    }

    /// Creates a part from a file, under the file's own name. The media type is guessed from the name. Fails
    /// if the file does not exist.
    pub fn file(path: impl AsRef<Path>) -> io::Result<Part> {
        let path = path.as_ref();
        std::fs::metadata(path)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned().into());
        Ok(Part { file_name: name, ..Part::of(PartContent::File(path.to_owned())) })
    }

    /// Creates a part from a stream or reader. If its length is unknown, HTTP/1.1 uses the chunked coding.
    ///
    /// ```
    /// use warmwire::{Body, multipart::{Form, Part}};
    /// let log = std::io::Cursor::new("first line\n");
    /// let form = Form::new().part("log", Part::stream(Body::new(log)).file_name("log.txt"));
    /// ```
    pub fn stream(value: impl Into<Body>) -> Part {
        let body = value.into();
        match body.0 {
            Kind::Nothing => Part::of(PartContent::Bytes(Bytes::new())),
            Kind::Bytes(bytes) => Part::of(PartContent::Bytes(bytes)),
            Kind::Pieces(pieces) => Part::of(PartContent::Bytes(pieces.concat().into())),
            Kind::Stream(_, length) => Part::of(PartContent::Stream(body, length)),
        }
    }

    /// Creates a part from a stream or reader of this length. Sending fails if the stream has another one.
    pub fn stream_with_length(value: impl Into<Body>, length: u64) -> Part {
        Part::stream(value.into().with_length(length))
    }

    /// Creates a part from a reader, for [`blocking`](crate::blocking) clients; see [`Body::new`].
    pub fn reader(value: impl io::Read + Send + 'static) -> Part {
        Part::stream(Body::new(value))
    }

    /// Creates a part from a reader of this length; see [`reader`](Self::reader).
    pub fn reader_with_length(value: impl io::Read + Send + 'static, length: u64) -> Part {
        Part::stream(Body::sized(value, length))
    }

    fn try_clone(&self) -> Option<Part> {
        let content = match &self.content {
            PartContent::Bytes(bytes) => PartContent::Bytes(bytes.clone()),
            PartContent::File(path) => PartContent::File(path.clone()),
            PartContent::Stream(..) => return None,
        };
        let (file_name, media_type) = (self.file_name.clone(), self.media_type.clone());
        Some(Part { content, file_name, media_type, headers: self.headers.clone() })
    }

    fn of(content: PartContent) -> Part {
        Part { content, file_name: None, media_type: None, headers: HeaderMap::new() }
    }

    /// Sets the name that the server sees as the file's.
    pub fn file_name(mut self, name: impl Into<Cow<'static, str>>) -> Part {
        self.file_name = Some(name.into());
        self
    }

    /// Sets the media type. Fails for text that cannot be a header field.
    pub fn mime_str(mut self, media_type: &str) -> Result<Part, http::header::InvalidHeaderValue> {
        self.media_type = Some(HeaderValue::from_str(media_type)?);
        Ok(self)
    }

    /// Sets further header fields of the part.
    pub fn headers(mut self, headers: HeaderMap) -> Part {
        self.headers = headers;
        self
    }

    fn for_engine(self, name: &str) -> Result<wire::mime::Part<FormSource>, (Code, String)> {
        self.laid_out(name, |content| {
            Ok(match content {
                PartContent::Bytes(bytes) => Content::Memory(Rc::from(&*bytes)),
                PartContent::File(path) => crate::Form::file(&path)
                    .map_err(|e| (Code::ReadError, format!("cannot open {}: {e}", path.display())))?,
                PartContent::Stream(..) => unreachable!("such a form is sent as a stream"),
            })
        })
    }

    /// Converts the part, with its content as `content` converts it.
    fn laid_out<S, E>(
        self,
        name: &str,
        content: impl FnOnce(PartContent) -> Result<Content<S>, E>,
    ) -> Result<wire::mime::Part<S>, E> {
        let content = content(self.content)?;
        let row = |(name, value): (&http::HeaderName, &HeaderValue)| {
            [name.as_str().as_bytes(), b": ", value.as_bytes()].concat()
        };
        Ok(wire::mime::Part {
            name: Some(name.as_bytes().to_vec()),
            filename: self.file_name.map(|name| name.into_owned().into_bytes()),
            content_type: self.media_type.map(|value| value.as_bytes().to_vec()),
            headers: self.headers.iter().map(row).collect(),
            content,
            ..wire::mime::Part::default()
        })
    }
}
