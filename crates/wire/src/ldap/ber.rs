//! LDAP's messages in BER (RFC 4511 section 5.1), on the reader that certificates use.

use crate::der::{self, Header};

pub use crate::der::{
    BOOLEAN, ENUMERATED, INTEGER, Malformed, OCTET_STRING as OCTETS, SEQUENCE, SET, wrap as element,
};

/// Longest message.
pub const MESSAGE_LIMIT: usize = 16 << 20;

/// Returns a number that is not negative.
pub fn integer(tag: u8, value: u32) -> Vec<u8> {
    let bytes = [&[0][..], &value.to_be_bytes()].concat();
    let needless = bytes.windows(2).take_while(|pair| pair[0] == 0 && pair[1] < 0x80).count();
    element(tag, &bytes[needless.min(4)..])
}

/// Returns tag, content and whole length of the first element, or `None` while some of it is missing.
#[allow(clippy::type_complexity)]
pub fn first(bytes: &[u8]) -> Result<Option<(u8, &[u8], usize)>, Malformed> {
    let Some(Header { tag, length, size }) = Header::read(bytes)? else { return Ok(None) };
    if length > MESSAGE_LIMIT {
        return Err(Malformed);
    }
    Ok(bytes.get(size..size + length).map(|content| (tag, content, size + length)))
}

/// Reads elements that have arrived whole, one after the other.
#[derive(Clone, Copy)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// Reads the next element. Returns `None` at the end.
    pub fn any(&mut self) -> Result<Option<(u8, &'a [u8])>, Malformed> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let (tag, content, length) = first(self.0)?.ok_or(Malformed)?;
        self.0 = &self.0[length..];
        Ok(Some((tag, content)))
    }

    /// Reads the next element, which must have this tag.
    pub fn expect(&mut self, wanted: u8) -> Result<&'a [u8], Malformed> {
        self.any()?.filter(|(tag, _)| *tag == wanted).map(|(_, content)| content).ok_or(Malformed)
    }

    /// Reads a number of at most 32 bits that is not negative.
    pub fn number(&mut self, tag: u8) -> Result<u32, Malformed> {
        let mut reader = der::Reader::new(self.0);
        let number = reader.number(tag).ok_or(Malformed)?;
        self.expect(tag)?;
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_lengths_are_read_back() {
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
