//! Framing of an HTTP/1 reply, decided from the head's parts as they are read: where the body ends
//! (RFC 9112 §6.3) and whether the connection stays open (§9.3).

use std::hint::cold_path;

use wire::http1::framing::{BadCoding, BadLength, Length, content_length};
use wire::http1::status::{ALIAS, Opening, opening};
use wire::http1::{BadOctet, HeaderLine, StatusLine, TransferCodings, check_octets, continue_line};

use super::body::Body;
use super::head::{Dialect, HeadError, ReplyRules};

/// How a reply's body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFraming {
    /// There is no body.
    None,
    /// After so many bytes.
    Length(u64),
    /// With the last chunk.
    Chunked,
    /// Ends with the last chunk; the chunked coding is not decoded.
    ChunkedRaw,
    /// With the connection.
    UntilClose,
}

/// Status of a response that switches to a protocol that the application requested in a field of its own. The
/// bytes after the head go to the application until the connection ends.
const SWITCHING: u16 = 101;

/// Maximum length of an unwanted body that is read: a longer one costs more than a new connection.
const DRAINED: u64 = 1024 * 1024;

/// The framing as far as the parts of one head decide it.
#[derive(Default)]
pub(super) struct HeadFraming {
    pub reading: ReplyRules,
    status: u16,
    version: u8,
    /// No body follows such a status line; fields that describe one are ignored.
    bodyless: bool,
    keep_alive: bool,
    length: Option<u64>,
    overflow: bool,
    codings: TransferCodings,
    /// The head has ended.
    ended: bool,
    /// The server closed before the empty line.
    cut_off: bool,
}

impl HeadFraming {
    /// Starts a head.
    pub fn begin(&mut self, status: StatusLine) {
        *self = HeadFraming {
            reading: self.reading,
            status: status.code,
            version: status.version,
            keep_alive: status.version >= 11,
            bodyless: status.is_bodyless(),
            ..HeadFraming::default()
        };
    }

    /// Takes in a field. The length of the name rules out nearly every field that does not matter here.
    /// Always inlined: as a call it takes 260 instructions more for a reply of nginx, 1.3 % of a kept GET.
    #[inline(always)]
    pub fn field(&mut self, field: &HeaderLine<'_>) -> Result<(), HeadError> {
        match field.name.len() {
            10 if field.is("connection") => self.connection(field),
            14 if !self.bodyless && field.is("content-length") => {
                self.content_length(field.value).map_err(|BadLength| HeadError::Length)?
            }
            16 if field.is("proxy-connection") => self.proxy_connection(field),
            // curl does not judge the coding of a body that will not come.
            17 if !self.bodyless && !self.reading.head_only && field.is("transfer-encoding") => {
                self.transfer_encoding(field.value).map_err(HeadError::Coding)?
            }
            _ => {}
        }
        Ok(())
    }

    /// Marks the end of the head.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Marks a head that the server broke off by closing.
    pub fn cut_off(&mut self) {
        (self.cut_off, self.ended) = (true, true);
    }

    /// Returns the codings other than chunked, in the order in which they were applied.
    pub fn codings(&self) -> &[u8] {
        &self.codings.others
    }

    /// Returns the description of the body.
    pub fn body(&self) -> Body {
        let framing = self.framing();
        let coded = self.codings.hide_length();
        Body {
            exists: self.exists(),
            // RFC 9112 §6.3: the transfer coding wins, once both can no longer be an error.
            length: self.length.filter(|_| !(coded && self.ended)),
            overflow: self.overflow,
            coded,
            until_close: framing == BodyFraming::UntilClose,
            worth_draining: match framing {
                BodyFraming::Length(length) => length <= DRAINED,
                BodyFraming::None | BodyFraming::Chunked | BodyFraming::ChunkedRaw => true,
                BodyFraming::UntilClose => false,
            },
            keep_alive: self.keep_alive && !self.cut_off,
        }
    }

    pub fn framing(&self) -> BodyFraming {
        if !self.exists() || self.cut_off && !self.codings.chunked {
            BodyFraming::None
        } else if self.version == 9 || self.status == SWITCHING {
            BodyFraming::UntilClose
        } else if self.codings.chunked && self.reading.raw {
            BodyFraming::ChunkedRaw
        } else if self.codings.chunked {
            BodyFraming::Chunked
        } else if let Some(length) = self.length.filter(|_| !self.codings.hide_length()) {
            BodyFraming::Length(length)
        } else if self.reading.dialect == Dialect::Rtsp {
            BodyFraming::Length(0)
        } else {
            BodyFraming::UntilClose
        }
    }

    fn exists(&self) -> bool {
        !self.reading.head_only && (!self.bodyless || self.status == SWITCHING)
    }

