//! `--upload-protocol s3` against versitygw, which checks signatures, behind a relay that cuts, and with
//! commands that are killed.

use super::http_uploads::{
    PIECE, RETRIES, folder_with_source, kill_at, killed_at, server, started, states, upload,
};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use testkit::body::pattern;
use testkit::cutter::{Cut, CutPoint, Cutter, Plan, Side};
use testkit::http::{HttpServer, Request, Response};
use testkit::launch::{S3_SIGNATURE, Versitygw};

const PART: usize = 8 << 20;
const SIZE: usize = 3 * PART + 777;
/// The creation of an upload, or the question for its parts, before a part.
const HEADS: usize = 1000;

/// versitygw behind a relay.
struct Peer {
    server: Versitygw,
    cutter: Cutter,
    url: String,
}

impl Peer {
    fn start() -> Peer {
        let server = Versitygw::start().unwrap();
        let cutter = Cutter::open(([127, 0, 0, 1], server.port).into());
        let url = server.url().replace(&format!(":{}/", server.port), &format!(":{}/", cutter.port()));
        Peer { server, cutter, url }
    }

    /// Cuts each connection when one part has passed, and a piece of the next one.
    fn cut(&self, cut: Cut) {
        let point = CutPoint { side: Side::Client, after: PART + HEADS + PIECE, cut };
        self.cutter.set(Plan { cut: Some(point), data: None });
    }

    fn words(&self) -> Vec<&str> {
        words(&self.url)
    }

    /// Asserts that the server has the file, and nothing else.
    fn has(&self, body: &[u8]) {
        let object = self.server.object("f").unwrap_or_default();
        assert!(object == body, "{} of {} bytes", object.len(), body.len());
        assert_eq!(self.server.incomplete_uploads(), 0);
    }
}

/// Returns the tool's words for an upload of the file f.
fn words(url: &str) -> Vec<&str> {
    let (signature, login) = S3_SIGNATURE;
    // The go-ahead would cost a second where a test answers by itself.
    let words = ["--upload-protocol", "s3", "--aws-sigv4", signature, "-u", login, "-H", "Expect:"];
    words.into_iter().chain(["-T", "f", url]).collect()
}

