//! Values of HTTP fields, with the properties that hold for any input; see parsers.rs.

use wire::cache::UseAsDictionary;
use wire::{content_disposition, escape};

type Parser = (&'static str, fn(&[u8]));

/// Name (also that of its directory of seeds) and function.
pub const PARSERS: &[Parser] = &[
    ("field_content_disposition", content_disposition_field),
    ("field_use_as_dictionary", use_as_dictionary_field),
];

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

/// The id of a dictionary is read again as it was sent, and no pattern matches another origin.
pub fn use_as_dictionary_field(input: &[u8]) {
    let of = |text: &[u8]| UseAsDictionary::of(&[(b"Use-As-Dictionary".to_vec(), text.to_vec())]);
    let Some(found) = of(input) else { return };
    for (url, same_origin) in [("https://h/dir/app.v2.js?x=1", true), ("https://h:8443/dir/app", false)] {
        let is_for = found.is_for(b"https://h/dir/app.js", url.as_bytes());
        assert!(!is_for || same_origin, "another origin");
    }
    found.is_for(b"https://h/dir/app.js", &found.pattern);
    let fields = found.request_fields(&[0; 32]);
    let Some((_, id)) = fields.get(1) else { return };
    let again = of(&[b"match=\"/\", id=".as_slice(), id].concat()).map(|again| again.id);
    assert_eq!(again.as_ref(), Some(&found.id));
}
