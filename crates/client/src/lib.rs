//! The Rust API of Warmwire: everything that curl can fetch, from blocking programs and from futures.
//!
//! Options, infos and codes are curl's: [`EasyOption`], [`Info`] and [`Code`]. There are three interfaces.
//!
//! # One transfer at a time
//!
//! [`get`] and [`Handle`] block: set options and closures, then perform.
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
//! the transfers in the program's own event loop and needs one descriptor and one timer from it. `Tokio` and
//! `AsyncIo` are event loops, behind the features `tokio` and `async-io`. Others take a few lines: implement
//! [`EventLoop`].
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
//! The engine of a client belongs to the thread of its driver: it uses no atomic counters and no locks.
//! `Client`, requests and responses are `Send`. A driver can run in three places:
//!
//! - [`Driver::run_until`] runs it beside a future, in the same task. Nothing is spawned, and nothing crosses
//!   threads.
//! - [`Driver::run`] is a task of its own on a thread's executor (`tokio::task::spawn_local`,
//!   `LocalExecutor`, a current-thread runtime).
//! - [`Client::on_thread`] starts a thread for it. Use it with tokio's multi-threaded runtime, whose tasks
//!   move between threads, and with executors that have no event loop. It needs no feature. Each request
//!   costs two more wake-ups across threads.
//!
//! Dropping a future or a [`Response`] aborts its transfer at once: the connection is closed, or the stream
//! reset. Bodies are streamed in both directions, and a slow reader slows the sender down
//! ([`Response::chunk`], [`Body::stream`]). An [`Error`] has a kind to match on, curl's code and message, and
//! how far the request got ([`RequestPhase`]).
//!
//! # Your own event loop
//!
//! [`Easy`], [`Multi`] and [`Callbacks`] are curl's easy and multi handles. [`transfers`] runs many transfers
//! behind one descriptor.
//!
//! # This crate or reqwest
//!
//! Choose this crate for what curl is used for: FTP, SFTP, SCP, mail, LDAP, MQTT and file URLs beside HTTP/1
//! to 3; proxies of every kind, SOCKS with login and Kerberos; Digest, NTLM, Negotiate and signatures; every
//! option of curl's by its name ([`RequestBuilder::option`]); the same behaviour as the command line, where a
//! request was tried first; limits of connections per host; and a client that is not tied to tokio.
//!
//! Choose [reqwest](https://docs.rs/reqwest) if you only need HTTP, in a program with tokio's multi-threaded
//! runtime. Any of the runtime's threads drives its connections, while here one thread carries all transfers
//! of a client (several clients can share one [`Share`] and carry more). reqwest uses the types of the `http`
//! crate and tower's layers, runs in browsers (WASM) and on macOS, and fits the ecosystem; this crate runs on
//! Linux, and on Windows without `Tokio` and `AsyncIo`, and has its own types. If you need a server as well,
//! you need hyper anyway.

mod client;
mod easy;
mod form;
mod handle;
mod info;
mod multi;
pub mod transfers;
mod value;
mod why;

#[cfg(all(unix, feature = "async-io"))]
pub use client::AsyncIo;
#[cfg(all(unix, feature = "tokio"))]
pub use client::Tokio;
pub use client::{
    Body, Client, ClientBuilder, Driver, Error, ErrorKind, EventLoop, Fields, HttpVersion, Metrics,
    Multipart, RequestBuilder, RequestPhase, Response, Version, Watch, client,
};
pub use easy::{Easy, ExportedSession, OptionSet};
pub use engine::callbacks::Callbacks;
pub use engine::info::Fact;
pub use engine::multi::Limits;
pub use engine::share::Locks;
pub use engine::stores::headers::{Field, Headers, Origin};
#[doc(hidden)]
pub use engine::sys::is_device;
pub use engine::{
    Descriptor, ExtraFd, Share, after_fork_in_child, fork_generation, has_system_tls, prefer_system_tls,
    tls_engines,
};
pub use form::{Form, FormSource};
pub use handle::{Failure, Handle, Reply, get};
pub use info::TransferInfo;
pub use multi::{Message, Multi};
pub use tables::environment;
pub use tables::share::LockData;
pub use tables::{ArgKind, Code, EasyOption, Info, InfoKind, MultiCode, constant};
pub use value::{PlainValue, Value};
pub use why::Why;
pub use wire::date::parse as parse_date;

/// The trait of an application's callbacks, and the types of their arguments and results.
pub mod callbacks {
    pub use engine::callbacks::{
        CacheAnswer, Callbacks, ChunkAnswer, CloseHook, DebugKind, Endpoints, FileInfo, HostKey, HostMatch,
        HostVerdict, HstsAnswer, HstsEntry, MatchAnswer, OpenSocketAnswer, PlannedRequest, ProgressCounts,
        Purpose, ReadAnswer, ReplyAnswer, SeekAnswer, SocketCallbacks, SockoptAnswer, StoredReply, Target,
        Transport, WriteAnswer,
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

/// The pool that the process keeps for all its handles, and the broker behind it, for the command line tool.
#[doc(hidden)]
pub mod process_pool {
    pub use broker::{Client as Broker, Parked, Status, run_broker};
    pub use engine::process_pool::{Pool, choose, give_all};
}

/// The progress meter of the command line tool.
#[doc(hidden)]
pub use engine::meter;
/// The report of the process (WARMWIRE_REPORT), for the command line tool.
#[doc(hidden)]
pub use engine::report::write as write_report;
/// Base64, for the command line tool.
#[doc(hidden)]
pub use wire::base64;
/// The rules of an HTTP cache (RFC 9111), for the command line tool.
#[doc(hidden)]
pub use wire::cache as http_cache;
/// Hexadecimal digits, for the command line tool.
#[doc(hidden)]
pub use wire::hex;
/// A writer of JSON, for the command line tool.
#[doc(hidden)]
pub use wire::json;

/// The version of curl that this crate behaves like.
pub const CURL_VERSION: &str = tables::version::CURL;

/// Returns the library's version and its components (curl_version(3)).
pub fn version_line() -> String {
    tables::version_line(tables::version::AS_DEFAULT)
}

/// Returns the schemes that are built in, in alphabetic order.
pub fn schemes() -> Vec<&'static str> {
    tables::Scheme::built_names()
}

/// Returns the schemes that `curl -V` lists, sorted. They include those that the tool fetches through a
/// gateway.
#[doc(hidden)]
pub fn listed_schemes() -> Vec<&'static str> {
    tables::Scheme::listed_names()
}

/// Returns the features that are built in, by curl's names.
pub fn features() -> Vec<&'static str> {
    tables::feature::built_names().collect()
}
