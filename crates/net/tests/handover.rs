//! Connections that move by a broker between two pools, as between two processes: the server sees one
//! connection, and no other key finds it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::common::{block_on, listener, of_host, open, runtime, wish};
use broker::{Client, Folder, Limits, Server};
use runtime::Runtime;
use testkit::temp::TempDir;
use warmwire_net::connection_key::{FtpTerms, Protocol};
use warmwire_net::handover::UserNames;
use warmwire_net::resolver::{Candidates, Family, Means, ResolveOptions, Resolver, resolve};
use warmwire_net::{AcquireRequest, Ages, ByCarrier, ConnectionKey, HashedKey, Lease, Pool, SharedPool};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A broker in a folder of its own.
struct Running {
    place: TempDir,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn new() -> Running {
        let mut running = Running { place: TempDir::new("broker").unwrap(), thread: None };
        running.start();
        running
    }

    /// Starts a broker, after an earlier one in the same folder.
    fn start(&mut self) {
        self.stop();
        let listener = Folder::at(&self.folder()).unwrap().listen().unwrap();
        let mut server = Server::new(listener, Limits::default()).unwrap();
        self.thread = Some(std::thread::spawn(move || server.serve().unwrap()));
    }

    fn stop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = self.client().stop();
            thread.join().unwrap();
        }
    }

    fn folder(&self) -> PathBuf {
        self.place.path().join("pool")
    }

    fn client(&self) -> Client {
        Client::at(&self.folder(), PATIENCE)
    }

    fn wait_for(&self, parked: usize) {
        let end = Instant::now() + PATIENCE;
        while self.client().status().unwrap().parked.len() != parked {
            assert!(Instant::now() < end, "{parked} are expected: {:?}", self.client().status());
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.client().stop();
    }
}

/// A process: its pool, in front of the broker.
struct Process {
    runtime: Runtime,
    pool: Pool,
    shared: Arc<SharedPool>,
}

impl Process {
    fn new(broker: &Running) -> Process {
        let shared = Arc::new(SharedPool::new(16, Duration::from_secs(118)));
        shared.use_client(Arc::new(broker.client()), |_, _, _| None, true);
        let runtime = runtime();
        let pool = Pool::new(runtime.reactor());
        pool.set_behind(Some(shared.clone()));
        Process { runtime, pool, shared }
    }

    /// Ends as a process does: its connections go to the broker.
    fn end(self) {
        self.pool.give_up();
        self.shared.give_all(self.runtime.reactor().now(), Instant::now() + PATIENCE);
        assert!(self.shared.is_empty());
    }

    fn open(&self, key: &HashedKey, to: std::net::SocketAddr) {
        let (reactor, key, pool) = (self.runtime.reactor().clone(), key.clone(), self.pool.clone());
        block_on(&self.runtime, async move {
            let Some(warmwire_net::Acquired::Vacant(slot)) = pool.try_acquire(wish(&key), pool.now()) else {
                panic!("there is one already");
            };
            slot.fill(open(reactor, key.clone(), to).await).release();
        });
    }

    fn find(&self, key: &HashedKey) -> Option<Lease> {
        match self.pool.try_reuse(wish(key), self.pool.now())?.by_carrier() {
            ByCarrier::Bytes(lease) => Some(lease),
            ByCarrier::Quic(_) => panic!("no broker keeps QUIC"),
        }
    }
}

/// Sends a line on a connection, and returns what the server got and sent back.
fn echo(process: &Process, lease: &mut Lease, peer: &mut TcpStream, line: &'static [u8]) -> Vec<u8> {
    let connection = lease.whole().unwrap().take();
    let (connection, sent) = block_on(&process.runtime, async move {
        let mut connection = connection;
        let sent = connection.write_all(line).await;
        (connection, sent)
    });
    sent.unwrap();
    lease.whole().unwrap().restore(connection);
    let mut got = vec![0; line.len()];
    peer.read_exact(&mut got).unwrap();
    got
}

/// A worker that waits for its next request makes no call, and another worker has its connection.
#[test]
fn an_idle_process_gives_after_a_second() {
    let broker = Running::new();
    let (listener, to) = listener();
    let key = of_host("host.test", 1);
    let worker = Process::new(&broker);
    worker.open(&key, to);
    let (_peer, _) = listener.accept().unwrap();
    worker.pool.give_up();
    let rested = Instant::now();
    assert_eq!(worker.shared.len(), 1, "not at once");
    broker.wait_for(1);
    assert!(rested.elapsed() >= Duration::from_millis(900), "{:?}", rested.elapsed());
    assert!(worker.shared.is_empty());
    let other = Process::new(&broker);
    assert!(other.find(&key).is_some());
}

/// The first process that wants a broker starts it, and the broker is not there at once.
#[test]
fn an_idle_process_waits_for_a_broker() {
    let mut broker = Running::new();
    broker.stop();
    let (listener, to) = listener();
    let worker = Process::new(&broker);
    worker.open(&of_host("host.test", 1), to);
    let (_peer, _) = listener.accept().unwrap();
    worker.pool.give_up();
    std::thread::sleep(Duration::from_millis(1200));
    broker.start();
    broker.wait_for(1);
}

