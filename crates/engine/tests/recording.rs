//! Record and replay: exchanges with real peers are recorded, and replayed when the peers are gone.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::{fmt, fs};

use crate::common::{App, handle, long, text, until_done};
use crate::http2_upgrade::agreeing;
use tables::constant::CURL_HTTP_VERSION_2_0;
use tables::{Code, EasyOption as O};
use testkit::body::pattern;
use testkit::ftp::FtpServer;
use testkit::raw::{RawPeer, Script, Step, expect, send};
use testkit::temp::TempDir;
use warmwire_engine::recording::Recording;
use warmwire_engine::{Easy, Multi};

/// The facts of a transfer that an application sees.
#[derive(PartialEq)]
struct Seen {
    code: Code,
    headers: String,
    body: Vec<u8>,
    status: i64,
    version: i64,
    connects: i64,
    redirects: i64,
}

impl fmt::Debug for Seen {
    /// The length of the body must do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seen { code, headers, body, status, version, connects, redirects } = self;
        let facts = (code, status, version, connects, redirects, body.len());
        write!(f, "{facts:?} {headers:?}")
    }
}

fn run(multi: &Multi, easy: &Easy, app: &Rc<App>) -> Seen {
    app.body.borrow_mut().clear();
    app.headers.borrow_mut().clear();
    multi.add(easy);
    let code = until_done(multi);
    multi.remove(easy);
    let info = easy.state().info.borrow();
    Seen {
        code,
        headers: String::from_utf8_lossy(&app.headers.borrow()).into_owned(),
        body: app.body.borrow().clone(),
        status: info.response_code,
        version: info.http_version,
        connects: info.connects,
        redirects: info.redirect_count,
    }
}

fn recorder(folder: &Path) -> Multi {
    let multi = Multi::default();
    multi.record(Arc::new(Recording::to(folder).unwrap()));
    multi
}

fn player(folder: &Path) -> Multi {
    let multi = Multi::default();
    multi.record(Arc::new(Recording::from(folder, Vec::new())));
    multi
}

/// Runs a handle twice: recorded, and replayed when the peer is gone.
fn twice(dir: &TempDir, peer: RawPeer, make: impl Fn(&str) -> (Easy, Rc<App>)) -> (Seen, Seen) {
    let url = format!("http://127.0.0.1:{}/", peer.port());
    let (easy, app) = make(&url);
    let recorded = run(&recorder(dir.path()), &easy, &app);
    drop(peer);
    let (easy, app) = make(&url);
    (recorded, run(&player(dir.path()), &easy, &app))
}

/// Returns the folders of the complete exchanges, in order.
fn exchanges(dir: &TempDir) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

fn round(reply: &str) -> Script {
    vec![expect("\r\n\r\n"), send(reply)]
}

