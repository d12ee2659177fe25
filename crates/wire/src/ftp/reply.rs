//! Replies (RFC 959 section 4.2), and the content of particular ones.

use crate::date::Civil;

/// A reply with more octets is refused.
pub const REPLY_LIMIT: usize = 64 * 1024;

/// The last line of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub code: u16,
    /// The line with its code, without its end.
    pub line: Vec<u8>,
}

/// The reply exceeds its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Collects the lines of replies. The caller passes every line to the application.
#[derive(Clone, Debug)]
pub struct ReplyReader {
    budget: usize,
    used: usize,
}

impl ReplyReader {
    pub fn new(budget: usize) -> ReplyReader {
        ReplyReader { budget, used: 0 }
    }

    /// The length of the first complete line with its end; `None` while it is incomplete.
    pub fn line_length(&self, received: &[u8]) -> Result<Option<usize>, TooLong> {
        let length = received.iter().position(|&octet| octet == b'\n').map(|at| at + 1);
        if self.used + length.unwrap_or(received.len()) > self.budget { Err(TooLong) } else { Ok(length) }
    }

    /// Takes a line with or without its end. Any line that starts with a code and a blank ends a reply:
    /// servers do not all repeat the code of the first one.
    pub fn take_line(&mut self, line: &[u8]) -> Result<Option<Reply>, TooLong> {
        self.used += line.len();
        if self.used > self.budget {
            return Err(TooLong);
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(end_code(line).map(|code| {
            self.used = 0;
            Reply { code, line: line.to_vec() }
        }))
    }
}

/// The code of a line that ends a reply.
pub fn end_code(line: &[u8]) -> Option<u16> {
    match line {
        [a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', b' ', ..] => {
            Some([a, b, c].iter().fold(0, |sum, &&digit| sum * 10 + u16::from(digit - b'0')))
        }
        _ => None,
    }
}

/// A number that no port has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoPort;

impl Reply {
    /// Returns the text after the code.
    pub fn text(&self) -> &[u8] {
        self.line.get(4..).unwrap_or_default()
    }

    /// Returns address and port of a 227 reply: the first six numbers below 256 with commas between them,
    /// anywhere in the text; the first may be the end of a longer number. Each octet is examined once.
    pub fn passive(&self) -> Option<([u8; 4], u16)> {
        let mut numbers = Vec::with_capacity(6);
        let mut separator: &[u8] = b"";
        let mut rest = self.text();
        while !rest.is_empty() {
            let digits;
            (digits, rest) = rest.split_at(run(rest, |octet| octet.is_ascii_digit()));
            match small_number(digits).filter(|_| separator == b"," && !numbers.is_empty()) {
                Some(number) => numbers.push(number),
                None => {
                    numbers.clear();
                    numbers.extend(end_of_number(digits));
                }
            }
            if let [a, b, c, d, high, low] = numbers[..] {
                return Some(([a, b, c, d], u16::from_be_bytes([high, low])));
            }
            (separator, rest) = rest.split_at(run(rest, |octet| !octet.is_ascii_digit()));
        }
        None
    }

    /// Returns the port of a 229 reply (RFC 2428 section 3): `(|||port|)`, where the bar may be any octet.
    /// Returns `None` if nothing has that form.
    pub fn extended_passive(&self) -> Option<Result<u16, NoPort>> {
        let text = self.text();
        let open = text.iter().position(|&octet| octet == b'(')?;
        let [bar, second, third, rest @ ..] = &text[open + 1..] else { return None };
        if bar != second || bar != third || bar.is_ascii_digit() {
            return None;
        }
        let (port, tail) = number_at_start(rest)?;
        (tail.first() == Some(bar)).then(|| u16::try_from(port).map_err(|_| NoPort))
    }

    /// Returns the directory of a 257 reply: the quoted text, with doubled quotes for single ones.
    pub fn directory(&self) -> Option<Vec<u8>> {
        let text = self.text();
        let mut rest = &text[text.iter().position(|&octet| octet == b'"')? + 1..];
        let mut path = Vec::new();
        loop {
            let (octet, tail) = match rest {
                [b'"', b'"', tail @ ..] => (b'"', tail),
                [b'"', ..] => return Some(path),
                [plain, tail @ ..] => (*plain, tail),
                [] => return None,
            };
            path.push(octet);
            rest = tail;
        }
    }

