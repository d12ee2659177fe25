//! The command's side: finds or starts an agent, passes the call, and then represents it: signals that end or
//! stop the command end or stop the call.

use super::folder::{Folder, Lock};
use super::link::{Call, Frame, Link};
use super::{AgentOptions, IDLE_VARIABLE, VARIABLE, odd_values, standing, worker};
use crate::bytes::Bytes;
use crate::{outside, system};
use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, PidfdFlags, Signal as Process, geteuid, pidfd_open, pidfd_send_signal, umask};
use rustix::stdio::{stderr, stdin, stdout};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Agents of one world: so many commands at a time have one.
const SIDE_BY_SIDE: usize = 16;
/// Agents of all worlds.
const MOST: usize = 64;
/// Number of attempts to reach an agent in one place: one that exits, or has died, is replaced by another.
const ATTEMPTS: usize = 3;
/// Time for an agent to confirm the start.
const PATIENCE: Duration = Duration::from_secs(10);
/// CURLE_FAILED_INIT, the code if the agent ends in the middle of a call.
const LOST: i32 = 2;

/// Signals that end a process by default, and that may be meant for the call.
const ENDING: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
const STOPPING: Signal = Signal::SIGTSTP;

/// Lets an agent make the call; returns its exit code. Returns `None` if the command has to make it itself:
/// no agent is wanted or available, or none could do exactly the same.
pub fn call(words: &[Bytes]) -> Option<i32> {
    let variable = std::env::var(VARIABLE).ok();
    let idle = std::env::var(IDLE_VARIABLE).ok();
    for odd in odd_values(variable.as_deref(), idle.as_deref()) {
        eprintln!("warmwire: {odd}");
    }
    let wish = AgentOptions::of(words, variable.as_deref(), idle.as_deref());
    if !wish.wanted || standing::own_business(words).is_some() {
        return None;
    }
    let here = openat(CWD, ".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let folder = Folder::open(&Folder::usual()).ok()?;
    let call = Frame::Call(Call {
        build: standing::build().ok()?,
        idle_s: wish.idle_s,
        umask: own_umask(),
        shell: standing::shell_variables(),
        words: words.to_vec(),
    });
    // The agent examines this process before it does anything. Examining oneself as well takes as long as the
    // rest of this function, and is useful only if there is more than one world.
    match made(&folder, &standing::name(""), &call, &here).ok()? {
        CallOutcome::Code(code) => Some(code),
        CallOutcome::Nowhere => None,
        CallOutcome::ElsewhereOnly => {
            let world = standing::name(&standing::of("self").ok()?);
            match made(&folder, &world, &call, &here).ok()? {
                CallOutcome::Code(code) => Some(code),
                CallOutcome::ElsewhereOnly | CallOutcome::Nowhere => None,
            }
        }
    }
}

/// The result of a call passed to an agent.
enum CallOutcome {
    Code(i32),
    /// The agent of that name belongs to another world.
    ElsewhereOnly,
    Nowhere,
}

/// Passes the call to an agent of that name; concurrent commands have several.
fn made(folder: &Folder, world: &str, call: &Frame, here: &OwnedFd) -> io::Result<CallOutcome> {
    for number in 0..SIDE_BY_SIDE {
        let name = format!("{world}.{number}");
        let Some(lock) = folder.try_lock(&name)? else { continue };
        let signals = Signals::held()?;
        return Ok(match handed_over(folder, &name, &lock, call, here) {
            HandOver::Over(link, process) => CallOutcome::Code(attended(&link, process, &signals)),
            HandOver::Refused => CallOutcome::ElsewhereOnly,
            HandOver::ToNobody => CallOutcome::Nowhere,
        });
    }
    Ok(CallOutcome::Nowhere)
}

/// The outcome of passing a command to the agent.
enum HandOver {
    /// The agent has begun.
    Over(Link, Pid),
    Refused,
    ToNobody,
}

fn own_umask() -> u32 {
    let mask = umask(Mode::empty());
    umask(mask);
    mask.as_raw_mode()
}

/// Reaches the agent of a place, or starts one, and passes the call.
fn handed_over(folder: &Folder, name: &str, lock: &Lock, call: &Frame, here: &OwnedFd) -> HandOver {
    try_to_hand_over(folder, name, lock, call, here).unwrap_or(HandOver::ToNobody)
}

fn try_to_hand_over(
    folder: &Folder,
    name: &str,
    _lock: &Lock,
    call: &Frame,
    here: &OwnedFd,
) -> Option<HandOver> {
    let mut is_new = false;
    for _ in 0..ATTEMPTS {
        let link = match reached(folder, name) {
            Ok(link) => link,
            Err(error) if is_new || !nobody_there(&error) => return None,
            Err(_) => {
                start(folder, name).ok()?;
                is_new = true;
                reached(folder, name).ok()?
            }
        };
        link.wait_at_most(Some(PATIENCE)).ok()?;
        let streams = [stdin(), stdout(), stderr(), here.as_fd()];
        // An agent that has just exited leaves the call to the next one.
        let told = link.send_with(call, &streams).and_then(|()| link.receive());
        match told {
            Ok(Some(Frame::Taken(process))) => {
                link.wait_at_most(None).ok()?;
                return Some(HandOver::Over(link, Pid::from_raw(process.cast_signed())?));
            }
            Ok(Some(Frame::Refused { goes: false })) => return Some(HandOver::Refused),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
            Ok(_) | Err(_) => {}
        }
        // The agent is exiting or does not answer; the next attempt starts a new one.
        folder.remove(name);
    }
    None
}

fn nobody_there(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// Connects to an agent of this user; another user's is an error.
pub fn reached(folder: &Folder, name: &str) -> io::Result<Link> {
    let stream = folder.connect(name)?;
    if socket_peercred(&stream)?.uid != geteuid() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(Link::new(stream))
}

/// Starts an agent, which finds its socket as standard input; it listens already.
fn start(folder: &Folder, name: &str) -> io::Result<()> {
    if folder.names().len() > MOST {
        return Err(io::ErrorKind::QuotaExceeded.into());
    }
    let listener = folder.listen(name)?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0(worker::NAME).arg(&folder.path).arg(name);
    command.stdin(OwnedFd::from(listener)).stdout(Stdio::null()).stderr(Stdio::null());
    command.current_dir("/").spawn().map(drop)
}

/// Signals that are blocked, and read one by one, while the value lives.
struct Signals {
    set: SigSet,
    arrived: SignalFd,
}

impl Signals {
    fn held() -> io::Result<Signals> {
        let set: SigSet = ENDING.into_iter().chain([STOPPING]).collect();
        set.thread_block()?;
        let arrived = SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        Ok(Signals { set, arrived })
    }

    /// The next one that is not ignored.
    fn next(&self) -> Option<Signal> {
        loop {
            let signal = Signal::try_from(self.arrived.read_signal().ok()??.ssi_signo.cast_signed()).ok()?;
            if !is_ignored(signal) {
                return Some(signal);
            }
        }
    }

    /// Applies the signal's default action to this process.
    fn suffer(&self, signal: Signal) {
        let one: SigSet = [signal].into_iter().collect();
        let _ = raise(signal);
        let _ = one.thread_unblock();
        let _ = one.thread_block();
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        let _ = self.set.thread_unblock();
    }
}

/// Returns whether the signal is ignored, as nohup(1) and shells do for background jobs.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(0);
    mask & 1 << (signal as i32 - 1) != 0
}

/// Waits for the end of a call, and does for it what only this process can.
fn attended(link: &Link, agent: Pid, signals: &Signals) -> i32 {
    loop {
        let mut waits = [PollFd::new(link, PollFlags::IN), PollFd::new(&signals.arrived, PollFlags::IN)];
        if poll(&mut waits, None).is_err() {
            continue;
        }
        let heard = !waits[0].revents().is_empty();
        if !heard && let Some(signal) = signals.next() {
            pass_on(signal, link, agent, signals);
            continue;
        }
        if !heard {
            continue;
        }
        match link.receive() {
            Ok(Some(Frame::Done(code))) => return code,
            Ok(Some(Frame::Hide { word, bytes })) => {
                system::hide(word as usize, bytes as usize);
            }
            Ok(Some(Frame::Ask(prompt))) => {
                let password = outside::ask_password(&String::from_utf8_lossy(&prompt));
                let _ = link.send(&Frame::Answer(password));
            }
            Ok(Some(_)) | Ok(None) | Err(_) => {
                // Something may have been sent or written, so the call is not repeated.
                eprintln!("curl: ({LOST}) The agent ended during the call");
                return LOST;
            }
        }
    }
}

/// Applies a signal to the call, and then to the command.
fn pass_on(signal: Signal, link: &Link, agent: Pid, signals: &Signals) {
    let Ok(agent) = pidfd_open(agent, PidfdFlags::empty()) else { return };
    if signal == STOPPING {
        let _ = pidfd_send_signal(&agent, Process::STOP);
        signals.suffer(signal);
        let _ = pidfd_send_signal(&agent, Process::CONT);
        return;
    }
    let _ = pidfd_send_signal(&agent, Process::KILL);
    // Its streams are closed when it is gone.
    while let Ok(Some(_)) = link.receive() {}
    let _ = pidfd_wait(&agent);
    signals.suffer(signal);
}

/// A pidfd is readable when its process has ended.
fn pidfd_wait(process: &OwnedFd) -> rustix::io::Result<usize> {
    poll(&mut [PollFd::new(process, PollFlags::IN)], None)
}
