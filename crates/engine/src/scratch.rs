//! Receive buffers, lent for one call. They belong to the process: a thousand easy handles that each fetched
//! a long body once keep no buffer, and the next transfer of any handle finds one whose pages are mapped
//! already.

use std::sync::Mutex;

/// Size for heads and short bodies: two TLS records. Clearing a large buffer for each handle that fetches one
/// small file cost four times as much as the request.
pub const SMALL: usize = 40 * 1024;
/// For a long body, which has all of it from its first byte on: with less the kernel opens the connection's
/// window less, for good.
pub const LARGE: usize = 256 * 1024;

/// Number of buffers of either size that are kept: as many as threads use at once in most programs.
const KEPT: usize = 4;

static KEPT_SMALL: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
static KEPT_LARGE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Lends a buffer of this size or more. A nested use gets another one. There is no waiting: if the list is
/// locked, a new buffer is allocated.
pub fn with_scratch<R>(least: usize, f: impl FnOnce(&mut [u8]) -> R) -> R {
    let (kept, size) = if least <= SMALL { (&KEPT_SMALL, SMALL) } else { (&KEPT_LARGE, LARGE.max(least)) };
    let spare = kept.try_lock().ok().and_then(|mut list| list.pop());
    let mut buffer = spare.filter(|buffer| buffer.len() >= size).unwrap_or_else(|| vec![0; size]);
    let result = f(&mut buffer);
    if let Ok(mut list) = kept.try_lock()
        && list.len() < KEPT
        && buffer.len() <= LARGE
    {
        list.push(buffer);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_use_has_a_buffer_of_its_own() {
        with_scratch(SMALL, |outer| {
            outer.fill(1);
            with_scratch(1, |inner| inner.fill(2));
            with_scratch(LARGE + 1, |inner| assert_eq!(inner.len(), LARGE + 1));
            assert!(outer.iter().all(|byte| *byte == 1));
        });
        (0..100).for_each(|_| with_scratch(LARGE, |buffer| assert_eq!(buffer.len(), LARGE)));
    }
}
