//! The Huffman code of header compression (RFC 7541 §5.2, appendix B).
//!
//! The code is canonical, so the lengths of its 257 codes define it. Codes of up to eight bits (letters,
//! digits, most characters of URLs and dates) are decoded by one table lookup of the next eight bits. The few
//! longer ones are found by comparison with the first code of each length.

use super::HpackError;

/// Bits of each symbol's word; the last is the end of a string, which may never appear in one.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];
const LONGEST: usize = 30;
const END: u16 = 256;

/// The code, as it is used in both directions.
struct Code {
    /// Each symbol's word, in its low bits.
    words: [u32; 257],
    /// Symbol and length of the code that starts the next eight bits; length 0 if it is longer.
    short: [(u8, u8); 256],
    /// The symbols in the order of their words.
    order: [u16; 257],
    /// For each length: its first word and the end of its words, both moved to the top of 32 bits, and the
    /// first one's place in `order`.
    first: [u32; LONGEST + 1],
    end: [u32; LONGEST + 1],
    place: [u16; LONGEST + 1],
}

static CODE: Code = build();

const fn build() -> Code {
    let mut code = Code {
        words: [0; 257],
        short: [(0, 0); 256],
        order: [0; 257],
        first: [0; LONGEST + 1],
        end: [0; LONGEST + 1],
        place: [0; LONGEST + 1],
    };
    let (mut word, mut placed, mut length) = (0u32, 0, 1);
    while length <= LONGEST {
        word <<= 1;
        code.first[length] = word << (32 - length);
        code.place[length] = placed as u16;
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] as usize == length {
                code.words[symbol] = word;
                code.order[placed] = symbol as u16;
                fill_short(&mut code.short, symbol, word, length);
                word += 1;
                placed += 1;
            }
            symbol += 1;
        }
        // The codes of the last length fill the code space: their end does not fit into 32 bits.
        code.end[length] = if length == LONGEST { u32::MAX } else { word << (32 - length) };
        length += 1;
    }
    code
}

const fn fill_short(short: &mut [(u8, u8); 256], symbol: usize, word: u32, length: usize) {
    if length > 8 {
        return;
    }
    let from = (word as usize) << (8 - length);
    let mut next = from;
    while next < from + (1 << (8 - length)) {
        short[next] = (symbol as u8, length as u8);
        next += 1;
    }
}

/// Decodes `text` and appends it to `out`. Padding is at most seven bits, all ones (RFC 7541 §5.2).
pub fn decode(text: &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    let start = out.len();
    // The shortest code has five bits.
    out.resize(start + text.len() * 8 / 5, 0);
    let decoded = decode_into(text, &mut out[start..]);
    out.truncate(start + decoded.unwrap_or_default());
    decoded.map(drop)
}

/// Decodes `text` into a buffer that has room for it, and returns the length.
fn decode_into(text: &[u8], buf: &mut [u8]) -> Result<usize, HpackError> {
    let mut free = buf.iter_mut();
    let mut bits = Bits { top: u64::MAX, have: 0, rest: text };
    loop {
        if bits.have < LONGEST as u32 {
            bits.fill();
        }
        let (symbol, length) = match CODE.short[(bits.top >> 56) as usize] {
            (_, 0) => long((bits.top >> 32) as u32),
            (symbol, length) => (u16::from(symbol), u32::from(length)),
        };
        if length > bits.have {
            break;
        }
        let (Some(place), true) = (free.next(), symbol != END) else { return Err(HpackError::Huffman) };
        *place = symbol as u8;
        bits.skip(length);
    }
    let padding_is_ones = bits.top == u64::MAX;
    let left = free.len();
    if bits.have < 8 && padding_is_ones { Ok(buf.len() - left) } else { Err(HpackError::Huffman) }
}

/// The bits of a text, from the first on.
struct Bits<'a> {
    /// The next bits from the top down: `have` of them are real, the rest are ones, like padding.
    top: u64,
    have: u32,
    rest: &'a [u8],
}

