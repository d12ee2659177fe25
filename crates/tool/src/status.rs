//! Sets of HTTP statuses, as `--fail-on` takes them.

use crate::numbers;
use crate::parse::Wrong;

/// The statuses of HTTP (RFC 9110 section 15).
const LOWEST: i64 = 100;
const HIGHEST: i64 = 599;

const ALLOWED: Wrong = Wrong::Allowed("takes statuses, classes and ranges from 100 to 599: 404,5xx,300-399");

/// Statuses, as inclusive ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusSet(Vec<(i64, i64)>);

impl StatusSet {
    /// Parses a list, for example `404,5xx,300-399`.
    pub fn parse(text: &[u8]) -> Result<StatusSet, Wrong> {
        text.split(|byte| *byte == b',')
            .map(|part| range(part.trim_ascii()))
            .collect::<Result<_, _>>()
            .map(StatusSet)
    }

    pub fn contains(&self, status: i64) -> bool {
        self.0.iter().any(|(low, high)| (*low..=*high).contains(&status))
    }
}

fn range(part: &[u8]) -> Result<(i64, i64), Wrong> {
    if let [class @ b'1'..=b'5', b'x' | b'X', b'x' | b'X'] = part {
        let low = i64::from(class - b'0') * 100;
        return Ok((low, low + 99));
    }
    let mut ends = part.splitn(2, |byte| *byte == b'-').map(status);
    let low = ends.next().ok_or(ALLOWED)??;
    let high = ends.next().unwrap_or(Ok(low))?;
    if low <= high { Ok((low, high)) } else { Err(ALLOWED) }
}

fn status(text: &[u8]) -> Result<i64, Wrong> {
    let number = numbers::leading(text, HIGHEST).filter(|(_, rest)| rest.is_empty());
    number.map(|(number, _)| number).filter(|number| *number >= LOWEST).ok_or(ALLOWED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_statuses() {
        let rows: [(&str, &[i64], &[i64]); 6] = [
            ("404", &[404], &[403, 405, 200]),
            ("404,5xx", &[404, 500, 599], &[403, 600, 499]),
            ("300-399", &[300, 302, 399], &[299, 400]),
            (" 404 , 410-410 ", &[404, 410], &[411]),
            ("2XX", &[200, 204], &[300]),
            ("100-599", &[100, 599], &[99, 600, 0]),
        ];
        for (text, inside, outside) in rows {
            let set = StatusSet::parse(text.as_bytes()).unwrap();
            assert!(inside.iter().all(|status| set.contains(*status)), "{text}");
            assert!(!outside.iter().any(|status| set.contains(*status)), "{text}");
        }
    }

    #[test]
    fn faulty_lists_are_refused() {
        for text in [
            "",
            ",",
            "404,",
            "x",
            "6xx",
            "0xx",
            "5x",
            "5xxx",
            "99",
            "600",
            "404-",
            "-404",
            "500-400",
            "4 04",
            "400-500-600",
            "+404",
        ] {
            assert_eq!(StatusSet::parse(text.as_bytes()), Err(ALLOWED), "{text}");
        }
    }
}
