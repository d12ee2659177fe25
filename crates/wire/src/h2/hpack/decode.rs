//! Reading header blocks (RFC 7541 §3, §6).

use super::super::fields::{self, Fields};
use super::table::{Table, TableState};
use super::{HpackError, integer, statics};

/// Whether a list of fields was as large as it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    Whole,
    /// Only the first fields were kept; the table is still in step with the peer.
    TooLarge,
}

/// A direction's reader.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// How large the peer may make the table.
    limit: usize,
}

/// A reader between two blocks.
pub type DecoderState = TableState;

impl Decoder {
    /// Returns the decoder of a state; `None` if its table does not fit the announced size.
    pub fn restore(state: &DecoderState, limit: usize) -> Option<Decoder> {
        // Entries are found by index alone.
        Some(Decoder { table: Table::restore(state, limit)?, limit })
    }

    pub fn state(&self) -> DecoderState {
        self.table.state()
    }

    /// Creates a decoder with the table size announced in SETTINGS_HEADER_TABLE_SIZE.
    pub fn new(limit: usize) -> Decoder {
        Decoder { table: Table::new(limit), limit }
    }

    /// Decodes a whole block into `out`, keeping fields up to a list size of `budget` (RFC 9113 §6.5.2).
    /// Further fields are decoded and dropped: a small block may expand to a large list.
    pub fn decode(&mut self, block: &[u8], out: &mut Fields, budget: usize) -> Result<Fit, HpackError> {
        out.clear();
        let mut reader = Reader { at: 0, block, left: Some(budget) };
        let mut any = false;
        while let Some(first) = reader.block.get(reader.at) {
            match first {
                0x80.. => self.indexed(&mut reader, out)?,
                0x40.. => self.literal(&mut reader, out, 6, true)?,
                0x20.. if any => return Err(HpackError::TableSize),
                0x20.. => {
                    self.resize(&mut reader)?;
                    continue;
                }
                _ => self.literal(&mut reader, out, 4, false)?,
            }
            any = true;
        }
        Ok(if reader.left.is_some() { Fit::Whole } else { Fit::TooLarge })
    }

    fn resize(&mut self, reader: &mut Reader<'_>) -> Result<(), HpackError> {
        let size = reader.integer(5)?;
        if size > self.limit {
            return Err(HpackError::TableSize);
        }
        self.table.resize(size);
        Ok(())
    }

    fn indexed(&mut self, reader: &mut Reader<'_>, out: &mut Fields) -> Result<(), HpackError> {
        let index = reader.integer(7)?;
        let (name, value) = self.entry(index)?;
        if reader.fits(fields::size(name.len(), value.len())) {
            out.push(name, value);
        }
        Ok(())
    }

    fn literal(
        &mut self,
        reader: &mut Reader<'_>,
        out: &mut Fields,
        prefix: u32,
        enter: bool,
    ) -> Result<(), HpackError> {
        let start = out.text().len();
        let name = match reader.integer(prefix)? {
            0 => reader.string(out.text())?,
            index => {
                let name = self.entry(index)?.0;
                out.text().extend_from_slice(name);
                name.len()
            }
        };
        let value = reader.string(out.text())?;
        let text = &out.text()[start..];
        let (name_text, value_text) = text.split_at(name);
        if enter {
            self.table.insert(name_text, value_text);
        }
        match reader.fits(fields::size(name_text.len(), value_text.len())) {
            true => out.close(start, name, value),
            false => out.text().truncate(start),
        }
        Ok(())
    }

    fn entry(&self, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
        match index.checked_sub(statics::COUNT + 1) {
            Some(dynamic) => self.table.entry(dynamic),
            None => statics::entry(index),
        }
        .ok_or(HpackError::Index)
    }
}

/// Longest name or value on the wire; nghttp2 has the same limit. Huffman code may make it longer by 3/5.
const LONGEST_TEXT: usize = 65_536;

struct Reader<'a> {
    block: &'a [u8],
    at: usize,
    /// Remaining budget; `None` after the list was too large.
    left: Option<usize>,
}

