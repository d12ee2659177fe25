//! HTTP authentication as part of a transfer: which fields a request carries, and whether a reply asks for another
//! round. The schemes themselves are `transfer::auth`'s, AWS signatures are made here because they cover the request.

use std::hint::cold_path;

use net::Filter;
use net::identity::Credentials;
use net::tls::binding;
use tables::constant::{CURLAUTH_AWS_SIGV4, CURLAUTH_NEGOTIATE, CURLAUTH_NTLM};
use tables::{Code, EasyOption as O};
use wire::auth::sigv4;

use super::Talk;
use super::request::{Custom, write_target};
use super::response::Response;
use crate::error::{Error, Result};
use crate::protocol::Next;
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::auth::{Ask, ConnectionSteps, now};
use crate::transfer::client_reader::ClientReader;
use crate::transfer::connect::Link;
use crate::transfer::login::{Login, credentials};
use crate::transfer::negotiate::{self, Whom, listen, speak};
use crate::transfer::proxy::Proxy;
use crate::transfer::secret::{Peer, Role, Secret};

/// Authentication state of one transfer.
#[derive(Default)]
pub struct State {
    withhold: bool,
    /// Somebody's credentials are there to be tried.
    server: Option<Secret<Login>>,
    has_bearer: bool,
    proxy: Option<(Peer, Option<Secret<Login>>)>,
    /// What the connection in use knows, once there was something to know.
    pub steps: Option<Box<ConnectionSteps>>,
}

impl State {
    /// Whether this request only asks for a challenge and leaves its body out.
    pub fn withholds_body(&self) -> bool {
        self.withhold
    }
}

/// What a request says, for schemes that prove it.
pub struct Target<'a> {
    /// Method.
    pub method: &'a [u8],
    /// Value of the Host field.
    pub host: &'a [u8],
    /// The application's own lines.
    pub custom: &'a Custom,
}

/// The Proxy-Authorization and Authorization fields of a request.
pub fn fields(t: &mut Transfer, link: &Link, target: &Target<'_>, body: &ClientReader) -> Result<Vec<u8>> {
    let peer = t.peer();
    let bearer = t.text(O::Xoauth2Bearer).map(|token| t.secret(token));
    let state = &mut t.http.auth;
    state.has_bearer = bearer.as_ref().is_some_and(|b| b.for_peer(&peer).is_some());
    let unnamed = t.easy.stores.auth.borrow().proxy.scheme() == CURLAUTH_NEGOTIATE;
    state.proxy = link.forwarder().map(|p| (p.peer(), p.login_or_unnamed(unnamed)));
    state.withhold = false;
    t.http.auth.server = asking(t)?;
    let mut out = Vec::new();
    proxy_field(t, target, &mut out);
    server_field(t, target, &peer, bearer.as_ref(), body, &mut out)?;
    super::httpsig::fields(t, target, &mut out)?;
    let mut memory = t.easy.stores.auth.borrow_mut();
    memory.server.check()?;
    memory.proxy.check()?;
    let more = memory.server.more_follows() || memory.proxy.more_follows();
    drop(memory);
    t.http.auth.withhold = more && !matches!(t.method, Method::Get | Method::Head);
    Ok(out)
}

/// What [`fields`] comes to when there is nothing to prove to anybody.
pub fn nothing_to_prove(t: &mut Transfer) {
    let mut memory = t.easy.stores.auth.borrow_mut();
    memory.server.skip();
    memory.proxy.skip();
    let state = &mut t.http.auth;
    (state.server, state.has_bearer, state.proxy, state.withhold) = (None, false, None, false);
}

/// Whether it came to that, and will again: a signature of the message needs no login, and tickets come and go.
pub fn proves_nothing(t: &Transfer) -> bool {
    let state = &t.http.auth;
    let by_login = state.server.is_some() || state.has_bearer || state.proxy.is_some();
    let by_ticket = t.long(O::Httpauth) as u64 & CURLAUTH_NEGOTIATE != 0;
    !by_login && !by_ticket && t.long(O::HttpsigAlgorithm) == 0
}

fn proxy_field(t: &mut Transfer, target: &Target<'_>, out: &mut Vec<u8>) {
    let mut memory = t.easy.stores.auth.borrow_mut();
    let state = &mut t.http.auth;
    let Some((peer, Some(login))) = &state.proxy else {
        memory.proxy.skip();
        return;
    };
    let mut uri = Vec::new();
    write_target(&t.url, &mut uri);
    let ask = Ask {
        peer,
        login: Some(login),
        bearer: None,
        method: target.method,
        uri: &uri,
        custom: target.custom.names("Proxy-Authorization"),
    };
    let value = memory.proxy.answer(&ask, &mut state.steps.get_or_insert_default().proxy);
    if value.is_some() || memory.proxy.converses() {
        t.easy.info.borrow_mut().proxy_auth_used = memory.proxy.scheme() as i64;
    }
    if let Some(value) = value {
        field(out, "Proxy-Authorization", &value);
    }
}

