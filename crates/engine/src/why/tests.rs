//! A record as text and as JSON.

use std::net::SocketAddr;
use std::time::Duration;

use tables::{Code, EasyOption as O};

use net::connection_key::Origin;
use wire::policy::{Check, Policy, Question};

use super::difference::Term;
use super::event::*;
use super::{Event, Outcome, Record, Request, Stage};

fn origin() -> Origin {
    Origin { host: "h.test".into(), port: 443 }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Returns the record of one request with these events.
fn record(events: Vec<Event>) -> Record {
    let events: Vec<_> = events.into_iter().zip(1..).map(|(event, at)| (ms(at), event)).collect();
    let request = Request {
        method: "GET".into(),
        url: "https://h.test/".to_owned(),
        status: 200,
        version: "HTTP/2",
        received: 1234,
        to: ms(30),
        stages: [(Stage::Server, ms(20)), (Stage::Receive, ms(10))].into(),
        events: events.len(),
        ..Request::default()
    };
    let outcome = Some(Outcome { code: Code::Ok, message: String::new(), total: ms(30) });
    Record { events, requests: vec![request], outcome, ..Record::default() }
}

fn opened(why: NewReason) -> Event {
    Event::Opened(Opened { id: 3, key: 1, origin: origin(), tls: true, why })
}

/// Returns the event of a handshake.
fn secured() -> Event {
    Event::Secured(Secured {
        host: "h.test".to_owned(),
        version: "TLSv1.3",
        cipher: "TLS_AES_128_GCM_SHA256",
        group: "X25519",
        resumed: false,
        cached: true,
        known: false,
        alpn: Some("h2".to_owned()),
        verified: true,
        trusted: "/certs.pem".to_owned(),
        expiry: Some(CertificateExpiry { left: 5 * 86_400, lifetime: 90 * 86_400, authority: None }),
    })
}

/// Checks for each event its line in the story, and its members in JSON.
fn check(rows: impl IntoIterator<Item = (Event, &'static str, &'static str)>) {
    for (event, line, members) in rows {
        let record = record(vec![event]);
        let (text, json) = (record.text(), record.json());
        assert!(text.contains(line), "{text}\nlacks {line}");
        assert!(json.contains(members), "{json}\nlacks {members}");
        assert!(text.starts_with("GET https://h.test/: 200 by HTTP/2, 1234 bytes received\n"), "{text}");
        assert!(text.ends_with("  time        30 ms = server 20 ms + receive 10 ms\n"), "{text}");
    }
}

#[test]
fn connections_as_lines_and_as_members() {
    let address = "192.0.2.1:443".parse().unwrap();
    let past = Past { age: ms(4000), idle: ms(12), uses: 7 };
    check([
        (
            opened(NewReason::NothingOpen),
            "connection  #3 to h.test:443 is new: this handle has no open connection there",
            r#""event":"connection-new","id":3,"origin":"h.test:443","tls":true,"reason":"nothing-open""#,
        ),
        (
            opened(NewReason::Differs { terms: vec![Term::Option(O::SslVerifyPeer)], others: 1 }),
            "connection  #3 to h.test:443 is new: the open one differs in CURLOPT_SSL_VERIFYPEER",
            r#""differs_in":["CURLOPT_SSL_VERIFYPEER"],"open":1"#,
        ),
        (
            opened(NewReason::LastClosed(CloseReason::PeerSaidClose)),
            "is new: the one before was closed: the server said `Connection: close`",
            r#""reason":"last-closed""#,
        ),
        (
            Event::Reused(Reused { id: 2, key: 1, origin: origin(), stream: false, past: Some(past) }),
            "connection  #2 to h.test:443 reused: 4.00 s old, idle for 12 ms, 7 transfers before",
            r#""stream":false,"age_ms":4000.000,"idle_ms":12.000,"uses":7"#,
        ),
        (
            Event::Named(Named {
                host: "h.test".to_owned(),
                record: "AAAA",
                addresses: 0,
                source: NameSource::Servers,
                servers: "192.0.2.53".to_owned(),
                took: ms(9),
            }),
            "name        h.test: no AAAA record from 192.0.2.53 (CURLOPT_DNS_SERVERS) in 9.0 ms",
            r#""host":"h.test","record":"AAAA","addresses":0,"source":"dns-servers","servers":"192.0.2.53""#,
        ),
        (
            Event::Unreachable { address, error: "Connection refused".to_owned() },
            "address     192.0.2.1:443 failed after 0 us: Connection refused",
            r#""event":"address-failed","address":"192.0.2.1:443""#,
        ),
        (
            secured(),
            "AES_128_GCM_SHA256, a full handshake (no session was known); certificate verified against \
             /certs.pem, it expires in 5 days\n",
            r#""alpn":"h2","full_because":"no-session","verified":true,"trusted":"/certs.pem","#,
        ),
        (
            Event::Version { version: "HTTP/1.1", why: VersionReason::ServerChose },
            "version     HTTP/1.1: the server chose it, HTTP/2 was offered",
            r#""version":"HTTP/1.1","reason":"server-chose""#,
        ),
    ]);
}

#[test]
fn requests_as_lines_and_as_members() {
    check([
        (
            Event::Proxied(Proxied {
                proxy: "http://p.test:3128".to_owned(),
                by: "https_proxy".to_owned(),
                tunnel: true,
            }),
            "proxy       http://p.test:3128, as a tunnel, from https_proxy",
            r#""by":"https_proxy","tunnel":true"#,
        ),
        (
            Event::Unproxied { by: "no_proxy".to_owned() },
            "proxy       none: no_proxy names this host",
            r#""event":"no-proxy","by":"no_proxy""#,
        ),
        (
            Event::Direct { by: "CURLOPT_PROXY".to_owned() },
            "proxy       none: direct, from CURLOPT_PROXY",
            r#""event":"direct","by":"CURLOPT_PROXY""#,
        ),
        (
            Event::ProxyDropped {
                proxy: "http://p.test:3128".to_owned(),
                why: ProxyDropped::Failed("(7) refused".to_owned()),
            },
            "proxy       http://p.test:3128 failed: (7) refused",
            r#""event":"proxy-dropped","proxy":"http://p.test:3128","error":"(7) refused""#,
        ),
        (
            Event::ProxyDropped {
                proxy: "http://p.test:3128".to_owned(),
                why: ProxyDropped::Remembered(Duration::from_secs(42)),
            },
            "proxy       http://p.test:3128 is tried last for 42 s: it had failed",
            r#""proxy":"http://p.test:3128","rest_s":42"#,
        ),
        (
            Event::Redirected { status: 301, to: "https://h.test/a".to_owned() },
            "redirect    301 to https://h.test/a",
            r#""status":301,"to":"https://h.test/a""#,
        ),
        (
            Event::Challenged { status: 401, offered: vec!["Digest", "Basic"] },
            "login       401, the request is repeated; offered: Digest, Basic",
            r#""offered":["Digest","Basic"]"#,
        ),
        (
            Event::GoesOn(GoAhead::Late),
            "expect      no 100 Continue came in time",
            r#""event":"expect-ended","reason":"late""#,
        ),
    ]);
}

#[test]
fn events_of_http_and_ftp_as_lines_and_as_members() {
    check([
        (
            Event::Replayed { why: ReplayReason::ConnectionDied, count: 1 },
            "replay      the server had closed the connection, the request is sent again (attempt 2)",
            r#""reason":"connection-died","count":1"#,
        ),
        (
            Event::Cookies { sent: vec!["a".to_owned()], withheld: vec![("b".to_owned(), Withheld::Path)] },
            "cookies     sent a; withheld b (another path)",
            r#""sent":["a"],"withheld":[{"name":"b","reason":"path"}]"#,
        ),
        (
            Event::Informed { status: 103, links: vec!["/a.css".to_owned(), "/b.js".to_owned()] },
            "early       103 early hints (RFC 8297) before the reply: /a.css, /b.js",
            r#""event":"informational","status":103,"links":["/a.css","/b.js"]"#,
        ),
        (
            Event::Cache(CacheStep::Fresh),
            "cache       a stored reply is fresh (RFC 9111",
            r#""event":"cache","step":"fresh""#,
        ),
        (
            Event::Commands { layer: "ftp", verbs: vec!["TYPE".to_owned(), "RETR".to_owned()], waits: true },
            "commands    ftp: TYPE, RETR together",
            r#""protocol":"ftp","commands":["TYPE","RETR"],"waited":true"#,
        ),
    ]);
}

#[test]
fn a_failure_ends_the_story() {
    let mut record = record(vec![Event::Trying("192.0.2.1:443".parse().unwrap())]);
    record.outcome =
        Some(Outcome { code: Code::CouldntConnect, message: "no answer".to_owned(), total: ms(30) });
    assert!(record.text().ends_with("  failed      (7) no answer\n"), "{}", record.text());
    assert!(record.json().contains(r#""code":7,"error":"no answer","total_ms":30.000"#), "{}", record.json());
}

#[test]
fn a_race_reports_each_attempt_with_its_time() {
    let (six, four) = ("[2001:db8::1]:443".parse().unwrap(), "192.0.2.1:443".parse().unwrap());
    let refused = Event::Unreachable { address: six, error: "refused".to_owned() };
    let text = record(vec![
        Event::Trying(six),
        Event::Trying(four),
        refused,
        Event::Reached { address: four, preferred: false },
    ])
    .text();
    assert!(text.contains("  address     [2001:db8::1]:443 failed after 2.0 ms: refused\n"), "{text}");
    let winner =
        "192.0.2.1:443 in 2.0 ms, first of 2 attempts: [2001:db8::1]:443 was tried first and failed\n";
    assert!(text.contains(winner), "{text}");
}

/// The addresses of IPv4 came first, and waited for those of IPv6.
#[test]
fn a_resolution_delay_and_a_preferred_address_are_named() {
    let four: SocketAddr = "192.0.2.1:443".parse().unwrap();
    let named = |record, addresses| {
        let (host, took) = ("h.test".to_owned(), ms(1));
        let (source, servers) = (NameSource::System, String::new());
        Event::Named(Named { host, record, addresses, source, servers, took })
    };
    let won = Event::Reached { address: four, preferred: false };
    let text = record(vec![named("A", 1), named("AAAA", 0), Event::Trying(four), won]).text();
    assert!(text.contains("in 1.0 ms, after 2.0 ms for IPv6 (RFC 8305 §3)\n"), "{text}");
    let preferred = Event::Reached { address: four, preferred: true };
    let text = record(vec![Event::Trying(four), preferred]).text();
    assert!(text.contains("in 1.0 ms, tried first because it won the last time\n"), "{text}");
}

#[test]
fn round_trips_are_counted() {
    let sent = |verb: &str, waits| Event::Commands { layer: "ftp", verbs: vec![verb.to_owned()], waits };
    let record = record(vec![
        Event::OneByOne(OneByOne::NewConnection),
        sent("EPSV", true),
        sent("TYPE", true),
        sent("RETR", false),
    ]);
    let (text, json) = (record.text(), record.json());
    assert!(text.contains("  commands    one at a time: the connection is new\n"), "{text}");
    assert!(text.contains("  commands    2 round trips in all\n"), "{text}");
    assert!(json.contains(r#""round_trips":2"#), "{json}");
}

#[test]
fn the_limits_of_an_upload_are_shown() {
    let limits = |window, buffer| {
        let time = Duration::from_millis;
        record(vec![Event::Limited(SendLimits { window: time(window), buffer: time(buffer) })])
    };
    let text = limits(20, 30).text();
    let wanted = "  upload      waited 20 ms for the receiver, whose window was full, and 30 ms because the \
                  send buffer held no more\n";
    assert!(text.contains(wanted), "{text}");
    let text = limits(0, 30).text();
    assert!(text.contains("  upload      waited 30 ms because the send buffer held no more\n"), "{text}");
    let json = limits(20, 0).json();
    assert!(
        json.contains(r#""event":"upload-limited","by_window_ms":20.000,"by_buffer_ms":0.000"#),
        "{json}"
    );
}

#[test]
fn a_refusal_by_a_policy_is_named() {
    let policy = Policy::parse("guard.txt", b"version 1\ndeny port 22");
    let refusal = policy.judge(Question::Port(22)).unwrap_err().at(Check::Redirect);
    check([(
        Event::Denied { refusal, address: None },
        "policy      guard.txt refuses port 22 (check: redirect): line 2, \"deny port 22\"\n",
        r#""check":"redirect","policy":"guard.txt","refused":"port 22","rule":"line 2, "#,
    )]);
    let (refused, allowed) = ("127.0.0.1:80".parse().unwrap(), "192.0.2.1:80".parse().unwrap());
    let refusal = policy.judge(Question::Port(22)).unwrap_err().at(Check::Address);
    let record = record(vec![
        Event::Trying(refused),
        Event::Denied { refusal, address: Some(refused) },
        Event::Trying(allowed),
        Event::Reached { address: allowed, preferred: false },
    ]);
    let text = record.text();
    let wanted = "first of 2 attempts: 127.0.0.1:80 came first, and a policy refuses it\n";
    assert!(text.contains(wanted), "{text}");
    assert!(record.json().contains(r#"\"deny port 22\"","address":"127.0.0.1:80""#), "{}", record.json());
}

#[test]
fn a_refused_certificate_is_named() {
    check([(
        Event::Refused(Refused {
            host: "h.test".to_owned(),
            subject: "CN = a".to_owned(),
            issuer: "CN = b".to_owned(),
            why: "no".to_owned(),
            trusted: "/certs.pem".to_owned(),
        }),
        "tls         h.test: its certificate (CN = a; issued by CN = b) was refused: no; checked against \
             /certs.pem\n",
        r#""host":"h.test","subject":"CN = a","issuer":"CN = b","reason":"no","trusted":"/certs.pem""#,
    )]);
}
