//! A byte queue: appended at the end, consumed at the front. Consumed bytes are moved away rarely, so that
//! each byte is moved at most once.

/// A queue of bytes.
#[derive(Default)]
pub struct Queue {
    bytes: Vec<u8>,
    taken: usize,
}

impl Queue {
    /// Returns the queued bytes.
    pub fn waiting(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    pub fn len(&self) -> usize {
        self.bytes.len() - self.taken
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the buffer to which more is added.
    pub fn end(&mut self) -> &mut Vec<u8> {
        if self.taken > self.len() {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        &mut self.bytes
    }

    /// So many bytes in front were taken.
    pub fn take(&mut self, n: usize) {
        self.taken = self.taken.saturating_add(n).min(self.bytes.len());
        if self.is_empty() {
            self.bytes.clear();
            self.taken = 0;
        }
    }

    /// Empties the queue and frees its storage.
    pub fn forget(&mut self) {
        *self = Queue::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_leave_in_the_order_they_entered() {
        let (mut queue, mut out) = (Queue::default(), Vec::new());
        let all: Vec<u8> = (0..10_000u32).map(|i| (i / 3) as u8).collect();
        for (i, piece) in all.chunks(37).enumerate() {
            queue.end().extend_from_slice(piece);
            assert!(queue.bytes.len() <= 2 * queue.len(), "what was taken does not pile up");
            let n = (i * 7 % 71).min(queue.len());
            out.extend_from_slice(&queue.waiting()[..n]);
            queue.take(n);
        }
        out.extend_from_slice(queue.waiting());
        queue.take(usize::MAX);
        assert!(queue.is_empty());
        assert_eq!(out, all);
    }
}
