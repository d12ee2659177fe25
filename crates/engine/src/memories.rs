//! What protocols remember of servers as long as a multi handle lives. It keeps one value of each type, and knows none.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::rc::Rc;

use runtime::cell::RefCell;

/// One value for each type that was asked for.
#[derive(Default)]
pub struct Memories(RefCell<HashMap<TypeId, Rc<dyn Any>>>);

impl Memories {
    /// The value of that type, made when it is first asked for.
    pub fn of<T: Default + 'static>(&self) -> Rc<RefCell<T>> {
        let mut all = self.0.borrow_mut();
        let one = all.entry(TypeId::of::<T>()).or_insert_with(|| Rc::<RefCell<T>>::default());
        one.clone().downcast().expect("each stands under its own type")
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
    }
}
