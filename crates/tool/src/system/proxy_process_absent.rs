//! There is no `--proxy-command` on Windows: a process there cannot have a socket as its standard input.

use super::OwnedFd;
use crate::bytes::Bytes;
use std::convert::Infallible;
use std::io;
use std::net::TcpStream;

/// A command that is never started.
#[derive(Clone)]
pub struct ProxyProcess(Infallible);

impl ProxyProcess {
    /// Fails.
    pub fn start(
        _: impl FnOnce(&mut TcpStream) -> io::Result<Result<Bytes, String>> + Send + 'static,
    ) -> io::Result<(OwnedFd, ProxyProcess)> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Closes nothing.
    pub fn close(&self, _: OwnedFd) {
        match self.0 {}
    }

    /// Returns nothing.
    pub fn failure(&self) -> Option<String> {
        match self.0 {}
    }
}
