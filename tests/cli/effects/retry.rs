//! `--retry-resume` and `--deadline`.

use super::{Ran, clean, curl, curl_in};
use crate::{empty_folder, tool};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::cutter::Cutter;
use testkit::ftp::{Faults, FtpServer};
use testkit::http::{After, Config, HttpServer, Request, Response, ranged};
use testkit::launch::{Nginx, Sshd};

const SIZE: usize = 200_000;
const QUICK: [&str; 5] = ["--retry-resume", "--retry", "9", "--retry-delay", "0.01"];

/// A server whose n-th reply is chosen by the test.
fn server(answer: impl Fn(usize, &Request) -> Response + Send + Sync + 'static) -> HttpServer {
    let count = AtomicUsize::new(0);
    HttpServer::with(move |request| Some(answer(count.fetch_add(1, Ordering::SeqCst), request)))
}

/// The file, or the requested part, in a reply that ends after that many bytes.
fn cut(request: &Request, tag: &str, bytes: usize) -> Response {
    let answer = ranged(request, pattern(SIZE)).with("ETag", tag);
    Response { cut_at: Some(bytes), after: After::Cut, ..answer }
}

fn whole(request: &Request, tag: &str) -> Response {
    ranged(request, pattern(SIZE)).with("ETag", tag)
}

fn fetch(server: &HttpServer, words: &[&str]) -> Ran {
    curl(&[&QUICK[..], words, &["-o", "f", &server.url("/f")]].concat())
}

fn is_whole(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(std::fs::read(ran.folder.join("f")).unwrap() == pattern(SIZE));
}

fn sha256(folder: &Path, content: &[u8]) -> String {
    std::fs::write(folder.join("to-sum"), content).unwrap();
    let out = crate::run("sha256sum", &["to-sum"], folder);
    format!("sha256={}", String::from_utf8_lossy(&out.stdout).split(' ').next().unwrap())
}

#[test]
fn the_rest_is_asked_for() {
    for mode in ["--no-parallel", "--parallel"] {
        let server = server(|_, request| cut(request, "\"v1\"", 50_000));
        let sum = sha256(&empty_folder(), &pattern(SIZE));
        is_whole(&fetch(&server, &[mode, "--checksum", &sum]));
        let asked = server.requests();
        assert_eq!((asked[0].field("Range"), asked[0].field("If-Range")), (None, None));
        let mut before = 0;
        for request in &asked[1..] {
            let range = request.field("Range").unwrap();
            let from: usize =
                range.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse().unwrap();
            assert!(from > before, "{from} after {before}");
            before = from;
            assert_eq!(request.field("If-Range"), Some("\"v1\""));
        }
        assert_eq!(asked.len(), 5);
    }
}

#[test]
fn without_a_strong_validator_all_of_it_comes_again() {
    for tag in ["W/\"v1\"", ""] {
        let server = server(move |n, request| match n {
            0 => cut(request, tag, 50_000),
            _ => whole(request, tag),
        });
        is_whole(&fetch(&server, &[]));
        assert_eq!(server.last_request().unwrap().field("Range"), None, "{tag}");
    }
    let server = server(|n, request| match n {
        0 => cut(request, "\"a\"", 50_000),
        _ => whole(request, "\"a\""),
    });
    is_whole(&fetch(&server, &["--no-retry-resume", "--retry-all-errors"]));
    assert_eq!(server.last_request().unwrap().field("Range"), None, "only when asked");
}

#[test]
fn a_file_that_has_changed_is_never_mixed() {
    // The server says so by 200: the new file as a whole, and that again after another cut.
    let server = server(|n, request| match n {
        0 => {
            let old = Response::ok(vec![b'x'; SIZE]).with("ETag", "\"old\"");
            Response { cut_at: Some(50_000), after: After::Cut, ..old }
        }
        1 => {
            let new = Response::ok(pattern(SIZE)).with("ETag", "\"new\"");
            Response { cut_at: Some(20_000), after: After::Cut, ..new }
        }
        _ => whole(request, "\"new\""),
    });
    is_whole(&fetch(&server, &[]));
    assert_eq!(server.last_request().unwrap().field("If-Range"), Some("\"new\""));
}

