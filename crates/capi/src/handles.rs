//! Handles: slots that are never returned to the allocator, so that a stale or foreign pointer is recognised
//! without touching freed memory.
//!
//! A handle is a pointer into its slot. The word of the slot that it points at changes with every reuse,
//! which distinguishes an old pointer from the current one. The pointer is never dereferenced. There are no
//! locks: a fork between any two instructions leaves a table that works in the child.
//!
//! A free slot may have a value still, made as new for the next handle.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::guard::Gate;

/// Slots in the first chunk; each further chunk has twice as many as the previous one.
const FIRST_CHUNK: u32 = 64;
const CHUNKS: usize = 20;
/// Most free slots with a value: as many as threads that make and close handles at once, in most programs.
const KEPT: u32 = 16;
/// Words of a slot, which a handle can point at.
const FACES: u32 = (size_of::<Slot<()>>() / size_of::<u64>()) as u32;

#[repr(align(64))]
pub struct Slot<T> {
    /// Odd: in use. Counts up with every taking and giving back.
    generation: AtomicU32,
    /// The next free slot's index + 1.
    next_free: AtomicU32,
    gate: Gate,
    value: UnsafeCell<*mut T>,
}

pub struct Slab<T> {
    chunks: [AtomicPtr<Slot<T>>; CHUNKS],
    /// Slots ever used.
    used: AtomicU32,
    /// Top of the stack of free slots: index + 1 below, a count against reuse (ABA) above.
    free: AtomicU64,
    /// How many free slots have a value.
    kept: AtomicU32,
}

// SAFETY: the tables are atomics; values are reached by one thread at a time, which each slot's gate sees to.
unsafe impl<T> Sync for Slab<T> {}

impl<T> Slot<T> {
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// # Safety
    /// The handle was found by [`Slab::find`], the caller is inside its gate, and the value is not used after
    /// [`Slab::remove`], which is refused while any call is inside.
    pub unsafe fn value(&self) -> &'static T {
        // SAFETY: set at insertion, before the generation became odd; the caller's promise covers the rest.
        unsafe { &**self.value.get() }
    }

    /// The pointer that C has.
    pub fn handle(&self) -> *mut c_void {
        let face = (self.generation.load(Ordering::Relaxed) / 2 % FACES) as usize;
        ptr::from_ref(self).cast::<u64>().wrapping_add(face).cast_mut().cast()
    }
}

impl<T> Slab<T> {
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Slab<T> {
        Slab {
            chunks: [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS],
            used: AtomicU32::new(0),
            free: AtomicU64::new(0),
            kept: AtomicU32::new(0),
        }
    }

    /// A handle for `value`, or NULL when there are too many.
    pub fn insert(&'static self, value: Box<T>) -> *mut c_void {
        self.insert_with(|kept| {
            drop(kept);
            value
        })
    }

    /// A handle for a value that is made, perhaps of a kept one; NULL when there are too many handles.
    pub fn insert_with(&'static self, make: impl FnOnce(Option<Box<T>>) -> Box<T>) -> *mut c_void {
        let Some(slot) = self.pop().or_else(|| self.grow()) else {
            return ptr::null_mut();
        };
        // SAFETY: a free slot belongs to the thread that popped it.
        let value = make(unsafe { self.take_kept(slot) });
        // SAFETY: as above.
        unsafe { *slot.value.get() = Box::into_raw(value) };
        slot.gate.reset();
        slot.generation.fetch_add(1, Ordering::Release);
        slot.handle()
    }

