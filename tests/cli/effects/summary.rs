//! `--summary`.

use super::{Ran, curl, curl_in, folder_with, write};
use crate::{clean, empty_folder, run, tool};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use testkit::ftp::FtpServer;
use testkit::http::{HttpServer, Response, ranged};

/// Returns jq's answer about the last line on standard error.
fn asked(ran: &Ran, question: &str) -> String {
    let folder = empty_folder();
    write(&folder, "json", ran.stderr.lines().last().unwrap_or_default());
    let out = run("jq", &["-c", question, "json"], &folder);
    assert!(out.status.success(), "{}", ran.stderr);
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

fn refused() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://me:secret@{}/", listener.local_addr().unwrap())
}

/// The summary does not depend on `--parallel`.
#[test]
fn counts_bytes_the_slowest_and_errors_by_kind() {
    let server = HttpServer::plain();
    let ftp = FtpServer::with_file("/f", "0123456789");
    let (one, two, slow) =
        (server.url("/bytes/1000"), server.url("/bytes/2000"), server.url("/delay/400/bytes/3"));
    let (gone, nobody, ftp) = (server.url("/status/404"), refused(), ftp.url("/f"));
    let body = folder_with("body", "12345");
    for together in ["--no-parallel", "--parallel"] {
        let files = ["-o", "a", "-o", "b", "-o", "c", "-o", "d", "-o", "e"];
        let next =
            ["--next", "-o", "x", "-f", &gone, "--next", "-o", "y", "-d", "@body", &server.url("/body")];
        let ran = curl_in(
            body.clone(),
            &[&["--summary=json", together], &files[..], &[&one, &two, &slow, &nobody, &ftp], &next].concat(),
        );
        let counts = asked(&ran, "[.transfers,.failed,.skipped,.retries,.bytes_download,.bytes_upload]");
        let sent = 1000 + 2000 + 3 + 10 + 5;
        assert_eq!(counts, format!("[7,2,0,0,{sent},5]"), "{together}: {}", ran.stderr);
        assert_eq!(
            asked(&ran, ".statuses[\"200\"], .statuses[\"404\"], .statuses[\"226\"]"),
            "4\n1\n1",
            "{}",
            ran.stderr
        );
        let slowest = asked(&ran, "[.slowest|length, (.[0]|.url,.status,.bytes)]");
        assert_eq!(slowest, format!("[5,\"{slow}\",200,3]"));
        let ordered = asked(&ran, "[.slowest[].seconds] | . == (sort|reverse) and .[0] >= 0.4");
        assert_eq!(ordered, "true", "{}", ran.stderr);
        let errors = asked(&ran, "[.errors[] | .exitcode, .count, .first_url]");
        let place = nobody.replace("me:secret@", "");
        assert_eq!(errors, format!("[7,1,\"{place}\",22,1,\"{gone}\"]"));
        assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
        assert_eq!(asked(&ran, ".seconds >= 0.4 and .bytes_per_second > 0 and .connections >= 2"), "true");
    }
}

#[test]
fn as_a_table_and_only_when_asked() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/1500");
    let words = ["-s", "-o", "a", "-o", "b", &url, &url];
    let ran = curl(&[&["--summary"], &words[..]].concat());
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines[..3], ["Transfers    2, 0 failed", "Connections  1", "Bytes        3 KB down, 0 B up"]);
    assert!(lines[3].starts_with("Time         ") && lines[4] == "Answers      2 × 200", "{}", ran.stderr);
    assert!(
        lines[5].starts_with("Slowest  ") && lines[5].ends_with(&format!(" 1.5 KB   200 {url}")),
        "{}",
        ran.stderr
    );
    assert_eq!(curl(&[&["--summary=table"], &words[..]].concat()).stderr.lines().count(), lines.len());
    assert_eq!(curl(&words).stderr, "");
    // The next word is not its argument, and an invalid one is refused.
    assert_eq!(curl(&["--summary", "-o", "a", &url]).code, 0);
    let wrong = curl(&["--summary=xml", &url]);
    assert_eq!(
        (wrong.code, wrong.stderr.lines().next()),
        (2, Some("curl: option --summary=xml: takes table or json"))
    );
    // In a config file the argument has its own field.
    for (line, begins) in
        [("summary = json", "{\"transfers\":1,"), ("summary", "Transfers  "), ("--summary=json", "{\"tr")]
    {
        let folder = folder_with("config", &format!("{line}\nurl = {url}\noutput = a\n"));
        let ran = curl_in(folder, &["-K", "config"]);
        assert!(ran.code == 0 && ran.stderr.starts_with(begins), "{line}: {}", ran.stderr);
    }
}

