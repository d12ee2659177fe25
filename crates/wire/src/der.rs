//! DER and the part of BER that LDAP uses (X.690): tags of one octet, definite lengths.
//!
//! Certificates, private keys, PKCS#12 files and LDAP messages are read here. The reader borrows, never
//! recurses and never allocates. Its callers interpret the values.

pub const BOOLEAN: u8 = 0x01;
pub const INTEGER: u8 = 0x02;
pub const BIT_STRING: u8 = 0x03;
pub const OCTET_STRING: u8 = 0x04;
pub const NULL: u8 = 0x05;
pub const OID: u8 = 0x06;
pub const ENUMERATED: u8 = 0x0a;
pub const UTF8_STRING: u8 = 0x0c;
pub const NUMERIC_STRING: u8 = 0x12;
pub const PRINTABLE_STRING: u8 = 0x13;
pub const T61_STRING: u8 = 0x14;
pub const IA5_STRING: u8 = 0x16;
pub const UNIVERSAL_STRING: u8 = 0x1c;
pub const BMP_STRING: u8 = 0x1e;
pub const UTC_TIME: u8 = 0x17;
pub const GENERALIZED_TIME: u8 = 0x18;
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;

/// Returns the tag `[n]` of a constructed value.
pub const fn context(n: u8) -> u8 {
    0xa0 | n
}

/// Returns the tag `[n]` of a primitive value (an IMPLICIT string).
pub const fn context_primitive(n: u8) -> u8 {
    0x80 | n
}

/// A value: its tag, its contents, and the octets of the whole.
#[derive(Clone, Copy, Debug)]
pub struct Tlv<'a> {
    pub tag: u8,
    pub body: &'a [u8],
    pub whole: &'a [u8],
}

/// Tag and length of a value, before its contents are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub tag: u8,
    /// Octets of the contents.
    pub length: usize,
    /// Octets of tag and length themselves.
    pub size: usize,
}

/// Octets that are no header: an indefinite length, one of more than four octets, or a tag number above 30.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl Header {
    /// Reads the header at the beginning of `bytes`. Returns `None` while some of it is missing.
    pub fn read(bytes: &[u8]) -> Result<Option<Header>, Malformed> {
        let Some(&tag) = bytes.first() else { return Ok(None) };
        if tag & 0x1f == 0x1f {
            return Err(Malformed); // tag numbers above 30 occur in none of the formats read here
        }
        let Some(&first) = bytes.get(1) else { return Ok(None) };
        let count = match first {
            0..=0x7f => return Ok(Some(Header { tag, length: usize::from(first), size: 2 })),
            0x81..=0x84 => usize::from(first & 0x7f),
            _ => return Err(Malformed),
        };
        let Some(octets) = bytes.get(2..2 + count) else { return Ok(None) };
        let length = octets.iter().fold(0, |length, octet| length << 8 | usize::from(*octet));
        Ok(Some(Header { tag, length, size: 2 + count }))
    }
}

/// Reads values one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub const fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the tag of the next value.
    pub fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// Reads the next value, of any tag. Returns `None` at the end and for anything that is not DER.
    pub fn value(&mut self) -> Option<Tlv<'a>> {
        let Header { tag, length, size } = Header::read(self.0).ok()??;
        let end = size.checked_add(length)?;
        let body = self.0.get(size..end)?;
        if tag == OID && !is_oid(body) || tag == INTEGER && body.is_empty() {
            return None;
        }
        let (whole, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(Tlv { tag, body, whole })
    }

    /// Reads the contents of the next value, which must carry `tag`.
    pub fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.optional(tag)
    }

    /// Reads the contents of the next value if it has the tag `tag`; consumes nothing otherwise.
    pub fn optional(&mut self, tag: u8) -> Option<&'a [u8]> {
        if self.peek() != Some(tag) {
            return None;
        }
        self.value().map(|v| v.body)
    }

    /// Reads the next value with its header; it must carry `tag`.
    pub fn whole(&mut self, tag: u8) -> Option<&'a [u8]> {
        if self.peek() != Some(tag) {
            return None;
        }
        self.value().map(|v| v.whole)
    }

    /// Returns a reader of the next SEQUENCE.
    pub fn sequence(&mut self) -> Option<Reader<'a>> {
        self.expect(SEQUENCE).map(Reader)
    }

    /// Reads an INTEGER of at most 32 bits that is not negative.
    pub fn small(&mut self) -> Option<u32> {
        self.number(INTEGER)
    }

    /// Reads a number of at most 32 bits that is not negative and carries `tag` (INTEGER, ENUMERATED).
    pub fn number(&mut self, tag: u8) -> Option<u32> {
        let body = self.expect(tag)?;
        if body.is_empty() || body[0] & 0x80 != 0 || body.len() > 5 || (body.len() == 5 && body[0] != 0) {
            return None;
        }
        Some(body.iter().fold(0u32, |n, b| (n << 8) | u32::from(*b)))
    }
}

