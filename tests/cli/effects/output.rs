//! Flags about requests, output files, and traces.

use super::{curl, curl_in, folder_with, traced, write};
use crate::{empty_folder, run, tool};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use testkit::ftp::FtpServer;
use testkit::http::{HttpServer, Response};

/// The parts of the effective URL are also printed for URLs without a transfer.
#[test]
fn parts_of_a_url_of_an_unknown_scheme() {
    let parts =
        ["scheme", "user", "password", "options", "host", "port", "path", "query", "fragment", "zoneid"];
    let format = parts.map(|part| format!("%{{urle.{part}}}|")).concat() + "%{url_effective}";
    let ran = curl(&["-w", &format, "foo://me:pw@example.com:50/a/?b=c#d"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, "curl: (1) Protocol \"foo\" not supported\n"));
    assert_eq!(ran.stdout, "foo|me|pw||example.com|50|/a/|b=c|d||foo://me:pw@example.com:50/a/?b=c#d");
}

/// With the heads dumped to standard output, each line is there twice.
// covers: --dump-header, --show-headers
#[test]
fn heads_shown_and_dumped_to_one_place() {
    let server = HttpServer::plain();
    let text = curl(&["-i", "-D", "-", &server.url("/body/3")]).text();
    let lines: Vec<&str> = text.split_inclusive("\r\n").collect();
    assert!(lines[0].starts_with("HTTP/1.1 200") && lines[0] == lines[1] && lines[2] == lines[3], "{text}");
}

// covers: --data-ascii, --data-raw
#[test]
fn bodies_from_the_command_line() {
    let server = HttpServer::plain();
    let folder = folder_with("file", "one\ntwo\n");
    let url = server.url("/body");
    assert_eq!(curl_in(folder.clone(), &["--data-ascii", "@file", &url]).text(), "onetwo");
    assert_eq!(curl_in(folder, &["--data-raw", "@file", "--data-raw", "a&b", &url]).text(), "@file&a&b");
}

// covers: --post301, --post302, --post303
#[test]
fn post30x_flags_keep_the_method_of_a_redirected_post() {
    let server = HttpServer::plain();
    for code in ["301", "302", "303"] {
        let url = server.url(&format!("/redirect/1/{code}"));
        let keep = format!("--post{code}");
        curl(&["-L", "-d", "x", &keep, &url, "-o", "x"]).text();
        assert_eq!(server.last_request().unwrap().method, "POST", "{code}");
        curl(&["-L", "-d", "x", &url, "-o", "x"]).text();
        assert_eq!(server.last_request().unwrap().method, "GET", "{code}");
    }
}

/// CVE-2020-8177: a name that the server chose overwrites nothing where the head is shown, too.
// covers: --remote-header-name, --show-headers
#[test]
fn a_name_from_a_head_that_is_shown_overwrites_nothing() {
    let named = |_: &_| Some(Response::ok("new").with("Content-Disposition", "attachment; filename=f"));
    let server = HttpServer::with(named);
    for flags in ["-OJ", "-OJi"] {
        let ran = curl_in(folder_with("f", "old"), &[flags, &server.url("/x")]);
        assert_eq!((ran.code, ran.file("f").as_str()), (23, "old"), "{flags}: {}", ran.stderr);
        let ran = curl_in(empty_folder(), &[flags, &server.url("/x")]);
        assert!(ran.code == 0 && ran.file("f").ends_with("new"), "{flags}: {}", ran.stderr);
    }
}

// covers: --create-file-mode
#[test]
fn the_mode_of_files_that_an_upload_makes() {
    let folder = folder_with("from", "x");
    let to = folder.join("to");
    let url = format!("file://{}", to.display());
    curl_in(folder, &["--create-file-mode", "0640", "-T", "from", &url]).text();
    assert_eq!(std::fs::metadata(to).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(curl(&["--create-file-mode", "888", &url]).code, 2);
    assert_eq!(curl(&["--create-file-mode", "1000", &url]).code, 2);
}

// covers: --append, --crlf
#[test]
fn uploads_to_ftp() {
    let server = FtpServer::with_file("/log", "old\n");
    let folder = folder_with("new", "a\nb\n");
    curl_in(folder.clone(), &["--append", "-T", "new", &server.url("/log")]).text();
    assert_eq!(server.file("/log").unwrap(), b"old\na\nb\n");
    curl_in(folder, &["--crlf", "-T", "new", &server.url("/other")]).text();
    assert_eq!(server.file("/other").unwrap(), b"a\r\nb\r\n");
}

// covers: --xattr
#[test]
fn attributes_of_the_file() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/3").replace("http://", "http://me:secret@");
    let calls = traced("setxattr,lsetxattr,fsetxattr", &["--xattr", "-o", "file", &url]);
    if calls.contains("EOPNOTSUPP") || calls.contains("ENOTSUP") {
        return; // a file system without them
    }
    let place = server.url("/bytes/3");
    assert!(calls.contains(&format!("\"user.xdg.origin.url\", \"{place}\"")), "{calls}");
    assert!(calls.contains("\"user.creator\", \"curl\""), "{calls}");
}

