//! Values of HTTP fields, with the properties that hold for any input; see parsers.rs.

use wire::{content_disposition, escape};

type Parser = (&'static str, fn(&[u8]));

/// Name (also that of its directory of seeds) and function.
pub const PARSERS: &[Parser] = &[("field_content_disposition", content_disposition_field)];

/// A name is read again from its extended notation.
pub fn content_disposition_field(input: &[u8]) {
    let Some(name) = content_disposition::file_name(input) else { return };
    assert!(name.len() <= 2 * input.len(), "at most two octets of UTF-8 for one of ISO-8859-1");
    let Ok(name) = String::from_utf8(name) else { return };
    let encoded = escape::encode(name.as_bytes());
    let field = [b"attachment; filename*=UTF-8''", encoded.as_slice()].concat();
    let again = content_disposition::file_name(&field);
    assert!(again.is_none_or(|again| again == name.as_bytes()));
}
