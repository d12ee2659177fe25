//! Decides whether a poll has seen a change: pure functions of what each poll saw.
//!
//! Times of files and most ETags made from them have a resolution of one second. A file may change again
//! within the second in which it was seen, with the time and the size that are known already. So its content
//! is fetched once more when that second is over for certain.

use std::time::{Duration, Instant};

use super::event::EventKind;

/// The resolution of file times.
const RESOLUTION: Duration = Duration::from_secs(1);

/// The marks by which a server names a version of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stamp {
    /// Seconds since 1970.
    pub modified: Option<i64>,
    /// Bytes.
    pub size: Option<u64>,
    /// The value of ETag.
    pub etag: Option<Vec<u8>>,
}

impl Stamp {
    /// Returns whether it names nothing.
    pub fn is_empty(&self) -> bool {
        *self == Stamp::default()
    }
}

/// The consequence of marks that a poll has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing has changed.
    Same,
    /// The content has to be fetched, and decides.
    Fetch,
    /// Something has changed.
    Report(EventKind),
}

/// The condition of an HTTP request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// If-None-Match with this ETag.
    NoneMatch(Vec<u8>),
    /// If-Modified-Since with this time.
    ModifiedSince(i64),
}

/// The state of a URL as it is known.
#[derive(Clone, Debug)]
enum Known {
    Nothing,
    Absent,
    Present {
        stamp: Stamp,
        /// A hash of the content, if it was fetched.
        content: Option<u64>,
        /// When these marks were first seen.
        since: Instant,
        /// Whether the content was fetched when the marks could no longer hide a change.
        settled: bool,
    },
}

/// Compares what polls see.
#[derive(Clone, Debug)]
pub struct Detector {
    known: Known,
}

impl Default for Detector {
    fn default() -> Detector {
        Detector { known: Known::Nothing }
    }
}

impl Detector {
    /// Judges the marks that a poll has seen without the content. `fetches` says that the content is wanted.
    /// The poll lasted from `begun` to `now`.
    pub fn see_stamp(&mut self, stamp: &Stamp, fetches: bool, [begun, now]: [Instant; 2]) -> Verdict {
        let kind = match &mut self.known {
            Known::Nothing => EventKind::First,
            Known::Absent => EventKind::Appeared,
            Known::Present { stamp: known, .. } if known != stamp => EventKind::Changed,
            Known::Present { since, settled, .. } => {
                if *settled || !is_over(*since, begun) {
                    return Verdict::Same;
                }
                return if fetches { Verdict::Fetch } else { Verdict::Same };
            }
        };
        if fetches {
            return Verdict::Fetch;
        }
        self.known = Known::Present { stamp: stamp.clone(), content: None, since: now, settled: true };
        Verdict::Report(kind)
    }

    /// Judges a content by its hash. Marks that were seen before it was fetched belong to it, or to an
    /// earlier one: then the next poll sees others.
    pub fn see_content(&mut self, stamp: Stamp, hash: u64, [begun, now]: [Instant; 2]) -> Option<EventKind> {
        let (kind, since, settled) = match &self.known {
            Known::Nothing => (Some(EventKind::First), now, false),
            Known::Absent => (Some(EventKind::Appeared), now, false),
            Known::Present { stamp: known, content, since, settled } => {
                let kind = (*content != Some(hash)).then_some(EventKind::Changed);
                match *known == stamp {
                    true => (kind, *since, *settled || is_over(*since, begun)),
                    false => (kind, now, false),
                }
            }
        };
        self.known = Known::Present { stamp, content: Some(hash), since, settled };
        kind
    }

    /// Judges an answer that the file does not exist.
    pub fn see_absence(&mut self) -> Option<EventKind> {
        match std::mem::replace(&mut self.known, Known::Absent) {
            Known::Nothing => Some(EventKind::First),
            Known::Absent => None,
            Known::Present { .. } => Some(EventKind::Gone),
        }
    }

    /// Returns the condition of the next HTTP request, which starts now; `None` where the content is needed.
    pub fn condition(&self, now: Instant) -> Option<Condition> {
        let Known::Present { stamp, since, settled, content: Some(_) } = &self.known else { return None };
        if !settled && is_over(*since, now) {
            return None;
        }
        match stamp {
            Stamp { etag: Some(etag), .. } => Some(Condition::NoneMatch(etag.clone())),
            Stamp { modified: Some(modified), .. } => Some(Condition::ModifiedSince(*modified)),
            _ => None,
        }
    }

    /// Returns whether the URL exists, as far as that is known.
    pub fn is_present(&self) -> Option<bool> {
        match self.known {
            Known::Nothing => None,
            Known::Absent => Some(false),
            Known::Present { .. } => Some(true),
        }
    }
}

