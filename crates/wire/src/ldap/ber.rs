//! As much of BER (X.690) as LDAP needs (RFC 4511 §5.1): tags of one byte, definite lengths.

pub const INTEGER: u8 = 0x02;
pub const OCTETS: u8 = 0x04;
pub const ENUMERATED: u8 = 0x0a;
pub const BOOLEAN: u8 = 0x01;
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;

/// No message is longer than this.
pub const MESSAGE_LIMIT: usize = 16 << 20;

/// What is no BER, or longer than anything here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// An element with its tag and length.
pub fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let significant = &length[length.iter().position(|byte| *byte != 0).unwrap_or(length.len())..];
    let mut out = vec![tag];
    match significant {
        [] => out.push(0),
        [short] if *short < 0x80 => out.push(*short),
        long => {
            out.push(0x80 | long.len() as u8);
            out.extend_from_slice(long);
        }
    }
    out.extend_from_slice(content);
    out
}

/// A number that is not negative.
pub fn integer(tag: u8, value: u32) -> Vec<u8> {
    let bytes = [&[0][..], &value.to_be_bytes()].concat();
    let needless = bytes.windows(2).take_while(|pair| pair[0] == 0 && pair[1] < 0x80).count();
    element(tag, &bytes[needless.min(4)..])
}

/// Tag, content and the whole length of the first element; `None` while some of it is missing.
#[allow(clippy::type_complexity)]
pub fn first(bytes: &[u8]) -> Result<Option<(u8, &[u8], usize)>, Malformed> {
    let [tag, length, rest @ ..] = bytes else { return Ok(None) };
    let (length, head) = match *length {
        short @ 0..=0x7f => (usize::from(short), 2),
        long @ 0x81..=0x84 => {
            let count = usize::from(long & 0x7f);
            let Some(octets) = rest.get(..count) else { return Ok(None) };
            (octets.iter().fold(0, |sum, octet| sum << 8 | usize::from(*octet)), 2 + count)
        }
        _ => return Err(Malformed),
    };
    if length > MESSAGE_LIMIT {
        return Err(Malformed);
    }
    Ok(bytes.get(head..head + length).map(|content| (*tag, content, head + length)))
}

/// Elements one after the other, all of which have come.
#[derive(Clone, Copy)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next element; `None` at the end.
    pub fn any(&mut self) -> Result<Option<(u8, &'a [u8])>, Malformed> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let (tag, content, length) = first(self.0)?.ok_or(Malformed)?;
        self.0 = &self.0[length..];
        Ok(Some((tag, content)))
    }

    /// The next element, which has this tag.
    pub fn expect(&mut self, wanted: u8) -> Result<&'a [u8], Malformed> {
        self.any()?.filter(|(tag, _)| *tag == wanted).map(|(_, content)| content).ok_or(Malformed)
    }

    /// A number of at most 32 bits that is not negative.
    pub fn number(&mut self, tag: u8) -> Result<u32, Malformed> {
        let octets = self.expect(tag)?;
        if octets.is_empty() || octets.len() > 5 || octets[0] >= 0x80 {
            return Err(Malformed);
        }
        let value = octets.iter().fold(0u64, |sum, octet| sum << 8 | u64::from(*octet));
        u32::try_from(value).map_err(|_| Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for value in [0, 1, 127, 128, 255, 256, 0x7fff, 0x8000, 0x7fff_ffff, u32::MAX] {
            assert_eq!(Reader(&integer(INTEGER, value)).number(INTEGER), Ok(value));
        }
        assert_eq!(integer(INTEGER, 128), [2, 2, 0, 128]);
        for length in [0, 1, 127, 128, 255, 256, 70_000] {
            let whole = element(OCTETS, &vec![7; length]);
            assert_eq!(first(&whole), Ok(Some((OCTETS, &vec![7; length][..], whole.len()))));
            assert_eq!(first(&whole[..whole.len() - 1]), Ok(None));
        }
        assert_eq!(first(&[4, 0x80]), Err(Malformed), "indefinite");
        assert_eq!(first(&[4, 0x84, 0xff, 0xff, 0xff, 0xff]), Err(Malformed), "too long");
    }
}
