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
    /// Parses a format. Returns `None` for too many arguments or segments, a gap or a type conflict among
    /// numbered arguments, a numbered format with an unnumbered conversion, two precisions, or a number that
    /// overflows.
    pub fn parse(text: &'a [u8]) -> Option<Format<'a>> {
        let mut parser = Parser { text, at: 0, numbered: None, arguments: Vec::new(), next: 0 };
        let mut segments = Vec::new();
        let mut start = 0;
        while let Some(&byte) = text.get(parser.at) {
            if byte != b'%' {
                parser.at += 1;
                continue;
            }
            let percent = parser.at;
            parser.at += 1;
            if parser.peek() == Some(b'%') {
                if percent > start {
                    segments.push(Segment::Text(&text[start..percent]));
                }
                start = parser.at; // the second one starts the next piece of text
                parser.at += 1;
            } else if let Some(conversion) = parser.conversion()? {
                if percent > start {
                    segments.push(Segment::Text(&text[start..percent]));
                }
                segments.push(Segment::Conversion(conversion));
                start = parser.at;
            }
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
    /// The argument that comes next where none is numbered.
    next: usize,
}

/// A width or a precision in the format.
#[derive(Clone, Copy)]
enum FieldSize {
    Number(usize),
    /// A negative precision, which is none.
    Negative,
    /// `*`: the next argument, or the one with that index.
    Star(Option<usize>),
}

/// The text between the percent sign and the letter.
#[derive(Default)]
struct Prefix {
    flags: Flags,
    width: Option<FieldSize>,
    precision: Option<FieldSize>,
    size: Option<Width>,
    long_double: bool,
}

impl Parser<'_> {
    /// Parses a conversion after `%`. Some(None): no valid letter follows, so that all of it is text, as in
    /// curl.
    fn conversion(&mut self) -> Option<Option<Conversion>> {
        let number = if self.numbered == Some(false) { None } else { self.position() };
        if *self.numbered.get_or_insert(number.is_some()) != number.is_some() {
            return None;
        }
        let mut prefix = Prefix::default();
        while let Some(byte) = self.peek() {
            if !self.piece(byte, &mut prefix)? {
                break;
            }
        }
        let Prefix { mut flags, width, precision, size, long_double } = prefix;
        let size = size.unwrap_or(Width::Int);
        let (kind, letter) = match self.peek() {
            Some(b'd' | b'i') => (Kind::Integer(size), b'd'),
            Some(letter @ (b'u' | b'o' | b'x' | b'X')) => (Kind::Integer(size), letter),
            Some(b'c') => (Kind::Integer(Width::Int), b'c'),
            Some(letter @ (b'e' | b'E' | b'f' | b'g' | b'G')) => (Kind::Real { long: long_double }, letter),
            Some(b's') => (Kind::String, b's'),
            Some(b'S') => {
                flags.alternate = true; // quoted
                (Kind::String, b's')
            }
            Some(b'p') => (Kind::Pointer, b'p'),
            Some(b'n') => (Kind::Count(size), b'n'),
            _ => return Some(None),
        };
        self.at += 1;
        let width = self.amount(width)?;
        let precision = self.amount(precision)?;
        let argument = self.argument(number, kind)?;
        Some(Some(Conversion { flags, width, precision, letter, argument }))
    }

    /// Reads a flag, width, precision or length modifier that begins with `byte`. They may be in any order,
    /// and the last of each counts. Returns `false` for any other byte.
    fn piece(&mut self, byte: u8, prefix: &mut Prefix) -> Option<bool> {
        let flags = &mut prefix.flags;
        match byte {
            b'-' => (flags.left, flags.zero) = (true, false),
            b'+' => flags.plus = true,
            b' ' => flags.space = true,
            b'#' => flags.alternate = true,
            b'0'..=b'9' => {
                flags.zero |= byte == b'0' && !flags.left;
                let number = self.number()?;
                prefix.width = Some(match prefix.width {
                    // curl takes digits behind a star for the argument's place, counted from zero.
                    Some(FieldSize::Star(_)) => FieldSize::Star(Some(number)),
                    _ => FieldSize::Number(number),
                });
                return Some(true);
            }
            b'*' => {
                self.at += 1;
                prefix.width = Some(FieldSize::Star(self.star()?));
                return Some(true);
            }
            b'.' => {
                self.at += 1;
                prefix.precision = Some(self.precision(prefix.precision)?);
                return Some(true);
            }
            _ => return Some(self.length(byte, prefix)),
        }
        self.at += 1;
        Some(true)
    }

    /// Behind a point: digits, which may be negative, or a star. Both in one conversion are refused, in
    /// either order.
    fn precision(&mut self, before: Option<FieldSize>) -> Option<FieldSize> {
        if self.take(b'*') {
            let star = FieldSize::Star(self.star()?);
            return (!matches!(before, Some(FieldSize::Number(_) | FieldSize::Negative))).then_some(star);
        }
        let negative = self.take(b'-');
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number = self.number()?;
        let given = if negative && number > 0 { FieldSize::Negative } else { FieldSize::Number(number) };
        (!matches!(before, Some(FieldSize::Star(_)))).then_some(given)
    }

    /// Behind a star: which argument it means, in a format that numbers them.
    fn star(&mut self) -> Option<Option<usize>> {
        if self.numbered == Some(true) { self.position().map(Some) } else { Some(None) }
    }

    /// Reads `m$` if it comes next, and returns its index from 0.
    fn position(&mut self) -> Option<usize> {
        let start = self.at;
        let number = self.number().filter(|number| (1..=MAX_ARGUMENTS).contains(number));
        match number {
            Some(number) if self.take(b'$') => Some(number - 1),
            _ => {
                self.at = start;
                None
            }
        }
    }

    /// Resolves a width or precision and its argument, which must be unused before.
    fn amount(&mut self, given: Option<FieldSize>) -> Option<Option<Amount>> {
        let number = match given {
            None | Some(FieldSize::Negative) => return Some(None),
            Some(FieldSize::Number(number)) => return Some(Some(Amount::Fixed(number))),
            Some(FieldSize::Star(number)) => number,
        };
        let index = self.place(number)?;
        let place = &mut self.arguments[index];
        if place.replace(Kind::Integer(Width::Int)).is_some() {
            return None;
        }
        Some(Some(Amount::Argument(index)))
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

    /// Takes a length modifier. `L` means long double where a real number follows.
    fn length(&mut self, byte: u8, prefix: &mut Prefix) -> bool {
        prefix.size = match (byte, prefix.size) {
            (b'h', size) => size, // shorts arrive as ints
            (b'l', Some(Width::Long)) | (b'q' | b'O', _) => Some(Width::LongLong),
            (b'l', _) => Some(Width::Long),
            (b'z' | b'Z', _) => Some(Width::Size),
            (b'I', _) if cfg!(windows) => Some(self.windows_length()),
            (b'L', _) => {
                prefix.long_double = true;
                Some(Width::LongLong)
            }
            _ => return false,
        };
        self.at += 1;
        true
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

    /// Notes that an argument of this kind is wanted: the next one, or the numbered one. Of two integers of
    /// different sizes the later one counts, as with curl; other kinds do not mix.
    fn argument(&mut self, number: Option<usize>, kind: Kind) -> Option<usize> {
        let index = self.place(number)?;
        let both_integers = |known| matches!((known, kind), (Kind::Integer(_), Kind::Integer(_)));
        match &mut self.arguments[index] {
            Some(known) if *known != kind && !both_integers(*known) => None,
            place => {
                *place = Some(kind);
                Some(index)
            }
        }
    }

    /// The index of the numbered argument, or of the next, for which there is room then.
    fn place(&mut self, number: Option<usize>) -> Option<usize> {
        let index = number.unwrap_or(self.next);
        self.next += usize::from(number.is_none());
        if index >= MAX_ARGUMENTS {
            return None;
        }
        if self.arguments.len() <= index {
            self.arguments.resize(index + 1, None);
        }
        Some(index)
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
    use crate::printf::Sink;
    use crate::printf::render::{self, Value};

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
        assert!(kinds("%128$d").is_none());
        assert!(kinds("%1$ld%1$d").is_some(), "integers of two sizes");
    }

    /// The output of curl 8.22 with the arguments 3, 4, 5 …; `None` is a format that it refuses.
    #[test]
    fn prefixes_come_in_any_order_and_what_is_no_conversion_is_text() {
        let rows: &[(&str, Option<&str>)] = &[
            ("%1-d|", Some("3|")),
            ("%5.3-9+d|", Some("+003     |")),
            ("%l5d|", Some("    3|")),
            ("%.3l5d|", Some("  003|")),
            ("%5 0d|", Some(" 3|")),
            ("%.3.4d", Some("0003")),
            ("%.*.*d|%d", Some("004|5")),
            ("%**d|%d", Some("  4|5")),
            ("%5*d|%d", Some("  4|5")),
            ("%.*5d|%d", Some("  004|5")),
            ("%.**d|%d", Some("0005|6")),
            ("%.-3d|", Some("3|")),
            ("%.-0d|", Some("3|")),
            ("%05.-3d|", Some("00003|")),
            ("%.3.*d", None),
            ("%.*.3d", None),
            ("%.d", None),
            ("%..3d", None),
            ("%.+3d", None),
            ("%.", None),
            ("%.-99999999999d", None),
            ("%*1d|%d", Some("   3|4")),
            ("%*2d", None),
            ("%.*1$.99d%d", Some("%.*1$.99d3")),
            ("%*1$d", Some("%*1$d")),
            ("%0$d", Some("%0$d")),
            ("%129$d", Some("%129$d")),
            ("%$d", Some("%$d")),
            ("%d%1$d", Some("3%1$d")),
            ("%d%y%d", Some("3%y4")),
            ("%.*y%d", Some("%.*y3")),
            ("%5%d", Some("%53")),
            ("%y%%", Some("%y%")),
            ("abc%", Some("abc%")),
            ("%5-%d", Some("%5-3")),
            ("%1$5%%1$d", Some("%1$5%1$d")),
            ("%1$y%1$d", Some("%1$y3")),
            ("%1$%d", None),
            ("%1$d%", None),
            ("%1$*", None),
            ("%1$.*3d", None),
            ("%1$.*2$.*2$d", Some("0003")),
            ("%1$.*3$.*2$d", Some("0003")),
            ("%1$*2$.*2$d", None),
            ("%1$d%2$*1$d", None),
            ("%2$*1$d%1$d", Some("  43")),
            ("%2$*1$d%2$*1$d", None),
            ("%#.4o|%#o", Some("0003|04")),
            ("%1$.*1$d", Some("003")),
        ];
        for (text, wanted) in rows {
            assert_eq!(printed(text).as_deref(), *wanted, "{text}");
        }
    }

    fn printed(text: &str) -> Option<String> {
        let format = Format::parse(text.as_bytes())?;
        let values: Vec<Value> = (3..).map(Value::Integer).take(format.arguments.len()).collect();
        let mut out = Text(Vec::new());
        render::all(&mut out, &format, &values);
        Some(String::from_utf8(out.0).unwrap())
    }

    struct Text(Vec<u8>);

    impl Sink for Text {
        fn put(&mut self, bytes: &[u8]) -> bool {
            self.0.extend_from_slice(bytes);
            true
        }
    }

    #[test]
    fn limits_are_curls() {
        assert!(kinds(&"%s".repeat(128)).is_some());
        assert!(kinds(&"%s".repeat(129)).is_none());
        assert!(kinds(&"%%".repeat(128)).is_some());
        assert!(kinds(&"%%".repeat(129)).is_none());
        assert!(kinds("%99999999999d").is_none());
    }
}
