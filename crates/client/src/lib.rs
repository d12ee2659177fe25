//! The Rust API of Warmwire: everything that curl can fetch, from blocking programs and from futures.
//!
//! Options, infos and codes are curl's: [`EasyOption`], [`Info`] and [`Code`]. There are three ways in.
//!
//! # One transfer at a time
//!
//! [`get`] and [`Handle`] block: set options, give closures, perform.
//!
//! ```no_run
//! let mut handle = warmwire::Handle::new();
//! handle.set(warmwire::EasyOption::Url, "https://example.com/").unwrap();
//! let reply = handle.fetch().unwrap();
//! println!("{} {}", reply.status, reply.body.len());
//! ```
//!
//! # Futures
//!
//! A [`Client`] makes requests whose futures any executor polls. It brings no runtime: its [`Driver`] runs
//! the transfers in whatever event loop the program has, by one descriptor and one timer. `Tokio` and
//! `AsyncIo` are such loops, behind the features `tokio` and `async-io`; the trait [`EventLoop`] makes others
//! of a few lines.
//!
//! ```no_run
//! # #[cfg(feature = "tokio")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! let (client, driver) = warmwire::client();
//! runtime.block_on(driver.run_until(warmwire::Tokio, async {
//!     let reply = client.get("https://example.com/").redirects(10).send().await?;
//!     println!("{} {}", reply.status(), reply.text().await?.len());
//!     Ok(())
//! }))
//! # }
//! # #[cfg(not(feature = "tokio"))]
//! # fn main() {}
//! ```
//!
//! The engine of a client belongs to one thread, its driver's: it counts without atomics and locks nothing.
//! `Client`, requests and replies go anywhere (`Send`). So there are three places for a driver:
//!
//! - [`Driver::run_until`] runs it beside a future, in the same task: nothing is spawned, and nothing crosses
//!   threads.
//! - [`Driver::run`] is a task of its own on a thread's executor (`tokio::task::spawn_local`,
//!   `LocalExecutor`, a current-thread runtime).
//! - [`Client::on_thread`] gives it a thread: for tokio's multi-threaded runtime, whose tasks move between
//!   threads, and for executors without an event loop. No feature is needed, and a request costs two wake-ups
//!   across threads more.
//!
//! A future or a [`Response`] that is dropped breaks its transfer off at once: the connection is closed, or
//! the stream reset. Bodies are streamed both ways and hold the other side to the pace of whoever takes or
//! gives ([`Response::chunk`], [`Body::stream`]). An [`Error`] has a kind to decide by, curl's code and
//! words, and how far the request came ([`Reached`]).
//!
//! # An event loop of one's own
//!
//! [`Easy`], [`Multi`] and [`Callbacks`] are curl's easy and multi handles; [`transfers`] has many transfers
//! at a time behind one descriptor.
//!
//! # When to take this, and when reqwest
//!
//! Take this crate for what curl is taken for: FTP, SFTP, SCP, mail, LDAP, MQTT and file URLs beside HTTP/1
//! to 3; proxies of every kind, SOCKS with log-in and Kerberos; Digest, NTLM, Negotiate and signatures; every
//! option of curl's by its name ([`RequestBuilder::option`]); behaviour that agrees with the command line,
//! where a request was tried before; limits of connections per host that requests wait for; and a client that
//! is not tied to tokio.
//!
//! Take [reqwest](https://docs.rs/reqwest) where HTTP is all there is, in a program of tokio's many threads:
//! its connections are driven by any of them, while here one thread carries all transfers of a client
//! (several clients, which may have one [`Share`], carry more). It speaks the types of the `http` crate and
//! tower's layers, runs in browsers (WASM), on Windows and macOS, and is at home in the ecosystem; this crate
//! runs on Linux alone and has types of its own. Whoever needs a server as well, takes hyper anyway.

mod client;
mod easy;
mod form;
mod handle;
mod info;
mod multi;
pub mod transfers;
mod value;

#[cfg(all(unix, feature = "async-io"))]
pub use client::AsyncIo;
#[cfg(all(unix, feature = "tokio"))]
pub use client::Tokio;
pub use client::{
    Body, Client, ClientBuilder, Driver, Error, ErrorKind, EventLoop, Fields, HttpVersion, Metrics,
    Multipart, Reached, RequestBuilder, Response, Version, Watch, client,
};
pub use easy::{Easy, ExportedSession, OptionSet};
pub use engine::callbacks::Callbacks;
pub use engine::easy::number_transfers_anew;
pub use engine::info::Fact;
pub use engine::multi::Limits;
#[doc(hidden)]
pub use engine::process_pool;
pub use engine::share::Locks;
pub use engine::stores::headers::{Field, Headers, Origin};
#[doc(hidden)]
pub use engine::sys::is_device;
pub use engine::{
    Descriptor, ExtraFd, Share, after_fork_in_child, engines_of_openssl, fork_generation, has_openssl,
    speak_tls_by_openssl,
};
pub use form::{Form, FormSource};
pub use handle::{Failure, Handle, Reply, get};
pub use info::TransferInfo;
pub use multi::{Message, Multi};
pub use tables::share::LockData;
pub use tables::{ArgKind, Code, EasyOption, Info, InfoKind, MultiCode, constant};
pub use value::{PlainValue, Value};
pub use wire::date::parse as parse_date;

/// The trait of an application's callbacks, and what they are given and return.
pub mod callbacks {
    pub use engine::callbacks::{
        Asked, Callbacks, ChunkAnswer, CloseHook, Configured, DebugKind, Endpoints, FileInfo, HostKey,
        HostMatch, HostVerdict, HstsAnswer, HstsEntry, Instead, MatchAnswer, Opened, Prior, ProgressCounts,
        Purpose, ReadAnswer, SeekAnswer, SocketCallbacks, Stored, Target, Transport, Written,
    };
}

/// Multipart forms.
pub mod mime {
    pub use wire::mime::{Content, Encoder, Escape, Part};
}

/// URLs as curl reads them.
pub mod url {
    pub use wire::url::{Part, Url, UrlError, flag};
}

/// The progress meter of the command line tool.
#[doc(hidden)]
pub use engine::meter;
/// Base64, for the command line tool.
#[doc(hidden)]
pub use wire::base64;
/// The rules of an HTTP cache (RFC 9111), for the command line tool.
#[doc(hidden)]
pub use wire::cache as http_cache;
/// Hexadecimal digits, for the command line tool.
#[doc(hidden)]
pub use wire::hex;

/// The version of curl whose behaviour this is.
pub const CURL_VERSION: &str = tables::version::CURL;

/// Returns curl_version(3): what the library is made of.
pub fn version_line() -> String {
    tables::version_line(tables::version::AS_OPENSSL)
}

/// Returns the schemes that are built, in alphabetic order.
pub fn schemes() -> Vec<&'static str> {
    tables::Scheme::built_names()
}

/// Returns the schemes that `curl -V` lists, sorted: also those that the tool fetches by a gateway.
#[doc(hidden)]
pub fn listed_schemes() -> Vec<&'static str> {
    tables::Scheme::listed_names()
}

/// Returns the features that are built, as curl names them.
pub fn features() -> Vec<&'static str> {
    tables::feature::built_names().collect()
}
