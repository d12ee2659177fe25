//! Memory of dead proxies: those that could not be reached are tried last for a while.
//!
//! Firefox leaves a proxy out for half an hour, and longer each time; Chromium for five minutes. Here it is a
//! minute at first, because a program may run for a second or a year, and twice as long after each further
//! failure, up to half an hour.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use runtime::LockFreeOnce;
use wire::proxy_list::ProxyEntry;

/// How long a proxy counts as dead after its first failure, and at most.
const FIRST_REST: Duration = Duration::from_secs(60);
const LONGEST_REST: Duration = Duration::from_secs(30 * 60);

/// Most proxies that are remembered; the one that rests no more, or the oldest, makes room.
const MOST: usize = 64;

/// The dead proxies of the process.
static OF_PROCESS: LockFreeOnce<Mutex<DeadProxies>> = LockFreeOnce::new();

/// The proxies that could not be reached.
#[derive(Debug, Default)]
pub struct DeadProxies(Vec<DeadProxy>);

#[derive(Debug)]
struct DeadProxy {
    /// The proxy without its login.
    name: String,
    until: Instant,
    rest: Duration,
}

impl DeadProxies {
    /// Records a failure. A proxy that had failed before rests twice as long.
    pub fn note_failure(&mut self, name: &str, now: Instant) {
        let before = self.0.iter().position(|dead| dead.name == name).map(|at| self.0.remove(at));
        let rest = before.map_or(FIRST_REST, |before| (before.rest * 2).min(LONGEST_REST));
        if self.0.len() == MOST {
            let rested = self.0.iter().position(|dead| dead.until <= now);
            self.0.remove(rested.unwrap_or(0));
        }
        self.0.push(DeadProxy { name: name.to_owned(), until: now + rest, rest });
    }

    /// Forgets the failures of a proxy that was reached.
    pub fn note_success(&mut self, name: &str) {
        self.0.retain(|dead| dead.name != name);
    }

    /// Returns for how long a proxy still counts as dead.
    pub fn rest_of(&self, name: &str, now: Instant) -> Option<Duration> {
        let dead = self.0.iter().find(|dead| dead.name == name)?;
        dead.until.checked_duration_since(now).filter(|rest| !rest.is_zero())
    }

    /// Sorts entries into the order in which they are tried: as they are listed, those that count as dead
    /// last. Without the dead ones nothing might be left, so that they are tried, too.
    pub fn sort(&self, entries: Vec<ProxyEntry>, now: Instant) -> Vec<Candidate> {
        let rest = |entry: &ProxyEntry| match entry {
            ProxyEntry::Direct => None,
            ProxyEntry::Proxy(_) => self.rest_of(&entry.name(), now),
        };
        let mut candidates: Vec<Candidate> =
            entries.into_iter().map(|entry| Candidate { rest: rest(&entry), entry }).collect();
        candidates.sort_by_key(|candidate| candidate.rest);
        candidates
    }
}

/// An entry of a list, as it is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The proxy, or none.
    pub entry: ProxyEntry,
    /// For how long it still counts as dead.
    pub rest: Option<Duration>,
}

/// Calls `f` with the dead proxies of the process. `None` while another thread has them: nothing static is
/// waited for.
pub fn with_dead<T>(f: impl FnOnce(&mut DeadProxies) -> T) -> Option<T> {
    OF_PROCESS.get(Mutex::default).try_lock().ok().map(|mut dead| f(&mut dead))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(rest: Option<Duration>) -> Option<u64> {
        rest.map(|rest| rest.as_secs())
    }

    #[test]
    fn failures_make_the_rest_longer() {
        let (mut dead, start) = (DeadProxies::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(dead.rest_of("http://a:1", start), None);
        let mut now = 0;
        for rest in [60, 120, 240, 480, 960, 1800, 1800] {
            dead.note_failure("http://a:1", at(now));
            assert_eq!(seconds(dead.rest_of("http://a:1", at(now))), Some(rest));
            assert_eq!(seconds(dead.rest_of("http://a:1", at(now + rest - 1))), Some(1));
            assert_eq!(dead.rest_of("http://a:1", at(now + rest)), None, "tried in its place again");
            assert_eq!(dead.rest_of("http://b:1", at(now)), None);
            now += rest;
        }
        dead.note_success("http://a:1");
        dead.note_failure("http://a:1", at(now));
        assert_eq!(seconds(dead.rest_of("http://a:1", at(now))), Some(60), "it had been reached");
    }

    #[test]
    fn dead_proxies_are_tried_last() {
        let (mut dead, now) = (DeadProxies::default(), Instant::now());
        let order = |dead: &DeadProxies, list: &str| {
            let entries = wire::proxy_list::parse(list.as_bytes()).unwrap();
            let names = dead.sort(entries, now).into_iter().map(|candidate| candidate.entry.name());
            names.collect::<Vec<_>>().join(" ")
        };
        dead.note_failure("http://a:1", now);
        dead.note_failure("http://a:1", now);
        dead.note_failure("b:2", now);
        let rows = [
            ("http://c:3 http://d:4", "http://c:3 http://d:4"),
            ("http://u:p@a:1 http://c:3", "http://c:3 http://a:1"),
            ("http://a:1 b:2 direct", "direct b:2 http://a:1"),
            ("http://a:1 b:2", "b:2 http://a:1"),
            ("socks5://a:1 b:2", "socks5://a:1 b:2"),
        ];
        for (list, wanted) in rows {
            assert_eq!(order(&dead, list), wanted, "{list}");
        }
    }

    #[test]
    fn the_memory_is_bounded() {
        let (mut dead, now) = (DeadProxies::default(), Instant::now());
        for number in 0..=MOST {
            dead.note_failure(&format!("http://p{number}:1"), now);
        }
        assert_eq!(dead.0.len(), MOST);
        assert_eq!(dead.rest_of("http://p0:1", now), None, "the oldest is forgotten");
        assert!(dead.rest_of("http://p1:1", now).is_some());
    }
}
