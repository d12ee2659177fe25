//! `--record` and `--replay`.

use super::{clean, curl, curl_in, empty_folder, ran, shell_with_mounts, tool, traced, write};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use testkit::base64;
use testkit::ftp::FtpServer;
use testkit::http::{HttpServer, Response};

const FACTS: &str =
    "%{http_code} %{http_version} %{num_headers} %{size_download} %{num_redirects} %{url_effective}\n";

#[test]
fn a_record_is_replayed_without_its_servers() {
    let folder = empty_folder().join("record").display().to_string();
    let http = HttpServer::plain();
    let ftp = FtpServer::with_file("/file", b"by FTP\n".to_vec());
    let redirect = http.url("/redirect/2");
    let bytes = http.url("/bytes/5000");
    let urls = [redirect.as_str(), &bytes, &ftp.url("/file")].map(str::to_owned);
    let run = |flag: &str| {
        let mut words = vec![flag, &folder, "-i", "-L", "-w", FACTS];
        words.extend(urls.iter().map(String::as_str));
        curl(&words)
    };
    let recorded = run("--record");
    assert_eq!((recorded.code, &*recorded.stderr), (0, ""), "{}", recorded.stdout);
    drop((http, ftp));
    let replayed = run("--replay");
    assert_eq!((replayed.code, &*replayed.stderr), (0, ""));
    assert_eq!(replayed.stdout, recorded.stdout);
    let missing = curl(&["--replay", &folder, "-sS", "http://127.0.0.1:1/none"]);
    assert_eq!(missing.code, 7);
    let wanted =
        format!("curl: (7) the record {folder} has no GET http://127.0.0.1:1/none; it has 5 exchanges: GET ");
    assert!(missing.stderr.starts_with(&wanted), "{}", missing.stderr);
    let refused = curl(&["--replay", &folder, "-sS", "dict://127.0.0.1:1/d:x"]);
    assert_eq!(refused.code, 7);
    assert!(refused.stderr.contains("is not recorded: only HTTP and FTP are replayed"), "{}", refused.stderr);
    let none = traced("%network", &["--replay", &folder, &bytes]);
    assert!(!none.contains("connect(") && !none.contains("socket("), "{none}");
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let refused = curl(&["--record", "/dev/null/x", "-sS", "http://127.0.0.1:1/"]);
    assert_eq!(refused.code, 23, "{}", refused.stderr);
    assert!(refused.stderr.contains("--record: /dev/null/x is no folder to write to"), "{}", refused.stderr);
}

/// Returns all files below a folder, hidden ones too.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_file_of_a_record_has_a_secret() {
    let folder = empty_folder();
    let record = folder.join("record").display().to_string();
    let http = HttpServer::with(|request| {
        let cookie = "sid=hidden-cookie; Path=/";
        (request.path() == "/login").then(|| Response::ok("set\n").with("Set-Cookie", cookie))
    });
    let ftp = FtpServer::with_file("/file", b"by FTP\n".to_vec());
    let with_login = |url: String| url.replacen("://", "://someone:hidden-word@", 1);
    write(&folder, "netrc", "machine 127.0.0.1 login someone password hidden-netrc\n");
    let echo = http.url("/echo");
    let cookie = http.url("/login");
    let query = http.url("/status/200?access_token=hidden-token&a=1&PassWord=hidden-query");
    let (from, login) = (with_login(http.url("/from")), with_login(http.url("/status/200")));
    let by_ftp = with_login(ftp.url("/file"));
    let again = ["--next", "-sS", "-o", "out"];
    let words = [
        // The server's cookies come back.
        &["--record", &record, "-o", "out", "-o", "out", "-c", "jar", "-L", &cookie, &echo][..],
        &again,
        &["-b", "own=hidden-own", "--oauth2-bearer", "hidden-bearer", &echo],
        &again,
        &["-u", "someone:hidden-user", "-e", &from, &echo],
        &again,
        &["--digest", "-H", "X-Api-Key: hidden-key", &login],
        &again,
        &["--netrc-file", "netrc", &query],
        &again,
        &[&by_ftp, "--ftp-account", "hidden-account"],
    ]
    .concat();
    let ran = curl_in(folder.clone(), &words);
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{}", ran.stdout);
    let secrets = [
        "hidden",
        "aGlkZGVu",
        &base64::encode(b"someone:hidden-word"),
        &base64::encode(b"someone:hidden-user"),
    ]
    .map(str::to_owned)
    .to_vec();
    let kept = files(&folder.join("record"));
    // The server repeats the request's fields in some bodies, and bodies are kept.
    let heads: Vec<&PathBuf> = kept.iter().filter(|path| !path.ends_with("response.body")).collect();
    assert!(heads.len() >= 7 * 2, "{heads:?}");
    for path in heads {
        let content = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        for secret in &secrets {
            assert!(!content.contains(secret.as_str()), "{} has {secret}: {content}", path.display());
        }
    }
}

