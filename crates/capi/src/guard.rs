//! The checks of every entry: a panic stops here, a handle is used by one thread at a time, and calls from
//! inside a callback are allowed or refused by `tables::reentry`.
//!
//! A [`Gate`] belongs to a handle and records which thread is inside a call on it. It is in the handle's
//! slot, which is never freed, so reading it needs no live handle. An easy handle's gate links to that of the
//! multi handle that drives it: a thread inside one is inside both.
//!
//! Applications may jump out of a callback over our frames (a fatal error in PHP, R or Perl). The gate then
//! still says that the thread is inside. The call's frame, which holds a mark, reveals the jump: once the
//! mark is overwritten, or a later call comes from further up the same stack, the frame is gone. For a call
//! from another stack (fibres, coroutines) the address proves nothing: as long as the mark exists, the call
//! is nested (`stack`).

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering};

use tables::reentry::{self, Entry, Where};

use crate::stack::{self, Frame};
use crate::sys::{thread, thread_ended};
use crate::unwind;

/// Run the body of an exported function; a panic becomes `fallback`, an exception of the application's
/// passes.
pub fn entry<R>(fallback: R, body: impl FnOnce() -> R) -> R {
    unwind::catch(body).unwrap_or(fallback)
}

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// Another thread is inside.
    Busy,
    /// From inside a callback, where the table forbids it.
    Recursive,
}

/// Words of the mark in a call's frame: enough that a later frame in the same place overwrites one.
const MARK_WORDS: usize = 16;
type Mark = [usize; MARK_WORDS];

pub struct Gate {
    /// The thread inside, or 0.
    owner: AtomicUsize,
    /// The mark in the frame of its outermost call.
    mark: AtomicPtr<Mark>,
    /// The kind of callback that the thread is in: an index into [`PLACES`].
    place: AtomicU8,
    /// The gate of the multi handle, for an easy handle that is in one.
    driver: AtomicPtr<Gate>,
}

/// From the mildest to the strictest.
const PLACES: [Where; 3] = [Where::Notify, Where::AnyCallback, Where::SocketOrTimer];
const ANY_CALLBACK: u8 = 1;

enum State {
    Free,
    Inside,
    Busy,
}

impl Default for Gate {
    fn default() -> Gate {
        Gate::new()
    }
}

impl Gate {
    pub const fn new() -> Gate {
        Gate {
            owner: AtomicUsize::new(0),
            mark: AtomicPtr::new(ptr::null_mut()),
            place: AtomicU8::new(ANY_CALLBACK),
            driver: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Runs `body` inside, if the table and the other threads permit it. `body` receives whether the call is
    /// nested in another one, that is, comes from inside a callback.
    pub fn enter<R>(&self, what: Entry, body: impl FnOnce(bool) -> R) -> Result<R, Denied> {
        let driver = self.driver();
        if driver.is_none() && self.owner.load(Ordering::Acquire) == 0 {
            return self.claim(|| body(false)); // nearly all calls: nobody is inside
        }
        let mut nested = None;
        for gate in [Some(self), driver].into_iter().flatten() {
            match gate.state() {
                State::Free => {}
                State::Busy => return Err(Denied::Busy),
                State::Inside => nested = nested.max(Some(gate.place.load(Ordering::Relaxed))),
            }
        }
        if let Some(place) = nested
            && !reentry::allowed(what, PLACES[usize::from(place)])
        {
            return Err(Denied::Recursive);
        }
        let body = || body(nested.is_some());
        self.claim(|| match driver {
            Some(driver) => driver.claim(body),
            None => Ok(body()),
        })?
    }

    /// Whether the calling thread is inside a callback of this handle.
    pub fn in_callback(&self) -> bool {
        matches!(self.state(), State::Inside)
    }

    /// Whether another thread is inside a call on this handle.
    pub fn in_use_elsewhere(&self) -> bool {
        matches!(self.state(), State::Busy)
    }

    /// Say which gate belongs to the multi handle that drives this easy handle.
    pub fn drive(&self, driver: Option<&'static Gate>) {
        self.driver
            .store(driver.map_or(ptr::null_mut(), |gate| ptr::from_ref(gate).cast_mut()), Ordering::Release);
    }

    /// Run a callback of another kind than the ordinary.
    pub fn calling_back<R>(&self, place: Where, callback: impl FnOnce() -> R) -> R {
        let index = PLACES.iter().position(|known| *known == place).unwrap_or(0) as u8;
        let before = self.place.swap(index, Ordering::Relaxed);
        let _back = Back { gate: self, before };
        callback()
    }

    /// Forget everything: the handle is new.
    pub fn reset(&self) {
        self.owner.store(0, Ordering::Relaxed);
        self.place.store(ANY_CALLBACK, Ordering::Relaxed);
        self.driver.store(ptr::null_mut(), Ordering::Release);
    }

    fn driver(&self) -> Option<&'static Gate> {
        // SAFETY: NULL, or a gate in a slot, which is never freed.
        unsafe { self.driver.load(Ordering::Acquire).as_ref() }
    }

    fn state(&self) -> State {
        match self.owner.load(Ordering::Acquire) {
            0 => State::Free,
            owner if owner != thread() => self.forget(owner, thread_ended(owner), State::Busy),
            owner => self.forget(owner, !self.mark_stands(), State::Inside),
        }
    }

    /// Returns the gate's state for an owner whose frames may be gone: jumped over, or with their thread.
    fn forget(&self, owner: usize, gone: bool, otherwise: State) -> State {
        if !gone {
            return otherwise;
        }
        // Of two threads that find it out at once the other may be inside by now.
        match self.owner.compare_exchange(owner, 0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => State::Free,
            Err(_) => otherwise,
        }
    }

    /// Whether the frame of the outermost call of this thread is still there.
    fn mark_stands(&self) -> bool {
        let mark = self.mark.load(Ordering::Relaxed);
        let frame = stack::frame_at(mark.addr(), size_of::<Mark>());
        if frame == Frame::Gone {
            return false;
        }
        let expected = self.mark_word(mark);
        let words = mark.cast::<usize>();
        // SAFETY: a stack that this thread was on, still mapped and not written concurrently.
        let stands = (0..MARK_WORDS).all(|at| unsafe { stack::left_word(words.add(at)) } == expected);
        if stands && frame == Frame::Remnant {
            // SAFETY: all of it is the mark that `claim` has written there.
            (0..MARK_WORDS).for_each(|at| unsafe { words.add(at).write_volatile(0) });
            return false;
        }
        stands
    }

    fn mark_word(&self, mark: *const Mark) -> usize {
        mark.addr().rotate_left(17) ^ ptr::from_ref(self).addr() ^ 0x5741_524d_5749_5245
    }

    /// Makes the thread the owner while `body` runs, or runs it nested.
    #[inline(never)]
    fn claim<R>(&self, body: impl FnOnce() -> R) -> Result<R, Denied> {
        match self.owner.compare_exchange(0, thread(), Ordering::AcqRel, Ordering::Acquire) {
            Err(owner) if owner == thread() => return Ok(body()),
            Err(_) => return Err(Denied::Busy),
            Ok(_) => self.place.store(ANY_CALLBACK, Ordering::Relaxed), // a jump may have left another
        }
        let mut mark: Mark = [0; MARK_WORDS];
        let at = &raw mut mark;
        let word = self.mark_word(at);
        for index in 0..MARK_WORDS {
            // SAFETY: inside the local array.
            unsafe { at.cast::<usize>().add(index).write_volatile(word) };
        }
        self.mark.store(at, Ordering::Relaxed);
        let _leave = Leave { gate: self, mark: at };
        Ok(body())
    }
}

/// Opens the gate again, on the way of a panic too.
struct Leave<'a> {
    gate: &'a Gate,
    mark: *mut Mark,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        // SAFETY: the mark is a local of the frame that holds this guard.
        unsafe { self.mark.cast::<usize>().write_volatile(0) };
        self.gate.owner.store(0, Ordering::Release);
    }
}

