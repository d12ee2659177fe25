//! Makes sockets: creates, configures and binds them, by the system or through the application's callbacks.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use runtime::fd::{AsFd, BorrowedFd, OwnedFd};
use runtime::{BUFFERS_GROW, CloseHook, Socket, new_socket};
use rustix::net::{AddressFamily, SocketType, bind, sockopt};
use wire::policy::{Guard, Question};

use crate::NamedFile;
use crate::error::{NetError, NetErrorKind};
use crate::sys;

/// The purpose of a socket (curlsocktype).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A connection that we make.
    Connection,
    /// One that we accept (active FTP).
    Accept,
}

/// Stream or datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Transport {
    #[default]
    Tcp,
    Udp,
}

/// The destination of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Ip(SocketAddr),
    Unix(UnixAddress),
}

/// A unix socket's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UnixAddress {
    Path(Vec<u8>),
    Abstract(Vec<u8>),
}

/// Returns only its name, for messages.
impl std::fmt::Display for UnixAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (UnixAddress::Path(name) | UnixAddress::Abstract(name)) = self;
        f.write_str(&String::from_utf8_lossy(name))
    }
}

/// A unix socket that an option names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UnixSocket {
    /// A file. A replaced one counts as another server.
    Path(NamedFile),
    /// A name of the system that is not a file.
    Abstract(Vec<u8>),
}

impl UnixSocket {
    /// Returns the address to connect to: the path in the option's spelling, because an absolute one may be
    /// too long for the system.
    pub fn address(&self) -> UnixAddress {
        match self {
            UnixSocket::Path(file) => UnixAddress::Path(file.given().as_os_str().as_encoded_bytes().to_vec()),
            UnixSocket::Abstract(name) => UnixAddress::Abstract(name.clone()),
        }
    }

    /// Returns the file, if it is one.
    pub fn file(&self) -> Option<&NamedFile> {
        match self {
            UnixSocket::Path(file) => Some(file),
            UnixSocket::Abstract(_) => None,
        }
    }
}

/// Writes only the name, for messages.
impl std::fmt::Display for UnixSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.address().fmt(f)
    }
}

/// How sockets are configured. The parts that select a route belong to the connection key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SocketOptions {
    pub nodelay: bool,
    pub keepalive: Option<KeepAlive>,
    pub local: LocalBinding,
    pub fast_open: bool,
    pub send_buffer: Option<usize>,
    /// The policies that judge each address before a socket is connected to it. As a part of the key, they
    /// keep connections apart that were opened under other policies.
    pub guard: Guard,
}

/// TCP keep-alive probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeepAlive {
    pub idle: Duration,
    pub interval: Duration,
    pub count: u32,
}

/// The local end (CURLOPT_INTERFACE, LOCALPORT, LOCALPORTRANGE).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LocalBinding {
    /// An interface's name or a host, whichever exists.
    pub device: Option<String>,
    /// `if!NAME`: only an interface.
    pub interface: Option<String>,
    /// `host!NAME`: only a host.
    pub host: Option<String>,
    /// 0 lets the system choose.
    pub port: u16,
    /// Number of ports that are tried, starting at `port`.
    pub port_range: u16,
}

/// The application's socket functions. Called on the thread that runs the transfer.
pub trait SocketCallbacks {
    /// Creates a socket, and may change its destination.
    fn open(&self, purpose: Purpose, target: &mut Target, transport: Transport) -> OpenSocketAnswer;
    /// Receives a socket before it is connected.
    fn configure(&self, fd: BorrowedFd<'_>, purpose: Purpose) -> SockoptAnswer;
    /// The function that closes sockets, if not the system's close.
    fn close_hook(&self) -> Option<CloseHook>;
    /// The owner: handles with the same value use each other's connections within one multi handle.
    fn kin(&self) -> Option<[usize; 2]> {
        None
    }
}

/// The result of the application's function that creates a socket.
pub enum OpenSocketAnswer {
    /// The system creates it.
    BySystem,
    Socket(OwnedFd),
    Refused,
}

/// The application's decision about a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SockoptAnswer {
    Ok,
    Abort,
    AlreadyConnected,
}

