//! Objects that a process has once, created at first use: resolver threads and the process-wide connection
//! pool.
//!
//! After a fork the child finds a fresh one: threads did not survive, and the parent's connections are not
//! its own. The parent's stays in memory untouched, so no destructor writes to a connection that the parent
//! still uses.
//!
//! tests/process_interleavings.rs compiles this file once more.

use std::time::Duration;

use crate::resolver::{Resolver, Silence};
use crate::session::SharedPool;
use crate::sync::{Arc, LockFreeOnce, fork_generation};

/// Number of connections that the process pool keeps, and for how long: as long as curl does in a handle.
const POOL_KEPT: usize = 256;
const POOL_IDLE_AGE: Duration = Duration::from_secs(118);

/// The process's objects.
pub struct Process {
    pub resolver: Arc<Resolver>,
    pub pool: Arc<SharedPool>,
    /// Whether the system's name servers answer queries for HTTPS records.
    pub silence: Arc<Silence>,
    generation: u64,
    /// The objects of a forked child.
    child: LockFreeOnce<Process>,
}

/// Returns the objects of the current process.
pub fn process() -> &'static Process {
    static FIRST: LockFreeOnce<Process> = LockFreeOnce::new();
    let generation = fork_generation();
    let mut process = FIRST.get(|| Process::new(generation));
    // The objects of an earlier process contain those of its child after a fork.
    while process.generation != generation {
        process = process.child.get(|| Process::new(generation));
    }
    process
}

impl Process {
    fn new(generation: u64) -> Process {
        let pool = Arc::new(SharedPool::new(POOL_KEPT, POOL_IDLE_AGE));
        let resolver = Arc::new(Resolver::system());
        Process { resolver, pool, silence: Arc::default(), generation, child: LockFreeOnce::new() }
    }
}
