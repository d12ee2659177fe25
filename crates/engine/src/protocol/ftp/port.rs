//! Active mode: the server connects to us (EPRT, RFC 2428 §2, or PORT). CURLOPT_FTPPORT names address,
//! interface or host, and a range of ports.

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use net::Filter;
use net::connect::Endpoints;
use net::filter::SocketFilter;
use runtime::{Socket, boxed};
use tables::{Code, EasyOption as O};

use super::control::Control;
use super::decide::data as decide;
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::dialogue::succeeded;

/// Listens, and sends the address to the server.
pub async fn listen(t: &mut Transfer, control: &mut Control) -> Result<Socket> {
    control.session.ahead.expire();
    let failed = |text: String| Error::new(Code::FtpPortFailed, text);
    // The address may have been unknown when the connection was new.
    let now = |socket: &Socket| Endpoints::of(socket).local;
    let local = control.dialogue.about().endpoints.local;
    let local = local.or_else(|| now(control.dialogue.whole.connection().carrier.socket()));
    let local = local.ok_or_else(|| failed("no local address".into()))?;
    let wanted = t.text(O::FtpPort).map(|p| String::from_utf8_lossy(&p).into_owned()).unwrap_or_default();
    let (host, ports) = parse(&wanted);
    let announced = address(t, host, local.ip()).await?;
    let owner = t.easy.owner_number();
    let reactor = t.multi.runtime.reactor();
    // A foreign address is sent to the server while the socket listens on our own.
    let bound = net::listen::listen(reactor, announced, local.ip(), ports, owner, t.easy.callbacks.sockets());
    let (socket, port) = bound.map_err(|e| failed(format!("bind() failed: {}", e.message)))?;

    // IPv6 addresses need EPRT.
    if decide::uses_eprt(announced, t.on(O::FtpUseEprt), control.session.no_eprt) {
        if succeeded(control.command(t, decide::eprt(announced, port).as_bytes()).await?.code) {
            return Ok(socket);
        }
        t.easy.note(|| "disabling EPRT usage".to_owned());
        control.session.no_eprt = true;
    }
    let Some(command) = decide::port(announced, port) else { return Err(failed("Failed to do EPRT".into())) };
    if succeeded(control.command(t, command.as_bytes()).await?.code) {
        return Ok(socket);
    }
    Err(failed("Failed to do PORT".into()))
}

/// "-", "host", "host:port", "host:from-to", ":from-to", "[v6]:port".
fn parse(text: &str) -> (&str, RangeInclusive<u16>) {
    let (host, ports) = match text.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, rest)) => (host, rest.strip_prefix(':').unwrap_or_default()),
            None => (text, ""),
        },
        // A bare IPv6 address has several colons and no port.
        None if text.matches(':').count() > 1 => (text, ""),
        None => text.split_once(':').unwrap_or((text, "")),
    };
    let (from, to) = ports.split_once('-').unwrap_or((ports, ports));
    let from = from.parse().unwrap_or(0);
    (host, from..=to.parse().unwrap_or(from).max(from))
}

async fn address(t: &Transfer, host: &str, local: IpAddr) -> Result<IpAddr> {
    if host.is_empty() || host == "-" {
        return Ok(local);
    }
    if let Ok(ip) = host.parse() {
        return Ok(ip);
    }
    if let Some(ip) = net::listen::interface_address(host, local.is_ipv4()) {
        return Ok(ip);
    }
    let found = t.look_up_host(host, local.is_ipv4()).await;
    found.inspect_err(|_| t.easy.note(|| format!("failed to resolve the address provided to PORT: {host}")))
}

/// The first event while the server should connect.
enum First {
    Connected(Socket),
    Failed(Error),
    /// A reply that it will not connect, or the end of the connection.
    Spoke,
    Late,
}

/// Accepts a connection that arrived with the reply to PORT. As in curl 8.22, the application then sees it
/// before SIZE and RETR are sent. A failure is left to [`accept`], which waits.
pub fn accept_early(t: &Transfer, socket: &Socket) -> Result<Option<Box<dyn Filter>>> {
    let Ok(accepted) = socket.try_accept() else { return Ok(None) };
    let guard = t.easy.settings.borrow().guard();
    let mut data = net::listen::accepted(accepted, &guard, t.easy.callbacks.sockets())?;
    data.attach(t.multi.runtime.reactor(), t.easy.owner_number());
    Ok(Some(Box::new(SocketFilter::new(data))))
}

/// Waits for the server to connect, and reads its replies meanwhile.
pub async fn accept(t: &mut Transfer, control: &mut Control, mut socket: Socket) -> Result<Box<dyn Filter>> {
    let timeout = Duration::from_millis(t.long(O::AcceptTimeoutMs).max(1) as u64);
    let reactor = t.multi.runtime.reactor().clone();
    let (easy, owner) = (t.easy.clone(), t.easy.owner_number());
    let guard = easy.settings.borrow().guard();
    let mut timer = reactor.sleep_until(t.now() + timeout);
    let mut early = None;
    let first = {
        let mut reply = boxed(|| control.reply(t));
        poll_fn(|cx| {
            match socket.poll_accept(cx) {
                Poll::Ready(Ok(accepted)) => {
                    let seen = net::listen::accepted(accepted, &guard, easy.callbacks.sockets());
                    return Poll::Ready(seen.map_or_else(|e| First::Failed(e.into()), First::Connected));
                }
                Poll::Ready(Err(e)) => {
                    let text = "Error accept()ing server connect";
                    return Poll::Ready(First::Failed(Error::os(Code::FtpAcceptFailed, text, &e)));
                }
                Poll::Pending => {}
            }
            if early.is_none()
                && let Poll::Ready(reply_line) = reply.as_mut().poll(cx)
            {
                match reply_line {
                    // The connection is made or on its way.
                    Ok(reply) if decide::will_connect(reply.code) => early = Some(reply),
                    _ => return Poll::Ready(First::Spoke),
                }
            }
            Pin::new(&mut timer).poll(cx).map(|()| First::Late)
        })
        .await
    };
    control.early = early;
    match first {
        First::Connected(mut data) => {
            data.attach(&reactor, owner);
            Ok(Box::new(SocketFilter::new(data)))
        }
        First::Failed(e) => Err(e),
        First::Late => {
            let text = "Accept timeout occurred while waiting server connect";
            Err(Error::new(Code::FtpAcceptTimeout, text))
        }
        First::Spoke => {
            let text = format!("Error accept()ing server connect: {:03}", t.easy.info.borrow().response_code);
            Err(Error::new(Code::FtpAcceptFailed, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn addresses_and_ports() {
        assert_eq!(parse("-"), ("-", 0..=0));
        assert_eq!(parse("eth0:1024-2048"), ("eth0", 1024..=2048));
        assert_eq!(parse("[::1]:99"), ("::1", 99..=99));
        assert_eq!(parse("fe80::1"), ("fe80::1", 0..=0));
        assert_eq!(parse(":5"), ("", 5..=5));
    }
}
