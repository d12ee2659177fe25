//! The parts of a multipart body, as described by `--form`.

use crate::bytes::Bytes;

/// A part of a multipart body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    pub name: Option<Bytes>,
    pub content: Content,
    pub mime_type: Option<Bytes>,
    pub filename: Option<Bytes>,
    pub encoder: Option<Bytes>,
    pub headers: Vec<Bytes>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Data(Bytes),
    /// `@file`: uploaded under its name.
    Upload(Bytes),
    /// `<file`: only its content counts.
    FileData(Bytes),
    Parts(Vec<Part>),
}

impl Default for Content {
    fn default() -> Content {
        Content::Data(Bytes::new())
    }
}
