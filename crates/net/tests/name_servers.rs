//! Name servers queried with messages: over UDP and TCP, past silent, forged or refusing ones; services
//! beside addresses.

use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::{block_on, runtime};
use runtime::{Clock, Runtime};
use testkit::dns::{A, AAAA, CNAME, DnsAnswer, HTTPS, NameServer, address, wire_name};
use warmwire_net::resolver::{
    Candidate, Candidates, IpVersion, LocalEnds, Means, NameServers, Part, ResolveCache, ResolveOptions,
    Resolver, Servers, Services, is_for_dns, resolve,
};
use wire::resolv_conf::ResolvConf;

/// A resolver that must not be called.
fn no_system() -> Arc<Resolver> {
    Arc::new(Resolver::with_lookup(Arc::new(|name, _| panic!("the system was asked for {name}"))))
}

fn conf(servers: &[SocketAddr]) -> ResolvConf {
    let timeout = Duration::from_millis(200);
    ResolvConf { servers: servers.to_vec(), timeout, attempts: 1, ..ResolvConf::default() }
}

fn means(rt: &Runtime, conf: ResolvConf, local: LocalEnds) -> Means {
    let servers = Servers::with(Arc::new(conf), rt.reactor(), 1).from(local);
    Means::system(&no_system(), &Arc::default(), rt.reactor()).with_servers(Rc::new(servers))
}

/// Returns the results of a look-up, or its message.
fn found(rt: &Runtime, means: &Means, name: &'static str, version: IpVersion) -> Result<Vec<String>, String> {
    let means = means.clone();
    block_on(rt, async move {
        let options = ResolveOptions { ip_version: version, ..ResolveOptions::default() };
        let found = resolve(&means, name, 80, &options).await;
        found.map(|a| a.list.iter().map(|a| a.ip().to_string()).collect()).map_err(|e| e.message)
    })
}

fn asked(servers: &[SocketAddr], name: &'static str) -> Result<Vec<String>, String> {
    let rt = runtime();
    found(&rt, &means(&rt, conf(servers), LocalEnds::default()), name, IpVersion::Any)
}

#[test]
fn both_families_are_asked_with_random_ids_and_case() {
    let server = NameServer::start(|asked| match asked.kind {
        A => address(A, "10.0.0.1"),
        _ => address(AAAA, "fd00::1"),
    });
    let mut list = asked(&[server.address()], "a-name-with-many-letters.example").unwrap();
    list.sort();
    assert_eq!(list, ["10.0.0.1", "fd00::1"]);
    let questions = server.asked();
    let [one, two] = &questions[..] else { panic!("{questions:?}") };
    assert!(one.message[..2] != two.message[..2] && one.from.port() != two.from.port());
    assert!(one.extended && !one.by_stream && one.name != two.name, "{} {}", one.name, two.name);
    assert!(one.name.eq_ignore_ascii_case("a-name-with-many-letters.example"));
}

#[test]
fn truncated_or_recased_answers_are_asked_again_by_tcp() {
    for first in [DnsAnswer::Truncated, DnsAnswer::LowerCase(vec![9, 9, 9, 9])] {
        let server = NameServer::start(move |asked| match (asked.by_stream, asked.kind) {
            (_, AAAA) => DnsAnswer::Records(Vec::new()),
            (true, _) => address(A, "10.0.0.1"),
            (false, _) => first.clone(),
        });
        assert_eq!(asked(&[server.address()], "a-name-with-letters.example").unwrap(), ["10.0.0.1"]);
        assert!(server.asked().iter().any(|asked| asked.by_stream));
    }
}

#[test]
fn forged_replies_are_waited_past() {
    let server = NameServer::start(|asked| match asked.kind {
        A => DnsAnswer::AfterForgery(vec![10, 0, 0, 1]),
        _ => DnsAnswer::Code(3),
    });
    assert_eq!(asked(&[server.address()], "a.example").unwrap(), ["10.0.0.1"]);
}

#[test]
fn servers_that_are_silent_refuse_or_are_not_there_give_way() {
    let good = NameServer::start(|asked| match asked.kind {
        A => address(A, "10.0.0.1"),
        _ => DnsAnswer::Records(Vec::new()),
    });
    let silent = NameServer::start(|_| DnsAnswer::Silence);
    let failing = NameServer::start(|_| DnsAnswer::Code(2));
    let nobody = crate::common::dead_port();
    for bad in [silent.address(), failing.address(), nobody] {
        let start = Instant::now();
        assert_eq!(asked(&[bad, good.address()], "a.example").unwrap(), ["10.0.0.1"]);
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    }
    assert_eq!(asked(&[failing.address()], "a.example").unwrap_err(), "Could not resolve host: a.example");
}

