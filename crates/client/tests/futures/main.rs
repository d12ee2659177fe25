//! The futures of a client under executors of several kinds: the same scenarios in each.

mod bodies;
mod clients;
mod errors;
mod faces;
mod leaders;
mod many;
mod requests;
mod why;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use warmwire::{AsyncIo, Client, ClientBuilder, Driver, Tokio};

/// Limit for "at once", on a busy machine.
const SOON: Duration = Duration::from_secs(10);

/// Runs a scenario with its driver in one task, in a task beside the driver's, with the driver on its own
/// thread and tasks that move between threads, and on another event loop.
fn everywhere<F: Future<Output = ()> + Send + 'static>(
    builder: impl Fn() -> ClientBuilder,
    scenario: impl Fn(Client) -> F,
) {
    println!("in one task of tokio's");
    let tokio = tokio_on_one_thread();
    let (client, driver) = builder().build_with_driver().unwrap();
    tokio.block_on(driver.run_until(Tokio, scenario(client)));
    println!("in two tasks of tokio's");
    let (client, driver) = builder().build_with_driver().unwrap();
    tokio::task::LocalSet::new().block_on(&tokio, async {
        let driven = tokio::task::spawn_local(driver.run(Tokio));
        scenario(client).await;
        // The driver ends with its last client.
        let ended = tokio::time::timeout(SOON, driven).await;
        ended.expect("no client is left").expect("no panic").expect("no descriptor was refused");
    });
    println!("on tokio's threads");
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let client = builder().build().unwrap();
    threads.block_on(threads.spawn(scenario(client))).unwrap();
    println!("on async-io");
    let (client, driver) = builder().build_with_driver().unwrap();
    let executor = async_executor::LocalExecutor::new();
    executor.spawn(driver.run(AsyncIo)).detach();
    async_io::block_on(executor.run(scenario(client)));
}

/// Returns a client whose driver the test runs.
fn client_and_driver() -> (Client, Driver) {
    Client::builder().build_with_driver().unwrap()
}

fn tokio_on_one_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Runs all of them at once, in one task; returns their outputs in order.
async fn together<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.into_iter().map(|future| (Some(Box::pin(future)), None)).collect();
    std::future::poll_fn(|cx| {
        for (running, output) in &mut running {
            if let Some(future) = running
                && let Poll::Ready(value) = future.as_mut().poll(cx)
            {
                (*running, *output) = (None, Some(value));
            }
        }
        if running.iter().all(|(running, _)| running.is_none()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    running.into_iter().filter_map(|(_, output)| output).collect()
}

/// Polls a future once, without waiting for it.
async fn once<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
    let mut future = Some(future);
    std::future::poll_fn(|cx: &mut Context<'_>| {
        let polled = future.take().map(|future| future.poll(cx));
        Poll::Ready(match polled {
            Some(Poll::Ready(output)) => Some(output),
            _ => None,
        })
    })
    .await
}

/// Sleeps under any executor.
async fn sleep(time: Duration) {
    async_io::Timer::after(time).await;
}

/// Waits until it is so.
async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = std::time::Instant::now();
    while !is_so() {
        assert!(began.elapsed() < SOON, "{what} did not come");
        sleep(Duration::from_millis(5)).await;
    }
}
