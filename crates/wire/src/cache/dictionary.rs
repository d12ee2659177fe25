//! Stored responses as compression dictionaries (RFC 9842): the field Use-As-Dictionary, the fields of
//! requests that name a dictionary, and the URL patterns that say for which requests one is meant.
//!
//! Of URL patterns, fixed text, `*` and `:name` are supported. A pattern with regular expressions, braces or
//! modifiers matches nothing, and neither does one for another origin.

use super::{Field, value};
use crate::base64;
use crate::url::{Part, Url, flag};

/// Longest id of a dictionary (§2.1.3), and longest pattern that is used.
const LONGEST_ID: usize = 1024;
const LONGEST_PATTERN: usize = 1024;

/// The contents of a Use-As-Dictionary field (§2.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseAsDictionary {
    /// The URL pattern of requests that may use the dictionary.
    pub pattern: Vec<u8>,
    /// The server's name of the dictionary; empty if it has none.
    pub id: Vec<u8>,
}

impl UseAsDictionary {
    /// Parses the field of a response. Returns `None` if it has none, if the field is not valid, or if it
    /// describes a type of dictionary that is not raw bytes. `match-dest` is for clients that have
    /// destinations, which are web browsers (§2.2.3).
    pub fn of(reply: &[Field]) -> Option<UseAsDictionary> {
        let text = value(reply, "Use-As-Dictionary")?;
        let (mut pattern, mut id, mut is_raw) = (None, Vec::new(), true);
        let mut reader = Reader(text.trim_ascii());
        while !reader.0.is_empty() {
            let (name, member) = reader.member()?;
            match (name, member) {
                (b"match", Member::Text(text)) => pattern = Some(text),
                (b"id", Member::Text(text)) => id = text,
                (b"type", Member::Token(token)) => is_raw = token == b"raw",
                (b"match" | b"id" | b"type", _) => return None,
                _ => {}
            }
        }
        let pattern = pattern.filter(|pattern| pattern.len() <= LONGEST_PATTERN)?;
        (is_raw && id.len() <= LONGEST_ID).then_some(UseAsDictionary { pattern, id })
    }

    /// Returns whether a dictionary from the URL `base` may serve a request for `url` (§2.2.3).
    pub fn is_for(&self, base: &[u8], url: &[u8]) -> bool {
        let parse = |text: &[u8]| Url::parse(text, flag::PATH_AS_IS).ok();
        let (Some(base), Some(url)) = (parse(base), parse(url)) else { return false };
        if Origin::of(&base) != Origin::of(&url) {
            return false;
        }
        let Some(pattern) = UrlPattern::parse(&self.pattern, &base) else { return false };
        let part = |part| url.get(part, 0).unwrap_or_default();
        matches(&pattern.path, &part(Part::Path), true)
            && pattern.query.is_none_or(|query| matches(&query, &part(Part::Query), false))
    }

    /// Returns the fields that name a dictionary with this SHA-256 (§2.2, §2.3).
    pub fn request_fields(&self, sum: &[u8; 32]) -> Vec<Field> {
        let available = format!(":{}:", base64::encode(sum));
        let mut fields = vec![(b"Available-Dictionary".to_vec(), available.into_bytes())];
        if !self.id.is_empty() {
            fields.push((b"Dictionary-ID".to_vec(), quoted(&self.id)));
        }
        fields
    }
}

/// Scheme, host and port of a URL.
#[derive(PartialEq, Eq)]
struct Origin(Option<String>, Option<Vec<u8>>, Option<u16>);

impl Origin {
    fn of(url: &Url) -> Origin {
        Origin(url.scheme(), url.host().map(<[u8]>::to_ascii_lowercase), url.port_or_default())
    }
}

