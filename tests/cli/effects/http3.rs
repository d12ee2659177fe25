//! HTTP/3 with caddy, which is quic-go underneath.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::{Ran, curl_in, ran, tool, write};
use crate::empty_folder;
use testkit::certs::Authority;
use testkit::dns::{A, DnsAnswer, NameServer, address};
use testkit::launch::{Http2Kind, Http2Server};

struct Site {
    server: Http2Server,
    authority: Authority,
}

impl Site {
    fn start(kind: Http2Kind) -> Site {
        let authority = Authority::new();
        let server = Http2Server::start(kind, &authority.good(), &[10, 300_000]).unwrap();
        Site { server, authority }
    }

    fn run(&self, words: &[&str]) -> Ran {
        let folder = empty_folder();
        std::fs::write(folder.join("ca.pem"), self.authority.ca_pem()).unwrap();
        curl_in(folder, &[&["-s", "-S", "-g", "--cacert", "ca.pem", "--max-time", "20"], words].concat())
    }
}

const WRITE_OUT: [&str; 4] =
    ["-o", "out", "-w", "%{http_version} %{response_code} %{num_connects} %{size_download}\\n"];

// covers: --http3-only, --http3
#[test]
fn one_connection_serves_many_requests() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let (small, large) = (site.server.https("/bytes-10"), site.server.https("/bytes-300000"));
    for flag in ["--http3-only", "--http3"] {
        let more = ["-o", "out2", small.as_str(), "-o", "out3", &large];
        let ran = site.run(&[&[flag], &WRITE_OUT[..], &[&large], &more[..]].concat());
        let lines: Vec<_> = ran.stdout.lines().collect();
        assert_eq!(lines, ["3 200 1 300000", "3 200 0 10", "3 200 0 300000"], "{flag}: {}", ran.stderr);
    }
    let ran = site.run(&["--http3-only", "-I", &small]);
    assert!(ran.stdout.starts_with("HTTP/3 200 \r\n"), "{}", ran.stdout);
    let ran = site.run(&["--http3-only", "-r", "2-4", &small]);
    assert_eq!(ran.stdout.len(), 3, "{}", ran.stderr);
}

#[test]
fn a_timeline_names_streams() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let url = site.server.https("/bytes-10");
    let outputs = ["-o", "a", "-o", "b", "-o", "c", "--timeline", "run.svg"];
    let ran = site.run(&[&["-Z", "--http3-only"], &outputs[..], &[&url, &url, &url]].concat());
    let picture = ran.file("run.svg");
    let place = if picture.contains("#0 to ::1: ") { "::1" } else { "127.0.0.1" };
    assert!(picture.contains(&format!("#0 to {place}: 3 transfers, ")), "{}: {picture}", ran.stderr);
    for stream in [0, 4, 8] {
        assert!(picture.contains(&format!("<title>stream {stream}: {url}</title>")), "{picture}");
    }
}

// covers: --http3-only, --verbose
#[test]
fn verbose_mode_reports_each_stream() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let url = site.server.https("/bytes-10");
    let ran = site.run(&["-v", "--http3-only", "-A", "me/1", "-o", "one", &url, "-o", "two", &url]);
    let authority = url.strip_prefix("https://").unwrap().strip_suffix("/bytes-10").unwrap();
    for stream in [0, 4] {
        let opened = format!("* [HTTP/3] [{stream}] OPENED stream for {url}\n");
        let fields = [
            ":method: GET",
            ":scheme: https",
            &format!(":authority: {authority}"),
            ":path: /bytes-10",
            "user-agent: me/1",
            "accept: */*",
        ];
        let lines = fields.map(|field| format!("* [HTTP/3] [{stream}] [{field}]\n")).concat();
        assert!(ran.stderr.contains(&(opened + &lines)), "{stream}: {}", ran.stderr);
    }
    assert!(ran.stderr.contains("* using HTTP/3\n"), "{}", ran.stderr);
}

