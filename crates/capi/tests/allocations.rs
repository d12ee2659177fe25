//! Counts the allocations of a GET on a kept handle: half of a request's cost in user code was malloc and
//! free, and no other test would notice their return. Also measures the memory of each of many waiting
//! transfers. It is here because replacing the allocator needs unsafe code.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::rc::Rc;

use engine::callbacks::{Callbacks, WriteAnswer};
use engine::{Easy, Multi};
use tables::{Code, EasyOption};
use testkit::certs::Authority;
use testkit::holding::Holding;
use testkit::http::HttpServer;

/// The system's allocator; counts the calls of each thread, and the bytes that it has.
struct Counting;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

/// Returns the size that glibc's allocator uses for that many bytes.
fn taken(size: usize) -> isize {
    (size + 8).next_multiple_of(16).max(32) as isize
}

fn count(bytes: isize) {
    CALLS.set(CALLS.get() + 1);
    BYTES.set(BYTES.get() + bytes);
}

// SAFETY: everything is passed on to the system's allocator; the counter is a plain cell that needs no
// destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(taken(layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - taken(layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(taken(size) - taken(layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// An application that takes everything.
struct Taker;

impl Callbacks for Taker {
    fn header(&self, _line: &[u8]) -> Option<WriteAnswer> {
        Some(WriteAnswer::All)
    }
}

const REQUESTS: usize = 200;
/// Calls per request. A little more than there are now; a hundred were there once.
const MOST_CALLS: usize = 5;

/// Limit if each request has another URL. Planning the route again would double it.
const MOST_CALLS_ELSEWHERE: usize = 25;

/// Counts the allocations of requests on a kept handle; `prepare` receives the number of each.
fn calls(easy: &Easy, mut prepare: impl FnMut(usize)) -> usize {
    let mut perform = |numbers: std::ops::Range<usize>| {
        for number in numbers {
            prepare(number);
            assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        }
    };
    perform(0..10);
    CALLS.set(0);
    perform(10..10 + REQUESTS);
    CALLS.get()
}

#[test]
fn a_kept_handle_allocates_little() {
    let server = HttpServer::plain();
    let easy = Easy::new(Rc::new(Taker));
    easy.set_text(EasyOption::Url, Some(server.url("/bytes/1000").as_bytes())).unwrap();
    let calls = calls(&easy, |_| {});
    assert!(calls <= MOST_CALLS * REQUESTS, "{calls} allocations in {REQUESTS} requests");
}

#[test]
fn another_url_of_the_same_server_is_planned_by_the_last() {
    let server = HttpServer::plain();
    let easy = Easy::new(Rc::new(Taker));
    let urls: Vec<String> =
        (0..10 + REQUESTS).map(|number| server.url(&format!("/bytes/1000?{number}"))).collect();
    let calls = calls(&easy, |number| easy.set_text(EasyOption::Url, Some(urls[number].as_bytes())).unwrap());
    assert!(calls <= MOST_CALLS_ELSEWHERE * REQUESTS, "{calls} allocations in {REQUESTS} requests");
}

/// An application that counts the pieces of bodies.
struct Counter(Rc<Cell<usize>>);

impl Callbacks for Counter {
    fn write(&self, _piece: &[u8]) -> WriteAnswer {
        self.0.set(self.0.get() + 1);
        WriteAnswer::All
    }
}

/// Transfers that wait at once: as many as fill the tables that double when they are full.
const CROWD: usize = 256;
/// Bytes per transfer with its handle, without the C boundary. Slightly above the current value.
const MOST_BYTES: isize = 6 * 1024;
const MOST_BYTES_SECURED: isize = 10 * 1024;

/// Measures the memory of each of many transfers that have received the first byte of their bodies.
fn bytes_in_a_crowd(server: &Holding, authority: &Authority) -> isize {
    let (multi, pieces) = (Multi::default(), Rc::new(Cell::new(0)));
    let begin = |path: &str| {
        let easy = Easy::new(Rc::new(Counter(pieces.clone())));
        easy.set_text(EasyOption::Url, Some(server.url(path).as_bytes())).unwrap();
        if server.url("").starts_with("https") {
            easy.set_text(EasyOption::CaInfoBlob, Some(authority.ca_pem().as_bytes())).unwrap();
        }
        multi.add(&easy);
        easy
    };
    let until = |count: usize| {
        while pieces.get() < count {
            multi.perform();
            multi.wait(&mut [], std::time::Duration::from_secs(1), false).unwrap();
        }
    };
    // Shared data is allocated with the first one.
    let first = begin("/hold");
    until(1);
    let before = BYTES.get();
    let crowd: Vec<Easy> = (0..CROWD).map(|_| begin("/hold")).collect();
    until(1 + CROWD);
    let bytes = (BYTES.get() - before) / CROWD as isize;
    for easy in crowd.iter().chain([&first]) {
        multi.remove(easy);
    }
    bytes
}

#[test]
fn a_transfer_that_waits_is_small() {
    let authority = Authority::new();
    let plain = bytes_in_a_crowd(&Holding::plain().unwrap(), &authority);
    let secured = Holding::tls(authority.good().server_config().unwrap()).unwrap();
    let secured = bytes_in_a_crowd(&secured, &authority);
    assert!(plain <= MOST_BYTES && secured <= MOST_BYTES_SECURED, "{plain} bytes, {secured} by TLS");
}
