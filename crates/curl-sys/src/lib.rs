//! Stands in for the crate `curl-sys`: a program on the crate `curl` then runs on Warmwire.
//!
//! ```toml
//! [patch.crates-io]
//! curl-sys = { path = "../warmwire/crates/curl-sys" }
//! ```
//!
//! After that, `cargo update -p curl-sys` replaces the crate in an existing Cargo.lock. The engine is
//! compiled into the program; no libcurl is looked for. All features of `curl-sys` are accepted and have no
//! effect.
//!
//! Constants are written by the build script from `warmwire-tables`; `types` has callbacks and structures,
//! `functions` the exports. Each is documented by libcurl's manual page of the same name.

// The names and the types of the C headers, as `curl-sys` has them.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case)]
#![deny(warnings)]

mod constants;
mod functions;
mod types;

// The engine: the functions declared here are exported there.
use warmwire_capi as _;

pub use constants::*;
pub use functions::*;
pub use types::*;

/// Returns the version of this crate.
pub fn rust_crate_version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns whether the library is compiled into the program, which it always is.
pub fn vendored() -> bool {
    true
}
