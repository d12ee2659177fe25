//! Replies in the application's cache (RFC 9111). It is asked before each request, whether a stored reply is
//! to be used or which fields to add, and before the body of each reply, whether that one is to be used. A
//! stored reply is processed as if it had been received: redirects are followed, errors are errors. The
//! application decides which replies are stored and used, and where.

use std::hint::cold_path;
use std::io::Read;
use std::task::{Context, Poll};

use net::exchange::{Body, BodyStep};
use tables::Code;

use super::active_exchange::ActiveExchange;
use super::http_transfer::{HttpTransfer, KeptReplies};
use super::request::{foreseen, method_name, note_method};
use super::response::Response;
use super::{conversation, redirect};
use crate::callbacks::{
    CacheAnswer, JoinedReply, PlannedRequest, ReplyAnswer, RequestAdditions, StoredReply,
};
use crate::error::{Error, Result};
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::body::{BodySource, truncated};
use crate::transfer::next::Next;
use crate::transfer::route::url::url_text;
use crate::why::event::{CacheStep, Event};
use tables::EasyOption as O;

/// Asks the application before a request. Returns the stored reply to use, if there is one.
pub fn begin(t: &mut HttpTransfer) -> Result<Option<StoredReply>> {
    Ok(match prior(t)? {
        CacheAnswer::Serve(stored) => {
            t.easy.explain(|| Event::Cache(CacheStep::Fresh));
            Some(stored)
        }
        CacheAnswer::Send(RequestAdditions { fields, dictionary }) => {
            t.easy.explain(|| Event::Cache(CacheStep::Asked));
            if dictionary.is_some() {
                t.easy.explain(|| Event::Cache(CacheStep::Dictionary));
            }
            t.flow.writer.set_dictionary(dictionary);
            t.http.kept_replies = Some(Box::new(KeptReplies { fields, ..KeptReplies::default() }));
            None
        }
    })
}

/// Returns the stored reply to use in place of the one that was received, or that failed.
pub fn instead(t: &mut HttpTransfer, outcome: &Result<Next>) -> Option<StoredReply> {
    let instead = t.http.kept_replies.take().and_then(|kept| kept.instead);
    if instead.is_some() {
        return instead;
    }
    let error = outcome.as_ref().err().filter(|error| is_of_the_network(error.code()))?;
    match t.easy.callbacks.before_body(None) {
        ReplyAnswer::Serve(stored) => {
            t.easy.explain(|| Event::Cache(CacheStep::Stale));
            t.easy.note(|| error.to_string());
            Some(stored)
        }
        _ => None,
    }
}

fn prior(t: &mut HttpTransfer) -> Result<CacheAnswer> {
    let (method, url, fields) = (method_name(t), url_text(&t.url), foreseen(t));
    let peer = t.plan()?.of_replies().canonical_bytes();
    let asked = PlannedRequest { method: &method, url: &url, fields: &fields, peer: &peer };
    Ok(t.easy.callbacks.before_request(asked))
}

/// Returns what follows a reply that is replaced by a stored one, or that requests a repetition.
pub fn replaced(t: &mut HttpTransfer, status: u16) -> Option<Next> {
    t.http.kept_replies.as_ref()?;
    cold_path();
    match t.easy.callbacks.before_body(Some(status)) {
        ReplyAnswer::Accept => None,
        ReplyAnswer::SendAgain => Some(Next::Again),
        ReplyAnswer::Join(joined) => {
            t.easy.explain(|| Event::Cache(CacheStep::Joined));
            t.http.kept_replies.get_or_insert_default().joined = Some(joined);
            None
        }
        ReplyAnswer::Serve(stored) => {
            let step = if status == 304 { CacheStep::Confirmed } else { CacheStep::Stale };
            t.easy.explain(|| Event::Cache(step));
            t.http.kept_replies.get_or_insert_default().instead = Some(stored);
            Some(Next::Done)
        }
    }
}

/// Returns the stored reply that the received one completes.
pub fn joined(t: &mut HttpTransfer) -> Option<JoinedReply> {
    t.http.kept_replies.as_mut()?.joined.take()
}

/// Delivers a stored reply whose missing bytes are the body of the received one. Returns whether the reply
/// allows the connection to persist.
pub async fn join(
    t: &mut HttpTransfer,
    active: &mut ActiveExchange,
    received: &Response,
    joined: JoinedReply,
) -> Result<bool> {
    forget_fields(t);
    let (mut before, mut after) = (Source::new(joined.before), Source::new(joined.after));
    let length = received.body.length.unwrap_or_default();
    let length = before.left.saturating_add(length).saturating_add(after.left);
    let whole = head(t, &joined.head, Some(length))?;
    whole.check_body(t)?;
    t.flow.pump_body(&mut before).await?;
    let keep = conversation::read(t, active, received, true).await?;
    t.flow.pump_body(&mut after).await?;
    Ok(keep)
}