#[test]
fn redirects_interim_replies_and_trailers_are_replayed() {
    let dir = TempDir::new("recording").unwrap();
    let peer = RawPeer::start(vec![
        [
            round(
                "HTTP/1.1 302 Found\r\nLocation: /b\r\nSet-Cookie: a=secret; Path=/\r\n\
                 Content-Length: 4\r\n\r\ngone",
            ),
            round(
                "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n\
                 HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\
                 Folded: a\r\n b\r\nTrailer: T\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nT: end\r\n\r\n",
            ),
        ]
        .concat(),
    ]);
    let (recorded, replayed) = twice(&dir, peer, |url| {
        let (easy, app) = handle(url);
        long(&easy, O::FollowLocation, 1);
        text(&easy, O::Cookie, "c=secret");
        text(&easy, O::Username, "me");
        text(&easy, O::Password, "hidden");
        (easy, app)
    });
    assert_eq!((recorded.code, recorded.body.as_slice()), (Code::Ok, &b"abcde"[..]));
    assert!(recorded.headers.ends_with("T: end\r\n"), "{}", recorded.headers);
    let cookie = recorded.headers.replace("a=secret", "a=(redacted)");
    assert_eq!(replayed, Seen { headers: cookie, ..recorded });
    let all = exchanges(&dir);
    assert_eq!(all.len(), 2, "{all:?}");
    for file in all.iter().flat_map(|folder| fs::read_dir(folder).unwrap()) {
        let path = file.unwrap().path();
        let content = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        for secret in ["secret", "hidden", "bWU6aGlkZGVu"] {
            assert!(!content.contains(secret), "{}: {content}", path.display());
        }
    }
    let head = fs::read_to_string(all[1].join("request.head")).unwrap();
    assert!(head.contains("Authorization: Basic (redacted)\r\n"), "{head}");
    assert!(head.contains("Cookie: (redacted)\r\n"), "{head}");
    let facts = fs::read_to_string(all[1].join("exchange.txt")).unwrap();
    for line in [
        "Method: GET\n",
        "HTTP-Version: 1.1\n",
        "Response-Body: 5\n",
        "End: complete\n",
        "Remote: 127.0.0.1:",
    ] {
        assert!(facts.contains(line), "{facts}");
    }
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_a_record() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new("recording").unwrap();
    let folder = dir.path().join("new");
    let peer = RawPeer::start(vec![round("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]);
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    assert_eq!(run(&recorder(&folder), &easy, &app).code, Code::Ok);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let exchange = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(&folder), mode(&exchange)), (0o700, 0o700));
    let files: Vec<PathBuf> = fs::read_dir(&exchange).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 4, "{files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
}

#[test]
fn failures_are_replayed() {
    for (reply, code) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", Code::PartialFile),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", Code::PartialFile),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", Code::RecvError),
        ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", Code::WeirdServerReply),
        ("HTTP/1.0 200 OK\r\n\r\nuntil the end", Code::Ok),
        ("HTTP/1.1 204 No Content\r\nX: cut", Code::Ok),
        ("", Code::GotNothing),
    ] {
        let dir = TempDir::new("recording").unwrap();
        let script = [round(reply), vec![Step::Finish]].concat();
        let (recorded, replayed) = twice(&dir, RawPeer::start(vec![script]), handle);
        assert_eq!((recorded.code, &replayed), (code, &recorded), "{reply}");
    }
}

#[test]
fn uploads_are_recorded_and_replayed() {
    let dir = TempDir::new("recording").unwrap();
    let go_ahead = "HTTP/1.1 100 Continue\r\n\r\n";
    let done = "HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\ndone";
    let peer =
        RawPeer::start(vec![vec![expect("\r\n\r\n"), send(go_ahead), Step::ExpectBytes(70_000), send(done)]]);
    let (recorded, replayed) = twice(&dir, peer, |url| {
        let (easy, app) = handle(url);
        *app.upload.borrow_mut() = pattern(70_000);
        long(&easy, O::Upload, 1);
        long(&easy, O::InFileSizeLarge, 70_000);
        let list = ["Expect: 100-continue"].map(|line| line.as_bytes().into());
        easy.state().settings.borrow_mut().set_list(O::HttpHeader, Some(list.to_vec())).unwrap();
        (easy, app)
    });
    assert_eq!((recorded.code, recorded.status), (Code::Ok, 201));
    assert_eq!(replayed, recorded);
    assert_eq!(fs::read(exchanges(&dir)[0].join("request.body")).unwrap(), pattern(70_000));
}

/// Returns a handle that sends this body, after the server's consent if `expects`.
fn sending(url: &str, body: &str, expects: bool) -> (Easy, Rc<App>) {
    let (easy, app) = handle(url);
    *app.upload.borrow_mut() = body.as_bytes().to_vec();
    long(&easy, O::Upload, 1);
    long(&easy, O::InFileSizeLarge, body.len() as i64);
    if expects {
        let list = ["Expect: 100-continue"].map(|line| line.as_bytes().into());
        easy.state().settings.borrow_mut().set_list(O::HttpHeader, Some(list.to_vec())).unwrap();
    }
    (easy, app)
}

#[test]
fn requests_to_one_url_are_matched_by_their_bodies() {
    for (expects, go_ahead) in [(false, ""), (true, "HTTP/1.1 100 Continue\r\n\r\n")] {
        let dir = TempDir::new("recording").unwrap();
        let answer = |body: &str| {
            let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let begin = if expects { vec![expect("\r\n\r\n"), send(go_ahead)] } else { Vec::new() };
            [begin, vec![expect(body), send(&reply)]].concat()
        };
        let peer = RawPeer::start(vec![[answer("first"), answer("second"), answer("third")].concat()]);
        let url = format!("http://127.0.0.1:{}/", peer.port());
        let multi = recorder(dir.path());
        for body in ["first", "second", "third"] {
            let (easy, app) = sending(&url, body, expects);
            assert_eq!(run(&multi, &easy, &app).code, Code::Ok);
        }
        drop(peer);
        let multi = player(dir.path());
        // The last one is not in the record, and gets the one that is left.
        for (body, wanted) in [("third", "third"), ("first", "first"), ("other", "second")] {
            let (easy, app) = sending(&url, body, expects);
            let seen = run(&multi, &easy, &app);
            assert_eq!((seen.code, seen.body.as_slice()), (Code::Ok, wanted.as_bytes()), "{seen:?}");
            assert_eq!(seen.headers.matches("100 Continue").count(), usize::from(expects), "{seen:?}");
        }
    }
}

