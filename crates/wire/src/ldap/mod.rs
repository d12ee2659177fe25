//! LDAP (RFC 4511): requests of a client that only reads, responses, URLs (RFC 4516), and entries in curl's
//! output format.

pub mod ber;
pub mod filter;

use crate::base64;
use crate::escape::{self, Reject};
use ber::{BOOLEAN, ENUMERATED, INTEGER, Malformed, OCTETS, Reader, SEQUENCE, SET, element, integer};

const START_TLS: &[u8] = b"1.3.6.1.4.1.1466.20037";

fn message(id: u32, operation: &[u8]) -> Vec<u8> {
    element(SEQUENCE, &[&integer(INTEGER, id)[..], operation].concat())
}

/// Returns a simple bind (§4.2). An empty name and password mean anonymous.
pub fn bind(id: u32, name: &[u8], password: &[u8]) -> Vec<u8> {
    let content = [integer(INTEGER, 3), element(OCTETS, name), element(0x80, password)];
    message(id, &element(0x60, &content.concat()))
}

/// Returns a SASL bind (§4.2), or the next message of one.
pub fn bind_sasl(id: u32, mechanism: &str, credentials: Option<&[u8]>) -> Vec<u8> {
    let credentials = credentials.map_or_else(Vec::new, |credentials| element(OCTETS, credentials));
    let sasl = element(0xa3, &[element(OCTETS, mechanism.as_bytes()), credentials].concat());
    let content = [integer(INTEGER, 3), element(OCTETS, b""), sasl];
    message(id, &element(0x60, &content.concat()))
}

/// The last word (§4.3).
pub fn unbind(id: u32) -> Vec<u8> {
    message(id, &element(0x42, b""))
}

/// TLS from the answer on (§4.14).
pub fn start_tls(id: u32) -> Vec<u8> {
    message(id, &element(0x77, &element(0x80, START_TLS)))
}

/// The search of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    pub base: Vec<u8>,
    pub attributes: Vec<Vec<u8>>,
    /// The object itself, its children, all below it, all below it but itself.
    pub scope: u8,
    pub filter: Vec<u8>,
}

/// Which part of a URL is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadUrl {
    Url,
    Attributes,
    Scope,
    Filter,
    Extensions,
}

impl Search {
    /// Returns a search for the server's SASL mechanisms (RFC 4512 §5.1).
    pub fn for_mechanisms() -> Search {
        let attributes = vec![b"supportedSASLMechanisms".to_vec()];
        Search { base: Vec::new(), attributes, scope: 0, filter: b"(objectClass=*)".to_vec() }
    }

    /// Parses path and query of a URL: `/base?attributes?scope?filter?extensions`, each escaped by itself.
    pub fn from_url(path_and_query: &[u8]) -> Result<Search, BadUrl> {
        let mut parts =
            path_and_query.strip_prefix(b"/").unwrap_or(path_and_query).split(|byte| *byte == b'?');
        let mut next = |bad| {
            let part = escape::decode(parts.next().unwrap_or_default(), Reject::Zero);
            part.map_err(|_| bad)
        };
        let base = next(BadUrl::Url)?;
        let attributes = next(BadUrl::Attributes)?;
        let scope = match &next(BadUrl::Scope)?.to_ascii_lowercase()[..] {
            b"" | b"base" => 0,
            b"one" | b"onetree" => 1,
            b"sub" | b"subtree" => 2,
            b"children" | b"subordinate" => 3,
            _ => return Err(BadUrl::Scope),
        };
        let mut filter = next(BadUrl::Filter)?;
        if filter.is_empty() {
            filter = b"(objectClass=*)".to_vec();
        }
        next(BadUrl::Extensions)?;
        if parts.next().is_some() {
            return Err(BadUrl::Url);
        }
        let attributes = attributes.split(|byte| *byte == b',').filter(|name| !name.is_empty());
        Ok(Search { base, attributes: attributes.map(<[u8]>::to_vec).collect(), scope, filter })
    }

