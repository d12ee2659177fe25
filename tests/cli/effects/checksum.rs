//! `--checksum`, `--checksum-file` and `--verify-digest`.

use super::{Ran, curl, curl_in, folder_with, write};
use crate::{empty_folder, run};
use std::path::Path;
use testkit::body::pattern;
use testkit::ftp::FtpServer;
use testkit::http::{Framing, HttpServer, Response};

const SIZE: usize = 300_000;

/// Returns what a program of coreutils or another prints about the file, up to the first blank.
fn sum_by(program: &str, words: &[&str], content: &[u8]) -> String {
    let folder = empty_folder();
    std::fs::write(folder.join("f"), content).unwrap();
    let out = run(program, &[words, &["f"]].concat(), &folder);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let sum = text.split_whitespace().last().filter(|_| program == "openssl");
    sum.or(text.split_whitespace().next()).unwrap().to_string()
}

fn failed(ran: &Ran, why: &str) {
    assert_eq!(ran.code, 56, "{}", ran.stderr);
    assert!(ran.stderr.starts_with(&format!("curl: (56) {why}")), "{}", ran.stderr);
}

fn is_there(folder: &Path, name: &str) -> bool {
    folder.join(name).exists()
}

/// CVE-2021-22922, for a feature that curl does not have: a mismatch is an error, and no file is left.
#[test]
fn sums_that_other_programs_compute() {
    let server = HttpServer::plain();
    let url = server.url(&format!("/bytes/{SIZE}"));
    let body = pattern(SIZE);
    let by_openssl = ["md5", "sha1", "sha256", "sha384", "sha512", "sha3-256", "sha3-384", "sha3-512"];
    let mut all: Vec<String> = by_openssl
        .map(|name| format!("{name}={}", sum_by("openssl", &["dgst", &format!("-{name}")], &body)))
        .to_vec();
    all.push(format!("blake3={}", sum_by("b3sum", &[], &body)));
    let ran = curl(&["--checksum", &all.join(","), "-o", "f", &url]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(std::fs::read(ran.folder.join("f")).unwrap(), body);
    for sum in &all {
        let end = if sum.ends_with('0') { "1" } else { "0" };
        let wrong = format!("{}{end}", &sum[..sum.len() - 1]);
        let ran = curl(&["--checksum", &wrong, "-o", "f", "-w", "%{exitcode} %{errormsg}", &url]);
        let (name, digits) = sum.split_once('=').unwrap();
        let text = format!("Checksum mismatch: {name} is {digits}, expected ");
        failed(&ran, &text);
        assert!(ran.stdout.starts_with(&format!("56 {text}")), "{}", ran.stdout);
        assert!(!is_there(&ran.folder, "f"), "{name}");
    }
}

#[test]
fn each_url_is_compared_with_its_own_checksum() {
    let server = HttpServer::plain();
    let [one, two] = [1000, 2000].map(|size| server.url(&format!("/bytes/{size}")));
    let [of_one, of_two] =
        [1000, 2000].map(|size| format!("sha256={}", sum_by("sha256sum", &[], &pattern(size))));
    for mode in ["--no-parallel", "--parallel"] {
        let words = [mode, "-o", "a", "--checksum", &of_one, &one, "-o", "b", "--checksum", &of_two, &two];
        assert_eq!(curl(&words).code, 0);
        let words = [mode, "-o", "a", "--checksum", &of_two, &one, "-o", "b", "--checksum", &of_two, &two];
        let ran = curl(&words);
        assert_eq!((is_there(&ran.folder, "a"), is_there(&ran.folder, "b")), (false, true), "{mode}");
        assert!(ran.stderr.contains("curl: (56) Checksum mismatch: sha256"), "{}", ran.stderr);
    }
}

#[test]
fn files_of_sums() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/1000");
    let folder = folder_with("1000", &String::from_utf8_lossy(&[]));
    std::fs::write(folder.join("1000"), pattern(1000)).unwrap();
    for (program, words) in
        [("sha256sum", &["1000"][..]), ("sha512sum", &["--tag", "1000"]), ("md5sum", &["-b", "1000"])]
    {
        let list = String::from_utf8(run(program, words, &folder).stdout).unwrap();
        write(&folder, "sums", &format!("# not a sum\n{list}"));
        let by_url = ["--checksum-file", "sums", "-o", "other", &url];
        assert_eq!(curl_in(folder.clone(), &by_url).code, 0, "{program}");
        let worse = list.replace("  1000", "  out").replace(" *1000", " *out").replace("(1000)", "(out)");
        write(&folder, "worse", &worse);
        let by_name = ["--checksum-file", "worse", "-o", "out", &url];
        assert_eq!(curl_in(folder.clone(), &by_name).code, 0, "{program}");
        let bad = ["--checksum-file", "worse", "-o", "out", &server.url("/bytes/999")];
        failed(&curl_in(folder.clone(), &bad), "Checksum mismatch: ");
        assert!(!is_there(&folder, "out"));
        let served = server.served();
        let ran = curl_in(folder.clone(), &["--checksum-file", "worse", "-O", &url]);
        assert_eq!((ran.code, ran.stderr.as_str()), (2, "curl: No checksum is listed for 1000\n"));
        assert_eq!(server.served(), served, "nothing is fetched");
    }
    let list = String::from_utf8(run("b3sum", &["1000"], &folder).stdout).unwrap();
    write(&folder, "b3", &list);
    assert_eq!(curl_in(folder.clone(), &["--checksum-file", "blake3=b3", "-o", "x", &url]).code, 0);
    failed(
        &curl_in(folder.clone(), &["--checksum-file", "b3", "-o", "x", &url]),
        "Checksum mismatch: sha256",
    );
    write(&folder, "none", "nothing here\n");
    let ran = curl_in(folder, &["--checksum-file", "none", &url]);
    assert!(ran.code == 2 && ran.stderr.starts_with("curl: No checksums in none\n"), "{}", ran.stderr);
}

