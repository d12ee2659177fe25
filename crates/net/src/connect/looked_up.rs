//! A look-up as a source of candidates: each answer counts for a race when it comes, one that is under way
//! included.

use std::collections::VecDeque;
use std::task::{Context, Poll, ready};

use super::eyeballs::{Candidate, Family, PendingQuestions, Question};
use super::{ConnectRequest, RaceEvent, Source, SourceEvent};
use crate::NetError;
use crate::filter::open::Target;
use crate::resolver::{self, Candidates, Part, QuestionAnswer};

/// The protocol that is assumed if none is offered.
const DEFAULT: &str = "http/1.1";

pub struct LookedUp<'a> {
    candidates: &'a mut Candidates,
    request: &'a ConnectRequest<'a>,
    /// Events of the last answer that were not returned yet.
    events: VecDeque<SourceEvent>,
}

impl<'a> LookedUp<'a> {
    pub fn new(candidates: &'a mut Candidates, request: &'a ConnectRequest<'a>) -> LookedUp<'a> {
        LookedUp { candidates, request, events: VecDeque::new() }
    }

    fn queue_events(&mut self, answered: &QuestionAnswer) {
        let fitting = answered.candidates.iter().filter(|c| speaks(c, self.request.protocols));
        self.events.extend(fitting.map(|c| {
            let family = if c.address.is_ipv6() { Family::V6 } else { Family::V4 };
            let candidate = Candidate { target: Target::Ip(c.address), family, priority: c.priority };
            SourceEvent::Candidate(candidate, answered.at)
        }));
        self.events.push_back(SourceEvent::Answered(question(answered.part), answered.at));
    }
}

impl Source for LookedUp<'_> {
    fn awaited(&self) -> PendingQuestions {
        let out: Vec<Question> = self.candidates.outstanding().map(question).collect();
        PendingQuestions {
            a: out.contains(&Question::A),
            aaaa: out.contains(&Question::Aaaa),
            https: out.contains(&Question::Https),
        }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<SourceEvent>> {
        while self.events.is_empty() {
            let Some(answered) = ready!(self.candidates.poll_next(cx)) else { return Poll::Ready(None) };
            if let Some(report) = self.request.report {
                report(RaceEvent::Answered(&answered));
            }
            self.queue_events(&answered);
        }
        Poll::Ready(self.events.pop_front())
    }

    fn failure(&self) -> Option<NetError> {
        self.candidates.failure().cloned()
    }
}

fn question(part: Part) -> Question {
    match part {
        Part::Addresses(resolver::Family::V4) => Question::A,
        Part::Addresses(resolver::Family::V6) => Question::Aaaa,
        Part::Services => Question::Https,
    }
}

/// Returns whether the candidate supports one of these protocols, as far as is known.
fn speaks(candidate: &resolver::Candidate, protocols: &[String]) -> bool {
    let Some(spoken) = &candidate.protocols else { return true };
    let has = |name: &str| spoken.iter().any(|one| one == name.as_bytes());
    if protocols.is_empty() { has(DEFAULT) } else { protocols.iter().any(|name| has(name)) }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    #[test]
    fn protocols_of_records_are_minded() {
        let at = |protocols: Option<&[&str]>| {
            let list = protocols.map(|names| names.iter().map(|n| n.as_bytes().to_vec()).collect());
            resolver::Candidate { protocols: list, ..SocketAddr::from(([127, 0, 0, 1], 443)).into() }
        };
        let ours = ["h2".to_owned(), "http/1.1".to_owned()];
        assert!(speaks(&at(None), &ours) && speaks(&at(None), &[]));
        assert!(speaks(&at(Some(&["h3", "h2"])), &ours));
        assert!(!speaks(&at(Some(&["h3"])), &ours) && !speaks(&at(Some(&["h2"])), &[]));
        assert!(speaks(&at(Some(&["h2", "http/1.1"])), &[]));
    }
}
