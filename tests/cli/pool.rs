//! `WARMWIRE_POOL=user`: each run of the tool is a process of its own, and uses the connection of the
//! one before it. The servers are other people's.
#![cfg(unix)]

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use broker::{Client, Folder, Limits, Server};
use testkit::certs::{Authority, Leaf};
use testkit::http::HttpServer;
use testkit::launch::{
    Dovecot, Exim, Http2Kind, Http2Server, Nginx, SSH_USER, Squid, Sshd, TunnelKind, TunnelProxy, Vsftpd,
};
use testkit::needs;
use testkit::temp::TempDir;

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// Infos of a transfer: new connections, their handshake, the peer.
const INFOS: &str = "%{num_connects} %{time_appconnect} %{remote_ip} %{remote_port} %{size_download}\n";

/// A broker in a folder of its own, and files for the tool.
struct World {
    place: TempDir,
    broker: Option<JoinHandle<()>>,
    authority: Authority,
    leaf: Leaf,
}

impl World {
    fn new() -> World {
        let place = TempDir::new("pool").unwrap();
        let listener = Folder::at(&place.path().join("warmwire")).unwrap().listen().unwrap();
        let mut server = Server::new(listener, Limits::default()).unwrap();
        let broker = Some(std::thread::spawn(move || server.serve().unwrap()));
        let authority = Authority::new();
        let leaf = authority.good();
        place.write("ca.pem", authority.ca_pem()).unwrap();
        World { place, broker, authority, leaf }
    }

    fn folder(&self) -> PathBuf {
        self.place.path().join("warmwire")
    }

    fn client(&self) -> Client {
        Client::at(&self.folder(), PATIENCE)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warmwire"));
        command.args(["-q", "-sS", "-o", "/dev/null", "-w", INFOS, "--cacert"]);
        command.arg(self.place.path().join("ca.pem")).args(words);
        command.env("WARMWIRE_POOL", "user").env("WARMWIRE_POOL_DIR", self.folder());
        command.env("HOME", self.place.path());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        needs::output(&mut self.command(words))
    }

