//! Windows: sockets are handles of Winsock, files those of msvcrt (a program with another C library sets its
//! own functions, as with any libcurl.dll), and there is no fork.

use std::ffi::{c_char, c_int, c_void};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::windows::io::{AsRawSocket, FromRawSocket, IntoRawSocket};
use std::ptr;

use net::filter::open::Target;
use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_INVALID_PARAMETER, GetLastError, HANDLE, WAIT_OBJECT_0,
};
use windows_sys::Win32::Networking::WinSock as winsock;
use windows_sys::Win32::Storage::FileSystem::{FILE_TYPE_DISK, FILE_TYPE_PIPE, GetFileType};
use windows_sys::Win32::System::Environment::GetEnvironmentVariableA;
use windows_sys::Win32::System::Memory as memory;
use windows_sys::Win32::System::Pipes::PeekNamedPipe;
use windows_sys::Win32::System::Threading::{
    GetCurrentThreadId, GetCurrentThreadStackLimits, OpenThread, THREAD_SYNCHRONIZE, WaitForSingleObject,
};

pub use std::os::windows::io::{BorrowedSocket, OwnedSocket, RawSocket};
pub use winsock::{FD_SET as FdSet, SOCKADDR_STORAGE as Storage};

pub const SOCK_STREAM: c_int = winsock::SOCK_STREAM;
pub const SOCK_DGRAM: c_int = winsock::SOCK_DGRAM;
pub const IPPROTO_TCP: c_int = winsock::IPPROTO_TCP;
pub const IPPROTO_UDP: c_int = winsock::IPPROTO_UDP;

pub const SEPARATORS: &[u8] = b"/\\";

unsafe extern "C" {
    fn __acrt_iob_func(index: u32) -> *mut libc::FILE;
    fn _fseeki64(file: *mut libc::FILE, offset: i64, whence: c_int) -> c_int;
    fn _get_osfhandle(fd: c_int) -> isize;
    /// msvcrt's own has three digits in an exponent.
    fn __mingw_snprintf(text: *mut c_char, size: usize, format: *const c_char, ...) -> c_int;
}

// --- sockets ---

/// Returns whether the number is a socket at all.
pub fn is_given(socket: RawSocket) -> bool {
    socket as usize != winsock::INVALID_SOCKET
}

pub fn raw(socket: BorrowedSocket<'_>) -> RawSocket {
    socket.as_raw_socket()
}

pub fn release(socket: OwnedSocket) -> RawSocket {
    socket.into_raw_socket()
}

/// Takes ownership of the application's socket; `None` for a number that is not a socket.
///
/// # Safety
/// Nobody else owns it from now on.
pub unsafe fn adopt(socket: RawSocket) -> Option<OwnedSocket> {
    let (mut kind, mut length) = (0_i32, size_of::<i32>() as c_int);
    // SAFETY: a query of the number, with room for an int; then the caller's promise.
    unsafe {
        let place = (&raw mut kind).cast();
        let asked = winsock::getsockopt(
            socket as usize,
            winsock::SOL_SOCKET,
            winsock::SO_TYPE,
            place,
            &raw mut length,
        );
        (asked == 0).then(|| OwnedSocket::from_raw_socket(socket))
    }
}

/// # Safety
/// Nobody uses it afterwards.
pub unsafe fn close(socket: RawSocket) {
    // SAFETY: the caller's promise.
    unsafe { winsock::closesocket(socket as usize) };
}

/// Adds a socket to a set; false if the set is full. A program may have larger sets, but that cannot be
/// queried: every program has room for 64.
///
/// # Safety
/// The set is writable.
pub unsafe fn enter(set: *mut FdSet, socket: RawSocket) -> bool {
    // SAFETY: the caller's promise; memory after the guaranteed 64 entries is not touched.
    let set = unsafe { &mut *set };
    let count = set.fd_count as usize;
    let known = &set.fd_array[..count.min(set.fd_array.len())];
    if known.contains(&(socket as usize)) {
        return true;
    }
    let Some(place) = set.fd_array.get_mut(count) else { return false };
    *place = socket as usize;
    set.fd_count += 1;
    true
}

