//! Runs blocking work on a helper thread while the executor continues.

use std::future::poll_fn;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::{Reactor, spawn_helper};

/// State shared by the thread and the waiting task.
struct Desk<T> {
    result: Option<std::thread::Result<T>>,
    waiting: Option<Waker>,
}

/// Runs `work` on its own thread. Dropping the future detaches the work. Meanwhile the reactor's wake-up
/// descriptor is among the interests, so that an application's own event loop notices the end.
pub async fn offload<T: Send + 'static>(
    reactor: &Arc<Reactor>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let desk = Arc::new(Mutex::new(Desk { result: None, waiting: None }));
    let theirs = desk.clone();
    spawn_helper(name, move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        let mut desk = lock(&theirs);
        desk.result = Some(result);
        let waiting = desk.waiting.take();
        drop(desk);
        waiting.into_iter().for_each(Waker::wake);
    })?;
    let _guard = reactor.wake_interest();
    let result = poll_fn(|cx| {
        let mut desk = lock(&desk);
        match desk.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                desk.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    });
    result.await.map_err(|_| io::Error::other("a helper thread panicked"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Runtime};
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::time::Duration;

    /// Returns the result of `work`, with the number of waits that it took.
    fn outcome<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
        let runtime = Runtime::new(Clock::system());
        let (outcome, reactor) = (Rc::new(RefCell::new(None)), runtime.reactor().clone());
        let filled = outcome.clone();
        runtime.spawn(Box::pin(async move {
            let result = offload(&reactor, "t", work).await;
            *filled.borrow_mut() = Some(result);
        }));
        for _ in 0..100 {
            runtime.perform().unwrap();
            if let Some(result) = outcome.borrow_mut().take() {
                assert!(runtime.reactor().interests().is_empty());
                return result;
            }
            assert_eq!(runtime.reactor().interests().len(), 1, "the wake-up descriptor");
            runtime.wait(&mut [], Duration::from_secs(10), true).unwrap();
        }
        panic!("it never ended");
    }

    #[test]
    fn a_result_comes_back() {
        let slow = || {
            std::thread::sleep(Duration::from_millis(20));
            std::thread::current().name().unwrap_or_default().to_owned()
        };
        assert_eq!(outcome(slow).unwrap(), "t");
        assert_eq!(outcome(|| 1).unwrap(), 1);
    }

    #[test]
    fn a_panic_is_an_error() {
        let failure = outcome(|| -> () { std::panic::resume_unwind(Box::new(())) });
        assert_eq!(failure.unwrap_err().to_string(), "a helper thread panicked");
    }
}
