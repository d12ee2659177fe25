//! Windows.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::net::IpAddr;
use std::os::windows::fs::MetadataExt;
use std::path::Path;

use runtime::Socket;
use runtime::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::SocketType;
use schannel::cert_context::{CertContext, ValidUses};
use schannel::cert_store::CertStore;

use crate::error::{NetError, NetErrorKind};
use crate::filter::open::UnixAddress;

/// Location of the hosts file on a standard installation.
pub(crate) const HOSTS: &str = r"C:\Windows\System32\drivers\etc\hosts";
/// There is no file with name servers: only the application's are used.
pub(crate) const NAME_SERVERS: &str = "";
/// The system keeps certificates in a store, not in a file.
pub(crate) const BUNDLES: &[&str] = &[];

/// The error of Winsock for an address of another machine.
pub(crate) const NO_DEVICE: Errno = Errno::ADDRNOTAVAIL;

/// Returns zeros: there are no network namespaces.
pub(crate) fn network_namespace() -> (u64, u64) {
    (0, 0)
}

/// Returns nothing: no broker keeps names.
pub(crate) fn resolver_state() -> Vec<u8> {
    Vec::new()
}

/// Returns trusted certificates that are not in a file: roots of the machine, its administration and the
/// user, except those that are not for servers (id-kp-serverAuth, RFC 5280 section 4.2.1.12) or were
/// disallowed since.
pub(crate) fn trusted() -> impl Iterator<Item = Vec<u8>> {
    let disallowed: Vec<Vec<u8>> = certificates("Disallowed").map(|cert| cert.to_der().to_vec()).collect();
    let is_for_servers = |cert: &CertContext| match cert.valid_uses() {
        Ok(ValidUses::All) => true,
        Ok(ValidUses::Oids(uses)) => uses.iter().any(|use_| use_ == "1.3.6.1.5.5.7.3.1"),
        Err(_) => false,
    };
    let roots = certificates("ROOT").filter(is_for_servers).map(|cert| cert.to_der().to_vec());
    roots.filter(move |der| !disallowed.contains(der)).collect::<Vec<_>>().into_iter()
}

/// A store that cannot be opened has none.
fn certificates(store: &str) -> impl Iterator<Item = CertContext> {
    let store = CertStore::open_current_user(store).ok();
    store.into_iter().flat_map(|store| store.certs().collect::<Vec<_>>())
}

/// curl on Windows supports only interface numbers.
pub(crate) fn interface_number(_: &str) -> Option<u32> {
    None
}

/// Returns no address, as curl on Windows: CURLOPT_INTERFACE takes an address.
pub(crate) fn interface_addresses(_: &str) -> Vec<IpAddr> {
    Vec::new()
}

/// Returns false: not available on Windows.
pub(crate) fn bind_to_interface(_: &Socket, _: &str) -> bool {
    false
}

/// Windows chooses at once.
pub(crate) fn choose_port_late(_: &Socket) {}

/// Windows supports it only for overlapped calls (ConnectEx).
pub(crate) fn open_fast(_: &Socket) {}

/// Returns an error: there are no unix sockets, and options that name one are refused before.
pub(crate) fn new_unix_socket(_: SocketType) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn connect_unix(_: &Socket, address: &UnixAddress) -> Result<Result<(), Errno>, NetError> {
    check_unix(address).map(|()| Err(Errno::AFNOSUPPORT))
}

pub(crate) fn check_unix(_: &UnixAddress) -> Result<(), NetError> {
    Err(NetError::new(NetErrorKind::CouldntConnect, "no Unix sockets on this system"))
}

/// Opens a file to add to it. Who may read it, its folder says.
pub(crate) fn open_secrets(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

/// The state of a file: when it was made and written, and its size.
pub(crate) type FileState = [u64; 3];

/// Returns the state of a file.
pub(crate) fn file_state(about: &Metadata) -> FileState {
    [about.creation_time(), about.last_write_time(), about.file_size()]
}
