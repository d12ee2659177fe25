//! The HTTP connector of the crate [object_store](https://docs.rs/object_store) on Warmwire.
//!
//! object_store makes the requests of S3, Google Cloud Storage, Azure and plain HTTP servers: paths,
//! listings, signatures and retries are its own. [`WarmwireConnector`] lets it send them through the engine
//! of [`warmwire`]. Programs on object_store (DataFusion, Parquet, Delta Lake) then read through it, too.
//!
//! ```
//! # extern crate object_store_0_14 as object_store;
//! # fn main() -> object_store::Result<()> {
//! use object_store::http::HttpBuilder;
//! use warmwire_object_store::WarmwireConnector;
//!
//! let store = HttpBuilder::new()
//!     .with_url("https://data.example/")
//!     .with_http_connector(WarmwireConnector::new())
//!     .build()?;
//! # drop(store);
//! # Ok(())
//! # }
//! ```
//!
//! # Options
//!
//! object_store's `ClientOptions` are honoured, with these exceptions:
//!
//! - `http2_keep_alive_interval`, `http2_max_frame_size`, `pool_max_idle_per_host` and a DNS resolver of the
//!   program's own have no counterpart. A store that sets one of them is not built.
//! - Certificates of `ClientOptions::with_root_certificate` cannot be read by any connector, so they are not
//!   trusted: connecting fails. Add them by [`WarmwireConnector::configure`].
//! - Without `connect_timeout` the limit is five minutes.
//!
//! # Failures
//!
//! object_store retries by the kind of a failure. A request that was not sent fails by `Connect`, whatever
//! its method. One that was sent fails by `Timeout` or `Interrupted`, which are retried if the request is
//! idempotent. A refused certificate, URL or option is `Unknown` and not retried.
//!
//! # Features
//!
//! | feature | for |
//! |---|---|
//! | `object_store_0_14` (default) | object_store 0.14 |
//! | `object_store_0_13` | object_store 0.13 |

#![deny(missing_docs)]

#[cfg(not(any(feature = "object_store_0_13", feature = "object_store_0_14")))]
compile_error!("warmwire-object-store needs a feature: object_store_0_14 or object_store_0_13");

mod exchange;
mod failure;
mod options;
mod versions;

use std::fmt;
use std::sync::Arc;

use warmwire::ClientBuilder;

/// A change of a client that is being built.
type Change = Arc<dyn Fn(ClientBuilder) -> ClientBuilder + Send + Sync>;

/// Connects the stores of object_store through Warmwire: its trait `HttpConnector`. Each store has a client,
/// and so a pool of connections, of its own.
///
/// ```
/// # extern crate object_store_0_14 as object_store;
/// # fn main() -> object_store::Result<()> {
/// use object_store::{ClientOptions, aws::AmazonS3Builder};
/// use warmwire_object_store::WarmwireConnector;
///
/// let store = AmazonS3Builder::new()
///     .with_bucket_name("measurements")
///     .with_region("eu-central-1")
///     .with_client_options(ClientOptions::new().with_user_agent("reader/1".parse().unwrap()))
///     .with_http_connector(WarmwireConnector::new())
///     .build()?;
/// # drop(store);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct WarmwireConnector {
    changes: Vec<Change>,
}

impl WarmwireConnector {
    /// Creates a connector that follows the options of each store.
    pub fn new() -> WarmwireConnector {
        WarmwireConnector::default()
    }

    /// Changes each client after the options of its store: certificates of authorities, HTTP/3, a share of
    /// connections, and all else that [`ClientBuilder`] has.
    ///
    /// ```
    /// use warmwire_object_store::WarmwireConnector;
    /// let connector = WarmwireConnector::new().configure(|client| client.connections_per_host(16));
    /// ```
    pub fn configure(
        mut self,
        change: impl Fn(ClientBuilder) -> ClientBuilder + Send + Sync + 'static,
    ) -> WarmwireConnector {
        self.changes.push(Arc::new(change));
        self
    }
}

impl fmt::Debug for WarmwireConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WarmwireConnector").field("changes", &self.changes.len()).finish()
    }
}
