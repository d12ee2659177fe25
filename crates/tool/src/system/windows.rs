//! The operating system's floor on Windows.

use crate::bytes::Bytes;
use crate::raw::{Multi, is_device};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, IsTerminal, Read, Write};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::AsHandle;
use std::path::Path;
use std::process::Command;
use std::sync::{Condvar, Mutex, OnceLock};
use std::time::Duration;
use winapi_util::{AsHandleRef, HandleRef, console};

pub use crate::raw::segments::system::*;
pub use std::os::windows::io::{BorrowedSocket as BorrowedFd, OwnedSocket as OwnedFd};

pub const PLATFORM: &str = "w64-mingw32";
pub const NAMES_DEVICES: bool = true;
pub const TRUSTS_SYSTEM: bool = true;
/// The names in curl(1) under `--config`; the one with a dot has precedence over the one with an underscore.
pub const CONFIG_FILES: &[(&str, &str)] = &[
    ("CURL_HOME", "/.curlrc"),
    ("CURL_HOME", "/_curlrc"),
    ("XDG_CONFIG_HOME", "/curlrc"),
    ("CURL_HOME", "/.config/curlrc"),
    ("HOME", "/.curlrc"),
    ("HOME", "/_curlrc"),
    ("HOME", "/.config/curlrc"),
    ("USERPROFILE", "/.curlrc"),
    ("USERPROFILE", "/_curlrc"),
    ("APPDATA", "/.curlrc"),
    ("APPDATA", "/_curlrc"),
    ("USERPROFILE", "/Application Data/.curlrc"),
    ("USERPROFILE", "/Application Data/_curlrc"),
];
pub const CONFIG_BESIDE: &[&str] = &[".curlrc", "_curlrc"];
pub const HOMES: &[&str] = &["HOME", "USERPROFILE"];

/// ENABLE_ECHO_INPUT
const ECHO: u32 = 4;
/// FILE_FLAG_DELETE_ON_CLOSE, FILE_ATTRIBUTE_TEMPORARY
const DELETE_ON_CLOSE: u32 = 0x0400_0000;
const TEMPORARY: u32 = 0x100;
/// As much as is read of standard input at once, ahead of who asks for it.
const AHEAD: usize = 64 * 1024;

pub fn bytes(text: OsString) -> Result<Bytes, OsString> {
    text.into_string().map(String::into_bytes)
}

/// Returns a path. For invalid text it contains a null character, which the standard library refuses.
pub fn path(name: &[u8]) -> &Path {
    Path::new(std::str::from_utf8(name).unwrap_or("\0"))
}

/// The program with this name, without arguments: cmd.exe would interpret the text of variables.
pub fn shell(command: &[u8]) -> Command {
    Command::new(path(command))
}

pub(super) fn with_mode(builder: &mut DirBuilder, _: u32) -> &mut DirBuilder {
    builder
}

/// Returns whether the path is a folder. Who may enter it is decided by the place that the user chose (see
/// [`private`]).
pub fn keep_private(folder: &Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(folder)?.is_dir())
}

/// A device has no length that could be cut off, and Wine says so.
pub fn create(path: &Path) -> io::Result<File> {
    if is_device(path) { OpenOptions::new().write(true).open(path) } else { File::create(path) }
}

/// Returns unpredictable bytes. The standard library seeds its hash tables by the system's generator, and
/// this is derived from them.
pub fn random() -> io::Result<[u8; 32]> {
    let state = RandomState::new();
    let words = [0_u64, 1, 2, 3].map(|number| state.hash_one(number).to_le_bytes());
    Ok(std::array::from_fn(|at| words[at / 8][at % 8]))
}

pub fn open_fleeting(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).share_mode(0);
    options.custom_flags(DELETE_ON_CLOSE).attributes(TEMPORARY).open(path)
}

pub fn read_at(file: &File, buf: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(buf, at)
}

/// Returns columns and rows of the window, not of the scroll buffer.
fn window(output: impl AsHandleRef) -> Option<(usize, usize)> {
    let area = console::screen_buffer_info(output).ok()?.window_rect();
    let span = |first: i16, last: i16| usize::try_from(i32::from(last) - i32::from(first) + 1).ok();
    Some((span(area.left, area.right)?, span(area.top, area.bottom)?))
}

pub fn screen() -> Option<(usize, usize)> {
    window(HandleRef::stderr())
}

/// A console's input has no width; its output has.
pub fn columns() -> Option<usize> {
    window(HandleRef::stdout()).or_else(screen).map(|(columns, _)| columns)
}

/// The console without echo, as long as the value lives.
pub struct Unseen {
    console: File,
    before: Option<u32>,
    /// Standard input is that console: then the standard library reads it, which knows all letters.
    is_input: bool,
}

impl Unseen {
    pub fn open() -> Option<Unseen> {
        let console = File::options().read(true).write(true).open("CONIN$").ok()?;
        let before = console::mode(&console).ok();
        if let Some(mode) = before {
            let _ = console::set_mode(&console, mode & !ECHO);
        }
        Some(Unseen { console, before, is_input: io::stdin().is_terminal() })
    }

    pub fn hid(&self) -> bool {
        self.before.is_some()
    }
}

