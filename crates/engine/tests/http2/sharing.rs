//! Many transfers on one connection: who waits, what each knows about it, and its later use.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::RawFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tables::constant::{CURL_HTTP_VERSION_2_0, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE};
use tables::{Code, EasyOption as O, LockData};
use testkit::frames::{FramePeer, kind};
use warmwire_engine::callbacks::{Callbacks, DebugKind, WriteAnswer};
use warmwire_engine::share::{Locks, Share};
use warmwire_engine::{Easy, Interest, Multi, SocketHook};

use super::{App, long, message, patient, run_until, to, together};

/// Answers every request with "hi" at once.
fn obliging() -> FramePeer {
    FramePeer::start(|talk| {
        talk.greet(&[])?;
        loop {
            let stream = talk.request()?;
            talk.answer(stream, 200, b"hi")?;
        }
    })
}

/// covers: CURLINFO_HTTP_VERSION, CURLINFO_CONN_ID, CURLINFO_NUM_CONNECTS
#[test]
fn infos_of_transfers_that_share() {
    let peer = obliging();
    let all: Vec<(Easy, Rc<App>)> = (0..20).map(|_| to(&peer)).collect();
    let easies: Vec<&Easy> = all.iter().map(|(easy, _)| easy).collect();
    patient(&easies);
    assert_eq!(together(&Multi::default(), &easies), [Code::Ok; 20]);
    assert_eq!((peer.accepts(), peer.requests(0)), (1, 20));
    let mut connects = 0;
    for easy in &easies {
        let info = easy.state().info.borrow();
        assert_eq!((info.http_version, info.connection_id), (CURL_HTTP_VERSION_2_0, 0));
        assert!(info.pre_transfer >= info.connect && info.start_transfer >= info.pre_transfer);
        connects += info.connects;
    }
    assert_eq!(connects, 1);
}

/// A frame is reported by the task of the transfer that owns its stream: a failing callback ends only that
/// one.
#[test]
fn a_panic_in_a_frame_trace_ends_only_its_transfer() {
    struct AtFrames;
    impl Callbacks for AtFrames {
        fn wants_debug(&self) -> bool {
            true
        }
        fn traces(&self, layer: &str) -> bool {
            layer == "http/2"
        }
        fn debug(&self, _: DebugKind, data: &[u8]) {
            assert!(!data.starts_with(b"[HTTP/2] [1] <- "), "on purpose");
        }
        fn write(&self, _: &[u8]) -> WriteAnswer {
            WriteAnswer::All
        }
    }
    let peer = obliging();
    let multi = Multi::default();
    let panics = Easy::new(Rc::new(AtFrames));
    panics.set_text(O::Url, Some(format!("http://127.0.0.1:{}/", peer.port()).as_bytes())).unwrap();
    long(&panics, O::HttpVersion, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
    let others = [to(&peer), to(&peer)];
    let easies = [&panics, &others[0].0, &others[1].0];
    patient(&easies);
    easies.iter().for_each(|easy| assert_eq!(multi.add(easy), tables::MultiCode::Ok));
    let mut thrown = 0;
    while multi.running() > 0 {
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| multi.perform()));
        thrown += i32::from(run.is_err());
        multi.wait(&mut [], Duration::from_secs(1), false).unwrap();
    }
    let mut codes = Vec::new();
    while let Some((message, _)) = multi.next_message() {
        codes.push((std::ptr::eq(message.easy.state(), panics.state()), message.code));
    }
    codes.sort_by_key(|(panicked, _)| *panicked);
    assert_eq!((thrown, codes), (1, vec![(false, Code::Ok), (false, Code::Ok), (true, Code::FailedInit)]));
    assert_eq!(peer.accepts(), 1);
}

