//! One request and its reply on an open connection: reads the reply, decides what follows it, and ends both
//! bodies.

use std::future::poll_fn;
use std::hint::cold_path;

use runtime::boxed;
use tables::scheme::Family;

use super::active_exchange::ActiveExchange;
use super::decide::connection::{Rest, Unsent};
use super::decide::{body, connection};
use super::http_transfer::HttpTransfer;
use super::response::{self, Response};
use super::{auth, explained, redirect, stored, upgrade, upload_series};
use crate::error::Result;
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::next::Next;
use crate::why::event::{CloseReason, Event, GoAhead};

/// The outcome of an exchange.
#[derive(Default)]
pub struct Finished {
    /// The step that follows.
    pub next: Next,
    /// The connection can carry another request.
    pub keep: bool,
    /// The reply was one of HTTP/1.0.
    pub http10: bool,
    /// Whether the connection is a WebSocket that the application wants to use itself.
    pub upgraded: bool,
    /// The reply to come is in HTTP/2.
    pub switches: bool,
}

/// Sends the request, reads the reply and its body, and decides what follows.
pub async fn converse(t: &mut HttpTransfer, active: &mut ActiveExchange) -> Result<Finished> {
    let mut response = Response::default();
    response::receive(t, active, &mut response).await?;
    if active.switches(response.status) {
        return Ok(Finished { switches: true, ..Finished::default() });
    }
    if t.scheme().family() == Family::Ws {
        cold_path();
        upgrade::begin(t, active, &response)?;
        if upgrade::is_by_hand(t) {
            return Ok(Finished { upgraded: true, ..Finished::default() });
        }
    }
    if auth::expects_tokens(t) {
        cold_path();
        boxed(|| auth::pass_tokens(t, active, &response)).await;
    }
    if upload_series::reads_replies(t) {
        cold_path();
        return boxed(|| converse_with_s3(t, active, &response)).await;
    }
    let (next, is_last) = use_of(t, active, &response)?;
    let keep = if let Some(joined) = stored::joined(t).filter(|_| is_last) {
        cold_path();
        boxed(|| stored::join(t, active, &response, joined)).await?
    } else {
        read(t, active, &response, is_last).await?
    };
    let keep = finish(t, active, &response, &next, keep).await?;
    if is_last {
        redirect::report_location(t, &response);
    }
    let http10 = response.version == 10;
    Ok(Finished { next, keep, http10, ..Finished::default() })
}

/// Returns what follows a reply, and whether its body is the transfer's. The body is discarded if a stored
/// reply replaces this one.
fn use_of(t: &mut HttpTransfer, active: &mut ActiveExchange, response: &Response) -> Result<(Next, bool)> {
    if let Some(next) = stored::replaced(t, response.status) {
        return Ok((next, false));
    }
    let next = next(t, active, response)?;
    let is_last = matches!(next, Next::Done);
    Ok((next, is_last))
}

/// Reads a reply for an upload in parts, and decides what follows by its body.
async fn converse_with_s3(
    t: &mut HttpTransfer,
    active: &mut ActiveExchange,
    response: &Response,
) -> Result<Finished> {
    t.flow.writer.give_to_upload();
    response.begin_body(t, active)?;
    let keep = read_to_end(t, active, response).await?;
    let next = next(t, active, response)?;
    let keep = finish(t, active, response, &next, keep).await?;
    Ok(Finished { next, keep, http10: response.version == 10, ..Finished::default() })
}

/// Reads the body of a reply, or skips it. Returns whether the reply allows the connection to persist.
pub async fn read(
    t: &mut Transfer,
    active: &mut ActiveExchange,
    response: &Response,
    is_last: bool,
) -> Result<bool> {
    if is_last {
        response.check_body(t)?;
    }
    let reads = connection::reads_body(&connection::Body {
        is_last,
        is_unmet: is_last && response.is_not_newer(t),
        keep_alive: response.body.keep_alive,
        is_short: response.body.worth_draining,
    });
    t.flow.writer.ignore_body(!is_last || response.is_there_already(t));
    response.begin_body(t, active)?;
    if !reads {
        cold_path();
        t.easy.explain(|| Event::Spoilt(CloseReason::BodySkipped));
        return Ok(false);
    }
    read_to_end(t, active, response).await
}

