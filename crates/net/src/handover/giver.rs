//! The helper thread that gives idle connections to the broker while the process makes no transfer: a worker
//! of PHP-FPM that waits for its next request, or a program between two polls.
//!
//! It calls nothing of the application, starts with the first idle connection, and ends when none waits. A
//! forked child has a pool of its own, and with it a helper of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use runtime::Clock;

use crate::pool::Rest;
use crate::session::SharedPool;

/// Added to each wait, so that the connection has been idle for long enough.
const SLACK: Duration = Duration::from_millis(10);
/// Pauses before the broker is asked again if it does not run: a broker that was just started listens after
/// some milliseconds. Then the next transfer or the end of the process gives the connections.
const PAUSES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// Starts the helper of one pool.
pub(super) struct Giver {
    pool: Weak<SharedPool>,
    is_running: Arc<AtomicBool>,
}

impl Giver {
    pub fn new(pool: &Arc<SharedPool>) -> Giver {
        Giver { pool: Arc::downgrade(pool), is_running: Arc::default() }
    }

    /// Sees to it that the helper runs. Without one, the next transfer or the end of the process gives the
    /// connections.
    pub fn wake(&self) {
        if self.is_running.swap(true, Ordering::AcqRel) {
            return;
        }
        let (pool, is_running) = (self.pool.clone(), self.is_running.clone());
        if runtime::spawn_helper("pool-giver", move || run(&pool, &is_running)).is_err() {
            self.is_running.store(false, Ordering::Release);
        }
    }
}

/// Gives connections until none waits, the pool is gone, or no broker comes.
fn run(pool: &Weak<SharedPool>, is_running: &AtomicBool) {
    let (mut wait, mut pauses) = (crate::pool::GIVEN_AFTER, PAUSES.into_iter());
    loop {
        thread::sleep(wait + SLACK);
        let Some(pool) = pool.upgrade() else { return };
        let give = || pool.give_idle(Clock::system().now());
        let next = match give() {
            Rest::For(time) => Some(time),
            Rest::NoBroker => pauses.next(),
            Rest::Done => {
                is_running.store(false, Ordering::Release);
                // One that arrived just before found this thread running.
                match give() {
                    Rest::For(time) if !is_running.swap(true, Ordering::AcqRel) => Some(time),
                    _ => return,
                }
            }
        };
        let Some(next) = next else { break };
        wait = next;
    }
    is_running.store(false, Ordering::Release);
}
