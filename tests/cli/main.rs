//! The command line tool from outside: its output, and command lines from real scripts compared with curl's.

mod effects;
mod examples;
mod ftp_mutants;
mod guide;
mod hsts;
mod install;
mod odd;
mod programs;
mod server;
mod snapshots;
mod start;
mod watch_pace;
mod wild;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::needs;

/// The program under test.
pub fn tool() -> &'static str {
    env!("CARGO_BIN_EXE_warmwire")
}

/// This folder.
pub fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cli")
}

/// An empty directory for one test. All of them stay to be looked at until the next run.
pub fn empty_folder() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    static OURS: LazyLock<PathBuf> = LazyLock::new(|| {
        remove_left_folders();
        std::env::temp_dir().join(format!("{FOLDER}{}", std::process::id()))
    });
    let folder = OURS.join(NEXT.fetch_add(1, Ordering::Relaxed).to_string());
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The prefix of a run's directory; its process ID follows.
const FOLDER: &str = "warmwire-cli-";

fn remove_left_folders() {
    for entry in std::fs::read_dir(std::env::temp_dir()).unwrap().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(FOLDER)?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Runs a program where no config file and no proxy of the user's gets in the way.
pub fn run(program: &str, words: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(program);
    needs::output(clean(&mut command).args(words).current_dir(folder).stdin(Stdio::null()))
}

pub fn clean(command: &mut Command) -> &mut Command {
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"]
    {
        command.env_remove(name);
    }
    for name in ["WARMWIRE_PROXY", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
        command.env_remove(name);
    }
    command
        // No folder, and none that a shell (fish does) could make.
        .env("HOME", "/dev/null/home")
        .env("CURL_HOME", "/dev/null/home")
        .env("COLUMNS", "79")
        .env("LC_ALL", "C")
}
