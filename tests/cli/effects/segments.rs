//! `--segments`, `--mirror` and `--metalink4`.

use super::{Ran, clean, curl, curl_in, folder_with, ran, shell_with_mounts, write};
use crate::{empty_folder, run, tool};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::ftp::FtpServer;
use testkit::http::{After, HttpServer, Request, Response, ranged};
use testkit::launch::{Nginx, Sshd};

const SIZE: usize = 9_000_001;

fn body() -> Arc<Vec<u8>> {
    static BODY: std::sync::OnceLock<Arc<Vec<u8>>> = std::sync::OnceLock::new();
    BODY.get_or_init(|| Arc::new(pattern(SIZE))).clone()
}

/// A server of the file; `change` is applied to its n-th answer.
fn server(
    tag: &'static str,
    change: impl Fn(usize, &Request, Response) -> Response + Send + Sync + 'static,
) -> HttpServer {
    let (body, count) = (body(), AtomicUsize::new(0));
    HttpServer::with(move |request| {
        let answer = ranged(request, body.to_vec());
        let answer = if tag.is_empty() { answer } else { answer.with("ETag", tag) };
        Some(change(count.fetch_add(1, Ordering::SeqCst), request, answer))
    })
}

fn good(tag: &'static str) -> HttpServer {
    server(tag, |_, _, answer| answer)
}