#[test]
fn a_refusal_before_the_body_comes_in_turn() {
    let dir = TempDir::new("recording").unwrap();
    let refusal = "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let refusing = || vec![expect("\r\n\r\n"), send(refusal), Step::Finish];
    let answering = |body: &str| {
        let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        vec![expect("\r\n\r\n"), send("HTTP/1.1 100 Continue\r\n\r\n"), expect(body), send(&reply)]
    };
    let scripts = [refusing(), answering("first"), refusing(), answering("second")];
    let peer = RawPeer::start(scripts.map(|script| [script, vec![Step::Hold]].concat()).to_vec());
    let url = format!("http://127.0.0.1:{}/", peer.port());
    let program = |multi: &Multi, body: &str| {
        [(); 2].map(|()| {
            let (easy, app) = sending(&url, body, true);
            run(multi, &easy, &app)
        })
    };
    let recorded = ["first", "second"].map(|body| program(&recorder(dir.path()), body));
    assert_eq!(recorded.each_ref().map(|[refused, _]| refused.status), [401; 2], "{recorded:?}");
    drop(peer);
    // The second program alone.
    assert_eq!(program(&player(dir.path()), "second"), recorded[1]);
    let multi = player(dir.path());
    for (body, recorded) in ["first", "second"].iter().zip(&recorded) {
        let replayed = program(&multi, body);
        assert_eq!(
            replayed.each_ref().map(|seen| (seen.status, &seen.body)),
            recorded.each_ref().map(|seen| (seen.status, &seen.body))
        );
    }
}

