//! The proxy of the process (WARMWIRE_PROXY), for handles that have none of their own.

use runtime::{LockFreeOnce, environment};
use tables::environment::PROXY;

/// Returns the text of the variable. It is read once.
pub fn proxy_of_process() -> Option<&'static str> {
    static READ: LockFreeOnce<Option<String>> = LockFreeOnce::new();
    READ.get(|| environment::text(&PROXY)).as_deref()
}
