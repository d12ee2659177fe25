//! The Rust API of Warmwire: everything that curl can fetch, from blocking programs and from futures.
//!
//! Each request may use HTTP/1.1, HTTP/2 or HTTP/3, FTP, SFTP, mail, MQTT and what else curl knows: the URL's
//! scheme decides. Names are those of [reqwest](https://docs.rs/reqwest): a program that uses it changes its
//! `use` line and little else.
//!
//! # Futures
//!
//! [`get`] fetches one URL. A [`Client`] keeps connections open from one request to the next. Any executor
//! polls its futures, and nothing has to be set up: tokio, async-std, smol, or your own.
//!
//! ```no_run
//! # async fn run() -> Result<(), warmwire::Error> {
//! let client = warmwire::Client::new();
//! let request = client.get("https://example.com/").query(&[("page", "2")]);
//! let response = request.send().await?.error_for_status()?;
//! println!("{} {}", response.status(), response.text().await?);
//! # Ok(())
//! # }
//! ```
//!
//! # Without futures
//!
//! The module [`blocking`] has the same vocabulary for threads that wait.
//!
//! ```no_run
//! let client = warmwire::blocking::Client::new();
//! let text = client.get("https://example.com/").send()?.error_for_status()?.text()?;
//! # Ok::<(), warmwire::Error>(())
//! ```
//!
//! # Bodies and errors
//!
//! Dropping a future or a [`Response`] aborts its transfer at once: the connection is closed, or the stream
//! reset. Bodies are streamed in both directions, and a slow reader slows the sender down
//! ([`Response::chunk`], [`Body::wrap_stream`]). An [`Error`] has a kind to match on, curl's code and
//! message, and how far the request got ([`RequestPhase`]).
//!
//! # The driver
//!
//! The engine of a client is used by one thread at a time. `Client`, requests and responses are `Send`.
//!
//! - A thread that waits in a call of [`blocking`] runs the engine meanwhile: for itself, and for all others
//!   that wait. When a response is left unread for 10 ms, a background thread continues.
//! - Futures in a current-thread runtime of tokio have a task there, with the feature `tokio`. The client may
//!   be used in another runtime later. If it is used in two at once, a thread takes over.
//! - For all other futures a background thread runs the engine. It starts with the first request; each
//!   request costs two wake-ups across threads.
//!
//! [`ClientBuilder::build_with_driver`] returns the [`Driver`] instead, which then runs in the program's own
//! event loop and needs one descriptor and one timer from it.
//! `Tokio` and `AsyncIo` are event loops, behind the features `tokio` and `async-io`; others implement
//! [`EventLoop`].
//!
//! - [`Driver::run_until`] runs it beside a future, in the same task. Nothing is spawned, and nothing crosses
//!   threads.
//! - [`Driver::run`] is a task of its own on a thread's executor (`tokio::task::spawn_local`,
//!   `LocalExecutor`, a current-thread runtime).
//!
//! ```no_run
//! # #[cfg(all(unix, feature = "tokio"))]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! let (client, driver) = warmwire::Client::builder().build_with_driver()?;
//! runtime.block_on(driver.run_until(warmwire::Tokio, async {
//!     println!("{}", client.get("https://example.com/").send().await?.text().await?);
//!     Ok(())
//! }))
//! # }
//! # #[cfg(not(all(unix, feature = "tokio")))]
//! # fn main() {}
//! ```
//!
//! # curl's handles
//!
//! [`Handle`], [`Easy`] and [`Multi`] are curl's easy and multi handles, with curl's options, infos and
//! codes: [`EasyOption`], [`Info`] and [`Code`]. [`transfers`] runs many transfers behind one descriptor.
//!
//! ```no_run
//! let mut handle = warmwire::Handle::new();
//! handle.set(warmwire::EasyOption::Url, "https://example.com/")?;
//! let reply = handle.fetch()?;
//! println!("{} {}", reply.status, reply.body.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # More than HTTP
//!
//! - `Client::ftp`, `sftp`, `imap` and `smtp`: files and mail by typed calls.
//! - [`RequestBuilder::websocket`]: a WebSocket as stream and sink.
//! - `Client::download`: a file in segments, from mirrors, resumed and verified.
//! - `Client::upload`: a file that continues after a cut, by FTP, SFTP or HTTP.
//! - [`Client::get`] takes a URL of any other scheme, too.
//!
//! # Features
//!
//! On by default; a program that needs only HTTP/1.1, HTTP/2 and WebSocket sets `default-features = false`. A
//! URL whose protocol is left out fails with [`Code::UnsupportedProtocol`].
//!
//! | feature | |
//! |---|---|
//! | `all` | all protocols of the next lines |
//! | `http3` | HTTP/3 |
//! | `ftp` | FTP, with and without TLS |
//! | `ssh` | SFTP and SCP |
//! | `mail` | IMAP, POP3 and SMTP |
//! | `file`, `dict`, `gopher`, `ldap`, `mqtt`, `rtsp`, `telnet`, `tftp` | the schemes of these names |
//! | `download` | `Client::download` and `Client::upload` |
//!
//! Off by default:
//!
//! | feature | |
//! |---|---|
//! | `pac` | PAC files name proxies ([`Proxy::pac`], [`Proxy::system`]) |
//! | `json` | bodies from and to values of serde |
//! | `charset` | text in other charsets than UTF-8 |
//! | `url` | URLs of the crate `url` |
//! | `tower` | a [`Client`] is a `tower_service::Service` |
//! | `tokio`, `async-io` | event loops for a [`Driver`], on Unix |

