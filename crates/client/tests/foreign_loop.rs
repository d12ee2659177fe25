//! Many transfers in a foreign event loop: news, buffered data, and limits.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use testkit::body::pattern;
use testkit::ftp::FtpServer;
use testkit::http::HttpServer;
use testkit::raw::{RawPeer, Step, expect, send};
use testkit::temp::TempDir;
use warmwire::LockData;
use warmwire::transfers::{BodyBuffer, BodyMemory, Request, Sink, Start, Template, Transfers, Upload};
use warmwire::{Code, EasyOption as O, Limits, Share, Value};

/// The longest that anything here is waited for.
const SOON: Duration = Duration::from_secs(20);

fn get(url: &str) -> Request {
    Request {
        options: vec![(O::Url, url.into())],
        upload: Upload::Nothing,
        sink: Sink::Memory,
        window: 64 * 1024,
        reports_connection: false,
        choices: Default::default(),
        stall_limit: None,
        explain: warmwire::Reasons::Off,
        access_policy: None,
    }
}

/// Runs the loop until the condition holds; returns the transfers with news meanwhile.
fn turn_until(transfers: &mut Transfers, mut is_so: impl FnMut(&mut Transfers) -> bool) -> Vec<usize> {
    let (began, mut news) = (Instant::now(), Vec::new());
    loop {
        transfers.perform();
        news.extend(std::iter::from_fn(|| transfers.next_news()));
        if is_so(transfers) {
            return news;
        }
        assert!(began.elapsed() < SOON, "nothing has come of it; news of {news:?}");
        transfers.wait(Duration::from_millis(100)).unwrap();
    }
}

/// Runs a transfer to its end and releases it.
fn fetch(transfers: &mut Transfers, request: Request) -> (Code, Vec<u8>) {
    let id = transfers.start(request).unwrap();
    let mut body = Vec::new();
    turn_until(transfers, |transfers| {
        body.extend(transfers.take_body(id));
        transfers.has_ended(id)
    });
    let outcome = transfers.take_outcome(id).unwrap();
    assert_eq!(outcome.message.is_empty(), outcome.code == Code::Ok, "{outcome:?}");
    transfers.release(id);
    (outcome.code, body)
}

#[test]
fn a_head_is_news_before_its_body() {
    let peer = RawPeer::start(vec![vec![
        expect("\r\n\r\n"),
        send(
            "HTTP/1.1 103 Early Hints\r\nLink: </s>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\n",
        ),
        Step::Hold,
    ]]);
    let mut transfers = Transfers::new(None);
    let id = transfers.start(get(&format!("http://{}/", peer.address()))).unwrap();
    let news = turn_until(&mut transfers, |transfers| transfers.has_head(id));
    assert_eq!(news, [id]);
    let head = String::from_utf8(transfers.take_head(id)).unwrap();
    assert!(head.contains(" 103 ") && head.ends_with("X: y\r\n\r\n"), "interim heads come before it: {head}");
    assert!(transfers.take_head(id).is_empty() && transfers.take_body(id).is_empty());
    assert!(!transfers.has_ended(id) && transfers.take_outcome(id).is_none());
    assert_eq!(transfers.running(), 1);
}

#[test]
fn a_redirect_that_is_followed_is_no_last_head() {
    let server = HttpServer::plain();
    let mut transfers = Transfers::new(None);
    for (follows, status) in [(true, 200), (false, 302)] {
        let mut request = get(&server.url("/redirect/2"));
        request.options.push((O::FollowLocation, follows.into()));
        let id = transfers.start(request).unwrap();
        turn_until(&mut transfers, |transfers| transfers.has_head(id));
        // Without followed redirects, the flag alone does not show it: the first byte of body does.
        turn_until(&mut transfers, |transfers| transfers.has_ended(id));
        assert_eq!(transfers.info(id, |info| info.response_code()), status);
        let heads = transfers.take_head(id);
        let count = heads.windows(9).filter(|bytes| *bytes == b"HTTP/1.1 ").count();
        assert_eq!(count, if follows { 3 } else { 1 });
        transfers.release(id);
    }
}

