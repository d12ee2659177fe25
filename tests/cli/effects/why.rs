//! `--why` and `%{why}`.

use std::process::Command;
use std::time::Duration;

use super::{Ran, curl, curl_in, empty_folder, folder_with, namespace_flags, ran, shell_with_mounts, tool};
use crate::run;
use testkit::certs::Authority;
use testkit::dns::{A, DnsAnswer, NameServer, address};
use testkit::http::{HttpServer, Response};
use testkit::launch::{Echo, StreamEchoKind};

#[test]
fn tells_why_a_connection_is_new_or_reused() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/10");
    let ran = curl(&["--why", "-s", "-o", "a", "-o", "b", &url, &url]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("\n  time        ").count(), 2, "{}", ran.stderr);
    assert!(ran.stderr.contains(" is new: this handle has no open connection there\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains(" reused: "), "{}", ran.stderr);
}

#[test]
fn json_is_one_line_for_each_transfer_and_has_no_secret() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/10").replace("http://", "http://me:secret@");
    let ran = curl(&["--why=json", "-s", "-b", "name=secret", "-o", "a", "-o", "b", &url, &url]);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ran.stderr);
    assert!(lines.iter().all(|line| line.starts_with('{') && line.ends_with('}')), "{}", ran.stderr);
    assert!(lines[0].contains("\"event\":\"connection-new\""), "{}", ran.stderr);
    assert!(lines[1].contains("\"event\":\"connection-reused\""), "{}", ran.stderr);
    assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
}

/// jq reads the array, the server knows how long it waited, and curl's own variables have the sums.
// covers: --write-out
#[test]
fn each_redirect_has_its_times() {
    let delays = [120, 60, 0];
    let server = HttpServer::with(move |request| {
        let number: usize = request.path()[1..].parse().unwrap();
        let answer = match number {
            2 => Response::ok("end"),
            _ => Response::status(302).with("Location", format!("/{}", number + 1)),
        };
        Some(Response { delay: Duration::from_millis(delays[number]), ..answer })
    });
    let words = ["-L", "-o", "f", &server.url("/0")];
    let ran = curl(&[&["-w", "%{requests}\n%{time_redirect} %{time_total}"], &words[..]].concat());
    let (array, sums) = ran.stdout.split_once('\n').unwrap();
    std::fs::write(ran.folder.join("array"), array).unwrap();
    let filter = ".[] | \"\\(.status) \\(.url) \\(.from_ms) \\(.to_ms) \\([.stages[].ms] | add)\"";
    let rows = run("jq", &["-r", filter, "array"], &ran.folder);
    let rows = String::from_utf8(rows.stdout).unwrap();
    let rows: Vec<Vec<&str>> = rows.lines().map(|line| line.split(' ').collect()).collect();
    let number = |text: &str| text.parse::<f64>().unwrap();
    assert_eq!(rows.len(), delays.len(), "{array}");
    for (at, (row, delay)) in rows.iter().zip(delays).enumerate() {
        assert_eq!((row[0], row[1]), (if at == 2 { "200" } else { "302" }, &*server.url(&format!("/{at}"))));
        let (from, to, stages) = (number(row[2]), number(row[3]), number(row[4]));
        assert!(to - from >= delay as f64 && (to - from - stages).abs() < 1.0, "{array}");
        assert!(at == 0 || (from - number(rows[at - 1][3])).abs() < 1.0, "one follows the other: {array}");
    }
    let (redirect, total) = sums.split_once(' ').unwrap();
    assert!((number(rows[2][2]) - number(redirect) * 1000.0).abs() < 1.0, "{array} {sums}");
    assert!((number(rows[2][3]) - number(total) * 1000.0).abs() < 1.0, "{array} {sums}");
    // Among all variables it is an array, too, if the reasons are kept.
    let ran = curl(&[&["--why", "-w", "%{json}"], &words[..]].concat());
    std::fs::write(ran.folder.join("all"), &ran.stdout).unwrap();
    let count = run("jq", &["-r", ".requests | length", "all"], &ran.folder);
    assert_eq!(String::from_utf8_lossy(&count.stdout), "3\n", "{}", ran.stdout);
}

/// Node as the server, which sends 103 over HTTP/1.1 and HTTP/2.
#[test]
fn early_hints_are_shown_with_their_targets() {
    let authority = Authority::new();
    let server = Echo::secured(StreamEchoKind::Node, &authority.good()).unwrap();
    let folder = folder_with("ca.pem", authority.ca_pem());
    let url = server.url("/hints").replace("wss://", "https://");
    for (version, name) in [("--http1.1", "1.1"), ("--http2", "2.0")] {
        let ran = curl_in(folder.clone(), &["--why", "--cacert", "ca.pem", version, &url]);
        assert_eq!((ran.code, &*ran.stdout), (0, name), "{}", ran.stderr);
        let line = "\n  early       103 early hints (RFC 8297) before the reply: /style.css, /app.js\n";
        assert!(ran.stderr.contains(line), "{}", ran.stderr);
    }
}

