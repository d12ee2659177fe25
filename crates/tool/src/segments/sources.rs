//! Further sources of a file: Metalink 4 (RFC 5854).

use crate::bytes::Bytes;
use crate::message::shown;
use crate::names;
use crate::raw::checksum::{Algorithm, Sum};
use crate::raw::segments::{MOST, may_be_named};

/// A file of a Metalink document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    pub name: Bytes,
    /// In the order of their priority.
    pub urls: Vec<Bytes>,
    pub sums: Vec<Sum>,
}

const NAMESPACE: &str = "urn:ietf:params:xml:ns:metalink";

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
}
