//! Replies of S3: short documents of XML. Only elements that an upload needs are kept.

use roxmltree::{Document, Node, ParsingOptions};

/// Longest reply: a list of 10,000 parts needs less.
pub const LONGEST: usize = 16 << 20;
/// Most elements, texts and the like of a reply: a part in a list has 15 with its checksums.
const MOST_NODES: u32 = 200_000;
/// Most parts that are kept of a list.
const MOST_PARTS: usize = 10_000;

/// A part in the list of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedPart {
    pub number: u32,
    pub size: u64,
    pub etag: Vec<u8>,
}

/// The elements of a reply that an upload needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The name of the outermost element; empty if the reply is not understood.
    pub root: String,
    pub upload_id: Vec<u8>,
    pub etag: Vec<u8>,
    /// The word for an error, like `NoSuchUpload`.
    pub code: Vec<u8>,
    pub message: Vec<u8>,
    pub is_truncated: bool,
    pub next_part: Option<u32>,
    pub parts: Vec<ListedPart>,
}

impl Reply {
    /// Reads the body of a reply. One that is no well-formed XML, or has a document type, has no elements.
    pub fn read(body: &[u8]) -> Reply {
        let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
        // A server sends blanks while it completes an upload.
        let text = std::str::from_utf8(body.trim_ascii()).ok();
        let document = text.and_then(|text| Document::parse_with_options(text, options).ok());
        document.and_then(|document| of_root(document.root_element())).unwrap_or_default()
    }

    /// Returns whether the reply is of this kind.
    pub fn is(&self, root: &str) -> bool {
        self.root == root
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
}

/// Reads the outermost element; `None` if a number is none, or there are too many parts.
fn of_root(root: Node<'_, '_>) -> Option<Reply> {
    let mut reply = Reply { root: root.tag_name().name().to_owned(), ..Reply::default() };
    for element in root.children().filter(Node::is_element) {
        let text = text(element);
        match element.tag_name().name() {
            "UploadId" => reply.upload_id = text.into_bytes(),
            "ETag" => reply.etag = text.into_bytes(),
            "Code" => reply.code = text.into_bytes(),
            "Message" => reply.message = text.into_bytes(),
            "IsTruncated" => reply.is_truncated = text == "true",
            // Some servers have an empty one at the end.
            "NextPartNumberMarker" if !text.is_empty() => reply.next_part = Some(number(&text)?),
            "Part" if reply.parts.len() == MOST_PARTS => return None,
            "Part" => reply.parts.push(part(element)?),
            _ => {}
        }
    }
    Some(reply)
}

fn part(element: Node<'_, '_>) -> Option<ListedPart> {
    let mut part = ListedPart::default();
    for element in element.children().filter(Node::is_element) {
        let text = text(element);
        match element.tag_name().name() {
            "PartNumber" => part.number = number(&text)?,
            "Size" => part.size = number(&text)?,
            "ETag" => part.etag = text.into_bytes(),
            _ => {}
        }
    }
    Some(part)
}

/// Returns the text of an element, which may consist of several pieces, without blanks around it.
fn text(element: Node<'_, '_>) -> String {
    let text: String = element.children().filter(Node::is_text).filter_map(|node| node.text()).collect();
    text.trim_ascii().to_owned()
}

fn number<N: std::str::FromStr>(text: &str) -> Option<N> {
    let is_number = !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- a > b -->\
        <ListPartsResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Bucket>b</Bucket>\
        <Key><![CDATA[a<&>b]]></Key><UploadId>VX&amp;x&#x2f;<![CDATA[&#]]>&#47;</UploadId>\
        <Initiator><ID>i</ID><UploadId>no</UploadId></Initiator>\
        <NextPartNumberMarker>3</NextPartNumberMarker><MaxParts>2</MaxParts>\
        <IsTruncated>true</IsTruncated><Part><PartNumber>2</PartNumber>\
        <LastModified>2010-11-10T20:48:34.000Z</LastModified><ETag>&quot;7778&quot;</ETag>\
        <Size>10485760</Size></Part><Part ><ETag>\"aaaa\"</ETag><Size>1</Size>\
        <PartNumber> 3 </PartNumber><Checksum/></Part></ListPartsResult >\n";

    #[test]
    fn a_list_of_parts_is_read() {
        let part = |number, size, etag: &str| ListedPart { number, size, etag: etag.into() };
        let wanted = Reply {
            root: "ListPartsResult".into(),
            upload_id: b"VX&x/&#/".into(),
            is_truncated: true,
            next_part: Some(3),
            parts: vec![part(2, 10_485_760, "\"7778\""), part(3, 1, "\"aaaa\"")],
            ..Reply::default()
        };
        assert_eq!(Reply::read(LIST.as_bytes()), wanted);
        assert!(wanted.is("ListPartsResult") && !wanted.is("Error") && wanted.error_text().is_empty());
    }

    #[test]
    fn a_list_of_all_parts_that_an_object_can_have_is_read() {
        let part = "<Part><PartNumber>1</PartNumber><LastModified>t</LastModified><ETag>e</ETag>\
            <Size>5</Size><ChecksumCRC32>a</ChecksumCRC32><ChecksumSHA256>b</ChecksumSHA256></Part>\n";
        let list = |count| format!("<ListPartsResult>{}</ListPartsResult>", part.repeat(count));
        assert_eq!(Reply::read(list(MOST_PARTS).as_bytes()).parts.len(), MOST_PARTS);
        assert_eq!(Reply::read(list(MOST_PARTS + 1).as_bytes()), Reply::default());
    }

    #[test]
    fn an_error_has_its_code_and_message() {
        for (text, wanted) in [
            (
                "<Error><Code>NoSuchUpload</Code><Message>gone&#9;[1m</Message></Error>",
                "NoSuchUpload: gone[1m",
            ),
            ("  \n\n<Error><Code>InternalError</Code></Error>", "InternalError"),
            ("<e:Error xmlns:e='x'><e:Message>m</e:Message></e:Error>", "m"),
            ("<html><body>502</body></html>", ""),
            ("", ""),
        ] {
            assert_eq!(Reply::read(text.as_bytes()).error_text(), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_xml_is_no_reply() {
        for text in [
            "<Error><Code>a</Error>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a/>",
            "<a><UploadId>&b;</UploadId></a>",
            "<a><UploadId>&#+5;</UploadId></a>",
            "<a><Part><PartNumber>-1</PartNumber></Part></a>",
            "<a><Part><PartNumber>+1</PartNumber></Part></a>",
            "<a><Part><PartNumber>99999999999</PartNumber></Part></a>",
            "<a><Part><Size></Size></Part></a>",
            "<a><b></a>",
            "<a></a",
            "</a>",
            "<>",
            &"<a>".repeat(MOST_NODES as usize),
            &format!("<a>{}</a>", "<b/>".repeat(MOST_NODES as usize)),
        ] {
            assert_eq!(Reply::read(text.as_bytes()), Reply::default(), "{text:.60}");
        }
    }
}