/// The whole file is compared, whichever part arrived in this run; and a failed transfer is not a mismatch.
#[test]
fn a_resumed_file_is_compared_as_a_whole() {
    let server = HttpServer::plain();
    let sum = format!("sha256={}", sum_by("sha256sum", &[], &pattern(5000)));
    let resume = |start: &[u8]| {
        let folder = empty_folder();
        std::fs::write(folder.join("f"), start).unwrap();
        curl_in(folder, &["-C", "-", "-o", "f", "--checksum", &sum, &server.url("/bytes/5000")])
    };
    assert_eq!(resume(&pattern(5000)[..1234]).code, 0);
    let ran = resume(&[b'x'; 1234]);
    failed(&ran, "Checksum mismatch");
    assert!(!is_there(&ran.folder, "f"));
    let cut = server.url("/cut/3000/bytes/5000");
    let ran = curl(&["-o", "f", "--checksum", &sum, &cut]);
    assert!(ran.code == 18 && is_there(&ran.folder, "f"), "{}", ran.stderr);
    // A retry starts again, and a mismatch may be retried.
    let retry =
        ["--retry", "1", "--retry-delay", "0.01", "--retry-all-errors", "-o", "f", "--checksum", &sum];
    let ran = curl(&[&retry[..], &[&server.url("/bytes/4000")]].concat());
    assert!(ran.code == 56 && ran.stderr.matches("Checksum mismatch").count() == 2, "{}", ran.stderr);
    let ftp = FtpServer::with_file("/file", "abc");
    let right = "sha1=a9993e364706816aba3e25717850c26c9cd0d89d";
    assert_eq!(curl(&["--checksum", right, &ftp.url("/file")]).text(), "abc");
}