impl Reader<'_> {
    fn integer(&mut self, prefix: u32) -> Result<usize, HpackError> {
        integer::decode(self.block, &mut self.at, prefix)
    }

    fn string(&mut self, out: &mut Vec<u8>) -> Result<usize, HpackError> {
        if integer::decode(self.block, &mut self.at.clone(), 7)? > LONGEST_TEXT {
            return Err(HpackError::TextTooLong);
        }
        integer::decode_text(self.block, &mut self.at, 7, out)
    }

    fn fits(&mut self, size: usize) -> bool {
        self.left = self.left.and_then(|left| left.checked_sub(size));
        self.left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    fn read(decoder: &mut Decoder, hex: &str) -> Vec<String> {
        let mut fields = Fields::default();
        assert_eq!(decoder.decode(&bytes(hex), &mut fields, 65_536), Ok(Fit::Whole));
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        fields.iter().map(|(name, value)| format!("{}: {}", text(name), text(value))).collect()
    }

    /// RFC 7541 C.3 and C.4: three requests on one connection, plain and in the Huffman code.
    #[test]
    fn requests_of_the_rfc() {
        let plain = [
            "828684410f7777772e6578616d706c652e636f6d",
            "828684be58086e6f2d6361636865",
            "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
        ];
        let coded = [
            "828684418cf1e3c2e5f23a6ba0ab90f4ff",
            "828684be5886a8eb10649cbf",
            "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
        ];
        for blocks in [plain, coded] {
            let mut decoder = Decoder::new(4096);
            let mut decoded = blocks.map(|block| read(&mut decoder, block));
            let common = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"];
            assert_eq!(decoded[0], common);
            assert_eq!(decoded[1].pop().unwrap(), "cache-control: no-cache");
            assert_eq!(decoded[1], common);
            assert_eq!(
                decoded[2],
                [
                    ":method: GET",
                    ":scheme: https",
                    ":path: /index.html",
                    common[3],
                    "custom-key: custom-value"
                ]
            );
            assert_eq!(decoder.table.size(), 164);
        }
    }

    /// RFC 7541 C.6: three responses through a table of 256 octets, which evicts entries.
    #[test]
    fn replies_of_the_rfc() {
        let mut decoder = Decoder::new(256);
        let first = read(
            &mut decoder,
            "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
        );
        assert_eq!(first[0], ":status: 302");
        assert_eq!(first[3], "location: https://www.example.com");
        assert_eq!(decoder.table.size(), 222);
        assert_eq!(read(&mut decoder, "4883640effc1c0bf")[0], ":status: 307");
        let third = read(
            &mut decoder,
            "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
        );
        assert_eq!(third[0], ":status: 200");
        assert_eq!(third[4], "content-encoding: gzip");
        assert_eq!(third[5], "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1");
        assert_eq!(decoder.table.size(), 215);
    }

    #[test]
    fn malformed_blocks_are_refused() {
        let mut fields = Fields::default();
        for (hex, wanted) in [
            ("80", HpackError::Index),
            ("be", HpackError::Index),
            ("ffffffffffffffff0f", HpackError::TooLong),
            ("3fe21f", HpackError::TableSize), // 4097
            ("8220", HpackError::TableSize),   // in the middle
            ("41", HpackError::Truncated),
            ("0085", HpackError::Truncated),
            ("008400000000", HpackError::Huffman),
            ("0081ff8100", HpackError::Huffman),
            ("7f", HpackError::Truncated),
        ] {
            assert_eq!(Decoder::new(4096).decode(&bytes(hex), &mut fields, 1000), Err(wanted), "{hex}");
        }
    }

    #[test]
    fn a_bomb_costs_no_memory_and_leaves_the_table_right() {
        let mut decoder = Decoder::new(4096);
        let mut block = vec![0x40, 1, b'a', 0x7f];
        integer::encode(&mut block, 0, 7, 3000); // the prefix is written again below
        block.remove(3);
        block.extend([b'x'; 3000]);
        block.extend([0xbe; 16_000]); // 48 MB of fields in 19 KB
        block.extend([0x40, 1, b'b', 1, b'c']);
        let mut fields = Fields::default();
        assert_eq!(decoder.decode(&block, &mut fields, 20_000), Ok(Fit::TooLarge));
        assert!(fields.text().len() <= 20_000);
        assert_eq!(decoder.decode(&[0xbe], &mut fields, 1000), Ok(Fit::Whole));
        assert_eq!(fields.value(b"b"), Some(&b"c"[..]));
    }
}
