//! Requests as futures, for any executor.
//!
//! A [`Client`] may be cloned and used by any task on any thread; it does not contain the engine. The engine
//! belongs to the client's [`Driver`], which stays on the thread where it runs: on its own thread, in a task
//! of an event loop, or beside a future.

pub(crate) mod body;
mod call;
pub(crate) mod config;
pub(crate) mod cookie;
#[cfg(feature = "download")]
pub(crate) mod download;
mod driver;
mod error;
mod event_loop;
#[cfg(any(feature = "ftp", feature = "ssh"))]
pub(crate) mod files;
mod head;
mod hub;
#[cfg(feature = "mail")]
pub(crate) mod mail;
pub mod multipart;
mod options;
pub(crate) mod proxy;
pub mod redirect;
pub(crate) mod request;
pub(crate) mod response;
mod running;
#[cfg(any(feature = "ftp", feature = "mail", feature = "ssh"))]
pub(crate) mod session;
mod timings;
pub mod tls;
#[cfg(feature = "tower")]
mod tower;
pub mod websocket;

use std::sync::Arc;

pub use body::Body;
pub use cookie::Cookie;
pub use driver::Driver;
pub use error::{Error, ErrorKind, RequestPhase};
pub use event_loop::{EventLoop, Watch};
pub use proxy::{NoProxy, Proxy};
pub use request::Request;
pub use response::Response;
pub use timings::Timings;

#[cfg(all(unix, feature = "async-io"))]
pub use event_loop::AsyncIo;
#[cfg(all(unix, feature = "tokio"))]
pub use event_loop::Tokio;

use crate::IntoUrl;
use config::Config;
use head::Head;
use hub::{Hub, Shared};
use running::Running;

/// Creates requests, whose futures any executor polls. Clones share one pool of connections and one driver.
///
/// The driver runs on a thread that starts with the first request and ends with the last clone of the client
/// and its last response. [`ClientBuilder::build_with_driver`] returns the driver instead.
///
/// ```no_run
/// # async fn run() -> Result<(), warmwire::Error> {
/// let client = warmwire::Client::new();
/// let response = client.get("https://example.com/").header("accept", "text/html").send().await?;
/// println!("{}", response.error_for_status()?.text().await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client(Arc<Shared>);

/// Fetches a URL with a client of its own. A program with more than one request creates a [`Client`], which
/// keeps connections open.
///
/// ```no_run
/// # async fn run() -> Result<(), warmwire::Error> {
/// let text = warmwire::get("https://example.com/").await?.text().await?;
/// # Ok(())
/// # }
/// ```
pub async fn get(url: impl IntoUrl) -> Result<Response, Error> {
    Client::new().get(url).send().await
}

/// Defines the methods of a client that create requests.
macro_rules! client_verbs {
    ($client:ident, $request:ident) => {
        impl $client {
            /// Fetches a URL (GET).
            pub fn get(&self, url: impl IntoUrl) -> $request {
                self.request(Method::GET, url)
            }

            /// Requests only the head (HEAD).
            pub fn head(&self, url: impl IntoUrl) -> $request {
                self.request(Method::HEAD, url)
            }

            /// Sends data to a URL (POST).
            pub fn post(&self, url: impl IntoUrl) -> $request {
                self.request(Method::POST, url)
            }

            /// Stores data at a URL (PUT).
            pub fn put(&self, url: impl IntoUrl) -> $request {
                self.request(Method::PUT, url)
            }

            /// Modifies the resource at a URL (PATCH).
            pub fn patch(&self, url: impl IntoUrl) -> $request {
                self.request(Method::PATCH, url)
            }

            /// Deletes the resource at a URL (DELETE).
            pub fn delete(&self, url: impl IntoUrl) -> $request {
                self.request(Method::DELETE, url)
            }

            /// Creates a request with any method. Protocols without methods download, or upload what
            /// [`put`](Self::put) would.
            pub fn request(&self, method: Method, url: impl IntoUrl) -> $request {
                $request { client: self.clone(), request: Request::to(method, url) }
            }
        }

        impl Default for $client {
            fn default() -> $client {
                $client::new()
            }
        }
    };
}

