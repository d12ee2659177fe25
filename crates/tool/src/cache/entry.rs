//! The stored metadata of a reply: a text file that is replaced as a whole.

use crate::bytes::Bytes;
use crate::raw::hex;
use crate::raw::rules::{Field, RangeSource, StoredResponse, UseAsDictionary};
use crate::raw::segments::{seal, unseal};

const FIRST_LINE: &str = "warmwire cached reply 1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Without login and fragment.
    pub url: Bytes,
    /// The part of the key besides URL and fields; see `partition`.
    pub partition: String,
    /// When it was requested, and when its head was received; seconds since 1970.
    pub asked: i64,
    pub received: i64,
    /// Whether it is the reply to a HEAD: it cannot answer a GET.
    pub head_only: bool,
    /// The Range field that a partial reply (206) answers.
    pub range: Option<Bytes>,
    /// The fields of the request that Vary names, with sums of their values.
    pub selected: Vec<(Bytes, Option<Bytes>)>,
    pub status: u16,
    /// Without its ending.
    pub status_line: Bytes,
    pub fields: Vec<Field>,
    /// `None` if the body was not read: of a redirect that was followed, or for HEAD.
    pub body: Option<Body>,
}

/// A body in its own file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    pub file: String,
    pub length: u64,
    /// BLAKE3, in hexadecimal digits.
    pub sum: String,
}

impl Entry {
    pub fn kept(&self) -> StoredResponse<'_> {
        StoredResponse {
            status: self.status,
            fields: &self.fields,
            asked: self.asked,
            received: self.received,
        }
    }

    /// Returns whether the server offers the reply as a dictionary (RFC 9842).
    pub fn is_dictionary(&self) -> bool {
        self.status == 200 && !self.head_only && UseAsDictionary::of(&self.fields).is_some()
    }

    pub fn range_source(&self) -> RangeSource<'_> {
        RangeSource {
            status: self.status,
            fields: &self.fields,
            length: self.body.as_ref().map(|body| body.length),
            answered: self.range.as_deref(),
        }
    }

    pub fn text(&self) -> String {
        let mut text = format!(
            "{FIRST_LINE}\nurl {}\npartition {}\nasked {}\nreceived {}\nstatus {} {}\n",
            hex::encode(&self.url),
            self.partition,
            self.asked,
            self.received,
            self.status,
            hex::encode(&self.status_line),
        );
        if self.head_only {
            text.push_str("head only\n");
        }
        if let Some(range) = &self.range {
            text.push_str(&format!("range {}\n", hex::encode(range)));
        }
        for (name, value) in &self.selected {
            let value = value.as_ref().map_or("-".into(), |value| format!("={}", hex::encode(value)));
            text.push_str(&format!("vary {} {value}\n", hex::encode(name)));
        }
        for (name, value) in &self.fields {
            text.push_str(&format!("field {} ={}\n", hex::encode(name), hex::encode(value)));
        }
        if let Some(body) = &self.body {
            text.push_str(&format!("body {} {} {}\n", body.file, body.length, body.sum));
        }
        seal(&text)
    }

    /// Parses an entry; `None` if it is truncated, modified or something else.
    pub fn parse(text: &str) -> Option<Entry> {
        let mut lines = unseal(text)?.lines();
        if lines.next() != Some(FIRST_LINE) {
            return None;
        }
        let bytes = |digits: &str| hex::decode(digits.as_bytes());
        let (mut url, mut partition, mut asked, mut received, mut status) = (None, None, None, None, None);
        let (mut head_only, mut range, mut selected) = (false, None, Vec::new());
        let (mut fields, mut body) = (Vec::new(), None);
        for line in lines {
            let (key, value) = line.split_once(' ')?;
            match key {
                "url" => url = Some(bytes(value)?),
                "partition" => partition = Some(value.to_owned()),
                "asked" => asked = Some(value.parse().ok()?),
                "received" => received = Some(value.parse().ok()?),
                "status" => {
                    let (code, line) = value.split_once(' ')?;
                    status = Some((code.parse().ok()?, bytes(line)?));
                }
                "head" => head_only = value == "only",
                "range" => range = Some(bytes(value)?),
                "vary" => {
                    let (name, value) = value.split_once(' ')?;
                    let value = if value == "-" { None } else { Some(bytes(value.strip_prefix('=')?)?) };
                    selected.push((bytes(name)?, value));
                }
                "field" => {
                    let (name, value) = value.split_once(' ')?;
                    fields.push((bytes(name)?, bytes(value.strip_prefix('=')?)?));
                }
                "body" => {
                    let mut words = value.split(' ');
                    let file = words.next()?.to_owned();
                    let length = words.next()?.parse().ok()?;
                    body = Some(Body { file, length, sum: words.next()?.to_owned() });
                }
                _ => return None,
            }
        }
        let ((status, status_line), asked, received) = (status?, asked?, received?);
        let (url, partition) = (url?, partition?);
        Some(Entry {
            url,
            partition,
            asked,
            received,
            head_only,
            range,
            selected,
            status,
            status_line,
            fields,
            body,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            url: b"http://h/\xff".to_vec(),
            partition: "ab".into(),
            asked: 5,
            received: 7,
            head_only: true,
            range: Some(b"bytes=-5".to_vec()),
            selected: vec![(b"accept".to_vec(), None), (b"x".to_vec(), Some(Vec::new()))],
            status: 200,
            status_line: b"HTTP/1.1 200 ".to_vec(),
            fields: vec![(b"A".to_vec(), b"b c".to_vec()), (b"Empty".to_vec(), Vec::new())],
            body: Some(Body { file: "f".into(), length: 9, sum: "00".into() }),
        }
    }

    #[test]
    fn a_written_entry_is_read_back() {
        assert_eq!(Entry::parse(&entry().text()), Some(entry()));
        let bare =
            Entry { head_only: false, range: None, selected: Vec::new(), fields: Vec::new(), ..entry() };
        let bare = Entry { body: None, ..bare };
        assert_eq!(Entry::parse(&bare.text()), Some(bare));
    }

    #[test]
    fn a_truncated_or_changed_entry_is_refused() {
        let text = entry().text();
        for end in 0..text.len() {
            assert_eq!(Entry::parse(&text[..end]), None, "{end}");
        }
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            assert_eq!(Entry::parse(&String::from_utf8(bytes).unwrap()), None, "{at}");
        }
        for body in ["url 61\n", "url 61\nfield 61 62\n", "more 1\n", "body x\n"] {
            assert_eq!(Entry::parse(&seal(&format!("{FIRST_LINE}\n{body}"))), None, "{body}");
        }
    }
}
