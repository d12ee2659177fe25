//! Watched URLs, against servers that are changed, restarted, stopped and far away.

use std::io::{BufRead, BufReader, ErrorKind};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use testkit::certs::Authority;
use testkit::ftp::{Config, Faults, FtpServer};
use testkit::launch::{Dovecot, Nginx, SSH_USER, Sshd, Vsftpd};
use testkit::link::Link;
use testkit::raw::{RawPeer, Step, expect, send};
use testkit::temp::TempDir;
use warmwire::watch::{Event, EventKind, Watcher};
use warmwire::{Code, EasyOption as O, Handle};

const INTERVAL: Duration = Duration::from_millis(50);
/// For a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns a server that needs root, or leaves the test out.
fn started<S>(server: std::io::Result<S>) -> S {
    match server {
        Ok(server) => server,
        Err(e) if e.kind() == ErrorKind::PermissionDenied => testkit::left_out("the server needs root"),
        Err(e) => panic!("{e}"),
    }
}

fn with_contents() -> Watcher {
    Watcher::builder(INTERVAL).keep_contents(true).build()
}

fn next(watcher: &mut Watcher) -> Event {
    watcher.next_event(Some(PATIENCE)).unwrap().expect("an event comes")
}

/// The next event of this URL.
fn next_of(watcher: &mut Watcher, index: usize) -> Event {
    loop {
        let event = next(watcher);
        if event.index == index {
            return event;
        }
    }
}

/// The kind and the content of the next event.
fn seen(watcher: &mut Watcher) -> (EventKind, String) {
    let event = next(watcher);
    (event.kind, String::from_utf8(event.body.unwrap_or_default()).unwrap())
}

/// Runs polls, which must find nothing.
fn quiet(watcher: &mut Watcher, time: Duration) {
    if let Some(event) = watcher.next_event(Some(time)).unwrap() {
        panic!("{event:?}");
    }
}

#[test]
fn files_are_compared_with_what_was_seen_before() {
    let folder = TempDir::new("watch").unwrap();
    let path = folder.write("a file", "one").unwrap();
    let url = format!("file://{}", path.display()).replace(' ', "%20");
    let mut watcher = with_contents();
    assert_eq!(watcher.add(&url).unwrap(), 0);
    assert_eq!(seen(&mut watcher), (EventKind::First, "one".into()));
    folder.write("a file", "two!").unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::Changed, "two!".into()));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::Gone, String::new()));
    quiet(&mut watcher, INTERVAL * 4);
    assert_eq!(watcher.status(0).unwrap().exists, Some(false));
    folder.write("a file", "three").unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::Appeared, "three".into()));
    assert!(watcher.status(0).unwrap().windows.met > 4);
    assert!(watcher.status(1).is_none());
}

/// Time and size are the same after the second change: only the content shows it.
#[test]
fn two_changes_within_a_second_are_both_found() {
    let folder = TempDir::new("watch").unwrap();
    let path = folder.write("f", "aaaa").unwrap();
    let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let write = |text: &str| {
        let file = folder.write("g", text).unwrap();
        std::fs::File::options().append(true).open(&file).unwrap().set_modified(time).unwrap();
        std::fs::rename(file, &path).unwrap();
    };
    write("aaaa");
    let mut watcher = with_contents();
    watcher.add(&format!("file://{}", path.display())).unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::First, "aaaa".into()));
    write("bbbb");
    assert_eq!(seen(&mut watcher), (EventKind::Changed, "bbbb".into()));
}

