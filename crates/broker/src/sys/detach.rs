//! The body of `warmwire --pool-broker`. The command runs twice: the first process makes the socket, leaves
//! the session of its caller and starts the second one, which serves. Without the second process, the
//! application would have a child that it does not know, and wait(2) would not end.
//!
//! The second process gets the listening socket as its standard input. systemd does the same
//! (StandardInput=socket), so a unit needs no other command.

use std::env;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};

use runtime::environment;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::net::sockopt;
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, chdir, getrlimit, set_dumpable_behavior, setrlimit, setsid, umask,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin, stdout};

use super::folder::{Folder, Lock};
use super::server::{Limits, Server, VARIABLES};

/// The hidden command of the tool.
pub(super) const FLAG: &str = "--pool-broker";
/// Held by the broker as long as it lives.
const LOCK: &str = "broker.lock";

/// Serves if standard input is a listening socket; otherwise starts a process that does. Returns when the
/// broker has ended, or has been started.
pub fn run_broker() -> Result<(), String> {
    let is_listening = sockopt::socket_acceptconn(stdin()).unwrap_or(false);
    let result = if is_listening { serve() } else { start() };
    result.map_err(|error| error.to_string())
}

/// Makes the socket and starts the serving process.
fn start() -> io::Result<()> {
    close_inherited()?;
    // It fails for the leader of a process group, which only a person at a shell starts here.
    let _ = setsid();
    let folder = Folder::of_user().map_err(io::Error::other)?;
    // Another broker has it.
    let Some(lock) = folder.try_lock(LOCK)? else { return Ok(()) };
    umask(Mode::from_raw_mode(0o177));
    spawn(folder.listen()?, lock)
}

/// Starts this program again, with the socket as standard input and the lock as standard output.
fn spawn(listener: OwnedFd, lock: Lock) -> io::Result<()> {
    let mut command = Command::new(env::current_exe()?);
    command.arg(FLAG).env_clear().current_dir("/");
    for variable in VARIABLES {
        if let Some(value) = environment::value(variable) {
            command.env(variable.name, value);
        }
    }
    command.stdin(Stdio::from(listener)).stdout(Stdio::from(lock.0)).stderr(Stdio::null());
    command.spawn().map(drop)
}

/// Serves on standard input until the broker has had nothing to do for a while.
fn serve() -> io::Result<()> {
    let limits = Limits::from_environment();
    let listener = fcntl_dupfd_cloexec(stdin(), 3)?;
    // The lock, unless systemd has made the socket.
    let _lock = fcntl_dupfd_cloexec(stdout(), 3)?;
    let null = openat(CWD, "/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    dup2_stdin(null.as_fd())?;
    dup2_stdout(null.as_fd())?;
    dup2_stderr(null.as_fd())?;
    drop(null);
    chdir("/")?;
    harden()?;
    let _ = rustix::thread::set_name(c"warmwire-broker");
    Server::new(listener, limits)?.serve()
}

/// Forbids core dumps and tracing by other processes of the user, and raises the limit of descriptors.
fn harden() -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, maximum: files.maximum });
    Ok(())
}

/// Closes descriptors that the application left open for its children: a pipe whose reader waits for the end,
/// or a lock.
fn close_inherited() -> io::Result<()> {
    let names = fs::read_dir("/proc/self/fd")?.flatten().map(|file| file.file_name());
    let numbers: Vec<i32> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        let _ = nix::unistd::close(number);
    }
    Ok(())
}
