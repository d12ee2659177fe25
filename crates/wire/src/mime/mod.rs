//! Multipart bodies (RFC 7578, RFC 2046), laid out like curl's: a tree of parts becomes a flat list of
//! pieces. Some pieces are bytes, others are sources that the caller reads (files, callbacks).
//!
//! Headers and their order, escapes and default types are curl's, because servers are used to them.

mod encode;

pub use encode::{Encoder, Encoding, NotSevenBit};

use std::rc::Rc;

/// A part. `S` is the type of sources.
pub struct Part<S> {
    pub name: Option<Vec<u8>>,
    pub filename: Option<Vec<u8>>,
    pub content_type: Option<Vec<u8>>,
    /// Header lines without line endings.
    pub headers: Vec<Vec<u8>>,
    pub encoder: Option<Encoder>,
    pub content: Content<S>,
}

pub enum Content<S> {
    Nothing,
    Memory(Rc<[u8]>),
    Source {
        source: S,
        size: Option<u64>,
        /// A file: its path, from which the type is guessed.
        path: Option<Vec<u8>>,
    },
    Parts(Vec<Part<S>>),
}

impl<S> Default for Part<S> {
    fn default() -> Part<S> {
        Part {
            name: None,
            filename: None,
            content_type: None,
            headers: Vec::new(),
            encoder: None,
            content: Content::Nothing,
        }
    }
}

/// How quotes in names are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// As browsers do: quote, CR and LF percent-encoded.
    Percent,
    /// CURLMIMEOPT_FORMESCAPE: quote and backslash after a backslash.
    Backslash,
}

/// A run of the body.
pub enum Piece<S> {
    Bytes(Rc<[u8]>),
    /// To be read to its end and passed through the encoder.
    Source {
        source: S,
        encoder: Option<Encoder>,
        size: Option<u64>,
    },
}

pub struct Body<S> {
    /// Without the name of the header.
    pub content_type: Vec<u8>,
    pub pieces: Vec<Piece<S>>,
    /// Of the whole body, when known.
    pub size: Option<u64>,
}

/// Lays out a form. `kind` is the application's own Content-Type header. `boundary` returns a fresh boundary
/// at each call, which no content may contain.
pub fn form<S>(
    parts: Vec<Part<S>>,
    kind: Option<&[u8]>,
    escape: Escape,
    boundary: &mut dyn FnMut() -> String,
) -> Result<Body<S>, Unsendable> {
    let own = boundary();
    let mut layout = Layout::new(escape, false, boundary);
    layout.multipart(parts, &own, disposition_in(kind.unwrap_or(FORM_DATA)))?;
    layout.flush();
    let content_type = format!("multipart/form-data; boundary={own}").into_bytes();
    Ok(Body { content_type, pieces: layout.pieces, size: layout.size })
}

/// Lays out a mail: its head, which has these lines and the MIME headers (RFC 2045), and the parts as its
/// body. Quotes in names are escaped as in mail (RFC 2045 section 5.1), whatever the form's escape.
pub fn mail<S>(
    parts: Vec<Part<S>>,
    headers: &[Vec<u8>],
    boundary: &mut dyn FnMut() -> String,
) -> Result<Body<S>, Unsendable> {
    let own = boundary();
    let given = headers.iter().find(|line| is_header(line, "Content-Type"));
    let given = given.map(|line| line["Content-Type:".len()..].trim_ascii()).filter(|kind| !kind.is_empty());
    let kind = given.unwrap_or(b"multipart/mixed");
    let content_type = [kind, b"; boundary=", own.as_bytes()].concat();
    let mut layout = Layout::new(Escape::Backslash, true, boundary);
    layout.put(&[b"Content-Type: ", &content_type, b"\r\n"]);
    if !headers.iter().any(|line| is_header(line, "Mime-Version")) {
        layout.put(&[b"Mime-Version: 1.0\r\n"]);
    }
    for line in headers.iter().filter(|line| !is_header(line, "Content-Type")) {
        layout.put(&[line, b"\r\n"]);
    }
    layout.put(&[b"\r\n"]);
    layout.multipart(parts, &own, disposition_in(kind))?;
    layout.flush();
    Ok(Body { content_type, pieces: layout.pieces, size: layout.size })
}

/// Why a form or a mail cannot be laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsendable {
    /// [`NotSevenBit`]: the source cannot be sent in the 7bit encoding.
    NotSevenBit,
    /// A line break in a type, in a header line, or in a name that is escaped with backslashes: it would
    /// inject a header.
    LineBreak,
}

