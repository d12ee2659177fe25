//! Whether the process has more privileges than its user (set-user-ID and similar). The environment is then
//! under the user's control and must not be trusted.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::process::{getegid, geteuid, getgid, getuid};

/// The key of AT_SECURE in the auxiliary vector (getauxval(3)).
const AT_SECURE: usize = 23;

/// Returns whether effective user or group differ from the real ones, or the kernel says so (AT_SECURE): a
/// program may have capabilities of its file.
pub fn secure_execution() -> bool {
    // Miri does not support groups, and runs without extra privileges.
    !cfg!(miri) && (getuid() != geteuid() || getgid() != getegid() || is_secure())
}

/// Returns AT_SECURE. The kernel sets it when the program starts, so it is read once: each variable of the
/// environment asks for it.
fn is_secure() -> bool {
    static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);
    const UNKNOWN: u8 = 0;
    const NO: u8 = 1;
    const YES: u8 = 2;
    if KNOWN.load(Ordering::Relaxed) == UNKNOWN {
        KNOWN.store(if read_secure() { YES } else { NO }, Ordering::Relaxed);
    }
    KNOWN.load(Ordering::Relaxed) == YES
}

/// Reads AT_SECURE. The file of a process with more privileges is closed to its user.
fn read_secure() -> bool {
    match std::fs::read("/proc/self/auxv") {
        Ok(vector) => secure_in(&vector),
        Err(e) => e.kind() == ErrorKind::PermissionDenied,
    }
}

fn secure_in(vector: &[u8]) -> bool {
    const WORD: usize = size_of::<usize>();
    let (words, _) = vector.as_chunks::<WORD>();
    let words: Vec<usize> = words.iter().map(|word| usize::from_ne_bytes(*word)).collect();
    words.chunks_exact(2).any(|pair| pair[0] == AT_SECURE && pair[1] != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_auxiliary_vector_says_whether_the_process_is_secure() {
        let vector = |words: &[usize]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        assert!(secure_in(&vector(&[6, 4096, AT_SECURE, 1, 0, 0])));
        assert!(!secure_in(&vector(&[6, AT_SECURE, AT_SECURE, 0, 0, 0])));
        assert!(!secure_in(&vector(&[AT_SECURE])));
        assert!(!secure_in(b""));
    }

    #[test]
    fn a_test_runs_with_the_rights_of_its_user() {
        assert!(!secure_execution());
    }
}
