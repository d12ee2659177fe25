//! The functions of PAC files about times: `weekdayRange`, `dateRange` and `timeRange`. Each takes a point of
//! time or a range, and `GMT` as its last argument if universal time counts.

/// A point of time, in the parts that the functions compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    pub year: u32,
    /// 0 is January.
    pub month: u32,
    /// From 1.
    pub day: u32,
    /// 0 is Sunday.
    pub weekday: u32,
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
}

/// The present in both time zones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    pub local: Moment,
    pub universal: Moment,
}

const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

impl Now {
    /// Returns the arguments without a `GMT` at their end, and the moment that they are compared with.
    fn split<'a>(&self, arguments: &'a [String]) -> (&'a [String], Moment) {
        match arguments.split_last() {
            Some((last, rest)) if last.eq_ignore_ascii_case("GMT") => (rest, self.universal),
            _ => (arguments, self.local),
        }
    }
}

/// Returns whether a value is in a range whose end may come before its start: Friday to Monday.
fn is_between<T: PartialOrd>(value: T, from: T, to: T) -> bool {
    match from <= to {
        true => from <= value && value <= to,
        false => from <= value || value <= to,
    }
}

fn place(names: &[&str], name: &str) -> Option<u32> {
    names.iter().position(|known| known.eq_ignore_ascii_case(name)).map(|place| place as u32)
}

/// `weekdayRange(day [, day] [, "GMT"])`. Arguments that are no days match nothing.
pub fn weekday_range(arguments: &[String], now: &Now) -> bool {
    let (days, moment) = now.split(arguments);
    let days: Option<Vec<u32>> = days.iter().map(|day| place(&WEEKDAYS, day)).collect();
    match days.as_deref() {
        Some([day]) => moment.weekday == *day,
        Some([from, to]) => is_between(moment.weekday, *from, *to),
        _ => false,
    }
}

/// A part of a date, as `dateRange` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DatePart {
    Day(u32),
    Month(u32),
    Year(u32),
}

impl DatePart {
    /// Parses a part: a month by its name, a day up to 31, or a year.
    fn parse(text: &str) -> Option<DatePart> {
        if let Some(month) = place(&MONTHS, text) {
            return Some(DatePart::Month(month));
        }
        match text.parse().ok()? {
            0 => None,
            day @ 1..=31 => Some(DatePart::Day(day)),
            year => Some(DatePart::Year(year)),
        }
    }

    /// Returns the same part of the moment.
    fn of(self, moment: &Moment) -> u32 {
        match self {
            DatePart::Day(_) => moment.day,
            DatePart::Month(_) => moment.month,
            DatePart::Year(_) => moment.year,
        }
    }

    fn value(self) -> u32 {
        let (DatePart::Day(value) | DatePart::Month(value) | DatePart::Year(value)) = self;
        value
    }

    /// Returns the rank of the part in a comparison: the year counts most.
    fn rank(self) -> u32 {
        match self {
            DatePart::Year(_) => 0,
            DatePart::Month(_) => 1,
            DatePart::Day(_) => 2,
        }
    }
}

/// `dateRange(...)`: one part, or the parts of two dates of one form, as day, month and year. Others match
/// nothing.
pub fn date_range(arguments: &[String], now: &Now) -> bool {
    let (parts, moment) = now.split(arguments);
    let parts: Option<Vec<DatePart>> = parts.iter().map(|part| DatePart::parse(part)).collect();
    let Some(mut parts) = parts else { return false };
    if let [part] = parts[..] {
        return part.of(&moment) == part.value();
    }
    if parts.is_empty() || parts.len() > 6 || parts.len() % 2 != 0 {
        return false;
    }
    let mut to = parts.split_off(parts.len() / 2);
    parts.sort_by_key(|part| part.rank());
    to.sort_by_key(|part| part.rank());
    let form = |parts: &[DatePart]| parts.iter().map(|part| part.rank()).collect::<Vec<_>>();
    let is_repeated = form(&parts).windows(2).any(|two| two[0] == two[1]);
    if form(&parts) != form(&to) || is_repeated {
        return false;
    }
    let values = |parts: &[DatePart]| parts.iter().map(|part| part.value()).collect::<Vec<_>>();
    let current: Vec<u32> = parts.iter().map(|part| part.of(&moment)).collect();
    is_between(current, values(&parts), values(&to))
}

