//! Look-ups whose answers arrive one by one, at given times, and the race that uses them: real sockets, a
//! scripted name server, and the expected attempts with their millisecond.
//!
//! A script gives the times of answers: `10 AAAA 6a`, `10 A -` for none, `never A`; `30 HTTPS 4a` is a
//! service with that hint. Of the hosts `a` is alive, `s` silent, `r` refuses.

use std::cell::RefCell;
use std::future::pending;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::black_hole;
use runtime::fd::OwnedFd;
use runtime::{Clock, Reactor, Runtime};
use warmwire_net::connect::{ConnectRequest, RaceEvent, at_once, connect};
use warmwire_net::filter::open::{SocketOptions, Transport};
use warmwire_net::resolver::{
    Candidates, IpVersion, Means, NameServers, PendingAnswer, ResolveOptions, Resolver, Services,
};
use wire::dns::{Answer, Binding, Kind, Name, Question, Verdict};

const ALIVE: [u8; 4] = [127, 0, 0, 2];
const SILENT: [u8; 4] = [127, 0, 0, 3];
const REFUSES: [u8; 4] = [127, 0, 0, 4];

/// Hosts with one port; the script decides about ::1.
struct Hosts {
    port: u16,
    _alive: Vec<TcpListener>,
    _silent: Vec<(OwnedFd, Vec<OwnedFd>, SocketAddr)>,
}

impl Hosts {
    fn for_script(script: &str) -> Hosts {
        for _ in 0..50 {
            let six = TcpListener::bind("[::1]:0").unwrap();
            let port = six.local_addr().unwrap().port();
            let Ok(four) = TcpListener::bind((IpAddr::from(ALIVE), port)) else { continue };
            if TcpListener::bind((IpAddr::from(SILENT), port)).is_err() {
                continue;
            }
            let (mut alive, mut silent) = (vec![four], vec![black_hole((SILENT, port).into())]);
            match script {
                _ if script.contains("6a") => alive.push(six),
                _ if script.contains("6s") => {
                    drop(six);
                    silent.push(black_hole(SocketAddr::new([0, 0, 0, 0, 0, 0, 0, 1].into(), port)));
                }
                _ => drop(six),
            }
            return Hosts { port, _alive: alive, _silent: silent };
        }
        panic!("no port is free at all addresses");
    }
}

fn address(word: &str) -> IpAddr {
    match word {
        "4a" => ALIVE.into(),
        "4s" => SILENT.into(),
        "4r" => REFUSES.into(),
        six if six.starts_with('6') => [0, 0, 0, 0, 0, 0, 0, 1].into(),
        other => panic!("who is {other}?"),
    }
}

/// The host's word again.
fn word(ip: IpAddr, script: &str) -> String {
    let words = ["4a", "4s", "4r", "6a", "6s", "6r"];
    words.into_iter().find(|w| script.contains(w) && address(w) == ip).unwrap().to_owned()
}

/// The name server of a script.
struct ScriptedServer {
    script: &'static str,
    reactor: Arc<Reactor>,
    start: Instant,
}

impl NameServers for ScriptedServer {
    fn ask(&self, question: Question, _: bool) -> PendingAnswer {
        let kind = match question.kind {
            Kind::A => "A",
            Kind::Aaaa => "AAAA",
            Kind::Https => "HTTPS",
        };
        let mut lines = self.script.split(';').map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line = lines.find(|words| words[1] == kind).unwrap();
        if line[0] == "never" {
            return Box::pin(pending());
        }
        let ips: Vec<IpAddr> = line[2..].iter().filter(|w| **w != "-").map(|w| address(w)).collect();
        let mut answer = Answer {
            verdict: Verdict::Found,
            addresses: Vec::new(),
            bindings: Vec::new(),
            name: question.name,
            ttl: Some(60),
        };
        match kind {
            "HTTPS" => answer.bindings.extend(ips.iter().map(|ip| service(*ip))),
            _ => answer.addresses = ips,
        }
        let until = self.reactor.sleep_until(self.start + Duration::from_millis(line[0].parse().unwrap()));
        Box::pin(async move {
            until.await;
            Ok(answer)
        })
    }
}

/// A service at another name, which is at that address.
fn service(ip: IpAddr) -> Binding {
    let mut binding = Binding { priority: 1, target: Name::parse("cdn.example").ok(), ..Binding::default() };
    match ip {
        IpAddr::V4(v4) => binding.v4_hints.push(v4),
        IpAddr::V6(v6) => binding.v6_hints.push(v6),
    }
    binding
}

