//! Replies: the records at the end of a chain of aliases, or a negative answer.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Binding, HEADER, INTERNET, Kind, Name, Question, long, short};

/// Records that are looked at in one reply.
const MOST_RECORDS: usize = 512;
/// Most addresses and services kept of one answer.
const MOST_KEPT: usize = 256;
/// Aliases that are followed.
const MOST_ALIASES: usize = 16;

const CNAME: u16 = 5;
const SOA: u16 = 6;
const NO_SUCH_NAME: u8 = 3;

/// Why a message is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageError {
    /// It ends too early.
    Short,
    /// A name that cannot be.
    Name,
    /// The data of a record does not match its type.
    Record,
    /// More records or aliases than the limit.
    TooMuch,
    /// It is no reply.
    NoReply,
    /// The server could or would not answer: the response code (RFC 1035 section 4.1.1).
    Refused(u8),
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MessageError::Short => f.write_str("the message ends too early"),
            MessageError::Name => f.write_str("bad name"),
            MessageError::Record => f.write_str("bad record"),
            MessageError::TooMuch => f.write_str("too many records"),
            MessageError::NoReply => f.write_str("no reply"),
            MessageError::Refused(code) => write!(f, "the server answered with code {code}"),
        }
    }
}

/// A received message.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    message: &'a [u8],
}

/// Whether the queried records exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Found,
    /// The name exists, and has no such records.
    NoData,
    NoSuchName,
}

/// The content of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub verdict: Verdict,
    /// Addresses of the queried type, in the order of the reply.
    pub addresses: Vec<IpAddr>,
    /// The best first.
    pub bindings: Vec<Binding>,
    /// The name at the end of the chain of aliases.
    pub name: Name,
    /// Validity in seconds; `None` for a negative answer without one.
    pub ttl: Option<u32>,
}

struct Record<'a> {
    name: Name,
    kind: u16,
    ttl: u32,
    data: &'a [u8],
    /// Offset of the data: names in it may be compressed pointers.
    at: usize,
}

