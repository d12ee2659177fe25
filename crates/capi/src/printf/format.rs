//! Format strings: from text to segments and the list of argument types, with curl's limits.

use std::ffi::{c_int, c_long, c_longlong};

/// curl's limits: arguments, and pieces of output.
const MAX_ARGUMENTS: usize = 128;
const MAX_SEGMENTS: usize = 128;

/// The C widths that the shim's `integer` knows, by its numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    Int = 0,
    Long = 1,
    LongLong = 2,
    Size = 3,
}

impl Width {
    pub fn bytes(self) -> usize {
        match self {
            Width::Int => size_of::<c_int>(),
            Width::Long => size_of::<c_long>(),
            Width::LongLong => size_of::<c_longlong>(),
            Width::Size => size_of::<usize>(),
        }
    }
}

pub struct Format<'a> {
    pub segments: Vec<Segment<'a>>,
    /// The type of each argument, in the order in which they were passed.
    pub arguments: Vec<Kind>,
}

pub enum Segment<'a> {
    Text(&'a [u8]),
    Conversion(Conversion),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Integer(Width),
    Real {
        long: bool,
    },
    String,
    Pointer,
    /// `%n`: where to store the number of bytes so far.
    Count(Width),
}

/// Field width or precision: in the format, or the argument of that index.
#[derive(Clone, Copy)]
pub enum Amount {
    Fixed(usize),
    Argument(usize),
}

#[derive(Default, Clone, Copy)]
pub struct Flags {
    pub left: bool,
    pub zero: bool,
    pub plus: bool,
    pub space: bool,
    pub alternate: bool,
}

pub struct Conversion {
    pub flags: Flags,
    pub width: Option<Amount>,
    pub precision: Option<Amount>,
    /// The conversion character: one of `d u o x X c s p n e E f g G`.
    pub letter: u8,
    /// Index into `Format::arguments`.
    pub argument: usize,
}

