//! Received header fields, for curl_easy_header and curl_easy_nextheader. Most applications never read them,
//! so storing one must be cheap: all fields share one buffer, which the next transfer reuses.

use tables::Code;
use wire::http1::HeaderLine;

use crate::error::{Error, Result};

/// The origin of a field; the numbers are CURLH_*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Origin {
    /// A final reply.
    Header = 1,
    /// Behind a chunked body.
    Trailer = 2,
    /// A CONNECT reply.
    Connect = 4,
    /// A 1xx reply.
    Interim = 8,
    /// HTTP/2 and later.
    Pseudo = 16,
}

/// A received field.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// Name as received.
    pub name: &'a [u8],
    /// Value without surrounding blanks.
    pub value: &'a [u8],
    /// The origin of the field.
    pub origin: Origin,
    /// Which request of the transfer it answered, from 0.
    pub request: usize,
}

/// All fields of a transfer, in the order received.
#[derive(Default, Debug)]
pub struct Headers {
    /// Names and values, one behind the other.
    bytes: Vec<u8>,
    places: Vec<FieldPosition>,
}

/// The position of a field: its name starts at the end of the field before it, and its value at the end of
/// its name.
#[derive(Clone, Debug)]
struct FieldPosition {
    name_end: u32,
    value_end: u32,
    request: u32,
    origin: Origin,
}

/// No transfer may have more, with its redirects, interim replies and CONNECT (curl's
/// MAX_HTTP_RESP_HEADER_COUNT).
const MAX_FIELDS: usize = 5000;
/// Number of fields and of their bytes in a short reply: the initial capacity. A larger one would stay with
/// each waiting transfer, and the storage serves the next transfer of the handle, and the next handle, too.
const SHORT_REPLY: (usize, usize) = (4, 64);
/// Largest buffer that is kept for the next transfer.
const KEPT_STORAGE: usize = 16 * 1024;

impl Headers {
    /// Forgets all, for the next handle. The fields may hold secrets, and are overwritten.
    pub fn renew(&mut self) {
        self.bytes.fill(0);
        self.clear();
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        if self.bytes.capacity() > KEPT_STORAGE {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        self.places.clear();
    }

    /// Stores one line; a line that is not a field is skipped.
    pub fn add(&mut self, origin: Origin, request: usize, line: &[u8]) -> Result<()> {
        match HeaderLine::parse(line) {
            Some(field) => self.add_field(origin, request, &field),
            None => Ok(()),
        }
    }

    /// Stores one field.
    pub fn add_field(&mut self, origin: Origin, request: usize, field: &HeaderLine<'_>) -> Result<()> {
        if self.places.len() >= MAX_FIELDS {
            let text = format!("Too many response headers, {MAX_FIELDS} is max");
            return Err(Error::new(Code::TooLarge, text));
        }
        if self.places.capacity() == 0 {
            self.bytes.reserve(SHORT_REPLY.1);
            self.places.reserve(SHORT_REPLY.0);
        }
        self.bytes.extend_from_slice(field.name);
        let name_end = self.end()?;
        self.bytes.extend_from_slice(field.value);
        let request = u32::try_from(request).unwrap_or(u32::MAX);
        self.places.push(FieldPosition { name_end, value_end: self.end()?, request, origin });
        Ok(())
    }

    /// Removes the fields of that request and of later ones: another reply replaces them.
    pub fn forget_from(&mut self, request: usize) {
        let first = self.places.iter().position(|place| place.request as usize >= request);
        let Some(first) = first.filter(|first| *first < self.places.len()) else { return };
        self.bytes.truncate(self.start(first));
        self.places.truncate(first);
    }

    /// Returns the number of fields.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Returns the position of the next name or value.
    fn end(&self) -> Result<u32> {
        u32::try_from(self.bytes.len()).map_err(|_| Error::from(Code::TooLarge))
    }

    /// Returns all fields whose origin is one of the bits, of one request (or of the last, for `None`).
    pub fn of(&self, origins: u32, request: Option<usize>) -> Vec<(usize, Field<'_>)> {
        let request = request.or(self.last_request()).unwrap_or(0);
        self.places
            .iter()
            .enumerate()
            .filter(|(_, place)| place.request as usize == request && origins & place.origin as u32 != 0)
            .map(|(index, place)| (index, self.field(index, place)))
            .collect()
    }

    /// Returns the number of the last request with fields.
    pub fn last_request(&self) -> Option<usize> {
        self.places.last().map(|place| place.request as usize)
    }

    /// A field by its place.
    pub fn at(&self, index: usize) -> Option<Field<'_>> {
        self.places.get(index).map(|place| self.field(index, place))
    }

    /// Returns where a field begins.
    fn start(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.places[before].value_end as usize)
    }

    fn field(&self, index: usize, place: &FieldPosition) -> Field<'_> {
        let (name_end, value_end) = (place.name_end as usize, place.value_end as usize);
        Field {
            name: &self.bytes[self.start(index)..name_end],
            value: &self.bytes[name_end..value_end],
            origin: place.origin,
            request: place.request as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stay_apart() {
        let mut headers = Headers::default();
        headers.add(Origin::Interim, 0, b"A: early\r\n").unwrap();
        headers.add(Origin::Header, 1, b"A:\r\n").unwrap();
        headers.add(Origin::Header, 1, b"no field\r\n").unwrap();
        headers.add(Origin::Trailer, 1, b"B: c \r\n").unwrap();
        let of = |origins, request| -> Vec<(usize, Vec<u8>, Vec<u8>)> {
            let fields = headers.of(origins, request).into_iter();
            fields.map(|(at, f)| (at, f.name.to_vec(), f.value.to_vec())).collect()
        };
        assert_eq!(of(31, Some(0)), [(0, b"A".to_vec(), b"early".to_vec())]);
        assert_eq!(of(31, None), [(1, b"A".to_vec(), b"".to_vec()), (2, b"B".to_vec(), b"c".to_vec())]);
        assert_eq!(of(1, None).len(), 1);
        assert!(headers.at(3).is_none());
        headers.forget_from(1);
        assert_eq!((headers.of(31, Some(0)).len(), headers.at(1).is_none()), (1, true));
        headers.clear();
        assert_eq!((headers.last_request(), headers.at(0).is_none()), (None, true));
    }
}
