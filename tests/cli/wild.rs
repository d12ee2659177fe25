//! Command lines of real scripts, with curl and with our tool against the same server.

use super::{clean, empty_folder, here, server, tool};
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use testkit::baseline::Comparison;

/// The program to compare with.
const CURL: &str = "/usr/bin/curl";

/// The files in the directory of each line.
const FILES: [(&str, &str); 4] =
    [("f", "file content\n"), ("g", "a=b\nc=d\n"), ("e", ""), ("img.png", "PNG")];

/// The results of a command line.
#[derive(PartialEq, Debug)]
struct Trace {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    files: BTreeMap<String, String>,
}

fn trace(line: &str, program: &str, url: &str, name: &str) -> Trace {
    let (folder, bin) = (empty_folder(), empty_folder());
    for (name, content) in FILES {
        std::fs::write(folder.join(name), content).unwrap();
    }
    std::fs::create_dir(folder.join("dir")).unwrap();
    symlink(program, bin.join("curl")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    // By its path, because a name with another PATH makes std fork, which copies the tables of this process.
    let mut command = Command::new("/bin/bash");
    clean(&mut command).env("PATH", path).env("URL", url).env("NAME", name);
    let out = command.args(["-c", line]).current_dir(&folder).stdin(Stdio::null()).output().unwrap();
    let mut files = BTreeMap::new();
    gather(&folder, &folder, &mut files);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&folder.display().to_string(), "FOLDER");
    Trace { code: out.status.code(), stdout: text(&out.stdout), stderr: text(&out.stderr), files }
}

fn gather(top: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(top, &path, files);
            continue;
        }
        let name = path.strip_prefix(top).unwrap().display().to_string();
        files.insert(name, String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned());
    }
}

// covers: --fail, --silent, --show-error, --location, --proto, --output, --request, --header, --data,
// --json, --user, --write-out, --get, --data-urlencode, --url-query, --fail-with-body, --data-binary,
// --user-agent, --referer, --cookie, --compressed, --upload-file, --form, --form-string, --remote-name,
// --create-dirs, --remote-name-all, --remote-header-name, --range, --continue-at, --remote-time,
// --parallel, --etag-save, --etag-compare, --output-dir, --time-cond, --cookie-jar, --retry, --retry-delay,
// --max-time, --connect-timeout, --max-redirs, --head, --show-headers, --dump-header, --next, --config
#[test]
fn scripts_behave_as_with_curl() {
    // The words of warnings have changed since 7.88.
    compare("wild", 40, |trace| Trace { stderr: String::new(), ..trace });
}

#[test]
fn odd_command_lines_print_curls_messages() {
    compare("same", 300, |trace| trace);
}

/// Runs each line of a file with both programs, four at a time.
fn compare(test: &'static str, least: usize, seen: fn(Trace) -> Trace) {
    if !Path::new(CURL).exists() {
        testkit::left_out("curl is missing: install the package curl");
    }
    let address = server::start();
    let (url, port) = (format!("http://{address}"), address.port().to_string());
    let lines = std::fs::read_to_string(here().join(test).with_extension("txt")).unwrap();
    let lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(lines.len() >= least);
    let next = AtomicUsize::new(0);
    let comparison = Mutex::new(Comparison::new(test));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(line) = lines.get(number) else { return };
            let theirs = seen(trace(line, CURL, &url, &format!("theirs{number}")));
            let ours = seen(trace(line, tool(), &url, &format!("ours{number}")));
            let differs = (theirs != ours).then(|| format!("{line}\n  curl: {theirs:?}\n  ours: {ours:?}"));
            let theirs = format!("{theirs:?}").replace(&url, "URL").replace(&port, "PORT");
            comparison.lock().unwrap().add(line, &theirs, differs);
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    comparison.into_inner().unwrap().judge();
}
