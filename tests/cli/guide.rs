//! Runs the shell scripts of docs/guide/examples, with the tool under the name `warmwire`.

use crate::{clean, empty_folder, here, tool};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::certs::Authority;
use testkit::http::{HttpServer, Response};

/// Runs a script in an empty folder; returns the folder and the standard output.
fn run(name: &str, server: &HttpServer) -> (PathBuf, String) {
    run_in(empty_folder(), name, &server.url(""))
}

/// Runs a script for a URL in a folder; returns the folder and the standard output.
fn run_in(folder: PathBuf, name: &str, url: &str) -> (PathBuf, String) {
    std::os::unix::fs::symlink(tool(), folder.join("warmwire")).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let script = here().join("../../docs/guide/examples").join(name);
    clean(&mut shell).arg("-e").arg(script).arg(url).env("PATH", path);
    let out = shell.current_dir(&folder).stdin(Stdio::null()).output().unwrap();
    assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    (folder, String::from_utf8(out.stdout).unwrap() + &String::from_utf8(out.stderr).unwrap())
}

fn size(folder: &Path, name: &str) -> u64 {
    std::fs::metadata(folder.join(name)).unwrap().len()
}

#[test]
fn many_files() {
    let (folder, shown) = run("many.sh", &HttpServer::plain());
    assert!((1..=10).all(|n| size(&folder, &format!("part-{n}")) == n));
    assert!(shown.contains("10"), "{shown}");
}

#[test]
fn a_list_of_urls() {
    let (folder, shown) = run("list.sh", &HttpServer::plain());
    assert_eq!(shown, "large.bin: 200\nsmall.bin: 200\n");
    assert_eq!([size(&folder, "small.bin"), size(&folder, "large.bin")], [300, 20_000]);
    assert!((1..=3).all(|n| size(&folder, &format!("part-{n}")) == n));
}

#[test]
fn a_queue() {
    let (folder, shown) = run("queue.sh", &HttpServer::plain());
    assert!(shown.ends_with("3 done, 0 failed, 0 running, 0 waiting\n"), "{shown}");
    assert_eq!(["one", "two", "three"].map(|name| size(&folder, name)), [1000, 2000, 3000]);
}

#[test]
fn a_file_in_segments() {
    let server = HttpServer::plain();
    let (folder, _) = run("checked.sh", &server);
    assert_eq!(size(&folder, "file"), 200_000);
}

#[test]
fn a_cache() {
    let (_, shown) = run("cache.sh", &HttpServer::plain());
    assert_eq!(shown.lines().count(), 2, "{shown}");
}

#[test]
fn times() {
    let (_, shown) = run("times.sh", &HttpServer::plain());
    assert!(shown.ends_with("new connections: 1\n"), "{shown}");
}

#[test]
fn uploads() {
    let server = HttpServer::plain();
    assert_eq!(run("upload.sh", &server).1, "hellohello");
    assert_eq!(server.accepts(), 1);
}

#[test]
fn a_mirror() {
    let server = HttpServer::with(|request| match request.path() {
        "/index.html" => Some(Response::ok("<a href=/page>x</a>").with("Content-Type", "text/html")),
        "/page" => Some(Response::ok("page")),
        _ => None,
    });
    let (folder, _) = run("mirror.sh", &server);
    let copy = folder.join(format!("copy/127.0.0.1+{}", server.address().port()));
    assert_eq!(std::fs::read(copy.join("index.html")).unwrap(), b"<a href=\"page\">x</a>");
    assert_eq!(std::fs::read(copy.join("page")).unwrap(), b"page");
}

#[test]
fn a_watch() {
    let begun = std::time::Instant::now();
    let server = HttpServer::with(move |request| {
        let late = begun.elapsed().as_secs() >= 1;
        (request.path() == "/sum").then(|| testkit::http::Response::ok(if late { "new" } else { "old" }))
    });
    let (folder, _) = run("watch.sh", &server);
    assert_eq!(std::fs::read_to_string(folder.join("state")).unwrap(), "new");
    assert_eq!(std::fs::read_to_string(folder.join("changes")).unwrap(), "changed state\n");
}

/// The page shows the output of the script, but for a serial number.
#[test]
fn a_refused_certificate() {
    let (authority, folder) = (Authority::new(), empty_folder());
    let server = HttpServer::tls(authority.expired().server_config().unwrap());
    std::fs::write(folder.join("ca.pem"), authority.ca_pem()).unwrap();
    let url = format!("https://localhost:{}/", server.address().port());
    let (_, shown) = run_in(folder, "certificate.sh", &url);
    let shown = shown.strip_prefix("exit code 60\n").expect(&shown);
    let page = std::fs::read_to_string(here().join("../../docs/guide/examples/certificate.txt")).unwrap();
    let without_numbers = |text: &str| {
        let cut = |line: &str| line.split_once("; serial number").map_or(line, |(start, _)| start).to_owned();
        text.lines().map(cut).collect::<Vec<_>>()
    };
    assert_eq!(without_numbers(shown), without_numbers(&page), "{shown}");
}

#[test]
fn cookies() {
    assert_eq!(run("cookies.sh", &HttpServer::plain()).1, "session=abc");
}