    fn content_length(&mut self, value: &[u8]) -> Result<(), BadLength> {
        if self.reading.ignore_length {
            return Ok(());
        }
        match content_length(value)? {
            Length::Bytes(length) if self.length.is_some_and(|known| known != length) => Err(BadLength),
            Length::Bytes(length) => {
                self.length = Some(length);
                Ok(())
            }
            Length::Overflow => {
                (self.overflow, self.keep_alive) = (true, false);
                Ok(())
            }
        }
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), BadCoding> {
        self.codings.add(value, self.reading.codings, self.reading.raw)
    }

    fn connection(&mut self, field: &HeaderLine<'_>) {
        if field.has_token("close") {
            self.keep_alive = false;
        } else if self.version == 10 && field.has_token("keep-alive") {
            self.keep_alive = true;
        }
    }

    fn proxy_connection(&mut self, field: &HeaderLine<'_>) {
        if self.version == 10 && field.has_token("keep-alive") {
            self.keep_alive = true;
        } else if field.has_token("close") {
            self.keep_alive = false;
        }
    }
}

impl Dialect {
    /// Classifies the first bytes of a head.
    pub(super) fn opening(self, bytes: &[u8]) -> Opening {
        match self {
            Dialect::Http => opening(bytes),
            Dialect::Rtsp => wire::rtsp::opening(bytes),
        }
    }
}

/// Parses the first line. An opening that is not HTTP is one that the application accepts as a 200.
pub(super) fn status(line: &[u8], dialect: Dialect) -> Result<StatusLine, HeadError> {
    match opening(line) {
        _ if dialect == Dialect::Rtsp => {
            cold_path();
            wire::rtsp::status(line).ok_or(HeadError::NotRtsp)
        }
        Opening::Http => StatusLine::parse(line).map_err(HeadError::Status),
        _ => Ok(ALIAS),
    }
}

/// Joins the lines of a folded field (RFC 9112 §5.2) with one blank each.
pub(super) fn unfold(part: &[u8], joined: &mut Vec<u8>) -> Result<(), BadOctet> {
    joined.clear();
    for line in part.split_inclusive(|b| *b == b'\n') {
        check_octets(line)?;
        if joined.is_empty() {
            joined.extend_from_slice(line);
            continue;
        }
        continue_line(joined, line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(code: u16, version: u8, lines: &[&str]) -> (BodyFraming, bool) {
        let mut head = HeadFraming::default();
        head.begin(StatusLine { version, code });
        for line in lines {
            head.field(&HeaderLine::parse(line.as_bytes()).unwrap()).unwrap();
        }
        assert_eq!(head.body().until_close, head.framing() == BodyFraming::UntilClose);
        (head.framing(), head.body().keep_alive)
    }

    #[test]
    fn body_framings() {
        assert_eq!(framed(200, 11, &["Content-Length: 5"]), (BodyFraming::Length(5), true));
        assert_eq!(
            framed(200, 11, &["Content-Length: 5", "Transfer-Encoding: chunked"]).0,
            BodyFraming::Chunked
        );
        assert_eq!(framed(204, 11, &["Content-Length: 5"]), (BodyFraming::None, true));
        assert_eq!(framed(200, 11, &[]), (BodyFraming::UntilClose, true));
        assert_eq!(framed(101, 11, &[]).0, BodyFraming::UntilClose);
        assert_eq!(
            framed(200, 11, &["Content-Length: 99999999999999999999"]),
            (BodyFraming::UntilClose, false)
        );
    }

    /// A transfer that ends within the head reports a length, whatever the coding.
    #[test]
    fn a_coding_wins_at_the_end_of_the_head() {
        let mut head = HeadFraming::default();
        head.begin(StatusLine { version: 11, code: 200 });
        for line in ["Transfer-Encoding: chunked", "Content-Length: 6"] {
            head.field(&HeaderLine::parse(line.as_bytes()).unwrap()).unwrap();
        }
        assert_eq!(head.body().length, Some(6));
        head.end();
        assert_eq!((head.body().length, head.framing()), (None, BodyFraming::Chunked));
    }

    #[test]
    fn persistence_of_connections() {
        assert!(!framed(200, 10, &["Content-Length: 5"]).1);
        assert!(framed(200, 10, &["Content-Length: 5", "Connection: a, Keep-Alive"]).1);
        assert!(framed(200, 10, &["Proxy-Connection: keep-alive"]).1);
        assert!(!framed(200, 11, &["Connection: close"]).1);
        assert!(!framed(200, 11, &["PROXY-CONNECTION: close"]).1);
    }

    /// The head of one response does not affect the next.
    #[test]
    fn an_interim_reply_leaves_nothing_behind() {
        let mut head = HeadFraming {
            reading: ReplyRules { head_only: true, ..ReplyRules::default() },
            ..HeadFraming::default()
        };
        head.begin(StatusLine { version: 11, code: 103 });
        head.field(&HeaderLine::parse(b"Connection: close").unwrap()).unwrap();
        head.begin(StatusLine { version: 11, code: 200 });
        assert!(head.body().keep_alive && !head.body().exists);
    }
}
