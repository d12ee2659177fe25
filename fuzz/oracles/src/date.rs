//! Dates: what the crate httpdate reads in the three forms of RFC 9110 (section 5.6.7) and what the crate
//! time reads in that of RFC 5322 we read as the same second, and what we write is what httpdate writes. Our
//! parser reads many more forms, following curl_getdate(3), so that a refusal of theirs is not a finding.
//!
//! The rules for two-digit years differ: "70" is 2070 in curl, depends on today in RFC 9110, and is 1970 for
//! httpdate.

use std::time::{Duration, UNIX_EPOCH};

use arbitrary::Unstructured;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;
use wire::date::{self, Civil};

/// The last second of the year 9999.
const LAST: i64 = 253_402_300_799;

pub fn agrees(input: &[u8]) {
    reads_alike(input);
    let mut choices = Unstructured::new(input);
    let seconds = choices.int_in_range(0..=LAST).unwrap_or(0);
    let written = date::http(seconds);
    assert_eq!(written, httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds as u64)));
    let civil = Civil::from_seconds(seconds);
    let (clock, month) = (civil.clock(), &written[8..11]);
    let weekday = ["Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun"][civil.weekday()];
    for form in [
        written.clone(),
        format!("{weekday}day, {:02}-{month}-{:02} {clock} GMT", civil.day, civil.year % 100),
        format!("{} {month} {:2} {clock} {:04}", &written[..3], civil.day, civil.year),
    ] {
        reads_alike(form.as_bytes());
        // Almost right: one octet is another.
        let mut form = form.into_bytes();
        let at = choices.choose_index(form.len()).unwrap_or(0);
        form[at] = choices.arbitrary().unwrap_or(b' ');
        reads_alike(&form);
    }
    // From an hour on: time forgets the sign of "-0030".
    let (hours, minutes) =
        (choices.int_in_range(1..=13).unwrap_or(1), choices.int_in_range(0..=59).unwrap_or(0));
    let sign = crate::one_of(&mut choices, &['+', '-']);
    let zoned = format!(
        "{}{} {month} {:04} {clock} {sign}{hours:02}{minutes:02}",
        crate::one_of(&mut choices, &["", &written[..5]]),
        civil.day,
        civil.year
    );
    let theirs = OffsetDateTime::parse(&zoned, &Rfc2822).expect("a date").unix_timestamp();
    // The error of curl_getdate, which is no date's.
    let theirs = if theirs == -1 { 0 } else { theirs };
    assert_eq!(date::parse(zoned.as_bytes()), Some(theirs), "{zoned}");
}

fn reads_alike(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(theirs) = httpdate::parse_http_date(text) else { return };
    // httpdate ignores what stands between "06-Nov-94" and the time.
    let clock = text.find(':').map_or(0, |colon| colon - 2);
    if text.contains("-70 ") || !text[..clock].ends_with(' ') {
        return;
    }
    let theirs = theirs.duration_since(UNIX_EPOCH).expect("httpdate knows none before").as_secs();
    assert_eq!(date::parse(input), Some(theirs as i64), "{text}");
}
