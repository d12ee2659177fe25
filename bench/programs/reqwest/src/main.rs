//! peers-reqwest get|parallel URL COUNT: COUNT GETs with reqwest (hyper), sequentially over a kept
//! connection, or 50 in parallel on one thread. Prints microseconds of CPU and of wall time per request and
//! bytes per request.

use std::error::Error;
use std::time::Instant;

const PARALLEL: usize = 50;

/// Of this process so far: user and system ticks, of which there are a hundred a second, are too coarse; the
/// scheduler's own count is not, and there is one thread.
fn cpu_us() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|number| number.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e3
}

async fn length(client: &reqwest::Client, url: &str) -> reqwest::Result<usize> {
    Ok(client.get(url).send().await?.error_for_status()?.bytes().await?.len())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, task, url, count] = &words[..] else { return Err("get|parallel URL COUNT".into()) };
    let count: usize = count.parse()?;
    let at_once = if task == "get" { 1 } else { PARALLEL };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = reqwest::Client::builder().no_proxy().build()?;
        length(&client, url).await?;
        let (start, start_cpu) = (Instant::now(), cpu_us());
        let some = |number: usize| {
            let (client, url) = (client.clone(), url.clone());
            tokio::spawn(async move {
                let mut received = 0;
                for _ in (number..count).step_by(at_once) {
                    received += length(&client, &url).await?;
                }
                reqwest::Result::Ok(received)
            })
        };
        let tasks: Vec<_> = (0..at_once).map(some).collect();
        let mut received = 0;
        for task in tasks {
            received += task.await??;
        }
        let (spent, wall) = (cpu_us() - start_cpu, start.elapsed());
        println!("{:.3} {:.3} {}", spent / count as f64, wall.as_secs_f64() * 1e6 / count as f64, received / count);
        Ok(())
    })
}
