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
    let told = example("parallel", &[&small, &large]);
    assert!(told.contains("100000 bytes in") && told.lines().count() == 2, "{told}");
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
    let told = example("download", &[&server.url("/bytes/500000"), &file, "-", &server.url("/bytes/1")]);
    assert!(told.starts_with("500000 bytes, 500000 of them now"), "{told}");
    assert!(std::fs::read(&file).unwrap() == testkit::body::pattern(500_000));
}

#[test]
fn async_parallel() {
    let server = HttpServer::plain();
    let refused = format!("http://127.0.0.1:{}/", RawPeer::refused_port());
    let (small, gone) = (server.url("/redirect/2"), server.url("/gzip/5000"));
    let told = example("async_parallel", &[&small, &gone, &refused]);
    assert!(told.contains(&format!("{small}: 200 OK HTTP/1.1, 8 bytes in")), "{told}");
    assert!(told.contains(&format!("{gone}: 200 OK HTTP/1.1, 5000 bytes in")), "{told}");
    assert!(told.contains(&format!("{refused}: Connect after Resolved: (7) ")), "{told}");
}

#[test]
fn async_download() {
    let folder = TempDir::new("examples").unwrap();
    let file = folder.path().join("saved").display().to_string();
    let server = HttpServer::plain();
    let told = example("async_download", &[&server.url("/bytes/500000"), &file]);
    assert!(told.starts_with("500000 bytes from http://"), "{told}");
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
    let told = example("async_upload", &[&file, &server.url("/sum")]);
    assert!(told.starts_with("200 OK 300000 "), "{told}");
    assert!(server.last_request().unwrap().body == bytes);
}

#[test]
fn async_gets() {
    let server = HttpServer::plain();
    for words in [&["get"][..], &["parallel"], &["parallel", "thread"]] {
        let url = server.url("/bytes/1000");
        let words: Vec<&str> = [&words[..1], &[&url, "200"], &words[1..]].concat();
        let told = example("async_gets", &words);
        assert!(told.trim_end().ends_with(" 1000"), "{told}");
    }
}
