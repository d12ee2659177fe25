//! Encodes header blocks (RFC 7541 §3, §6). Fields that repeat between requests take one byte each, fields
//! sent once are not indexed, and secrets short enough to guess are never indexed (§7.1.3).

use super::table::{OVERHEAD, Table, TableState};
use super::{integer, statics};

/// Largest table used, even if the peer offers more: each search goes through all of it.
const TABLE_LIMIT: usize = 4096;

/// The representation of a field that is not in a table (RFC 7541 §6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Literal {
    /// And entered.
    Entered,
    /// And not entered.
    Passing,
    /// Never indexed, also not by intermediaries.
    Never,
}

/// A direction's writer.
#[derive(Debug)]
pub struct Encoder {
    table: Table,
    /// The smallest limit that the peer set since the last block; it must be signalled (RFC 7541 §4.2).
    lowest: Option<usize>,
    size: usize,
    lower: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder { table: Table::new(TABLE_LIMIT), lowest: None, size: TABLE_LIMIT, lower: Vec::new() }
    }
}

/// A writer between two blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncoderState {
    pub table: TableState,
    /// The peer's limit, and the smallest one since the last block, which must be signalled.
    pub size: usize,
    pub lowest: Option<usize>,
}

impl Encoder {
    /// Returns the encoder of a state; `None` if no encoder has such a state.
    pub fn restore(state: &EncoderState) -> Option<Encoder> {
        let EncoderState { table, size, lowest } = state;
        let signalled = lowest.is_some() || *size == table.max;
        if *size > TABLE_LIMIT || lowest.is_some_and(|lowest| lowest > *size) || !signalled {
            return None;
        }
        let table = Table::restore(table, TABLE_LIMIT)?;
        Some(Encoder { table, lowest: *lowest, size: *size, lower: Vec::new() })
    }

    pub fn state(&self) -> EncoderState {
        EncoderState { table: self.table.state(), size: self.size, lowest: self.lowest }
    }

    /// The peer's SETTINGS_HEADER_TABLE_SIZE.
    pub fn limit(&mut self, size: usize) {
        let size = size.min(TABLE_LIMIT);
        if size != self.size {
            self.lowest = Some(self.lowest.unwrap_or(self.size).min(size));
            self.size = size;
        }
    }

    /// Starts a block.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        let Some(lowest) = self.lowest.take() else { return };
        for size in [lowest, self.size] {
            if size != self.table.max() {
                self.table.resize(size);
                integer::encode(out, 0x20, 5, size);
            }
        }
    }

    /// Adds a field to the block. Names are converted to lower case (RFC 9113 §8.2). A sensitive field is
    /// kept out of all tables.
    pub fn field(&mut self, name: &[u8], value: &[u8], sensitive: bool, out: &mut Vec<u8>) {
        let mut lower = std::mem::take(&mut self.lower);
        lower.clear();
        lower.extend_from_slice(name);
        lower.make_ascii_lowercase();
        self.lower_field(&lower, value, sensitive, out);
        self.lower = lower;
    }

    fn lower_field(&mut self, name: &[u8], value: &[u8], sensitive: bool, out: &mut Vec<u8>) {
        let literal = literal(name, value, sensitive, self.table.max());
        let dynamic = match literal {
            Literal::Never => None,
            _ => self.table.find(name, value).map(|(index, pair)| (index + statics::COUNT + 1, pair)),
        };
        if let Some((index, true)) = dynamic {
            return integer::encode(out, 0x80, 7, index);
        }
        let known = statics::find(name, value);
        if let Some((index, true)) = known {
            return integer::encode(out, 0x80, 7, index);
        }
        let (first, prefix) = match literal {
            Literal::Entered => (0x40, 6),
            Literal::Passing => (0, 4),
            Literal::Never => (0x10, 4),
        };
        match known.or(dynamic) {
            Some((index, _)) => integer::encode(out, first, prefix, index),
            None => {
                out.push(first);
                integer::encode_text(out, 0, 7, name);
            }
        }
        integer::encode_text(out, 0, 7, value);
        if literal == Literal::Entered {
            self.table.insert(name, value);
        }
    }
}