#[test]
fn an_upgrade_to_http2_is_replayed() {
    let dir = TempDir::new("recording").unwrap();
    let peer = RawPeer::start(vec![agreeing(&["two", "three"])]);
    let url = format!("http://127.0.0.1:{}/", peer.port());
    let all = |multi: &Multi| {
        ["one", "two", "three"].map(|body| {
            let (easy, app) = handle(&url);
            long(&easy, O::HttpVersion, CURL_HTTP_VERSION_2_0);
            let seen = run(multi, &easy, &app);
            assert_eq!((seen.code, seen.body.as_slice()), (Code::Ok, body.as_bytes()));
            assert_eq!((seen.status, seen.version), (200, CURL_HTTP_VERSION_2_0));
            seen
        })
    };
    let recorded = all(&recorder(dir.path()));
    assert!(recorded[0].headers.starts_with("HTTP/1.1 101 "), "{}", recorded[0].headers);
    drop(peer);
    assert_eq!(all(&player(dir.path())), recorded);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_record_does_not_make_a_replay_wait() {
    let dir = TempDir::new("recording").unwrap();
    let peer = RawPeer::start(vec![round("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]);
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    assert_eq!(run(&recorder(dir.path()), &easy, &app).code, Code::Ok);
    let exchange = exchanges(&dir).remove(0);
    for name in ["response.body", "response.head"] {
        let path = exchange.join(name);
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(run(&player(dir.path()), &easy, &app).code, Code::CouldntConnect);
        let message = easy.state().message().to_owned();
        assert!(message.contains(name) && message.contains("is not a regular file"), "{message}");
    }
}

#[test]
fn what_is_not_recorded_is_refused() {
    let dir = TempDir::new("recording").unwrap();
    let peer = RawPeer::start(vec![round("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]);
    let base = format!("http://127.0.0.1:{}", peer.port());
    let (easy, app) = handle(&format!("{base}/a"));
    assert_eq!(run(&recorder(dir.path()), &easy, &app).code, Code::Ok);
    let accepts = peer.accepts();
    let multi = player(dir.path());
    let folder = dir.path().display();
    for (url, wanted) in [
        (
            format!("{base}/b"),
            format!("the record {folder} has no GET {base}/b; it has 1 exchange: GET {base}/a"),
        ),
        (format!("{base}/a"), String::new()),
        (format!("{base}/a"), format!("the record {folder} has GET {base}/a once, and all were replayed")),
        (format!("dict{}/x", &base[4..]), "DICT is not recorded: only HTTP and FTP are replayed".to_owned()),
    ] {
        let (easy, app) = handle(&url);
        let seen = run(&multi, &easy, &app);
        let code = if wanted.is_empty() { Code::Ok } else { Code::CouldntConnect };
        assert_eq!(seen.code, code, "{url}");
        let message = easy.state().message().to_owned();
        assert!(message.eq_ignore_ascii_case(&wanted), "{message}");
    }
    assert_eq!(peer.accepts(), accepts, "the peer is there, and a replay does not connect to it");
}

#[test]
fn an_exchange_that_was_not_completed_is_not_replayed() {
    let dir = TempDir::new("recording").unwrap();
    let peer = RawPeer::start(vec![round("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]);
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    assert_eq!(run(&recorder(dir.path()), &easy, &app).code, Code::Ok);
    let complete = exchanges(&dir).remove(0);
    // As a process leaves it that is killed before it has written everything.
    let name = complete.file_name().unwrap().to_str().unwrap();
    fs::rename(&complete, dir.path().join(format!(".{name}.part"))).unwrap();
    let seen = run(&player(dir.path()), &easy, &app);
    assert_eq!(seen.code, Code::CouldntConnect);
    let message = easy.state().message().to_owned();
    let wanted = "has no exchange, and GET http://";
    assert!(message.contains(wanted) && message.ends_with("; 1 exchange not completed"), "{message}");
}

#[test]
fn a_dead_connection_is_no_exchange() {
    let dir = TempDir::new("recording").unwrap();
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    // The second request on the first connection gets no reply.
    let first = [round(ok), vec![expect("\r\n\r\n"), Step::Finish]].concat();
    let peer = RawPeer::start(vec![first, round(ok)]);
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    let multi = recorder(dir.path());
    for _ in 0..2 {
        assert_eq!(run(&multi, &easy, &app).code, Code::Ok);
    }
    assert_eq!(exchanges(&dir).len(), 2);
    drop(peer);
    let multi = player(dir.path());
    for _ in 0..2 {
        let seen = run(&multi, &easy, &app);
        assert_eq!((seen.code, seen.body.as_slice()), (Code::Ok, &b"ok"[..]));
    }
}

#[test]
fn ftp_is_replayed() {
    let dir = TempDir::new("recording").unwrap();
    let server = FtpServer::with_file("/dir/file", pattern(100_000));
    let urls =
        ["/dir/file", "/dir/", "/dir/new", "/dir/file", "/none", "/dir/file"].map(|path| server.url(path));
    let all = |multi: &Multi| -> Vec<Seen> {
        let run = |(number, url): (usize, &String)| {
            let (easy, app) = handle(&url.replace("ftp://", "ftp://me:hidden@"));
            match number {
                2 => {
                    *app.upload.borrow_mut() = pattern(5_000);
                    long(&easy, O::Upload, 1);
                }
                3 => long(&easy, O::NoBody, 1),
                _ => {}
            }
            run(multi, &easy, &app)
        };
        urls.iter().enumerate().map(run).collect()
    };
    let recorded = all(&recorder(dir.path()));
    let codes: Vec<Code> = recorded.iter().map(|seen| seen.code).collect();
    assert_eq!(codes[..4], [Code::Ok; 4], "{recorded:?}");
    assert_ne!(codes[4], Code::Ok);
    assert_eq!((codes[5], recorded[5].body.len()), (Code::Ok, 100_000));
    let dialogue = fs::read_to_string(exchanges(&dir)[0].join("dialogue.txt")).unwrap();
    assert!(dialogue.contains("> PASS (redacted)\r\n") && !dialogue.contains("hidden"), "{dialogue}");
    assert_eq!(fs::read(exchanges(&dir)[2].join("data-1.sent")).unwrap(), pattern(5_000));
    drop(server);
    for (number, (replayed, recorded)) in all(&player(dir.path())).iter().zip(&recorded).enumerate() {
        assert_eq!(replayed, recorded, "{number}: {}", urls[number]);
    }
    // A program that begins elsewhere logs in with a connection that the record logged in before.
    let (easy, app) = handle(&urls[5].replace("ftp://", "ftp://me:hidden@"));
    let multi = player(dir.path());
    for _ in 0..2 {
        let seen = run(&multi, &easy, &app);
        assert!(seen.code == Code::Ok && seen.body == pattern(100_000), "{seen:?}");
    }
}
