//! `--queue`: what is left of a run that was killed, and what the next one does.

use super::{Ran, clean, curl_in, ran, shell_with_mounts, write};
use crate::{empty_folder, tool};
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::ftp::FtpServer;
use testkit::http::{HttpServer, Request, Response, ranged};
use testkit::launch::Nginx;

const FILES: usize = 12;

/// The content of a file that has a number.
fn content(number: usize) -> Vec<u8> {
    let mut content = pattern(40_000 + 10_000 * number);
    content[0] = number as u8;
    content
}

/// A server of `/1` to `/12`, with strong validators and ranges.
fn server() -> HttpServer {
    HttpServer::with(|request| {
        let number: usize = request.path()[1..].parse().ok()?;
        Some(ranged(request, content(number)).with("ETag", format!("\"{number}\"")))
    })
}

/// A list of the files of a server, each with an option of its own.
fn list(url: impl Fn(usize) -> String) -> String {
    (1..=FILES)
        .map(|number| format!("{}\n  out = file-{number}\n  header = X-Own: {number}\n", url(number)))
        .collect()
}

/// Runs the tool until it is killed by a signal after some time, or has ended; true if it has.
fn run_until(folder: &Path, words: &[&str], millis: u64, signal: &str) -> bool {
    // Shells start background jobs with SIGINT ignored, and this test may run in one.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", tool(), "-sS", "--queue", "queue"]).args(words);
    clean(&mut command).current_dir(folder);
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(millis) {
        if let Some(status) = child.try_wait().unwrap() {
            let mut stderr = String::new();
            std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
            assert!(status.success(), "{status} {stderr}");
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let killed = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let status = child.wait().unwrap();
    status.signal().is_none() && status.success()
}

/// Kills a run as soon as a part of a file has been written. The rate leaves it most of a second.
fn kill_within(folder: &Path, words: &[&str], name: &str) {
    let mut command = Command::new(tool());
    clean(&mut command).args(["-sS", "--queue", "queue", "--limit-rate", "300K"]).args(words);
    let mut child = command.current_dir(folder).stdin(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while fs::metadata(folder.join(name)).map_or(0, |file| file.len()) == 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "{name}");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    assert!(child.wait().unwrap().signal().is_some(), "{name} was complete");
}

fn queue(folder: &Path, words: &[&str]) -> Ran {
    curl_in(folder.to_owned(), &[&["--queue", "queue"], words].concat())
}

/// Returns the states of the entries by their URLs' last parts.
fn states(folder: &Path) -> HashMap<String, String> {
    let ran = queue(folder, &["--queue-list=json"]).text();
    let field = |line: &str, name: &str| {
        let rest = line.split_once(&format!("\"{name}\":\"")).unwrap().1;
        rest.split('"').next().unwrap().to_owned()
    };
    ran.lines()
        .map(|line| (field(line, "url").rsplit('/').next().unwrap().to_owned(), field(line, "state")))
        .collect()
}

fn is_whole(folder: &Path) {
    for number in 1..=FILES {
        let found = fs::read(folder.join(format!("file-{number}"))).unwrap();
        assert!(found == content(number), "file-{number}: {} bytes", found.len());
    }
}

fn requests_of<'r>(requests: &'r [Request], number: &str) -> Vec<&'r Request> {
    requests.iter().filter(|request| request.path() == format!("/{number}")).collect()
}

