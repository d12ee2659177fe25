//! HTTP/3 with third-party servers: caddy, aioquic (Python), quic-go. `streams` drives the library by QUIC
//! only, the tool is tested beside it, and in the end over a narrow path with loss, duplication and delay.

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use testkit::body::pattern;
use testkit::launch::{Http2Kind, Http2Server, QuicKind, QuicServer};
use testkit::lossy::{Faults, LossyPath};
use testkit::temp::TempDir;

use super::{ours, sum};
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        ours("http3-aioquic", |run| usual(run, &Quic::start(run, QuicKind::Aioquic))),
        ours("http3-quic-go", |run| usual(run, &Quic::start(run, QuicKind::QuicGo))),
        ours("http3-caddy", |run| usual(run, &caddy(run))),
        ours("http3-restart-aioquic", |run| restarted(run, QuicKind::Aioquic)),
        ours("http3-restart-quic-go", |run| restarted(run, QuicKind::QuicGo)),
        ours("http3-early-aioquic", |run| early(run, QuicKind::Aioquic)),
        ours("http3-early-quic-go", |run| early(run, QuicKind::QuicGo)),
        ours("http3-lossy-quic-go", |run| lossy(run, &Quic::start(run, QuicKind::QuicGo), GO)),
        ours("http3-lossy-aioquic", |run| lossy(run, &Quic::start(run, QuicKind::Aioquic), NARROW)),
        ours("http3-lossy-caddy", |run| lossy(run, &caddy(run), GO)),
        ours("http3-moving-aioquic", moving),
    ]
}

const SMALL: usize = 1000;
const MIDDLE: usize = 20_000;
const LARGE: usize = 1_000_000;

/// The narrowest path for QUIC (RFC 9000 §14), and quic-go's size before probing: it supports no less.
const NARROW: usize = 1200;
const GO: usize = 1252;

/// CURL_HTTP_VERSION_3ONLY.
const ONLY: &str = "-o HTTP_VERSION=31";

/// Any of the servers.
trait Serves {
    fn https(&self, path: &str) -> String;
    fn log(&self) -> String;
}

struct Quic(QuicServer);

impl Quic {
    fn start(run: &Context, kind: QuicKind) -> Quic {
        let program = match kind {
            QuicKind::Aioquic => run.world.aioquic(),
            QuicKind::QuicGo => run.world.quic_go(),
        };
        let server = QuicServer::start(kind, &program, &run.world.authority.good(), &[SMALL, MIDDLE, LARGE]);
        Quic(server.unwrap_or_else(|error| panic!("{kind:?}: {error}")))
    }
}

impl Serves for Quic {
    fn https(&self, path: &str) -> String {
        self.0.https(path)
    }

    fn log(&self) -> String {
        self.0.log()
    }
}

impl Serves for Http2Server {
    fn https(&self, path: &str) -> String {
        Http2Server::https(self, path)
    }

    fn log(&self) -> String {
        Http2Server::log(self)
    }
}

fn caddy(run: &Context) -> Http2Server {
    let leaf = run.world.authority.good();
    Http2Server::start(Http2Kind::CaddyQuic, &leaf, &[SMALL, MIDDLE, LARGE]).expect("caddy starts")
}

/// Runs `streams`: so many transfers, each of which brings the pattern of `size` bytes, all by HTTP/3.
fn good(
    run: &Context,
    count: usize,
    words: &str,
    size: usize,
    url: &str,
    log: &dyn Fn() -> String,
) -> Output {
    let (length, sum, count) = (size.to_string(), sum(size), count.to_string());
    let words = words.split(' ').filter(|word| !word.is_empty());
    let words = ONLY.split(' ').chain(words).chain(["-n", &count, "-b", &length, "-e", &sum, url]);
    let mut command = Command::new(run.world.program("streams"));
    let output = run.run(command.args(words).env("CA", run.world.ca()));
    assert_eq!(output.status, Some(0), "{url}: {output:?}\n{}", log());
    assert_eq!(
        (output.fact("good"), output.fact("third")),
        (&*count, &*count),
        "{url}: {output:?}\n{}",
        log()
    );
    output
}

