//! Files that no other process may take: one file for Unix and one for Windows with the same functions.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// Takes a name with an empty file, which is an error if there is one, and renames over that.
fn rename_over_own(from: &Path, to: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(to)?;
    fs::rename(from, to)
}

/// Returns the system's text of an error, without Rust's number at its end.
pub fn os_text(error: &io::Error) -> String {
    let text = error_text(error);
    match text.find(" (os error") {
        Some(at) => text[..at].to_string(),
        None => text,
    }
}
