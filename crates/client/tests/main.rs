//! The crate's tests in one program, because each program links the crates and their dependencies anew. A
//! test that needs a process of its own (a working directory, a fork, a memory limit, replaced primitives)
//! has a `[[test]]` in Cargo.toml. CONTRIBUTING.md says how to run one file's tests.

mod foreign_loop;
mod guide;
#[cfg(unix)]
mod sessions;
mod text_options;
mod transfers;
mod uploads;
#[cfg(unix)]
mod watch;
mod websocket;