impl From<NotSevenBit> for Unsendable {
    fn from(_: NotSevenBit) -> Unsendable {
        Unsendable::NotSevenBit
    }
}

const FORM_DATA: &[u8] = b"multipart/form-data";

/// Returns the disposition of parts in a multipart of this type: only a form's parts are form data (RFC 7578
/// section 4.2).
fn disposition_in(kind: &[u8]) -> Option<&'static str> {
    let is_form = kind.get(..FORM_DATA.len()).is_some_and(|start| start.eq_ignore_ascii_case(FORM_DATA));
    let ends = kind.get(FORM_DATA.len()).is_none_or(|next| b"; \t".contains(next));
    (is_form && ends).then_some("form-data")
}

/// The type that curl guesses from a file name's ending.
pub fn guess_type(name: &[u8]) -> Option<&'static str> {
    const TYPES: [(&str, &str); 10] = [
        (".gif", "image/gif"),
        (".jpg", "image/jpeg"),
        (".jpeg", "image/jpeg"),
        (".png", "image/png"),
        (".svg", "image/svg+xml"),
        (".txt", "text/plain"),
        (".htm", "text/html"),
        (".html", "text/html"),
        (".pdf", "application/pdf"),
        (".xml", "application/xml"),
    ];
    let ends = |ending: &str| {
        let start = name.len().checked_sub(ending.len());
        start.is_some_and(|start| name[start..].eq_ignore_ascii_case(ending.as_bytes()))
    };
    TYPES.iter().find(|(ending, _)| ends(ending)).map(|(_, kind)| *kind)
}

/// The type of a file whose name does not reveal it.
pub const FILE_TYPE: &str = "application/octet-stream";

struct Layout<'a, S> {
    pieces: Vec<Piece<S>>,
    /// Bytes that are not yet a piece: heads of parts are appended to the preceding bytes.
    text: Vec<u8>,
    size: Option<u64>,
    escape: Escape,
    /// Whether it is a mail. Parts of a mail name their encoding, and are plain text unless known otherwise,
    /// whatever their file name.
    mail: bool,
    boundary: &'a mut dyn FnMut() -> String,
}

