//! Content transfer encodings (RFC 2045 section 6), as streams.

/// Longest encoded line (RFC 2045 sections 6.7 and 6.8).
const LINE: usize = 76;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoder {
    Binary,
    EightBit,
    SevenBit,
    Base64,
    QuotedPrintable,
}

/// A byte above 127 was to be sent as 7bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSevenBit;

impl Encoder {
    /// Finds an encoder by the name that the header carries, ignoring case.
    pub fn from_name(name: &[u8]) -> Option<Encoder> {
        use Encoder::*;
        let all = [Binary, EightBit, SevenBit, Base64, QuotedPrintable];
        all.into_iter().find(|encoder| name.eq_ignore_ascii_case(encoder.name().as_bytes()))
    }

    pub fn name(self) -> &'static str {
        match self {
            Encoder::Binary => "binary",
            Encoder::EightBit => "8bit",
            Encoder::SevenBit => "7bit",
            Encoder::Base64 => "base64",
            Encoder::QuotedPrintable => "quoted-printable",
        }
    }

    /// Returns the encoded size of `size` bytes, if it can be computed.
    pub fn encoded_size(self, size: u64) -> Option<u64> {
        match self {
            Encoder::Binary | Encoder::EightBit | Encoder::SevenBit => Some(size),
            Encoder::Base64 => {
                let digits = size.div_ceil(3).checked_mul(4)?;
                digits.checked_add(digits.saturating_sub(1) / LINE as u64 * 2)
            }
            Encoder::QuotedPrintable => (size == 0).then_some(0),
        }
    }
}

/// An encoding under way.
pub struct Encoding {
    encoder: Encoder,
    /// Bytes that wait for others to be encoded with.
    held: Vec<u8>,
    column: usize,
}

impl Encoding {
    pub fn new(encoder: Encoder) -> Encoding {
        Encoding { encoder, held: Vec::new(), column: 0 }
    }

    /// Encodes what can be encoded without knowing what follows.
    pub fn push(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), NotSevenBit> {
        match self.encoder {
            Encoder::Binary | Encoder::EightBit => out.extend_from_slice(input),
            Encoder::SevenBit if !input.is_ascii() => return Err(NotSevenBit),
            Encoder::SevenBit => out.extend_from_slice(input),
            Encoder::Base64 => {
                self.held.extend_from_slice(input);
                let whole = self.held.len() / 3 * 3;
                self.base64(whole, out);
            }
            Encoder::QuotedPrintable => {
                self.held.extend_from_slice(input);
                self.quoted_printable(2, out);
            }
        }
        Ok(())
    }

    /// Encodes the rest.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        match self.encoder {
            Encoder::Base64 => self.base64(self.held.len(), out),
            Encoder::QuotedPrintable => self.quoted_printable(0, out),
            _ => {}
        }
    }

    fn base64(&mut self, count: usize, out: &mut Vec<u8>) {
        for group in self.held[..count].chunks(3) {
            if self.column >= LINE {
                out.extend_from_slice(b"\r\n");
                self.column = 0;
            }
            out.extend_from_slice(crate::base64::encode(group).as_bytes());
            self.column += 4;
        }
        self.held.drain(..count);
    }

    /// `ahead`: how many bytes must stay buffered. Only the following bytes show whether a blank ends its
    /// line and whether a character is the last of its line.
    fn quoted_printable(&mut self, ahead: usize, out: &mut Vec<u8>) {
        let mut at = 0;
        while at < self.held.len() {
            let byte = self.held[at];
            let fits_anyway = byte != b'\r' && byte != b' ' && byte != b'\t' && self.column + 3 < LINE;
            if self.held.len() - at <= ahead && !fits_anyway {
                break;
            }
            let after = &self.held[at + 1..];
            let line_ends = after.is_empty() || after.starts_with(b"\r\n");
            if byte == b'\r' && after.first() == Some(&b'\n') {
                out.extend_from_slice(b"\r\n");
                self.column = 0;
                at += 2;
                continue;
            }
            let plain = match byte {
                b' ' | b'\t' => !line_ends,
                b'=' => false,
                _ => byte.is_ascii_graphic(),
            };
            let width = if plain { 1 } else { 3 };
            // The last character of a line may take the place that a soft break would need.
            let room = if line_ends { LINE } else { LINE - 1 };
            if self.column + width > room {
                out.extend_from_slice(b"=\r\n");
                self.column = 0;
            }
            if plain {
                out.push(byte);
            } else {
                out.extend_from_slice(format!("={byte:02X}").as_bytes());
            }
            self.column += width;
            at += 1;
        }
        self.held.drain(..at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes at once and byte by byte, and compares.
    fn encoded(encoder: Encoder, input: &[u8]) -> String {
        let mut whole = Vec::new();
        let mut encoding = Encoding::new(encoder);
        encoding.push(input, &mut whole).unwrap();
        encoding.finish(&mut whole);
        let mut bytewise = Vec::new();
        let mut encoding = Encoding::new(encoder);
        for byte in input {
            encoding.push(&[*byte], &mut bytewise).unwrap();
        }
        encoding.finish(&mut bytewise);
        assert_eq!(whole, bytewise);
        if let Some(size) = encoder.encoded_size(input.len() as u64) {
            assert_eq!(size, whole.len() as u64);
        }
        String::from_utf8(whole).unwrap()
    }

    #[test]
    fn base64_breaks_lines() {
        for len in [0, 1, 2, 3, 56, 57, 58, 114, 115] {
            let text = encoded(Encoder::Base64, &vec![b'a'; len]);
            assert!(text.split("\r\n").all(|line| line.len() <= 76), "{len}");
        }
        assert_eq!(encoded(Encoder::Base64, b"ab"), "YWI=");
    }

    #[test]
    fn quoted_printable_keeps_lines_and_hides_trailing_blanks() {
        assert_eq!(encoded(Encoder::QuotedPrintable, b"a=b \r\n\xe9\n "), "a=3Db=20\r\n=E9=0A=20");
        let long = encoded(Encoder::QuotedPrintable, &[b'x'; 200]);
        assert!(long.split("\r\n").all(|line| line.len() <= 76));
        assert_eq!(encoded(Encoder::QuotedPrintable, &[b'x'; 76]), "x".repeat(76));
    }

    #[test]
    fn seven_bit_refuses_more() {
        assert_eq!(Encoding::new(Encoder::SevenBit).push(b"\xe9", &mut Vec::new()), Err(NotSevenBit));
    }
}
