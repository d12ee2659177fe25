//! GSS-API in SOCKS 5 (RFC 1961): exchanges the tokens of a security context, then agrees on the level that
//! protects the rest. `wire::socks_gssapi` encodes the messages, `sealed` protects the data.
//!
//! As in curl, the best level that the context supports is requested, and the proxy's choice is accepted:
//! most choose none.

use std::cell::Cell;
use std::sync::Arc;

use gss::{Error, Protection, Step};
use runtime::Reactor;
use tables::ProxyCode;
use wire::socks::SocksError;
use wire::socks_gssapi::{Kind, Level, answer, level, message, token_length};

use super::Filter;
use super::sealed::SealedFilter;
use super::socks::{failed, read_exact, receive, send};
use crate::error::{NetError, NetErrorKind};

/// Most tokens that are sent; every mechanism ends long before.
const MAX_ROUNDS: usize = 16;

/// A security context. A step may ask a key distribution centre and block.
pub trait Security: Send {
    /// Processes the other side's token, `None` at the beginning, and returns the next one to send.
    fn step(&mut self, token: Option<&[u8]>) -> Result<Step, Error>;
    /// The protection that a complete context supports.
    fn protection(&self) -> Protection;
    /// The client's name in the context.
    fn user(&mut self) -> Result<String, Error>;
    /// Signs a message, and also encrypts it if `confidential`.
    fn wrap(&mut self, message: &[u8], confidential: bool) -> Result<Vec<u8>, Error>;
    /// Returns the other side's message, and whether it was encrypted.
    fn unwrap(&mut self, message: &[u8]) -> Result<(Vec<u8>, bool), Error>;
}

impl Security for gss::Context {
    fn step(&mut self, token: Option<&[u8]>) -> Result<Step, Error> {
        gss::Context::step(self, token)
    }

    fn protection(&self) -> Protection {
        gss::Context::protection(self)
    }

    fn user(&mut self) -> Result<String, Error> {
        gss::Context::user(self)
    }

    fn wrap(&mut self, message: &[u8], confidential: bool) -> Result<Vec<u8>, Error> {
        gss::Context::wrap(self, message, confidential)
    }

    fn unwrap(&mut self, message: &[u8]) -> Result<(Vec<u8>, bool), Error> {
        gss::Context::unwrap(self, message)
    }
}

/// Creates a context, on the helper thread that also runs its first step.
pub type MakeSecurity = Box<dyn FnOnce() -> Result<Box<dyn Security>, Error> + Send>;

/// Login with a Kerberos ticket.
pub struct Gssapi<'a> {
    /// Woken at a step's end.
    pub reactor: &'a Arc<Reactor>,
    /// Creates the context with the proxy.
    pub security: MakeSecurity,
    /// Whether the level is sent without protection, as NEC's servers expect.
    pub nec: bool,
    /// Set after a ticket has authenticated the user.
    pub used: &'a Cell<bool>,
    /// Receives lines of verbose output.
    pub note: &'a dyn Fn(String),
}

/// Logs in. The returned filter protects all later data, if that was agreed on.
pub async fn log_in(mut below: Box<dyn Filter>, login: Gssapi<'_>) -> Result<Box<dyn Filter>, NetError> {
    let mut security = authenticate(&mut *below, login.reactor, login.security).await?;
    login.used.set(true);
    let user = security.user().map_err(|e| broken(&e))?;
    (login.note)(format!("SOCKS5 server authenticated user {user} with GSS-API."));
    let wanted = match security.protection() {
        Protection::Confidential => Level::Confidentiality,
        Protection::Signed => Level::Integrity,
        Protection::None => Level::None,
    };
    (login.note)(format!("SOCKS5 server supports GSS-API {} data protection.", wanted.name()));
    let agreed = agree(&mut *below, &mut *security, wanted, login.nec).await?;
    (login.note)(match agreed {
        Level::None => "SOCKS5 access without GSS-API data protection granted.".to_owned(),
        _ => format!("SOCKS5 access with GSS-API {} protection granted.", agreed.name()),
    });
    match (agreed, wanted) {
        (Level::None, _) => Ok(below),
        // Refuse a level that the context does not support.
        (Level::Integrity, Level::Integrity | Level::Confidentiality) | (_, Level::Confidentiality) => {
            Ok(Box::new(SealedFilter::new(below, security, agreed)))
        }
        _ => Err(failed(SocksError {
            code: ProxyCode::GssapiProtection,
            text: format!("SOCKS5 GSS-API {} protection is not possible.", agreed.name()),
        })),
    }
}

