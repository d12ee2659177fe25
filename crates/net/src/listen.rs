//! Listening for one connection back to us, as FTP's active mode wants it.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use runtime::{Reactor, Socket};
use rustix::net::{bind, getsockname, listen as start};

use crate::error::{NetError, NetErrorKind};
use crate::filter::open::{Configured, Purpose, SocketCallbacks, Target, Transport, unbound};

/// A listening socket on the first free port of the range (0 lets the system choose), and that port. The application may
/// make it as it may any other (CURLOPT_OPENSOCKETFUNCTION(3)).
pub fn listen(
    reactor: &Arc<Reactor>,
    ip: IpAddr,
    ports: RangeInclusive<u16>,
    owner: u64,
    callbacks: Option<&dyn SocketCallbacks>,
) -> Result<(Socket, u16), NetError> {
    let failed = |e: rustix::io::Errno| {
        NetError::from_io(NetErrorKind::InterfaceFailed, e.to_string(), &std::io::Error::from(e))
    };
    let mut last = rustix::io::Errno::ADDRINUSE;
    for port in ports {
        let mut target = Target::Ip(SocketAddr::new(ip, port));
        let mut socket = unbound(&mut target, Transport::Tcp, callbacks)?;
        let bound = bind(&socket, &SocketAddr::new(ip, port)).and_then(|()| start(&socket, 1));
        if let Err(e) = bound {
            last = e;
            continue;
        }
        let local = getsockname(&socket).map_err(failed)?;
        let port = SocketAddr::try_from(local).map(|a| a.port()).map_err(failed)?;
        socket.attach(reactor, owner);
        return Ok((socket, port));
    }
    Err(failed(last))
}

/// What was accepted, after the application saw it (CURLOPT_SOCKOPTFUNCTION(3)) and had nothing against it. It is not the
/// application's to close.
pub fn accepted(fd: OwnedFd, callbacks: Option<&dyn SocketCallbacks>) -> Result<Socket, NetError> {
    match callbacks.map_or(Configured::Ok, |c| c.configure(fd.as_fd(), Purpose::Accept)) {
        Configured::Abort => {
            Err(NetError::new(NetErrorKind::AbortedByCallback, "callback refused the server's connection"))
        }
        Configured::Ok | Configured::AlreadyConnected => Ok(Socket::new(fd)),
    }
}

/// The address of a network interface, of the family asked for.
pub fn interface_address(name: &str, v4: bool) -> Option<IpAddr> {
    nix::ifaddrs::getifaddrs().ok()?.filter(|i| i.interface_name == name).find_map(|i| {
        let address = i.address?;
        let v4_of = || address.as_sockaddr_in().map(|a| IpAddr::V4(a.ip()));
        let v6_of = || address.as_sockaddr_in6().map(|a| IpAddr::V6(a.ip()));
        if v4 { v4_of() } else { v6_of() }
    })
}
