//! A forked child: fresh process state, and connections that it must not use. It has its own binary, because
//! the fork mark belongs to the process.

mod common;

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use common::{block_on, key_of, listener, open, runtime, wish};
use warmwire_net::{Acquired, Pool, SharedPool, process};

#[test]
fn a_child_says_nothing_on_its_parents_connections() {
    let (rt, (listener, to)) = (runtime(), listener());
    let (own, shared) = (Pool::new(rt.reactor()), Arc::new(SharedPool::new(9, Duration::from_secs(9))));
    let reactor = rt.reactor().clone();
    let connect = |port| {
        let mut connection = block_on(&rt, open(reactor.clone(), key_of(port), to));
        connection.farewell = b"QUIT\r\n".to_vec();
        connection
    };
    let Some(Acquired::Vacant(slot)) = own.try_acquire(wish(&key_of(1)), own.now()) else { panic!() };
    slot.fill(connect(1)).release();
    shared.put(connect(2).into(), rt.reactor().now());
    shared.put(connect(3).into(), rt.reactor().now());
    let parent = process();

    runtime::after_fork_in_child();
    assert!(!std::ptr::eq(parent, process()));
    assert!(std::ptr::eq(process(), process()));
    assert!(matches!(own.try_acquire(wish(&key_of(1)), own.now()), Some(Acquired::Vacant(_))));
    assert!(shared.take(wish(&key_of(2)), rt.reactor().now()).is_none());
    own.close_all();
    shared.close_all();
    for _ in 0..3 {
        let mut received = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
        assert!(received.is_empty(), "{received:?}");
    }
}