#[test]
fn a_poll_by_ftp_is_one_round_trip_on_a_kept_connection() {
    let files = [("/d/f".to_owned(), b"12345".to_vec())].into();
    let greeting = Some("(vsFTPd 3.0.3)".into());
    let server = FtpServer::start(Config { files, greeting, ..Config::default() }).unwrap();
    let mut watcher = Watcher::new(INTERVAL);
    watcher.add(&server.url("/d/f")).unwrap();
    let first = next(&mut watcher);
    assert_eq!((first.kind, first.stamp.size), (EventKind::First, Some(5)));
    assert_eq!(first.stamp.modified, Some(1_704_164_645), "2024-01-02 03:04:05");
    let (commands, together) = (server.commands().len(), server.together());
    quiet(&mut watcher, INTERVAL * 6);
    let commands = server.commands().split_off(commands);
    let polls = commands.len() / 2;
    assert!(polls >= 3, "{commands:?}");
    assert_eq!(commands, ["MDTM f", "SIZE f"].repeat(polls), "no login, no CWD, no TYPE");
    assert_eq!(server.together() - together, polls, "each poll in one packet");
    assert_eq!((server.accepts(), server.data_accepts()), (1, 0));
}

#[test]
fn an_unknown_ftp_server_gets_one_command_at_a_time() {
    let server = FtpServer::with_file("/f", "12345");
    let mut watcher = Watcher::new(INTERVAL);
    watcher.add(&server.url("/f")).unwrap();
    assert_eq!(next(&mut watcher).kind, EventKind::First);
    let before = server.commands().len();
    quiet(&mut watcher, INTERVAL * 6);
    let commands = server.commands().split_off(before);
    assert_eq!(commands, ["MDTM f", "SIZE f"].repeat(commands.len() / 2));
    assert!(commands.len() >= 6, "{commands:?}");
    assert_eq!((server.accepts(), server.together()), (1, 0));
}

/// The connection ends between two polls, before a reply, or between the two replies.
#[test]
fn a_connection_that_ends_is_replaced_unnoticed() {
    for lines in 8..=12 {
        let files = [("/f".to_owned(), b"12345".to_vec())].into();
        let greeting = Some("(vsFTPd 3.0.3)".into());
        let faults = Faults { cut_after_lines: Some(lines), ..Faults::default() };
        let server = FtpServer::start(Config { files, greeting, faults, ..Config::default() }).unwrap();
        let mut watcher = Watcher::new(INTERVAL);
        watcher.add(&server.url("/f")).unwrap();
        assert_eq!(next(&mut watcher).kind, EventKind::First);
        let begun = Instant::now();
        while server.accepts() < 3 && begun.elapsed() < PATIENCE {
            quiet(&mut watcher, INTERVAL);
        }
        assert!(server.accepts() >= 3, "{lines}: {:?}", server.commands());
        assert!(watcher.status(0).unwrap().failure.is_none(), "{lines}");
    }
}

#[test]
fn a_file_that_vsftpd_loses_is_gone_and_appears() {
    let server = started(Vsftpd::start(&[]));
    server.write("f", "one").unwrap();
    let mut watcher = Watcher::new(INTERVAL);
    watcher.add(&server.url("/f")).unwrap();
    assert_eq!(next(&mut watcher).kind, EventKind::First);
    server.write("f", "three").unwrap();
    let changed = next(&mut watcher);
    assert_eq!(changed.kind, EventKind::Changed);
    std::fs::remove_file(server.root().join("f")).unwrap();
    // The file was empty for a moment if it was seen at two sizes.
    let gone = std::iter::repeat_with(|| next(&mut watcher)).find(|event| event.kind != EventKind::Changed);
    assert_eq!(gone.unwrap().kind, EventKind::Gone);
    quiet(&mut watcher, INTERVAL * 4);
    server.write("f", "four").unwrap();
    assert_eq!(next(&mut watcher).kind, EventKind::Appeared);
}

