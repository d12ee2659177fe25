//! Further sources of a file: Metalink 4 (RFC 5854) and Link fields (RFC 6249 and 8288).

use super::foreign::may_be_named;
use crate::bytes::Bytes;
use crate::checksum::sum::{Algorithm, Sum};
use crate::message::shown;
use crate::names;

/// One file of a Metalink document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    pub name: Bytes,
    /// In the order of their priority.
    pub urls: Vec<Bytes>,
    pub sums: Vec<Sum>,
}

const NAMESPACE: &str = "urn:ietf:params:xml:ns:metalink";
/// Maximum number of sources that are used.
pub const MOST: usize = 64;

/// The files of a document, or why it is none.
pub fn metalink(text: &str) -> Result<Vec<Described>, String> {
    let document = roxmltree::Document::parse(text).map_err(|error| format!("not a Metalink: {error}"))?;
    let root = document.root_element();
    if !root.has_tag_name((NAMESPACE, "metalink")) {
        return Err("not a Metalink of version 4".into());
    }
    let files: Vec<_> = root.children().filter(|node| node.has_tag_name((NAMESPACE, "file"))).collect();
    if files.is_empty() {
        return Err("a Metalink without files".into());
    }
    files.into_iter().map(described).collect()
}

fn described(file: roxmltree::Node<'_, '_>) -> Result<Described, String> {
    // RFC 5854, section 4.1.2.1: no name may lead out of the folder; here none leads into another either.
    let name = names::from_document(file.attribute("name").unwrap_or_default().as_bytes())
        .ok_or("a Metalink with an invalid file name")?;
    let of = |tag: &'static str| file.children().filter(move |node| node.has_tag_name((NAMESPACE, tag)));
    let text = |node: roxmltree::Node<'_, '_>| node.text().unwrap_or_default().trim().to_owned();
    let mut urls: Vec<(u32, Bytes)> = of("url")
        .map(|node| {
            let priority = node.attribute("priority").and_then(|text| text.parse().ok());
            (priority.unwrap_or(999_999), text(node).into_bytes())
        })
        .collect();
    urls.sort_by_key(|(priority, _)| *priority);
    let urls: Vec<Bytes> =
        urls.into_iter().map(|(_, url)| url).filter(|url| may_be_named(url)).take(MOST).collect();
    if urls.is_empty() {
        return Err(format!("a Metalink without URLs of HTTP or FTP for {}", shown(&name)));
    }
    let sums = of("hash").filter_map(|node| {
        let algorithm = Algorithm::from_name(node.attribute("type")?.as_bytes())?;
        Sum::of_hex(algorithm, text(node).as_bytes())
    });
    Ok(Described { name, urls, sums: sums.collect() })
}

/// Returns the URLs of a Link field with relation `duplicate`, with their `pri`.
pub fn duplicates(value: &[u8]) -> Vec<(u32, Bytes)> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some(open) = rest.iter().position(|byte| *byte == b'<') {
        let after = &rest[open + 1..];
        let Some(close) = after.iter().position(|byte| *byte == b'>') else { break };
        let url = after[..close].trim_ascii().to_vec();
        let (parameters, next) = parameters(&after[close + 1..]);
        rest = next;
        let of = |name: &str| {
            let found = parameters.iter().find(|(key, _)| key.eq_ignore_ascii_case(name.as_bytes()));
            found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        };
        let relations = of("rel").unwrap_or_default();
        if relations.split(' ').any(|relation| relation.eq_ignore_ascii_case("duplicate")) && !url.is_empty()
        {
            found.push((of("pri").and_then(|text| text.parse().ok()).unwrap_or(999_999), url));
        }
    }
    found
}

type Parameters = Vec<(Bytes, Bytes)>;

