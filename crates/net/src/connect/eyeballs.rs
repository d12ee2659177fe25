//! Happy Eyeballs version 3 (draft-ietf-happy-happyeyeballs-v3; RFC 8305 where the draft has no rule) as a
//! state machine without sockets or a clock: its inputs are events with their times.
//!
//! Candidates may arrive one by one, as names are resolved. The first attempt waits for the preferred
//! answers, or for the resolution delay after the first candidate. Then attempts start one after the other:
//! the next one when one fails, or after the attempt delay without news. Services are ordered by their
//! priority; within one the families alternate, IPv6 first. A connected attempt gets another attempt delay
//! for its handshake, so a host that accepts a connection and then stays silent loses. Late candidates are
//! sorted in among those that were not tried.

use std::time::{Duration, Instant};

use crate::resolver::RESOLUTION_DELAY;

/// Maximum number of concurrent attempts; beyond it the oldest is cancelled (as in curl).
pub const CONCURRENT: usize = 6;
/// The priority of an address without a service record: after all that have one.
pub const NO_RECORD: u16 = u16::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    V4,
    V6,
}

/// A way to the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate<T> {
    pub target: T,
    pub family: Family,
    /// SvcPriority of its record (RFC 9460, section 2.4.1), lowest first, or [`NO_RECORD`].
    pub priority: u16,
}

/// A query to the name server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    A,
    Aaaa,
    Https,
}

/// Which answers are still out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingQuestions {
    pub a: bool,
    pub aaaa: bool,
    pub https: bool,
}

/// The rules of one race.
#[derive(Clone, Debug)]
pub struct Rules<T> {
    /// Delay before the next candidate is tried beside one that does not answer
    /// (CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS).
    pub attempt_delay: Duration,
    /// Whether to wait for the service record before the first attempt, because ECH is required.
    pub needs_record: bool,
    /// The winner of the last race: it is tried first, without waiting for anything.
    pub favourite: Option<T>,
}

/// The number of an attempt, counted from 0.
pub type AttemptId = usize;

/// The next action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T> {
    Start(AttemptId, T),
    /// Too many are under way.
    GiveUp(AttemptId),
    /// For an event, or until then.
    Wait(Option<Instant>),
    Won(AttemptId),
    /// No candidate is left, and none will come.
    Failed,
}

/// A race between the ways to a host (RFC 8305).
pub struct Race<T> {
    rules: Rules<T>,
    awaited: PendingQuestions,
    /// Untried candidates, in the order of arrival.
    waiting: Vec<Candidate<T>>,
    tried: Vec<T>,
    under_way: Vec<Attempt>,
    last_family: Option<Family>,
    first_known: Option<Instant>,
    /// When the last answer about addresses arrived.
    addresses_answered_at: Option<Instant>,
    /// When the next attempt is due though none has failed.
    due: Option<Instant>,
    winner: Option<AttemptId>,
}

struct Attempt {
    id: AttemptId,
    connected: bool,
}

impl<T: Clone + PartialEq> Race<T> {
    pub fn new(rules: Rules<T>, awaited: PendingQuestions) -> Race<T> {
        Race {
            rules,
            awaited,
            waiting: Vec::new(),
            tried: Vec::new(),
            under_way: Vec::new(),
            last_family: None,
            first_known: None,
            addresses_answered_at: None,
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
            self.addresses_answered_at = self.addresses_answered_at.max(Some(at));
        }
    }

    /// All answers are in.
    pub fn complete(&mut self) {
        self.awaited = PendingQuestions::default();
    }

    /// Records that the transport is connected; its handshake gets another attempt delay.
    pub fn connected(&mut self, id: AttemptId, now: Instant) {
        if let Some(attempt) = self.under_way.iter_mut().find(|a| a.id == id) {
            attempt.connected = true;
            self.due = Some(now + self.rules.attempt_delay);
        }
    }

    /// Records that the attempt has won: without TLS when it is connected, otherwise when the server has
    /// answered the handshake and proved its identity.
    pub fn secured(&mut self, id: AttemptId) {
        if self.under_way.iter().any(|a| a.id == id) {
            self.winner.get_or_insert(id);
        }
    }

    /// Records a failed attempt: the next one need not wait.
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

    /// Returns the next action. Call it again after every action except `Wait`, and after every event.
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

    /// Decides what to do without a candidate. A record alone is not awaited for longer than the resolution
    /// delay.
    fn without_candidates(&self, now: Instant) -> Step<T> {
        let record_alone = !self.awaited.a && !self.awaited.aaaa && !self.rules.needs_record;
        let until = self.addresses_answered_at.filter(|_| self.awaited.https).map(|at| at + RESOLUTION_DELAY);
        match until {
            _ if !self.under_way.is_empty() => Step::Wait(None),
            None if self.awaited == PendingQuestions::default() => Step::Failed,
            Some(until) if record_alone && until <= now => Step::Failed,
            Some(until) if record_alone => Step::Wait(Some(until)),
            _ => Step::Wait(None),
        }
    }

    /// Returns `None` if an attempt may start now, otherwise when; `Some(None)` if only an answer can allow
    /// it.
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

    /// Returns when the first attempt may start; `None` if there is nothing to wait for.
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

    /// Returns the next candidate: from the best service, of the family whose turn it is.
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

    /// Chooses the attempt to cancel: the oldest, preferably one that is not connected.
    fn give_up(&mut self) -> AttemptId {
        let oldest = self.under_way.iter().position(|a| !a.connected).unwrap_or(0);
        self.under_way.remove(oldest).id
    }
}

#[cfg(test)]
#[path = "eyeballs_tests.rs"]
mod tests;
