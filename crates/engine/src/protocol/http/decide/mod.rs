//! Decisions of the HTTP handler: pure functions from facts to a verdict. They read no clock, no socket and
//! no handle.
//!
//! The handler gathers the facts, asks, and acts on the verdict. Every rule has rows in the table test of its
//! file, and each row names the section of an RFC or the curl document that demands it.

pub mod authentication;
pub mod body;
pub mod connection;
pub mod redirect;
pub mod reply;
pub mod request;
pub mod retry;
pub mod version;
