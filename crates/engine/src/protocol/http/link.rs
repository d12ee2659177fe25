//! Connection of a request: finds one, binds it to a login, and decides what becomes of it afterwards.

use std::hint::cold_path;
use std::sync::Arc;

use net::connection_key::Login;
use net::{HttpLease, Memory};
use runtime::{Boxed, boxed};
use tables::scheme::Family;
use tables::{Code, EasyOption as O, Scheme};

use super::active_exchange::ActiveExchange;
use super::decide::connection::{FinishedExchange, NextUse, next_use};
use super::decide::retry::{Failure, after_failure};
use super::decide::version::avoids_http2;
use super::http_transfer::HttpTransfer;
use super::request::method_name;
use super::version::version;
use super::{auth, connection_auth, explained};
use crate::error::{Error, Result};
use crate::recording::player::Asked;
use crate::transfer::Transfer;
use crate::transfer::auth::ConnectionSteps;
use crate::transfer::link::HttpLink;
use crate::transfer::negotiate::find_ticket_user;
use crate::transfer::next::Next;
use crate::transfer::recording::unanswered;
use crate::transfer::replay::with_retries;
use crate::transfer::replayed_peer::ReplayedPeer;
use crate::transfer::route::plan::{LoginBinding, Plan, belonging};

/// Most attempts to move a request from a dead pooled connection to another one.
const MAX_REPLAYS: u32 = 5;

/// Makes attempts to send a request and to read its reply, until one ends otherwise than with a dead pooled
/// connection.
pub async fn replayed(
    t: &mut HttpTransfer,
    attempt: impl AsyncFnMut(&mut HttpTransfer, bool) -> Result<Next>,
) -> Result<Next> {
    with_retries(t, MAX_REPLAYS, attempt).await.map_err(|e| match e.retry().is_allowed() {
        true => {
            let text = format!("Connection died, tried {MAX_REPLAYS} times before giving up");
            Error::new(Code::SendError, text)
        }
        false => e,
    })
}

/// Returns a connection for the next request, bound to the user's login where the scheme demands that.
pub async fn connect(t: &mut HttpTransfer, fresh: bool) -> Result<HttpLink> {
    auth::begin_request(t)?;
    if auth::shows_ticket(t) {
        cold_path();
        boxed(|| find_ticket_user(t)).await;
    }
    let (plan, bound) = plan_and_binding(t)?;
    t.connect_bound(plan, bound, fresh).await?.into_http()
}

/// Opens a new connection for the next request, and leaves it in the pool.
pub async fn open_ahead(t: &mut HttpTransfer) -> Result<()> {
    let link = connect(t, true).await?;
    t.release(link.lease);
    Ok(())
}

/// Returns the way to the next request's connection, and the login that the connection must be bound to.
#[inline]
fn plan_and_binding(t: &mut HttpTransfer) -> Result<(Arc<Plan>, LoginBinding)> {
    let mut plan = t.plan()?;
    let bound = connection_auth::binding_of(t, plan.forwarder())?;
    if avoids_http2(plan.may_have_streams(), t.http.no_http2, bound.to.is_some()) {
        cold_path();
        plan = Arc::new(plan.without_http2());
    }
    Ok((plan, bound))
}

/// Returns the connection on which a login continues, or another one; and whether it has carried other
/// requests.
pub async fn obtain(t: &mut HttpTransfer, fresh: bool) -> Result<(HttpLink, bool)> {
    let kept = t.http.kept.take().filter(|_| !fresh);
    auth::begin_request(t)?;
    if let Some(link) = kept {
        cold_path();
        return Ok((*link, true));
    }
    if t.multi.recording.get().is_some() {
        choose_peer(t)?;
    }
    if auth::shows_ticket(t) {
        cold_path();
        boxed(|| find_ticket_user(t)).await;
    }
    let (plan, bound) = plan_and_binding(t)?;
    let link = t.connect_bound(plan, bound, fresh).await?.into_http()?;
    let reused = link.lease.is_reused();
    Ok((link, reused))
}

/// Chooses the peer of the next connection, if exchanges are replayed: fails if the record does not answer
/// the request.
#[cold]
#[inline(never)]
fn choose_peer(t: &mut HttpTransfer) -> Result<()> {
    let Some(player) = t.player().cloned() else { return Ok(()) };
    let asked = Asked::new(&method_name(t), &t.recorded_url());
    let entry = player.peek(&asked).map_err(unanswered)?;
    t.replayed = Some(Box::new(ReplayedPeer::silent(&entry.facts)));
    Ok(())
}

