//! The C API and ABI of libcurl on the engine: the only crate with unsafe code.
//!
//! One file per area of the API. Each exported function checks its pointers, passes the handle's gate
//! (`guard`), and works through the engine. `handles` makes stale and foreign handles harmless, `memory` owns
//! what C frees. `shim/variadic.c` unpacks variable arguments, `link.sh` links both into libcurl.so.4.

#![cfg_attr(warmwire_sanitized, feature(sanitize))]

mod application;
pub mod date;
pub mod easy;
pub mod form;
pub mod form_body;
mod getinfo;
pub mod global;
pub mod guard;
pub mod handles;
pub mod header;
mod hsts;
mod lists;
pub mod memory;
pub mod mime;
pub mod multi;
pub mod options;
mod pointers;
pub mod printf;
mod push;
mod setopt;
pub mod share;
pub mod slist;
mod sockets;
mod stack;
pub mod strerror;
mod sys;
pub mod text;
mod unwind;
pub mod url;
mod users;
pub mod version;
pub mod warmwire;
pub mod watch;
pub mod ws;

/// Atomics of std; tests/global_interleavings.rs compiles the users once more with those of shuttle.
mod sync {
    pub use std::sync::atomic::{AtomicU64, AtomicUsize};
    pub use std::thread::yield_now;

    pub use runtime::fork_generation;
}
