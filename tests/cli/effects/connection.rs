//! Flags about connections, addresses, limits, retries and many transfers at a time.

use super::{Ran, curl, ran, traced};
use crate::{clean, empty_folder, tool};
use std::io::Write;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testkit::http::{Config, HttpServer};
use testkit::raw::{RawPeer, Step, expect, send};

const CALLS: &str = "socket,setsockopt,sendto,connect,bind";

/// A reply of the last request, for a peer that follows a script.
const REPLY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

// covers: --keepalive-time, --keepalive-cnt, --no-keepalive
#[test]
fn probes_of_idle_connections() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/1");
    let calls = traced(CALLS, &["--keepalive-time", "7", "--keepalive-cnt", "5", &url]);
    for line in ["TCP_KEEPIDLE, [7]", "TCP_KEEPINTVL, [7]", "TCP_KEEPCNT, [5]", "SO_KEEPALIVE, [1]"] {
        assert!(calls.contains(line), "{line}: {calls}");
    }
    let calls = traced(CALLS, &["--no-keepalive", "--keepalive-time", "7", &url]);
    assert!(!calls.contains("KEEP"), "{calls}");
}

// covers: --tcp-nodelay
#[test]
fn small_segments_do_not_wait() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/1");
    assert!(traced(CALLS, &["--tcp-nodelay", &url]).contains("TCP_NODELAY, [1]"));
    assert!(!traced(CALLS, &["--no-tcp-nodelay", &url]).contains("TCP_NODELAY, [1]"));
}

// covers: --tcp-fastopen
#[test]
fn data_may_travel_with_the_first_segment() {
    let server = HttpServer::plain();
    let calls = traced(CALLS, &["--tcp-fastopen", &server.url("/bytes/1")]);
    assert!(calls.contains("TCP_FASTOPEN_CONNECT, [1]") || calls.contains("MSG_FASTOPEN"), "{calls}");
}

// covers: --ip-tos
#[test]
fn the_type_of_service() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/1");
    assert!(traced(CALLS, &["--ip-tos", "CS5", &url]).contains("IP_TOS, [160]"));
    assert!(traced(CALLS, &["--ip-tos", "12", &url]).contains("IP_TOS, [12]"));
    assert_eq!(curl(&["--ip-tos", "256", &url]).code, 2);
    assert_eq!(curl(&["--ip-tos", "nonsense", &url]).code, 2);
}

// covers: --vlan-priority
#[test]
fn the_priority_on_a_vlan() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/1");
    assert!(traced(CALLS, &["--vlan-priority", "3", &url]).contains("SO_PRIORITY, [3]"));
    assert!(!traced(CALLS, &["--vlan-priority", "0", &url]).contains("SO_PRIORITY"));
    for wrong in ["8", "-1", "high"] {
        assert_eq!(curl(&["--vlan-priority", wrong, &url]).code, 2, "{wrong}");
    }
}

// covers: --mptcp
#[test]
fn several_paths() {
    let server = HttpServer::plain();
    let calls = traced(CALLS, &["--mptcp", &server.url("/bytes/1")]);
    assert!(calls.contains("IPPROTO_MPTCP") || calls.contains("0x106"), "{calls}");
}

// covers: --local-port
#[test]
fn the_local_port() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/1");
    let port = curl(&["--local-port", "47310-47399", "-o", "x", "-w", "%{local_port}", &url]).text();
    assert!((47_310..=47_399).contains(&port.parse::<u16>().unwrap()), "{port}");
    assert_eq!(curl(&["--local-port", "9-1", &url]).code, 2);
}

// covers: --ipv6, --happy-eyeballs-timeout-ms
#[test]
fn the_chosen_address_families_are_tried() {
    let Ok(six) = TcpListener::bind("[::1]:0") else { testkit::left_out("no IPv6 on this machine") };
    let port = six.local_addr().unwrap().port();
    drop(six);
    let server = HttpServer::start(Config {
        address: Some(format!("[::1]:{port}").parse().unwrap()),
        ..Config::default()
    });
    let _server = server.unwrap();
    // No other test has a server at this address; one at 127.0.0.1 may have the port.
    let resolve = format!("both:{port}:127.77.0.1,[::1]");
    let url = format!("http://both:{port}/bytes/1");
    let words = ["--resolve", &resolve, "-o", "x", "-w", "%{remote_ip}", &url];
    assert_eq!(curl(&[&["-6"], words.as_slice()].concat()).text(), "::1");
    assert_eq!(curl(&[&["-4"], words.as_slice()].concat()).code, 7);
    // The other family has its turn when the first has failed, or after this time.
    let words = [&["--happy-eyeballs-timeout-ms", "60000"], words.as_slice()].concat();
    assert_eq!(curl(&words).text(), "::1");
    let calls = traced(
        "poll,connect,epoll_wait",
        &["--happy-eyeballs-timeout-ms", "1", "-o", "x", "--resolve", &resolve, &url],
    );
    assert!(calls.contains("connect("), "{calls}");
    assert_eq!(curl(&["--happy-eyeballs-timeout-ms", "x", &url]).code, 2);
}

