//! Tasks, timers and wake-ups, with a clock that the test moves.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use warmwire_runtime::{Clock, Interest, ManualClock, Recursive, Runtime, TaskId};

fn manual() -> (Runtime, ManualClock) {
    let (clock, hand) = Clock::manual();
    (Runtime::new(clock), hand)
}

/// Sets its cell when it is dropped.
struct Flag(Rc<Cell<bool>>);
impl Drop for Flag {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

#[test]
fn timers_fire_in_order_when_the_clock_moves() {
    let (rt, hand) = manual();
    let log = Rc::new(RefCell::new(Vec::new()));
    for ms in [30u64, 10, 20] {
        let (log, reactor) = (log.clone(), rt.reactor().clone());
        rt.spawn(Box::pin(async move {
            reactor.sleep(Duration::from_millis(ms)).await;
            log.borrow_mut().push(ms);
        }));
    }
    rt.run().unwrap();
    assert_eq!(rt.reactor().timeout(), Some(Duration::from_millis(10)));
    hand.advance(Duration::from_millis(9));
    rt.run().unwrap();
    assert!(log.borrow().is_empty());
    hand.advance(Duration::from_millis(11));
    rt.run().unwrap();
    assert_eq!(*log.borrow(), [10, 20]);
    hand.advance(Duration::from_millis(10));
    rt.run().unwrap();
    assert_eq!((rt.tasks(), rt.reactor().timeout()), (0, None));
}

#[test]
fn dropping_a_sleep_removes_its_timer() {
    let (rt, _hand) = manual();
    let reactor = rt.reactor().clone();
    let id = rt.spawn(Box::pin(async move { reactor.sleep(Duration::from_secs(9)).await }));
    rt.run().unwrap();
    assert!(rt.reactor().next_deadline().is_some());
    rt.cancel(id);
    assert_eq!(rt.reactor().next_deadline(), None);
}

#[test]
fn a_task_wakes_itself_while_polled() {
    let (rt, _) = manual();
    let polls = Rc::new(Cell::new(0));
    let counter = polls.clone();
    rt.spawn(Box::pin(poll_fn(move |cx| {
        counter.set(counter.get() + 1);
        cx.waker().wake_by_ref();
        if counter.get() == 3 { Poll::Ready(()) } else { Poll::Pending }
    })));
    rt.run().unwrap();
    assert_eq!((polls.get(), rt.tasks()), (3, 0));
}

#[test]
fn a_task_that_yields_resumes_in_the_next_run() {
    let (rt, _) = manual();
    let (polls, inner) = (Rc::new(Cell::new(0)), rt.clone());
    let counter = polls.clone();
    rt.spawn(Box::pin(poll_fn(move |cx| {
        counter.set(counter.get() + 1);
        inner.wake_later(cx.waker().clone());
        if counter.get() == 3 { Poll::Ready(()) } else { Poll::Pending }
    })));
    for run in 1..=3 {
        assert_eq!(rt.reactor().timeout(), Some(Duration::ZERO), "there is something to do");
        rt.run().unwrap();
        assert_eq!(polls.get(), run);
    }
    rt.run().unwrap();
    assert_eq!((polls.get(), rt.tasks()), (3, 0));
}

#[test]
fn a_run_ends_although_tasks_wake_for_ever_and_asks_to_be_called_again() {
    let (rt, _) = manual();
    rt.spawn(Box::pin(poll_fn(|cx| {
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    })));
    rt.run().unwrap();
    assert_eq!(rt.reactor().timeout(), Some(Duration::ZERO));
    let start = Instant::now();
    rt.wait(&mut [], Duration::from_secs(5), true).unwrap();
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn running_again_from_inside_is_refused() {
    let (rt, _) = manual();
    let inner = rt.clone();
    let seen = Rc::new(Cell::new(None));
    let out = seen.clone();
    rt.spawn(Box::pin(async move { out.set(Some((inner.run(), inner.perform(), inner.running()))) }));
    rt.run().unwrap();
    assert_eq!(seen.get(), Some((Err(Recursive), Err(Recursive), true)));
    assert!(!rt.running());
}

#[test]
fn a_future_that_the_caller_keeps_runs_beside_the_tasks() {
    let (rt, hand) = manual();
    let log = Rc::new(RefCell::new(Vec::new()));
    let root = |ms: u64| {
        let (log, reactor, inner) = (log.clone(), rt.reactor().clone(), rt.clone());
        async move {
            assert_eq!(inner.run(), Err(Recursive));
            reactor.sleep(Duration::from_millis(ms)).await;
            log.borrow_mut().push(ms);
            ms
        }
    };
    let task = root(5);
    rt.spawn(Box::pin(async move { assert_eq!(task.await, 5) }));
    let mut first = std::pin::pin!(root(10));
    rt.start_root();
    assert_eq!(rt.run_with(first.as_mut()), Ok(Poll::Pending));
    assert_eq!(rt.run_with(first.as_mut()), Ok(Poll::Pending), "it is polled when it was woken");
    hand.advance(Duration::from_millis(5));
    assert_eq!(rt.run_with(first.as_mut()), Ok(Poll::Pending));
    // Runs without it clear its wake-up: the next one polls it all the same when it is started.
    hand.advance(Duration::from_millis(5));
    rt.run().unwrap();
    rt.start_root();
    assert_eq!(rt.run_with(first.as_mut()), Ok(Poll::Ready(10)));
    assert_eq!(*log.borrow(), [5, 10]);
    let mut second = std::pin::pin!(root(0));
    rt.start_root();
    rt.start_root();
    assert_eq!(rt.run_with(second.as_mut()), Ok(Poll::Ready(0)), "and never again when it has ended");
}

#[test]
fn cancel_drops_now_or_when_the_poll_returns() {
    let (rt, _) = manual();
    let (other, own) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(false)));
    let flag = Flag(other.clone());
    let victim = rt.spawn(Box::pin(async move {
        let _flag = flag;
        pending::<()>().await
    }));
    rt.run().unwrap();
    let me: Rc<Cell<Option<TaskId>>> = Rc::default();
    let (rt2, me2, own2, other2) = (rt.clone(), me.clone(), own.clone(), other.clone());
    let flag = Flag(own.clone());
    me.set(Some(rt.spawn(Box::pin(async move {
        let _flag = flag;
        rt2.cancel(victim);
        assert!(other2.get(), "another task's future is dropped at once");
        rt2.cancel(me2.get().unwrap());
        assert!(!own2.get(), "the running future can only go when its poll has returned");
        pending::<()>().await
    }))));
    rt.run().unwrap();
    assert!(own.get());
    assert_eq!(rt.tasks(), 0);
}

