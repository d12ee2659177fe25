//! Unix: descriptors are ints, and everything of the C library's is libc's.

use std::ffi::{c_char, c_int, c_long, c_void};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::ptr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use net::filter::open::{Target, UnixAddress};

pub use libc::{fd_set as FdSet, sockaddr_storage as Storage};
pub use std::os::fd::{BorrowedFd as BorrowedSocket, OwnedFd as OwnedSocket, RawFd as RawSocket};

pub const SOCK_STREAM: c_int = libc::SOCK_STREAM;
pub const SOCK_DGRAM: c_int = libc::SOCK_DGRAM;
pub const IPPROTO_TCP: c_int = libc::IPPROTO_TCP;
pub const IPPROTO_UDP: c_int = libc::IPPROTO_UDP;

pub const SEPARATORS: &[u8] = b"/";

unsafe extern "C" {
    #[link_name = "stdin"]
    static STDIN: *mut libc::FILE;
    #[link_name = "stdout"]
    static STDOUT: *mut libc::FILE;
    #[link_name = "stderr"]
    static STDERR: *mut libc::FILE;
}

// --- sockets ---

/// Returns whether the number is a descriptor at all.
pub fn is_given(socket: RawSocket) -> bool {
    socket >= 0
}

pub fn raw(socket: BorrowedSocket<'_>) -> RawSocket {
    socket.as_raw_fd()
}

pub fn release(socket: OwnedSocket) -> RawSocket {
    socket.into_raw_fd()
}

/// Takes ownership of the application's descriptor; `None` for a number that is not an open descriptor.
///
/// # Safety
/// Nobody else owns it from now on.
pub unsafe fn adopt(socket: RawSocket) -> Option<OwnedSocket> {
    // SAFETY: a query of the number; then the caller's promise.
    unsafe { (libc::fcntl(socket, libc::F_GETFD) >= 0).then(|| OwnedSocket::from_raw_fd(socket)) }
}

/// # Safety
/// Nobody uses it afterwards.
pub unsafe fn close(socket: RawSocket) {
    // SAFETY: the caller's promise.
    unsafe { libc::close(socket) };
}

/// Adds a descriptor to a set; false if the set cannot hold it.
///
/// # Safety
/// The set is writable.
pub unsafe fn enter(set: *mut FdSet, socket: RawSocket) -> bool {
    let fits = (0..libc::FD_SETSIZE as c_int).contains(&socket);
    if fits {
        // SAFETY: it fits, and the caller's promise.
        unsafe { libc::FD_SET(socket, set) };
    }
    fits
}

// --- addresses ---

/// Writes an address in C's format; returns its family and length, or `None` for a path that is too long.
pub fn put_address(target: &Target, storage: &mut Storage) -> Option<(c_int, usize)> {
    let place = ptr::from_mut(storage);
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
            Target::Unix(unix) => (libc::AF_UNIX, put_path(&mut *place.cast::<libc::sockaddr_un>(), unix)?),
        }
    };
    storage.ss_family = family as libc::sa_family_t;
    Some((family, length))
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

