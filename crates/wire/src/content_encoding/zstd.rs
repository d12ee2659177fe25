//! Zstandard (RFC 8878) with the window limit of RFC 9659. The crate ruzstd decodes whole blocks; this module
//! finds the boundaries of frames and blocks, to pass it one at a time.
//!
//! The decoder outputs what has left the window, so up to a window's size of an unfinished frame is held
//! back.

use std::io::Read;

use ruzstd::decoding::{self, BlockDecodingStrategy, FrameDecoder};

use super::dictionary::Dictionary;
use super::{Error, Progress};

pub(super) struct Zstd {
    decoder: FrameDecoder,
    state: State,
    /// An incomplete header or block.
    held: Vec<u8>,
    has_checksum: bool,
    /// Length of the content by the head of the frame, and the length that has arrived.
    announced: Option<u64>,
    made: u64,
    /// A block has been decoded, and the decoder may have more output.
    is_full: bool,
    window_limit: u64,
    has_dictionary: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    FrameHeader,
    Block,
    /// So many octets of a skippable frame are still to come.
    Skip(usize),
}

const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
const SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];
/// RFC 9659 section 3.
const WINDOW_LIMIT: u64 = 8 * 1024 * 1024;
const BLOCK_LIMIT: usize = 128 * 1024;
const BLOCK_HEADER: usize = 3;
const CHECKSUM: usize = 4;
const DICTIONARY_ID: u32 = 1;
/// A dictionary without content (RFC 8878 section 5): magic number, id, a code of two literals of one bit
/// each, three tables with one symbol, repeated offsets. ruzstd makes a dictionary only of such bytes.
const EMPTY_DICTIONARY: [u8; 28] = [
    0x37, 0xa4, 0x30, 0xec, 1, 0, 0, 0, 128, 0x10, 0xf0, 3, 0xf0, 3, 0xf0, 3, 1, 0, 0, 0, 4, 0, 0, 0, 8, 0,
    0, 0,
];

impl Zstd {
    pub fn new() -> Zstd {
        Zstd {
            decoder: FrameDecoder::new(),
            state: State::FrameHeader,
            held: Vec::new(),
            has_checksum: false,
            announced: None,
            made: 0,
            is_full: false,
            window_limit: WINDOW_LIMIT,
            has_dictionary: false,
        }
    }

    /// Returns a decoder for data that was compressed with a raw dictionary.
    pub fn with_dictionary(dictionary: &Dictionary) -> Zstd {
        let mut raw =
            decoding::Dictionary::decode_dict(&EMPTY_DICTIONARY).expect("the constant is well-formed");
        raw.dict_content = dictionary.bytes.clone();
        let window_limit = dictionary.window_limit(WINDOW_LIMIT);
        let mut zstd = Zstd { window_limit, has_dictionary: true, ..Zstd::new() };
        zstd.decoder.add_dict(raw).expect("adding a dictionary does not fail");
        zstd
    }

    pub fn may_end(&self) -> bool {
        self.state == State::FrameHeader && self.held.is_empty()
    }

    pub fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, Error> {
        let mut rest = input;
        loop {
            if self.is_full {
                let made = self.decoder.read(output).map_err(|_| Error::Corrupt)?;
                self.made += made as u64;
                if self.announced.is_some_and(|announced| self.made > announced) {
                    return Err(Error::Corrupt);
                }
                if made > 0 {
                    return Ok(Progress { used: input.len() - rest.len(), made });
                }
                self.end_block()?;
            }
            if let State::Skip(left) = self.state {
                let skipped = left.min(rest.len());
                rest = &rest[skipped..];
                self.state = if left == skipped { State::FrameHeader } else { State::Skip(left - skipped) };
            }
            // At most one unit is buffered; `wanted` is the length at which it can be examined again.
            let wanted = self.wanted()?;
            if self.held.len() == wanted {
                self.take_unit()?;
                continue;
            }
            if rest.is_empty() {
                return Ok(Progress { used: input.len(), made: 0 });
            }
            let (taken, left) = rest.split_at(rest.len().min(wanted - self.held.len()));
            self.held.extend_from_slice(taken);
            rest = left;
        }
    }

    /// All that could be read of a block has been; the last one of a frame ends it.
    fn end_block(&mut self) -> Result<(), Error> {
        self.is_full = false;
        if self.decoder.is_finished() {
            let declared = self.decoder.get_checksum_from_data();
            let is_wrong = declared.is_some() && declared != self.decoder.get_calculated_checksum();
            if is_wrong || self.announced.is_some_and(|announced| self.made != announced) {
                return Err(Error::Corrupt);
            }
            self.state = State::FrameHeader;
        }
        Ok(())
    }