#[test]
fn a_run_that_is_killed_at_any_moment_is_continued() {
    for (mode, rate) in [("--no-parallel", "3M"), ("--parallel", "1M")] {
        let (server, folder) = (server(), empty_folder());
        write(&folder, "list", &list(|number| server.url(&format!("/{number}"))));
        let flags = [mode, "--parallel-max", "4", "--limit-rate", rate];
        // The list is added once; if the first run is killed before that, nothing is there.
        let mut words = [&flags[..], &["--input-file", "list"]].concat();
        let mut kills = 0;
        let mut done: HashMap<String, usize> = HashMap::new();
        loop {
            let signal = ["KILL", "INT", "TERM", "KILL"][kills % 4];
            let millis = [0, 3, 6, 12, 25, 40, 60, 80][kills * 5 % 8];
            let has_ended = run_until(&folder, &words, millis + kills as u64, signal);
            if !folder.join("queue").exists() {
                kills += 1;
                continue;
            }
            if states(&folder).len() == FILES {
                words = flags.to_vec();
            }
            let requests = server.requests();
            for (name, count) in &done {
                assert_eq!(
                    requests_of(&requests, name).len(),
                    *count,
                    "{name} was done, and requested again"
                );
            }
            for (name, _) in states(&folder).into_iter().filter(|(_, state)| state == "done") {
                done.entry(name.clone()).or_insert(requests_of(&requests, &name).len());
            }
            if has_ended {
                break;
            }
            kills += 1;
            assert!(kills < 1000);
        }
        assert!(kills >= 8, "{mode} {kills}");
        is_whole(&folder);
        assert_eq!(states(&folder).values().filter(|state| *state == "done").count(), FILES);
        let requests = server.requests();
        let mut continued = 0;
        for number in 1..=FILES {
            let own = requests_of(&requests, &number.to_string());
            assert!(own.iter().all(|request| request.field("X-Own") == Some(&number.to_string())));
            continued += own.iter().filter(|request| request.field("Range").is_some()).count();
            let tag = format!("\"{number}\"");
            assert!(
                own.iter().all(|one| one.field("Range").is_none() || one.field("If-Range") == Some(&tag))
            );
        }
        assert!(continued > 2, "{mode} {continued} parts were continued");
        // Nothing is left to do.
        let count = requests.len();
        assert_eq!(queue(&folder, &[]).code, 0);
        assert_eq!(server.requests().len(), count);
    }
}

#[test]
fn a_killed_run_is_continued_from_nginx() {
    let leaf = Authority::new().good();
    let nginx = Nginx::start(&leaf, &[]).unwrap();
    for number in 1..=FILES {
        nginx.write(&number.to_string(), content(number)).unwrap();
    }
    // Its validators are strong when its files are older than a second.
    std::thread::sleep(Duration::from_millis(1100));
    let folder = empty_folder();
    write(&folder, "list", &list(|number| nginx.http(&format!("/{number}"))));
    let flags = ["--parallel", "--parallel-max", "3", "--limit-rate", "1M"];
    assert!(!run_until(&folder, &[&flags[..], &["--input-file", "list"]].concat(), 60, "KILL"));
    let mut kills = 1;
    while !run_until(&folder, &flags, 20 + 3 * kills, "KILL") {
        kills += 1;
    }
    assert!(kills > 3, "{kills}");
    is_whole(&folder);
}

/// A part of an older version is never a part of the new one.
#[test]
fn a_file_that_has_changed_is_fetched_from_its_start() {
    let is_new = Arc::new(AtomicBool::new(false));
    let flag = is_new.clone();
    let server = HttpServer::with(move |request| {
        let (tag, body) = match flag.load(Ordering::SeqCst) {
            true => ("\"new\"", vec![b'n'; 300_000]),
            false => ("\"old\"", vec![b'o'; 400_000]),
        };
        let same = request.field("If-Range").is_none_or(|known| known == tag);
        Some(if same { ranged(request, body) } else { Response::ok(body) }.with("ETag", tag))
    });
    let folder = empty_folder();
    kill_within(&folder, &["-o", "f", &server.url("/f")], "f");
    let part = fs::metadata(folder.join("f")).unwrap().len();
    assert!(part > 0 && part < 400_000, "{part}");
    is_new.store(true, Ordering::SeqCst);
    assert_eq!(queue(&folder, &[]).code, 0);
    assert!(fs::read(folder.join("f")).unwrap() == vec![b'n'; 300_000]);
    assert_eq!(server.last_request().unwrap().field("If-Range"), Some("\"old\""));
    // Without a validator, too.
    let plain = HttpServer::with(|request| Some(ranged(request, vec![b'p'; 400_000])));
    kill_within(&folder, &["-o", "g", &plain.url("/g")], "g");
    assert_eq!(queue(&folder, &[]).code, 0);
    assert!(fs::read(folder.join("g")).unwrap() == vec![b'p'; 400_000]);
    assert_eq!(plain.last_request().unwrap().field("Range"), None);
}

