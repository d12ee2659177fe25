//! The files of the stores: read up to a limit, and written atomically.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::sys::{is_device, like as with_permissions_of, path, with_mode};

/// Maximum length of a file that is read; a browser's files are far smaller.
const MAX_FILE: u64 = 64 << 20;

/// Reads a file, or standard input for "-".
pub fn read(name: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if name == b"-" {
        io::stdin().lock().take(MAX_FILE).read_to_end(&mut bytes)?;
    } else {
        File::open(path(name))?.take(MAX_FILE).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Writes to a temporary file first, so that a full disk destroys nothing. It has the permissions of the old
/// file from its first byte on (CVE-2022-32207).
pub fn write(name: &[u8], bytes: &[u8]) -> io::Result<()> {
    if name == b"-" {
        return io::stdout().lock().write_all(bytes);
    }
    let target = &*path(name);
    if is_device(target) {
        return OpenOptions::new().write(true).open(target)?.write_all(bytes);
    }
    replace(target, bytes, fs::metadata(target).ok().map(|old| old.permissions()))
}

/// Writes a file that only this user can access, which may contain secrets. It gets its name when it is
/// complete.
pub fn write_private(target: &Path, bytes: &[u8]) -> io::Result<()> {
    if is_device(target) {
        return OpenOptions::new().write(true).open(target)?.write_all(bytes);
    }
    put(target, bytes, open_beside(target, |options| with_mode(options, 0o600)), None)
}

fn replace(target: &Path, bytes: &[u8], like: Option<Permissions>) -> io::Result<()> {
    let opened = open_beside(target, |options| match &like {
        Some(permissions) => with_permissions_of(options, permissions),
        None => options,
    });
    put(target, bytes, opened, like)
}

/// Writes to a file beside the target, then gives the file the target's name.
fn put(
    target: &Path,
    bytes: &[u8],
    opened: io::Result<(PathBuf, File)>,
    like: Option<Permissions>,
) -> io::Result<()> {
    let (beside, mut file) = opened?;
    let written = file.write_all(bytes).and_then(|()| match like {
        // Restores permissions that the umask has removed.
        Some(permissions) => file.set_permissions(permissions),
        None => Ok(()),
    });
    drop(file);
    let done = written.and_then(|()| fs::rename(&beside, target));
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done
}

/// Names that are tried; they are another process's when taken.
const TRIES: u32 = 100;

/// Opens exclusively: an existing file or link is neither followed nor written to.
fn open_beside(
    target: &Path,
    with_mode: impl FnOnce(&mut OpenOptions) -> &mut OpenOptions,
) -> io::Result<(PathBuf, File)> {
    let mut options = OpenOptions::new();
    with_mode(options.write(true).create_new(true));
    let mut taken = None;
    for number in 0..TRIES {
        let mut name = target.as_os_str().to_owned();
        name.push(format!(".{}-{number}.tmp", std::process::id()));
        let beside = PathBuf::from(name);
        match options.open(&beside) {
            Ok(file) => return Ok((beside, file)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => taken = Some(e),
            Err(e) => return Err(e),
        }
    }
    Err(taken.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::name_of;
    use testkit::temp::TempDir;

    /// CVE-2022-32207
    #[test]
    fn permissions_stay_and_nothing_else_is_left() {
        let dir = TempDir::new("file").unwrap();
        let name = dir.path().join("jar");
        // Of another mode than a file gets of itself.
        let old = with_mode(OpenOptions::new().write(true).create_new(true), 0o600).open(&name).unwrap();
        let permissions = old.metadata().unwrap().permissions();
        drop(old); // Windows before 10, and Wine, replace no file that is open
        // Another user's file with the first name is left alone.
        let squatted = dir.write(&format!("jar.{}-0.tmp", std::process::id()), "theirs").unwrap();
        write(&name_of(name.as_os_str()), b"new").unwrap();
        assert_eq!(fs::read(&name).unwrap(), b"new");
        assert_eq!(fs::metadata(&name).unwrap().permissions(), permissions);
        assert_eq!(fs::read(squatted).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn failed_writes_keep_the_old_file() {
        let dir = TempDir::new("file").unwrap();
        let missing = dir.path().join("no/such");
        assert!(write(&name_of(missing.as_os_str()), b"x").is_err());
        write(if cfg!(windows) { b"NUL" } else { b"/dev/null" }, b"x").unwrap();
    }
}
