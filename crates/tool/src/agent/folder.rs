//! The directory of agents: `$XDG_RUNTIME_DIR/warmwire`, or `/tmp/warmwire-UID`.
//!
//! It belongs to the user and is private; otherwise it is not used. Each agent has a socket and a lock. The
//! owner of the lock may talk to the agent, start it, or remove what a dead one left.

use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, flock, fstat, mkdirat, openat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

const LOCK: &str = ".lock";

pub struct Folder {
    folder: OwnedFd,
    pub path: PathBuf,
}

/// The right to an agent's place; it ends with the value, and with the process.
pub struct Lock {
    _file: OwnedFd,
}

impl Folder {
    /// Where this user's agents are.
    pub fn usual() -> PathBuf {
        match std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| Path::new(folder).is_absolute()) {
            Some(folder) => Path::new(&folder).join("warmwire"),
            None => PathBuf::from(format!("/tmp/warmwire-{}", geteuid().as_raw())),
        }
    }

    /// Opens it, and makes it if need be.
    pub fn open(path: &Path) -> Result<Folder, String> {
        let shown = path.display();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = || openat(CWD, path.as_os_str().as_bytes(), flags, Mode::empty());
        let folder = match opened() {
            Err(Errno::NOENT) => match mkdirat(CWD, path.as_os_str().as_bytes(), Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => opened(),
                Err(error) => return Err(format!("{shown} can't be created: {error}")),
            },
            other => other,
        };
        let folder = folder.map_err(|error| format!("{shown} can't be opened: {error}"))?;
        let stat = fstat(&folder).map_err(|error| format!("{shown}: {error}"))?;
        if stat.st_uid != geteuid().as_raw() {
            return Err(format!("{shown} belongs to another user"));
        }
        if stat.st_mode & 0o077 != 0 {
            return Err(format!("{shown} is accessible to other users"));
        }
        Ok(Folder { folder, path: path.into() })
    }

    /// Takes the lock of a place, if it is free.
    pub fn try_lock(&self, name: &str) -> io::Result<Option<Lock>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = format!("{name}{LOCK}");
        loop {
            let file = openat(&self.folder, &name, flags, Mode::RUSR | Mode::WUSR)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) if self.is_called(&name, &file) => return Ok(Some(Lock { _file: file })),
                Ok(()) => {} // another process removed the file in between
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn is_called(&self, name: &str, file: &OwnedFd) -> bool {
        match (statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW), fstat(file)) {
            (Ok(there), Ok(here)) => (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino),
            _ => false,
        }
    }

    /// A path that is short enough for a socket, and leads to this very folder.
    fn place(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.folder.as_raw_fd()))
    }

    pub fn connect(&self, name: &str) -> io::Result<UnixStream> {
        UnixStream::connect(self.place(name))
    }

    /// Listens on the socket of a place, replacing an old one; requires the lock.
    pub fn listen(&self, name: &str) -> io::Result<UnixListener> {
        self.remove(name);
        UnixListener::bind(self.place(name))
    }

    pub fn remove(&self, name: &str) {
        let _ = unlinkat(&self.folder, name, AtFlags::empty());
    }

    /// The names of all places.
    pub fn names(&self) -> Vec<String> {
        let files = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let names = files.filter_map(|file| file.file_name().into_string().ok());
        let mut names: Vec<_> =
            names.filter_map(|name| name.strip_suffix(LOCK).map(str::to_string)).collect();
        names.sort_unstable();
        names
    }

    /// Removes an unused lock file; the caller holds the lock.
    pub fn forget(&self, name: &str, _lock: Lock) {
        self.remove(name);
        self.remove(&format!("{name}{LOCK}"));
    }
}
