//! What the tool itself does to sockets: `--ip-tos` and `--mptcp`.

use crate::raw::sockets::{Configured, Opened, Purpose, SocketCallbacks, Target, Transport};
use crate::request::Request;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, socket_with, sockopt};
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sockets {
    type_of_service: Option<u8>,
    multipath: bool,
}

impl Sockets {
    /// None when sockets are the library's matter alone.
    pub fn of(request: &Request) -> Option<Sockets> {
        let type_of_service = request.options.long("ip-tos").filter(|tos| *tos > 0).map(|tos| tos as u8);
        let multipath = request.mptcp;
        (type_of_service.is_some() || multipath).then_some(Sockets { type_of_service, multipath })
    }
}

impl SocketCallbacks for Sockets {
    fn open(&self, _: Purpose, target: &mut Target, transport: Transport) -> Opened {
        let Target::Ip(address) = target else { return Opened::BySystem };
        if !self.multipath || transport != Transport::Tcp {
            return Opened::BySystem;
        }
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // A system without it makes an ordinary TCP socket instead.
        socket_with(family, SocketType::STREAM, flags, Some(ipproto::MPTCP))
            .map_or(Opened::BySystem, Opened::Socket)
    }

    fn configure(&self, fd: BorrowedFd<'_>, purpose: Purpose) -> Configured {
        if let (Some(tos), Purpose::Connection) = (self.type_of_service, purpose) {
            // One of them fits the family of the socket.
            if sockopt::set_ip_tos(fd, tos).is_err() {
                let _ = sockopt::set_ipv6_tclass(fd, tos.into());
            }
        }
        Configured::Ok
    }

    fn close_hook(&self) -> Option<Box<dyn FnOnce(OwnedFd) + Send>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn only_what_was_asked_for() {
        let mut request = Request::new();
        assert_eq!(Sockets::of(&request), None);
        request.options.set_long("ip-tos", 0x28);
        assert!(Sockets::of(&request).is_some());
    }

    #[test]
    fn the_type_of_service_is_set() {
        let sockets = Sockets { type_of_service: Some(0x28), multipath: false };
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(socket) = std::net::UdpSocket::bind(address) else { continue };
            sockets.configure(socket.as_fd(), Purpose::Connection);
            let set = sockopt::ip_tos(&socket).map(u32::from).or(sockopt::ipv6_tclass(&socket));
            assert_eq!(set, Ok(0x28), "{address}");
        }
    }

    #[test]
    fn multipath_sockets_or_the_systems() {
        let sockets = Sockets { type_of_service: None, multipath: true };
        let mut target = Target::Ip("127.0.0.1:1".parse().unwrap());
        assert!(!matches!(sockets.open(Purpose::Connection, &mut target, Transport::Tcp), Opened::Refused));
        assert!(matches!(sockets.open(Purpose::Connection, &mut target, Transport::Udp), Opened::BySystem));
    }
}