#[test]
fn a_server_without_times_and_sizes_is_watched_by_content() {
    let files = [("/f".to_owned(), b"text".to_vec())].into();
    let refused = |command: &str| (command.to_owned(), "502 no such command".to_owned());
    let faults = Faults { replies: [refused("MDTM"), refused("SIZE")].into(), ..Faults::default() };
    let server = FtpServer::start(Config { files, faults, ..Config::default() }).unwrap();
    let mut watcher = with_contents();
    watcher.add(&server.url("/f")).unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::First, "text".into()));
    quiet(&mut watcher, INTERVAL * 4);
    assert!(server.commands().iter().filter(|command| *command == "RETR f").count() > 1);
}

#[test]
fn vsftpd_is_watched_through_a_restart() {
    let mut server = started(Vsftpd::start(&[]));
    server.write("f", "one").unwrap();
    let mut watcher = with_contents();
    watcher.add(&server.url("/f")).unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::First, "one".into()));
    server.write("f", "three").unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::Changed, "three".into()));
    server.restart().unwrap();
    server.write("f", "after it").unwrap();
    loop {
        match seen(&mut watcher) {
            // A poll may fall into the time without a server.
            (EventKind::Failed | EventKind::Recovered, _) => {}
            found => break assert_eq!(found, (EventKind::Changed, "after it".into())),
        }
    }
    server.stop();
    let failed = next(&mut watcher);
    assert_eq!(failed.kind, EventKind::Failed);
    assert_eq!(failed.failure.unwrap().code, Code::CouldntConnect);
    assert!(watcher.status(0).unwrap().failure.is_some());
    quiet(&mut watcher, INTERVAL * 10);
    server.restart().unwrap();
    assert_eq!(next(&mut watcher).kind, EventKind::Recovered);
}

#[test]
fn a_hanging_server_and_a_far_one_hold_up_no_other() {
    let link = Link::new(Duration::from_millis(300)).unwrap();
    let far = FtpServer::with_file("/f", "far");
    let door = link.door(far.address()).unwrap();
    let (near, hanging) = (started(Vsftpd::start(&[1])), started(Vsftpd::start(&[1])));
    let interval = Duration::from_millis(100);
    let mut watcher = Watcher::builder(interval).deadline(Duration::from_secs(5)).build();
    let near_at = watcher.add(&near.url("/bytes-1")).unwrap();
    let hanging_at = watcher.add(&hanging.url("/bytes-1")).unwrap();
    let far_at = watcher.add(&format!("ftp://{door}/f")).unwrap();
    (0..3).for_each(|_| assert_eq!(next(&mut watcher).kind, EventKind::First));
    hanging.hang(true);
    let before = watcher.status(near_at).unwrap().windows;
    let failed = next(&mut watcher);
    assert_eq!((failed.index, failed.kind), (hanging_at, EventKind::Failed));
    let failure = failed.failure.unwrap();
    assert_eq!((failure.code, &*failure.message), (Code::OperationTimedout, "no answer within 5000 ms"));
    let after = watcher.status(near_at).unwrap().windows;
    assert!(after.met >= before.met + 40, "{before:?} {after:?}: fifty windows have passed");
    assert!(watcher.status(far_at).unwrap().p50.unwrap() >= Duration::from_millis(300));
    assert_eq!(watcher.status(far_at).unwrap().windows.met, 0);
    hanging.hang(false);
    let recovered = next(&mut watcher);
    assert_eq!((recovered.index, recovered.kind), (hanging_at, EventKind::Recovered));
}

#[test]
fn nginx_is_asked_with_its_etags() {
    let server = Nginx::start(&Authority::new().good(), &[]).unwrap();
    server.write("fresh/f", "one").unwrap();
    let mut watcher = with_contents();
    watcher.add(&server.http("/fresh/f")).unwrap();
    let first = next(&mut watcher);
    assert!(first.stamp.etag.is_some() && first.stamp.modified.is_some(), "{first:?}");
    assert_eq!(first.body.unwrap(), b"one");
    // nginx makes the ETag of seconds and size: here both may be those of before.
    server.write("fresh/f", "two").unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::Changed, "two".into()));
    server.write("fresh/f", "a long one").unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::Changed, "a long one".into()));
    quiet(&mut watcher, Duration::from_millis(1500));
    watcher.add(&server.http("/fresh/none")).unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::First, String::new()));
    assert_eq!(watcher.status(1).unwrap().exists, Some(false));
    server.write("fresh/none", "some").unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::Appeared, "some".into()));
}