/// A full disk costs the record, not the transfer; what was begun is removed.
#[test]
fn a_full_disk_is_reported_once() {
    let server = HttpServer::plain();
    let folder = empty_folder();
    fs::create_dir(folder.join("small")).unwrap();
    let (tool, url) = (tool(), server.url("/bytes/500000"));
    let script = format!(
        "mount -t tmpfs -o size=100k none small && {tool} -q -sS --record small/r -o a {url} -o b {url} \
         && ls -A small/r | wc -l"
    );
    let ran = ran(&mut shell_with_mounts(&script), folder.clone());
    assert_eq!((ran.code, ran.stdout.trim()), (0, "0"), "{}", ran.stderr);
    let remark = "warmwire: WARMWIRE_RECORD: an exchange cannot be written to ";
    assert!(ran.stderr.starts_with(remark) && ran.stderr.contains("No space left"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert_eq!([ran.file("a").len(), ran.file("b").len()], [500_000; 2]);
}

/// A replay only reads.
#[test]
fn a_record_may_be_on_a_read_only_disk() {
    let server = HttpServer::plain();
    let folder = empty_folder();
    let url = server.url("/bytes/5000");
    let record = folder.join("record").display().to_string();
    let recorded = curl(&["--record", &record, &url]).text();
    drop(server);
    let tool = tool();
    let script = format!(
        "mount --bind record record && mount -o remount,bind,ro record \
         && {tool} -q -sS --replay record {url} \
         && {tool} -q -sS --record record/new {url}"
    );
    let ran = ran(&mut shell_with_mounts(&script), folder);
    assert_eq!((ran.code, ran.stdout), (23, recorded), "{}", ran.stderr);
    assert!(ran.stderr.contains("record/new is no folder to write to: Read-only"), "{}", ran.stderr);
}

/// A process that is killed leaves a hidden folder, which a replay names and does not read.
#[test]
fn a_killed_program_leaves_no_exchange() {
    let server = HttpServer::plain();
    let record = empty_folder().join("record");
    let url = server.url("/drip/100/50/bytes/5000");
    let mut command = Command::new(tool());
    clean(&mut command).args(["-q", "-sS", "-o", "/dev/null", "--record"]).arg(&record).arg(&url);
    let mut child = command.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let begun = || record.is_dir() && files(&record).iter().any(|path| path.ends_with("response.body"));
    while !begun() {
        assert!(Instant::now() < deadline, "nothing was recorded");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let record = record.display().to_string();
    let refused = curl(&["--replay", &record, &url]);
    let wanted = format!(
        "curl: (7) the record {record} has no exchange, and GET {url} was requested; 1 exchange not completed"
    );
    assert_eq!((refused.code, refused.stderr.trim()), (7, &*wanted));
}

/// Gives a file another length. A larger one has no blocks, so the disk holds it.
fn resize(path: &Path, length: u64) {
    File::options().write(true).open(path).unwrap().set_len(length).unwrap();
}

/// File, damage to it, and the reason that a replay names.
type Damage = (&'static str, fn(&Path), &'static str);

/// Damage is named with its file, and no file is read into memory that is longer than it may be.
#[test]
fn damaged_records_are_refused() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/5000");
    let missing = curl(&["--replay", "/nonexistent/record", &url]);
    assert_eq!(missing.code, 7);
    assert!(
        missing.stderr.contains("/nonexistent/record cannot be replayed: No such file"),
        "{}",
        missing.stderr
    );
    let huge: fn(&Path) = |path| resize(path, 5 << 30);
    let cut: fn(&Path) = |path| resize(path, 20);
    let damages: [Damage; 6] = [
        ("exchange.txt", huge, "exchange.txt: it is longer than 1048576 bytes"),
        ("exchange.txt", cut, "exchange.txt: it is cut off"),
        ("response.head", huge, "response.head: it is longer than 16777216 bytes"),
        ("response.body", huge, "response.body: it has 5368709120 bytes, not 5000"),
        ("response.body", cut, "response.body: it has 20 bytes, not 5000"),
        ("response.body", |path| fs::remove_file(path).unwrap(), "response.body: No such file"),
    ];
    for (name, damage, wanted) in damages {
        let record = empty_folder().join("record");
        curl(&["--record", &record.display().to_string(), &url]).text();
        let kept = files(&record);
        damage(kept.iter().find(|path| path.ends_with(name)).unwrap());
        let refused = curl(&["--replay", &record.display().to_string(), &url]);
        assert_eq!(refused.code, 7, "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains(wanted), "{wanted}: {}", refused.stderr);
    }
}

/// A body of 4 GB passes through, in an address space of 300 MB.
#[test]
fn large_bodies_are_not_read_into_memory() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/5000");
    let record = empty_folder().join("record");
    curl(&["--record", &record.display().to_string(), &url]).text();
    let kept = files(&record);
    let edit = |name: &str, from: &str, to: &str| {
        let path = kept.iter().find(|path| path.ends_with(name)).unwrap();
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    };
    let size = 1u64 << 30; // three times what the process may have
    edit("exchange.txt", "Response-Body: 5000", &format!("Response-Body: {size}"));
    edit("response.head", "Content-Length: 5000", &format!("Content-Length: {size}"));
    let body = kept.iter().find(|path| path.ends_with("response.body")).unwrap();
    resize(body, size);
    let script = format!(
        "ulimit -v 300000 && exec {} -q -sS -o /dev/null -w '%{{size_download}}' --replay {} {url}",
        tool(),
        record.display()
    );
    let ran = ran(Command::new("sh").args(["-c", &script]), empty_folder());
    assert_eq!((ran.code, ran.stdout), (0, size.to_string()), "{}", ran.stderr);
}
