//! Hash functions, and sums that a user names.

use super::super::shown;
use wire::hex;

/// A hash function that a sum can be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
    Sha3_256,
    Sha3_384,
    Sha3_512,
    Blake3,
}

/// Each algorithm with its name and the length of its sums. Of two with the same length, the first is assumed
/// in files that name none.
pub const ALGORITHMS: [(Algorithm, &str, usize); 9] = [
    (Algorithm::Md5, "md5", 16),
    (Algorithm::Sha1, "sha1", 20),
    (Algorithm::Sha256, "sha256", 32),
    (Algorithm::Sha384, "sha384", 48),
    (Algorithm::Sha512, "sha512", 64),
    (Algorithm::Sha3_256, "sha3-256", 32),
    (Algorithm::Sha3_384, "sha3-384", 48),
    (Algorithm::Sha3_512, "sha3-512", 64),
    (Algorithm::Blake3, "blake3", 32),
];

impl Algorithm {
    /// Returns the algorithm of a name in any spelling: `sha256`, `SHA-256`, `SHA3_256`.
    pub fn from_name(name: &[u8]) -> Option<Algorithm> {
        let plain = |text: &[u8]| -> Vec<u8> {
            text.iter().filter(|byte| !matches!(byte, b'-' | b'_')).map(u8::to_ascii_lowercase).collect()
        };
        let name = plain(name);
        ALGORITHMS.iter().find(|row| plain(row.1.as_bytes()) == name).map(|row| row.0)
    }

    /// Returns the algorithm whose sums have that length.
    pub fn of_length(bytes: usize) -> Option<Algorithm> {
        ALGORITHMS.iter().find(|row| row.2 == bytes).map(|row| row.0)
    }

    pub fn name(self) -> &'static str {
        ALGORITHMS[self as usize].1
    }

    pub fn length(self) -> usize {
        ALGORITHMS[self as usize].2
    }
}

/// An expected hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    pub algorithm: Algorithm,
    pub digest: Vec<u8>,
}

impl Sum {
    /// Reads a sum in hexadecimal digits.
    pub fn of_hex(algorithm: Algorithm, digits: &[u8]) -> Option<Sum> {
        let digest = hex::decode(digits)?;
        (digest.len() == algorithm.length()).then_some(Sum { algorithm, digest })
    }

    /// Parses sums like `ALGORITHM=DIGITS`, separated by commas. The error says what is wrong.
    pub fn parse(text: &[u8]) -> Result<Vec<Sum>, String> {
        text.split(|byte| *byte == b',').map(Sum::parse_one).collect()
    }

    fn parse_one(text: &[u8]) -> Result<Sum, String> {
        let equals =
            text.iter().position(|byte| *byte == b'=').ok_or("A checksum is given as algorithm=sum")?;
        let (name, digits) = (&text[..equals], &text[equals + 1..]);
        let algorithm = Algorithm::from_name(name).ok_or_else(|| {
            let known: Vec<&str> = ALGORITHMS.iter().map(|row| row.1).collect();
            format!("Unknown checksum algorithm '{}', known are {}", shown(name), known.join(", "))
        })?;
        let (name, length) = (algorithm.name(), algorithm.length() * 2);
        Sum::of_hex(algorithm, digits).ok_or_else(|| format!("A {name} sum has {length} hexadecimal digits"))
    }
}