fn server_field(
    t: &mut Transfer,
    target: &Target<'_>,
    peer: &Peer,
    bearer: Option<&Secret<crate::settings::Text>>,
    body: &ClientReader,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut memory = t.easy.stores.auth.borrow_mut();
    if t.http.auth.server.is_none() && !t.http.auth.has_bearer {
        memory.server.skip();
        return Ok(());
    }
    let scheme = memory.server.scheme();
    if scheme == CURLAUTH_AWS_SIGV4 {
        memory.server.skip();
        drop(memory);
        t.easy.info.borrow_mut().auth_used = scheme as i64;
        return signed(t, target, peer, body, out);
    }
    let mut uri = Vec::new();
    write_target(&t.url, &mut uri);
    let state = &mut t.http.auth;
    let ask = Ask {
        peer,
        login: state.server.as_ref(),
        bearer,
        method: target.method,
        uri: &uri,
        custom: target.custom.names("Authorization"),
    };
    let value = memory.server.answer(&ask, &mut state.steps.get_or_insert_default().server);
    if value.is_some() || memory.server.converses() {
        t.easy.info.borrow_mut().auth_used = memory.server.scheme() as i64;
    }
    if let Some(value) = value {
        field(out, "Authorization", &value);
    }
    Ok(())
}

fn field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// CURLOPT_AWS_SIGV4.
fn signed(
    t: &Transfer,
    target: &Target<'_>,
    peer: &Peer,
    body: &ClientReader,
    out: &mut Vec<u8>,
) -> Result<()> {
    let login = t.http.auth.server.as_ref().and_then(|login| login.for_peer(peer));
    let (Some(login), false) = (login, target.custom.names("Authorization")) else { return Ok(()) };
    let parameters = t.easy.settings.borrow().string(O::AwsSigv4).unwrap_or_default();
    let payload = body.whole();
    let host_name = t.url.host_ascii().unwrap_or_default();
    let headers = target.custom.pairs();
    let request = sigv4::Request {
        parameters: &parameters,
        user: &login.user,
        secret: &login.password,
        method: target.method,
        host_name: &host_name,
        host: target.host,
        path: t.url.path(),
        query: t.url.query(),
        headers: &headers,
        payload: payload.as_deref().map_or(sigv4::Payload::Streamed, sigv4::Payload::Known),
        now: now(),
    };
    let signature = sigv4::sign(&request).map_err(|e| match e {
        sigv4::Error::BadParameters => Error::new(Code::BadFunctionArgument, "aws-sigv4: bad parameters"),
        sigv4::Error::NoService => {
            Error::new(Code::UrlMalformat, "aws-sigv4: service missing in parameters and hostname")
        }
        sigv4::Error::NoRegion => {
            Error::new(Code::UrlMalformat, "aws-sigv4: region missing in parameters and hostname")
        }
    })?;
    field(out, "Authorization", &signature.authorization);
    for (name, value) in &signature.headers {
        field(out, name, value);
    }
    Ok(())
}

/// After a reply: another round, when one is asked for and may help.
pub fn after(t: &mut Transfer, talk: &mut Talk, response: &Response) -> Result<Option<Next>> {
    let status = response.status;
    take_challenges(t, response);
    let mut memory = t.easy.stores.auth.borrow_mut();
    if memory.problem {
        return Ok(None);
    }
    let state = &t.http.auth;
    let unasked = state.withhold && status < 300;
    let mut again = false;
    if (state.server.is_some() || state.has_bearer) && (status == 401 || unasked) {
        again |= memory.server.pick();
        memory.problem |= !again;
    }
    if state.proxy.as_ref().is_some_and(|(_, login)| login.is_some()) && (status == 407 || unasked) {
        let picked = memory.proxy.pick();
        memory.problem |= !picked;
        again |= picked;
    }
    if !again && unasked && !memory.server.is_done() {
        // Nobody wants to know who we are: now the request with its body.
        memory.server.give_up();
        again = true;
    }
    drop(memory);
    if !again {
        return Ok(None);
    }
    if t.http.http10 && talk.upload.in_chunks() {
        return Err(Error::new(Code::UploadFailed, "Chunky upload is not supported by HTTP 1.0"));
    }
    talk.upload.rewind()?;
    Ok(Some(Next::Again))
}