    /// The slot of a living handle.
    pub fn find(&'static self, handle: *const c_void) -> Option<&'static Slot<T>> {
        let slot = self.locate(handle)?;
        let living = slot.generation.load(Ordering::Acquire) % 2 == 1 && slot.handle().cast_const() == handle;
        living.then_some(slot)
    }

    /// Ends a handle's life and returns the value, to the first caller only.
    pub fn remove(&'static self, handle: *const c_void) -> Option<Box<T>> {
        let (slot, value) = self.end(handle)?;
        self.push(slot);
        Some(value)
    }

    /// Ends a handle's life. Its value stays for the next handle, if `renew` has made it as new.
    pub fn retire(&'static self, handle: *const c_void, renew: impl FnOnce(&mut T) -> bool) {
        let Some((slot, mut value)) = self.end(handle) else { return };
        let slot = Leaving { slab: self, slot };
        if !renew(&mut value) {
            return;
        }
        let one_more = |kept| (kept < KEPT).then_some(kept + 1);
        if self.kept.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok() {
            // SAFETY: the slot belongs to this thread until it is pushed.
            unsafe { *slot.slot.value.get() = Box::into_raw(value) };
        }
    }

    /// Frees the values of free slots.
    pub fn forget_kept(&'static self) {
        let free: Vec<_> = std::iter::from_fn(|| self.pop()).collect();
        for slot in free {
            let slot = Leaving { slab: self, slot };
            // SAFETY: a free slot belongs to the thread that popped it.
            drop(unsafe { self.take_kept(slot.slot) });
        }
    }

    /// # Safety
    /// The slot is free, and belongs to this thread.
    unsafe fn take_kept(&self, slot: &Slot<T>) -> Option<Box<T>> {
        // SAFETY: the caller's promise.
        let value = unsafe { ptr::replace(slot.value.get(), ptr::null_mut()) };
        if value.is_null() {
            return None;
        }
        self.kept.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: it came from Box::into_raw, and the slot no longer has it.
        Some(unsafe { Box::from_raw(value) })
    }

    /// Ends a handle's life, for the first caller only, who has the slot until it is pushed.
    fn end(&'static self, handle: *const c_void) -> Option<(&'static Slot<T>, Box<T>)> {
        let slot = self.find(handle)?;
        let generation = slot.generation.load(Ordering::Acquire);
        slot.generation
            .compare_exchange(generation, generation + 1, Ordering::AcqRel, Ordering::Acquire)
            .ok()?;
        // SAFETY: the exchange succeeded for one caller only; the value came from Box::into_raw.
        let value = unsafe { Box::from_raw(ptr::replace(slot.value.get(), ptr::null_mut())) };
        Some((slot, value))
    }

    /// The slot that a pointer points into, alive or not. Compares addresses only.
    fn locate(&'static self, handle: *const c_void) -> Option<&'static Slot<T>> {
        let used = self.used.load(Ordering::Acquire);
        for (number, chunk) in self.chunks.iter().enumerate() {
            let base = chunk.load(Ordering::Acquire);
            if base.is_null() {
                return None;
            }
            let offset = handle.addr().wrapping_sub(base.addr());
            let index = offset / size_of::<Slot<T>>();
            if index < (FIRST_CHUNK as usize) << number {
                // SAFETY: inside the chunk, which is never freed.
                return (start(number) + (index as u32) < used).then(|| unsafe { &*base.add(index) });
            }
        }
        None
    }

    fn slot(&'static self, index: u32) -> &'static Slot<T> {
        let number = (index / FIRST_CHUNK + 1).ilog2() as usize;
        let base = self.chunks[number].load(Ordering::Acquire);
        // SAFETY: only indices of chunks that exist are handed out.
        unsafe { &*base.add((index - start(number)) as usize) }
    }

    fn index(&'static self, slot: &'static Slot<T>) -> u32 {
        let at = ptr::from_ref(slot).addr();
        for (number, chunk) in self.chunks.iter().enumerate() {
            let offset = at.wrapping_sub(chunk.load(Ordering::Acquire).addr()) / size_of::<Slot<T>>();
            if offset < (FIRST_CHUNK as usize) << number {
                return start(number) + offset as u32;
            }
        }
        unreachable!("a slot lies in a chunk")
    }

    fn pop(&'static self) -> Option<&'static Slot<T>> {
        let mut top = self.free.load(Ordering::Acquire);
        loop {
            let index = (top as u32).checked_sub(1)?;
            let slot = self.slot(index);
            let new = (top >> 32).wrapping_add(1) << 32 | u64::from(slot.next_free.load(Ordering::Relaxed));
            match self.free.compare_exchange_weak(top, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(slot),
                Err(now) => top = now,
            }
        }
    }

    fn push(&'static self, slot: &'static Slot<T>) {
        let index = self.index(slot) + 1;
        let mut top = self.free.load(Ordering::Acquire);
        loop {
            slot.next_free.store(top as u32, Ordering::Relaxed);
            let new = (top >> 32).wrapping_add(1) << 32 | u64::from(index);
            match self.free.compare_exchange_weak(top, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    fn grow(&'static self) -> Option<&'static Slot<T>> {
        let mut index = self.used.load(Ordering::Acquire);
        loop {
            let number = (index / FIRST_CHUNK + 1).ilog2() as usize;
            self.chunk(number)?;
            match self.used.compare_exchange_weak(index, index + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(self.slot(index)),
                Err(now) => index = now,
            }
        }
    }

    /// Make sure that a chunk exists.
    fn chunk(&'static self, number: usize) -> Option<()> {
        let place = self.chunks.get(number)?;
        if !place.load(Ordering::Acquire).is_null() {
            return Some(());
        }
        let slots: Box<[Slot<T>]> = (0..FIRST_CHUNK << number).map(|_| Slot::empty()).collect();
        let made = Box::into_raw(slots).cast::<Slot<T>>();
        if place.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire).is_err() {
            let slots = ptr::slice_from_raw_parts_mut(made, (FIRST_CHUNK as usize) << number);
            // SAFETY: another thread was faster; ours, of this length, is unknown to anybody else.
            drop(unsafe { Box::from_raw(slots) });
        }
        Some(())
    }
}

impl<T> Slot<T> {
    fn empty() -> Slot<T> {
        Slot {
            generation: AtomicU32::new(0),
            next_free: AtomicU32::new(0),
            gate: Gate::new(),
            value: UnsafeCell::new(ptr::null_mut()),
        }
    }
}

/// Frees a slot whose handle's life has ended, on the way of a panic or an exception too.
struct Leaving<T: 'static> {
    slab: &'static Slab<T>,
    slot: &'static Slot<T>,
}

impl<T> Drop for Leaving<T> {
    fn drop(&mut self) {
        self.slab.push(self.slot);
    }
}

/// Index of a chunk's first slot.
fn start(number: usize) -> u32 {
    FIRST_CHUNK * ((1 << number) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_foreign_and_null_pointers_are_not_found() {
        static SLAB: Slab<String> = Slab::new();
        let first = SLAB.insert(Box::new("first".to_owned()));
        assert!(SLAB.find(first).is_some());
        assert_eq!(SLAB.remove(first).as_deref(), Some(&"first".to_owned()));
        assert!(SLAB.find(first).is_none() && SLAB.remove(first).is_none());
        let second = SLAB.insert(Box::new("second".to_owned()));
        assert!(SLAB.find(first).is_none(), "the slot is used again, the old pointer is not");
        let local = 5;
        for foreign in [ptr::null(), ptr::from_ref(&local).cast(), second.wrapping_byte_add(1).cast_const()] {
            assert!(SLAB.find(foreign).is_none());
        }
        // SAFETY: alive and known to this test only.
        assert_eq!(unsafe { SLAB.find(second).unwrap().value() }, "second");
    }

    #[test]
    fn a_renewed_value_is_for_the_next_handle() {
        static SLAB: Slab<String> = Slab::new();
        let first = SLAB.insert(Box::new("first".to_owned()));
        SLAB.retire(first, |value| {
            value.push_str(" again");
            true
        });
        assert!(SLAB.find(first).is_none());
        SLAB.retire(first, |_| panic!("its life has ended"));
        let second = SLAB.insert_with(|kept| kept.unwrap());
        // SAFETY: alive and known to this test only.
        assert_eq!(unsafe { SLAB.find(second).unwrap().value() }, "first again");
        SLAB.retire(second, |_| false);
        let made = SLAB.insert_with(|kept| {
            assert!(kept.is_none(), "it was not renewed");
            Box::new("third".to_owned())
        });
        SLAB.retire(made, |_| true);
        SLAB.forget_kept();
        SLAB.insert_with(|kept| kept.map_or_else(Box::default, |_| panic!("it was forgotten")));
    }

    #[test]
    fn few_values_are_kept() {
        static SLAB: Slab<String> = Slab::new();
        let all: Vec<_> = (0..2 * KEPT).map(|_| SLAB.insert(Box::default())).collect();
        all.iter().for_each(|handle| SLAB.retire(*handle, |_| true));
        assert_eq!(SLAB.kept.load(Ordering::Relaxed), KEPT);
        let mut kept = 0;
        (0..2 * KEPT).for_each(|_| {
            SLAB.insert_with(|value| {
                kept += u32::from(value.is_some());
                value.unwrap_or_default()
            });
        });
        assert_eq!((kept, SLAB.kept.load(Ordering::Relaxed)), (KEPT, 0));
    }

    #[test]
    fn many_handles_from_many_threads_are_all_different() {
        static SLAB: Slab<usize> = Slab::new();
        const EACH: usize = if cfg!(miri) { 40 } else { 1000 };
        let made: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|base| {
                    scope.spawn(move || {
                        let churn = |value: usize| {
                            SLAB.remove(SLAB.insert(Box::new(value)));
                            SLAB.insert(Box::new(value)).addr()
                        };
                        (0..EACH).map(|at| churn(base * EACH + at)).collect::<Vec<usize>>()
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let mut distinct = made.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 4 * EACH);
        for (value, address) in made.iter().enumerate() {
            let slot = SLAB.find(ptr::without_provenance(*address)).unwrap();
            // SAFETY: alive, and the threads are done.
            assert_eq!(unsafe { *slot.value() }, value);
        }
    }
}
