//! Requests that wait: the vocabulary of [`Client`](crate::Client) without futures.
//!
//! A [`Client`] may be cloned and used from any thread. The thread that waits in a call runs all transfers
//! of the client meanwhile. There is no time limit by default.
//!
//! ```no_run
//! let body = warmwire::blocking::get("https://example.com/")?.text()?;
//! # Ok::<(), warmwire::Error>(())
//! ```

mod base;
#[cfg(feature = "download")]
mod download;
mod response;
mod wait;

pub use crate::client::Body;
pub use crate::client::Request;
pub use crate::client::multipart;
#[cfg(feature = "download")]
pub use download::Download;
pub use response::Response;
#[cfg(any(feature = "ftp", feature = "ssh"))]
pub use sessions::Files;
#[cfg(feature = "mail")]
pub use sessions::{Imap, Smtp};
#[cfg(feature = "download")]
pub use upload::Upload;

use crate::client::config::Config;
use crate::{Error, IntoUrl};
pub(crate) use wait::wait;
pub use websocket::WebSocket;

/// Creates requests that wait. Clones share one pool of connections.
///
/// ```no_run
/// let client = warmwire::blocking::Client::new();
/// let response = client.post("https://example.com/").form(&[("name", "value")]).send()?;
/// println!("{}", response.error_for_status()?.text()?);
/// # Ok::<(), warmwire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Client(crate::Client);

/// Fetches a URL with a client of its own. A program with more than one request creates a [`Client`], which
/// keeps connections open.
pub fn get(url: impl IntoUrl) -> Result<Response, Error> {
    Client::new().get(url).send()
}

/// A client under construction.
///
/// ```
/// use warmwire::redirect::Policy;
/// let client = warmwire::blocking::Client::builder().redirect(Policy::none()).build()?;
/// # Ok::<(), warmwire::Error>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct ClientBuilder {
    config: Config,
}

/// A request under construction. Nothing happens until it is [sent](Self::send).
///
/// ```no_run
/// # let client = warmwire::blocking::Client::new();
/// let request = client.put("https://example.com/report").body("Nothing new.");
/// println!("{}", request.basic_auth("user", Some("password")).send()?.status());
/// # Ok::<(), warmwire::Error>(())
/// ```
#[must_use = "a request does nothing before it is sent"]
pub struct RequestBuilder {
    client: Client,
    request: Result<Request, Error>,
}

mod methods {
    use super::{Client, RequestBuilder};
    use crate::IntoUrl;
    use crate::client::request::names::*;
    use http::Method;

    crate::client::client_verbs!(Client, RequestBuilder);
    crate::client::request::request_settings!(RequestBuilder);
}

mod settings {
    use super::ClientBuilder;
    use crate::client::config::names::*;

    crate::client::config::client_settings!(ClientBuilder);
}

// Behind the methods above, in the documentation, too.
#[cfg(any(feature = "ftp", feature = "mail", feature = "ssh"))]
mod sessions;
#[cfg(feature = "download")]
mod upload;
mod websocket;
