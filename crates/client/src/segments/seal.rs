//! Checksummed text files: the last line is a part of the SHA-256 of the rest, so that truncation and changes
//! are detected.

use sha2::Digest;
use wire::hex;

/// Adds the last line to a text.
pub fn seal(text: &str) -> String {
    format!("{text}sum {}\n", sum(text))
}

/// Returns a text without its last line; `None` if it is truncated, changed or something else.
pub fn unseal(text: &str) -> Option<&str> {
    let last = text.strip_suffix('\n')?.rfind('\n')? + 1;
    let stored = text[last..].strip_prefix("sum ")?.strip_suffix('\n')?;
    (stored == sum(&text[..last])).then_some(&text[..last])
}

fn sum(text: &str) -> String {
    hex::encode(&sha2::Sha256::digest(text.as_bytes())[..8])
}