    /// Returns the request (§4.5.1), without client limits.
    pub fn request(&self, id: u32) -> Result<Vec<u8>, filter::BadFilter> {
        let attributes: Vec<u8> = self.attributes.iter().flat_map(|name| element(OCTETS, name)).collect();
        let content = [
            element(OCTETS, &self.base),
            integer(ENUMERATED, self.scope.into()),
            integer(ENUMERATED, 0),
            integer(INTEGER, 0),
            integer(INTEGER, 0),
            element(BOOLEAN, &[0]),
            filter::parse(&self.filter)?,
            element(SEQUENCE, &attributes),
        ];
        Ok(message(id, &element(0x63, &content.concat())))
    }
}

/// The server's final result (§4.1.9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub code: u32,
    pub text: Vec<u8>,
    /// The server's credentials in a SASL bind.
    pub credentials: Vec<u8>,
}

impl Outcome {
    fn parse(content: &[u8]) -> Result<Outcome, Malformed> {
        let mut reader = Reader(content);
        let code = reader.number(ENUMERATED)?;
        reader.expect(OCTETS)?;
        let text = reader.expect(OCTETS)?.to_vec();
        let mut credentials = Vec::new();
        while let Some((tag, content)) = reader.any()? {
            if tag == 0x87 {
                credentials = content.to_vec();
            }
        }
        Ok(Outcome { code, text, credentials })
    }

    /// The code in words.
    pub fn reason(&self) -> &'static str {
        match self.code {
            0 => "Success",
            1 => "Operations error",
            2 => "Protocol error",
            3 => "Time limit exceeded",
            4 => "Size limit exceeded",
            7 => "Authentication method not supported",
            8 => "Strong(er) authentication required",
            10 => "Referral",
            11 => "Administrative limit exceeded",
            12 => "Critical extension is unavailable",
            13 => "Confidentiality required",
            16 => "No such attribute",
            18 => "Inappropriate matching",
            32 => "No such object",
            34 => "Invalid DN syntax",
            48 => "Inappropriate authentication",
            49 => "Invalid credentials",
            50 => "Insufficient access",
            51 => "Server is busy",
            52 => "Server is unavailable",
            53 => "Server is unwilling to perform",
            _ => "Unknown error",
        }
    }
}

/// A message of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    Bound(Outcome),
    Entry(Entry<'a>),
    /// The search is over.
    Done(Outcome),
    Extended(Outcome),
    /// A reference to another server, or anything unsolicited.
    Other,
}

/// The first message with its id and length; `None` while some of it is missing.
pub fn answer(bytes: &[u8]) -> Result<Option<(u32, Answer<'_>, usize)>, Malformed> {
    if bytes.first().is_some_and(|tag| *tag != SEQUENCE) {
        return Err(Malformed);
    }
    let Some((_, content, length)) = ber::first(bytes)? else { return Ok(None) };
    let mut reader = Reader(content);
    let id = reader.number(INTEGER)?;
    let (tag, content) = reader.any()?.ok_or(Malformed)?;
    let answer = match tag {
        0x61 => Answer::Bound(Outcome::parse(content)?),
        0x64 => Answer::Entry(Entry(content)),
        0x65 => Answer::Done(Outcome::parse(content)?),
        0x78 => Answer::Extended(Outcome::parse(content)?),
        _ => Answer::Other,
    };
    Ok(Some((id, answer, length)))
}

/// An object that was found (§4.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a>(&'a [u8]);

