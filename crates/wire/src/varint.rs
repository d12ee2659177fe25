//! Integers of variable length (RFC 9000 §16), as QUIC and HTTP/3 write them.

/// The largest one.
#[cfg(test)]
pub const LARGEST: u64 = (1 << 62) - 1;

/// Appends `value` in its shortest form.
pub fn write(out: &mut Vec<u8>, value: u64) {
    match value {
        0..0x40 => out.push(value as u8),
        0x40..0x4000 => out.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => out.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend_from_slice(&(value | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

/// Reads the integer at the front of `input`; returns it and its length, or `None` if it is incomplete.
pub fn read(input: &[u8]) -> Option<(u64, usize)> {
    let first = *input.first()?;
    let length = 1usize << (first >> 6);
    let bytes = input.get(1..length)?;
    let value = bytes.iter().fold(u64::from(first & 0x3f), |value, byte| value << 8 | u64::from(*byte));
    Some((value, length))
}

/// One that may come in pieces.
#[derive(Debug, Clone, Copy, Default)]
pub struct Partial {
    value: u64,
    /// Bytes that are still to come; 0 before the first.
    left: u8,
}

impl Partial {
    /// Takes one byte more; the value, once it is whole.
    pub fn push(&mut self, byte: u8) -> Option<u64> {
        match self.left {
            0 => (self.value, self.left) = (u64::from(byte & 0x3f), (1 << (byte >> 6)) - 1),
            _ => (self.value, self.left) = (self.value << 8 | u64::from(byte), self.left - 1),
        }
        (self.left == 0).then_some(self.value)
    }

    /// Returns whether no byte of it has arrived.
    pub fn is_new(&self) -> bool {
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9000 appendix A.1.
    #[test]
    fn integers_of_the_rfc() {
        for (value, bytes) in [
            (151_288_809_941_952_652, &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..]),
            (494_878_333, &[0x9d, 0x7f, 0x3e, 0x7d]),
            (15_293, &[0x7b, 0xbd]),
            (37, &[0x25]),
        ] {
            let mut out = Vec::new();
            write(&mut out, value);
            assert_eq!(out, bytes);
            assert_eq!(read(bytes), Some((value, bytes.len())));
            assert_eq!(read(&bytes[..bytes.len() - 1]), None);
            let mut partial = Partial::default();
            let values: Vec<_> = bytes.iter().map(|byte| partial.push(*byte)).collect();
            assert_eq!(values.last(), Some(&Some(value)));
            assert!(values[..bytes.len() - 1].iter().all(Option::is_none) && partial.is_new());
        }
        assert_eq!(read(&[0x40, 0x25]), Some((37, 2)), "longer than needed");
        let mut out = Vec::new();
        write(&mut out, LARGEST);
        assert_eq!(read(&out), Some((LARGEST, 8)));
    }
}