// covers: --abstract-unix-socket
#[test]
fn sockets_without_a_file() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};
    let name = format!("warmwire-cli-{}", std::process::id());
    let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 4096];
        let _ = std::io::Read::read(&mut stream, &mut asked);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").unwrap();
    });
    assert_eq!(curl(&["--abstract-unix-socket", &name, "http://nowhere/"]).text(), "hi");
    assert_eq!(curl(&["--abstract-unix-socket", "warmwire-none", "http://nowhere/"]).code, 7);
}

// covers: --haproxy-clientip
#[test]
fn the_first_line_names_the_client() {
    for (address, family) in [("192.0.2.7", "TCP4"), ("2001:db8::7", "TCP6")] {
        let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(REPLY)]]);
        let url = format!("http://{}/", peer.address());
        curl(&["--haproxy-clientip", address, &url]).text();
        let received = String::from_utf8(peer.received().concat()).unwrap();
        assert!(received.starts_with(&format!("PROXY {family} {address} ")), "{received}");
        assert!(received.contains("\r\nGET / HTTP/1.1\r\n"), "{received}");
    }
}

// covers: --retry, --retry-max-time
#[test]
fn the_server_may_name_the_time_to_come_again() {
    use std::time::{SystemTime, UNIX_EPOCH};
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    let busy = |after: &str| {
        let head = format!("HTTP/1.1 503 Busy\r\nRetry-After: {after}\r\nContent-Length: 0\r\n\r\n");
        RawPeer::start(vec![vec![expect("\r\n\r\n"), send(&head), expect("\r\n\r\n"), send(REPLY)]])
    };
    let peer = busy(&http_date(now + 4));
    let began = Instant::now();
    let text =
        curl(&["--retry", "1", "-w", "%{http_code} %{num_retries}", &format!("http://{}/", peer.address())]);
    assert_eq!(text.text(), "200 1");
    assert!(began.elapsed() > Duration::from_millis(2500), "{:?}", began.elapsed());
    let peer = busy(&http_date(now + 3600));
    let url = format!("http://{}/", peer.address());
    let words = [
        "--no-silent",
        "--no-progress-meter",
        "--retry",
        "1",
        "--retry-max-time",
        "60",
        "-w",
        "%{http_code}",
    ];
    let ran = curl(&[&words[..], &[&url]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "503"));
    assert!(ran.stderr.contains("The Retry-After: time would"), "{}", ran.stderr);
}

/// As `date` writes it, so that no code under test has a say.
fn http_date(seconds: i64) -> String {
    let moment = format!("@{seconds}");
    let out =
        Command::new("date").args(["-u", "-d", &moment, "+%a, %d %b %Y %T GMT"]).env("LC_ALL", "C").output();
    String::from_utf8(out.unwrap().stdout).unwrap().trim().to_string()
}

// covers: --speed-limit, --speed-time
#[test]
fn too_slow_for_too_long() {
    let server = HttpServer::plain();
    let url = server.url("/drip/1/200/bytes/100");
    let slow = curl(&["-o", "x", "--speed-limit", "1000", "--speed-time", "1", &url]);
    assert_eq!(slow.code, 28);
    assert!(
        slow.stderr.contains("Operation too slow. Less than 1000 bytes/sec transferred the last 1 seconds")
    );
    let url = server.url("/drip/1/200/bytes/8");
    assert_eq!(curl(&["-o", "x", "--speed-limit", "1", "--speed-time", "1", &url]).code, 0);
}

// covers: --retry-connrefused
#[test]
fn refused_connections_are_tried_again() {
    let url = format!("http://127.0.0.1:{}/", RawPeer::refused_port());
    let words = ["--no-silent", "--no-progress-meter", "--retry", "1", "--retry-delay", "1"];
    let once = curl(&[words.as_slice(), &[&url]].concat());
    assert_eq!((once.code, once.stderr.matches("curl: (7)").count()), (7, 1));
    let twice = curl(&[words.as_slice(), &["--retry-connrefused", &url]].concat());
    assert_eq!((twice.code, twice.stderr.matches("curl: (7)").count()), (7, 2));
    assert!(
        twice.stderr.contains("Warning: Problem : connection refused. Retrying in 1 second. 1 retry left.")
    );
}

