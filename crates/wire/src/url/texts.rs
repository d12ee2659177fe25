//! The texts of a URL's parts, one after the other in one buffer: a parsed URL is one allocation.

use std::fmt::{self, Debug, Formatter};
use std::ops::Range;

/// A part of a URL that is stored as text. Their order is that in the buffer, and that in which a parser
/// finds them, so that it appends.
#[derive(Clone, Copy, Debug)]
pub(super) enum TextPart {
    Scheme,
    User,
    Password,
    Options,
    ZoneId,
    Host,
    Path,
    Query,
    Fragment,
}

impl TextPart {
    pub const ALL: [TextPart; 9] = [
        TextPart::Scheme,
        TextPart::User,
        TextPart::Password,
        TextPart::Options,
        TextPart::ZoneId,
        TextPart::Host,
        TextPart::Path,
        TextPart::Query,
        TextPart::Fragment,
    ];

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The texts of all parts, which are limited to 4 GiB together.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct PartTexts {
    buffer: Vec<u8>,
    /// The end of each part's text. It begins where the text before it ends.
    ends: [u32; TextPart::ALL.len()],
    /// The bits of the parts that are present. A present part may be empty; an absent one has no text.
    present: u16,
}

impl PartTexts {
    /// Creates texts with all parts absent, and room for so many octets.
    pub fn with_capacity(octets: usize) -> PartTexts {
        PartTexts { buffer: Vec::with_capacity(octets), ..PartTexts::default() }
    }

    /// Returns the text of a part if it is present.
    pub fn get(&self, part: TextPart) -> Option<&[u8]> {
        if self.present & part.bit() == 0 { None } else { Some(&self.buffer[self.range(part)]) }
    }

    /// Replaces the text of a part, or makes the part absent.
    pub fn set(&mut self, part: TextPart, text: Option<&[u8]>) {
        match text {
            Some(_) => self.present |= part.bit(),
            None => self.present &= !part.bit(),
        }
        let (new, old) = (text.unwrap_or_default(), self.range(part));
        for end in &mut self.ends[part as usize..] {
            *end = *end - old.len() as u32 + new.len() as u32;
        }
        if old.end == self.buffer.len() {
            self.buffer.truncate(old.start);
            self.buffer.extend_from_slice(new);
        } else {
            self.buffer.splice(old, new.iter().copied());
        }
    }

    fn range(&self, part: TextPart) -> Range<usize> {
        let at = part as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        start as usize..self.ends[at] as usize
    }
}

impl Debug for PartTexts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let present = TextPart::ALL.into_iter().filter_map(|part| Some((part, self.get(part)?)));
        f.debug_map().entries(present.map(|(part, text)| (part, String::from_utf8_lossy(text)))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every order of setting, replacing and clearing gives what a list of separate texts gives.
    #[test]
    fn parts_do_not_disturb_each_other() {
        let values: [Option<&[u8]>; 4] = [Some(b"longer text"), Some(b""), None, Some(b"x")];
        for first in TextPart::ALL {
            for second in TextPart::ALL {
                let (mut texts, mut wanted) = (PartTexts::default(), [None; TextPart::ALL.len()]);
                for (part, value) in values.into_iter().flat_map(|value| [(first, value), (second, value)]) {
                    texts.set(part, value);
                    wanted[part as usize] = value;
                    assert_eq!(TextPart::ALL.map(|part| texts.get(part)), wanted, "{first:?} {second:?}");
                }
                for part in [second, first] {
                    texts.set(part, None);
                }
                assert_eq!(texts, PartTexts::default(), "{first:?} {second:?}");
            }
        }
    }

    #[test]
    fn equal_texts_are_equal_in_whatever_order_they_were_set() {
        let set = |parts: &[(TextPart, &[u8])]| {
            let mut texts = PartTexts::with_capacity(parts.len());
            parts.iter().for_each(|(part, text)| texts.set(*part, Some(text)));
            texts
        };
        let one = set(&[(TextPart::Scheme, b"http"), (TextPart::Host, b"h")]);
        assert_eq!(one, set(&[(TextPart::Host, b"h"), (TextPart::Scheme, b"http")]));
        assert_ne!(one, set(&[(TextPart::Scheme, b"http"), (TextPart::Path, b"h")]), "another part");
        assert_ne!(one, set(&[(TextPart::Scheme, b"htt"), (TextPart::Host, b"ph")]), "another boundary");
        assert_eq!(format!("{one:?}"), r#"{Scheme: "http", Host: "h"}"#);
    }
}