#[test]
fn conditions_and_refusals_of_http() {
    let ok = |more: &str| send(&format!("HTTP/1.1 {more}\r\n\r\n"));
    let end = "\r\n\r\n";
    let body = |etag: &str, text: &str| {
        let length = text.len();
        send(&format!("HTTP/1.1 200 OK\r\nETag: {etag}\r\nContent-Length: {length}\r\n\r\n{text}"))
    };
    let server = RawPeer::start(vec![vec![
        expect(end),
        body("W/\"1\"", "one"),
        expect("If-None-Match: W/\"1\"\r\n\r\n"),
        ok("304 Not Modified"),
        expect(end),
        ok("503 Later\r\nRetry-After: 1\r\nContent-Length: 0"),
        expect(end),
        body("W/\"2\"", "two"),
        expect("If-None-Match: W/\"2\"\r\n\r\n"),
        ok("404 None\r\nContent-Length: 0"),
        Step::Hold,
    ]]);
    let mut watcher = with_contents();
    let mut like = Handle::new();
    like.set(O::HttpHeader, vec![b"X-Of-Mine: 1".to_vec()]).unwrap();
    watcher.add_like(&format!("http://{}/", server.address()), like.easy()).unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::First, "one".into()));
    let failed = next(&mut watcher);
    assert_eq!(failed.failure.unwrap().message, "the server answers with status 503");
    let asked = Instant::now();
    assert_eq!(next(&mut watcher).kind, EventKind::Recovered);
    assert!(asked.elapsed() >= Duration::from_millis(990), "RFC 9110 §10.2.3: Retry-After");
    assert_eq!(seen(&mut watcher), (EventKind::Changed, "two".into()));
    assert_eq!(seen(&mut watcher), (EventKind::Gone, String::new()));
    let received = String::from_utf8(server.received().concat()).unwrap();
    assert!(received.matches("X-Of-Mine: 1\r\n").count() >= 4, "{received}");
    assert_eq!(server.accepts(), 1);
}

#[test]
fn a_file_by_sftp() {
    let server = Sshd::start("").unwrap();
    let path = server.write("watched", "one").unwrap();
    let mut like = Handle::new();
    like.set(O::SshPrivateKeyFile, &*server.path("user_ed25519").display().to_string()).unwrap();
    like.set(O::Username, SSH_USER).unwrap();
    let mut watcher = with_contents();
    watcher.add_like(&server.url("sftp", &path.display().to_string()), like.easy()).unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::First, "one".into()));
    server.write("watched", "two, longer").unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::Changed, "two, longer".into()));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(seen(&mut watcher), (EventKind::Gone, String::new()));
    let logins = server.log().matches("Accepted publickey").count();
    assert_eq!(logins, 1, "{}", server.log());
}

#[test]
fn dovecot_reports_by_itself() {
    let authority = Authority::new();
    let server = started(Dovecot::start(&authority.good(), &authority));
    let mut like = Handle::new();
    like.set(O::UserPwd, "user:secret").unwrap();
    like.set(O::SslVerifyPeer, false).unwrap();
    like.set(O::UseSsl, 3).unwrap();
    let mut watcher = Watcher::new(INTERVAL);
    watcher.add_like(&format!("imap://localhost:{}/INBOX", server.imap), like.easy()).unwrap();
    assert_eq!(next(&mut watcher).kind, EventKind::First);
    assert!(watcher.status(0).unwrap().streams);
    server.deliver("user", "1.mail", b"Subject: 1\r\n\r\nx\r\n").unwrap();
    let message = next(&mut watcher);
    assert_eq!(message.kind, EventKind::Message);
    assert_eq!(message.message.unwrap().data, "* 1 EXISTS");
}

