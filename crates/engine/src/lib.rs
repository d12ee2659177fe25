//! curl's behaviour, without C: settings, easy, multi and share handles, transfers, protocols and stores.
//! ARCHITECTURE.md at the root describes the structure.

// Without a protocol some helpers have no user.
#![cfg_attr(not(feature = "all"), allow(dead_code, unused_imports))]
// Rows of test tables have their types written out.
#![cfg_attr(test, allow(clippy::type_complexity))]

pub mod archive;
pub mod callbacks;
pub mod easy;
pub mod error;
mod export;
pub mod info;
pub mod memories;
pub mod meter;
pub mod mime;
pub mod multi;
pub mod outputs;
pub mod own_connection;
pub mod process_pool;
mod protocol;
pub mod push;
pub mod rare;
pub mod recording;
pub mod repeated_query;
mod run;
mod scratch;
pub mod settings;
pub mod share;
pub mod stores;
mod sync;
pub mod sys;
pub mod transfer;
pub mod upload_resumption;
pub mod watch;
mod watched;
pub mod websocket;
pub mod why;

pub use callbacks::Callbacks;
pub use easy::Easy;
pub use error::{Error, Result};
pub use multi::Multi;
pub use settings::{
    Choices, FtpPipelining, ProxiedSchemes, ProxyRule, Settings, SmtpPipelining, TlsLibrary,
    WebSocketOptions, bind_program, follow_names, read_policy,
};
pub use share::Share;
pub use transfer::proxies::pac::{PacEvaluator, PacLookUp, PacQuery, use_pac};

pub use net::process;
pub use net::random;
pub use net::tls::backend::{
    engines as tls_engines, has_system as has_system_tls, prefer_system as prefer_system_tls,
};
pub use runtime::{
    Clock, Descriptor, ExtraFd, Interest, SocketHook, Turn, after_fork_in_child, fork_generation,
};
pub use wire::policy::Policy;
