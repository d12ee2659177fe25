//! Futures on the heap that take no room in the frame of the future that awaits them.

use std::future::Future;
use std::pin::Pin;

/// A future on the heap.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Returns the future that `make` returns, on the heap.
///
/// `Box::pin(make())` in an `async fn` makes the future on the stack first, and the frame of the function
/// that polls has room for it ever after, for every such place beside each other: of the 37 KiB in the
/// deepest frame of a transfer 34 were such room. Here that room is given back before the future is polled.
/// Its type is erased, so that its poll function is never inlined into the caller's: the frames of steps that
/// do not call each other do not add up.
#[inline(never)]
pub fn boxed<'a, F: Future + 'a>(make: impl FnOnce() -> F) -> Boxed<'a, F::Output> {
    Box::pin(make())
}
