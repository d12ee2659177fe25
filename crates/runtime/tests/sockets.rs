//! Sockets on the reactor: every test runs with poll(2) and with epoll (extra registrations make the
//! difference).

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io::{Read, Write};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketType};
use warmwire_runtime::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use warmwire_runtime::{
    Clock, Direction, ExtraFd, Idle, Interest, NextCall, Registration, Runtime, Socket, SocketHook,
    is_under_way, new_socket,
};

#[cfg(unix)]
type Stream = std::os::unix::net::UnixStream;
#[cfg(windows)]
type Stream = std::net::TcpStream;

/// The two ends of a connection.
fn ends() -> (Stream, Stream) {
    #[cfg(unix)]
    return Stream::pair().unwrap();
    #[cfg(windows)]
    {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let near = Stream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }
}

/// A runtime that uses poll (0) or epoll (50 idle registrations).
fn runtimes() -> Vec<(Runtime, Vec<(Registration, Stream)>)> {
    [0, 50].into_iter().map(crowded).collect()
}

fn crowded(idle: usize) -> (Runtime, Vec<(Registration, Stream)>) {
    let rt = Runtime::new(Clock::system());
    let crowd = (0..idle)
        .map(|_| {
            let (a, b) = ends();
            (rt.reactor().attach(Arc::new(OwnedFd::from(a)), 0), b)
        })
        .collect();
    (rt, crowd)
}

fn pair(rt: &Runtime) -> (Socket, Stream) {
    let (a, b) = ends();
    a.set_nonblocking(true).unwrap();
    let mut socket = Socket::new(a.into());
    socket.attach(rt.reactor(), 7);
    (socket, b)
}

/// Runs until the flag is set; panics after ten seconds.
fn until(rt: &Runtime, done: impl Fn() -> bool) {
    let start = Instant::now();
    rt.run().unwrap();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(10), "hangs");
        rt.wait(&mut [], Duration::from_secs(3), false).unwrap();
        rt.perform().unwrap();
    }
}

async fn recv(socket: &mut Socket, buf: &mut [u8]) -> std::io::Result<usize> {
    poll_fn(|cx| socket.poll_recv(cx, buf)).await
}

#[test]
fn data_and_end_in_one_event_are_both_seen() {
    for (rt, _crowd) in runtimes() {
        let (mut socket, mut peer) = pair(&rt);
        let log = Rc::new(RefCell::new(Vec::new()));
        let out = log.clone();
        rt.spawn(Box::pin(async move {
            let mut buf = [0u8; 64];
            loop {
                let n = recv(&mut socket, &mut buf).await.unwrap();
                out.borrow_mut().push(n);
                if n == 0 {
                    break;
                }
            }
        }));
        rt.run().unwrap();
        peer.write_all(b"hello").unwrap();
        drop(peer);
        until(&rt, || rt.tasks() == 0);
        assert_eq!(*log.borrow(), [5, 0]);
    }
}

#[test]
fn many_messages_arrive_one_after_the_other() {
    for (rt, _crowd) in runtimes() {
        let (mut socket, mut peer) = pair(&rt);
        rt.spawn(Box::pin(async move {
            let mut buf = [0u8; 64];
            for i in 0..20u8 {
                assert_eq!(poll_fn(|cx| socket.poll_send(cx, &[i])).await.unwrap(), 1);
                assert_eq!(recv(&mut socket, &mut buf).await.unwrap(), 1);
                assert_eq!(buf[0], i);
            }
        }));
        let echo = std::thread::spawn(move || {
            let mut byte = [0u8; 1];
            while peer.read(&mut byte).unwrap() == 1 {
                peer.write_all(&byte).unwrap();
            }
        });
        until(&rt, || rt.tasks() == 0);
        echo.join().unwrap();
    }
}

