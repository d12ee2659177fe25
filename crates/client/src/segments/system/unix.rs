//! Files on Unix.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{CWD, FlockOperation, OFlags, RenameFlags, flock, renameat_with};
use rustix::io::Errno;

/// Restricts a new file to this user.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// Opens a regular file of this user's. No symbolic link is followed in its last place, and no pipe is waited
/// for.
pub fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path).map_err(|error| {
        match error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
            true => refused("It is a symbolic link"),
            false => error,
        }
    })?;
    open_checked(file)
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

/// Returns the file, if it is a plain one of this user's.
pub fn open_checked(file: File) -> io::Result<File> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(refused("It is not a regular file"));
    }
    refuse_others(found.uid()).map(|()| file)
}

/// Returns an error for a file of another user.
pub fn refuse_others(owner: u32) -> io::Result<()> {
    match owner == rustix::process::geteuid().as_raw() {
        true => Ok(()),
        false => Err(refused("It belongs to another user")),
    }
}

/// Returns whether a file can be reached by other names.
pub fn has_other_names(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 1)
}

/// Renames a file unless the new name is taken, which is an error of the kind AlreadyExists.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not every file system can.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => super::rename_over_own(from, to),
        other => Ok(other?),
    }
}

/// Prepares the options for a file that [`hold`] will lock.
pub fn to_hold(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Locks a file against other holders until it is closed; false if another process holds it.
pub fn hold(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Returns whether a file could not be opened because another process holds it.
pub fn is_held(_: &io::Error) -> bool {
    false
}

/// Returns whether the name still refers to the open file.
pub fn is_called(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(opened), Ok(named)) => (opened.dev(), opened.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Forces the names in the folder of a file to the disk. Not every file system can.
pub fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent() {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// Writes all of it at an offset. The resulting position of the file's cursor depends on the system.
pub fn write_all_at(file: &File, data: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(data, at)
}

/// Returns the system's text of an error, with Rust's context.
pub fn error_text(error: &io::Error) -> String {
    error.to_string()
}