impl<'a> Format<'a> {
    /// None: too many arguments or segments, a gap or a type conflict among numbered ones, numbered and
    /// sequential ones mixed, or a number that overflows.
    pub fn parse(text: &'a [u8]) -> Option<Format<'a>> {
        let mut parser = Parser { text, at: 0, numbered: None, arguments: Vec::new() };
        let mut segments = Vec::new();
        let mut start = 0;
        while let Some(&byte) = text.get(parser.at) {
            if byte != b'%' {
                parser.at += 1;
                continue;
            }
            if parser.at > start {
                segments.push(Segment::Text(&text[start..parser.at]));
            }
            parser.at += 1;
            start = parser.at;
            if text.get(parser.at) == Some(&b'%') {
                parser.at += 1; // the second one starts the next piece of text
                continue;
            }
            if let Some(conversion) = parser.conversion()? {
                segments.push(Segment::Conversion(conversion));
            }
            start = parser.at;
        }
        if start < text.len() {
            segments.push(Segment::Text(&text[start..]));
        }
        let arguments = parser.arguments.into_iter().collect::<Option<Vec<Kind>>>()?;
        (segments.len() <= MAX_SEGMENTS).then_some(Format { segments, arguments })
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    /// Whether this format numbers its arguments; unknown before the first.
    numbered: Option<bool>,
    arguments: Vec<Option<Kind>>,
}

impl Parser<'_> {
    /// After a `%`. Some(None): a letter that means nothing, which is dropped as curl does.
    fn conversion(&mut self) -> Option<Option<Conversion>> {
        let number = self.position()?;
        let mut flags = Flags::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'-' => flags.left = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b' ' => flags.space = true,
                b'#' => flags.alternate = true,
                _ => break,
            }
            self.at += 1;
        }
        let width = self.amount()?;
        let precision = if self.take(b'.') { Some(self.amount()?.unwrap_or(Amount::Fixed(0))) } else { None };
        let (size, long_double) = self.length();
        let Some(letter) = self.peek() else {
            return Some(None);
        };
        self.at += 1;
        let (kind, letter) = match letter {
            b'd' | b'i' => (Kind::Integer(size), b'd'),
            b'u' | b'o' | b'x' | b'X' => (Kind::Integer(size), letter),
            b'c' => (Kind::Integer(Width::Int), letter),
            b'e' | b'E' | b'f' | b'g' | b'G' => (Kind::Real { long: long_double }, letter),
            b's' => (Kind::String, letter),
            b'S' => {
                flags.alternate = true; // quoted
                (Kind::String, b's')
            }
            b'p' => (Kind::Pointer, letter),
            b'n' => (Kind::Count(size), letter),
            _ => return Some(None),
        };
        let argument = self.argument(number, kind)?;
        Some(Some(Conversion { flags, width, precision, letter, argument }))
    }

    /// `m$`, if that is what comes next: its index from 0. Outer None: 0 or too large.
    fn position(&mut self) -> Option<Option<usize>> {
        let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || self.text.get(self.at + digits) != Some(&b'$') {
            return Some(None);
        }
        let number = self.number()?;
        self.at += 1;
        (1..=MAX_ARGUMENTS).contains(&number).then_some(Some(number.wrapping_sub(1)))
    }

    /// Digits, `*` or `*m$`.
    fn amount(&mut self) -> Option<Option<Amount>> {
        if self.take(b'*') {
            let number = self.position()?;
            return Some(Some(Amount::Argument(self.argument(number, Kind::Integer(Width::Int))?)));
        }
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Some(None);
        }
        Some(Some(Amount::Fixed(self.number()?)))
    }

    /// A decimal number that fits an int.
    fn number(&mut self) -> Option<usize> {
        let mut value = 0_i32;
        while let Some(byte) = self.peek().filter(u8::is_ascii_digit) {
            value = value.checked_mul(10)?.checked_add(i32::from(byte - b'0'))?;
            self.at += 1;
        }
        usize::try_from(value).ok()
    }

    /// Length modifiers; the second is `L`, which means long double where a real number follows.
    fn length(&mut self) -> (Width, bool) {
        let mut size = Width::Int;
        let mut long_double = false;
        while let Some(byte) = self.peek() {
            size = match (byte, size) {
                (b'h', _) => size, // shorts arrive as ints
                (b'l', Width::Long) | (b'q' | b'O', _) => Width::LongLong,
                (b'l', _) => Width::Long,
                (b'z' | b'Z', _) => Width::Size,
                (b'I', _) if cfg!(windows) => self.windows_length(),
                (b'L', _) => {
                    long_double = true;
                    Width::LongLong
                }
                _ => break,
            };
            self.at += 1;
        }
        (size, long_double)
    }

    /// `I64` and `I32`, which CURL_FORMAT_CURL_OFF_T has on Windows, and `I`: up to the last byte of it.
    fn windows_length(&mut self) -> Width {
        let width = match self.text.get(self.at + 1..self.at + 3) {
            Some(b"64") => Width::LongLong,
            Some(b"32") => Width::Int,
            _ => return Width::Size,
        };
        self.at += 2;
        width
    }

    /// Note that an argument of this kind is wanted: the next one, or the numbered one.
    fn argument(&mut self, number: Option<usize>, kind: Kind) -> Option<usize> {
        if *self.numbered.get_or_insert(number.is_some()) != number.is_some() {
            return None;
        }
        let index = number.unwrap_or(self.arguments.len());
        if index >= MAX_ARGUMENTS {
            return None;
        }
        if self.arguments.len() <= index {
            self.arguments.resize(index + 1, None);
        }
        match self.arguments[index] {
            Some(known) if known != kind => None,
            _ => {
                self.arguments[index] = Some(kind);
                Some(index)
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Option<Vec<Kind>> {
        Format::parse(text.as_bytes()).map(|format| format.arguments)
    }

    #[test]
    fn types_follow_length_modifiers() {
        let int = Kind::Integer(Width::Int);
        assert_eq!(kinds("%d%hd").unwrap(), [int, int]);
        assert_eq!(
            kinds("%ld%lld%zu").unwrap(),
            [Kind::Integer(Width::Long), Kind::Integer(Width::LongLong), Kind::Integer(Width::Size)]
        );
        assert_eq!(kinds("%*.*f").unwrap(), [int, int, Kind::Real { long: false }]);
    }

    #[cfg(windows)]
    #[test]
    fn offsets_have_letters_of_their_own() {
        let widths = [Width::LongLong, Width::Int, Width::Size].map(Kind::Integer);
        assert_eq!(kinds("%I64d%I32u%Id").unwrap(), widths);
    }

    #[test]
    fn numbered_arguments_have_no_gap_and_one_type_and_are_not_mixed() {
        assert!(kinds("%2$s%1$d").is_some());
        assert!(kinds("%2$s").is_none());
        assert!(kinds("%1$s%1$d").is_none());
        assert!(kinds("%1$s%s").is_none());
        assert!(kinds("%s%1$s").is_none());
        assert!(kinds("%0$d").is_none());
        assert!(kinds("%129$d").is_none());
    }

    #[test]
    fn limits_are_curls() {
        assert!(kinds(&"%s".repeat(128)).is_some());
        assert!(kinds(&"%s".repeat(129)).is_none());
        assert!(kinds(&"%%".repeat(128)).is_some());
        assert!(kinds(&"%%".repeat(129)).is_none());
        assert!(kinds("%99999999999d").is_none());
    }

    #[test]
    fn unknown_letters_and_a_lone_percent_are_dropped() {
        for text in ["%", "abc%", "a%yb", "%5"] {
            assert_eq!(kinds(text).unwrap(), []);
        }
    }
}
