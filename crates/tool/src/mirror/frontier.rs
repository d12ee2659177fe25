//! The URLs that a mirror still has to fetch: each once, server by server, at the pace of each server.
//!
//! A state machine without a clock or sockets. The rules of a server (robots.txt) come before its first URL.

use super::robots::{PATH, Robots};
use super::scope::Role;
use crate::bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// A URL to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    pub url: Bytes,
    /// How many links lead to it from the start.
    pub depth: u32,
    pub role: Role,
    /// How many redirects have led to it.
    pub redirects: u32,
    /// Size and time in the listing of its folder.
    pub listed: Option<Listed>,
    /// Whether it was visited before, at a greater depth.
    pub is_again: bool,
}

impl Visit {
    /// Creates the visit of a start URL.
    pub fn start(url: Bytes) -> Visit {
        Visit { url, depth: 0, role: Role::Page, redirects: 0, listed: None, is_again: false }
    }
}

/// Size and time of a file in a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    pub size: Option<u64>,
    pub modified: Option<i64>,
}

/// An answer of the frontier.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// Fetches a URL of the mirror.
    Visit(Visit),
    /// Fetches the rules of a server.
    Rules(Bytes),
    /// Nothing can start before that moment, or before a transfer has ended.
    Wait(Option<Instant>),
    /// The rules of its server forbid the URL.
    Refused(Visit),
    Done,
}

/// Limits for each server.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Transfers at a time.
    pub at_a_time: usize,
    /// Least time between the starts of two transfers.
    pub interval: Duration,
    pub uses_robots: bool,
}

/// The URLs to be fetched.
#[derive(Debug)]
pub struct Frontier {
    pace: Pace,
    /// The depth at which each URL was found.
    seen: HashMap<Bytes, u32>,
    servers: HashMap<Bytes, Server>,
    /// Servers with URLs that wait, in turn.
    turns: VecDeque<Bytes>,
    running: usize,
}

#[derive(Debug)]
struct Server {
    rules: Rules,
    waiting: VecDeque<Visit>,
    running: usize,
    next_at: Option<Instant>,
}

#[derive(Debug)]
enum Rules {
    Unknown,
    Requested,
    Known(Robots),
}

impl Frontier {
    pub fn new(pace: Pace) -> Frontier {
        Frontier { pace, seen: HashMap::new(), servers: HashMap::new(), turns: VecDeque::new(), running: 0 }
    }

    /// Returns the number of different URLs so far.
    pub fn seen(&self) -> usize {
        self.seen.len()
    }

    pub fn has_seen(&self, url: &[u8]) -> bool {
        self.seen.contains_key(url)
    }

    /// Adds a URL unless it is known. One that was found at a greater depth is visited again for its links,
    /// which are within the limit now: the order in which transfers end has no influence.
    pub fn add(&mut self, visit: Visit) {
        match self.seen.get_mut(&visit.url) {
            None => {
                self.seen.insert(visit.url.clone(), visit.depth);
                self.push(visit);
            }
            Some(depth) if *depth > visit.depth => {
                *depth = visit.depth;
                self.push(Visit { is_again: true, ..visit });
            }
            Some(_) => {}
        }
    }

    /// Adds a URL that is known.
    pub fn push(&mut self, visit: Visit) {
        let server = server_of(&visit.url).to_vec();
        let has_rules = self.pace.uses_robots && server.starts_with(b"http");
        let entry = self.servers.entry(server.clone()).or_insert_with(|| Server {
            rules: if has_rules { Rules::Unknown } else { Rules::Known(Robots::default()) },
            waiting: VecDeque::new(),
            running: 0,
            next_at: None,
        });
        if entry.waiting.is_empty() {
            self.turns.push_back(server);
        }
        entry.waiting.push_back(visit);
    }

    /// Returns the next step.
    pub fn next(&mut self, now: Instant) -> Step {
        let mut earliest: Option<Instant> = None;
        for _ in 0..self.turns.len() {
            let Some(key) = self.turns.pop_front() else { break };
            let server = self.servers.get_mut(&key).expect("a server that has a turn exists");
            match server.next(&self.pace, now) {
                ServerStep::Blocked(at) => {
                    earliest = earliest.into_iter().chain(at).min();
                    self.turns.push_back(key);
                }
                ServerStep::Rules => {
                    self.running += 1;
                    let url = [&key[..], PATH].concat();
                    self.turns.push_back(key);
                    return Step::Rules(url);
                }
                ServerStep::Visit(visit, is_allowed) => {
                    if !server.waiting.is_empty() {
                        self.turns.push_back(key);
                    }
                    if !is_allowed {
                        return Step::Refused(visit);
                    }
                    self.running += 1;
                    return Step::Visit(visit);
                }
            }
        }
        match self.turns.is_empty() && self.running == 0 {
            true => Step::Done,
            false => Step::Wait(earliest),
        }
    }

    /// Notes the end of a transfer.
    pub fn ended(&mut self, url: &[u8]) {
        self.running = self.running.saturating_sub(1);
        if let Some(server) = self.servers.get_mut(server_of(url)) {
            server.running = server.running.saturating_sub(1);
        }
    }

    /// Notes the rules of a server, given the URL of its file.
    pub fn set_rules(&mut self, url: &[u8], robots: Robots) {
        if let Some(server) = self.servers.get_mut(server_of(url)) {
            server.rules = Rules::Known(robots);
        }
    }

