//! `curl_getdate` (curl_getdate.md): dates as people and servers write them, items in any order.

use std::ffi::{CStr, c_char};

use crate::guard::entry;

/// Seconds since 1970, or None where curl gives up.
pub fn parse(text: &[u8]) -> Option<i64> {
    let mut date = Date::default();
    let mut at = 0;
    let mut items = 0;
    while at < text.len() && items < MAX_ITEMS {
        let rest = &text[at..];
        at += if rest[0].is_ascii_alphabetic() {
            items += 1;
            date.word(rest)?
        } else if rest[0].is_ascii_digit() {
            items += 1;
            date.number(rest, at.checked_sub(1).map(|before| text[before]))?
        } else {
            1
        };
    }
    date.seconds()
}

/// What stands behind the sixth item is not looked at.
const MAX_ITEMS: usize = 6;

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Names of zones, and the minutes to add for UTC. Of the military letters J doesn't exist.
const ZONES: [(&str, i64); 44] = [
    ("GMT", 0),
    ("UT", 0),
    ("UTC", 0),
    ("WET", 0),
    ("BST", -60),
    ("WAT", 60),
    ("AST", 240),
    ("ADT", 180),
    ("EST", 300),
    ("EDT", 240),
    ("CST", 360),
    ("CDT", 300),
    ("MST", 420),
    ("MDT", 360),
    ("PST", 480),
    ("PDT", 420),
    ("YST", 540),
    ("YDT", 480),
    ("HST", 600),
    ("HDT", 540),
    ("CAT", 600),
    ("AHST", 600),
    ("NT", 660),
    ("IDLW", 720),
    ("CET", -60),
    ("MET", -60),
    ("MEWT", -60),
    ("MEST", -120),
    ("CEST", -120),
    ("MESZ", -120),
    ("FWT", -60),
    ("FST", -120),
    ("EET", -120),
    ("WAST", -420),
    ("WADT", -480),
    ("CCT", -480),
    ("JST", -540),
    ("EAST", -600),
    ("EADT", -660),
    ("GST", -600),
    ("NZT", -720),
    ("NZST", -720),
    ("NZDT", -780),
    ("IDLE", -720),
];

#[derive(Default)]
struct Date {
    weekday_seen: bool,
    month: Option<usize>,
    day: Option<i64>,
    year: Option<i64>,
    time: Option<i64>,
    /// Seconds to add for UTC.
    zone: Option<i64>,
    /// The next bare number is the year: the first one was the day, or too large for one.
    year_next: bool,
}

impl Date {
    /// A name: of the weekday, else of the month, else of the zone. Returns its length.
    fn word(&mut self, text: &[u8]) -> Option<usize> {
        let len = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = std::str::from_utf8(&text[..len]).ok()?;
        if !self.weekday_seen && is_weekday(word) {
            self.weekday_seen = true;
        } else if let (None, Some(month)) =
            (self.month, MONTHS.iter().position(|name| name.eq_ignore_ascii_case(word)))
        {
            self.month = Some(month);
        } else if let (None, Some(minutes)) = (self.zone, zone(word)) {
            self.zone = Some(minutes * 60);
        } else {
            return None;
        }
        Some(len)
    }

    /// A time of day, a zone as +hhmm, a date as YYYYMMDD, a day of the month or a year. Returns its length.
    fn number(&mut self, text: &[u8], before: Option<u8>) -> Option<usize> {
        if self.time.is_none()
            && let Some((seconds, len)) = time_of_day(text)
        {
            self.time = Some(seconds);
            return Some(len);
        }
        let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let value = i64::from(std::str::from_utf8(&text[..len]).ok()?.parse::<i32>().ok()?);
        let sign = match before {
            Some(b'+') => -1,
            Some(b'-') => 1,
            _ => 0,
        };
        let undated = self.year.is_none() && self.month.is_none() && self.day.is_none();
        if self.zone.is_none() && len == 4 && value <= 1400 && sign != 0 {
            self.zone = Some(sign * (value / 100 * 60 + value % 100) * 60);
        } else if len == 8 && undated {
            self.year = Some(value / 10_000);
            self.month = Some(usize::try_from(value % 10_000 / 100).ok()?.checked_sub(1)?);
            self.day = Some(value % 100);
        } else {
            self.day_or_year(value)?;
        }
        Some(len)
    }

