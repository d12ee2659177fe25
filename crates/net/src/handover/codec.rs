//! Values as bytes and back, for connections that move between processes. Each value has one encoding, which
//! delimits itself: numbers have their full width in network order, texts and lists stand behind their length
//! in four bytes, an option begins with one byte.
//!
//! A reader checks every length against what is left, so that it never allocates more than it was given.

use std::net::{IpAddr, SocketAddr, SocketAddrV4, SocketAddrV6};

use zeroize::Zeroizing;

/// Why bytes are not a valid encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes end within a value, or go on behind the last one.
    Length,
    /// Another version of this program wrote the bytes.
    Version,
    /// A value that no encoder writes, with the name of its field.
    Value(&'static str),
}

/// Collects encoded values in one buffer, which is wiped when it is dropped.
pub struct Writer(Zeroizing<Vec<u8>>);

impl Writer {
    /// Creates a writer that holds `capacity` bytes without a reallocation: one would leave a copy behind.
    pub fn with_capacity(capacity: usize) -> Writer {
        Writer(Zeroizing::new(Vec::with_capacity(capacity)))
    }

    /// Returns the bytes.
    pub fn into_bytes(self) -> Zeroizing<Vec<u8>> {
        self.0
    }

    /// Appends bytes whose number the reader knows.
    pub fn raw(&mut self, bytes: &[u8]) {
        if self.0.len() + bytes.len() > self.0.capacity() {
            self.grow(bytes.len());
        }
        self.0.extend_from_slice(bytes);
    }

    pub fn bool(&mut self, value: bool) {
        self.raw(&[u8::from(value)]);
    }

    pub fn u8(&mut self, value: u8) {
        self.raw(&[value]);
    }

    pub fn u16(&mut self, value: u16) {
        self.raw(&value.to_be_bytes());
    }

    pub fn u32(&mut self, value: u32) {
        self.raw(&value.to_be_bytes());
    }

    pub fn u64(&mut self, value: u64) {
        self.raw(&value.to_be_bytes());
    }

    pub fn i64(&mut self, value: i64) {
        self.raw(&value.to_be_bytes());
    }

    /// Appends bytes behind their number. More than four billion are never collected here.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.raw(bytes);
    }

    pub fn option<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Writer, T)) {
        self.bool(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    pub fn list<T>(&mut self, values: &[T], mut put: impl FnMut(&mut Writer, &T)) {
        self.u32(values.len() as u32);
        values.iter().for_each(|value| put(self, value));
    }

    pub fn address(&mut self, address: SocketAddr) {
        match address {
            SocketAddr::V4(v4) => {
                self.u8(4);
                self.raw(&v4.ip().octets());
                self.u16(v4.port());
            }
            SocketAddr::V6(v6) => {
                self.u8(6);
                self.raw(&v6.ip().octets());
                self.u16(v6.port());
                self.u32(v6.flowinfo());
                self.u32(v6.scope_id());
            }
        }
    }

    /// Moves to a larger buffer and wipes the old one.
    fn grow(&mut self, more: usize) {
        let mut larger = Zeroizing::new(Vec::with_capacity((self.0.len() + more) * 2));
        larger.extend_from_slice(&self.0);
        self.0 = larger;
    }
}

/// Reads encoded values.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// Returns an error unless all has been read.
    pub fn end(self) -> Result<(), DecodeError> {
        if self.0.is_empty() { Ok(()) } else { Err(DecodeError::Length) }
    }

    /// Returns that many bytes.
    pub fn raw(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(DecodeError::Length)?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(DecodeError::Length)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// Returns a truth value; any byte but 0 and 1 is an error.
    pub fn bool(&mut self, field: &'static str) -> Result<bool, DecodeError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DecodeError::Value(field)),
        }
    }

    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array().map(u8::from_be_bytes)
    }

    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_be_bytes)
    }

    pub fn i64(&mut self) -> Result<i64, DecodeError> {
        self.array().map(i64::from_be_bytes)
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = self.u32()?;
        self.raw(length as usize)
    }

    pub fn text(&mut self, field: &'static str) -> Result<&'a str, DecodeError> {
        str::from_utf8(self.bytes()?).map_err(|_| DecodeError::Value(field))
    }

    pub fn option<T>(
        &mut self,
        field: &'static str,
        take: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        self.bool(field)?.then(|| take(self)).transpose()
    }

    /// Returns a list. Each value takes at least one byte, so the number is checked before room is made.
    pub fn list<T>(
        &mut self,
        mut take: impl FnMut(&mut Reader<'a>) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count = self.u32()? as usize;
        if count > self.0.len() {
            return Err(DecodeError::Length);
        }
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(take(self)?);
        }
        Ok(values)
    }

    pub fn address(&mut self, field: &'static str) -> Result<SocketAddr, DecodeError> {
        match self.u8()? {
            4 => {
                let ip: [u8; 4] = self.array()?;
                Ok(SocketAddrV4::new(ip.into(), self.u16()?).into())
            }
            6 => {
                let ip: [u8; 16] = self.array()?;
                let IpAddr::V6(ip) = IpAddr::from(ip) else { return Err(DecodeError::Value(field)) };
                Ok(SocketAddrV6::new(ip, self.u16()?, self.u32()?, self.u32()?).into())
            }
            _ => Err(DecodeError::Value(field)),
        }
    }
}