/// covers: CURLOPT_VERBOSE, curl_global_trace
#[test]
fn verbose_and_trace_lines() {
    let peer = obliging();
    let (easy, app) = to(&peer);
    for wanted in [
        &[
            "using HTTP/2\n",
            "[HTTP/2] [1] OPENED stream for http://127.0.0.1:",
            "[HTTP/2] [1] [:method: GET]\n",
            "[HTTP/2] [0] -> FRAME[SETTINGS, len=18]\n",
            "[HTTP/2] [0] -> FRAME[WINDOW_UPDATE, incr=1048510465]\n",
            "[HTTP/2] [1] -> FRAME[HEADERS, len=",
            "[HTTP/2] [0] <- FRAME[SETTINGS, len=0]\n",
            "[HTTP/2] [1] <- FRAME[DATA, len=2, eos=1, padlen=0]\n",
        ][..],
        &[
            "Reusing existing http: connection with host 127.0.0.1\n",
            "[HTTP/2] [3] OPENED stream",
            "[HTTP/2] [3] <- FRAME[DATA, len=2, eos=1, padlen=0]\n",
        ],
    ] {
        app.notes.replace(Some(String::new()));
        assert_eq!(easy.perform(), Code::Ok);
        let notes = app.notes.borrow().clone().unwrap();
        wanted.iter().for_each(|line| assert!(notes.contains(line), "{line} in {notes}"));
        assert!(notes.contains(" left intact\n"), "{notes}");
    }
}

/// Each transfer sees the frames of its own stream. Those of the connection are reported once, to the oldest
/// observer.
#[test]
fn frames_are_traced_by_the_transfer_of_their_stream() {
    let peer = obliging();
    let all = [to(&peer), to(&peer), to(&peer)];
    patient(&[&all[0].0, &all[1].0, &all[2].0]);
    all[1..].iter().for_each(|(_, app)| drop(app.notes.replace(Some(String::new()))));
    assert_eq!(together(&Multi::default(), &[&all[0].0, &all[1].0, &all[2].0]), [Code::Ok; 3]);
    let notes_of = |which: usize| all[which].1.notes.borrow().clone().unwrap();
    for (which, own, other) in [(1, 3, 5), (2, 5, 3)] {
        let notes = notes_of(which);
        assert!(notes.contains(&format!("[HTTP/2] [{own}] -> FRAME[HEADERS")), "{notes}");
        assert!(notes.contains(&format!("[HTTP/2] [{own}] <- FRAME[DATA, len=2, eos=1")), "{notes}");
        assert!(
            !notes.contains(&format!("[{other}] -> FRAME")) && !notes.contains("[1] -> FRAME"),
            "{notes}"
        );
    }
    let settings = [notes_of(1), notes_of(2)].concat().matches("[0] <- FRAME[SETTINGS").count();
    assert!(settings <= 2, "{settings}");
}

/// Data of a paused transfer stays in its window, and delays no other.
#[test]
fn a_paused_transfer_holds_no_more_than_its_window() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let slow = talk.request()?;
        talk.head(slow, &[(":status", "200")], false)?;
        talk.data(slow, &[b's'; 65_536], false)?;
        let quick = talk.request()?;
        talk.head(quick, &[(":status", "200")], false)?;
        let mut left = 5usize << 20;
        let mut window = 65_536usize;
        while left > 0 {
            let n = left.min(window).min(16_384);
            talk.data(quick, &vec![b'q'; n], n == left)?;
            (left, window) = (left - n, window - n);
            if window == 0 {
                let more = talk.until(|frame| frame.is(kind::WINDOW_UPDATE, quick))?;
                window += more.number(0) as usize;
            }
        }
        talk.until(|frame| frame.is(kind::WINDOW_UPDATE, slow))?;
        talk.data(slow, b"end", true)?;
        talk.hold()
    });
    let (slow, quick) = (to(&peer), to(&peer));
    patient(&[&slow.0, &quick.0]);
    *slow.1.answers.borrow_mut() = VecDeque::from([WriteAnswer::Pause]);
    let multi = Multi::default();
    multi.add(&slow.0);
    run_until(&multi, || slow.1.answers.borrow().is_empty());
    multi.add(&quick.0);
    run_until(&multi, || multi.running() == 1);
    assert_eq!((quick.1.body.borrow().len(), slow.1.body.borrow().len()), (5 << 20, 0));
    let given = peer.frames(0).iter().filter(|frame| frame.is(kind::WINDOW_UPDATE, 1)).count();
    assert_eq!(given, 0, "a pause gives no window back");
    slow.0.pause(0);
    run_until(&multi, || multi.running() == 0);
    assert_eq!((slow.1.body.borrow().len(), peer.accepts()), (65_539, 1));
}

