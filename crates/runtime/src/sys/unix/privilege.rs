//! Whether the process runs with more rights than its user (set-user-ID and the like): then the environment
//! is the user's and decides nothing.

use rustix::process::{getegid, geteuid, getgid, getuid};

/// Whether user or group differ from those who started the program.
pub fn secure_execution() -> bool {
    // Miri knows no groups, and nobody runs it with more rights.
    !cfg!(miri) && (getuid() != geteuid() || getgid() != getegid())
}
