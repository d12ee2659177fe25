//! Happy Eyeballs version 3 (draft-ietf-happy-happyeyeballs-v3; RFC 8305 where it is silent) as a state
//! machine: it has no socket and no clock, and is told what happened and when.
//!
//! Candidates may come one by one, as names are resolved. The first attempt waits until the preferred answers
//! are in, or for the resolution delay after the first candidate. Then attempts begin one after the other:
//! the next one when one fails, or when the attempt delay has passed without news. Services go by their
//! priority, within one the families take turns, IPv6 first. An attempt that is connected has the attempt
//! delay anew for its handshake: whoever takes a connection and then says nothing loses. What is told last
//! wins: late candidates are sorted in among those that were not tried.

use std::time::{Duration, Instant};

use crate::resolver::RESOLUTION_DELAY;

/// Attempts under way at once; beyond it the oldest is given up (as in curl).
pub const CONCURRENT: usize = 6;
/// The priority of an address that stands in no service record: after all that do.
pub const NO_RECORD: u16 = u16::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    V4,
    V6,
}

/// One way to the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate<T> {
    pub target: T,
    pub family: Family,
    /// SvcPriority of the record it comes from (RFC 9460, section 2.4.1), the least first, or [`NO_RECORD`].
    pub priority: u16,
}

/// What is asked of the name server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    A,
    Aaaa,
    Https,
}

/// Which answers are still out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Awaited {
    pub a: bool,
    pub aaaa: bool,
    pub https: bool,
}

/// The rules of one race.
#[derive(Clone, Debug)]
pub struct Rules<T> {
    /// Until the next candidate is tried beside one that does not answer (CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS).
    pub attempt_delay: Duration,
    /// Nothing begins before the answer about the service is in: ECH is demanded.
    pub needs_record: bool,
    /// What won the last time: it goes first, and nothing else is waited for.
    pub favourite: Option<T>,
}

/// The number of an attempt, counted from 0.
pub type AttemptId = usize;

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T> {
    Start(AttemptId, T),
    /// Too many are under way.
    GiveUp(AttemptId),
    /// For an event, or until then.
    Wait(Option<Instant>),
    Won(AttemptId),
    /// No candidate is left and none will come.
    Failed,
}

/// One race.
pub struct Race<T> {
    rules: Rules<T>,
    awaited: Awaited,
    /// Not tried yet, in the order in which they came.
    waiting: Vec<Candidate<T>>,
    tried: Vec<T>,
    under_way: Vec<Attempt>,
    last_family: Option<Family>,
    first_known: Option<Instant>,
    /// When the last answer about addresses came.
    told_at: Option<Instant>,
    /// When the next attempt is due though none has failed.
    due: Option<Instant>,
    winner: Option<AttemptId>,
}

struct Attempt {
    id: AttemptId,
    connected: bool,
}

impl<T: Clone + PartialEq> Race<T> {
    pub fn new(rules: Rules<T>, awaited: Awaited) -> Race<T> {
        Race {
            rules,
            awaited,
            waiting: Vec::new(),
            tried: Vec::new(),
            under_way: Vec::new(),
            last_family: None,
            first_known: None,
            told_at: None,
            due: None,
            winner: None,
        }
    }

    /// A way is known since then. One that was known already may have become better.
    pub fn candidate(&mut self, candidate: Candidate<T>, since: Instant) {
        self.first_known.get_or_insert(since);
        if self.tried.contains(&candidate.target) {
            return;
        }
        match self.waiting.iter_mut().find(|known| known.target == candidate.target) {
            Some(known) => known.priority = known.priority.min(candidate.priority),
            None => self.waiting.push(candidate),
        }
    }

    /// An answer is complete since then, or will not come.
    pub fn answered(&mut self, question: Question, at: Instant) {
        match question {
            Question::A => self.awaited.a = false,
            Question::Aaaa => self.awaited.aaaa = false,
            Question::Https => self.awaited.https = false,
        }
        if question != Question::Https {
            self.told_at = self.told_at.max(Some(at));
        }
    }

    /// All answers are in.
    pub fn complete(&mut self) {
        self.awaited = Awaited::default();
    }

    /// The transport stands; what comes next has the attempt delay to itself.
    pub fn connected(&mut self, id: AttemptId, now: Instant) {
        if let Some(attempt) = self.under_way.iter_mut().find(|a| a.id == id) {
            attempt.connected = true;
            self.due = Some(now + self.rules.attempt_delay);
        }
    }