#[test]
fn an_unread_body_holds_the_sender() {
    let server = HttpServer::plain();
    let mut transfers = Transfers::new(None);
    let id = transfers.start(get(&server.url("/bytes/20000000"))).unwrap();
    // Part of it is news; the rest is bounded by the window and one receive.
    turn_until(&mut transfers, |transfers| transfers.info(id, |info| info.downloaded()) >= 64 * 1024);
    for _ in 0..10 {
        transfers.perform();
        transfers.wait(Duration::from_millis(20)).unwrap();
    }
    let held = transfers.info(id, |info| info.delivered());
    assert!((64 * 1024..(64 + 256) * 1024 + 1).contains(&held), "{held} bytes lie here");
    let mut body = transfers.take_body(id);
    assert_eq!(body.len() as i64, held);
    turn_until(&mut transfers, |transfers| {
        body.extend(transfers.take_body(id));
        transfers.has_ended(id)
    });
    body.extend(transfers.take_body(id));
    assert!(body == pattern(20_000_000));
}

#[test]
fn an_upload_is_fed() {
    let server = HttpServer::plain();
    let mut transfers = Transfers::new(None);
    let mut request = get(&server.url("/body"));
    request.options.push((O::Upload, true.into()));
    request.upload = Upload::Fed;
    let id = transfers.start(request).unwrap();
    for piece in [b"one ".as_slice(), b"two ", b"three"] {
        turn_until(&mut transfers, |transfers| transfers.wants_upload(id));
        transfers.feed(id, piece);
        assert!(!transfers.wants_upload(id));
    }
    turn_until(&mut transfers, |transfers| transfers.wants_upload(id));
    transfers.end_upload(id);
    turn_until(&mut transfers, |transfers| transfers.has_ended(id));
    assert_eq!(transfers.take_body(id), b"one two three");
    assert_eq!(transfers.take_outcome(id).unwrap().code, Code::Ok);
}

#[test]
fn an_upload_from_memory_is_sent_again() {
    let server = HttpServer::plain();
    let mut transfers = Transfers::new(None);
    let mut request = get(&server.url("/basic/me/secret"));
    request.options.extend([
        (O::Upload, true.into()),
        (O::InFileSizeLarge, 9.into()),
        (O::HttpAuth, 0xffff_ffef_i64.into()),
        (O::UserPwd, "me:secret".into()),
    ]);
    request.upload = Upload::Memory(vec!["each ".into(), "time".into()]);
    assert_eq!(fetch(&mut transfers, request), (Code::Ok, b"welcome\n".to_vec()));
    assert_eq!(server.last_request().unwrap().body, b"each time");
}

#[test]
fn a_body_goes_to_a_file_and_a_full_disk_is_an_error() {
    let server = HttpServer::plain();
    let mut transfers = Transfers::new(None);
    let folder = TempDir::new("sink").unwrap();
    let path = folder.path().join("body");
    let request =
        Request { sink: Sink::File(File::create(&path).unwrap()), ..get(&server.url("/bytes/100000")) };
    assert_eq!(fetch(&mut transfers, request), (Code::Ok, Vec::new()));
    assert_eq!(std::fs::read(&path).unwrap(), pattern(100_000));
    let full = File::options().write(true).open("/dev/full").unwrap();
    let request = Request { sink: Sink::File(full), ..get(&server.url("/bytes/1000")) };
    let id = transfers.start(request).unwrap();
    turn_until(&mut transfers, |transfers| transfers.has_ended(id));
    let outcome = transfers.take_outcome(id).unwrap();
    assert_eq!(outcome.code, Code::WriteError);
    assert!(outcome.message.starts_with("cannot write the body: No space left"), "{}", outcome.message);
}

#[test]
fn a_connection_is_news_where_that_is_wanted() {
    let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), Step::Hold]]);
    let mut transfers = Transfers::new(None);
    let request = Request { reports_connection: true, ..get(&format!("http://{}/", peer.address())) };
    let id = transfers.start(request).unwrap();
    assert!(!transfers.is_connected(id));
    let news = turn_until(&mut transfers, |transfers| transfers.is_connected(id));
    assert_eq!(news, [id]);
    assert!(!transfers.has_head(id));
}

