//! `--form` and `--form-string`: from `name=@file;type=image/png` to parts of a multipart body.
//!
//! A part is described, not read: files are opened when the transfer starts.

pub mod part;

use crate::bytes::Bytes;
use crate::form::part::{Content, Part};
use crate::message::shown;
use crate::parse::{Parser, Wrong};

/// The longest header read from a file of part headers.
const LONGEST_HEADER: usize = 998;
const LARGEST_HEADER_FILE: usize = 1 << 20;
/// Parts nested deeper than this are refused.
const DEEPEST: usize = 64;

/// The parameters of one part, after its semicolons.
#[derive(Default)]
struct Details {
    data: Bytes,
    mime_type: Option<Bytes>,
    filename: Option<Bytes>,
    encoder: Option<Bytes>,
    headers: Vec<Bytes>,
}

impl Details {
    fn into_part(self, content: fn(Bytes) -> Content) -> Part {
        Part {
            name: None,
            content: content(self.data),
            mime_type: self.mime_type,
            filename: self.filename,
            encoder: self.encoder,
            headers: self.headers,
        }
    }
}

/// Adds the part described by one `-F` to the current group.
pub fn add(parser: &mut Parser, text: &[u8], literal: bool) -> Result<(), Wrong> {
    let Some(equals) = text.iter().position(|byte| *byte == b'=') else {
        parser.messages.warn("Illegally formatted input field");
        return Err(Wrong::BadUse);
    };
    let name = (equals > 0).then(|| text[..equals].to_vec());
    let value = &text[equals + 1..];
    if literal {
        let part = Part { name, content: Content::Data(value.to_vec()), ..Part::default() };
        parser.request().push_part(part);
        return Ok(());
    }
    match value.first() {
        Some(b'(') => open(parser, name, value),
        Some(b')') if name.is_none() && value == b")" => close(parser),
        Some(b'@') => files(parser, name, &value[1..]),
        Some(b'<') => push_part(parser, name, &value[1..], Content::FileData),
        _ => push_part(parser, name, value, Content::Data),
    }
}

fn open(parser: &mut Parser, name: Option<Bytes>, value: &[u8]) -> Result<(), Wrong> {
    let mut reader = Reader { text: value, at: 0, end: None };
    let details = reader.details(parser)?;
    if parser.request().form_depth >= DEEPEST {
        return Err(Wrong::BadUse);
    }
    refuse(parser, "file name", &details.filename);
    refuse(parser, "encoder", &details.encoder);
    let mut part = details.into_part(|_| Content::Parts(Vec::new()));
    part.name = name;
    part.filename = None;
    part.encoder = None;
    parser.request().push_part(part);
    parser.request().form_depth += 1;
    Ok(())
}

fn close(parser: &mut Parser) -> Result<(), Wrong> {
    if parser.request().form_depth == 0 {
        parser.messages.warn("no multipart to terminate");
        return Err(Wrong::BadUse);
    }
    parser.request().form_depth -= 1;
    Ok(())
}

/// `@a;type=x/y,b,c`: one file, or several in a part of their own.
fn files(parser: &mut Parser, name: Option<Bytes>, value: &[u8]) -> Result<(), Wrong> {
    let mut reader = Reader { text: value, at: 0, end: Some(b',') };
    let mut parts = Vec::new();
    loop {
        parts.push(reader.details(parser)?.into_part(Content::Upload));
        if reader.peek() != Some(b',') {
            break;
        }
        reader.at += 1;
    }
    let mut part = match parts.len() {
        1 => parts.remove(0),
        _ => Part { content: Content::Parts(parts), ..Part::default() },
    };
    part.name = name;
    parser.request().push_part(part);
    Ok(())
}

fn push_part(
    parser: &mut Parser,
    name: Option<Bytes>,
    value: &[u8],
    content: fn(Bytes) -> Content,
) -> Result<(), Wrong> {
    let mut reader = Reader { text: value, at: 0, end: None };
    let mut part = reader.details(parser)?.into_part(content);
    if matches!(part.content, Content::FileData(_)) {
        refuse(parser, "file name", &part.filename.take());
    }
    part.name = name;
    parser.request().push_part(part);
    Ok(())
}

