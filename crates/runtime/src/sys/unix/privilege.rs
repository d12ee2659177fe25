//! Whether the process has more privileges than its user (set-user-ID and similar). The environment is then
//! under the user's control and must not be trusted.

use rustix::process::{getegid, geteuid, getgid, getuid};

/// Returns whether effective user or group differ from the real ones.
pub fn secure_execution() -> bool {
    // Miri does not support groups, and runs without extra privileges.
    !cfg!(miri) && (getuid() != geteuid() || getgid() != getegid())
}