    fn day_or_year(&mut self, value: i64) -> Option<()> {
        if !self.year_next && self.day.is_none() {
            self.year_next = true;
            if (1..32).contains(&value) {
                self.day = Some(value);
                return Some(());
            }
        }
        if !self.year_next || self.year.is_some() {
            return None;
        }
        self.year = Some(match value {
            0..=70 => value + 2000,
            71..100 => value + 1900,
            _ => value,
        });
        self.year_next = self.day.is_some();
        Some(())
    }

    fn seconds(&self) -> Option<i64> {
        let (year, month, day) = (self.year?, self.month?, self.day?);
        if year < 1583 || month > 11 || day > 31 {
            return None;
        }
        let days = days_before(year, month) + day - 1;
        Some(days * 86_400 + self.time.unwrap_or(0) + self.zone.unwrap_or(0))
    }
}

fn is_weekday(word: &str) -> bool {
    WEEKDAYS.iter().any(|name| name.eq_ignore_ascii_case(word) || name[..3].eq_ignore_ascii_case(word))
}

fn zone(word: &str) -> Option<i64> {
    if let [letter] = word.as_bytes() {
        return match letter.to_ascii_uppercase() {
            letter @ b'A'..=b'I' => Some(i64::from(letter - b'A' + 1) * MILITARY),
            letter @ b'K'..=b'M' => Some(i64::from(letter - b'A') * MILITARY),
            letter @ b'N'..=b'Y' => Some(-i64::from(letter - b'M') * MILITARY),
            b'Z' => Some(0),
            _ => None,
        };
    }
    ZONES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, minutes)| *minutes)
}

/// Minutes to add per military letter from A on.
const MILITARY: i64 = 60;

/// `hh:mm` or `hh:mm:ss`: seconds and length.
fn time_of_day(text: &[u8]) -> Option<(i64, usize)> {
    let (hours, mut len) = one_or_two_digits(text)?;
    let (minutes, digits) = one_or_two_digits(text[len..].strip_prefix(b":")?)?;
    len += 1 + digits;
    let seconds = text[len..].strip_prefix(b":").and_then(one_or_two_digits);
    len += seconds.map_or(0, |(_, digits)| 1 + digits);
    let seconds = seconds.map_or(0, |(value, _)| value);
    (hours < 24 && minutes < 60 && seconds < 61).then_some(((hours * 60 + minutes) * 60 + seconds, len))
}

fn one_or_two_digits(text: &[u8]) -> Option<(i64, usize)> {
    let digits = text.iter().take(2).take_while(|byte| byte.is_ascii_digit());
    let (value, len) =
        digits.fold((0, 0), |(value, len), byte| (value * 10 + i64::from(byte - b'0'), len + 1));
    (len > 0).then_some((value, len))
}

/// Days from 1970-01-01 to the first of that month (0..12), in the Gregorian calendar.
fn days_before(year: i64, month: usize) -> i64 {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leap_years = |year: i64| year / 4 - year / 100 + year / 400;
    let counted = if month < 2 { year - 1 } else { year };
    (year - 1970) * 365 + leap_years(counted) - leap_years(1969) + BEFORE[month]
}

/// # Safety
/// `text` is NULL or a C string; `now` is not used.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_getdate(text: *const c_char, _now: *const libc::time_t) -> libc::time_t {
    entry(-1, || {
        if text.is_null() {
            return -1;
        }
        // SAFETY: a C string by the caller's promise.
        match parse(unsafe { CStr::from_ptr(text) }.to_bytes()) {
            None => -1,
            Some(-1) => 0, // -1 says failure, so the second before 1970 is moved
            Some(seconds) => seconds,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_curls_manual_page() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "06 Nov 1994 08:49:37",
            "1994 Nov 6 08:49:37",
            "GMT 08:49:37 06-Nov-94 Sunday",
            "94 6 Nov 08:49:37",
        ] {
            assert_eq!(parse(text.as_bytes()), Some(784_111_777), "{text}");
        }
        for text in ["1994 Nov 6", "06-Nov-94", "Sun Nov 6 94", "1994.Nov.6", "Sun/Nov/6/94/GMT"] {
            assert_eq!(parse(text.as_bytes()), Some(784_080_000), "{text}");
        }
        assert_eq!(parse(b"Sun, 06 Nov 1994 08:49:37 CET"), Some(784_111_777 - 3600));
        assert_eq!(parse(b"20040912 15:05:58 -0700"), Some(1_095_026_758));
        assert_eq!(parse(b"20040911 +0200"), Some(1_094_853_600));
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in
            ["", "Nov", "6 Nov", "Thu, 32 Jan 2020 00:00:00 x", "99999999999 Nov 6", "2020 1 1", "1 Jan 1500"]
        {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
