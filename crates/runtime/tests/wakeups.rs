//! Wakers on other threads: no wake-up is lost, for the runtime's wait and for an application's own loop.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use warmwire_runtime::{Clock, Runtime};

const THREADS: u32 = 4;
const ROUNDS: u32 = 500;

/// A number that a thread raises, and who waits for it.
#[derive(Default)]
struct Cellular {
    value: AtomicU32,
    waker: Mutex<Option<Waker>>,
}

/// Tasks that each see a number raised by a thread, step by step: a lost wake-up stops one for ever.
fn spawn_tasks(rt: &Runtime) -> Rc<Cell<u32>> {
    let finished = Rc::new(Cell::new(0));
    for _ in 0..THREADS {
        let shared = Arc::new(Cellular::default());
        let (theirs, done, reactor) = (shared.clone(), finished.clone(), rt.reactor().clone());
        std::thread::spawn(move || {
            for round in 1..=ROUNDS {
                theirs.value.store(round, SeqCst);
                let waker = theirs.waker.lock().unwrap().take();
                waker.into_iter().for_each(Waker::wake);
                while theirs.waker.lock().unwrap().is_none() && round < ROUNDS {
                    std::hint::spin_loop();
                    std::thread::yield_now();
                }
            }
        });
        rt.spawn(Box::pin(async move {
            let _guard = reactor.wake_interest();
            let mut seen = 0;
            poll_fn(|cx| {
                *shared.waker.lock().unwrap() = Some(cx.waker().clone());
                seen = shared.value.load(SeqCst);
                if seen == ROUNDS { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            done.set(done.get() + 1);
        }));
    }
    finished
}

#[test]
fn the_runtimes_own_wait_misses_no_wake_up() {
    let rt = Runtime::new(Clock::system());
    let finished = spawn_tasks(&rt);
    let start = Instant::now();
    while finished.get() < THREADS {
        rt.perform().unwrap();
        if finished.get() < THREADS {
            rt.wait(&mut [], Duration::from_secs(5), false).unwrap();
        }
        assert!(start.elapsed() < Duration::from_secs(15), "a wake-up was lost");
    }
}

/// Another thread calls at every moment of a wait, again and again: none of its calls is slept through.
// covers: curl_multi_wakeup
#[test]
fn a_call_that_comes_just_before_the_sleep_ends_it() {
    let rt = Runtime::new(Clock::system());
    let (round, stop) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (theirs, reactor, ends) = (round.clone(), rt.reactor().clone(), stop.clone());
    let caller = std::thread::spawn(move || {
        let mut seen = 0;
        while ends.load(SeqCst) == 0 {
            let now = theirs.load(SeqCst);
            if now == seen {
                std::hint::spin_loop();
                continue;
            }
            seen = now;
            (0..now % 512).for_each(|_| std::hint::spin_loop());
            reactor.wakeup();
        }
    });
    let mut longest = Duration::ZERO;
    // Under Wine each wake-up is a conversation of three processes.
    let rounds = if cfg!(windows) { 2_000 } else { 40_000 };
    for now in 1..=rounds {
        let start = Instant::now();
        round.store(now, SeqCst);
        rt.wait(&mut [], Duration::from_secs(4), true).unwrap();
        longest = longest.max(start.elapsed());
        if longest > Duration::from_secs(3) {
            break;
        }
    }
    stop.store(1, SeqCst);
    caller.join().unwrap();
    assert!(longest < Duration::from_secs(3), "a call was slept through");
}

/// Tests that need a second handle of the wake-up descriptor, or one descriptor for everything: Linux has
/// both.
#[cfg(unix)]
mod loops {
    use std::cell::RefCell;
    use std::io::Write;
    use std::net::UdpSocket;
    use std::os::fd::{OwnedFd, RawFd};
    use std::os::unix::net::UnixStream;

    use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
    use warmwire_runtime::{Descriptor, Interest, Socket, SocketHook};

    use super::*;

    /// Records what an application would watch.
    #[derive(Default)]
    struct Watch(Mutex<Vec<(RawFd, Interest)>>);

    impl SocketHook for Watch {
        fn changed(&self, fd: RawFd, interest: Interest, _: u64) {
            let mut rows = self.0.lock().unwrap();
            rows.retain(|row| row.0 != fd);
            if !interest.is_empty() {
                rows.push((fd, interest));
            }
        }
    }

    /// A second handle of a descriptor of this process, as in an application's loop.
    fn duplicate(fd: RawFd) -> OwnedFd {
        use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
        let me = pidfd_open(getpid(), PidfdFlags::empty()).unwrap();
        pidfd_getfd(me, fd, PidfdGetfdFlags::empty()).unwrap()
    }

    #[test]
    fn an_applications_loop_misses_no_wake_up() {
        let rt = Runtime::new(Clock::system());
        let watch = Arc::new(Watch::default());
        rt.reactor().set_hook(Some(watch.clone()));
        let finished = spawn_tasks(&rt);
        rt.run().unwrap();
        rt.reactor().report_changes();
        let rows = watch.0.lock().unwrap().clone();
        assert_eq!(rows.len(), 1, "only the wake-up descriptor");
        let (number, fd) = (rows[0].0, duplicate(rows[0].0));
        let start = Instant::now();
        while finished.get() < THREADS {
            if rt.reactor().timeout() != Some(Duration::ZERO) {
                let mut set = [PollFd::new(&fd, PollFlags::IN)];
                poll(&mut set, Some(&Timespec { tv_sec: 5, tv_nsec: 0 })).unwrap();
                if !set[0].revents().is_empty() {
                    rt.reactor().ready(number, Interest::READ, false);
                }
            }
            rt.run().unwrap();
            rt.reactor().report_changes();
            assert!(start.elapsed() < Duration::from_secs(15), "a wake-up was lost");
        }
        assert!(watch.0.lock().unwrap().is_empty(), "nothing is watched when nobody waits for a thread");
    }

    /// Returns whether a loop that watches it would be woken now.
    fn is_readable(descriptor: &Descriptor) -> bool {
        let mut set = [PollFd::new(descriptor, PollFlags::IN)];
        poll(&mut set, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() > 0
    }

    /// A loop whose events are edges of one descriptor.
    struct EdgeLoop(OwnedFd);

    impl EdgeLoop {
        fn new(descriptor: &Descriptor) -> EdgeLoop {
            descriptor.watch_by_edges();
            let own = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
            let edges = epoll::EventFlags::IN | epoll::EventFlags::ET;
            epoll::add(&own, descriptor, epoll::EventData::new_u64(0), edges).unwrap();
            EdgeLoop(own)
        }

        /// Waits for an event; false if none comes.
        fn wait(&self) -> bool {
            let mut events = Vec::with_capacity(1);
            let limit = Timespec { tv_sec: 10, tv_nsec: 0 };
            epoll::wait(&self.0, rustix::buffer::spare_capacity(&mut events), Some(&limit)).unwrap() > 0
        }
    }

    /// A socket that a task reads to its end, the lengths of what it received, and the other end.
    fn read_by_task(rt: &Runtime) -> (Rc<RefCell<Vec<usize>>>, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        let mut socket = Socket::new(near.into());
        socket.attach(rt.reactor(), 0);
        let received = Rc::new(RefCell::new(Vec::new()));
        let log = received.clone();
        rt.spawn(Box::pin(async move {
            let mut buf = [0; 64];
            while log.borrow().last() != Some(&0) {
                let length = poll_fn(|cx| socket.poll_recv(cx, &mut buf)).await.unwrap();
                log.borrow_mut().push(length);
            }
        }));
        (received, far)
    }

    /// Bytes on the only connection are received without a call that asks epoll, whose event stays. The next
    /// arrival is an edge all the same, and so is an end.
    #[test]
    fn a_loop_of_edges_reads_the_only_connection_at_once() {
        let rt = Runtime::new(Clock::system());
        let descriptor = rt.reactor().descriptor().unwrap();
        let watch = EdgeLoop::new(&descriptor);
        let perform = || {
            let _turn = rt.reactor().turn(); // or the tasks that are woken here would be an event
            rt.perform().unwrap();
        };
        let (received, mut far) = read_by_task(&rt);
        assert!(watch.wait());
        perform();
        assert!(!is_readable(&descriptor), "epoll was not asked about a new connection");
        for count in 1..=20 {
            far.write_all(b"a").unwrap();
            assert!(watch.wait(), "no event of arrival {count}");
            perform();
            assert_eq!(received.borrow().len(), count);
            assert!(is_readable(&descriptor), "epoll was asked");
        }
        let (others, mut other_far) = read_by_task(&rt);
        assert!(watch.wait());
        perform();
        assert!(!is_readable(&descriptor), "epoll was not asked, with two connections");
        other_far.write_all(b"b").unwrap();
        drop(other_far);
        assert!(watch.wait());
        perform();
        assert_eq!((others.take(), received.borrow().len()), (vec![1, 0], 20));
        far.write_all(b"c").unwrap();
        drop(far);
        assert!(watch.wait());
        perform();
        assert_eq!(received.borrow()[20..], [1, 0], "bytes and end were one event");
    }

    /// The system reports that a socket of datagrams is writable whenever a packet has left.
    #[test]
    fn a_datagram_that_has_left_is_no_event() {
        for is_datagram in [false, true] {
            let rt = Runtime::new(Clock::system());
            let (near, far) = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap()).into();
            near.connect(far.local_addr().unwrap()).unwrap();
            near.set_nonblocking(true).unwrap();
            far.connect(near.local_addr().unwrap()).unwrap();
            let mut socket = Socket::new(near.into());
            socket.attach(rt.reactor(), 0);
            if is_datagram {
                socket.set_datagram();
            }
            let descriptor = rt.reactor().descriptor().unwrap();
            rt.perform().unwrap();
            let mut buf = [0];
            rustix::net::send(&socket, b"a", rustix::net::SendFlags::empty()).unwrap();
            far.recv(&mut buf).unwrap();
            assert_eq!(is_readable(&descriptor), !is_datagram);
            rt.perform().unwrap();
            assert!(!is_readable(&descriptor));
            far.send(b"b").unwrap();
            assert!(is_readable(&descriptor));
        }
    }

    #[test]
    fn tasks_run_in_the_same_turn_signal_no_event() {
        let rt = Runtime::new(Clock::system());
        let descriptor = rt.reactor().descriptor().unwrap();
        let done = Rc::new(Cell::new(0));
        let spawn = || {
            let done = done.clone();
            rt.spawn(Box::pin(async move { done.set(done.get() + 1) }))
        };
        spawn();
        assert!(is_readable(&descriptor), "a loop has to hear of what is done outside of turns");
        rt.perform().unwrap();
        assert!(!is_readable(&descriptor) && done.get() == 1);
        let turn = rt.reactor().turn();
        for _ in 0..2 {
            // A run within the turn does not end it.
            spawn();
            assert!(!is_readable(&descriptor));
            rt.run().unwrap();
        }
        drop(turn);
        assert!(!is_readable(&descriptor) && done.get() == 3);
        let turn = rt.reactor().turn();
        spawn();
        drop(turn);
        assert!(is_readable(&descriptor), "what a turn leaves has to be heard of");
        rt.perform().unwrap();
        assert!(!is_readable(&descriptor) && done.get() == 4);
    }
}