#[test]
fn a_part_of_something_else_is_refused() {
    let shifted = |request: &Request| {
        let mut answer = whole(request, "\"a\"");
        answer.fields.retain(|(name, _)| name != "Content-Range");
        answer.with("Content-Range", format!("bytes 7-{}/{SIZE}", SIZE - 1))
    };
    let foreign: [fn(&Request) -> Response; 3] = [
        shifted,
        |request| whole(request, "\"b\""),
        |_| Response { status: 206, ..Response::ok("no range at all") },
    ];
    for foreign in foreign {
        let one = server(move |n, request| match n {
            0 => cut(request, "\"a\"", 50_000),
            1 => foreign(request),
            _ => whole(request, "\"c\""),
        });
        is_whole(&fetch(&one, &[]));
        assert_eq!(one.last_request().unwrap().field("Range"), None, "begun anew");
        let ran = fetch(
            &server(move |n, request| if n == 0 { cut(request, "\"a\"", 50_000) } else { foreign(request) }),
            &["--retry", "1"],
        );
        assert_eq!(ran.code, 33, "{}", ran.stderr);
        let text = "curl: (33) The server's reply does not continue the file";
        assert!(ran.stderr.contains(text), "{}", ran.stderr);
    }
}

#[test]
fn an_errors_page_is_no_piece() {
    let server = server(|n, request| match n {
        0 => cut(request, "\"a\"", 50_000),
        1 => Response::status(503).with("Retry-After", "1"),
        2 => cut(request, "\"a\"", 50_000),
        _ => whole(request, "\"a\""),
    });
    let began = Instant::now();
    is_whole(&fetch(&server, &[]));
    assert!(began.elapsed() >= Duration::from_secs(1), "Retry-After is obeyed");
    let asked = server.requests();
    assert_eq!(asked[1].field("Range"), asked[2].field("Range"));
}

#[test]
fn a_file_that_is_gone_or_shorter() {
    let gone = server(|n, request| match n {
        0 => cut(request, "\"a\"", 50_000),
        _ => Response::status(404),
    });
    let ran = fetch(&gone, &[]);
    assert_eq!(ran.code, 22, "{}", ran.stderr);
    let kept = std::fs::read(ran.folder.join("f")).unwrap();
    assert!(!kept.is_empty() && pattern(SIZE).starts_with(&kept), "no page of an error in it");
    let shorter = server(|n, request| match n {
        0 => cut(request, "\"a\"", 50_000),
        _ if request.field("Range").is_some() => Response::status(416),
        _ => whole(request, "\"b\""),
    });
    let ran = fetch(&shorter, &["--retry-all-errors"]);
    is_whole(&ran);
}

