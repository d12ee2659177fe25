//! A server push (RFC 9113 §8.4): no request is sent, and the rest is as for any reply.

use std::rc::Rc;

use net::exchange::RequestHead;

use super::message::Request;
use crate::error::Result;
use crate::push::Adopted;
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::link::HttpLink;

/// Returns the connection and the request of a push. The settings for method and body do not apply to it.
pub fn take_up(t: &mut Transfer, adopted: Adopted) -> Result<(HttpLink, Request)> {
    let head_only = adopted.head_only();
    t.method = if head_only { Method::Head } else { Method::Get };
    t.easy.info.borrow_mut().effective_method = t.method.verb().into();
    t.note_connection(adopted.lease.about(), t.now());
    let request = Request {
        head: Rc::new(RequestHead::default()),
        body: ClientReader::empty(&t.easy),
        expects: false,
        trailers: false,
        head_only,
    };
    Ok((HttpLink { lease: adopted.lease, plan: t.plan()? }, request))
}
