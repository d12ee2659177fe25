//! `--upload-protocol` against tusd, behind a relay that cuts, and with commands that are killed.

use super::{Ran, clean, empty_folder, tool};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testkit::body::pattern;
use testkit::cutter::{Cut, CutPoint, Cutter, Plan, Side};
use testkit::http::{HttpServer, Request, Response};
use testkit::launch::Tusd;

pub(super) const PIECE: usize = 64 << 10;
const SIZE: usize = 6 * PIECE + 777;
/// Head of a request before the piece of the file.
const HEAD: usize = 400;
const PATIENCE: Duration = Duration::from_secs(60);
pub(super) const RETRIES: [&str; 4] = ["--retry", "60", "--retry-delay", "0.01"];

/// tusd behind a relay.
struct Peer {
    server: Tusd,
    cutter: Cutter,
    url: String,
}

impl Peer {
    fn start() -> Peer {
        let server = Tusd::start().unwrap();
        let cutter = Cutter::open(([127, 0, 0, 1], server.port).into());
        let url = server.url().replace(&format!(":{}/", server.port), &format!(":{}/", cutter.port()));
        Peer { server, cutter, url }
    }

    fn cut_at(&self, after: usize, cut: Cut) {
        let point = CutPoint { side: Side::Client, after, cut };
        self.cutter.set(Plan { cut: Some(point), data: None });
    }

    /// The tool's words for an upload.
    fn words<'a>(&'a self, protocol: &'a str) -> Vec<&'a str> {
        // tusd takes no PUT; the relay needs a connection for each request to count its bytes.
        // The URL of an upload by the draft comes while the first piece is sent, and must not be cut off.
        let method: &[&str] = if protocol == "ietf" { &["-X", "POST", "--limit-rate", "1M"] } else { &[] };
        let words = ["--upload-protocol", protocol, "-T", "f", "-H", "Connection: close", &self.url];
        words.iter().chain(method).copied().collect()
    }

    /// Asserts that the server has one upload: this one. By the draft it may have beginnings of it, too:
    /// those whose URL was lost with the connection that it had come on.
    fn has(&self, body: &[u8], protocol: &str) {
        let (whole, parts): (Vec<_>, Vec<_>) =
            self.server.uploads().into_iter().partition(|upload| upload.len() >= body.len());
        assert!(whole == [body], "{protocol}: {} of {} bytes", whole.len(), body.len());
        assert!(protocol == "ietf" || parts.is_empty(), "{protocol}: {} parts", parts.len());
        assert!(parts.iter().all(|part| body.starts_with(part)));
    }
}

pub(super) fn folder_with_source(content: &[u8]) -> PathBuf {
    let folder = empty_folder();
    fs::write(folder.join("f"), content).unwrap();
    folder
}

pub(super) fn upload(folder: &Path, words: &[&str]) -> Ran {
    let home = folder.join("state").display().to_string();
    let mut command = Command::new("env");
    command.arg(format!("XDG_STATE_HOME={home}")).arg(tool()).arg("-sS").args(words);
    super::ran(&mut command, folder.to_owned())
}

pub(super) fn started(folder: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(tool());
    clean(&mut command).arg("-sS").args(words).env("XDG_STATE_HOME", folder.join("state"));
    command.current_dir(folder).stdin(Stdio::null()).spawn().unwrap()
}

pub(super) fn states(folder: &Path) -> usize {
    fs::read_dir(folder.join("state/warmwire/uploads")).into_iter().flatten().count()
}