/// Elsewhere than over HTTP, time and size identify the file.
#[test]
fn a_part_that_came_over_ftp_is_continued() {
    let (server, folder) = (FtpServer::with_file("/f", content(12)), empty_folder());
    kill_within(&folder, &["-o", "f", &server.url("/f")], "f");
    let part = fs::metadata(folder.join("f")).unwrap().len();
    assert!(part > 0 && part < content(12).len() as u64, "{part}");
    let ran = queue(&folder, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(fs::read(folder.join("f")).unwrap() == content(12));
    let commands = server.commands();
    assert!(commands.contains(&format!("REST {}", part - 1)), "{part} {commands:?}");
}

/// Flags that protect files do not protect the own part of an entry from its rest.
#[test]
fn a_begun_file_keeps_its_name() {
    let server = HttpServer::with(|request| {
        let answer = ranged(request, vec![b'x'; 400_000]).with("ETag", "\"a\"");
        Some(answer.with("Content-Disposition", "attachment; filename=named"))
    });
    let rows: [(&[&str], &str); 4] = [
        (&["--no-clobber", "-o", "f"], "f.1"),
        (&["--skip-existing", "-o", "g"], "g"),
        (&["-O", "-J"], "named"),
        (&["-C", "-", "-o", "h"], "h"),
    ];
    for (words, name) in rows {
        let folder = empty_folder();
        write(&folder, "f", "protected");
        kill_within(&folder, &[words, &[&server.url("/path")]].concat(), name);
        let ran = queue(&folder, &[]);
        assert_eq!(ran.code, 0, "{name} {}", ran.stderr);
        assert!(fs::read(folder.join(name)).unwrap() == vec![b'x'; 400_000], "{name}");
        assert_eq!(ran.file("f").len(), 9);
        let mut names: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.retain(|found| found != name && found != "f" && found != "queue");
        assert!(names.is_empty(), "{names:?}");
        assert!(server.last_request().unwrap().field("Range").is_some(), "{name}");
    }
}

#[test]
fn entries_are_added_listed_and_removed() {
    let (server, folder) = (HttpServer::plain(), empty_folder());
    let url = |path: &str| server.url(path);
    let ran = queue(&folder, &["-f", "-o", "a", &url("/bytes/3"), "-o", "b", &url("/status/404")]);
    assert_eq!(ran.code, 22, "{}", ran.stderr);
    write(
        &folder,
        "list",
        &format!("{0}\n out = a\n{1}\n out = c\n{1}\n out=c\n", url("/bytes/3"), url("/bytes/4")),
    );
    let ran = queue(&folder, &["--no-silent", "--no-progress-meter", "--input-file", "list"]);
    let stderr = ran.stderr.replace("\nWarning: ", "");
    assert!(ran.code == 22 && stderr.contains("2 URLs are in the queue queue already"), "{stderr}");
    let shown = queue(&folder, &["--queue-list"]).text();
    let lines: Vec<String> =
        shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let rows = [
        "entry state tries URL".to_owned(),
        format!("1 done 1 {}", url("/bytes/3")),
        format!("2 failed (22) 2 {}", url("/status/404")),
        format!("3 done 1 {}", url("/bytes/4")),
        "2 done, 1 failed, 0 running, 0 waiting".to_owned(),
    ];
    assert_eq!(lines, rows);
    // The options of the first command are those of its entries.
    assert_eq!(queue(&folder, &["--queue-remove", "failed"]).code, 0);
    assert_eq!(states(&folder).len(), 2);
    let ran = queue(&folder, &["--queue-remove", "9"]);
    assert_eq!((ran.code, ran.stderr.trim_end()), (23, "curl: the queue queue has no entry 9"));
    assert_eq!(queue(&folder, &["--queue-remove", "1,3"]).code, 0);
    assert!(states(&folder).is_empty() && folder.join("a").exists());
    assert_eq!(queue(&folder, &[]).code, 0);
    let ran = curl_in(folder.clone(), &["--queue-list"]);
    assert_eq!((ran.code, ran.stderr.trim_end()), (2, "curl: --queue-list needs --queue"));
    let ran = curl_in(folder, &["--queue", "absent", "--queue-list"]);
    assert_eq!(
        (ran.code, ran.stderr.trim_end()),
        (23, "curl: the queue absent can't be opened: No such file or directory")
    );
}

#[test]
fn a_queue_is_for_one_process_and_is_a_queue() {
    let (server, folder) = (server(), empty_folder());
    let mut command = Command::new(tool());
    clean(&mut command).args([
        "-sS",
        "--queue",
        "queue",
        "--limit-rate",
        "100K",
        "-o",
        "f",
        &server.url("/12"),
    ]);
    let mut child = command.current_dir(&folder).stdin(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !folder.join("f").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    let ran = queue(&folder, &[]);
    assert_eq!((ran.code, ran.stderr.trim_end()), (23, "curl: the queue queue is in use by another process"));
    assert_eq!(states(&folder)["12"], "running");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(queue(&folder, &[]).code, 0, "the lock ends with its process");
    assert!(fs::read(folder.join("f")).unwrap() == content(12));
    write(&folder, "other", "text\nof another kind\n");
    let ran = curl_in(folder.clone(), &["--queue", "other", &server.url("/1")]);
    assert_eq!((ran.code, ran.stderr.trim_end()), (23, "curl: the queue other is not a queue"));
    assert_eq!(ran.file("other"), "text\nof another kind\n");
}

/// Each entry is transferred in the folder in which it was added, wherever the next command runs.
#[test]
fn entries_have_their_own_folder() {
    let is_up = Arc::new(AtomicBool::new(false));
    let flag = is_up.clone();
    let server = HttpServer::with(move |request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        Some(if flag.load(Ordering::SeqCst) {
            Response::ok(format!("up {body}"))
        } else {
            Response::status(503)
        })
    });
    let (folder, url) = (empty_folder(), server.url("/"));
    for (name, words) in [
        ("one", &["-o", "f", &url][..]),
        ("two", &["-o", "f", &url, "-d", "@body", "-D", "heads"]),
        ("gone", &["-o", "f", &url]),
    ] {
        fs::create_dir(folder.join(name)).unwrap();
        write(&folder.join(name), "body", name);
        let ran = curl_in(folder.join(name), &[&["-f", "--queue", "../queue"], words].concat());
        assert_eq!(ran.code, 22, "{}", ran.stderr);
    }
    fs::remove_dir_all(folder.join("gone")).unwrap();
    fs::create_dir(folder.join("run")).unwrap();
    is_up.store(true, Ordering::SeqCst);
    for mode in ["--parallel", "--no-parallel"] {
        let words = ["--queue", "../queue", mode, "--har", "har", "--trace-ascii", "trace"];
        let ran = curl_in(folder.join("run"), &words);
        assert!(ran.code == 2 && ran.stderr.contains("gone can't be entered"), "{}", ran.stderr);
        assert!(ran.folder.join("har").exists() && ran.folder.join("trace").exists());
        let file = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!((file("one/f"), file("two/f")), ("up ".to_owned(), "up two".to_owned()));
        assert!(
            file("two/heads").contains("HTTP/1.1 200")
                && fs::read_dir(folder.join("run")).unwrap().count() == 2
        );
    }
}

#[test]
fn a_pipe_adds_entries_while_others_run() {
    let (server, folder) = (HttpServer::plain(), empty_folder());
    for mode in ["--no-parallel", "--parallel"] {
        let mut command = Command::new(tool());
        clean(&mut command).args(["-sS", mode, "--queue", "queue", "--input-file", "-"]).current_dir(&folder);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut list = child.stdin.take().unwrap();
        let paths = [1, 2, 3].map(|number| format!("/bytes/{number}?{mode}"));
        write!(
            list,
            "{}\n out = {mode}1\n{}\n out = {mode}2\n",
            server.url(&paths[0]),
            server.url(&paths[1])
        )
        .unwrap();
        let begun = Instant::now();
        while !folder.join(format!("{mode}1")).exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{mode}");
            std::thread::sleep(Duration::from_millis(5));
        }
        writeln!(list, "{}\n out = {mode}3", server.url(&paths[2])).unwrap();
        drop(list);
        assert!(child.wait().unwrap().success());
        assert!((1..=3).all(|n| fs::metadata(folder.join(format!("{mode}{n}"))).unwrap().len() == n));
    }
    assert_eq!(states(&folder).values().filter(|state| *state == "done").count(), 6);
}

