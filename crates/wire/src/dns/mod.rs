//! DNS messages for a client: encoding queries, and parsing replies for the answer (RFC 1035, RFC 2308 for
//! negative answers, RFC 9460 for HTTPS records).
//!
//! Lengths are never trusted: names have at most 255 octets even if compressed, chains of CNAME are followed
//! for a bounded number of steps, and a reply has a bounded number of records.

mod https;
mod name;
mod reply;

pub use https::Binding;
pub use name::Name;
pub use reply::{Answer, MessageError, Reply, Verdict};

/// The class of all queries (IN).
const INTERNET: u16 = 1;
/// Octets of the header.
const HEADER: usize = 12;

/// Types of records that can be queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    A,
    Aaaa,
    /// RFC 9460: how a service is spoken, and where.
    Https,
}

impl Kind {
    /// IANA's number.
    pub fn number(self) -> u16 {
        match self {
            Kind::A => 1,
            Kind::Aaaa => 28,
            Kind::Https => 65,
        }
    }
}

/// A query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub name: Name,
    pub kind: Kind,
}

impl Question {
    /// Returns the query for the HTTPS records of a host and port (RFC 9460 section 9.1). For port 443 they
    /// are at the host's own name.
    pub fn https(host: &str, port: u16) -> Result<Question, MessageError> {
        let name = match port {
            443 => Name::parse(host)?,
            port => Name::parse(&format!("_{port}._https.{host}"))?,
        };
        Ok(Question { name, kind: Kind::Https })
    }

    /// The message that asks it, recursion desired. With `room` it says how large an answer by UDP may be
    /// (RFC 6891).
    pub fn message(&self, id: u16, room: Option<u16>) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER + self.name.octets().len() + 4 + 11);
        out.extend(id.to_be_bytes());
        out.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, u8::from(room.is_some())]);
        out.extend(self.name.octets());
        out.extend(self.kind.number().to_be_bytes());
        out.extend(INTERNET.to_be_bytes());
        if let Some(room) = room {
            out.extend([0, 0, 41]); // the root, OPT
            out.extend(room.to_be_bytes());
            out.extend([0; 6]);
        }
        out
    }
}

/// Reads a big-endian number of two octets.
fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// Reads a number of four octets.
fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_as_curl_sends_it_over_https() {
        let question = Question { name: Name::parse("foo.example.com").unwrap(), kind: Kind::Aaaa };
        let message = question.message(0, None);
        assert_eq!(message, b"\0\0\x01\0\0\x01\0\0\0\0\0\0\x03foo\x07example\x03com\0\0\x1c\0\x01");
        let https = Question::https("foo.example.com", 8443).unwrap();
        assert!(https.message(0, None).ends_with(b"\x05_8443\x06_https\x03foo\x07example\x03com\0\0A\0\x01"));
        assert_eq!(Question::https("a.example", 443).unwrap().name.to_string(), "a.example");
    }

    #[test]
    fn an_opt_record_announces_the_payload_size() {
        let question = Question { name: Name::parse("a").unwrap(), kind: Kind::A };
        let message = question.message(0x1234, Some(1232));
        assert_eq!(
            message,
            b"\x12\x34\x01\0\0\x01\0\0\0\0\0\x01\x01a\0\0\x01\0\x01\0\0\x29\x04\xd0\0\0\0\0\0\0"
        );
    }
}
