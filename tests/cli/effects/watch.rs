//! `--watch`, `--watch-json` and `--exec`.

use super::{clean, curl, curl_in, folder_with};
use crate::{empty_folder, run, tool};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::http::{HttpServer, Response};
use testkit::launch::Vsftpd;
use testkit::needs;
use testkit::raw::{RawPeer, Step, expect, send};

/// A server whose content a test changes, and the content.
fn changing(text: &str) -> (HttpServer, Arc<Mutex<String>>) {
    let content = Arc::new(Mutex::new(text.to_owned()));
    let shared = content.clone();
    let server = HttpServer::with(move |request| match request.path() {
        "/f" => Some(Response::ok(shared.lock().unwrap().clone().into_bytes())),
        _ => None,
    });
    (server, content)
}

/// A watch that runs, and its lines.
struct Watching {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    all: String,
}

impl Watching {
    fn start(folder: &Path, words: &[&str]) -> Watching {
        // A shell that runs the tests in its background ignores the signal.
        let mut command = Command::new("env");
        clean(&mut command)
            .args(["--default-signal=INT", tool(), "-sS", "--watch"])
            .args(words)
            .current_dir(folder);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Watching { child, lines, all: String::new() }
    }

    /// Reads lines up to one with this event.
    fn until(&mut self, event: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "no {event} in {}", self.all);
            self.all.push_str(&line);
            if line.contains(&format!("\"event\":\"{event}\"")) {
                return line;
            }
        }
    }

    /// Sends SIGINT and returns how the process ended.
    fn interrupt(mut self) -> (Option<i32>, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        self.until("end");
        (self.child.wait().unwrap().signal(), std::mem::take(&mut self.all))
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns jq's answer about all lines.
fn asked(lines: &str, question: &str) -> String {
    let folder = folder_with("lines", lines);
    let out = run("jq", &["-s", "-c", question, "lines"], &folder);
    assert!(out.status.success(), "{lines}");
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

#[test]
fn changes_are_lines_and_replace_the_file() {
    let (server, content) = changing("one");
    let folder = empty_folder();
    let url = server.url("/f").replace("http://", "http://me:secret@");
    let mut watching = Watching::start(&folder, &["50ms", "-o", "f", &url]);
    watching.until("first");
    assert_eq!(fs::read_to_string(folder.join("f")).unwrap(), "one");
    *content.lock().unwrap() = "another".to_owned();
    watching.until("changed");
    assert_eq!(fs::read_to_string(folder.join("f")).unwrap(), "another");
    let (signal, lines) = watching.interrupt();
    assert_eq!(signal, Some(2), "a shell sees why it ended");
    assert_eq!(
        asked(&lines, "[.[] | .event, .size, .file]"),
        r#"["first",3,"f","changed",7,"f","end",null,null]"#
    );
    assert_eq!(asked(&lines, ".[0].latency_ms > 0 and (.[1].time | test(\"^20.*Z$\"))"), "true", "{lines}");
    assert_eq!(
        asked(&lines, ".[2] | .in_time >= 2 and .missed >= 0 and .p99_ms >= .p50_ms"),
        "true",
        "{lines}"
    );
    assert!(!lines.contains("secret"), "{lines}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
    assert_eq!(server.accepts(), 1);
    assert!(server.last_request().unwrap().field("authorization").is_some());
}

#[test]
fn the_deadline_ends_a_watch() {
    let (server, _) = changing("x");
    let begun = Instant::now();
    let ran = curl(&["--watch", "50ms", "--deadline", "0.7", &server.url("/f"), &server.url("/none")]);
    assert!(begun.elapsed() >= Duration::from_millis(700));
    let lines = ran.text();
    assert_eq!(asked(&lines, "map(.event) | sort"), r#"["end","end","first","first"]"#, "{lines}");
}

/// A server that tries to run something.
#[test]
fn commands_run_for_changes_and_nothing_of_a_server_is_a_command() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let bad = "$(touch bad) `touch bad`; touch bad \" '";
    let server = RawPeer::start(vec![vec![
        expect("\r\n\r\n"),
        send(&format!("{head}id: 1\nevent: $(touch bad)\ndata: {bad}\n\n")),
        Step::Hold,
    ]]);
    let url = format!("http://{}/$(touch%20bad)", server.address());
    let command = "printf '%s|%s|%s' \"$WATCH_EVENT\" \"$WATCH_TYPE\" \"$WATCH_DATA\" > new; mv new got";
    let ran = curl(&["-g", "--watch", "50ms", "--deadline", "2", "--exec", command, &url]);
    assert_eq!(ran.file("got"), format!("message|$(touch bad)|{bad}"));
    assert!(!ran.folder.join("bad").exists());
    let lines = ran.text();
    assert_eq!(asked(&lines, "[.[] | .event, .type, .id]").matches("message").count(), 1, "{lines}");
}

#[test]
fn a_command_that_still_runs_runs_once_more() {
    let (server, content) = changing("0");
    let folder = empty_folder();
    let command = "echo $WATCH_SIZE >> sizes; sleep 1";
    let mut watching = Watching::start(&folder, &["30ms", "--exec", command, &server.url("/f")]);
    watching.until("first");
    for length in 2..6 {
        *content.lock().unwrap() = "x".repeat(length);
        watching.until("changed");
    }
    let wanted = Instant::now() + Duration::from_secs(20);
    let sizes = || fs::read_to_string(folder.join("sizes")).unwrap_or_default();
    while sizes() != "2\n5\n" && Instant::now() < wanted {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(sizes(), "2\n5\n", "{}", watching.all);
}

#[test]
fn failures_are_reported_once() {
    let refused = format!("ftp://127.0.0.1:{}/f", RawPeer::refused_port());
    let lines = curl(&["--watch", "50ms", "--deadline", "1", &refused]).text();
    assert_eq!(asked(&lines, "[.[] | .event, .code]"), r#"["failed",7,"end",7]"#, "{lines}");
    assert_eq!(asked(&lines, ".[1].missed > 10 and .[1].in_time == 0"), "true", "{lines}");
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let rows: [(&[&str], i32, &str); 9] = [
        (&["--exec", "true", "http://a/"], 2, "--exec needs --watch"),
        (&["--watch-json", "http://a/"], 2, "--watch-json needs --watch"),
        (&["--watch", "0", "http://a/"], 2, "takes a time from 1ms to 24h"),
        (&["--watch", "fast", "http://a/"], 2, "takes a time from 1ms to 24h"),
        (&["--watch", "1s", "-T", "f", "http://a/"], 2, "--watch can't be combined with --upload-file"),
        (
            &["--watch", "1s", "--segments", "2", "-o", "x", "http://a/"],
            2,
            "can't be combined with --segments",
        ),
        (&["--watch", "1s", "-C", "-", "-o", "x", "http://a/"], 2, "can't be combined with --continue-at"),
        (&["--watch", "1s", "nosuch://a/"], 1, "is not supported"),
        (&["--watch", "1s"], 2, "no URL specified"),
    ];
    for (words, code, text) in rows {
        let ran = curl_in(folder_with("f", "x"), words);
        assert_eq!(ran.code, code, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(text), "{words:?}: {}", ran.stderr);
    }
    let (server, _) = changing("x");
    let ran = curl(&["--watch", "50ms", "-o", "none/f", &server.url("/f")]);
    assert_eq!(ran.code, 23, "{}", ran.stderr);
}

#[test]
fn a_terminal_gets_a_table() {
    let (server, _) = changing("x");
    let folder = empty_folder();
    let line = format!("{} --watch 50ms --deadline 1.5 {} {}", tool(), server.url("/f"), server.url("/none"));
    let show = |line: &str| -> String {
        let mut script = Command::new("script");
        clean(&mut script).args(["-qec", line, "typescript"]).current_dir(&folder).env("COLUMNS", "100");
        String::from_utf8(needs::output(script.stdin(Stdio::null())).stdout).unwrap()
    };
    let shown = show(&line);
    let last = shown.rsplit("\x1b[").next().unwrap_or_default().to_owned();
    assert!(shown.contains("p99 ms") && !shown.contains("{\"event\""), "{shown}");
    assert!(shown.lines().any(|line| line.contains("/f ") && line.contains(" ok ")), "{shown} {last}");
    assert!(shown.lines().any(|line| line.contains("/none ") && line.contains(" gone ")), "{shown}");
    let shown = show(&format!("{line} --watch-json"));
    assert!(shown.contains("{\"event\":\"first\"") && !shown.contains("p99 ms"), "{shown}");
}

/// The judge is inotify: every new version of the file is reported once.
#[test]
fn the_changes_are_those_that_inotify_sees() {
    let server = match Vsftpd::start(&[]) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => testkit::left_out(error),
        server => server.unwrap(),
    };
    server.write("f", "").unwrap();
    let folder = empty_folder();
    let mut judge = Command::new("inotifywait");
    judge.args(["-m", "-q", "-e", "moved_to", "--format", "%f"]).arg(server.root());
    let mut judge = match judge.stdout(Stdio::piped()).spawn() {
        Err(_) => testkit::left_out("inotifywait is missing: install the package inotify-tools"),
        judge => judge.unwrap(),
    };
    let mut watching = Watching::start(&folder, &["100ms", "-o", "copy", &server.url("/f")]);
    watching.until("first");
    for length in 1..=8 {
        server.write("draft", "x".repeat(length)).unwrap();
        fs::rename(server.root().join("draft"), server.root().join("f")).unwrap();
        let line = watching.until("changed");
        assert!(line.contains(&format!("\"size\":{length},")), "{line}");
        assert_eq!(fs::read(folder.join("copy")).unwrap().len(), length);
    }
    let (_, lines) = watching.interrupt();
    let mut reported = BufReader::new(judge.stdout.take().unwrap()).lines();
    let seen = (1..=8).filter(|_| reported.next().is_some_and(|line| line.unwrap() == "f")).count();
    let _ = judge.kill();
    let _ = judge.wait();
    assert_eq!(asked(&lines, "map(select(.event == \"changed\")) | length"), seen.to_string(), "{lines}");
}

/// The end of the process that reads the lines ends the watch.
#[test]
fn a_reader_that_leaves_ends_the_watch() {
    let (server, content) = changing("0");
    let folder = empty_folder();
    let mut watching = Watching::start(&folder, &["30ms", &server.url("/f")]);
    watching.until("first");
    let Watching { lines, .. } = &mut watching;
    let pipe = std::mem::replace(lines, BufReader::new(spare()));
    drop(pipe);
    *content.lock().unwrap() = "1".to_owned();
    let status = watching.child.wait().unwrap();
    assert_eq!(status.code(), Some(23), "{status}");
}

/// Some standard output.
fn spare() -> std::process::ChildStdout {
    let mut child = Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
    let out = child.stdout.take().unwrap();
    child.wait().unwrap();
    out
}

/// Nothing changes, so that nothing is written: the watch looks for the reader by itself.
#[test]
fn a_watch_whose_reader_is_gone_ends() {
    let (server, _) = changing("one");
    let mut command = Command::new(tool());
    clean(&mut command).args(["-sS", "--watch", "50ms", &server.url("/f")]).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(line.contains("\"event\":\"first\""), "{line}");
    drop(lines);
    let begun = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(output.status.code(), Some(23));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors, "curl: Failed to write to standard output: its reader is gone\n");
}

#[test]
fn a_watch_on_a_full_disk_says_so() {
    let (server, _) = changing("one");
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(tool());
    clean(&mut command).args(["-sS", "--watch", "50ms", &server.url("/f")]).stdout(full);
    let output = needs::output(command.stdin(Stdio::null()).stderr(Stdio::piped()));
    assert_eq!(output.status.code(), Some(23));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors, "curl: Failed to write to standard output: No space left on device\n");
}

#[test]
fn a_wrong_url_among_good_ones_is_named_at_once() {
    let (server, _) = changing("one");
    let words = ["-sS", "--watch", "50ms", &server.url("/f"), "nosuch://host/f"];
    let output = run(tool(), &words, &empty_folder());
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("nosuch://host/f") && output.stdout.is_empty(), "{errors}");
}