/// `timeRange(...)`: an hour, two hours, or two times of hour and minute, or of hour, minute and second. A
/// range of hours ends before its last hour (`timeRange(8, 17)` is over at 17:00); others end with their
/// last second. Other arguments match nothing.
pub fn time_range(arguments: &[String], now: &Now) -> bool {
    let (parts, moment) = now.split(arguments);
    let parts: Result<Vec<u32>, _> = parts.iter().map(|part| part.parse()).collect();
    let seconds = |hour: u32, minute: u32, second: u32| {
        (hour <= 24 && minute < 60 && second < 60).then(|| hour * 3600 + minute * 60 + second)
    };
    let range = match parts.as_deref() {
        Ok([hour]) => return moment.hour == *hour,
        Ok([from, to]) if from == to => return moment.hour == *from,
        Ok([from, to]) => (seconds(*from, 0, 0), seconds(*to, 0, 0).map(|end| (end + 86_399) % 86_400)),
        Ok([h1, m1, h2, m2]) => (seconds(*h1, *m1, 0), seconds(*h2, *m2, 0)),
        Ok([h1, m1, s1, h2, m2, s2]) => (seconds(*h1, *m1, *s1), seconds(*h2, *m2, *s2)),
        _ => return false,
    };
    let current = moment.hour * 3600 + moment.minute * 60 + moment.second;
    matches!(range, (Some(from), Some(to)) if is_between(current, from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wednesday, 15 March 2023, 14:30:20; an hour earlier in universal time.
    fn now() -> Now {
        let local = Moment { year: 2023, month: 2, day: 15, weekday: 3, hour: 14, minute: 30, second: 20 };
        Now { local, universal: Moment { hour: 13, ..local } }
    }

    fn check(function: fn(&[String], &Now) -> bool, rows: &[(&str, bool)]) {
        for (arguments, wanted) in rows {
            let list: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
            assert_eq!(function(&list, &now()), *wanted, "{arguments}");
        }
    }

    #[test]
    fn weekdays() {
        check(
            weekday_range,
            &[
                ("WED", true),
                ("wed", true),
                ("THU", false),
                ("MON FRI", true),
                ("MON FRI GMT", true),
                ("FRI MON", false),
                ("SAT WED", true),
                ("WED WED", true),
                ("WED GMT", true),
                ("", false),
                ("GMT", false),
                ("X", false),
                ("MON TUE WED", false),
            ],
        );
    }

    #[test]
    fn dates() {
        check(
            date_range,
            &[
                ("15", true),
                ("16", false),
                ("MAR", true),
                ("2023", true),
                ("2022", false),
                ("1 15", true),
                ("20 10", false),
                ("10 20", true),
                ("20 14", false),
                ("20 15", true),
                ("JAN MAR", true),
                ("OCT FEB", false),
                ("OCT MAR", true),
                ("2022 2024", true),
                ("1 JUN 15 AUG", false),
                ("1 MAR 15 MAR", true),
                ("16 MAR 14 MAR", false),
                ("24 DEC 15 MAR", true),
                ("JAN 2023 MAR 2023", true),
                ("APR 2023 MAR 2024", false),
                ("1 JUN 1995 15 AUG 2030", true),
                ("16 MAR 2023 15 AUG 2030", false),
                ("15 GMT", true),
                ("", false),
                ("0", false),
                ("1 2 3", false),
                ("1 MAR 2023", false),
                ("1 1 2 2", false),
                ("MAR 1 15 MAR", true),
                ("X 1", false),
            ],
        );
    }

    #[test]
    fn times() {
        check(
            time_range,
            &[
                ("14", true),
                ("13", false),
                ("13 GMT", true),
                ("8 17", true),
                ("8 14", false),
                ("14 15", true),
                ("15 14", false),
                ("22 15", true),
                ("14 14", true),
                ("8 24", true),
                ("14 30 14 30", false),
                ("14 30 14 31", true),
                ("14 0 14 29", false),
                ("14 30 20 14 30 20", true),
                ("14 30 21 23 0 0", false),
                ("23 0 0 14 30 20", true),
                ("13 30 20 13 30 20 GMT", true),
                ("", false),
                ("x", false),
                ("8 9 10", false),
                ("14 60 15 0", false),
                ("25 26", false),
            ],
        );
    }
}
