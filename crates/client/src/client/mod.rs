//! Requests as futures, for any executor.
//!
//! A [`Client`] may be cloned and used by any task on any thread; it does not contain the engine. The engine
//! belongs to the client's [`Driver`], which the program runs in a task or on a thread. Without one the
//! engine is at the client's [`Host`](host::Host), and a thread or task that waits runs it.

mod base;
pub(crate) mod body;
mod call;
pub(crate) mod config;
pub(crate) mod cookie;
#[cfg(feature = "download")]
pub(crate) mod download;
mod driver;
mod error;
mod event_loop;
#[cfg(feature = "download")]
mod file_request;
#[cfg(feature = "download")]
pub(crate) mod file_transfer;
mod head;
pub(crate) mod host;
mod hub;
mod leadership;
mod movable;
pub mod multipart;
mod options;
pub(crate) mod proxy;
pub mod redirect;
pub(crate) mod request;
pub(crate) mod response;
mod running;
#[cfg(any(feature = "ftp", feature = "mail", feature = "ssh"))]
pub(crate) mod session;
mod shared;
#[cfg(feature = "download")]
mod task;
mod timings;
pub mod tls;
#[cfg(feature = "tower")]
mod tower;
#[cfg(feature = "download")]
pub(crate) mod upload;
mod whole_body;

use std::sync::Arc;

pub use body::Body;
pub use cookie::Cookie;
pub use driver::Driver;
pub use error::{Error, ErrorKind, RequestPhase};
pub use event_loop::{EventLoop, Watch};
pub use head::Informational;
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
use shared::Shared;

/// Creates requests, whose futures any executor polls. Clones share one pool of connections and one driver.
///
/// The engine runs in a task of tokio's current-thread runtime or on a background thread, from the first
/// request to the last clone of the client and its last response. [`ClientBuilder::build_with_driver`]
/// returns its driver instead.
///
/// ```no_run
/// # async fn run() -> Result<(), warmwire::Error> {
/// let client = warmwire::Client::new();
/// let request = client.get("https://example.com/").header("accept", "text/html");
/// let response = request.send().await?.error_for_status()?;
/// println!("{}", response.text().await?);
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

/// A request under construction. Nothing happens until it is [sent](Self::send).
///
/// ```no_run
/// # async fn run(client: warmwire::Client) -> Result<(), warmwire::Error> {
/// let response = client
///     .post("https://example.com/orders")
///     .bearer_auth("token")
///     .form(&[("item", "7"), ("count", "1")])
///     .send()
///     .await?;
/// println!("{}", response.status());
/// # Ok(())
/// # }
/// ```
#[must_use = "a request does nothing before it is sent"]
pub struct RequestBuilder {
    client: Client,
    request: Result<Request, Error>,
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

// Behind the methods above, in the documentation, too.
#[cfg(any(feature = "ftp", feature = "ssh"))]
pub(crate) mod files;
#[cfg(feature = "mail")]
pub(crate) mod mail;
pub mod websocket;