// --- addresses ---

/// Writes an address in C's format; returns its family and length, or `None` for a Unix socket, which is not
/// supported.
pub fn put_address(target: &Target, storage: &mut Storage) -> Option<(c_int, usize)> {
    let place = ptr::from_mut(storage);
    // SAFETY: SOCKADDR_STORAGE is large enough and aligned for every address.
    let (family, length) = unsafe {
        match target {
            Target::Ip(SocketAddr::V4(v4)) => {
                let inet = &mut *place.cast::<winsock::SOCKADDR_IN>();
                inet.sin_port = v4.port().to_be();
                inet.sin_addr.S_un.S_addr = u32::from(*v4.ip()).to_be();
                (winsock::AF_INET, size_of::<winsock::SOCKADDR_IN>())
            }
            Target::Ip(SocketAddr::V6(v6)) => {
                let inet6 = &mut *place.cast::<winsock::SOCKADDR_IN6>();
                inet6.sin6_port = v6.port().to_be();
                inet6.sin6_addr.u.Byte = v6.ip().octets();
                inet6.sin6_flowinfo = v6.flowinfo();
                inet6.Anonymous.sin6_scope_id = v6.scope_id();
                (winsock::AF_INET6, size_of::<winsock::SOCKADDR_IN6>())
            }
            Target::Unix(_) => return None,
        }
    };
    storage.ss_family = family;
    Some((c_int::from(family), length))
}

/// Reads an address in C's format, if it is an IP address.
pub fn ip_address(storage: &Storage) -> Option<SocketAddr> {
    let place = ptr::from_ref(storage);
    // SAFETY: the family says which address it is; SOCKADDR_STORAGE is large enough and aligned for every
    // one.
    unsafe {
        match (*place).ss_family {
            winsock::AF_INET => {
                let inet = &*place.cast::<winsock::SOCKADDR_IN>();
                let ip = Ipv4Addr::from(u32::from_be(inet.sin_addr.S_un.S_addr));
                Some(SocketAddrV4::new(ip, u16::from_be(inet.sin_port)).into())
            }
            winsock::AF_INET6 => {
                let inet6 = &*place.cast::<winsock::SOCKADDR_IN6>();
                let ip = Ipv6Addr::from(inet6.sin6_addr.u.Byte);
                let (port, scope) = (u16::from_be(inet6.sin6_port), inet6.Anonymous.sin6_scope_id);
                Some(SocketAddrV6::new(ip, port, inet6.sin6_flowinfo, scope).into())
            }
            _ => None,
        }
    }
}

// --- the C library ---

pub fn stdin() -> *mut libc::FILE {
    // SAFETY: one of the C library's three own files, here and below.
    unsafe { __acrt_iob_func(0) }
}

pub fn stdout() -> *mut libc::FILE {
    // SAFETY: as above.
    unsafe { __acrt_iob_func(1) }
}

pub fn stderr() -> *mut libc::FILE {
    // SAFETY: as above.
    unsafe { __acrt_iob_func(2) }
}

/// Moves an open file to that offset; returns whether it succeeded.
///
/// # Safety
/// It is an open file.
pub unsafe fn seek(file: *mut libc::FILE, offset: i64) -> bool {
    // SAFETY: the caller's promise.
    unsafe { _fseeki64(file, offset, libc::SEEK_SET) == 0 }
}

