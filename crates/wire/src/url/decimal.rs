//! Ports as text, without std's formatting: every handle's first request writes one or two.

/// A port in decimal.
pub struct Decimal {
    all: [u8; 5],
    start: usize,
}

impl Decimal {
    /// Writes a number.
    pub fn of(mut port: u16) -> Decimal {
        let (mut all, mut start) = ([b'0'; 5], 5);
        loop {
            start -= 1;
            all[start] = b'0' + (port % 10) as u8;
            port /= 10;
            if port == 0 {
                return Decimal { all, start };
            }
        }
    }

    /// Returns its digits.
    pub fn digits(&self) -> &[u8] {
        &self.all[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_is_written_as_std_writes_it() {
        for port in 0..=u16::MAX {
            assert_eq!(Decimal::of(port).digits(), port.to_string().as_bytes());
        }
    }
}
