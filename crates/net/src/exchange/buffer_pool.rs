//! Unused buffers. An exchange returns its buffers here when everything is sent or read, and the next one
//! reuses them, which saves an allocation. An exchange that waits for its peer has no buffer: of ten thousand
//! exchanges, nearly all wait.

use std::rc::Rc;

use runtime::cell::RefCell;

/// Maximum number of kept buffers, and their maximum size.
const KEPT: usize = 32;
const LONGEST: usize = 2 * 1024;

/// The buffers of one multi handle.
#[derive(Clone, Default)]
pub struct BufferPool(Rc<RefCell<Vec<Vec<u8>>>>);

impl BufferPool {
    /// Some that is empty, and may have room.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.borrow_mut().pop().unwrap_or_default()
    }

    /// Keeps a buffer for others, unless it is large or there are enough.
    pub(crate) fn keep(&self, mut storage: Vec<u8>) {
        let mut kept = self.0.borrow_mut();
        if (1..=LONGEST).contains(&storage.capacity()) && kept.len() < KEPT {
            storage.clear();
            kept.push(storage);
        }
    }

    /// Overwrites all buffers, and keeps them for another user: they may have held secrets.
    pub fn renew(&self) {
        for buffer in self.0.borrow_mut().iter_mut() {
            buffer.resize(buffer.capacity(), 0);
            buffer.clear();
        }
    }

    /// Frees all buffers.
    pub fn forget(&self) {
        self.0.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_buffers_are_bounded() {
        let buffers = BufferPool::default();
        buffers.keep(Vec::new());
        buffers.keep(Vec::with_capacity(LONGEST + 1));
        assert_eq!(buffers.take().capacity(), 0);
        (0..2 * KEPT).for_each(|_| buffers.keep(vec![1; LONGEST]));
        for _ in 0..KEPT {
            let storage = buffers.take();
            assert!(storage.is_empty() && storage.capacity() >= LONGEST);
        }
        assert_eq!(buffers.take().capacity(), 0);
        buffers.keep(vec![1; LONGEST]);
        buffers.forget();
        assert_eq!(buffers.take().capacity(), 0);
    }
}