#[test]
fn an_upload_to_tusd_is_whole_without_and_with_cuts() {
    let body = pattern(SIZE);
    for protocol in ["tus", "ietf"] {
        for mode in ["--no-parallel", "--parallel"] {
            let peer = Peer::start();
            let folder = folder_with_source(&body);
            let ran = upload(&folder, &[&[mode][..], &peer.words(protocol)].concat());
            assert_eq!((ran.code, &*ran.stderr), (0, ""), "{protocol}");
            peer.has(&body, protocol);
            peer.server.forget().unwrap();
            peer.cut_at(PIECE + HEAD, Cut::Reset);
            let ran = upload(&folder, &[&[mode][..], &RETRIES, &peer.words(protocol)].concat());
            assert_eq!(ran.code, 0, "{protocol}: {}", ran.stderr);
            peer.has(&body, protocol);
            let cuts = ran.stderr.matches("curl: (").count();
            assert!(cuts >= SIZE / PIECE - 2, "{protocol}: {cuts} cuts");
            assert_eq!(states(&folder), 0);
        }
    }
}

#[test]
fn tusd_learns_the_name_of_the_file() {
    let peer = Peer::start();
    let folder = folder_with_source(b"content");
    assert_eq!(upload(&folder, &peer.words("tus")).code, 0);
    let infos = peer.server.infos();
    assert!(infos.len() == 1 && infos[0].contains("\"filename\":\"f\""), "{infos:?}");
    let own = ["-H", "Upload-Metadata: filename Zw==,lang ZGU="];
    assert_eq!(upload(&folder, &[&own[..], &peer.words("tus")].concat()).code, 0);
    assert!(peer.server.infos().iter().any(|info| info.contains("\"lang\":\"de\"")));
    fs::write(folder.join("f"), "").unwrap();
    for protocol in ["tus", "ietf"] {
        peer.server.forget().unwrap();
        assert_eq!(upload(&folder, &peer.words(protocol)).code, 0, "an empty file by {protocol}");
        peer.has(b"", protocol);
    }
}

/// Waits until so many bytes of the client have passed on one connection, and kills the command. Returns
/// whether it had ended before.
pub(super) fn kill_at(cutter: &Cutter, child: &mut Child, bytes: usize) -> bool {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return true;
        }
        if cutter.passed() >= bytes {
            child.kill().unwrap();
            child.wait().unwrap();
            return false;
        }
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Kills a command when so many bytes of the client have passed; the relay forwards everything afterwards.
pub(super) fn killed_at(cutter: &Cutter, folder: &Path, words: &[&str], bytes: usize) {
    let point = CutPoint { side: Side::Client, after: bytes, cut: Cut::Silence };
    cutter.set(Plan { cut: Some(point), data: None });
    assert!(!kill_at(cutter, &mut started(folder, words), bytes), "it has ended before");
    cutter.set(Plan::default());
}

#[test]
fn a_command_that_is_killed_every_64_kib_is_started_again() {
    let body = pattern(SIZE);
    for protocol in ["tus", "ietf"] {
        let peer = Peer::start();
        let folder = folder_with_source(&body);
        let mut kills = 0;
        loop {
            peer.cut_at(PIECE + HEAD, Cut::Silence);
            let words = [&RETRIES[..], &peer.words(protocol)].concat();
            if kill_at(&peer.cutter, &mut started(&folder, &words), PIECE + HEAD) {
                break;
            }
            kills += 1;
            assert!(kills <= 4 * SIZE / PIECE, "{protocol}: no progress");
        }
        assert!(kills >= SIZE / PIECE - 2, "{protocol}: {kills} kills");
        peer.has(&body, protocol);
        assert_eq!(states(&folder), 0);
    }
}

/// The record is that of the file, whatever the name by which the command finds it.
#[test]
fn an_upload_continues_from_another_folder() {
    let body = pattern(SIZE);
    let peer = Peer::start();
    let folder = folder_with_source(&body);
    killed_at(&peer.cutter, &folder, &peer.words("tus"), PIECE + HEAD);
    let elsewhere = empty_folder();
    let (home, file) = (folder.join("state"), folder.join("f"));
    let mut command = Command::new("env");
    command.arg(format!("XDG_STATE_HOME={}", home.display())).arg(tool()).arg("-sSw").arg("%{size_upload}");
    command.args(["--upload-protocol", "tus", "-T"]).arg(file).arg(&peer.url);
    let ran = super::ran(&mut command, elsewhere);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.parse::<usize>().unwrap() < SIZE, "the rest alone: {}", ran.stdout);
    peer.has(&body, "tus");
}