#[test]
fn a_full_send_buffer_waits_for_room() {
    for (rt, _crowd) in runtimes() {
        let (mut socket, mut peer) = pair(&rt);
        const TOTAL: usize = 3_000_000;
        rt.spawn(Box::pin(async move {
            let bytes = vec![7u8; TOTAL];
            let mut sent = 0;
            while sent < TOTAL {
                sent += poll_fn(|cx| socket.poll_send(cx, &bytes[sent..])).await.unwrap();
            }
        }));
        let sink = std::thread::spawn(move || {
            let mut all = Vec::new();
            peer.read_to_end(&mut all).unwrap();
            all.len()
        });
        until(&rt, || rt.tasks() == 0);
        assert_eq!(sink.join().unwrap(), TOTAL);
    }
}

/// Its write events are off until a write waits.
#[cfg(unix)]
#[test]
fn a_datagram_waits_for_room() {
    const COUNT: usize = 5000;
    for (rt, _crowd) in runtimes() {
        let (near, far) = std::os::unix::net::UnixDatagram::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        far.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut socket = Socket::new(near.into());
        socket.set_datagram();
        socket.attach(rt.reactor(), 7);
        let waits = Rc::new(Cell::new(0));
        let seen = waits.clone();
        rt.spawn(Box::pin(async move {
            for number in 0..COUNT {
                let sent = poll_fn(|cx| {
                    let sent = socket.poll_send(cx, &number.to_ne_bytes());
                    seen.set(seen.get() + usize::from(sent.is_pending()));
                    sent
                });
                assert_eq!(sent.await.unwrap(), size_of::<usize>());
            }
        }));
        let sink = std::thread::spawn(move || {
            let mut buf = [0; size_of::<usize>()];
            (0..COUNT).all(|number| far.recv(&mut buf).is_ok() && buf == number.to_ne_bytes())
        });
        until(&rt, || rt.tasks() == 0);
        assert!(sink.join().unwrap() && waits.get() > 0);
    }
}

#[test]
fn no_receive_follows_one_that_found_all() {
    for (rt, _crowd) in runtimes() {
        let (mut socket, mut peer) = pair(&rt);
        let calls = Rc::new(Cell::new(0));
        let count = calls.clone();
        rt.spawn(Box::pin(async move {
            loop {
                let mut buf = [0; 8];
                let mut receive = |fd: BorrowedFd<'_>| {
                    count.set(count.get() + 1);
                    Ok(rustix::net::recv(fd, &mut buf, rustix::net::RecvFlags::empty())?.1)
                };
                let received = poll_fn(|cx| socket.poll_io(cx, Direction::Read, &mut receive));
                match received.await.unwrap() {
                    0 => return,
                    _ => socket.found_all(),
                }
            }
        }));
        rt.run().unwrap();
        for round in 1..4 {
            peer.write_all(b"a").unwrap();
            until(&rt, || calls.get() == round);
            rt.wait(&mut [], Duration::from_millis(1), false).unwrap();
            rt.perform().unwrap();
            assert_eq!(calls.get(), round);
        }
        drop(peer);
        until(&rt, || rt.tasks() == 0);
    }
}

#[test]
fn nobody_reading_means_no_interest_and_no_early_end_of_a_wait() {
    for (rt, crowd) in runtimes() {
        let (socket, mut peer) = pair(&rt);
        rt.perform().unwrap();
        peer.write_all(b"unasked").unwrap();
        if let Some((_, other)) = crowd.first() {
            (&mut &*other).write_all(b"x").unwrap();
        }
        assert!(rt.reactor().interests().is_empty());
        let start = Instant::now();
        assert_eq!(rt.wait(&mut [], Duration::from_millis(60), false).unwrap(), 0);
        assert!(start.elapsed() >= Duration::from_millis(60));
        assert_eq!(socket.idle_state(), Idle::Data);
        drop(peer);
    }
}

#[test]
fn idle_state_distinguishes_alive_data_and_closed() {
    let (rt, _) = crowded(0);
    let (socket, mut peer) = pair(&rt);
    assert_eq!(socket.idle_state(), Idle::Alive);
    peer.write_all(b"x").unwrap();
    assert_eq!(socket.idle_state(), Idle::Data);
    let (socket, peer) = pair(&rt);
    drop(peer);
    assert_eq!(socket.idle_state(), Idle::Closed);
}

