//! A `RefCell` whose live borrows are counted in debug builds.
//!
//! From any callback, the application may call the API again, jump over our frames, or throw through them. A
//! borrow that is live then makes an option set inside panic, and is never released after a jump. So nothing
//! is borrowed during callbacks, and [`none_is_borrowed`] checks that at every call of the application. In a
//! release build the cell is std's.

#[cfg(not(debug_assertions))]
pub use std::cell::{Ref, RefCell, RefMut};

#[cfg(debug_assertions)]
pub use counted::{Ref, RefCell, RefMut};

/// Counts a borrow of something that is not a cell: the contents of a mutex.
#[must_use]
#[derive(Debug)]
pub struct BorrowCount {
    #[cfg(debug_assertions)]
    _count: counted::Count,
}

/// Counts the guard of a mutex among the borrows.
#[track_caller]
#[inline]
pub fn held() -> BorrowCount {
    BorrowCount {
        #[cfg(debug_assertions)]
        _count: counted::Count::one(),
    }
}

/// Checks that nothing is borrowed, at every call of the application.
///
/// # Panics
///
/// In a debug build, if something is borrowed on this thread.
#[track_caller]
#[inline]
pub fn none_is_borrowed() {
    #[cfg(debug_assertions)]
    counted::check();
}

#[cfg(debug_assertions)]
mod counted {
    use std::cell;
    use std::fmt;
    use std::ops::{Deref, DerefMut};
    use std::panic::Location;

    thread_local! {
        /// Borrows alive on this thread, and where the last of them was made.
        static ALIVE: cell::Cell<(usize, Option<&'static Location<'static>>)> = const { cell::Cell::new((0, None)) };
    }

    #[track_caller]
    pub(super) fn check() {
        let (alive, last) = ALIVE.get();
        // A panic on its way through callbacks (a destructor that calls one) is reported once.
        assert!(
            alive == 0 || std::thread::panicking(),
            "{alive} borrows are alive while the application is called, the last from {last:?}"
        );
    }

    /// A live borrow.
    #[derive(Debug)]
    pub struct Count;

    impl Count {
        #[track_caller]
        pub(super) fn one() -> Count {
            ALIVE.set((ALIVE.get().0 + 1, Some(Location::caller())));
            Count
        }
    }

    impl Drop for Count {
        fn drop(&mut self) {
            let (alive, last) = ALIVE.get();
            ALIVE.set((alive - 1, last));
        }
    }

    /// As `std::cell::RefCell`.
    #[derive(Debug, Default)]
    pub struct RefCell<T>(cell::RefCell<T>);

    /// As `std::cell::Ref`.
    pub struct Ref<'a, T>(cell::Ref<'a, T>, Count);

    /// As `std::cell::RefMut`.
    pub struct RefMut<'a, T>(cell::RefMut<'a, T>, Count);

    impl<T> RefCell<T> {
        /// A cell with this in it.
        pub const fn new(value: T) -> RefCell<T> {
            RefCell(cell::RefCell::new(value))
        }

        /// Borrows for reading.
        #[track_caller]
        pub fn borrow(&self) -> Ref<'_, T> {
            Ref(self.0.borrow(), Count::one())
        }

        /// Borrows for changing.
        #[track_caller]
        pub fn borrow_mut(&self) -> RefMut<'_, T> {
            RefMut(self.0.borrow_mut(), Count::one())
        }

        /// Borrows for changing, unless it is borrowed.
        #[track_caller]
        pub fn try_borrow_mut(&self) -> Result<RefMut<'_, T>, cell::BorrowMutError> {
            Ok(RefMut(self.0.try_borrow_mut()?, Count::one()))
        }

        /// Returns the value; exclusive access needs no borrow check.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut()
        }

        /// Puts another value there.
        #[track_caller]
        pub fn replace(&self, value: T) -> T {
            self.0.replace(value)
        }

        /// Takes the value and leaves the default.
        #[track_caller]
        pub fn take(&self) -> T
        where
            T: Default,
        {
            self.0.take()
        }
    }

    impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (**self).fmt(f)
        }
    }

    impl<T: fmt::Debug> fmt::Debug for RefMut<'_, T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (**self).fmt(f)
        }
    }

    impl<T> Deref for Ref<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.0
        }
    }

    impl<T> Deref for RefMut<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.0
        }
    }

    impl<T> DerefMut for RefMut<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.0
        }
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn a_live_borrow_is_seen_and_one_that_ended_is_not() {
        let cell = RefCell::new(1);
        *cell.borrow_mut() += 1;
        assert_eq!(*cell.borrow(), 2);
        none_is_borrowed();
        let alive = cell.borrow();
        let panic = std::panic::catch_unwind(none_is_borrowed).unwrap_err();
        assert!(panic.downcast_ref::<String>().unwrap().contains("cell.rs"));
        drop(alive);
        none_is_borrowed();
    }
}
