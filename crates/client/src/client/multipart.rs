//! Multipart forms that may go to another thread (multipart/form-data, RFC 7578).

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use tables::Code;
use wire::mime::{Content, Escape};

use crate::FormSource;

/// A form of several parts. Files are opened and read as they are sent.
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
#[derive(Clone, Debug, Default)]
pub struct Form(Vec<(Cow<'static, str>, Part)>);

/// A part of a [`Form`].
#[derive(Clone, Debug)]
pub struct Part {
    content: PartContent,
    file_name: Option<Cow<'static, str>>,
    media_type: Option<HeaderValue>,
    headers: HeaderMap,
}

#[derive(Clone, Debug)]
enum PartContent {
    Bytes(Bytes),
    File(PathBuf),
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
        let content = match self.content {
            PartContent::Bytes(bytes) => Content::Memory(Rc::from(&*bytes)),
            PartContent::File(path) => crate::Form::file(&path)
                .map_err(|e| (Code::ReadError, format!("cannot open {}: {e}", path.display())))?,
        };
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