#![deny(missing_docs)]
// docs.rs names at each item the feature that it needs; a nightly compiler does that.
#![cfg_attr(docsrs, feature(doc_cfg))]
// Without a protocol some helpers have no user.
#![cfg_attr(not(feature = "all"), allow(dead_code))]

mod access_policy;
mod address;
pub mod blocking;
mod client;
mod easy;
mod form;
mod handle;
mod info;
mod multi;
mod pac_files;
#[cfg(feature = "download")]
#[doc(hidden)]
pub mod segments;
pub mod transfers;
#[cfg(feature = "download")]
#[doc(hidden)]
pub mod uploads;
mod value;
pub mod watch;
mod why;

pub use access_policy::{AccessPolicy, InvalidPolicy};
pub use address::{IntoUrl, InvalidUrl, Url};
#[cfg(all(unix, feature = "async-io"))]
pub use client::AsyncIo;
#[cfg(all(unix, feature = "tokio"))]
pub use client::Tokio;
#[cfg(feature = "download")]
pub use client::download::{Download, DownloadRequest, Downloaded};
#[cfg(any(feature = "ftp", feature = "ssh"))]
pub use client::files::{Entry, EntryKind, Files};
#[cfg(feature = "mail")]
pub use client::mail::{Envelope, Imap, Mailbox, Smtp};
#[doc(no_inline)]
pub use client::tls::{Certificate, Identity};
#[cfg(feature = "download")]
pub use client::upload::{Upload, Uploaded};
pub use client::{
    Body, Client, ClientBuilder, Cookie, Driver, Error, ErrorKind, EventLoop, Informational, NoProxy, Proxy,
    Request, RequestBuilder, RequestPhase, Response, Timings, Watch, get,
};
pub use client::{multipart, redirect, tls, websocket};
pub use easy::{Easy, ExportedSession, OptionSet};
pub use engine::callbacks::Callbacks;
pub use engine::info::Fact;
pub use engine::multi::Limits;
pub use engine::process_pool::Pool;
pub use engine::share::Locks;
pub use engine::stores::headers::{Field, Headers, Origin};
#[doc(hidden)]
pub use engine::sys::is_device;
pub use engine::upload_resumption::UploadMode;
pub use engine::why::Reasons;
pub use engine::{
    Descriptor, ExtraFd, Share, after_fork_in_child, fork_generation, has_system_tls, prefer_system_tls,
    tls_engines,
};
pub use form::{Form, FormSource};
pub use handle::{Failure, Handle, Reply};
pub use http::{Method, StatusCode, Uri, Version, header};
pub use info::TransferInfo;
pub use multi::{Message, Multi};
pub use tables::environment;
pub use tables::share::LockData;
pub use tables::{ArgKind, Code, EasyOption, Info, InfoKind, MultiCode, constant};
pub use value::{PlainValue, Value};
pub use why::Why;
#[doc(hidden)]
pub use wire::date::http as http_date;
pub use wire::date::parse as parse_date;
pub use wire::priority::{InvalidPriority, RequestPriority as Priority};

