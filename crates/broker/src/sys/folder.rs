//! The folder of the broker's socket: private, opened once by descriptor, so that no later step depends on a
//! path that another user could replace.
//!
//! It is $WARMWIRE_POOL_DIR, else $XDG_RUNTIME_DIR/warmwire, /run/user/UID/warmwire, or /tmp/warmwire-UID.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, flock, fstat, mkdirat, openat, stat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::net::{SocketAddrUnix, bind, listen};
use rustix::process::geteuid;

use super::link::new_socket;
use runtime::environment;
use tables::environment::POOL_DIR;

const SOCKET: &str = "broker.sock";
/// Connections that wait for accept(2).
const BACKLOG: i32 = 512;

/// A folder that only this user can enter.
#[derive(Debug)]
pub struct Folder {
    descriptor: OwnedFd,
    path: PathBuf,
}

/// An exclusive lock in the folder. It ends with the last copy of its descriptor.
pub(super) struct Lock(pub OwnedFd);

/// Whether a missing folder is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    Create,
    Fail,
}

/// The reason why no folder could be opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The first usable place has no folder yet, so no broker runs.
    Missing,
    Unusable(String),
}

impl Folder {
    /// Opens the user's folder, creating it if needed.
    pub fn of_user() -> Result<Folder, String> {
        Folder::find(Missing::Create, geteuid().as_raw()).map_err(|refused| refused.to_string())
    }

    /// Opens that folder, creating it if needed.
    pub fn at(path: &Path) -> Result<Folder, String> {
        Folder::open(path, Missing::Create, geteuid().as_raw()).map_err(|refused| refused.to_string())
    }

    /// Binds the broker's socket, in place of that of an earlier broker, and listens. The caller holds the
    /// broker's lock.
    pub fn listen(&self) -> io::Result<OwnedFd> {
        let listener = new_socket()?;
        let _ = unlinkat(&self.descriptor, SOCKET, AtFlags::empty());
        bind(&listener, &self.address()?)?;
        listen(&listener, BACKLOG)?;
        Ok(listener)
    }

    /// Opens the first folder of the list that is usable for the effective user of this process. A folder
    /// that the environment names is the only one.
    pub(super) fn find(missing: Missing, user: u32) -> Result<Folder, Refused> {
        if let Some(named) = environment::value(&POOL_DIR) {
            return Folder::open(Path::new(&named), missing, user);
        }
        let mut reason = Refused::Unusable("no place for it".to_owned());
        for path in places(user) {
            match Folder::open(&path, missing, user) {
                Err(Refused::Unusable(text)) => reason = Refused::Unusable(text),
                other => return other,
            }
        }
        Err(reason)
    }

    /// Opens one folder, which must belong to the user.
    pub(super) fn open(path: &Path, missing: Missing, user: u32) -> Result<Folder, Refused> {
        let shown = path.display();
        let refuse = |reason: String| Refused::Unusable(format!("{shown} {reason}"));
        if !path.is_absolute() {
            return Err(refuse("is not an absolute path".to_owned()));
        }
        let descriptor = match (open_directory(path), missing) {
            (Err(Errno::NOENT), Missing::Fail) => return Err(Refused::Missing),
            (Err(Errno::NOENT), Missing::Create) => {
                match mkdirat(CWD, path, Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(refuse(format!("can't be created: {error}"))),
                }
                open_directory(path)
            }
            (other, _) => other,
        };
        let descriptor = descriptor.map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => refuse("is no folder, or a symbolic link".to_owned()),
            other => refuse(format!("can't be opened: {other}")),
        })?;
        let about = fstat(&descriptor).map_err(|error| refuse(error.to_string()))?;
        if about.st_uid != user {
            return Err(refuse("belongs to another user".to_owned()));
        }
        if about.st_mode & 0o077 != 0 {
            return Err(refuse("is accessible to other users".to_owned()));
        }
        Ok(Folder { descriptor, path: path.to_owned() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The address of the socket. It leads through the descriptor, so it is short and free of races.
    pub(super) fn address(&self) -> io::Result<SocketAddrUnix> {
        let path = format!("/proc/self/fd/{}/{SOCKET}", self.descriptor.as_raw_fd());
        Ok(SocketAddrUnix::new(path.as_str())?)
    }

    /// Takes a lock without waiting. The file stays: if it were removed, two processes could hold locks on
    /// two files of that name.
    pub(super) fn try_lock(&self, name: &str) -> io::Result<Option<Lock>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.descriptor, name, flags, Mode::RUSR | Mode::WUSR)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if self.is_called(name, &file) => Ok(Some(Lock(file))),
            Ok(()) | Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether the file still has that name: somebody may have emptied the folder.
    fn is_called(&self, name: &str, file: &OwnedFd) -> bool {
        match (statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW), fstat(file)) {
            (Ok(there), Ok(here)) => (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino),
            _ => false,
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Missing => f.write_str("it does not exist"),
            Refused::Unusable(reason) => f.write_str(reason),
        }
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn open_directory(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty())
}

/// The places for the folder, in order of preference. A parent that belongs to another user is left out: su
/// and sudo can leave XDG_RUNTIME_DIR of the caller in the environment.
fn places(user: u32) -> impl Iterator<Item = PathBuf> {
    let named = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let parents = named.into_iter().chain([PathBuf::from(format!("/run/user/{user}"))]);
    let own = parents.filter(move |parent| stat(parent).is_ok_and(|about| about.st_uid == user));
    let folders = own.map(|parent| parent.join("warmwire"));
    folders.chain([PathBuf::from(format!("/tmp/warmwire-{user}"))])
}
