//! Runs the programs of docs/guide/examples on the built library: C, C++, PHP, Perl and Python.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use testkit::ftp::FtpServer;
use testkit::http::HttpServer;
use testkit::left_out;

use super::common::{Scratch, compile, library, root};

/// The lines of a program whose second request used the connection of the first.
const REUSED: &str = "1000 bytes, new connections: 1\n1000 bytes, new connections: 0\n";

fn example(name: &str) -> String {
    root().join("docs/guide/examples").join(name).display().to_string()
}

/// Runs a program with the pool on; returns its standard output.
fn output(command: &mut Command) -> String {
    command.env("LD_LIBRARY_PATH", library()).env("WARMWIRE_POOL", "process").stdin(Stdio::null());
    let output = testkit::needs::output(command);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a script that needs a module; without it the test is left out.
fn script(program: &str, has_module: &[&str], name: &str) {
    let has = testkit::needs::output(Command::new(program).args(has_module));
    if !has.status.success() {
        left_out(format!("{program} lacks the module for curl"));
    }
    let server = HttpServer::plain();
    let shown = output(Command::new(program).arg(example(name)).arg(server.url("/bytes/1000")));
    assert_eq!(shown, REUSED);
    assert_eq!(server.accepts(), 1, "one connection served both requests");
}

#[test]
fn php() {
    script("php", &["-r", "exit(function_exists('curl_init') ? 0 : 1);"], "get.php");
}

#[test]
fn perl() {
    script("perl", &["-MWWW::Curl::Easy", "-e1"], "get.pl");
}

#[test]
fn pycurl() {
    script("/usr/bin/python3", &["-c", "import pycurl"], "get.py");
}

/// Compiles the program whose uploads continue.
pub fn upload_program() -> (Scratch, std::path::PathBuf) {
    compiled("upload.c")
}

fn compiled(name: &str) -> (Scratch, std::path::PathBuf) {
    let scratch = Scratch::new(&format!("guide-{name}"));
    let include = format!("-I{}", root().join("include").display());
    let library = format!("-L{}", library().display());
    let program = compile(Path::new(&example(name)), &scratch.0, &["-Wall", "-Werror", &include, &library]);
    (scratch, program)
}

#[test]
fn c() {
    let (_scratch, program) = compiled("get.c");
    let server = HttpServer::plain();
    assert_eq!(output(Command::new(program).arg(server.url("/bytes/1000"))), REUSED);
    assert_eq!(server.accepts(), 1, "one connection served both requests");
}

#[test]
fn cplusplus_polls_ftp_servers() {
    let (_scratch, program) = compiled("poll.cpp");
    let servers = [0; 2].map(|_| FtpServer::with_file("/state", vec![b'x'; 2048]));
    let shown = output(Command::new(program).args(servers.iter().map(|server| server.url("/state"))));
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[1..], ["2048 bytes, idle connections: 2"; 3]);
    // A server may read QUIT after the program's end.
    let have_quit = || servers.iter().all(|server| server.logins() == 1 && server.quits() == 1);
    let later = || {
        std::thread::sleep(Duration::from_millis(10));
        false
    };
    let seen = (0..500).any(|_| have_quit() || later());
    assert!(seen, "{shown}");
}
