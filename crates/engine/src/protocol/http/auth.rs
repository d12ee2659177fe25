//! HTTP authentication as part of a transfer: who is asking, which fields a request carries, and whether a
//! reply asks for another round. In the order in which a request meets these questions: [`begin_request`],
//! [`bound`], [`prepare`], [`fields`], then for its reply [`hear`] and [`after`]. The schemes themselves are
//! `transfer::auth`'s, AWS signatures are made here because they cover the request.

use std::hint::cold_path;

use runtime::cell::RefCell;

use net::About;
use net::tls::binding;
use runtime::{Boxed, boxed};
use tables::EasyOption as O;

use super::active_exchange::ActiveExchange;
use super::decide::authentication::{self as decide, ChallengedReply};
use super::http_transfer::HttpTransfer;
use super::proof::{Target, field, write_target};
use super::response::Response;
use crate::error::Result;
use crate::settings::Text;
use crate::transfer::Transfer;
use crate::transfer::auth::{Answer, Ask, Binding, ChallengeResult, Memory, Scheme, Steps};
use crate::transfer::client_reader::ClientReader;
use crate::transfer::credentials::credentials;
use crate::transfer::link::HttpLink;
use crate::transfer::login::Login;
use crate::transfer::negotiate::{ContextPeer, Negotiate, listen, speak};
use crate::transfer::next::Next;
use crate::transfer::secret::{Peer, Role, Secret};

fn memory(t: &Transfer) -> &RefCell<Memory> {
    &t.connector.auth
}

/// Returns the login for the current URL; a .netrc file is read once per request.
fn login(t: &mut HttpTransfer) -> Result<Option<Secret<Login>>> {
    if t.http.auth.login.is_none() {
        t.http.auth.login = Some(credentials(t)?.map(Box::new));
    }
    Ok(t.http.auth.login.clone().flatten().map(|login| *login))
}

/// Returns the login for the URL or, for Negotiate, the owner of the tickets.
pub fn asking(t: &mut HttpTransfer) -> Result<Option<Secret<Login>>> {
    let by_ticket = shows_ticket(t);
    let unnamed = by_ticket.then(|| Secret::of(t.peer(), Login::default()));
    Ok(login(t)?.or(unnamed))
}

/// Prepares authentication before a request finds its connection. Tickets prove who the user is, whatever
/// name is in the URL: they are sent only to the server that the application named, not to the target of a
/// redirect. A bad .netrc file is reported before any connection.
pub fn begin_request(t: &mut HttpTransfer) -> Result<()> {
    t.http.auth.login = None;
    if t.long(O::Netrc) != 0 {
        cold_path();
        login(t)?;
    }
    if memory(t).borrow().server.wants(Scheme::Negotiate) {
        cold_path();
        let own = t.secret(()).for_peer(&t.peer()).is_some();
        memory(t).borrow_mut().server.permit(Scheme::Negotiate, own);
    }
    Ok(())
}

/// Returns whether authentication continues with a scheme that needs the same connection.
pub fn binds(t: &Transfer) -> bool {
    let memory = memory(t).borrow();
    [&memory.server, &memory.proxy].into_iter().any(|side| matches!(side.binding(), Binding::User(_)))
}

/// Records the connection of this request; a new one restarts connection-based schemes.
pub fn connected(t: &Transfer, reused: bool) {
    if !reused {
        memory(t).borrow_mut().server.reconnect();
    }
}

/// Returns the connection's state for one side, created on demand.
fn steps(t: &mut HttpTransfer, role: Role) -> &mut Steps {
    let steps = t.http.auth.steps.get_or_insert_default();
    match role {
        Role::Server => &mut steps.server,
        Role::Proxy => &mut steps.proxy,
    }
}

/// Takes Negotiate's conversation out of the connection's state while it is in progress; `steps` returns it.
fn take_negotiate(t: &mut HttpTransfer, role: Role) -> Negotiate {
    std::mem::take(&mut steps(t, role).negotiate)
}

/// Returns the making of a request's tokens, which security contexts do before the request is made; `None`
/// where there are no contexts.
pub fn prepare<'a>(t: &'a mut HttpTransfer, link: &'a HttpLink) -> Option<Boxed<'a, Result<()>>> {
    let speaks = memory(t).borrow().server.wants(Scheme::Negotiate);
    if !speaks && link.forwarder().is_none() {
        return None;
    }
    cold_path();
    Some(boxed(|| prepare_sides(t, link)))
}

/// Returns whether the next request proves the user to the server by a Kerberos ticket.
pub fn shows_ticket(t: &Transfer) -> bool {
    memory(t).borrow().server.uses(Scheme::Negotiate)
}

async fn prepare_sides(t: &mut HttpTransfer, link: &HttpLink) -> Result<()> {
    if memory(t).borrow().server.wants(Scheme::Negotiate) {
        prepare_server(t, link).await?;
    }
    if let Some(proxy) = link.forwarder() {
        let mut negotiate = take_negotiate(t, Role::Proxy);
        boxed(|| proxy.prepare(t, &mut negotiate)).await;
        steps(t, Role::Proxy).negotiate = negotiate;
    }
    Ok(())
}

