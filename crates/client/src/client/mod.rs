//! Requests as futures, for any executor.
//!
//! A [`Client`] may be cloned and used by any task on any thread; it holds no engine. The engine of its
//! transfers belongs to its [`Driver`], which stays on the thread where it runs: in a task of an event loop,
//! beside a future, or on a thread of its own.

mod body;
mod call;
mod driver;
mod error;
mod event_loop;
mod head;
mod hub;
mod metrics;
mod multipart;
mod options;
mod request;
mod response;
mod running;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use engine::Share;
use engine::multi::Limits;
use tables::EasyOption;
use tables::share::LockData;

pub use body::Body;
pub use driver::Driver;
pub use error::{Error, ErrorKind, Reached};
pub use event_loop::{EventLoop, Watch};
pub use head::{Fields, Version};
pub use metrics::Metrics;
pub use multipart::Multipart;
pub use options::HttpVersion;
pub use request::RequestBuilder;
pub use response::Response;

#[cfg(all(unix, feature = "async-io"))]
pub use event_loop::AsyncIo;
#[cfg(all(unix, feature = "tokio"))]
pub use event_loop::Tokio;

use crate::PlainValue;
use hub::{Hub, Post, Shared};
use options::{Options, milliseconds, settings};

/// Where requests begin. Clones are the same client: one pool of connections, one driver.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

/// A client with curl's defaults, and its driver.
pub fn client() -> (Client, Driver) {
    ClientBuilder::default().build()
}

impl Client {
    /// A client with other defaults.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// A client whose driver has a thread of its own.
    pub fn on_thread() -> io::Result<Client> {
        ClientBuilder::default().on_thread()
    }

    /// A request by any method. Methods are as they are written: HTTP's are in upper case. Protocols without
    /// methods fetch, or send what [`put`](Self::put) is given.
    pub fn request(&self, method: &str, url: &str) -> RequestBuilder {
        RequestBuilder::new(self.0.clone(), method, url)
    }

    /// Fetches a URL.
    pub fn get(&self, url: &str) -> RequestBuilder {
        self.request("GET", url)
    }

    /// Asks for a head alone.
    pub fn head(&self, url: &str) -> RequestBuilder {
        self.request("HEAD", url)
    }

    /// Sends something to a URL.
    pub fn post(&self, url: &str) -> RequestBuilder {
        self.request("POST", url)
    }

    /// Puts something at a URL.
    pub fn put(&self, url: &str) -> RequestBuilder {
        self.request("PUT", url)
    }

    /// Changes what is at a URL.
    pub fn patch(&self, url: &str) -> RequestBuilder {
        self.request("PATCH", url)
    }

    /// Deletes what is at a URL.
    pub fn delete(&self, url: &str) -> RequestBuilder {
        self.request("DELETE", url)
    }
}

/// What all requests of a client have in common.
#[derive(Default)]
#[must_use]
pub struct ClientBuilder {
    options: Options,
    limits: Limits,
    share: Option<Share>,
}

settings!(ClientBuilder);

impl ClientBuilder {
    /// How many connections there may be at once in all; 0 is any number. Requests wait for their turn.
    pub fn connections(mut self, most: usize) -> Self {
        self.limits.max_total = most;
        self
    }

    /// How many connections there may be at once to one host; 0 is any number. Requests wait for their turn.
    pub fn connections_per_host(mut self, most: usize) -> Self {
        self.limits.max_host = most;
        self
    }

    /// Keeps cookies, in memory, from one request to the next.
    pub fn cookie_jar(mut self) -> Self {
        self.share.get_or_insert_default().set_kind(LockData::Cookie, true);
        self.option(EasyOption::Cookiefile, "")
    }

    /// What is shared with other clients and handles, on any threads: connections, names, cookies.
    pub fn share(mut self, share: Share) -> Self {
        self.share = Some(share);
        self
    }

    /// The client and its driver. Requests do not move before that runs.
    pub fn build(self) -> (Client, Driver) {
        let hub = Arc::<Hub>::default();
        let driver = Driver { post: Post(hub.clone()), limits: self.limits, share: self.share };
        (Client(Arc::new(Shared { hub, options: self.options })), driver)
    }

    /// A client whose driver has a thread of its own: for executors with several threads, and those without
    /// an event loop. It ends with the last clone of the client.
    pub fn on_thread(self) -> io::Result<Client> {
        let (client, driver) = self.build();
        let thread = std::thread::Builder::new().name("warmwire".to_owned());
        thread.spawn(move || driver.run_blocking())?;
        Ok(client)
    }
}
