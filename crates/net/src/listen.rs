//! Listening for one connection back to us, as FTP's active mode wants it.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;

use runtime::{Reactor, Socket};
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, getsockname, ipproto, listen as start, socket_with,
};

use crate::error::{NetError, NetErrorKind};

/// A listening socket on the first free port of the range (0 lets the system choose), and that port.
pub fn listen(
    reactor: &Arc<Reactor>,
    ip: IpAddr,
    ports: RangeInclusive<u16>,
    owner: u64,
) -> Result<(Socket, u16), NetError> {
    let failed = |e: rustix::io::Errno| {
        NetError::from_io(NetErrorKind::InterfaceFailed, e.to_string(), &std::io::Error::from(e))
    };
    let family = if ip.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let mut last = rustix::io::Errno::ADDRINUSE;
    for port in ports {
        let fd = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP)).map_err(failed)?;
        let bound = bind(&fd, &SocketAddr::new(ip, port)).and_then(|()| start(&fd, 1));
        if let Err(e) = bound {
            last = e;
            continue;
        }
        let local = getsockname(&fd).map_err(failed)?;
        let port = SocketAddr::try_from(local).map(|a| a.port()).map_err(failed)?;
        let mut socket = Socket::new(fd);
        socket.attach(reactor, owner);
        return Ok((socket, port));
    }
    Err(failed(last))
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