#[test]
fn a_source_that_has_changed_is_another_upload() {
    for protocol in ["tus", "ietf"] {
        let peer = Peer::start();
        let folder = folder_with_source(&pattern(SIZE));
        killed_at(&peer.cutter, &folder, &peer.words(protocol), PIECE + HEAD);
        let other = vec![b'x'; SIZE];
        fs::write(folder.join("f"), &other).unwrap();
        assert_eq!(upload(&folder, &peer.words(protocol)).code, 0);
        let uploads = peer.server.uploads();
        assert!(uploads.len() == 2 && uploads.contains(&other), "{protocol}: {}", uploads.len());
    }
}

#[test]
fn an_upload_that_the_server_has_forgotten_is_created_again() {
    for protocol in ["tus", "ietf"] {
        let peer = Peer::start();
        let folder = folder_with_source(&pattern(SIZE));
        killed_at(&peer.cutter, &folder, &peer.words(protocol), PIECE + HEAD);
        peer.server.forget().unwrap();
        let ran = upload(&folder, &peer.words(protocol));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        peer.has(&pattern(SIZE), protocol);
    }
}

/// A server whose n-th reply is chosen by the test.
pub(super) fn server(answer: impl Fn(usize, &Request) -> Response + Send + Sync + 'static) -> HttpServer {
    let count = AtomicUsize::new(0);
    HttpServer::with(move |request| Some(answer(count.fetch_add(1, Ordering::SeqCst), request)))
}

#[test]
fn a_server_that_does_not_know_the_draft_gets_an_ordinary_upload() {
    let server = server(|_, request| Response::ok(format!("{} bytes", request.body.len())));
    let folder = folder_with_source(&pattern(5000));
    let words = ["--upload-protocol", "ietf", "-T", "f", &server.url("/f")];
    let ran = upload(&folder, &words);
    assert_eq!((ran.code, &*ran.stdout), (0, "5000 bytes"), "{}", ran.stderr);
    let requests = server.requests();
    assert_eq!((requests.len(), &*requests[0].method), (1, "PUT"));
    assert_eq!(requests[0].field("Upload-Complete"), Some("?1"));
}

/// Without content, Repr-Digest in the reply is that of what was stored (RFC 9530 §3.1).
#[test]
fn a_checksum_in_the_reply_is_compared() {
    // SHA-256 of "content", and of something else, by coreutils and base64.
    let right = "sha-256=:7XACtDnprIRfIjV9giusFERzD722AW0+yUMil7nsn3M=:";
    let wrong = "sha-256=:7XACtDnprIRfIjV9giusFERzD722AW0+yUMil7nsn3A=:";
    let differs = "curl: (33) The server's file differs from the source: its SHA-256 is ";
    for (field, status, code) in [(right, 201, 0), (wrong, 204, 33)] {
        let server = server(move |_, _| Response::status(status).with("Repr-Digest", field));
        let folder = folder_with_source(b"content");
        let ran = upload(&folder, &["--upload-protocol", "ietf", "-T", "f", &server.url("/f")]);
        assert_eq!((ran.code, ran.stderr.contains(differs)), (code, code != 0), "{}", ran.stderr);
    }
    let server = server(move |_, _| Response::ok("a text about it").with("Repr-Digest", wrong));
    let folder = folder_with_source(b"content");
    let ran = upload(&folder, &["--upload-protocol", "ietf", "-T", "f", &server.url("/f")]);
    assert_eq!(ran.code, 0, "the digest of that text: {}", ran.stderr);
}