/// Serial and concurrent transfers, by poll and by an event loop, in both directions; small ones and many at
/// once on one connection; slow readers beside others; and the tool.
fn usual(run: &Context, server: &dyn Serves) {
    let log = || server.log();
    let small = server.https(&format!("/bytes-{SMALL}?%d"));
    for way in ["easy", "poll", "event"] {
        let output = good(run, 5, &format!("-w {way} -p 5 -c 1"), SMALL, &small, &log);
        assert_eq!(output.fact("connects"), "1", "{way}: {output:?}");
        let words = format!("-w {way} -p 3 -u {LARGE}");
        good(run, 3, &words, LARGE, &server.https("/body/%d"), &log);
    }
    let output = good(run, 1000, "-w event -p 50 -c 1", SMALL, &small, &log);
    assert_eq!(output.fact("connects"), "1", "{output:?}");
    let middle = server.https(&format!("/bytes-{MIDDLE}?%d"));
    let output = good(run, 100, "-p 100 -c 1", MIDDLE, &middle, &log);
    assert_eq!(output.fact("connects"), "1", "{output:?}");
    good(run, 20, &format!("-p 20 -c 1 -u {MIDDLE}"), MIDDLE, &server.https("/body/%d"), &log);
    good(run, 9, "-w event -p 9 -s 3", LARGE, &server.https(&format!("/bytes-{LARGE}?%d")), &log);
    let many = server.https(&format!("/bytes-{SMALL}?[1-100]"));
    let lines = ["-o", "/dev/null", "-w", "%{http_version} %{http_code} %{size_download}\n"];
    let words =
        [&["-q", "-sS", "--max-time", "60", "-Z", "--http3-only", "--cacert", &run.world.ca()], &lines[..]];
    let output = run.run(Command::new(run.world.tool()).args(words.concat()).arg(&many));
    assert_eq!(output.stdout, format!("3 200 {SMALL}\n").repeat(100), "{output:?}\n{}", log());
}

/// A server that ends announces it: the next transfer on a handle with a connection to it reaches the new
/// one. Requests in between are retried.
fn restarted(run: &Context, kind: QuicKind) {
    let mut server = Quic::start(run, kind).0;
    let url = server.https(&format!("/bytes-{SMALL}?[1-6]"));
    let ca = run.world.ca();
    let output = std::thread::scope(|scope| {
        let tool = scope.spawn(|| {
            let mut tool = Command::new(run.world.tool());
            tool.args(["-q", "-sS", "--max-time", "60", "--http3-only", "--rate", "60/m", "--cacert", &ca]);
            tool.args(["--retry", "5", "--retry-all-errors", "--retry-delay", "1", "-o", "/dev/null"]);
            run.run(tool.args(["-w", "%{http_version} %{http_code} %{num_connects}\n", &url]))
        });
        std::thread::sleep(Duration::from_millis(2500));
        server.restart().expect("it starts anew");
        tool.join().expect("it was run")
    });
    let lines: Vec<&str> = output.stdout.lines().collect();
    let well = lines.iter().filter(|line| line.starts_with("3 200 ")).count();
    let connects: usize =
        lines.iter().filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).sum();
    assert_eq!((output.status, well), (Some(0), 6), "{output:?}\n{}", server.log());
    assert!((2..6).contains(&connects), "{output:?}\n{}", server.log());
}

