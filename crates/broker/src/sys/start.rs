//! Starting the broker in the background, from any process.
//!
//! The process starts the tool with the hidden command `--pool-broker`, which detaches itself
//! ([`super::detach`]). Nobody waits for it.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use runtime::environment;
use rustix::process::geteuid;
use rustix::thread::{CapabilitySet, capabilities, capability_is_in_ambient_set};
use tables::environment::{BROKER, POOL_DIR};

use super::folder::{Folder, Lock, Missing};
use super::server::VARIABLES;

/// File name of the tool.
const PROGRAM: &str = "warmwire";
/// Held by the process that starts the broker.
const LOCK: &str = "start.lock";

/// Returns whether the process has more rights than its user: set-user-ID, set-group-ID, or capabilities of
/// the file. Ambient capabilities are the user's own.
pub(super) fn is_privileged() -> bool {
    if runtime::secure_execution() {
        return true;
    }
    if geteuid().is_root() {
        return false;
    }
    let Ok(sets) = capabilities(None) else { return false };
    let is_ambient = |one: CapabilitySet| capability_is_in_ambient_set(one).unwrap_or(false);
    !sets.permitted.iter().all(is_ambient)
}

/// Starts a broker of this user, unless another process is doing so. Errors are not reported: the caller goes
/// on without a broker.
pub(super) fn start(user: u32) {
    let Some(program) = program() else { return };
    let Ok(folder) = Folder::find(Missing::Create, user) else { return };
    let Ok(Some(lock)) = folder.try_lock(LOCK) else { return };
    let mut command = Command::new(program);
    command.arg(super::detach::FLAG).env_clear().env(POOL_DIR.name, folder.path());
    for variable in VARIABLES {
        if let Some(value) = environment::value(variable) {
            command.env(variable.name, value);
        }
    }
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return };
    // The starter exits within milliseconds. Without a wait it would stay a zombie of the application.
    let _ = runtime::spawn_helper("broker-start", move || {
        let _lock: Lock = lock;
        let _ = child.wait();
    });
}

/// Returns the tool: the named one, this process's own, that beside the library, or that of PATH.
fn program() -> Option<PathBuf> {
    if let Some(named) = environment::value(&BROKER) {
        return Some(PathBuf::from(named));
    }
    own_program().or_else(beside_library).or_else(|| env::var_os("PATH").and_then(|path| search(&path)))
}

/// Returns the path of this process's program if it is the tool.
fn own_program() -> Option<PathBuf> {
    env::current_exe().ok().filter(|path| path.file_name().is_some_and(|name| name == PROGRAM))
}

/// Returns `../bin/warmwire` as seen from the folder of this library: `make install` and the packages put it
/// there. Workers of PHP-FPM have no PATH. A user who can replace that file can replace the library as well.
fn beside_library() -> Option<PathBuf> {
    let here: fn() -> Option<PathBuf> = beside_library;
    let library = mapped_file(&fs::read("/proc/self/maps").ok()?, (here as *const ()).addr())?;
    let tool = library.parent()?.parent()?.join("bin").join(PROGRAM);
    Some(tool).filter(|path| is_executable(path))
}

/// Returns the file that is mapped at an address, by the text of proc_pid_maps(5).
fn mapped_file(maps: &[u8], address: usize) -> Option<PathBuf> {
    let number = |digits: &[u8]| usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    maps.split(|&byte| byte == b'\n').find_map(|line| {
        // Range, rights, offset, device, inode, and after some spaces the path.
        let mut fields = line.splitn(6, |&byte| byte == b' ');
        let mut ends = fields.next()?.split(|&byte| byte == b'-');
        let (start, end) = (number(ends.next()?)?, number(ends.next()?)?);
        let path = fields.nth(4)?.trim_ascii_start();
        let is_found = (start..end).contains(&address) && path.starts_with(b"/");
        is_found.then(|| PathBuf::from(OsStr::from_bytes(path)))
    })
}

/// Searches the absolute directories of PATH.
fn search(path: &OsStr) -> Option<PathBuf> {
    let folders =
        path.as_bytes().split(|&byte| byte == b':').map(|folder| Path::new(OsStr::from_bytes(folder)));
    folders
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(PROGRAM))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_at_an_address() {
        let maps = b"559a00000000-559a00001000 r--p 00000000 08:01 17     /usr/bin/php\n\
            7f0000001000-7f0000002000 r--p 00000000 08:01 42    /opt/a b/lib/libcurl.so.4.8.0\n\
            7f0000002000-7f0000005000 r-xp 00001000 08:01 42    /opt/a b/lib/libcurl.so.4.8.0\n\
            7f0000005000-7f0000006000 rw-p 00000000 00:00 0 \n\
            7f0000006000-7f0000007000 rw-p 00000000 00:00 0     [heap]\n";
        let library = Some(PathBuf::from("/opt/a b/lib/libcurl.so.4.8.0"));
        let table = [
            (0x559a_0000_0000, Some(PathBuf::from("/usr/bin/php"))),
            (0x7f00_0000_1fff, library.clone()),
            (0x7f00_0000_2000, library.clone()),
            (0x7f00_0000_4fff, library),
            (0x7f00_0000_5000, None),
            (0x7f00_0000_6000, None),
            (0x7f00_0000_7000, None),
        ];
        for (address, expected) in table {
            assert_eq!(mapped_file(maps, address), expected, "{address:x}");
        }
    }

    /// A program that is linked with the library statically is its own file.
    #[test]
    fn this_program_is_found() {
        let here: fn() -> Option<PathBuf> = beside_library;
        let maps = fs::read("/proc/self/maps").unwrap();
        let file = mapped_file(&maps, (here as *const ()).addr());
        assert_eq!(file, Some(env::current_exe().unwrap()));
    }
}