#[test]
fn a_released_transfer_is_aborted() {
    let peer =
        RawPeer::start(vec![vec![expect("\r\n\r\n"), send("HTTP/1.1 200 OK\r\n\r\nsome"), Step::ReadAll]]);
    let mut transfers = Transfers::new(None);
    let id = transfers.start(get(&format!("http://{}/", peer.address()))).unwrap();
    turn_until(&mut transfers, |transfers| transfers.has_head(id));
    assert!(transfers.knows(id));
    transfers.release(id);
    assert!(!transfers.knows(id) && transfers.running() == 0);
    peer.wait_for_ends(1);
    assert_eq!(peer.ends(), 1);
    transfers.release(id); // without an owner
    transfers.perform();
    assert_eq!(transfers.next_news(), None);
}

#[test]
fn one_transfer_leaves_nothing_for_the_next() {
    let server = HttpServer::plain();
    let mut transfers = Transfers::new(None);
    let mut first = get(&server.url("/cookies/set/a/b"));
    first.options.extend([
        (O::CookieFile, "".into()),
        (O::HttpHeader, Value::List(vec![b"X-First: yes".to_vec()])),
        (O::UserPwd, "me:secret".into()),
    ]);
    assert_eq!(fetch(&mut transfers, first).0, Code::Ok);
    let mut second = get(&server.url("/cookies"));
    second.options.push((O::CookieFile, "".into()));
    assert_eq!(fetch(&mut transfers, second), (Code::Ok, Vec::new()));
    let request = server.last_request().unwrap();
    assert_eq!((request.field("X-First"), request.field("Authorization")), (None, None));
    assert_eq!(server.accepts(), 1, "but for the connection");
}

#[test]
fn a_share_is_everybodys() {
    let server = HttpServer::plain();
    let share = Share::default();
    share.set_kind(LockData::Connect, true);
    for _ in 0..2 {
        let mut transfers = Transfers::new(Some(share.clone()));
        assert_eq!(fetch(&mut transfers, get(&server.url("/bytes/1"))).0, Code::Ok);
    }
    assert_eq!(server.accepts(), 1);
}

/// While a loop keeps connections nobody else can use them; afterwards everybody can.
#[test]
fn kept_connections_go_back_at_the_end() {
    let server = HttpServer::plain();
    let share = Share::default();
    share.set_kind(LockData::Connect, true);
    let get_one = |transfers: &mut Transfers| {
        assert_eq!(fetch(transfers, get(&server.url("/bytes/1"))).0, Code::Ok);
        server.accepts()
    };
    let mut other = Transfers::new(Some(share.clone()));
    assert_eq!(get_one(&mut other), 1);
    let mut keeping = Transfers::new(Some(share.clone()));
    keeping.keep_connections();
    assert_eq!([get_one(&mut keeping), get_one(&mut keeping)], [1, 1]);
    assert_eq!(get_one(&mut other), 2, "the first one is kept");
    drop(keeping);
    let both: Vec<_> = (0..2).map(|_| other.start(get(&server.url("/delay/200/bytes/1"))).unwrap()).collect();
    turn_until(&mut other, |other| both.iter().all(|id| other.has_ended(*id)));
    assert_eq!(server.accepts(), 2);
}

#[test]
fn limits_have_transfers_wait() {
    let server = HttpServer::plain();
    let mut transfers = Transfers::new(None);
    transfers.set_limits(Limits { max_host: 2, ..Limits::default() });
    let ids: Vec<usize> =
        (0..10).map(|_| transfers.start(get(&server.url("/delay/30/bytes/1"))).unwrap()).collect();
    turn_until(&mut transfers, |transfers| ids.iter().all(|id| transfers.has_ended(*id)));
    assert!(ids.iter().all(|id| transfers.take_outcome(*id).unwrap().code == Code::Ok));
    assert_eq!(server.accepts(), 2);
}

#[test]
fn refused_options_are_named() {
    let mut transfers = Transfers::new(None);
    let mut request = get("http://127.0.0.1:1/");
    request.options.push((O::TimeoutMs, (-1).into()));
    let failure = transfers.start(request).unwrap_err();
    assert_eq!(failure.code, Code::BadFunctionArgument);
    assert!(failure.message.starts_with("TIMEOUT_MS: "), "{}", failure.message);
    assert_eq!(transfers.running(), 0);
}