/// Returns whether a request that begins now sees marks of another second than those first seen at `since`.
fn is_over(since: Instant, now: Instant) -> bool {
    now.saturating_duration_since(since) >= RESOLUTION
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(modified: i64, size: u64) -> Stamp {
        Stamp { modified: Some(modified), size: Some(size), etag: None }
    }

    /// A clock that begins anywhere.
    fn at(base: Instant, ms: u64) -> [Instant; 2] {
        let begun = base + Duration::from_millis(ms);
        [begun, begun + Duration::from_millis(20)]
    }

    #[test]
    fn marks_alone_report_each_difference_once() {
        let base = Instant::now();
        let mut detector = Detector::default();
        let rows = [
            (Some(stamp(100, 5)), Verdict::Report(EventKind::First)),
            (Some(stamp(100, 5)), Verdict::Same),
            (Some(stamp(100, 6)), Verdict::Report(EventKind::Changed)),
            (Some(stamp(101, 6)), Verdict::Report(EventKind::Changed)),
            (Some(stamp(101, 6)), Verdict::Same),
            (None, Verdict::Report(EventKind::Gone)),
            (None, Verdict::Same),
            (Some(stamp(101, 6)), Verdict::Report(EventKind::Appeared)),
            (Some(stamp(99, 6)), Verdict::Report(EventKind::Changed)),
        ];
        for (number, (seen, wanted)) in rows.into_iter().enumerate() {
            let times = at(base, number as u64 * 2000);
            let verdict = match seen {
                Some(stamp) => detector.see_stamp(&stamp, false, times),
                None => detector.see_absence().map_or(Verdict::Same, Verdict::Report),
            };
            assert_eq!(verdict, wanted, "{number}");
        }
    }

    /// Like a file that is written twice within a second, with equal sizes (git's "racy" entries).
    #[test]
    fn a_change_within_the_same_second_is_found_one_second_later() {
        let base = Instant::now();
        let mut detector = Detector::default();
        let same = stamp(100, 5);
        assert_eq!(detector.see_stamp(&same, true, at(base, 0)), Verdict::Fetch);
        assert_eq!(detector.see_content(same.clone(), 1, at(base, 0)), Some(EventKind::First));
        for ms in [200, 400, 1000] {
            assert_eq!(detector.see_stamp(&same, true, at(base, ms)), Verdict::Same, "{ms}");
        }
        assert_eq!(detector.see_stamp(&same, true, at(base, 1100)), Verdict::Fetch);
        assert_eq!(detector.see_content(same.clone(), 2, at(base, 1100)), Some(EventKind::Changed));
        for ms in [1300, 2500, 9000] {
            assert_eq!(detector.see_stamp(&same, true, at(base, ms)), Verdict::Same, "{ms}: it is settled");
        }
    }

    #[test]
    fn marks_that_change_without_the_content_report_nothing() {
        let base = Instant::now();
        let mut detector = Detector::default();
        detector.see_content(stamp(100, 5), 1, at(base, 0));
        assert_eq!(detector.see_stamp(&stamp(101, 5), true, at(base, 200)), Verdict::Fetch, "touch");
        assert_eq!(detector.see_content(stamp(101, 5), 1, at(base, 200)), None);
        assert_eq!(detector.see_stamp(&stamp(101, 5), true, at(base, 400)), Verdict::Same);
        assert_eq!(detector.see_stamp(&stamp(101, 5), true, at(base, 1500)), Verdict::Fetch, "a new second");
        assert_eq!(detector.see_content(stamp(101, 5), 1, at(base, 1500)), None);
        assert_eq!(detector.see_stamp(&stamp(101, 5), true, at(base, 9000)), Verdict::Same);
    }

    #[test]
    fn conditions_follow_the_marks() {
        let base = Instant::now();
        let etag = |tag: &str, modified| Stamp { modified, size: None, etag: Some(tag.into()) };
        let mut detector = Detector::default();
        assert_eq!(detector.condition(base), None, "nothing is known");
        detector.see_content(etag("\"a\"", Some(5)), 1, at(base, 0));
        let soon = base + Duration::from_millis(500);
        assert_eq!(
            detector.condition(soon),
            Some(Condition::NoneMatch(b"\"a\"".to_vec())),
            "RFC 9110 §13.1.2"
        );
        let later = base + Duration::from_millis(1020);
        assert_eq!(detector.condition(later), None, "RFC 9110 §8.8.2.2: a date within a second is weak");
        assert_eq!(detector.see_content(etag("\"a\"", Some(5)), 1, at(base, 1020)), None);
        assert!(detector.condition(later).is_some(), "it is settled");
        assert_eq!(detector.see_content(stamp(7, 3), 2, at(base, 1500)), Some(EventKind::Changed));
        let soon = base + Duration::from_millis(1600);
        assert_eq!(detector.condition(soon), Some(Condition::ModifiedSince(7)), "RFC 9110 §13.1.3");
        detector.see_content(Stamp::default(), 3, at(base, 1700));
        assert_eq!(detector.condition(soon), None, "a reply without marks");
        assert_eq!(detector.see_absence(), Some(EventKind::Gone));
        assert_eq!(detector.condition(soon), None);
        assert_eq!(detector.is_present(), Some(false));
    }
}