/// A socket that is ready to be connected.
pub struct Fresh {
    pub socket: Socket,
    pub target: Target,
    pub already_connected: bool,
}

impl Default for SocketOptions {
    fn default() -> SocketOptions {
        let local = LocalBinding::default();
        SocketOptions {
            nodelay: true,
            keepalive: None,
            local,
            fast_open: false,
            send_buffer: None,
            guard: Guard::default(),
        }
    }
}

impl SocketOptions {
    /// Returns the options for a data connection of FTP.
    pub fn for_data(&self) -> SocketOptions {
        SocketOptions { guard: self.guard.for_data(), ..self.clone() }
    }
}

/// Asks the policies about the destination of a socket.
fn judge(guard: &Guard, target: &Target) -> Result<(), NetError> {
    let verdict = match target {
        Target::Ip(address) => guard.judge_socket(*address),
        Target::Unix(UnixAddress::Path(path)) => guard.judge(Question::Unix(path)),
        Target::Unix(UnixAddress::Abstract(name)) => guard.judge(Question::AbstractUnix(name)),
    };
    verdict.map_err(NetError::from)
}

impl LocalBinding {
    /// Parses CURLOPT_INTERFACE: a name, `if!NAME`, `host!NAME` or `ifhost!NAME!HOST`. An address may have
    /// brackets.
    pub fn parse(text: &str) -> Option<LocalBinding> {
        let mut binding = LocalBinding::default();
        let part = |text: &str| {
            let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let text = bare.filter(|address| address.parse::<IpAddr>().is_ok()).unwrap_or(text);
            (!text.is_empty()).then(|| text.to_owned())
        };
        if text.len() > 512 {
            return None;
        }
        if let Some(name) = text.strip_prefix("if!") {
            binding.interface = Some(part(name)?);
        } else if let Some(host) = text.strip_prefix("host!") {
            binding.host = Some(part(host)?);
        } else if let Some(both) = text.strip_prefix("ifhost!") {
            let (name, host) = both.split_once('!')?;
            (binding.interface, binding.host) = (Some(name.to_owned()), Some(part(host)?));
        } else {
            binding.device = Some(part(text)?);
        }
        Some(binding)
    }

    /// Returns the host of the local end that needs a look-up; none if an interface has that name.
    pub fn host_name(&self) -> Option<&str> {
        let may_be = self.device.as_deref().filter(|name| sys::interface_number(name).is_none());
        self.host.as_deref().or(may_be)
    }

    /// Returns whether the system chooses everything.
    pub fn is_free(&self) -> bool {
        *self == LocalBinding { port_range: self.port_range, ..LocalBinding::default() }
    }
}

/// Creates a socket for `target`. `local_hosts` are the addresses of the local host's name, looked up before.
pub fn open(
    target: &Target,
    transport: Transport,
    options: &SocketOptions,
    local_hosts: &[SocketAddr],
    callbacks: Option<&dyn SocketCallbacks>,
) -> Result<Fresh, NetError> {
    let mut target = target.clone();
    judge(&options.guard, &target)?;
    let mut socket = unbound(&mut target, transport, callbacks)?;
    // The application may have changed it.
    judge(&options.guard, &target)?;
    configure(&socket, &target, transport, options);
    let buffer = Buffer::of(&socket, &target, transport, options);
    let answer = callbacks.map_or(SockoptAnswer::Ok, |c| c.configure(socket.as_fd(), Purpose::Connection));
    if answer == SockoptAnswer::Abort {
        return Err(NetError::new(NetErrorKind::AbortedByCallback, "callback aborted the connection"));
    }
    if buffer.is_untouched(&socket) {
        socket.grow_buffer();
    }
    if let Target::Ip(remote) = &target {
        bind_local(&socket, remote, &options.local, local_hosts)?;
    }
    Ok(Fresh { socket, target, already_connected: answer == SockoptAnswer::AlreadyConnected })
}

