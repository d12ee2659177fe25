//! Sessions in a pool, with a fake one that only counts: who gets a stream, who waits, and parking.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::common::{block_on, bytes, key_of, listener, open, runtime, wish};
use runtime::Runtime;
use warmwire_net::exchange::{BufferPool, Exchange};
use warmwire_net::session::{Session, SessionPlace, Stream};
use warmwire_net::{
    About, AcquireRequest, Acquired, AnyConnection, Connection, HashedKey, Idle, Lease, Memory, Pool,
    SharedPool, Stack, Whole, pool,
};

/// Ends when its last stream does, like a session whose driver parks.
struct Counting {
    about: About,
    most: usize,
    open: Cell<usize>,
    whole: RefCell<Option<Whole>>,
}

struct CountingPlace(Rc<Counting>);

impl pool::Session for Counting {
    type Connection = AnyConnection;
    type Place = SessionPlace;
    fn is_by_quic(&self) -> bool {
        false
    }
    fn vacancies(&self) -> usize {
        self.most - self.open.get()
    }
    fn place(self: Rc<Self>) -> SessionPlace {
        self.open.set(self.open.get() + 1);
        SessionPlace::Stream(Box::new(CountingPlace(self)))
    }
}

impl Session for Counting {
    fn about(&self) -> &About {
        &self.about
    }
}

impl Stream for CountingPlace {
    fn begin(&mut self, _: &BufferPool) -> Box<dyn Exchange> {
        unreachable!("nothing is exchanged here")
    }
}

impl Drop for CountingPlace {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get() - 1);
        if self.0.open.get() > 0 {
            let whole = self.0.whole.borrow();
            return whole.as_ref().expect("it has its connection while it has streams").tell_room();
        }
        let Some(mut whole) = self.0.whole.take() else { return };
        whole.connection().state = Some(Box::new(Parked { pings: 0 }));
        whole.release();
    }
}

/// The state of a session on its connection.
struct Parked {
    pings: usize,
}

impl Memory for Parked {
    /// A byte is a ping; an end is an end.
    fn idle_state(&mut self, carrier: &mut Stack) -> Idle {
        let mut buf = [0; 8];
        match carrier.try_read(&mut buf) {
            Poll::Pending => Idle::Alive,
            Poll::Ready(Ok(n)) if n > 0 => {
                self.pings += n;
                Idle::Alive
            }
            Poll::Ready(_) => Idle::Closed,
        }
    }
}

fn run(most: usize) -> impl FnOnce(Whole) -> Rc<dyn Session> {
    move |whole| {
        let about = whole.about().clone();
        Rc::new(Counting { about, most, open: Cell::new(0), whole: RefCell::new(Some(whole)) })
    }
}

fn wanted(key: &HashedKey) -> AcquireRequest<'_> {
    AcquireRequest { streams: true, patience: usize::MAX, ..wish(key) }
}

fn connection(rt: &Runtime, key: &HashedKey, to: std::net::SocketAddr) -> Box<Connection> {
    block_on(rt, open(rt.reactor().clone(), key.clone(), to))
}

fn reused(pool: &Pool, key: &HashedKey) -> Option<Lease> {
    match pool.try_acquire(wanted(key), pool.now()) {
        Some(Acquired::Reused(lease)) => Some(bytes(lease)),
        _ => None,
    }
}

