//! A reader for DER (X.690): tag, definite length, contents. Certificates, keys and PKCS#12 files are read through it.
//! It borrows, never recurses and never allocates; what a value means is said by its callers.

pub const BOOLEAN: u8 = 0x01;
pub const INTEGER: u8 = 0x02;
pub const BIT_STRING: u8 = 0x03;
pub const OCTET_STRING: u8 = 0x04;
pub const NULL: u8 = 0x05;
pub const OID: u8 = 0x06;
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
/// `[n]`, constructed.
pub const fn context(n: u8) -> u8 {
    0xa0 | n
}
/// `[n]`, primitive (an IMPLICIT string).
pub const fn context_primitive(n: u8) -> u8 {
    0x80 | n
}

/// One value: its tag, its contents, and the bytes of the whole.
#[derive(Clone, Copy, Debug)]
pub struct Tlv<'a> {
    pub tag: u8,
    pub body: &'a [u8],
    pub whole: &'a [u8],
}

/// Reads values one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tag of the next value.
    pub fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The next value, whatever its tag. `None` at the end and for anything that isn't DER.
    pub fn value(&mut self) -> Option<Tlv<'a>> {
        let (&tag, rest) = self.0.split_first()?;
        if tag & 0x1f == 0x1f {
            return None; // tag numbers above 30 occur in none of the formats read here
        }
        let (length, header) = length(rest)?;
        let start = 1 + header;
        let end = start.checked_add(length)?;
        let body = self.0.get(start..end)?;
        if tag == OID && !is_oid(body) || tag == INTEGER && body.is_empty() {
            return None;
        }
        let (whole, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(Tlv { tag, body, whole })
    }

    /// The contents of the next value, which must carry `tag`.
    pub fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.optional(tag)
    }

    /// The contents of the next value if it carries `tag`; otherwise nothing is consumed.
    pub fn optional(&mut self, tag: u8) -> Option<&'a [u8]> {
        if self.peek() != Some(tag) {
            return None;
        }
        self.value().map(|v| v.body)
    }

    /// The whole next value, header included, which must carry `tag`.
    pub fn whole(&mut self, tag: u8) -> Option<&'a [u8]> {
        if self.peek() != Some(tag) {
            return None;
        }
        self.value().map(|v| v.whole)
    }

    /// A reader of the next SEQUENCE.
    pub fn sequence(&mut self) -> Option<Reader<'a>> {
        self.expect(SEQUENCE).map(Reader)
    }

    /// A small non-negative INTEGER.
    pub fn small(&mut self) -> Option<u32> {
        let body = self.expect(INTEGER)?;
        if body.is_empty() || body[0] & 0x80 != 0 || body.len() > 5 || (body.len() == 5 && body[0] != 0) {
            return None;
        }
        Some(body.iter().fold(0u32, |n, b| (n << 8) | u32::from(*b)))
    }
}

/// Arcs of seven bits an octet, each with its end and without leading noughts (X.690, 8.19). OpenSSL refuses any other.
fn is_oid(body: &[u8]) -> bool {
    let mut begins = true;
    let sound = body.iter().all(|octet| {
        let good = !(begins && *octet == 0x80);
        begins = octet & 0x80 == 0;
        good
    });
    sound && begins && !body.is_empty()
}

/// Appends `tag`, a length and `body`: enough to wrap what was unwrapped.
pub fn wrap(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match body.len() {
        n @ 0..0x80 => out.push(n as u8),
        n => {
            let bytes = n.to_be_bytes();
            let skip = bytes.iter().take_while(|b| **b == 0).count();
            out.push(0x80 | (bytes.len() - skip) as u8);
            out.extend_from_slice(&bytes[skip..]);
        }
    }
    out.extend_from_slice(body);
    out
}

/// The OID in dotted form, for comparing and for printing those without a name.
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

/// Length octets: the length and how many octets it took.
fn length(bytes: &[u8]) -> Option<(usize, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((usize::from(first), 1));
    }
    let count = usize::from(first & 0x7f);
    if count == 0 || count > 4 {
        return None; // indefinite lengths are BER; above 4 octets nothing would fit anyway
    }
    let octets = bytes.get(1..1 + count)?;
    Some((octets.iter().fold(0usize, |n, b| (n << 8) | usize::from(*b)), 1 + count))
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
    fn dotted_oids() {
        assert_eq!(dotted(&[0x55, 4, 3]), "2.5.4.3");
        assert_eq!(dotted(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11]), "1.2.840.113549.1.1.11");
    }
}