fn fetch(server: &HttpServer, words: &[&str]) -> Ran {
    curl(&[words, &["-o", "f", &server.url("/f")]].concat())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn is_whole(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(std::fs::read(ran.folder.join("f")).unwrap() == *body());
    assert!(!names(&ran.folder).iter().any(|name| name.contains(".part")), "{:?}", names(&ran.folder));
}

/// Checks that no file of that name exists.
fn failed(ran: &Ran, code: i32, why: &str) {
    assert_eq!(ran.code, code, "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("curl: ({code}) {why}")), "{}", ran.stderr);
    assert!(!ran.folder.join("f").exists());
}

/// Warnings without the ends of their lines.
fn unwrapped(ran: &Ran) -> String {
    ran.stderr.replace("\nWarning: ", "")
}

fn asked(server: &HttpServer) -> Vec<(usize, usize)> {
    let range = |request: Request| {
        let (from, to) = request.field("Range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some((from.parse().ok()?, to.parse().ok()?))
    };
    server.requests().into_iter().filter_map(range).collect()
}

fn sum() -> String {
    let folder = empty_folder();
    std::fs::write(folder.join("f"), &*body()).unwrap();
    let out = run("sha256sum", &["f"], &folder);
    String::from_utf8_lossy(&out.stdout).split(' ').next().unwrap().to_owned()
}

#[test]
fn pieces_over_several_connections() {
    let one = good("\"a\"");
    is_whole(&fetch(&one, &["--segments", "4"]));
    let mut ranges = asked(&one);
    assert_eq!(ranges[0], (0, (1 << 20) - 1));
    assert!(one.accepts() > 1 && one.accepts() <= 5, "{}", one.accepts());
    ranges.sort_unstable();
    let mut end = 0;
    for (from, to) in ranges {
        assert!(from <= end, "a gap before {from}");
        end = end.max(to + 1);
    }
    assert_eq!(end, SIZE);
    assert!(one.requests()[1..].iter().all(|request| request.field("If-Range") == Some("\"a\"")));
    is_whole(&fetch(&good("\"a\""), &["--segments", "auto"]));
    let written = fetch(&good("\"a\""), &["--segments", "2", "-w", "%{response_code} %{filename_effective}"]);
    assert_eq!(written.stdout, "206 f");
    // A short file takes one request.
    let leaf = Authority::new().good();
    let nginx = Nginx::start(&leaf, &[SIZE, 10]).unwrap();
    for url in [
        nginx.http(&format!("/bytes-{SIZE}")),
        nginx.https(&format!("/bytes-{SIZE}")).replace("localhost", "127.0.0.1"),
    ] {
        is_whole(&curl(&["-k", "--segments", "3", "-o", "f", &url]));
    }
    let short = curl(&["--segments", "3", "-o", "f", &nginx.http("/bytes-10")]);
    assert!(
        short.code == 0 && std::fs::read(short.folder.join("f")).unwrap() == pattern(10),
        "{}",
        short.stderr
    );
}

#[test]
fn a_resource_without_ranges_or_validators_comes_in_one_piece() {
    // No ranges, nothing that identifies the version, an empty file.
    let no_ranges = HttpServer::with(|_| Some(Response::ok(body().to_vec()).with("ETag", "\"a\"")));
    is_whole(&fetch(&no_ranges, &["--segments", "4"]));
    assert_eq!(no_ranges.served(), 1);
    let unmarked = good("");
    is_whole(&fetch(&unmarked, &["--segments", "4"]));
    assert_eq!(unmarked.last_request().unwrap().field("Range"), None);
    let empty = HttpServer::with(|request| Some(ranged(request, Vec::new()).with("ETag", "\"a\"")));
    let ran = fetch(&empty, &["--segments", "4"]);
    assert!(ran.code == 0 && std::fs::read(ran.folder.join("f")).unwrap().is_empty(), "{}", ran.stderr);
    // With a checksum pieces can be verified.
    let unmarked = good("");
    is_whole(&fetch(&unmarked, &["--segments", "4", "--checksum", &format!("sha256={}", sum())]));
    assert!(asked(&unmarked).len() > 4);
    let ran = fetch(&HttpServer::plain(), &["--segments", "4", "--mirror", "http://127.0.0.1:1/"]);
    failed(&ran, 22, "The requested URL returned error: 404");
    assert!(names(&ran.folder).is_empty());
}

#[test]
fn a_file_that_changes_is_never_mixed() {
    let changes = |n: usize, request: &Request| {
        let tag = if n < 3 { "\"a\"" } else { "\"b\"" };
        let body = if n < 3 { body().to_vec() } else { vec![b'x'; SIZE] };
        let same = request.field("If-Range").is_none_or(|known| known == tag);
        let answer = if same { ranged(request, body) } else { Response::ok(body) };
        answer.with("ETag", tag)
    };
    let honest = server("", move |n, request, _| changes(n, request));
    failed(&fetch(&honest, &["--segments", "3"]), 33, "The file has changed since f.part was started");
    let careless = server("", move |n, request, _| {
        let tag = if n < 3 { "\"a\"" } else { "\"b\"" };
        ranged(request, body().to_vec()).with("ETag", tag)
    });
    failed(&fetch(&careless, &["--segments", "3"]), 33, "The file has changed since f.part was started");
    let longer = server("", |n, request, answer| match n {
        0..3 => answer.with("ETag", "\"a\""),
        _ => ranged(request, pattern(SIZE + 1)).with("ETag", "\"a\""),
    });
    failed(&fetch(&longer, &["--segments", "3"]), 33, "The file has changed since f.part was started");
}

#[test]
fn ranges_that_are_ignored_shifted_or_short() {
    let shifted = server("\"a\"", |n, request, mut answer| {
        if n > 2 {
            let (from, to) = range_of(request);
            answer.fields.retain(|(name, _)| name != "Content-Range");
            return answer.with("Content-Range", format!("bytes {}-{}/{SIZE}", from - 1, to - 1));
        }
        answer
    });
    failed(&fetch(&shifted, &["--segments", "3"]), 33, "The server sends another part than requested");
    let ignored = server("\"a\"", |n, _, answer| match n {
        0..3 => answer,
        _ => Response::ok(body().to_vec()).with("ETag", "\"a\""),
    });
    failed(
        &fetch(&ignored, &["--segments", "3"]),
        33,
        "The server sends the whole file instead of the requested part",
    );
    // Cut again and again, refused now and then: it comes all the same.
    let cut = server("\"a\"", |n, _, answer| match n % 4 {
        1 => Response { cut_at: Some(200_000), after: After::Reset, ..answer },
        2 => Response { cut_at: Some(300_000), after: After::Cut, ..answer },
        3 => Response::status(503),
        _ => answer,
    });
    is_whole(&fetch(&cut, &["--segments", "3"]));
}

fn range_of(request: &Request) -> (usize, usize) {
    let (from, to) = request.field("Range").unwrap().strip_prefix("bytes=").unwrap().split_once('-').unwrap();
    (from.parse().unwrap(), to.parse().unwrap())
}

#[test]
fn mirrors() {
    let slowly = |_: usize, _: &Request, answer: Response| Response {
        drip: Some((100_000, Duration::from_millis(5))),
        ..answer
    };
    let (one, two) = (server("\"a\"", slowly), server("\"a\"", slowly));
    is_whole(&fetch(&one, &["--segments", "4", "--mirror", &two.url("/g")]));
    assert!(one.served() > 1 && two.served() > 1, "{} {}", one.served(), two.served());
    // A different ETag is accepted only with a checksum.
    let (one, other) = (server("\"a\"", slowly), server("\"b\"", slowly));
    let mirror = other.url("/g");
    let ran = fetch(&one, &["--no-silent", "--no-progress-meter", "--segments", "4", "--mirror", &mirror]);
    is_whole(&ran);
    assert!(unwrapped(&ran).contains("Cannot verify that its file is the same"), "{}", ran.stderr);
    let checksum = format!("sha256={}", sum());
    let before = other.served();
    is_whole(&fetch(
        &server("\"a\"", slowly),
        &["--segments", "4", "--mirror", &mirror, "--checksum", &checksum],
    ));
    assert!(other.served() > before + 1);
    // The first one may be missing.
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    is_whole(&curl(&["--segments", "2", "-o", "f", "--mirror", &mirror, &gone]));
}

#[test]
fn mirrors_that_lie() {
    let lying = HttpServer::with(|request| Some(ranged(request, vec![b'x'; SIZE]).with("ETag", "\"b\"")));
    let slowly = server("\"a\"", |_, _, answer| Response {
        drip: Some((100_000, Duration::from_millis(5))),
        ..answer
    });
    let checksum = format!("sha256={}", sum());
    let words = ["--segments", "4", "--checksum", &checksum, "--mirror", &lying.url("/")];
    let ran = fetch(&slowly, &words);
    failed(&ran, 56, "Checksum mismatch: sha256 is ");
    assert!(names(&ran.folder).is_empty(), "{:?}", names(&ran.folder));
    for (bad, why) in [
        (
            HttpServer::with(|request| Some(ranged(request, vec![b'x'; SIZE + 1]))),
            "Its file has another size",
        ),
        (HttpServer::with(|_| Some(Response::ok("all of it"))), "The server sends the whole file"),
        (HttpServer::with(|_| Some(Response::status(404))), "The requested URL returned error: 404"),
    ] {
        let words =
            ["--no-silent", "--no-progress-meter", "--segments", "4", "--checksum", &checksum, "--mirror"];
        let ran = fetch(&slowly, &[&words[..], &[&bad.url("/")]].concat());
        is_whole(&ran);
        assert!(unwrapped(&ran).contains(why), "{}", ran.stderr);
    }
}

/// CVE-2021-22923, of mirrors that curl does not have any more.
#[test]
fn no_mirror_receives_credentials() {
    let (one, two) = (good("\"a\""), good("\"a\""));
    let words = [
        "--segments",
        "4",
        "-u",
        "me:secret",
        "-b",
        "c=secret",
        "-H",
        "X-Token: secret",
        "-e",
        "http://secret/",
    ];
    is_whole(&fetch(&one, &[&words[..], &["--mirror", &two.url("/g")]].concat()));
    assert!(one.requests().iter().all(|request| request.field("Authorization").is_some()));
    let heard: Vec<Request> = two.requests();
    assert!(!heard.is_empty());
    for request in heard {
        let head = String::from_utf8_lossy(&request.head).into_owned();
        assert!(!head.contains("secret") && request.field("Authorization").is_none(), "{head}");
    }
}

/// CVE-2021-22923: hosts that a Metalink names, including the first one, receive nothing that identifies the
/// user.
#[test]
fn no_host_of_a_metalink_receives_credentials() {
    let slowly = |answer: Response| Response { drip: Some((100_000, Duration::from_millis(5))), ..answer };
    let third = server("\"a\"", move |_, _, answer| slowly(answer));
    let link = format!("<{}>; rel=duplicate; pri=1", third.url("/f"));
    let first = server("\"a\"", move |_, _, answer| slowly(answer).with("Link", link.clone()));
    let second = server("\"a\"", move |_, _, answer| slowly(answer));
    let urls = [&first, &second].map(|host| format!("<url>{}</url>", host.url("/f"))).concat();
    let folder = folder_with("m.meta4", &metalink(&format!("<file name=\"f\">{urls}</file>")));
    write(&folder, "netrc", "machine 127.0.0.1 login secret password secret\n");
    write(&folder, "jar", "Set-Cookie: secret=secret; domain=127.0.0.1; path=/\n");
    let givens: [&[&str]; 9] = [
        &["-u", "secret:secret"],
        &["--netrc-file", "netrc"],
        &["--oauth2-bearer", "secret"],
        &["-b", "c=secret"],
        &["-b", "jar", "-c", "jar"],
        &["-H", "Authorization: secret", "-H", "X-Token: secret", "--proxy-header", "X-Key: secret"],
        &["-e", "http://secret:secret@h/"],
        &["--url-query", "token=secret"],
        &["-G", "-d", "token=secret"],
    ];
    for given in givens {
        let ran = curl_in(
            folder.clone(),
            &[given, &["--segments", "6", "--metalink4", "m.meta4", "--clobber"]].concat(),
        );
        is_whole(&ran);
    }
    for host in [&first, &second, &third] {
        assert!(!host.requests().is_empty());
        for request in host.requests() {
            let head = String::from_utf8_lossy(&request.head).to_ascii_lowercase();
            for word in ["secret", "authorization", "cookie", "referer", "?"] {
                assert!(!head.contains(word), "{word}: {head}");
            }
        }
    }
    // The user's own URL beside them gets the credentials.
    let own = good("\"a\"");
    let url = own.url("/g");
    let ran = curl_in(folder, &["-u", "me:pw", "--metalink4", "m.meta4", "--clobber", "-o", "g", &url]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(own.requests().iter().all(|request| request.field("Authorization").is_some()));
    assert!(std::fs::read(ran.folder.join("g")).unwrap() == *body());
}

fn metalink(files: &str) -> String {
    format!("<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">{files}</metalink>")
}

/// CVE-2020-8177, of names that a document chooses instead of a server.
#[test]
fn a_metalinks_name_overwrites_nothing() {
    let one = good("\"a\"");
    let document =
        |name: &str| metalink(&format!("<file name=\"{name}\"><url>{}</url></file>", one.url("/f")));
    let folder = folder_with("f", "the user's");
    write(&folder, "m.meta4", &document("f"));
    let ran = curl_in(folder.clone(), &["--metalink4", "m.meta4"]);
    assert_eq!((ran.code, ran.file("f").as_str()), (23, "the user's"), "{}", ran.stderr);
    assert!(ran.stderr.contains("curl: (23) f exists, and a Metalink overwrites no file"));
    assert_eq!(names(&folder), ["f", "m.meta4"]);
    assert_eq!(one.served(), 0);
    // A link that leads nowhere is there, too.
    std::fs::remove_file(folder.join("f")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("f")).unwrap();
    assert_eq!(curl_in(folder.clone(), &["--metalink4", "m.meta4"]).code, 23);
    // The user may permit it: overwriting, or that name.
    let ran = curl_in(folder.clone(), &["--metalink4", "m.meta4", "--clobber"]);
    is_whole(&ran);
    write(&folder, "f", "the user's");
    for words in [&["-o", "g", "--metalink4", "m.meta4"][..], &["--metalink4", "m.meta4", "-o", "g"]] {
        let first = words[0] == "-o";
        let ran = curl_in(folder.clone(), words);
        assert_eq!((ran.code, ran.file("f").as_str()), (if first { 0 } else { 23 }, "the user's"));
    }
    // A URL of the user keeps its position for outputs.
    let ran = curl_in(folder.clone(), &[&one.url("/f"), "--metalink4", "m.meta4", "-o", "h"]);
    assert_eq!((ran.code, ran.file("f").as_str()), (23, "the user's"), "{}", ran.stderr);
    assert!(std::fs::read(folder.join("h")).unwrap() == *body());
    for name in [".netrc", "a/.bashrc", "..", "-", "_curlrc"] {
        write(&folder, "m.meta4", &document(name));
        let ran = curl_in(folder.clone(), &["--metalink4", "m.meta4"]);
        assert_eq!(ran.code, 2, "{name}: {}", ran.stderr);
    }
    write(&folder, "m.meta4", &metalink("<file name=\"x\"><url>file:///etc/passwd</url></file>"));
    let ran = curl_in(folder.clone(), &["--metalink4", "m.meta4"]);
    assert!(ran.code == 2 && !folder.join("x").exists(), "{}", ran.stderr);
}

#[test]
fn mirrors_that_the_server_names() {
    let two = good("\"a\"");
    let link = format!("<{}>; rel=duplicate; pri=1, </other>; rel=next", two.url("/g"));
    let one = server("\"a\"", move |_, _, answer| Response {
        drip: Some((100_000, Duration::from_millis(5))),
        ..answer.with("Link", link.clone())
    });
    is_whole(&fetch(&one, &["--segments", "4"]));
    assert!(two.served() > 0);
    let before = two.served();
    is_whole(&fetch(&one, &[]));
    assert_eq!(two.served(), before, "only when asked");
}

/// CVE-2021-22922: a mismatch with a Metalink's hash is an error.
#[test]
fn metalinks() {
    let (one, two) = (good("\"a\""), good("\"b\""));
    let document = |sum: &str| {
        format!(
            "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"../f\"><hash type=\"sha-256\">{sum}</hash>\
             <url priority=\"2\">{}</url><url priority=\"1\">{}</url></file></metalink>",
            two.url("/f"),
            one.url("/f")
        )
    };
    let folder = folder_with("m.meta4", &document(&sum()));
    let ran = curl_in(folder.clone(), &["--metalink4", "m.meta4"]);
    is_whole(&ran);
    assert!(one.served() > 0);
    std::fs::remove_file(folder.join("f")).unwrap();
    write(&folder, "m.meta4", &document(&"0".repeat(64)));
    failed(&curl_in(folder.clone(), &["--metalink4", "m.meta4"]), 56, "Checksum mismatch");
    assert!(!folder.join("f").exists());
    write(&folder, "m.meta4", "<html/>");
    let ran = curl_in(folder, &["--metalink4", "m.meta4"]);
    assert!(
        ran.code == 2 && ran.stderr.starts_with("curl: m.meta4 is not a Metalink of version 4\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn ftp_and_sftp() {
    let ftp = FtpServer::with_file("/f", body().to_vec());
    is_whole(&curl(&["--segments", "3", "-o", "f", &ftp.url("/f")]));
    assert!(
        ftp.commands().iter().filter(|line| line.starts_with("REST")).count() > 3,
        "{:?}",
        ftp.commands()
    );
    let sshd = Sshd::start("").unwrap();
    let path = sshd.write("file", &*body()).unwrap().display().to_string();
    let key = sshd.path("user_ed25519").display().to_string();
    let words = ["-k", "--key", &key, "--segments", "3", "-w", "%{size_download}", "-o", "f"];
    let ran = curl(&[&words[..], &[&sshd.url("sftp", &path)]].concat());
    is_whole(&ran);
    assert!(ran.stdout.parse::<usize>().unwrap() < SIZE / 2, "one request of several: {}", ran.stdout);
}

/// Runs the tool and kills it after so long; true when it was through before.
fn killed_after(folder: &Path, words: &[&str], time: Duration) -> bool {
    let mut command = Command::new(tool());
    clean(&mut command).arg("-s").args(words).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(time);
    let _ = child.kill(); // SIGKILL
    child.wait().unwrap().success()
}

/// Kills at random moments; in any case the last run has the right bytes, and no byte in the journal is
/// fetched twice.
fn survives(moments: usize) {
    let server =
        server("\"a\"", |_, _, answer| Response { drip: Some((40_000, Duration::from_millis(2))), ..answer });
    let url = server.url("/f");
    let words = ["--segments", "3", "-o", "f", &url];
    // Moments of an undisturbed run, however busy the machine is.
    let began = Instant::now();
    is_whole(&curl(&words));
    let most = began.elapsed().as_millis() as usize + 1;
    let mut dice = testkit::dice::Dice::new(22);
    let (mut folder, mut kills) = (empty_folder(), 0);
    while kills < moments {
        if killed_after(&folder, &words, Duration::from_millis(dice.roll(most) as u64)) {
            assert!(std::fs::read(folder.join("f")).unwrap() == *body());
            folder = empty_folder();
            continue;
        }
        kills += 1;
        // Some of them are followed to the end.
        if kills % 5 == 0 {
            is_whole(&curl_in(folder.clone(), &words));
            folder = empty_folder();
        }
    }
    is_whole(&curl_in(folder, &words));
    // After any random choice, a started download is resumed.
    let ran = curl_in(begun(&server), &[&["--no-silent", "--no-progress-meter"], &words[..]].concat());
    assert!(ran.stderr.contains("Resumes f.part: "), "{}", ran.stderr);
    is_whole(&ran);
}

#[test]
fn killed_at_any_moment_it_goes_on() {
    survives(20);
}

#[test]
#[ignore = "long; a part of make test-deep"]
fn killed_at_two_hundred_moments_it_goes_on() {
    survives(200);
}

/// A folder with a file that was begun.
fn begun(server: &HttpServer) -> PathBuf {
    begun_at(&server.url("/f"))
}

fn begun_at(url: &str) -> PathBuf {
    let folder = empty_folder();
    let began = Instant::now();
    while !folder.join("f.part.journal").exists()
        || std::fs::read_to_string(folder.join("f.part.journal")).is_ok_and(|text| !text.contains("done"))
    {
        assert!(began.elapsed() < Duration::from_secs(60));
        killed_after(
            &folder,
            &["--segments", "2", "-o", "f", "--limit-rate", "4M", url],
            Duration::from_millis(700),
        );
    }
    folder
}

#[test]
fn journals_that_are_damaged_or_foreign() {
    let server = good("\"a\"");
    let whole = begun(&server);
    let [journal, part] = ["f.part.journal", "f.part"].map(|name| std::fs::read(whole.join(name)).unwrap());
    let with = |journal: Option<&[u8]>, part: &[u8], url: &str| {
        let folder = empty_folder();
        journal
            .into_iter()
            .for_each(|journal| std::fs::write(folder.join("f.part.journal"), journal).unwrap());
        std::fs::write(folder.join("f.part"), part).unwrap();
        let ran = curl_in(folder.clone(), &["--segments", "2", "-o", "f", url]);
        if ran.code != 0 {
            assert!(std::fs::read(folder.join("f.part")).unwrap() == part, "nothing is lost");
        }
        ran
    };
    let url = server.url("/f");
    is_whole(&with(Some(&journal), &part, &url));
    // Killed after the part was renamed, with the journal still there.
    is_whole(&with(Some(&journal), b"", &url));
    failed(
        &with(Some(&journal[..journal.len() / 2]), &part, &url),
        23,
        "f.part.journal is damaged, or not a journal",
    );
    failed(&with(Some(b"\xff\xfe"), &part, &url), 23, "f.part.journal is damaged, or not a journal");
    failed(&with(None, b"something of the user's", &url), 23, "f.part exists without its journal");
    failed(&with(Some(&journal), &part[..10], &url), 23, "f.part is shorter than f.part.journal says");
    failed(&with(Some(&journal), &part, &server.url("/g")), 23, "f.part is of another URL, http://");
    // The file is another one by now.
    let changed = self::server("\"b\"", |_, request, answer| match request.field("If-Range") {
        Some("\"b\"") | None => answer,
        Some(_) => Response::ok(body().to_vec()).with("ETag", "\"b\""),
    });
    let text = String::from_utf8(journal).unwrap();
    let old = text.lines().find(|line| line.starts_with("key ")).unwrap();
    let urls = folder_with("url", &changed.url("/f"));
    let key = String::from_utf8_lossy(&run("sha256sum", &["url"], &urls).stdout)[..64].to_owned();
    let lines = text.replace(old, &format!("key {key}"));
    let lines = &lines[..lines.rfind("sum ").unwrap()];
    let folder = folder_with("j", lines);
    let sum = String::from_utf8_lossy(&run("sha256sum", &["j"], &folder).stdout)[..16].to_owned();
    let signed = format!("{lines}sum {sum}\n");
    failed(
        &with(Some(signed.as_bytes()), &part, &changed.url("/f")),
        33,
        "The file has changed since f.part was started",
    );
}

/// A run leaves no password behind, and its files are private.
#[test]
fn a_journal_keeps_secrets() {
    let server = good("\"a\"");
    let folder = begun_at(&server.url("/f?token=secret").replace("//", "//me:secret@"));
    let about = std::fs::metadata(folder.join("f.part.journal")).unwrap();
    assert_eq!(about.mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(folder.join("f.part.journal")).unwrap();
    let hex: String = "secret".bytes().map(|byte| format!("{byte:02x}")).collect();
    assert!(!text.contains("secret") && !text.contains(&hex), "{text}");
    // Another login asks for the same file.
    let url = server.url("/f?token=secret").replace("//", "//you:other@");
    let ran = curl_in(folder, &["--no-silent", "--no-progress-meter", "--segments", "2", "-o", "f", &url]);
    assert!(ran.stderr.contains("Resumes f.part: "), "{}", ran.stderr);
    is_whole(&ran);
}

/// In a directory that others may write to, another user has prepared what looks like a partial download.
#[cfg_attr(not(root), ignore = "left out: it takes two users, and so root")]
#[test]
fn a_partial_download_of_another_user_is_not_resumed() {
    let server = good("\"a\"");
    let url = server.url("/f");
    let whole = begun(&server);
    let laid = |name: &str| {
        let folder = empty_folder();
        for file in ["f.part", "f.part.journal"] {
            std::fs::copy(whole.join(file), folder.join(file)).unwrap();
        }
        std::os::unix::fs::chown(folder.join(name), Some(65534), None).unwrap();
        let ran = curl_in(folder, &["--segments", "2", "-o", "f", &url]);
        failed(&ran, 23, "Failed to ");
        assert!(ran.stderr.contains("It belongs to another user"), "{}", ran.stderr);
    };
    laid("f.part.journal");
    laid("f.part");
}

#[test]
fn links_in_the_place_of_a_part_lead_nowhere() {
    let server = good("\"a\"");
    let url = server.url("/f");
    let with = |name: &str, link: fn(&Path, &Path)| {
        let folder = folder_with("precious", "");
        link(&folder.join("precious"), &folder.join(name));
        let ran = curl_in(folder, &["--segments", "2", "-o", "f", &url]);
        assert_eq!(ran.file("precious"), "", "{name}");
        ran
    };
    let symbolic = |from: &Path, to: &Path| std::os::unix::fs::symlink(from, to).unwrap();
    let hard = |from: &Path, to: &Path| std::fs::hard_link(from, to).unwrap();
    failed(&with("f.part", symbolic), 23, "Failed to open f.part: It is a symbolic link");
    failed(&with("f.part", hard), 23, "Failed to open f.part: The file has other hard links");
    let ran = with("f.part.journal", symbolic);
    assert!(ran.code == 23 && ran.stderr.contains("It is a symbolic link"), "{}", ran.stderr);
    // A file that a killed process may have left is removed, not written to.
    is_whole(&with("f.part.journal.new", symbolic));
    is_whole(&with("f.part.journal.new", hard));
}

#[test]
fn a_second_process_refuses_a_file_in_progress() {
    let slow = server("\"a\"", |_, _, answer| Response {
        drip: Some((10_000, Duration::from_millis(20))),
        ..answer
    });
    let folder = empty_folder();
    let url = slow.url("/f");
    let mut command = Command::new(tool());
    clean(&mut command)
        .args(["-s", "--segments", "2", "-o", "f", &url])
        .current_dir(&folder)
        .stdin(Stdio::null());
    let mut first = command.spawn().unwrap();
    let began = Instant::now();
    while !folder.join("f.part.journal").exists() {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
    let second = curl_in(folder, &["--segments", "2", "-o", "f", &url]);
    let _ = (first.kill(), first.wait());
    failed(&second, 23, "f.part is being fetched by another process");
}

#[test]
fn a_disk_that_is_full() {
    let server = good("\"a\"");
    let script = format!(
        "mount -t tmpfs -o size=3m none d && cd d && {} --no-progress-meter --segments 2 -o f {}; code=$?; ls; exit $code",
        tool(),
        server.url("/f")
    );
    let folder = empty_folder();
    std::fs::create_dir(folder.join("d")).unwrap();
    let full = ran(&mut shell_with_mounts(&script), folder);
    assert_eq!(full.code, 23, "{}", full.stderr);
    assert!(
        full.stderr.contains("curl: (23) Failed writing the part file: No space left on device"),
        "{}",
        full.stderr
    );
    assert!(full.stderr.contains(" bytes are kept in f.part; run the same command"), "{}", full.stderr);
    assert_eq!(full.stdout, "f.part\nf.part.journal\n");
}

#[test]
fn segments_refuse_conflicting_flags() {
    for (words, why) in [
        (&["-C", "-"][..], "--continue-at"),
        (&["-r", "1-2"], "--range"),
        (&["-d", "x"], "a method other than GET"),
        (&["-i"], "--show-headers"),
        (&["--mirror", "http://x/", "http://127.0.0.1:1/", "-o", "g"], "--mirror of several URLs"),
    ] {
        let ran = curl(&[&["--segments", "2", "-o", "f", "http://127.0.0.1:1/"], words].concat());
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("--segments can't be combined with") && ran.stderr.contains(why),
            "{}",
            ran.stderr
        );
    }
    let ran = curl(&["--segments", "2", "http://127.0.0.1:1/"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (2, "curl: --segments needs a file to write to, see --output\n")
    );
    let ran = curl(&["--mirror", "http://127.0.0.1:1/", "-o", "f", "file:///etc/hostname"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (2, "curl: --mirror can't be combined with this scheme\n"),
        "--mirror speaks of itself"
    );
    let ran = curl(&["-Z", "--segments", "2", "-o", "f", "http://127.0.0.1:1/"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}

/// Renaming over a device would remove it, and a pipe's reader would never see the end.
#[test]
fn segments_refuse_a_target_that_is_no_regular_file() {
    let server = good("pipe");
    let folder = empty_folder();
    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let ran = curl_in(folder, &["--segments", "2", "-o", "pipe", &server.url("/f")]);
    assert_eq!(ran.code, 23, "{}", ran.stderr);
    assert!(unwrapped(&ran).contains("is not a regular file, which segments need"), "{}", ran.stderr);
    assert!(!std::fs::metadata(&pipe).unwrap().is_file());
}