/// RFC 9051 §6.3.13.
#[test]
fn idle_is_renewed_and_nothing_is_lost_in_between() {
    let announced = send("* CAPABILITY IMAP4rev1 IDLE\r\nA001 OK\r\n");
    let login = [send("* OK hello\r\n"), expect("A001 CAPABILITY\r\n"), announced];
    let select = [expect("A002 SELECT INBOX\r\n"), send("* 1 EXISTS\r\nA002 OK\r\n")];
    let rest = [
        expect("A003 IDLE\r\n"),
        send("+ idling\r\n* 2 EXISTS\r\n"),
        expect("DONE\r\n"),
        send("* 3 EXISTS\r\nA003 OK\r\n"),
        expect("A004 IDLE\r\n"),
        send("* 4 EXISTS\r\n+ idling\r\nA004 OK of the server's own will\r\n"),
        expect("A005 IDLE\r\n"),
        send("+ idling\r\n* 5 EXISTS\r\n"),
        Step::Hold,
    ];
    let server = RawPeer::start(vec![[&login[..], &select, &rest].concat()]);
    let mut like = Handle::new();
    like.set(O::ServerResponseTimeoutMs, 300).unwrap();
    let mut watcher = Watcher::new(INTERVAL);
    watcher.add_like(&format!("imap://{}/INBOX", server.address()), like.easy()).unwrap();
    assert_eq!(next(&mut watcher).kind, EventKind::First);
    for number in 2..=5 {
        assert_eq!(next(&mut watcher).message.unwrap().data, format!("* {number} EXISTS"));
    }
    let server = RawPeer::start(vec![[&login[..], &[Step::ReadAll]].concat()]);
    let mut watcher = Watcher::new(INTERVAL);
    watcher.add(&format!("imap://{}/", server.address())).unwrap();
    assert_eq!(next(&mut watcher).failure.unwrap().message, "Cannot IDLE without a mailbox.");
}

#[test]
fn a_mailbox_without_idle_is_polled_by_noop() {
    let idle = [expect("A003 IDLE\r\n"), send("* 2 EXISTS\r\nA003 BAD what?\r\n")];
    let asked = [expect("A002 CAPABILITY\r\n"), send("* CAPABILITY IMAP4rev1\r\nA002 OK\r\n")];
    for (announced, before, first) in [(" IDLE", &[][..], &idle[..]), ("", &asked, &[])] {
        let mut number = before.len() / 2 + 1;
        let mut tag = || {
            number += 1;
            format!("A{number:03}")
        };
        let capability = format!("* CAPABILITY IMAP4rev1{announced}\r\nA001 OK\r\n");
        let mut steps = vec![send("* OK hello\r\n"), expect("A001 CAPABILITY\r\n"), send(&capability)];
        steps.extend_from_slice(before);
        let select = tag();
        steps.push(expect(&format!("{select} SELECT INBOX\r\n")));
        steps.push(send(&format!("* 1 EXISTS\r\n{select} OK\r\n")));
        if !first.is_empty() {
            tag();
            steps.extend_from_slice(first);
        }
        for news in ["", "* 3 EXISTS\r\n", "* 2 EXPUNGE\r\n"] {
            let tag = tag();
            steps.extend([expect(&format!("{tag} NOOP\r\n")), send(&format!("{news}{tag} OK\r\n"))]);
        }
        // A report between two queries counts, too.
        steps.extend([send("* 9 EXISTS\r\n"), Step::Hold]);
        let server = RawPeer::start(vec![steps]);
        let mut watcher = Watcher::new(INTERVAL);
        watcher.add(&format!("imap://{}/INBOX", server.address())).unwrap();
        assert_eq!(next(&mut watcher).kind, EventKind::First);
        for wanted in ["* 3 EXISTS", "* 2 EXPUNGE", "* 9 EXISTS"] {
            assert_eq!(next(&mut watcher).message.unwrap().data, wanted, "{announced:?}");
        }
        assert_eq!(server.accepts(), 1);
    }
}