/// Says where the thread was before, on the way of an exception too.
struct Back<'a> {
    gate: &'a Gate,
    before: u8,
}

impl Drop for Back<'_> {
    fn drop(&mut self) {
        self.gate.place.store(self.before, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_decides_inside_a_callback() {
        let gate = Gate::new();
        let result = gate.enter(Entry::EasyPerform, |_| {
            assert!(gate.in_callback());
            assert_eq!(gate.enter(Entry::EasyPerform, |_| 1), Err(Denied::Recursive));
            assert_eq!(gate.enter(Entry::EasyPause, |_| 2), Ok(2));
            let in_socket = || gate.enter(Entry::EasyPause, |_| 3);
            assert_eq!(gate.calling_back(Where::SocketOrTimer, in_socket), Err(Denied::Recursive));
            gate.enter(Entry::EasyGetinfo, |_| 4)
        });
        assert_eq!(result, Ok(Ok(4)));
        assert!(!gate.in_callback());
    }

    #[test]
    fn an_easy_handle_is_inside_when_its_multi_is() {
        let multi: &'static Gate = Box::leak(Box::new(Gate::new()));
        let easy = Gate::new();
        easy.drive(Some(multi));
        let result = multi.enter(Entry::MultiPerform, |_| easy.enter(Entry::EasyPerform, |_| ()));
        assert_eq!(result, Ok(Err(Denied::Recursive)));
        assert_eq!(easy.enter(Entry::EasyPause, |_| multi.in_callback()), Ok(true));
        easy.drive(None);
        assert_eq!(multi.enter(Entry::MultiPerform, |_| easy.enter(Entry::EasyPerform, |_| 5)), Ok(Ok(5)));
    }

    #[test]
    fn another_thread_is_turned_away() {
        let gate = Gate::new();
        gate.enter(Entry::EasyPerform, |_| {
            std::thread::scope(|scope| {
                let other = scope.spawn(|| gate.enter(Entry::EasyGetinfo, |_| ()));
                assert_eq!(other.join().unwrap(), Err(Denied::Busy));
            });
        })
        .unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(gate.enter(Entry::EasyGetinfo, |_| ()), Ok(())));
        });
    }

    #[test]
    fn a_panic_opens_the_gate_and_becomes_the_fallback() {
        let gate = Gate::new();
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let code = entry(7, || gate.enter(Entry::EasyPerform, |_| panic!("inside")).unwrap_or(1));
        std::panic::set_hook(hook);
        assert_eq!(code, 7);
        assert_eq!(gate.enter(Entry::EasyPerform, |_| ()), Ok(()));
    }
}
