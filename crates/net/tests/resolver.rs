//! Look-ups: coalescing, threads, cache, pins.

mod common;

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use common::{block_on, runtime};
use runtime::{Clock, Runtime};
use warmwire_net::NetErrorKind;
use warmwire_net::resolver::{IpVersion, ResolveCache, ResolveOptions, Resolver, resolve};

struct Counting {
    resolver: Rc<Resolver>,
    calls: Arc<AtomicUsize>,
    cache: Rc<ResolveCache>,
}

/// Answers `10.0.0.1` and `fd00::1` after 30 ms; names that begin with `no` fail.
fn counting() -> Counting {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = calls.clone();
    let resolver = Resolver::with_lookup(Arc::new(move |name| {
        counter.fetch_add(1, SeqCst);
        std::thread::sleep(Duration::from_millis(30));
        match name.starts_with("no") {
            true => Err(io::Error::other("no such name")),
            false => Ok(addresses(&["10.0.0.1:0", "10.0.0.1:0", "[fd00::1]:0"])),
        }
    }));
    Counting { resolver: Rc::new(resolver), calls, cache: Rc::default() }
}

fn addresses(list: &[&str]) -> Vec<SocketAddr> {
    list.iter().map(|a| a.parse().unwrap()).collect()
}

impl Counting {
    fn ask(
        &self,
        rt: &Runtime,
        name: &'static str,
        options: ResolveOptions,
    ) -> Result<Vec<String>, (NetErrorKind, String)> {
        let (resolver, cache, reactor) = (self.resolver.clone(), self.cache.clone(), rt.reactor().clone());
        block_on(rt, async move {
            let found = resolve(&resolver, &cache, &reactor, name, 80, &options).await;
            found.map(|a| a.list.iter().map(|a| a.to_string()).collect()).map_err(|e| (e.kind, e.message))
        })
    }

    fn calls(&self) -> usize {
        self.calls.load(SeqCst)
    }
}

fn family(ip_version: IpVersion) -> ResolveOptions {
    ResolveOptions { ip_version, ..ResolveOptions::default() }
}

#[test]
fn names_asked_for_at_once_are_asked_once() {
    let (rt, all) = (runtime(), counting());
    let done = Rc::new(std::cell::Cell::new(0));
    for _ in 0..50 {
        let (resolver, reactor, done) = (all.resolver.clone(), rt.reactor().clone(), done.clone());
        rt.spawn(Box::pin(async move {
            // caches of their own: only the look-up in flight can unite them
            let (cache, options) = (ResolveCache::new(), ResolveOptions::default());
            let found = resolve(&resolver, &cache, &reactor, "Name.test", 80, &options);
            assert_eq!(found.await.unwrap().list, addresses(&["10.0.0.1:80", "[fd00::1]:80"]));
            done.set(done.get() + 1);
        }));
    }
    rt.run().unwrap();
    assert_eq!(rt.reactor().interests().len(), 1, "the wake-up descriptor is watched during a look-up");
    while done.get() < 50 {
        rt.wait(&mut [], Duration::from_secs(5), false).unwrap();
        rt.perform().unwrap();
    }
    assert_eq!(all.calls(), 1);
    assert!(rt.reactor().interests().is_empty());
}

#[test]
fn four_stuck_names_do_not_delay_the_fifth() {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let inner = gate.clone();
    let resolver = Rc::new(Resolver::with_lookup(Arc::new(move |name| {
        if name.starts_with("stuck") {
            let open = inner.0.lock().unwrap();
            drop(inner.1.wait_while(open, |open| !*open).unwrap());
        }
        Ok(addresses(&["10.0.0.1:0"]))
    })));
    let rt = runtime();
    for name in ["stuck1", "stuck2", "stuck3", "stuck4"] {
        let (resolver, reactor) = (resolver.clone(), rt.reactor().clone());
        rt.spawn(Box::pin(async move {
            let _ =
                resolve(&resolver, &ResolveCache::new(), &reactor, name, 1, &ResolveOptions::default()).await;
        }));
    }
    rt.run().unwrap();
    let (fifth, reactor) = (resolver.clone(), rt.reactor().clone());
    let start = Instant::now();
    block_on(&rt, async move {
        resolve(&fifth, &ResolveCache::new(), &reactor, "fifth", 1, &ResolveOptions::default())
            .await
            .unwrap();
    });
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(resolver.threads() <= 5);
    rt.drain();
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
}

#[test]
fn never_more_than_twenty_threads() {
    let all = counting();
    let rt = runtime();
    let most = Rc::new(std::cell::Cell::new(0));
    let done = Rc::new(std::cell::Cell::new(0));
    for i in 0..60 {
        let (resolver, reactor, done) = (all.resolver.clone(), rt.reactor().clone(), done.clone());
        rt.spawn(Box::pin(async move {
            let name = format!("name{i}");
            resolve(&resolver, &ResolveCache::new(), &reactor, &name, 1, &ResolveOptions::default())
                .await
                .unwrap();
            done.set(done.get() + 1);
        }));
    }
    while done.get() < 60 {
        rt.perform().unwrap();
        most.set(most.get().max(all.resolver.threads()));
        rt.wait(&mut [], Duration::from_secs(5), false).unwrap();
    }
    assert_eq!((most.get(), all.calls()), (20, 60));
}

