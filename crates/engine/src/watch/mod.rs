//! Watches URLs: polls them at a steady pace and hands over what has changed.
//!
//! A [`Watcher`] keeps a connection to each server. It asks in one round trip whether something has changed:
//! by MDTM and SIZE over FTP, by a conditional GET over HTTP, by the attributes of a file over SFTP.
//! Mailboxes (IMAP) and event streams (HTTP's `text/event-stream`) report by themselves. Connections that are
//! gone are opened before the next poll. A server that hangs or fails holds up no other one, and is
//! asked less often.
//!
//! A watcher stays on one thread and belongs to no executor. A program with an event loop waits for
//! [`descriptor`](Watcher::descriptor) and [`deadline`](Watcher::deadline), and calls
//! [`perform`](Watcher::perform).

mod detect;
mod event;
mod event_stream;
mod latency;
mod mailbox;
mod polls;
mod reception;
mod schedule;
mod target;

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::time::{Duration, Instant};

use crate::multi::Limits;
use crate::repeated_query::Answered;
use crate::{Descriptor, Multi};

pub use detect::Stamp;
pub use event::{Event, EventKind};
pub use event_stream::StreamEvent;
pub use schedule::Windows;

use crate::error::Failure;
use crate::{Easy, Share};
use reception::News;
use schedule::{Pace, Schedule};
use target::Target;

/// Largest content by default.
const CONTENT_LIMIT: usize = 64 << 20;
/// Shortest interval: a shorter one would only load servers.
const SHORTEST: Duration = Duration::from_millis(1);
/// Longest interval. The next poll must be a moment that the clock knows.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// Polls URLs and hands over what has changed.
pub struct Watcher {
    multi: Multi,
    share: Option<Share>,
    settings: Settings,
    schedule: Schedule,
    targets: Vec<Target>,
    servers: HashMap<String, usize>,
    news: News,
    answered: Answered,
    events: VecDeque<Event>,
    /// End of the last [`perform`](Watcher::perform).
    ran_at: Instant,
}

#[derive(Clone, Copy)]
struct Settings {
    keeps_contents: bool,
    content_limit: usize,
}

/// A watcher under construction.
#[must_use]
pub struct WatcherBuilder {
    pace: Pace,
    share: Option<Share>,
    settings: Settings,
}

impl WatcherBuilder {
    /// Sets how long a poll may take. The default is ten intervals, at least 5 and at most 60 seconds.
    pub fn deadline(mut self, deadline: Duration) -> WatcherBuilder {
        self.pace.deadline = deadline.clamp(SHORTEST, LONGEST);
        self
    }

    /// Sets whether events contain the new content. Then content decides whether something has changed, not
    /// time and size alone.
    pub fn keep_contents(mut self, on: bool) -> WatcherBuilder {
        self.settings.keeps_contents = on;
        self
    }

    /// Limits the size of a content, in bytes. A larger one is a failure. The default is 64 MiB.
    pub fn content_limit(mut self, bytes: usize) -> WatcherBuilder {
        self.settings.content_limit = bytes;
        self
    }

    /// Limits the simultaneous polls of one server. The default is 4.
    pub fn polls_per_server(mut self, most: usize) -> WatcherBuilder {
        self.pace.per_server = most.max(1);
        self
    }

    /// Shares cookies and other data with the users of a share.
    pub fn share(mut self, share: Share) -> WatcherBuilder {
        self.share = Some(share);
        self
    }

    /// Returns the watcher, which watches nothing yet.
    pub fn build(self) -> Watcher {
        let seed = RandomState::new().hash_one(0);
        Watcher {
            multi: Multi::default(),
            share: self.share,
            settings: self.settings,
            schedule: Schedule::new(self.pace, seed),
            targets: Vec::new(),
            servers: HashMap::new(),
            news: News::default(),
            answered: Answered::default(),
            events: VecDeque::new(),
            ran_at: Instant::now(),
        }
    }
}

/// The state of a watched URL.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status<'a> {
    /// The URL.
    pub url: &'a str,
    /// Whether the file exists; `None` before the first answer.
    pub exists: Option<bool>,
    /// Whether the server reports news by itself now.
    pub streams: bool,
    /// Time since the last answer.
    pub age: Option<Duration>,
    /// Time since the last change.
    pub since_change: Option<Duration>,
    /// The intervals that have ended, with and without an answer in time.
    pub windows: Windows,
    /// Half of the last thousand polls took at most so long.
    pub p50: Option<Duration>,
    /// 99 of 100 of them took at most so long.
    pub p99: Option<Duration>,
    /// The error of the last poll, if it failed.
    pub failure: Option<&'a Failure>,
}

