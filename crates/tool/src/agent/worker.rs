//! The agent's side: one call after the other, each with its caller's streams, working folder and umask.

use super::folder::Folder;
use super::link::{Call, Frame, Link};
use super::{IDLE_S, standing};
use crate::bytes::Bytes;
use nix::sys::signal::SigSet;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::net::sockopt::socket_peercred;
use rustix::process::{
    DumpableBehavior, Signal, fchdir, geteuid, getpid, kill_process, set_dumpable_behavior, setsid, umask,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin};
use std::ffi::CStr;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use warmwire::process_pool;

/// The program's name in an agent.
pub const NAME: &str = "warmwire-agent";
/// A shorter title, for listings with short names.
const TITLE: &CStr = c"warmwire-agent";
/// Time for a connected process to send its request.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs a call for its caller and returns the exit code.
pub type Run = fn(&[Bytes], Caller) -> i32;

/// Whether this process was started to be an agent.
pub fn is_agent() -> bool {
    std::env::args_os().next().is_some_and(|name| name == NAME)
}

/// The command for which a call is made.
pub struct Caller {
    link: Link,
    answers: Receiver<Bytes>,
    /// The variables that are the call's, not the agent's.
    shell: Vec<(Bytes, Option<Bytes>)>,
}

impl Caller {
    /// A variable of the caller's; none where the agent's own is the same.
    pub fn variable(&self, name: &str) -> Option<Option<Bytes>> {
        self.shell.iter().find(|(known, _)| known == name.as_bytes()).map(|(_, value)| value.clone())
    }

    /// Asks for a password on the caller's terminal.
    pub fn ask(&self, prompt: &str) -> Bytes {
        let asked = self.link.send(&Frame::Ask(prompt.into()));
        asked.ok().and_then(|()| self.answers.recv().ok()).unwrap_or_default()
    }

    /// Overwrites the secret in the caller's own memory.
    pub fn hide(&self, word: usize, bytes: usize) {
        let _ = self.link.send(&Frame::Hide { word: word as u32, bytes: bytes as u32 });
    }
}

struct Agent {
    run: Run,
    build: Bytes,
    standing: String,
    null: OwnedFd,
    calls: u64,
    idle_s: u32,
    since: Instant,
    /// Queue of connected callers, in order.
    hearing: Sender<Hearing>,
}

/// A caller that is to be heard while his call is made.
struct Hearing {
    link: Link,
    answer: Sender<Bytes>,
    /// The call has been made.
    over: Arc<AtomicBool>,
}

/// The step after a request.
enum After {
    GoOn,
    Go,
}

/// Serves until it has been idle for a while.
pub fn serve(run: Run) -> i32 {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let [path, name] = words.as_slice() else { return 2 };
    let (Some(name), Ok((listener, mut agent))) = (name.to_str(), Agent::new(run)) else { return 2 };
    let Ok(folder) = Folder::open(Path::new(path)) else { return 2 };
    agent.attend(&listener, &folder, name);
    // Remaining connections are closed in an orderly way.
    process_pool::enable(false);
    0
}

fn is_asked(listener: &UnixListener, wait: Duration) -> bool {
    let until = Instant::now() + wait;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(limit) = left.try_into() else { return false };
        match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&limit)) {
            Ok(0) => return false,
            Ok(_) => return true,
            Err(_) => {}
        }
    }
}

