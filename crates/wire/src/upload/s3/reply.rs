//! Replies of S3: XML, read piece by piece in bounded memory. Only elements that an upload needs are kept.

/// Longest reply: a list of 10,000 parts needs less.
const LONGEST: usize = 16 << 20;
/// Longest text, or tag with its attributes.
const LONGEST_TOKEN: usize = 4096;
const DEEPEST: usize = 16;
/// Most parts that are kept of a list.
const MOST_PARTS: usize = 10_000;
const COMMENT: (&[u8], &[u8]) = (b"!--", b"--");
const CDATA: (&[u8], &[u8]) = (b"![CDATA[", b"]]");

/// A part in the list of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedPart {
    pub number: u32,
    pub size: u64,
    pub etag: Vec<u8>,
}

/// A reply that is longer than any that an upload needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// The elements of a reply that an upload needs.
#[derive(Debug, Default)]
pub struct Reply {
    /// The name of the outermost element.
    pub root: Vec<u8>,
    pub upload_id: Vec<u8>,
    pub etag: Vec<u8>,
    /// The word for an error, like `NoSuchUpload`.
    pub code: Vec<u8>,
    pub message: Vec<u8>,
    pub is_truncated: bool,
    pub next_part: Option<u32>,
    pub parts: Vec<ListedPart>,
    /// The outermost element has ended.
    pub is_complete: bool,
    reader: Reader,
}

/// The state between two bytes.
#[derive(Debug, Default)]
struct Reader {
    length: usize,
    is_faulty: bool,
    /// Whether a tag has begun, and not ended.
    in_tag: bool,
    tag: Vec<u8>,
    text: Vec<u8>,
    /// The names of the open elements.
    open: Vec<Vec<u8>>,
    part: ListedPart,
}

impl Reply {
    /// Takes the next bytes. What follows a fault in the XML is ignored.
    pub fn feed(&mut self, data: &[u8]) -> Result<(), TooLong> {
        self.reader.length = self.reader.length.saturating_add(data.len());
        if self.reader.length > LONGEST {
            return Err(TooLong);
        }
        for octet in data {
            if self.reader.is_faulty || self.is_complete {
                break;
            }
            self.reader.is_faulty = self.take(*octet).is_none();
        }
        Ok(())
    }

    /// Returns whether the reply is of this kind, and whole.
    pub fn is(&self, root: &str) -> bool {
        self.is_complete && self.root == root.as_bytes()
    }

    /// Returns code and message of an error in printable characters; empty if there is none.
    pub fn error_text(&self) -> String {
        let printable = |text: &[u8]| -> String {
            let text = String::from_utf8_lossy(text);
            text.chars().filter(|character| !character.is_control()).take(200).collect()
        };
        let [code, message] = [&self.code, &self.message].map(|text| printable(text));
        match (code.is_empty(), message.is_empty()) {
            (true, _) => message,
            (false, true) => code,
            (false, false) => format!("{code}: {message}"),
        }
    }

    /// Takes an octet; `None` is a fault.
    fn take(&mut self, octet: u8) -> Option<()> {
        let reader = &mut self.reader;
        let token = if reader.in_tag { &mut reader.tag } else { &mut reader.text };
        match octet {
            b'<' if !reader.in_tag => reader.in_tag = true,
            b'>' if reader.in_tag && !is_open(token) => {
                reader.in_tag = false;
                let tag = std::mem::take(token);
                return self.tag(&tag);
            }
            // A server sends blanks while it completes an upload.
            _ if token.is_empty() && octet.is_ascii_whitespace() => {}
            _ if token.len() == LONGEST_TOKEN => return None,
            _ => token.push(octet),
        }
        Some(())
    }

    fn tag(&mut self, tag: &[u8]) -> Option<()> {
        if let Some(rest) = tag.strip_prefix(CDATA.0) {
            let text = rest.strip_suffix(CDATA.1)?;
            // Its ampersands are no references.
            text.iter().for_each(|octet| match octet {
                b'&' => self.reader.text.extend_from_slice(b"&amp;"),
                octet => self.reader.text.push(*octet),
            });
            return (self.reader.text.len() <= LONGEST_TOKEN).then_some(());
        }
        if tag.starts_with(b"?") || tag.starts_with(COMMENT.0) {
            return Some(());
        }
        if let Some(name) = tag.strip_prefix(b"/") {
            return self.end(name);
        }
        let (tag, is_empty) = match tag.strip_suffix(b"/") {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let name = tag.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        // "!" begins a document type, whose entities are of no use here.
        if name.is_empty() || name.starts_with(b"!") || self.reader.open.len() == DEEPEST {
            return None;
        }
        if self.reader.open.is_empty() {
            self.root = local(name).to_vec();
        }
        self.reader.text.clear();
        self.reader.open.push(name.to_vec());
        if is_empty { self.end(name) } else { Some(()) }
    }

    fn end(&mut self, name: &[u8]) -> Option<()> {
        let name = name.trim_ascii_end();
        if self.reader.open.pop()? != name {
            return None;
        }
        let text = std::mem::take(&mut self.reader.text);
        let text = unescape(text.trim_ascii())?;
        let name = local(name);
        let is_in_part = |open: &[Vec<u8>]| open.len() == 2 && local(&open[1]) == b"Part";
        match self.reader.open.as_slice() {
            [] => self.is_complete = true,
            [_] if name == b"Part" => {
                let part = std::mem::take(&mut self.reader.part);
                (self.parts.len() < MOST_PARTS).then(|| self.parts.push(part))?;
            }
            [_] => self.take_fact(name, text)?,
            open if is_in_part(open) => match name {
                b"PartNumber" => self.reader.part.number = number(&text)?,
                b"Size" => self.reader.part.size = number(&text)?,
                b"ETag" => self.reader.part.etag = text,
                _ => {}
            },
            _ => {}
        }
        Some(())
    }

    fn take_fact(&mut self, name: &[u8], text: Vec<u8>) -> Option<()> {
        match name {
            b"UploadId" => self.upload_id = text,
            b"ETag" => self.etag = text,
            b"Code" => self.code = text,
            b"Message" => self.message = text,
            b"IsTruncated" => self.is_truncated = text == b"true",
            // Some servers have an empty one at the end.
            b"NextPartNumberMarker" if !text.is_empty() => self.next_part = Some(number(&text)?),
            _ => {}
        }
        Some(())
    }
}

/// Returns whether a comment or a CDATA section has not ended yet.
fn is_open(tag: &[u8]) -> bool {
    [COMMENT, CDATA]
        .iter()
        .any(|(begin, end)| tag.strip_prefix(*begin).is_some_and(|rest| !rest.ends_with(end)))
}

/// Returns the name without its name space.
fn local(name: &[u8]) -> &[u8] {
    name.iter().position(|octet| *octet == b':').map_or(name, |at| &name[at + 1..])
}

fn number<N: std::str::FromStr>(text: &[u8]) -> Option<N> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()
}

