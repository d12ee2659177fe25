//! The one `unsafe` of this crate: a client's engine moves from thread to thread.
//!
//! The engine counts references without atomic operations, so its type is not `Send`. All of them are inside
//! the engine, and the engine moves as a whole.

use super::driver::{Driver, Engine};

/// A client's engine, created by the first thread that uses it. Only its owner reaches it, and only by a
/// mutable reference.
pub(super) struct Movable(State);

enum State {
    Configured(Option<Box<Driver>>),
    Running(Box<Engine>),
}

#[allow(unsafe_code, reason = "the engine has references without atomic counters, which move together")]
// SAFETY: every `Rc` and every cell of an engine is reached through this one value: a `Driver` is `Send` (the
// function below has the compiler check it), and the engine is created here, from it. What enters later comes
// in commands, which are `Send`; what leaves is `Send`, too (wakers, descriptors, turns, heads, bodies).
// Nothing is left behind on a thread: the crates below have no thread-local (`cargo xtask tidy` refuses them)
// but the count of borrows in debug builds (`runtime::cell`), which is zero between turns; the C API has
// always let handles change threads between calls; and a static cannot hold an `Rc`. The owner is exclusive,
// so two threads never count at the same time, and it is passed on under a mutex, which orders their
// accesses.
unsafe impl Send for Movable {}

const fn is_send<T: Send>() {}
const _: () = is_send::<Driver>();
const _: () = is_send::<super::call::Order>();

impl Movable {
    pub fn new(driver: Driver) -> Movable {
        Movable(State::Configured(Some(Box::new(driver))))
    }

    /// Returns the engine, if it has been created.
    pub fn created(&mut self) -> Option<&mut Engine> {
        match &mut self.0 {
            State::Configured(_) => None,
            State::Running(engine) => Some(engine),
        }
    }

    pub fn is_created(&self) -> bool {
        matches!(self.0, State::Running(_))
    }

    pub fn engine(&mut self) -> &mut Engine {
        if let State::Configured(driver) = &mut self.0 {
            let driver = driver.take().expect("it is taken once, right before it is replaced");
            self.0 = State::Running(Box::new(Engine::new(*driver)));
        }
        self.created().expect("it was created above")
    }
}