impl Agent {
    /// Detaches the process from the command that started it.
    fn new(run: Run) -> io::Result<(UnixListener, Agent)> {
        close_inherited()?;
        let listener = UnixListener::from(rustix::io::fcntl_dupfd_cloexec(stdin(), 3)?);
        let null = openat(CWD, "/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        let (hearing, callers) = channel::<Hearing>();
        let agent = Agent {
            run,
            build: standing::build()?,
            standing: standing::of("self")?,
            null,
            calls: 0,
            idle_s: IDLE_S,
            since: Instant::now(),
            hearing,
        };
        agent.let_go();
        setsid()?;
        rustix::thread::set_name(TITLE)?;
        // The command held signals back when it started the agent.
        SigSet::all().thread_unblock()?;
        // One thread for all: to make one for each call would take a tenth of its time.
        std::thread::Builder::new().spawn(move || callers.iter().for_each(|caller| listen(&caller)))?;
        let pooled = std::env::var_os("WARMWIRE_POOL").is_none_or(|kind| kind == "process");
        process_pool::enable(pooled);
        Ok((listener, agent))
    }

    /// Releases everything of a caller. Remains in memory are protected from core dumps and debuggers.
    fn let_go(&self) {
        let _ = dup2_stdin(&self.null);
        let _ = dup2_stdout(&self.null);
        let _ = dup2_stderr(&self.null);
        let _ = rustix::process::chdir("/");
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }

    /// Serves one caller at a time, until it has to exit.
    fn attend(&mut self, listener: &UnixListener, folder: &Folder, name: &str) {
        let mut wait = Duration::from_secs(self.idle_s.into());
        loop {
            if !is_asked(listener, wait) {
                // The owner of the lock is about to call.
                if let Ok(Some(lock)) = folder.try_lock(name) {
                    folder.forget(name, lock);
                    return;
                }
                wait = Duration::from_secs(1);
                continue;
            }
            let Ok((stream, _)) = listener.accept() else { continue };
            if let Ok(After::Go) = self.hear(Link::new(stream)) {
                return;
            }
            self.since = Instant::now();
            wait = Duration::from_secs(self.idle_s.into());
        }
    }

    fn hear(&mut self, link: Link) -> io::Result<After> {
        let peer = socket_peercred(&link)?;
        if peer.uid != geteuid() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        link.wait_at_most(Some(PATIENCE))?;
        let Some((frame, descriptors)) = link.receive_with()? else { return Ok(After::GoOn) };
        match frame {
            Frame::Status => link.send(&Frame::State(self.state().into_bytes()))?,
            Frame::Stop => {
                let _ = link.send(&Frame::Done(0));
                return Ok(After::Go);
            }
            Frame::Call(call) => {
                if call.build != self.build {
                    let _ = link.send(&Frame::Refused { goes: true });
                    return Ok(After::Go);
                }
                let alike = standing::of(&peer.pid.as_raw_nonzero().to_string());
                if alike.ok().as_ref() != Some(&self.standing) || !self.become_of(&call, &descriptors) {
                    self.let_go();
                    link.send(&Frame::Refused { goes: false })?;
                    return Ok(After::GoOn);
                }
                drop(descriptors);
                self.idle_s = call.idle_s;
                self.calls += 1;
                self.make(call, &link)?;
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
        Ok(After::GoOn)
    }

    /// Takes over the caller's process-wide state.
    fn become_of(&self, call: &Call, descriptors: &[OwnedFd]) -> bool {
        let [input, output, error, folder] = descriptors else { return false };
        umask(Mode::from_raw_mode(call.umask));
        fchdir(folder).is_ok()
            && dup2_stdin(input).is_ok()
            && dup2_stdout(output).is_ok()
            && dup2_stderr(error).is_ok()
            // The tool itself can be looked into as well.
            && set_dumpable_behavior(DumpableBehavior::Dumpable).is_ok()
    }

    fn make(&self, call: Call, link: &Link) -> io::Result<()> {
        let over = Arc::new(AtomicBool::new(false));
        let (answer, answers) = channel();
        link.wait_at_most(None)?;
        let heard = Hearing { link: link.again()?, answer, over: over.clone() };
        self.hearing.send(heard).map_err(|_| io::ErrorKind::BrokenPipe)?;
        link.send(&Frame::Taken(getpid().as_raw_nonzero().get().cast_unsigned()))?;
        let caller = Caller { link: link.again()?, answers, shell: call.shell };
        let code = (self.run)(&call.words, caller);
        let _ = io::stdout().flush();
        over.store(true, Ordering::SeqCst);
        self.let_go();
        // Unwritable output must not appear in the next call's.
        let _ = io::stdout().flush();
        let done = link.send(&Frame::Done(code));
        // Even if the caller stays, the next one is heard.
        link.end_hearing();
        done
    }

    fn state(&self) -> String {
        let process = getpid().as_raw_nonzero();
        let kept = process_pool::connections();
        let (calls, idle, stays) = (self.calls, self.since.elapsed().as_secs(), self.idle_s);
        format!("agent {process}: calls {calls}, connections {kept}, idle {idle} s of {stays}")
    }
}

/// Reads from the caller during the call. If the caller exits before the end, the call ends as if it had been
/// the caller's own.
fn listen(caller: &Hearing) {
    while let Ok(Some(frame)) = caller.link.receive() {
        if let Frame::Answer(text) = frame {
            let _ = caller.answer.send(text);
        }
    }
    if !caller.over.load(Ordering::SeqCst) {
        let _ = kill_process(getpid(), Signal::KILL);
    }
}

/// Closes descriptors inherited from the shell of the starting command (a pipe, a lock), so that the agent
/// does not keep them open.
fn close_inherited() -> io::Result<()> {
    let names = std::fs::read_dir("/proc/self/fd")?.flatten().map(|file| file.file_name());
    let numbers: Vec<i32> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        let _ = nix::unistd::close(number);
    }
    Ok(())
}