impl<'a, S> Layout<'a, S> {
    fn new(escape: Escape, mail: bool, boundary: &'a mut dyn FnMut() -> String) -> Layout<'a, S> {
        Layout { pieces: Vec::new(), text: Vec::new(), size: Some(0), escape, mail, boundary }
    }

    fn multipart(
        &mut self,
        parts: Vec<Part<S>>,
        boundary: &str,
        disposition: Option<&str>,
    ) -> Result<(), Unsendable> {
        let mut line_end: &[u8] = b"";
        for part in parts {
            self.put(&[line_end, b"--", boundary.as_bytes(), b"\r\n"]);
            self.part(part, disposition)?;
            line_end = b"\r\n";
        }
        self.put(&[line_end, b"--", boundary.as_bytes(), b"--\r\n"]);
        Ok(())
    }

    fn part(&mut self, part: Part<S>, disposition: Option<&str>) -> Result<(), Unsendable> {
        self.check_names(&part)?;
        check_lines(&part)?;
        let inner = matches!(part.content, Content::Parts(_)).then(|| (self.boundary)());
        let inside = self.content_type(&part).and_then(|kind| disposition_in(&kind));
        self.head(&part, inner.as_deref(), disposition);
        match part.content {
            Content::Nothing => {}
            Content::Memory(bytes) => self.memory(bytes, part.encoder)?,
            Content::Source { source, size, .. } => {
                self.flush();
                let encoded = match part.encoder {
                    None => size,
                    Some(encoder) => size.and_then(|size| encoder.encoded_size(size)),
                };
                self.size = self.size.zip(encoded).map(|(sum, size)| sum + size);
                self.pieces.push(Piece::Source { source, encoder: part.encoder, size });
            }
            Content::Parts(parts) => self.multipart(parts, &inner.unwrap_or_default(), inside)?,
        }
        Ok(())
    }

    /// Refuses a line break in a name: it would inject a header. Percent encoding can represent it, a
    /// backslash cannot.
    fn check_names(&self, part: &Part<S>) -> Result<(), Unsendable> {
        let breaks = |text: &Vec<u8>| has_line_break(text);
        let written = self.escape == Escape::Backslash
            && !part.headers.iter().any(|line| is_header(line, "Content-Disposition"));
        let named = [&part.name, &part.filename].into_iter().flatten().any(breaks);
        if written && named { Err(Unsendable::LineBreak) } else { Ok(()) }
    }

    fn memory(&mut self, bytes: Rc<[u8]>, encoder: Option<Encoder>) -> Result<(), Unsendable> {
        /// From this length on the application's bytes are not copied together with heads.
        const OWN_PIECE: usize = 4096;
        if let Some(encoder) = encoder {
            let mut encoding = Encoding::new(encoder);
            let mut encoded = Vec::new();
            encoding.push(&bytes, &mut encoded)?;
            encoding.finish(&mut encoded);
            self.put(&[&encoded]);
            if !self.mail && encoder.encoded_size(bytes.len() as u64).is_none() {
                // The size of a form is unknown whether the part is memory or a file (curl_mime_encoder(3)).
                // A mail keeps its size if known, because IMAP requires one.
                self.size = None;
            }
        } else if bytes.len() < OWN_PIECE {
            self.put(&[&bytes]);
        } else {
            self.flush();
            self.size = self.size.map(|sum| sum + bytes.len() as u64);
            self.pieces.push(Piece::Bytes(bytes));
        }
        Ok(())
    }

    fn head(&mut self, part: &Part<S>, boundary: Option<&str>, disposition: Option<&str>) {
        let own = |name: &str| part.headers.iter().any(|line| is_header(line, name));
        let kind = self.content_type(part);
        if !own("Content-Disposition") {
            let multipart = kind.as_deref().is_some_and(|kind| kind.starts_with(b"multipart/"));
            let named = part.name.is_some() || part.filename.is_some();
            let disposition = disposition.or((named || multipart).then_some("attachment"));
            if let Some(disposition) = disposition.filter(|value| *value != "attachment" || named) {
                self.disposition(part, disposition);
            }
        }
        let has_kind = kind.is_some();
        if let Some(kind) = kind {
            self.put(&[b"Content-Type: ", &kind]);
            if let Some(boundary) = boundary {
                self.put(&[b"; boundary=", boundary.as_bytes()]);
            }
            self.put(&[b"\r\n"]);
        }
        let eight_bit = (self.mail && has_kind && boundary.is_none()).then_some("8bit");
        let coding = part.encoder.map(Encoder::name).or(eight_bit);
        if let Some(coding) = coding.filter(|_| !own("Content-Transfer-Encoding")) {
            self.put(&[b"Content-Transfer-Encoding: ", coding.as_bytes(), b"\r\n"]);
        }
        for line in part.headers.iter().filter(|line| !is_header(line, "Content-Type")) {
            self.put(&[line, b"\r\n"]);
        }
        self.put(&[b"\r\n"]);
    }

    fn disposition(&mut self, part: &Part<S>, disposition: &str) {
        self.put(&[b"Content-Disposition: ", disposition.as_bytes()]);
        for (key, value) in [("name", &part.name), ("filename", &part.filename)] {
            if let Some(value) = value {
                let value = escaped(value, self.escape);
                self.put(&[b"; ", key.as_bytes(), b"=\"", &value, b"\""]);
            }
        }
        self.put(&[b"\r\n"]);
    }

    /// Returns the type of a part: the application's, or else a guess from its kind and file name.
    fn content_type(&self, part: &Part<S>) -> Option<Vec<u8>> {
        let header = part.headers.iter().find(|line| is_header(line, "Content-Type"));
        let value = |line: &Vec<u8>| line["Content-Type:".len()..].trim_ascii().to_vec();
        let given = part.content_type.clone().or_else(|| header.map(value));
        if given.is_some() {
            return given;
        }
        let guess = |name: &Option<Vec<u8>>| name.as_deref().and_then(guess_type);
        let guessed = match &part.content {
            Content::Parts(_) => return Some(b"multipart/mixed".to_vec()),
            Content::Source { path: Some(path), .. } => {
                guess(&part.filename).or(guess_type(path)).or(part.filename.as_ref().map(|_| FILE_TYPE))
            }
            _ => guess(&part.filename),
        };
        // Plain text without a file name is the default in a form, and in a mail for any part.
        guessed
            .filter(|kind| *kind != "text/plain" || part.filename.is_some() && !self.mail)
            .map(|kind| kind.as_bytes().to_vec())
    }

    fn put(&mut self, texts: &[&[u8]]) {
        for text in texts {
            self.text.extend_from_slice(text);
            self.size = self.size.map(|sum| sum + text.len() as u64);
        }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.pieces.push(Piece::Bytes(std::mem::take(&mut self.text).into()));
        }
    }
}