pub(crate) use client_verbs;

impl Client {
    /// Creates a client with the defaults.
    pub fn new() -> Client {
        let config = Config::default().finish().expect("the defaults contradict nothing");
        Client::on_thread(config)
    }

    /// Creates a builder for a client with other defaults.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// Sends a request and returns the response when its head has been received, whatever its status.
    /// Dropping the future aborts the transfer: the connection is closed, or its stream reset.
    pub async fn execute(&self, request: Request) -> Result<Response, Error> {
        let (head, running) = self.begin(request).await?;
        Ok(Response::new(head, running))
    }

    /// Sends a request and waits for its head.
    async fn begin(&self, request: Request) -> Result<(Head, Running), Error> {
        let (prepared, source) = request.prepare(&self.0)?;
        let mut running = Running::start(self.0.clone(), prepared, source);
        let head = std::future::poll_fn(|cx| running.poll_head(cx)).await?;
        Ok((head, running))
    }

    /// Downloads a file: over several connections, from several places, resumed and verified.
    #[cfg(feature = "download")]
    pub fn download(&self, url: impl IntoUrl) -> crate::Download {
        crate::Download::new(self.0.clone(), url)
    }

    /// Returns a builder of a request that was built before.
    pub(crate) fn resume(&self, request: Request) -> RequestBuilder {
        RequestBuilder { client: self.clone(), request: Ok(request) }
    }

    /// Creates a client whose driver gets its thread with the first request.
    fn on_thread(mut config: Config) -> Client {
        let hub = Arc::<Hub>::default();
        let stores = (config.share.clone(), config.pool);
        let driver = Driver::of(&hub, &mut config);
        let start = Box::new(move || {
            let thread = std::thread::Builder::new().name("warmwire".to_owned());
            thread.spawn(move || driver.run_blocking()).map(drop)
        });
        Client(Arc::new(Shared::new(hub, config, stores, Some(start))))
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// A client under construction.
///
/// ```
/// use std::time::Duration;
/// let client = warmwire::Client::builder()
///     .user_agent("my-program/1.0")
///     .timeout(Duration::from_secs(30))
///     .connections_per_host(6)
///     .cookie_store(true)
///     .build()?;
/// # Ok::<(), warmwire::Error>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct ClientBuilder {
    pub(crate) config: Config,
}

impl ClientBuilder {
    /// Creates a builder with the defaults.
    pub fn new() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Returns the client, or the first invalid setting. Its driver runs on a thread that starts with the
    /// first request.
    pub fn build(self) -> Result<Client, Error> {
        Ok(Client::on_thread(self.config.finish()?))
    }

    /// Returns the client and its driver, for programs that run the driver themselves. Requests make no
    /// progress until it runs.
    pub fn build_with_driver(self) -> Result<(Client, Driver), Error> {
        let mut config = self.config.finish()?;
        let hub = Arc::<Hub>::default();
        let stores = (config.share.clone(), config.pool);
        let driver = Driver::of(&hub, &mut config);
        Ok((Client(Arc::new(Shared::new(hub, config, stores, None))), driver))
    }
}

/// A request under construction. Nothing happens until it is [sent](Self::send).
#[must_use = "a request does nothing before it is sent"]
pub struct RequestBuilder {
    client: Client,
    request: Result<Request, Error>,
}

impl RequestBuilder {
    /// Sends the request and returns the response when its head has been received, whatever its status.
    /// Dropping the future aborts the transfer: the connection is closed, or its stream reset.
    pub async fn send(self) -> Result<Response, Error> {
        self.client.execute(self.request?).await
    }

    /// Returns the client and the request, or the error of the first invalid value.
    fn into_parts(self) -> Result<(Client, Request), Error> {
        Ok((self.client, self.request?))
    }
}

mod methods {
    use super::request::names::*;
    use super::{Client, RequestBuilder};
    use crate::IntoUrl;
    use http::Method;

    client_verbs!(Client, RequestBuilder);
    super::request::request_settings!(RequestBuilder);
}

mod settings {
    use super::ClientBuilder;
    use super::config::names::*;

    super::config::client_settings!(ClientBuilder);
}
