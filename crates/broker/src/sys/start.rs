//! Starting the broker in the background, from any process.
//!
//! The process starts the tool with the hidden command `--pool-broker`, which detaches itself
//! ([`super::detach`]). Nobody waits for it.

use std::env;
use std::ffi::OsStr;
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

/// Path of the installed tool, if the build knows it.
const INSTALLED: Option<&str> = option_env!("WARMWIRE_BROKER_PROGRAM");
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

/// Starts a broker, unless another process is doing so. Errors are not reported: the caller goes on without a
/// broker.
pub(super) fn start() {
    let Some(program) = program() else { return };
    let Ok(folder) = Folder::find(Missing::Create) else { return };
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

/// Returns the tool: the named one, the installed one, this process's own, or that of PATH.
fn program() -> Option<PathBuf> {
    if let Some(named) = environment::value(&BROKER) {
        return Some(PathBuf::from(named));
    }
    let installed = INSTALLED.map(PathBuf::from).filter(|path| is_executable(path));
    installed.or_else(own_program).or_else(|| env::var_os("PATH").and_then(|path| search(&path)))
}

/// Returns the path of this process's program if it is the tool.
fn own_program() -> Option<PathBuf> {
    env::current_exe().ok().filter(|path| path.file_name().is_some_and(|name| name == PROGRAM))
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
