//! Standard output of `--parallel`: whole lines of all transfers.

use super::{clean, curl, ran};
use crate::{empty_folder, tool};
use std::process::{Command, Stdio};
use std::time::Duration;
use testkit::body::pattern;
use testkit::http::{HttpServer, Response};

/// The lines of one transfer: each names it and has a number, lengths differ.
fn numbered(path: &str, count: usize) -> String {
    (0..count).map(|n| format!("{path} {n} {}\n", "x".repeat(n * 7919 % 5000))).collect()
}

fn serving(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> HttpServer {
    HttpServer::with(move |request| {
        // Pieces that end within lines.
        let drip = Some((9973, Duration::from_micros(100)));
        Some(Response { drip, ..Response::ok(answer(request.path())) })
    })
}

fn urls(server: &HttpServer, count: usize) -> Vec<String> {
    (0..count).map(|n| server.url(&format!("/{n}"))).collect()
}

fn all_at_once<'u>(flags: &[&'u str], urls: &'u [String]) -> Vec<&'u str> {
    let words = ["-Z", "--parallel-immediate"].iter().chain(flags).copied();
    words.chain(urls.iter().map(String::as_str)).collect()
}

/// xargs runs one command for each URL, and each command has a file.
// covers: --parallel
#[test]
fn the_lines_are_those_of_a_file_each() {
    let server = serving(|path| numbered(path, 400).into_bytes());
    let urls = urls(&server, 12);
    let together = curl(&all_at_once(&[], &urls)).text();
    let folder = empty_folder();
    std::fs::write(folder.join("urls"), urls.join("\n")).unwrap();
    let mut command = Command::new("sh");
    let script = format!("xargs -P 4 -n 1 {} -sSO <urls", tool());
    clean(command.args(["-c", &script]).current_dir(&folder));
    assert!(command.status().unwrap().success());
    let mut switches = 0;
    let mut before = "";
    for line in together.lines() {
        let name = line.split(' ').next().unwrap();
        switches += usize::from(name != before);
        before = name;
    }
    assert!(switches > urls.len(), "the transfers ran side by side");
    for n in 0..urls.len() {
        let own: String =
            together.split_inclusive('\n').filter(|line| line.starts_with(&format!("/{n} "))).collect();
        let file = std::fs::read_to_string(folder.join(n.to_string())).unwrap();
        assert!(own == file, "lines of transfer {n} are there once, whole and in order");
    }
}

// covers: --parallel
#[test]
fn bytes_without_lines_pass_in_bounded_memory() {
    // 8 transfers of 40 MiB in an address space of 300 MB; each is one line.
    let server = HttpServer::with(|request| {
        let letter = b'a' + request.path().as_bytes()[1] - b'0';
        Some(Response::ok(vec![letter; 40 << 20]))
    });
    let urls = urls(&server, 8);
    let words = all_at_once(&["-sS"], &urls).join(" ");
    let mut command = Command::new("sh");
    let script = format!("ulimit -v 300000; {} {words} >out", tool());
    let ran = ran(command.args(["-c", &script]).stdin(Stdio::null()), empty_folder());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let mut counts = [0_usize; 8];
    for byte in std::fs::read(ran.folder.join("out")).unwrap() {
        counts[usize::from(byte - b'a')] += 1;
    }
    assert_eq!(counts, [40 << 20; 8]);
}

// covers: --parallel
#[test]
fn binary_output_is_unchanged() {
    let body = pattern(3 << 20);
    let sent = body.clone();
    let server = serving(move |_| sent.clone());
    let mut command = Command::new(tool());
    let out = clean(command.args(["-sSZ", &server.url("/0")])).output().unwrap();
    assert!(out.status.success() && out.stdout == body);
    // The end of a transfer needs no end of a line.
    let server = serving(|path| format!("{path} a\nb").into_bytes());
    let text = curl(&["-Z", "--parallel-max", "1", &server.url("/0"), &server.url("/1")]).text();
    assert_eq!(text, "/0 a\nb/1 a\nb");
}
