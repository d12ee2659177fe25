//! The part that the clients' programs share: `CLIENT get|parallel URL COUNT` sends COUNT GETs over kept
//! connections, one after the other or 64 at once, and prints microseconds of CPU and of wall time per
//! request and bytes per request.
//!
//! CA names a file with the authority. With HTTP2 or HTTP3 set, a reply of another version is an error.

use std::error::Error;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

pub type Failure = Box<dyn Error + Send + Sync>;

const PARALLEL: usize = 64;

/// The task of the command line.
pub struct Task {
    pub url: String,
    count: usize,
    pub at_once: usize,
    /// The authority, in PEM.
    pub authority: Vec<u8>,
    /// The HTTP version that replies must have: 1, 2 or 3.
    pub version: u8,
}

impl Task {
    pub fn from_arguments() -> Result<Task, Failure> {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [task, url, count] = &words[..] else { return Err("get|parallel URL COUNT".into()) };
        let has = |name: &str| std::env::var_os(name).is_some();
        Ok(Task {
            url: url.clone(),
            count: count.parse()?,
            at_once: if task == "get" { 1 } else { PARALLEL },
            authority: std::env::var_os("CA").map_or(Ok(Vec::new()), std::fs::read)?,
            version: if has("HTTP3") { 3 } else { 1 + u8::from(has("HTTP2")) },
        })
    }

    pub fn is_secure(&self) -> bool {
        self.url.starts_with("https:")
    }

    /// Returns the number of requests of one of the tasks that run at once.
    pub fn share(&self, number: usize) -> usize {
        (number..self.count).step_by(self.at_once).len()
    }

    /// Checks the version of a reply, given as `HTTP/2.0` or the like.
    pub fn check(&self, version: impl std::fmt::Debug) -> Result<(), Failure> {
        let text = format!("{version:?}");
        match text.strip_prefix("HTTP/").is_some_and(|rest| rest.starts_with(&self.version.to_string())) {
            true => Ok(()),
            false => Err(format!("{text} in place of HTTP/{}", self.version).into()),
        }
    }
}

/// Processor time of all threads of this process, also of those that have ended.
fn cpu_us() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 * 1e6 + spent.tv_nsec as f64 / 1e3
}

/// The clocks at the start.
pub struct Start(Instant, f64);

impl Start {
    pub fn now() -> Start {
        Start(Instant::now(), cpu_us())
    }

    /// Prints the figures, given the number of bytes that all requests received.
    pub fn end(self, task: &Task, received: usize) {
        let (cpu, wall) = (cpu_us() - self.1, self.0.elapsed().as_secs_f64() * 1e6);
        let count = task.count as f64;
        println!("{:.3} {:.3} {}", cpu / count, wall / count, received / task.count);
    }
}

/// Runs the task with requests that block, a thread for each that runs at once.
pub fn in_threads(task: &Task, get: impl Fn() -> Result<usize, Failure> + Sync) -> Result<(), Failure> {
    get()?;
    let start = Start::now();
    let received = std::thread::scope(|scope| {
        let share = |number: usize| {
            let get = &get;
            scope.spawn(move || (0..task.share(number)).map(|_| get()).sum::<Result<usize, Failure>>())
        };
        let shares: Vec<_> = (0..task.at_once).map(share).collect();
        shares.into_iter().map(|share| share.join().expect("no panic")).sum::<Result<usize, Failure>>()
    })?;
    start.end(task, received);
    Ok(())
}

/// Runs the task in one thread of tokio's.
#[cfg(feature = "tokio")]
pub async fn run<F>(task: &Task, get: impl Fn() -> F + Clone + 'static) -> Result<(), Failure>
where
    F: Future<Output = Result<usize, Failure>> + 'static,
{
    get().await?;
    let start = Start::now();
    let share = |number: usize| {
        let (get, count) = (get.clone(), task.share(number));
        tokio::task::spawn_local(async move {
            let mut received = 0;
            for _ in 0..count {
                received += get().await?;
            }
            Ok::<usize, Failure>(received)
        })
    };
    let shares: Vec<_> = (0..task.at_once).map(share).collect();
    let mut received = 0;
    for share in shares {
        received += share.await??;
    }
    start.end(task, received);
    Ok(())
}

/// Runs a future with tasks in one thread.
#[cfg(feature = "tokio")]
pub fn block_on<F: Future<Output = Result<(), Failure>>>(future: F) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, future)
}