impl<'a> Reply<'a> {
    /// A message with a whole header that is marked as a reply.
    pub fn parse(message: &'a [u8]) -> Result<Reply<'a>, MessageError> {
        let reply = Reply { message };
        if message.len() < HEADER {
            return Err(MessageError::Short);
        }
        let is_reply = message[2] & 0x80 != 0;
        if is_reply { Ok(reply) } else { Err(MessageError::NoReply) }
    }

    /// The number by which it is matched to its question.
    pub fn id(&self) -> u16 {
        self.number(0)
    }

    /// Returns whether the reply is truncated.
    pub fn is_truncated(&self) -> bool {
        self.message[2] & 2 != 0
    }

    /// The response code, 0 being success.
    pub fn code(&self) -> u8 {
        self.message[3] & 15
    }

    /// Whether it repeats the question, to the case of its letters where that counts.
    pub fn is_to(&self, question: &Question, exactly: bool) -> bool {
        let Ok((name, end)) = Name::read(self.message, HEADER) else { return false };
        self.number(4) == 1
            && (if exactly { name.is_exactly(&question.name) } else { name == question.name })
            && short(self.message, end) == Some(question.kind.number())
            && short(self.message, end + 2) == Some(INTERNET)
    }

    /// Returns the answer to the query.
    pub fn answer(&self, question: &Question) -> Result<Answer, MessageError> {
        if !matches!(self.code(), 0 | NO_SUCH_NAME) {
            return Err(MessageError::Refused(self.code()));
        }
        let mut at = HEADER;
        for _ in 0..self.number(4).min(MOST_RECORDS as u16) {
            at = Name::read(self.message, at)?.1 + 4;
        }
        let (records, authority) = self.records(at, self.number(6))?;
        let (name, alias_ttl) = end_of_chain(self.message, &records, question)?;
        let wanted = question.kind.number();
        let own: Vec<&Record<'_>> = records.iter().filter(|r| r.kind == wanted && r.name == name).collect();
        let mut answer = Answer {
            verdict: Verdict::Found,
            addresses: Vec::new(),
            bindings: Vec::new(),
            name,
            ttl: own.iter().map(|r| r.ttl).min().map(|ttl| ttl.min(alias_ttl)),
        };
        for record in own.iter().take(MOST_KEPT) {
            answer.take(question.kind, record)?;
        }
        answer.bindings.sort_by_key(|binding| binding.priority);
        if own.is_empty() {
            answer.verdict = if self.code() == NO_SUCH_NAME { Verdict::NoSuchName } else { Verdict::NoData };
            answer.ttl = self.negative_ttl(authority)?;
        }
        Ok(answer)
    }

    /// Returns the validity of a negative answer (RFC 2308 section 5): from the zone's SOA in the authority
    /// section.
    fn negative_ttl(&self, at: usize) -> Result<Option<u32>, MessageError> {
        let (records, _) = self.records(at, self.number(8))?;
        let Some(soa) = records.iter().find(|r| r.kind == SOA) else { return Ok(None) };
        let minimum =
            soa.data.len().checked_sub(4).and_then(|at| long(soa.data, at)).ok_or(MessageError::Record)?;
        Ok(Some(soa.ttl.min(sane(minimum))))
    }

    /// Returns the records of a section, and the position of the next section.
    fn records(&self, mut at: usize, count: u16) -> Result<(Vec<Record<'a>>, usize), MessageError> {
        if usize::from(count) > MOST_RECORDS {
            return Err(MessageError::TooMuch);
        }
        let mut records = Vec::new();
        for _ in 0..count {
            let (name, end) = Name::read(self.message, at)?;
            let kind = short(self.message, end).ok_or(MessageError::Short)?;
            let class = short(self.message, end + 2).ok_or(MessageError::Short)?;
            let ttl = long(self.message, end + 4).ok_or(MessageError::Short)?;
            let length = usize::from(short(self.message, end + 8).ok_or(MessageError::Short)?);
            let start = end + 10;
            let data = self.message.get(start..start + length).ok_or(MessageError::Short)?;
            if class == INTERNET {
                records.push(Record { name, kind, ttl: sane(ttl), data, at: start });
            }
            at = start + length;
        }
        Ok((records, at))
    }

    fn number(&self, at: usize) -> u16 {
        short(self.message, at).unwrap_or_default()
    }
}

impl Answer {
    fn take(&mut self, kind: Kind, record: &Record<'_>) -> Result<(), MessageError> {
        match kind {
            Kind::A => {
                let octets: [u8; 4] = record.data.try_into().map_err(|_| MessageError::Record)?;
                self.addresses.push(Ipv4Addr::from(octets).into());
            }
            Kind::Aaaa => {
                let octets: [u8; 16] = record.data.try_into().map_err(|_| MessageError::Record)?;
                self.addresses.push(Ipv6Addr::from(octets).into());
            }
            Kind::Https => self.bindings.extend(Binding::read(record.data)?),
        }
        Ok(())
    }
}

/// Returns the name at the end of the alias chain of the queried name, and the validity of the chain.
fn end_of_chain(
    message: &[u8],
    records: &[Record<'_>],
    question: &Question,
) -> Result<(Name, u32), MessageError> {
    let (mut name, mut ttl) = (question.name.clone(), u32::MAX);
    for _ in 0..MOST_ALIASES {
        let Some(alias) = records.iter().find(|r| r.kind == CNAME && r.name == name) else {
            return Ok((name, ttl));
        };
        let (target, end) = Name::read(message, alias.at)?;
        if end != alias.at + alias.data.len() {
            return Err(MessageError::Record);
        }
        (name, ttl) = (target, ttl.min(alias.ttl));
    }
    Err(MessageError::TooMuch)
}

/// Returns the time to live; a value with the highest bit counts as 0 (RFC 2181 section 8).
fn sane(ttl: u32) -> u32 {
    if ttl >> 31 == 1 { 0 } else { ttl }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(kind: Kind) -> Question {
        Question { name: Name::parse("a.example").unwrap(), kind }
    }

    /// Builds a reply to a query for a.example. The name is at offset 12, the first record at 27.
    fn reply(kind: Kind, code: u8, answers: &[&[u8]], authority: &[&[u8]]) -> Vec<u8> {
        let mut message = question(kind).message(7, None);
        (message[2], message[3]) = (0x81, 0x80 | code);
        (message[7], message[9]) = (answers.len() as u8, authority.len() as u8);
        answers.iter().chain(authority).for_each(|record| message.extend(*record));
        message
    }

    fn record(name: &[u8], kind: u16, ttl: u32, data: &[u8]) -> Vec<u8> {
        let mut out = name.to_vec();
        out.extend(kind.to_be_bytes());
        out.extend(INTERNET.to_be_bytes());
        out.extend(ttl.to_be_bytes());
        out.extend((data.len() as u16).to_be_bytes());
        out.extend(data);
        out
    }

    const ASKED: &[u8] = b"\xc0\x0c";

    fn answer(kind: Kind, message: &[u8]) -> Result<Answer, MessageError> {
        Reply::parse(message)?.answer(&question(kind))
    }

    #[test]
    fn addresses_and_their_least_ttl() {
        let (one, two) = (record(ASKED, 1, 60, &[10, 0, 0, 1]), record(ASKED, 1, 30, &[10, 0, 0, 2]));
        let other = record(b"\x01b\0", 1, 5, &[9, 9, 9, 9]);
        let message = reply(Kind::A, 0, &[&one, &other, &two], &[]);
        let found = answer(Kind::A, &message).unwrap();
        assert_eq!(found.addresses, [IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2])]);
        assert_eq!((found.verdict, found.ttl), (Verdict::Found, Some(30)), "nobody asked about b");
        let six = record(ASKED, 28, u32::MAX, &[0xfd; 16]);
        let found = answer(Kind::Aaaa, &reply(Kind::Aaaa, 0, &[&six], &[])).unwrap();
        assert_eq!((found.addresses, found.ttl), (vec![IpAddr::from([0xfd; 16])], Some(0)));
        for cut in 0..message.len() {
            assert!(answer(Kind::A, &message[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn aliases_are_followed_in_any_order_but_not_for_ever() {
        let last = record(b"\x01c\0", 1, 60, &[10, 0, 0, 1]);
        let second = record(b"\x01b\0", CNAME, 20, b"\x01c\0");
        let first = record(ASKED, CNAME, 90, b"\x01b\0");
        let found = answer(Kind::A, &reply(Kind::A, 0, &[&last, &second, &first], &[])).unwrap();
        assert_eq!((found.name.to_string(), found.ttl, found.addresses.len()), ("c".to_owned(), Some(20), 1));
        let circle = record(b"\x01b\0", CNAME, 20, ASKED);
        assert_eq!(answer(Kind::A, &reply(Kind::A, 0, &[&first, &circle], &[])), Err(MessageError::TooMuch));
        let found = answer(Kind::A, &reply(Kind::A, 0, &[&first], &[])).unwrap();
        assert_eq!((found.verdict, found.name.to_string()), (Verdict::NoData, "b".to_owned()));
    }

    #[test]
    fn no_such_name_and_no_data_have_the_ttl_of_the_soa() {
        let mut numbers = b"\0\0".to_vec();
        numbers.extend([1u32, 2, 3, 4, 300].iter().flat_map(|n| n.to_be_bytes()));
        let soa = record(ASKED, SOA, 900, &numbers);
        let found = answer(Kind::A, &reply(Kind::A, 3, &[], &[&soa])).unwrap();
        assert_eq!((found.verdict, found.ttl), (Verdict::NoSuchName, Some(300)));
        let found = answer(Kind::A, &reply(Kind::A, 0, &[], &[])).unwrap();
        assert_eq!((found.verdict, found.ttl), (Verdict::NoData, None));
        assert_eq!(answer(Kind::A, &reply(Kind::A, 2, &[], &[])), Err(MessageError::Refused(2)));
    }

    #[test]
    fn services_the_best_first() {
        let second = record(ASKED, 65, 60, b"\0\x02\0\0\x01\0\x03\x02h2");
        let first = record(ASKED, 65, 60, b"\0\x01\x01s\0");
        let found = answer(Kind::Https, &reply(Kind::Https, 0, &[&second, &first], &[])).unwrap();
        assert_eq!(found.bindings.iter().map(|b| b.priority).collect::<Vec<_>>(), [1, 2]);
        let bad = record(ASKED, 65, 60, b"\0\x01\0\0\x03\0\x01x");
        assert_eq!(
            answer(Kind::Https, &reply(Kind::Https, 0, &[&first, &bad], &[])),
            Err(MessageError::Record)
        );
    }

    #[test]
    fn replies_belong_to_their_question() {
        let message = reply(Kind::A, 0, &[], &[]);
        let parsed = Reply::parse(&message).unwrap();
        assert!(parsed.id() == 7 && parsed.is_to(&question(Kind::A), true) && !parsed.is_truncated());
        assert!(!parsed.is_to(&question(Kind::Aaaa), false));
        let upper = Question { name: Name::parse("A.example").unwrap(), kind: Kind::A };
        assert!(parsed.is_to(&upper, false) && !parsed.is_to(&upper, true));
        assert_eq!(Reply::parse(&question(Kind::A).message(7, None)).err(), Some(MessageError::NoReply));
    }
}
