//! The command line tool from outside: what it prints, and that command lines from real scripts do the same as curl's.

mod effects;
mod ftp_mutants;
mod hsts;
mod odd;
mod programs;
mod server;
mod snapshots;
mod start;
mod wild;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The program under test.
pub fn tool() -> &'static str {
    env!("CARGO_BIN_EXE_warmwire")
}

/// This folder.
pub fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cli")
}

/// An empty directory for one test.
pub fn empty_folder() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("warmwire-cli-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a program where no config file and no proxy of the user's gets in the way.
pub fn run(program: &str, words: &[&str], folder: &Path) -> Output {
    clean(&mut Command::new(program)).args(words).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

pub fn clean(command: &mut Command) -> &mut Command {
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]
    {
        command.env_remove(name);
    }
    command
        // No folder, and none that a shell (fish does) could make.
        .env("HOME", "/dev/null/home")
        .env("CURL_HOME", "/dev/null/home")
        .env("COLUMNS", "79")
        .env("LC_ALL", "C")
}
