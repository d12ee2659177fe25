//! The protocol handlers, one file or folder each, and the one place that knows which scheme is whose.

mod file;
mod http;

use tables::scheme::Family;
use wire::url::Url;

use crate::error::{Error, Result};
use crate::transfer::Transfer;
use tables::Code;

pub use http::Memory as HttpMemory;

/// What follows a request.
pub enum Next {
    /// Nothing: the transfer is complete.
    Done,
    /// A redirect.
    Follow(Box<Url>),
    /// The same URL once more (authentication, a refused expectation).
    Again,
}

/// Runs one request of the transfer's current URL.
// exhaustive: schemes
pub async fn run(t: &mut Transfer) -> Result<Next> {
    let scheme = t.scheme();
    match scheme.family() {
        Family::Http => Box::pin(http::run(t)).await,
        Family::File => file::run(t).await.map(|()| Next::Done),
        Family::Ws
        | Family::Ftp
        | Family::Ssh
        | Family::Telnet
        | Family::Ldap
        | Family::Dict
        | Family::Tftp
        | Family::Imap
        | Family::Pop3
        | Family::Smtp
        | Family::Rtsp
        | Family::Rtmp
        | Family::Gopher
        | Family::Smb
        | Family::Mqtt => Err(Error::new(
            Code::UnsupportedProtocol,
            format!("Protocol \"{}\" not supported", scheme.name()),
        )),
    }
}