// covers: --http3-only
#[test]
fn uploads_leave_whole() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let body = "0123456789".repeat(50_000);
    let folder = empty_folder();
    std::fs::write(folder.join("body"), &body).unwrap();
    let path = folder.join("body");
    let ran = site.run(
        &[&["--http3-only", "-T", path.to_str().unwrap()], &WRITE_OUT[..], &[&site.server.https("/up")]]
            .concat(),
    );
    assert!(ran.stdout.starts_with("3 "), "{} {}", ran.stdout, ran.stderr);
    let asked = site.server.origin.requests();
    let upload = asked.iter().find(|request| request.path() == "/up").expect("it came through");
    assert_eq!(upload.body.len(), body.len());
    assert_eq!(&upload.body[..], body.as_bytes());
}

// covers: --http3, --http3-only
#[test]
fn http3_falls_back_without_quic_and_http3_only_fails() {
    let site = Site::start(Http2Kind::Nginx);
    let url = site.server.https("/bytes-10");
    let ran = site.run(&[&["--http3"], &WRITE_OUT[..], &[&url]].concat());
    assert_eq!(ran.stdout, "2 200 1 10\n", "{}", ran.stderr);
    assert_eq!(site.run(&["--http3-only", "--connect-timeout", "3", &url]).code, 7);
    let ran = site.run(&["--http3-only", "http://localhost/"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (3, "curl: (3) HTTP/3 requested for non-HTTPS URL\n"));
    let ran = site.run(&["--http3-only", "-x", "http://localhost:1/", &url]);
    assert_eq!((ran.code, ran.stdout.as_str()), (7, ""), "by a proxy that is not there: {}", ran.stderr);
}

/// The keys of a connection go to one file, its events to another, named by the connection's ID; and the TLS
/// parameters are logged as for any connection.
// covers: --http3-only
#[test]
fn keys_and_events_are_logged_to_their_files() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let folder = empty_folder();
    write(&folder, "ca.pem", site.authority.ca_pem());
    let logs = folder.join("logs");
    std::fs::create_dir(&logs).unwrap();
    let url = site.server.https("/bytes-300000");
    let mut command = Command::new(tool());
    command.args([
        "-4",
        "-sS",
        "-v",
        "--http3-only",
        "--cacert",
        "ca.pem",
        "--max-time",
        "20",
        "-o",
        "out",
        &url,
    ]);
    command.env("SSLKEYLOGFILE", folder.join("keys")).env("QLOGDIR", &logs);
    let ran = ran(&mut command, folder.clone());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("SSL connection using TLSv1.3 / TLS_AES_128_GCM_SHA256 / X25519"),
        "{}",
        ran.stderr
    );
    let keys = std::fs::read_to_string(folder.join("keys")).unwrap();
    for label in ["CLIENT_HANDSHAKE_TRAFFIC_SECRET ", "SERVER_TRAFFIC_SECRET_0 "] {
        assert_eq!(keys.lines().filter(|line| line.starts_with(label)).count(), 1, "{keys}");
    }
    let files: Vec<_> = std::fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    let name = file.file_name().unwrap().to_str().unwrap().strip_suffix(".sqlog").unwrap();
    assert!(name.len() >= 8 && name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    let log = std::fs::read_to_string(file).unwrap();
    let records: Vec<&str> = log.split('\u{1e}').collect();
    assert_eq!(records[0], "");
    assert!(records[1..].iter().all(|record| record.starts_with('{') && record.ends_with("}\n")), "{log}");
    for event in ["\"JSON-SEQ\"", "datagrams_sent", "datagrams_received", "recovery:metrics_updated"] {
        assert!(log.contains(event), "{event}: {log}");
    }
    let received: usize = records.iter().filter(|record| record.contains("datagrams_received")).count();
    assert!(received > 1, "{log}");
}