/// Replaces references to characters.
fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|octet| *octet == b'&') {
        out.extend_from_slice(&rest[..at]);
        let end = at + rest[at..].iter().position(|octet| *octet == b';')?;
        let character = match &rest[at + 1..end] {
            b"lt" => '<',
            b"gt" => '>',
            b"amp" => '&',
            b"quot" => '"',
            b"apos" => '\'',
            [b'#', b'x', digits @ ..] => character(digits, 16)?,
            [b'#', digits @ ..] => character(digits, 10)?,
            _ => return None,
        };
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[end + 1..];
    }
    out.extend_from_slice(rest);
    Some(out)
}

fn character(digits: &[u8], radix: u32) -> Option<char> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    char::from_u32(u32::from_str_radix(digits, radix).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a reply that comes in pieces of this length.
    fn read(text: &str, piece: usize) -> Reply {
        let mut reply = Reply::default();
        text.as_bytes().chunks(piece).for_each(|piece| reply.feed(piece).unwrap());
        reply
    }

    const LIST: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- a > b -->\
        <ListPartsResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Bucket>b</Bucket>\
        <Key><![CDATA[a<&>b]]></Key><UploadId>VX&amp;x&#x2f;&#47;</UploadId>\
        <Initiator><ID>i</ID><UploadId>no</UploadId></Initiator>\
        <NextPartNumberMarker>3</NextPartNumberMarker><MaxParts>2</MaxParts>\
        <IsTruncated>true</IsTruncated><Part><PartNumber>2</PartNumber>\
        <LastModified>2010-11-10T20:48:34.000Z</LastModified><ETag>&quot;7778&quot;</ETag>\
        <Size>10485760</Size></Part><Part ><ETag>\"aaaa\"</ETag><Size>1</Size>\
        <PartNumber> 3 </PartNumber><Checksum/></Part></ListPartsResult >\n";

    #[test]
    fn a_list_of_parts_is_read_in_any_pieces() {
        for piece in [1, 2, 3, 7, 64, LIST.len()] {
            let reply = read(LIST, piece);
            assert!(reply.is("ListPartsResult") && !reply.is("Error"), "{reply:?}");
            assert_eq!(reply.upload_id, b"VX&x//");
            assert!(reply.is_truncated && reply.next_part == Some(3) && reply.error_text().is_empty());
            let part = |number, size, etag: &str| ListedPart { number, size, etag: etag.into() };
            assert_eq!(reply.parts, [part(2, 10_485_760, "\"7778\""), part(3, 1, "\"aaaa\"")]);
        }
    }

    #[test]
    fn an_error_has_its_code_and_message() {
        for (text, wanted) in [
            (
                "<Error><Code>NoSuchUpload</Code><Message>gone\x1b[1m</Message></Error>",
                "NoSuchUpload: gone[1m",
            ),
            ("  \n\n<Error><Code>InternalError</Code></Error>", "InternalError"),
            ("<e:Error xmlns:e='x'><e:Message>m</e:Message></e:Error>", "m"),
            ("<html><body>502</body></html>", ""),
            ("", ""),
        ] {
            assert_eq!(read(text, 5).error_text(), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_xml_is_no_reply() {
        let long = format!("<a>{}</a>", "x".repeat(LONGEST_TOKEN + 1));
        for text in [
            "<Error><Code>a</Error>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a/>",
            "<a><UploadId>&b;</UploadId></a>",
            "<a><UploadId>&#x110000;</UploadId></a>",
            "<a><UploadId>&#+5;</UploadId></a>",
            "<a><Part><PartNumber>-1</PartNumber></Part></a>",
            "<a><Part><PartNumber>99999999999</PartNumber></Part></a>",
            "<a><Part><Size></Size></Part></a>",
            "<a><b></a>",
            "<a></a",
            "</a>",
            "<>",
            &"<a>".repeat(DEEPEST + 1),
            &long,
        ] {
            let reply = read(text, 3);
            assert!(!reply.is_complete, "{text:.60}");
        }
    }

    #[test]
    fn a_reply_has_a_limit() {
        let mut reply = Reply::default();
        let piece = [b' '; 1 << 20];
        assert!((0..16).all(|_| reply.feed(&piece).is_ok()) && !reply.reader.is_faulty, "blanks are no text");
        assert_eq!(reply.feed(b" "), Err(TooLong));
    }
}