/// Servers from before EDNS answer that they do not understand.
#[test]
fn a_server_that_knows_no_extensions_is_asked_without() {
    let server = NameServer::start(|asked| match (asked.extended, asked.kind) {
        (true, _) => DnsAnswer::Code(1),
        (false, A) => address(A, "10.0.0.1"),
        (false, _) => DnsAnswer::Records(Vec::new()),
    });
    assert_eq!(asked(&[server.address()], "a.example").unwrap(), ["10.0.0.1"]);
}

#[test]
fn the_search_ends_where_the_name_exists() {
    let server = NameServer::start(|asked| match (asked.name.to_ascii_lowercase().as_str(), asked.kind) {
        ("host.two.example", A) => address(A, "10.0.0.2"),
        ("host.two.example", _) => DnsAnswer::Records(Vec::new()),
        ("host.three.example", _) => address(AAAA, "fd00::3"),
        _ => DnsAnswer::Code(3),
    });
    let rt = runtime();
    let search = ["one.example", "two.example", "three.example"].map(str::to_owned).to_vec();
    let means = means(&rt, ResolvConf { search, ..conf(&[server.address()]) }, LocalEnds::default());
    assert_eq!(found(&rt, &means, "host", IpVersion::Any).unwrap(), ["10.0.0.2"]);
    let count = server.asked().len();
    assert!(found(&rt, &means, "host.", IpVersion::V4).is_err());
    assert_eq!(server.asked().len(), count + 1, "a dot at the end says that it is all");
}

#[test]
fn aliases_lead_to_addresses() {
    let server = NameServer::start(|_| {
        DnsAnswer::Records(vec![("", CNAME, wire_name("b.example")), ("b.example", A, vec![10, 0, 0, 1])])
    });
    let rt = runtime();
    let means = means(&rt, conf(&[server.address()]), LocalEnds::default());
    assert_eq!(found(&rt, &means, "a.example", IpVersion::V4).unwrap(), ["10.0.0.1"]);
}

#[test]
fn queries_leave_from_the_chosen_address() {
    let server = NameServer::start(|_| address(A, "10.0.0.1"));
    let rt = runtime();
    let v4 = Some(Ipv4Addr::new(127, 0, 0, 2));
    let means = means(&rt, conf(&[server.address()]), LocalEnds { v4, ..LocalEnds::default() });
    found(&rt, &means, "a.example", IpVersion::V4).unwrap();
    assert_eq!(server.asked()[0].from.ip(), Ipv4Addr::new(127, 0, 0, 2));
}

/// A name server's answer is valid for its TTL, and no longer than the application allows.
#[test]
fn answers_age_as_their_server_says() {
    let server = NameServer::start(|_| address(A, "10.0.0.1")); // for a minute
    let (clock, hand) = Clock::manual();
    let rt = Runtime::new(clock);
    let means = means(&rt, conf(&[server.address()]), LocalEnds::default());
    let ask = |ttl| {
        let means = means.clone();
        block_on(&rt, async move {
            let options = ResolveOptions { ip_version: IpVersion::V4, ttl, ..ResolveOptions::default() };
            resolve(&means, "a.example", 80, &options).await.unwrap();
        });
        server.asked().len()
    };
    let long = Some(Duration::from_secs(3600));
    assert_eq!(ask(long), 1);
    hand.advance(Duration::from_secs(59));
    assert_eq!(ask(long), 1);
    hand.advance(Duration::from_secs(2));
    assert_eq!(ask(None), 1, "for ever is for ever");
    assert_eq!(ask(long), 2);
}

/// The sockets belong to the reactor: an event loop that drives it sees them.
#[test]
fn an_event_loop_sees_the_sockets() {
    let server = NameServer::start(|_| DnsAnswer::Silence);
    let rt = runtime();
    let means = means(&rt, conf(&[server.address()]), LocalEnds::default());
    let task = rt.spawn(Box::pin(async move {
        let _ = resolve(&means, "a.example", 80, &ResolveOptions::default()).await;
    }));
    rt.run().unwrap();
    assert_eq!(rt.reactor().interests().len(), 2, "one for each family");
    assert!(rt.reactor().next_deadline().is_some());
    rt.cancel(task);
    assert_eq!(rt.reactor().registrations(), 0);
}

fn services(rt: &Runtime, server: &NameServer, name: &'static str) -> Vec<(Part, Vec<Candidate>)> {
    let servers: Rc<dyn NameServers> =
        Rc::new(Servers::with(Arc::new(conf(&[server.address()])), rt.reactor(), 1));
    let cache: Arc<ResolveCache> = Arc::default();
    let means = Means {
        services: Some(Services { servers: servers.clone(), required: false, silence: None }),
        ..Means::system(&no_system(), &cache, rt.reactor()).with_servers(servers)
    };
    block_on(rt, async move {
        let options = ResolveOptions { ip_version: IpVersion::V4, ..ResolveOptions::default() };
        let mut stream = Candidates::look_up(&means, (name, 8443), &options).unwrap();
        let mut all = Vec::new();
        while let Some(answered) = stream.next().await {
            all.push((answered.part, answered.candidates));
        }
        all
    })
}