/// Removes the fields of this request's reply from the header API.
fn forget_fields(t: &Transfer) {
    let request = t.easy.info.borrow().redirect_count as usize;
    t.easy.headers.borrow_mut().forget_from(request);
}

/// Returns whether the server could not be reached, or fell silent: a stale reply may then be served (RFC
/// 9111 §4.2.4).
fn is_of_the_network(code: Code) -> bool {
    matches!(
        code,
        Code::CouldntResolveProxy
            | Code::CouldntResolveHost
            | Code::CouldntConnect
            | Code::OperationTimedout
            | Code::GotNothing
            | Code::SendError
            | Code::RecvError
            | Code::Http2
            | Code::Http2Stream
            | Code::Http3
            | Code::QuicConnectError
    )
}

/// Processes a stored reply as if it had been received.
pub async fn serve(t: &mut HttpTransfer, stored: StoredReply) -> Result<Next> {
    note_method(t, &method_name(t));
    t.flow.writer.begin();
    {
        let mut info = t.easy.info.borrow_mut();
        (info.downloaded, info.announced, info.download_total) = (0, -1, -1);
    }
    forget_fields(t);
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    let response = head(t, &stored.head, stored.length)?;
    t.mark_first_byte();
    let next = redirect::after(t, &response)?;
    if !matches!(next, Next::Done) {
        return Ok(next);
    }
    response.check_body(t)?;
    if response.body.exists {
        let length = stored.length.unwrap_or_default();
        t.flow.pump_body(&mut Source::new((stored.body, length))).await?;
    }
    redirect::report_location(t, &response);
    Ok(next)
}

fn head(t: &mut Transfer, lines: &[u8], length: Option<u64>) -> Result<Response> {
    let wanted = t.method != Method::Head && !t.on(O::NoBody);
    let body = Body { exists: wanted && length.is_some(), length, ..Body::default() };
    let mut response = Response::default();
    for line in lines.split_inclusive(|byte| *byte == b'\n').chain([b"\r\n".as_slice()]) {
        response.stored_line(t, line, body)?;
    }
    Ok(response)
}

struct Source {
    body: Box<dyn Read>,
    left: u64,
}

impl Source {
    fn new((body, left): (Box<dyn Read>, u64)) -> Source {
        Source { body, left }
    }
}

impl BodySource for Source {
    fn poll_body(&mut self, _cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        let room = buf.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if room == 0 {
            return Poll::Ready(Ok(BodyStep::End));
        }
        Poll::Ready(match self.body.read(&mut buf[..room]) {
            Ok(0) => Err(truncated(Some(self.left))),
            Ok(count) => {
                self.left -= count as u64;
                Ok(BodyStep::Bytes(count))
            }
            Err(e) => Err(Error::os(Code::ReadError, "What was kept of the reply can't be read", &e)),
        })
    }

    fn left(&self) -> Option<u64> {
        Some(self.left)
    }

    fn forget_read(&mut self, _: &mut Context<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_the_network() {
        let rows = [
            ("RFC 9111 §4.2.4: disconnected", Code::CouldntConnect, true),
            ("RFC 9111 §4.2.4: no such host now", Code::CouldntResolveHost, true),
            ("RFC 9111 §4.2.4: no such proxy now", Code::CouldntResolveProxy, true),
            ("RFC 5861 §4: an error such as a time-out", Code::OperationTimedout, true),
            ("RFC 5861 §4: an empty reply", Code::GotNothing, true),
            ("RFC 9113 §5.4: a failed session", Code::Http2, true),
            ("RFC 9113 §5.4.2: a failed stream", Code::Http2Stream, true),
            ("RFC 9000 §11: QUIC fails", Code::QuicConnectError, true),
            ("RFC 9110 §4.3.4: a refused certificate may be an attack", Code::PeerFailedVerification, false),
            ("RFC 8446 §6.2: so may be a failed handshake", Code::SslConnectError, false),
            ("CURLOPT_FAILONERROR(3): the server has replied", Code::HttpReturnedError, false),
            ("CURLOPT_XFERINFOFUNCTION(3): the application wants no more", Code::AbortedByCallback, false),
            ("CURLOPT_WRITEFUNCTION(3): the application has failed", Code::WriteError, false),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(is_of_the_network(code), wanted, "{name}");
        }
    }
}
