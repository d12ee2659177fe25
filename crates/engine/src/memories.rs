//! Values that a handle stores for other modules: protocols remember servers as long as a multi handle lives,
//! and transfers leave data for the next one in an easy handle. There is one value of each type, and this
//! module knows none of the types.

use std::any::{Any, TypeId};
use std::rc::Rc;

use runtime::cell::RefCell;

/// One value for each type that was used. They are few, so a list is searched faster than a table.
#[derive(Default)]
pub struct Memories(RefCell<Vec<(TypeId, Rc<dyn Any>)>>);

impl Memories {
    /// Returns the value of that type, created on first use.
    pub fn of<T: Default + 'static>(&self) -> Rc<RefCell<T>> {
        let mut all = self.0.borrow_mut();
        let own = TypeId::of::<T>();
        let at = all.iter().position(|(other, _)| *other == own).unwrap_or_else(|| {
            all.reserve_exact(1);
            all.push((own, Rc::<RefCell<T>>::default()));
            all.len() - 1
        });
        all[at].1.clone().downcast().expect("each stands under its own type")
    }

    /// Forgets all of them.
    pub fn clear(&self) {
        let all = self.0.take();
        drop(all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_one() {
        let memories = Memories::default();
        memories.of::<Vec<u8>>().borrow_mut().push(1);
        memories.of::<Vec<u16>>().borrow_mut().push(2);
        memories.of::<Vec<u8>>().borrow_mut().push(3);
        assert_eq!(*memories.of::<Vec<u8>>().borrow(), [1, 3]);
        assert_eq!(*memories.of::<Vec<u16>>().borrow(), [2]);
        memories.clear();
        assert_eq!(*memories.of::<Vec<u8>>().borrow(), []);
    }
}