/// Describes the actions of a race with their times: `required` waits for the record, and after two seconds
/// it is over.
fn actions(script: &'static str, required: bool) -> String {
    let hosts = Hosts::for_script(script);
    let (clock, hand) = Clock::manual();
    let rt = Runtime::new(clock);
    let reactor = rt.reactor().clone();
    let start = reactor.now();
    let played: Rc<dyn NameServers> = Rc::new(ScriptedServer { script, reactor: reactor.clone(), start });
    let nobody: Arc<Resolver> =
        Arc::new(Resolver::with_lookup(Arc::new(|name, _| panic!("the system was asked for {name}"))));
    let asked = || Services { servers: played.clone(), required, silence: None };
    let services = script.contains("HTTPS").then(asked);
    let means = Means { services, ..Means::system(&nobody, &Arc::default(), &reactor).with_servers(played) };
    let (seen, over) = (Rc::new(RefCell::new(Vec::new())), Rc::new(RefCell::new(None)));
    let (writes, ends, port) = (seen.clone(), over.clone(), hosts.port);
    rt.spawn(Box::pin(async move {
        let version = if script.contains("AAAA") { IpVersion::Any } else { IpVersion::V4 };
        let options = ResolveOptions { ip_version: version, ..ResolveOptions::default() };
        let ms = || reactor.now().duration_since(start).as_millis();
        let note = |what: &str, ip| writes.borrow_mut().push(format!("{} {what} {}", ms(), word(ip, script)));
        let report = |event: RaceEvent<'_>| match event {
            RaceEvent::Trying(at) => note("tries", at.ip()),
            RaceEvent::Failed(at, ..) => note("lost", at.ip()),
            RaceEvent::Answered(_) | RaceEvent::Waiting(_) => {}
        };
        let socket = SocketOptions::default();
        let request = ConnectRequest {
            place: &"a.example",
            protocols: &[],
            needs_record: required,
            local_hosts: &[],
            transport: Transport::Tcp,
            options: &socket,
            callbacks: None,
            attempt_delay: Duration::from_millis(200),
            favourite: None,
            report: Some(&report),
            started: start,
            deadline: Some(start + Duration::from_secs(2)),
            owner: 1,
        };
        let mut candidates = Candidates::look_up(&means, ("a.example", port), &options).unwrap();
        let end = match connect(&reactor, &request, &mut candidates, &at_once).await {
            Ok(made) => format!("{} has {}", ms(), word(made.endpoints.remote.unwrap().ip(), script)),
            Err(e) => format!("{} {}", ms(), e.message),
        };
        *ends.borrow_mut() = Some(end);
    }));
    loop {
        // Events of sockets take no time in the script.
        for _ in 0..3 {
            rt.perform().unwrap();
            rt.wait(&mut [], Duration::from_millis(2), false).unwrap();
        }
        if let Some(end) = over.borrow_mut().take() {
            seen.borrow_mut().push(end);
            return seen.borrow().join("; ");
        }
        let next = rt.reactor().next_deadline().expect("nothing would ever happen");
        hand.advance(next.saturating_duration_since(rt.reactor().now()).max(Duration::from_millis(1)));
    }
}

#[test]
fn each_answer_counts_when_it_comes() {
    for (script, expected) in [
        ("10 A 4a; never AAAA", "35 tries 4a; 35 has 4a"),
        ("10 A 4a", "10 tries 4a; 10 has 4a"),
        ("10 A 4a; 30 AAAA 6a", "30 tries 6a; 30 has 6a"),
        ("10 AAAA 6a; never A", "10 tries 6a; 10 has 6a"),
        ("10 A 4s; 120 AAAA 6a", "35 tries 4s; 235 tries 6a; 235 has 6a"),
        ("10 A 4s; 900 AAAA 6a", "35 tries 4s; 900 tries 6a; 900 has 6a"),
        ("10 A 4r; 500 AAAA 6a", "35 tries 4r; 35 lost 4r; 500 tries 6a; 500 has 6a"),
        ("10 AAAA 6s; 100 A 4a", "10 tries 6s; 210 tries 4a; 210 has 4a"),
        ("10 AAAA 6r; 30 A 4a", "10 tries 6r; 10 lost 6r; 30 tries 4a; 30 has 4a"),
        ("10 A -; 300 AAAA 6a", "300 tries 6a; 300 has 6a"),
    ] {
        assert_eq!(actions(script, false), expected, "{script}");
    }
}

#[test]
fn nothing_is_lost_while_an_answer_is_out() {
    for (script, expected) in [
        (
            "10 A 4r; 500 AAAA -",
            "35 tries 4r; 35 lost 4r; 500 Failed to connect to a.example after 500 ms: Could not connect to server",
        ),
        ("10 A -; 300 AAAA -", "300 Could not resolve host: a.example"),
        ("never A; never AAAA", "2000 Resolving timed out after 2000 milliseconds"),
        ("10 A 4s; never AAAA", "35 tries 4s; 2000 Connection timed out after 2000 milliseconds"),
    ] {
        assert_eq!(actions(script, false), expected, "{script}");
    }
}

#[test]
fn services_come_first_as_long_as_nobody_was_tried() {
    for (script, required, expected) in [
        ("10 A 4s; 10 AAAA -; 30 HTTPS 4a", false, "30 tries 4a; 30 has 4a"),
        ("10 A 4s; 10 AAAA -; 100 HTTPS 4a", false, "35 tries 4s; 235 tries 4a; 235 has 4a"),
        ("10 A 4a; 10 AAAA 6s; never HTTPS", false, "35 tries 6s; 235 tries 4a; 235 has 4a"),
        ("10 A 4a; 20 AAAA -; 700 HTTPS -", true, "700 tries 4a; 700 has 4a"),
        ("10 A 4s; 20 AAAA -; 700 HTTPS 4a", true, "700 tries 4a; 700 has 4a"),
        ("10 A 4a; 20 AAAA -; never HTTPS", true, "2000 Resolving timed out after 2000 milliseconds"),
        ("500 A -; 600 AAAA -; 30 HTTPS 4a", false, "55 tries 4a; 55 has 4a"),
        ("10 A -; 20 AAAA -; 40 HTTPS 4a", false, "40 tries 4a; 40 has 4a"),
        ("10 A -; 20 AAAA -; 600 HTTPS 4a", false, "45 Could not resolve host: a.example"),
        ("10 A -; 20 AAAA -; never HTTPS", false, "45 Could not resolve host: a.example"),
        ("10 A -; 20 AAAA -; 600 HTTPS 4a", true, "600 tries 4a; 600 has 4a"),
        (
            "10 A 4r; 20 AAAA -; never HTTPS",
            false,
            "35 tries 4r; 35 lost 4r; 45 Failed to connect to a.example after 45 ms: Could not connect to server",
        ),
    ] {
        assert_eq!(actions(script, required), expected, "{script}");
    }
}
