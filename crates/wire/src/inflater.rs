//! Inflating (RFC 1951, and RFC 1950 around it), by the crate miniz_oxide.
//!
//! The crate flate2 is not used: its window starts with zeros, and it accepts references to them. Data with a
//! reference before its beginning is corrupt (RFC 1951, section 3.2.3), and zlib refuses it. Here the window
//! does not wrap until it has been full once; from then on no reference can reach beyond it.

use std::fmt;

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

const WINDOW: usize = 32 * 1024;

/// A stream that is inflated.
pub struct Inflater {
    state: Box<DecompressorOxide>,
    window: Box<[u8]>,
    /// Where the window is written next, and from where on it has not been handed out.
    written: usize,
    given: usize,
    wraps: bool,
    is_zlib: bool,
    status: TINFLStatus,
}

/// The result of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub used: usize,
    pub made: usize,
    /// The stream has ended, and all of it has been handed out.
    pub ended: bool,
}

/// The data is not valid deflate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

impl Inflater {
    /// Returns an inflater for a raw stream. The function is not inlined, because it builds the state on the
    /// stack, and the caller's frame should not reserve that room.
    #[inline(never)]
    pub fn raw() -> Inflater {
        Inflater {
            state: Box::default(),
            window: vec![0; WINDOW].into(),
            written: 0,
            given: 0,
            wraps: false,
            is_zlib: false,
            status: TINFLStatus::NeedsMoreInput,
        }
    }

    /// Creates an inflater for data with zlib's header and checksum (RFC 1950).
    pub fn zlib() -> Inflater {
        Inflater { is_zlib: true, ..Inflater::raw() }
    }

    /// Starts another stream, which may refer to this one.
    pub fn go_on(&mut self) {
        self.state.init();
        self.status = TINFLStatus::NeedsMoreInput;
    }

    /// Fills `output` as far as `input` and the buffered rest allow. Output before a fault is returned; the
    /// next step reports the fault.
    pub fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt> {
        let (mut used, mut made) = (0, 0);
        loop {
            let ready = &self.window[self.given..self.written];
            let taken = ready.len().min(output.len() - made);
            output[made..made + taken].copy_from_slice(&ready[..taken]);
            (self.given, made) = (self.given + taken, made + taken);
            let is_empty = self.given == self.written;
            match self.status {
                TINFLStatus::Done if is_empty => return Ok(Step { used, made, ended: true }),
                status if is_empty && made == 0 && is_fault(status) => return Err(Corrupt),
                TINFLStatus::HasMoreOutput if is_empty && made < output.len() => {}
                TINFLStatus::NeedsMoreInput if is_empty && made < output.len() && used < input.len() => {}
                _ => return Ok(Step { used, made, ended: false }),
            }
            used += self.fill(&input[used..]);
        }
    }

    /// Makes as much as the window has room for, all of which has been handed out; returns how much of the
    /// input that took.
    fn fill(&mut self, input: &[u8]) -> usize {
        if self.written == WINDOW {
            (self.written, self.given, self.wraps) = (0, 0, true);
        }
        let mut flags = inflate_flags::TINFL_FLAG_HAS_MORE_INPUT;
        flags |= match self.is_zlib {
            true => inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER | inflate_flags::TINFL_FLAG_COMPUTE_ADLER32,
            false => inflate_flags::TINFL_FLAG_IGNORE_ADLER32,
        };
        if !self.wraps {
            flags |= inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        }
        let (status, used, made) = decompress(&mut self.state, input, &mut self.window, self.written, flags);
        self.written += made;
        self.status = status;
        used
    }
}

fn is_fault(status: TINFLStatus) -> bool {
    (status as i32) < 0
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflater").field("status", &self.status).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    fn inflate(mut input: &[u8], piece: usize, room: usize) -> Result<Vec<u8>, Corrupt> {
        let (mut inflater, mut all) = (Inflater::raw(), Vec::new());
        loop {
            let mut output = vec![0; room];
            let step = inflater.step(&input[..input.len().min(piece)], &mut output)?;
            all.extend_from_slice(&output[..step.made]);
            input = &input[step.used..];
            if step.ended {
                return Ok(all);
            }
            assert!(step.used + step.made > 0, "{} are left", input.len());
        }
    }

    #[test]
    fn references_reach_the_whole_window() {
        // Nothing repeats within a window, and everything repeats after it.
        let noise = |at: u32| (at.wrapping_mul(2_654_435_761) >> 13) as u8;
        let plain: Vec<u8> = (0..200_000).map(|at: u32| noise(at % 32_768)).collect();
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&plain).unwrap();
        let coded = encoder.finish().unwrap();
        for (piece, room) in [(1, 16_384), (usize::MAX, 16_384), (1000, 7), (usize::MAX, 200_001)] {
            assert!(inflate(&coded, piece, room).as_ref() == Ok(&plain), "{piece} {room}");
        }
    }

    #[test]
    fn references_before_the_first_octet_are_refused() {
        // One literal, then three octets from before the beginning; and with a distance that reaches the
        // literal.
        assert_eq!(inflate(b"\x92\x03\x92\x03", 1, 100), Err(Corrupt));
        assert_eq!(inflate(b"\x4b\x04\x02\x00", usize::MAX, 100), Ok(b"aaaa".to_vec()));
    }
}
