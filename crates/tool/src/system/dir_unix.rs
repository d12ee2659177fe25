//! A directory that is held open. Its entries are accessed through its descriptor: a user who may rename
//! parent directories cannot redirect reads or writes. Symbolic links are not followed.

use super::{About, open_checked, refuse_others};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, fchmod, fstat, linkat, mkdirat, openat, renameat,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, SystemTime};

pub struct Dir(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Dir {
    /// Opens a folder that the user has named. Links on the way to it are his.
    pub fn open(path: &Path) -> io::Result<Dir> {
        Ok(Dir(openat(CWD, path, FOLDER, Mode::empty())?))
    }

    /// Opens a folder inside, or makes it. It must be this user's own; if it is open to others, it is closed
    /// to them.
    pub fn own(&self, name: &str) -> io::Result<Dir> {
        match mkdirat(&self.0, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => self.existing(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a folder that exists, as [`Dir::own`] does.
    pub fn existing(&self, name: &str) -> io::Result<Dir> {
        let folder = openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        let found = fstat(&folder)?;
        refuse_others(found.st_uid)?;
        if found.st_mode & 0o077 != 0 {
            fchmod(&folder, Mode::RWXU)?;
        }
        Ok(Dir(folder))
    }

    /// Creates a file that only this user can access. The name must be unused.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Opens a plain file of this user's to read it.
    pub fn open_own(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        open_checked(openat(&self.0, name, flags, Mode::empty())?.into())
    }

    pub fn rename(&self, name: &str, to: &Dir, new: &str) -> io::Result<()> {
        Ok(renameat(&self.0, name, &to.0, new)?)
    }

    /// Renames as [`Dir::rename`] does, unless the new name is taken.
    pub fn rename_new(&self, name: &str, to: &Dir, new: &str) -> io::Result<()> {
        match renameat_with(&self.0, name, &to.0, new, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                linkat(&self.0, name, &to.0, new, AtFlags::empty())?;
                self.remove(name)
            }
            other => Ok(other?),
        }
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub fn about(&self, name: &str) -> io::Result<About> {
        let found = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let seconds = u64::try_from(found.st_mtime).unwrap_or(0);
        Ok(About {
            is_plain: FileType::from_raw_mode(found.st_mode) == FileType::RegularFile,
            length: u64::try_from(found.st_size).unwrap_or(0),
            modified: SystemTime::UNIX_EPOCH + Duration::new(seconds, found.st_mtime_nsec as u32),
        })
    }

    /// Returns whether no process holds that file. A file of another user counts as free.
    pub fn is_free(&self, name: &str) -> bool {
        self.open_own(name).map_or(true, |file| super::hold(&file))
    }

    /// The names in it, as far as they are text.
    pub fn names(&self) -> Vec<String> {
        let listed = rustix::fs::Dir::read_from(&self.0).into_iter().flatten().flatten();
        let names = listed.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
        names.filter(|name| name != "." && name != "..").collect()
    }
}
