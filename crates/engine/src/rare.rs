//! A value that most owners never have, in a box that is allocated on first write. Reading without a box
//! returns the default.

use std::ops::{Deref, DerefMut};

/// The value that is read without a box.
pub trait Nothing: Default + 'static {
    /// A constant equal to the default.
    const NOTHING: &'static Self;
}

/// The place of such a box. To reach for it to change something makes it.
#[derive(Clone, Debug)]
pub struct Rare<T>(Option<Box<T>>);

impl<T> Default for Rare<T> {
    fn default() -> Rare<T> {
        Rare(None)
    }
}

impl<T> Rare<T> {
    /// Returns another value made from this one, if it has a box.
    pub fn map<U>(&self, make: impl FnOnce(&T) -> U) -> Rare<U> {
        Rare(self.0.as_deref().map(|value| Box::new(make(value))))
    }
}

impl<T: Nothing> Deref for Rare<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::NOTHING)
    }
}

impl<T: Nothing> DerefMut for Rare<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Found {
        names: Vec<&'static str>,
    }

    impl Nothing for Found {
        const NOTHING: &'static Found = &Found { names: Vec::new() };
    }

    #[test]
    fn reading_makes_no_box() {
        let mut found = Rare::<Found>::default();
        assert!(found.names.is_empty() && found.0.is_none());
        found.names.push("a");
        assert_eq!(found.names, ["a"]);
        assert!(Rare::<Found>::default().names.is_empty());
    }
}