fn refuse(parser: &mut Parser, what: &str, given: &Option<Bytes>) {
    if let Some(given) = given {
        parser.messages.warn(&format!("Field {what} not allowed here: {}", shown(given)));
    }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    /// A character that ends a part besides the end of the text.
    end: Option<u8>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn at_end(&self) -> bool {
        let here = self.peek();
        here.is_none() || here == Some(b';') || here == self.end
    }

    fn keyword(&mut self, word: &[u8]) -> bool {
        let rest = &self.text[self.at..];
        let found = rest.len() >= word.len() && rest[..word.len()].eq_ignore_ascii_case(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// Reads a word up to a semicolon or the end of the part; in double quotes it may contain both.
    fn word(&mut self) -> Bytes {
        self.skip_space();
        if self.peek() == Some(b'"')
            && let Some(word) = self.quoted()
        {
            return word;
        }
        let start = self.at;
        while !self.at_end() {
            self.at += 1;
        }
        let mut end = self.at;
        while end > start && is_space(self.text[end - 1]) {
            end -= 1;
        }
        self.text[start..end].to_vec()
    }

    /// Reads a quoted word; `None` if the closing quote is missing.
    fn quoted(&mut self) -> Option<Bytes> {
        let mut word = Bytes::new();
        let mut at = self.at + 1;
        loop {
            match *self.text.get(at)? {
                b'\\' if matches!(self.text.get(at + 1), Some(b'\\' | b'"')) => {
                    word.push(self.text[at + 1]);
                    at += 2;
                }
                b'"' => break,
                byte => {
                    word.push(byte);
                    at += 1;
                }
            }
        }
        self.at = at;
        while !self.at_end() {
            self.at += 1;
        }
        Some(word)
    }

    fn details(&mut self, parser: &mut Parser) -> Result<Details, Wrong> {
        let mut found = Details { data: self.word(), ..Details::default() };
        while self.peek() == Some(b';') {
            self.at += 1;
            self.skip_space();
            if found.mime_type.is_none() && self.keyword(b"type=") {
                found.mime_type = Some(self.mime_type(parser));
            } else if self.keyword(b"filename=") {
                found.filename = Some(self.word());
            } else if self.keyword(b"headers=") {
                self.headers(parser, &mut found.headers)?;
            } else if self.keyword(b"encoder=") {
                found.encoder = Some(self.word());
            } else {
                let unknown = self.word();
                if !unknown.is_empty() {
                    parser.messages.warn(&format!("skip unknown form field: {}", shown(&unknown)));
                }
            }
        }
        Ok(found)
    }

    /// Reads a type and its parameters, up to the next known field. The type ends at a blank, a quote or a
    /// line break, and the rest is ignored with a warning, as in curl 8.22: a type never adds a second line.
    fn mime_type(&mut self, parser: &mut Parser) -> Bytes {
        self.skip_space();
        let start = self.at;
        while !self.at_end() && !matches!(self.text[self.at], b',' | b' ' | b'"' | b'\r' | b'\n') {
            self.at += 1;
        }
        let mut end = self.at;
        if !self.at_end() {
            let junk = &self.text[self.at..];
            parser.messages.warn(&format!("garbage at end of field specification: {}", shown(junk)));
            self.at = self.text.len();
        }
        while self.peek() == Some(b';') && !self.known_field_follows() {
            self.at += 1;
            while !self.at_end() {
                self.at += 1;
            }
            end = self.at;
        }
        self.text[start..end].trim_ascii_end().to_vec()
    }

    fn known_field_follows(&self) -> bool {
        let rest = self.text[self.at + 1..].trim_ascii_start();
        [b"filename=".as_slice(), b"headers=", b"encoder="]
            .iter()
            .any(|word| rest.len() >= word.len() && rest[..word.len()].eq_ignore_ascii_case(word))
    }

    fn headers(&mut self, parser: &mut Parser, headers: &mut Vec<Bytes>) -> Result<(), Wrong> {
        if !matches!(self.peek(), Some(b'@' | b'<')) {
            headers.push(self.word());
            return Ok(());
        }
        self.at += 1;
        let file = self.word();
        match parser.world.read(&file, LARGEST_HEADER_FILE) {
            Ok(content) => headers.extend(header_lines(parser, &file, &content)),
            Err(error) => {
                let why = crate::message::os_text(&error);
                parser.messages.warn(&format!("Cannot read from {}: {why}", shown(&file)));
            }
        }
        Ok(())
    }
}

/// Reads headers from a file: lines that start with a blank continue the previous one, # starts a comment.
fn header_lines(parser: &mut Parser, file: &[u8], content: &[u8]) -> Vec<Bytes> {
    let mut found: Vec<Bytes> = Vec::new();
    for (number, line) in content.split(|byte| *byte == b'\n').enumerate() {
        let line: Bytes = line.iter().copied().filter(|byte| *byte != b'\r').collect();
        if line.first() == Some(&b'#') || line.trim_ascii().is_empty() {
            continue;
        }
        let continues = is_space(line[0]) && !found.is_empty();
        let target = if continues {
            found.last_mut().expect("just seen not to be empty")
        } else {
            found.push(Bytes::new());
            found.last_mut().expect("just pushed")
        };
        target.extend(line.trim_ascii_end());
        if target.len() > LONGEST_HEADER {
            target.truncate(LONGEST_HEADER);
            let line = number + 1;
            let file = shown(file);
            parser.messages.warn(&format!("File {file} line {line}: header too long (truncated)"));
        }
    }
    found
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Messages;
    use crate::world::fake::Fake;

    fn parts(fields: &[&str]) -> Result<Vec<Part>, Wrong> {
        let mut world = Fake::with(&[("heads", "A: 1\r\n  more\n# no\nB: 2\n")]);
        let mut parser = Parser::new(&mut world, Messages::new(Box::new(std::io::sink()), None));
        for field in fields {
            add(&mut parser, field.as_bytes(), false)?;
        }
        Ok(parser.request().form.clone())
    }

    #[test]
    fn plain_values_keep_their_blanks_out() {
        let found = parts(&["name=value", "=anonymous", "a= x "]).unwrap();
        assert_eq!(found[0].name.as_deref(), Some(b"name".as_slice()));
        assert_eq!(found[0].content, Content::Data(b"value".to_vec()));
        assert_eq!(found[1].name, None);
        assert_eq!(found[2].content, Content::Data(b"x".to_vec()));
    }

    #[test]
    fn a_file_with_everything() {
        let found = parts(&[r#"f=@"a;b.txt";type=text/x; charset=utf-8;filename="q\".x";encoder=base64;headers=X: 1;headers=@heads"#]).unwrap();
        let part = &found[0];
        assert_eq!(part.content, Content::Upload(b"a;b.txt".to_vec()));
        assert_eq!(part.mime_type.as_deref(), Some(b"text/x; charset=utf-8".as_slice()));
        assert_eq!(part.filename.as_deref(), Some(b"q\".x".as_slice()));
        assert_eq!(part.encoder.as_deref(), Some(b"base64".as_slice()));
        assert_eq!(part.headers, [b"X: 1".to_vec(), b"A: 1  more".to_vec(), b"B: 2".to_vec()]);
    }

    #[test]
    fn several_files_and_nesting() {
        let found =
            parts(&["f=@a,b;type=x/y,c", "m=(;type=multipart/alternative", "=one", "=)", "z=<f"]).unwrap();
        let Content::Parts(files) = &found[0].content else { panic!() };
        assert_eq!(files.len(), 3);
        assert_eq!(files[1].mime_type.as_deref(), Some(b"x/y".as_slice()));
        let Content::Parts(inner) = &found[1].content else { panic!() };
        assert_eq!(inner.len(), 1);
        assert_eq!(found[2].content, Content::FileData(b"f".to_vec()));
    }

    /// The output of curl 8.22.
    #[test]
    fn a_type_ends_where_curl_ends_it() {
        for (given, kind, filename) in [
            ("text", "text", None),
            ("", "", None),
            ("text/x\r\nEvil: 1;filename=q", "text/x", None),
            ("te\nxt/x", "te", None),
            ("\"text/x\"", "", None),
            ("text/x y;filename=q", "text/x", None),
            ("text/x,y", "text/x", None),
            ("  text/x;charset=\"a b\";filename=q", "text/x;charset=\"a b\"", Some("q")),
            ("text/x\ty", "text/x\ty", None),
        ] {
            let found = parts(&[&format!("a=b;type={given}")]).unwrap();
            assert_eq!(found[0].mime_type.as_deref(), Some(kind.as_bytes()), "{given:?}");
            assert_eq!(found[0].filename.as_deref(), filename.map(str::as_bytes), "{given:?}");
        }
    }

    #[test]
    fn wrong_forms_are_refused() {
        for field in ["nothing", "=)"] {
            assert_eq!(parts(&[field]), Err(Wrong::BadUse), "{field}");
        }
        assert!(parts(&["a=\"open", "a=;", "a=;;;", "a=@", "a=@,,", "=;type=a/b;x"]).is_ok());
    }
}
