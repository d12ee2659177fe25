//! Field sections of QPACK (RFC 9204 §4.5) that refer only to the static table, and the instructions that a
//! peer may still send.

use crate::h2::{Fields, Fit, HpackError, field_size, integer};

use super::error::{ErrorCode, Failure};
use super::statics;

/// Starts a section: no entry of a dynamic table is required (§4.5.1).
pub fn begin(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0]);
}

/// Adds a field to it; its name is in lower case. A sensitive one must not enter a table anywhere on its way
/// (§7.1.3).
pub fn field(out: &mut Vec<u8>, name: &[u8], value: &[u8], sensitive: bool) {
    let never = if sensitive { 0x20 } else { 0 };
    match statics::find(name, value) {
        Some((index, true)) if !sensitive => return integer::encode(out, 0xc0, 6, index),
        Some((index, _)) => integer::encode(out, 0x50 | never, 4, index),
        None => integer::encode_text(out, 0x20 | never >> 1, 3, name),
    }
    integer::encode_text(out, 0, 7, value);
}

/// Decodes a whole section into `out`, keeping fields up to a list size of `budget`.
pub fn decode(section: &[u8], out: &mut Fields, budget: usize) -> Result<Fit, Failure> {
    let broken = |error: HpackError| Failure::connection(ErrorCode::QPACK_DECOMPRESSION_FAILED, error.text());
    out.clear();
    let mut at = 0;
    let required = integer::decode(section, &mut at, 8).map_err(broken)?;
    integer::decode(section, &mut at, 7).map_err(broken)?; // the base, which is unused
    if required != 0 {
        return Err(dynamic());
    }
    let mut size = 0usize;
    while at < section.len() {
        let start = out.text().len();
        let (name, value) = line(section, &mut at, out.text()).map_err(|e| e.map_or_else(dynamic, broken))?;
        size = size.saturating_add(field_size(name, value));
        match size <= budget {
            true => out.close(start, name, value),
            false => out.text().truncate(start),
        }
    }
    Ok(if size <= budget { Fit::Whole } else { Fit::TooLarge })
}

/// Appends the text of a field to the others; returns the lengths of name and value. `Err(None)` is a
/// reference to a dynamic entry.
fn line(section: &[u8], at: &mut usize, text: &mut Vec<u8>) -> Result<(usize, usize), Option<HpackError>> {
    let first = section[*at];
    let named = |index: usize| statics::entry(index).ok_or(Some(HpackError::Index));
    match first {
        // Indexed, in the static table (§4.5.2).
        0xc0.. => {
            let (name, value) = named(integer::decode(section, at, 6)?)?;
            text.extend_from_slice(name);
            text.extend_from_slice(value);
            Ok((name.len(), value.len()))
        }
        // A literal with the name of a static entry (§4.5.4).
        0x40..0x80 if first & 0x10 != 0 => {
            let (name, _) = named(integer::decode(section, at, 4)?)?;
            text.extend_from_slice(name);
            Ok((name.len(), integer::decode_text(section, at, 7, text)?))
        }
        // A literal with its own name (§4.5.6).
        0x20..0x40 => {
            let name = integer::decode_text(section, at, 3, text)?;
            Ok((name, integer::decode_text(section, at, 7, text)?))
        }
        _ => Err(None),
    }
}

fn dynamic() -> Failure {
    Failure::connection(ErrorCode::QPACK_DECOMPRESSION_FAILED, "reference to a table that has no room")
}

/// Parses the peer's encoder stream: it may only set the table's capacity to zero, which is known (§4.3.1).
pub fn encoder_instructions(bytes: &[u8]) -> Result<(), Failure> {
    const NO_ROOM: u8 = 0x20;
    match bytes.iter().all(|byte| *byte == NO_ROOM) {
        true => Ok(()),
        false => {
            Err(Failure::connection(ErrorCode::QPACK_ENCODER_STREAM_ERROR, "entry for a table without room"))
        }
    }
}

/// Parses the peer's decoder stream: cancelled streams (§4.4.2). No other instruction can refer to our
/// sections.
#[derive(Debug, Default)]
pub struct DecoderInstructions {
    /// Within an integer, so many bytes of it have come.
    within: u8,
}

