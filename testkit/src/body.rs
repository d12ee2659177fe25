//! The bytes that every embedded server sends for "a body of N bytes", so that a client can check each
//! position.

/// The byte at `position`: printable, and not periodic in any power of two, so that a lost or doubled block
/// shows.
pub fn byte_at(position: usize) -> u8 {
    b'a' + ((position % 251 + position / 251) % 26) as u8
}

/// The whole body of `length` bytes.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(byte_at).collect()
}

/// FNV-1a, the check sum that test programs print instead of the body.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifting_the_pattern_by_a_block_changes_it() {
        let body = pattern(70_000);
        for shift in [1, 16, 512, 4096, 16_384] {
            assert_ne!(body[..1000], body[shift..shift + 1000], "shift {shift}");
        }
    }

    #[test]
    fn check_sum_matches_the_published_vector() {
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
