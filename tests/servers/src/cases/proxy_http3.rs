//! Tunnels through third-party proxies: CONNECT and CONNECT for UDP by aioquic over HTTP/3 (--proxy-http3),
//! and the latter by Node over HTTP/2 and HTTP/1.1 (RFC 9298), with HTTP/3 servers behind them.

use std::process::Command;

use testkit::body::pattern;
use testkit::launch::{Http2Kind, Http2Server, QuicKind, QuicServer, TunnelKind, TunnelProxy};
use testkit::temp::TempDir;

use super::{ours, sum};
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        ours("proxy-http3-bytes", bytes),
        ours("proxy-http3-datagrams", |run| datagrams(run, &["datagrams"])),
        ours("proxy-http3-capsules", |run| datagrams(run, &[])),
        ours("proxy-http3-refusals", refusals),
        ours("proxy-http3-pause", paused),
        ours("proxy-udp-http2", |run| by_tcp(run, &["--proxy-http2"])),
        ours("proxy-udp-http1", |run| by_tcp(run, &[])),
    ]
}

const SMALL: usize = 1000;
const LARGE: usize = 1_000_000;

fn aioquic(run: &Context, words: &[&str]) -> TunnelProxy {
    let python = run.world.aioquic();
    let leaf = run.world.authority.good();
    TunnelProxy::start(TunnelKind::Aioquic(&python), &leaf, words).expect("a proxy by aioquic")
}

fn origin(run: &Context, kind: QuicKind) -> QuicServer {
    let program = match kind {
        QuicKind::Aioquic => run.world.aioquic(),
        QuicKind::QuicGo => run.world.quic_go(),
    };
    let leaf = run.world.authority.good();
    QuicServer::start(kind, &program, &leaf, &[SMALL, LARGE]).expect("a server of HTTP/3")
}

/// The tool by way of a proxy, telling version, status, CONNECT's status and size of each transfer.
fn by_way_of(run: &Context, proxy: &TunnelProxy, words: &[&str]) -> Output {
    let ca = run.world.ca();
    let common = ["-q", "-sS", "--max-time", "60", "--cacert", &ca, "--proxy-cacert", &ca, "-x"];
    let write_out = ["-w", "%{http_version} %{http_code} %{http_connect} %{size_download} %{num_connects}\n"];
    let mut tool = Command::new(run.world.tool());
    run.run(tool.args(common).arg(proxy.https()).args(write_out).args(words))
}

// covers: --proxy-http3, CURLOPT_PROXYTYPE
/// TCP goes through streams: an origin with HTTP/2, HTTP/1.1 in clear, an upload; a kept tunnel is reused.
fn bytes(run: &Context) {
    let proxy = aioquic(run, &[]);
    let leaf = run.world.authority.good();
    let server = Http2Server::start(Http2Kind::CaddyQuic, &leaf, &[SMALL, LARGE]).expect("caddy starts");
    let folder = TempDir::new("tunnel").expect("a folder");
    let body = pattern(LARGE);
    folder.write("body", &body).expect("a file");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let large = server.https(&format!("/bytes-{LARGE}"));
    let output =
        by_way_of(run, &proxy, &["--proxy-http3", "-o", &file("one"), "-o", &file("two"), &large, &large]);
    let log = || format!("{output:?}\n{}\n{}", proxy.log(), server.log());
    assert_eq!(output.stdout, format!("2 200 200 {LARGE} 1\n2 200 000 {LARGE} 0\n"), "{}", log());
    for name in ["one", "two"] {
        assert!(std::fs::read(file(name)).is_ok_and(|came| came == body), "{name}: {}", log());
    }
    assert_eq!(proxy.log().matches("tunnel to").count(), 1, "{}", log());
    let at = format!("@{}", file("body"));
    let up = server.https("/body");
    let words = ["--proxy-http3", "--http1.1", "--data-binary", &at, "-o", &file("back"), &up];
    let output = by_way_of(run, &proxy, &words);
    assert_eq!(output.stdout, format!("1.1 200 200 {LARGE} 1\n"), "{output:?}\n{}", proxy.log());
    assert!(std::fs::read(file("back")).is_ok_and(|came| came == body), "{output:?}");
}