#[test]
fn another_process_goes_on_with_a_connection() {
    let broker = Running::new();
    let (listener, to) = listener();
    let key = of_host("host.test", 1);
    let first = Process::new(&broker);
    first.open(&key, to);
    let (mut peer, client) = listener.accept().unwrap();
    first.end();
    broker.wait_for(1);
    let fresh_until = Instant::now() + Duration::from_secs(50);
    for round in 0..3 {
        let process = Process::new(&broker);
        assert!(process.find(&of_host("host.test", 2)).is_none());
        let mut lease = process.find(&key).expect("the broker has it");
        let about = lease.about().clone();
        assert!(lease.is_reused(), "CURLINFO_NUM_CONNECTS is 0");
        assert_eq!((about.endpoints.remote, about.endpoints.local), (Some(to), Some(client)));
        assert_eq!(lease.whole().unwrap().connection().uses, 2 + round);
        let known = about.address_fresh_until.get();
        let apart = |known: Instant| known.max(fresh_until) - known.min(fresh_until);
        assert_eq!(known.map(|known| apart(known) < Duration::from_secs(1)), (round > 0).then_some(true));
        lease.about().address_fresh_until.set(Some(fresh_until));
        assert_eq!(echo(&process, &mut lease, &mut peer, b"line\n"), b"line\n");
        assert!(Process::new(&broker).find(&key).is_none(), "it has one owner");
        lease.release();
        process.end();
        broker.wait_for(1);
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "the server sees one connection");
}

/// A connection is dropped when the server ends it or speaks; a process that asks then opens its own.
#[test]
fn a_dead_one_is_not_found() {
    let broker = Running::new();
    let (listener, to) = listener();
    let key = of_host("host.test", 1);
    for farewell in [&b""[..], b"421 going away\r\n"] {
        let process = Process::new(&broker);
        process.open(&key, to);
        process.end();
        broker.wait_for(1);
        let (mut peer, _) = listener.accept().unwrap();
        peer.write_all(farewell).unwrap();
        if farewell.is_empty() {
            drop(peer);
        }
        broker.wait_for(0);
        assert!(Process::new(&broker).find(&key).is_none());
    }
}

#[test]
fn limits_of_age_hold_across_processes() {
    let broker = Running::new();
    let (_listener, to) = listener();
    let key = of_host("host.test", 1);
    let process = Process::new(&broker);
    process.open(&key, to);
    std::thread::sleep(Duration::from_millis(150));
    process.end();
    let process = Process::new(&broker);
    let ages = Ages { lifetime: Duration::from_millis(100), ..Ages::default() };
    assert!(
        process.pool.try_reuse(AcquireRequest { ages, ..wish(&key) }, process.pool.now()).is_none(),
        "too old"
    );
    broker.wait_for(0);
}

/// A connection that cannot leave the process is closed with its goodbye, as without a broker.
#[test]
fn connections_that_cannot_move_are_closed_politely() {
    let broker = Running::new();
    let (listener, to) = listener();
    let key: HashedKey =
        ConnectionKey { protocol: Protocol::Ftp(FtpTerms::default()), ..ConnectionKey::default() }.into();
    let process = Process::new(&broker);
    process.open(&key, to);
    let mut lease = process.find(&key).unwrap();
    lease.whole().unwrap().connection().farewell = b"QUIT\r\n".to_vec();
    lease.whole().unwrap().connection().ahead = warmwire_net::Ahead::Asked;
    lease.release();
    process.end();
    let mut received = String::new();
    listener.accept().unwrap().0.read_to_string(&mut received).unwrap();
    assert_eq!(received, "QUIT\r\n");
    assert!(broker.client().status().unwrap().parked.is_empty());
}

/// A broker that ends, and another one with another secret: connections of the first are gone, and both
/// processes go on with the second after their next question. (A gift to the first is lost: nobody waits for
/// an acknowledgement.)
#[test]
fn a_restarted_broker_serves_at_once() {
    let mut broker = Running::new();
    let (_listener, to) = listener();
    let key = of_host("host.test", 1);
    let (first, second) = (Process::new(&broker), Process::new(&broker));
    first.open(&key, to);
    assert!(second.find(&key).is_none(), "both have the first secret now");
    broker.stop();
    first.pool.give_up();
    let now = first.runtime.reactor().now();
    broker.start();
    assert!(first.find(&of_host("host.test", 2)).is_none());
    first.shared.give_all(now, Instant::now() + PATIENCE);
    broker.wait_for(1);
    assert!(second.find(&key).is_some());
}

#[test]
fn without_a_broker_connections_are_closed_as_before() {
    let mut broker = Running::new();
    let (listener, to) = listener();
    let key = of_host("host.test", 1);
    broker.stop();
    let process = Process::new(&broker);
    assert!(process.find(&key).is_none());
    process.open(&key, to);
    process.end();
    assert_eq!(listener.accept().unwrap().0.read(&mut [0; 9]).unwrap(), 0);
}

