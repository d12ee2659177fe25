//! Connection-based authentication: which login an NTLM or Negotiate connection is bound to.

use std::hint::cold_path;

use net::connection_key::{ConnectionAuth, Login as Bindable, RequestLogin, ServerLogin, UserPassword};

use super::auth::asking;
use super::http_transfer::HttpTransfer;
use crate::error::Result;
use crate::transfer::auth::{Binding, Scheme};
use crate::transfer::login::Login;
use crate::transfer::negotiate;
use crate::transfer::proxy::Proxy;
use crate::transfer::route::plan::LoginBinding;

/// Returns the logins that the next connection must be bound to, one for the server and one for a forwarding
/// proxy.
///
/// NTLM and Negotiate authenticate a connection, so a connection that serves one user serves no other. While
/// the scheme is not known yet, `perhaps` names the login of an idle connection that NTLM has already
/// authenticated: using it saves the challenge.
pub fn binding_of(t: &mut HttpTransfer, forwarding: Option<&Proxy>) -> Result<LoginBinding> {
    let [server, proxy] = {
        let memory = t.auth.borrow();
        [memory.server.binding(), forwarding.map_or(Binding::Nobody, |_| memory.proxy.binding())]
    };
    if [server, proxy] == [Binding::Nobody; 2] {
        return Ok(LoginBinding::default());
    }
    cold_path();
    let known = |binding| if let Binding::User(scheme) = binding { Some(scheme) } else { None };
    let guess = |binding| if let Binding::Perhaps(scheme) = binding { Some(scheme) } else { None };
    let sure = (login_by(t, known(server))?, proxy_login(forwarding, known(proxy)));
    let perhaps = match (login_by(t, guess(server))?, proxy_login(forwarding, guess(proxy))) {
        (None, None) => None,
        // A proxy that wants to know who we are comes first; whether the server does too is seen later.
        (server, proxy) => match proxy.or_else(|| sure.1.clone()) {
            Some(proxy) => both(sure.0.clone(), Some(proxy)),
            None => both(server, None),
        },
    };
    Ok(LoginBinding { to: both(sure.0, sure.1).map(Box::new), perhaps: perhaps.map(Box::new) })
}

fn login_by(t: &mut HttpTransfer, scheme: Option<Scheme>) -> Result<Option<ServerLogin>> {
    let method = match scheme {
        Some(Scheme::Ntlm) => ConnectionAuth::Ntlm,
        Some(Scheme::Negotiate) => ConnectionAuth::Negotiate(negotiate::server_ticket(t)),
        _ => return Ok(None),
    };
    let peer = t.peer();
    let Some(Login { user, password }) = asking(t)?.and_then(|login| login.for_peer(&peer).cloned()) else {
        return Ok(None);
    };
    let (scheme, origin) = (t.scheme(), peer.origin().clone());
    Ok(Some(ServerLogin { scheme, origin, user: UserPassword::new(user, password), method }))
}

fn proxy_login(proxy: Option<&Proxy>, scheme: Option<Scheme>) -> Option<UserPassword> {
    let proxy = proxy.filter(|_| scheme == Some(Scheme::Ntlm))?;
    Some(UserPassword::new(proxy.user.clone()?, proxy.password.clone().unwrap_or_default()))
}

fn both(server: Option<ServerLogin>, proxy: Option<UserPassword>) -> Option<Bindable> {
    let login = RequestLogin { server, proxy };
    (login != RequestLogin::default()).then(|| Bindable::Requests(Box::new(login)))
}