#[test]
fn a_failure_is_explained_and_a_wrong_format_refused() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = curl(&["--why", "-s", &format!("http://{free}/")]);
    assert_eq!(ran.code, 7);
    assert!(ran.stderr.contains(&format!("  address     {free} failed after ")), "{}", ran.stderr);
    let ran = curl(&["--why=xml", "-s", "http://127.0.0.1/"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}

/// Verbose lines do not change, and nothing is printed without the flag.
// covers: --write-out
#[test]
fn write_out_has_the_reasons() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/10");
    let ran = curl(&["-s", "-o", "a", "-w", "%{why}", &url]);
    assert!(ran.stdout.starts_with("GET http://"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n  connection  #0 to "), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
    let plain = curl(&["-s", "-o", "a", "-w", "%{json}", &url]);
    assert!(!plain.stdout.contains("\"why\""), "{}", plain.stdout);
}

/// A handshake says which certificates it trusted, and why it was a full one; a failure, which certificate
/// was refused.
// covers: --cacert
#[test]
fn handshakes_name_their_certificates_and_sessions() {
    let (authority, stranger, folder) = (Authority::new(), Authority::new(), empty_folder());
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    for (name, authority) in [("ca.pem", &authority), ("other.pem", &stranger)] {
        std::fs::write(folder.join(name), authority.ca_pem()).unwrap();
    }
    let url = format!("https://localhost:{}/bytes/10", server.address().port());
    let run = |words: &[&str]| {
        let always = ["--why", "--no-keepalive", "-H", "Connection: close", "-o", "a", "-o", "b", &url, &url];
        curl_in(folder.clone(), &[words, &always].concat()).stderr
    };
    let good = run(&["--cacert", "ca.pem"]);
    let full = ", a full handshake (no session was known); certificate verified against ca.pem\n";
    assert!(good.contains(full), "{good}");
    assert!(good.contains(", a resumed session; certificate verified against ca.pem\n"), "{good}");
    let uncached = run(&["--cacert", "ca.pem", "--no-sessionid"]);
    let full = ", a full handshake (CURLOPT_SSL_SESSIONID_CACHE is off); ";
    assert_eq!(uncached.matches(full).count(), 2, "{uncached}");
    let refused = run(&["--cacert", "other.pem"]);
    let (_, line) = refused.split_once("localhost: its certificate (").expect(&refused);
    let line = line.lines().next().unwrap_or_default();
    assert!(line.contains("; issued by ") && line.contains(") was refused: "), "{refused}");
    assert!(line.ends_with("(20); checked against other.pem"), "{refused}");
}

/// A look-up names its source: the hosts file, or the servers that were asked.
// covers: --dns-servers
#[test]
fn names_have_their_source() {
    let (server, folder) = (HttpServer::plain(), empty_folder());
    let port = server.address().port();
    std::fs::write(folder.join("hosts"), "127.0.0.1 own.test\n").unwrap();
    let run = |words: &[&str], host: &str| {
        let mut command = shell_with_mounts("mount --bind hosts /etc/hosts && exec \"$@\"");
        command.args(["sh", tool(), "-sS", "--why", "-o", "a"]).args(words);
        ran(command.arg(format!("http://{host}:{port}/bytes/10")), folder.clone()).stderr
    };
    let from_file = run(&[], "own.test");
    assert!(from_file.contains("  name        own.test: 1 A record from the hosts file\n"), "{from_file}");
    let names = NameServer::start(|asked| match asked.kind {
        A => address(A, "127.0.0.1"),
        _ => DnsAnswer::Code(3),
    });
    let servers = names.address().to_string();
    let asked = run(&["--dns-servers", &servers], "asked.test");
    let wanted = format!("  name        asked.test: 1 A record from {servers} (CURLOPT_DNS_SERVERS) in ");
    assert!(asked.contains(&wanted), "{asked}");
}

/// Uploads a file over a real TCP connection whose round trip takes 40 ms, from a send buffer of this size.
fn uploaded(send_buffer: &str) -> Ran {
    let folder = empty_folder();
    std::fs::write(folder.join("file"), vec![0; 2_000_000]).unwrap();
    let mut command = Command::new("unshare");
    command.arg(namespace_flags("n")).arg("python3");
    command.arg(super::super::here().join("delayed_upload.py")).args(["20", send_buffer]).arg(tool());
    command.args(["-sS", "--why", "-H", "Expect:", "-T", "file", "-w", "%{time_total}", "{url}"]);
    let ran = ran(command.env("WARMWIRE_REPORT", "stderr"), folder);
    if let Some(refused) = ran.stderr.lines().find(|line| line.contains("'/dev/net/tun'")) {
        testkit::left_out(refused);
    }
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran
}

/// The report promises what a larger buffer saves, within 25 %.
#[test]
fn a_send_buffer_that_is_too_small_for_the_link_is_found() {
    let (small, large) = (uploaded("65536"), uploaded("8388608"));
    let seconds = |ran: &Ran| ran.stdout.parse::<f64>().unwrap();
    assert!(small.stderr.contains(" because the send buffer held no more\n"), "{}", small.stderr);
    let finding = "10.9.0.2:8080: 1 uploads waited because the send buffer held no more; about ";
    let (_, promise) = small.stderr.split_once(finding).unwrap_or_else(|| panic!("{}", small.stderr));
    let (promise, _) = promise.split_once(" s lost\n").unwrap_or_else(|| panic!("{}", small.stderr));
    let (promised, saved) = (promise.parse::<f64>().unwrap(), seconds(&small) - seconds(&large));
    assert!((0.75..=1.25).contains(&(promised / saved)), "promised {promised} s, saved {saved} s");
    assert!(!large.stderr.contains("send buffer"), "{}", large.stderr);
}
