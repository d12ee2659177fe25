//! The operating system's part of the tool: one file for Unix and one for Windows with the same functions,
//! listed in `this`; no other code names a system. unix.rs has their documentation, windows.rs the
//! differences.
//!
//! In the rest of the tool a name is bytes. On Unix they are the system's own. On Windows they are UTF-8;
//! arguments, variables and file names are converted only here.

#[cfg(unix)]
#[path = "dir_unix.rs"]
mod dir;
#[cfg(windows)]
#[path = "dir_windows.rs"]
mod dir;
#[cfg(unix)]
mod interrupt;
#[cfg(windows)]
#[path = "interrupt_absent.rs"]
mod interrupt;
#[cfg(unix)]
mod proxy_process;
#[cfg(windows)]
#[path = "proxy_process_absent.rs"]
mod proxy_process;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
#[cfg(unix)]
mod words;

pub use dir::Dir;
pub use interrupt::{Interrupt, end_process};
pub use proxy_process::ProxyProcess;
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

use crate::bytes::Bytes;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// Returns the words of the command line after the program's name; or the number of one that is not valid
/// text, and its displayable form.
pub fn words() -> Result<Vec<Bytes>, (usize, String)> {
    let words = std::env::args_os().skip(1).enumerate();
    words
        .map(|(at, word)| bytes(word).map_err(|word| (at + 1, word.to_string_lossy().into_owned())))
        .collect()
}

/// A variable of the environment; none where it is not set or is no text.
pub fn variable(name: &str) -> Option<Bytes> {
    std::env::var_os(name).and_then(|value| bytes(value).ok())
}

/// A file in a [`Dir`].
pub struct About {
    pub is_plain: bool,
    pub length: u64,
    pub modified: SystemTime,
}

/// Creates a directory and its parents, with this mode on Unix.
pub fn make_folders(folder: &Path, mode: u32) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    with_mode(builder.recursive(true), mode).create(folder)
}

/// A file's name as bytes; none for one that is no text.
pub fn name_of(path: impl Into<OsString>) -> Option<Bytes> {
    bytes(path.into()).ok()
}
