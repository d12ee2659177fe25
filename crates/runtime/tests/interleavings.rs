//! Wake-ups by other threads, in thousands of orders of their steps: src/ready.rs compiled once more, with
//! shuttle's locks, atomics and wake-up descriptor; shuttle decides after every step which thread runs next.
//! No thread sleeps while there is work (that would be a deadlock here), and there is no busy loop.
//!
//! `INTERLEAVINGS=n` sets how many orders of each kind are run (400). A failure prints the order to replay.

#[allow(dead_code)]
#[path = "../src/ready.rs"]
mod ready;

mod executor {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct TaskId(pub usize);
}

mod sync {
    pub use shuttle::sync::{Arc, Mutex, MutexGuard, atomic};
    pub use std::sync::PoisonError;
}

mod sys {
    pub mod eventfd {
        use rustix::fd::{AsRawFd, RawFd};
        use shuttle::sync::{Condvar, Mutex};
        use std::io;

        #[derive(Default)]
        pub struct EventFd {
            is_readable: Mutex<bool>,
            more: Condvar,
        }

        impl EventFd {
            pub fn is_readable(&self) -> bool {
                *self.is_readable.lock().unwrap()
            }

            pub fn poll(&self) {
                let is_readable = self.is_readable.lock().unwrap();
                drop(self.more.wait_while(is_readable, |readable| !*readable).unwrap());
            }
        }

        impl AsRawFd for EventFd {
            fn as_raw_fd(&self) -> RawFd {
                RawFd::MAX
            }
        }

        pub fn create() -> io::Result<EventFd> {
            Ok(EventFd::default())
        }

        pub fn write(fd: &EventFd) {
            *fd.is_readable.lock().unwrap() = true;
            fd.more.notify_all();
        }

        pub fn drain(fd: &EventFd) {
            *fd.is_readable.lock().unwrap() = false;
        }
    }
}

use std::collections::VecDeque;
use std::time::Duration;

use executor::TaskId;
use ready::{Ready, TaskWaker};
use shuttle::thread;
use std::task::Wake;
use sync::Arc;
use sync::atomic::{AtomicBool, Ordering::SeqCst};

/// A wait has no other end than the descriptor.
const EVER: Duration = Duration::from_secs(3600);
/// More idle turns than there are wake-ups: the descriptor would be readable forever.
const TURNS: usize = 8;

/// Two tasks, each of which waits for its own thread and for a shared one.
struct World {
    ready: Arc<Ready>,
    tasks: Vec<Arc<TaskWaker>>,
    done: [AtomicBool; 3],
}

impl World {
    fn new() -> Arc<World> {
        let ready = Arc::new(Ready::default());
        let waker = |id| {
            let queued = AtomicBool::new(false);
            Arc::new(TaskWaker { id: TaskId(id), queued, ready: ready.clone() })
        };
        let tasks = vec![waker(0), waker(1)];
        Arc::new(World { ready, tasks, done: Default::default() })
    }

    /// Threads that have each done their part once they have woken who waits for it.
    fn helpers(self: &Arc<Self>) -> Vec<thread::JoinHandle<()>> {
        let helper = |part: usize, wakes: &'static [usize]| {
            let world = self.clone();
            thread::spawn(move || {
                world.done[part].store(true, SeqCst);
                wakes.iter().for_each(|task| world.tasks[*task].wake_by_ref());
            })
        };
        vec![helper(0, &[0]), helper(1, &[1]), helper(2, &[0, 1])]
    }

    /// As the executor runs: whether all that the tasks wait for has been seen by them.
    fn run(&self, seen: &mut [[bool; 3]; 2]) -> bool {
        self.ready.begin_turn();
        loop {
            let mut batch = VecDeque::new();
            self.ready.take_all(&mut batch);
            if batch.is_empty() {
                break;
            }
            for TaskId(task) in batch {
                self.tasks[task].queued.store(false, SeqCst);
                for (seen, done) in seen[task].iter_mut().zip(&self.done) {
                    *seen = done.load(SeqCst);
                }
            }
        }
        self.ready.end_turn();
        seen[0][0] && seen[0][2] && seen[1][1] && seen[1][2]
    }
}

fn explore(body: fn()) {
    let count = std::env::var("INTERLEAVINGS").map_or(400, |text| text.parse().expect("a number"));
    shuttle::check_random(body, count);
    shuttle::check_pct(body, count, 3);
    shuttle::check_dfs(body, Some(count));
}

/// The loop around curl_multi_poll.
fn waits() {
    let world = World::new();
    let helpers = world.helpers();
    let mut seen = [[false; 3]; 2];
    let mut idle = 0;
    while !world.run(&mut seen) {
        let fd = world.ready.descriptor().unwrap();
        world.ready.asleep(EVER, true, |max| (!max.is_zero()).then(|| fd.poll()));
        if world.ready.is_empty() {
            idle += 1;
            assert!(idle < TURNS, "turns for nothing");
        }
    }
    helpers.into_iter().for_each(|helper| helper.join().unwrap());
    settled(&world);
}

/// An event loop of the application's, which watches the descriptor and has the runtime perform when it is
/// readable.
fn watches(world: &World) {
    let fd = world.ready.descriptor().unwrap();
    let mut seen = [[false; 3]; 2];
    for turn in 0.. {
        assert!(turn < TURNS, "turns for nothing");
        fd.poll();
        world.ready.drain();
        world.ready.asleep(Duration::ZERO, false, |_| ());
        if world.run(&mut seen) {
            break;
        }
    }
}

/// When everything is done, the descriptor is not readable after one more turn.
fn settled(world: &World) {
    world.run(&mut [[false; 3]; 2]);
    world.ready.drain();
    assert!(!world.ready.descriptor().unwrap().is_readable(), "an event loop would spin");
}

#[test]
fn a_wake_up_ends_every_sleep() {
    explore(waits);
}

#[test]
fn a_wake_up_reaches_every_loop() {
    explore(|| {
        let world = World::new();
        world.ready.watch();
        let helpers = world.helpers();
        watches(&world);
        helpers.into_iter().for_each(|helper| helper.join().unwrap());
        settled(&world);
    });
}

/// The descriptor comes into being when threads are at work already.
#[test]
fn a_late_descriptor_signals_earlier_wake_ups() {
    explore(|| {
        let world = World::new();
        let helpers = world.helpers();
        world.ready.watch();
        watches(&world);
        helpers.into_iter().for_each(|helper| helper.join().unwrap());
        settled(&world);
    });
}

/// curl_multi_wakeup from two threads: the wait after it, or under way, ends, and the next sleeps.
#[test]
fn a_call_ends_the_wait() {
    explore(|| {
        let ready = Arc::new(Ready::default());
        let callers = [0, 1].map(|_| {
            let ready = ready.clone();
            thread::spawn(move || ready.wakeup())
        });
        let fd = ready.descriptor().unwrap();
        let mut turns = 0;
        while !ready.take_woken() {
            turns += 1;
            assert!(turns < TURNS, "turns for nothing");
            ready.asleep(EVER, true, |max| (!max.is_zero()).then(|| fd.poll()));
        }
        callers.into_iter().for_each(|caller| caller.join().unwrap());
        ready.drain();
        assert!(!fd.is_readable(), "an event loop would spin");
    });
}
