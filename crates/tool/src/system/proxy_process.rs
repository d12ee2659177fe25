//! The process of `--proxy-command`: its standard input and output are one end of a pair of sockets, and the
//! library has the other one. A thread starts it and waits for its end.

use super::shell;
use crate::bytes::Bytes;
use crate::message::os_text;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// How long a command that has closed its connection may take to end, until its status is given up.
const LONGEST_END: Duration = Duration::from_secs(1);

/// A command that makes one connection.
#[derive(Clone, Default)]
pub struct ProxyProcess(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    child: Option<Child>,
    /// Whether the library has closed its end.
    is_closed: bool,
    /// Whether the command had closed its end before.
    ended_first: bool,
    /// Whether the command has ended, or was not started.
    is_over: bool,
    failure: Option<String>,
}

impl ProxyProcess {
    /// Returns the library's end of a new pair of sockets. `converse` speaks at the other end on a thread,
    /// and returns the command that takes that end over, or why there is none. It fails if the library has
    /// given up.
    pub fn start(
        converse: impl FnOnce(&mut UnixStream) -> io::Result<Result<Bytes, String>> + Send + 'static,
    ) -> io::Result<(OwnedFd, ProxyProcess)> {
        let (ours, theirs) = UnixStream::pair()?;
        let process = ProxyProcess::default();
        let running = process.clone();
        Builder::new().name("proxy-command".into()).spawn(move || running.run(theirs, converse))?;
        Ok((ours.into(), process))
    }

    /// Closes the library's end, and ends the command by SIGTERM. OpenSSH's SIGHUP is ignored by what nohup
    /// has started.
    pub fn close(&self, end: OwnedFd) {
        let ended_first = is_hung_up(&end);
        drop(end);
        let mut state = self.state();
        (state.is_closed, state.ended_first) = (true, ended_first);
        terminate(state.child.as_ref());
    }

    /// Returns why the command is to blame for a failed transfer.
    pub fn failure(&self) -> Option<String> {
        let is_started = |state: &State| state.child.is_some();
        let ends = |state: &mut State| {
            !state.is_over && (state.ended_first || state.is_closed && !is_started(state))
        };
        let waited = self.0.1.wait_timeout_while(self.state(), LONGEST_END, ends);
        waited.unwrap_or_else(PoisonError::into_inner).0.failure.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(
        &self,
        mut end: UnixStream,
        converse: impl FnOnce(&mut UnixStream) -> io::Result<Result<Bytes, String>>,
    ) {
        let failure = match converse(&mut end) {
            Ok(Ok(command)) => match start(&command, end) {
                Ok(child) => self.wait(child),
                Err(error) => Some(format!("cannot be started: {}", os_text(&error))),
            },
            Ok(Err(refusal)) => Some(refusal),
            Err(_) => None,
        };
        let mut state = self.state();
        (state.failure, state.is_over) = (failure, true);
        drop(state);
        self.0.1.notify_all();
    }

    /// Waits for the end of the command. Returns its failure, unless that comes from the end of its
    /// connection.
    fn wait(&self, child: Child) -> Option<String> {
        let number = Pid::from_child(&child);
        let mut state = self.state();
        if state.is_closed {
            terminate(Some(&child));
        }
        state.child = Some(child);
        drop(state);
        // Not reaped before the lock is held: until then nobody else can have its number.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(number), options).is_err_and(|error| error == Errno::INTR) {}
        let mut state = self.state();
        let status = state.child.take()?.wait().ok()?;
        let is_blamed = !state.is_closed || state.ended_first;
        let is_terminated = state.is_closed && status.signal() == Some(Signal::TERM.as_raw());
        (is_blamed && !is_terminated).then(|| described(status))?
    }
}

/// Starts the command with this end as its standard input and output.
fn start(command: &[u8], end: UnixStream) -> io::Result<Child> {
    let input = OwnedFd::from(end.try_clone()?);
    shell(command).stdin(input).stdout(OwnedFd::from(end)).spawn()
}

fn terminate(child: Option<&Child>) {
    if let Some(child) = child {
        let _ = kill_process(Pid::from_child(child), Signal::TERM);
    }
}

/// Returns whether the other end is closed.
fn is_hung_up(end: &OwnedFd) -> bool {
    let mut polled = [PollFd::new(end, PollFlags::IN)];
    let found = poll(&mut polled, Some(&Timespec::default()));
    found.is_ok() && polled[0].revents().contains(PollFlags::HUP)
}

/// Describes how a command has failed.
fn described(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exited with status {code}")),
        (None, Some(signal)) => Some(format!("was ended by signal {signal}")),
        (None, None) => None,
    }
}
