//! What a process has once, made when first needed: resolver threads and the process-wide connection pool.
//!
//! After a fork the child finds a fresh one: threads did not survive, and the parent's connections are not
//! its own. The parent's stays in memory untouched, so no destructor writes to a connection that the parent
//! still uses.
//!
//! tests/process_interleavings.rs compiles this file once more.

use std::time::Duration;

use crate::resolver::{Resolver, Silence};
use crate::session::SharedPool;
use crate::sync::{Arc, OnceLock, fork_generation};

/// Connections the process pool keeps, and for how long: as long as curl would in a handle.
const POOL_KEPT: usize = 256;
const POOL_IDLE_AGE: Duration = Duration::from_secs(118);

/// The process's own things.
pub struct Process {
    pub resolver: Arc<Resolver>,
    pub pool: Arc<SharedPool>,
    /// Of the system's name servers, when they are asked for HTTPS records.
    pub silence: Arc<Silence>,
    generation: u64,
    /// What the child of a fork made for itself.
    child: OnceLock<Box<Process>>,
}

/// Forks in a row after which children ask their parents' slot for what follows it.
const GENERATIONS: usize = 16;

/// Those of the present process.
pub fn process() -> &'static Process {
    static SLOTS: [OnceLock<Process>; GENERATIONS] = [const { OnceLock::new() }; GENERATIONS];
    let generation = fork_generation();
    // Not the parent's slot: a thread that does not exist in a child may have been filling it.
    let slot = usize::try_from(generation).map_or(GENERATIONS - 1, |number| number.min(GENERATIONS - 1));
    let mut process = SLOTS[slot].get_or_init(|| Process::new(generation));
    while process.generation != generation {
        process = process.child.get_or_init(|| Box::new(Process::new(generation)));
    }
    process
}

impl Process {
    fn new(generation: u64) -> Process {
        let pool = Arc::new(SharedPool::new(POOL_KEPT, POOL_IDLE_AGE));
        let resolver = Arc::new(Resolver::system());
        Process { resolver, pool, silence: Arc::default(), generation, child: OnceLock::new() }
    }
}