fn take_challenges(t: &mut Transfer, response: &Response) {
    let mut memory = t.easy.stores.auth.borrow_mut();
    let peer = t.peer();
    let state = &mut t.http.auth;
    let mut info = t.easy.info.borrow_mut();
    let problem = match (response.status, &state.proxy) {
        (401, _) => {
            let values = &response.challenges;
            let (all, problem) =
                memory.server.challenged(values, &peer, &mut state.steps.get_or_insert_default().server);
            info.auth_available = all as i64;
            problem
        }
        (407, Some((proxy, _))) => {
            let values = &response.proxy_challenges;
            let (all, problem) =
                memory.proxy.challenged(values, proxy, &mut state.steps.get_or_insert_default().proxy);
            info.proxy_auth_available = all as i64;
            problem
        }
        _ => false,
    };
    drop(info);
    let steps = state.steps.as_ref();
    let cut = !response.keep_alive
        && match response.status {
            401 => steps.is_some_and(|steps| steps.server.expects_answer()),
            407 => steps.is_some_and(|steps| steps.proxy.expects_answer()),
            _ => false,
        };
    if cut {
        t.easy.note(|| "Connection closure while negotiating auth (HTTP 1.0?)".to_owned());
        memory.problem = true;
    }
    if problem {
        t.easy.note(|| "Authentication problem. Ignoring this.".to_owned());
        memory.problem = true;
    }
}

/// NTLM and Negotiate authenticate connections: one that serves a user serves nobody else. Who the connection must have
/// been made for.
pub fn bound_login(t: &Transfer) -> Result<Option<Credentials>> {
    let scheme = t.easy.stores.auth.borrow().server.scheme();
    login_by(t, scheme)
}

fn login_by(t: &Transfer, scheme: u64) -> Result<Option<Credentials>> {
    let (name, circumstances) = match scheme {
        CURLAUTH_NTLM => (&b"NTLM"[..], String::new()),
        CURLAUTH_NEGOTIATE => (NEGOTIATE, negotiate::circumstances(t, Role::Server)),
        _ => return Ok(None),
    };
    cold_path();
    let (peer, login) = (t.peer(), asking(t)?);
    let Some(login) = login.as_ref().and_then(|login| login.for_peer(&peer)) else { return Ok(None) };
    let Login { user, password } = login.clone();
    // Through a proxy that forwards, one connection leads to many servers: it is one server's from here on.
    let extra = format!("{peer:?}\n{circumstances}").into_bytes();
    Ok(Some(Credentials { user, password, options: name.to_vec(), extra }))
}

/// Who a proxy that forwards must have been told of on a connection, when it asks for NTLM.
pub fn bound_proxy(t: &Transfer, proxy: &Proxy) -> Option<Credentials> {
    let ntlm = t.easy.stores.auth.borrow().proxy.scheme() == CURLAUTH_NTLM;
    if ntlm { proxy_login(proxy) } else { None }
}

fn proxy_login(proxy: &Proxy) -> Option<Credentials> {
    let user = proxy.user.clone()?;
    let password = proxy.password.clone().unwrap_or_default();
    Some(Credentials { user, password, options: b"NTLM of the proxy".to_vec(), ..Credentials::default() })
}

/// Where the scheme is still to be found out and NTLM is among those allowed, whom an idle connection may have been
/// authenticated for by it already: nothing has to be found out there. Of the server and of a proxy that forwards.
pub fn perhaps_bound(t: &Transfer, forwarding: Option<&Proxy>) -> Result<[Option<Credentials>; 2]> {
    let may_be = |scheme: u64| scheme & CURLAUTH_NTLM != 0 && !scheme.is_power_of_two();
    let (server, proxy) = {
        let memory = t.easy.stores.auth.borrow();
        (may_be(memory.server.scheme()), may_be(memory.proxy.scheme()))
    };
    let server = if server { login_by(t, CURLAUTH_NTLM)? } else { None };
    Ok([server, forwarding.filter(|_| proxy).and_then(proxy_login)])
}

/// Whether the conversation goes on by a scheme that wants it to be on one connection.
pub fn binds(t: &Transfer) -> bool {
    let memory = t.easy.stores.auth.borrow();
    memory.server.binds() || memory.proxy.binds()
}

const NEGOTIATE: &[u8] = b"Negotiate";

/// Whether these are the credentials of whoever the process is at the time: they may be somebody else's the next time.
pub fn unnamed(credentials: &Credentials) -> bool {
    credentials.options == NEGOTIATE && credentials.user.is_empty()
}

