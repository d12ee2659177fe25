//! Failing system calls: tests/faults makes every system call of a transfer fail, once and permanently, with
//! each errno that fits. `FAULTS=name` runs one scenario, FAULT_DEPTH sets how many calls of each kind fail
//! in turn.

use std::process::Command;
use std::thread;

use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::ftp::FtpServer;
use testkit::http::HttpServer;
use testkit::launch::{Ftpd, FtpdKind, Http2Kind, Http2Server};

use crate::common::{Scratch, compile, library, programs, root};

const SCENARIOS: [&str; 8] = ["http", "upload", "https", "http2", "many", "ftp", "ftp-upload", "ftp-active"];

#[test]
fn system_calls_fail_and_transfers_go_on() {
    let scratch = Scratch::new("system-faults");
    let sources = programs("faults");
    let [program, shim_source] = sources.as_slice() else { panic!("{sources:?}") };
    let authority = Authority::new();
    let ca = scratch.0.join("ca.pem");
    std::fs::write(&ca, authority.ca_pem()).unwrap();
    let plain = HttpServer::plain();
    let tls = HttpServer::tls(authority.good().server_config().unwrap());
    let nginx = Http2Server::start(Http2Kind::Nginx, &authority.good(), &[1000]).unwrap();
    let ftp = FtpServer::with_file("/dir/file", pattern(2000));
    let ftpd = Ftpd::start(FtpdKind::Vsftpd, &authority.good(), &[2000]).unwrap();
    let include = format!("-I{}", root().join("include").display());
    let library_flag = format!("-L{}", library().display());
    let shim = scratch.0.join("shim.so");
    let made = Command::new("gcc")
        .args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o"])
        .args([&shim, shim_source])
        .arg("-ldl")
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let program = compile(program, &scratch.0, &["-Wall", "-Wextra", "-Werror", &include, &library_flag]);
    let depth = std::env::var("FAULT_DEPTH").unwrap_or_else(|_| "2".to_owned());
    let only = std::env::var("FAULTS").ok();
    let run = &|name: &str| {
        // Every depth must end; the output so far locates a hang.
        let mut command = Command::new("timeout");
        command.args(["1200", "env"]).arg(format!("LD_PRELOAD={}", shim.display())).arg(&program);
        command.env("SERVER", plain.url("")).env("TLS_SERVER", tls.url("")).env("NGINX", nginx.https(""));
        command.env("FTP_SERVER", ftp.url("")).env("FTPD", ftpd.url("")).env("CA", &ca);
        command.env("FAULT_SCENARIO", name).env("FAULT_DEPTH", &depth).env("LD_LIBRARY_PATH", library());
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let report = format!("{name}: {}\n{}", output.status, String::from_utf8_lossy(&text));
        (!output.status.success()).then_some(report)
    };
    let chosen = |name: &&str| only.as_deref().is_none_or(|only| only == *name);
    let failed: Vec<String> = thread::scope(|scope| {
        let running: Vec<_> =
            SCENARIOS.into_iter().filter(chosen).map(|name| scope.spawn(move || run(name))).collect();
        running.into_iter().filter_map(|one| one.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