async fn prepare_server(t: &mut HttpTransfer, link: &HttpLink) -> Result<()> {
    let login = asking(t)?;
    memory(t).borrow_mut().server.meet(&t.peer(), login.as_ref());
    let speaks = login.is_some() && shows_ticket(t);
    let mut negotiate = take_negotiate(t, Role::Server);
    if speaks && negotiate.must_begin() {
        let whom = server(t, link.lease.about());
        if !speak(t, whom, &mut negotiate, None, None).await {
            memory(t).borrow_mut().server.lose(Scheme::Negotiate);
        }
    }
    steps(t, Role::Server).negotiate = negotiate;
    Ok(())
}

/// Returns the server as the peer of a security context.
fn server(t: &Transfer, about: &About) -> ContextPeer {
    let host = t.url.host_ascii().unwrap_or_default();
    let tls = about.tls.as_deref().filter(|_| t.scheme().tls());
    let channel = tls.and_then(|tls| binding::server_end_point(tls.by_now()));
    ContextPeer { role: Role::Server, host: String::from_utf8_lossy(&host).into_owned(), channel }
}

/// The Proxy-Authorization and Authorization fields of a request.
pub fn fields(
    t: &mut HttpTransfer,
    link: &HttpLink,
    target: &Target<'_>,
    body: &ClientReader,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    proxy_field(t, link, target, &mut out)?;
    server_field(t, target, body, &mut out)?;
    super::httpsig::fields(t, target, &mut out)?;
    let asks = {
        let memory = memory(t).borrow();
        memory.server.asks() || memory.proxy.asks()
    };
    t.http.auth.withholds_body = decide::withholds_body(asks, t.method);
    Ok(out)
}

/// Applies the result of [`fields`] for a request without any authentication.
pub fn nothing_to_prove(t: &mut HttpTransfer) {
    let mut memory = t.transfer.connector.auth.borrow_mut();
    memory.server.pass();
    memory.proxy.pass();
    let state = &mut t.http.auth;
    (state.asks_server, state.proxy, state.withholds_body) = (false, None, false);
}

/// Returns whether the request needs no authentication, now and when it is repeated: signatures need no
/// login, and tickets may appear or expire.
pub fn proves_nothing(t: &HttpTransfer) -> bool {
    let state = &t.http.auth;
    let by_ticket = t.long(O::HttpAuth) as u64 & Scheme::Negotiate.bit() != 0;
    !state.asks_server && state.proxy.is_none() && !by_ticket && t.long(O::HttpSigAlgorithm) == 0
}

fn proxy_field(t: &mut HttpTransfer, link: &HttpLink, target: &Target<'_>, out: &mut Vec<u8>) -> Result<()> {
    let by_ticket = memory(t).borrow().proxy.uses(Scheme::Negotiate);
    t.http.auth.proxy =
        link.forwarder().map(|proxy| Box::new((proxy.peer(), proxy.login_or_unnamed(by_ticket))));
    let mut memory = t.transfer.connector.auth.borrow_mut();
    let state = &mut t.http.auth;
    let Some((peer, Some(login))) = state.proxy.as_deref() else {
        memory.proxy.pass();
        return Ok(());
    };
    let mut uri = Vec::new();
    write_target(&t.transfer.connector.url, &mut uri);
    let custom = target.custom.names("Proxy-Authorization");
    let ask = Ask { peer, login: Some(login), bearer: None, method: target.method, uri: &uri, custom };
    let answer = memory.proxy.answer(&ask, &mut state.steps.get_or_insert_default().proxy)?;
    if let Some(scheme) = answer.used {
        t.easy.info.borrow_mut().rare.proxy_auth_used = scheme.bit() as i64;
    }
    answer.value.into_iter().for_each(|value| field(out, "Proxy-Authorization", &value));
    Ok(())
}

fn server_field(
    t: &mut HttpTransfer,
    target: &Target<'_>,
    body: &ClientReader,
    out: &mut Vec<u8>,
) -> Result<()> {
    let peer = t.peer();
    let bearer = t.text(O::Xoauth2Bearer).map(|token| t.secret(token));
    let has_bearer = bearer.as_ref().is_some_and(|bearer| bearer.for_peer(&peer).is_some());
    let login = asking(t)?;
    t.http.auth.asks_server = login.is_some() || has_bearer;
    if !t.http.auth.asks_server {
        memory(t).borrow_mut().server.pass();
        return Ok(());
    }
    let answer = server_answer(t, target, &peer, login.as_ref(), bearer.as_ref())?;
    if let Some(scheme) = answer.used {
        t.easy.info.borrow_mut().rare.auth_used = scheme.bit() as i64;
    }
    answer.value.into_iter().for_each(|value| field(out, "Authorization", &value));
    if memory(t).borrow().server.uses(Scheme::AwsSigv4) {
        t.easy.info.borrow_mut().rare.auth_used = Scheme::AwsSigv4.bit() as i64;
        return super::sigv4::fields(
            t,
            target,
            login.as_ref().and_then(|login| login.for_peer(&peer)),
            body,
            out,
        );
    }
    Ok(())
}