/// Exchanges tokens until the context is complete.
async fn authenticate(
    below: &mut dyn Filter,
    reactor: &Arc<Reactor>,
    make: MakeSecurity,
) -> Result<Box<dyn Security>, NetError> {
    let first = move || {
        let mut security = make()?;
        let step = security.step(None)?;
        Ok((security, step))
    };
    let (mut security, mut step) = on_a_thread(reactor, first).await?;
    for _ in 0..MAX_ROUNDS {
        if !step.token().is_empty() {
            let what = "GSS-API authentication request";
            let token = message(Kind::Authentication, step.token()).map_err(failed)?;
            send(below, &token, ProxyCode::Gssapi, what).await?;
        }
        if let Step::Complete(_) = step {
            return Ok(security);
        }
        let token = receive_token(below, Kind::Authentication).await?;
        let next = move || {
            let step = security.step(Some(&token))?;
            Ok((security, step))
        };
        (security, step) = on_a_thread(reactor, next).await?;
    }
    let text = "The SOCKS5 server does not come to an end with GSS-API.".to_owned();
    Err(failed(SocksError { code: ProxyCode::Gssapi, text }))
}

type Stepped = (Box<dyn Security>, Step);

async fn on_a_thread(
    reactor: &Arc<Reactor>,
    work: impl FnOnce() -> Result<Stepped, Error> + Send + 'static,
) -> Result<Stepped, NetError> {
    let done = runtime::offload(reactor, "warmwire-gss", work).await;
    let done = done.map_err(|e| NetError::from_io(gssapi(), format!("GSS-API error: {e}"), &e))?;
    done.map_err(|e| broken(&e))
}

/// Requests a level; the proxy's reply decides.
async fn agree(
    below: &mut dyn Filter,
    security: &mut dyn Security,
    wanted: Level,
    nec: bool,
) -> Result<Level, NetError> {
    let plain = [wanted as u8];
    let token = match nec {
        true => plain.to_vec(),
        false => security.wrap(&plain, false).map_err(|e| broken(&e))?,
    };
    let token = message(Kind::Protection, &token).map_err(failed)?;
    send(below, &token, ProxyCode::Gssapi, "GSS-API encryption request").await?;
    let token = receive_token(below, Kind::Protection).await?;
    let answer = match nec {
        true => token,
        false => security.unwrap(&token).map_err(|e| broken(&e))?.0,
    };
    level(&answer).map_err(failed)
}

/// Returns the token of a reply. A rejection is two bytes, after which the proxy may close.
async fn receive_token(below: &mut dyn Filter, kind: Kind) -> Result<Vec<u8>, NetError> {
    let what = format!("GSS-API {} response", kind.name());
    answer(kind, receive(below, ProxyCode::Gssapi, &what).await?).map_err(failed)?;
    let length = receive(below, ProxyCode::Gssapi, &what).await?;
    let mut token = vec![0; token_length(kind, length).map_err(failed)?];
    read_exact(below, &mut token, ProxyCode::Gssapi, &format!("GSS-API {} token", kind.name())).await?;
    Ok(token)
}

fn broken(error: &Error) -> NetError {
    NetError::new(gssapi(), format!("GSS-API error: {error}"))
}

fn gssapi() -> NetErrorKind {
    NetErrorKind::Proxy(ProxyCode::Gssapi.id().into())
}
