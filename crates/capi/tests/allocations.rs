//! What a GET over a kept handle allocates, counted: half of what a request cost in user code was malloc and free, and
//! nothing else would notice when they come back. Here, because replacing the allocator takes unsafe code.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::rc::Rc;

use engine::Easy;
use engine::callbacks::{Callbacks, Written};
use tables::{Code, EasyOption};
use testkit::http::HttpServer;

/// The system's allocator; counts the calls of each thread.
struct Counting;

thread_local!(static CALLS: Cell<usize> = const { Cell::new(0) });

fn count() {
    CALLS.set(CALLS.get() + 1);
}

// SAFETY: everything is passed on to the system's allocator; the counter is a plain cell that needs no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// An application that takes everything.
struct Taker;

impl Callbacks for Taker {
    fn header(&self, _line: &[u8]) -> Option<Written> {
        Some(Written::All)
    }
}

const REQUESTS: usize = 200;
/// Calls per request. A little more than there are now; a hundred were there once.
const MOST_CALLS: usize = 5;

/// The same where each request has a URL of its own. Twice as many are made where the way to the server is planned anew.
const MOST_CALLS_ELSEWHERE: usize = 25;

/// Allocations of the requests over a kept handle, where `prepare` is told the number of each.
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
