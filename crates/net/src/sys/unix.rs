//! Linux and similar systems.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::sys::socket::{setsockopt, sockopt};
use runtime::Socket;
use runtime::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect};

use crate::error::{NetError, NetErrorKind};
use crate::filter::open::UnixAddress;

/// hosts(5).
pub(crate) const HOSTS: &str = "/etc/hosts";
/// resolv.conf(5): name servers and search domains.
pub(crate) const NAME_SERVERS: &str = "/etc/resolv.conf";
/// Locations of the distributions' bundles of trusted certificates, in order of frequency.
pub(crate) const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
];

/// The error of bind(2) for a missing device.
pub(crate) const NO_DEVICE: Errno = Errno::NODEV;

/// Returns trusted certificates of the system that are not in a file: there are none.
pub(crate) fn trusted() -> impl Iterator<Item = Vec<u8>> {
    std::iter::empty()
}

/// Returns the device and number of this thread's network namespace; zeros on a system without them.
pub(crate) fn network_namespace() -> (u64, u64) {
    let stat = std::fs::metadata("/proc/thread-self/ns/net");
    stat.map_or((0, 0), |stat| (stat.dev(), stat.ino()))
}

/// Returns facts that change when the files of the system's resolver do.
pub(crate) fn resolver_state() -> Vec<u8> {
    let mut state = Vec::new();
    for path in [HOSTS, NAME_SERVERS, "/etc/nsswitch.conf"] {
        let about = std::fs::metadata(path).map_or([0; 7], |about| {
            let (device, number) = (about.dev().cast_signed(), about.ino().cast_signed());
            let times = (about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec());
            [device, number, about.size().cast_signed(), times.0, times.1, times.2, times.3]
        });
        about.into_iter().for_each(|number| state.extend(number.to_be_bytes()));
    }
    state
}

/// A network interface's number.
pub(crate) fn interface_number(name: &str) -> Option<u32> {
    nix::net::if_::if_nametoindex(name).ok()
}

/// A network interface's addresses.
pub(crate) fn interface_addresses(name: &str) -> Vec<IpAddr> {
    let Ok(all) = nix::ifaddrs::getifaddrs() else { return Vec::new() };
    let own = all.filter(|i| i.interface_name == name).filter_map(|i| i.address);
    own.filter_map(|a| {
        let v4 = a.as_sockaddr_in().map(|a| IpAddr::V4(a.ip()));
        v4.or_else(|| a.as_sockaddr_in6().map(|a| IpAddr::V6(a.ip())))
    })
    .collect()
}

/// Binds the socket to that interface, if the system allows it: older kernels require privileges.
pub(crate) fn bind_to_interface(socket: &Socket, name: &str) -> bool {
    setsockopt(socket, sockopt::BindToDevice, &name.into()).is_ok()
}

/// A port is chosen when the socket is connected, not when its address is bound: there are more that way.
pub(crate) fn choose_port_late(socket: &Socket) {
    let _ = setsockopt(socket, sockopt::IpBindAddressNoPort, &true);
}

/// Sends the first bytes with the SYN (RFC 7413).
pub(crate) fn open_fast(socket: &Socket) {
    let _ = setsockopt(socket, sockopt::TcpFastOpenConnect, &true);
}

/// A socket for names in the file system.
pub(crate) fn new_unix_socket(kind: SocketType) -> io::Result<OwnedFd> {
    runtime::new_socket(AddressFamily::UNIX, kind)
}

/// Starts to connect a Unix socket.
pub(crate) fn connect_unix(socket: &Socket, address: &UnixAddress) -> Result<Result<(), Errno>, NetError> {
    Ok(connect(socket, &unix_address(address)?))
}

/// Whether there can be such a name.
pub(crate) fn check_unix(address: &UnixAddress) -> Result<(), NetError> {
    unix_address(address).map(drop)
}

/// The system's form of a unix address.
fn unix_address(address: &UnixAddress) -> Result<SocketAddrUnix, NetError> {
    let (made, name) = match address {
        UnixAddress::Path(path) => (SocketAddrUnix::new(path.as_slice()), path),
        UnixAddress::Abstract(name) => (SocketAddrUnix::new_abstract_name(name), name),
    };
    made.map_err(|_| {
        let message = format!("Unix socket path too long: '{}'", String::from_utf8_lossy(name));
        NetError::new(NetErrorKind::CouldntResolveHost, message)
    })
}

/// Opens a file for appending that only its owner can read.
pub(crate) fn open_secrets(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// The state of a file: device, inode, size, and the times of the last change of content and of inode.
pub(crate) type FileState = [u64; 7];

/// Returns the state of a file. For a pipe or a device it has only device and inode: its times change while
/// it is read.
pub(crate) fn file_state(about: &Metadata) -> FileState {
    let kind = about.file_type();
    if kind.is_fifo() || kind.is_char_device() {
        return [about.dev(), about.ino(), 0, 0, 0, 0, 0];
    }
    let number = i64::cast_unsigned;
    let content = [number(about.mtime()), number(about.mtime_nsec())];
    let inode = [number(about.ctime()), number(about.ctime_nsec())];
    [about.dev(), about.ino(), about.size(), content[0], content[1], inode[0], inode[1]]
}