/// A transfer that is paused for longer than the proxy's idle timeout continues afterwards: its tunnel is
/// kept alive meanwhile. More data is in transit than any window holds.
fn paused(run: &Context) {
    const HUGE: usize = 16_000_000;
    let proxy = aioquic(run, &["idle=4"]);
    let leaf = run.world.authority.good();
    let server = Http2Server::start(Http2Kind::CaddyQuic, &leaf, &[HUGE]).expect("caddy starts");
    let (url, length, sum) = (server.https(&format!("/bytes-{HUGE}")), HUGE.to_string(), sum(HUGE));
    // CURLPROXY_HTTPS3 and HTTP/1.1, which has the tunnel to itself.
    let words = ["-w", "event", "-s", "1", "-m", "9000", "-o", "PROXYTYPE=8", "-o", "HTTP_VERSION=2"];
    let mut command = Command::new(run.world.program("streams"));
    command.args(words).args(["-y", &proxy.https(), "-b", &length, "-e", &sum, &url]);
    let output = run.run(command.env("CA", run.world.ca()));
    assert_eq!((output.status, output.fact("good")), (Some(0), "1"), "{output:?}\n{}", proxy.log());
    let took: u64 = output.fact("elapsed_ms").parse().expect("a number");
    assert!(took >= 9000, "it was paused: {output:?}");
}

/// HTTP/3 through a proxy: files both ways, many at once on one connection, and a second tunnel for another
/// origin.
fn through(run: &Context, proxy: &TunnelProxy, words: &[&str]) {
    let folder = TempDir::new("tunnel").expect("a folder");
    let body = pattern(LARGE);
    folder.write("body", &body).expect("a file");
    let file = |name: &str| folder.path().join(name).display().to_string();
    for kind in [QuicKind::Aioquic, QuicKind::QuicGo] {
        let server = origin(run, kind);
        let log = |output: &Output| format!("{kind:?}: {output:?}\n{}\n{}", proxy.log(), server.log());
        let large = server.https(&format!("/bytes-{LARGE}"));
        let words = [words, &["--http3-only"]].concat();
        let out = [file("one"), file("two")];
        let output =
            by_way_of(run, proxy, &[&words[..], &["-o", &out[0], "-o", &out[1], &large, &large]].concat());
        let status = output.stdout.split(' ').nth(2).unwrap_or_default().to_owned();
        assert!(status == "200" || status == "101", "{}", log(&output));
        let lines = format!("3 200 {status} {LARGE} 1\n3 200 000 {LARGE} 0\n");
        assert_eq!(output.stdout, lines, "{}", log(&output));
        for name in out {
            assert!(std::fs::read(&name).is_ok_and(|came| came == body), "{name}: {}", log(&output));
        }
        let (at, up, back) = (format!("@{}", file("body")), server.https("/up"), file("back"));
        let upload = ["--data-binary", &at, "-o", &back, &up];
        let output = by_way_of(run, proxy, &[&words[..], &upload].concat());
        assert!(std::fs::read(&back).is_ok_and(|came| came == body), "{}", log(&output));
        let many = server.https(&format!("/bytes-{SMALL}?[1-30]"));
        let good = |line: &&str| line.starts_with("3 200 ") && line.contains(&format!(" {SMALL} "));
        let output = by_way_of(run, proxy, &[&words[..], &["-Z", "-o", "/dev/null", &many]].concat());
        assert_eq!(output.stdout.lines().filter(good).count(), 30, "{}", log(&output));
    }
}

fn datagrams(run: &Context, words: &[&str]) {
    let proxy = aioquic(run, words);
    through(run, &proxy, &["--proxy-http3"]);
    let log = proxy.log();
    let counts = |line: &str| -> Option<(u64, u64)> {
        let mut numbers = line.split(' ').filter_map(|word| word.parse().ok());
        Some((numbers.next()?, numbers.next()?))
    };
    let ends: Vec<(u64, u64)> = log.lines().filter_map(|l| counts(l.strip_prefix("udp ends, ")?)).collect();
    assert!(ends.len() >= 4, "{log}");
    for (beside, within) in ends {
        // If datagrams are available, everything uses them, from the first one of 1,200 bytes on.
        let as_asked = if words.is_empty() { beside == 0 && within > 0 } else { within == 0 && beside > 0 };
        assert!(as_asked, "{log}");
    }
}