/// Writes a string of structured fields (RFC 9651 §4.1.6).
fn quoted(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in text {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(b'"');
    out
}

/// A value in a dictionary of structured fields.
enum Member {
    Text(Vec<u8>),
    Token(Vec<u8>),
    /// A value that Use-As-Dictionary gives no meaning: a list, a number, a boolean.
    Other,
}

/// Reads a dictionary of structured fields (RFC 9651 §4.2.2).
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads a member and the comma behind it.
    fn member(&mut self) -> Option<(&'a [u8], Member)> {
        let name = self.key()?;
        let member = if self.skip(b'=') { self.item()? } else { Member::Other };
        self.parameters()?;
        self.blanks();
        if !self.0.is_empty() {
            if !self.skip(b',') {
                return None;
            }
            self.blanks();
            if self.0.is_empty() {
                return None;
            }
        }
        Some((name, member))
    }

    fn item(&mut self) -> Option<Member> {
        match self.0.first()? {
            b'"' => Some(Member::Text(self.text()?)),
            b'(' => {
                self.skip(b'(');
                self.blanks();
                while !self.skip(b')') {
                    self.item().filter(|_| !self.0.is_empty())?;
                    self.parameters()?;
                    self.blanks();
                }
                Some(Member::Other)
            }
            first if first.is_ascii_alphabetic() || *first == b'*' => {
                self.bare().map(|token| Member::Token(token.to_vec()))
            }
            _ => self.bare().map(|_| Member::Other),
        }
    }

    /// Takes a value without quotes.
    fn bare(&mut self) -> Option<&'a [u8]> {
        self.take(|byte| !matches!(byte, b',' | b';' | b' ' | b'\t' | b')'))
    }

    fn parameters(&mut self) -> Option<()> {
        while self.skip(b';') {
            self.blanks();
            self.key()?;
            // The value of a parameter has no parameters and is no list.
            if self.skip(b'=') && (self.0.first() == Some(&b'(') || self.item().is_none()) {
                return None;
            }
        }
        Some(())
    }

    fn key(&mut self) -> Option<&'a [u8]> {
        let first = self.0.first()?;
        (first.is_ascii_lowercase() || *first == b'*').then_some(())?;
        self.take(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'.' | b'*')
        })
    }

    fn text(&mut self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut bytes = self.0[1..].iter().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'"' => {
                    self.0 = &self.0[at + 2..];
                    return Some(out);
                }
                b'\\' => match bytes.next()?.1 {
                    escaped @ (b'"' | b'\\') => out.push(*escaped),
                    _ => return None,
                },
                b' '..=b'~' => out.push(*byte),
                _ => return None,
            }
        }
        None
    }

    fn take(&mut self, belongs: impl Fn(u8) -> bool) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| !belongs(*byte)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        (!taken.is_empty()).then_some(taken)
    }

    fn skip(&mut self, byte: u8) -> bool {
        let rest = self.0.strip_prefix(&[byte]);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn blanks(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }
}

/// A part of a URL pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Byte(u8),
    /// `*`: any text, also none.
    Any,
    /// `:name`: any text without a slash, at least one byte.
    Segment,
}

/// A pattern for URLs of one origin.
struct UrlPattern {
    path: Vec<Token>,
    /// `None` matches any query.
    query: Option<Vec<Token>>,
}

impl UrlPattern {
    /// Parses a pattern, relative to the URL of the dictionary; `None` if it is not supported or is for
    /// another origin.
    fn parse(text: &[u8], base: &Url) -> Option<UrlPattern> {
        let literal = |text: &[u8]| text.iter().map(|byte| Token::Byte(*byte)).collect::<Vec<_>>();
        let own_path = base.get(Part::Path, 0).unwrap_or_default();
        let text = in_origin(text, base)?;
        let (path, query) = split_query(text)?;
        let (path, query) = (tokens(path)?, query.map(tokens));
        let path = match path.first() {
            None => literal(&own_path),
            Some(Token::Byte(b'/')) => path,
            Some(_) => {
                let folder = own_path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
                [literal(&own_path[..folder]), path].concat()
            }
        };
        let query = match query {
            Some(query) => Some(query?),
            None => None,
        };
        Some(UrlPattern { path, query })
    }
}

/// Returns the part of a pattern behind the origin; `None` if it names another origin than that of `base`.
fn in_origin<'a>(text: &'a [u8], base: &Url) -> Option<&'a [u8]> {
    let Some(scheme) = text.windows(3).position(|window| window == b"://") else {
        return (!text.starts_with(b"//")).then_some(text);
    };
    let behind = scheme + 3;
    let end = text[behind..].iter().position(|byte| *byte == b'/').map(|slash| behind + slash)?;
    let named = Url::parse(&text[..end], 0).ok()?;
    (Origin::of(&named) == Origin::of(base)).then_some(&text[end..])
}