#[test]
fn a_server_that_contradicts_itself_ends_the_upload() {
    let created = |url: &'static str| move || Response::status(201).with("Location", url);
    let at = |status, offset: &'static str| Response::status(status).with("Upload-Offset", offset);
    let other_file = "The server has 5001 bytes and the source 5000: it is another file";
    let elsewhere = "The server names http://192.0.2.1:80 for the upload, which is another server; \
                     --location-trusted allows it";
    type Answers = Box<dyn Fn(usize, &Request) -> Response + Send + Sync>;
    let rows: [(Answers, i32, &str); 6] = [
        (Box::new(move |n, _| if n == 0 { created("/u")() } else { at(204, "5001") }), 33, other_file),
        (
            Box::new(move |n, _| if n == 0 { created("/u")() } else { at(204, "7") }),
            33,
            "The upload makes no progress",
        ),
        (Box::new(move |_, _| created("http://192.0.2.1/u")()), 22, elsewhere),
        (
            Box::new(|_, _| Response::ok("hello")),
            33,
            "The server does not create a tus upload: it answers 200",
        ),
        (Box::new(|_, _| Response::status(403)), 22, "The requested URL returned error: 403"),
        (
            Box::new(move |n, _| if n == 0 { created("/u")() } else { Response::status(423) }),
            22,
            "The requested URL returned error: 423",
        ),
    ];
    for (answers, code, text) in rows {
        let server = server(answers);
        let folder = folder_with_source(&pattern(5000));
        let words = ["--upload-protocol", "tus", "-T", "f", &server.url("/files")];
        let ran = upload(&folder, &words);
        let wanted = format!("curl: ({code}) {text}\n");
        assert_eq!((ran.code, ran.stderr.ends_with(&wanted)), (code, true), "{wanted}{}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
        assert!(server.requests().len() < 20);
    }
}

#[test]
fn a_busy_server_is_asked_later() {
    let server = server(|n, _| match n {
        0 => Response::status(503).with("Retry-After", "0"),
        1 => Response::status(201).with("Location", "/u"),
        2 => Response::status(423),
        3 => Response::status(200).with("Upload-Offset", "1000"),
        _ => Response::status(204).with("Upload-Offset", "5000"),
    });
    let folder = folder_with_source(&pattern(5000));
    let login = server.url("/files").replace("://", "://user:secret@");
    let words = [&RETRIES[..], &["--upload-protocol", "tus", "-T", "f", &login]].concat();
    let ran = upload(&folder, &words);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let requests = server.requests();
    let lines: Vec<_> =
        requests.iter().map(|request| format!("{} {}", request.method, request.target)).collect();
    assert_eq!(lines, ["POST /files", "POST /files", "PATCH /u", "HEAD /u", "PATCH /u"]);
    assert!(requests[4].body == pattern(5000)[1000..], "the rest alone");
    assert!(requests.iter().all(|request| request.field("Authorization").is_some()), "the login goes along");
    assert_eq!(requests[4].field("Upload-Offset"), Some("1000"));
}

#[test]
fn what_can_not_be_combined_is_refused() {
    let folder = folder_with_source(b"x");
    let of = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    for (words, text) in [
        ("--upload-protocol tus -T -", "needs a file"),
        ("--upload-protocol s3 -T -", "needs a file"),
        ("--upload-protocol tus -C - -T f", "can't be combined with --continue-at"),
        ("--upload-protocol s3 -C - -T f", "can't be combined with --continue-at"),
        ("--upload-protocol ietf -C 1 -T f", "can't be combined with --continue-at"),
        ("--upload-protocol ftp -T f", "takes tus, ietf or s3"),
    ] {
        let words = of(words);
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["http://127.0.0.1:1/"]).collect();
        let ran = upload(&folder, &words);
        assert!(ran.code == 2 && ran.stderr.contains(text), "{words:?}: {} {}", ran.code, ran.stderr);
    }
}
