//! A private directory for each server or test, removed when dropped.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, process};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A fresh directory under the system's temporary directory.
pub struct TempDir(PathBuf);

impl TempDir {
    /// Makes the directory; `name` only helps the reader of a listing.
    pub fn new(name: &str) -> io::Result<TempDir> {
        loop {
            let serial = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("warmwire-{name}-{}-{serial}", process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(TempDir(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file into the directory and returns its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> io::Result<PathBuf> {
        let path = self.0.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, content)?;
        Ok(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
