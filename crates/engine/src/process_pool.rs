//! The process-wide pool: off unless the user enables it, by WARMWIRE_POOL in the environment or by a call.
//! Handles then leave idle connections to it when they are closed, and search it before they open new ones.
//! So a program with a handle per transfer is as fast as one that reuses its handle. With `user` the broker
//! of the user is behind the pool, and connections outlive the process.

mod open;

use std::ffi::OsStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use net::handover::MemoryDecoder;
use net::{SharedPool, process};
use runtime::{Clock, environment};
use tables::environment::POOL;

use crate::recording;

pub use net::Listed;
pub use open::open;

/// Where idle connections go that no handle keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// They are closed.
    Off,
    /// To other handles of the process.
    Process,
    /// And from there to other processes of the user.
    User,
}

/// The kind of the pool. Decided once, by the first handle or by a call before it.
static STATE: AtomicU8 = AtomicU8::new(UNDECIDED);
const UNDECIDED: u8 = 0;

/// Whether a helper thread gives connections that the process leaves idle.
static BY_HELPER: AtomicBool = AtomicBool::new(true);

/// How long a process may wait for the broker when it ends.
const PATIENCE: Duration = Duration::from_millis(20);

impl Pool {
    const ALL: [Pool; 3] = [Pool::Off, Pool::Process, Pool::User];

    /// Returns the kind that a value of the variable names; `None` for an invalid value.
    pub fn named(value: &OsStr) -> Option<Pool> {
        match value.to_str()? {
            "user" => Some(Pool::User),
            "process" => Some(Pool::Process),
            "" | "0" | "no" | "none" | "off" => Some(Pool::Off),
            _ => None,
        }
    }

    /// The number of this decision; any other number means no decision.
    fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// Returns the kind of the pool, which is decided now at the latest.
pub fn kind() -> Pool {
    let state = STATE.load(Ordering::Relaxed);
    if let Some(kind) = Pool::ALL.into_iter().find(|kind| kind.number() == state) {
        return kind;
    }
    let kind = environment::value(&POOL).and_then(|value| Pool::named(&value)).unwrap_or(Pool::Off);
    STATE.store(kind.number(), Ordering::Relaxed);
    kind
}

/// Returns the pool that handles with this kind use. Connections from the broker are read with the function.
pub(crate) fn in_use(kind: Pool, decode_memory: MemoryDecoder) -> Option<Arc<SharedPool>> {
    if kind == Pool::Off {
        return None;
    }
    if kind == Pool::User && !recording::replays() {
        // Each time: a forked child has a pool of its own.
        process().use_broker(decode_memory, BY_HELPER.load(Ordering::Relaxed));
    }
    Some(process().pool.clone())
}

/// Returns the pool that inherits the connections of a share handle, when one is in use.
pub(crate) fn heir() -> Option<Arc<SharedPool>> {
    is_decided().then(|| process().pool.clone())
}

/// Turns the pool on or off for handles created from now on. Turning it off closes its connections. A pool of
/// the user stays one.
pub fn enable(on: bool) {
    match (on, kind()) {
        (true, Pool::User) => {}
        (true, _) => choose(Pool::Process),
        (false, _) => choose(Pool::Off),
    }
}

/// Chooses the kind of the pool for handles created from now on. Turning it off closes its connections.
pub fn choose(kind: Pool) {
    STATE.store(kind.number(), Ordering::Relaxed);
    if kind == Pool::Off {
        process().pool.close_all();
    }
}

/// Does without the thread that gives idle connections to the broker, in a process that calls [`give_all`] as
/// soon as its transfers have ended. The thread would cost such a process 0.1 ms.
pub fn without_helper() {
    BY_HELPER.store(false, Ordering::Relaxed);
}

/// Lists the pooled connections.
pub fn list() -> Vec<Listed> {
    process().pool.list(Clock::system().now())
}

/// Closes the pooled connections of one origin in an orderly way; returns their number.
pub fn close_origin(host: &str, port: u16) -> usize {
    process().pool.close_where(|origin| origin.port == port && origin.host.eq_ignore_ascii_case(host))
}

/// Closes all pooled connections politely (a network that has changed).
pub fn close_all() {
    if is_decided() {
        process().pool.close_all();
    }
}

/// Ends the use of the pool (curl_global_cleanup): gives its connections to the broker, where there is one,
/// and closes the rest politely.
pub fn end() {
    give_all();
    close_all();
}

/// Gives the connections of a pool of the user to the broker, before the process ends. Waits 20 ms at most,
/// and for no lock: a signal handler may have called exit.
pub fn give_all() {
    if STATE.load(Ordering::Relaxed) == Pool::User.number() {
        give_pooled();
    }
}

/// Gives the pooled connections to the broker, if a handle has put one behind the pool.
pub fn give_pooled() {
    process().pool.give_all(Clock::system().now(), Instant::now() + PATIENCE);
}

/// Returns whether handles have used a pool.
fn is_decided() -> bool {
    let state = STATE.load(Ordering::Relaxed);
    state != UNDECIDED && state != Pool::Off.number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_of_the_variable_is_a_kind() {
        let tables::environment::Values::Word(words) = POOL.values else { panic!("{:?}", POOL.values) };
        assert!(words.iter().all(|word| Pool::named(word.as_ref()).is_some()), "{words:?}");
    }

    #[test]
    fn values_that_are_none() {
        assert_eq!(Pool::named("process".as_ref()), Some(Pool::Process));
        assert_eq!(Pool::named("user".as_ref()), Some(Pool::User));
        for off in ["", "0", "no", "off"] {
            assert_eq!(Pool::named(off.as_ref()), Some(Pool::Off), "{off}");
        }
        for none in ["yes", "1", "on", "Process", "process ", "users"] {
            assert_eq!(Pool::named(none.as_ref()), None, "{none}");
        }
    }
}