#[test]
fn numeric_hosts_and_localhost_ask_nobody() {
    let (rt, all) = (runtime(), counting());
    let ask = |name, version| all.ask(&rt, name, family(version));
    assert_eq!(ask("127.0.0.1", IpVersion::Any).unwrap(), ["127.0.0.1:80"]);
    assert_eq!(ask("::1", IpVersion::V6).unwrap(), ["[::1]:80"]);
    assert_eq!(ask("fe80::1%7", IpVersion::Any).unwrap(), ["[fe80::1%7]:80"]);
    assert_eq!(ask("LOCALHOST", IpVersion::Any).unwrap(), ["[::1]:80", "127.0.0.1:80"]);
    assert_eq!(ask("a.localhost.", IpVersion::V4).unwrap(), ["127.0.0.1:80"]);
    // Of the other family, whether they have been cached or not: there is nothing to connect to.
    assert!(ask("::1", IpVersion::V4).unwrap().is_empty());
    assert!(ask("127.0.0.1", IpVersion::V6).unwrap().is_empty());
    assert!(ask("hidden.onion", IpVersion::Any).unwrap_err().1.contains("RFC 7686"));
    assert!(ask("", IpVersion::Any).is_err());
    assert_eq!((all.calls(), all.resolver.threads()), (0, 0));
}

#[test]
fn failures_name_the_host_and_are_remembered_half_as_long() {
    let (clock, hand) = Clock::manual();
    let (rt, all) = (Runtime::new(clock), counting());
    let ask = |proxy| all.ask(&rt, "no.test", ResolveOptions { proxy, ..ResolveOptions::default() });
    let expected = (NetErrorKind::CouldntResolveHost, "Could not resolve host: no.test".to_owned());
    assert_eq!(ask(false).unwrap_err(), expected);
    let expected = (NetErrorKind::CouldntResolveProxy, "Could not resolve proxy: no.test".to_owned());
    assert_eq!(ask(true).unwrap_err(), expected);
    assert_eq!(all.calls(), 1);
    // As it was written, whoever asked first.
    let shown = all.ask(&rt, "No.Test", ResolveOptions::default()).unwrap_err();
    assert_eq!(shown, (NetErrorKind::CouldntResolveHost, "Could not resolve host: No.Test".to_owned()));
    assert_eq!(all.calls(), 1);
    hand.advance(Duration::from_secs(29));
    assert!(ask(false).is_err());
    assert_eq!(all.calls(), 1);
    hand.advance(Duration::from_secs(1));
    assert!(ask(false).is_err());
    assert_eq!(all.calls(), 2);
}

#[test]
fn answers_are_used_again_until_they_are_too_old() {
    let (clock, hand) = Clock::manual();
    let (rt, all) = (Runtime::new(clock), counting());
    let ask = |ttl| all.ask(&rt, "name", ResolveOptions { ttl, ..ResolveOptions::default() }).unwrap();
    ask(Some(Duration::from_secs(60)));
    hand.advance(Duration::from_secs(59));
    ask(Some(Duration::from_secs(60)));
    assert_eq!(all.calls(), 1);
    hand.advance(Duration::from_secs(1));
    ask(None);
    assert_eq!(all.calls(), 1, "for ever is for ever");
    ask(Some(Duration::from_secs(60)));
    assert_eq!(all.calls(), 2);
    ask(Some(Duration::ZERO));
    assert_eq!(all.calls(), 3, "no use of the cache");
}

#[test]
fn a_family_is_taken_from_an_answer_for_all() {
    let (rt, all) = (runtime(), counting());
    assert_eq!(all.ask(&rt, "name", family(IpVersion::Any)).unwrap().len(), 2);
    assert_eq!(all.ask(&rt, "name", family(IpVersion::V6)).unwrap(), ["[fd00::1]:80"]);
    assert_eq!(all.calls(), 1);
    assert_eq!(all.ask(&rt, "other", family(IpVersion::V4)).unwrap(), ["10.0.0.1:80"]);
    assert_eq!(all.ask(&rt, "other", family(IpVersion::Any)).unwrap().len(), 2);
    assert_eq!(all.calls(), 3, "an answer for one family is none for all");
}

#[test]
fn pinned_entries_come_first_and_last() {
    let (clock, hand) = Clock::manual();
    let (rt, all) = (Runtime::new(clock), counting());
    let ask = |name| all.ask(&rt, name, ResolveOptions::default()).unwrap();
    let pin = |entry| all.cache.pin(entry, rt.reactor().now()).unwrap();
    pin("*:80:9.9.9.9");
    pin("Name:80:1.1.1.1,[::2]");
    pin("+aging:80:2.2.2.2");
    assert_eq!(ask("name"), ["1.1.1.1:80", "[::2]:80"]);
    assert_eq!(ask("anything"), ["9.9.9.9:80"]);
    assert_eq!(ask("aging"), ["2.2.2.2:80"]);
    hand.advance(Duration::from_secs(1000));
    assert_eq!(ask("name").len(), 2);
    pin("-name:80");
    assert_eq!(ask("name"), ["9.9.9.9:80"]);
    pin("-*:80");
    assert_eq!(ask("aging"), ["10.0.0.1:80", "[fd00::1]:80"]);
    assert_eq!(all.calls(), 1);
}

#[test]
fn threads_go_when_they_have_nothing_to_do() {
    let (rt, all) = (runtime(), counting());
    all.ask(&rt, "name", ResolveOptions::default()).unwrap();
    assert_eq!(all.resolver.threads(), 1);
    let start = Instant::now();
    while all.resolver.threads() > 0 {
        assert!(start.elapsed() < Duration::from_secs(15));
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn the_system_knows_its_own_names() {
    let rt = runtime();
    let reactor = rt.reactor().clone();
    let found = block_on(&rt, async move {
        let process = warmwire_net::process();
        let options = ResolveOptions::default();
        resolve(&process.resolver, &ResolveCache::new(), &reactor, "does-not-exist.invalid", 80, &options)
            .await
    });
    assert_eq!(found.unwrap_err().message, "Could not resolve host: does-not-exist.invalid");
}