/// Parses the parameters of a link, `; name=value`, where a value may be quoted; returns the rest.
fn parameters(text: &[u8]) -> (Parameters, &[u8]) {
    let mut all = Vec::new();
    let (mut piece, mut quoted, mut at) = (Vec::new(), false, 0);
    let mut end = |piece: &mut Bytes| {
        let equals = piece.iter().position(|byte| *byte == b'=').unwrap_or(piece.len());
        let (key, value) = piece.split_at(equals);
        all.push((key.trim_ascii().to_vec(), value.get(1..).unwrap_or_default().trim_ascii().to_vec()));
        piece.clear();
    };
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if quoted => {
                at += 1;
                piece.extend(text.get(at));
            }
            b',' if !quoted => break,
            b';' if !quoted => end(&mut piece),
            _ => piece.push(byte),
        }
        at += 1;
    }
    end(&mut piece);
    (all, &text[at.min(text.len())..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metalink_lists_files_with_sources_and_sums() {
        let text = r#"<?xml version="1.0" encoding="UTF-8"?>
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><published>2009-05-15T12:23:23Z</published>
            <file name="sub/example.ext"><size>3</size><hash type="md5">900150983cd24fb0d6963f7d28e17f72</hash>
            <hash type="unknown">00</hash><hash type="sha-1">a9993e364706816aba3e25717850c26c9cd0d89d</hash>
            <url location="de" priority="2">ftp://h/b?x=1&amp;y</url><url priority="1"> http://h/a </url><url>http://h/c</url>
            </file></metalink>"#;
        let files = metalink(text).unwrap();
        assert_eq!(files[0].name, b"example.ext");
        assert_eq!(
            files[0].urls,
            [b"http://h/a".to_vec(), b"ftp://h/b?x=1&y".to_vec(), b"http://h/c".to_vec()]
        );
        let kinds: Vec<Algorithm> = files[0].sums.iter().map(|sum| sum.algorithm).collect();
        assert_eq!(kinds, [Algorithm::Md5, Algorithm::Sha1]);
    }

    #[test]
    fn an_invalid_metalink_is_refused_with_a_reason() {
        let file = |inside: &str| format!("<metalink xmlns=\"{NAMESPACE}\">{inside}</metalink>");
        for (text, why) in [
            ("<metalink".to_owned(), "not a Metalink: "),
            ("<metalink/>".to_owned(), "not a Metalink of version 4"),
            (file(""), "a Metalink without files"),
            (file("<file name=\"..\"><url>http://h/</url></file>"), "a Metalink with an invalid file name"),
            (file("<file name=\"a\"/>"), "a Metalink without URLs of HTTP or FTP for a"),
            (
                file("<file name=\"a\"><url>file:///etc/passwd</url></file>"),
                "a Metalink without URLs of HTTP",
            ),
            (
                file("<file name=\"x/.netrc\"><url>http://h/</url></file>"),
                "a Metalink with an invalid file name",
            ),
            (file("<file name=\"-\"><url>http://h/</url></file>"), "a Metalink with an invalid file name"),
        ] {
            assert!(metalink(&text).unwrap_err().starts_with(why), "{text}");
        }
        // Entity definitions are not supported, internal or external.
        let bomb =
            format!("<!DOCTYPE m [<!ENTITY a \"aaa\">]>{}", file("<file name=\"&a;\"><url>u</url></file>"));
        assert!(metalink(&bomb).is_err());
    }

    #[test]
    fn link_fields() {
        let of = |text: &str| -> Vec<(u32, String)> {
            let found = duplicates(text.as_bytes()).into_iter();
            found.map(|(pri, url)| (pri, String::from_utf8(url).unwrap())).collect()
        };
        let text = "<http://a/x>; rel=duplicate; pri=2; geo=gb, <http://b/,;x> ; rel=\"other Duplicate\",<c>;rel=next, <d>; rel=\"a, \\\"duplicate\"";
        assert_eq!(of(text), [(2, "http://a/x".into()), (999_999, "http://b/,;x".into())]);
        assert!(of("<").is_empty() && of("").is_empty() && of("<>; rel=duplicate").is_empty());
    }
}