/// Splits a pattern at the `?` that begins its query; `None` if a `?` is a modifier, or if it has a fragment.
fn split_query(text: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    if text.contains(&b'#') {
        return None;
    }
    let Some(mark) = text.iter().position(|byte| *byte == b'?') else { return Some((text, None)) };
    let (path, query) = (&text[..mark], &text[mark + 1..]);
    let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let is_modifier = path.ends_with(b"*") || last.contains(&b':') || path.ends_with(b"\\");
    (!is_modifier).then_some((path, Some(query)))
}

/// Parses fixed text, `*` and `:name`; `None` for anything else.
fn tokens(mut text: &[u8]) -> Option<Vec<Token>> {
    let mut found: Vec<Token> = Vec::new();
    while let Some((first, rest)) = text.split_first() {
        text = rest;
        let is_group = found.last().is_some_and(|last| !matches!(last, Token::Byte(_)));
        found.push(match first {
            b'(' | b')' | b'{' | b'}' => return None,
            b'*' | b'+' | b'?' if is_group => return None,
            b'*' => Token::Any,
            b':' if text.first().is_some_and(|byte| begins_name(*byte)) => {
                let continues = |byte: &u8| begins_name(*byte) || byte.is_ascii_digit();
                let end = text.iter().position(|byte| !continues(byte)).unwrap_or(text.len());
                text = &text[end..];
                Token::Segment
            }
            b'\\' => {
                let (escaped, rest) = text.split_first()?;
                text = rest;
                Token::Byte(*escaped)
            }
            byte => Token::Byte(*byte),
        });
    }
    Some(found)
}

fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$')
}

/// Returns whether a pattern matches all of a text. Follows all ways through the pattern at a time, so that
/// the time is bounded by the product of both lengths.
fn matches(pattern: &[Token], text: &[u8], slash_ends_segment: bool) -> bool {
    // Whether the first tokens, by their number, match the text so far.
    let mut reached = vec![false; pattern.len() + 1];
    // A segment that has begun may take more text, or end.
    let mut within = vec![false; pattern.len()];
    reached[0] = true;
    skip_empty(pattern, &mut reached);
    for byte in text {
        let (mut next, mut inside) = (vec![false; pattern.len() + 1], vec![false; pattern.len()]);
        for (at, token) in pattern.iter().enumerate() {
            let is_here = reached[at];
            match token {
                Token::Byte(wanted) => next[at + 1] |= is_here && wanted == byte,
                Token::Any => next[at] |= is_here,
                Token::Segment => {
                    let takes = (is_here || within[at]) && !(slash_ends_segment && *byte == b'/');
                    inside[at] |= takes;
                    next[at + 1] |= takes;
                }
            }
        }
        skip_empty(pattern, &mut next);
        (reached, within) = (next, inside);
        if !reached.contains(&true) && !within.contains(&true) {
            return false;
        }
    }
    reached[pattern.len()]
}

