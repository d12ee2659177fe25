//! The operating system's floor on unix.

use crate::bytes::Bytes;
use crate::raw::Multi;
use nix::sys::socket::{setsockopt, sockopt::Priority};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, socket_with, sockopt};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use warmwire::ExtraFd;

pub use crate::raw::segments::system::*;
pub use std::io::{stderr, stdout};
pub use std::os::fd::{BorrowedFd, OwnedFd};

/// The platform, which `-V` prints after the processor's name.
pub const PLATFORM: &str = "pc-linux-gnu";
/// Whether names can mean devices and streams in any directory, so that a name chosen by others has to be
/// made safe.
pub const NAMES_DEVICES: bool = false;
/// Whether servers are verified by the system's trust store by default.
pub const TRUSTS_SYSTEM: bool = false;
/// Locations of the default config file: variable, and the file below it.
pub const CONFIG_FILES: &[(&str, &str)] = &[
    ("CURL_HOME", "/.curlrc"),
    ("XDG_CONFIG_HOME", "/curlrc"),
    ("CURL_HOME", "/.config/curlrc"),
    ("HOME", "/.curlrc"),
    ("HOME", "/.config/curlrc"),
];
/// Names of the default config file in the program's directory.
pub const CONFIG_BESIDE: &[&str] = &[];
/// Variables that name the user's folder: the first that is set.
pub const HOMES: &[&str] = &["HOME"];

/// POLLIN
const READABLE: i16 = 1;

/// Converts text of the system to bytes, unless it is not valid text.
pub fn bytes(text: OsString) -> Result<Bytes, OsString> {
    Ok(text.into_vec())
}

/// The file of that name. A name that cannot be one leads to no file, and opening it says so.
pub fn path(name: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(name))
}

/// Returns a shell that runs a command.
pub fn shell(command: &[u8]) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(path(command));
    shell
}

pub(super) fn with_mode(builder: &mut DirBuilder, mode: u32) -> &mut DirBuilder {
    builder.mode(mode)
}

/// Returns unpredictable bytes.
pub fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    let got = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())?;
    if got == bytes.len() { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Opens a temporary file of this user for reading and writing, which is removed with this process.
pub fn open_fleeting(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    fs::remove_file(path)?;
    Ok(file)
}

/// Reads at an offset. The resulting position of the file's cursor depends on the system.
pub fn read_at(file: &File, buf: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(buf, at)
}

/// Columns and rows of the terminal that standard error is.
pub fn screen() -> Option<(usize, usize)> {
    let size = tcgetwinsize(io::stderr()).ok()?;
    Some((size.ws_col.into(), size.ws_row.into()))
}

/// Columns of the terminal that the command was typed on.
pub fn columns() -> Option<usize> {
    tcgetwinsize(io::stdin()).ok().map(|size| size.ws_col.into())
}

/// The terminal without echo, as long as the value lives.
pub struct Unseen {
    terminal: File,
    before: Option<Termios>,
}

impl Unseen {
    /// Opens the terminal; `None` if there is none.
    pub fn open() -> Option<Unseen> {
        let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
        let before = tcgetattr(&terminal).ok();
        if let Some(mut quiet) = before.clone() {
            quiet.local_modes.remove(LocalModes::ECHO);
            let _ = tcsetattr(&terminal, OptionalActions::Flush, &quiet);
        }
        Some(Unseen { terminal, before })
    }

    /// Returns whether echo was on before.
    pub fn hid(&self) -> bool {
        self.before.is_some()
    }
}

impl Read for Unseen {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.terminal.read(buf)
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(&self.terminal, OptionalActions::Flush, before);
        }
    }
}

/// Whether a read of standard input would not wait.
pub fn input_is_ready() -> bool {
    let input = io::stdin();
    let mut polled = [PollFd::new(&input, PollFlags::IN)];
    poll(&mut polled, Some(&Default::default())).is_ok_and(|ready| ready > 0)
}

/// Reads standard input without a buffer, so that [`input_is_ready`] is correct.
pub fn read_input(buf: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(io::stdin(), &mut *buf) {
            Err(Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}

/// Returns where standard input is read, if it is a file.
pub fn input_position() -> Option<u64> {
    rustix::fs::tell(io::stdin()).ok()
}

/// Continues reading standard input at this position of its file.
pub fn seek_input(position: u64) -> io::Result<()> {
    rustix::fs::seek(io::stdin(), rustix::fs::SeekFrom::Start(position))?;
    Ok(())
}

/// Waits for the network and for standard input; whether there is something of the latter.
pub fn wait_with_input(multi: &Multi, pause: Duration) -> io::Result<bool> {
    let input = io::stdin();
    let mut extra = [ExtraFd { fd: Some(input.as_fd()), events: READABLE, revents: 0 }];
    multi.wait(&mut extra, pause, true)?;
    Ok(extra[0].revents != 0)
}

/// `--ip-tos`
pub fn set_type_of_service(socket: BorrowedFd<'_>, value: u8) -> io::Result<()> {
    // One of them fits the family of the socket.
    sockopt::set_ip_tos(socket, value).or_else(|_| sockopt::set_ipv6_tclass(socket, value.into()))?;
    Ok(())
}

/// `--vlan-priority`
pub fn set_priority(socket: BorrowedFd<'_>, value: u8) -> io::Result<()> {
    setsockopt(&socket, Priority, &value.into())?;
    Ok(())
}

/// A socket for `--mptcp`.
pub fn multipath_socket(ipv6: bool) -> io::Result<OwnedFd> {
    let family = if ipv6 { AddressFamily::INET6 } else { AddressFamily::INET };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(family, SocketType::STREAM, flags, Some(ipproto::MPTCP))?)
}

/// Creates an output file, or truncates an existing one.
pub fn create(path: &Path) -> io::Result<File> {
    File::create(path)
}

/// `--xattr`: one extended attribute of a file.
pub fn set_attribute(file: &[u8], name: &str, value: &[u8]) -> io::Result<()> {
    rustix::fs::setxattr(path(file), name, value, rustix::fs::XattrFlags::empty())?;
    Ok(())
}

/// Overwrites the last bytes of a word of the command line, counted from 0, against listings of processes.
/// Without /proc, the words stay readable.
pub fn hide(word: usize, bytes: usize) {
    let _ = super::words::hide(word, bytes);
}

/// Returns whether standard output is a pipe or socket without a reader: what is written is lost.
pub fn stdout_lacks_reader() -> bool {
    let out = rustix::stdio::stdout();
    let mut set = [rustix::event::PollFd::new(&out, rustix::event::PollFlags::empty())];
    let found = rustix::event::poll(&mut set, Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 }));
    found.is_ok_and(|ready| ready > 0) && set[0].revents().contains(rustix::event::PollFlags::ERR)
}