impl Read for Unseen {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.is_input { io::stdin().read(buf) } else { self.console.read(buf) }
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        if let Some(mode) = self.before {
            let _ = console::set_mode(&self.console, mode);
        }
    }
}

/// The beginning of an incomplete character.
type Begun = Mutex<Vec<u8>>;

static OUTPUT_BEGUN: Begun = Mutex::new(Vec::new());
static ERROR_BEGUN: Begun = Mutex::new(Vec::new());

/// A standard stream. A console accepts only text; other bytes are shown as replacements. In other cases
/// bytes pass unmodified.
pub struct Output<W> {
    to: W,
    begun: &'static Begun,
}

impl<W: Write + IsTerminal> Write for Output<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if !self.to.is_terminal() {
            return self.to.write(data);
        }
        let mut begun = self.begun.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut text = std::mem::take(&mut *begun);
        text.extend(data);
        let cut = unfinished(&text);
        *begun = text.split_off(text.len() - cut);
        self.to.write_all(String::from_utf8_lossy(&text).as_bytes())?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// How many bytes at the end may be the beginning of a letter.
fn unfinished(text: &[u8]) -> usize {
    let Some(last) = text.utf8_chunks().last() else { return 0 };
    let rest = last.invalid();
    let more = rest.len() < 4 && std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
    if more { rest.len() } else { 0 }
}

pub fn stdout() -> Output<io::Stdout> {
    Output { to: io::stdout(), begun: &OUTPUT_BEGUN }
}

pub fn stderr() -> Output<io::Stderr> {
    Output { to: io::stderr(), begun: &ERROR_BEGUN }
}

/// Returns false: a write finds out that the reader of a pipe is gone.
pub fn stdout_lacks_reader() -> bool {
    false
}

/// Standard input as it is read ahead by a thread: there is no way to ask any kind of it whether a read would
/// wait.
struct StdinReader {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Bytes that were read and not consumed yet.
    bytes: VecDeque<u8>,
    /// Set when nothing more follows: at the end, or with an error that is reported once.
    ended: Option<Option<io::Error>>,
    waker: Option<Box<dyn Fn() + Send>>,
}

static AHEAD_READER: OnceLock<StdinReader> = OnceLock::new();

impl StdinReader {
    /// Starts the reading thread on first use.
    fn begun() -> &'static StdinReader {
        let mut first = false;
        let ahead = AHEAD_READER.get_or_init(|| {
            first = true;
            StdinReader { state: Mutex::default(), changed: Condvar::new() }
        });
        if first && std::thread::Builder::new().spawn(|| ahead.run()).is_err() {
            ahead.end(Some(io::ErrorKind::OutOfMemory.into()));
        }
        ahead
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Reads until the end, no further ahead than there is room for.
    fn run(&self) {
        let mut buf = vec![0; AHEAD];
        loop {
            let mut state = self.state();
            while !state.bytes.is_empty() {
                state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            drop(state);
            match read_now(&mut buf) {
                Ok(0) => return self.end(None),
                Ok(count) => self.update(|state| state.bytes.extend(&buf[..count])),
                Err(error) => return self.end(Some(error)),
            }
        }
    }

    fn end(&self, why: Option<io::Error>) {
        self.update(|state| state.ended = Some(why));
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        if let Some(wake) = &state.waker {
            wake();
        }
        self.changed.notify_all();
    }

    fn is_ready(&self) -> bool {
        let state = self.state();
        !state.bytes.is_empty() || state.ended.is_some()
    }

    fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut state = self.state();
        while state.bytes.is_empty() {
            if let Some(why) = &mut state.ended {
                return why.take().map_or(Ok(0), Err);
            }
            state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        let count = state.bytes.read(buf)?;
        self.changed.notify_all();
        Ok(count)
    }
}

/// Reads a console through the standard library, as UTF-8; anything else as bytes, without a buffer.
fn read_now(buf: &mut [u8]) -> io::Result<usize> {
    let input = io::stdin();
    if input.is_terminal() {
        return input.lock().read(buf);
    }
    let handle = input.as_handle().try_clone_to_owned()?;
    File::from(handle).read(buf)
}

pub fn input_is_ready() -> bool {
    StdinReader::begun().is_ready()
}

pub fn read_input(buf: &mut [u8]) -> io::Result<usize> {
    match AHEAD_READER.get() {
        Some(ahead) => ahead.read(buf),
        None => read_now(buf),
    }
}

/// Returns `None`: a thread reads standard input ahead, so it has no position.
pub fn input_position() -> Option<u64> {
    None
}

/// Fails: see [`input_position`].
pub fn seek_input(_: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn wait_with_input(multi: &Multi, pause: Duration) -> io::Result<bool> {
    let ahead = StdinReader::begun();
    ahead.state().waker = Some(Box::new(multi.waker()));
    if !ahead.is_ready() {
        multi.wait(&mut [], pause, true)?;
    }
    ahead.state().waker = None;
    Ok(ahead.is_ready())
}

pub fn set_type_of_service(_: BorrowedFd<'_>, _: u8) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn set_priority(_: BorrowedFd<'_>, _: u8) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn multipath_socket(_: bool) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Files have none here that another program would look for.
pub fn set_attribute(_: &[u8], _: &str, _: &[u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A process cannot change its words in listings.
pub fn hide(_: usize, _: usize) {}
