//! The process-wide pool: off unless the user enables it, by WARMWIRE_POOL=process in the environment or by a
//! call. Handles then leave idle connections to it when they are closed, and search it before they open new
//! ones, so that a program with a handle per transfer is as fast as one that reuses its handle.

mod open;

use std::ffi::OsStr;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use net::{SharedPool, process};
use runtime::Clock;

pub use net::Listed;
pub use open::open;

/// Whether the pool is used. Decided once, by the first handle or by a call before it.
static STATE: AtomicU8 = AtomicU8::new(UNDECIDED);
const UNDECIDED: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

/// `process` turns the pool on.
const VARIABLE: &str = "WARMWIRE_POOL";

/// Returns whether a value turns the pool on; `None` for an invalid value.
fn read(value: &OsStr) -> Option<bool> {
    match value.to_str()? {
        "process" => Some(true),
        "" | "0" | "no" | "none" | "off" => Some(false),
        _ => None,
    }
}

/// Reads the variable. An invalid value is reported once, and counts as off.
fn asked_by(value: &OsStr) -> bool {
    // No `Once`: a forked child would wait for a thread of its parent's that is in it.
    static REPORTED: AtomicBool = AtomicBool::new(false);
    read(value).unwrap_or_else(|| {
        if !REPORTED.swap(true, Ordering::Relaxed) {
            let value = value.to_string_lossy();
            let value = value.escape_debug();
            // If standard error is closed, the warning is lost.
            let _ = writeln!(
                io::stderr(),
                "warmwire: {VARIABLE}={value} is unknown, the pool stays off; on is `process`"
            );
        }
        false
    })
}

/// The pool, when it is to be used.
pub fn in_use() -> Option<Arc<SharedPool>> {
    let state = match STATE.load(Ordering::Relaxed) {
        UNDECIDED => {
            let on = !runtime::secure_execution() && std::env::var_os(VARIABLE).is_some_and(|v| asked_by(&v));
            let state = if on { ON } else { OFF };
            STATE.store(state, Ordering::Relaxed);
            state
        }
        state => state,
    };
    (state == ON).then(|| process().pool.clone())
}

/// Turns the pool on or off for handles created from now on. Turning it off closes its connections.
pub fn enable(on: bool) {
    STATE.store(if on { ON } else { OFF }, Ordering::Relaxed);
    if !on {
        process().pool.close_all();
    }
}

/// Lists the pooled connections.
pub fn list() -> Vec<Listed> {
    process().pool.list(Clock::system().now())
}

/// Closes the pooled connections of one origin in an orderly way; returns their number.
pub fn close_origin(host: &str, port: u16) -> usize {
    process().pool.close_where(|origin| origin.port == port && origin.host.eq_ignore_ascii_case(host))
}

/// Closes all pooled connections politely (curl_global_cleanup, or a network that has changed).
pub fn close_all() {
    if STATE.load(Ordering::Relaxed) == ON {
        process().pool.close_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_none() {
        assert_eq!(read("process".as_ref()), Some(true));
        for off in ["", "0", "no", "off"] {
            assert_eq!(read(off.as_ref()), Some(false), "{off}");
        }
        for none in ["yes", "1", "on", "Process", "process "] {
            assert_eq!(read(none.as_ref()), None, "{none}");
        }
    }
}
