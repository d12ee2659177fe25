//! The operating system as C sees it: descriptors, sets of them, addresses, files, threads and their stacks.
//! No other code of the crate names a system. Both files have the same items; the compiler reports a missing
//! one.

use std::ffi::{c_int, c_long};

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::*;

/// Converts to a C `long`. On Windows it has 32 bits, and the nearest value is used, as curl does for times.
pub fn to_long(number: i64) -> c_long {
    c_long::try_from(number).unwrap_or(if number < 0 { c_long::MIN } else { c_long::MAX })
}

/// Converts from a C `long`.
#[allow(clippy::useless_conversion, clippy::allow_attributes)] // where it has 64 bits
pub fn from_long(number: c_long) -> i64 {
    i64::from(number)
}

/// Returns the highest descriptor for `select`; Windows truncates it, and only compares it with -1.
pub fn number_for_select(socket: RawSocket) -> c_int {
    socket as c_int
}

/// Returns a path without its directories, which is the name that curl sends.
pub fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| SEPARATORS.contains(byte)).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_is_as_wide_as_cs() {
        assert_eq!([to_long(-1), to_long(0), to_long(7)], [-1, 0, 7]);
        let bits = c_long::BITS;
        assert_eq!(bits, if cfg!(windows) { 32 } else { 64 });
        assert_eq!([to_long(i64::MAX), to_long(i64::MIN)], [c_long::MAX, c_long::MIN]);
        assert_eq!(from_long(c_long::MIN), -1 << (bits - 1));
    }

    #[test]
    fn names_end_paths() {
        assert_eq!(base_name(b"a/b.txt"), b"b.txt");
        assert_eq!(base_name(b"plain"), b"plain");
        let windows: &[u8] = if cfg!(windows) { b"b.txt" } else { b"c:\\a\\b.txt" };
        assert_eq!(base_name(b"c:\\a\\b.txt"), windows);
    }

    #[test]
    #[cfg_attr(miri, ignore)] // pthread_getattr_np
    fn the_bounds_of_this_threads_stack_contain_a_local() {
        let local = 0_u64;
        let at = (&raw const local).addr();
        let (start, end) = own_stack().unwrap();
        assert!((start..end).contains(&at));
        assert!(word_can_be_read(at));
        assert!(!word_can_be_read(16));
    }
}