impl Entry<'_> {
    /// Passes the values of all attributes to `each`.
    pub fn values(&self, mut each: impl FnMut(&[u8])) -> Result<(), Malformed> {
        let mut entry = Reader(self.0);
        entry.expect(OCTETS)?;
        let mut attributes = Reader(entry.expect(SEQUENCE)?);
        while let Some((_, attribute)) = attributes.any()? {
            let mut attribute = Reader(attribute);
            attribute.expect(OCTETS)?;
            let mut values = Reader(attribute.expect(SET)?);
            while !values.0.is_empty() {
                each(values.expect(OCTETS)?);
            }
        }
        Ok(())
    }

    /// Prints the entry in curl's format: a line with its name, one for each value, an empty line after each
    /// attribute and after the entry. Values that would break a line or mislead a parser of LDIF (RFC 2849)
    /// are in base64; a name is printed as is if it is a single line.
    pub fn print(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut entry = Reader(self.0);
        out.extend_from_slice(b"DN:");
        match entry.expect(OCTETS)? {
            name if name.iter().any(u8::is_ascii_control) => print_value(out, name, true),
            [] => out.push(b'\n'),
            name => [&b" "[..], name, b"\n"].iter().for_each(|piece| out.extend_from_slice(piece)),
        }
        let mut attributes = Reader(entry.expect(SEQUENCE)?);
        while let Some((tag, attribute)) = attributes.any()? {
            if tag != SEQUENCE {
                return Err(Malformed);
            }
            let mut attribute = Reader(attribute);
            let name = attribute.expect(OCTETS)?;
            if name.iter().any(u8::is_ascii_control) {
                return Err(Malformed);
            }
            let mut values = Reader(attribute.expect(SET)?);
            while !values.0.is_empty() {
                out.push(b'\t');
                out.extend_from_slice(name);
                out.push(b':');
                let binary = name.len() > 7 && name.ends_with(b";binary");
                print_value(out, values.expect(OCTETS)?, binary);
            }
            out.push(b'\n');
        }
        out.push(b'\n');
        Ok(())
    }
}

