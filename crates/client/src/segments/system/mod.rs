//! Files that no other process may take: one file for Unix and one for Windows with the same functions.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file of this user's, or creates one that only this user can access, and holds it. Returns `None`
/// if another process holds it.
pub fn open_held(path: &Path) -> io::Result<Option<File>> {
    loop {
        let file = match open_to_hold(path) {
            Ok(file) => file,
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) if is_held(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        if !hold(&file) {
            return Ok(None);
        }
        // Its previous holder may have removed or replaced it in between.
        if is_called(&file, path) {
            return Ok(Some(file));
        }
    }
}

fn open_to_hold(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match open_own(path, to_hold(&mut options)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            open_own(path, private(&mut options).create_new(true))
        }
        other => other,
    }
}

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
