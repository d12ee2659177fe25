//! getaddrinfo on helper threads: as many as are stuck, up to twenty, gone again after a few idle seconds.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use runtime::spawn_helper;

/// As in curl: enough that a few dead name servers do not hold up the rest.
const THREADS: usize = 20;
/// How long a thread waits for another name.
const LINGER: Duration = Duration::from_secs(3);
/// Addresses kept of one answer.
const ADDRESSES: usize = 256;

/// What asks the system; replaceable for tests.
pub type LookupFn = Arc<dyn Fn(&str) -> io::Result<Vec<SocketAddr>> + Send + Sync>;

type Answer = Result<Arc<Vec<SocketAddr>>, String>;

/// The threads and the look-ups in flight.
pub struct Resolver(Arc<Shared>);

struct Shared {
    ask: LookupFn,
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<Lookup>>,
    in_flight: HashMap<String, Arc<Lookup>>,
    threads: usize,
    idle: usize,
}

/// One name being looked up, and who waits for it.
struct Lookup {
    name: String,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    answer: Option<Answer>,
    waiting: HashMap<u64, Waker>,
    tickets: u64,
}

impl Resolver {
    /// Asks the system.
    pub fn system() -> Resolver {
        Resolver::with_lookup(Arc::new(|name| Ok((name, 0).to_socket_addrs()?.take(ADDRESSES).collect())))
    }

    /// Asks something else.
    pub fn with_lookup(ask: LookupFn) -> Resolver {
        Resolver(Arc::new(Shared { ask, state: Mutex::default(), more: Condvar::new() }))
    }

    /// Looks a name up, or joins a look-up of it that is under way. Dropping the future leaves the call to itself.
    pub(super) async fn lookup(&self, name: &str) -> Answer {
        let lookup = self.join_or_start(name)?;
        let mut ticket = Ticket { lookup: &lookup, number: None };
        poll_fn(|cx| ticket.poll(cx)).await
    }

    /// How many threads there are, idle ones included.
    pub fn threads(&self) -> usize {
        lock(&self.0.state).threads
    }

    fn join_or_start(&self, name: &str) -> Result<Arc<Lookup>, String> {
        let mut state = lock(&self.0.state);
        if let Some(lookup) = state.in_flight.get(name) {
            return Ok(lookup.clone());
        }
        let lookup = Arc::new(Lookup { name: name.to_owned(), progress: Mutex::default() });
        state.in_flight.insert(name.to_owned(), lookup.clone());
        state.queue.push_back(lookup.clone());
        if state.queue.len() > state.idle && state.threads < THREADS {
            self.0.grow(&mut state, name)?;
        }
        drop(state);
        self.0.more.notify_one();
        Ok(lookup)
    }
}

impl Shared {
    /// Without any thread there is nobody to answer; with some, the name waits for one of them.
    fn grow(self: &Arc<Self>, state: &mut State, name: &str) -> Result<(), String> {
        let shared = self.clone();
        match spawn_helper("warmwire-dns", move || shared.serve()) {
            Ok(()) => state.threads += 1,
            Err(e) if state.threads == 0 => {
                state.queue.pop_back();
                state.in_flight.remove(name);
                return Err(e.to_string());
            }
            Err(_) => {}
        }
        Ok(())
    }

    fn serve(&self) {
        while let Some(lookup) = self.next_job() {
            let ask = std::panic::AssertUnwindSafe(|| (self.ask)(&lookup.name));
            let found = std::panic::catch_unwind(ask).unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
            lock(&self.state).in_flight.remove(&lookup.name);
            lookup.finish(found.map(Arc::new).map_err(|e| e.to_string()));
        }
    }

    /// The next name, or nothing when it is time to go.
    fn next_job(&self) -> Option<Arc<Lookup>> {
        let mut state = lock(&self.state);
        loop {
            if let Some(job) = state.queue.pop_front() {
                return Some(job);
            }
            state.idle += 1;
            let (back, timeout) =
                self.more.wait_timeout(state, LINGER).unwrap_or_else(PoisonError::into_inner);
            state = back;
            state.idle -= 1;
            if timeout.timed_out() && state.queue.is_empty() {
                state.threads -= 1;
                return None;
            }
        }
    }
}

impl Lookup {
    fn finish(&self, answer: Answer) {
        let mut progress = lock(&self.progress);
        progress.answer = Some(answer);
        let waiting = std::mem::take(&mut progress.waiting);
        drop(progress);
        waiting.into_values().for_each(Waker::wake);
    }
}

/// One waiter's place; its waker goes with it.
struct Ticket<'a> {
    lookup: &'a Lookup,
    number: Option<u64>,
}

impl Ticket<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Answer> {
        let mut progress = lock(&self.lookup.progress);
        if let Some(answer) = &progress.answer {
            return Poll::Ready(answer.clone());
        }
        progress.tickets += 1;
        let number = *self.number.get_or_insert(progress.tickets);
        progress.waiting.insert(number, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let waker = lock(&self.lookup.progress).waiting.remove(&number);
            drop(waker);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
