//! Numbers on the command line: plain, octal, seconds with a fraction, sizes with a suffix.

use crate::parse::Wrong;
use std::time::Duration;

/// Parses decimal digits at the start of a text; returns the number and the rest, or `None` on overflow.
pub fn leading(text: &[u8], max: i64) -> Option<(i64, &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return None;
    }
    let mut value: i64 = 0;
    for digit in &text[..count] {
        value = value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
    }
    (value <= max).then_some((value, &text[count..]))
}

/// A number that may be negative.
pub fn signed(text: &[u8]) -> Result<i64, Wrong> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    match leading(digits, i64::MAX) {
        Some((value, b"")) => Ok(if negative { -value } else { value }),
        _ => Err(Wrong::NotNumeric),
    }
}

pub fn unsigned(text: &[u8]) -> Result<i64, Wrong> {
    let value = signed(text)?;
    if value < 0 { Err(Wrong::Negative) } else { Ok(value) }
}

pub fn unsigned_up_to(text: &[u8], max: i64) -> Result<i64, Wrong> {
    let value = unsigned(text)?;
    if value > max { Err(Wrong::TooLarge) } else { Ok(value) }
}

pub fn octal_up_to(text: &[u8], max: i64) -> Result<i64, Wrong> {
    if text.is_empty() || text.len() > 20 {
        return Err(Wrong::NotNumeric);
    }
    let mut value = 0i64;
    for digit in text {
        if !(b'0'..=b'7').contains(digit) {
            return Err(Wrong::NotNumeric);
        }
        value = value * 8 + i64::from(digit - b'0');
    }
    if value > max { Err(Wrong::TooLarge) } else { Ok(value) }
}

/// Seconds with an optional fraction, as milliseconds.
pub fn millis(text: &[u8]) -> Result<i64, Wrong> {
    let (seconds, rest) = leading(text, i64::MAX / 1000 - 1).ok_or(Wrong::NotNumeric)?;
    let Some(fraction) = rest.strip_prefix(b".") else {
        return Ok(seconds * 1000);
    };
    let count = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return Err(Wrong::NotNumeric);
    }
    let mut parts = 0;
    for place in 0..3 {
        let digit = fraction[..count].get(place).map_or(0, |digit| i64::from(digit - b'0'));
        parts = parts * 10 + digit;
    }
    Ok(seconds * 1000 + parts)
}

/// An interval: a number with an optional fraction and a unit, from a millisecond to a day. Without a unit it
/// is in seconds.
pub fn interval(text: &[u8]) -> Option<Duration> {
    let unit = text.iter().position(u8::is_ascii_alphabetic).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let scale = match unit {
        b"ms" => 1,
        b"s" | b"" => 1000,
        b"m" => 60_000,
        b"h" => 3_600_000,
        _ => return None,
    };
    let is_number = number.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let number: f64 = std::str::from_utf8(number).ok().filter(|_| is_number)?.parse().ok()?;
    let ms = number * f64::from(scale);
    (1.0..=86_400_000.0).contains(&ms).then(|| Duration::from_secs_f64(ms / 1000.0))
}

/// Why a size is invalid; `Unit` and `Number` have texts of their own.
#[derive(Debug, PartialEq, Eq)]
pub enum BadSize {
    Number,
    Unit,
    TooLarge,
}

/// A number of bytes with an optional fraction and one of the suffixes B, K, M, G, T and P.
pub fn size(text: &[u8]) -> Result<i64, BadSize> {
    let (whole, rest) = leading(text, i64::MAX).ok_or(match text {
        [b'0'..=b'9', ..] => BadSize::TooLarge,
        _ => BadSize::Number,
    })?;
    let (fraction, unit) = match rest.strip_prefix(b".") {
        Some(after) => {
            let count = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (&after[..count], &after[count..])
        }
        None => (&rest[..0], rest),
    };
    let shift = match unit {
        b"" | b"b" | b"B" => 0,
        b"k" | b"K" => 10,
        b"m" | b"M" => 20,
        b"g" | b"G" => 30,
        b"t" | b"T" => 40,
        b"p" | b"P" => 50,
        _ => return Err(BadSize::Unit),
    };
    let digits = &fraction[..fraction.len().min(12)];
    let parts = digits.iter().fold(0i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
    let exact = (i128::from(whole) << shift) + (parts << shift) / 10i128.pow(digits.len() as u32);
    i64::try_from(exact).map_err(|_| BadSize::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers() {
        assert_eq!(unsigned(b"12"), Ok(12));
        assert_eq!(unsigned(b"-1"), Err(Wrong::Negative));
        assert_eq!(signed(b"-1"), Ok(-1));
        assert_eq!(unsigned(b"1x"), Err(Wrong::NotNumeric));
        assert_eq!(unsigned(b" 1"), Err(Wrong::NotNumeric));
        assert_eq!(unsigned(b"99999999999999999999"), Err(Wrong::NotNumeric));
        assert_eq!(octal_up_to(b"0644", 0o777), Ok(0o644));
        assert_eq!(octal_up_to(b"8", 0o777), Err(Wrong::NotNumeric));
        assert_eq!(octal_up_to(b"1000", 0o777), Err(Wrong::TooLarge));
    }

    #[test]
    fn seconds_with_fractions() {
        assert_eq!(millis(b"2"), Ok(2000));
        assert_eq!(millis(b"1.5"), Ok(1500));
        assert_eq!(millis(b"0.05"), Ok(50));
        assert_eq!(millis(b"0.0001"), Ok(0));
        assert_eq!(millis(b"-1"), Err(Wrong::NotNumeric));
        assert_eq!(millis(b"1."), Err(Wrong::NotNumeric));
    }

    #[test]
    fn intervals_with_units() {
        let rows =
            [("200ms", 200), ("1", 1000), ("0.5s", 500), ("5m", 300_000), ("24h", 86_400_000), ("1ms", 1)];
        for (text, ms) in rows {
            assert_eq!(interval(text.as_bytes()), Some(Duration::from_millis(ms)), "{text}");
        }
        for bad in ["", "ms", "0", "0.1ms", "25h", "-1", "1x", "1 s", "1e3", "inf", "nan", "1.2.3", "1S"] {
            assert_eq!(interval(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn sizes_with_suffixes() {
        assert_eq!(size(b"100"), Ok(100));
        assert_eq!(size(b"2k"), Ok(2048));
        assert_eq!(size(b"1M"), Ok(1 << 20));
        assert_eq!(size(b"1.5K"), Ok(1536));
        assert_eq!(size(b"1x"), Err(BadSize::Unit));
        assert_eq!(size(b"x"), Err(BadSize::Number));
        assert_eq!(size(b"99999999999999999999"), Err(BadSize::TooLarge));
        assert_eq!(size(b"9999999P"), Err(BadSize::TooLarge));
    }
}
