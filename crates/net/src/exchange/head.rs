//! The parts of a reply's head as values, and how a reply is to be read.

use wire::h2::Fields;
use wire::http1::framing::BadCoding;
use wire::http1::status::BadStatus;
use wire::http1::{BadOctet, HeaderLine, StatusLine};

use super::body::Body;

/// How a reply is to be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplyRules {
    /// The request was HEAD: no body follows.
    pub head_only: bool,
    /// Content-Length is ignored (CURLOPT_IGNORE_CONTENT_LENGTH).
    pub ignore_length: bool,
    /// Transfer codings are not decoded (CURLOPT_HTTP_TRANSFER_DECODING).
    pub raw: bool,
    /// Codings other than chunked were requested (CURLOPT_TRANSFER_ENCODING).
    pub codings: bool,
    /// How many bytes a second are read at most, where that is limited: no more needs to be on its way.
    pub rate: Option<u64>,
    pub dialect: Dialect,
}

/// Protocols with the message format of HTTP/1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    #[default]
    Http,
    /// Another first line, and no body without a length (RFC 2326 §4.4).
    Rtsp,
}

/// A part of a reply's head, or a trailer field.
#[derive(Debug)]
pub struct HeadPart<'a> {
    /// The line as an application sees it, with its line ending, whatever the wire format.
    pub line: &'a [u8],
    /// The parsed line.
    pub item: Result<HeadItem<'a>, HeadError>,
    /// The body as described so far; set on the end of the head and on a length only.
    pub body: Option<Body>,
}

/// The content of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadItem<'a> {
    /// The status of the reply, and the version in which it is.
    Status(StatusLine),
    Field(HeaderLine<'a>),
    /// The head has ended.
    End,
}

/// A fault of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadError {
    Status(BadStatus),
    /// The first line is not RTSP.
    NotRtsp,
    /// A forbidden octet; in a first line that can still be read, with its status.
    Octet(BadOctet, Option<StatusLine>),
    /// A field without a colon.
    NoColon,
    /// Content-Length is not a number, or contradicts an earlier one.
    Length,
    Coding(BadCoding),
}

/// A head of a reply on a stream.
#[derive(Debug)]
pub struct Head {
    pub status: u16,
    /// In order, without pseudo-fields.
    pub fields: Fields,
    /// Neither body nor trailers follow.
    pub end: bool,
}