/// Encrypted Client Hello works over QUIC, too; if it is required and nothing was published, the transfer
/// fails.
// covers: --http3-only, --ech
#[test]
fn encrypted_client_hello() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let url = site.server.https("/bytes-10");
    let grease = site.run(&["--http3-only", "-v", "--ech", "grease", &url]);
    assert_eq!((grease.code, grease.stdout.len()), (0, 10), "{}", grease.stderr);
    assert!(grease.stderr.contains("ECH: result: status is sent GREASE"), "{}", grease.stderr);
    let tried = site.run(&["--http3-only", "--ech", "true", &url]);
    assert_eq!((tried.code, tried.stdout.len()), (0, 10), "{}", tried.stderr);
    let hard = site.run(&["--http3-only", "--ech", "hard", &url]);
    assert_eq!(hard.code, 35, "{}", hard.stderr);
}

/// CVE-2025-13034, CVE-2025-4947: a pinned key counts over QUIC, too, and so does the name where the host is
/// an address.
// covers: --http3-only, --pinnedpubkey
#[test]
fn the_certificate_is_judged_as_always() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let url = site.server.https("/bytes-10");
    let pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    assert_eq!(site.run(&["--http3-only", "--pinnedpubkey", pin, &url]).code, 90);
    let others = Site { server: site.server, authority: Authority::new() };
    assert_eq!(others.run(&["--http3-only", &url]).code, 60, "another authority");
    assert_eq!(others.run(&["--http3-only", "-k", &url]).stdout.len(), 10, "nobody asks");
    let authority = Authority::new();
    let leaf = authority.for_names(&["localhost"]);
    let named = Site { server: Http2Server::start(Http2Kind::CaddyQuic, &leaf, &[10]).unwrap(), authority };
    let url = named.server.https("/bytes-10");
    let address = url.replace("localhost", "127.0.0.1");
    assert_ne!(url, address);
    assert_eq!(named.run(&["--http3-only", &url]).stdout.len(), 10, "the name that is in it");
    assert_eq!(named.run(&["--http3-only", &address]).code, 60, "an address that is not");
}

/// CVE-2026-9545: a stored session of one server sends nothing to another one in its place before that has
/// proved its identity.
#[test]
fn a_stored_session_sends_nothing_to_another_server() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let impostor = Site::start(Http2Kind::CaddyQuic);
    let way = |to: &Site| {
        let url = to.server.https("");
        format!("localhost:443:localhost:{}", url.rsplit(':').next().unwrap_or_default())
    };
    // The session that the impostor itself gave, while nobody asked who it was.
    let to = way(&impostor);
    let first = ["-k", "--http3-only", "--connect-to", &to, "https://localhost/bytes-10", "-o", "out"];
    let second = ["--next", "-s", "--http3-only", "--cacert", "ca.pem", "--tls-earlydata"];
    let secret = ["--connect-to", &to, "-d", "secret", "https://localhost/"];
    let ran = site.run(&[&first[..], &second, &secret].concat());
    assert_eq!(ran.code, 60, "{}", ran.stderr);
    assert_eq!(impostor.server.origin.requests().len(), 0, "the impostor was trusted");
    // The session that the server gave.
    let ran = site.run(&[
        "--http3-only",
        "--connect-to",
        &way(&site),
        "https://localhost/bytes-10",
        "-o",
        "out",
        "--next",
        "-s",
        "--http3-only",
        "--cacert",
        "ca.pem",
        "--tls-earlydata",
        "--connect-to",
        &way(&impostor),
        "-d",
        "secret",
        "https://localhost/",
    ]);
    assert_eq!(ran.code, 60, "{}", ran.stderr);
    assert_eq!(impostor.server.origin.requests().len(), 0, "the impostor was asked something");
}

