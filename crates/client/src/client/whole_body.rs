//! Bodies that are read as a whole: the engine receives a body of a known length directly into the bytes
//! that the program gets.

use std::any::Any;

use crate::transfers::{BodyBuffer, BodyMemory, Transfers};

/// How much of the memory is lent, and cleared, at a time: what the processor's cache holds.
const STEP: usize = 256 * 1024;

/// Memory of the heap.
pub(super) struct Heap;

impl BodyMemory for Heap {
    fn allocate(&self, length: usize) -> Option<Box<dyn BodyBuffer>> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).ok()?;
        Some(Box::new(HeapBody { bytes, length }))
    }
}

/// Memory for one body. Its pages are touched only where body has arrived.
struct HeapBody {
    bytes: Vec<u8>,
    length: usize,
}

impl BodyBuffer for HeapBody {
    fn room(&mut self, offset: usize) -> &mut [u8] {
        let end = self.length.min(offset.saturating_add(STEP));
        if end > self.bytes.len() {
            self.bytes.resize(end, 0);
        }
        &mut self.bytes[offset.min(end)..end]
    }
}

/// Takes the body that has arrived.
pub(super) fn take(transfers: &Transfers, id: usize) -> Vec<u8> {
    let placed = transfers.take_placed(id).and_then(|(buffer, filled): (Box<dyn Any>, usize)| {
        let HeapBody { mut bytes, .. } = *buffer.downcast().ok()?;
        bytes.truncate(filled);
        Some(bytes)
    });
    let beyond = transfers.take_body(id);
    match placed {
        None => beyond,
        Some(mut bytes) => {
            bytes.extend_from_slice(&beyond);
            bytes
        }
    }
}