/// Chooses a representation: fields that later requests are likely to repeat are indexed.
fn literal(name: &[u8], value: &[u8], sensitive: bool, table: usize) -> Literal {
    const PASSING: [&[u8]; 9] = [
        b":path",
        b"content-length",
        b"content-range",
        b"range",
        b"if-match",
        b"if-none-match",
        b"if-modified-since",
        b"if-range",
        b"if-unmodified-since",
    ];
    /// Length below which a cookie could be guessed from the size of what is sent (RFC 7541 §7.1.3).
    const GUESSABLE: usize = 20;
    if sensitive
        || name == b"authorization"
        || name == b"proxy-authorization"
        || (name == b"cookie" && value.len() < GUESSABLE)
    {
        Literal::Never
    } else if PASSING.contains(&name) || name.len() + value.len() + OVERHEAD > table / 2 {
        Literal::Passing
    } else {
        Literal::Entered
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fields::Fields;
    use super::super::{Decoder, Fit};
    use super::*;

    fn block(encoder: &mut Encoder, fields: &[(&str, &str)]) -> Vec<u8> {
        let mut out = Vec::new();
        encoder.begin(&mut out);
        fields
            .iter()
            .for_each(|(name, value)| encoder.field(name.as_bytes(), value.as_bytes(), false, &mut out));
        out
    }

    fn read(decoder: &mut Decoder, block: &[u8]) -> Vec<(String, String)> {
        let mut fields = Fields::default();
        assert_eq!(decoder.decode(block, &mut fields, 65_536), Ok(Fit::Whole));
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        fields.iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    const REQUEST: [(&str, &str); 7] = [
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", "host.example:8443"),
        (":path", "/some/file?query"),
        ("user-agent", "warm/1.0"),
        ("accept", "*/*"),
        ("x-custom", "value"),
    ];

    #[test]
    fn repeated_fields_are_indexed_in_a_byte_each() {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::new(4096));
        let owned: Vec<_> = REQUEST.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        let first = block(&mut encoder, &REQUEST);
        assert_eq!(read(&mut decoder, &first), owned);
        let second = block(&mut encoder, &REQUEST);
        assert_eq!(read(&mut decoder, &second), owned);
        let path = super::super::huffman::encoded_len(b"/some/file?query");
        assert_eq!(second.len(), 6 + 2 + path);
    }

    #[test]
    fn names_become_lower_case() {
        let mut decoder = Decoder::new(4096);
        let out = block(&mut Encoder::default(), &[("Accept", "A/B"), ("X-Mixed-Case", "Keeps Case")]);
        assert_eq!(
            read(&mut decoder, &out),
            [("accept".into(), "A/B".into()), ("x-mixed-case".into(), "Keeps Case".to_string())]
        );
    }

    #[test]
    fn secrets_are_never_entered() {
        let mut encoder = Encoder::default();
        let secret = [("authorization", "Basic dTpw"), ("cookie", "short=1")];
        let first = block(&mut encoder, &secret);
        assert_eq!(first[0], 0x1f, "literal, never indexed, with a known name");
        assert_eq!(block(&mut encoder, &secret), first);
        assert_eq!(encoder.table.size(), 0);
        let mut out = Vec::new();
        encoder.field(b"x-token", b"t", true, &mut out);
        assert_eq!((out[0], encoder.table.size()), (0x10, 0));
    }

    #[test]
    fn table_size_updates_send_the_lowest_size_first() {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::new(4096));
        read(&mut decoder, &block(&mut encoder, &REQUEST));
        encoder.limit(0);
        encoder.limit(1 << 20);
        let out = block(&mut encoder, &REQUEST);
        assert_eq!(out[..4], [0x20, 0x3f, 0xe1, 0x1f], "0, then 4096");
        assert_eq!(read(&mut decoder, &out).len(), REQUEST.len());
        encoder.limit(0);
        let out = block(&mut encoder, &REQUEST);
        assert_eq!(out[0], 0x20);
        assert_eq!(read(&mut decoder, &out).len(), REQUEST.len());
        assert_eq!(encoder.table.size(), 0);
    }
}
