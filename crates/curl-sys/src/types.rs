//! Handles, enumerations, structures and callbacks of include/curl.

use libc::{c_char, c_double, c_int, c_long, c_short, c_uint, c_void, size_t, time_t};

#[cfg(not(windows))]
pub use libc::{fd_set, sockaddr};
#[cfg(windows)]
pub use windows::{fd_set, sockaddr};

/// The type of C's enumerations.
#[cfg(target_env = "msvc")]
pub type __enum_ty = c_int;
#[cfg(not(target_env = "msvc"))]
pub type __enum_ty = c_uint;

pub type curl_off_t = i64;
#[cfg(not(windows))]
pub type curl_socket_t = c_int;
#[cfg(all(windows, target_pointer_width = "32"))]
pub type curl_socket_t = c_uint;
#[cfg(all(windows, target_pointer_width = "64"))]
pub type curl_socket_t = u64;

macro_rules! enumerations {
    ($($name:ident)*) => { $(pub type $name = __enum_ty;)* };
}
enumerations! {
    CURLFORMcode CURLHcode CURLINFO CURLMSG CURLMinfo_offt CURLMoption CURLSHcode CURLSHoption CURLSTScode
    CURLUPart CURLUcode CURL_NETRC_OPTION CURL_TLSAUTH CURLcode CURLformoption CURLoption CURLproxycode
    CURLsslset CURLversion curl_TimeCond curl_closepolicy curl_easytype curl_ftpauth curl_ftpccc
    curl_ftpcreatedir curl_ftpmethod curl_infotype curl_khmatch curl_khstat curl_khtype curl_lock_access
    curl_lock_data curl_proxytype curl_sslbackend curl_usessl curlfiletype curliocmd curlioerr
    curlsocktype
}
/// Signed: one of its codes is negative.
pub type CURLMcode = c_int;

macro_rules! opaque {
    ($($name:ident)*) => { $(
        /// An object of the library; programs have pointers to it alone.
        #[repr(C)]
        pub struct $name { private: [u8; 0] }
    )* };
}
opaque! { CURLSH CURLU curl_mime curl_mimepart curl_pushheaders }
/// An easy handle; programs have pointers to it alone.
pub type CURL = c_void;
/// A multi handle; programs have pointers to it alone.
pub type CURLM = c_void;

