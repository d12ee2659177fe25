//! Whether the process has more privileges than its user (set-user-ID and similar). The environment is then
//! under the user's control and must not be trusted.

use rustix::process::{getegid, geteuid, getgid, getuid};
use secure_execution::requires_secure_execution;

/// Returns whether effective user or group differ from the real ones, or the kernel says so (AT_SECURE): a
/// program may have capabilities of its file. /proc/self/auxv would not do: a service that root started and
/// that has become another user, such as a worker of PHP-FPM, can't read it.
pub fn secure_execution() -> bool {
    // Miri does not support groups, and runs without extra privileges.
    !cfg!(miri) && (requires_secure_execution() || getuid() != geteuid() || getgid() != getegid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_runs_with_the_rights_of_its_user() {
        assert!(!secure_execution());
    }
}
