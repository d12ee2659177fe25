//! Fetches many URLs at a time in one task of tokio's: `cargo run --features tokio --example async_parallel
//! -- URL URL…`.
//!
//! The driver is a task beside; connections per host are bounded, and requests wait for their turn.

use std::error::Error;

use tokio::task::{JoinSet, LocalSet, spawn_local};
use warmwire::{Client, Tokio};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (client, driver) = Client::builder().connections_per_host(6).build_with_driver()?;
    let tasks = LocalSet::new();
    tasks
        .run_until(async {
            spawn_local(driver.run(Tokio));
            let mut fetches = JoinSet::new();
            for url in std::env::args().skip(1) {
                let client = client.clone();
                fetches.spawn_local(async move {
                    let fetched = fetch(&client, &url).await;
                    (url, fetched)
                });
            }
            while let Some(ended) = fetches.join_next().await {
                match ended? {
                    (url, Ok(line)) => println!("{url}: {line}"),
                    (url, Err(error)) => {
                        println!("{url}: {:?} after {:?}: {error}", error.kind(), error.reached())
                    }
                }
            }
            Ok(())
        })
        .await
}

async fn fetch(client: &Client, url: &str) -> Result<String, warmwire::Error> {
    let mut reply = client.get(url).send().await?;
    let mut bytes = 0;
    while let Some(piece) = reply.chunk().await? {
        bytes += piece.len();
    }
    let total = reply.timings().map(|timings| timings.total).unwrap_or_default();
    Ok(format!("{} {:?}, {bytes} bytes in {total:?}", reply.status(), reply.version()))
}