impl Bits<'_> {
    /// Takes as many whole bytes as fit.
    fn fill(&mut self) {
        if let Some(eight) = self.rest.first_chunk() {
            let bytes = (64 - self.have) / 8;
            let filled = self.have + bytes * 8;
            let beyond = u64::MAX.checked_shr(filled).unwrap_or(0);
            self.top &= u64::from_be_bytes(*eight) >> self.have | !(u64::MAX >> self.have) | beyond;
            self.rest = &self.rest[bytes as usize..];
            self.have = filled;
            return;
        }
        while self.have <= 56
            && let Some((byte, rest)) = self.rest.split_first()
        {
            self.top ^= u64::from(!byte) << (56 - self.have);
            self.have += 8;
            self.rest = rest;
        }
    }

    fn skip(&mut self, length: u32) {
        self.top = self.top << length | ((1 << length) - 1);
        self.have -= length;
    }
}

/// Symbol and length of a word longer than eight bits.
fn long(bits: u32) -> (u16, u32) {
    let mut length = 9;
    while length < LONGEST && bits >= CODE.end[length] {
        length += 1;
    }
    let offset = (bits - CODE.first[length]) >> (32 - length);
    (CODE.order[CODE.place[length] as usize + offset as usize], length as u32)
}

/// How many bytes `text` takes in the code.
pub fn encoded_len(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|byte| LENGTHS[*byte as usize] as usize).sum();
    bits.div_ceil(8)
}

/// Appends `text` in the code.
pub fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut bits, mut have) = (0u64, 0u32);
    for byte in text {
        let length = u32::from(LENGTHS[*byte as usize]);
        bits = bits << length | u64::from(CODE.words[*byte as usize]);
        have += length;
        while have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    if have > 0 {
        out.push((bits << (8 - have)) as u8 | (0xff >> have));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &[u8]) -> Result<Vec<u8>, HpackError> {
        let mut out = Vec::new();
        decode(text, &mut out).map(|()| out)
    }

    /// RFC 7541 C.4 and C.6.
    #[test]
    fn strings_of_the_rfc() {
        for (text, coded) in [
            ("www.example.com", "f1e3c2e5f23a6ba0ab90f4ff"),
            ("no-cache", "a8eb10649cbf"),
            ("custom-value", "25a849e95bb8e8b4bf"),
            ("302", "6402"),
            ("private", "aec3771a4b"),
            ("Mon, 21 Oct 2013 20:13:21 GMT", "d07abe941054d444a8200595040b8166e082a62d1bff"),
            (
                "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
                "94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
            ),
        ] {
            let mut out = Vec::new();
            encode(text.as_bytes(), &mut out);
            let wanted: Vec<u8> = (0..coded.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&coded[at..at + 2], 16).unwrap())
                .collect();
            assert_eq!(out, wanted, "{text}");
            assert_eq!(encoded_len(text.as_bytes()), wanted.len());
            assert_eq!(decoded(&wanted).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn every_byte_comes_back_at_every_offset() {
        for byte in 0..=255u8 {
            for before in 0..9 {
                let mut text = vec![b'0'; before];
                text.extend([byte, b'a', byte]);
                let mut out = Vec::new();
                encode(&text, &mut out);
                assert_eq!(decoded(&out).unwrap(), text);
            }
        }
    }

    #[test]
    fn padding_is_short_and_ones_and_the_end_never_appears() {
        assert_eq!(decoded(&[0b0000_0111]).unwrap(), b"0");
        assert_eq!(decoded(&[0b0000_0110]), Err(HpackError::Huffman), "padding with a zero");
        assert_eq!(decoded(&[0b0000_0111, 0xff]), Err(HpackError::Huffman), "more than seven bits");
        assert_eq!(decoded(&[0xff; 4]), Err(HpackError::Huffman), "the end itself");
        assert_eq!(decoded(&[0xff; 1]), Err(HpackError::Huffman));
        assert_eq!(decoded(&[]).unwrap(), b"");
        assert_eq!(decoded(&[0xff; 40]), Err(HpackError::Huffman));
    }
}
