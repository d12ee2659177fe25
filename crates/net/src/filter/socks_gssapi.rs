//! GSS-API as a SOCKS 5 proxy wants it (RFC 1961): the tokens of a security context to and fro, then the level at which
//! everything else is protected. The messages are `wire::socks_gssapi`'s, the protection is `sealed`'s.
//!
//! As in curl, the best protection that the context has is asked for, and what the proxy says is taken: most say none.

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

/// Tokens of ours; every mechanism is done long before.
const MAX_ROUNDS: usize = 16;

/// What is needed of a security context. A step may ask a key distribution centre and take its time.
pub trait Security: Send {
    /// Takes in the other side's token, none at the beginning, and says what goes to it.
    fn step(&mut self, token: Option<&[u8]>) -> Result<Step, Error>;
    /// What it can do for messages, once it stands.
    fn protection(&self) -> Protection;
    /// Who we are in it.
    fn user(&mut self) -> Result<String, Error>;
    /// Signs a message, and encrypts it when it is to be `confidential`.
    fn wrap(&mut self, message: &[u8], confidential: bool) -> Result<Vec<u8>, Error>;
    /// The other side's message, and whether it was encrypted.
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

/// Makes a context on the helper thread on which its first step is made.
pub type MakeSecurity = Box<dyn FnOnce() -> Result<Box<dyn Security>, Error> + Send>;

/// A login with a ticket.
pub struct Gssapi<'a> {
    /// Hears of a step's end.
    pub reactor: &'a Arc<Reactor>,
    /// Makes the context with the proxy.
    pub security: MakeSecurity,
    /// The level is told without protection, as NEC's servers have it.
    pub nec: bool,
    /// Set once a ticket has authenticated somebody.
    pub used: &'a Cell<bool>,
    /// Is told what a verbose transfer says.
    pub note: &'a dyn Fn(String),
}

/// Logs in. What comes back protects whatever follows, if that was agreed on.
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
        // What the context can't do it must not pretend to.
        (Level::Integrity, Level::Integrity | Level::Confidentiality) | (_, Level::Confidentiality) => {
            Ok(Box::new(SealedFilter::new(below, security, agreed)))
        }
        _ => Err(failed(SocksError {
            code: ProxyCode::GssapiProtection,
            text: format!("SOCKS5 GSS-API {} protection is not possible.", agreed.name()),
        })),
    }
}

/// Tokens to and fro until the context stands.
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

/// Tells what is wanted; the proxy says what there will be.
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
    let said = match nec {
        true => token,
        false => security.unwrap(&token).map_err(|e| broken(&e))?.0,
    };
    level(&said).map_err(failed)
}

/// The token of an answer. A rejection is two bytes, behind which the proxy may close.
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