impl Watcher {
    /// Creates a watcher that polls each URL once in each interval.
    pub fn new(interval: Duration) -> Watcher {
        Watcher::builder(interval).build()
    }

    /// Creates a builder for a watcher that polls each URL once in each interval.
    pub fn builder(interval: Duration) -> WatcherBuilder {
        WatcherBuilder {
            pace: Pace::new(interval.clamp(SHORTEST, LONGEST)),
            share: None,
            settings: Settings { keeps_contents: false, content_limit: CONTENT_LIMIT },
        }
    }

    /// Watches a URL and returns its number, counted from 0. `like` has the options: login, TLS, proxy,
    /// header fields. It is only read. Without it there are the defaults, and redirects are followed. The
    /// deadline of polls replaces CURLOPT_TIMEOUT_MS.
    pub fn add(&mut self, url: &str, like: Option<&Easy>) -> Result<usize, Failure> {
        let number = self.targets.len();
        let target = Target::new(number, url, like, self.settings.content_limit, &self.news, &self.answered)?;
        target.easy.set_share(self.share.clone());
        target.adapt_to(self.schedule.pace().interval);
        let next = self.servers.len();
        let server = *self.servers.entry(target.server.clone()).or_insert(next);
        self.schedule.add(server, Instant::now());
        self.targets.push(target);
        // Every URL keeps its connection between polls.
        let kept = self.targets.len() * 2 + 8;
        self.multi.set_limits(Limits { max_connects: kept, ..self.multi.limits() });
        Ok(number)
    }

    /// Returns the number of watched URLs.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns whether no URL is watched.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Returns the state of a URL. Fails on a number that [`add`](Self::add) has not returned.
    pub fn status(&self, index: usize) -> Option<Status<'_>> {
        let (target, now) = (self.targets.get(index)?, Instant::now());
        let since = |at: Option<Instant>| at.map(|at| now.saturating_duration_since(at));
        let quantiles = target.latencies.quantiles([0.5, 0.99]);
        Some(Status {
            url: &target.url,
            exists: target.detector.is_present(),
            streams: self.schedule.is_streaming(index),
            age: since(target.answered_at),
            since_change: since(target.changed_at),
            windows: self.schedule.windows(index, now),
            p50: quantiles.map(|[p50, _]| p50),
            p99: quantiles.map(|[_, p99]| p99),
            failure: target.failure.as_ref(),
        })
    }

    /// Waits for the next event, at most for `max`, and runs the polls meanwhile. Returns `None` when the
    /// time is over, and at once if no URL is watched.
    pub fn next_event(&mut self, max: Option<Duration>) -> io::Result<Option<Event>> {
        let until = max.map(|max| Instant::now() + max.min(LONGEST));
        loop {
            self.perform();
            if let Some(event) = self.take_event() {
                return Ok(Some(event));
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if self.is_empty() || left == Some(Duration::ZERO) {
                return Ok(None);
            }
            self.wait(left.unwrap_or(LONGEST))?;
        }
    }

    /// Runs the polls that are due and what is ready. Never blocks.
    pub fn perform(&mut self) {
        self.run();
    }

    /// Takes the next event that [`perform`](Self::perform) has found.
    pub fn take_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Waits until there is something to [`perform`](Self::perform), at most for `max`. A signal fails it
    /// with [`io::ErrorKind::Interrupted`].
    pub fn wait(&self, max: Duration) -> io::Result<()> {
        // A wake-up for each answer costs more than the answer: those of a moment are read together.
        let now = Instant::now();
        let quiet = match self.schedule.is_running() {
            true => (self.ran_at + self.schedule.pace().slack()).saturating_duration_since(now).min(max),
            false => Duration::ZERO,
        };
        if !quiet.is_zero() {
            std::thread::sleep(quiet);
        }
        let due = self.schedule.wakes_at().map(|at| at.saturating_duration_since(now + quiet));
        let max = max - quiet;
        self.multi.wait(&mut [], due.map_or(max, |due| due.min(max)), true).map(drop)
    }

    /// Returns a function that ends [`wait`](Self::wait) from any thread.
    pub fn waker(&self) -> impl Fn() + Send + Sync + 'static {
        self.multi.waker()
    }

    /// Returns a descriptor that is readable when there is something to [`perform`](Self::perform).
    pub fn descriptor(&self) -> io::Result<Descriptor> {
        self.multi.descriptor()
    }

    /// Returns when [`perform`](Self::perform) is due even if nothing is readable.
    pub fn deadline(&self) -> Option<Instant> {
        self.multi.deadline().into_iter().chain(self.schedule.wakes_at()).min()
    }
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watcher").field("urls", &self.targets.len()).finish_non_exhaustive()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.multi.close();
        self.targets.iter().for_each(|target| target.easy.close());
    }
}
