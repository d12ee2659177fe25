//! Windows: a file's name is UTF-16; options and C applications give it in UTF-8.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::{OpenOptions, Permissions};
use std::path::{Path, PathBuf};

/// The file of that name, as an option or a C application gives it. What is no UTF-8 names no file that anybody has.
pub fn path(name: &[u8]) -> Cow<'_, Path> {
    match String::from_utf8_lossy(name) {
        Cow::Borrowed(name) => Cow::Borrowed(Path::new(name)),
        Cow::Owned(name) => Cow::Owned(PathBuf::from(name)),
    }
}

/// A file's name as an option or a C application would give it.
pub fn name_of(path: &OsStr) -> Cow<'_, [u8]> {
    match path.to_string_lossy() {
        Cow::Borrowed(name) => Cow::Borrowed(name.as_bytes()),
        Cow::Owned(name) => Cow::Owned(name.into_bytes()),
    }
}

/// The file that a `file://` URL's decoded path names: `/C:/folder/file`, or without a drive's letter one of the present
/// drive. What begins with two separators is another machine's file, or a device: opening it would show that machine who we are
/// (CVE-2019-15601).
pub(crate) fn path_of_url(decoded: Vec<u8>) -> Option<PathBuf> {
    let text = String::from_utf8(decoded).ok()?.replace('/', "\\");
    let bytes = text.as_bytes();
    let has_drive = matches!(bytes, [b'\\', letter, b':' | b'|', ..] if letter.is_ascii_alphabetic());
    let text = if has_drive { text[1..].replacen('|', ":", 1) } else { text };
    (!text.starts_with("\\\\")).then(|| PathBuf::from(text))
}

/// Permissions are those of the folder.
pub(crate) fn with_mode(options: &mut OpenOptions, _: u32) -> &mut OpenOptions {
    options
}

/// Permissions are those of the folder.
pub(crate) fn like<'a>(options: &'a mut OpenOptions, _: &Permissions) -> &'a mut OpenOptions {
    options
}