#[test]
fn the_servers_limit_and_ours_are_kept() {
    for (theirs, ours, most) in [(3, 100, 3), (100, 2, 2)] {
        let peer = FramePeer::start(move |talk| {
            talk.greet(&[(3, theirs)])?;
            let mut open = Vec::new();
            loop {
                open.push(talk.request()?);
                while let Some(stream) = talk.request_within(Duration::from_millis(50))? {
                    open.push(stream);
                }
                assert!(open.len() <= most, "{open:?}");
                for stream in open.drain(..) {
                    talk.answer(stream, 200, b"hi")?;
                }
            }
        });
        let all: Vec<(Easy, Rc<App>)> = (0..10).map(|_| to(&peer)).collect();
        let multi = Multi::default();
        multi.set_max_streams(ours);
        multi.set_limits(warmwire_engine::multi::Limits { max_host: 1, ..Default::default() });
        // The first one reveals the server's limit.
        assert_eq!(together(&multi, &[&all[0].0]), [Code::Ok]);
        let easies: Vec<&Easy> = all[1..].iter().map(|(easy, _)| easy).collect();
        patient(&easies);
        assert_eq!(together(&multi, &easies), [Code::Ok; 9]);
        assert_eq!((peer.accepts(), peer.requests(0)), (1, 10));
    }
}

/// Two transfers at once have two connections, unless the second may wait for the first's.
/// covers: CURLMOPT_PIPELINING, CURLOPT_PIPEWAIT, curl_multi_waitfds
#[test]
fn descriptors_of_two_transfers() {
    for (multiplexes, waits, wanted) in [(false, false, 2), (false, true, 2), (true, true, 1)] {
        let peer = FramePeer::start(|talk| {
            talk.greet(&[])?;
            let first = talk.request()?;
            talk.head(first, &[(":status", "200")], false)?;
            talk.hold()
        });
        let (one, two) = (to(&peer), to(&peer));
        if waits {
            patient(&[&one.0, &two.0]);
        }
        let multi = Multi::default();
        multi.set_multiplexing(multiplexes);
        multi.add(&one.0);
        multi.add(&two.0);
        let has_head = |app: &App| !app.headers.borrow().is_empty();
        run_until(&multi, || has_head(&one.1) && (multiplexes || has_head(&two.1)));
        run_until(&multi, || peer.accepts() == wanted && multi.interests().len() == wanted);
        multi.remove(&one.0);
        multi.remove(&two.0);
    }
}

/// The calls of an event loop's callbacks.
#[derive(Default)]
pub(super) struct Log {
    now: Mutex<BTreeMap<RawFd, Interest>>,
    /// Most descriptors at a time.
    most: AtomicUsize,
}

impl SocketHook for Log {
    fn changed(&self, fd: RawFd, interest: Interest, _: u64) {
        let mut now = self.now.lock().unwrap();
        match interest.is_empty() {
            true => drop(now.remove(&fd)),
            false => drop(now.insert(fd, interest)),
        }
        self.most.fetch_max(now.len(), SeqCst);
    }
}

/// Twenty transfers are one socket to an event loop, and none once nobody uses it.
/// covers: curl_multi_socket_action, CURLMOPT_SOCKETFUNCTION
#[test]
fn an_event_loop_hears_of_one_socket() {
    let peer = obliging();
    let all: Vec<(Easy, Rc<App>)> = (0..20).map(|_| to(&peer)).collect();
    let easies: Vec<&Easy> = all.iter().map(|(easy, _)| easy).collect();
    patient(&easies);
    let (multi, log) = (Multi::default(), Arc::new(Log::default()));
    multi.set_socket_hook(Some(log.clone()));
    multi.set_timer(Some(Rc::new(|_| true)));
    for round in 0..2 {
        easies.iter().for_each(|easy| assert_eq!(multi.add(easy), tables::MultiCode::Ok));
        multi.socket_action(None, Interest::NONE, false);
        super::eventually(|| {
            let interests = log.now.lock().unwrap().clone();
            for (fd, interest) in interests {
                multi.socket_action(Some(fd), interest, false);
            }
            multi.socket_action(None, Interest::NONE, false);
            multi.running() == 0
        });
        assert!(log.now.lock().unwrap().is_empty(), "an idle connection is nobody's business");
        easies.iter().for_each(|easy| assert_eq!(multi.remove(easy), tables::MultiCode::Ok));
        assert_eq!((log.most.load(SeqCst), peer.accepts(), peer.requests(0)), (1, 1, 20 * (round + 1)));
    }
}

