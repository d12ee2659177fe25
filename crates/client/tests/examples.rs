//! The examples, run as their first lines say.

use std::path::PathBuf;
use std::process::Command;

use testkit::ftp::FtpServer;
use testkit::http::HttpServer;
use testkit::raw::RawPeer;
use testkit::temp::TempDir;

/// Returns an example's output. Cargo builds the examples with the tests.
fn example(name: &str, words: &[&str]) -> String {
    let tests = std::env::current_exe().unwrap();
    let program: PathBuf = tests.parent().and_then(|deps| deps.parent()).unwrap().join("examples").join(name);
    assert!(
        program.exists(),
        "{} is not built: cargo test builds it, --test alone does not",
        program.display()
    );
    let output = Command::new(program).args(words).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn get_parallel_and_form() {
    let server = HttpServer::plain();
    let (small, large) = (server.url("/bytes/10"), server.url("/bytes/100000"));
    example("get", &[&small]);
    let output = example("parallel", &[&small, &large]);
    assert!(output.contains("100000 bytes in") && output.lines().count() == 2, "{output}");
    let folder = TempDir::new("examples").unwrap();
    folder.write("file.txt", "content").unwrap();
    let file = folder.path().join("file.txt").display().to_string();
    example("form", &[&server.url("/body"), &file]);
    let body = String::from_utf8(server.last_request().unwrap().body).unwrap();
    assert!(body.contains("good day") && body.contains("content"), "{body}");
    example("upload", &[&file, &server.url("/body")]);
    assert_eq!(server.last_request().unwrap().body, b"content");
}

#[test]
fn download() {
    let folder = TempDir::new("examples").unwrap();
    let file = folder.path().join("saved").display().to_string();
    let server = HttpServer::plain();
    let output = example("download", &[&server.url("/bytes/500000"), &file, "-", &server.url("/bytes/1")]);
    assert!(output.starts_with("500000 bytes, 500000 of them now"), "{output}");
    assert!(std::fs::read(&file).unwrap() == testkit::body::pattern(500_000));
}

#[test]
fn async_parallel() {
    let server = HttpServer::plain();
    let refused = format!("http://127.0.0.1:{}/", RawPeer::refused_port());
    let (small, gone) = (server.url("/redirect/2"), server.url("/gzip/5000"));
    let output = example("async_parallel", &[&small, &gone, &refused]);
    assert!(output.contains(&format!("{small}: 200 OK HTTP/1.1, 8 bytes in")), "{output}");
    assert!(output.contains(&format!("{gone}: 200 OK HTTP/1.1, 5000 bytes in")), "{output}");
    assert!(output.contains(&format!("{refused}: Connect after Resolved: (7) ")), "{output}");
}

#[test]
fn async_download() {
    let folder = TempDir::new("examples").unwrap();
    let file = folder.path().join("saved").display().to_string();
    let server = HttpServer::plain();
    let output = example("async_download", &[&server.url("/bytes/500000"), &file]);
    assert!(output.starts_with("500000 bytes from http://"), "{output}");
    assert!(std::fs::read(&file).unwrap() == testkit::body::pattern(500_000));
    let server = FtpServer::with_file("/file", "by ftp");
    example("async_download", &[&server.url("/file"), &file]);
    assert_eq!(std::fs::read(&file).unwrap(), b"by ftp");
}

#[test]
fn async_upload() {
    let folder = TempDir::new("examples").unwrap();
    let bytes = testkit::body::pattern(300_000);
    folder.write("file", &bytes).unwrap();
    let server = HttpServer::plain();
    let file = folder.path().join("file").display().to_string();
    let output = example("async_upload", &[&file, &server.url("/sum")]);
    assert!(output.starts_with("200 OK 300000 "), "{output}");
    assert!(server.last_request().unwrap().body == bytes);
}

#[test]
fn async_gets() {
    let server = HttpServer::plain();
    for words in [&["get"][..], &["parallel"], &["parallel", "thread"]] {
        let url = server.url("/bytes/1000");
        let words: Vec<&str> = [&words[..1], &[&url, "200"], &words[1..]].concat();
        let output = example("async_gets", &words);
        assert!(output.trim_end().ends_with(" 1000"), "{output}");
    }
}
