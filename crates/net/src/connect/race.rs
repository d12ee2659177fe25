//! Runs a race: sockets, timers and the source of candidates on one side, `eyeballs` on the other.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use runtime::{Reactor, Sleep};

use super::attempt::{Attempt, News};
use super::eyeballs::{AttemptId, Race, Rules, Step};
use super::{ConnectRequest, RaceEvent, Source, SourceEvent, Stage};
use crate::error::{LayerError, NetError, NetErrorKind};
use crate::filter::open::Target;

/// Failures that a message names.
const NAMED: usize = 6;

/// Runs until an attempt has won or none can.
pub async fn run<T>(
    reactor: &Arc<Reactor>,
    request: &ConnectRequest<'_>,
    source: &mut dyn Source,
    stage: &Stage<'_, T>,
) -> Result<T, NetError> {
    let rules = Rules {
        attempt_delay: request.attempt_delay,
        needs_record: request.needs_record,
        favourite: request.favourite.map(Target::Ip),
    };
    let mut run = Run {
        ways: (reactor, request),
        race: Race::new(rules, source.awaited()),
        source: Some(source),
        stage,
        attempts: Vec::new(),
        timer: None,
        deadline: request.deadline.map(|at| reactor.sleep_until(at)),
        through: None,
        failures: Vec::new(),
        unresolved: None,
    };
    poll_fn(|cx| run.poll(cx)).await
}

struct Run<'r, 'a, T> {
    ways: (&'r Arc<Reactor>, &'r ConnectRequest<'r>),
    race: Race<Target>,
    source: Option<&'r mut (dyn Source + 'r)>,
    stage: &'r Stage<'a, T>,
    attempts: Vec<Attempt<'a, T>>,
    timer: Option<(Instant, Sleep)>,
    deadline: Option<Sleep>,
    /// The result of the winner.
    through: Option<T>,
    failures: Vec<Failure>,
    /// The source's error if nothing could be tried.
    unresolved: Option<NetError>,
}

/// A failed attempt.
struct Failure {
    target: Target,
    error: NetError,
    /// It was connected, and failed later.
    connected: bool,
}

