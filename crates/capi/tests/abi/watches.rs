//! `warmwire_watch` against real servers: the guide's program in C, and the same text compiled as C++.

use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use testkit::certs::Authority;
use testkit::launch::{Nginx, Vsftpd};

use super::common::{Scratch, compile, library, root};

/// For a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The program with its lines.
struct Program {
    child: Child,
    lines: Receiver<String>,
}

impl Program {
    fn start(program: &Path, time: Duration, urls: &[&str]) -> Program {
        let mut command = Command::new(program);
        command.arg(time.as_millis().to_string()).args(urls).env("LD_LIBRARY_PATH", library());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Program { child, lines }
    }

    /// Waits for a line.
    fn prints(&self, wanted: &str) {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no line {wanted:?}"));
            if line == wanted {
                return;
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Compiles the guide's program, as C++ if that is wanted.
fn program(plus: bool) -> (Scratch, PathBuf) {
    let scratch = Scratch::new(if plus { "watch-plus" } else { "watch" });
    let mut source = root().join("docs/guide/examples/watch.c");
    if plus {
        let copy = scratch.0.join("watch.cpp");
        std::fs::copy(&source, &copy).unwrap();
        source = copy;
    }
    let include = format!("-I{}", root().join("include").display());
    let library = format!("-L{}", library().display());
    let program = compile(&source, &scratch.0, &["-Wall", "-Werror", &include, &library]);
    (scratch, program)
}

#[test]
fn nginx_and_vsftpd_are_watched_in_c_and_cplusplus() {
    let web = Nginx::start(&Authority::new().good(), &[]).unwrap();
    let mut ftp = match Vsftpd::start(&[]) {
        Err(e) if e.kind() == ErrorKind::PermissionDenied => testkit::left_out("vsftpd wants root"),
        server => server.unwrap(),
    };
    let urls = [web.http("/fresh/f"), ftp.url("/f")];
    for plus in [false, true] {
        web.write("fresh/f", "one").unwrap();
        ftp.write("f", "two").unwrap();
        let (_scratch, program) = program(plus);
        let running = Program::start(&program, PATIENCE * 4, &[&urls[0], &urls[1], "nosuch://a/"]);
        let [web_line, ftp_line] = [&urls[0], &urls[1]].map(|url| move |text: &str| format!("{url}: {text}"));
        // Either comes first; a line that is not waited for is passed over.
        let mut first = [running.lines.recv_timeout(PATIENCE).unwrap(), String::new()];
        first[1] = running.lines.recv_timeout(PATIENCE).unwrap();
        first.sort();
        let mut wanted = [web_line("one"), ftp_line("two")];
        wanted.sort();
        assert_eq!(first, wanted);
        web.write("fresh/f", "a new text").unwrap();
        running.prints(&web_line("a new text"));
        ftp.restart().unwrap();
        ftp.write("f", "after a restart").unwrap();
        running.prints(&ftp_line("after a restart"));
    }
}

#[test]
fn a_program_ends_with_its_time_also_if_a_url_fails() {
    let (_scratch, program) = program(false);
    let mut running = Program::start(&program, Duration::from_millis(700), &["ftp://127.0.0.1:1/f"]);
    let line = running.lines.recv_timeout(PATIENCE).unwrap();
    assert!(line.starts_with("ftp://127.0.0.1:1/f: (7) "), "{line}");
    assert_eq!(running.child.wait().unwrap().code(), Some(0));
}