/// Attempts are summed, a file in pieces counts once, and an existing file not at all.
#[test]
fn attempts_pieces_and_skipped_ones() {
    let count = AtomicUsize::new(0);
    let server = HttpServer::with(move |_| {
        let first = count.fetch_add(1, Ordering::SeqCst) == 0;
        Some(if first {
            Response { body: vec![b'x'; 7], ..Response::status(503) }
        } else {
            Response::ok("whole")
        })
    });
    let ran = curl(&["--summary=json", "--retry", "2", "--retry-delay", "1", "-o", "f", &server.url("/")]);
    let values = asked(
        &ran,
        "[.transfers, .failed, .retries, .bytes_download, .statuses[\"200\"], (.slowest[0].seconds >= 1)]",
    );
    assert_eq!(values, "[1,0,1,12,1,true]", "{}", ran.stderr);
    let ran = curl_in(ran.folder, &["--summary=json", "--skip-existing", "-o", "f", &server.url("/")]);
    assert_eq!(asked(&ran, "[.transfers, .skipped]"), "[0,1]", "{}", ran.stderr);
    let size = 5_000_000;
    let large =
        HttpServer::with(move |request| Some(ranged(request, vec![b'x'; size]).with("ETag", "\"a\"")));
    let ran = curl(&["--summary=json", "--segments", "3", "-o", "f", &large.url("/f")]);
    let values = asked(
        &ran,
        "[.transfers, .failed, .slowest[0].bytes, (.bytes_download >= 5000000), .connections >= 2]",
    );
    assert_eq!(values, format!("[1,0,{size},true,true]"), "{}", ran.stderr);
}

/// Starts the tool by `sh`, after the words `before`, and sends it SIGINT while it waits for its second URL.
/// Returns the signal that has ended it.
fn interrupted(before: &str, words: &[&str]) -> (Option<i32>, Ran) {
    let server = HttpServer::plain();
    let folder = empty_folder();
    let line = format!("{before} exec \"$0\" \"$@\"");
    // Shells start background jobs with SIGINT ignored, and this test may run in one.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", "sh", "-c", &line, tool()]);
    command.args(["-sS", "--summary=json", "-o", "a", "-o", "b"]).args(words);
    command.args([server.url("/bytes/1000"), server.url("/delay/3000/bytes/3")]);
    let child = clean(&mut command).current_dir(&folder).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while server.requests().len() < 2 {
        assert!(started.elapsed() < Duration::from_secs(20), "the second request has not come");
        sleep(Duration::from_millis(5));
    }
    // The first one has ended on this side, too.
    sleep(Duration::from_millis(200));
    // The shell's own: procps may not be installed.
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let out = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    let code = out.status.code().unwrap_or(-1);
    (out.status.signal(), Ran { code, stdout: String::new(), stderr, folder })
}

/// Ctrl-C ends the process by the signal, as without the flag, but transfers that ended before are counted.
#[test]
fn an_interrupted_run_writes_its_summary() {
    for words in [&["--no-parallel"][..], &["--parallel"]] {
        let (signal, ran) = interrupted("", words);
        assert_eq!(signal, Some(2), "{words:?}: {}", ran.stderr);
        assert_eq!(asked(&ran, "[.transfers,.failed,.bytes_download]"), "[1,0,1000]", "{words:?}");
    }
}

/// A shell's background ignores the signal; so does the tool then.
#[test]
fn a_run_that_ignores_the_signal_goes_on() {
    let (signal, ran) = interrupted("trap '' INT;", &[]);
    assert_eq!((signal, ran.code), (None, 0), "{}", ran.stderr);
    assert_eq!(asked(&ran, "[.transfers,.failed]"), "[2,0]");
}
