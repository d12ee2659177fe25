//! Work on a thread of its own, and the future of its result.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

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

/// Starts a task on a thread of its own. `prepare` checks what the task needs, and returns the closure that
/// the thread runs. Errors contain `name`, with its article.
pub(super) fn spawn<T, R>(
    thread_name: &str,
    name: &'static str,
    prepare: impl FnOnce(Arc<Task<T>>) -> Result<R, Error>,
) -> Running<T>
where
    T: Send + 'static,
    R: FnOnce() -> Result<T, Error> + Send + 'static,
{
    let task = Arc::<Task<T>>::default();
    let running = task.clone();
    let started = prepare(task.clone()).and_then(|run| {
        let run = move || {
            let guard = Guard(running, name);
            guard.0.end(run());
        };
        let thread = thread::Builder::new().name(thread_name.to_owned()).spawn(run);
        let failed = |error| Error::no_driver(&format!("the thread of {name} cannot start")).because(error);
        thread.map(drop).map_err(failed)
    });
    if let Err(error) = started {
        task.end(Err(error));
    }
    Running(task)
}

/// The future of a task.
pub(super) struct Running<T>(Arc<Task<T>>);

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

/// Ends the task if its thread panics. The text is the name of the task.
struct Guard<T>(Arc<Task<T>>, &'static str);

impl<T> Drop for Guard<T> {
    fn drop(&mut self) {
        self.0.end(Err(Error::no_driver(&format!("the thread of {} has ended", self.1))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocking::wait;

    type Work = fn() -> Result<usize, Error>;
    /// The prepared work and its result.
    type Case = (Result<Work, Error>, Result<usize, &'static str>);

    #[test]
    fn a_task_ends_however_its_work_ends() {
        let cases: [Case; 4] = [
            (Ok(|| Ok(thread::current().name().map_or(0, str::len))), Ok("warmwire-test".len())),
            (Ok(|| Err(Error::option("refused"))), Err("refused")),
            (Err(Error::option("no file")), Err("no file")),
            (Ok(|| panic!("the work of a test fails")), Err("the thread of a test has ended")),
        ];
        for (work, wanted) in cases {
            let ended = wait(None, spawn("warmwire-test", "a test", |_| work));
            match (ended, wanted) {
                (Ok(number), Ok(wanted)) => assert_eq!(number, wanted),
                (Err(error), Err(wanted)) => assert!(error.to_string().contains(wanted), "{error}"),
                (ended, wanted) => panic!("{ended:?}, not {wanted:?}"),
            }
        }
    }

    #[test]
    fn a_dropped_future_wakes_its_thread() {
        let (woken, wakes) = std::sync::mpsc::channel();
        let running = spawn("warmwire-test", "a test", |task: Arc<Task<()>>| {
            task.wake_by(move || woken.send(()).expect("the test waits for it"));
            Ok(|| Ok(()))
        });
        drop(running);
        wakes.recv().unwrap();
    }
}
