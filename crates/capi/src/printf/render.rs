//! Values to text, as curl prints them. Where curl's printf differs from C's the difference is curl's:
//! NULL strings and pointers are `(nil)`, `%#s` quotes, reals are cut at 325 bytes and never zero padded.

use std::ffi::{CStr, c_char, c_int, c_long, c_longlong, c_void};

use super::format::{Amount, Conversion, Flags, Format, Kind, Segment, Width};
use crate::sys;

/// Longest digits-and-zeros or real that is produced (curl's work buffer).
const MAX_NUMBER: usize = 325;

/// A destination. `put` returns `false` if it is full or failed: stop.
pub trait Sink {
    fn put(&mut self, bytes: &[u8]) -> bool;
}

#[derive(Clone, Copy)]
pub enum Value {
    Integer(i64),
    Real(f64),
    Pointer(*mut c_void),
}

/// Everything, until the sink refuses; the number of bytes put.
pub fn all(sink: &mut dyn Sink, format: &Format, values: &[Value]) -> usize {
    let mut out = Out { sink, written: 0, open: true };
    for segment in &format.segments {
        match segment {
            Segment::Text(text) => out.put(text),
            Segment::Conversion(conversion) => convert(&mut out, conversion, format, values),
        }
        if !out.open {
            break;
        }
    }
    out.written
}

struct Out<'a> {
    sink: &'a mut dyn Sink,
    written: usize,
    open: bool,
}

impl Out<'_> {
    fn put(&mut self, bytes: &[u8]) {
        if self.open {
            self.open = self.sink.put(bytes);
            self.written += bytes.len();
        }
    }

    fn pad(&mut self, byte: u8, mut count: usize) {
        let chunk = [byte; 64];
        while count > 0 && self.open {
            let len = count.min(chunk.len());
            self.put(&chunk[..len]);
            count -= len;
        }
    }

    /// Writes `body` in a field: blanks before it, or after it if left-adjusted.
    fn field(&mut self, body: &[u8], width: usize, left: bool) {
        let blanks = width.saturating_sub(body.len());
        if !left {
            self.pad(b' ', blanks);
        }
        self.put(body);
        if left {
            self.pad(b' ', blanks);
        }
    }
}

fn convert(out: &mut Out, conversion: &Conversion, format: &Format, values: &[Value]) {
    let mut flags = conversion.flags;
    let number = |amount: Amount| match amount {
        Amount::Fixed(value) => value as i64,
        Amount::Argument(index) => match values[index] {
            Value::Integer(value) => value,
            _ => 0,
        },
    };
    let width = conversion.width.map_or(0, number);
    flags.left |= width < 0;
    let width = width.unsigned_abs() as usize;
    let precision = conversion.precision.map(number).and_then(|value| usize::try_from(value).ok());
    match (values[conversion.argument], conversion.letter) {
        (Value::Integer(value), b'c') => out.field(&[value as u8], width, flags.left),
        (Value::Integer(value), letter) => {
            let value = narrowed(value, letter, format.arguments[conversion.argument]);
            integer(out, value, letter, flags, width, precision);
        }
        (Value::Real(value), letter) => real(out, value, letter, flags, width, precision),
        (Value::Pointer(text), b's') => string(out, text.cast(), flags, width, precision),
        (Value::Pointer(pointer), b'p') => {
            if pointer.is_null() {
                out.field(b"(nil)", width, flags.left);
            } else {
                let value = Integer { negative: false, magnitude: pointer as u64 };
                integer(out, value, b'x', Flags { alternate: true, ..flags }, width, precision);
            }
        }
        (Value::Pointer(target), _) => {
            store_count(target, out.written, format.arguments[conversion.argument])
        }
    }
}

#[derive(Clone, Copy)]
struct Integer {
    negative: bool,
    magnitude: u64,
}

/// Narrows a fetched argument. Arguments are fetched signed; an unsigned one of 32 bits must not keep the
/// sign extension.
fn narrowed(value: i64, letter: u8, kind: Kind) -> Integer {
    if letter == b'd' {
        return Integer { negative: value < 0, magnitude: value.unsigned_abs() };
    }
    let magnitude = match kind {
        Kind::Integer(width) if width.bytes() == size_of::<u32>() => u64::from(value as u32),
        _ => value as u64,
    };
    Integer { negative: false, magnitude }
}

fn integer(out: &mut Out, value: Integer, letter: u8, flags: Flags, width: usize, precision: Option<usize>) {
    let mut digits = match letter {
        b'o' => format!("{:o}", value.magnitude),
        b'x' => format!("{:x}", value.magnitude),
        b'X' => format!("{:X}", value.magnitude),
        _ => value.magnitude.to_string(),
    };
    if precision == Some(0) && value.magnitude == 0 {
        digits.clear();
    }
    let sign = match (value.negative, flags.plus, flags.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    };
    let mut zeros = precision.unwrap_or(0).min(MAX_NUMBER).saturating_sub(digits.len());
    let prefix = match (flags.alternate, letter) {
        (true, b'x') => "0x",
        (true, b'X') => "0X",
        (true, b'o') if zeros == 0 && !digits.starts_with('0') => "0",
        _ => "",
    };
    if flags.zero && !flags.left {
        let taken = sign.len() + prefix.len() + digits.len() + zeros;
        zeros += width.saturating_sub(taken);
    }
    let blanks = width.saturating_sub(sign.len() + prefix.len() + zeros + digits.len());
    if !flags.left {
        out.pad(b' ', blanks);
    }
    out.put(sign.as_bytes());
    out.put(prefix.as_bytes());
    out.pad(b'0', zeros);
    out.put(digits.as_bytes());
    if flags.left {
        out.pad(b' ', blanks);
    }
}