    /// The length of the unit that is held, as far as is known yet.
    fn wanted(&self) -> Result<usize, Error> {
        match self.state {
            State::Skip(_) => Ok(usize::MAX),
            State::FrameHeader => Ok(frame_header(&self.held, self.window_limit)?.length),
            State::Block => {
                let &[a, b, c, ..] = self.held.as_slice() else { return Ok(BLOCK_HEADER) };
                let header = u32::from_le_bytes([a, b, c, 0]);
                let (is_last, kind, size) = (header & 1 == 1, header >> 1 & 3, (header >> 3) as usize);
                if size > BLOCK_LIMIT || kind == 3 {
                    return Err(Error::Corrupt);
                }
                let content = if kind == 1 { 1 } else { size };
                let checksum = if is_last && self.has_checksum { CHECKSUM } else { 0 };
                Ok(BLOCK_HEADER + content + checksum)
            }
        }
    }

    fn take_unit(&mut self) -> Result<(), Error> {
        if self.state == State::FrameHeader {
            let header = frame_header(&self.held, self.window_limit)?;
            self.state = match header.skips {
                Some(length) => State::Skip(length),
                None => {
                    self.decoder.reset(self.held.as_slice()).map_err(|_| Error::Corrupt)?;
                    if self.has_dictionary {
                        self.decoder.force_dict(DICTIONARY_ID).map_err(|_| Error::Corrupt)?;
                    }
                    self.has_checksum = header.has_checksum;
                    (self.announced, self.made) = (header.content, 0);
                    State::Block
                }
            };
            self.held.clear();
            return Ok(());
        }
        let decoded = self.decoder.decode_blocks(self.held.as_slice(), BlockDecodingStrategy::UptoBlocks(1));
        decoded.map_err(|_| Error::Corrupt)?;
        self.held.clear();
        self.is_full = true;
        Ok(())
    }
}

struct FrameHeader {
    /// How many octets must be held before more can be said; the whole header if so many are.
    length: usize,
    has_checksum: bool,
    /// How long the content is when all is decoded, where that is said.
    content: Option<u64>,
    /// The content of a skippable frame that follows.
    skips: Option<usize>,
}

/// RFC 8878 section 3.1.
fn frame_header(held: &[u8], window_limit: u64) -> Result<FrameHeader, Error> {
    let needs = |length| FrameHeader { length, has_checksum: false, content: None, skips: None };
    let Some((magic, rest)) = held.split_first_chunk::<4>() else {
        return Ok(needs(MAGIC.len()));
    };
    if magic[0] & 0xf0 == 0x50 && magic[1..] == SKIPPABLE {
        let Some(size) = rest.first_chunk::<4>() else { return Ok(needs(8)) };
        return Ok(FrameHeader { skips: Some(u32::from_le_bytes(*size) as usize), ..needs(8) });
    }
    if *magic != MAGIC {
        return Err(Error::Corrupt);
    }
    let Some(&descriptor) = rest.first() else { return Ok(needs(5)) };
    let is_single_segment = descriptor & 0x20 != 0;
    let window_length = usize::from(!is_single_segment);
    let dictionary_length = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_length = match descriptor >> 6 {
        0 => usize::from(is_single_segment),
        flag => 1 << flag,
    };
    if descriptor & 0x08 != 0 {
        return Err(Error::Corrupt); // reserved bit
    }
    let length = 5 + window_length + dictionary_length + size_length;
    let mut content = None;
    if held.len() >= length {
        let fields = &rest[1..];
        if size_length > 0 {
            let size = &fields[window_length + dictionary_length..][..size_length];
            let size = size.iter().rev().fold(0u64, |sum, &octet| (sum << 8) | u64::from(octet));
            content = size.checked_add(if size_length == 2 { 256 } else { 0 });
        }
        let window = match content.filter(|_| is_single_segment) {
            Some(size) => size,
            None => {
                let base = 1u64 << (10 + (fields[0] >> 3));
                base + base / 8 * u64::from(fields[0] & 7)
            }
        };
        if window > window_limit {
            return Err(Error::TooLarge);
        }
    }
    Ok(FrameHeader { length, has_checksum: descriptor & 4 != 0, content, skips: None })
}
