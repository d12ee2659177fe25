//! Files on Windows; unix.rs has the documentation.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use winapi_util::{Handle, file};

/// FILE_SHARE_READ and FILE_SHARE_DELETE: others may read, rename and remove it, but not open it to write.
const HELD: u32 = 1 | 4;
/// ERROR_SHARING_VIOLATION
const SHARING_VIOLATION: i32 = 32;

/// Files in the user's directories are private by inherited permissions.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Rights decide who may write there; a link is not followed.
pub fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let refused = |why: &str| io::Error::new(io::ErrorKind::PermissionDenied, why);
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(refused("It is a symbolic link")),
        Ok(found) if !found.is_file() => Err(refused("It is not a regular file")),
        _ => options.open(path),
    }
}

pub fn has_other_names(file: &File) -> io::Result<bool> {
    Ok(file::information(file)?.number_of_links() > 1)
}

pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    super::rename_over_own(from, to)
}

/// Denies write sharing. A lock would also block readers, including this process; denying writers excludes
/// other holders, too.
pub fn to_hold(options: &mut OpenOptions) -> &mut OpenOptions {
    options.share_mode(HELD)
}

pub fn hold(_: &File) -> bool {
    true
}

pub fn is_held(error: &io::Error) -> bool {
    error.raw_os_error() == Some(SHARING_VIOLATION)
}

pub fn is_called(file: &File, path: &Path) -> bool {
    let identity = |handle: &dyn Fn() -> io::Result<file::Information>| {
        handle().ok().map(|about| (about.volume_serial_number(), about.file_index()))
    };
    let opened = identity(&|| file::information(file));
    let named = identity(&|| file::information(Handle::from_path(path)?));
    opened.is_some() && opened == named
}

/// The system keeps a log of names.
pub fn sync_folder(_: &Path) {}

pub fn write_all_at(file: &File, mut data: &[u8], mut at: u64) -> io::Result<()> {
    while !data.is_empty() {
        let count = file.seek_write(data, at)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        data = &data[count..];
        at += count as u64;
    }
    Ok(())
}

/// Returns the text of an error. The most common ones have the words of C programs, as in curl's tool on this
/// system.
pub fn error_text(error: &io::Error) -> String {
    let words = match error.kind() {
        io::ErrorKind::NotFound => "No such file or directory",
        io::ErrorKind::PermissionDenied => "Permission denied",
        io::ErrorKind::AlreadyExists => "File exists",
        io::ErrorKind::IsADirectory => "Is a directory",
        io::ErrorKind::StorageFull => "No space left on device",
        io::ErrorKind::InvalidInput if error.raw_os_error().is_none() => "The name is not Unicode",
        _ => return error.to_string().trim_end().to_owned(),
    };
    words.to_owned()
}
