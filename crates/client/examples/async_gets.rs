//! The measure beside reqwest: `cargo run --release --features tokio --example async_gets -- get|parallel URL
//! COUNT [thread]`.
//!
//! As many GETs, one after the other over a kept connection, or 50 at once on one thread; with `thread` the
//! driver has a thread of its own. Prints microseconds of the process's CPU and of wall time per request and
//! bytes per request, as bench/programs/reqwest does.

use std::error::Error;
use std::time::Instant;

use tokio::task::{LocalSet, spawn_local};
use warmwire::{Client, Tokio};

const PARALLEL: usize = 50;

/// CPU of all threads of this process so far.
fn cpu_us() -> f64 {
    let of = |entry: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(entry.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(of).sum::<f64>() / 1e3
}

async fn length(client: &Client, url: &str) -> Result<usize, warmwire::Error> {
    Ok(client.get(url).send().await?.error_for_status()?.bytes().await?.len())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [task, url, count, rest @ ..] = &words[..] else {
        return Err("usage: async_gets get|parallel URL COUNT [thread]".into());
    };
    let count: usize = count.parse()?;
    let at_once = if task == "get" { 1 } else { PARALLEL };
    let builder = Client::builder().no_proxy();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let client = match rest {
            [] => {
                let (client, driver) = builder.build_with_driver()?;
                spawn_local(driver.run(Tokio));
                client
            }
            _ => builder.build()?,
        };
        length(&client, url).await?;
        let (start, start_cpu) = (Instant::now(), cpu_us());
        let some = |number: usize| {
            let (client, url) = (client.clone(), url.clone());
            spawn_local(async move {
                let mut received = 0;
                for _ in (number..count).step_by(at_once) {
                    received += length(&client, &url).await?;
                }
                Ok::<_, warmwire::Error>(received)
            })
        };
        let tasks: Vec<_> = (0..at_once).map(some).collect();
        let mut received = 0;
        for task in tasks {
            received += task.await??;
        }
        let (spent, wall) = (cpu_us() - start_cpu, start.elapsed());
        let each = |us: f64| us / count as f64;
        println!("{:.3} {:.3} {}", each(spent), each(wall.as_secs_f64() * 1e6), received / count);
        Ok(())
    })
}
