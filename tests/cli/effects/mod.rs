//! Effects of single flags, seen from the peer, in the file system or in the system calls.

mod absent;
mod alike;
mod bars;
mod cache;
mod cache_files;
mod cache_ranges;
mod certificates;
mod checksum;
mod connection;
mod content_disposition;
mod dictionaries;
mod ech;
mod environment;
mod fail_on;
mod host_sections;
mod http;
mod http3;
mod http_uploads;
mod input_files;
mod lines;
mod mirror;
mod mirror_listings;
mod names;
mod output;
mod outputs;
mod pac;
mod policy;
mod pool;
mod priority;
mod proxy;
mod proxy_command;
mod recording;
mod records;
mod retry;
mod s3_uploads;
mod saved_queue;
mod seen;
mod segments;
mod ssh;
mod summary;
mod tls;
mod uploads;
mod watch;
mod why;

use super::{clean, empty_folder, tool};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::needs;
use tls::Judge;

/// The results of a command line.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
    folder: PathBuf,
}

impl Ran {
    /// Standard output of a run that must have succeeded.
    fn text(self) -> String {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self.stdout
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// Runs the tool in an empty folder, without a progress meter.
fn curl(words: &[&str]) -> Ran {
    curl_in(empty_folder(), words)
}

fn curl_in(folder: PathBuf, words: &[&str]) -> Ran {
    ran(Command::new(tool()).arg("-sS").args(words), folder)
}

/// Runs the tool under strace and returns the selected system calls.
fn traced(calls: &str, words: &[&str]) -> String {
    let folder = empty_folder();
    let mut command = Command::new("strace");
    command.args(["-f", "-s", "256", "-o", "calls", "-e", &format!("trace={calls}")]);
    let ran = ran(command.arg(tool()).arg("-sS").args(words), folder);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.file("calls")
}

/// Returns a shell that runs `script` with mounts of its own. Leaves the test out if the system refuses
/// them.
fn shell_with_mounts(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.arg(namespace_flags("m")).args(["sh", "-c", script]);
    command
}

/// Returns the flags of unshare(1) for namespaces of these kinds. Leaves the test out if the system refuses
/// them.
fn namespace_flags(kinds: &str) -> String {
    // Root needs no user namespace for it, which not every container grants.
    let user = if std::fs::metadata("/proc/self").unwrap().uid() == 0 { "" } else { "r" };
    let flags = format!("-{user}{kinds}");
    let granted = Command::new("unshare").args([&flags, "true"]).output().unwrap();
    if !granted.status.success() {
        testkit::left_out(format!("no namespace: {}", String::from_utf8_lossy(&granted.stderr).trim()));
    }
    flags
}

fn ran(command: &mut Command, folder: PathBuf) -> Ran {
    let out = needs::output(clean(command).current_dir(&folder).stdin(Stdio::null()));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran {
        code: out.status.code().unwrap_or(-1),
        stdout: text(&out.stdout),
        stderr: text(&out.stderr),
        folder,
    }
}

/// A folder with one file in it.
fn folder_with(name: &str, content: &str) -> PathBuf {
    let folder = empty_folder();
    write(&folder, name, content);
    folder
}

fn write(folder: &Path, name: &str, content: &str) {
    std::fs::write(folder.join(name), content).unwrap();
}
