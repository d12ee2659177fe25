//! Domain names: labels with their lengths, compressed in messages by pointers to earlier places (RFC 1035
//! section 4.1.4).

use std::fmt;

use super::MessageError;

/// With all its lengths (RFC 1035 section 2.3.4).
const LONGEST: usize = 255;
const LONGEST_LABEL: usize = 63;

/// A name in uncompressed wire format. Comparison ignores case.
#[derive(Clone, Debug, Eq)]
pub struct Name(Vec<u8>);

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.0.eq_ignore_ascii_case(&other.0) // a length is at most 63, and no letter
    }
}

impl Name {
    /// Parses `a.example`, with or without a final dot. Escapes are not supported.
    pub fn parse(text: &str) -> Result<Name, MessageError> {
        let text = text.strip_suffix('.').unwrap_or(text);
        let mut octets = Vec::with_capacity(text.len() + 2);
        for label in text.split('.') {
            if label.is_empty() || label.len() > LONGEST_LABEL {
                return Err(MessageError::Name);
            }
            octets.push(label.len() as u8);
            octets.extend(label.as_bytes());
        }
        octets.push(0);
        if octets.len() > LONGEST { Err(MessageError::Name) } else { Ok(Name(octets)) }
    }

    /// Reads the name at a position of a message; returns it and the position after it. A pointer must point
    /// before everything read of the name so far, so there are no loops.
    pub(super) fn read(message: &[u8], start: usize) -> Result<(Name, usize), MessageError> {
        let mut octets = Vec::new();
        let (mut at, mut lowest, mut end) = (start, start, None);
        loop {
            let length = *message.get(at).ok_or(MessageError::Short)?;
            match length >> 6 {
                0 => {
                    let label = message.get(at..=at + usize::from(length)).ok_or(MessageError::Short)?;
                    octets.extend(label);
                    at += label.len();
                    if octets.len() > LONGEST {
                        return Err(MessageError::Name);
                    }
                    if length == 0 {
                        return Ok((Name(octets), end.unwrap_or(at)));
                    }
                }
                3 => {
                    let low = *message.get(at + 1).ok_or(MessageError::Short)?;
                    let to = usize::from(length & 0x3f) << 8 | usize::from(low);
                    if to >= lowest {
                        return Err(MessageError::Name);
                    }
                    end.get_or_insert(at + 2);
                    (at, lowest) = (to, to);
                }
                _ => return Err(MessageError::Name),
            }
        }
    }

    /// Returns the wire format.
    pub fn octets(&self) -> &[u8] {
        &self.0
    }

    /// The root, which has no label.
    pub fn is_root(&self) -> bool {
        self.0 == [0]
    }

    /// Whether even the case of the letters is the same.
    pub fn is_exactly(&self, other: &Name) -> bool {
        self.0 == other.0
    }

    /// Returns the name with the case of each letter taken from a bit of `noise`. A reply repeats it, and an
    /// attacker who does not see the query has to guess it (draft-vixie-dnsext-dns0x20).
    pub fn in_mixed_case(&self, noise: &[u8]) -> Name {
        let bit = |i: usize| noise.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
        let mixed = |(i, octet): (usize, &u8)| match octet.is_ascii_alphabetic() && bit(i) {
            true => octet ^ 0x20,
            false => *octet,
        };
        Name(self.0.iter().enumerate().map(mixed).collect())
    }

    /// Returns the name as a host that may be resolved: only letters, digits, hyphens and underscores.
    pub fn host(&self) -> Option<String> {
        let mut host = String::with_capacity(self.0.len());
        for label in self.labels() {
            if !label.iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_')) {
                return None;
            }
            if !host.is_empty() {
                host.push('.');
            }
            host.extend(label.iter().map(|c| char::from(c.to_ascii_lowercase())));
        }
        (!host.is_empty()).then_some(host)
    }

    fn labels(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.0.as_slice();
        std::iter::from_fn(move || {
            let (length, tail) = rest.split_first().filter(|(length, _)| **length > 0)?;
            let (label, tail) = tail.split_at(usize::from(*length));
            rest = tail;
            Some(label)
        })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_str(".");
        }
        for (i, label) in self.labels().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "{}", label.escape_ascii())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_text_and_back() {
        for (text, host) in [("A.Example", "a.example"), ("a.", "a"), ("_x._https.b", "_x._https.b")] {
            assert_eq!(Name::parse(text).unwrap().host().as_deref(), Some(host));
        }
        assert_eq!(Name::parse("a b").unwrap().host(), None);
        let long = "a".repeat(64);
        for bad in ["", ".", "a..b", ".a", long.as_str()] {
            assert_eq!(Name::parse(bad), Err(MessageError::Name), "{bad}");
        }
        let fits = "abc.".repeat(63);
        assert!(Name::parse(&fits).is_ok() && Name::parse(&format!("{fits}ab")).is_err());
    }

    #[test]
    fn pointers_lead_back_and_never_in_circles() {
        let message = b"\x03com\0\x01a\xc0\x00\x01b\xc0\x05";
        assert_eq!(Name::read(message, 9).unwrap(), (Name::parse("b.a.com").unwrap(), 13));
        for (bad, at) in
            [(&b"\xc0\x00"[..], 0), (b"\x01a\xc0\x00", 0), (b"\xc0\x02\xc0\x00", 0), (b"\x80", 0)]
        {
            assert_eq!(Name::read(bad, at), Err(MessageError::Name), "{bad:?}");
        }
        for cut in 0..4 {
            assert_eq!(Name::read(&message[..cut], 0), Err(MessageError::Short));
        }
    }

    #[test]
    fn pointers_do_not_make_a_name_longer_than_it_may_be() {
        let mut message = vec![0];
        for _ in 0..200 {
            let before = message.len() - if message.len() == 1 { 1 } else { 4 };
            message.extend([1, b'a', 0xc0 | (before >> 8) as u8, before as u8]);
        }
        assert_eq!(Name::read(&message, message.len() - 4), Err(MessageError::Name));
        assert!(Name::read(&message, 4 * 100 + 1).is_ok());
    }

    #[test]
    fn case_is_noise() {
        let name = Name::parse("example.com").unwrap();
        let mixed = name.in_mixed_case(&[0b0000_1010, 0xff]);
        assert_eq!(mixed.to_string(), "ExAmple.COM");
        assert!(mixed == name && !mixed.is_exactly(&name));
    }
}
