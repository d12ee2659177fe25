//! The lines of a server (RFC 9051 section 7): tagged, untagged, continuation requests, and the literals
//! announced at their ends.

/// A line, for a client that waits for the reply to the command with a certain tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// It ends the reply.
    Tagged(Status),
    /// `*`: data, or unsolicited news.
    Untagged(Untagged<'a>),
    /// `+`: the server waits for more of the command.
    Continue(&'a [u8]),
    /// Other tags, and anything else.
    Other,
}

/// How a reply ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok,
    PreAuth,
    /// NO, BAD, BYE or a word that no server should say.
    Not,
}

/// The text after `* `, with its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untagged<'a>(pub &'a [u8]);

/// Looks at a line with its end. For the greeting, which has no tag of a command, the tag is `*`.
pub fn classify<'a>(line: &'a [u8], tag: &[u8]) -> Line<'a> {
    if let Some(rest) = line.strip_prefix(tag).and_then(|rest| rest.strip_prefix(b" ")) {
        return Line::Tagged(match rest {
            [b'O', b'K', ..] => Status::Ok,
            _ if rest.starts_with(b"PREAUTH") => Status::PreAuth,
            _ => Status::Not,
        });
    }
    match line {
        [b'*', b' ', rest @ ..] => Line::Untagged(Untagged(rest)),
        // Some servers send only the plus sign.
        [b'+', b' ', rest @ ..] => Line::Continue(rest.trim_ascii()),
        b"+\r\n" | b"+\n" => Line::Continue(b""),
        _ => Line::Other,
    }
}

impl<'a> Untagged<'a> {
    /// Whether it is data of this kind, perhaps after a number: `LIST ...`, `12 FETCH ...`.
    pub fn is(&self, kind: &[u8]) -> bool {
        let digits = self.0.iter().take_while(|octet| octet.is_ascii_digit()).count();
        let rest = match (digits, &self.0[digits..]) {
            (0, rest) => rest,
            (_, [b' ', rest @ ..]) => rest,
            _ => return false,
        };
        rest.get(..kind.len()).is_some_and(|start| start.eq_ignore_ascii_case(kind))
            && matches!(&rest[kind.len()..], [b' ', ..] | b"\r\n" | b"\n")
    }

    /// The words of a CAPABILITY line.
    pub fn words(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.0.split(|octet| b" \t\r\n".contains(octet)).filter(|word| !word.is_empty())
    }

    /// Returns UIDVALIDITY from the reply to SELECT.
    pub fn uid_validity(&self) -> Option<u32> {
        const BEFORE: &[u8] = b"OK [UIDVALIDITY ";
        let (before, rest) = self.0.split_at_checked(BEFORE.len())?;
        before
            .eq_ignore_ascii_case(BEFORE)
            .then(|| number(rest))
            .flatten()
            .and_then(|n| u32::try_from(n).ok())
    }

    /// The first literal that the line announces outside of quoted strings: so many octets follow the line.
    pub fn literal(&self) -> Option<u64> {
        let mut rest = self.0;
        let mut quoted = false;
        loop {
            rest = match rest {
                [b'\\', _, tail @ ..] if quoted => tail,
                [b'"', tail @ ..] => {
                    quoted = !quoted;
                    tail
                }
                [b'{', tail @ ..] if !quoted => return size(tail),
                [b'\r' | b'\n', ..] | [] => return None,
                [_, tail @ ..] => tail,
            }
        }
    }
}

/// The literal that the end of a line announces.
pub fn literal_at_end(line: &[u8]) -> Option<u64> {
    let open = line.iter().rposition(|&octet| octet == b'{')?;
    let rest = &line[open + 1..];
    let digits = rest.iter().take_while(|octet| octet.is_ascii_digit()).count();
    matches!(&rest[digits..], b"}\r\n" | b"}\n").then(|| size(rest)).flatten()
}

/// `123}`.
fn size(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|octet| octet.is_ascii_digit()).count();
    number(text).filter(|_| text.get(digits) == Some(&b'}'))
}