fn print_value(out: &mut Vec<u8>, value: &[u8], binary: bool) {
    let blank = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
    let printable = value.iter().all(|byte| matches!(byte, b' '..=b'~'));
    if binary || !printable || blank(value.first()) || blank(value.last()) {
        out.extend_from_slice(b": ");
        out.extend_from_slice(base64::encode(value).as_bytes());
    } else if !value.is_empty() {
        out.push(b' ');
        out.extend_from_slice(value);
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let search = Search::from_url(b"/dc=x,o=a%20b?cn,sn?SUB?(a=%2a)?!e=1").unwrap();
        assert_eq!(
            (&search.base[..], search.scope, &search.filter[..]),
            (&b"dc=x,o=a b"[..], 2, &b"(a=*)"[..])
        );
        assert_eq!(search.attributes, [b"cn", b"sn"]);
        let search = Search::from_url(b"/").unwrap();
        assert_eq!(
            (&search.base[..], search.scope, &search.filter[..]),
            (&b""[..], 0, &b"(objectClass=*)"[..])
        );
        for (url, wrong) in
            [("/b??wrong", BadUrl::Scope), ("/b?a?sub?f?e?g", BadUrl::Url), ("/b%00", BadUrl::Url)]
        {
            assert_eq!(Search::from_url(url.as_bytes()), Err(wrong), "{url}");
        }
    }

    #[test]
    fn requests() {
        assert_eq!(bind(1, b"", b""), b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\0\x80\0");
        assert_eq!(unbind(3), b"\x30\x05\x02\x01\x03\x42\0");
        assert_eq!(
            bind_sasl(1, "X", None),
            b"\x30\x0f\x02\x01\x01\x60\x0a\x02\x01\x03\x04\0\xa3\x03\x04\x01X"
        );
        assert!(bind_sasl(1, "X", Some(b"")).ends_with(b"\xa3\x05\x04\x01X\x04\0"));
        let search = Search::from_url(b"/x?a??(a=*)").unwrap().request(2).unwrap();
        let wanted = b"\x30\x1f\x02\x01\x02\x63\x1a\x04\x01x\x0a\x01\0\x0a\x01\0\x02\x01\0\x02\x01\0\x01\x01\0\x87\x01a\x30\x03\x04\x01a";
        assert_eq!(search, wanted);
    }

    fn entry(attributes: &[(&[u8], &[&[u8]])]) -> Vec<u8> {
        named_entry(b"dc=x", attributes)
    }

    fn named_entry(name: &[u8], attributes: &[(&[u8], &[&[u8]])]) -> Vec<u8> {
        let attribute = |(name, values): &(&[u8], &[&[u8]])| {
            let values: Vec<u8> = values.iter().flat_map(|value| element(OCTETS, value)).collect();
            element(SEQUENCE, &[element(OCTETS, name), element(SET, &values)].concat())
        };
        let attributes: Vec<u8> = attributes.iter().flat_map(attribute).collect();
        let content = [element(OCTETS, name), element(SEQUENCE, &attributes)].concat();
        message(2, &element(0x64, &content))
    }

    #[test]
    fn entries_as_curl_prints_them() {
        let bytes =
            entry(&[(b"cn", &[b"A", b" b", b"\xc3\xa9", b"c\nd"]), (b"x;binary", &[b"A"]), (b"e", &[b""])]);
        let Ok(Some((2, Answer::Entry(entry), length))) = answer(&bytes) else { panic!() };
        let mut out = Vec::new();
        entry.print(&mut out).unwrap();
        let wanted =
            "DN: dc=x\n\tcn: A\n\tcn:: IGI=\n\tcn:: w6k=\n\tcn:: Ywpk\n\n\tx;binary:: QQ==\n\n\te:\n\n\n";
        assert_eq!((String::from_utf8(out).unwrap().as_str(), length), (wanted, bytes.len()));
        for end in 0..bytes.len() {
            assert_eq!(answer(&bytes[..end]), Ok(None), "{end}");
        }
    }

    #[test]
    fn names_as_curl_prints_them() {
        for (name, line) in
            [("cn=Gr\u{fc}n", "DN: cn=Gr\u{fc}n\n\n"), ("", "DN:\n\n"), ("cn=a\nb", "DN:: Y249YQpi\n\n")]
        {
            let bytes = named_entry(name.as_bytes(), &[]);
            let Ok(Some((_, Answer::Entry(entry), _))) = answer(&bytes) else { panic!() };
            let mut out = Vec::new();
            entry.print(&mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), line);
        }
    }

    #[test]
    fn bind_replies_and_mechanisms_are_read() {
        let content =
            [integer(ENUMERATED, 14), element(OCTETS, b""), element(OCTETS, b"go on"), element(0x87, b"n")];
        let bytes = message(1, &element(0x61, &content.concat()));
        let Ok(Some((1, Answer::Bound(outcome), _))) = answer(&bytes) else { panic!() };
        assert_eq!((outcome.code, &outcome.credentials[..]), (14, &b"n"[..]));
        let bytes = entry(&[(b"supportedSASLMechanisms", &[b"PLAIN", b"X"])]);
        let Ok(Some((_, Answer::Entry(entry), _))) = answer(&bytes) else { panic!() };
        let mut names = Vec::new();
        entry.values(|name| names.push(name.to_vec())).unwrap();
        assert_eq!(names, [&b"PLAIN"[..], b"X"]);
    }

    #[test]
    fn malformed_messages_are_refused() {
        let bytes = entry(&[(b"c\nn", &[b"A"])]);
        let Ok(Some((_, Answer::Entry(entry), _))) = answer(&bytes) else { panic!() };
        assert_eq!(entry.print(&mut Vec::new()), Err(Malformed));
        assert_eq!(answer(b"HTTP/1.1 200 OK\r\n"), Err(Malformed));
        assert_eq!(answer(b"\x30\x03\x02\x01\x01"), Err(Malformed));
        assert_eq!(answer(b"\x30\x07\x02\x01\x01\x65\x7f\0\0"), Err(Malformed), "longer than the message");
    }
}
