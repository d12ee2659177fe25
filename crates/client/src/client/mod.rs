//! Requests as futures, for any executor.
//!
//! A [`Client`] may be cloned and used by any task on any thread; it does not contain the engine. The engine
//! belongs to the client's [`Driver`], which stays on the thread where it runs: in a task of an event loop,
//! beside a future, or on its own thread.

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
pub use error::{Error, ErrorKind, RequestPhase};
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

/// Creates requests. Clones share one pool of connections and one driver.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

/// Creates a client with curl's defaults, and its driver.
pub fn client() -> (Client, Driver) {
    ClientBuilder::default().build()
}

impl Client {
    /// Creates a builder for a client with other defaults.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Creates a client whose driver runs on its own thread.
    pub fn on_thread() -> io::Result<Client> {
        ClientBuilder::default().on_thread()
    }

    /// Creates a request with any method. Methods are case-sensitive: those of HTTP are upper case. Protocols
    /// without methods download, or upload what [`put`](Self::put) would.
    pub fn request(&self, method: &str, url: &str) -> RequestBuilder {
        RequestBuilder::new(self.0.clone(), method, url)
    }

    /// Fetches a URL.
    pub fn get(&self, url: &str) -> RequestBuilder {
        self.request("GET", url)
    }

    /// Requests only the head.
    pub fn head(&self, url: &str) -> RequestBuilder {
        self.request("HEAD", url)
    }

    /// Sends data to a URL (POST).
    pub fn post(&self, url: &str) -> RequestBuilder {
        self.request("POST", url)
    }

    /// Stores data at a URL (PUT).
    pub fn put(&self, url: &str) -> RequestBuilder {
        self.request("PUT", url)
    }

    /// Modifies the resource at a URL (PATCH).
    pub fn patch(&self, url: &str) -> RequestBuilder {
        self.request("PATCH", url)
    }

    /// Deletes the resource at a URL (DELETE).
    pub fn delete(&self, url: &str) -> RequestBuilder {
        self.request("DELETE", url)
    }
}

/// Settings that all requests of a client share.
#[derive(Default)]
#[must_use]
pub struct ClientBuilder {
    options: Options,
    limits: Limits,
    share: Option<Share>,
}

settings!(ClientBuilder);

impl ClientBuilder {
    /// Limits the number of simultaneous connections; 0 is no limit. Requests beyond the limit wait.
    pub fn connections(mut self, most: usize) -> Self {
        self.limits.max_total = most;
        self
    }

    /// Limits the number of simultaneous connections to one host; 0 is no limit. Requests beyond the limit
    /// wait.
    pub fn connections_per_host(mut self, most: usize) -> Self {
        self.limits.max_host = most;
        self
    }

    /// Keeps cookies in memory from one request to the next.
    pub fn cookie_jar(mut self) -> Self {
        self.share.get_or_insert_default().set_kind(LockData::Cookie, true);
        self.option(EasyOption::Cookiefile, "")
    }

    /// Shares connections, names or cookies with other clients and handles, on any thread.
    pub fn share(mut self, share: Share) -> Self {
        self.share = Some(share);
        self
    }

    /// Returns the client and its driver. Requests make no progress until the driver runs.
    pub fn build(self) -> (Client, Driver) {
        let hub = Arc::<Hub>::default();
        let driver = Driver { post: Post(hub.clone()), limits: self.limits, share: self.share };
        (Client(Arc::new(Shared { hub, options: self.options })), driver)
    }

    /// Returns a client whose driver runs on its own thread, for executors with several threads and programs
    /// without an event loop. The thread ends with the last clone of the client.
    pub fn on_thread(self) -> io::Result<Client> {
        let (client, driver) = self.build();
        let thread = std::thread::Builder::new().name("warmwire".to_owned());
        thread.spawn(move || driver.run_blocking())?;
        Ok(client)
    }
}