    /// Runs the tool, and returns its infos.
    fn infos(&self, words: &[&str]) -> Vec<String> {
        let output = self.run(words);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// Runs the tool several times: the first run opens a connection, later ones open none.
    fn goes_on(&self, words: &[&str]) {
        self.goes_on_with("0", words);
    }

    /// Expects that many connections of each later run: FTP opens one for data. On a busy machine the broker
    /// may be too slow for a run, which then works without it.
    fn goes_on_with(&self, others: &str, words: &[&str]) {
        let first = self.infos(words);
        assert_ne!(first[0], others, "{words:?}: {first:?}");
        let mut reused = 0;
        for _ in 0..40 {
            std::thread::sleep(Duration::from_millis(10));
            let next = self.infos(words);
            assert_eq!(next[2..], first[2..], "{words:?}");
            if next[0] == others {
                assert_eq!(next[1].parse(), Ok(0.0), "no handshake: {words:?}: {next:?}");
                reused += 1;
            }
            if reused == 3 {
                return;
            }
        }
        panic!("{words:?}: {reused} runs of 40 went on with a connection");
    }

    /// Waits until the broker lists a connection of that scheme. A process does not wait for the broker when
    /// it gives one.
    fn parks(&self, scheme: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            let parked = self.client().status().unwrap().parked;
            if parked.iter().any(|connection| connection.scheme == scheme) {
                return;
            }
            assert!(Instant::now() < end, "{scheme}: {parked:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.client().stop();
        if let Some(broker) = self.broker.take() {
            let _ = broker.join();
        }
    }
}

#[test]
fn http_and_https_go_on() {
    let world = World::new();
    let nginx = Nginx::start(&world.leaf, &[1000]).unwrap();
    let (http, https) = (nginx.http("/bytes-1000"), nginx.https("/bytes-1000"));
    world.goes_on(&[&http]);
    world.parks("http");
    world.goes_on(&["--http1.1", "--tls-max", "1.2", &https]);
    world.parks("https");
    let server = HttpServer::tls(world.leaf.server_config().unwrap());
    world.goes_on(&["--http1.1", "--tlsv1.3", &server.url("/bytes/1000")]);
    assert!(server.accepts() < server.served(), "{} of {}", server.accepts(), server.served());
}

#[test]
fn connections_through_proxies_go_on() {
    let world = World::new();
    let nginx = Nginx::start(&world.leaf, &[1000]).unwrap();
    let squid = Squid::start().unwrap();
    let (http, https) = (nginx.http("/bytes-1000"), nginx.https("/bytes-1000"));
    let proxy = squid.url();
    world.goes_on(&["-x", &proxy, &http]);
    world.goes_on(&["-x", &proxy, "-p", &http]);
    world.goes_on(&["-x", &proxy, "--http1.1", &https]);
}

#[test]
fn ftp_and_mail_go_on_logged_in() {
    let world = World::new();
    let vsftpd = Vsftpd::start(&[1000]).unwrap();
    world.goes_on_with("1", &[&vsftpd.url("/bytes-1000")]);
    let dovecot = Dovecot::start(&world.leaf, &world.authority).unwrap();
    dovecot.deliver("user", "1", b"Subject: x\r\n\r\nhello\r\n").unwrap();
    world.goes_on(&[&format!("imap://user:secret@127.0.0.1:{}/INBOX/;MAILINDEX=1", dovecot.imap)]);
    world.goes_on(&[&format!("imaps://user:secret@localhost:{}/INBOX/;MAILINDEX=1", dovecot.imaps)]);
    world.goes_on(&[&format!("pop3://user:secret@127.0.0.1:{}/1", dovecot.pop3)]);
}

/// A session of HTTP/2 keeps the tables of header compression: the long fields of each request are in
/// them, and reach the server unchanged. A body sent in between takes from the connection's window.
#[test]
fn http2_goes_on() {
    const COOKIE: &str = "cookie: session=long enough to be entered into the table";
    let world = World::new();
    for kind in [Http2Kind::Nginx, Http2Kind::Apache] {
        let server = Http2Server::start(kind, &world.leaf, &[1000]).unwrap();
        let url = server.https("/echo");
        let first = world.infos(&["-H", COOKIE, "--data", "first", &url]);
        assert_ne!(first[0], "0", "{kind:?}");
        let mut reused = 0;
        for round in 0..40 {
            std::thread::sleep(Duration::from_millis(10));
            let (own, body) = (format!("x-own: number {} of a few", round % 3), "b".repeat(round * 400));
            let infos = world.infos(&["-H", COOKIE, "-H", &own, "--data", &body, &url]);
            let seen = server.origin.last_request().unwrap();
            assert_eq!(seen.field("cookie"), COOKIE.strip_prefix("cookie: "), "{kind:?} {round}");
            assert_eq!(seen.field("x-own"), own.strip_prefix("x-own: "), "{kind:?} {round}");
            assert_eq!(seen.body.len(), body.len());
            reused += usize::from(infos[0] == "0");
        }
        assert!(reused >= 20, "{kind:?}: {reused} runs of 40 went on with a connection");
    }
}

/// OpenSSH is the SOCKS proxy, and Node the one over TLS.
#[test]
fn connections_through_socks_and_secure_proxies_go_on() {
    let world = World::new();
    let nginx = Nginx::start(&world.leaf, &[1000]).unwrap();
    let (http, https) = (nginx.http("/bytes-1000"), nginx.https("/bytes-1000"));
    let node = TunnelProxy::start(TunnelKind::Node, &world.leaf, &[]).unwrap();
    let proxy = node.https();
    let ca = world.place.path().join("ca.pem");
    let ca = ca.to_str().unwrap();
    world.goes_on(&["-x", &proxy, "--proxy-cacert", ca, "-p", &http]);
    world.goes_on(&["-x", &proxy, "--proxy-cacert", ca, "--http1.1", &https]);
    let sshd = Sshd::start("").unwrap();
    let socks = Socks::through(&sshd);
    for scheme in ["socks4", "socks5", "socks5h"] {
        let proxy = format!("{scheme}://127.0.0.1:{}", socks.port);
        world.goes_on(&["-x", &proxy, &http]);
        // nginx does not listen on ::1.
        world.goes_on(&["-4", "-x", &proxy, "--http1.1", &https]);
    }
}

/// A client of OpenSSH that serves as a SOCKS proxy; it ends with the test.
struct Socks {
    ssh: Child,
    port: u16,
}

impl Socks {
    fn through(sshd: &Sshd) -> Socks {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("ssh");
        command.args(["-F", "none", "-N", "-D", &format!("127.0.0.1:{port}"), "-p", &sshd.port.to_string()]);
        command.arg("-i").arg(sshd.path("user_ed25519")).arg("-o");
        command.arg(format!("UserKnownHostsFile={}", sshd.known_hosts().unwrap().display()));
        let ssh = match command.arg(format!("{SSH_USER}@127.0.0.1")).stdin(Stdio::null()).spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                testkit::left_out("ssh is missing: install the package openssh-client")
            }
            started => started.unwrap(),
        };
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < end, "ssh does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Socks { ssh, port }
    }
}