/// Returns the size of a new socket's send buffer if it may be enlarged: nobody has set a size, and the
/// system does not adjust it.
struct Buffer(Option<usize>);

impl Buffer {
    /// A socket from the application may have any buffer: its size is then not that of a new socket.
    fn of(socket: &Socket, target: &Target, transport: Transport, options: &SocketOptions) -> Buffer {
        if BUFFERS_GROW || transport != Transport::Tcp || options.send_buffer.is_some() {
            return Buffer(None);
        }
        let size = |fd: BorrowedFd<'_>| sockopt::socket_send_buffer_size(fd).ok();
        let fresh = create(target, transport).ok().and_then(|fresh| size(fresh.as_fd()));
        Buffer(size(socket.as_fd()).filter(|size| Some(*size) == fresh))
    }

    /// Returns whether the application has not changed it (CURLOPT_SOCKOPTFUNCTION(3)).
    fn is_untouched(&self, socket: &Socket) -> bool {
        self.0.is_some_and(|size| sockopt::socket_send_buffer_size(socket).ok() == Some(size))
    }
}

/// Creates a socket by the system or the application, with the function to close it.
pub(crate) fn unbound(
    target: &mut Target,
    transport: Transport,
    callbacks: Option<&dyn SocketCallbacks>,
) -> Result<Socket, NetError> {
    let opened =
        callbacks.map_or(OpenSocketAnswer::BySystem, |c| c.open(Purpose::Connection, target, transport));
    let fd = match opened {
        OpenSocketAnswer::Socket(fd) => take_over(fd)?,
        OpenSocketAnswer::BySystem => create(target, transport)?,
        OpenSocketAnswer::Refused => {
            return Err(NetError::new(
                NetErrorKind::CouldntConnect,
                "failed to open socket: refused by the callback",
            ));
        }
    };
    Ok(match callbacks.and_then(|c| c.close_hook()) {
        Some(hook) => Socket::with_close_hook(fd, hook),
        None => Socket::new(fd),
    })
}

fn create(target: &Target, transport: Transport) -> Result<OwnedFd, NetError> {
    let kind = match transport {
        Transport::Tcp => SocketType::STREAM,
        Transport::Udp => SocketType::DGRAM,
    };
    let made = match target {
        Target::Ip(SocketAddr::V4(_)) => new_socket(AddressFamily::INET, kind),
        Target::Ip(SocketAddr::V6(_)) => new_socket(AddressFamily::INET6, kind),
        Target::Unix(_) => sys::new_unix_socket(kind),
    };
    made.map_err(|e| failed(NetErrorKind::CouldntConnect, "failed to open socket", e))
}

/// Makes an application's socket non-blocking, as all code here expects.
fn take_over(fd: OwnedFd) -> Result<OwnedFd, NetError> {
    match rustix::io::ioctl_fionbio(&fd, true) {
        Ok(()) => Ok(fd),
        Err(e) => Err(failed(NetErrorKind::CouldntConnect, "socket cannot be made non-blocking", e.into())),
    }
}

/// Like curl, ignores failures: these options only tune.
fn configure(socket: &Socket, target: &Target, transport: Transport, options: &SocketOptions) {
    let tcp = transport == Transport::Tcp && matches!(target, Target::Ip(_));
    if tcp && options.nodelay {
        let _ = sockopt::set_tcp_nodelay(socket, true);
    }
    if let Some(keep) = options.keepalive.filter(|_| tcp) {
        let _ = sockopt::set_socket_keepalive(socket, true);
        let _ = sockopt::set_tcp_keepidle(socket, keep.idle);
        let _ = sockopt::set_tcp_keepintvl(socket, keep.interval);
        let _ = sockopt::set_tcp_keepcnt(socket, keep.count);
    }
    if tcp && options.fast_open {
        sys::open_fast(socket);
    }
    if let Some(size) = options.send_buffer {
        let _ = sockopt::set_socket_send_buffer_size(socket, size);
    }
}

