//! Blocking look-ups on helper threads, in fair order.
//!
//! Up to [`THREADS`] queries run at once, in the order of arrival. A query without waiters leaves the queue;
//! a thread that is stuck, or whose query has no waiters left, makes room for another one, so that
//! unreachable names delay no others. The number of threads is bounded nevertheless. Idle threads end after a
//! few seconds.
//!
//! tests/resolver_interleavings.rs compiles this file once more, with threads and a clock whose order of
//! steps is decided by a seed.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::family::{Family, Found, LookupResult, NoAnswer};
use super::limits::{MOST_THREADS, THREADS};
use super::system;
use crate::sync::{Arc, Condvar, Instant, Mutex, MutexGuard, PoisonError, spawn_helper};

/// Time after which a query counts as stuck: its thread does not count towards the limit any more.
const STUCK: Duration = Duration::from_secs(1);
/// Interval at which waiters check for stuck threads.
pub(super) const PATIENCE: Duration = Duration::from_millis(250);
/// How long a thread waits for another name.
const LINGER: Duration = Duration::from_secs(3);

/// The function that queries the system; replaceable for tests.
pub type LookupFn = Arc<dyn Fn(&str, Family) -> LookupResult + Send + Sync>;

/// Names that other processes have looked up. Its functions may block.
pub trait SharedNames: Send + Sync {
    /// Returns the addresses of a name, and for how long they are still fresh.
    fn find(&self, name: &str, family: Family) -> Option<(Vec<Found>, Duration)>;

    /// Keeps an answer for other processes: addresses, or that there are none of this family.
    fn store(&self, name: &str, family: Family, found: &[Found]);
}

/// An answer that is older than the question has a remaining lifetime.
type Answer = Result<(Arc<Vec<Found>>, Option<Duration>), NoAnswer>;
/// A name, and whether answers to other processes are good enough.
type Subject = (String, Family, bool);

/// The threads and the look-ups in flight.
pub struct Resolver(Arc<Shared>);

struct Shared {
    ask: LookupFn,
    names: OnceLock<Arc<dyn SharedNames>>,
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Default)]
struct State {
    /// Not begun yet, by their numbers.
    queue: BTreeMap<u64, Arc<Lookup>>,
    /// Running queries, with their start.
    asked: BTreeMap<u64, (Arc<Lookup>, Instant)>,
    in_flight: HashMap<Subject, Arc<Lookup>>,
    count: u64,
    threads: usize,
    idle: usize,
}

/// A question, and who waits for its answer.
struct Lookup {
    number: u64,
    subject: Subject,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    answer: Option<Answer>,
    /// By ticket; no waker before the first poll.
    waiting: HashMap<u64, Option<Waker>>,
    tickets: u64,
}

impl Resolver {
    /// Asks the system.
    pub fn system() -> Resolver {
        Resolver::with_lookup(Arc::new(system::ask))
    }

    /// Uses another function.
    pub fn with_lookup(ask: LookupFn) -> Resolver {
        let (state, more) = (Mutex::default(), Condvar::new());
        Resolver(Arc::new(Shared { ask, names: OnceLock::new(), state, more }))
    }

    /// Shares the answers with other processes. The first call counts.
    pub fn share_names(&self, names: Arc<dyn SharedNames>) {
        let _ = self.0.names.set(names);
    }

    /// Looks up a name, or joins a look-up of it that is in progress. Dropping the last ticket removes a
    /// queued query; a running one continues. An answer to another process is good enough if `shared`.
    pub(super) fn ask(&self, name: &str, family: Family, shared: bool) -> Result<Ticket, NoAnswer> {
        let mut state = lock(&self.0.state);
        let subject = (name.to_owned(), family, shared);
        if let Some(lookup) = state.in_flight.get(&subject) {
            return Ok(Ticket::new(&self.0, lookup));
        }
        state.count += 1;
        let number = state.count;
        let lookup = Arc::new(Lookup { number, subject: subject.clone(), progress: Mutex::default() });
        state.in_flight.insert(subject, lookup.clone());
        state.queue.insert(number, lookup.clone());
        let ticket = Ticket::new(&self.0, &lookup);
        let begun = self.0.grow(&mut state);
        drop(state);
        begun?;
        self.0.more.notify_one();
        Ok(ticket)
    }

    /// Called by long waiters: threads that are stuck by now make room.
    pub(super) fn hurry(&self) {
        let _ = self.0.grow(&mut lock(&self.0.state));
    }