/// `*` matches no text, too.
fn skip_empty(pattern: &[Token], reached: &mut [bool]) {
    for (at, token) in pattern.iter().enumerate() {
        if *token == Token::Any && reached[at] {
            reached[at + 1] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(value: &str) -> Vec<Field> {
        vec![(b"use-as-dictionary".to_vec(), value.as_bytes().to_vec())]
    }

    #[test]
    fn fields_of_dictionaries() {
        for (text, expected) in [
            ("match=\"/a*\"", Some(("/a*", ""))),
            ("match=\"/product/*\", match-dest=(\"document\" \"frame\")", Some(("/product/*", ""))),
            ("id=\"x \\\"1\\\"\", match=\"/*\", type=raw", Some(("/*", "x \"1\""))),
            ("match=\"/a\";q=1;x=\"y\", other=?1, n=-4.5, b, t=tok", Some(("/a", ""))),
            ("match=\"/a\", match=\"/b\"", Some(("/b", ""))),
            ("match=\"/a\", type=huffman", None),
            ("match=\"/a\", type=\"raw\"", None),
            ("match=/a", None),
            ("match", None),
            ("id=\"x\"", None),
            ("match=\"/a", None),
            ("match=\"/a\",", None),
            ("match=\"/a\" id=\"b\"", None),
            ("match=\"/\u{e9}\"", None),
            ("match=\"/a\", match-dest=(\"document\"", None),
            ("Match=\"/a\"", None),
            ("", None),
        ] {
            let found = UseAsDictionary::of(&field(text));
            let expected = expected.map(|(pattern, id)| UseAsDictionary {
                pattern: pattern.as_bytes().to_vec(),
                id: id.as_bytes().to_vec(),
            });
            assert_eq!(found, expected, "{text}");
        }
        let long = |length| format!("match=\"/\", id=\"{}\"", "x".repeat(length));
        assert!(UseAsDictionary::of(&field(&long(1024))).is_some());
        assert!(UseAsDictionary::of(&field(&long(1025))).is_none());
        assert!(UseAsDictionary::of(&[]).is_none());
    }

    #[test]
    fn fields_of_requests() {
        let field = |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        // The example of section 2.2.
        let sum = base64::decode(b"pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=").unwrap();
        let with_id = |id: &str| UseAsDictionary { pattern: Vec::new(), id: id.as_bytes().to_vec() };
        let available = field("Available-Dictionary", ":pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=:");
        let sum: [u8; 32] = sum.try_into().unwrap();
        assert_eq!(with_id("").request_fields(&sum), std::slice::from_ref(&available));
        assert_eq!(
            with_id("/a \"b\" \\").request_fields(&sum),
            [available, field("Dictionary-ID", "\"/a \\\"b\\\" \\\\\"")]
        );
    }

    #[test]
    fn patterns_of_urls() {
        for (pattern, url, expected) in [
            ("/app/*/main.js", "/app/v2/main.js", true),
            ("/app/*/main.js", "/app/v2/x/main.js", true),
            ("/app/*/main.js", "/app/v2/main.js?q=1", true),
            ("/app/*/main.js", "/app/main.js", false),
            ("/app/*/main.js", "/app/v2/main.css", false),
            ("/product/*", "/product/", true),
            ("/product/*", "/Product/a", false),
            ("/*", "/", true),
            ("*", "/dir/x", true),
            ("*", "/other", false),
            ("main.js", "/dir/main.js", true),
            ("main.js", "/main.js", false),
            ("/v:version/app.js", "/v12/app.js", true),
            ("/v:version/app.js", "/v/app.js", false),
            ("/v:version/app.js", "/v1/2/app.js", false),
            ("/:a/:b", "/x/y", true),
            ("/:a-*", "/x-y", true),
            ("/a\\*b", "/a*b", true),
            ("/a\\*b", "/axb", false),
            ("/a?v=*", "/a?v=7", true),
            ("/a?v=*", "/a?w=7", false),
            ("/a?v=*", "/a", false),
            ("?v=*", "/dir/dict?v=2", true),
            ("?v=*", "/dir/other?v=2", false),
            ("https://h/a*", "/abc", true),
            ("https://h:443/a*", "/abc", true),
            ("https://other/a*", "/abc", false),
            ("http://h/a*", "/abc", false),
            ("https://h", "/", false),
            ("//h/a*", "/abc", false),
            // Not supported.
            ("/(\\\\d+)", "/1", false),
            ("/{a}?b", "/b", false),
            ("/:a?", "/b", false),
            ("/a*?", "/ab", false),
            ("/**", "/ab", false),
            ("/a#b", "/a", false),
            ("/a\\", "/a", false),
            ("", "/dir/dict", true),
            ("", "/dir/x", false),
        ] {
            let dictionary = UseAsDictionary { pattern: pattern.as_bytes().to_vec(), id: Vec::new() };
            let is_for = |base: &str, url: &str| dictionary.is_for(base.as_bytes(), url.as_bytes());
            assert_eq!(is_for("https://h/dir/dict", &format!("https://h{url}")), expected, "{pattern} {url}");
            for other in ["http://h", "https://h:8443", "https://g"] {
                assert!(!is_for("https://h/dir/dict", &format!("{other}{url}")), "{pattern} {other}{url}");
            }
        }
        // A pattern and a text for which backtracking would take for ever.
        let pattern = format!("/{}", "*a".repeat(500)).into_bytes();
        let hard = UseAsDictionary { pattern, id: Vec::new() };
        assert!(!hard.is_for(b"https://h/", format!("https://h/{}", "a".repeat(499)).as_bytes()));
    }
}
