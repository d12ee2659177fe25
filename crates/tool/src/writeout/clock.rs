//! `%time{format}`: the current time in UTC, in the letters of strftime(3) and `%f` for microseconds.

use crate::bytes::Bytes;
use std::time::{SystemTime, UNIX_EPOCH};

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A moment as a calendar shows it.
pub struct Moment {
    pub year: i64,
    /// From 1.
    pub month: usize,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub micros: u32,
    /// From Sunday.
    pub weekday: usize,
    /// From 1.
    pub yearday: i64,
    epoch: i64,
}

impl Moment {
    pub fn at(time: SystemTime) -> Moment {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let epoch = since.as_secs() as i64;
        let (days, rest) = (epoch.div_euclid(86_400), epoch.rem_euclid(86_400));
        let (year, month, day) = civil(days);
        Moment {
            year,
            month,
            day,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            micros: since.subsec_micros(),
            weekday: (days + 4).rem_euclid(7) as usize,
            yearday: days - days_before(year) + 1,
            epoch,
        }
    }
}

/// Days since 1970 to a date of the Gregorian calendar, counting years from March.
fn civil(days: i64) -> (i64, usize, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month as usize, day)
}

/// Days from 1970 to the first of January.
fn days_before(year: i64) -> i64 {
    let before = year - 1;
    before * 365 + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400) - 719_162
}

pub fn format(format: &[u8], time: SystemTime) -> Bytes {
    let moment = Moment::at(time);
    let mut out = Bytes::new();
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.clone().next()) {
            (b'%', Some(letter)) => {
                bytes.next();
                match field(*letter, &moment) {
                    Some(text) => out.extend(text.bytes()),
                    None => out.extend([b'%', *letter]),
                }
            }
            _ => out.push(*byte),
        }
    }
    out
}

fn field(letter: u8, at: &Moment) -> Option<String> {
    let weekday = DAYS[at.weekday];
    let month = MONTHS[at.month - 1];
    let half = if at.hour < 12 { "AM" } else { "PM" };
    let hour12 = (at.hour + 11) % 12 + 1;
    Some(match letter {
        b'a' => weekday[..3].to_string(),
        b'A' => weekday.to_string(),
        b'b' | b'h' => month[..3].to_string(),
        b'B' => month.to_string(),
        b'c' => format!(
            "{} {} {:2} {:02}:{:02}:{:02} {}",
            &weekday[..3],
            &month[..3],
            at.day,
            at.hour,
            at.minute,
            at.second,
            at.year
        ),
        b'C' => format!("{:02}", at.year / 100),
        b'd' => format!("{:02}", at.day),
        b'D' | b'x' => format!("{:02}/{:02}/{:02}", at.month, at.day, at.year % 100),
        b'e' => format!("{:2}", at.day),
        b'f' => format!("{:06}", at.micros),
        b'F' => format!("{}-{:02}-{:02}", at.year, at.month, at.day),
        b'H' => format!("{:02}", at.hour),
        b'I' => format!("{hour12:02}"),
        b'j' => format!("{:03}", at.yearday),
        b'k' => format!("{:2}", at.hour),
        b'l' => format!("{hour12:2}"),
        b'm' => format!("{:02}", at.month),
        b'M' => format!("{:02}", at.minute),
        b'n' => "\n".to_string(),
        b'p' => half.to_string(),
        b'r' => format!("{hour12:02}:{:02}:{:02} {half}", at.minute, at.second),
        b'R' => format!("{:02}:{:02}", at.hour, at.minute),
        b's' => at.epoch.to_string(),
        b'S' => format!("{:02}", at.second),
        b't' => "\t".to_string(),
        b'T' | b'X' => format!("{:02}:{:02}:{:02}", at.hour, at.minute, at.second),
        b'u' => (if at.weekday == 0 { 7 } else { at.weekday }).to_string(),
        b'w' => at.weekday.to_string(),
        b'y' => format!("{:02}", at.year % 100),
        b'Y' => at.year.to_string(),
        b'z' => "+0000".to_string(),
        b'Z' => "UTC".to_string(),
        b'%' => "%".to_string(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_letters() {
        let time = UNIX_EPOCH + Duration::new(1_754_037_103, 37_103_000);
        let shown = format(b"%d/%b/%Y %H:%M:%S.%f %z %Z%%s %s", time);
        assert_eq!(shown, b"01/Aug/2025 08:31:43.037103 +0000 UTC%s 1754037103");
        assert_eq!(format(b"%a %j %I%p %!", time), b"Fri 213 08AM %!");
        assert_eq!(format(b"%F %u%", UNIX_EPOCH), b"1970-01-01 4%");
    }

    #[test]
    fn leap_years() {
        let day = |days: u64| format(b"%F %j", UNIX_EPOCH + Duration::from_secs(days * 86_400));
        assert_eq!(day(11_016), b"2000-02-29 060");
        assert_eq!(day(11_322), b"2000-12-31 366");
    }
}