/// A result with the error of a request.
pub type Result<T> = std::result::Result<T, Error>;

/// The trait of an application's callbacks, and the types of their arguments and results.
pub mod callbacks {
    pub use engine::callbacks::{
        CacheAnswer, Callbacks, ChunkAnswer, CloseHook, DebugKind, Endpoints, FileInfo, HostKey, HostMatch,
        HostVerdict, HstsAnswer, HstsEntry, JoinedReply, MatchAnswer, OpenSocketAnswer, PlannedRequest,
        ProgressCounts, Purpose, ReadAnswer, ReplyAnswer, RequestAdditions, SeekAnswer, SocketCallbacks,
        SockoptAnswer, StoredReply, Target, Transport, WriteAnswer,
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
    pub use engine::follow_names;
    pub use engine::process_pool::{Pool, choose, give_all, without_helper};
}

/// Records of ended transfers, archives and pictures of them, for the command line tool.
#[doc(hidden)]
pub mod archive {
    pub use engine::archive::*;
    pub use engine::outputs::secrets;
    pub use engine::stores::file::write_private;
}

/// Record and replay of the exchanges of this process.
pub mod recording {
    use std::io;
    use std::path::Path;

    use engine::recording::{Recording, choose, header_names};

    /// Records the exchanges of all handles to a folder, as WARMWIRE_RECORD does. It counts if it is called
    /// before the first handle is created; returns whether it was.
    pub fn record(folder: &Path) -> io::Result<bool> {
        Ok(choose(Recording::to(folder)?))
    }

    /// Answers the requests of all handles from a recorded folder, as WARMWIRE_REPLAY does. It counts if it
    /// is called before the first handle is created; returns whether it was.
    pub fn replay(folder: &Path) -> bool {
        choose(Recording::from(folder, header_names()))
    }
}

/// The progress meter of the command line tool.
#[doc(hidden)]
pub use engine::meter;
/// Writes what the process collected for WARMWIRE_REPORT, WARMWIRE_HAR and others, for the command line tool.
#[doc(hidden)]
pub use engine::outputs::write as write_outputs;
/// Base64, for the command line tool.
#[doc(hidden)]
pub use wire::base64;
/// The rules of an HTTP cache (RFC 9111), for the command line tool.
#[doc(hidden)]
pub use wire::cache as http_cache;
/// Content-Disposition fields (RFC 6266), for the command line tool.
#[doc(hidden)]
pub use wire::content_disposition;

/// Dictionaries for compression (RFC 9842), for the command line tool.
#[doc(hidden)]
pub use wire::content_encoding::{Dictionary, WITH_DICTIONARY};
/// Patterns of file names, for the command line tool.
#[doc(hidden)]
pub use wire::fnmatch;
/// Listings of folders, for the command line tool.
#[cfg(any(feature = "ftp", feature = "ssh"))]
#[doc(hidden)]
pub mod listings {
    pub use wire::ftp::facts::Facts;
    pub use wire::ftp::list::{FileInfo, FileType, ListReader};
}
/// Percent encoding, for the command line tool.
#[doc(hidden)]
pub use wire::escape;
/// Hexadecimal digits, for the command line tool.
#[doc(hidden)]
pub use wire::hex;
/// A writer of JSON, for the command line tool.
#[doc(hidden)]
pub use wire::json;
#[doc(hidden)]
pub use wire::proxy_source;
/// The course of an upload that continues after a cut, for the command line tool.
#[doc(hidden)]
pub use wire::upload;

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
