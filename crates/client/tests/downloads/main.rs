//! Downloads of the crate to files, in one program and by several processes.
#![cfg(unix)]

mod files;
mod processes;
