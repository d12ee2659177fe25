//! A SOCKS proxy: the handshake before the tunnel. After it bytes pass unchanged, so that no filter stays,
//! unless the proxy protects them (`socks_gssapi`).
//!
//! `wire::socks` encodes the messages. Every read asks for exactly the bytes that are due, so that nothing of
//! the tunnel is consumed.

use std::io;

use tables::ProxyCode;
use wire::socks::{self, AuthMethods, Destination, Method, SocksError};

use super::Filter;
use super::socks_gssapi::{self, Gssapi};
use crate::error::{NetError, NetErrorKind};

/// The SOCKS version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 4, or 4a if the destination is a name.
    V4,
    V5,
}

/// The request to the proxy.
pub struct SocksRequest<'a> {
    pub version: Version,
    /// A resolved address, or a name for the proxy to resolve.
    pub destination: Destination<'a>,
    pub port: u16,
    /// The host that error messages name.
    pub host: &'a str,
    pub user: Option<&'a [u8]>,
    pub password: &'a [u8],
    /// Whether version 5 may log in with user and password.
    pub by_password: bool,
    /// How version 5 may log in with a Kerberos ticket.
    pub gssapi: Option<Gssapi<'a>>,
}

/// Makes the proxy at the other end of `below` connect to the destination. Returns the tunnel.
pub async fn establish(
    mut below: Box<dyn Filter>,
    request: SocksRequest<'_>,
) -> Result<Box<dyn Filter>, NetError> {
    match request.version {
        Version::V4 => version4(&mut *below, &request).await.map(|()| below),
        Version::V5 => version5(below, request).await,
    }
}

async fn version4(below: &mut dyn Filter, request: &SocksRequest<'_>) -> Result<(), NetError> {
    let message = socks::connect4(request.destination, request.port, request.user.unwrap_or_default());
    send(below, &message.map_err(failed)?, ProxyCode::SendConnect, "SOCKS4 connect request").await?;
    let reply = receive::<8>(below, ProxyCode::RecvConnect, "SOCKS4 connect request ack").await?;
    socks::reply4(&reply).map_err(failed)
}

async fn version5(
    mut below: Box<dyn Filter>,
    mut request: SocksRequest<'_>,
) -> Result<Box<dyn Filter>, NetError> {
    // A name that is too long is refused before anything is sent.
    let message = socks::connect5(request.destination, request.port).map_err(failed)?;
    match greet(&mut *below, &request).await? {
        Method::None => {}
        Method::Password => log_in(&mut *below, &request).await?,
        Method::Gssapi => {
            let login = request.gssapi.take().expect("it was offered");
            below = socks_gssapi::log_in(below, login).await?;
        }
    }
    send(&mut *below, &message, ProxyCode::SendRequest, "SOCKS5 connect request").await?;
    let head = receive(&mut *below, ProxyCode::RecvReqack, "SOCKS5 connect request ack").await?;
    let rest = socks::reply5(&head, request.host, request.port).map_err(failed)?;
    let mut bound = [0; 257];
    let what = "SOCKS5 connect request address";
    read_exact(&mut *below, &mut bound[..rest], ProxyCode::RecvAddress, what).await?;
    Ok(below)
}

/// Offers the allowed methods; the proxy chooses.
async fn greet(below: &mut dyn Filter, request: &SocksRequest<'_>) -> Result<Method, NetError> {
    let ways = AuthMethods {
        gssapi: request.gssapi.is_some(),
        password: request.by_password,
        named: request.user.is_some(),
    };
    send(below, &socks::greeting5(ways), ProxyCode::SendConnect, "initial SOCKS5 request").await?;
    let choice = receive(below, ProxyCode::RecvConnect, "initial SOCKS5 response").await?;
    socks::choice5(choice, ways).map_err(failed)
}

async fn log_in(below: &mut dyn Filter, request: &SocksRequest<'_>) -> Result<(), NetError> {
    let message = socks::login5(request.user.unwrap_or_default(), request.password).map_err(failed)?;
    send(below, &message, ProxyCode::SendAuth, "SOCKS5 sub-negotiation request").await?;
    let reply = receive(below, ProxyCode::RecvAuth, "SOCKS5 sub-negotiation response").await?;
    socks::login_reply5(reply).map_err(failed)
}

pub(super) async fn send(
    below: &mut dyn Filter,
    bytes: &[u8],
    code: ProxyCode,
    what: &str,
) -> Result<(), NetError> {
    below.write_all(bytes).await.map_err(|e| broken(&e, code, &format!("Failed to send {what}")))
}

pub(super) async fn receive<const N: usize>(
    below: &mut dyn Filter,
    code: ProxyCode,
    what: &str,
) -> Result<[u8; N], NetError> {
    let mut reply = [0; N];
    read_exact(below, &mut reply, code, what).await?;
    Ok(reply)
}

pub(super) async fn read_exact(
    below: &mut dyn Filter,
    buf: &mut [u8],
    code: ProxyCode,
    what: &str,
) -> Result<(), NetError> {
    below.read_exact(buf).await.map_err(|e| broken(&e, code, &format!("Failed to receive {what}")))
}

fn broken(e: &io::Error, code: ProxyCode, what: &str) -> NetError {
    let (code, text) = match e.kind() {
        // Outside the GSS-API login a closed connection has its own code.
        io::ErrorKind::UnexpectedEof if code != ProxyCode::Gssapi => {
            (ProxyCode::Closed, "connection to proxy closed".to_owned())
        }
        _ => (code, format!("{what}: {e}")),
    };
    NetError::from_io(NetErrorKind::Proxy(code.id().into()), text, e)
}

pub(super) fn failed(e: SocksError) -> NetError {
    NetError::new(NetErrorKind::Proxy(e.code.id().into()), e.text)
}
