//! Conversion of links: a link to a file of the mirror becomes relative, and any other one absolute.

use super::html::{Document, Passage};
use super::scope::Role;
use crate::bytes::Bytes;
use crate::raw::escape::{is_unreserved, push_encoded};

/// Returns the document with new links. `convert` returns the new text of a link, or `None` to keep it.
pub fn converted(text: &[u8], document: &Document, convert: &dyn Fn(Role, &[u8]) -> Option<Bytes>) -> Bytes {
    let mut passages: Vec<&Passage> = document.passages.iter().collect();
    passages.sort_by_key(|passage| passage.raw.start);
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for passage in passages {
        let Some(value) = new_value(passage, convert) else { continue };
        // Where the tokenizer and the places of values disagreed, the text stays.
        let Some(between) = text.get(at..passage.raw.start) else { continue };
        out.extend_from_slice(between);
        match passage.is_attribute {
            true => out.extend(quoted(&value)),
            false => out.extend(value),
        }
        at = passage.raw.end;
    }
    out.extend_from_slice(&text[at..]);
    out
}

/// Returns the text of a passage with its new links, or `None` if none changes.
fn new_value(passage: &Passage, convert: &dyn Fn(Role, &[u8]) -> Option<Bytes>) -> Option<Bytes> {
    let mut out = Vec::new();
    let mut at = 0;
    for reference in &passage.references {
        let Some(new) = convert(reference.role, &reference.text(&passage.value)) else { continue };
        out.extend_from_slice(&passage.value[at..reference.place.start]);
        out.extend(new);
        at = reference.place.end;
    }
    out.extend_from_slice(&passage.value[at..]);
    (out != passage.value).then_some(out)
}

/// Writes the value of an attribute.
fn quoted(value: &[u8]) -> Bytes {
    let mut out = vec![b'"'];
    for octet in value {
        match octet {
            b'&' => out.extend(b"&amp;"),
            b'"' => out.extend(b"&quot;"),
            _ => out.push(*octet),
        }
    }
    out.push(b'"');
    out
}

/// Returns the link from one file of the mirror to another.
pub fn relative(from: &[u8], to: &[u8], fragment: Option<&[u8]>) -> Bytes {
    let folders = |path: &[u8]| path.iter().filter(|octet| **octet == b'/').count();
    let same = from.iter().zip(to).take_while(|(one, other)| one == other).count();
    let common = from[..same].iter().rposition(|octet| *octet == b'/').map_or(0, |at| at + 1);
    let mut out = b"../".repeat(folders(&from[common..]));
    for octet in &to[common..] {
        if is_unreserved(*octet) || b"/@!$+,;=".contains(octet) {
            out.push(*octet);
        } else {
            push_encoded(&mut out, *octet);
        }
    }
    add_fragment(out, fragment)
}

/// Returns a link to a URL that is not in the mirror, safe in HTML and CSS.
pub fn absolute(url: &[u8], fragment: Option<&[u8]>) -> Bytes {
    add_fragment(with_safe_octets(url), fragment)
}

fn add_fragment(mut link: Bytes, fragment: Option<&[u8]>) -> Bytes {
    if let Some(fragment) = fragment {
        link.push(b'#');
        link.extend(with_safe_octets(fragment));
    }
    link
}

/// Encodes what ends a string or a `url()`.
fn with_safe_octets(text: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(text.len());
    for octet in text {
        match octet {
            b'\'' | b'(' | b')' | b'"' | b'\\' | b'<' | b'>' | b' ' => push_encoded(&mut out, *octet),
            _ => out.push(*octet),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::html::{parse, parse_style};
    use super::*;

    #[test]
    fn links_between_files() {
        for (from, to, fragment, link) in [
            ("h/a.html", "h/b.html", None, "b.html"),
            ("h/a/b.html", "h/c.html", Some("x"), "../c.html#x"),
            ("h/a/b.html", "i/c.html", None, "../../i/c.html"),
            ("h/ab/x", "h/ac/y", None, "../ac/y"),
            ("h/a.html", "h/a b'\"?#(%20).html", None, "a%20b%27%22%3F%23%28%2520%29.html"),
            ("h/a.html", "h/x@a=1&b=2", None, "x@a=1%26b=2"),
            ("h/a.html", "h/c:d", None, "c%3Ad"),
        ] {
            let made = relative(from.as_bytes(), to.as_bytes(), fragment.map(str::as_bytes));
            assert_eq!(String::from_utf8(made).unwrap(), link, "{from} {to}");
        }
        assert_eq!(absolute(b"http://h/(a)?b='", Some(b"\"")), b"http://h/%28a%29?b=%27#%22");
    }

    #[test]
    fn documents_keep_the_rest_of_their_text() {
        let new = |role: Role, link: &[u8]| match role {
            Role::Base => Some(Vec::new()),
            _ => link.starts_with(b"x").then(|| [b"N&", link].concat()),
        };
        for (text, expected) in [
            ("<a  href = x1 >é</a >\r\n<A HREF='y'>", "<a  href = \"N&amp;x1\" >é</a >\r\n<A HREF='y'>"),
            ("<a href='x?a=1&amp;b'>", "<a href=\"N&amp;x?a=1&amp;b\">"),
            ("<a title='\"' href='x\"'>", "<a title='\"' href=\"N&amp;x&quot;\">"),
            (
                "<img srcset='x1 1x, y, x2 2x' src=x3>",
                "<img srcset=\"N&amp;x1 1x, y, N&amp;x2 2x\" src=\"N&amp;x3\">",
            ),
            ("<base href='/b/'>", "<base href=\"\">"),
            (
                "<style>\r\na{b:url( \"x1\" )}\r\n</style>\r\n<a href=x>",
                "<style>\r\na{b:url( \"N&x1\" )}\r\n</style>\r\n<a href=\"N&amp;x\">",
            ),
            ("<p style=\"a:url('x')\">", "<p style=\"a:url('N&amp;x')\">"),
            ("<script>'<a href=x>'</script>", "<script>'<a href=x>'</script>"),
            ("plain", "plain"),
        ] {
            let made = converted(text.as_bytes(), &parse(text.as_bytes()), &new);
            assert_eq!(String::from_utf8(made).unwrap(), expected);
        }
        let sheet = b"@import 'x.css';\na { b: url(x.png) } /* url(x) */";
        let made = converted(sheet, &parse_style(sheet), &new);
        assert_eq!(made, b"@import 'N&x.css';\na { b: url(N&x.png) } /* url(x) */");
    }
}
