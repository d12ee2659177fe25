//! Texts that stand in their table rows.

/// A text of at most `N` bytes. A table of `&str` has pointers, which the loader relocates at each start: it
/// copies every page of the table, 2 µs each. A table of these is read when it is needed.
#[derive(Clone, Copy)]
pub struct InlineText<const N: usize> {
    bytes: [u8; N],
    length: u8,
}

impl<const N: usize> InlineText<N> {
    /// Copies a text. In a table, the compiler refuses a longer one.
    pub const fn new(text: &str) -> InlineText<N> {
        assert!(text.len() <= N && N <= u8::MAX as usize, "the text fits");
        let mut bytes = [0; N];
        bytes.split_at_mut(text.len()).0.copy_from_slice(text.as_bytes());
        InlineText { bytes, length: text.len() as u8 }
    }

    pub const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.length as usize).0) {
            Ok(text) => text,
            Err(_) => panic!("the bytes are those of a text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_returns_as_it_was() {
        for text in ["", "7.1", "größe", "12345678"] {
            assert_eq!(InlineText::<8>::new(text).as_str(), text);
        }
    }

    #[test]
    #[should_panic(expected = "the text fits")]
    fn a_long_text_is_refused() {
        InlineText::<8>::new("123456789");
    }
}