fn string(out: &mut Out, text: *const c_char, flags: Flags, width: usize, precision: Option<usize>) {
    let nil = b"(nil)";
    let (body, quoted): (&[u8], bool) = if text.is_null() {
        // Whole, without quotes, or not at all.
        match precision {
            Some(most) if most < nil.len() => (b"", flags.alternate),
            _ => (nil, false),
        }
    } else {
        (prefix(text, precision), flags.alternate)
    };
    if quoted {
        out.put(b"\"");
    }
    // A precision counts in the width as if all of it were printed, in 7.88 and in 8.22.
    let counted = precision.filter(|_| !text.is_null()).unwrap_or(0);
    let beyond = counted.saturating_sub(body.len());
    out.field(body, width.saturating_sub(beyond), flags.left);
    if quoted {
        out.put(b"\"");
    }
}

/// At most `most` bytes of `text`, which needs no terminating zero then.
fn prefix<'a>(text: *const c_char, most: Option<usize>) -> &'a [u8] {
    // SAFETY: the C caller passed a string for %s: readable up to its zero, or up to the precision.
    unsafe {
        match most {
            None => CStr::from_ptr(text).to_bytes(),
            Some(most) => std::slice::from_raw_parts(text.cast(), libc::strnlen(text, most)),
        }
    }
}

/// The C library knows how to print reals exactly; we only bound it as curl does.
fn real(out: &mut Out, value: f64, letter: u8, flags: Flags, width: usize, precision: Option<usize>) {
    let mut spec = Vec::with_capacity(12);
    spec.push(b'%');
    for (on, byte) in [(flags.left, b'-'), (flags.plus, b'+'), (flags.space, b' '), (flags.alternate, b'#')] {
        if on {
            spec.push(byte);
        }
    }
    spec.extend_from_slice(b"*.*");
    spec.extend_from_slice(&[letter, 0]);
    let mut text = [0_u8; MAX_NUMBER + 1];
    let width = width.min(MAX_NUMBER) as c_int;
    let precision = precision.map_or(-1, |digits| digits.min(MAX_NUMBER) as c_int);
    // SAFETY: a format made above that takes two ints and a double.
    let len = unsafe { sys::print_real(&mut text, &spec, width, precision, value) };
    out.put(&text[..usize::try_from(len).unwrap_or(0).min(MAX_NUMBER)]);
}

fn store_count(target: *mut c_void, written: usize, kind: Kind) {
    if target.is_null() {
        return;
    }
    // SAFETY: the C caller passed a pointer to an integer of that width for %n.
    unsafe {
        match kind {
            Kind::Count(Width::Long) => *target.cast() = written as c_long,
            Kind::Count(Width::Size) => *target.cast() = written,
            Kind::Count(Width::LongLong) => *target.cast() = written as c_longlong,
            _ => *target.cast() = written as c_int,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_ulong;

    use super::*;

    struct Text(Vec<u8>, usize);
    impl Sink for Text {
        fn put(&mut self, bytes: &[u8]) -> bool {
            self.0.extend_from_slice(bytes);
            self.0.len() <= self.1
        }
    }

    fn print(format: &str, values: &[Value]) -> String {
        let mut out = Text(Vec::new(), usize::MAX);
        all(&mut out, &Format::parse(format.as_bytes()).unwrap(), values);
        String::from_utf8(out.0).unwrap()
    }

    fn text(string: &'static CStr) -> Value {
        Value::Pointer(string.as_ptr().cast_mut().cast())
    }

    #[test]
    fn integers() {
        let print = |format, value| print(format, &[Value::Integer(value)]);
        assert_eq!(print("%05d", -42), "-0042");
        assert_eq!(print("%u", -1), "4294967295");
        assert_eq!(print("%lu", -1), c_ulong::MAX.to_string());
        assert_eq!(print("%llu", -1), "18446744073709551615");
        assert_eq!(print("%#o|", 8), "010|");
        assert_eq!(print("%08.5d", 42), "00000042");
        assert_eq!(print("%-8.5d|", 42), "00042   |");
        assert_eq!(print("%.0d|", 0), "|");
        assert_eq!(print("%lld", i64::MIN), "-9223372036854775808");
    }

    #[test]
    #[cfg_attr(miri, ignore)] // strnlen
    fn strings_and_pointers() {
        let null = Value::Pointer(std::ptr::null_mut());
        assert_eq!(print("%s|%.3s|%.5s|%#s", &[null; 4]), "(nil)||(nil)|(nil)");
        assert_eq!(print("%#5s|", &[text(c"abc")]), "\"  abc\"|");
        assert_eq!(print("%#.3s|%#.5s|", &[null; 2]), "\"\"|(nil)|");
        assert_eq!(print("%.2s|%5.2s|", &[text(c"abc"); 2]), "ab|   ab|");
        assert_eq!(print("%9.5s|%-9.5s|%4.5s|", &[text(c"abc"); 3]), "    abc|abc    |abc|");
        assert_eq!(print("%p", &[Value::Pointer(0x12 as *mut c_void)]), "0x12");
    }

    #[test]
    #[cfg_attr(miri, ignore)] // snprintf
    fn reals_are_bounded() {
        assert_eq!(print("%08.2f|", &[Value::Real(2.75)]), "    2.75|");
        assert_eq!(print("%.400f", &[Value::Real(1.0)]).len(), 325);
    }

    #[test]
    fn a_full_sink_stops_a_wide_field() {
        let mut out = Text(Vec::new(), 1000);
        let format = Format::parse(b"%2147483647d%d").unwrap();
        let count = all(&mut out, &format, &[Value::Integer(1), Value::Integer(2)]);
        assert!(count < 1100 && out.0.len() < 1100);
    }
}