/// A pair whose first socket has the number of an earlier one, which was closed with an event pending.
fn pair_on_a_used_number(rt: &Runtime) -> Option<(Socket, Stream)> {
    let (old, mut peer) = pair(rt);
    let number = old.raw_fd();
    rt.perform().unwrap();
    peer.write_all(b"for the old one").unwrap();
    drop(old);
    Some(pair(rt)).filter(|(new, _)| new.raw_fd() == number)
}

#[test]
fn a_number_used_again_does_not_inherit_events() {
    for (rt, _crowd) in runtimes() {
        // The kernel assigns the lowest free number, unless a concurrent test takes it.
        let (mut new, mut peer) = (0..1000).find_map(|_| pair_on_a_used_number(&rt)).unwrap();
        let got = Rc::new(Cell::new(0));
        let out = got.clone();
        rt.spawn(Box::pin(async move {
            let mut buf = [0u8; 64];
            out.set(recv(&mut new, &mut buf).await.unwrap());
        }));
        rt.perform().unwrap();
        assert_eq!(got.get(), 0);
        peer.write_all(b"new").unwrap();
        until(&rt, || got.get() != 0);
        assert_eq!(got.get(), 3);
    }
}

#[test]
fn one_descriptor_attached_twice_serves_reader_and_writer() {
    for (rt, _crowd) in runtimes() {
        let (a, mut peer) = ends();
        a.set_nonblocking(true).unwrap();
        let fd = Arc::new(OwnedFd::from(a));
        let first = rt.reactor().attach(fd.clone(), 1);
        let second = rt.reactor().attach(fd.clone(), 2);
        let seen = Rc::new(Cell::new((false, false)));
        let (s1, s2) = (seen.clone(), seen.clone());
        rt.spawn(Box::pin(async move {
            poll_fn(|cx| first.poll_ready(cx, Direction::Read)).await;
            s1.set((true, s1.get().1));
        }));
        rt.spawn(Box::pin(async move {
            poll_fn(|cx| second.poll_ready(cx, Direction::Write)).await;
            s2.set((s2.get().0, true));
        }));
        rt.run().unwrap();
        assert_eq!(rt.reactor().interests(), [(fd.as_raw_fd(), Interest::BOTH)]);
        peer.write_all(b"x").unwrap();
        until(&rt, || seen.get() == (true, true));
    }
}

/// The calls of an application's callbacks.
#[derive(Default)]
struct Log(Mutex<Vec<(RawFd, Interest, u64)>>);

impl SocketHook for Log {
    fn changed(&self, fd: RawFd, interest: Interest, owner: u64) {
        self.0.lock().unwrap().push((fd, interest, owner));
    }
}

/// A number is one descriptor to the application's loop, whatever is attached with it.
#[test]
fn a_descriptor_attached_twice_is_reported_once_to_a_loop() {
    let rt = Runtime::new(Clock::system());
    let log = Arc::new(Log::default());
    rt.reactor().set_hook(Some(log.clone()));
    let reported_changes = || {
        rt.run().unwrap();
        rt.reactor().report_changes();
        std::mem::take(&mut *log.0.lock().unwrap())
    };
    let (a, _peer) = ends();
    let fd = Arc::new(OwnedFd::from(a));
    let raw = fd.as_raw_fd();
    let seen = Rc::new(RefCell::new(Vec::new()));
    for (owner, direction) in [(1, Direction::Read), (2, Direction::Write), (3, Direction::Read)] {
        let (at, out) = (rt.reactor().attach(fd.clone(), owner), seen.clone());
        rt.spawn(Box::pin(async move {
            poll_fn(|cx| at.poll_ready(cx, direction)).await;
            out.borrow_mut().push(owner);
        }));
    }
    assert_eq!(reported_changes(), [(raw, Interest::BOTH, 1)]);
    rt.reactor().ready(raw, Interest::WRITE, false);
    assert_eq!(reported_changes(), [(raw, Interest::READ, 1)]);
    assert_eq!(*seen.borrow(), [2]);
    rt.reactor().ready(raw, Interest::READ, false);
    assert_eq!(
        reported_changes().iter().map(|(fd, interest, _)| (*fd, *interest)).collect::<Vec<_>>(),
        [(raw, Interest::NONE)]
    );
    assert_eq!(*seen.borrow(), [2, 1, 3]);
}