#[test]
fn malformed_checksums_are_refused() {
    for (sum, why) in [
        ("sha256", "A checksum is given as algorithm=sum"),
        ("crc=00", "Unknown checksum algorithm 'crc', known are md5"),
        ("sha256=00", "A sha256 sum has 64 hexadecimal digits"),
    ] {
        let ran = curl(&["--checksum", sum, "http://127.0.0.1:1/"]);
        assert!(ran.code == 2 && ran.stderr.starts_with(&format!("curl: {why}")), "{}", ran.stderr);
    }
}

/// "abc", and its SHA-256 in base64.
const OF_ABC: &str = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:";

#[test]
fn digests_of_the_server() {
    let server = HttpServer::with(|request| {
        let body = if request.path().starts_with("/right") { "abc" } else { "abd" };
        Some(match request.path().rsplit('/').next().unwrap() {
            "repr" => Response::ok(body).with("Repr-Digest", OF_ABC),
            "content" => Response::ok(body).with("Content-Digest", format!("md5=:AAAA:, {OF_ABC}")),
            "unknown" => Response::ok(body).with("Repr-Digest", "sha=:AAAA:"),
            "trailer" => {
                let text = format!(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Repr-Digest\r\n\r\n3\r\n{body}\r\n0\r\nRepr-Digest: {OF_ABC}\r\n\r\n"
                );
                Response::raw(text, testkit::http::After::Keep)
            }
            "part" => Response {
                status: 206,
                framing: Framing::Length,
                ..Response::ok(&body[1..]).with("Content-Range", "bytes 1-2/3").with("Repr-Digest", OF_ABC)
            },
            _ => return None,
        })
    });
    let fetch = |path: &str, words: &[&str]| curl(&[words, &["-o", "f", &server.url(path)]].concat());
    for kind in ["repr", "content", "trailer"] {
        assert_eq!(fetch(&format!("/right/{kind}"), &["--verify-digest"]).code, 0, "{kind}");
        let ran = fetch(&format!("/wrong/{kind}"), &["--verify-digest"]);
        let name = if kind == "content" { "Content-Digest" } else { "Repr-Digest" };
        failed(&ran, &format!("{name} mismatch: sha-256 is "));
        assert!(!is_there(&ran.folder, "f"));
        assert_eq!(fetch(&format!("/wrong/{kind}"), &[]).code, 0, "only when asked");
    }
    assert_eq!(server.last_request().unwrap().field("Want-Repr-Digest"), None);
    assert_eq!(fetch("/wrong/unknown", &["--verify-digest"]).code, 0);
    assert!(server.last_request().unwrap().field("Want-Repr-Digest").unwrap().contains("sha-256"));
    // A part is not the whole file, unless the existing part completes it.
    assert_eq!(fetch("/right/part", &["--verify-digest", "-r", "1-2"]).code, 0);
    let resumed = |start: &str| {
        let words = ["--verify-digest", "-C", "-", "-o", "f", &server.url("/right/part")];
        curl_in(folder_with("f", start), &words)
    };
    assert_eq!(resumed("a").code, 0);
    failed(&resumed("b"), "Repr-Digest mismatch");
}

#[test]
fn a_digest_of_what_is_decoded_is_not_checked_and_that_is_said() {
    let server = HttpServer::with(|request| {
        let decoded = request.field("Accept-Encoding").is_some();
        let coding = if decoded { "gzip" } else { "identity" };
        // "abc" in gzip, whose digest is not that of "abc".
        let gzip =
            [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0x4c, 0x4a, 6, 0, 0xc2, 0x41, 0x24, 0x35, 3, 0, 0, 0];
        let body = if decoded { gzip.to_vec() } else { b"abc".to_vec() };
        Some(Response::ok(body).with("Content-Encoding", coding).with("Repr-Digest", OF_ABC))
    });
    let ran = curl(&[
        "-S",
        "--no-silent",
        "--no-progress-meter",
        "--verify-digest",
        "--compressed",
        &server.url("/"),
    ]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "abc"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("Repr-Digest is not checked: it describes the body before decoding"),
        "{}",
        ran.stderr
    );
    assert_eq!(curl(&["--verify-digest", &server.url("/")]).text(), "abc");
}