#[derive(Default)]
struct Woken(std::sync::atomic::AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Woken {
    fn times(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

#[test]
fn transfers_share_a_session_up_to_its_limit() {
    let (rt, (_listener, to)) = (runtime(), listener());
    let (pool, key) = (Pool::new(rt.reactor()), key_of(1));
    let Some(Acquired::Vacant(slot)) = pool.try_acquire(wanted(&key), pool.now()) else { panic!() };
    let first: Lease = slot.host(connection(&rt, &key, to), run(2));
    let second = reused(&pool, &key).expect("there is room for one more");
    assert_eq!((first.is_reused(), second.is_reused(), second.about().id), (false, true, 0));
    assert_eq!((pool.in_use(), pool.idle()), (1, 0), "one connection, however many streams");
    assert!(
        pool.try_reuse(wanted(&key), pool.now()).is_none()
            && pool.try_reuse(wanted(&key_of(2)), pool.now()).is_none()
    );
    drop(second);
    let second =
        pool.try_reuse(wanted(&key), pool.now()).expect("a stream counts as a connection that is open");
    assert!(pool.try_reuse(wish(&key), pool.now()).is_none(), "to who wants one");
    assert!(
        matches!(pool.try_acquire(wanted(&key), pool.now()), Some(Acquired::Vacant(_))),
        "a full session is none"
    );
    assert!(
        matches!(pool.try_acquire(wish(&key), pool.now()), Some(Acquired::Vacant(_))),
        "who wants no stream gets none"
    );
    drop(first);
    drop(second);
    assert_eq!((pool.in_use(), pool.idle()), (0, 1), "without streams it is an idle connection");
}

#[test]
fn a_parked_session_is_an_idle_connection_that_threads_share() {
    use std::io::Write;
    let (rt, (listener, to)) = (runtime(), listener());
    let (pool, key) = (Pool::new(rt.reactor()), key_of(1));
    let shared = Arc::new(SharedPool::new(9, Duration::from_secs(9)));
    pool.set_in_front(Some(shared.clone()));
    let Some(Acquired::Vacant(slot)) = pool.try_acquire(wanted(&key), pool.now()) else { panic!() };
    let stream: Lease = slot.host(connection(&rt, &key, to), run(9));
    assert!(shared.is_empty(), "one with streams belongs to its multi handle");
    stream.release();
    assert_eq!((shared.len(), rt.reactor().registrations(), rt.reactor().interests().len()), (1, 0, 0));
    let (mut peer, _) = listener.accept().unwrap();
    peer.write_all(b"p").unwrap();
    std::thread::sleep(Duration::from_millis(30));
    let mut again = reused(&pool, &key).expect("a ping is no fault");
    let memory = again.whole().unwrap().connection().state.take().unwrap();
    assert_eq!(memory.take::<Parked>().unwrap().pings, 1);
    let on: Lease = again.into_whole().unwrap().host(run(9));
    assert!(reused(&pool, &key).is_some_and(|lease| matches!(lease, Lease::Stream(_))));
    drop(on);
    drop(peer);
    std::thread::sleep(Duration::from_millis(30));
    assert!(reused(&pool, &key).is_none(), "what has ended is not used again");
}

/// CURLOPT_PIPEWAIT: a request that may share waits for the connection being opened, and is woken by its
/// result.
#[test]
fn the_patient_wait_for_a_session_being_opened() {
    let (rt, (_listener, to)) = (runtime(), listener());
    let (pool, key) = (Pool::new(rt.reactor()), key_of(1));
    let opening = || match pool.try_acquire(wanted(&key), pool.now()) {
        Some(Acquired::Vacant(slot)) => slot,
        _ => panic!("nothing is being opened"),
    };
    let slot = opening();
    let impatient = AcquireRequest { patience: 0, ..wanted(&key) };
    assert!(
        matches!(pool.try_acquire(impatient, pool.now()), Some(Acquired::Vacant(_))),
        "the rest doesn't wait"
    );
    let (woken, mut waiting) = ([(); 3].map(|()| Arc::<Woken>::default()), Vec::new());
    for woken in &woken {
        let mut acquire = Box::pin(pool.acquire(wanted(&key)));
        assert!(acquire.as_mut().poll(&mut Context::from_waker(&Waker::from(woken.clone()))).is_pending());
        waiting.push(acquire);
    }
    let times = || woken.each_ref().map(|woken| woken.times());
    drop(slot);
    assert_eq!(times(), [1, 0, 0], "it failed: one of those who waited opens the next");
    let mut poll = |i: usize| {
        let waker = Waker::from(woken[i].clone());
        waiting[i].as_mut().poll(&mut Context::from_waker(&waker))
    };
    let Poll::Ready(Acquired::Vacant(slot)) = poll(0) else { panic!() };
    assert_eq!(times(), [1, 0, 0]);
    let first: Lease = slot.host(connection(&rt, &key, to), run(2));
    assert_eq!(times(), [1, 1, 0], "a session with room for one more wakes one");
    let Poll::Ready(Acquired::Reused(second)) = poll(1) else { panic!() };
    assert_eq!(times(), [1, 1, 1], "nothing that is being opened has room for the last");
    drop(second);
    assert!(
        matches!(poll(2), Poll::Ready(Acquired::Reused(pool::Lease::Stream(_)))),
        "a stream that has ended has"
    );
    drop(first);
}

/// If the number of streams of a session is known, that many wait for each connection being opened, and the
/// next one opens another; but no server gets many at once.
#[test]
fn no_more_wait_than_there_will_be_room_for() {
    let (rt, (_listener, to)) = (runtime(), listener());
    let (pool, key) = (Pool::new(rt.reactor()), key_of(1));
    let wish = AcquireRequest { patience: 2, ..wanted(&key) };
    let woken = [(); 20].map(|()| Arc::<Woken>::default());
    let (mut waiting, mut slots) = (Vec::new(), Vec::new());
    for (at, woken) in woken.iter().enumerate() {
        let mut acquire = Box::pin(pool.acquire(wish));
        match acquire.as_mut().poll(&mut Context::from_waker(&Waker::from(woken.clone()))) {
            Poll::Ready(Acquired::Vacant(slot)) => slots.push((at, slot)),
            Poll::Ready(Acquired::Reused(_)) => panic!("there is nothing yet"),
            Poll::Pending => waiting.push((at, acquire)),
        }
    }
    let opening: Vec<usize> = slots.iter().map(|(at, _)| *at).collect();
    assert_eq!(opening, [0, 3]);
    let mut leases = Vec::new();
    for (_, slot) in slots {
        leases.push(slot.host(connection(&rt, &key, to), run(3)));
    }
    let mut opened = Vec::new();
    for (at, acquire) in &mut waiting {
        match acquire.as_mut().poll(&mut Context::from_waker(&Waker::from(woken[*at].clone()))) {
            Poll::Ready(Acquired::Reused(lease)) => leases.push(bytes(lease)),
            Poll::Ready(Acquired::Vacant(slot)) => opened.push((*at, slot)),
            Poll::Pending => {}
        }
    }
    assert!(woken[6].times() > 0, "nothing had room for it");
    assert_eq!((leases.len(), opened.iter().map(|(at, _)| *at).collect::<Vec<_>>()), (6, vec![6, 9]));
}

/// The first connection shows that a server serves one transfer at a time: then nobody waits any more.
#[test]
fn nobody_waits_for_a_session_that_will_not_be() {
    let (rt, (_listener, to)) = (runtime(), listener());
    let (pool, key) = (Pool::new(rt.reactor()), key_of(1));
    let Some(Acquired::Vacant(slot)) = pool.try_acquire(wanted(&key), pool.now()) else { panic!() };
    let woken = Arc::<Woken>::default();
    let mut waiting = pin!(pool.acquire(wanted(&key)));
    let waker = Waker::from(woken.clone());
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let _one = slot.fill(connection(&rt, &key, to));
    assert_eq!(woken.times(), 1);
    let Poll::Ready(Acquired::Vacant(_second)) = waiting.as_mut().poll(&mut Context::from_waker(&waker))
    else {
        panic!()
    };
    assert!(
        matches!(pool.try_acquire(wanted(&key), pool.now()), Some(Acquired::Vacant(_))),
        "though one is being opened"
    );
}

/// A handle that is closed drops its sessions, even if streams exist.
#[test]
fn a_pool_that_is_given_up_forgets_its_sessions() {
    let (rt, (_listener, to)) = (runtime(), listener());
    let (pool, key) = (Pool::new(rt.reactor()), key_of(1));
    let Some(Acquired::Vacant(slot)) = pool.try_acquire(wanted(&key), pool.now()) else { panic!() };
    let kept: Rc<RefCell<Weak<dyn Session>>> = Rc::new(RefCell::new(Weak::<Counting>::new()));
    let keep = kept.clone();
    let stream: Lease = slot.host(connection(&rt, &key, to), move |whole| {
        let session = run(3)(whole);
        *keep.borrow_mut() = Rc::downgrade(&session);
        session
    });
    pool.give_up();
    assert!(reused(&pool, &key).is_none());
    drop(stream);
    assert!(kept.borrow().upgrade().is_none());
}
