//! Function pointers of an easy handle and their data, by option. The types of the functions are those of
//! curl.h.

use std::ffi::{c_char, c_int, c_long, c_uint, c_void};
use std::ptr;

use engine::settings::option_map::OptionMap;
use runtime::cell::RefCell;
use tables::EasyOption as O;

use crate::form_body::{ReadFn, SeekFn};
use crate::hsts::{HstsReadFn, HstsWriteFn};
use crate::slist::Slist;
use crate::sys::{RawSocket, Storage};

pub type WriteFn = unsafe extern "C-unwind" fn(*mut c_char, usize, usize, *mut c_void) -> usize;
pub type IoctlFn = unsafe extern "C-unwind" fn(*mut c_void, c_int, *mut c_void) -> c_int;
pub type DebugFn = unsafe extern "C-unwind" fn(*mut c_void, c_int, *mut c_char, usize, *mut c_void) -> c_int;
pub type ProgressFn = unsafe extern "C-unwind" fn(*mut c_void, f64, f64, f64, f64) -> c_int;
pub type XferinfoFn = unsafe extern "C-unwind" fn(*mut c_void, i64, i64, i64, i64) -> c_int;
pub type SockoptFn = unsafe extern "C-unwind" fn(*mut c_void, RawSocket, c_int) -> c_int;
pub type OpenFn = unsafe extern "C-unwind" fn(*mut c_void, c_int, *mut c_void) -> RawSocket;
pub type CloseFn = unsafe extern "C-unwind" fn(*mut c_void, RawSocket) -> c_int;
pub type ChunkBeginFn = unsafe extern "C-unwind" fn(*const c_void, *mut c_void, c_int) -> c_long;
pub type ChunkEndFn = unsafe extern "C-unwind" fn(*mut c_void) -> c_long;
pub type FnmatchFn = unsafe extern "C-unwind" fn(*mut c_void, *const c_char, *const c_char) -> c_int;
pub type ResolverStartFn = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *mut c_void) -> c_int;
pub type TrailerFn = unsafe extern "C-unwind" fn(*mut *mut Slist, *mut c_void) -> c_int;
pub type PrereqFn = unsafe extern "C-unwind" fn(*mut c_void, *mut c_char, *mut c_char, c_int, c_int) -> c_int;
pub type SslCtxFn = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *mut c_void) -> c_int;
pub type SshKeyFn =
    unsafe extern "C-unwind" fn(*mut c_void, *const KhKey, *const KhKey, c_int, *mut c_void) -> c_int;
pub type SshHostKeyFn = unsafe extern "C-unwind" fn(*mut c_void, c_int, *const c_char, usize) -> c_int;

macro_rules! pointers {
    ($($field:ident: $option:ident,)* ; $($function:ident: $type:ty = $from:ident,)*) => {
        impl Pointers {
            /// The options whose pointers are read.
            #[cfg(test)]
            const READ: &[O] = &[$(O::$option),*];

            /// Stores an option's pointer.
            pub fn set(&self, option: O, pointer: *mut c_void) {
                self.0.borrow_mut().put(option, pointer);
            }

            $(#[inline]
            pub fn $field(&self) -> *mut c_void {
                self.get(O::$option).unwrap_or(ptr::null_mut())
            })*

            $(#[inline]
            pub fn $function(&self) -> Option<$type> {
                let pointer = self.$from();
                // SAFETY: the option's argument is a function of this type, as the manual demands; NULL is
                // None.
                unsafe { std::mem::transmute::<*mut c_void, Option<$type>>(pointer) }
            })*
        }
    };
}