/// An alias leads to another name's services, and these to addresses that they hint at.
#[test]
fn services_come_beside_addresses() {
    let server = NameServer::start(|asked| match (asked.name.to_ascii_lowercase().as_str(), asked.kind) {
        ("a.example", A) => address(A, "10.0.0.1"),
        ("_8443._https.a.example", HTTPS) => {
            DnsAnswer::Records(vec![("", HTTPS, [&[0, 0][..], &wire_name("cdn.example")].concat())])
        }
        ("cdn.example", HTTPS) => DnsAnswer::Records(vec![(
            "",
            HTTPS,
            b"\0\x01\0\0\x01\0\x03\x02h2\0\x03\0\x02\x01\xbb\0\x04\0\x04\x0a\0\0\x09\0\x05\0\x03ech".to_vec(),
        )]),
        other => panic!("{other:?}"),
    });
    let rt = runtime();
    let all = services(&rt, &server, "a.example");
    let (_, offered) = all.iter().find(|(part, _)| *part == Part::Services).unwrap();
    let [one] = &offered[..] else { panic!("{offered:?}") };
    assert_eq!((one.address, one.priority), ("10.0.0.9:443".parse().unwrap(), 1));
    assert_eq!(one.ech.as_deref(), Some(&b"ech"[..]));
    let protocols: &[Vec<u8>] = one.protocols.as_deref().unwrap();
    assert_eq!(protocols, [b"h2".to_vec(), b"http/1.1".to_vec()]);
    let addresses = all.iter().filter(|(part, _)| *part != Part::Services).flat_map(|(_, list)| list);
    assert_eq!(addresses.map(|c| c.address).collect::<Vec<_>>(), ["10.0.0.1:8443".parse().unwrap()]);
}

/// Cyclic aliases are given up.
#[test]
fn aliases_of_services_end() {
    let server = NameServer::start(|asked| match asked.kind {
        A => address(A, "10.0.0.1"),
        _ => DnsAnswer::Records(vec![("", HTTPS, [&[0, 0][..], &wire_name("a.example")].concat())]),
    });
    let rt = runtime();
    let all = services(&rt, &server, "a.example");
    let (_, offered) = all.iter().find(|(part, _)| *part == Part::Services).unwrap();
    assert!(offered.is_empty() && server.asked().len() <= 6, "{}", server.asked().len());
}

#[test]
fn names_that_dns_does_not_know() {
    for name in ["host", "printer.local", "printer.local.", "localhost"] {
        assert!(!is_for_dns(name), "{name}");
    }
    assert!(is_for_dns("www.example.com") && is_for_dns("www.example.com."));
}

/// If addresses come from another source and no server answers queries for records, each new name costs the
/// resolution delay, until the servers are known to be silent.
#[test]
fn servers_that_say_nothing_of_records_are_not_asked_for_ever() {
    let server = NameServer::start(|_| DnsAnswer::Silence);
    let (clock, hand) = Clock::manual();
    let rt = Runtime::new(clock);
    let known: Arc<Resolver> =
        Arc::new(Resolver::with_lookup(Arc::new(|_, _| Ok(vec![(Ipv4Addr::LOCALHOST.into(), 0)]))));
    let servers = Rc::new(Servers::with(Arc::new(conf(&[server.address()])), rt.reactor(), 1));
    let services = Services { servers, required: false, silence: Some(Arc::default()) };
    let means = |required| Means {
        services: Some(Services { required, ..services.clone() }),
        ..Means::system(&known, &Arc::default(), rt.reactor())
    };
    let asked = |required| {
        let (means, hand, clock) = (means(required), hand.clone(), rt.reactor().clone());
        block_on(&rt, async move {
            let options = ResolveOptions { ip_version: IpVersion::V4, ..ResolveOptions::default() };
            let mut stream = Candidates::look_up(&means, ("a.example", 443), &options).unwrap();
            let answered = stream.next().await.unwrap();
            let is_out = stream.outstanding().any(|part| part == Part::Services);
            hand.advance(Duration::from_millis(50));
            assert!(answered.at <= clock.now());
            is_out
        })
    };
    assert_eq!([asked(false), asked(false), asked(false)], [true; 3]);
    assert!(!asked(false) && asked(true), "who needs it asks all the same");
    hand.advance(Duration::from_secs(60));
    assert!(asked(false) && !asked(false), "one question shows that nothing has changed");
}
