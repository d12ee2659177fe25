//! Names and permissions of files, which each system has in its own way: one name, a file for each.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

use std::path::PathBuf;

/// Returns the path that an option names.
pub fn path_buf(text: &[u8]) -> PathBuf {
    path(text).into_owned()
}