    /// The attempt is through: without TLS when it is connected, else when the server has answered the
    /// handshake and is who it should be.
    pub fn secured(&mut self, id: AttemptId) {
        if self.under_way.iter().any(|a| a.id == id) {
            self.winner.get_or_insert(id);
        }
    }

    /// An attempt has come to nothing: the next one needn't wait.
    pub fn failed(&mut self, id: AttemptId) {
        let before = self.under_way.len();
        self.under_way.retain(|a| a.id != id);
        if self.under_way.len() < before {
            self.due = None;
        }
    }

    /// Whether anything was tried.
    pub fn has_begun(&self) -> bool {
        !self.tried.is_empty()
    }

    /// To be asked again after everything it says but `Wait`, and whenever something has happened.
    pub fn next(&mut self, now: Instant) -> Step<T> {
        if let Some(id) = self.winner {
            return Step::Won(id);
        }
        if self.waiting.is_empty() {
            return self.without_candidates(now);
        }
        if let Some(from) = self.not_before(now) {
            return Step::Wait(from);
        }
        if self.under_way.len() >= CONCURRENT {
            return Step::GiveUp(self.give_up());
        }
        self.start(now)
    }

    /// There is nobody to be tried, for now. A record alone is not waited for longer than the resolution
    /// delay.
    fn without_candidates(&self, now: Instant) -> Step<T> {
        let record_alone = !self.awaited.a && !self.awaited.aaaa && !self.rules.needs_record;
        let until = self.told_at.filter(|_| self.awaited.https).map(|at| at + RESOLUTION_DELAY);
        match until {
            _ if !self.under_way.is_empty() => Step::Wait(None),
            None if self.awaited == Awaited::default() => Step::Failed,
            Some(until) if record_alone && until <= now => Step::Failed,
            Some(until) if record_alone => Step::Wait(Some(until)),
            _ => Step::Wait(None),
        }
    }

    /// `None` when an attempt may begin now, else when; `Some(None)` waits for an answer alone.
    fn not_before(&self, now: Instant) -> Option<Option<Instant>> {
        if self.rules.needs_record && self.awaited.https {
            return Some(None);
        }
        let earliest = match self.tried.is_empty() {
            true => self.resolved_at(),
            false => self.due.filter(|_| !self.under_way.is_empty()),
        };
        earliest.filter(|at| *at > now).map(Some)
    }

    /// When the first attempt may begin; `None` when nothing is waited for.
    fn resolved_at(&self) -> Option<Instant> {
        let favourite = self.rules.favourite.as_ref();
        let known = favourite.is_some_and(|f| self.waiting.iter().any(|c| c.target == *f));
        let settled = !self.awaited.aaaa && !self.awaited.https;
        match known || settled {
            true => None,
            false => self.first_known.map(|at| at + RESOLUTION_DELAY),
        }
    }

    fn start(&mut self, now: Instant) -> Step<T> {
        let chosen = self.waiting.remove(self.best());
        let id = self.tried.len();
        self.tried.push(chosen.target.clone());
        self.last_family = Some(chosen.family);
        self.under_way.push(Attempt { id, connected: false });
        self.due = Some(now + self.rules.attempt_delay);
        Step::Start(id, chosen.target)
    }

    /// Which of the candidates goes next: that of the best service whose family's turn it is.
    fn best(&self) -> usize {
        let least = self.waiting.iter().map(|c| c.priority).min().unwrap_or(NO_RECORD);
        let turn = match self.last_family {
            Some(Family::V6) => Family::V4,
            Some(Family::V4) | None => Family::V6,
        };
        let is_favourite = |c: &Candidate<T>| self.rules.favourite.as_ref() == Some(&c.target);
        let find = |fits: &dyn Fn(&Candidate<T>) -> bool| {
            self.waiting.iter().position(|c| c.priority == least && fits(c))
        };
        find(&is_favourite).or_else(|| find(&|c| c.family == turn)).or_else(|| find(&|_| true)).unwrap_or(0)
    }

    /// The oldest goes, one that was connected last.
    fn give_up(&mut self) -> AttemptId {
        let oldest = self.under_way.iter().position(|a| !a.connected).unwrap_or(0);
        self.under_way.remove(oldest).id
    }
}

#[cfg(test)]
#[path = "eyeballs_tests.rs"]
mod tests;