fn has_line_break(text: &[u8]) -> bool {
    text.iter().any(|octet| matches!(octet, b'\r' | b'\n'))
}

/// Refuses a type or a header line that would put another line into the part's head. A header may be folded
/// (RFC 5322 §2.2.3).
fn check_lines<S>(part: &Part<S>) -> Result<(), Unsendable> {
    let breaks_type = part.content_type.as_deref().is_some_and(has_line_break);
    let breaks_line = |line: &Vec<u8>| {
        let mut rest = &line[..];
        while let Some(at) = rest.iter().position(|octet| matches!(octet, b'\r' | b'\n')) {
            let break_of = if rest[at..].starts_with(b"\r\n") { 2 } else { 1 };
            rest = &rest[at + break_of..];
            if break_of == 1 || !matches!(rest.first(), Some(b' ' | b'\t')) {
                return true;
            }
        }
        false
    };
    match breaks_type || part.headers.iter().any(breaks_line) {
        true => Err(Unsendable::LineBreak),
        false => Ok(()),
    }
}

fn is_header(line: &[u8], name: &str) -> bool {
    line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        && line.get(name.len()) == Some(&b':')
}

fn escaped(value: &[u8], escape: Escape) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for &byte in value {
        match (escape, byte) {
            (Escape::Percent, b'"') => out.extend_from_slice(b"%22"),
            (Escape::Percent, b'\r') => out.extend_from_slice(b"%0D"),
            (Escape::Percent, b'\n') => out.extend_from_slice(b"%0A"),
            (Escape::Backslash, b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
            _ => out.push(byte),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(text: &str) -> Content<()> {
        Content::Memory(text.as_bytes().into())
    }

    fn laid_out(parts: Vec<Part<()>>, escape: Escape) -> String {
        let mut count = 0;
        let mut boundary = || {
            count += 1;
            format!("B{count}")
        };
        let body = form(parts, None, escape, &mut boundary).unwrap();
        let mut text = Vec::new();
        for piece in &body.pieces {
            match piece {
                Piece::Bytes(bytes) => text.extend_from_slice(bytes),
                Piece::Source { size, .. } => text.resize(text.len() + size.unwrap() as usize, b'#'),
            }
        }
        assert_eq!(body.size, Some(text.len() as u64));
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_field_and_a_file() {
        let file = Content::Source { source: (), size: Some(3), path: Some(b"/tmp/a.png".to_vec()) };
        let parts = vec![
            Part { name: Some(b"a\"b\\".to_vec()), content: memory("x"), ..Part::default() },
            Part {
                name: Some(b"f".to_vec()),
                filename: Some(b"a.png".to_vec()),
                content: file,
                ..Part::default()
            },
        ];
        assert_eq!(
            laid_out(parts, Escape::Percent),
            "--B1\r\nContent-Disposition: form-data; name=\"a%22b\\\"\r\n\r\nx\r\n--B1\r\n\
             Content-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\
             ###\r\n--B1--\r\n"
        );
    }

    #[test]
    fn a_quoted_part_leaves_a_forms_size_open() {
        let sized = |encoder| {
            let part = Part { content: memory("a=b"), encoder: Some(encoder), ..Part::default() };
            form(vec![part], None, Escape::Percent, &mut || "B".to_owned()).unwrap().size.is_some()
        };
        assert!(sized(Encoder::Base64));
        assert!(!sized(Encoder::QuotedPrintable));
    }

    // covers: CURLOPT_MIMEPOST, --form
    #[test]
    fn a_mail_has_its_head_and_codings() {
        let text = |content: &str, kind: Option<&str>| Part {
            content: memory(content),
            content_type: kind.map(|kind| kind.into()),
            ..Part::default()
        };
        let alternatives = vec![text("<b>", Some("text/html")), text("plain", None)];
        let file = Content::Source { source: (), size: Some(3), path: Some(b"/tmp/a.txt".to_vec()) };
        let parts = vec![
            Part {
                content_type: Some(b"multipart/alternative".to_vec()),
                content: Content::Parts(alternatives),
                ..Part::default()
            },
            Part { filename: Some(b"a\"b.txt".to_vec()), content: file, ..Part::default() },
        ];
        let mut count = 0;
        let mut boundary = || {
            count += 1;
            format!("B{count}")
        };
        let headers = [b"Subject: x".to_vec(), b"To: y".to_vec()];
        let body = mail(parts, &headers, &mut boundary).unwrap();
        let mut laid = Vec::new();
        for piece in &body.pieces {
            match piece {
                Piece::Bytes(bytes) => laid.extend_from_slice(bytes),
                Piece::Source { .. } => laid.extend_from_slice(b"###"),
            }
        }
        assert_eq!(body.size, Some(laid.len() as u64));
        assert_eq!(
            String::from_utf8(laid).unwrap(),
            "Content-Type: multipart/mixed; boundary=B1\r\nMime-Version: 1.0\r\nSubject: x\r\nTo: y\r\n\r\n\
             --B1\r\nContent-Type: multipart/alternative; boundary=B2\r\n\r\n\
             --B2\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: 8bit\r\n\r\n<b>\r\n\
             --B2\r\n\r\nplain\r\n--B2--\r\n\r\n\
             --B1\r\nContent-Disposition: attachment; filename=\"a\\\"b.txt\"\r\n\r\n###\r\n--B1--\r\n"
        );
    }

    #[test]
    fn a_name_is_no_header() {
        for (name, filename) in [(Some(b"a\r\nX: y".to_vec()), None), (None, Some(b"a\nb".to_vec()))] {
            let part = || Part { name: name.clone(), filename: filename.clone(), ..Part::<()>::default() };
            let form = |part, escape| form(vec![part], None, escape, &mut || "B".to_owned()).map(|_| ());
            assert_eq!(form(part(), Escape::Backslash), Err(Unsendable::LineBreak));
            assert_eq!(form(part(), Escape::Percent), Ok(()));
            let own = Part { headers: vec![b"Content-Disposition: x".to_vec()], ..part() };
            assert_eq!(form(own, Escape::Backslash), Ok(()));
            let mail = mail(vec![part()], &[], &mut || "B".to_owned()).map(|_| ());
            assert_eq!(mail, Err(Unsendable::LineBreak));
        }
    }

    #[test]
    fn a_type_and_a_header_are_one_line_each() {
        let refused = |part: Part<()>| {
            let inner = Part::<()> {
                content_type: part.content_type.clone(),
                headers: part.headers.clone(),
                ..Part::default()
            };
            let nested = Part { content: Content::Parts(vec![inner]), ..Part::default() };
            let boundary = &mut || "B".to_owned();
            let form = form(vec![part], None, Escape::Percent, boundary).map(|_| ()).is_err();
            assert_eq!(mail(vec![nested], &[], boundary).map(|_| ()).is_err(), form);
            form
        };
        let typed = |kind: &str| Part { content_type: Some(kind.into()), ..Part::default() };
        let headed = |line: &str| Part { headers: vec![b"A: 1".to_vec(), line.into()], ..Part::default() };
        for text in ["x\r\nEvil: 1", "x\nEvil: 1", "x\rEvil: 1", "x\r\n", "x\r\n\r\nbody", "\n"] {
            assert!(refused(typed(text)) && refused(headed(&format!("X: {text}"))), "{text:?}");
        }
        assert!(refused(headed("X: a\r\n b\r\nc")) && refused(headed("X: a\n b")));
        assert!(!refused(headed("X: a\r\n b\r\n\tc")) && !refused(typed("text/x; a=b")));
    }

    #[test]
    fn nested_parts_are_mixed_and_attached() {
        let inner = Part { filename: Some(b"\"".to_vec()), content: memory("y"), ..Part::default() };
        let outer =
            Part { name: Some(b"n".to_vec()), content: Content::Parts(vec![inner]), ..Part::default() };
        assert_eq!(
            laid_out(vec![outer], Escape::Backslash),
            "--B1\r\nContent-Disposition: form-data; name=\"n\"\r\nContent-Type: multipart/mixed; boundary=B2\r\n\
             \r\n--B2\r\nContent-Disposition: attachment; filename=\"\\\"\"\r\n\r\ny\r\n--B2--\r\n\r\n--B1--\r\n"
        );
    }

    #[test]
    fn the_applications_headers_replace_ours() {
        let part = Part {
            name: Some(b"n".to_vec()),
            headers: vec![
                b"content-disposition: x".to_vec(),
                b"Content-Type: a/b".to_vec(),
                b"X: y".to_vec(),
            ],
            encoder: Some(Encoder::Base64),
            content: memory("abc"),
            ..Part::default()
        };
        assert_eq!(
            laid_out(vec![part], Escape::Percent),
            "--B1\r\nContent-Type: a/b\r\nContent-Transfer-Encoding: base64\r\ncontent-disposition: x\r\nX: y\r\n\
             \r\nYWJj\r\n--B1--\r\n"
        );
    }
}
