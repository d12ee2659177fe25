//! Text in files that others may have cut, changed or put there: its last line is a sum of those before it.

use sha2::Digest;
use wire::hex;

/// The text with its last line.
pub fn seal(text: &str) -> String {
    format!("{text}sum {}\n", sum(text))
}

/// The text without it; none for what is truncated, changed or something else.
pub fn unseal(text: &str) -> Option<&str> {
    let last = text.strip_suffix('\n')?.rfind('\n')? + 1;
    let told = text[last..].strip_prefix("sum ")?.strip_suffix('\n')?;
    (told == sum(&text[..last])).then_some(&text[..last])
}

fn sum(text: &str) -> String {
    hex::encode(&sha2::Sha256::digest(text.as_bytes())[..8])
}