/// covers: curl_easy_upkeep, CURLOPT_UPKEEP_INTERVAL_MS
#[test]
fn upkeep_asks_whether_the_peer_is_there() {
    let peer = obliging();
    let (easy, _) = to(&peer);
    long(&easy, O::UpkeepIntervalMs, 1);
    assert_eq!(easy.perform(), Code::Ok);
    std::thread::sleep(Duration::from_millis(5));
    easy.upkeep();
    super::eventually(|| {
        peer.frames(0).iter().any(|frame| frame.is(kind::PING, 0) && frame.payload == [0; 8])
    });
    assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, 1), "{}", message(&easy));
    // One that is in use is checked, too.
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        talk.until(|frame| frame.is(kind::PING, 0))?;
        talk.answer(stream, 200, b"hi")?;
        talk.hold()
    });
    let (easy, _) = to(&peer);
    let multi = Multi::default();
    multi.add(&easy);
    run_until(&multi, || peer.accepts() == 1 && peer.requests(0) == 1);
    multi.upkeep(Duration::ZERO);
    run_until(&multi, || multi.running() == 0);
    assert_eq!(easy.state().info.borrow().response_code, 200);
    multi.remove(&easy);
}

/// How often the lock of the connections was taken, and whether it is held.
#[derive(Default)]
struct Counting {
    taken: AtomicUsize,
    held: AtomicUsize,
}

impl Locks for Counting {
    fn lock(&self, data: LockData, _: usize) {
        if data == LockData::Connect {
            assert_eq!(self.held.fetch_add(1, SeqCst), 0);
            self.taken.fetch_add(1, SeqCst);
        }
    }
    fn unlock(&self, data: LockData, _: usize) {
        if data == LockData::Connect {
            assert_eq!(self.held.fetch_sub(1, SeqCst), 1);
        }
    }
}

/// A session without streams moves to the share, between its lock functions; another handle, and another
/// thread, resumes it.
#[test]
fn a_share_has_what_nobody_uses() {
    let peer = obliging();
    let share = Share::default();
    share.set_kind(LockData::Connect, true);
    let locks = Arc::new(Counting::default());
    share.set_locks(Some(locks.clone()));
    for round in 0..3 {
        let shared = share.clone();
        let port = peer.port();
        std::thread::spawn(move || {
            let (easy, app) = crate::common::handle(&format!("http://127.0.0.1:{port}/"));
            long(&easy, O::HttpVersion, tables::constant::CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
            easy.set_share(Some(shared));
            assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
            assert_eq!(&app.body.borrow()[..], b"hi");
        })
        .join()
        .unwrap();
        assert_eq!((peer.accepts(), peer.requests(0)), (1, round + 1));
        assert_eq!(share.pool().map(|pool| pool.len()), Some(1));
        // Once to search for a connection, and once when the session has parked, after the stream was closed.
        assert!(locks.taken.swap(0, SeqCst) >= 3 && locks.held.load(SeqCst) == 0);
    }
}

/// As long as a stream is open its connection belongs to one handle, even if idle ones are shared.
#[test]
fn a_session_with_a_stream_is_its_handles_own() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let (sender, receiver) = (Mutex::new(sender), Mutex::new(receiver));
    let peer = FramePeer::start(move |talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        // The first is answered once the second has been.
        if talk.number == 0 {
            let _ = receiver.lock().unwrap().recv();
        }
        talk.answer(stream, 200, b"hi")?;
        if talk.number == 1 {
            let _ = sender.lock().unwrap().send(());
        }
        talk.hold()
    });
    let share = Share::default();
    share.set_kind(LockData::Connect, true);
    let fetch = |share: Share| {
        let port = peer.port();
        std::thread::spawn(move || {
            let (easy, _) = crate::common::handle(&format!("http://127.0.0.1:{port}/"));
            long(&easy, O::HttpVersion, tables::constant::CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
            easy.set_share(Some(share));
            assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
        })
    };
    let first = fetch(share.clone());
    super::eventually(|| peer.accepts() == 1 && peer.requests(0) == 1);
    fetch(share.clone()).join().unwrap();
    first.join().unwrap();
    assert_eq!((peer.accepts(), share.pool().map(|pool| pool.len())), (2, Some(2)));
}
