//! SASLprep (RFC 4013): converts typed text to the form that servers store. All kinds of spaces become one
//! kind, invisible characters are removed, and compatible characters are normalized (NFKC). Prohibited
//! characters are kept: no server has stored them, so it refuses the login.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

/// Prepares a name or password for SCRAM. Invalid UTF-8 is returned unchanged.
pub fn prepared(text: &[u8]) -> Cow<'_, [u8]> {
    let Ok(known) = std::str::from_utf8(text) else { return Cow::Borrowed(text) };
    if known.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mapped: String =
        known.chars().filter(|c| !is_nothing(*c)).map(|c| if is_space(c) { ' ' } else { c }).collect();
    let normal = ComposingNormalizerBorrowed::new_nfkc().normalize(&mapped).into_owned();
    Cow::Owned(normal.into_bytes())
}

/// Table C.1.2 of RFC 3454.
fn is_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// Table B.1 of RFC 3454, except for the character that counts as a space.
fn is_nothing(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{1806}' | '\u{180b}'..='\u{180d}' | '\u{200c}' | '\u{200d}' | '\u{2060}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4013 section 3, and some more.
    #[test]
    fn examples() {
        let rows = [
            ("I\u{ad}X", "IX"),
            ("user", "user"),
            ("USER", "USER"),
            ("\u{aa}", "a"),
            ("\u{2168}", "IX"),
            ("pass\u{a0}word\u{3000}", "pass word "),
            ("e\u{301}", "\u{e9}"),
            ("\u{feff}\u{212b}", "\u{c5}"),
            ("a\u{7}\u{e9}", "a\u{7}\u{e9}"),
        ];
        for (typed, stored) in rows {
            assert_eq!(prepared(typed.as_bytes()), stored.as_bytes(), "{typed:?}");
        }
        assert_eq!(&*prepared(b"\xff\xad"), b"\xff\xad");
    }
}
