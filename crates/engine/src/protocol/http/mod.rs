//! HTTP (RFC 9110): one request and its reply, in the order of events.
//!
//! `link` finds the connection and decides its fate, `request` builds the request, `upload` sends its body,
//! `response` reads the reply's head, `conversation` reads the rest of the reply. `decide` has functions
//! without I/O that decide what follows. The exchange layer has the wire format.

mod active_exchange;
mod auth;
mod connection_auth;
mod conversation;
mod decide;
mod explained;
mod fields;
mod headless;
mod http_transfer;
mod httpsig;
mod link;
mod message;
mod offers;
mod proof;
mod pushed;
mod recorded;
mod redirect;
mod request;
mod request_cache;
mod response;
mod sigv4;
mod stored;
mod upgrade;
mod upload;
mod upload_series;
mod version;

use std::hint::cold_path;

use net::exchange::Dialect;
use runtime::boxed;

use crate::error::Result;
use crate::transfer::link::HttpLink;
use crate::transfer::next::Next;
pub use active_exchange::ActiveExchange;
pub use auth::{expects_tokens, fields as authorization, pass_tokens};
use conversation::{Finished, converse};
pub use conversation::{finish, next, read};
pub use fields::{Custom, Head};
pub use http_transfer::HttpTransfer;
pub use link::{EndFacts, begin, bind, connect, end, failed, obtain, open_ahead, prepare, replayed};
pub use message::Request;
pub use proof::Target;
pub use redirect::report_location;
pub use request::time_condition_field;
pub use response::{Heads, Response, head, is_interim, more};
pub use upgrade::is_by_hand;

/// Runs one request.
pub async fn run(t: &mut HttpTransfer) -> Result<Next> {
    upgrade::choose_method(t);
    if upload_series::applies(t) {
        cold_path();
        if let Some(elsewhere) = boxed(|| upload_series::begin(t)).await? {
            return Ok(elsewhere);
        }
    } else if t.easy.callbacks.has_cache() {
        cold_path();
        return boxed(|| with_kept_replies(t)).await;
    }
    ask(t).await
}

/// Runs one request of an application with a cache.
async fn with_kept_replies(t: &mut HttpTransfer) -> Result<Next> {
    if let Some(stored) = stored::begin(t)? {
        return stored::serve(t, stored).await;
    }
    let outcome = ask(t).await;
    match stored::instead(t, &outcome) {
        Some(stored) => stored::serve(t, stored).await,
        None => outcome,
    }
}

/// Sends the request and reads the reply, again on a new connection if a pooled one died.
fn ask(t: &mut HttpTransfer) -> impl Future<Output = Result<Next>> {
    replayed(t, request_and_reply)
}

/// Finds a connection and builds the request. Returns also whether the connection has carried others.
async fn request(t: &mut HttpTransfer, fresh: bool) -> Result<(HttpLink, Request, bool)> {
    if let Some(adopted) = t.easy.adopted.take() {
        cold_path();
        let (link, request) = pushed::take_up(t, *adopted)?;
        return Ok((link, request, false));
    }
    let (mut link, reused) = obtain(t, fresh).await?;
    if let Some(tokens) = prepare(t, &mut link, reused) {
        tokens.await?;
    }
    let request = match request_cache::request(t, &link) {
        Some(request) => request,
        None => {
            let request = request::build(t, &link)?;
            request_cache::keep(t, &link, &request);
            request
        }
    };
    bind(t, &mut link)?;
    Ok((link, request, reused))
}

/// Sends the request and reads the reply. The state of `request` is no part of this future while it waits for
/// the reply.
async fn request_and_reply(t: &mut HttpTransfer, fresh: bool) -> Result<Next> {
    let (mut link, request, reused) = request(t, fresh).await?;
    begin(t);
    let mut active = ActiveExchange::begin(t, &mut link, request, reused, Dialect::Http);
    let early_data = t.is_ahead();
    let mut outcome = converse(t, &mut active).await.map_err(|e| t.late_failure(e));
    if matches!(outcome, Ok(Finished { switches: true, .. })) {
        cold_path();
        (link, active, outcome) = boxed(|| in_http2(t, link, active)).await?;
    }
    match outcome {
        Ok(Finished { upgraded: true, .. }) => boxed(|| upgrade::hand_over(t, link, active.exchange)).await,
        Ok(Finished { next, keep, http10, .. }) => {
            end(t, link, active, EndFacts { keep, again: matches!(next, Next::Again), http10, memory: None });
            Ok(next)
        }
        Err(e) => failed(active, e, early_data),
    }
}

/// Reads the reply in HTTP/2, which the server has agreed to.
async fn in_http2(
    t: &mut HttpTransfer,
    link: HttpLink,
    active: ActiveExchange,
) -> Result<(HttpLink, ActiveExchange, Result<Finished>)> {
    let (link, mut active) = upgrade::switch_to_http2(t, link, active).await?;
    let outcome = converse(t, &mut active).await;
    Ok((link, active, outcome))
}
