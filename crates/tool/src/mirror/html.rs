//! References in HTML documents: which attributes have them, and where they stand in the text.
//!
//! html5gum splits the text into tags as browsers do (WHATWG HTML, section 13.2.5). It reports where each
//! attribute begins; its value is found from there by the same rules.

use super::css;
use super::scope::Role;
use html5gum::emitters::default::{DefaultEmitter, StartTag};
use html5gum::{Token, Tokenizer};
use std::ops::Range;

/// A reference inside a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its place in [`Passage::value`].
    pub place: Range<usize>,
    pub role: Role,
    /// Whether CSS's escapes apply to it.
    pub is_css: bool,
}

/// A part of a document that contains references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Its place in the document, with quotes if it has them.
    pub raw: Range<usize>,
    /// The text without quotes and character references.
    pub value: Vec<u8>,
    /// Whether it is the value of an attribute, rather than plain text.
    pub is_attribute: bool,
    pub references: Vec<Reference>,
}

/// The references of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    pub passages: Vec<Passage>,
    /// The value of the first `<base href>`.
    pub base: Option<Vec<u8>>,
    /// Whether `<meta name=robots>` forbids to follow links of this page.
    pub is_nofollow: bool,
}

impl Document {
    /// Returns all references with their text.
    pub fn references(&self) -> impl Iterator<Item = (&Reference, Vec<u8>)> {
        self.passages.iter().flat_map(|passage| {
            passage.references.iter().map(|reference| (reference, reference.text(&passage.value)))
        })
    }
}

impl Reference {
    /// Returns the text of the reference.
    pub fn text(&self, value: &[u8]) -> Vec<u8> {
        let raw = &value[self.place.clone()];
        if self.is_css { css::value(raw) } else { raw.to_vec() }
    }
}

/// Reads an HTML document.
pub fn parse(text: &[u8]) -> Document {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    let mut document = Document::default();
    let mut in_style = false;
    for token in Tokenizer::new_with_emitter(text, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                in_style = &**tag.name == b"style" && !tag.self_closing;
                document.read_tag(text, &tag);
            }
            Token::String(string) if in_style => {
                document.passages.extend(style_sheet(text, string.span.start..string.span.end));
            }
            Token::EndTag(_) => in_style = false,
            _ => {}
        }
    }
    document
}

/// Reads a style sheet.
pub fn parse_style(text: &[u8]) -> Document {
    Document { passages: style_sheet(text, 0..text.len()).into_iter().collect(), ..Document::default() }
}

fn style_sheet(text: &[u8], raw: Range<usize>) -> Option<Passage> {
    let value = text.get(raw.clone())?.to_vec();
    let references = of_style(&value);
    (!references.is_empty()).then_some(Passage { raw, value, is_attribute: false, references })
}

fn of_style(value: &[u8]) -> Vec<Reference> {
    let places = css::references(value).into_iter().filter(|place| !place.is_empty());
    places.map(|place| Reference { place, role: Role::Requisite, is_css: true }).collect()
}

impl Document {
    fn read_tag(&mut self, text: &[u8], tag: &StartTag<usize>) {
        let attribute = |name: &[u8]| {
            let found = tag.attributes.iter().find(|(key, _)| key.as_slice() == name);
            found.map(|(_, value)| value.value.as_slice())
        };
        if tag.name.as_slice() == b"meta"
            && attribute(b"name").is_some_and(|name| name.eq_ignore_ascii_case(b"robots"))
        {
            let words = attribute(b"content").unwrap_or_default().split(|octet| *octet == b',');
            self.is_nofollow |= words
                .map(<[u8]>::trim_ascii)
                .any(|word| [&b"nofollow"[..], b"none"].iter().any(|known| word.eq_ignore_ascii_case(known)));
        }
        for (name, value) in &tag.attributes {
            let references = of_attribute(&tag.name, name, &value.value, &attribute);
            let is_base = references.iter().any(|reference| reference.role == Role::Base);
            if references.is_empty() || is_base && self.base.is_some() {
                continue;
            }
            let Some(raw) = value_place(text, value.span.start) else { continue };
            if is_base {
                self.base = Some(value.value.to_vec());
            }
            self.passages.push(Passage { raw, value: value.value.to_vec(), is_attribute: true, references });
        }
    }
}

