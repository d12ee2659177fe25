//! The multipart form as the engine sees it: something that can be read from the start as often as a
//! redirect or an authentication round needs. Who builds it is the C boundary's or the Rust API's matter.

use std::hash::{BuildHasher, RandomState};

use crate::callbacks::ReadAnswer;
use crate::error::Result;

/// A form that was set with CURLOPT_MIMEPOST or CURLOPT_HTTPPOST.
pub trait MimeSource {
    /// Opens it for one pass. `kind` is the application's own Content-Type header.
    fn open(&self, kind: Option<&[u8]>) -> Result<Box<dyn MimeReader>>;

    /// Opens it for one pass as a mail, whose head has these lines in addition to the MIME headers.
    fn open_mail(&self, headers: &[Vec<u8>]) -> Result<Box<dyn MimeReader>>;
}

/// A pass over a form.
pub trait MimeReader {
    /// Returns the value of Content-Type, with the boundary; `None` if the application sets none.
    fn content_type(&self) -> Option<Vec<u8>>;

    /// Header lines of the application's top-level part, without line endings.
    fn headers(&self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Length of the whole body when it is known.
    fn size(&self) -> Option<u64>;

    /// The next bytes.
    fn read(&mut self, buf: &mut [u8]) -> Result<ReadAnswer>;
}

/// Returns dashes and twenty-two unpredictable characters.
pub fn boundary() -> String {
    "-".repeat(24) + &random_text(22)
}

/// Returns unpredictable letters and digits: the system seeds RandomState.
pub fn random_text(length: u32) -> String {
    const LETTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let random = |i: u32| RandomState::new().hash_one(i) % LETTERS.len() as u64;
    (0..length).map(|i| char::from(LETTERS[random(i) as usize])).collect()
}

/// Eight such bytes.
pub fn random_bytes() -> [u8; 8] {
    RandomState::new().hash_one(0).to_le_bytes()
}