/// A full disk is an error; the queue is as before, and continues when there is space.
#[test]
fn a_full_disk_loses_nothing() {
    let (server, folder) = (HttpServer::plain(), empty_folder());
    fs::create_dir(folder.join("small")).unwrap();
    let entry =
        |number: usize| format!("{}\n  out = ../f{number}\n", server.url(&format!("/bytes/3?{number}")));
    write(&folder, "one", &entry(0));
    write(&folder, "many", &(1..2000).map(entry).collect::<String>());
    let script = format!(
        "mount -t tmpfs -o size=64k none small && cd small && \
         {0} -sS --queue q --input-file ../one && {0} -sS --queue q --input-file ../many; echo first $?; \
         {0} --queue q --queue-list | tail -n 1; \
         mount -o remount,size=8m . && {0} -sS -Z --queue q --input-file ../many; echo second $?; \
         {0} --queue q --queue-list | tail -n 1",
        tool()
    );
    let ran = ran(&mut shell_with_mounts(&script), folder.clone());
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let rows = [
        "first 23",
        "1 done, 0 failed, 0 running, 0 waiting",
        "second 0",
        "2000 done, 0 failed, 0 running, 0 waiting",
    ];
    assert_eq!(lines, rows, "{}", ran.stderr);
    assert_eq!(ran.stderr, "curl: the queue q can't be written: No space left on device\n");
    assert_eq!(fs::metadata(folder.join("f1999")).unwrap().len(), 3);
}

#[test]
fn transfers_that_no_other_command_could_make_are_refused() {
    let (server, folder) = (HttpServer::plain(), empty_folder());
    let url = server.url("/bytes/3");
    for (words, why) in [
        (&["-T", "-", &url][..], "--queue can't keep an upload from standard input"),
        (&["--watch", "1s", &url], "--queue can't be combined with --watch"),
        (&["--dry-run", &url], "--queue can't be combined with --dry-run"),
    ] {
        let ran = queue(&folder, words);
        assert_eq!((ran.code, ran.stderr.trim_end()), (2, &*format!("curl: {why}")));
    }
    assert_eq!(server.requests().len(), 0);
}

/// Segments have a journal of their own.
#[test]
fn segments_of_an_entry_are_continued() {
    let (server, folder) = (server(), empty_folder());
    let words = ["--segments", "2", "--limit-rate", "1M", "-o", "f", &server.url("/12")];
    run_until(&folder, &words, 80, "KILL");
    let ran = queue(&folder, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(fs::read(folder.join("f")).unwrap() == content(12));
    assert!(!folder.join("f.part").exists() && states(&folder)["12"] == "done");
}