/// Returns whether the contents of an OID are well formed: arcs of seven bits an octet, each with its end and
/// without leading zeros (X.690 section 8.19). Other parsers refuse all others, too.
fn is_oid(body: &[u8]) -> bool {
    let mut begins = true;
    let sound = body.iter().all(|octet| {
        let good = !(begins && *octet == 0x80);
        begins = octet & 0x80 == 0;
        good
    });
    sound && begins && !body.is_empty()
}

/// Returns a value with this tag and these contents.
pub fn wrap(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 6);
    push(&mut out, tag, body);
    out
}

/// Appends a value with this tag and these contents.
pub fn push(out: &mut Vec<u8>, tag: u8, body: &[u8]) {
    out.push(tag);
    match body.len() {
        short @ 0..0x80 => out.push(short as u8),
        long => {
            let octets = long.to_be_bytes();
            let skip = octets.iter().take_while(|octet| **octet == 0).count();
            out.push(0x80 | (octets.len() - skip) as u8);
            out.extend_from_slice(&octets[skip..]);
        }
    }
    out.extend_from_slice(body);
}

/// Returns an OID in dotted form, for comparison and for printing unnamed ones.
pub fn dotted(oid: &[u8]) -> String {
    let mut arcs: Vec<u64> = Vec::new();
    let mut arc: u64 = 0;
    for b in oid {
        arc = (arc << 7) | u64::from(b & 0x7f);
        if b & 0x80 == 0 {
            if arcs.is_empty() {
                let first = (arc / 40).min(2);
                arcs.push(first);
                arc -= first * 40;
            }
            arcs.push(arc);
            arc = 0;
        }
    }
    arcs.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_wrapped() {
        for n in [0usize, 1, 127, 128, 255, 256, 70_000] {
            let whole = wrap(OCTET_STRING, &vec![7; n]);
            let mut r = Reader::new(&whole);
            assert_eq!(r.value().unwrap().body.len(), n);
            assert!(r.is_empty());
            assert!(Reader::new(&whole[..whole.len() - 1]).value().is_none(), "cut by one, {n}");
        }
    }

    #[test]
    fn refuses_ber_and_nonsense() {
        for bad in [
            &[0x30, 0x80, 0, 0][..],
            &[0x30],
            &[0x1f, 0x81, 0],
            &[0x30, 0x85, 1, 1, 1, 1, 1],
            &[4, 0x84, 0xff, 0xff, 0xff, 0xff],
        ] {
            assert!(Reader::new(bad).value().is_none(), "{bad:?}");
        }
    }

    #[test]
    fn a_header_that_is_incomplete_is_no_fault() {
        let whole = wrap(OCTET_STRING, &[7; 300]);
        for end in 0..4 {
            assert_eq!(Header::read(&whole[..end]), Ok(None), "{end}");
        }
        assert_eq!(Header::read(&whole[..4]), Ok(Some(Header { tag: OCTET_STRING, length: 300, size: 4 })));
        assert_eq!(Header::read(&[4, 0x80]), Err(Malformed), "indefinite");
        assert_eq!(Header::read(&[0x1f, 0x81]), Err(Malformed), "a long tag");
    }

    #[test]
    fn numbers_of_32_bits() {
        for (body, value) in
            [(&[0][..], Some(0)), (&[0, 128], Some(128)), (&[0, 255, 255, 255, 255], Some(u32::MAX))]
        {
            assert_eq!(Reader::new(&wrap(ENUMERATED, body)).number(ENUMERATED), value);
        }
        for body in [&[][..], &[0x80], &[1, 0, 0, 0, 0], &[0; 6]] {
            assert_eq!(Reader::new(&wrap(ENUMERATED, body)).number(ENUMERATED), None, "{body:?}");
        }
    }

    #[test]
    fn dotted_oids() {
        assert_eq!(dotted(&[0x55, 4, 3]), "2.5.4.3");
        assert_eq!(dotted(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11]), "1.2.840.113549.1.1.11");
    }
}