#[test]
fn a_transfer_without_http_has_no_head() {
    let server = FtpServer::with_file("/file", "by ftp");
    let mut transfers = Transfers::new(None);
    assert_eq!(fetch(&mut transfers, get(&server.url("/file"))), (Code::Ok, b"by ftp".to_vec()));
}

/// Readable within the time?
fn is_readable(descriptor: &impl AsFd, limit: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut set = [PollFd::new(descriptor, PollFlags::IN)];
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
    poll(&mut set, Some(&limit)).unwrap() > 0
}

#[test]
fn one_descriptor_signals_all_transfers() {
    let server = HttpServer::plain();
    let mut transfers = Transfers::new(None);
    let descriptor = transfers.descriptor().unwrap();
    let ids: Vec<usize> = (0..20)
        .map(|at| transfers.start(get(&server.url(&format!("/delay/{}/bytes/9", at * 5)))).unwrap())
        .collect();
    let began = Instant::now();
    let mut turns = 0;
    while !ids.iter().all(|id| transfers.has_ended(*id)) {
        assert!(began.elapsed() < SOON);
        let limit = transfers.timeout().unwrap_or(SOON).min(SOON);
        is_readable(&descriptor, limit);
        transfers.perform();
        turns += 1;
    }
    assert!(turns < 20 * 20, "{turns} turns for twenty transfers");
    assert!(!is_readable(&descriptor, Duration::ZERO), "nothing is left to do");
    // A call from another thread is reported by it, and ends a wait.
    let wake = transfers.waker();
    let thread = std::thread::spawn(wake);
    thread.join().unwrap();
    assert!(is_readable(&descriptor, SOON));
    let waited: io::Result<()> = transfers.wait(SOON);
    waited.unwrap();
    assert!(began.elapsed() < SOON);
}

/// On a kept connection, the engine's own or a share's, a request causes no event before its reply does.
#[test]
fn a_request_is_no_event_before_its_reply() {
    let server = HttpServer::plain();
    let share = Share::default();
    share.set_kind(LockData::Connect, true);
    for share in [None, Some(share)] {
        let mut transfers = Transfers::new(share);
        let descriptor = transfers.descriptor().unwrap();
        assert_eq!(fetch(&mut transfers, get(&server.url("/bytes/1"))).0, Code::Ok);
        assert!(!is_readable(&descriptor, Duration::ZERO));
        let turn = transfers.turn();
        let id = transfers.start(get(&server.url("/delay/60000/bytes/1"))).unwrap();
        transfers.run_ready();
        drop(turn);
        assert_eq!(transfers.info(id, |info| info.connects()), 0);
        assert!(!is_readable(&descriptor, Duration::ZERO), "nothing has come");
        transfers.release(id);
        // Outside of a turn it does: otherwise the loop would not run.
        transfers.start(get(&server.url("/bytes/1"))).unwrap();
        assert!(is_readable(&descriptor, Duration::ZERO));
    }
}

/// Ends the transfer, and returns its body.
fn body_of(transfers: &mut Transfers, id: usize) -> Vec<u8> {
    turn_until(transfers, |transfers| transfers.has_ended(id));
    assert_eq!(transfers.take_outcome(id).unwrap().code, Code::Ok);
    let body = transfers.take_body(id);
    transfers.release(id);
    body
}

