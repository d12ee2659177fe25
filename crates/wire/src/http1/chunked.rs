//! The chunked transfer coding (RFC 9112 §7.1), decoded in place: the body bytes move to the front of
//! the buffer that they were received in, so that one slice can be handed to the application.

use memchr::memchr;

/// Longest trailer section that is accepted. curl 8.22 bounds lines and their number alone, to 20 MB.
const MAX_TRAILERS: usize = 4 * 1024 * 1024;
/// Most trailer lines. curl 8.22 takes 5000 fields, those of the head among them.
const MAX_TRAILER_LINES: usize = 5000;
/// Longest trailer line with its end, as in curl 8.22.
const MAX_TRAILER_LINE: usize = 4095;

/// The result of one call of [`ChunkedDecoder::decode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoded {
    /// Number of body bytes at the front of the buffer.
    pub body: usize,
    /// Number of bytes used; what follows belongs to the next message.
    pub consumed: usize,
}

/// Why a chunked body is not one; the texts are curl's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkError {
    /// A chunk size starts with this octet.
    IllegalHex(u8),
    /// More than sixteen digits.
    TooLongHex,
    /// A chunk is not followed by a line end.
    BadChunk,
    /// A trailer line or a trailer section beyond its bound.
    TooLarge,
    /// More trailer lines than a response may have fields.
    TooManyTrailers,
}