impl DecoderInstructions {
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let fault = |why| Failure::connection(ErrorCode::QPACK_DECODER_STREAM_ERROR, why);
        for byte in bytes {
            match self.within {
                0 if byte & 0xc0 != 0x40 => return Err(fault("word of an entry that was never sent")),
                0 => self.within = u8::from(byte & 0x3f == 0x3f),
                9.. => return Err(fault("integer too large")),
                _ => self.within = if byte & 0x80 == 0 { 0 } else { self.within + 1 },
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(fields: &[(&str, &str, bool)]) -> Vec<u8> {
        let mut out = Vec::new();
        begin(&mut out);
        fields
            .iter()
            .for_each(|(name, value, secret)| field(&mut out, name.as_bytes(), value.as_bytes(), *secret));
        out
    }

    #[test]
    fn an_encoded_field_section_decodes_to_its_source() {
        let list = [
            (":method", "GET", false),
            (":path", "/index.html?x=1", false),
            (":status", "201", false),
            ("authorization", "Basic eDp5", true),
            (":path", "/", true),
            ("x-own-and-long-name", "", false),
            ("x-secret", "y", true),
        ];
        let bytes = section(&list);
        let mut fields = Fields::default();
        assert_eq!(decode(&bytes, &mut fields, 4096), Ok(Fit::Whole));
        let read: Vec<_> = fields.iter().collect();
        let written: Vec<_> =
            list.iter().map(|(name, value, _)| (name.as_bytes(), value.as_bytes())).collect();
        assert_eq!(read, written);
    }

    /// RFC 9204 appendix B.1.
    #[test]
    fn the_section_of_the_rfc() {
        let bytes = b"\x00\x00\x51\x0b/index.html";
        let mut fields = Fields::default();
        assert_eq!(decode(bytes, &mut fields, 4096), Ok(Fit::Whole));
        assert_eq!(fields.at(0), Some((&b":path"[..], &b"/index.html"[..])));
    }

    #[test]
    fn secrets_are_marked() {
        assert_eq!(section(&[("authorization", "", true)])[2], 0x7f, "the name's index, never entered");
        assert_eq!(section(&[("x", "y", true)])[2] & 0xf0, 0x30);
        assert_eq!(section(&[("x", "y", false)])[2] & 0xf0, 0x20);
    }

    #[test]
    fn a_list_beyond_its_budget_is_cut() {
        let bytes = section(&[("a", "1", false), ("b", "2", false)]);
        let mut fields = Fields::default();
        assert_eq!(decode(&bytes, &mut fields, 40), Ok(Fit::TooLarge));
        assert_eq!(fields.len(), 1);
    }

    #[test]
    fn references_to_the_dynamic_table_are_refused() {
        for bytes in [
            &[2, 0, 0x80][..],
            &[0, 0, 0x80],
            &[0, 0, 0x10],
            &[0, 0, 0x40, 0],
            &[0, 0, 0x00, 0],
            &[0, 0, 0xff, 0x40],
            &[0],
            &[0, 0, 0x51, 5, b'x'],
        ] {
            let code = decode(bytes, &mut Fields::default(), 4096).map_err(|e| e.code);
            assert_eq!(code, Err(ErrorCode::QPACK_DECOMPRESSION_FAILED), "{bytes:?}");
        }
    }

    #[test]
    fn instructions_about_entries_are_faults() {
        assert!(encoder_instructions(&[0x20, 0x20]).is_ok());
        assert!(encoder_instructions(&[0x3f, 0]).is_err());
        let mut decoder = DecoderInstructions::default();
        assert!(decoder.take(&[0x44, 0x7f, 0x80]).is_ok());
        assert!(decoder.take(&[0x01, 0x41]).is_ok());
        assert!(decoder.take(&[0x81]).is_err(), "an acknowledgement");
        assert!(DecoderInstructions::default().take(&[0x01]).is_err(), "an increment");
        assert!(DecoderInstructions::default().take(&[[0x7f].as_slice(), &[0xff; 12]].concat()).is_err());
    }
}