/// Reads an address in C's format, if it is an IP address.
pub fn ip_address(storage: &Storage) -> Option<SocketAddr> {
    let place = ptr::from_ref(storage);
    // SAFETY: the family says which address it is; sockaddr_storage is large enough and aligned for every
    // one.
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

// --- the C library ---

pub fn stdin() -> *mut libc::FILE {
    // SAFETY: the C library's own file, here and below.
    unsafe { STDIN }
}

pub fn stdout() -> *mut libc::FILE {
    // SAFETY: as above.
    unsafe { STDOUT }
}

pub fn stderr() -> *mut libc::FILE {
    // SAFETY: as above.
    unsafe { STDERR }
}

/// Moves an open file to that offset; returns whether it succeeded.
///
/// # Safety
/// It is an open file.
pub unsafe fn seek(file: *mut libc::FILE, offset: i64) -> bool {
    // SAFETY: the caller's promise.
    unsafe { libc::fseeko(file, offset, libc::SEEK_SET) == 0 }
}

/// Reads what is available from a file's descriptor; 0 at the end, or if nothing is available.
///
/// # Safety
/// It is an open file.
pub unsafe fn descriptor_read(file: *mut libc::FILE, buf: &mut [u8]) -> usize {
    // SAFETY: the caller's promise; `buf` has room for the length.
    unsafe {
        let mut asked = libc::pollfd { fd: libc::fileno(file), events: libc::POLLIN, revents: 0 };
        if libc::poll(&raw mut asked, 1, 0) <= 0 || asked.revents & libc::POLLIN == 0 {
            return 0;
        }
        usize::try_from(libc::read(asked.fd, buf.as_mut_ptr().cast(), buf.len())).unwrap_or(0)
    }
}

/// Prints a real number by a format with `*.*`, as the C library does.
///
/// # Safety
/// The format takes two ints and a double, and ends with a zero.
pub unsafe fn print_real(
    text: &mut [u8],
    format: &[u8],
    width: c_int,
    precision: c_int,
    value: f64,
) -> c_int {
    // SAFETY: the caller's promise; the length is that of the buffer.
    unsafe {
        libc::snprintf(text.as_mut_ptr().cast(), text.len(), format.as_ptr().cast(), width, precision, value)
    }
}

/// Reads an environment variable.
///
/// # Safety
/// `name` is a C string; no other thread changes the environment meanwhile (as for C's getenv).
pub unsafe fn environment(name: *const c_char) -> Option<Vec<u8>> {
    // SAFETY: the caller's promise; the result of getenv is a C string or NULL, and is copied at once.
    unsafe { crate::text::bytes(libc::getenv(name)).map(<[u8]>::to_vec) }
}

// --- the process, its threads and their stacks ---

/// Registers a function to be called in the child of each fork.
pub fn in_forked_child(body: unsafe extern "C" fn()) {
    // SAFETY: a function of this library, which is never unloaded (-z nodelete).
    unsafe { libc::pthread_atfork(None, None, Some(body)) };
}

/// The calling thread; never 0.
pub fn thread() -> usize {
    // SAFETY: pthread_self has no preconditions.
    unsafe { libc::pthread_self() as usize }
}

/// Returns whether a thread is known to have ended: never, because the system cannot be asked about one that
/// has. `pthread_exit` unwinds, so the gate was released.
#[cold]
pub fn thread_ended(_thread: usize) -> bool {
    false
}

/// Returns the bounds of the stack that the system allocated for this thread.
///
/// The C library reads those of the main thread from /proc/self/maps, which takes 25 µs or more: they are
/// cached. Only the main thread reads and writes the cache. A forked child may have another main thread; the
/// stored value of `pthread_self` detects that.
#[cold]
pub fn own_stack() -> Option<(usize, usize)> {
    static MAIN: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
    if !is_main_thread() {
        return find_own_stack();
    }
    let [owner, start, end] = &MAIN;
    if owner.load(Relaxed) != thread() {
        let found = find_own_stack()?;
        start.store(found.0, Relaxed);
        end.store(found.1, Relaxed);
        owner.store(thread(), Relaxed);
    }
    Some((start.load(Relaxed), end.load(Relaxed)))
}

fn is_main_thread() -> bool {
    // SAFETY: neither call has preconditions.
    unsafe { libc::syscall(libc::SYS_gettid) == c_long::from(libc::getpid()) }
}

fn find_own_stack() -> Option<(usize, usize)> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut start, mut size) = (ptr::null_mut::<c_void>(), 0);
    // SAFETY: the attributes are initialised by the first call when it succeeds, read by the second and ended
    // by the third.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        libc::pthread_attr_getstack(attributes.as_ptr(), &mut start, &mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
    }
    Some((start.addr(), start.addr() + size))
}

/// Returns whether a word can be read. The kernel copies a set of signals before it checks the operation. The
/// operation here is invalid, so nothing is done: the result is EINVAL, or EFAULT if the memory could not be
/// read.
pub fn word_can_be_read(at: usize) -> bool {
    const NONSENSE: c_int = -1;
    let set = ptr::without_provenance::<u64>(at);
    // SAFETY: only the kernel reads the address. errno belongs to this thread, and is restored because a
    // callback of the application may be about to read it.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let none = ptr::null_mut::<u64>();
        libc::syscall(libc::SYS_rt_sigprocmask, NONSENSE, set, none, size_of::<u64>());
        let fault = *errno == libc::EFAULT;
        *errno = before;
        !fault
    }
}