/// A server that announces HTTP/3 for itself is reached by QUIC the next time, if that is allowed: TCP is
/// tried beside it, and serves if there is no answer.
// covers: --alt-svc, --http3, --http2
#[test]
fn alt_svc_leads_to_http3() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let url = site.server.https("/bytes-10");
    let port = url.trim_end_matches("/bytes-10").rsplit(':').next().unwrap();
    let folder = empty_folder();
    let file = folder.join("altsvc").display().to_string();
    let run = |words: &[&str]| site.run(&[&["--alt-svc", &file], words, &WRITE_OUT, &[&url]].concat());
    assert_eq!(run(&[]).stdout, "2 200 1 10\n");
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.contains(&format!("h2 localhost {port} h3 localhost {port} \"")), "{kept}");
    let ran = run(&[]);
    assert_eq!(ran.stdout, "3 200 1 10\n", "{}", ran.stderr);
    assert_eq!(run(&["--http2"]).stdout, "2 200 1 10\n");
    assert_eq!(run(&["--http1.1"]).stdout, "1.1 200 1 10\n");
    // An open connection is reused; the announcement affects new ones.
    let fresh = folder.join("fresh").display().to_string();
    let ran = site.run(&[&["--alt-svc", &fresh], &WRITE_OUT[..], &[&url, "-o", "out2", &url]].concat());
    assert_eq!(ran.stdout, "2 200 1 10\n2 200 0 10\n", "{}", ran.stderr);
    let elsewhere = Site::start(Http2Kind::Nginx);
    let there = elsewhere.server.https("/bytes-10");
    let port_there = there.trim_end_matches("/bytes-10").rsplit(':').next().unwrap();
    let line = |to: &str| format!("h2 localhost {port_there} h3 localhost {to} \"20991231 00:00:00\" 0 0\n");
    std::fs::write(&file, line(port_there)).unwrap();
    let ran = elsewhere.run(&[&["--alt-svc", &file], &WRITE_OUT[..], &[&there]].concat());
    assert_eq!(ran.stdout, "2 200 1 10\n", "{}", ran.stderr);
    // An alternative host is trusted with the origin's certificate, and the origin is not used any more.
    std::fs::write(&file, line(port)).unwrap();
    let ran = elsewhere.run(&[&["--alt-svc", &file], &WRITE_OUT[..], &[&there]].concat());
    assert_eq!(ran.code, 60, "{}", ran.stderr);
    let ran = elsewhere.run(&[&["-k", "--alt-svc", &file], &WRITE_OUT[..], &[&there]].concat());
    assert_eq!(ran.stdout, "3 200 1 10\n", "{}", ran.stderr);
}

/// A session is left when a name moves, here that of --connect-to.
#[test]
fn a_session_follows_its_name() {
    let site = Site::start(Http2Kind::CaddyQuic);
    let url = site.server.https("/bytes-10");
    let port = url.trim_end_matches("/bytes-10").rsplit(':').next().unwrap();
    let place = format!("localhost:{port}:a.example:{port}");
    for (version, flag) in [("2", "--http2"), ("3", "--http3-only")] {
        let has_moved = AtomicBool::new(false);
        let dns = NameServer::start(move |asked| match asked.kind {
            A if has_moved.swap(true, SeqCst) => address(A, "127.0.0.2"),
            A => DnsAnswer::Lasting(1, Box::new(address(A, "127.0.0.1"))),
            _ => DnsAnswer::Records(Vec::new()),
        });
        let servers = dns.address().to_string();
        let words =
            [flag, "--follow-names", "--rate", "40/m", "--dns-servers", &servers, "--connect-to", &place];
        let output = ["-o", "out", "-w", "%{http_version} %{num_connects} %{remote_ip}\\n", &url];
        let ran = site.run(&[&words[..], &output, &["-o", "out2", &url, "-o", "out3", &url]].concat());
        let wanted = ["1 127.0.0.1", "1 127.0.0.2", "0 127.0.0.2"].map(|line| format!("{version} {line}\n"));
        assert_eq!(ran.stdout, wanted.concat(), "{}", ran.stderr);
    }
}