impl Drop for Socks {
    fn drop(&mut self) {
        let _ = self.ssh.kill();
        let _ = self.ssh.wait();
    }
}

#[test]
fn smtp_goes_on_logged_in() {
    let world = World::new();
    let dovecot = Dovecot::start(&world.leaf, &world.authority).unwrap();
    let exim = match Exim::start(&world.leaf, Some(&dovecot)) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            testkit::left_out("exim needs root")
        }
        started => started.unwrap(),
    };
    world.place.write("mail", "Subject: x\r\n\r\nhello\r\n").unwrap();
    let mail = world.place.path().join("mail");
    let words = ["--mail-from", "a@test", "--mail-rcpt", "b@test", "-u", "user:secret", "-T"];
    let words = [&words[..], &[mail.to_str().unwrap()]].concat();
    let plain = format!("smtp://127.0.0.1:{}", exim.port);
    let tls = format!("smtps://localhost:{}", exim.tls_port);
    let start_tls = format!("smtp://localhost:{}", exim.port);
    world.goes_on(&[&words[..], &[&plain]].concat());
    world.goes_on(&[&words[..], &[&tls]].concat());
    world.goes_on(&[&words[..], &["--ssl-reqd", &start_tls]].concat());
    assert!(exim.count() >= 12, "{} mails", exim.count());
}

/// Another password, proxy, certificate or address never gets the connection.
#[test]
fn another_identity_opens_its_own() {
    let world = World::new();
    let server = HttpServer::tls(world.leaf.server_config().unwrap());
    let url = server.url("/bytes/1000");
    let usual = ["--http1.1", url.as_str()];
    world.goes_on(&usual);
    let other_ca = world.place.path().join("other.pem");
    std::fs::copy(world.place.path().join("ca.pem"), &other_ca).unwrap();
    let other_ca = other_ca.to_str().unwrap();
    for words in [
        &["-k"][..],
        &["--cacert", other_ca],
        &["--interface", "127.0.0.1"],
        &["--tls-max", "1.2"],
        &["--ciphers", "ECDHE+AESGCM"],
        &["-4"],
        &["--connect-to", "::127.0.0.1:"],
        &["--keepalive-time", "7"],
    ] {
        let infos = world.infos(&[words, &usual[..]].concat());
        assert_ne!(infos[0], "0", "{words:?}: {infos:?}");
    }
    let again = (0..40).any(|_| world.infos(&usual)[0] == "0");
    assert!(again, "the broker served all the time");
}

/// `--why` names the broker when this process has no connection.
#[test]
fn the_reason_names_the_broker() {
    let world = World::new();
    let server = HttpServer::plain();
    let url = server.url("/bytes/10");
    let why = |change: &dyn Fn(&mut Command), words: &[&str]| {
        let mut command = world.command(&[words, &["--why", &url]].concat());
        change(&mut command);
        let output = needs::output(&mut command);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let expect = |change: &dyn Fn(&mut Command), words: &[&str], wanted: &str| {
        // A broker that is slow on a busy machine is a reason of its own.
        let found = (0..200).map(|_| why(change, words)).find(|text| text.contains(wanted));
        assert!(found.is_some(), "{wanted}: {}", why(change, words));
    };
    let none = |_: &mut Command| ();
    expect(&none, &["-A", "nobody"], "the broker has none with these settings");
    expect(&none, &["--ntlm", "-u", "a:b"], "stays in its process: NTLM or Negotiate authenticated it");
    let no_broker = |command: &mut Command| {
        let empty = world.place.path().join("empty");
        command.env("WARMWIRE_POOL_DIR", empty).env("WARMWIRE_BROKER", "/does/not/exist");
    };
    expect(&no_broker, &[], "no broker runs yet");
    let file = world.place.write("file", "").unwrap();
    let unusable = |command: &mut Command| {
        command.env("WARMWIRE_POOL_DIR", &file);
    };
    expect(&unusable, &[], "the broker can't be used");
    // It listens, and nobody answers.
    let silent = world.place.path().join("silent");
    let _listener = Folder::at(&silent).unwrap().listen().unwrap();
    let slow = |command: &mut Command| {
        command.env("WARMWIRE_POOL_DIR", &silent);
    };
    expect(&slow, &[], "the broker did not answer within 5 ms");
    let json = String::from_utf8_lossy(
        &needs::output(world.command(&["--why=json", &url]).env("WARMWIRE_POOL_DIR", &silent)).stderr,
    )
    .into_owned();
    assert!(json.contains("\"broker-slow\""), "{json}");
}

/// A run that opens a connection although one was parked says why: the machine was too busy for the 5 ms.
#[test]
fn each_run_that_opens_anew_gives_the_reason() {
    let world = World::new();
    let server = HttpServer::plain();
    let url = server.url("/bytes/10");
    world.goes_on(&[&url]);
    for round in 0..200 {
        let output = world.run(&["--why", &url]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let is_new = String::from_utf8_lossy(&output.stdout).starts_with('1');
        let has_reason =
            ["did not answer within 5 ms", "the broker has none"].map(|text| stderr.contains(text));
        assert_eq!(is_new, has_reason.contains(&true), "{round}: {stderr}");
    }
}

/// A wire to a server that keeps what clients send, in a list for each connection.
struct Wire {
    port: u16,
    sent: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Wire {
    fn to(server: u16) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let sent: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
        let all = sent.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
                let at = {
                    let mut all = all.lock().unwrap();
                    all.push(Vec::new());
                    all.len() - 1
                };
                let (mut back, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut back, &mut to);
                    let _ = to.shutdown(Shutdown::Both);
                });
                let all = all.clone();
                std::thread::spawn(move || record(client, server, &all, at));
            }
        });
        Wire { port, sent }
    }
}

