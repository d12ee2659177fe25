//! Flags that make up the body and the query: the `--data` family, `--json`, `--form`, `--url-query`.

use super::{choose_method, read, without_line_ends};
use crate::bytes::Bytes;
use crate::form;
use crate::parse::{Done, Parser, Wrong};
use crate::request::Method;
use crate::text::url_escape;

pub fn data(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let part = match text.strip_prefix(b"@") {
        Some(file) => without_line_ends(&read(parser, file)?),
        None => text.to_vec(),
    };
    append(parser, &part, true);
    Ok(())
}

pub fn data_binary(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let part = file_or_text(parser, text)?;
    append(parser, &part, true);
    Ok(())
}

pub fn data_raw(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    append(parser, text, true);
    Ok(())
}

pub fn data_urlencode(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let part = encoded(parser, text)?;
    append(parser, &part, true);
    Ok(())
}

pub fn json(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let part = file_or_text(parser, text)?;
    parser.request().json = true;
    append(parser, &part, false);
    Ok(())
}

fn file_or_text(parser: &mut Parser, text: &[u8]) -> Result<Bytes, Wrong> {
    match text.strip_prefix(b"@") {
        Some(file) => read(parser, file),
        None => Ok(text.to_vec()),
    }
}

fn append(parser: &mut Parser, part: &[u8], ampersand: bool) {
    let post = parser.request().post.get_or_insert_default();
    if ampersand && !post.is_empty() {
        post.push(b'&');
    }
    post.extend(part);
}

/// content, =content, name=content, @file or name@file, with the content encoded as in a form.
fn encoded(parser: &mut Parser, text: &[u8]) -> Result<Bytes, Wrong> {
    let equals = text.iter().position(|byte| *byte == b'=');
    let mark = equals.or_else(|| text.iter().position(|byte| *byte == b'@'));
    let (name, content) = match mark {
        Some(at) if text[at] == b'@' => (&text[..at], read(parser, &text[at + 1..])?),
        Some(at) => (&text[..at], text[at + 1..].to_vec()),
        None => (&text[..0], text.to_vec()),
    };
    let mut out = Bytes::new();
    if !name.is_empty() {
        out.extend(name);
        out.push(b'=');
    }
    out.extend(plus_for_blank(&url_escape(&content)));
    Ok(out)
}

/// A blank is a plus in a form (RFC 1866, 8.2.1).
fn plus_for_blank(text: &[u8]) -> Bytes {
    let mut out = Bytes::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(b"%20") {
            out.push(b'+');
            rest = after;
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    out
}

pub fn url_query(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let part = match text.strip_prefix(b"+") {
        Some(literal) => literal.to_vec(),
        None => encoded(parser, text)?,
    };
    let query = &mut parser.request().query;
    match query {
        Some(query) => {
            query.push(b'&');
            query.extend(part);
        }
        None => *query = Some(part),
    }
    Ok(())
}

pub fn form(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    form::add(parser, text, false)?;
    Ok(choose_method(parser, Method::Form)?)
}

pub fn form_string(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    form::add(parser, text, true)?;
    Ok(choose_method(parser, Method::Form)?)
}

pub fn variable(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    Ok(parser.variables.define(text, parser.world, &mut parser.messages)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Messages;
    use crate::parse::Reader;
    use crate::world::fake::Fake;

    fn posted(words: &[&str]) -> String {
        let mut world = Fake::with(&[("f", "a\r\nb \0c\n")]);
        let mut reader = Reader::new(&mut world, Messages::new(Box::new(std::io::sink()), None));
        let words: Vec<Bytes> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        reader.words(&words).unwrap();
        String::from_utf8(reader.parser.request().post.clone().unwrap()).unwrap()
    }

    #[test]
    fn the_data_family() {
        assert_eq!(posted(&["-d", "a", "-d", "b"]), "a&b");
        assert_eq!(posted(&["-d@f"]), "ab c");
        assert_eq!(posted(&["--data-binary", "@f"]), "a\r\nb \0c\n");
        assert_eq!(posted(&["--data-raw", "@f"]), "@f");
        assert_eq!(posted(&["--json", "{", "--json", "}"]), "{}");
        assert_eq!(posted(&["-d", ""]), "");
    }

    #[test]
    fn url_encoding() {
        assert_eq!(posted(&["--data-urlencode", "a b&c"]), "a+b%26c");
        assert_eq!(posted(&["--data-urlencode", "=a b"]), "a+b");
        assert_eq!(posted(&["--data-urlencode", "n n=a+b"]), "n n=a%2Bb");
        assert_eq!(posted(&["--data-urlencode", "n@f"]), "n=a%0D%0Ab+%00c%0A");
    }
}