/// A proxy over TCP, with TLS and the same requests.
fn by_tcp(run: &Context, words: &[&str]) {
    let leaf = run.world.authority.good();
    let proxy = TunnelProxy::start(TunnelKind::Node, &leaf, &[]).expect("a proxy by Node");
    through(run, &proxy, words);
    assert!(!proxy.log().contains("tunnel to"), "all went by UDP: {}", proxy.log());
    // A transfer that allows less than HTTP/3 works through the same proxy; one without datagrams makes it
    // fall back.
    let server = Http2Server::start(Http2Kind::CaddyQuic, &leaf, &[SMALL]).expect("caddy starts");
    let small = server.https(&format!("/bytes-{SMALL}"));
    let words = [words, &["-o", "/dev/null", &small]].concat();
    let output = by_way_of(run, &proxy, &[&["--http3"], &words[..]].concat());
    assert!(output.stdout.starts_with("3 200 "), "{output:?}\n{}", proxy.log());
    let deaf = TunnelProxy::start(TunnelKind::Node, &leaf, &["deaf"]).expect("a proxy by Node");
    let output = by_way_of(run, &deaf, &[&["--http3"], &words[..]].concat());
    assert!(output.stdout.starts_with("2 200 200 "), "{output:?}\n{}", deaf.log());
    let output = by_way_of(run, &deaf, &[&["--http3-only"], &words[..]].concat());
    assert_eq!(output.status, Some(7), "{output:?}\n{}", deaf.log());
    let closed = TunnelProxy::start(TunnelKind::Node, &leaf, &["login"]).expect("a proxy by Node");
    let login = ["--http3-only", "--proxy-anyauth", "-U", "me:secret"];
    let output = by_way_of(run, &closed, &[&login[..], &words[..]].concat());
    assert!(output.stdout.starts_with("3 200 "), "{output:?}\n{}", closed.log());
    let output = by_way_of(run, &closed, &[&login[..2], &["-U", "me:wrong"], &words[..]].concat());
    assert_eq!(output.status, Some(7), "{output:?}\n{}", closed.log());
}

/// Refusals of an HTTP/3 proxy have curl's codes, and there is no fallback.
fn refusals(run: &Context) {
    let server = origin(run, QuicKind::Aioquic);
    let small = server.https(&format!("/bytes-{SMALL}"));
    let plain = ["--proxy-http3", "-o", "/dev/null"];
    let closed = aioquic(run, &["datagrams", "login"]);
    let ask =
        |proxy: &TunnelProxy, words: &[&str]| by_way_of(run, proxy, &[&plain[..], words, &[&small]].concat());
    let output = ask(&closed, &["--http3-only"]);
    assert_eq!(output.status, Some(7), "{output:?}\n{}", closed.log());
    assert!(output.stderr.contains("CONNECT-UDP tunnel failed, response 407"), "{output:?}");
    for login in [&["-U", "me:secret"][..], &["--proxy-anyauth", "-U", "me:secret"]] {
        let output = ask(&closed, &[&["--http3-only"], login].concat());
        assert!(output.stdout.starts_with("3 200 200 "), "{output:?}\n{}", closed.log());
    }
    let deaf = aioquic(run, &["deaf"]);
    let output = ask(&deaf, &["--http3-only"]);
    assert_eq!(output.status, Some(7), "{output:?}\n{}", deaf.log());
    // A dead TCP target behind the proxy, and a proxy without QUIC.
    let output = by_way_of(run, &deaf, &[&plain[..], &["https://localhost:9/"]].concat());
    assert_eq!(output.status, Some(7), "{output:?}\n{}", deaf.log());
    let leaf = run.world.authority.good();
    let node = TunnelProxy::start(TunnelKind::Node, &leaf, &[]).expect("a proxy by Node");
    let output = ask(&node, &["--connect-timeout", "5"]);
    assert_ne!(output.status, Some(0), "{output:?}");
    assert_eq!(node.log(), "", "nobody fell back to it by TCP");
    let output = by_way_of(run, &deaf, &["--proxy-http3", "--preproxy", "socks5://localhost:9", &small]);
    assert_eq!(output.status, Some(1), "{output:?}");
}
