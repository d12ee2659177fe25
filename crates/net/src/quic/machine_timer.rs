//! The timer of a connection that is being driven.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use runtime::{Reactor, Sleep};

use super::Machine;

/// Sleeps until something is due; a new moment moves it.
#[derive(Default)]
pub struct MachineTimer(Option<Sleep>);

impl MachineTimer {
    /// Processes expired timers; ready if there were any.
    pub fn poll(&mut self, cx: &mut Context<'_>, machine: &mut Machine, reactor: &Arc<Reactor>) -> Poll<()> {
        let next = [machine.timeout(), machine.silent_until()];
        let Some(at) = next.into_iter().flatten().min() else { return Poll::Pending };
        let due = self.0.get_or_insert_with(|| reactor.sleep_until(at));
        if due.deadline() != at {
            due.reset(at);
        }
        ready!(Pin::new(due).poll(cx));
        machine.tick(reactor.now());
        machine.break_silence(reactor.now());
        Poll::Ready(())
    }
}
