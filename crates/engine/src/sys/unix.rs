//! Linux and similar systems: a file name is bytes.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Returns the path for a name from an option or a C application.
pub fn path(name: &[u8]) -> Cow<'_, Path> {
    Cow::Borrowed(Path::new(OsStr::from_bytes(name)))
}

/// Returns the name of a path, in the form of an option or a C application.
pub fn name_of(path: &OsStr) -> Cow<'_, [u8]> {
    Cow::Borrowed(path.as_bytes())
}

/// Whether something of that name is there that is no file (a device, a pipe): it is written to, never
/// renamed over or removed.
pub fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| !about.is_file())
}

/// The file that a `file://` URL's decoded path names.
pub(crate) fn path_of_url(decoded: Vec<u8>) -> Option<PathBuf> {
    Some(PathBuf::from(OsString::from_vec(decoded)))
}

/// A file that is made gets these permissions, less the umask.
pub(crate) fn with_mode(options: &mut OpenOptions, mode: u32) -> &mut OpenOptions {
    options.mode(mode)
}

/// Sets the permissions of a new file to those, minus the umask.
pub(crate) fn like<'a>(options: &'a mut OpenOptions, permissions: &Permissions) -> &'a mut OpenOptions {
    options.mode(permissions.mode() & 0o777)
}

/// Creates a folder that its user alone can enter.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}