macro_rules! structures {
    ($($name:ident { $($field:ident: $type:ty,)* })*) => {
        $(#[repr(C)] #[derive(Copy, Clone)] pub struct $name { $(pub $field: $type,)* })*

        /// Size and offsets of fields of each structure, for the comparison with the C headers.
        #[doc(hidden)]
        pub fn layouts() -> Vec<(&'static str, usize, Vec<(&'static str, usize)>)> {
            vec![$((
                stringify!($name),
                size_of::<$name>(),
                vec![$((stringify!($field), std::mem::offset_of!($name, $field)),)*],
            ),)*]
        }
    };
}
structures! {
    curl_slist { data: *mut c_char, next: *mut curl_slist, }
    curl_httppost {
        next: *mut curl_httppost, name: *mut c_char, namelength: c_long, contents: *mut c_char,
        contentslength: c_long, buffer: *mut c_char, bufferlength: c_long, contenttype: *mut c_char,
        contentheader: *mut curl_slist, more: *mut curl_httppost, flags: c_long,
        showfilename: *mut c_char, userp: *mut c_void, contentlen: curl_off_t,
    }
    curl_forms { option: CURLformoption, value: *const c_char, }
    curl_fileinfo_strings {
        time: *mut c_char, perm: *mut c_char, user: *mut c_char, group: *mut c_char, target: *mut c_char,
    }
    curl_fileinfo {
        filename: *mut c_char, filetype: curlfiletype, time: time_t, perm: c_uint, uid: c_int, gid: c_int,
        size: curl_off_t, hardlinks: c_long, strings: curl_fileinfo_strings, flags: c_uint,
        b_data: *mut c_char, b_size: size_t, b_used: size_t,
    }
    curl_sockaddr { family: c_int, socktype: c_int, protocol: c_int, addrlen: c_uint, addr: sockaddr, }
    curl_khkey { key: *const c_char, len: size_t, keytype: curl_khtype, }
    curl_index { index: size_t, total: size_t, }
    curl_blob { data: *mut c_void, len: size_t, flags: c_uint, }
    curl_certinfo { num_of_certs: c_int, certinfo: *mut *mut curl_slist, }
    curl_tlssessioninfo { backend: curl_sslbackend, internals: *mut c_void, }
    curl_ssl_backend { id: curl_sslbackend, name: *const c_char, }
    curl_version_info_data {
        age: CURLversion, version: *const c_char, version_num: c_uint, host: *const c_char,
        features: c_int, ssl_version: *const c_char, ssl_version_num: c_long, libz_version: *const c_char,
        protocols: *const *const c_char, ares: *const c_char, ares_num: c_int, libidn: *const c_char,
        iconv_ver_num: c_int, libssh_version: *const c_char, brotli_ver_num: c_uint,
        brotli_version: *const c_char, nghttp2_ver_num: c_uint, nghttp2_version: *const c_char,
        quic_version: *const c_char, cainfo: *const c_char, capath: *const c_char, zstd_ver_num: c_uint,
        zstd_version: *const c_char, hyper_version: *const c_char, gsasl_version: *const c_char,
        feature_names: *const *const c_char, rtmp_version: *const c_char,
    }
    CURLMsg { msg: CURLMSG, easy_handle: *mut CURL, data: *mut c_void, }
    curl_waitfd { fd: curl_socket_t, events: c_short, revents: c_short, }
    curl_header {
        name: *mut c_char, value: *mut c_char, amount: size_t, index: size_t, origin: c_uint,
        anchor: *mut c_void,
    }
    curl_ws_frame { age: c_int, flags: c_int, offset: curl_off_t, bytesleft: curl_off_t, len: size_t, }
    curl_easyoption { name: *const c_char, id: CURLoption, r#type: curl_easytype, flags: c_uint, }
}

pub type curl_progress_callback = extern "C" fn(*mut c_void, c_double, c_double, c_double, c_double) -> c_int;
pub type curl_xferinfo_callback =
    extern "C" fn(*mut c_void, curl_off_t, curl_off_t, curl_off_t, curl_off_t) -> c_int;
pub type curl_write_callback = extern "C" fn(*mut c_char, size_t, size_t, *mut c_void) -> size_t;
pub type curl_read_callback = extern "C" fn(*mut c_char, size_t, size_t, *mut c_void) -> size_t;
pub type curl_seek_callback = extern "C" fn(*mut c_void, curl_off_t, c_int) -> c_int;
pub type curl_chunk_bgn_callback = extern "C" fn(*const c_void, *mut c_void, c_int) -> c_long;
pub type curl_chunk_end_callback = extern "C" fn(*mut c_void) -> c_long;
pub type curl_fnmatch_callback = extern "C" fn(*mut c_void, *const c_char, *const c_char) -> c_int;
pub type curl_sockopt_callback = extern "C" fn(*mut c_void, curl_socket_t, curlsocktype) -> c_int;
pub type curl_opensocket_callback =
    extern "C" fn(*mut c_void, curlsocktype, *mut curl_sockaddr) -> curl_socket_t;
pub type curl_closesocket_callback = extern "C" fn(*mut c_void, curl_socket_t) -> c_int;
pub type curl_ioctl_callback = extern "C" fn(*mut CURL, c_int, *mut c_void) -> curlioerr;
pub type curl_malloc_callback = extern "C" fn(size_t) -> *mut c_void;
pub type curl_free_callback = extern "C" fn(*mut c_void);
pub type curl_realloc_callback = extern "C" fn(*mut c_void, size_t) -> *mut c_void;
pub type curl_strdup_callback = extern "C" fn(*const c_char) -> *mut c_char;
pub type curl_calloc_callback = extern "C" fn(size_t, size_t) -> *mut c_void;
pub type curl_debug_callback =
    extern "C" fn(*mut CURL, curl_infotype, *mut c_char, size_t, *mut c_void) -> c_int;
pub type curl_prereq_callback = extern "C" fn(*mut c_void, *mut c_char, *mut c_char, c_int, c_int) -> c_int;
pub type curl_conv_callback = extern "C" fn(*mut c_char, size_t) -> CURLcode;
pub type curl_ssl_ctx_callback = extern "C" fn(*mut CURL, *mut c_void, *mut c_void) -> CURLcode;
pub type curl_formget_callback = extern "C" fn(*mut c_void, *const c_char, size_t) -> size_t;
pub type curl_lock_function = extern "C" fn(*mut CURL, curl_lock_data, curl_lock_access, *mut c_void);
pub type curl_unlock_function = extern "C" fn(*mut CURL, curl_lock_data, *mut c_void);
pub type curl_socket_callback =
    extern "C" fn(*mut CURL, curl_socket_t, c_int, *mut c_void, *mut c_void) -> c_int;
pub type curl_multi_timer_callback = extern "C" fn(*mut CURLM, c_long, *mut c_void) -> c_int;
pub type curl_push_callback =
    extern "C" fn(*mut CURL, *mut CURL, size_t, *mut curl_pushheaders, *mut c_void) -> c_int;
pub type curl_notify_callback = extern "C" fn(*mut CURLM, c_uint, *mut CURL, *mut c_void);
pub type curl_ssls_export_cb = extern "C" fn(
    *mut CURL,
    *mut c_void,
    *const c_char,
    *const u8,
    size_t,
    *const u8,
    size_t,
    curl_off_t,
    c_int,
    *const c_char,
    size_t,
) -> CURLcode;

/// Winsock's structures, which libc does not have.
#[cfg(windows)]
mod windows {
    #[repr(C)]
    #[derive(Copy, Clone)]
    pub struct fd_set {
        pub fd_count: libc::c_uint,
        pub fd_array: [super::curl_socket_t; 64],
    }

    #[repr(C)]
    #[derive(Copy, Clone)]
    pub struct sockaddr {
        pub sa_family: u16,
        pub sa_data: [u8; 14],
    }
}
