//! Work with its own timer.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use runtime::Sleep;

use crate::error::Result;

/// Does the work before the timer ends, or aborts it. Unlike `Handles::within` it serves work that needs the
/// whole transfer.
pub async fn before<T>(
    mut timer: Sleep,
    late: impl Fn() -> Result<T>,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let mut work = pin!(work);
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(done),
        Poll::Pending => Pin::new(&mut timer).poll(cx).map(|()| late()),
    })
    .await
}