#[test]
fn transfers_of_a_template_differ_in_url_and_range() {
    let server = HttpServer::plain();
    let mut transfers = Transfers::new(None);
    let common =
        Request { options: vec![(O::HttpHeader, vec![b"X-Common: yes".to_vec()].into())], ..get("") };
    let template = Rc::new(Template::new(Request { window: usize::MAX, ..common }));
    // One handle makes all transfers: no state of one transfer remains for the next.
    for (size, range) in
        [(100, None), (200, Some("5-9")), (300, Some("7-9")), (400, None), (500, None), (600, Some("0-0"))]
    {
        let url = url_of(&server, size);
        let start = Start { url: url.as_bytes(), range, sink: Sink::Memory, reports_connection: false };
        let id = transfers.start_like(&template, start).unwrap();
        let (from, to) = range.map_or((0, size), |range| {
            let (from, to) = range.split_once('-').unwrap();
            (from.parse().unwrap(), to.parse::<usize>().unwrap() + 1)
        });
        assert_eq!(body_of(&mut transfers, id), pattern(size)[from..to], "{size} {range:?}");
        assert_eq!(server.last_request().unwrap().field("X-Common"), Some("yes"));
        if size == 400 {
            let id = transfers.start(get(&url_of(&server, 50))).unwrap();
            assert_eq!(body_of(&mut transfers, id), pattern(50));
            assert_eq!(server.last_request().unwrap().field("X-Common"), None, "another request between");
        }
    }
    let bad = Start { url: b"http://\x01/", range: None, sink: Sink::Memory, reports_connection: false };
    if let Ok(id) = transfers.start_like(&template, bad) {
        turn_until(&mut transfers, |transfers| transfers.has_ended(id));
        assert_eq!(transfers.take_outcome(id).unwrap().code, Code::UrlMalformat);
    }
}

fn url_of(server: &HttpServer, size: usize) -> String {
    server.url(&format!("/bytes/{size}"))
}

/// Memory of a caller that notes what it was asked for, and has some of it only.
#[derive(Default)]
struct Memory(RefCell<Vec<usize>>);

struct Bytes(Vec<u8>);

impl BodyBuffer for Bytes {
    fn room(&mut self, offset: usize) -> &mut [u8] {
        let end = self.0.len().min(offset + 5000);
        &mut self.0[offset..end]
    }
}

impl BodyMemory for Memory {
    fn allocate(&self, length: usize) -> Option<Box<dyn BodyBuffer>> {
        self.0.borrow_mut().push(length);
        (length != 99_999).then(|| Box::new(Bytes(vec![0; length])) as Box<dyn BodyBuffer>)
    }
}

#[test]
fn a_body_is_received_into_memory_of_the_caller() {
    let server = HttpServer::plain();
    let memory = Rc::new(Memory::default());
    let mut transfers = Transfers::new(None);
    transfers.set_body_memory(memory.clone());
    for (size, is_placed) in [(100_000, true), (1000, false), (99_999, false), (2_000_000, true)] {
        let request = Request { window: usize::MAX, ..get(&url_of(&server, size)) };
        let id = transfers.start(request).unwrap();
        turn_until(&mut transfers, |transfers| transfers.has_ended(id));
        assert_eq!(transfers.waiting_body(id), size);
        let placed = transfers.take_placed(id);
        assert_eq!(placed.is_some(), is_placed, "{size}");
        let body = match placed {
            Some((bytes, filled)) => bytes.downcast::<Bytes>().unwrap().0[..filled].to_vec(),
            None => transfers.take_body(id),
        };
        assert!(body == pattern(size) && transfers.take_body(id).is_empty(), "{size}");
        assert_eq!(transfers.info(id, |info| info.downloaded()), size as i64);
        transfers.release(id);
    }
    assert_eq!(memory.0.borrow()[0], 100_000);
    // A body that is read while it arrives stays in the buffer.
    let (code, body) = fetch(&mut transfers, get(&url_of(&server, 150_000)));
    assert!(code == Code::Ok && body == pattern(150_000));
    assert!(!memory.0.borrow().contains(&150_000));
}

#[test]
fn a_body_that_breaks_off_is_in_memory_of_the_caller_so_far() {
    let server = HttpServer::plain();
    let mut transfers = Transfers::new(None);
    transfers.set_body_memory(Rc::new(Memory::default()));
    let request = Request { window: usize::MAX, ..get(&server.url("/cut/60000/bytes/200000")) };
    let id = transfers.start(request).unwrap();
    turn_until(&mut transfers, |transfers| transfers.has_ended(id));
    assert_eq!(transfers.take_outcome(id).unwrap().code, Code::PartialFile);
    let (bytes, filled) = transfers.take_placed(id).unwrap();
    let whole = bytes.downcast::<Bytes>().unwrap().0;
    assert!(filled < whole.len() && whole.len() == 200_000 && whole[..filled] == pattern(200_000)[..filled]);
    transfers.release(id);
}