// covers: --rate
#[test]
fn starts_are_kept_apart() {
    let server = HttpServer::plain();
    let began = Instant::now();
    curl(&["--rate", "120/m", &server.url("/bytes/[1-3]"), "-o", "#1"]).text();
    let spent = began.elapsed();
    assert!(spent >= Duration::from_millis(1000) && spent < Duration::from_secs(10), "{spent:?}");
    // There is no next transfer: no wait.
    curl(&["--rate", "1/d", &server.url("/bytes/1")]).text();
    assert_eq!(curl(&["--rate", "1/y", &server.url("/bytes/1")]).code, 2);
}

/// How many requests were answered at the same time at most.
fn at_once(words: &[&str]) -> (usize, usize) {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = most.clone();
    let server = HttpServer::with(move |_| {
        seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(60));
        now.fetch_sub(1, Ordering::SeqCst);
        None
    });
    let url = server.url("/bytes/[1-6]");
    curl(&[words, &["-Z", &url, "-o", "#1"]].concat()).text();
    (most.load(Ordering::SeqCst), server.accepts())
}

// covers: --parallel-max, --parallel-max-host, --parallel-immediate
#[test]
fn parallel_limits_bound_the_transfers_at_once() {
    assert_eq!(at_once(&["--parallel-max", "2"]).0, 2);
    assert_eq!(at_once(&["--parallel-max-host", "3"]), (3, 3));
    assert!(at_once(&["--parallel-immediate"]).0 > 3);
    assert_eq!(curl(&["--parallel-max", "x", "http://x"]).code, 2);
}

/// Returns the number of connections of two transfers.
fn connections_for_two(flags: &[&str]) -> usize {
    let peer = testkit::frames::FramePeer::start(|talk| {
        talk.greet(&[])?;
        loop {
            let stream = talk.request()?;
            talk.answer(stream, 200, b"hi")?;
        }
    });
    let url = format!("http://127.0.0.1:{}/", peer.port());
    let ran = curl(&[flags, &["-sS", "--http2-prior-knowledge", &url, &url]].concat());
    assert_eq!((ran.code, &*ran.stderr), (0, ""));
    assert_eq!(ran.text(), "hihi");
    peer.accepts()
}

#[test]
fn reports_name_streams() {
    let peer = testkit::frames::FramePeer::start(|talk| {
        talk.greet(&[])?;
        loop {
            let stream = talk.request()?;
            talk.answer(stream, 200, b"hi")?;
        }
    });
    let url = format!("http://127.0.0.1:{}/", peer.port());
    let words = ["-sS", "--http2-prior-knowledge", "--har", "run.har", "--timeline", "run.svg", &url, &url];
    let ran = curl(&words);
    let (archive, picture) = (ran.file("run.har"), ran.file("run.svg"));
    assert!(
        archive.contains("\"connection\":\"0\",\"_stream\":1,") && archive.contains("\"_stream\":3,"),
        "{archive}"
    );
    assert!(archive.contains("\"httpVersion\":\"HTTP/2\""), "{archive}");
    assert!(
        picture.contains("connection 0, new, stream 1") && picture.contains("connection 0, reused, stream 3"),
        "{picture}"
    );
}

/// The transfers on each connection and stream, and the time that each waited for one.
#[test]
fn a_timeline_of_parallel_transfers() {
    let peer = testkit::frames::FramePeer::start(|talk| {
        talk.greet(&[])?;
        let streams = [talk.request()?, talk.request()?, talk.request()?];
        streams.into_iter().try_for_each(|stream| talk.answer(stream, 200, b"hi"))?;
        loop {
            talk.request()?;
        }
    });
    let url = format!("http://127.0.0.1:{}/", peer.port());
    let timeline = ["-sSZ", "--timeline", "run.svg"];
    let ran = curl(&[&timeline[..], &["--http2-prior-knowledge", &url, &url, &url]].concat());
    let picture = ran.file("run.svg");
    assert!(picture.contains("#0 to 127.0.0.1: 3 transfers, up to 3 at a time"), "{picture}");
    for (stream, how) in [(1, "new"), (3, "reused"), (5, "reused")] {
        assert!(picture.contains(&format!("connection 0, {how}, stream {stream}<")), "{picture}");
        assert!(picture.contains(&format!("<title>stream {stream}: {url}</title>")), "{picture}");
        assert!(picture.contains(&format!(">#0/{stream}</text>")), "{picture}");
    }
    let server = HttpServer::plain();
    let slow = server.url("/delay/300/bytes/1");
    let outputs = ["-o", "a", "-o", "b", "-o", "c"];
    let ran =
        curl(&[&timeline[..], &["--parallel-max-host", "1"], &outputs, &[&slow, &slow, &slow]].concat());
    let picture = ran.file("run.svg");
    assert!(picture.contains("#0 to 127.0.0.1: 3 transfers, one at a time"), "{picture}");
    let mut waits: Vec<f64> = picture.split("<title>queued ").skip(1).filter_map(millis).collect();
    waits.sort_by(f64::total_cmp);
    let [.., second, third] = waits[..] else { panic!("{waits:?}: {picture}") };
    // For one answer and for two, each of 300 ms.
    assert!(second >= 290.0 && third >= 590.0, "{waits:?}");
}

