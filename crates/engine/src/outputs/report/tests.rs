//! Records of transfers, added up.

use std::time::{Duration, Instant};

use net::connection_key::Origin;

use super::totals::{Host, Sum, Totals};
use crate::why::event::*;
use crate::why::{Event, Record, Request, Stage};

fn origin() -> Origin {
    Origin { host: "h.test".into(), port: 443 }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A request of one second, with its events.
fn record(at: Instant, request: Request, events: Vec<Event>) -> Record {
    let events: Vec<_> = events.into_iter().map(|event| (ms(1), event)).collect();
    let request =
        Request { url: "https://h.test/".to_owned(), to: ms(1000), events: events.len(), ..request };
    Record::of_test(at, events, vec![request])
}

/// Adds requests with these events, a second after each other; returns the sums of their host.
fn host(requests: Vec<(Request, Vec<Event>)>) -> Host {
    let start = Instant::now();
    let mut totals = Totals::new(start);
    for (number, (request, events)) in requests.into_iter().enumerate() {
        totals.add(&record(start + ms(1000 * number as u64), request, events));
    }
    totals.hosts.into_values().next().expect("each request has a host")
}

fn opened(why: NewReason) -> Event {
    Event::Opened(Opened { id: 3, key: 1, origin: origin(), tls: true, why })
}

fn reused() -> Event {
    Event::Reused(Reused { id: 3, key: 1, origin: origin(), stream: false, past: None })
}

fn secured(version: &'static str, cached: bool) -> Event {
    Event::Secured(Secured {
        host: "h.test".to_owned(),
        version,
        cipher: "",
        group: "",
        resumed: false,
        cached,
        known: false,
        alpn: None,
        verified: true,
        trusted: String::new(),
        expiry: None,
    })
}

fn of_stage(stage: Stage, length: u64) -> Request {
    Request { stages: [(stage, ms(length))].into(), ..Request::default() }
}

#[test]
fn a_full_handshake_before_tls_13_costs_twice_a_resumed_one() {
    let requests = |version, cached| {
        let events = vec![opened(NewReason::OwnSockets), secured(version, cached)];
        vec![(of_stage(Stage::Secure, 100), events)]
    };
    assert_eq!(host(requests("TLSv1.2", false)).uncached, Sum { count: 1, time: ms(50) });
    assert_eq!(host(requests("TLSv1.3", false)).uncached, Sum { count: 1, time: ms(0) });
    assert_eq!(host(requests("TLSv1.2", true)).uncached, Sum::default());
}

/// A handle closed its connection, and the next handle does not have its session.
#[test]
fn a_session_of_another_handle_is_missed() {
    let request = |ticket| {
        let closed = Event::Closed { id: 3, why: CloseReason::PeerSaidClose, ticket };
        (of_stage(Stage::Secure, 100), vec![opened(NewReason::NothingOpen), secured("TLSv1.2", true), closed])
    };
    assert_eq!(host(vec![request(true), request(true)]).unshared, Sum { count: 1, time: ms(50) });
    assert_eq!(host(vec![request(false), request(false)]).unshared, Sum::default());
}

#[test]
fn a_name_is_asked_again_within_a_minute() {
    let named = |source, took| {
        let (host, record) = ("h.test".to_owned(), "A");
        let servers = String::new();
        Event::Named(Named { host, record, addresses: 1, source, servers, took: ms(took) })
    };
    let request = |source| {
        let events = vec![opened(NewReason::OwnSockets), named(source, 4), named(source, 9)];
        (Request::default(), events)
    };
    let asked = host(vec![request(NameSource::System), request(NameSource::System)]);
    assert_eq!(asked.asked, Sum { count: 2, time: ms(18) });
    assert_eq!(asked.asked_again, Sum { count: 1, time: ms(9) });
    let cached = host(vec![request(NameSource::System), request(NameSource::Cache)]);
    assert_eq!(cached.asked_again, Sum::default());
    let requests = (0..62).map(|second| match second {
        0 | 61 => request(NameSource::System),
        _ => request(NameSource::Cache),
    });
    assert_eq!(host(requests.collect()).asked_again, Sum::default(), "the answer is too old");
}

#[test]
fn bodies_could_be_smaller_or_given_in_larger_pieces() {
    let text = |received, is_plain_text| {
        let stages = [(Stage::Receive, ms(30))].into();
        (Request { received, is_plain_text, stages, ..Request::default() }, Vec::new())
    };
    let sum = |of| host(vec![of]).uncompressed;
    assert_eq!(sum(text(5000, true)), Sum { count: 1, time: ms(30) });
    assert_eq!([sum(text(100, true)), sum(text(5000, false))], [Sum::default(); 2]);
    let read =
        |calls, bytes| host(vec![(Request { reads: (calls, bytes), ..Request::default() }, Vec::new())]);
    let small = |calls, bytes| read(calls, bytes).small_reads;
    assert_eq!([small(64, 640), small(63, 630), small(64, 64 * 512)], [64, 0, 0]);
}

/// A limit counts from 10 ms on, and if it took a fifth of the time.
#[test]
fn uploads_are_limited_by_window_or_buffer() {
    let limited = |window, buffer| {
        let limits = SendLimits { window: ms(window), buffer: ms(buffer) };
        let sums = host(vec![(Request::default(), vec![Event::Limited(limits)])]);
        (sums.by_window, sums.by_buffer)
    };
    let one = |length| Sum { count: 1, time: ms(length) };
    assert_eq!(limited(200, 199), (one(200), Sum::default()));
    assert_eq!(limited(0, 900), (Sum::default(), one(900)));
}

#[test]
fn a_refusal_without_a_cookie_counts_where_others_have_cookies() {
    let cookies = || Event::Cookies { sent: vec!["a".to_owned()], withheld: Vec::new() };
    let request = |status, events| (Request { status, ..Request::default() }, events);
    let sums = host(vec![
        request(403, Vec::new()),
        request(200, vec![cookies()]),
        request(403, vec![cookies()]),
        request(200, Vec::new()),
        request(401, Vec::new()),
    ]);
    assert_eq!(sums.without_cookie, Sum { count: 1, time: ms(1000) });
}

#[test]
fn files_by_ftp_count_where_turns_would_help() {
    let sent = |verb: &str| Event::Commands { layer: "ftp", verbs: vec![verb.to_owned()], waits: true };
    let fetch = |first: Event, more: Vec<Event>| {
        (Request::default(), [vec![first, sent("EPSV"), sent("SIZE"), sent("RETR")], more].concat())
    };
    let one = |first, more| host(vec![fetch(first, more)]);
    let helped = one(reused(), vec![Event::OneByOne(OneByOne::Unknown)]);
    assert_eq!((helped.ftp_files, helped.ftp_rounds), (Sum { count: 1, time: ms(2000) / 7 }, 3));
    assert_eq!(one(opened(NewReason::OwnSockets), Vec::new()).ftp_files, Sum::default());
    assert_eq!(one(reused(), vec![Event::OneByOne(OneByOne::Objected)]).ftp_files, Sum::default());
    let two = host(vec![(Request::default(), vec![reused(), sent("EPSV"), sent("RETR")])]);
    assert_eq!((two.ftp_files, two.ftp_rounds), (Sum { count: 1, time: ms(2000) / 7 }, 2));
    let round = host(vec![(Request::default(), vec![reused(), sent("RETR")])]);
    assert_eq!(round.ftp_files, Sum::default(), "one round trip is the least");
}

#[test]
fn a_connection_beside_others_counts_where_an_option_forbids_http2() {
    let beside = |why| {
        let events =
            vec![opened(NewReason::AllInUse { count: 1 }), Event::Version { version: "HTTP/1.1", why }];
        host(vec![(of_stage(Stage::Connect, 100), events)]).beside
    };
    assert_eq!(beside(VersionReason::Option), Sum { count: 1, time: ms(100) });
    assert_eq!(beside(VersionReason::ServerChose), Sum::default());
}

/// The login of FTP belongs to the cost of its connection, and so does TYPE.
#[test]
fn a_forgotten_connection_costs_its_login() {
    let sent = |verb: &str| Event::Commands { layer: "ftp", verbs: vec![verb.to_owned()], waits: true };
    let verbs = ["USER", "PASS", "PWD", "EPSV", "TYPE", "SIZE", "RETR"];
    let start = Instant::now();
    let mut totals = Totals::new(start);
    for second in 0..2 {
        let events = [vec![opened(NewReason::NothingOpen)], verbs.map(sent).to_vec()].concat();
        let mut record = record(start + ms(2000 * second), of_stage(Stage::Connect, 10), events);
        for (number, (at, _)) in record.events.iter_mut().enumerate() {
            *at = ms(100 * number as u64);
        }
        totals.add(&record);
    }
    let host = totals.hosts.into_values().next().expect("a host");
    // EPSV is sent after 400 ms, and TYPE takes 100 ms.
    assert_eq!(host.forgotten, Sum { count: 1, time: ms(500) });
}

/// The first transfer of a program is part of its time.
#[test]
fn the_time_of_the_program_begins_with_its_first_transfer() {
    let start = Instant::now();
    let mut totals = Totals::new(start + ms(1000));
    totals.add(&record(start, Request::default(), vec![reused()]));
    totals.add(&record(start + ms(1000), Request::default(), vec![reused()]));
    assert_eq!(totals.started, start);
}
