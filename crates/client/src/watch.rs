//! Watches URLs: polls them at a steady pace and hands over what has changed.
//!
//! A [`Watcher`] keeps a connection to each server. It asks in one round trip whether something has changed:
//! by MDTM and SIZE over FTP, by a conditional GET over HTTP, by the attributes of a file over SFTP.
//! Mailboxes (IMAP) and event streams (HTTP's `text/event-stream`) report by themselves. Connections that are
//! gone are opened before the next poll. A server that hangs or fails holds up no other one, and is
//! asked less often.
//!
//! ```no_run
//! use std::time::Duration;
//! use warmwire::watch::{EventKind, Watcher};
//!
//! let mut watcher = Watcher::builder(Duration::from_millis(200)).keep_contents(true).build();
//! watcher.add("ftp://a.example/status.txt")?;
//! watcher.add("https://b.example/feed.xml")?;
//! while let Some(event) = watcher.next_event(None)? {
//!     match event.kind {
//!         EventKind::First | EventKind::Changed => println!("{}: {:?}", event.index, event.body),
//!         kind => println!("{}: {}", event.index, kind.name()),
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A watcher stays on one thread and belongs to no executor. A program with an event loop waits for
//! [`descriptor`](Watcher::descriptor) and [`deadline`](Watcher::deadline), and calls
//! [`perform`](Watcher::perform).

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use engine::watch;

pub use engine::watch::{Event, EventKind, Stamp, Status, StreamEvent, Windows};

use crate::{Descriptor, Easy, Failure, Share};

/// Polls URLs and hands over what has changed.
pub struct Watcher(watch::Watcher);

/// A watcher under construction.
#[must_use]
pub struct WatcherBuilder(watch::WatcherBuilder);

impl WatcherBuilder {
    /// Sets how long a poll may take. The default is ten intervals, at least 5 and at most 60 seconds.
    pub fn deadline(self, deadline: Duration) -> WatcherBuilder {
        WatcherBuilder(self.0.deadline(deadline))
    }

    /// Sets whether events contain the new content. Then content decides whether something has changed, not
    /// time and size alone.
    pub fn keep_contents(self, on: bool) -> WatcherBuilder {
        WatcherBuilder(self.0.keep_contents(on))
    }

    /// Limits the size of a content, in bytes. A larger one is a failure. The default is 64 MiB.
    pub fn content_limit(self, bytes: usize) -> WatcherBuilder {
        WatcherBuilder(self.0.content_limit(bytes))
    }

    /// Limits the simultaneous polls of one server. The default is 4.
    pub fn polls_per_server(self, most: usize) -> WatcherBuilder {
        WatcherBuilder(self.0.polls_per_server(most))
    }

    /// Shares cookies and other data with the users of a share.
    pub fn share(self, share: Share) -> WatcherBuilder {
        WatcherBuilder(self.0.share(share))
    }

    /// Returns the watcher, which watches nothing yet.
    pub fn build(self) -> Watcher {
        Watcher(self.0.build())
    }
}

impl Watcher {
    /// Creates a watcher that polls each URL once in each interval.
    pub fn new(interval: Duration) -> Watcher {
        Watcher::builder(interval).build()
    }

    /// Creates a builder for a watcher that polls each URL once in each interval.
    pub fn builder(interval: Duration) -> WatcherBuilder {
        WatcherBuilder(watch::Watcher::builder(interval))
    }

    /// Watches a URL and returns its number, counted from 0. Redirects are followed.
    pub fn add(&mut self, url: &str) -> Result<usize, Failure> {
        self.0.add(url, None)
    }

    /// Watches a URL with the options of a handle, which is only read: login, TLS, proxy, header fields. The
    /// deadline of polls replaces [`EasyOption::TimeoutMs`](crate::EasyOption::TimeoutMs).
    pub fn add_like(&mut self, url: &str, like: &Easy) -> Result<usize, Failure> {
        self.0.add(url, Some(&like.0))
    }

    /// Returns the number of watched URLs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether no URL is watched.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the state of a URL. Fails on a number that [`add`](Self::add) has not returned.
    pub fn status(&self, index: usize) -> Option<Status<'_>> {
        self.0.status(index)
    }

    /// Waits for the next event, at most for `max`, and runs the polls meanwhile. Returns `None` when the
    /// time is over, and at once if no URL is watched.
    pub fn next_event(&mut self, max: Option<Duration>) -> io::Result<Option<Event>> {
        self.0.next_event(max)
    }

    /// Runs the polls that are due and what is ready. Never blocks.
    pub fn perform(&mut self) {
        self.0.perform();
    }

    /// Takes the next event that [`perform`](Self::perform) has found.
    pub fn take_event(&mut self) -> Option<Event> {
        self.0.take_event()
    }

    /// Waits until there is something to [`perform`](Self::perform), at most for `max`. A signal fails it
    /// with [`io::ErrorKind::Interrupted`].
    pub fn wait(&self, max: Duration) -> io::Result<()> {
        self.0.wait(max)
    }

    /// Returns a function that ends [`wait`](Self::wait) from any thread.
    pub fn waker(&self) -> impl Fn() + Send + Sync + 'static {
        self.0.waker()
    }

    /// Returns a descriptor that is readable when there is something to [`perform`](Self::perform).
    pub fn descriptor(&self) -> io::Result<Descriptor> {
        self.0.descriptor()
    }

    /// Returns when [`perform`](Self::perform) is due even if nothing is readable.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline()
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").field("urls", &self.len()).finish_non_exhaustive()
    }
}
