//! Data connections: passive by EPSV (RFC 2428 §3) or PASV, active by EPRT or PORT.

use net::Filter;
use runtime::Socket;
use tables::{Code, EasyOption as O};

use super::control::Control;
use super::port;
use crate::error::{Error, Result};
use crate::transfer::Transfer;

/// A data connection, or the promise of one.
pub enum Data {
    /// The server was connected to.
    Connected(Box<dyn Filter>),
    /// The server will connect here.
    Listening(Socket),
}

/// Asks the server for a data connection (or tells it where to connect).
pub async fn open(t: &mut Transfer, control: &mut Control, verb: &[u8], file: &[u8]) -> Result<Data> {
    if t.text(O::Ftpport).is_some() {
        return port::listen(t, control).await.map(Data::Listening);
    }
    if t.on(O::FtpUsePret) {
        let command =
            if file.is_empty() { [b"PRET ", verb].concat() } else { [b"PRET ", verb, b" ", file].concat() };
        let reply = control.command(t, &command).await?;
        if reply.code != 200 {
            let text = format!("PRET command not accepted: {:03}", reply.code);
            return Err(Error::new(Code::FtpPretFailed, text));
        }
    }
    passive(t, control).await.map(Data::Connected)
}

async fn passive(t: &mut Transfer, control: &mut Control) -> Result<Box<dyn Filter>> {
    let v6 = control.dialogue.lease.endpoints.remote.is_some_and(|a| a.is_ipv6());
    if (t.on(O::FtpUseEpsv) || v6) && !control.session.no_epsv {
        let reply = control.command(t, b"EPSV").await?;
        if reply.code == 229 {
            let port = reply
                .extended_passive()
                .ok_or_else(|| Error::new(Code::FtpWeirdPasvReply, "Weirdly formatted EPSV reply"))?;
            let host = control_host(control);
            match connect(t, control, &host, port).await {
                Ok(filter) => return Ok(filter),
                Err(_) if !v6 => {}
                Err(e) => return Err(e),
            }
        } else if v6 {
            return Err(Error::new(Code::WeirdServerReply, "Failed EPSV attempt, exiting"));
        }
        t.easy.note(|| "Failed EPSV attempt. Disabling EPSV".to_owned());
        control.session.no_epsv = true;
    }
    let reply = control.command(t, b"PASV").await?;
    if reply.code != 227 {
        let text = format!("Bad PASV/EPSV response: {:03}", reply.code);
        return Err(Error::new(Code::FtpWeirdPasvReply, text));
    }
    let (ip, port) = reply
        .passive()
        .ok_or_else(|| Error::new(Code::FtpWeird227Format, "Couldn't interpret the 227-reply"))?;
    let host =
        if t.on(O::FtpSkipPasvIp) { control_host(control) } else { std::net::Ipv4Addr::from(ip).to_string() };
    connect(t, control, &host, port).await
}

/// Where the control connection leads: through a proxy that is the name, otherwise the address.
fn control_host(control: &Control) -> String {
    match (&control.plan.proxy, control.dialogue.lease.endpoints.remote) {
        (None, Some(address)) => address.ip().to_string(),
        _ => control.plan.host.clone(),
    }
}

async fn connect(t: &mut Transfer, control: &Control, host: &str, port: u16) -> Result<Box<dyn Filter>> {
    t.easy.note(|| format!("Connecting to {host} port {port}"));
    t.connect_beside(&control.plan, host, port).await
}

/// The data connection after the server's first reply: accepted, and protected as agreed.
pub async fn ready(t: &mut Transfer, control: &mut Control, data: Data) -> Result<Box<dyn Filter>> {
    let filter = match data {
        Data::Connected(filter) => filter,
        Data::Listening(socket) => port::accept(t, control, socket).await?,
    };
    let Some(tls) = control.plan.tls.as_ref().filter(|_| control.session.private_data) else {
        return Ok(filter);
    };
    // The same host and port as the control connection's, so that its session is resumed: some
    // servers insist on it.
    let origin = &control.plan.identity.origin;
    t.tls(filter, tls, &origin.host, origin.port).await
}