    /// How many threads there are, idle ones included.
    pub fn threads(&self) -> usize {
        lock(&self.0.state).threads
    }

    /// How many questions wait for a thread.
    pub fn queued(&self) -> usize {
        lock(&self.0.state).queue.len()
    }
}

impl Shared {
    /// Starts a thread if one is needed and allowed. Fails if there is no thread at all; otherwise names wait
    /// for the existing ones.
    fn grow(self: &Arc<Self>, state: &mut State) -> Result<(), NoAnswer> {
        while state.queue.len() > state.idle + state.starting() && state.may_grow() {
            let shared = self.clone();
            match spawn_helper("warmwire-dns", move || shared.serve()) {
                Ok(()) => state.threads += 1,
                Err(_) if state.threads == 0 => return Err(NoAnswer),
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    fn serve(&self) {
        while let Some(lookup) = self.next_job() {
            let result = catch_unwind(AssertUnwindSafe(|| self.answer(&lookup.subject)));
            let mut state = lock(&self.state);
            state.asked.remove(&lookup.number);
            state.in_flight.remove(&lookup.subject);
            drop(state);
            lookup.finish(result.unwrap_or(Err(NoAnswer)));
        }
    }

    /// Answers a question: from other processes, or by the function, for other processes as well.
    fn answer(&self, (name, family, shared): &Subject) -> Answer {
        let names = self.names.get().filter(|_| *shared);
        if let Some((found, left)) = names.and_then(|names| names.find(name, *family)) {
            return Ok((Arc::new(found), Some(left)));
        }
        let found = (self.ask)(name, *family)?;
        if let Some(names) = names {
            names.store(name, *family, &found);
        }
        Ok((Arc::new(found), None))
    }

    /// Returns the next query, or `None` when the thread should end.
    fn next_job(&self) -> Option<Arc<Lookup>> {
        let mut state = lock(&self.state);
        loop {
            if state.threads > THREADS && state.busy() >= THREADS {
                state.threads -= 1; // it replaced a stuck thread
                return None;
            }
            if let Some((number, job)) = state.queue.pop_first() {
                state.asked.insert(number, (job.clone(), Instant::now()));
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

impl State {
    fn may_grow(&self) -> bool {
        self.threads < MOST_THREADS && self.busy() + self.idle + self.starting() < THREADS
    }

    /// Threads that have been started and have not looked at the queue yet.
    fn starting(&self) -> usize {
        self.threads - self.idle - self.asked.len()
    }

    /// Returns the number of queries that have waiters and are not stuck.
    fn busy(&self) -> usize {
        let now = Instant::now();
        let counts = |(lookup, since): &&(Arc<Lookup>, Instant)| {
            now.saturating_duration_since(*since) < STUCK && !lock(&lookup.progress).waiting.is_empty()
        };
        self.asked.values().filter(counts).count()
    }
}

impl Lookup {
    fn finish(&self, answer: Answer) {
        let mut progress = lock(&self.progress);
        progress.answer = Some(answer);
        let waiting: Vec<Waker> = progress.waiting.values_mut().filter_map(Option::take).collect();
        drop(progress);
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// A waiter's place; dropping it leaves the queue.
pub(super) struct Ticket {
    shared: Arc<Shared>,
    lookup: Arc<Lookup>,
    number: u64,
}

impl Ticket {
    /// Called under the state's lock, so that the query cannot be abandoned meanwhile.
    fn new(shared: &Arc<Shared>, lookup: &Arc<Lookup>) -> Ticket {
        let mut progress = lock(&lookup.progress);
        progress.tickets += 1;
        let number = progress.tickets;
        progress.waiting.insert(number, None);
        drop(progress);
        Ticket { shared: shared.clone(), lookup: lookup.clone(), number }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Answer> {
        let mut progress = lock(&self.lookup.progress);
        if let Some(answer) = &progress.answer {
            return Poll::Ready(answer.clone());
        }
        progress.waiting.insert(self.number, Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        let mut progress = lock(&self.lookup.progress);
        let waker = progress.waiting.remove(&self.number);
        let given_up = progress.waiting.is_empty() && progress.answer.is_none();
        drop(progress);
        // No thread is started here: who drops one look-up often drops the next in the queue, too.
        if given_up && state.queue.remove(&self.lookup.number).is_some() {
            state.in_flight.remove(&self.lookup.subject);
        }
        drop(state);
        drop(waker);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