#[test]
fn dovecot_without_idle_is_polled() {
    let authority = Authority::new();
    let server = started(Dovecot::start_without_idle(&authority.good(), &authority));
    let mut greeting = String::new();
    let connection = TcpStream::connect(("127.0.0.1", server.imap)).unwrap();
    BufReader::new(connection).read_line(&mut greeting).unwrap();
    assert!(greeting.contains("[CAPABILITY IMAP4rev1") && !greeting.contains("IDLE"), "{greeting}");
    let mut like = Handle::new();
    like.set(O::UserPwd, "user:secret").unwrap();
    let mut watcher = Watcher::new(INTERVAL);
    watcher.add_like(&format!("imap://localhost:{}/INBOX", server.imap), like.easy()).unwrap();
    assert_eq!(next(&mut watcher).kind, EventKind::First);
    quiet(&mut watcher, INTERVAL * 4);
    for (number, name) in [(1, "1.mail"), (2, "2.mail")] {
        server.deliver("user", name, b"Subject: 1\r\n\r\nx\r\n").unwrap();
        let message = std::iter::repeat_with(|| next(&mut watcher))
            .find(|event| event.message.as_ref().is_some_and(|message| message.data.ends_with("EXISTS")));
        assert_eq!(message.unwrap().message.unwrap().data, format!("* {number} EXISTS"));
    }
}

#[test]
fn event_streams_report_by_themselves_and_are_continued() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n";
    let server = RawPeer::start(vec![
        vec![
            expect("\r\n\r\n"),
            send(&format!("{head}retry: 30\n\nid: 7\ndata: one\n\nevent: tick\nda")),
            Step::Sleep(Duration::from_millis(120)),
            send("ta: two\n\ndata: half"),
            Step::Finish,
        ],
        vec![expect("Last-Event-ID: 7\r\n\r\n"), send(&format!("{head}data: three\n\n")), Step::Hold],
    ]);
    let mut watcher = Watcher::new(INTERVAL);
    watcher.add(&format!("http://{}/", server.address())).unwrap();
    assert_eq!(next(&mut watcher).kind, EventKind::First);
    for (kind, data) in [("message", "one"), ("tick", "two"), ("message", "three")] {
        let event = next(&mut watcher);
        assert_eq!(event.kind, EventKind::Message, "{event:?}");
        let message = event.message.unwrap();
        assert_eq!((&*message.kind, &*message.data, &*message.id), (kind, data, "7"));
    }
    quiet(&mut watcher, INTERVAL * 4);
    assert_eq!(server.accepts(), 2);
}

#[test]
fn bad_urls_and_large_contents_are_errors() {
    let mut watcher = Watcher::builder(INTERVAL).content_limit(10).keep_contents(true).build();
    assert!(watcher.next_event(None).unwrap().is_none(), "nothing is watched");
    assert_eq!(watcher.add("http://a b/").unwrap_err().code, Code::UrlMalformat);
    assert_eq!(watcher.add("nosuch://host/").unwrap_err().code, Code::UnsupportedProtocol);
    assert!(watcher.is_empty());
    let folder = TempDir::new("watch").unwrap();
    let path = folder.write("f", "more than ten bytes").unwrap();
    watcher.add(&format!("file://{}", path.display())).unwrap();
    let failed = next_of(&mut watcher, 0);
    assert_eq!(failed.failure.unwrap().message, "the content is larger than the limit");
    folder.write("f", "few").unwrap();
    assert_eq!(next(&mut watcher).kind, EventKind::Recovered);
    assert_eq!(seen(&mut watcher), (EventKind::First, "few".into()));
}
