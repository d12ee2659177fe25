//! Windows: a file name is UTF-16; options and C applications pass it in UTF-8.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::{OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};

/// Returns the path for a name from an option or a C application. Invalid UTF-8 names no existing file.
pub fn path(name: &[u8]) -> Cow<'_, Path> {
    match String::from_utf8_lossy(name) {
        Cow::Borrowed(name) => Cow::Borrowed(Path::new(name)),
        Cow::Owned(name) => Cow::Owned(PathBuf::from(name)),
    }
}

/// Returns the name of a path, in the form of an option or a C application.
pub fn name_of(path: &OsStr) -> Cow<'_, [u8]> {
    match path.to_string_lossy() {
        Cow::Borrowed(name) => Cow::Borrowed(name.as_bytes()),
        Cow::Owned(name) => Cow::Owned(name.into_bytes()),
    }
}

/// Returns whether the path is a device. NUL exists in every directory, with any extension. Wine takes it for
/// a file, and would remove the system's /dev/null.
pub fn is_device(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).and_then(|name| name.split('.').next());
    name.is_some_and(|name| name.trim_end().eq_ignore_ascii_case("NUL"))
}

/// Returns the file for a `file://` URL's decoded path: `/C:/folder/file`, or without a drive letter one on
/// the current drive. A path that begins with two separators and no drive is on another machine, or a device:
/// opening it would send our credentials to that machine (CVE-2019-15601). So would `\??\UNC\machine`, which
/// the system passes to its kernel unchanged; no file name contains a `?`.
pub(crate) fn path_of_url(decoded: Vec<u8>) -> Option<PathBuf> {
    let text = String::from_utf8(decoded).ok()?.replace('/', "\\");
    let bare = text.trim_start_matches('\\');
    let text = match bare.as_bytes() {
        [letter, b':' | b'|', ..] if letter.is_ascii_alphabetic() => {
            format!("{}:{}", &bare[..1], &bare[2..])
        }
        _ => text,
    };
    (!text.starts_with("\\\\") && !text.contains('?')).then(|| PathBuf::from(text))
}

/// Permissions are those of the directory.
pub(crate) fn with_mode(options: &mut OpenOptions, _: u32) -> &mut OpenOptions {
    options
}

/// Permissions are those of the directory.
pub(crate) fn like<'a>(options: &'a mut OpenOptions, _: &Permissions) -> &'a mut OpenOptions {
    options
}

/// Creates a folder. Permissions are those of the directory.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_url_is_a_file_of_this_machine() {
        let path = |text: &str| path_of_url(text.into()).map(|path| path.to_str().unwrap().to_owned());
        for (url, file) in [
            ("/C:/dir/file", "C:\\dir\\file"),
            ("/c|/dir/a|b", "c:\\dir\\a|b"),
            ("/C:/a|b", "C:\\a|b"),
            ("//C:/file", "C:\\file"),
            ("/C:\\dir\\f\u{fc}", "C:\\dir\\f\u{fc}"),
            ("/dir/file", "\\dir\\file"),
            ("/1:/file", "\\1:\\file"),
            ("/", "\\"),
        ] {
            assert_eq!(path(url).as_deref(), Some(file), "{url}");
        }
        let of_others = [
            "//machine/share/file",
            "/\\machine/share",
            "///machine/share",
            "//?/C:/file",
            "//?/UNC/machine/share",
            "//./pipe/name",
            "/??/UNC/machine/share",
            "\\??\\C:\\file",
        ];
        for url in of_others {
            assert_eq!(path(url), None, "{url}");
        }
        assert_eq!(path_of_url(b"/C:/\xff".to_vec()), None);
    }
}
