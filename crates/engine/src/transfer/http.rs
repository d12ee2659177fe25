//! What HTTP remembers: with a transfer, from one of its requests to the next, and with a URL, from one transfer to the next.
//! These are values that a transfer holds for its handler (`protocol::http`), which alone reads and writes them.

use wire::ws::deflate::Offer;

use super::auth::ConnectionSteps;
use super::connect::Link;
use super::login::Login;
use super::secret::{Peer, Secret};
use crate::callbacks::Stored;

/// What one request of a transfer leaves to the next.
#[derive(Default)]
pub struct Memory {
    /// A server answered 417: no more Expect in this transfer.
    pub no_expect: bool,
    /// A server demanded HTTP/1.0 manners.
    pub http10: bool,
    /// A server or the way of authentication demanded HTTP/1.
    pub no_http2: bool,
    /// Authentication rounds.
    pub auth: Asked,
    /// The connection of an NTLM or Negotiate conversation, which goes on with the next request.
    pub kept: Option<Box<Link>>,
    /// The Referer that a redirect made (CURLOPT_AUTOREFERER).
    pub referer: Option<Vec<u8>>,
    /// How a WebSocket's messages are to be compressed, as the server was asked.
    pub deflate: Option<Offer>,
    /// What an application that keeps replies has said about this request.
    pub kept_replies: Option<Box<KeptReplies>>,
}

impl Memory {
    /// Returns the fields that go with this request on behalf of a kept reply.
    pub fn conditions(&self) -> &[Vec<u8>] {
        self.kept_replies.as_ref().map_or(&[], |kept| &kept.conditions)
    }
}

/// An application's own replies, for one request.
#[derive(Default)]
pub struct KeptReplies {
    /// Fields that go with the request.
    pub conditions: Vec<Vec<u8>>,
    /// What counts instead of the reply that came.
    pub instead: Option<Stored>,
}

/// What one transfer asks and is asked of who it is.
#[derive(Default)]
pub struct Asked {
    /// The login for the URL of the current request, once it was looked for.
    pub login: Option<Option<Secret<Login>>>,
    /// The last request had something to prove to the server.
    pub asks_server: bool,
    /// The proxy that the last request was handed to, and who we are for it.
    pub proxy: Option<Box<(Peer, Option<Secret<Login>>)>>,
    /// The last request left its body out: it only asked for a challenge.
    pub withholds_body: bool,
    /// Somebody refused what we have; this transfer asks no more.
    pub problem: bool,
    /// What the connection in use knows, once there was something to know.
    pub steps: Option<Box<ConnectionSteps>>,
}

impl Asked {
    /// Whether a proxy that the last request was handed to may be told who we are.
    pub fn asks_proxy(&self) -> bool {
        matches!(self.proxy.as_deref(), Some((_, Some(_))))
    }
}
