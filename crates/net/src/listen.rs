//! Listening for one connection back to us, as FTP's active mode wants it.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;

use runtime::fd::{AsFd, OwnedFd};
use runtime::{Reactor, Socket};
use rustix::io::Errno;
use rustix::net::{bind, getsockname, listen as start};

use wire::policy::{Check, Guard, Question};

use crate::error::{NetError, NetErrorKind};
use crate::filter::open::{Purpose, SocketCallbacks, SockoptAnswer, Target, Transport, unbound};
use crate::sys;

/// Opens a listening socket on the first free port of the range (0 lets the system choose), and returns it
/// with that port. The application creates the socket once, like any other (CURLOPT_OPENSOCKETFUNCTION(3)).
/// If the address does not belong to this machine (NAT), `own` is used.
pub fn listen(
    reactor: &Arc<Reactor>,
    ip: IpAddr,
    own: IpAddr,
    ports: RangeInclusive<u16>,
    owner: u64,
    callbacks: Option<&dyn SocketCallbacks>,
) -> Result<(Socket, u16), NetError> {
    let failed =
        |e: Errno| NetError::from_io(NetErrorKind::InterfaceFailed, e.to_string(), &std::io::Error::from(e));
    let mut target = Target::Ip(SocketAddr::new(ip, *ports.start()));
    let mut socket = unbound(&mut target, Transport::Tcp, callbacks)?;
    let bound = match bind_first(&socket, ip, ports.clone()) {
        Err(Errno::ADDRNOTAVAIL) => bind_first(&socket, own, ports),
        bound => bound,
    };
    bound.and_then(|()| start(&socket, 1)).map_err(failed)?;
    let local = getsockname(&socket).map_err(failed)?;
    let port = SocketAddr::try_from(local).map(|a| a.port()).map_err(failed)?;
    socket.attach(reactor, owner);
    Ok((socket, port))
}

/// Ports that are taken, or not for this user, are passed over.
fn bind_first(socket: &Socket, ip: IpAddr, ports: RangeInclusive<u16>) -> Result<(), Errno> {
    let mut last = Errno::ADDRINUSE;
    for port in ports {
        match bind(socket, &SocketAddr::new(ip, port)) {
            Err(e @ (Errno::ADDRINUSE | Errno::ACCESS)) => last = e,
            bound => return bound,
        }
    }
    Err(last)
}

/// Returns an accepted socket, unless a policy refuses its peer, or the application refuses it
/// (CURLOPT_SOCKOPTFUNCTION(3)). The application does not close it.
pub fn accepted(
    fd: OwnedFd,
    guard: &Guard,
    callbacks: Option<&dyn SocketCallbacks>,
) -> Result<Socket, NetError> {
    if !guard.is_free() {
        let peer =
            rustix::net::getpeername(&fd).ok().flatten().and_then(|peer| SocketAddr::try_from(peer).ok());
        let unknown =
            || NetError::new(NetErrorKind::Refused, "the server's address is unknown, and a policy is set");
        let verdict = guard.judge(Question::Address(peer.ok_or_else(unknown)?.ip()));
        verdict.map_err(|refusal| refusal.at(Check::DataConnection))?;
    }
    match callbacks.map_or(SockoptAnswer::Ok, |c| c.configure(fd.as_fd(), Purpose::Accept)) {
        SockoptAnswer::Abort => {
            Err(NetError::new(NetErrorKind::AbortedByCallback, "callback refused the server's connection"))
        }
        SockoptAnswer::Ok | SockoptAnswer::AlreadyConnected => Ok(Socket::new(fd)),
    }
}

/// Returns the address of a network interface, of the requested family.
pub fn interface_address(name: &str, v4: bool) -> Option<IpAddr> {
    sys::interface_addresses(name).into_iter().find(|ip| ip.is_ipv4() == v4)
}