fn record(mut client: TcpStream, mut server: TcpStream, all: &Mutex<Vec<Vec<u8>>>, at: usize) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        all.lock().unwrap()[at].extend_from_slice(&buffer[..length]);
        if server.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Write);
}

/// Returns the explicit nonces of the records of data (TLS 1.2 with AES-GCM, RFC 5288).
fn nonces(mut stream: &[u8]) -> Vec<[u8; 8]> {
    let mut nonces = Vec::new();
    while let Some((&[kind, _, _, high, low], rest)) = stream.split_first_chunk::<5>() {
        let Some((record, rest)) = rest.split_at_checked(usize::from(u16::from_be_bytes([high, low]))) else {
            break;
        };
        if kind == 23 {
            nonces.push(*record.first_chunk().unwrap());
        }
        stream = rest;
    }
    nonces
}

/// Killed at any moment, a process leaves at most a closed connection: the next one is served all the same,
/// and no two records of a connection have one nonce.
#[test]
fn killed_processes_leave_nothing_behind() {
    let world = World::new();
    let nginx = Nginx::start(&world.leaf, &[1000]).unwrap();
    let wire = Wire::to(nginx.https_port);
    let url = format!("https://localhost:{}/bytes-1000", wire.port);
    let words = ["--http1.1", "--tls-max", "1.2", "--ciphers", "ECDHE+AESGCM", url.as_str()];
    world.infos(&words);
    let started = Instant::now();
    world.infos(&words);
    let usual = started.elapsed();
    let moments = std::env::var("KILLS").map_or(60, |text| text.parse().expect("a number"));
    for moment in 0..moments {
        let mut child = world.command(&words).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(usual * moment / moments * 6 / 5);
        let _ = child.kill();
        child.wait().unwrap();
        if moment % 3 == 0 {
            assert_eq!(world.infos(&words).last().unwrap(), "1000", "after a kill at {moment}");
        }
    }
    let sent = wire.sent.lock().unwrap();
    let mut records = 0;
    for stream in sent.iter() {
        let nonces = nonces(stream);
        let different: HashSet<_> = nonces.iter().collect();
        assert_eq!(different.len(), nonces.len(), "a nonce comes twice");
        records += nonces.len();
    }
    assert!(records >= moments as usize / 3, "{records} records on {} connections", sent.len());
    assert!(sent.len() < records, "connections go on: {records} on {}", sent.len());
}

#[test]
fn privileged_and_mistaken_values_leave_the_pool_off() {
    let world = World::new();
    let server = HttpServer::plain();
    let url = server.url("/bytes/10");
    for round in 1..=2 {
        let output = needs::output(world.command(&[&url]).env("WARMWIRE_POOL", "yes"));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            stderr.matches("WARMWIRE_POOL=yes is ignored; WARMWIRE_POOL must be: process, user").count(),
            1,
            "{stderr}"
        );
        assert_eq!(server.accepts(), round);
    }
    assert!(world.client().status().unwrap().parked.is_empty());
}