/// The names of a process, which asks a name server that counts.
struct Names {
    runtime: Runtime,
    resolver: Arc<Resolver>,
}

impl Names {
    fn new(broker: &Running, calls: &Arc<AtomicUsize>, lifetime: Duration) -> Names {
        let calls = calls.clone();
        let resolver = Arc::new(Resolver::with_lookup(Arc::new(move |name, family| {
            calls.fetch_add(1, Ordering::SeqCst);
            let number = if name == "other.test" { 2 } else { 1 };
            Ok(match family {
                _ if name == "none.test" => Vec::new(),
                Family::V6 if name == "four.test" => Vec::new(),
                Family::V4 => vec![([10, 0, 0, number].into(), 0)],
                Family::V6 => vec![([0xfd00, 0, 0, 0, 0, 0, 0, number.into()].into(), 0)],
            })
        })));
        resolver.share_names(Arc::new(UserNames::new(Arc::new(broker.client()), lifetime)));
        Names { runtime: runtime(), resolver }
    }

    fn ask(&self, name: &'static str, options: ResolveOptions) -> Vec<String> {
        // A process has a cache of its own.
        let means = Means::system(&self.resolver, &Arc::default(), self.runtime.reactor());
        let found = block_on(&self.runtime, async move { resolve(&means, name, 80, &options).await });
        let mut shown: Vec<_> = found.iter().flat_map(|all| &all.list).map(ToString::to_string).collect();
        shown.sort();
        shown
    }
}

/// The name server is asked for each family by the first process alone.
#[test]
fn a_name_is_looked_up_once() {
    let (broker, calls) = (Running::new(), Arc::<AtomicUsize>::default());
    let usual = ResolveOptions::default;
    let count = || calls.load(Ordering::SeqCst);
    let process = || Names::new(&broker, &calls, Duration::from_secs(60));
    let wanted = ["10.0.0.1:80", "[fd00::1]:80"];
    assert_eq!(process().ask("host.test", usual()), wanted);
    assert_eq!(count(), 2);
    for _ in 0..3 {
        assert_eq!(process().ask("host.test", usual()), wanted);
    }
    assert_eq!(count(), 2, "others find both answers");
    assert_eq!(process().ask("other.test", usual()), ["10.0.0.2:80", "[fd00::2]:80"]);
    assert_eq!(count(), 4, "another name is another key");
    let fresh = ResolveOptions { ttl: Some(Duration::from_secs(5)), ..usual() };
    assert_eq!(process().ask("host.test", fresh), wanted);
    assert_eq!(count(), 6, "a handle that keeps names for five seconds wants no older ones");
}

/// `--why` names the broker for an answer to another process.
#[test]
fn an_answer_says_whether_another_process_had_asked() {
    let (broker, calls) = (Running::new(), Arc::<AtomicUsize>::default());
    // Both families: a process that ends after the first answer may leave the other one out.
    let answers = || {
        let process = Names::new(&broker, &calls, Duration::from_secs(60));
        let means = Means::system(&process.resolver, &Arc::default(), process.runtime.reactor());
        let mut stream = Candidates::look_up(&means, ("host.test", 80), &ResolveOptions::default()).unwrap();
        block_on(
            &process.runtime,
            async move { [stream.next().await.unwrap(), stream.next().await.unwrap()] },
        )
    };
    let (own, others) = (answers(), answers());
    assert!(own.iter().all(|answer| !answer.shared), "{own:?}");
    assert!(others.iter().all(|answer| answer.shared && !answer.candidates.is_empty()), "{others:?}");
}

#[test]
fn a_missing_family_is_looked_up_once_and_a_missing_name_always() {
    let (broker, calls) = (Running::new(), Arc::<AtomicUsize>::default());
    let ask = |name| {
        let process = Names::new(&broker, &calls, Duration::from_secs(60));
        let before = calls.load(Ordering::SeqCst);
        let found = process.ask(name, ResolveOptions::default());
        (found.len(), calls.load(Ordering::SeqCst) - before)
    };
    assert_eq!([ask("four.test"), ask("four.test")], [(1, 2), (1, 0)]);
    assert_eq!([ask("none.test"), ask("none.test")], [(0, 2), (0, 2)]);
}

#[test]
fn an_expired_name_is_looked_up_again() {
    let (mut broker, calls) = (Running::new(), Arc::<AtomicUsize>::default());
    let count = || calls.load(Ordering::SeqCst);
    let second = Duration::from_secs(1);
    let process = Names::new(&broker, &calls, second);
    process.ask("host.test", ResolveOptions::default());
    // A busy machine hands the answers of the two families over at different times.
    std::thread::sleep(second + second);
    process.ask("host.test", ResolveOptions::default());
    assert_eq!(count(), 4);
    // Nor does a broker that ended matter.
    broker.stop();
    process.ask("host.test", ResolveOptions::default());
    assert_eq!(count(), 6);
}
