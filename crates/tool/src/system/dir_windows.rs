//! A directory by its path: the standard library cannot open files relative to a directory handle. Inherited
//! permissions exclude other users. The functions are documented in dir_unix.rs.

use super::{About, keep_private, make_folders, open_own, private, rename_new, to_hold};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub struct Dir(PathBuf);

impl Dir {
    pub fn open(path: &Path) -> io::Result<Dir> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(Dir(path.to_owned())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub fn own(&self, name: &str) -> io::Result<Dir> {
        make_folders(&self.0.join(name), 0o700)?;
        self.existing(name)
    }

    pub fn existing(&self, name: &str) -> io::Result<Dir> {
        let path = self.0.join(name);
        if keep_private(&path)? { Ok(Dir(path)) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }

    pub fn create(&self, name: &str) -> io::Result<File> {
        to_hold(private(OpenOptions::new().write(true).create_new(true))).open(self.0.join(name))
    }

    pub fn open_own(&self, name: &str) -> io::Result<File> {
        open_own(&self.0.join(name), OpenOptions::new().read(true))
    }

    pub fn rename(&self, name: &str, to: &Dir, new: &str) -> io::Result<()> {
        fs::rename(self.0.join(name), to.0.join(new))
    }

    pub fn rename_new(&self, name: &str, to: &Dir, new: &str) -> io::Result<()> {
        rename_new(&self.0.join(name), &to.0.join(new))
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub fn about(&self, name: &str) -> io::Result<About> {
        let found = fs::symlink_metadata(self.0.join(name))?;
        let modified = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Ok(About { is_plain: found.is_file(), length: found.len(), modified })
    }

    /// Returns whether no process holds that file.
    pub fn is_free(&self, name: &str) -> bool {
        OpenOptions::new().write(true).open(self.0.join(name)).is_ok()
    }

    pub fn names(&self) -> Vec<String> {
        let listed = fs::read_dir(&self.0).into_iter().flatten().flatten();
        listed.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }
}