/// Prepares the state of authentication that a request on this connection needs. Returns the making of
/// tokens, if there are some to be made.
#[inline]
pub fn prepare<'a>(
    t: &'a mut HttpTransfer,
    link: &'a mut HttpLink,
    reused: bool,
) -> Option<Boxed<'a, Result<()>>> {
    t.http.auth.steps = take_steps(link);
    if !reused {
        let stream = matches!(link.lease, HttpLease::Stream(_));
        let version = if stream { version(t, link).name() } else { "HTTP/1.x" };
        t.easy.note(|| format!("using {version}"));
        explained::version(t, link);
    }
    auth::connected(t, reused);
    note_forwarding(t, link);
    auth::prepare(t, link)
}

/// Notes the scheme of a URL that a proxy fetches for us: to us it is HTTP.
fn note_forwarding(t: &Transfer, link: &HttpLink) {
    if link.forwarder().is_some() && t.scheme().family() != Family::Http {
        cold_path();
        t.easy.info.borrow_mut().scheme = Some(Scheme::Http);
    }
}

/// Takes the state of its authentication from the connection.
fn take_steps(link: &mut HttpLink) -> Option<Box<ConnectionSteps>> {
    link.lease.whole()?.connection().state.take()?.take()
}

/// Binds a connection to the user's login once NTLM or Negotiate has begun on it.
#[inline]
pub fn bind(t: &mut HttpTransfer, link: &mut HttpLink) -> Result<()> {
    let begun = t.http.auth.steps.as_ref().is_some_and(|steps| steps.begun());
    if begun && link.lease.about().key.login.is_none() {
        cold_path();
        let login = connection_auth::binding_of(t, link.forwarder())?.to;
        // Where nobody can be named, the connection is nobody's.
        let login = login.map_or_else(|| Login::Requests(Box::default()), |login| *login);
        let key = belonging(&link.lease.about().key, login);
        if let Some(whole) = link.lease.whole() {
            whole.bind(key);
        }
    }
    Ok(())
}

/// Resets the counts of a request that is about to be sent.
#[inline]
pub fn begin(t: &mut Transfer) {
    {
        let mut info = t.easy.info.borrow_mut();
        (info.downloaded, info.announced, info.download_total) = (0, -1, -1);
    }
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    t.flow.writer.begin();
}

/// An exchange that has ended well.
#[derive(Default)]
pub struct EndFacts {
    /// The reply allows another request.
    pub keep: bool,
    /// Another attempt at this request follows.
    pub again: bool,
    /// The reply was one of HTTP/1.0.
    pub http10: bool,
    /// The state that the connection is to keep for its next request.
    pub memory: Option<Box<dyn Memory>>,
}

/// Releases, holds or closes the connection of an exchange that has ended well. Inlined: the value is large.
#[inline(always)]
pub fn end(t: &mut HttpTransfer, mut link: HttpLink, active: ActiveExchange, ended: EndFacts) {
    let EndFacts { keep, again, http10, memory } = ended;
    let clean = link.lease.end(active.exchange);
    if let Some(whole) = link.lease.whole() {
        whole.connection().about.answers_http10 = http10;
    }
    let steps = t.http.auth.steps.take().filter(|steps| steps.begun());
    let used = FinishedExchange {
        stream: matches!(link.lease, HttpLease::Stream(_)),
        keep,
        clean,
        complete: active.upload.complete(),
        forbidden: t.on(O::ForbidReuse),
        bound: steps.is_some() || auth::binds(t),
        again,
    };
    let next_use = next_use(&used);
    if next_use == NextUse::Close {
        cold_path();
        explained::closing(t, link.lease.about(), &used, http10);
        t.easy.note(|| format!("shutting down connection #{}", link.lease.about().id));
        t.retire(link.lease);
        return;
    }
    let state = steps.map(|steps| steps as Box<dyn Memory>).or(memory);
    if let Some(state) = state
        && let Some(whole) = link.lease.whole()
    {
        cold_path();
        whole.connection().state = Some(state);
    }
    match next_use {
        NextUse::Hold => t.http.kept = Some(Box::new(link)),
        _ => t.release(link.lease),
    }
}

/// Ends an exchange that has failed. The error says whether the request may be sent again, for which its body
/// is rewound.
pub fn failed(mut active: ActiveExchange, error: Error, early_data: bool) -> Result<Next> {
    let failure = Failure {
        code: error.code(),
        retry: error.retry(),
        reused: active.reused,
        received: active.exchange.any_received(),
        early_data,
    };
    let verdict = after_failure(&failure);
    if verdict.is_allowed() {
        active.upload.rewind()?;
    }
    Err(error.with_retry(verdict))
}