#[test]
fn a_refused_connect_is_reported_at_once() {
    for (rt, _crowd) in runtimes() {
        let port = closed_port();
        let fd = new_socket(AddressFamily::INET, SocketType::STREAM).unwrap();
        let mut socket = Socket::new(fd);
        let failed = Rc::new(RefCell::new(None));
        let (out, reactor) = (failed.clone(), rt.reactor().clone());
        rt.spawn(Box::pin(async move {
            socket.attach(&reactor, 0); // before the connect: epoll reports a meaningless hang-up
            let mut yielded = false;
            poll_fn(|cx| {
                cx.waker().wake_by_ref();
                if std::mem::replace(&mut yielded, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            *out.borrow_mut() = Some(connect(&mut socket, port).await);
        }));
        until(&rt, || failed.borrow().is_some());
        let error = failed.take().unwrap().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    }
}

/// Returns a port that refuses connections.
fn closed_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

async fn connect(socket: &mut Socket, port: u16) -> std::io::Result<()> {
    match rustix::net::connect(&*socket, &std::net::SocketAddr::from(([127, 0, 0, 1], port))) {
        Err(e) if is_under_way(e) => poll_fn(|cx| socket.poll_connected(cx)).await.map(drop),
        Err(e) => Err(e.into()),
        Ok(()) => Ok(()),
    }
}

/// Every way in which an application waits: the call that can be woken and the one that cannot, with and
/// without a descriptor of its own, and its own loop, which only lets time pass. In such a loop a system that
/// never reports a failed connect (WSAPoll before Windows 10 2004) behaves like this.
#[test]
fn a_refused_connect_ends_every_kind_of_wait() {
    let (own, _peer) = ends();
    let wait = |rt: &Runtime, extra: &mut [ExtraFd<'_>], may_wake| {
        rt.wait(extra, Duration::from_secs(60), may_wake).unwrap();
        rt.perform().unwrap();
    };
    let polled = || ExtraFd { fd: Some(own.as_fd()), events: 1 | 2, revents: 0 };
    let deaf = |rt: &Runtime| {
        let awaits_writability = rt.reactor().interests().iter().any(|(_, interest)| interest.writes());
        let timeout = rt.reactor().timeout();
        assert!(!awaits_writability || timeout.is_some() || cfg!(unix), "nothing would ever end the wait");
        std::thread::sleep(timeout.unwrap_or(Duration::from_millis(1)).min(Duration::from_secs(1)));
        // Linux reports each end reliably.
        if cfg!(unix) { rt.perform().unwrap() } else { rt.run().unwrap() }
    };
    let ways: [&dyn Fn(&Runtime); 5] = [
        &|rt| wait(rt, &mut [], true),
        &|rt| wait(rt, &mut [], false),
        &|rt| wait(rt, &mut [polled()], true),
        &|rt| wait(rt, &mut [polled()], false),
        &deaf,
    ];
    for way in ways {
        for (rt, _crowd) in runtimes() {
            let failed = Rc::new(RefCell::new(None));
            let (out, reactor) = (failed.clone(), rt.reactor().clone());
            rt.spawn(Box::pin(async move {
                let mut socket = Socket::new(new_socket(AddressFamily::INET, SocketType::STREAM).unwrap());
                socket.attach(&reactor, 0);
                let result = connect(&mut socket, closed_port()).await;
                *out.borrow_mut() = Some(result);
            }));
            let start = Instant::now();
            rt.run().unwrap();
            while failed.borrow().is_none() {
                assert!(start.elapsed() < Duration::from_secs(30), "hangs");
                way(&rt);
            }
            let error = failed.take().unwrap().unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
        }
    }
}

#[test]
fn an_application_descriptor_is_waited_for_too() {
    for (rt, _crowd) in runtimes() {
        let (ours, mut theirs) = ends();
        let mut extra = [
            ExtraFd { fd: None, events: 1, revents: 5 },
            ExtraFd { fd: Some(ours.as_fd()), events: 1, revents: 0 },
        ];
        assert_eq!(rt.wait(&mut extra, Duration::ZERO, false).unwrap(), 0);
        theirs.write_all(b"x").unwrap();
        assert_eq!(rt.wait(&mut extra, Duration::from_secs(5), true).unwrap(), 1);
        assert_eq!((extra[0].revents, extra[1].revents), (0, 1));
    }
}

#[test]
fn the_close_hook_runs_after_the_removal_was_reported() {
    let rt = Runtime::new(Clock::system());
    let log = Arc::new(Log::default());
    rt.reactor().set_hook(Some(log.clone()));
    let (a, mut peer) = ends();
    a.set_nonblocking(true).unwrap();
    let fd = a.as_raw_fd();
    let at_close = log.clone();
    let hook = Box::new(move |owned: OwnedFd| {
        assert_eq!(owned.as_raw_fd(), fd);
        assert_eq!(at_close.0.lock().unwrap().last().unwrap().1, Interest::NONE);
        at_close.0.lock().unwrap().push((RawFd::MAX, Interest::NONE, 0));
    });
    let mut socket = Socket::with_close_hook(a.into(), hook);
    socket.attach(rt.reactor(), 7);
    let rounds = Rc::new(Cell::new(0));
    let out = rounds.clone();
    rt.spawn(Box::pin(async move {
        let mut buf = [0u8; 8];
        for _ in 0..2 {
            recv(&mut socket, &mut buf).await.unwrap();
            out.set(out.get() + 1);
        }
    }));
    rt.run().unwrap();
    rt.reactor().report_changes();
    assert_eq!(*log.0.lock().unwrap(), [(fd, Interest::READ, 7)]);
    for round in 1..=2 {
        peer.write_all(b"x").unwrap();
        rt.reactor().ready(fd, Interest::READ, false);
        rt.run().unwrap();
        rt.reactor().report_changes();
        assert_eq!(rounds.get(), round);
    }
    let reported = log.0.lock().unwrap().clone();
    assert_eq!(reported, [(fd, Interest::READ, 7), (fd, Interest::NONE, 7), (RawFd::MAX, Interest::NONE, 0)]);
}

/// A loop that is edge-triggered reports bytes and the end behind them once. A reader that needs no end gets
/// it by the check of a second later; without an end in doubt there is no timer.
#[test]
fn an_end_that_came_with_bytes_is_found_by_the_check() {
    let (clock, hand) = Clock::manual();
    let rt = Runtime::new(clock);
    rt.reactor().set_hook(Some(Arc::new(Log::default())));
    let (a, mut peer) = ends();
    a.set_nonblocking(true).unwrap();
    let fd = a.as_raw_fd();
    let mut socket = Socket::new(a.into());
    socket.attach(rt.reactor(), 7);
    let (reads, ended) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
    let (read, end) = (reads.clone(), ended.clone());
    rt.spawn(Box::pin(async move {
        while recv(&mut socket, &mut [0u8; 8]).await.unwrap() > 0 {
            read.set(read.get() + 1);
            socket.settle();
        }
        end.set(true);
    }));
    rt.run().unwrap();
    let event = |peer: &mut Stream| {
        peer.write_all(b"x").unwrap();
        rt.reactor().ready(fd, Interest::READ, false);
        rt.run().unwrap();
        rt.reactor().report_changes()
    };
    for round in 1..=8 {
        assert_eq!(event(&mut peer), NextCall::Never, "a short stream is read to EAGAIN");
        assert_eq!(reads.get(), round);
    }
    let at = rt.reactor().now() + Duration::from_secs(1);
    assert_eq!(event(&mut peer), NextCall::At(at));
    hand.advance(Duration::from_millis(500));
    assert_eq!(event(&mut peer), NextCall::At(at), "the timer of a stream that goes on stays");
    hand.advance(Duration::from_millis(500));
    rt.run().unwrap();
    assert_eq!((reads.get(), rt.reactor().report_changes()), (10, NextCall::Never));
    for round in 11..=18 {
        assert_eq!(event(&mut peer), NextCall::Never);
        assert_eq!(reads.get(), round);
    }
    peer.write_all(b"x").unwrap();
    drop(peer);
    rt.reactor().ready(fd, Interest::READ, false);
    rt.run().unwrap();
    assert_eq!((reads.get(), ended.get()), (19, false));
    hand.advance(Duration::from_secs(1));
    rt.run().unwrap();
    assert!(ended.get());
    assert_eq!(rt.reactor().report_changes(), NextCall::Never);
}

#[test]
fn forgetting_withdraws_the_interest() {
    let (rt, _) = crowded(0);
    let (socket, _peer) = pair(&rt);
    let socket = Rc::new(RefCell::new(socket));
    let inner = socket.clone();
    rt.spawn(Box::pin(poll_fn(move |cx| inner.borrow_mut().poll_readable(cx).map(drop))));
    rt.run().unwrap();
    assert_eq!(rt.reactor().interests().len(), 1);
    socket.borrow().forget(Direction::Read);
    assert!(rt.reactor().interests().is_empty());
}

#[test]
fn a_socket_moves_between_reactors() {
    let (first, _) = crowded(0);
    let (second, _crowd) = crowded(50);
    let (mut socket, mut peer) = pair(&first);
    socket.detach();
    assert_eq!(first.reactor().registrations(), 0);
    peer.write_all(b"abc").unwrap();
    socket.attach(second.reactor(), 1);
    let got = Rc::new(Cell::new(0));
    let out = got.clone();
    second.spawn(Box::pin(async move { out.set(recv(&mut socket, &mut [0u8; 9]).await.unwrap()) }));
    until(&second, || got.get() == 3);
}

#[cfg(unix)] // WSAPoll looks at each
#[test]
fn ten_thousand_idle_registrations_cost_a_wait_nothing() {
    let rounds = 300;
    let busy = |idle: usize| {
        let rt = Runtime::new(Clock::system());
        let (a, _b) = ends();
        let _crowd: Vec<_> = (0..idle.max(13))
            .map(|_| rt.reactor().attach(Arc::new(a.try_clone().unwrap().into()), 0))
            .collect();
        let (mut socket, mut peer) = pair(&rt);
        let echo = std::thread::spawn(move || {
            let mut byte = [0u8; 1];
            while peer.read(&mut byte).unwrap() == 1 {
                peer.write_all(&byte).unwrap();
            }
        });
        let (report, spent) = std::sync::mpsc::channel();
        rt.spawn(Box::pin(async move {
            let mut start = None;
            for _ in 0..=rounds {
                poll_fn(|cx| socket.poll_send(cx, b"x")).await.unwrap();
                recv(&mut socket, &mut [0u8; 8]).await.unwrap();
                // After the first wait, which registers the crowd.
                start.get_or_insert_with(thread_time);
            }
            report.send(thread_time() - start.unwrap()).unwrap();
        }));
        until(&rt, || rt.tasks() == 0);
        echo.join().unwrap();
        spent.recv().unwrap()
    };
    // The best of several runs: other load only adds to a measurement.
    let best = |idle| (0..5).map(|_| busy(idle)).min().expect("five");
    let idle = open_files().min(10_000);
    let (few, many) = (best(0), best(idle));
    assert!(many < few * 5, "{few:?} with none, {many:?} with {idle}");
}

/// Returns the processor time of this thread, which other load on the machine hardly changes.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(unix)]
/// Returns how many descriptors this test may open, after raising the limit as far as possible.
fn open_files() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: hard, maximum: hard }).unwrap();
    hard.map_or(usize::MAX, |n| n as usize) - 400
}
