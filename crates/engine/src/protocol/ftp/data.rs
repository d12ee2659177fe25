//! Data connections: passive by EPSV (RFC 2428 §3) or PASV, active by EPRT or PORT.

use std::future::poll_fn;

use net::Filter;
use net::filter::SocketFilter;
use runtime::Socket;
use tables::{Code, EasyOption as O};

use super::ahead::EarlyConnection;
use super::control::Control;
use super::decide::data as decide;
use super::port;
use crate::error::{Error, Result};
use crate::transfer::Transfer;

/// A data connection, possibly not established yet.
pub enum Data {
    /// A connection to the server.
    Connected(Box<dyn Filter>),
    /// The server will connect to this socket.
    Listening(Socket),
}

/// Asks the server for a data connection (or sends it the address for one).
pub async fn open(t: &mut Transfer, control: &mut Control, verb: &[u8], file: &[u8]) -> Result<Data> {
    if t.text(O::FtpPort).is_some() {
        let socket = port::listen(t, control).await?;
        let arrived = port::accept_early(t, &socket)?;
        return Ok(arrived.map_or_else(|| Data::Listening(socket), Data::Connected));
    }
    if t.on(O::FtpUsePret) {
        decide::check_pret(control.command(t, &decide::pret(verb, file)).await?.code)?;
    }
    if let Some(filter) = opened_early(t, control).await? {
        return Ok(Data::Connected(filter));
    }
    passive(t, control).await.map(Data::Connected)
}

/// Opens the connection to the port that was requested at the end of the last file. A failure is ignored.
async fn opened_early(t: &mut Transfer, control: &mut Control) -> Result<Option<Box<dyn Filter>>> {
    let opened = match control.take_early(t).await? {
        None => return Ok(None),
        Some(EarlyConnection::Opening(socket)) => opened(t, socket).await,
        Some(EarlyConnection::Port(port)) => connect(t, control, &control_host(control), port).await,
    };
    Ok(opened.ok())
}

/// Returns the server's address for a data connection from EPSV or PASV.
pub async fn announced(t: &mut Transfer, control: &mut Control) -> Result<(String, u16)> {
    if uses_epsv(t, control) {
        if let Some(port) = extended(t, control).await? {
            return Ok((control_host(control), port));
        }
        give_up_epsv(t, control);
    }
    plain(t, control).await
}

fn is_v6(control: &Control) -> bool {
    control.dialogue.about().endpoints.remote.is_some_and(|a| a.is_ipv6())
}

/// Returns whether EPSV is sent rather than PASV.
pub fn uses_epsv(t: &Transfer, control: &Control) -> bool {
    decide::uses_epsv(t.on(O::FtpUseEpsv), is_v6(control), control.session.no_epsv)
}

fn give_up_epsv(t: &Transfer, control: &mut Control) {
    t.easy.note(|| "Failed EPSV attempt. Disabling EPSV".to_owned());
    control.session.no_epsv = true;
}

async fn passive(t: &mut Transfer, control: &mut Control) -> Result<Box<dyn Filter>> {
    if uses_epsv(t, control) {
        if let Some(port) = extended(t, control).await? {
            match connect(t, control, &control_host(control), port).await {
                Ok(filter) => return Ok(filter),
                Err(_) if !is_v6(control) => {}
                Err(e) => return Err(e),
            }
        }
        give_up_epsv(t, control);
    }
    let (host, port) = plain(t, control).await?;
    connect(t, control, &host, port).await
}

/// EPSV: returns the port, unless the server does not know the command.
async fn extended(t: &mut Transfer, control: &mut Control) -> Result<Option<u16>> {
    let reply = control.command(t, b"EPSV").await?;
    decide::extended(&reply, is_v6(control))
}

/// PASV
async fn plain(t: &mut Transfer, control: &mut Control) -> Result<(String, u16)> {
    let (ip, port) = decide::passive(&control.command(t, b"PASV").await?)?;
    let skip = t.on(O::FtpSkipPasvIp);
    Ok((if skip { control_host(control) } else { ip.to_string() }, port))
}

/// Returns the control connection's host: the name through a proxy, otherwise the address.
pub fn control_host(control: &Control) -> String {
    let remote = control.dialogue.about().endpoints.remote;
    decide::control_host(control.plan.proxy.is_some(), remote, &control.plan.host)
}

async fn connect(t: &mut Transfer, control: &Control, host: &str, port: u16) -> Result<Box<dyn Filter>> {
    t.easy.note(|| format!("Connecting to {host} port {port}"));
    t.connect_beside(&control.plan, host, port).await
}

/// Returns the data connection after the server's first reply: accepted, and protected as agreed.
pub async fn ready(t: &mut Transfer, control: &mut Control, data: Data) -> Result<Box<dyn Filter>> {
    if let Some(server) = &control.session.server {
        return server.channel();
    }
    let filter = match data {
        Data::Connected(filter) => filter,
        Data::Listening(socket) => port::accept(t, control, socket).await?,
    };
    let filter = protected(t, control, filter).await?;
    Ok(match &control.notes {
        Some(notes) => notes.around(filter),
        None => filter,
    })
}

/// Adds TLS to a data connection where that was agreed.
async fn protected(t: &Transfer, control: &Control, filter: Box<dyn Filter>) -> Result<Box<dyn Filter>> {
    let Some(tls) = control.plan.tls.as_ref().filter(|_| control.session.private_data) else {
        return Ok(filter);
    };
    // The control connection's host and port, which identify its sessions.
    let origin = &control.plan.key.origin;
    let sessions = control.sessions().unwrap_or_default();
    t.tls_among(filter, tls, (&origin.host, origin.port), sessions).await
}

/// Attaches an early data connection to its reactor and waits until it is established.
pub async fn opened(t: &Transfer, mut socket: Socket) -> Result<Box<dyn Filter>> {
    socket.attach(t.multi.runtime.reactor(), t.easy.owner_number());
    let connected = poll_fn(|cx| socket.poll_connected(cx)).await;
    connected.map_err(|e| Error::os(Code::CouldntConnect, "the data connection was refused", &e))?;
    t.easy.info.borrow_mut().connects += 1;
    Ok(Box::new(SocketFilter::new(socket)))
}