/// Reads what is available from a file's descriptor; 0 at the end, or if nothing is available.
///
/// # Safety
/// It is an open file.
pub unsafe fn descriptor_read(file: *mut libc::FILE, buf: &mut [u8]) -> usize {
    // SAFETY: the caller's promise; `buf` has room for what is read.
    unsafe {
        let fd = libc::fileno(file);
        let handle = _get_osfhandle(fd) as HANDLE;
        let most = match GetFileType(handle) {
            FILE_TYPE_DISK => buf.len(),
            FILE_TYPE_PIPE => {
                let mut there = 0;
                let none = ptr::null_mut();
                PeekNamedPipe(handle, none, 0, ptr::null_mut(), &raw mut there, ptr::null_mut());
                buf.len().min(there as usize)
            }
            _ if WaitForSingleObject(handle, 0) == WAIT_OBJECT_0 => buf.len(),
            _ => 0,
        };
        if most == 0 {
            return 0;
        }
        usize::try_from(libc::read(fd, buf.as_mut_ptr().cast::<c_void>(), most as u32)).unwrap_or(0)
    }
}

/// Prints a floating-point number by a format with `*.*`, by the rules of the C standard.
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
        __mingw_snprintf(
            text.as_mut_ptr().cast(),
            text.len(),
            format.as_ptr().cast(),
            width,
            precision,
            value,
        )
    }
}

/// Reads an environment variable, in the process's code page, as in curl.
///
/// # Safety
/// `name` is a C string.
pub unsafe fn environment(name: *const c_char) -> Option<Vec<u8>> {
    let mut room = 256;
    loop {
        let mut text = vec![0_u8; room as usize];
        // SAFETY: the caller's promise; the buffer is as long as is said.
        let length = unsafe { GetEnvironmentVariableA(name.cast(), text.as_mut_ptr(), room) };
        if length < room {
            text.truncate(length as usize);
            return (length > 0).then_some(text);
        }
        room = length;
    }
}

// --- the process, its threads and their stacks ---

/// Does nothing: Windows has no forks.
pub fn in_forked_child(_body: unsafe extern "C" fn()) {}

/// The calling thread; never 0.
pub fn thread() -> usize {
    // SAFETY: no preconditions.
    unsafe { GetCurrentThreadId() as usize }
}

/// Returns whether a thread has ended. `pthread_exit` of winpthreads is a jump, which runs no destructor.
#[cold]
pub fn thread_ended(thread: usize) -> bool {
    // SAFETY: a query of a number; the handle that is closed was opened here.
    unsafe {
        let handle = OpenThread(THREAD_SYNCHRONIZE, 0, thread as u32);
        if handle.is_null() {
            return GetLastError() == ERROR_INVALID_PARAMETER;
        }
        let ended = WaitForSingleObject(handle, 0) == WAIT_OBJECT_0;
        CloseHandle(handle);
        ended
    }
}

/// Returns the bounds of the stack of this thread, or of its fibre.
#[cold]
pub fn own_stack() -> Option<(usize, usize)> {
    let (mut start, mut end) = (0, 0);
    // SAFETY: two places for numbers.
    unsafe { GetCurrentThreadStackLimits(&raw mut start, &raw mut end) };
    Some((start, end))
}

/// Whether there is memory that may be read: a guard page, which grows a stack when it is touched, is none.
pub fn word_can_be_read(at: usize) -> bool {
    const READABLE: u32 = memory::PAGE_READONLY
        | memory::PAGE_READWRITE
        | memory::PAGE_WRITECOPY
        | memory::PAGE_EXECUTE_READ
        | memory::PAGE_EXECUTE_READWRITE;
    // SAFETY: numbers and a NULL pointer, all of which may be zero.
    let mut page: memory::MEMORY_BASIC_INFORMATION = unsafe { std::mem::zeroed() };
    let size = size_of_val(&page);
    // SAFETY: a query of the address, and there is room for the result.
    let length = unsafe { memory::VirtualQuery(ptr::without_provenance(at), &raw mut page, size) };
    length != 0
        && page.State == memory::MEM_COMMIT
        && page.Protect & READABLE != 0
        && page.Protect & memory::PAGE_GUARD == 0
}