/// Reads the body of a reply and its trailers. Returns whether the reply allows the connection to persist.
async fn read_to_end(t: &mut Transfer, active: &mut ActiveExchange, response: &Response) -> Result<bool> {
    t.flow.pump_body(active).await?;
    response.check_end(t)?;
    response::receive_trailers(t, active)?;
    if !response.body.keep_alive || response.body.until_close {
        cold_path();
        t.easy.explain(|| explained::last_reply(response));
    }
    Ok(response.body.keep_alive)
}

/// Ends the request's body behind its reply. Returns whether the connection can carry another request.
pub async fn finish(
    t: &Transfer,
    active: &mut ActiveExchange,
    response: &Response,
    next: &Next,
    keep: bool,
) -> Result<bool> {
    let keep = finish_upload(t, active, keep, response).await?;
    let is_series = t.easy.upload_resumption.is_http() && t.method == Method::Put;
    if matches!(next, Next::Follow(_)) && !matches!(t.method, Method::Get | Method::Head) && !is_series {
        // The next request sends the same body again.
        active.upload.rewind()?;
    }
    Ok(keep)
}

/// Sends or abandons the rest of the request's body behind a complete reply. Returns whether the connection
/// can carry another request.
async fn finish_upload(
    t: &Transfer,
    active: &mut ActiveExchange,
    keep: bool,
    response: &Response,
) -> Result<bool> {
    let until_close = response.body.until_close;
    let websocket = response.begins_websocket(t);
    let rest = connection::rest(&Unsent { keep, until_close, websocket, ended: active.upload.has_ended() });
    match rest {
        Rest::Send => {
            active.upload.go_ahead();
            poll_fn(|cx| active.poll_upload(cx)).await?;
        }
        Rest::Stop => {
            t.easy.explain(|| Event::Spoilt(CloseReason::UploadStopped));
            t.easy.note(|| "we are done reading and this is set to close, stop send".to_owned());
            active.upload.stop(active.exchange.queued());
        }
        Rest::None => {}
    }
    active.upload.explain_limits(active.exchange.as_ref());
    match active.upload.take_failure() {
        Some(failure) if connection::send_failure_counts(until_close, rest, response.status) => Err(failure),
        failure => Ok(rest == Rest::Send && failure.is_none()),
    }
}

/// Decides what follows this reply, and counts it.
pub fn next(t: &mut HttpTransfer, active: &mut ActiveExchange, response: &Response) -> Result<Next> {
    match wanted(t, active, response)? {
        Next::Again => Ok(redirect::repeat(t)),
        next => Ok(next),
    }
}

/// Decides what follows this reply, without counting it.
fn wanted(t: &mut HttpTransfer, active: &mut ActiveExchange, response: &Response) -> Result<Next> {
    let (expected, sent) = (active.upload.expected_go_ahead(), active.upload.complete());
    if body::drops_expectation(response.status, expected, sent, t.http.no_expect) {
        cold_path();
        t.http.no_expect = true;
        t.easy.explain(|| Event::GoesOn(GoAhead::Refused));
        t.easy.note(|| "Got HTTP failure 417 while waiting for a 100".to_owned());
        active.upload.rewind()?;
        return Ok(Next::Again);
    }
    if response.version == 10 {
        // A server of the old days gets no chunks and no Expect in this transfer.
        t.http.http10 = true;
    }
    if let Some(next) = auth::after(t, active, response)? {
        t.easy.explain(|| explained::challenge(t, response.status));
        return Ok(next);
    }
    if upload_series::decides(t, response.status) {
        cold_path();
        return upload_series::after(t, response.status);
    }
    redirect::after(t, response)
}
