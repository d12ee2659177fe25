//! A request that is ready to be sent: its head, its body, and its expectations about the reply.

use std::rc::Rc;

use net::exchange::RequestHead;

use crate::transfer::client_reader::ClientReader;

/// A request ready to be sent.
pub struct Request {
    /// Request line and fields, and what follows them.
    pub head: Rc<RequestHead>,
    /// Its body.
    pub body: ClientReader,
    /// The body waits for a go-ahead.
    pub expects: bool,
    /// The application has trailers to send.
    pub trailers: bool,
    /// The reply has no body.
    pub head_only: bool,
}