// covers: --styled-output
#[test]
fn bold_header_names_on_a_terminal() {
    let server = HttpServer::plain();
    let on_terminal = |flag: &str| on_terminal(&format!("-si {flag} {}", server.url("/bytes/1")));
    assert!(on_terminal("--styled-output").contains("\x1b[1mContent-Length\x1b[0m: 1"));
    assert!(on_terminal("--no-styled-output").contains("\nContent-Length: 1"));
    assert!(curl(&["-i", &server.url("/bytes/1")]).text().contains("\nContent-Length: 1"));
}

#[test]
fn no_escape_from_a_server_reaches_a_terminal() {
    let url = format!("http://{}/escape/", crate::server::start());
    for words in ["-s -i --no-styled-output", "-sv -o x", "-s -v --stderr -", "-s --trace-config all -v -o x"]
    {
        let shown = on_terminal(&format!("{words} {url}"));
        assert!(shown.contains("X-Odd: a?[31mb"), "{words}: {shown:?}");
        assert!(!shown.contains("\x1b[31m"), "{words}: {shown:?}");
    }
    let report = on_terminal(&format!("-s -o x -w '%header{{x-odd}} %{{stderr}}%header{{x-odd}}' {url}"));
    assert_eq!(report.matches("a?[31mb").count(), 2, "{report:?}");
    let shown = on_terminal("-sS \"$(printf 'http://127.0.0.1:1/\\033[31m{')\"");
    assert!(shown.contains("?[31m") && !shown.contains('\x1b'), "{shown:?}");
    // Other processes read the output.
    assert!(curl(&["-v", "-o", "x", &url]).stderr.contains("< X-Odd: a\x1b[31mb"));
}

// covers: --trace, --trace-time, --trace-ids
#[test]
fn traces() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/3");
    let ran = curl(&["--trace", "t", "--trace-time", "--trace-ids", "-o", "x", &url]);
    let trace = ran.file("t");
    let line = trace.lines().find(|line| line.contains("=> Send header")).unwrap();
    let (time, rest) = line.split_once(' ').unwrap();
    assert!(time.len() == 15 && time[..2].parse::<u8>().is_ok() && time.as_bytes()[8] == b'.', "{line}");
    assert!(rest.starts_with("[0-0] => Send header, "), "{line}");
    assert!(
        trace.contains("\n0000: 47 45 54 20 2f 62 79 74 65 73 2f 33 20 48 54 54 GET /bytes/3 HTT\n"),
        "{trace}"
    );
}

