//! The crate's tests in one program, because each program links the crates and their dependencies anew.
//! CONTRIBUTING.md says how to run one file's tests.

extern crate warmwire_broker as broker; // the name that the rest of the workspace knows it by

#[cfg(unix)]
mod common;
#[cfg(unix)]
mod moves;
mod mutations;
#[cfg(unix)]
mod processes;
#[cfg(unix)]
mod refusals;
