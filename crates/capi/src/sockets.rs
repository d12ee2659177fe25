//! The application's own way with sockets: CURLOPT_OPENSOCKETFUNCTION, SOCKOPTFUNCTION and
//! CLOSESOCKETFUNCTION.

use std::ffi::{c_int, c_void};

use net::filter::open::{OpenSocketAnswer, Purpose, SocketCallbacks, SockoptAnswer, Target, Transport};
use runtime::CloseHook;
use tables::constant::*;

use crate::application::Application;
use crate::pointers::{CloseFn, SockAddr};
use crate::sys::{self, BorrowedSocket, OwnedSocket, Storage};

impl SocketCallbacks for Application {
    fn open(&self, purpose: Purpose, target: &mut Target, transport: Transport) -> OpenSocketAnswer {
        let Some(function) = self.pointers.open_fn() else { return OpenSocketAnswer::BySystem };
        let Some(mut address) = socket_address(target, transport) else { return OpenSocketAnswer::Refused };
        // SAFETY: the application's function; the address outlives the call, and may be changed by it.
        let fd = unsafe { function(self.pointers.open_data(), kind(purpose), (&raw mut address).cast()) };
        if !sys::is_given(fd) {
            return OpenSocketAnswer::Refused;
        }
        if let (Target::Ip(ip), Some(changed)) = (target, sys::ip_address(&address.address)) {
            *ip = changed;
        }
        // Without a descriptor there is nothing to own or to close. SAFETY: the application passes ownership
        // of its descriptor.
        unsafe { sys::adopt(fd) }.map_or(OpenSocketAnswer::Refused, OpenSocketAnswer::Socket)
    }

    fn configure(&self, fd: BorrowedSocket<'_>, purpose: Purpose) -> SockoptAnswer {
        let Some(function) = self.pointers.sockopt_fn() else { return SockoptAnswer::Ok };
        // SAFETY: the application's function, on a descriptor that stays ours.
        let answer = unsafe { function(self.pointers.sockopt_data(), sys::raw(fd), kind(purpose)) };
        match i64::from(answer) {
            answer if answer == i64::from(CURL_SOCKOPT_OK) => SockoptAnswer::Ok,
            answer if answer == i64::from(CURL_SOCKOPT_ALREADY_CONNECTED) => SockoptAnswer::AlreadyConnected,
            _ => SockoptAnswer::Abort,
        }
    }

    fn close_hook(&self) -> Option<CloseHook> {
        let close = Close { function: self.pointers.close_fn()?, user: self.pointers.close_data() };
        Some(Box::new(move |fd| close.call(fd)))
    }

    /// Returns an identity shared by handles whose sockets are interchangeable. The Rust crate `curl` opens
    /// every handle's sockets by the same function; as in libcurl, cargo's handles then reuse each other's
    /// connections. A socket that the application will close stays with its handle: it has that handle's
    /// data.
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

// SAFETY: connections made through the application's functions stay in their own handle's pool, and a handle
// is used by one thread at a time; moving the handle to another thread moves its callbacks, which is the
// application's choice.
unsafe impl Send for Close {}

impl Close {
    fn call(self, fd: OwnedSocket) {
        // SAFETY: the application's function takes the descriptor over.
        unsafe { (self.function)(self.user, sys::release(fd)) };
    }
}

/// The address as the open-socket callback expects it; None for a path that is too long.
fn socket_address(target: &Target, transport: Transport) -> Option<SockAddr> {
    // SAFETY: all zeros is an address of no family.
    let mut address: Storage = unsafe { std::mem::zeroed() };
    let (family, length) = sys::put_address(target, &mut address)?;
    let (kind, protocol) = match transport {
        Transport::Tcp => (sys::SOCK_STREAM, sys::IPPROTO_TCP),
        Transport::Udp => (sys::SOCK_DGRAM, sys::IPPROTO_UDP),
    };
    let protocol = if matches!(target, Target::Unix(_)) { 0 } else { protocol };
    Some(SockAddr { family, kind, protocol, length: length as u32, address })
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use net::filter::open::UnixAddress;

    use super::*;

    #[test]
    fn addresses_survive_the_way_through_c() {
        for text in ["127.0.0.1:80", "[2001:db8::1%3]:65535"] {
            let ip: SocketAddr = text.parse().unwrap();
            let address = socket_address(&Target::Ip(ip), Transport::Tcp).unwrap();
            assert_eq!(sys::ip_address(&address.address), Some(ip));
        }
    }

    #[cfg(unix)]
    #[test]
    fn names_of_unix_sockets_fit_or_are_refused() {
        assert!(socket_address(&Target::Unix(UnixAddress::Path(vec![b'x'; 108])), Transport::Tcp).is_none());
        let name = UnixAddress::Abstract(b"ab".to_vec());
        assert_eq!(socket_address(&Target::Unix(name), Transport::Tcp).unwrap().length, 5);
    }
}
