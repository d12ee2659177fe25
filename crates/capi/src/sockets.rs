//! The application's own way with sockets: CURLOPT_OPENSOCKETFUNCTION, SOCKOPTFUNCTION and CLOSESOCKETFUNCTION.

use std::ffi::{c_int, c_void};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::ptr;

use net::filter::open::{Configured, Opened, Purpose, SocketCallbacks, Target, Transport, UnixAddress};
use runtime::CloseHook;
use tables::constant::*;

use crate::application::Application;
use crate::pointers::{CloseFn, SockAddr};

impl SocketCallbacks for Application {
    fn open(&self, purpose: Purpose, target: &mut Target, transport: Transport) -> Opened {
        let Some(function) = self.pointers.open_fn() else { return Opened::BySystem };
        let Some(mut address) = socket_address(target, transport) else { return Opened::Refused };
        // SAFETY: the application's function; the address outlives the call, and may be changed by it.
        let fd = unsafe { function(self.pointers.open_data(), kind(purpose), (&raw mut address).cast()) };
        if fd < 0 {
            return Opened::Refused;
        }
        if let (Target::Ip(ip), Some(changed)) = (target, ip_address(&address)) {
            *ip = changed;
        }
        // SAFETY: the number is only asked about.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
            return Opened::Refused; // no descriptor at all: nothing to own or to close
        }
        // SAFETY: the application hands its descriptor over.
        Opened::Socket(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    fn configure(&self, fd: BorrowedFd<'_>, purpose: Purpose) -> Configured {
        let Some(function) = self.pointers.sockopt_fn() else { return Configured::Ok };
        // SAFETY: the application's function, on a descriptor that stays ours.
        let answer = unsafe { function(self.pointers.sockopt_data(), fd.as_raw_fd(), kind(purpose)) };
        match i64::from(answer) {
            answer if answer == i64::from(CURL_SOCKOPT_OK) => Configured::Ok,
            answer if answer == i64::from(CURL_SOCKOPT_ALREADY_CONNECTED) => Configured::AlreadyConnected,
            _ => Configured::Abort,
        }
    }

    fn close_hook(&self) -> Option<CloseHook> {
        let close = Close { function: self.pointers.close_fn()?, user: self.pointers.close_data() };
        Some(Box::new(move |fd| close.call(fd)))
    }

    /// The Rust crate `curl` opens every handle's sockets by one function of its own; like libcurl, cargo's handles then
    /// take over each other's connections. One that will be closed by the application stays with its handle: it carries
    /// that handle's data.
    fn kin(&self) -> Option<[usize; 2]> {
        let functions =
            [self.pointers.open_fn().map(|f| f as usize), self.pointers.sockopt_fn().map(|f| f as usize)];
        self.pointers.close_fn().is_none().then_some(functions.map(Option::unwrap_or_default))
    }
}

/// `curlsocktype`
fn kind(purpose: Purpose) -> c_int {
    match purpose {
        Purpose::Connection => CURLSOCKTYPE_IPCXN,
        Purpose::Accept => CURLSOCKTYPE_ACCEPT,
    }
}

/// The application's close function, which a connection carries with it.
struct Close {
    function: CloseFn,
    user: *mut c_void,
}

// SAFETY: connections made through the application's functions stay in their own handle's pool, and a handle is used
// by one thread at a time; moving the handle to another thread moves its callbacks, which is the application's choice.
unsafe impl Send for Close {}

impl Close {
    fn call(self, fd: OwnedFd) {
        // SAFETY: the application's function takes the descriptor over.
        unsafe { (self.function)(self.user, fd.into_raw_fd()) };
    }
}

/// The address as the open-socket callback expects it; None for a path that is too long.
fn socket_address(target: &Target, transport: Transport) -> Option<SockAddr> {
    // SAFETY: all zeros is an address of no family.
    let mut address: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let place = &raw mut address;
    let (kind, mut protocol) = match transport {
        Transport::Tcp => (libc::SOCK_STREAM, libc::IPPROTO_TCP),
        Transport::Udp => (libc::SOCK_DGRAM, libc::IPPROTO_UDP),
    };
    // SAFETY: sockaddr_storage is large enough and aligned for every address.
    let (family, length) = unsafe {
        match target {
            Target::Ip(SocketAddr::V4(v4)) => {
                let inet = &mut *place.cast::<libc::sockaddr_in>();
                inet.sin_port = v4.port().to_be();
                inet.sin_addr.s_addr = u32::from(*v4.ip()).to_be();
                (libc::AF_INET, size_of::<libc::sockaddr_in>())
            }
            Target::Ip(SocketAddr::V6(v6)) => {
                let inet6 = &mut *place.cast::<libc::sockaddr_in6>();
                inet6.sin6_port = v6.port().to_be();
                inet6.sin6_addr.s6_addr = v6.ip().octets();
                inet6.sin6_flowinfo = v6.flowinfo();
                inet6.sin6_scope_id = v6.scope_id();
                (libc::AF_INET6, size_of::<libc::sockaddr_in6>())
            }
            Target::Unix(unix) => {
                protocol = 0;
                (libc::AF_UNIX, put_path(&mut *place.cast::<libc::sockaddr_un>(), unix)?)
            }
        }
    };
    address.ss_family = family as libc::sa_family_t;
    Some(SockAddr { family, kind, protocol, length: length as u32, address })
}

/// Write a unix socket's name, an abstract one behind a zero; the length of the address.
fn put_path(unix: &mut libc::sockaddr_un, name: &UnixAddress) -> Option<usize> {
    let (path, start) = match name {
        UnixAddress::Path(path) => (path, 0),
        UnixAddress::Abstract(path) => (path, 1),
    };
    let room = unix.sun_path.get_mut(start..)?.get_mut(..path.len() + 1 - start)?;
    // SAFETY: the room was checked.
    unsafe { ptr::copy_nonoverlapping(path.as_ptr().cast(), room.as_mut_ptr(), path.len()) };
    Some(size_of::<libc::sa_family_t>() + path.len() + 1)
}

/// The address that the application may have changed.
fn ip_address(address: &SockAddr) -> Option<SocketAddr> {
    let place = &raw const address.address;
    // SAFETY: the family says which address it is; sockaddr_storage is large enough and aligned for every one.
    unsafe {
        match c_int::from((*place).ss_family) {
            libc::AF_INET => {
                let inet = &*place.cast::<libc::sockaddr_in>();
                let ip = Ipv4Addr::from(u32::from_be(inet.sin_addr.s_addr));
                Some(SocketAddrV4::new(ip, u16::from_be(inet.sin_port)).into())
            }
            libc::AF_INET6 => {
                let inet6 = &*place.cast::<libc::sockaddr_in6>();
                let ip = Ipv6Addr::from(inet6.sin6_addr.s6_addr);
                let port = u16::from_be(inet6.sin6_port);
                Some(SocketAddrV6::new(ip, port, inet6.sin6_flowinfo, inet6.sin6_scope_id).into())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_the_way_through_c() {
        for text in ["127.0.0.1:80", "[2001:db8::1%3]:65535"] {
            let ip: SocketAddr = text.parse().unwrap();
            let address = socket_address(&Target::Ip(ip), Transport::Tcp).unwrap();
            assert_eq!(ip_address(&address), Some(ip));
        }
        assert!(socket_address(&Target::Unix(UnixAddress::Path(vec![b'x'; 108])), Transport::Tcp).is_none());
        let name = UnixAddress::Abstract(b"ab".to_vec());
        assert_eq!(socket_address(&Target::Unix(name), Transport::Tcp).unwrap().length, 5);
    }
}