/// Binds the local end as the user asked.
fn bind_local(
    socket: &Socket,
    remote: &SocketAddr,
    local: &LocalBinding,
    hosts: &[SocketAddr],
) -> Result<(), NetError> {
    if local.is_free() {
        return Ok(());
    }
    let interface = local.interface.as_deref().or(local.device.as_deref());
    if let Some(name) = interface
        && sys::bind_to_interface(socket, name)
        && local.host.is_none()
    {
        return Ok(()); // otherwise its address is bound below
    }
    let address = local_address(remote, local, interface, hosts)?;
    sys::choose_port_late(socket);
    bind_port(socket, address, local)
}

fn local_address(
    remote: &SocketAddr,
    local: &LocalBinding,
    interface: Option<&str>,
    hosts: &[SocketAddr],
) -> Result<IpAddr, NetError> {
    let family = |ip: &IpAddr| ip.is_ipv4() == remote.is_ipv4();
    if local.host.is_none()
        && let Some(name) = interface
    {
        let addresses = interface_addresses(name);
        if let Some(ip) = addresses.iter().copied().find(family) {
            return Ok(ip);
        }
        if !addresses.is_empty() {
            return Err(NetError::new(
                NetErrorKind::UnsupportedProtocol,
                "interface has no address of that family",
            ));
        }
        if local.interface.is_some() {
            return Err(unbindable("interface ", name));
        }
    }
    match local.host.as_deref().or(local.device.as_deref()) {
        None => {
            Ok(if remote.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() })
        }
        Some(host) => match hosts.iter().map(SocketAddr::ip).find(family) {
            Some(ip) => Ok(ip),
            None if hosts.is_empty() => Err(unbindable("", host)),
            None => Err(NetError::new(
                NetErrorKind::UnsupportedProtocol,
                "local host has no address of that family",
            )),
        },
    }
}

fn bind_port(socket: &Socket, address: IpAddr, local: &LocalBinding) -> Result<(), NetError> {
    let last = local.port.saturating_add(local.port_range.max(1) - 1);
    let mut port = local.port;
    loop {
        match bind(socket, &SocketAddr::new(address, port)) {
            Ok(()) => return Ok(()),
            Err(_) if port < last => port += 1,
            Err(e) => {
                let e = io::Error::from(e);
                let message = format!("bind failed with errno {}: {}", code(&e), plain(&e));
                return Err(NetError::from_io(NetErrorKind::InterfaceFailed, message, &e));
            }
        }
    }
}

/// Returns the addresses of an interface, link-local ones last: they work only with a scope.
fn interface_addresses(name: &str) -> Vec<IpAddr> {
    let mut list = sys::interface_addresses(name);
    list.sort_by_key(|ip| matches!(ip, IpAddr::V6(v6) if v6.is_unicast_link_local()));
    list
}

fn unbindable(what: &str, name: &str) -> NetError {
    let e = io::Error::from(sys::NO_DEVICE);
    let message = format!("Could not bind to {what}'{name}' with errno {}: {}", code(&e), plain(&e));
    NetError::from_io(NetErrorKind::InterfaceFailed, message, &e)
}

fn failed(kind: NetErrorKind, what: &str, e: io::Error) -> NetError {
    NetError::from_io(kind, format!("{what}: {}", plain(&e)), &e)
}

fn code(e: &io::Error) -> i32 {
    e.raw_os_error().unwrap_or(0)
}

/// Returns the system's text without the number that std adds.
fn plain(e: &io::Error) -> String {
    let text = e.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