#[test]
fn a_stale_id_names_nobody() {
    let (rt, _) = manual();
    let first = rt.spawn(Box::pin(async {}));
    rt.run().unwrap();
    let second = rt.spawn(Box::pin(pending()));
    rt.cancel(first);
    rt.wake(first);
    assert!(rt.is_alive(second) && !rt.is_alive(first));
}

#[test]
fn a_waker_outlives_its_runtime() {
    let (rt, _) = manual();
    let kept = Rc::new(RefCell::new(None));
    let out = kept.clone();
    let guard = rt.reactor().wake_interest();
    rt.spawn(Box::pin(poll_fn(move |cx| {
        *out.borrow_mut() = Some(cx.waker().clone());
        Poll::<()>::Pending
    })));
    rt.run().unwrap();
    drop((rt, guard));
    kept.take().unwrap().wake();
}

#[test]
fn a_panicking_task_leaves_the_others_and_the_runtime_usable() {
    let (rt, _) = manual();
    let ran = Rc::new(Cell::new(false));
    let out = ran.clone();
    rt.spawn(Box::pin(async { panic!("on purpose") }));
    rt.spawn(Box::pin(async move { out.set(true) }));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| rt.run()));
    assert!(caught.is_err() && !rt.running());
    rt.run().unwrap();
    assert!(ran.get());
}

#[test]
fn drop_and_drain_with_tasks_alive() {
    let dropped = Rc::new(Cell::new(false));
    let flag = Flag(dropped.clone());
    let (rt, _) = manual();
    let reactor = rt.reactor().clone();
    rt.spawn(Box::pin(async move {
        let _flag = flag;
        reactor.sleep(Duration::from_secs(1)).await
    }));
    rt.run().unwrap();
    drop(rt);
    assert!(dropped.get());

    let (rt, _) = manual();
    let inside = rt.clone(); // a cycle: only drain ends it
    rt.spawn(Box::pin(async move {
        let _inside = inside;
        pending::<()>().await
    }));
    rt.run().unwrap();
    rt.drain();
    assert_eq!(rt.tasks(), 0);
}

#[test]
fn another_thread_ends_a_wait_by_waking_a_task() {
    let rt = Runtime::new(Clock::system());
    let done = Rc::new(Cell::new(false));
    let (out, reactor) = (done.clone(), rt.reactor().clone());
    rt.spawn(Box::pin(async move {
        let _guard = reactor.wake_interest();
        let (sender, receiver) = std::sync::mpsc::channel();
        let mut started = false;
        poll_fn(|cx| {
            if !started {
                started = true;
                let (waker, sender) = (cx.waker().clone(), sender.clone());
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(50));
                    sender.send(()).unwrap();
                    waker.wake();
                });
            }
            if receiver.try_recv().is_ok() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        out.set(true);
    }));
    rt.run().unwrap();
    assert_eq!(rt.reactor().interests().len(), 1, "the wake-up descriptor is among the interests");
    let start = Instant::now();
    while !done.get() {
        rt.wait(&mut [], Duration::from_secs(10), false).unwrap();
        rt.perform().unwrap();
    }
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(rt.reactor().interests().is_empty());
}

#[test]
fn wakeup_ends_only_waits_that_allow_it_and_is_remembered() {
    let rt = Runtime::new(Clock::system());
    rt.reactor().wakeup();
    let start = Instant::now();
    rt.wait(&mut [], Duration::from_millis(40), false).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(40));
    rt.wait(&mut [], Duration::from_secs(10), true).unwrap();
    assert!(start.elapsed() < Duration::from_secs(5), "the earlier wakeup ends this one");

    let reactor = rt.reactor().clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        reactor.wakeup();
    });
    rt.wait(&mut [], Duration::from_secs(10), true).unwrap();
    assert!(start.elapsed() < Duration::from_secs(5));
    thread.join().unwrap();
}

#[test]
fn interest_is_a_set() {
    assert_eq!(Interest::READ | Interest::WRITE, Interest::BOTH);
    assert_eq!(Interest::BOTH & !Interest::READ, Interest::WRITE);
    assert!(Interest::NONE.is_empty() && !Interest::READ.writes());
}