impl<T> Run<'_, '_, T> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, NetError>> {
        loop {
            self.listen(cx);
            if let Err(error) = self.poll_attempts(cx) {
                return Poll::Ready(Err(error));
            }
            match self.race.next(self.ways.0.now()) {
                Step::Start(id, target) => {
                    if let Err(error) = self.start(id, &target) {
                        return Poll::Ready(Err(error));
                    }
                }
                Step::GiveUp(id) => self.attempts.retain(|a| a.id != id),
                Step::Wait(until) => {
                    if self.wait(until, cx) {
                        continue;
                    }
                    let late = self.deadline.as_mut().is_some_and(|at| Pin::new(at).poll(cx).is_ready());
                    return if late { Poll::Ready(Err(self.timeout())) } else { Poll::Pending };
                }
                Step::Won(_) => {
                    self.attempts.clear(); // the losers' sockets close here
                    let out = self.through.take();
                    return Poll::Ready(out.ok_or_else(|| self.failure()));
                }
                Step::Failed => return Poll::Ready(Err(self.failure())),
            }
        }
    }

    /// Processes news from the source.
    fn listen(&mut self, cx: &mut Context<'_>) {
        while let Some(source) = &mut self.source {
            match source.poll_event(cx) {
                Poll::Ready(Some(SourceEvent::Candidate(candidate, since))) => {
                    self.race.candidate(candidate, since)
                }
                Poll::Ready(Some(SourceEvent::Answered(question, at))) => self.race.answered(question, at),
                Poll::Ready(None) => {
                    self.race.complete();
                    self.unresolved = source.failure();
                    self.source = None;
                }
                Poll::Pending => return,
            }
        }
    }

    /// Polls every attempt, until one is through.
    fn poll_attempts(&mut self, cx: &mut Context<'_>) -> Result<(), NetError> {
        let mut i = 0;
        while i < self.attempts.len() && self.through.is_none() {
            let id = self.attempts[i].id;
            match self.attempts[i].poll(cx, self.ways, self.stage) {
                Poll::Pending => i += 1,
                Poll::Ready(News::Connected) => self.race.connected(id, self.ways.0.now()),
                Poll::Ready(News::Through(out)) => {
                    self.through = Some(out);
                    self.race.secured(id);
                }
                Poll::Ready(News::Refused(error, local)) => self.drop_failed(i, error, false, local)?,
                Poll::Ready(News::Broken(LayerError::TryNext(error))) => {
                    self.drop_failed(i, error, true, None)?
                }
                Poll::Ready(News::Broken(LayerError::Final(error))) => return Err(error),
            }
        }
        Ok(())
    }

    fn drop_failed(
        &mut self,
        at: usize,
        error: NetError,
        connected: bool,
        local: Option<SocketAddr>,
    ) -> Result<(), NetError> {
        let Attempt { id, target, .. } = self.attempts.remove(at);
        self.race.failed(id);
        self.note_failure(Failure { target, error, connected }, local)
    }

    fn start(&mut self, id: AttemptId, target: &Target) -> Result<(), NetError> {
        let (reactor, request) = self.ways;
        if let (Target::Ip(address), Some(report)) = (target, request.report) {
            report(RaceEvent::Trying(address));
        }
        match Attempt::start(id, target, reactor, request) {
            Ok(attempt) => self.attempts.push(attempt),
            Err(error) => {
                self.race.failed(id);
                self.note_failure(Failure { target: target.clone(), error, connected: false }, None)?;
            }
        }
        Ok(())
    }

    /// An application that wants an end gets it.
    fn note_failure(&mut self, failure: Failure, local: Option<SocketAddr>) -> Result<(), NetError> {
        if failure.error.kind == NetErrorKind::AbortedByCallback {
            return Err(failure.error);
        }
        if let (Target::Ip(address), Some(report)) = (&failure.target, self.ways.1.report) {
            report(RaceEvent::Failed(address, local, &failure.error));
        }
        self.failures.push(failure);
        Ok(())
    }

    /// Sets the timer; true when it has run out by now.
    fn wait(&mut self, until: Option<Instant>, cx: &mut Context<'_>) -> bool {
        if self.timer.as_ref().map(|(at, _)| *at) != until {
            self.timer = until.map(|at| (at, self.ways.0.sleep_until(at)));
            if let (Some(at), Some(report), true) = (until, self.ways.1.report, self.race.has_begun()) {
                report(RaceEvent::Waiting(at.saturating_duration_since(self.ways.0.now())));
            }
        }
        self.timer.as_mut().is_some_and(|(_, sleep)| Pin::new(sleep).poll(cx).is_ready())
    }

    /// Returns the error: that of the attempt that got furthest, and among several the last one.
    fn failure(&mut self) -> NetError {
        let place = self.ways.1.place;
        let elapsed = self.elapsed_ms();
        let named = self.named();
        let message =
            format!("Failed to connect to {place} after {elapsed} ms: Could not connect to server{named}");
        let furthest = self.failures.iter().rposition(|f| f.connected);
        let Some(at) = furthest.or(self.failures.len().checked_sub(1)) else {
            let unreached = || NetError::new(NetErrorKind::CouldntConnect, message);
            let unresolved = self.unresolved.take().or_else(|| self.source.as_ref()?.failure());
            return unresolved.unwrap_or_else(unreached);
        };
        let Failure { error, connected, .. } = self.failures.swap_remove(at);
        match error {
            e if connected => NetError { message: e.message.clone() + &named, ..e },
            e if e.kind != NetErrorKind::CouldntConnect || !e.message.is_empty() => e,
            e if e.is_system_timeout() => NetError { kind: NetErrorKind::OperationTimedout, message, ..e },
            e => NetError { message, ..e },
        }
    }

    /// All failures, when there are several.
    fn named(&self) -> String {
        let each = |failure: &Failure| match &failure.target {
            Target::Ip(address) => Some(format!("{address}: {}", failure.error.reason())),
            Target::Unix(_) => None,
        };
        match self.failures.len() {
            0 | 1 => String::new(),
            n => {
                let list: Vec<String> = self.failures.iter().filter_map(each).take(NAMED).collect();
                let more = if n > NAMED { format!(", and {} more", n - NAMED) } else { String::new() };
                format!(" ({}{more})", list.join(", "))
            }
        }
    }

    fn timeout(&self) -> NetError {
        let what = if self.race.has_begun() { "Connection" } else { "Resolving" };
        let message = format!("{what} timed out after {} milliseconds", self.elapsed_ms());
        NetError::new(NetErrorKind::OperationTimedout, message)
    }

    fn elapsed_ms(&self) -> u128 {
        self.ways.0.now().saturating_duration_since(self.ways.1.started).as_millis()
    }
}