pointers! {
    write: WriteFunction, write_data: WriteData,
    interleave: InterleaveFunction, interleave_data: InterleaveData,
    read: ReadFunction, read_data: ReadData,
    header: HeaderFunction, header_data: HeaderData,
    seek: SeekFunction, seek_data: SeekData,
    ioctl: IoctlFunction, ioctl_data: IoctlData,
    debug: DebugFunction, debug_data: DebugData,
    progress: ProgressFunction,
    xferinfo: XferInfoFunction, xferinfo_data: XferInfoData,
    sockopt: SockOptFunction, sockopt_data: SockOptData,
    open: OpenSocketFunction, open_data: OpenSocketData,
    close: CloseSocketFunction, close_data: CloseSocketData,
    chunk_begin: ChunkBgnFunction, chunk_end: ChunkEndFunction, chunk_data: ChunkData,
    fnmatch: FnMatchFunction, fnmatch_data: FnMatchData,
    resolver_start: ResolverStartFunction, resolver_start_data: ResolverStartData,
    trailer: TrailerFunction, trailer_data: TrailerData,
    hsts_read: HstsReadFunction, hsts_read_data: HstsReadData,
    hsts_write: HstsWriteFunction, hsts_write_data: HstsWriteData,
    prereq: PrereqFunction, prereq_data: PrereqData,
    ssl_ctx: SslCtxFunction, ssl_ctx_data: SslCtxData,
    ssh_key: SshKeyFunction, ssh_key_data: SshKeyData,
    ssh_host_key: SshHostKeyFunction, ssh_host_key_data: SshHostKeyData,
    error_buffer: ErrorBuffer, stderr: StdErr, private: Private, post_fields: PostFields,
    ;
    write_fn: WriteFn = write,
    interleave_fn: WriteFn = interleave,
    read_fn: ReadFn = read,
    header_fn: WriteFn = header,
    seek_fn: SeekFn = seek,
    ioctl_fn: IoctlFn = ioctl,
    debug_fn: DebugFn = debug,
    progress_fn: ProgressFn = progress,
    xferinfo_fn: XferinfoFn = xferinfo,
    sockopt_fn: SockoptFn = sockopt,
    open_fn: OpenFn = open,
    close_fn: CloseFn = close,
    chunk_begin_fn: ChunkBeginFn = chunk_begin,
    chunk_end_fn: ChunkEndFn = chunk_end,
    fnmatch_fn: FnmatchFn = fnmatch,
    resolver_start_fn: ResolverStartFn = resolver_start,
    trailer_fn: TrailerFn = trailer,
    hsts_read_fn: HstsReadFn = hsts_read,
    hsts_write_fn: HstsWriteFn = hsts_write,
    prereq_fn: PrereqFn = prereq,
    ssl_ctx_fn: SslCtxFn = ssl_ctx,
    ssh_key_fn: SshKeyFn = ssh_key,
    ssh_host_key_fn: SshHostKeyFn = ssh_host_key,
}

/// The pointers as C passed them; unset ones are NULL.
#[derive(Default)]
pub struct Pointers(RefCell<OptionMap<*mut c_void>>);

impl Pointers {
    /// Returns the pointer if it was set, even to NULL.
    #[inline]
    pub fn get(&self, option: O) -> Option<*mut c_void> {
        self.0.borrow().get(option).copied()
    }

    pub fn copy_from(&self, other: &Pointers) {
        self.0.borrow_mut().clone_from(&other.0.borrow());
    }

    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}

/// `struct curl_sockaddr`, with room for every address.
#[repr(C)]
pub struct SockAddr {
    pub family: c_int,
    pub kind: c_int,
    pub protocol: c_int,
    pub length: c_uint,
    pub address: Storage,
}

/// `struct curl_khkey`.
#[repr(C)]
pub struct KhKey {
    /// In base64, with a zero at its end, when `len` is 0.
    pub key: *const c_char,
    pub len: usize,
    pub keytype: c_int,
}

/// `struct curl_fileinfo`.
#[repr(C)]
pub struct FileInfo {
    pub filename: *mut c_char,
    pub file_type: c_int,
    pub time: libc::time_t,
    pub perm: c_uint,
    pub uid: c_int,
    pub gid: c_int,
    pub size: i64,
    pub hardlinks: c_long,
    /// time, perm, user, group, target
    pub strings: [*mut c_char; 5],
    pub flags: c_uint,
    pub private_data: *mut c_char,
    pub private_size: usize,
    pub private_used: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::Support;
    use tables::easy_option::{PointerRule, Rule};

    /// A function reads the pointer of each row that stores one, and no other option has such a function.
    #[test]
    fn every_pointer_that_is_kept_is_read() {
        for &option in O::ALL {
            let kept = matches!(
                option.rule(),
                Rule::Pointer(PointerRule::Plain | PointerRule::PostFields | PointerRule::TlsContext)
            ) && matches!(option.support(), Support::Built | Support::SystemTls);
            assert_eq!(kept, Pointers::READ.contains(&option), "{}", option.name());
        }
    }
}
