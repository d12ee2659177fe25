//! A reactor in a forked child. It has its own binary, because the fork mark belongs to the process.
#![cfg(unix)]

use std::cell::Cell;
use std::future::poll_fn;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use warmwire_runtime::{Clock, Runtime, Socket, after_fork_in_child, fork_generation};

#[test]
fn an_inherited_reactor_starts_over() {
    let rt = Runtime::new(Clock::system());
    let mut crowd: Vec<_> = (0..50)
        .map(|_| {
            let (a, b) = UnixStream::pair().unwrap();
            (rt.reactor().attach(Arc::new(OwnedFd::from(a)), 0), b)
        })
        .collect();
    let guard = rt.reactor().wake_interest();
    rt.perform().unwrap();
    let of_parent = rt.reactor().interests();

    after_fork_in_child();
    assert_eq!(fork_generation(), 1);
    crowd.pop(); // removes it from a table whose epoll instance is the parent's
    drop(guard);
    let _guard = rt.reactor().wake_interest();
    assert_eq!((of_parent.len(), rt.reactor().interests().len()), (1, 1));

    let (a, mut peer) = UnixStream::pair().unwrap();
    a.set_nonblocking(true).unwrap();
    let mut socket = Socket::new(a.into());
    socket.attach(rt.reactor(), 0);
    let got = Rc::new(Cell::new(0));
    let out = got.clone();
    rt.spawn(Box::pin(async move {
        out.set(poll_fn(|cx| socket.poll_recv(cx, &mut [0; 8])).await.unwrap());
    }));
    rt.run().unwrap();
    peer.write_all(b"abc").unwrap();
    let start = Instant::now();
    while got.get() == 0 {
        assert!(start.elapsed() < Duration::from_secs(5), "hangs");
        rt.wait(&mut [], Duration::from_secs(1), true).unwrap();
        rt.perform().unwrap();
    }
    assert_eq!(got.get(), 3);
}
