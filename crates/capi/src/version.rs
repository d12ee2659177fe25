//! The version functions (curl_version.md, curl_version_info.md).
//!
//! Programs compare the first token of `ssl_version` with the TLS library that they were built for, and
//! refuse to load if it differs (pycurl). It names the flavour; the real backend follows.

use std::ffi::{CString, c_char, c_int, c_long, c_uint};
use std::ptr;

use runtime::LockFreeOnce;
use tables::version::{BROTLI, ZLIB, ZSTD};
use tables::{Scheme, feature, version, version_line};

use crate::guard::entry;

/// `curl_version_info_data`, of the age CURLVERSION_NOW.
#[repr(C)]
pub struct VersionInfo {
    age: c_int,
    version: *const c_char,
    version_num: c_uint,
    host: *const c_char,
    features: c_int,
    ssl_version: *const c_char,
    ssl_version_num: c_long,
    libz_version: *const c_char,
    protocols: *const *const c_char,
    ares: *const c_char,
    ares_num: c_int,
    libidn: *const c_char,
    iconv_ver_num: c_int,
    libssh_version: *const c_char,
    brotli_ver_num: c_uint,
    brotli_version: *const c_char,
    nghttp2_ver_num: c_uint,
    nghttp2_version: *const c_char,
    quic_version: *const c_char,
    cainfo: *const c_char,
    capath: *const c_char,
    zstd_ver_num: c_uint,
    zstd_version: *const c_char,
    hyper_version: *const c_char,
    gsasl_version: *const c_char,
    feature_names: *const *const c_char,
    rtmp_version: *const c_char,
}

/// Which of curl's two libraries the caller was linked with. The version node of the symbol says it: link.sh
/// binds the functions of CURL_GNUTLS_3 that have a flavour to the `warmwire_gnutls_` functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// libcurl.so.4.
    Default,
    /// libcurl-gnutls.so.4, CURL_GNUTLS_3.
    GnuTls,
}

impl Flavour {
    /// Returns the name of the TLS library as programs look for it.
    fn tls(self) -> &'static str {
        match self {
            Flavour::Default => version::AS_DEFAULT,
            Flavour::GnuTls => version::AS_GNUTLS,
        }
    }
}

struct Facts {
    info: VersionInfo,
    line: CString,
    /// Owns the texts and lists to which `info` points.
    _storage: Storage,
}
// SAFETY: the pointers are to texts and lists of `_storage`, which stay in their places and are only read.
unsafe impl Send for Facts {}
// SAFETY: as above.
unsafe impl Sync for Facts {}

/// Texts and lists of texts for C. Their memory stays in its place when the storage moves.
#[derive(Default)]
struct Storage {
    /// Made by [`CString::into_raw`].
    texts: Vec<*mut c_char>,
    lists: Vec<Vec<*const c_char>>,
}

impl Drop for Storage {
    fn drop(&mut self) {
        for text in self.texts.drain(..) {
            // SAFETY: `add` made it, and nobody has the pointers of facts that are dropped.
            drop(unsafe { CString::from_raw(text) });
        }
    }
}

impl Storage {
    fn add(&mut self, value: &str) -> *const c_char {
        let place = text(value).into_raw();
        self.texts.push(place);
        place
    }

    fn add_list(&mut self, names: impl IntoIterator<Item = &'static str>) -> *const *const c_char {
        let names = names.into_iter().map(|name| self.add(name)).collect::<Vec<_>>();
        let list: Vec<_> = names.into_iter().chain([ptr::null()]).collect();
        let place = list.as_ptr();
        self.lists.push(list);
        place
    }
}

/// Returns the facts, created once; if two threads are first together, those of one are dropped.
fn facts(flavour: Flavour) -> &'static Facts {
    static DEFAULT: LockFreeOnce<Facts> = LockFreeOnce::new();
    static GNUTLS: LockFreeOnce<Facts> = LockFreeOnce::new();
    let tls = flavour.tls();
    let made = || {
        let mut storage = Storage::default();
        Facts { info: info(tls, &mut storage), line: text(&version_line(tls)), _storage: storage }
    };
    match flavour {
        Flavour::Default => DEFAULT.get(made),
        Flavour::GnuTls => GNUTLS.get(made),
    }
}

fn info(tls: &str, storage: &mut Storage) -> VersionInfo {
    // No other library speaks HTTP/2, QUIC or SSH or reads international names here. Programs test these
    // texts where the bit is set, and print them.
    let here = storage.add(&format!("{}/{}", version().name, version().own));
    let packed = |(major, minor, patch): (u32, u32, u32)| major << 24 | minor << 12 | patch;
    VersionInfo {
        age: tables::constant::CURLVERSION_NOW,
        version: storage.add(version().curl),
        version_num: version().curl_number,
        host: storage.add(&format!("{}-pc-{}-gnu", std::env::consts::ARCH, std::env::consts::OS)),
        features: feature::built_bits(),
        ssl_version: storage.add(&format!("{tls} {}/{}", version().name, version().own)),
        ssl_version_num: 0,
        libz_version: storage.add(ZLIB),
        protocols: storage.add_list(Scheme::built_names()),
        ares: ptr::null(),
        ares_num: 0,
        libidn: here,
        iconv_ver_num: 0,
        libssh_version: here,
        brotli_ver_num: packed(BROTLI.0),
        brotli_version: storage.add(BROTLI.1),
        nghttp2_ver_num: version().own_number,
        nghttp2_version: here,
        quic_version: here,
        cainfo: engine::info::CAINFO.map_or(ptr::null(), |path| storage.add(path)),
        capath: engine::info::CAPATH.map_or(ptr::null(), |path| storage.add(path)),
        zstd_ver_num: packed(ZSTD.0),
        zstd_version: storage.add(ZSTD.1),
        hyper_version: ptr::null(),
        gsasl_version: ptr::null(),
        feature_names: storage.add_list(feature::built_names()),
        rtmp_version: ptr::null(),
    }
}

fn text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_version() -> *const c_char {
    entry(ptr::null(), || facts(Flavour::Default).line.as_ptr())
}

#[unsafe(no_mangle)]
pub extern "C-unwind" fn curl_version_info(_age: c_int) -> *const VersionInfo {
    entry(ptr::null(), || &raw const facts(Flavour::Default).info)
}

/// `curl_version` for programs of libcurl-gnutls.so.4.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn warmwire_gnutls_version() -> *const c_char {
    entry(ptr::null(), || facts(Flavour::GnuTls).line.as_ptr())
}

/// `curl_version_info` for programs of libcurl-gnutls.so.4.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn warmwire_gnutls_version_info(_age: c_int) -> *const VersionInfo {
    entry(ptr::null(), || &raw const facts(Flavour::GnuTls).info)
}