#[test]
fn a_part_that_was_asked_for_stays_that_part() {
    let server = server(|n, request| match n {
        0 => cut(request, "\"a\"", 20_000),
        _ => whole(request, "\"a\""),
    });
    let ran = fetch(&server, &["-r", "1000-60999"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(std::fs::read(ran.folder.join("f")).unwrap() == pattern(SIZE)[1000..61_000]);
    let folder = empty_folder();
    std::fs::write(folder.join("f"), &pattern(SIZE)[..5000]).unwrap();
    let server = self::server(|n, request| match n {
        0 => cut(request, "\"a\"", 20_000),
        _ => whole(request, "\"a\""),
    });
    is_whole(&curl_in(folder, &[&QUICK[..], &["-C", "-", "-o", "f", &server.url("/f")]].concat()));
}

#[test]
fn a_retry_does_not_repeat_bytes_written_to_a_pipe() {
    let fine = server(|_, request| cut(request, "\"a\"", 50_000));
    let ran = curl(&[&QUICK[..], &["--no-buffer", &fine.url("/f")]].concat());
    assert!(ran.code == 0 && ran.stdout.as_bytes() == String::from_utf8_lossy(&pattern(SIZE)).as_bytes());
    let changed = server(|n, request| match n {
        0 => cut(request, "\"a\"", 50_000),
        _ => Response::ok("other").with("ETag", "\"b\""),
    });
    let ran = curl(&[&QUICK[..], &[&changed.url("/f")]].concat());
    let text = "curl: (33) The server sends the whole file again, and written output can't be undone\n";
    assert!(ran.code == 33 && ran.stderr.ends_with(text) && !ran.stdout.ends_with("other"), "{}", ran.stderr);
    let unmarked = server(|_, request| cut(request, "", 50_000));
    let ran = curl(&[&QUICK[..], &[&unmarked.url("/f")]].concat());
    assert!(ran.stderr.ends_with("curl: Written output can't be undone\n"), "{}", ran.stderr);
    assert_eq!((ran.code, unmarked.served()), (23, 1));
}

/// nginx behind a relay that forwards only a part of each connection.
#[test]
fn nginx_behind_a_line_that_is_cut() {
    let leaf = Authority::new().good();
    let nginx = Nginx::start(&leaf, &[SIZE]).unwrap();
    let cutter = Cutter::start(([127, 0, 0, 1], nginx.http_port).into(), 60_000);
    let url = format!("http://127.0.0.1:{}/bytes-{SIZE}", cutter.port());
    is_whole(&curl(&[&QUICK[..], &["-o", "f", &url]].concat()));
    let cutter = Cutter::start(([127, 0, 0, 1], nginx.https_port).into(), 70_000);
    let url = format!("https://127.0.0.1:{}/bytes-{SIZE}", cutter.port());
    is_whole(&curl(&[&QUICK[..], &["-k", "-o", "f", &url]].concat()));
}

#[test]
fn ftp_and_sftp() {
    let faults = Faults { cut_data_at: Some(60_000), ..Faults::default() };
    let ftp = FtpServer::with_faults("/f", pattern(SIZE), faults);
    is_whole(&curl(&[&QUICK[..], &["-o", "f", &ftp.url("/f")]].concat()));
    let asked: Vec<String> = ftp.commands().into_iter().filter(|line| line.starts_with("REST")).collect();
    assert_eq!(asked, ["REST 60000", "REST 120000", "REST 180000"]);
    let sshd = Sshd::start("").unwrap();
    // The answer to one read is some 256 KB.
    let body = pattern(1_000_000);
    let path = sshd.write("file", &body).unwrap().display().to_string();
    let target = sshd.url("sftp", &path);
    let port: u16 = target.rsplit_once(':').unwrap().1.split('/').next().unwrap().parse().unwrap();
    let cutter = Cutter::start(([127, 0, 0, 1], port).into(), 400_000);
    let url = target.replace(&format!(":{port}/"), &format!(":{}/", cutter.port()));
    let key = sshd.path("user_ed25519").display().to_string();
    let ran = curl(&[&QUICK[..], &["-k", "--key", &key, "-o", "f", &url]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(std::fs::read(ran.folder.join("f")).unwrap() == body);
    // An upload is resumed, too: each connection forwards the replies to some megabytes.
    let sent = pattern(20_000_000);
    std::fs::write(ran.folder.join("sent"), &sent).unwrap();
    let cutter = Cutter::start(([127, 0, 0, 1], port).into(), 12_000);
    let url = url.rsplit_once(':').unwrap().0.to_owned() + &format!(":{}{path}-sent", cutter.port());
    let upload = ["--retry", "99", "-k", "--key", &key, "-T", "sent", &url];
    let ran = curl_in(ran.folder, &[&QUICK[..], &upload].concat());
    assert!(ran.code == 0 && ran.stderr.contains("curl: (79)"), "{}", ran.stderr);
    assert!(std::fs::read(format!("{path}-sent")).unwrap() == sent);
}

/// Runs the tool with something on standard input.
fn fed(input: &[u8], words: &[&str]) -> Ran {
    let folder = empty_folder();
    let mut command = Command::new(tool());
    clean(&mut command).arg("-sS").args(words).current_dir(&folder);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || pipe.write_all(&input).is_ok());
    let out = child.wait_with_output().unwrap();
    let _ = feeder.join().unwrap();
    Ran {
        code: out.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&out.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
        folder,
    }
}

#[test]
fn standard_input_is_sent_again() {
    let server = server(|n, request| match n {
        0 => Response::status(503),
        1 => Response { cut_at: Some(0), after: After::Reset, ..Response::ok("") },
        _ => Response::ok(format!("{} bytes", request.body.len())),
    });
    let body = pattern(SIZE);
    let ran = fed(&body, &[&QUICK[..], &["-T", "-", &server.url("/f")]].concat());
    assert!(ran.code == 0 && ran.stdout.ends_with("200000 bytes"), "{} {}", ran.stdout, ran.stderr);
    let requests = server.requests();
    assert!(requests.len() == 3 && requests.iter().all(|request| request.body == body));
}

#[test]
fn all_attempts_have_one_deadline() {
    let slow = HttpServer::start(Config::default()).unwrap();
    let url = slow.url("/delay/60000/bytes/1");
    let began = Instant::now();
    let words = ["--deadline", "1.5", "--retry", "9", "--retry-delay", "0.2", "-m", "0.6", &url];
    let ran = curl(&words);
    assert_eq!(ran.code, 28, "{}", ran.stderr);
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(1200) && took < Duration::from_secs(20), "{took:?}");
    assert!(slow.accepts() >= 2);
    let busy = server(|_, _| Response::status(503));
    let ran = curl(&["--deadline", "1", "--retry", "9", "--retry-delay", "5", "-f", &busy.url("/")]);
    assert_eq!((ran.code, busy.served()), (22, 1), "no attempt would be in time");
}