impl ChunkError {
    /// curl's words for it.
    pub fn text(self) -> String {
        match self {
            ChunkError::IllegalHex(byte) => format!("chunk hex-length char not a hex digit: 0x{byte:x}"),
            ChunkError::TooLongHex => "chunk hex-length longer than 16".to_owned(),
            ChunkError::BadChunk => "Malformed encoding found in chunked-encoding".to_owned(),
            ChunkError::TooLarge => "Out of memory in chunked-encoding".to_owned(),
            ChunkError::TooManyTrailers => {
                format!("Too many response headers, {MAX_TRAILER_LINES} is max")
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Size,
    SizeLineRest,
    Data,
    DataEnd,
    TrailerLine,
    Done,
}

/// Decoder of one body. Feed it until [`done`](Self::done).
#[derive(Debug)]
pub struct ChunkedDecoder {
    state: State,
    left: u64,
    digits: u8,
    trailers: Vec<u8>,
    line_start: usize,
    lines: usize,
    ends: Vec<usize>,
}

impl Default for ChunkedDecoder {
    fn default() -> Self {
        ChunkedDecoder {
            state: State::Size,
            left: 0,
            digits: 0,
            trailers: Vec::new(),
            line_start: 0,
            lines: 0,
            ends: Vec::new(),
        }
    }
}

impl ChunkedDecoder {
    /// Whether the last chunk and the trailer section have been read.
    pub fn done(&self) -> bool {
        self.state == State::Done
    }

    /// The trailer lines received, each with its line ending, without the empty last one.
    pub fn trailers(&self) -> &[u8] {
        &self.trailers
    }

    /// Returns the ends of chunks in the body bytes that were decoded last.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Decodes `buf` in place and moves body bytes to its front. Body before a fault is returned first: the
    /// next call, with the unconsumed rest, finds the fault again.
    pub fn decode(&mut self, buf: &mut [u8]) -> Result<Decoded, ChunkError> {
        let (mut at, mut body) = (0, 0);
        self.ends.clear();
        while at < buf.len() && self.state != State::Done {
            if self.state == State::Data {
                let n = usize::try_from(self.left).unwrap_or(usize::MAX).min(buf.len() - at);
                buf.copy_within(at..at + n, body);
                (at, body) = (at + n, body + n);
                self.left -= n as u64;
                if self.left == 0 {
                    self.state = State::DataEnd;
                    self.ends.push(body);
                }
                continue;
            }
            if self.state == State::SizeLineRest {
                at = self.skip_extension(buf, at);
                continue;
            }
            match self.step(buf[at]) {
                Err(_) if body > 0 => break,
                step => step?,
            }
            at += 1;
        }
        Ok(Decoded { body, consumed: at })
    }

    fn step(&mut self, byte: u8) -> Result<(), ChunkError> {
        match self.state {
            State::Size => return self.size_digit(byte),
            // A bare line feed is tolerated, and more than one carriage return, as curl does.
            State::DataEnd if byte == b'\r' => {}
            State::DataEnd if byte == b'\n' => self.begin_size(),
            State::DataEnd => return Err(ChunkError::BadChunk),
            State::TrailerLine => return self.trailer_byte(byte),
            State::SizeLineRest | State::Data | State::Done => unreachable!("handled by decode"),
        }
        Ok(())
    }

    fn begin_size(&mut self) {
        self.state = State::Size;
        (self.left, self.digits) = (0, 0);
    }

    fn size_digit(&mut self, byte: u8) -> Result<(), ChunkError> {
        let Some(digit) = (byte as char).to_digit(16) else {
            if self.digits == 0 {
                return Err(ChunkError::IllegalHex(byte));
            }
            self.state = State::SizeLineRest;
            if byte == b'\n' {
                self.end_size_line();
            }
            return Ok(());
        };
        self.digits += 1;
        if self.digits > 16 || self.left > (i64::MAX as u64) >> 4 {
            return Err(ChunkError::TooLongHex);
        }
        self.left = self.left << 4 | u64::from(digit);
        Ok(())
    }

    /// Skips chunk extensions up to the line feed and returns where to go on. They may be of any length, as
    /// in curl 8.22: nothing of them is kept.
    fn skip_extension(&mut self, buf: &[u8], at: usize) -> usize {
        match memchr(b'\n', &buf[at..]) {
            Some(end) => {
                self.end_size_line();
                at + end + 1
            }
            None => buf.len(),
        }
    }

    fn end_size_line(&mut self) {
        self.state = if self.left == 0 { State::TrailerLine } else { State::Data };
    }

    fn trailer_byte(&mut self, byte: u8) -> Result<(), ChunkError> {
        if self.trailers.len() >= MAX_TRAILERS || self.trailers.len() - self.line_start >= MAX_TRAILER_LINE {
            return Err(ChunkError::TooLarge);
        }
        self.trailers.push(byte);
        if byte == b'\n' {
            if matches!(&self.trailers[self.line_start..], b"\n" | b"\r\n") {
                self.trailers.truncate(self.line_start);
                self.state = State::Done;
            } else if self.lines == MAX_TRAILER_LINES {
                return Err(ChunkError::TooManyTrailers);
            }
            self.lines += 1;
            self.line_start = self.trailers.len();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"5;ext=1\r\nhello\r\n6\n world\r\n0\r\nA: b\r\nC: d\r\n\r\nNEXT";

    #[test]
    fn any_cut_gives_the_same_body() {
        for cut in 0..TEXT.len() {
            let mut d = ChunkedDecoder::default();
            let mut body = Vec::new();
            let mut used = 0;
            for piece in [&TEXT[..cut], &TEXT[cut..]] {
                let mut p = piece.to_vec();
                let r = d.decode(&mut p).unwrap();
                body.extend_from_slice(&p[..r.body]);
                used += r.consumed;
            }
            assert_eq!(body, b"hello world");
            assert!(d.done());
            assert_eq!(d.trailers(), b"A: b\r\nC: d\r\n");
            assert_eq!(used, TEXT.len() - 4);
        }
    }

    #[test]
    fn ends_of_chunks() {
        let mut d = ChunkedDecoder::default();
        d.decode(&mut TEXT[..19].to_vec()).unwrap();
        assert_eq!(d.ends(), [5]);
        d.decode(&mut TEXT[19..].to_vec()).unwrap();
        assert_eq!(d.ends(), [5], "the rest of the second");
        let mut d = ChunkedDecoder::default();
        d.decode(&mut TEXT.to_vec()).unwrap();
        assert_eq!(d.ends(), [5, 11]);
    }

    #[test]
    fn malformed_chunks_are_refused() {
        let decode = |t: &[u8]| ChunkedDecoder::default().decode(&mut t.to_vec());
        assert_eq!(decode(b"xyz\r\n"), Err(ChunkError::IllegalHex(b'x')));
        assert_eq!(decode(b"\r\n"), Err(ChunkError::IllegalHex(b'\r')));
        assert_eq!(decode(b"11111111111111111\r\n"), Err(ChunkError::TooLongHex));
        assert_eq!(decode(b"ffffffffffffffff\r\n"), Err(ChunkError::TooLongHex));
        let mut begun = ChunkedDecoder::default();
        let good = begun.decode(&mut b"1\r\nab\r\n".to_vec());
        assert_eq!(good, Ok(Decoded { body: 1, consumed: 4 }), "what came before the fault");
        assert_eq!(begun.decode(&mut b"b\r\n".to_vec()), Err(ChunkError::BadChunk));
    }

    /// As in curl 8.22, which reads on.
    #[test]
    fn an_extension_may_be_of_any_length() {
        let mut long = b"1;".to_vec();
        long.resize(1 << 20, b'x');
        let mut decoder = ChunkedDecoder::default();
        let read = Decoded { body: 0, consumed: 1 << 20 };
        assert_eq!(decoder.decode(&mut long), Ok(read));
        assert_eq!(decoder.decode(&mut b"xx\r\na\r\n0;y\r\n\r\n".to_vec()).unwrap().body, 1);
        assert!(decoder.done());
    }

    /// curl 8.22 takes 5000 fields of a response in all, and lines of 4095 bytes.
    #[test]
    fn trailers_have_limits() {
        let decode = |lines: usize, line: &str| {
            let mut text = b"0\r\n".to_vec();
            (0..lines).for_each(|_| text.extend_from_slice(line.as_bytes()));
            text.extend_from_slice(b"\r\n");
            ChunkedDecoder::default().decode(&mut text).map(|_| ())
        };
        assert_eq!(decode(5000, "a: b\r\n"), Ok(()));
        assert_eq!(decode(5001, "a: b\r\n"), Err(ChunkError::TooManyTrailers));
        let long = format!("a: {}\r\n", "b".repeat(4000));
        assert_eq!(decode(1000, &long), Ok(()));
        assert_eq!(decode(1100, &long), Err(ChunkError::TooLarge));
    }

    /// curl 8.22 ends with 100 at a trailer line of 4096 bytes.
    #[test]
    fn a_trailer_line_has_a_limit() {
        let decode = |length: usize| {
            let mut text = b"0\r\nA: b\r\nx: ".to_vec();
            text.resize(text.len() + length - 5, b'v');
            text.extend_from_slice(b"\r\n\r\n");
            ChunkedDecoder::default().decode(&mut text).map(|_| ())
        };
        assert_eq!([4095, 4096].map(decode), [Ok(()), Err(ChunkError::TooLarge)]);
    }
}