fn server_answer(
    t: &mut HttpTransfer,
    target: &Target<'_>,
    peer: &Peer,
    login: Option<&Secret<Login>>,
    bearer: Option<&Secret<Text>>,
) -> Result<Answer> {
    let mut uri = Vec::new();
    match target.uri {
        Some(own) => uri.extend_from_slice(own),
        None => write_target(&t.url, &mut uri),
    }
    let custom = target.custom.names("Authorization");
    let ask = Ask { peer, login, bearer, method: target.method, uri: &uri, custom };
    let steps = &mut t.http.auth.steps.get_or_insert_default().server;
    t.transfer.connector.auth.borrow_mut().server.answer(&ask, steps)
}

/// Returns whether a security context waits for the reply.
pub fn expects_tokens(t: &Transfer) -> bool {
    let memory = memory(t).borrow();
    [&memory.server, &memory.proxy].into_iter().any(|side| side.uses(Scheme::Negotiate))
}

/// Passes the reply's tokens to the security contexts, after its head.
pub async fn pass_tokens(t: &mut HttpTransfer, active: &ActiveExchange, response: &Response) {
    if shows_ticket(t) {
        cold_path();
        let mut negotiate = take_negotiate(t, Role::Server);
        if let Some(persists) = response.rare.persistent_auth {
            let what = if persists { "keeps" } else { "forgets" };
            t.easy.note(|| format!("Negotiate: the connection {what} it"));
            negotiate.note_persistence(persists);
        }
        let whom = server(t, active.exchange.about());
        let challenges = (response.status == 401).then_some(&response.rare.challenges);
        listen(t, whom, &mut negotiate, challenges, response.body.keep_alive).await;
        steps(t, Role::Server).negotiate = negotiate;
    }
    let asked = memory(t).borrow().proxy.uses(Scheme::Negotiate);
    if let Some((peer, Some(_))) = t.http.auth.proxy.as_deref().filter(|_| asked) {
        cold_path();
        let whom = ContextPeer { role: Role::Proxy, host: peer.host().to_owned(), channel: None };
        let mut negotiate = take_negotiate(t, Role::Proxy);
        let challenges = (response.status == 407).then_some(&response.rare.proxy_challenges);
        listen(t, whom, &mut negotiate, challenges, response.body.keep_alive).await;
        steps(t, Role::Proxy).negotiate = negotiate;
    }
}

/// Starts another round after a reply, if it is required and may succeed.
pub fn after(t: &mut HttpTransfer, active: &mut ActiveExchange, response: &Response) -> Result<Option<Next>> {
    let heard = take_challenges(t, response);
    if heard.problem {
        t.easy.note(|| "Authentication problem. Ignoring this.".to_owned());
        t.http.auth.problem = true;
    }
    if t.http.auth.problem || !another_round(t, response.status, heard) {
        return Ok(None);
    }
    active.upload.rewind()?;
    Ok(Some(Next::Again))
}

/// Lets the sides choose a scheme, and returns whether the request is sent again.
fn another_round(t: &mut HttpTransfer, status: u16, heard: ChallengeResult) -> bool {
    let state = &mut t.http.auth;
    let mut memory = t.transfer.connector.auth.borrow_mut();
    let asked = ChallengedReply {
        status,
        withheld: state.withholds_body,
        server: state.asks_server,
        proxy: state.asks_proxy(),
        usable: heard.usable,
    };
    let through = memory.server.is_through();
    let choices = decide::choices(&asked);
    let found = [
        choices.server.map(|usable| memory.server.pick(usable)),
        choices.proxy.map(|usable| memory.proxy.pick(usable)),
    ];
    state.problem |= found.contains(&Some(false));
    decide::is_repeated(&asked, found, through)
}

/// Parses the challenges of a 401 or 407.
fn take_challenges(t: &mut HttpTransfer, response: &Response) -> ChallengeResult {
    let mut memory = t.transfer.connector.auth.borrow_mut();
    let mut info = t.transfer.connector.easy.info.borrow_mut();
    let state = &mut t.http.auth;
    let side = decide::challenged_side(response.status, state.proxy.is_some());
    let (heard, steps) = match (side, state.proxy.as_deref()) {
        (Some(decide::Side::Server), _) => {
            let steps = &mut state.steps.get_or_insert_default().server;
            let heard =
                memory.server.challenged(&response.rare.challenges, &t.transfer.connector.url.peer, steps);
            info.rare.auth_available = heard.offered as i64;
            (heard, steps)
        }
        (Some(decide::Side::Proxy), Some((proxy, _))) => {
            let steps = &mut state.steps.get_or_insert_default().proxy;
            let heard = memory.proxy.challenged(&response.rare.proxy_challenges, proxy, steps);
            info.rare.proxy_auth_available = heard.offered as i64;
            (heard, steps)
        }
        _ => return ChallengeResult::default(),
    };
    if decide::is_cut_off(steps.expects_answer(), response.body.keep_alive) {
        drop((memory, info));
        t.transfer.connector.easy.note(|| "Connection closure while negotiating auth (HTTP 1.0?)".to_owned());
        state.problem = true;
    }
    heard
}