/// Who is asking: the login for the URL or, for Negotiate, whoever holds the tickets.
fn asking(t: &Transfer) -> Result<Option<Secret<Login>>> {
    let by_ticket = t.easy.stores.auth.borrow().server.scheme() == CURLAUTH_NEGOTIATE;
    let login = credentials(t)?;
    Ok(login.or_else(|| by_ticket.then(|| Secret::of(t.peer(), Login::default()))))
}

/// A request is about to find its connection. Tickets prove who the user is, whatever name a URL gives: only the server
/// that the application itself named gets one, not whom a redirect leads to.
pub fn begin_request(t: &Transfer) -> Result<()> {
    if t.long(O::Netrc) != 0 {
        cold_path();
        credentials(t)?; // what is wrong with the file is told before anybody is connected to
    }
    let mut memory = t.easy.stores.auth.borrow_mut();
    if memory.server.wants(CURLAUTH_NEGOTIATE) {
        cold_path();
        let own = t.secret(()).for_peer(&t.peer()).is_some();
        memory.server.bar(if own { 0 } else { CURLAUTH_NEGOTIATE });
    }
    Ok(())
}

/// Before a request is made: the security contexts make the tokens that it will carry.
pub async fn prepare(t: &mut Transfer, link: &Link) -> Result<()> {
    let memory = || t.easy.stores.auth.borrow_mut();
    if memory().server.wants(CURLAUTH_NEGOTIATE) {
        cold_path();
        let login = asking(t)?;
        memory().server.meet(&t.peer(), login.as_ref());
        let speaks = login.is_some() && memory().server.scheme() == CURLAUTH_NEGOTIATE;
        let mut negotiate = std::mem::take(&mut t.http.auth.steps.get_or_insert_default().server.negotiate);
        if speaks && negotiate.must_begin() {
            let whom = server(t, link.lease.filter.as_ref());
            if !speak(t, whom, &mut negotiate, None, None).await {
                t.easy.stores.auth.borrow_mut().server.lost(CURLAUTH_NEGOTIATE);
            }
        }
        t.http.auth.steps.get_or_insert_default().server.negotiate = negotiate;
    }
    let Some(proxy) = link.forwarder() else { return Ok(()) };
    cold_path();
    let mut negotiate = std::mem::take(&mut t.http.auth.steps.get_or_insert_default().proxy.negotiate);
    proxy.prepare(t, &mut negotiate).await;
    t.http.auth.steps.get_or_insert_default().proxy.negotiate = negotiate;
    Ok(())
}

/// The server, as whom a security context is made with.
fn server(t: &Transfer, filter: &dyn Filter) -> Whom {
    let host = t.url.host_ascii().unwrap_or_default();
    let channel = filter.tls().filter(|_| t.scheme().tls()).and_then(binding::server_end_point);
    Whom { role: Role::Server, host: String::from_utf8_lossy(&host).into_owned(), channel }
}

/// After the head of a reply: the security contexts take in what it says to them.
pub async fn hear(t: &mut Transfer, talk: &Talk, response: &Response) {
    let scheme = t.easy.stores.auth.borrow().server.scheme();
    if scheme == CURLAUTH_NEGOTIATE {
        cold_path();
        let mut negotiate = std::mem::take(&mut t.http.auth.steps.get_or_insert_default().server.negotiate);
        if let Some(persists) = response.persistent_auth {
            t.easy.note(|| {
                format!("Negotiate: the connection {} it", if persists { "keeps" } else { "forgets" })
            });
            negotiate.told_to_persist(persists);
        }
        let whom = server(t, talk.exchange.connection().filter.as_ref());
        let challenges = (response.status == 401).then_some(&response.challenges);
        listen(t, whom, &mut negotiate, challenges, response.keep_alive).await;
        t.http.auth.steps.get_or_insert_default().server.negotiate = negotiate;
    }
    let asked = t.easy.stores.auth.borrow().proxy.scheme() == CURLAUTH_NEGOTIATE;
    if let Some((peer, Some(_))) = t.http.auth.proxy.as_ref().filter(|_| asked) {
        cold_path();
        let whom = Whom { role: Role::Proxy, host: peer.host().to_owned(), channel: None };
        let mut negotiate = std::mem::take(&mut t.http.auth.steps.get_or_insert_default().proxy.negotiate);
        let challenges = (response.status == 407).then_some(&response.proxy_challenges);
        listen(t, whom, &mut negotiate, challenges, response.keep_alive).await;
        t.http.auth.steps.get_or_insert_default().proxy.negotiate = negotiate;
    }
}