    /// Drops what waits; returns its number.
    pub fn clear(&mut self) -> usize {
        self.turns.clear();
        self.servers.values_mut().map(|server| std::mem::take(&mut server.waiting).len()).sum()
    }
}

enum ServerStep {
    Blocked(Option<Instant>),
    Rules,
    Visit(Visit, bool),
}

impl Server {
    fn next(&mut self, pace: &Pace, now: Instant) -> ServerStep {
        let robots = match &self.rules {
            Rules::Requested => return ServerStep::Blocked(None),
            Rules::Unknown => {
                self.rules = Rules::Requested;
                self.running += 1;
                return ServerStep::Rules;
            }
            Rules::Known(robots) => robots,
        };
        let Some(visit) = self.waiting.front() else { return ServerStep::Blocked(None) };
        let path = &visit.url[server_of(&visit.url).len()..];
        if !robots.allows(path) {
            let visit = self.waiting.pop_front().expect("just seen");
            return ServerStep::Visit(visit, false);
        }
        let interval = pace.interval.max(robots.delay.unwrap_or_default());
        // A server that wants pauses gets one request at a time.
        let at_a_time = if interval.is_zero() { pace.at_a_time } else { 1 };
        if self.running >= at_a_time {
            return ServerStep::Blocked(None);
        }
        if let Some(at) = self.next_at.filter(|at| *at > now) {
            return ServerStep::Blocked(Some(at));
        }
        self.next_at = (!interval.is_zero()).then(|| now + interval);
        self.running += 1;
        ServerStep::Visit(self.waiting.pop_front().expect("just seen"), true)
    }
}

/// Returns scheme, host and port of a canonical URL.
pub fn server_of(url: &[u8]) -> &[u8] {
    let start = url.windows(3).position(|three| three == b"://").map_or(0, |at| at + 3);
    let end = url[start..].iter().position(|octet| *octet == b'/').map_or(url.len(), |at| start + at);
    &url[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(url: &str) -> Visit {
        Visit {
            url: url.as_bytes().to_vec(),
            depth: 0,
            role: Role::Page,
            redirects: 0,
            listed: None,
            is_again: false,
        }
    }

    fn frontier(at_a_time: usize, interval_ms: u64, uses_robots: bool) -> Frontier {
        Frontier::new(Pace { at_a_time, interval: Duration::from_millis(interval_ms), uses_robots })
    }

    #[test]
    fn servers_take_turns_within_their_limit() {
        let now = Instant::now();
        let mut all = frontier(1, 0, false);
        for url in ["http://a/1", "http://a/2", "http://a/1", "http://b/1"] {
            all.add(visit(url));
        }
        assert_eq!(all.seen(), 3);
        assert_eq!(all.next(now), Step::Visit(visit("http://a/1")));
        assert_eq!(all.next(now), Step::Visit(visit("http://b/1")));
        assert_eq!(all.next(now), Step::Wait(None));
        all.ended(b"http://b/1");
        assert_eq!(all.next(now), Step::Wait(None));
        all.ended(b"http://a/1");
        assert_eq!(all.next(now), Step::Visit(visit("http://a/2")));
        all.ended(b"http://a/2");
        assert_eq!(all.next(now), Step::Done);
    }

    #[test]
    fn a_shorter_way_counts() {
        let mut all = frontier(9, 0, false);
        for (depth, is_again) in [(3, false), (2, true)] {
            all.add(Visit { depth, ..visit("http://a/1") });
            assert_eq!(
                all.next(Instant::now()),
                Step::Visit(Visit { depth, is_again, ..visit("http://a/1") })
            );
        }
        all.add(visit("http://a/1").clone());
        all.add(Visit { depth: 1, ..visit("http://a/1") });
        assert_eq!(all.seen(), 1);
    }

    #[test]
    fn rules_come_first_and_are_obeyed() {
        let now = Instant::now();
        let mut all = frontier(4, 0, true);
        all.add(visit("http://a/private/x"));
        all.add(visit("http://a/y"));
        assert_eq!(all.next(now), Step::Rules(b"http://a/robots.txt".to_vec()));
        assert_eq!(all.next(now), Step::Wait(None));
        all.ended(b"http://a/robots.txt");
        all.set_rules(b"http://a/robots.txt", Robots::parse(b"user-agent: *\ndisallow: /private/", b"curl"));
        assert_eq!(all.next(now), Step::Refused(visit("http://a/private/x")));
        assert_eq!(all.next(now), Step::Visit(visit("http://a/y")));
    }

    #[test]
    fn a_pause_lies_between_requests() {
        let now = Instant::now();
        let mut all = frontier(4, 100, false);
        all.add(visit("http://a/1"));
        all.add(visit("http://a/2"));
        assert_eq!(all.next(now), Step::Visit(visit("http://a/1")));
        all.ended(b"http://a/1");
        let then = now + Duration::from_millis(100);
        assert_eq!(all.next(now), Step::Wait(Some(then)));
        assert_eq!(all.next(then), Step::Visit(visit("http://a/2")));
        all.add(visit("http://a/3"));
        assert_eq!((all.clear(), all.next(then)), (1, Step::Wait(None)));
    }
}