/// Returns the references in the value of an attribute.
fn of_attribute<'a>(
    tag: &[u8],
    name: &[u8],
    value: &[u8],
    other: &dyn Fn(&[u8]) -> Option<&'a [u8]>,
) -> Vec<Reference> {
    let whole = |role| vec![Reference { place: trimmed(value), role, is_css: false }];
    match (tag, name) {
        (_, b"style") => of_style(value),
        (b"base", b"href") => whole(Role::Base),
        (b"a" | b"area", b"href") | (b"iframe" | b"frame", b"src") => whole(Role::Page),
        (b"link", b"href") => whole(role_of_link(other(b"rel").unwrap_or_default())),
        (b"img" | b"source", b"srcset") | (b"link", b"imagesrcset") => of_srcset(value),
        (b"img" | b"source" | b"script" | b"video" | b"audio" | b"track" | b"embed" | b"input", b"src")
        | (b"video", b"poster")
        | (b"object", b"data")
        | (b"body" | b"table" | b"td" | b"th", b"background")
        | (b"image" | b"use" | b"feimage", b"href" | b"xlink:href") => whole(Role::Requisite),
        (b"form", b"action") | (b"button" | b"input", b"formaction") => whole(Role::Mention),
        (b"meta", b"content")
            if other(b"http-equiv").is_some_and(|kind| kind.eq_ignore_ascii_case(b"refresh")) =>
        {
            let place = refresh_target(value);
            place.map(|place| Reference { place, role: Role::Page, is_css: false }).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Returns how a page uses a link, by its relations.
fn role_of_link(relations: &[u8]) -> Role {
    const PARTS: [&[u8]; 8] = [
        b"stylesheet",
        b"icon",
        b"apple-touch-icon",
        b"apple-touch-icon-precomposed",
        b"mask-icon",
        b"preload",
        b"modulepreload",
        b"manifest",
    ];
    const MENTIONED: [&[u8]; 6] =
        [b"canonical", b"preconnect", b"dns-prefetch", b"pingback", b"shortlink", b"edituri"];
    let has = |known: &[&[u8]]| {
        let mut words = relations.split(u8::is_ascii_whitespace);
        words.any(|word| known.iter().any(|known| word.eq_ignore_ascii_case(known)))
    };
    match () {
        () if has(&PARTS) => Role::Requisite,
        () if has(&MENTIONED) => Role::Mention,
        () => Role::Page,
    }
}

/// Returns the place of the text without blanks around it.
fn trimmed(value: &[u8]) -> Range<usize> {
    let start = value.len() - value.trim_ascii_start().len();
    start..start + value.trim_ascii().len()
}

/// Reads the candidates of `srcset` (WHATWG HTML, section 4.8.4.2.1).
fn of_srcset(value: &[u8]) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        let skipped = |octet: &&u8| octet.is_ascii_whitespace() || **octet == b',';
        at += value[at..].iter().take_while(skipped).count();
        let length = value[at..].iter().take_while(|octet| !octet.is_ascii_whitespace()).count();
        if length == 0 {
            return found;
        }
        let url = &value[at..at + length];
        let commas = url.iter().rev().take_while(|octet| **octet == b',').count();
        found.push(Reference { place: at..at + length - commas, role: Role::Requisite, is_css: false });
        at += length;
        if commas == 0 {
            let mut depth = 0_usize;
            at += value[at..]
                .iter()
                .take_while(|octet| {
                    match octet {
                        b'(' => depth += 1,
                        b')' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    **octet != b',' || depth > 0
                })
                .count();
        }
    }
}

/// Returns the place of the URL in `5; url=page.html`.
fn refresh_target(value: &[u8]) -> Option<Range<usize>> {
    let separator = value.iter().position(|octet| matches!(octet, b';' | b','))?;
    let blanks = |at: usize| at + value[at..].iter().take_while(|octet| octet.is_ascii_whitespace()).count();
    let mut at = blanks(separator + 1);
    if value.get(at..at + 3).is_some_and(|word| word.eq_ignore_ascii_case(b"url")) {
        let equals = blanks(at + 3);
        if value.get(equals) == Some(&b'=') {
            at = blanks(equals + 1);
        }
    }
    let end = match value.get(at) {
        Some(quote @ (b'"' | b'\'')) => {
            at += 1;
            value[at..].iter().position(|octet| octet == quote).map(|length| at + length)
        }
        _ => None,
    };
    let end = end.unwrap_or(at + value[at..].trim_ascii_end().len());
    (end > at).then_some(at..end)
}

/// Returns the place of the value of the attribute that begins there, with its quotes.
fn value_place(text: &[u8], start: usize) -> Option<Range<usize>> {
    let skip = |at: usize, skipped: fn(&u8) -> bool| {
        at + text[at..].iter().take_while(|octet| skipped(octet)).count()
    };
    let is_of_name = |octet: &u8| !octet.is_ascii_whitespace() && !b"=>/".contains(octet);
    // A name may begin with an equals sign.
    let name_end = skip(start.checked_add(1).filter(|at| *at <= text.len())?, is_of_name);
    let equals = skip(name_end, u8::is_ascii_whitespace);
    (text.get(equals) == Some(&b'=')).then_some(())?;
    let begin = skip(equals + 1, u8::is_ascii_whitespace);
    match text.get(begin)? {
        quote @ (b'"' | b'\'') => {
            let length = text[begin + 1..].iter().position(|octet| octet == quote)?;
            Some(begin..begin + length + 2)
        }
        _ => Some(begin..skip(begin, |octet| !octet.is_ascii_whitespace() && *octet != b'>')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the references as `role text`, and checks that their places are those of the text.
    fn found(text: &str) -> Vec<String> {
        let document = parse(text.as_bytes());
        for passage in &document.passages {
            let raw = &text[passage.raw.clone()];
            let quote = raw.chars().next().filter(|c| matches!(c, '"' | '\''));
            let inner = quote.and_then(|quote| raw.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(raw);
            let plain = inner.replace("&amp;", "&").replace("&#x41;", "A");
            assert_eq!(plain.as_bytes(), passage.value, "{text}");
        }
        let line = |(reference, text): (&Reference, Vec<u8>)| {
            format!("{:?} {}", reference.role, String::from_utf8(text).unwrap())
        };
        document.references().map(line).collect()
    }

    #[test]
    fn elements_have_references() {
        for (text, expected) in [
            ("<a href=x.html>", &["Page x.html"][..]),
            ("<A HREF='x?a=1&amp;b=2'>", &["Page x?a=1&b=2"]),
            ("<a class=\"b\" href = \" x \" id=c>", &["Page x"]),
            ("é<a href=&#x41;>", &["Page A"]),
            ("<area href=x><iframe src=y></iframe>", &["Page x", "Page y"]),
            ("<link rel=\"alternate stylesheet\" href=x><link rel=next href=y>", &["Requisite x", "Page y"]),
            ("<link rel=canonical href=x><form action=y>", &["Mention x", "Mention y"]),
            (
                "<img src=a.png srcset='b.png 1x, c.png 2x,d.png'>",
                &["Requisite a.png", "Requisite b.png", "Requisite c.png", "Requisite d.png"],
            ),
            ("<source srcset=' a,b.png 100w'>", &["Requisite a,b.png"]),
            ("<video poster=a src=b></video><track src=c>", &["Requisite a", "Requisite b", "Requisite c"]),
            ("<script src=a>'<a href=no>'</script><a href=b>", &["Requisite a", "Page b"]),
            ("<style>a { b: url(c) }</style>", &["Requisite c"]),
            ("<p style=\"background:url('a.png')\">", &["Requisite a.png"]),
            ("<meta http-equiv=Refresh content=\"5; URL='x y.html'\">", &["Page x y.html"]),
            ("<meta http-equiv=refresh content=5>", &[]),
            ("<base href=/b/><base href=/c/><a href=d>", &["Base /b/", "Page d"]),
            ("<!-- <a href=no> --><textarea><a href=no></textarea><title><a href=no></title>", &[]),
            ("<a href=first href=second>", &["Page first"]),
            ("<a href><a href=''><a =href=x>", &["Page ", "Page "]),
            ("<a href=x", &[]),
            ("<svg><use xlink:href='s.svg#a'/><image href=i.png>", &["Requisite s.svg#a", "Requisite i.png"]),
        ] {
            let mut found = found(text);
            found.retain(|line| expected.contains(&"Page ") || line != "Page ");
            assert_eq!(
                found.len(),
                found.iter().filter(|line| expected.contains(&line.as_str())).count(),
                "{text}: {found:?}"
            );
            for line in expected.iter().filter(|line| **line != "Page ") {
                assert!(found.iter().any(|own| own == line), "{text}: {found:?}");
            }
        }
    }

    #[test]
    fn robots_in_meta() {
        for (text, expected) in [
            ("<meta name=robots content=nofollow>", true),
            ("<META NAME=Robots CONTENT='noindex, NoFollow'>", true),
            ("<meta name=robots content=none>", true),
            ("<meta name=robots content=noindex>", false),
            ("<meta name=other content=nofollow>", false),
        ] {
            assert_eq!(parse(text.as_bytes()).is_nofollow, expected, "{text}");
        }
    }

    #[test]
    fn any_bytes_are_read() {
        let mut seed = 7_u64;
        let words = [
            "<a ", "href", "=", "'", "\"", ">", "<style>", "url(", "&amp;", "\\", "é", "\0", "</", "<!--",
            ",", " ",
        ];
        for _ in 0..2000 {
            let mut text = String::new();
            for _ in 0..20 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push_str(words[(seed >> 33) as usize % words.len()]);
            }
            let document = parse(text.as_bytes());
            for passage in &document.passages {
                assert!(passage.raw.end <= text.len(), "{text}");
            }
            assert_eq!(
                document.references().count(),
                document.passages.iter().map(|p| p.references.len()).sum::<usize>()
            );
        }
    }
}
