//! Multipart forms that may go to another thread.

use std::path::PathBuf;
use std::rc::Rc;

use tables::Code;
use wire::mime::{Content, Escape, Part};

use crate::{Form, FormSource};

/// A form of several parts (multipart/form-data, RFC 7578). Files are opened and read as they are sent.
#[derive(Clone, Debug, Default)]
pub struct Multipart(Vec<Field>);

#[derive(Clone, Debug)]
struct Field {
    name: String,
    filename: Option<String>,
    content_type: Option<String>,
    content: FieldContent,
}

#[derive(Clone, Debug)]
enum FieldContent {
    Bytes(Vec<u8>),
    File(PathBuf),
}

impl Multipart {
    /// Creates a form without parts.
    pub fn new() -> Multipart {
        Multipart::default()
    }

    /// Adds a field.
    pub fn text(self, name: impl Into<String>, value: impl Into<Vec<u8>>) -> Multipart {
        self.with(name.into(), None, None, FieldContent::Bytes(value.into()))
    }

    /// Adds bytes with a file name and a media type.
    pub fn bytes(
        self,
        name: impl Into<String>,
        filename: impl Into<String>,
        content_type: impl Into<String>,
        value: impl Into<Vec<u8>>,
    ) -> Multipart {
        let content = FieldContent::Bytes(value.into());
        self.with(name.into(), Some(filename.into()), Some(content_type.into()), content)
    }

    /// Adds a file under its own name. The media type is guessed from the name.
    pub fn file(self, name: impl Into<String>, path: impl Into<PathBuf>) -> Multipart {
        let path = path.into();
        let filename = path.file_name().map(|name| name.to_string_lossy().into_owned());
        self.with(name.into(), filename, None, FieldContent::File(path))
    }

    fn with(
        mut self,
        name: String,
        filename: Option<String>,
        content_type: Option<String>,
        content: FieldContent,
    ) -> Multipart {
        self.0.push(Field { name, filename, content_type, content });
        self
    }

    /// Converts the form for the engine. A missing file is reported with the reason.
    pub(super) fn form(self) -> Result<Form, (Code, String)> {
        let parts = self.0.into_iter().map(Field::part).collect::<Result<_, _>>()?;
        Ok(Form::new(parts, Escape::Percent))
    }
}

impl Field {
    fn part(self) -> Result<Part<FormSource>, (Code, String)> {
        let content = match self.content {
            FieldContent::Bytes(bytes) => Content::Memory(Rc::from(bytes)),
            FieldContent::File(path) => Form::file(&path)
                .map_err(|e| (Code::ReadError, format!("cannot open {}: {e}", path.display())))?,
        };
        Ok(Part {
            name: Some(self.name.into_bytes()),
            filename: self.filename.map(String::into_bytes),
            content_type: self.content_type.map(String::into_bytes),
            content,
            ..Part::default()
        })
    }
}
