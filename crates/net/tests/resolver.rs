//! Look-ups: coalescing, threads, cache, pins.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::common::{block_on, runtime};
use runtime::{Clock, Runtime};
use warmwire_net::NetErrorKind;
use warmwire_net::resolver::{
    Candidates, Family, Found, IpVersion, LookupResult, Means, NoAnswer, ResolveCache, ResolveOptions,
    Resolver, resolve,
};

struct Counting {
    resolver: Arc<Resolver>,
    calls: Arc<AtomicUsize>,
    cache: Arc<ResolveCache>,
}

/// Answers `10.0.0.1` and `fd00::1` after 30 ms; names that begin with `no` do not exist, and those with
/// `again` fail temporarily.
fn counting() -> Counting {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = calls.clone();
    let resolver = Resolver::with_lookup(Arc::new(move |name, family| {
        counter.fetch_add(1, SeqCst);
        std::thread::sleep(Duration::from_millis(10));
        match name {
            _ if name.starts_with("no") => Ok(Vec::new()),
            _ if name.starts_with("again") => Err(NoAnswer),
            _ => usual(family),
        }
    }));
    Counting { resolver: Arc::new(resolver), calls, cache: Arc::default() }
}

fn usual(family: Family) -> LookupResult {
    let found = |text: &str| -> Found { (text.parse().unwrap(), 0) };
    Ok(match family {
        Family::V4 => vec![found("10.0.0.1"), found("10.0.0.1")],
        Family::V6 => vec![found("fd00::1")],
    })
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
            let found = resolve(&Means::system(&resolver, &cache, &reactor), name, 80, &options).await;
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

/// The lifetime of an answer, which the system gives without one, is that of the cache.
#[test]
fn an_answer_says_when_it_becomes_stale() {
    let (rt, all) = (runtime(), counting());
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let rows = [
        ("name", seconds(60), seconds(60), true),
        ("later", seconds(3600), seconds(3600), true),
        ("at-once", seconds(0), seconds(1), true),
        ("forever", None, None, true),
        ("nobody", seconds(60), None, true),
        ("again", seconds(60), None, false),
        ("10.0.0.7", seconds(60), None, false),
    ];
    for (name, ttl, wanted, is_answered) in rows {
        let means = Means::system(&all.resolver, &all.cache, rt.reactor());
        let options = ResolveOptions { ttl, ..ResolveOptions::default() };
        let before = rt.reactor().now();
        let (until, answered) = block_on(&rt, async move {
            let mut stream = Candidates::look_up(&means, (name, 80), &options).unwrap();
            while stream.next().await.is_some() {}
            (stream.fresh_until(), [Family::V4, Family::V6].map(|family| stream.has_answered(family)))
        });
        let left = until.map(|until| until - before);
        let is_late = left.is_some_and(|left| left > wanted.unwrap() + Duration::from_secs(5));
        assert_eq!((left.is_some(), left >= wanted, is_late), (wanted.is_some(), true, false), "{name}");
        assert_eq!(answered, [is_answered; 2], "{name}");
    }
}

#[test]
fn names_asked_for_at_once_are_asked_once() {
    let (rt, all) = (runtime(), counting());
    let done = Rc::new(std::cell::Cell::new(0));
    for _ in 0..50 {
        let (resolver, reactor, done) = (all.resolver.clone(), rt.reactor().clone(), done.clone());
        rt.spawn(Box::pin(async move {
            // caches of their own: only the look-up in flight can unite them
            let (cache, options) = (Arc::default(), ResolveOptions::default());
            let means = Means::system(&resolver, &cache, &reactor);
            let mut list = resolve(&means, "Name.test", 80, &options).await.unwrap().list.clone();
            list.sort();
            assert_eq!(list, addresses(&["10.0.0.1:80", "[fd00::1]:80"]));
            done.set(done.get() + 1);
        }));
    }
    rt.run().unwrap();
    assert_eq!(rt.reactor().interests().len(), 1, "the wake-up descriptor is watched during a look-up");
    while done.get() < 50 {
        rt.wait(&mut [], Duration::from_secs(5), false).unwrap();
        rt.perform().unwrap();
    }
    assert_eq!(all.calls(), 2, "one for each family");
    assert!(rt.reactor().interests().is_empty());
}

/// Names that hang while it is closed.
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// Everything that `hangs` waits for it; the rest is answered at once.
    fn before(hangs: fn(&str, Family) -> bool) -> (Gate, Arc<Resolver>) {
        let gate = Gate(Arc::default());
        let inner = gate.0.clone();
        let resolver = Resolver::with_lookup(Arc::new(move |name, family| {
            if hangs(name, family) {
                let open = inner.0.lock().unwrap();
                drop(inner.1.wait_while(open, |open| !*open).unwrap());
            }
            usual(family)
        }));
        (gate, Arc::new(resolver))
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

/// How long one name takes.
fn time_of(rt: &Runtime, resolver: &Arc<Resolver>, name: &'static str, ip_version: IpVersion) -> Duration {
    let (resolver, reactor) = (resolver.clone(), rt.reactor().clone());
    let start = Instant::now();
    block_on(rt, async move {
        resolve(&Means::system(&resolver, &Arc::default(), &reactor), name, 1, &family(ip_version))
            .await
            .unwrap();
    });
    start.elapsed()
}

#[test]
fn a_hundred_dead_names_that_were_given_up_delay_nobody() {
    let (gate, resolver) = Gate::before(|name, _| name.starts_with("dead"));
    let rt = runtime();
    for i in 0..100 {
        let (resolver, reactor) = (resolver.clone(), rt.reactor().clone());
        rt.spawn(Box::pin(async move {
            let (name, options) = (format!("dead{i}.test"), ResolveOptions::default());
            let _ = resolve(&Means::system(&resolver, &Arc::default(), &reactor), &name, 1, &options).await;
        }));
    }
    rt.run().unwrap();
    assert!(resolver.queued() >= 160, "{}", resolver.queued());
    rt.drain();
    assert_eq!(resolver.queued(), 0, "nobody waits for them any more");
    let took = time_of(&rt, &resolver, "alive.test", IpVersion::Any);
    assert!(took < Duration::from_millis(500), "{took:?}");
    assert!(resolver.threads() <= 42);
    drop(gate);
}

/// A stuck thread does not count, although somebody still waits for it.
#[test]
fn dead_names_that_are_waited_for_give_way_after_a_second() {
    let (gate, resolver) = Gate::before(|name, _| name.starts_with("dead"));
    let rt = runtime();
    for i in 0..60 {
        let (resolver, reactor) = (resolver.clone(), rt.reactor().clone());
        rt.spawn(Box::pin(async move {
            let (name, options) = (format!("dead{i}.test"), ResolveOptions::default());
            let _ = resolve(&Means::system(&resolver, &Arc::default(), &reactor), &name, 1, &options).await;
        }));
    }
    rt.run().unwrap();
    let took = time_of(&rt, &resolver, "alive.test", IpVersion::Any);
    assert!(took < Duration::from_secs(8), "{took:?}");
    assert!(resolver.threads() <= 240);
    drop(gate);
    rt.drain();
}

#[test]
fn a_family_that_does_not_answer_costs_the_resolution_delay() {
    let (gate, resolver) = Gate::before(|_, family| family == Family::V6);
    let rt = runtime();
    let took = time_of(&rt, &resolver, "half.test", IpVersion::Any);
    assert!(took >= Duration::from_millis(25) && took < Duration::from_millis(500), "{took:?}");
    let took = time_of(&rt, &resolver, "other.test", IpVersion::V4);
    assert!(
        took < Duration::from_millis(50) && resolver.threads() <= 2,
        "{took:?}: -4 asks for nothing else"
    );
    drop(gate);
}

/// A missing answer is not awaited twice: the delay started when the other one arrived.
#[test]
fn an_answer_that_was_not_waited_for_costs_the_next_look_up_nothing() {
    let (gate, resolver) = Gate::before(|_, family| family == Family::V6);
    let rt = runtime();
    let cache: Arc<ResolveCache> = Arc::default();
    let mut times = Vec::new();
    for _ in 0..2 {
        let (resolver, reactor, cache) = (resolver.clone(), rt.reactor().clone(), cache.clone());
        let start = Instant::now();
        block_on(&rt, async move {
            let options = ResolveOptions::default();
            resolve(&Means::system(&resolver, &cache, &reactor), "half.test", 1, &options).await.unwrap();
        });
        times.push(start.elapsed());
    }
    assert!(times[0] >= Duration::from_millis(25) && times[1] < Duration::from_millis(50), "{times:?}");
    drop(gate);
}

#[test]
fn each_answer_counts_when_it_comes() {
    let (gate, resolver) = Gate::before(|_, family| family == Family::V6);
    let rt = runtime();
    let reactor = rt.reactor().clone();
    let (first, mut stream) = block_on(&rt, async move {
        let cache = Arc::default();
        let options = ResolveOptions::default();
        let mut stream =
            Candidates::look_up(&Means::system(&resolver, &cache, &reactor), ("a.test", 7), &options)
                .unwrap();
        (stream.next().await.unwrap(), stream)
    });
    assert_eq!(first.candidates.iter().map(|c| c.address).collect::<Vec<_>>(), addresses(&["10.0.0.1:7"]));
    drop(gate);
    let second = block_on(&rt, async move {
        let second = stream.next().await.unwrap();
        assert!(stream.next().await.is_none() && stream.failure().is_none());
        second
    });
    assert_eq!(second.candidates.iter().map(|c| c.address).collect::<Vec<_>>(), addresses(&["[fd00::1]:7"]));
}

#[test]
fn a_thousand_names_at_once_are_all_answered() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = calls.clone();
    let resolver = Arc::new(Resolver::with_lookup(Arc::new(move |_, family| {
        counter.fetch_add(1, SeqCst);
        std::thread::sleep(Duration::from_millis(1));
        usual(family)
    })));
    let rt = runtime();
    let done = Rc::new(std::cell::Cell::new(0));
    for i in 0..1000 {
        let (resolver, reactor, done) = (resolver.clone(), rt.reactor().clone(), done.clone());
        rt.spawn(Box::pin(async move {
            let (name, options) = (format!("name{i}.test"), ResolveOptions::default());
            resolve(&Means::system(&resolver, &Arc::default(), &reactor), &name, 1, &options).await.unwrap();
            done.set(done.get() + 1);
        }));
    }
    let start = Instant::now();
    while done.get() < 1000 {
        assert!(start.elapsed() < Duration::from_secs(60));
        rt.perform().unwrap();
        assert!(resolver.threads() <= 240);
        rt.wait(&mut [], Duration::from_secs(5), false).unwrap();
    }
    assert_eq!(calls.load(SeqCst), 2000);
}

#[test]
fn forty_questions_at_once() {
    let all = counting();
    let rt = runtime();
    let most = Rc::new(std::cell::Cell::new(0));
    let done = Rc::new(std::cell::Cell::new(0));
    for i in 0..60 {
        let (resolver, reactor, done) = (all.resolver.clone(), rt.reactor().clone(), done.clone());
        rt.spawn(Box::pin(async move {
            let name = format!("name{i}");
            resolve(
                &Means::system(&resolver, &Arc::default(), &reactor),
                &name,
                1,
                &ResolveOptions::default(),
            )
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
    assert_eq!((most.get(), all.calls()), (40, 120));
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
    // The family is only selected for names.
    assert_eq!(ask("::1", IpVersion::V4).unwrap(), ["[::1]:80"]);
    assert_eq!(ask("127.0.0.1", IpVersion::V6).unwrap(), ["127.0.0.1:80"]);
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
    assert_eq!(all.calls(), 2);
    // In the caller's spelling, even if another caller asked first.
    let shown = all.ask(&rt, "No.Test", ResolveOptions::default()).unwrap_err();
    assert_eq!(shown, (NetErrorKind::CouldntResolveHost, "Could not resolve host: No.Test".to_owned()));
    assert_eq!(all.calls(), 2);
    hand.advance(Duration::from_secs(29));
    assert!(ask(false).is_err());
    assert_eq!(all.calls(), 2);
    hand.advance(Duration::from_secs(1));
    assert!(ask(false).is_err());
    assert_eq!(all.calls(), 4);
}

/// After a failure the server is asked again: only negative answers are cached.
#[test]
fn failed_look_ups_are_repeated() {
    let (rt, all) = (runtime(), counting());
    for calls in [2, 4] {
        let failed = all.ask(&rt, "again.test", ResolveOptions::default()).unwrap_err();
        assert_eq!(failed.1, "Could not resolve host: again.test");
        assert_eq!(all.calls(), calls);
    }
}

#[test]
fn answers_are_reused_until_their_ttl_ends() {
    let (clock, hand) = Clock::manual();
    let (rt, all) = (Runtime::new(clock), counting());
    let ask = |ttl| all.ask(&rt, "name", ResolveOptions { ttl, ..ResolveOptions::default() }).unwrap();
    ask(Some(Duration::from_secs(60)));
    hand.advance(Duration::from_secs(59));
    ask(Some(Duration::from_secs(60)));
    assert_eq!(all.calls(), 2);
    hand.advance(Duration::from_secs(1));
    ask(None);
    assert_eq!(all.calls(), 2, "for ever is for ever");
    ask(Some(Duration::from_secs(60)));
    assert_eq!(all.calls(), 4);
    ask(Some(Duration::ZERO));
    assert_eq!(all.calls(), 6, "no use of the cache");
}

#[test]
fn a_family_is_taken_from_an_answer_for_all() {
    let (rt, all) = (runtime(), counting());
    assert_eq!(all.ask(&rt, "name", family(IpVersion::Any)).unwrap().len(), 2);
    assert_eq!(all.ask(&rt, "name", family(IpVersion::V6)).unwrap(), ["[fd00::1]:80"]);
    assert_eq!(all.calls(), 2);
    assert_eq!(all.ask(&rt, "other", family(IpVersion::V4)).unwrap(), ["10.0.0.1:80"]);
    assert_eq!(all.calls(), 3, "nobody is asked for the other");
    assert_eq!(all.ask(&rt, "other", family(IpVersion::Any)).unwrap().len(), 2);
    assert_eq!(all.calls(), 4, "an answer for one family is none for all");
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
    assert_eq!(ask("aging").len(), 2);
    assert_eq!(all.calls(), 2);
}

#[test]
fn idle_threads_end() {
    let (rt, all) = (runtime(), counting());
    all.ask(&rt, "name", ResolveOptions::default()).unwrap();
    assert_eq!(all.resolver.threads(), 2);
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
        resolve(
            &Means::system(&process.resolver, &Arc::default(), &reactor),
            "does-not-exist.invalid",
            80,
            &options,
        )
        .await
    });
    assert_eq!(found.unwrap_err().message, "Could not resolve host: does-not-exist.invalid");
}