/// A resumed session's request is sent with the hello, with as much of an upload as is sent early. A server
/// with other keys refuses all of it, and gets it afterwards.
fn early(run: &Context, kind: QuicKind) {
    let (here, elsewhere) = (Quic::start(run, kind).0, Quic::start(run, kind).0);
    let folder = TempDir::new("early").expect("a folder");
    let body = pattern(LARGE);
    folder.write("body", &body).expect("a file");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (ca, at) = (run.world.ca(), format!("@{}", file("body")));
    let (small, up) = (here.https(&format!("/bytes-{SMALL}")), here.https("/up"));
    let way = format!("localhost:{}:localhost:{}", here.port(), elsewhere.port());
    let format = "%{http_version} %{num_connects} %{response_code} %{tls_earlydata}\\n";
    let common = ["-sS", "--max-time", "60", "--http3-only", "--cacert", &ca, "-w", format];
    // Each on its own connection, separated by some socket option.
    let own = |seconds: &str, name: &str, words: &[&str]| -> Vec<String> {
        let name = file(name);
        let own = ["--keepalive-time", seconds, "-o", &name];
        [&common[..], &own, words].concat().into_iter().map(str::to_owned).collect()
    };
    // No early data is sent to an unknown address: the fourth transfer makes it known, without a session.
    let words = [
        own("51", "first", &["--tls-earlydata", &small]),
        own("52", "taken", &["--tls-earlydata", "--data-binary", &at, &up]),
        own("53", "third", &[&small]),
        own("54", "fourth", &["--no-sessionid", "--connect-to", &way, &small]),
        own("55", "refused", &["--tls-earlydata", "--data-binary", &at, "--connect-to", &way, &up]),
    ];
    let next = "--next".to_owned();
    let output = run.run(Command::new(run.world.tool()).arg("-q").args(words.join(&next)));
    let log = || format!("{output:?}\n{}\n{}", here.log(), elsewhere.log());
    let lines = output.stdout.lines();
    let amounts: Vec<i64> = lines.filter_map(|line| line.strip_prefix("3 1 200 ")?.parse().ok()).collect();
    assert!(matches!(amounts[..], [0, 60_000..100_000, 0, 0, -100_000..-60_000]), "{}", log());
    for name in ["taken", "refused"] {
        assert!(std::fs::read(file(name)).is_ok_and(|came| came == body), "{name}: {}", log());
    }
}

/// A client whose address changes in the middle of transfers, with a server that supports it: every byte is
/// right, on one connection.
fn moving(run: &Context) {
    let server = Quic::start(run, QuicKind::Aioquic);
    let to = SocketAddr::from(([127, 0, 0, 1], server.0.port()));
    // There are fewer acknowledgements than data packets.
    for (words, file, moves) in [
        ("-p 4 -c 1".to_owned(), format!("/bytes-{LARGE}?%d"), 50),
        (format!("-p 4 -c 1 -u {LARGE}"), "/body/%d".to_owned(), 1000),
    ] {
        let faults = Faults { lost: 0, doubled: 0, late: 0, largest: 1500, moves, seed: 9000 };
        let path = LossyPath::to(to, faults).expect("a relay starts");
        let log = || format!("{} moves: {:?}\n{}", path.moves(), path.counts(), server.log());
        let url = format!("https://localhost:{}{file}", path.port());
        let output = good(run, 8, &words, LARGE, &url, &log);
        assert_eq!(output.fact("connects"), "1", "{output:?}\n{}", log());
        assert!(path.moves() > 0, "{}", log());
    }
}

/// Both directions on paths with one and five percent loss, with duplicates and late datagrams, some too
/// narrow for more than QUIC's minimum: every byte is right.
fn lossy(run: &Context, server: &dyn Serves, narrow: usize) {
    let url = server.https("");
    let port: u16 = url.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    for (lost, largest) in [(10, 1500), (10, narrow), (50, 1500), (50, narrow)] {
        let faults = Faults { lost, doubled: 20, late: 20, largest, moves: 0, seed: 9002 };
        let path = LossyPath::to(SocketAddr::from(([127, 0, 0, 1], port)), faults).expect("a relay starts");
        let log = || format!("{faults:?}: {:?}\n{}", path.counts(), server.log());
        let there = |file: &str| format!("https://localhost:{}{file}", path.port());
        good(run, 10, "-p 5 -c 1", LARGE, &there(&format!("/bytes-{LARGE}?%d")), &log);
        good(run, 5, &format!("-p 5 -c 1 -u {LARGE}"), LARGE, &there("/body/%d"), &log);
        good(run, 100, "-p 20 -c 1", SMALL, &there(&format!("/bytes-{SMALL}?%d")), &log);
        let (passed, gone, _) = path.counts();
        assert!(passed > 10_000 && gone * 1000 > passed * lost / 2, "{}", log());
    }
}
