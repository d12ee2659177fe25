//! Dictionaries of the content codings `dcb` and `dcz` (RFC 9842 sections 4 and 5): a header with the SHA-256
//! of the dictionary, and behind it Brotli or Zstandard.

use std::rc::Rc;

use sha2::{Digest, Sha256};

/// Names of the codings, for Accept-Encoding.
pub const WITH_DICTIONARY: &str = "dcb, dcz";

/// The header of `dcb`, without the hash.
const BROTLI_MAGIC: &[u8] = b"\xffDCB";
/// The header of `dcz`, without the hash: a skippable frame of 32 octets.
const ZSTD_MAGIC: &[u8] = &[0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0];

/// The largest window of `dcz` with any dictionary.
const LARGEST_WINDOW: u64 = 128 * 1024 * 1024;

/// The bytes of a dictionary, and their SHA-256.
pub struct Dictionary {
    pub bytes: Vec<u8>,
    pub sum: [u8; 32],
}

impl Dictionary {
    pub fn new(bytes: Vec<u8>) -> Dictionary {
        let sum = Sha256::digest(&bytes).into();
        Dictionary { bytes, sum }
    }

    /// Returns the header of data that was compressed with this dictionary; it is empty for a coding without
    /// a dictionary.
    pub fn header(&self, coding: &str) -> Vec<u8> {
        let is = |known: &str| coding.eq_ignore_ascii_case(known);
        match () {
            () if is("dcb") => [BROTLI_MAGIC, &self.sum].concat(),
            () if is("dcz") => [ZSTD_MAGIC, &self.sum].concat(),
            () => Vec::new(),
        }
    }

    /// Returns the largest window of `dcz` with this dictionary, given the one without (section 5).
    pub(super) fn window_limit(&self, without: u64) -> u64 {
        window_limit(self.bytes.len() as u64, without)
    }
}

pub(super) fn window_limit(dictionary: u64, without: u64) -> u64 {
    (dictionary + dictionary / 4).clamp(without, LARGEST_WINDOW)
}

/// The header before compressed data, as far as it has come.
pub(super) struct Header {
    expected: Vec<u8>,
    /// The length of the hash at its end.
    sum: usize,
    taken: usize,
    /// Whether anything follows it.
    is_followed: bool,
}

/// A header that is not the expected one.
pub(super) enum HeaderFault {
    NoHeader,
    OtherDictionary,
}

impl Header {
    pub fn new(coding: &str, dictionary: &Rc<Dictionary>) -> Header {
        let (expected, sum) = (dictionary.header(coding), dictionary.sum.len());
        Header { expected, sum, taken: 0, is_followed: false }
    }

    /// Compares octets with the header, and returns how many belong to it.
    pub fn take(&mut self, input: &[u8]) -> Result<usize, HeaderFault> {
        let left = &self.expected[self.taken..];
        let differs = left.iter().zip(input).position(|(expected, octet)| expected != octet);
        if let Some(at) = differs {
            let is_magic = self.taken + at < self.expected.len() - self.sum;
            return Err(if is_magic { HeaderFault::NoHeader } else { HeaderFault::OtherDictionary });
        }
        let used = left.len().min(input.len());
        self.taken += used;
        self.is_followed |= used < input.len();
        Ok(used)
    }

    /// Returns whether the body may end: it is empty, or has data behind the header.
    pub fn may_end(&self) -> bool {
        self.taken == 0 || self.is_followed
    }
}
