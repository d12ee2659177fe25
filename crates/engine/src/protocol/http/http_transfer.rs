//! A transfer with HTTP's state, which lasts from one of its requests to the next. Only HTTP's replies lead
//! to another request, possibly of another protocol: [`run`](crate::run) keeps this value for the whole
//! transfer, and other handlers get the [`Transfer`] in it.

use std::ops::{Deref, DerefMut};

use wire::upload::series::Request;
use wire::ws::deflate::Offer;

use crate::callbacks::{JoinedReply, StoredReply};
use crate::error::Retry;
use crate::transfer::Transfer;
use crate::transfer::auth::ConnectionSteps;
use crate::transfer::handles::Handles;
use crate::transfer::link::HttpLink;
use crate::transfer::login::Login;
use crate::transfer::replay::Repeatable;
use crate::transfer::secret::{Peer, Secret};

/// A transfer as HTTP's handler gets it: the layer above [`Transfer`].
pub struct HttpTransfer {
    /// The transfer, as all protocols know it.
    pub transfer: Transfer,
    /// The state of HTTP.
    pub http: HttpMemory,
}

impl Deref for HttpTransfer {
    type Target = Transfer;

    #[inline]
    fn deref(&self) -> &Transfer {
        &self.transfer
    }
}

impl DerefMut for HttpTransfer {
    #[inline]
    fn deref_mut(&mut self) -> &mut Transfer {
        &mut self.transfer
    }
}

impl AsRef<Handles> for HttpTransfer {
    fn as_ref(&self) -> &Handles {
        self
    }
}

impl Repeatable for HttpTransfer {
    fn prepare_repetition(&mut self, reason: Retry) {
        self.http.no_http2 |= reason == Retry::Http1;
    }
}

impl HttpTransfer {
    /// Creates the state of a transfer that has made no request.
    #[inline]
    pub fn new(transfer: Transfer) -> HttpTransfer {
        HttpTransfer { transfer, http: HttpMemory::default() }
    }
}

/// State of one request that the next one of the transfer uses.
#[derive(Default)]
pub struct HttpMemory {
    /// A server answered 417: no more Expect in this transfer.
    pub no_expect: bool,
    /// A server demanded HTTP/1.0 manners.
    pub http10: bool,
    /// A server or the way of authentication demanded HTTP/1.
    pub no_http2: bool,
    /// Authentication rounds.
    pub auth: AuthState,
    /// The connection of an unfinished NTLM or Negotiate login, which the next request continues.
    pub kept: Option<Box<HttpLink>>,
    /// Whether a redirect has dropped CURLOPT_CUSTOMREQUEST.
    pub custom_dropped: bool,
    /// The Referer that a redirect made (CURLOPT_AUTOREFERER).
    pub referer: Option<Vec<u8>>,
    /// The WebSocket compression that was offered to the server.
    pub deflate: Option<Offer>,
    /// The request of an upload that continues after a cut.
    pub upload_step: Option<Box<UploadStep>>,
    /// The decision of an application with a cache about this request.
    pub kept_replies: Option<Box<KeptReplies>>,
}

impl HttpMemory {
    /// Returns the fields that the application's cache puts into the request.
    pub fn fields_of_cache(&self) -> &[Vec<u8>] {
        self.kept_replies.as_ref().map_or(&[], |kept| &kept.fields)
    }
}

/// The request of an upload that continues after a cut, in a series of requests.
pub struct UploadStep {
    pub request: Request,
    /// Whether an earlier request of this transfer has read the source.
    pub has_read: bool,
}

/// An application's own replies, for one request.
#[derive(Default)]
pub struct KeptReplies {
    /// Fields of the request.
    pub fields: Vec<Vec<u8>>,
    /// The stored reply to use in place of the received one.
    pub instead: Option<StoredReply>,
    /// The stored reply whose missing bytes are received.
    pub joined: Option<JoinedReply>,
}

/// The state of authentication of one transfer.
#[derive(Default)]
pub struct AuthState {
    /// The login for the URL of the current request, once it was looked for.
    pub login: Option<Option<Box<Secret<Login>>>>,
    /// Whether the last request had a login for the server.
    pub asks_server: bool,
    /// The proxy that the last request was handed to, and who we are for it.
    pub proxy: Option<Box<(Peer, Option<Secret<Login>>)>>,
    /// Whether the last request omitted its body, because it was only sent to get a challenge.
    pub withholds_body: bool,
    /// Whether a login was refused; this transfer does not try again.
    pub problem: bool,
    /// The state of the connection in use, if there is any.
    pub steps: Option<Box<ConnectionSteps>>,
}

impl AuthState {
    /// Returns whether a proxy that received the last request may receive credentials.
    pub fn asks_proxy(&self) -> bool {
        matches!(self.proxy.as_deref(), Some((_, Some(_))))
    }
}
