//! Work on a thread of its own, and the future of its result.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::error::Error;

/// The state that a thread and its future share.
pub(super) struct Task<T>(Mutex<State<T>>);

struct State<T> {
    ended: Option<Result<T, Error>>,
    waker: Option<Waker>,
    /// Ends the wait of the thread.
    wake: Option<Box<dyn Fn() + Send>>,
    is_cancelled: bool,
}

impl<T> Default for Task<T> {
    fn default() -> Task<T> {
        Task(Mutex::new(State { ended: None, waker: None, wake: None, is_cancelled: false }))
    }
}

impl<T> Task<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the task, unless it has ended.
    pub fn end(&self, result: Result<T, Error>) {
        let mut state = self.lock();
        state.ended.get_or_insert(result);
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Sets how the wait of the thread is ended when the future is dropped.
    pub fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        self.lock().wake = Some(Box::new(wake));
    }

    /// Returns whether the future has been dropped.
    pub fn is_cancelled(&self) -> bool {
        self.lock().is_cancelled
    }
}

/// The future of a task.
pub(super) struct Running<T>(pub Arc<Task<T>>);

impl<T> Future for Running<T> {
    type Output = Result<T, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.lock();
        match state.ended.take() {
            Some(ended) => Poll::Ready(ended),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_cancelled = true;
        state.wake.iter().for_each(|wake| wake());
    }
}

/// Ends the task if its thread panics. The name is that of the work.
pub(super) struct Guard<T>(pub Arc<Task<T>>, pub &'static str);

impl<T> Drop for Guard<T> {
    fn drop(&mut self) {
        self.0.end(Err(Error::no_driver(&format!("the thread of {} has ended", self.1))));
    }
}
