//! SSH's data types (RFC 4251 §5): bytes to values and back.

/// The input is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Reads values from the front of some bytes.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// Returns the unread rest.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(n).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    pub fn flag(&mut self) -> Result<bool, Malformed> {
        Ok(self.u8()? != 0)
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    /// A length and so many bytes.
    pub fn string(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    /// Reads a string as text. Invalid UTF-8 is replaced.
    pub fn text(&mut self) -> Result<String, Malformed> {
        Ok(String::from_utf8_lossy(self.string()?).into_owned())
    }

    /// A number that is not negative, without leading zeros.
    pub fn mpint(&mut self) -> Result<&'a [u8], Malformed> {
        let bytes = self.string()?;
        if bytes.first().is_some_and(|first| first & 0x80 != 0) {
            return Err(Malformed);
        }
        let zeros = bytes.iter().take_while(|b| **b == 0).count();
        Ok(&bytes[zeros..])
    }

    /// Names between commas.
    pub fn names(&mut self) -> Result<Vec<&'a str>, Malformed> {
        let text = std::str::from_utf8(self.string()?).map_err(|_| Malformed)?;
        Ok(text.split(',').filter(|name| !name.is_empty()).collect())
    }
}

/// Appends values.
pub trait Put {
    fn put_u32(&mut self, n: u32);
    fn put_u64(&mut self, n: u64);
    fn put_flag(&mut self, on: bool);
    fn put_string(&mut self, bytes: impl AsRef<[u8]>);
    /// A number that is not negative, from its bytes, the highest first.
    fn put_mpint(&mut self, bytes: &[u8]);
}

impl Put for Vec<u8> {
    fn put_u32(&mut self, n: u32) {
        self.extend_from_slice(&n.to_be_bytes());
    }

    fn put_u64(&mut self, n: u64) {
        self.extend_from_slice(&n.to_be_bytes());
    }

    fn put_flag(&mut self, on: bool) {
        self.push(u8::from(on));
    }

    fn put_string(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.put_u32(u32::try_from(bytes.len()).expect("no string of ours has four gigabytes"));
        self.extend_from_slice(bytes);
    }

    fn put_mpint(&mut self, bytes: &[u8]) {
        let zeros = bytes.iter().take_while(|b| **b == 0).count();
        let bytes = &bytes[zeros..];
        let sign = bytes.first().is_some_and(|first| first & 0x80 != 0);
        self.put_u32((bytes.len() + usize::from(sign)) as u32);
        if sign {
            self.push(0);
        }
        self.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4251 §5 has these.
    #[test]
    fn numbers_of_any_size() {
        let cases: [(&[u8], &[u8]); 4] = [
            (&[], &[0, 0, 0, 0]),
            (&[0x80], &[0, 0, 0, 2, 0, 0x80]),
            (&[0, 0, 0x7f], &[0, 0, 0, 1, 0x7f]),
            (&[9, 0xa3], &[0, 0, 0, 2, 9, 0xa3]),
        ];
        for (number, bytes) in cases {
            let mut out = Vec::new();
            out.put_mpint(number);
            assert_eq!(out, bytes);
            let zeros = number.iter().take_while(|b| **b == 0).count();
            assert_eq!(Reader::new(&out).mpint().unwrap(), &number[zeros..]);
        }
        assert_eq!(Reader::new(&[0, 0, 0, 1, 0x80]).mpint(), Err(Malformed), "negative");
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        assert_eq!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 1]).string(), Err(Malformed));
        assert_eq!(Reader::new(&[0, 0, 0, 2, 1]).string(), Err(Malformed));
        assert_eq!(Reader::new(&[0, 0]).u32(), Err(Malformed));
        assert_eq!(Reader::new(&[0, 0, 0, 3, b'a', b',', b'b']).names().unwrap(), ["a", "b"]);
        assert_eq!(Reader::new(&[0, 0, 0, 0]).names().unwrap(), Vec::<&str>::new());
    }
}
