//! Command lines of real scripts, with curl and with our tool against the same server.

use super::{clean, empty_folder, here, server, tool};
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

/// The one to compare with.
const CURL: &str = "/usr/bin/curl";

/// What a command line left behind.
#[derive(PartialEq, Debug)]
struct Trace {
    code: Option<i32>,
    stdout: String,
    files: BTreeMap<String, String>,
}

fn trace(line: &str, program: &str, url: &str, name: &str) -> Trace {
    let (folder, bin) = (empty_folder(), empty_folder());
    symlink(program, bin.join("curl")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    clean(&mut command).env("PATH", path).env("URL", url).env("NAME", name);
    let out = command.args(["-c", line]).current_dir(&folder).stdin(Stdio::null()).output().unwrap();
    let mut files = BTreeMap::new();
    gather(&folder, &folder, &mut files);
    Trace { code: out.status.code(), stdout: String::from_utf8_lossy(&out.stdout).into_owned(), files }
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
fn scripts_do_the_same_as_with_curl() {
    assert!(Path::new(CURL).exists(), "tests/packages.txt names what the tests need");
    let url = format!("http://{}", server::start());
    let lines = std::fs::read_to_string(here().join("wild.txt")).unwrap();
    let lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(lines.len() >= 40);
    let mut wrong = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let theirs = trace(line, CURL, &url, &format!("theirs{number}"));
        let ours = trace(line, tool(), &url, &format!("ours{number}"));
        if theirs != ours {
            wrong.push(format!("{line}\n  curl: {theirs:?}\n  ours: {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}