    /// The moment of a 213 reply to MDTM, `YYYYMMDDHHMMSS` in UTC, fractions ignored.
    pub fn modified(&self) -> Option<i64> {
        moment(self.text().trim_ascii_start())
    }

    /// Returns the size in a 213 reply to SIZE: the digits at the end, since some servers write words before
    /// them. One more octet of any value may follow.
    pub fn size(&self) -> Option<u64> {
        let text = self.text();
        let before = &text[..text.len().saturating_sub(1)];
        let start = before.iter().rposition(|octet| !octet.is_ascii_digit()).map_or(0, |at| at + 1);
        number_at_start(text[start..].trim_ascii_start()).map(|(size, _)| size)
    }

    /// Returns the size in a 150 reply: `... (1234 bytes).` It is searched at the end, because the file name
    /// comes earlier.
    pub fn announced_size(&self) -> Option<u64> {
        let text = self.text();
        let end = text.windows(6).rposition(|window| window == b" bytes")?;
        let start = text[..end].iter().rposition(|octet| !octet.is_ascii_digit())?;
        let size = number_at_start(&text[start + 1..end])?.0;
        (text[start] == b'(').then_some(size)
    }
}

/// Parses `YYYYMMDDHHMMSS` in UTC at the start of a text (RFC 3659 §2.3); fractions are ignored.
pub fn moment(text: &[u8]) -> Option<i64> {
    let digits = text.get(..14).filter(|text| text.iter().all(u8::is_ascii_digit))?;
    let number = |from: usize, to: usize| {
        digits[from..to].iter().fold(0u16, |sum, &digit| sum * 10 + u16::from(digit - b'0'))
    };
    let civil = Civil {
        year: i64::from(number(0, 4)),
        month: number(4, 6) as u8,
        day: number(6, 8) as u8,
        hour: number(8, 10) as u8,
        minute: number(10, 12) as u8,
        second: number(12, 14) as u8,
    };
    let is_valid = (1..=12).contains(&civil.month)
        && (1..=31).contains(&civil.day)
        && civil.hour <= 23
        && civil.minute <= 59
        && civil.second <= 60;
    is_valid.then(|| civil.seconds())
}

/// How many octets of this kind come first.
fn run(text: &[u8], is_one: impl Fn(&u8) -> bool) -> usize {
    text.iter().position(|octet| !is_one(octet)).unwrap_or(text.len())
}

/// A number that fits an octet.
fn small_number(digits: &[u8]) -> Option<u8> {
    let zeros = run(digits, |&octet| octet == b'0').min(digits.len().saturating_sub(1));
    std::str::from_utf8(&digits[zeros..]).ok()?.parse().ok()
}

/// The longest end of a number that fits an octet.
fn end_of_number(digits: &[u8]) -> Option<u8> {
    let last = |n: usize| small_number(&digits[digits.len().saturating_sub(n)..]);
    last(3).or_else(|| last(2))
}

fn number_at_start(text: &[u8]) -> Option<(u64, &[u8])> {
    let (digits, rest) =
        text.split_at(text.iter().position(|octet| !octet.is_ascii_digit()).unwrap_or(text.len()));
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(line: &str) -> Reply {
        Reply { code: end_code(line.as_bytes()).unwrap(), line: line.as_bytes().to_vec() }
    }

    #[test]
    fn replies_of_several_lines() {
        let mut reader = ReplyReader::new(REPLY_LIMIT);
        let received = b"220-Welcome\r\n 220 indented\r\n220\r\n22 x\r\n331 done\r\nrest";
        let mut rest = &received[..];
        let mut lines = 0;
        let reply = loop {
            let length = reader.line_length(rest).unwrap().unwrap();
            let (line, tail) = rest.split_at(length);
            rest = tail;
            lines += 1;
            if let Some(reply) = reader.take_line(line).unwrap() {
                break reply;
            }
        };
        assert_eq!((lines, reply.code, reply.text(), rest), (5, 331, &b"done"[..], &b"rest"[..]));
        assert_eq!(reader.line_length(rest), Ok(None));
    }

    #[test]
    fn the_budget_ends_a_reply() {
        let mut reader = ReplyReader::new(20);
        assert_eq!(reader.line_length(&[b'x'; 21]), Err(TooLong));
        assert_eq!(reader.take_line(b"220-0123456789\r\n"), Ok(None));
        assert_eq!(reader.line_length(b"12345"), Err(TooLong));
        assert_eq!(reader.take_line(b"220-0\r\n"), Err(TooLong));
    }

    #[test]
    fn passive_replies() {
        let rows = [
            ("227 Entering Passive Mode (127,0,0,1,4,1).", Some(([127, 0, 0, 1], 1025))),
            ("227 =127,0,0,1,0,21", Some(([127, 0, 0, 1], 21))),
            ("227 2 or 1,2,3,4,5,6", Some(([1, 2, 3, 4], 1286))),
            ("227 (256,0,0,1,4,1)", Some(([56, 0, 0, 1], 1025))),
            ("227 (127,0,0,1,4)", None),
            ("227 (1127,0,0,1,4,1)", Some(([127, 0, 0, 1], 1025))),
            ("227 9,9,999,0,0,1,4,1", Some(([99, 0, 0, 1], 1025))),
            ("227 (127,0,0,1,4,256)", None),
            ("227 (127, 0,0,1,4,1)", None),
            ("227 0000127,0,0,1,4,0001,7", Some(([127, 0, 0, 1], 1025))),
            ("227 ,1,2,3,4,5,6", Some(([1, 2, 3, 4], 1286))),
            ("227 ", None),
        ];
        for (line, wanted) in rows {
            assert_eq!(reply(line).passive(), wanted, "{line}");
        }
        let rows = [
            ("229 Entering Extended Passive Mode (|||6446|)", Some(Ok(6446))),
            ("229 (!!!1!)", Some(Ok(1))),
            ("229 (|||65536|)", Some(Err(NoPort))),
            ("229 (||6446|)", None),
            ("229 (|||6446)", None),
            ("229 (|1|127.0.0.1|6446|)", None),
            ("229 6446", None),
            ("229 (", None),
        ];
        for (line, wanted) in rows {
            assert_eq!(reply(line).extended_passive(), wanted, "{line}");
        }
    }

    /// 64 KB of digits, and of numbers, took seconds.
    #[test]
    fn a_long_passive_reply_is_read_in_one_go() {
        let started = std::time::Instant::now();
        for text in
            ["1".repeat(60_000), "0".repeat(60_000), "1,".repeat(30_000), "1,2,3,4,5,999,".repeat(4000)]
        {
            let whole = reply(&format!("227 {text}"));
            (0..50).for_each(|_| assert_eq!(whole.passive().is_none(), !text.contains(',')));
        }
        assert!(started.elapsed().as_secs() < 5);
    }

    #[test]
    fn directories_dates_and_sizes() {
        assert_eq!(reply("257 \"/a \"\"b\"\"\" is current").directory(), Some(b"/a \"b\"".to_vec()));
        assert_eq!(reply("257 \"\"").directory(), Some(Vec::new()));
        assert_eq!(reply("257 \"/open").directory(), None);
        assert_eq!(reply("257 none").directory(), None);
        assert_eq!(reply("213 20030409102659").modified(), Some(1_049_884_019));
        assert_eq!(reply("213 20030409102659.12").modified(), Some(1_049_884_019));
        assert_eq!(reply("213 20031309102659").modified(), None);
        assert_eq!(reply("213 2003040910").modified(), None);
        assert_eq!(reply("213 1234").size(), Some(1234));
        assert_eq!(reply("213 file is 1234 ").size(), Some(1234));
        assert_eq!(reply("213 file is 1234 now").size(), None);
        assert_eq!(reply("213 1234x").size(), Some(1234));
        assert_eq!(reply("213 7").size(), Some(7));
        assert_eq!(reply("213 ").size(), None);
        assert_eq!(reply("213 none").size(), None);
        assert_eq!(reply("213 99999999999999999999").size(), None);
        assert_eq!(reply("150 Opening BINARY mode for x (1200 bytes).").announced_size(), Some(1200));
        assert_eq!(reply("150 Opening (1200 of bytes)").announced_size(), None);
        assert_eq!(reply("150 1200 bytes").announced_size(), None);
        assert_eq!(reply("150 Opening for (7 bytes) bytes-x (12 bytes).").announced_size(), Some(12));
    }
}