/// The words are those of curl 8.22, which its suite reads.
// covers: --trace-config
#[test]
fn timers_and_attempts_to_connect_are_traced() {
    let server = HttpServer::plain();
    let (url, pin) = (
        format!("http://two.example:{}/bytes/1", server.port()),
        format!("two.example:{}:[::1],127.0.0.1", server.port()),
    );
    let words = ["-v", "--resolve", &pin, "-m", "30", "--connect-timeout", "20", "-o", "x", &url];
    let lines_of = |layers: &str| {
        let ran = curl(&[&["--trace-config", layers], &words[..]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let lines = ran.stderr.lines().filter(|line| line.starts_with("* [") || line.contains("Trying"));
        // Numbers are of this run.
        let blank = |line: &str| -> String {
            let shown = line.replace(&server.port().to_string(), "PORT");
            shown
                .split(' ')
                .map(|word| if word.ends_with("us") || word.ends_with("ms") { "N" } else { word })
                .collect::<Vec<_>>()
                .join(" ")
        };
        lines.map(blank).collect::<Vec<_>>()
    };
    let (timers, attempts) = (lines_of("timer"), lines_of("happy-eyeballs"));
    let start = ["* [TIMER] [TIMEOUT] set for N", "* [TIMER] [CONNECTTIMEOUT] set for N"];
    assert_eq!(timers[..2], start, "{timers:?}");
    assert_eq!(timers.last().unwrap(), "* [TIMER] [HAPPY_EYEBALLS] cleared");
    let first = ["* [HAPPY-EYEBALLS] starting first attempt for ipv6 -> 0", "*   Trying [::1]:PORT..."];
    assert_eq!(attempts[..2], first, "{attempts:?}");
    let last = [
        "* [HAPPY-EYEBALLS] starting next attempt for ipv4 -> 0",
        "*   Trying 127.0.0.1:PORT...",
        "* [HAPPY-EYEBALLS] Connected to two.example (127.0.0.1) port PORT",
    ];
    assert!(attempts.ends_with(&last.map(str::to_owned)), "{attempts:?}");
    let all = lines_of("network");
    assert!(timers.iter().chain(&attempts).all(|line| all.contains(line)), "{all:?}");
    assert_eq!(lines_of("protocol").iter().filter(|line| line.contains("[TIMER]")).count(), 0);
}

// covers: --trace-config, --verbose
#[test]
fn trace_config_adds_lines_of_the_chosen_layers() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/3");
    let stderr_of = |words: &[&str]| curl(&[words, &["-o", "x", &url]].concat()).stderr;
    assert!(!stderr_of(&["-v"]).contains("* ["));
    let chosen = stderr_of(&["-v", "--trace-config", "http/1,tcp"]);
    assert!(chosen.contains("* [HTTP/1] the head of a reply has ended, status 200\n"), "{chosen}");
    assert!(chosen.contains("* [TCP] connected to 127.0.0.1:") && !chosen.contains("[MULTI]"), "{chosen}");
    assert!(!stderr_of(&["-v", "--trace-config", "all,-multi"]).contains("[MULTI]"));
    // Each further v adds: times, numbers and protocols; data; the network.
    let two = stderr_of(&["-vv"]);
    assert!(two.contains(" [0-0] * [HTTP/1] ") && !two.contains("[WRITE]"), "{two}");
    let three = stderr_of(&["-vvv"]);
    assert!(three.contains(" == Info: [WRITE] 3 bytes of body\n") && !three.contains("[DNS]"), "{three}");
    let four = stderr_of(&["-vvvv"]);
    assert!(four.contains("[DNS] 127.0.0.1:") && four.contains("[MULTI] the transfer has ended"), "{four}");
}

// covers: --disable
#[test]
fn disable_skips_the_default_config_file() {
    let server = HttpServer::plain();
    let folder = empty_folder();
    write(&folder, ".curlrc", "user-agent = from-file\n");
    let url = server.url("/bytes/1");
    let agent = |first: &str| {
        let script = format!("HOME=$PWD CURL_HOME= {} {first} -s -o x {url}", tool());
        assert!(run("sh", &["-c", &script], &folder).status.success());
        server.last_request().unwrap().field("User-Agent").unwrap_or_default().to_string()
    };
    assert_eq!(agent(""), "from-file");
    assert!(agent("-q").starts_with("curl/8.22"));
    assert!(agent("--disable").starts_with("curl/8.22"));
}

/// Returns what a command line shows on a terminal.
fn on_terminal(words: &str) -> String {
    let out = run("script", &["-qec", &format!("{} {words}", tool()), "/dev/null"], &empty_folder());
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn a_dry_run_asks_nobody() {
    let words = [
        "--dry-run",
        "-H",
        "X: y",
        "-H",
        "Authorization: secret",
        "-u",
        "me:secret",
        "-d",
        "abc",
        "http://u:secret@h/a[1-2]",
        "-o",
        "f#1",
        "--next",
        "-G",
        "-d",
        "q=1",
        "http://h/?p",
        "-O",
    ];
    let shown = curl(&words).text();
    let first = "POST http://u:…@h/a1 -> f1\n  header X: y\n  header Authorization: …\n  login as me\n  body of 3 bytes\n";
    assert!(shown.starts_with(first), "{shown}");
    assert!(shown.ends_with("GET http://h/?p&q=1 -> the remote name\n"), "{shown}");
    assert!(!shown.contains("secret"), "{shown}");
}

#[test]
fn an_archive_and_a_picture_of_the_run() {
    let server = HttpServer::plain();
    let (moved, gone) = (server.url("/redirect/2"), server.url("/status/404"));
    let ran = curl(&["-L", "--har", "run.har", "--timeline", "run.svg", "-o", "a", "-o", "b", &moved, &gone]);
    let folder = ran.folder.clone();
    let (archive, picture) = (ran.file("run.har"), ran.file("run.svg"));
    let out = run("jq", &["-c", "[.log.entries[] | .response.status]", "run.har"], &folder);
    assert_eq!(String::from_utf8_lossy(&out.stdout), "[302,302,200,404]\n", "{archive}");
    let sums = "[.log.entries[] | .time - ([.timings | .blocked, .dns, .connect, .send, .wait, .receive | select(. >= 0)] | add) \
                | fabs < 0.01] | all";
    let out = run("jq", &[sums, "run.har"], &folder);
    assert_eq!(String::from_utf8_lossy(&out.stdout), "true\n", "{archive}");
    // Required by the format (HAR 1.2).
    let demanded = "[.log | (has(\"version\", \"creator\")), (.creator | has(\"name\", \"version\")), (.entries[] | \
                    has(\"startedDateTime\", \"time\", \"request\", \"response\", \"cache\", \"timings\"), (.request | has(\"method\", \
                    \"url\", \"httpVersion\", \"cookies\", \"headers\", \"queryString\", \"headersSize\", \"bodySize\")), (.response | \
                    has(\"status\", \"statusText\", \"httpVersion\", \"cookies\", \"headers\", \"content\", \"redirectURL\", \
                    \"headersSize\", \"bodySize\"), (.content | has(\"size\", \"mimeType\"))), (.timings | has(\"send\", \"wait\", \
                    \"receive\")))] | all and length == 4 + 4 * 28";
    let out = run("jq", &[demanded, "run.har"], &folder);
    assert_eq!(String::from_utf8_lossy(&out.stdout), "true\n", "{archive}");
    assert!(picture.contains("2 transfers over 1 connection"), "{picture}");
    assert!(picture.contains("connection 0, new") && picture.contains("connection 0, reused"), "{picture}");
}

/// Both files may be shared, so they contain no secret of a request or a reply; and they are created with
/// private permissions.
#[test]
fn reports_keep_secrets() {
    let server = HttpServer::with(|request| {
        Some(match request.path() {
            "/moved" => Response::status(302)
                .with("Location", "/f?token=secret4&page=2")
                .with("Set-Cookie", "sid=secret5; path=/")
                .with("X-Auth-Token", "secret6"),
            _ => Response::ok("body"),
        })
    });
    let url = server.url("/moved?api_key=secret1&page=1").replace("//", "//me:secret2@");
    let words = [
        "-L",
        "--har",
        "run.har",
        "--timeline",
        "run.svg",
        "-o",
        "b",
        "-b",
        "a=secret3",
        "-H",
        "X-Api-Key: secret7",
        "-H",
        "PRIVATE-TOKEN: secret8",
        "-H",
        "Accept: text/x",
        "-d",
        "name=me&password=secret9",
        &url,
    ];
    let folder = empty_folder();
    // An existing file becomes private, too.
    std::fs::write(folder.join("run.har"), "old").unwrap();
    let ran = curl_in(folder, &words);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let login = server.requests()[0].field("Authorization").unwrap().to_owned();
    for name in ["run.har", "run.svg"] {
        let (text, about) = (ran.file(name), std::fs::metadata(ran.folder.join(name)).unwrap());
        assert!(!text.contains("secret") && !text.contains(&login[6..]), "{text}");
        assert_eq!(about.mode() & 0o777, 0o600, "{name}");
    }
    let archive = ran.file("run.har");
    for piece in
        ["page=1", "text/x", "\"Basic (redacted)\"", "name=me&password=(redacted)", "\"PRIVATE-TOKEN\""]
    {
        assert!(archive.contains(piece), "{piece}: {archive}");
    }
    assert!(!ran.file("run.svg").contains("page"));
}

#[test]
fn reports_that_cannot_be_written_are_errors() {
    let server = HttpServer::with(|_| Some(Response::ok("body")));
    let url = server.url("/f");
    for flag in ["--har", "--timeline"] {
        for (file, why) in
            [("no/where", "No such file or directory"), ("/dev/full", "No space left on device")]
        {
            let ran = curl(&[flag, file, &url]);
            assert_eq!((ran.code, ran.stdout.as_str()), (23, "body"), "{flag} {file}");
            assert!(ran.stderr.starts_with("curl: (23) Failed to write the "), "{}", ran.stderr);
            assert!(ran.stderr.contains(&format!(" to {file}: {why}")), "{}", ran.stderr);
        }
        // A failure of the transfer has precedence.
        assert_eq!(curl(&[flag, "no/where", "-f", "http://127.0.0.1:1/"]).code, 7);
    }
}

/// A user who writes `yes` must not believe that it had an effect.
#[test]
fn unknown_values_of_variables_are_reported_once() {
    let server = HttpServer::plain();
    let url = server.url("/");
    for (name, value, reports) in [
        ("WARMWIRE_POOL", "yes", 1),
        ("WARMWIRE_POOL", "process", 0),
        ("WARMWIRE_POOL", "off", 0),
        ("WARMWIRE_POOL", "", 0),
    ] {
        let mut command = std::process::Command::new(tool());
        let out = crate::clean(command.args(["-sS", &url, &url])).env(name, value).output().unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{stderr}");
        assert_eq!(stderr.matches(&format!("warmwire: {name}={value} is ")).count(), reports, "{stderr}");
    }
}

/// Two transfers at a time write whole lines, however their pieces come.
#[test]
fn parallel_transfers_write_whole_lines() {
    let lines = |letter: char| format!("{}\n", letter.to_string().repeat(997)).repeat(60);
    let body = move |path: &str| lines(path.chars().nth(1).unwrap());
    let answers = body;
    let server = HttpServer::with(move |request| {
        let drip = Some((700, std::time::Duration::from_millis(1)));
        Some(Response { drip, ..Response::ok(answers(request.path())) })
    });
    let urls = ["a", "b", "c", "d"].map(|letter| server.url(&format!("/{letter}")));
    let words: Vec<&str> =
        ["-Z", "--parallel-immediate"].into_iter().chain(urls.iter().map(String::as_str)).collect();
    let text = curl(&words).text();
    for line in text.lines() {
        let first = &line[..1];
        assert!(line.len() == 997 && line.matches(first).count() == 997, "{line}");
    }
    let mut sorted: Vec<&str> = text.lines().collect();
    let order: Vec<&str> = text.lines().map(|line| &line[..1]).collect();
    sorted.sort_unstable();
    assert_eq!(sorted.join("\n") + "\n", ["/a", "/b", "/c", "/d"].map(&body).concat());
    assert!(order.windows(2).filter(|pair| pair[0] != pair[1]).count() > 3, "they ran side by side");
}

#[test]
fn flags_that_curl_lacks_list_what_they_take() {
    for (words, text) in [
        (&["--progress", "x"][..], "option --progress: takes meter, bar or bars\n"),
        (&["--generate", "x"], "option --generate: takes man, markdown, bash, zsh or fish\n"),
        (&["--pool", "yes"], "option --pool: takes process, user or off\n"),
        (&["--segments", "x"], "option --segments: takes auto or a number up to 64\n"),
        (
            &["--fail-on", "4x"],
            "option --fail-on: takes statuses, classes and ranges from 100 to 599: 404,5xx,300-399\n",
        ),
        (&["--segments", "65"], "option --segments: takes auto or a number up to 64\n"),
        (
            &["--checksum", "x"],
            "option --checksum: takes ALGORITHM=SUM, with the sum in hexadecimal digits\n",
        ),
    ] {
        let ran = curl(words);
        assert!(ran.code == 2 && ran.stderr.contains(text), "{}", ran.stderr);
    }
}

#[test]
fn a_full_disk_is_named() {
    for words in [
        &["-sS", "-o", "/dev/full", "file:///etc/hostname"][..],
        &["-sS", "-N", "-o", "/dev/full", "file:///etc/hostname"],
    ] {
        let ran = curl(words);
        assert!(
            ran.code == 23 && ran.stderr.contains("/dev/full: No space left on device\n"),
            "{}",
            ran.stderr
        );
    }
}
