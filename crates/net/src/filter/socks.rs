//! A SOCKS proxy: the conversation before the tunnel. Afterwards bytes pass as they are, so no layer stays behind.
//!
//! The messages are `wire::socks`'s. Every read asks for exactly what is due, so nothing that belongs to the tunnel is
//! taken.

use std::io;

use tables::ProxyCode;
use wire::socks::{self, Destination, Method, SocksError};

use super::Filter;
use crate::error::{NetError, NetErrorKind};

/// Which SOCKS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 4, and with a name as destination 4a.
    V4,
    V5,
}

/// What the proxy is asked for.
pub struct SocksRequest<'a> {
    pub version: Version,
    /// An address that was looked up here, or a name for the proxy to look up.
    pub destination: Destination<'a>,
    pub port: u16,
    /// The host that messages name.
    pub host: &'a str,
    pub user: Option<&'a [u8]>,
    pub password: &'a [u8],
}

/// Has the proxy at the other end of `below` connect to the destination.
pub async fn establish(below: &mut dyn Filter, request: &SocksRequest<'_>) -> Result<(), NetError> {
    match request.version {
        Version::V4 => version4(below, request).await,
        Version::V5 => version5(below, request).await,
    }
}

async fn version4(below: &mut dyn Filter, request: &SocksRequest<'_>) -> Result<(), NetError> {
    let message = socks::connect4(request.destination, request.port, request.user.unwrap_or_default());
    send(below, &message.map_err(failed)?, ProxyCode::SendConnect, "SOCKS4 connect request").await?;
    let reply = receive::<8>(below, ProxyCode::RecvConnect, "SOCKS4 connect request ack").await?;
    socks::reply4(&reply).map_err(failed)
}

async fn version5(below: &mut dyn Filter, request: &SocksRequest<'_>) -> Result<(), NetError> {
    // A name too long is refused before anything is said.
    let message = socks::connect5(request.destination, request.port).map_err(failed)?;
    let login = request.user.is_some();
    send(below, socks::greeting5(login), ProxyCode::SendConnect, "initial SOCKS5 request").await?;
    let choice = receive(below, ProxyCode::RecvConnect, "initial SOCKS5 response").await?;
    if socks::choice5(choice, login).map_err(failed)? == Method::Password {
        log_in(below, request).await?;
    }
    send(below, &message, ProxyCode::SendRequest, "SOCKS5 connect request").await?;
    let head = receive(below, ProxyCode::RecvReqack, "SOCKS5 connect request ack").await?;
    let rest = socks::reply5(&head, request.host, request.port).map_err(failed)?;
    let mut bound = [0; 257];
    read_exact(below, &mut bound[..rest], ProxyCode::RecvAddress, "SOCKS5 connect request address").await
}

async fn log_in(below: &mut dyn Filter, request: &SocksRequest<'_>) -> Result<(), NetError> {
    let message = socks::login5(request.user.unwrap_or_default(), request.password).map_err(failed)?;
    send(below, &message, ProxyCode::SendAuth, "SOCKS5 sub-negotiation request").await?;
    let reply = receive(below, ProxyCode::RecvAuth, "SOCKS5 sub-negotiation response").await?;
    socks::login_reply5(reply).map_err(failed)
}

async fn send(below: &mut dyn Filter, bytes: &[u8], code: ProxyCode, what: &str) -> Result<(), NetError> {
    below.write_all(bytes).await.map_err(|e| broken(&e, code, &format!("Failed to send {what}")))
}

async fn receive<const N: usize>(
    below: &mut dyn Filter,
    code: ProxyCode,
    what: &str,
) -> Result<[u8; N], NetError> {
    let mut reply = [0; N];
    read_exact(below, &mut reply, code, what).await?;
    Ok(reply)
}

async fn read_exact(
    below: &mut dyn Filter,
    buf: &mut [u8],
    code: ProxyCode,
    what: &str,
) -> Result<(), NetError> {
    below.read_exact(buf).await.map_err(|e| broken(&e, code, &format!("Failed to receive {what}")))
}

fn broken(e: &io::Error, code: ProxyCode, what: &str) -> NetError {
    let (code, text) = match e.kind() {
        io::ErrorKind::UnexpectedEof => (ProxyCode::Closed, "connection to proxy closed".to_owned()),
        _ => (code, format!("{what}: {e}")),
    };
    NetError::from_io(NetErrorKind::Proxy(code.id().into()), text, e)
}

fn failed(e: SocksError) -> NetError {
    NetError::new(NetErrorKind::Proxy(e.code.id().into()), e.text)
}
