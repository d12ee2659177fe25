//! `--input-file`: what servers see of each entry, and when.

use super::{Ran, clean, curl_in, folder_with, write};
use crate::{empty_folder, tool};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::http::{HttpServer, Request, Response, ranged};

/// Runs the tool with a list, in which `@` stands for the server.
fn listed(list: &str, server: &HttpServer, words: &[&str]) -> Ran {
    let folder = folder_with("list", &list.replace('@', &server.url("")));
    curl_in(folder, &[&["--input-file", "list"], words].concat())
}

/// A server that says which path was requested.
fn naming() -> HttpServer {
    HttpServer::with(|request| Some(Response::ok(request.path())))
}

fn fields<'r>(requests: &'r [Request], path: &str, name: &str) -> Option<&'r str> {
    requests.iter().find(|request| request.path() == path)?.field(name)
}

fn await_requests(server: &HttpServer, count: usize) {
    let begun = Instant::now();
    while server.requests().len() < count {
        assert!(begun.elapsed() < Duration::from_secs(60), "{} requests", server.requests().len());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts the tool, which reads a list from its standard input.
fn piped(folder: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(tool());
    clean(&mut command).args(["-sS", "--input-file", "-"]).args(words).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn each_entry_has_its_own_options_and_those_of_the_command_line() {
    let list = "\u{feff}# comment\r\n@/a\r\n  out = own name\r\n  header = X-Own: 1 2\r\n\r\n@/b\n\
        @/c\n\tuser=me:pw\n@/d?x={1,2}[3]\n  dir = sub/folder\n";
    for mode in ["--no-parallel", "--parallel"] {
        let server = naming();
        let ran = listed(list, &server, &[mode, "-H", "X-All: 3", "-w", "%{urlnum} %{filename_effective}\n"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let requests = server.requests();
        assert_eq!(requests.len(), 4);
        for (path, own, all, login) in [
            ("/a", Some("1 2"), Some("3"), None),
            ("/b", None, Some("3"), None),
            ("/c", None, Some("3"), Some("Basic bWU6cHc=")),
            ("/d", None, Some("3"), None),
        ] {
            let found = ["X-Own", "X-All", "Authorization"].map(|name| fields(&requests, path, name));
            assert_eq!(found, [own, all, login], "{mode} {path}");
        }
        assert!(requests.iter().any(|request| request.target == "/d?x={1,2}[3]"), "globs are literal");
        for (name, content) in [("own name", "/a"), ("b", "/b"), ("c", "/c"), ("sub/folder/d", "/d")] {
            assert_eq!(ran.file(name), content, "{mode}");
        }
        let mut lines: Vec<&str> = ran.stdout.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["0 own name", "1 b", "2 c", "3 sub/folder/d"], "{mode}");
    }
}

#[test]
fn outputs_of_the_command_line_and_sections_apply_to_entries() {
    let server = naming();
    let ran = listed("@/a\n@/b\n out = x\n", &server, &["-O", "--output-dir", "d", "--create-dirs"]);
    assert!(ran.code == 0 && ran.file("d/a") == "/a" && ran.file("d/x") == "/b", "{}", ran.stderr);
    let ran = listed("@/a\n@/b\n out = x\n", &server, &["--out-null"]);
    assert!(ran.code == 0 && !ran.folder.join("a").exists() && ran.file("x") == "/b", "{}", ran.stderr);
    assert_eq!(listed("@/a\n@/b\n", &server, &["-o", "-"]).text(), "/a/b");
    // URLs of the command line come first, and groups have their own files.
    let last = server.url("/last");
    let words = ["-o", "-", &server.url("/first"), "-o", "-", "--next", "-o", "-", &last];
    assert_eq!(listed("@/a\n", &server, &words).text(), "/first/a/last");
    let config = "[host 127.0.0.1]\nheader = \"X-Section: 1\"\nuser-agent = section\n";
    let folder = folder_with("list", &format!("{0}/p\n{0}/q\n user-agent = own\n", server.url("")));
    write(&folder, "config", config);
    let ran = curl_in(folder, &["-K", "config", "--input-file", "list"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for (path, agent) in [("/p", "section"), ("/q", "own")] {
        let found = ["X-Section", "User-Agent"].map(|name| {
            server
                .requests()
                .iter()
                .rev()
                .find(|request| request.path() == path)
                .and_then(|request| request.field(name))
                .map(str::to_owned)
        });
        assert_eq!(found, [Some("1".to_owned()), Some(agent.to_owned())], "{path}");
    }
}

#[test]
fn a_file_with_a_mistake_transfers_nothing() {
    let server = naming();
    for (list, why) in [
        ("@/a\n@/b\n  nonsense = 1\n", "list:3: option 'nonsense' is unknown"),
        ("@/a\n  silent\n", "list:2: option 'silent' is for the whole command line, not for one URL"),
        ("@/a\n  max-time = soon\n", "list:2: option 'max-time' expected a proper numerical parameter"),
        ("  out = x\n@/a\n", "list:1: an option without a URL above it"),
        ("@/a\nhttp://[x\n", "list:2: not a URL: http://[x"),
        ("@/a\n\0\n", "list:2: the line has a NUL byte"),
    ] {
        for mode in ["--no-parallel", "--parallel"] {
            let ran = listed(list, &server, &[mode]);
            assert_eq!((ran.code, ran.stderr.trim_end()), (2, &*format!("curl: {why}")), "{list}");
        }
    }
    let ran = listed("@/a\t@/b\n", &server, &["--parallel"]);
    assert!(ran.code == 2 && ran.stderr.replace("\ncurl: ", "").contains("list:1: several URLs of one file"));
    let ran = curl_in(empty_folder(), &["--input-file", "absent"]);
    assert_eq!(
        (ran.code, ran.stderr.trim_end()),
        (26, "curl: absent: can't be opened: No such file or directory")
    );
    assert_eq!(curl_in(folder_with("list", "# nothing\n"), &["--input-file", "list"]).code, 26);
    let ran = listed("@/a\n", &server, &["--etag-save", "tag"]);
    assert!(ran.code == 2 && ran.stderr.contains("only work on a single URL"), "{}", ran.stderr);
    assert_eq!(server.requests().len(), 0);
}

/// A pipe may stay open for days: what it has brought is transferred, and other transfers go on.
#[test]
fn a_pipe_is_read_while_transfers_run() {
    for mode in ["--no-parallel", "--parallel"] {
        let (server, folder) = (naming(), empty_folder());
        let mut child = piped(&folder, &[mode]);
        let mut list = child.stdin.take().unwrap();
        write!(list, "{0}/a\n out = x\n{0}/b\n", server.url("")).unwrap();
        await_requests(&server, 1);
        assert_eq!(server.requests()[0].path(), "/a");
        writeln!(list, "{}/c", server.url("")).unwrap();
        await_requests(&server, 2);
        // An entry ends where the next one begins, or the list.
        assert_eq!(server.requests()[1].path(), "/b");
        writeln!(list, "  nonsense").unwrap();
        drop(list);
        let out = child.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{mode}");
        assert_eq!(String::from_utf8_lossy(&out.stderr), "curl: <stdin>:5: option 'nonsense' is unknown\n");
        assert!(folder.join("x").exists() && folder.join("b").exists() && !folder.join("c").exists());
    }
}

#[test]
fn a_transfer_goes_on_while_its_pipe_is_silent() {
    let (server, folder) = (HttpServer::plain(), empty_folder());
    let mut child = piped(&folder, &["--parallel"]);
    let mut list = child.stdin.take().unwrap();
    write!(list, "{0}/drip/1000/20/bytes/20000\n out = slow\n{0}/bytes/5\n", server.url("")).unwrap();
    let begun = Instant::now();
    while std::fs::metadata(folder.join("slow")).map_or(0, |file| file.len()) < 20_000 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the transfer stands still");
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(list);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn failures_of_entries() {
    let server = HttpServer::plain();
    let list = "@/bytes/3\n out=a\n@/status/404\n fail\n@/bytes/4\n out=b\n@/status/404\n out=c\n";
    for mode in ["--no-parallel", "--parallel"] {
        let ran = listed(list, &server, &[mode, "-w", "%{exitcode}\n"]);
        let mut codes: Vec<&str> = ran.stdout.lines().collect();
        codes.sort_unstable();
        assert_eq!(codes, ["0", "0", "0", "22"], "{}", ran.stderr);
        let count = server.requests().len();
        let ran = listed(list, &server, &[mode, "--fail-early", "--parallel-max", "1"]);
        assert_eq!((ran.code, server.requests().len() - count), (22, 2), "{mode}");
        let ran = listed("@/status/404\n fail-on = 500\n out = a\n", &server, &[mode]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        // One whose file can't be written is not the end of the others.
        let list = "@/bytes/3\n output = list/a\n create-dirs\n@/bytes/3\n continue-at = -\n \
            output = list/x\n@/bytes/5\n out=c\n";
        let ran = listed(list, &server, &[mode]);
        assert!(ran.file("c").len() == 5, "{mode} {}", ran.stderr);
    }
    let count = server.requests().len();
    let ran = listed("@/status/503\n retry = 2\n retry-delay = 0.01\n@/status/503\n", &server, &["-f"]);
    assert_eq!((ran.code, server.requests().len() - count), (22, 4), "the second is not retried");
}

#[test]
fn several_urls_of_one_file_are_its_mirrors() {
    let body = testkit::body::pattern(3_000_000);
    let content = body.clone();
    let server = HttpServer::with(move |request| match request.path() {
        "/absent" => None,
        _ => Some(ranged(request, content.clone()).with("ETag", "\"a\"")),
    });
    let list = "@/f\t@/mirror\t@/absent\n  out = file\n  header = X-Own: 1\n@/g\n  split = 2\n";
    let ran = listed(list, &server, &["--segments", "4"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(["file", "g"].iter().all(|name| std::fs::read(ran.folder.join(name)).unwrap() == body));
    let requests = server.requests();
    let of = |path: &str| requests.iter().filter(|request| request.path() == path).collect::<Vec<_>>();
    assert!(of("/f").len() + of("/mirror").len() > 2 && of("/g").len() > 1);
    assert!(of("/f").iter().all(|request| request.field("X-Own") == Some("1")));
    assert!(of("/mirror").iter().all(|request| request.field("X-Own").is_none()));
}

/// The list is not kept: 3 MB of it would be seen.
#[test]
fn a_long_list_needs_little_memory() {
    let folder = empty_folder();
    let mut child = piped(&folder, &["--dry-run"]);
    let mut list = child.stdin.take().unwrap();
    let out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || std::io::copy(&mut { out }, &mut std::io::sink()).unwrap());
    let peak = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap().to_owned();
        line.split_ascii_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
    };
    let entries =
        |count: usize| "http://127.0.0.1/a/long/name/of/a/file\n  header = X-Own: 1\n".repeat(count);
    list.write_all(entries(5000).as_bytes()).unwrap();
    let before_kib = peak();
    list.write_all(entries(60_000).as_bytes()).unwrap();
    let grown_kib = peak() - before_kib;
    drop(list);
    assert!(child.wait().unwrap().success());
    assert!(reader.join().unwrap() > 60_000 * 50);
    assert!(grown_kib < 2000, "{grown_kib} KiB more for 60,000 entries");
}
