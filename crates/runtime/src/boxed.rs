//! Futures on the heap that take no room in the frame of the future that awaits them.

use std::future::Future;
use std::pin::Pin;

/// A future on the heap.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Returns the future that `make` returns, on the heap.
///
/// `Box::pin(make())` in an `async fn` first builds the future on the stack, and the frame of the polling
/// function permanently reserves room for each such place. Of the 37 KiB in the deepest frame of a transfer,
/// 34 were such room. Here that room is released before the future is polled. Its type is erased, so that its
/// poll function is never inlined into the caller's: the frames of steps that do not call each other do not
/// add up.
#[inline(never)]
pub fn boxed<'a, F: Future + 'a>(make: impl FnOnce() -> F) -> Boxed<'a, F::Output> {
    Box::pin(make())
}
