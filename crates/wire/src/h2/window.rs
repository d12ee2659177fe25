//! Flow control (RFC 9113 §5.2, §6.9): how much may be sent, and how much the peer may send.

/// The largest window.
pub const LARGEST: u32 = 0x7fff_ffff;

/// Bytes that may be sent. It is negative after a setting took away what was used already (RFC 9113 §6.9.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendWindow(i64);

/// A window beyond 2^31 - 1, or one that the peer exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow;

impl SendWindow {
    pub fn new(size: u32) -> SendWindow {
        SendWindow(size.into())
    }

    /// Returns the window of that size; `None` if it is out of range.
    pub fn of_size(size: i64) -> Option<SendWindow> {
        let largest = i64::from(LARGEST);
        (-largest..=largest).contains(&size).then_some(SendWindow(size))
    }

    pub fn size(self) -> i64 {
        self.0
    }

    pub fn available(self) -> usize {
        usize::try_from(self.0).unwrap_or(0)
    }

    /// The peer gave more, or its SETTINGS moved all windows.
    pub fn change(&mut self, by: i64) -> Result<(), Overflow> {
        self.0 += by;
        if self.0 > LARGEST.into() { Err(Overflow) } else { Ok(()) }
    }

    pub fn take(&mut self, bytes: usize) {
        self.0 -= bytes as i64;
    }
}

/// Bytes that the peer may send. Its three parts always add up to its size: what may still arrive, what
/// arrived and is not consumed, and what was consumed and not yet returned to the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveWindow {
    left: u32,
    held: u32,
    credit: u32,
    size: u32,
    max: u32,
}

impl ReceiveWindow {
    /// Creates a window of `initial` bytes that may grow to `max`.
    pub fn new(initial: u32, max: u32) -> ReceiveWindow {
        ReceiveWindow { left: initial, held: 0, credit: 0, size: initial, max: max.clamp(initial, LARGEST) }
    }

    /// The peer sent so much.
    pub fn receive(&mut self, bytes: usize) -> Result<(), Overflow> {
        let bytes = u32::try_from(bytes).map_err(|_| Overflow)?;
        self.left = self.left.checked_sub(bytes).ok_or(Overflow)?;
        self.held += bytes;
        Ok(())
    }

    /// Consumes bytes. Returns the increment to send once it is worth a frame: half of the window. The window
    /// doubles for a reader that keeps up, and stays for one that lets much accumulate.
    pub fn consume(&mut self, bytes: usize) -> Option<u32> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(self.held);
        self.held -= bytes;
        self.credit += bytes;
        if self.credit == 0 || self.credit < self.size / 2 {
            return None;
        }
        let size =
            if self.held <= self.size / 4 { self.size.saturating_mul(2).min(self.max) } else { self.size };
        let increment = self.credit + (size - self.size);
        self.size = size;
        self.left += increment;
        self.credit = 0;
        Some(increment)
    }

    /// Grows to a size at once, for our first frames.
    pub fn raise(&mut self, size: u32) -> Option<u32> {
        let increment = size.min(self.max).checked_sub(self.size).filter(|more| *more > 0)?;
        self.size += increment;
        self.left += increment;
        Some(increment)
    }

    /// Returns the window's value while nothing received waits to be consumed: bytes that may still arrive,
    /// bytes consumed and not yet returned to the peer, size and largest size.
    pub fn parts(&self) -> [u32; 4] {
        [self.left, self.credit, self.size, self.max]
    }

    /// Returns the window of that value; `None` if its parts do not add up.
    pub fn of_parts([left, credit, size, max]: [u32; 4]) -> Option<ReceiveWindow> {
        let adds_up = left.checked_add(credit) == Some(size) && size <= max && max <= LARGEST;
        adds_up.then_some(ReceiveWindow { left, held: 0, credit, size, max })
    }

    /// Returns the bytes that the peer may still send.
    pub fn left(&self) -> u32 {
        self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_keeps_up_gets_a_larger_window() {
        let mut window = ReceiveWindow::new(100, 350);
        window.receive(49).unwrap();
        assert_eq!(window.consume(49), None);
        window.receive(1).unwrap();
        assert_eq!(window.consume(1), Some(150), "50 used, 100 more");
        for (sent, given) in [(100, 250), (175, 175)] {
            window.receive(sent).unwrap();
            assert_eq!(window.consume(sent), Some(given));
        }
        assert_eq!(window.left(), 350);
    }

    #[test]
    fn a_slow_reader_keeps_what_it_has_and_a_paused_one_gives_nothing() {
        let mut window = ReceiveWindow::new(100, 400);
        window.receive(100).unwrap();
        assert_eq!(window.receive(1), Err(Overflow));
        assert_eq!(window.consume(50), Some(50), "half of it lies there still");
        assert_eq!(window.left(), 50);
    }

    #[test]
    fn only_received_bytes_can_be_consumed() {
        let mut window = ReceiveWindow::new(100, 100);
        assert_eq!(window.consume(1000), None);
        assert_eq!(window.left(), 100);
        assert_eq!(ReceiveWindow::new(0, 100).consume(0), None);
    }

    #[test]
    fn sending_may_go_below_zero_and_not_beyond_the_largest() {
        let mut window = SendWindow::new(10);
        window.take(10);
        window.change(-5).unwrap();
        assert_eq!(window.available(), 0);
        window.change(6).unwrap();
        assert_eq!(window.available(), 1);
        assert_eq!(window.change(LARGEST.into()), Err(Overflow));
    }
}
