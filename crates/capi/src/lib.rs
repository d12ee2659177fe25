//! The C API and ABI of libcurl on the engine: the only crate with unsafe code.
//!
//! One file per area of the API; each exported function checks its pointers, passes the handle's gate (`guard`),
//! and does its work through the engine. `handles` makes stale and foreign handles harmless, `memory` owns what
//! C frees. `shim/variadic.c` unpacks variable arguments, `link.sh` makes libcurl.so.4 of both.

pub mod date;
pub mod form;
pub mod form_body;
pub mod global;
pub mod guard;
pub mod handles;
pub mod memory;
pub mod mime;
pub mod options;
pub mod printf;
pub mod slist;
pub mod strerror;
mod strings;
pub mod text;
pub mod url;
pub mod version;
pub mod ws;
