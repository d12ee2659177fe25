//! Header fields in the order of the message, in reused storage.

use super::hpack::OVERHEAD;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: u32,
    name: u32,
    value: u32,
}

/// Names and values; a message's pseudo-fields come first.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl Fields {
    /// Forgets all fields, not their storage.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Adds a field behind the others.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.spans.push(Span { start, name: name.len() as u32, value: value.len() as u32 });
    }

    /// Adds a field with its name in lower case, as HTTP/2 requires (RFC 9113 §8.2.1).
    pub fn push_lower(&mut self, name: &[u8], value: &[u8]) {
        let start = self.bytes.len();
        self.push(name, value);
        self.bytes[start..start + name.len()].make_ascii_lowercase();
    }

    /// Room for a head of the usual size, so that filling it allocates once.
    pub fn with_room() -> Fields {
        Fields { bytes: Vec::with_capacity(512), spans: Vec::with_capacity(16) }
    }

    /// Name and value of each, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.spans.iter().map(|span| self.parts(span))
    }

    /// Returns the field at an index.
    pub fn at(&self, index: usize) -> Option<(&[u8], &[u8])> {
        self.spans.get(index).map(|span| self.parts(span))
    }

    /// Returns the value of the first field with this name, given in lower case.
    pub fn value(&self, name: &[u8]) -> Option<&[u8]> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Keeps the fields for which `wanted` returns true.
    pub(super) fn retain(&mut self, mut wanted: impl FnMut(&[u8], &[u8]) -> bool) {
        let bytes = &self.bytes;
        self.spans.retain(|span| {
            let (name, value) = span.of(bytes);
            wanted(name, value)
        });
    }

    /// Completes a field whose text was appended with [`Fields::text`], from `start` on.
    pub(crate) fn close(&mut self, start: usize, name: usize, value: usize) {
        self.spans.push(Span { start: start as u32, name: name as u32, value: value as u32 });
    }

    /// Returns the buffer to which the text of a field is written.
    pub(crate) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    fn parts(&self, span: &Span) -> (&[u8], &[u8]) {
        span.of(&self.bytes)
    }
}

impl Span {
    fn of<'a>(&self, bytes: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        let from = self.start as usize;
        bytes[from..from + self.name as usize + self.value as usize].split_at(self.name as usize)
    }
}

/// Returns the size that a field counts for in a list (RFC 9113 §6.5.2).
pub(crate) fn size(name: usize, value: usize) -> usize {
    name + value + OVERHEAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept() {
        let mut fields = Fields::default();
        for (name, value) in [("b", "1"), ("a", "2"), ("b", "3")] {
            fields.push(name.as_bytes(), value.as_bytes());
        }
        let all: Vec<_> = fields.iter().collect();
        assert_eq!(all, [(&b"b"[..], &b"1"[..]), (b"a", b"2"), (b"b", b"3")]);
        assert_eq!(fields.value(b"b"), Some(&b"1"[..]));
        assert_eq!((fields.at(1), fields.at(3)), (Some((&b"a"[..], &b"2"[..])), None));
        fields.retain(|name, _| name == b"b");
        assert_eq!(fields.len(), 2);
        fields.clear();
        assert!(fields.is_empty());
    }
}
