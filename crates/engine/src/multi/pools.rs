//! The pools of a multi handle: its own, those in front of share handles' pools, and one for look-ups.

use std::sync::Arc;

use net::{Pool, SharedPool};

use super::{Multi, MultiState};
use crate::process_pool;

impl Multi {
    /// Sets which pool idle connections go to when the handle is closed, whatever the process has chosen.
    /// Call it before the first transfer.
    pub fn set_pool_kind(&self, kind: process_pool::Pool) {
        self.0.pool_kind.set(Some(kind));
        self.0.pool.set_behind(process_pool::in_use(kind, self.0.runs.decode_memory));
    }
}

impl MultiState {
    /// Returns which pool idle connections go to when the handle is closed.
    pub(crate) fn pool_kind(&self) -> process_pool::Pool {
        self.pool_kind.get().unwrap_or_else(process_pool::kind)
    }

    /// Returns the pool for a transfer: our own, or one behind a share handle's.
    pub(crate) fn pool_for(&self, shared: Option<&Arc<SharedPool>>) -> Pool {
        let Some(shared) = shared else { return self.pool.clone() };
        let mut pools = self.shared_pools.borrow_mut();
        if let Some((_, pool)) = pools.iter().find(|(known, _)| Arc::ptr_eq(known, shared)) {
            return pool.clone();
        }
        let pool = Pool::new(self.runtime.reactor());
        match self.keeps.get() {
            true => pool.set_behind(Some(shared.clone())),
            false => {
                pool.set_in_front(Some(shared.clone()));
                pool.set_behind(process_pool::in_use(self.pool_kind(), self.runs.decode_memory));
            }
        }
        pools.push((shared.clone(), pool.clone()));
        pool
    }

    /// The pool for look-ups.
    pub(crate) fn pool_for_names(&self) -> Pool {
        self.for_names.borrow_mut().get_or_insert_with(|| Pool::new(self.runtime.reactor())).clone()
    }
}
