//! Linux, and what is like it: a file's name is bytes.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{OpenOptions, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The file of that name, as an option or a C application gives it.
pub fn path(name: &[u8]) -> Cow<'_, Path> {
    Cow::Borrowed(Path::new(OsStr::from_bytes(name)))
}

/// A file's name as an option or a C application would give it.
pub fn name_of(path: &OsStr) -> Cow<'_, [u8]> {
    Cow::Borrowed(path.as_bytes())
}

/// Whether something of that name is there that is no file (a device, a pipe): it is written to, never renamed over or removed.
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

/// A file that is made gets those permissions, less the umask.
pub(crate) fn like<'a>(options: &'a mut OpenOptions, permissions: &Permissions) -> &'a mut OpenOptions {
    options.mode(permissions.mode() & 0o777)
}
