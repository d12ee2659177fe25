//! Name look-ups, seen by a replaced getaddrinfo (`preload/lookups.c`), and files that must not be opened too
//! early.

use std::process::Command;

use testkit::http::HttpServer;

use super::{case, ours};
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        case("stuck-names-do-not-delay-others", stuck),
        ours("simultaneous-look-ups-are-one", one_call),
        case("looked-up-names-are-remembered", remembered),
        ours("ca-file-opened-late-and-once", ca_file),
    ]
}

/// Runs `fetch` with the counting getaddrinfo; also returns the names that were looked up.
fn fetch(run: &Context, label: &str, arguments: &[&str]) -> (Output, Vec<String>) {
    let record = run.world.directory.path().join(format!("lookups-{label}-{}", run.subject.name()));
    let mut command = Command::new(run.world.program("fetch"));
    command.args(arguments).env("LD_PRELOAD", run.world.program("lookups.so")).env("LOOKUPS", &record);
    let output = run.run(&mut command);
    let names = std::fs::read_to_string(&record).unwrap_or_default();
    (output, names.lines().map(String::from).collect())
}

// covers: curl_multi_poll
fn stuck(run: &Context) {
    let server = HttpServer::plain();
    let url = |name: &str| format!("http://{name}:{}/bytes/10", server.port());
    let urls = [url("stuck1"), url("stuck2"), url("stuck3"), url("stuck4"), url("name5")];
    for way in ["poll", "event"] {
        let arguments: Vec<&str> = ["-w", way].into_iter().chain(urls.iter().map(String::as_str)).collect();
        let (output, _) = fetch(run, way, &arguments);
        assert_eq!(output.facts("code"), ["0"; 5], "{output:?}");
        let times: Vec<i64> =
            output.facts("total_ms").iter().map(|time| time.parse().expect("a number")).collect();
        assert!(times[4] < 1000 && times[0] >= 3000, "{way}: {times:?} ms");
    }
}

/// Calls for a name: we ask for each family apart.
fn calls(run: &Context) -> usize {
    if run.ours() { 2 } else { 1 }
}

fn one_call(run: &Context) {
    let server = HttpServer::plain();
    let (output, names) =
        fetch(run, "one", &["-w", "poll", "-n", "20", &format!("http://slow1:{}/bytes/10", server.port())]);
    assert_eq!(
        (output.facts("code"), names),
        (vec!["0"; 20], vec!["slow1".to_string(); calls(run)]),
        "{output:?}"
    );
}

// covers: CURLOPT_DNS_CACHE_TIMEOUT, CURLOPT_FRESH_CONNECT
fn remembered(run: &Context) {
    let server = HttpServer::plain();
    let url = format!("http://name1:{}/bytes/10", server.port());
    let (output, names) = fetch(run, "remembered", &["-n", "5", "-o", "FRESH_CONNECT=1", &url]);
    assert_eq!(
        (output.facts("code"), names.len(), server.accepts()),
        (vec!["0"; 5], calls(run), 5),
        "{names:?}"
    );
    let (_, names) =
        fetch(run, "forgotten", &["-n", "3", "-o", "FRESH_CONNECT=1", "-o", "DNS_CACHE_TIMEOUT=0", &url]);
    assert_eq!(names.len(), 3 * calls(run), "{names:?}");
}

fn ca_file(run: &Context) {
    let opened = |label: &str, arguments: &[&str]| {
        let record = run.world.directory.path().join(format!("opened-{label}"));
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=open,openat", "-o"]).arg(&record).arg(run.world.program("fetch"));
        let output = run.run(command.args(arguments));
        let opens = std::fs::read_to_string(&record).expect("strace wrote what it saw");
        (opens.lines().filter(|line| line.contains("ca.pem")).count(), output)
    };
    let ca = format!("CAINFO={}", run.world.ca());
    let plain = HttpServer::plain();
    assert_eq!(opened("plain", &["-o", &ca, &plain.url("/bytes/10")]).0, 0, "opened without TLS");
    let port = testkit::raw::RawPeer::refused_port();
    assert_eq!(
        opened("refused", &["-o", &ca, &format!("https://localhost:{port}/")]).0,
        0,
        "opened before a certificate came"
    );
    let server = HttpServer::tls(run.world.authority.good().server_config().expect("a usable pair"));
    let (opens, output) =
        opened("thrice", &["-n", "3", "-o", &ca, "-o", "FRESH_CONNECT=1", &server.url("/bytes/10")]);
    assert_eq!((opens, output.facts("code"), server.accepts()), (1, vec!["0"; 3], 3), "{output:?}");
}