/// Returns the time at the beginning of a title, in milliseconds.
fn millis(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once('<')?.0.split_once(' ')?;
    Some(number.parse::<f64>().ok()? * if unit == "s" { 1000.0 } else { 1.0 })
}

/// Failed attempts are counted before the reported one.
#[test]
fn a_timeline_counts_failed_attempts() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server = HttpServer::with(move |_| {
        let first = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
        Some(testkit::http::Response::status(if first { 503 } else { 200 }))
    });
    let words = ["--retry", "1", "--retry-delay", "1", "--timeline", "run.svg", "-o", "a", &server.url("/")];
    let picture = curl(&words).file("run.svg");
    let before = picture.split("<title>attempts before ").nth(1).and_then(millis);
    assert!(before.is_some_and(|before| before >= 1000.0), "{picture}");
}

// covers: --parallel, --parallel-immediate, --http2-prior-knowledge
#[test]
fn parallel_transfers_wait_for_a_stream() {
    assert_eq!(connections_for_two(&["-Z"]), 1);
    assert_eq!(connections_for_two(&["-Z", "--parallel-immediate"]), 2);
    assert_eq!(connections_for_two(&[]), 1);
}

// covers: --upload-file
#[test]
fn standard_input_as_it_comes() {
    let server = HttpServer::plain();
    let (upload, other) = (server.url("/body"), server.url("/delay/300/bytes/1"));
    let words = ["-sSZ", "-T", ".", &upload, "--next", "-o", "x", "-w", "other", &other];
    let mut child = clean(Command::new(tool()).args(words))
        .current_dir(empty_folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"one ").unwrap();
    std::thread::sleep(Duration::from_millis(900));
    // The other transfer continued during the silence.
    assert_eq!(server.served(), 1);
    input.write_all(b"two").unwrap();
    drop(input);
    let out = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "otherone two");
}

// covers: --user, --proxy-user, --oauth2-bearer, --pass
#[test]
fn secrets_do_not_stand_in_the_list_of_processes() {
    let peer =
        RawPeer::start(vec![vec![expect("\r\n\r\n"), Step::Sleep(Duration::from_millis(900)), send(REPLY)]]);
    let url = format!("http://{}/", peer.address());
    let words =
        ["-s", "-ume:alpha", "--proxy-user=me:beta", "--oauth2-bearer", "gamma", "--pass", "delta", &url];
    let mut command = Command::new(tool());
    let mut child =
        clean(&mut command).args(words).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(450));
    let shown = std::fs::read(format!("/proc/{}/cmdline", child.id())).unwrap();
    let shown = String::from_utf8(shown).unwrap();
    assert!(child.wait().unwrap().success());
    for secret in ["alpha", "beta", "gamma", "delta"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert!(shown.contains("--oauth2-bearer") && shown.contains(&url), "{shown}");
    // Overwritten arguments were still used.
    let received = String::from_utf8(peer.received().concat()).unwrap();
    assert!(received.contains("Authorization: Bearer gamma"), "{received}");
}

// covers: --no-buffer
#[test]
fn output_is_not_held_back() {
    let server = HttpServer::plain();
    let folder = empty_folder();
    let script = format!(
        "{} -sSN {} | (IFS= read -rN 1 x; date +%s%N; cat >/dev/null; date +%s%N)",
        tool(),
        server.url("/drip/50/300/bytes/150")
    );
    let Ran { stdout, .. } = ran(Command::new("bash").args(["-c", &script]), folder);
    let times: Vec<u64> = stdout.lines().map(|line| line.parse().unwrap()).collect();
    assert!(times[1] - times[0] > 200_000_000, "{times:?}");
}