/// Returns the numbers of the parts in the requests that a connection has passed.
fn parts_of(talk: &[u8]) -> Vec<u32> {
    let text = String::from_utf8_lossy(talk);
    let numbers = text.match_indices("PUT /files/f?partNumber=").map(|(at, found)| &text[at + found.len()..]);
    numbers.map(|rest| rest.split('&').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn a_file_becomes_an_object_in_parts_or_in_one_request() {
    let peer = Peer::start();
    for size in [0, 1000, PART, PART + 1, SIZE] {
        let body = pattern(size);
        let folder = folder_with_source(&body);
        let fields = ["-H", "x-amz-meta-owner: me", "-H", "Content-Type: text/plain", "--why"];
        let ran = upload(&folder, &[&fields[..], &peer.words()].concat());
        assert_eq!((ran.code, &*ran.stdout), (0, ""), "{size}: {}", ran.stderr);
        assert!(ran.stderr.contains("the server's ETags are those of the source"), "{}", ran.stderr);
        peer.has(&body);
        let (signature, login) = S3_SIGNATURE;
        let url = format!("{}f", peer.url);
        let head = upload(&folder, &["--aws-sigv4", signature, "-u", login, "-I", &url]);
        let head = head.stdout.to_ascii_lowercase();
        assert!(head.contains("x-amz-meta-owner: me") && head.contains("content-type: text/plain"), "{head}");
        assert_eq!(states(&folder), 0);
    }
}

/// Returns how many connections were made.
fn upload_over_cuts(peer: &Peer, folder: &Path, words: &[&str]) -> usize {
    let count = ["-w", "%{num_connects}"];
    let ran = upload(folder, &[&count[..], &RETRIES, words, &peer.words()].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stdout.parse().unwrap()
}

#[test]
fn an_upload_that_is_cut_in_each_part_is_whole() {
    let body = pattern(SIZE);
    for mode in ["--no-parallel", "--parallel"] {
        let peer = Peer::start();
        let folder = folder_with_source(&body);
        peer.cut(Cut::Reset);
        assert!(upload_over_cuts(&peer, &folder, &[mode]) >= 3);
        peer.has(&body);
        assert_eq!(states(&folder), 0);
    }
}

/// The first connection is silent from a byte on, and the command is killed. The next command uploads the
/// rest.
#[test]
fn an_upload_may_be_cut_anywhere() {
    let body = pattern(PART + 777);
    let peer = Peer::start();
    for after in
        [1, 4, 16, 64].map(|pieces| pieces * PIECE).into_iter().chain((0..10).map(|n| PART + n * 300))
    {
        let folder = folder_with_source(&body);
        let point = CutPoint { side: Side::Client, after, cut: Cut::Silence };
        peer.cutter.set(Plan { cut: Some(point), data: None });
        if !kill_at(&peer.cutter, &mut started(&folder, &peer.words()), after) {
            peer.cutter.set(Plan::default());
            let ran = upload(&folder, &peer.words());
            assert_eq!(ran.code, 0, "{after}: {}", ran.stderr);
        }
        peer.has(&body);
        fs::remove_file(peer.server.folder().join("f")).unwrap();
        assert_eq!(states(&folder), 0, "{after}");
    }
}

#[test]
fn a_command_that_is_killed_in_each_part_sends_the_others_alone() {
    let body = pattern(SIZE);
    let peer = Peer::start();
    let folder = folder_with_source(&body);
    let mut parts = Vec::new();
    loop {
        peer.cut(Cut::Silence);
        let words = [&RETRIES[..], &peer.words()].concat();
        let has_ended = kill_at(&peer.cutter, &mut started(&folder, &words), PART + HEADS + PIECE);
        parts.push(parts_of(&peer.cutter.talk().client));
        if has_ended {
            break;
        }
        assert!(parts.len() < 9, "no progress: {parts:?}");
    }
    assert_eq!(parts, [vec![1, 2], vec![2, 3], vec![3, 4]]);
    peer.has(&body);
    assert_eq!(states(&folder), 0);
}

#[test]
fn a_source_that_has_changed_is_another_upload() {
    let peer = Peer::start();
    let folder = folder_with_source(&pattern(SIZE));
    killed_at(&peer.cutter, &folder, &peer.words(), PART + HEADS + PIECE);
    let other = vec![b'x'; SIZE];
    fs::write(folder.join("f"), &other).unwrap();
    let ran = upload(&folder, &peer.words());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(peer.server.object("f").unwrap() == other);
    assert_eq!(peer.server.incomplete_uploads(), 1, "the guide says how such parts are removed");
}

/// The stamp of the file is the old one: the parts at the server show the difference.
#[test]
fn a_part_that_differs_from_the_source_is_sent_again() {
    let peer = Peer::start();
    let mut body = pattern(SIZE);
    let folder = folder_with_source(&body);
    let time = fs::metadata(folder.join("f")).unwrap().modified().unwrap();
    killed_at(&peer.cutter, &folder, &peer.words(), PART + HEADS + PIECE);
    body[PIECE] ^= 1;
    fs::write(folder.join("f"), &body).unwrap();
    fs::File::options().write(true).open(folder.join("f")).unwrap().set_modified(time).unwrap();
    let ran = upload(&folder, &[&["--why"][..], &peer.words()].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("continues: the server has 0 of 4 parts"), "{}", ran.stderr);
    peer.has(&body);
}

#[test]
fn an_upload_that_the_server_has_forgotten_begins_anew() {
    let body = pattern(SIZE);
    let peer = Peer::start();
    let folder = folder_with_source(&body);
    killed_at(&peer.cutter, &folder, &peer.words(), PART + HEADS + PIECE);
    peer.server.forget_uploads().unwrap();
    let ran = upload(&folder, &peer.words());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    peer.has(&body);
}

const RESULT: &str =
    "<CompleteMultipartUploadResult><ETag>\"unlike-md5\"</ETag></CompleteMultipartUploadResult>";

/// Returns what a program of coreutils writes about bytes: their MD5 digest.
fn md5(bytes: &[u8]) -> String {
    let mut program = Command::new("md5sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    program.stdin.take().unwrap().write_all(bytes).unwrap();
    let text = String::from_utf8(program.wait_with_output().unwrap().stdout).unwrap();
    text.split(' ').next().unwrap().to_owned()
}

/// Returns the ETag of an object in parts.
fn etag_of_parts(body: &[u8]) -> String {
    let digests: Vec<String> = body.chunks(PART).map(md5).collect();
    let bytes = warmwire::hex::decode(digests.concat().as_bytes()).unwrap();
    format!("\"{}-{}\"", md5(&bytes), digests.len())
}

/// A service that answers in its usual way; `replaced` returns another reply in place of that.
fn service(replaced: impl Fn(usize, &Request) -> Option<Response> + Send + Sync + 'static) -> HttpServer {
    let parts = Mutex::new(String::new());
    server(move |count, request| {
        let usual = match (&*request.method, &*request.target) {
            ("POST", "/files/f?uploads=") => Response::ok("<r><UploadId>u</UploadId></r>"),
            ("PUT", _) => {
                let number = request.query("partNumber").unwrap_or_default();
                let (etag, size) = (format!("\"{}\"", md5(&request.body)), request.body.len());
                let facts =
                    format!("<PartNumber>{number}</PartNumber><ETag>{etag}</ETag><Size>{size}</Size>");
                parts.lock().unwrap().push_str(&format!("<Part>{facts}</Part>"));
                Response::ok("").with("ETag", etag)
            }
            ("GET", _) => {
                let parts = parts.lock().unwrap();
                Response::ok(format!("<ListPartsResult>{parts}</ListPartsResult>"))
            }
            ("POST", _) => Response::ok(RESULT),
            _ => Response::status(204),
        };
        replaced(count, request).unwrap_or(usual)
    })
}

/// Returns method and query of the requests.
fn seen(server: &HttpServer) -> Vec<String> {
    let query = |request: &Request| request.target.split('?').nth(1).unwrap_or_default().to_owned();
    let requests = server.requests();
    requests.iter().map(|request| format!("{} {}", request.method, query(request))).collect()
}

const WHOLE: [&str; 4] =
    ["POST uploads=", "PUT partNumber=1&uploadId=u", "PUT partNumber=2&uploadId=u", "POST uploadId=u"];

fn error(status: u16, code: &str) -> Response {
    let body = format!("<Error><Code>{code}</Code><Message>a text</Message></Error>");
    Response { status, ..Response::ok(body) }
}

#[test]
fn replies_that_contradict_the_source_end_the_upload() {
    let is_part = |request: &Request| request.target.contains("partNumber=1");
    let is_completion =
        |request: &Request| request.method == "POST" && request.target.ends_with("?uploadId=u");
    let wrong = "\"0123456789abcdef0123456789abcdef\"";
    let wrong_object = RESULT.replace("unlike-md5", "0123456789abcdef0123456789abcdef-2");
    type Replaced = Box<dyn Fn(usize, &Request) -> Option<Response> + Send + Sync>;
    let rows: [(Replaced, i32, &str, &str); 6] = [
        (
            Box::new(move |_, request| is_part(request).then(|| Response::ok("").with("ETag", wrong))),
            33,
            "The server has other bytes than the source: its ETag is 0123456789abcdef0123456789abcdef",
            "DELETE uploadId=u",
        ),
        (
            Box::new(move |_, request| is_completion(request).then(|| error(200, "InvalidPart"))),
            33,
            "The server cannot complete the upload: InvalidPart: a text",
            "DELETE uploadId=u",
        ),
        (
            Box::new(move |_, request| is_completion(request).then(|| error(200, "InternalError"))),
            22,
            "The requested URL returned error: 200 (InternalError: a text)",
            "POST uploadId=u",
        ),
        (
            Box::new(move |_, request| is_completion(request).then(|| Response::ok(wrong_object.clone()))),
            33,
            "The server's object differs from the source",
            "POST uploadId=u",
        ),
        (
            Box::new(|_, _| Some(error(403, "AccessDenied"))),
            22,
            "The requested URL returned error: 403 (AccessDenied: a text)",
            "POST uploads=",
        ),
        (
            Box::new(|_, _| Some(Response::ok("x".repeat(17 << 20)))),
            8,
            "The server's reply is longer than any that an upload needs",
            "POST uploads=",
        ),
    ];
    let folder = folder_with_source(&pattern(PART + 1));
    for (replaced, code, text, last) in rows {
        let server = service(replaced);
        let ran = upload(&folder, &words(&server.url("/files/f")));
        assert!(ran.code == code && ran.stderr.contains(text), "{text}: {} {}", ran.code, ran.stderr);
        assert_eq!((&*ran.stdout, seen(&server).last().map(String::as_str)), ("", Some(last)));
    }
}

#[test]
fn a_busy_server_is_asked_later() {
    let server = service(|count, _| match count {
        0 => Some(error(503, "SlowDown")),
        2 => Some(error(400, "RequestTimeout")),
        _ => None,
    });
    let folder = folder_with_source(&pattern(PART + 1));
    let ran = upload(&folder, &[&RETRIES[..], &words(&server.url("/files/f"))].concat());
    assert_eq!((ran.code, &*ran.stdout), (0, ""), "{}", ran.stderr);
    let [create, first, second, complete] = WHOLE;
    let list = "GET max-parts=1000&uploadId=u";
    assert_eq!(seen(&server), [create, create, first, list, second, complete]);
}

/// The reply to the completion is lost: the object is there, and the upload is not.
#[test]
fn a_completion_whose_reply_is_lost_is_not_repeated() {
    let body = pattern(PART + 1);
    let etag = etag_of_parts(&body);
    let server = service(move |count, request| match (count, &*request.method) {
        (3, _) => Some(error(500, "InternalError")),
        (_, "GET") => Some(error(404, "NoSuchUpload")),
        (_, "HEAD") => Some(Response::ok("x".repeat(PART + 1)).with("ETag", &etag)),
        _ => None,
    });
    let folder = folder_with_source(&body);
    let ran = upload(&folder, &[&RETRIES[..], &words(&server.url("/files/f"))].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let seen = seen(&server);
    assert_eq!(seen[4..], ["GET max-parts=1000&uploadId=u", "HEAD "], "{seen:?}");
    assert_eq!(states(&folder), 0);
}

/// Fields that describe the object belong to its creation, conditions to the completion.
#[test]
fn fields_of_the_user_go_with_the_requests_that_they_are_about() {
    let server = service(|_, _| None);
    let folder = folder_with_source(&pattern(PART + 1));
    let fields =
        ["x-amz-acl: private", "Content-Type: text/x", "If-None-Match: *", "x-amz-request-payer: requester"];
    let fields: Vec<&str> = fields.iter().flat_map(|field| ["-H", field]).collect();
    assert_eq!(upload(&folder, &[&fields[..], &words(&server.url("/files/f"))].concat()).code, 0);
    assert_eq!(seen(&server), WHOLE);
    let requests = server.requests();
    let with = |name| requests.iter().map(|request| request.field(name).is_some()).collect::<Vec<_>>();
    assert_eq!(with("x-amz-acl"), [true, false, false, false]);
    assert_eq!(with("Content-Type"), [true, false, false, false]);
    assert_eq!(with("If-None-Match"), [false, false, false, true]);
    assert_eq!(with("x-amz-request-payer"), [true; 4]);
    assert_eq!(with("Authorization"), [true; 4]);
}

/// The source is shorter than it was when the upload began.
#[test]
fn a_source_that_shrinks_fails_the_upload() {
    let folder = folder_with_source(&pattern(PART + 1000));
    let file = folder.join("f");
    let server = service(move |count, _| {
        if count == 0 {
            fs::File::options().write(true).open(&file).unwrap().set_len(PART as u64).unwrap();
        }
        None
    });
    let ran = upload(&folder, &words(&server.url("/files/f")));
    assert_eq!(ran.code, 26, "{}", ran.stderr);
    assert!(!seen(&server).iter().any(|line| line.starts_with("POST uploadId")), "{:?}", seen(&server));
}
