//! Stores a new content: a reader of the file sees the old content or the new one, never a part.

use crate::system::path;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Replaces the file's content, and sets its time.
pub fn replace(name: &[u8], content: &[u8], modified: Option<i64>) -> io::Result<()> {
    let target = fs::canonicalize(path(name)).unwrap_or_else(|_| path(name).to_owned());
    let target = &*target;
    // A pipe or a device is written to, not replaced.
    if fs::metadata(target).is_ok_and(|about| !about.is_file()) {
        return OpenOptions::new().write(true).open(target)?.write_all(content);
    }
    let draft = draft_of(target);
    let written = write(&draft, target, content, modified).and_then(|()| fs::rename(&draft, target));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

fn write(draft: &Path, target: &Path, content: &[u8], modified: Option<i64>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = match options.open(draft) {
        // Left behind by another process with this number. A symbolic link there is not followed.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(draft)?;
            options.open(draft)?
        }
        opened => opened?,
    };
    file.write_all(content)?;
    if let Ok(about) = fs::metadata(target) {
        fs::set_permissions(draft, about.permissions())?;
    }
    if let Some(seconds) = modified.and_then(|seconds| u64::try_from(seconds).ok()) {
        file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds))?;
    }
    Ok(())
}

/// Returns the name of a draft in the folder of the file, so that a rename replaces it.
fn draft_of(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    target.with_file_name(name)
}