/// Parses the number at the start; `None` if it exceeds curl's type for sizes.
pub fn number(text: &[u8]) -> Option<u64> {
    text.first().filter(|octet| octet.is_ascii_digit())?;
    let mut digits = text.iter().take_while(|octet| octet.is_ascii_digit());
    let add = |sum: i64, digit: &u8| sum.checked_mul(10)?.checked_add(i64::from(digit - b'0'));
    digits.try_fold(0, add).map(|n| n as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let rows: [(&str, Line); 12] = [
            ("A001 OK done\r\n", Line::Tagged(Status::Ok)),
            ("A001 OK\r\n", Line::Tagged(Status::Ok)),
            ("A001 NO\r\n", Line::Tagged(Status::Not)),
            ("A001 PREAUTH\r\n", Line::Tagged(Status::PreAuth)),
            ("A001 ok\r\n", Line::Tagged(Status::Not)),
            ("A0011 OK\r\n", Line::Other),
            ("A002 OK\r\n", Line::Other),
            ("B001 OK\r\n", Line::Other),
            ("* OK\r\n", Line::Untagged(Untagged(b"OK\r\n"))),
            ("+\r\n", Line::Continue(b"")),
            ("+  YWJj \r\n", Line::Continue(b"YWJj")),
            ("+x\r\n", Line::Other),
        ];
        for (line, wanted) in rows {
            assert_eq!(classify(line.as_bytes(), b"A001"), wanted, "{line}");
        }
        assert_eq!(classify(b"* OK hello\r\n", b"*"), Line::Tagged(Status::Ok));
        assert_eq!(classify(b"* PREAUTH hello\r\n", b"*"), Line::Tagged(Status::PreAuth));
        assert_eq!(classify(b"* BYE\r\n", b"*"), Line::Tagged(Status::Not));
        assert_eq!(classify(b"OK\r\n", b"*"), Line::Other);
    }

    #[test]
    fn kinds() {
        let rows = [
            ("LIST () \"/\" a\r\n", "LIST", true),
            ("list\r\n", "LIST", true),
            ("LISTX a\r\n", "LIST", false),
            ("LIST", "LIST", false),
            ("123 FETCH (A)\r\n", "FETCH", true),
            ("123FETCH (A)\r\n", "FETCH", false),
            ("123\r\n", "FETCH", false),
            ("SEARCH\r\n", "SEARCH", true),
        ];
        for (line, kind, wanted) in rows {
            assert_eq!(Untagged(line.as_bytes()).is(kind.as_bytes()), wanted, "{line}");
        }
    }

    #[test]
    fn literals() {
        let rows = [
            ("1 FETCH (BODY[TEXT] {2021}\r\n", Some(2021)),
            ("1 FETCH (BODY[] {0}\r\n", Some(0)),
            ("1 FETCH (X \"a{3}\" BODY[] {7}\r\n", Some(7)),
            ("1 FETCH (X \"a\\\"{3}\" BODY[] {7}\r\n", Some(7)),
            ("1 FETCH (FLAGS ())\r\n", None),
            ("1 FETCH (BODY[] {-1}\r\n", None),
            ("1 FETCH (BODY[] {12\r\n", None),
            ("1 FETCH (BODY[] {}\r\n", None),
            ("1 FETCH (BODY[] {9223372036854775808}\r\n", None),
            ("1 FETCH (BODY[] {99999999999999999999999}\r\n", None),
            ("1 FETCH (BODY[] \"{5}\r\n", None),
        ];
        for (line, wanted) in rows {
            assert_eq!(Untagged(line.as_bytes()).literal(), wanted, "{line}");
        }
        assert_eq!(literal_at_end(b" BODY[2] {5}\r\n"), Some(5));
        assert_eq!(literal_at_end(b" BODY[2] {5} \r\n"), None);
        assert_eq!(literal_at_end(b"{5}"), None);
    }

    #[test]
    fn select_and_capability_are_read() {
        assert_eq!(
            Untagged(b"OK [UIDVALIDITY 3857529045] UIDs valid\r\n").uid_validity(),
            Some(3_857_529_045)
        );
        assert_eq!(Untagged(b"ok [uidvalidity 7]\r\n").uid_validity(), Some(7));
        assert_eq!(Untagged(b"OK [UIDVALIDITY x]\r\n").uid_validity(), None);
        assert_eq!(Untagged(b"OK\r\n").uid_validity(), None);
        let words: Vec<&[u8]> = Untagged(b"CAPABILITY IMAP4  AUTH=PLAIN\tSTARTTLS\r\n").words().collect();
        assert_eq!(words, [&b"CAPABILITY"[..], b"IMAP4", b"AUTH=PLAIN", b"STARTTLS"]);
    }
}
