//! The tool's own sockets: `--ip-tos`, `--vlan-priority`, `--mptcp` and `--proxy-command`.

use crate::env::Env;
use crate::options::ToolOption;
use crate::proxy_command::ProxyCommand;
use crate::raw::sockets::{OpenSocketAnswer, Purpose, SocketCallbacks, SockoptAnswer, Target, Transport};
use crate::request::Request;
use crate::system::{self, BorrowedFd, OwnedFd};
use std::io;
use std::rc::Rc;

/// The requested options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RequestedOptions {
    type_of_service: Option<u8>,
    /// Priority of VLAN frames; the kernel stores it as the socket's SO_PRIORITY.
    priority: Option<u8>,
    multipath: bool,
}

impl RequestedOptions {
    fn of(request: &Request) -> RequestedOptions {
        let octet = |name| request.options.long(name).filter(|value| *value > 0).map(|value| value as u8);
        RequestedOptions {
            type_of_service: octet(ToolOption::IpTos),
            priority: octet(ToolOption::VlanPriority),
            multipath: request.mptcp,
        }
    }

    /// Sets the options of a socket; warns of each that the system refuses.
    fn configure(&self, fd: BorrowedFd<'_>, warn: impl Fn(String)) {
        if let Some(tos) = self.type_of_service
            && let Err(error) = system::set_type_of_service(fd, tos)
        {
            warn(refused(&format!("Setting type of service to {tos}"), &error));
        }
        if let Some(priority) = self.priority
            && let Err(error) = system::set_priority(fd, priority)
        {
            warn(refused(&format!("VLAN priority {priority}"), &error));
        }
    }
}

/// Returns curl's text of a refused option.
fn refused(what: &str, error: &io::Error) -> String {
    let (errno, why) = (error.raw_os_error().unwrap_or(0), crate::message::os_text(error));
    format!("{what} failed with errno {errno}: {why}")
}

/// The sockets of a transfer with such options.
pub struct Sockets {
    wanted: RequestedOptions,
    command: Option<ProxyCommand>,
    env: Rc<Env>,
}

impl Sockets {
    /// Returns `None` if only the library handles sockets.
    pub fn of(request: &Request, env: &Rc<Env>) -> Option<Sockets> {
        let (wanted, command) = (RequestedOptions::of(request), ProxyCommand::of(request));
        let is_needed = command.is_some() || wanted != RequestedOptions::default();
        is_needed.then(|| Sockets { wanted, command, env: env.clone() })
    }

    /// Returns why the command of `--proxy-command` is to blame for a failed transfer.
    pub fn command_failure(&self) -> Option<String> {
        self.command.as_ref().and_then(ProxyCommand::failure)
    }
}

impl SocketCallbacks for Sockets {
    fn open(&self, _: Purpose, target: &mut Target, transport: Transport) -> OpenSocketAnswer {
        if let Some(command) = self.command.as_ref().filter(|command| command.serves(target)) {
            return command.open().map_or(OpenSocketAnswer::Refused, OpenSocketAnswer::Socket);
        }
        let Target::Ip(address) = target else { return OpenSocketAnswer::BySystem };
        if !self.wanted.multipath || transport != Transport::Tcp {
            return OpenSocketAnswer::BySystem;
        }
        // A system without it makes an ordinary TCP socket instead.
        system::multipath_socket(address.is_ipv6())
            .map_or(OpenSocketAnswer::BySystem, OpenSocketAnswer::Socket)
    }

    fn configure(&self, fd: BorrowedFd<'_>, purpose: Purpose) -> SockoptAnswer {
        if self.command.as_ref().is_some_and(ProxyCommand::takes_fresh) {
            return SockoptAnswer::AlreadyConnected;
        }
        if purpose == Purpose::Connection {
            self.wanted.configure(fd, |text| self.env.warn(&text));
        }
        SockoptAnswer::Ok
    }

    fn close_hook(&self) -> Option<Box<dyn FnOnce(OwnedFd) + Send>> {
        self.command.as_ref().and_then(ProxyCommand::close_hook)
    }

    fn kin(&self) -> Option<[usize; 2]> {
        let is_alone = self.wanted == RequestedOptions::default();
        self.command.as_ref().filter(|_| is_alone).map(ProxyCommand::kin)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use nix::sys::socket::sockopt::Priority;
    use rustix::net::sockopt;
    use std::cell::RefCell;
    use std::os::fd::AsFd;

    fn configured(wanted: RequestedOptions, fd: BorrowedFd<'_>) -> Vec<String> {
        let warnings: RefCell<Vec<String>> = RefCell::default();
        wanted.configure(fd, |text| warnings.borrow_mut().push(text));
        warnings.into_inner()
    }

    #[test]
    fn only_what_was_asked_for() {
        let mut request = Request::new();
        assert_eq!(RequestedOptions::of(&request), RequestedOptions::default());
        request.options.set_long(ToolOption::IpTos, 0);
        assert_eq!(RequestedOptions::of(&request), RequestedOptions::default());
        request.options.set_long(ToolOption::IpTos, 0x28);
        assert_eq!(RequestedOptions::of(&request).type_of_service, Some(0x28));
    }

    #[test]
    fn the_type_of_service_and_the_priority_are_set() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(socket) = std::net::UdpSocket::bind(address) else { continue };
            let wanted = RequestedOptions {
                type_of_service: Some(0x28),
                priority: Some(3),
                ..RequestedOptions::default()
            };
            assert!(configured(wanted, socket.as_fd()).is_empty());
            let set = sockopt::ip_tos(&socket).map(u32::from).or(sockopt::ipv6_tclass(&socket));
            assert_eq!(set, Ok(0x28), "{address}");
            assert_eq!(nix::sys::socket::getsockopt(&socket, Priority), Ok(3), "{address}");
        }
    }

    #[test]
    fn refused_socket_options_are_reported() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let wanted = RequestedOptions { type_of_service: Some(8), priority: Some(6), multipath: false };
        let expected = [
            "Setting type of service to 8 failed with errno 88: Socket operation on non-socket",
            "VLAN priority 6 failed with errno 88: Socket operation on non-socket",
        ];
        assert_eq!(configured(wanted, file.as_fd()), expected);
    }

    #[test]
    fn multipath_sockets_or_the_systems() {
        let mut request = Request::new();
        request.mptcp = true;
        let messages = crate::message::Messages::new(Box::new(Vec::new()), None);
        let env = Rc::new(Env::new(crate::request::Globals::default(), messages));
        let sockets = Sockets::of(&request, &env).unwrap();
        let mut target = Target::Ip("127.0.0.1:1".parse().unwrap());
        assert!(!matches!(
            sockets.open(Purpose::Connection, &mut target, Transport::Tcp),
            OpenSocketAnswer::Refused
        ));
        assert!(matches!(
            sockets.open(Purpose::Connection, &mut target, Transport::Udp),
            OpenSocketAnswer::BySystem
        ));
    }
}
