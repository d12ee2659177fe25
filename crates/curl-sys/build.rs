//! Compiles the C shim of the variadic functions, and writes the constants of the C headers as Rust.
//!
//! Numbers come from `warmwire-tables`. Their Rust types are those that programs on `curl-sys` expect; these
//! differ from the C types in some families.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use tables::constant::{self, CType, Constant};
use tables::{Code, EasyOption, HeaderCode, Info, MultiCode, MultiOption, ProxyCode, ShareCode, UrlCode};
use tables::{code, easy_option, info};

fn main() {
    let shim = "../capi/shim/variadic.c";
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={shim}");
    // An exception or a panic of the application's may pass through the shim.
    cc::Build::new().file(shim).flag_if_supported("-fexceptions").compile("warmwire_variadic");
    let include = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../include");
    // Build scripts of crates with C code that includes curl/curl.h read it as DEP_CURL_INCLUDE.
    println!("cargo:include={}", include.display());
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("constants.rs");
    fs::write(out, constants()).expect("OUT_DIR can be written");
}

fn constants() -> String {
    let mut out = String::new();
    for row in constant::ALL {
        define(&mut out, row.name, row.value, &rust_type(row));
        // The crate `curl-sys` has the flags of forms without the prefix.
        if let Some(name) = row.name.strip_prefix("CURL_").filter(|name| name.starts_with("HTTPPOST_")) {
            define(&mut out, name, row.value, &rust_type(row));
        }
    }
    for option in EasyOption::ALL {
        define(&mut out, &format!("CURLOPT_{}", option.name()), option.id().into(), "CURLoption");
    }
    for (name, option, ..) in easy_option::ALIASES {
        define(&mut out, &format!("CURLOPT_{name}"), option.id().into(), "CURLoption");
    }
    for option in MultiOption::ALL {
        define(&mut out, &format!("CURLMOPT_{}", option.name()), option.id().into(), "CURLMoption");
    }
    for info in Info::ALL {
        define(&mut out, &format!("CURLINFO_{}", info.name()), info.id().into(), "CURLINFO");
    }
    for (name, info, ..) in info::ALIASES {
        define(&mut out, &format!("CURLINFO_{name}"), info.id().into(), "CURLINFO");
    }
    codes(&mut out);
    out
}

fn codes(out: &mut String) {
    macro_rules! families {
        ($($type:ident)*) => {
            $(for code in $type::ALL {
                define(out, &format!("{}{}", $type::PREFIX, code.name()), code.id().into(), $type::C_TYPE);
            })*
        };
    }
    families!(Code MultiCode ShareCode UrlCode HeaderCode ProxyCode);
    for (name, id, _) in code::ALIASES {
        define(out, name, i64::from(*id), Code::C_TYPE);
    }
}

fn define(out: &mut String, name: &str, value: i64, rust_type: &str) {
    writeln!(out, "pub const {name}: {rust_type} = {value}_i64 as {rust_type};").expect("writes to a string");
}

/// Returns the type that `curl-sys` has for a family of constants, otherwise that of the C header.
fn rust_type(row: &Constant) -> String {
    let named = match row.name {
        "CURL_ERROR_SIZE" => Some("usize"),
        "CURLINFO_NONE" | "CURLINFO_LASTONE" => Some("CURLINFO"),
        "CURL_LAST" => Some("CURLcode"),
        "CURLM_LAST" | "CURLM_CALL_MULTI_SOCKET" => Some("CURLMcode"),
        "CURLMOPT_LASTENTRY" => Some("CURLMoption"),
        "CURLOPT_LASTENTRY" => Some("CURLoption"),
        "CURLPX_LAST" => Some("CURLproxycode"),
        "CURLSHE_LAST" => Some("CURLSHcode"),
        "CURLUE_LAST" => Some("CURLUcode"),
        "CURLVERSION_NOW" => Some("CURLversion"),
        "CURL_SOCKET_BAD" | "CURL_SOCKET_TIMEOUT" => Some("curl_socket_t"),
        _ => match row.group {
            "CURLFINFOFLAG_" | "CURL_BLOB_" => Some("c_uint"),
            "CURLGSSAPI_DELEGATION_" | "CURL_NETRC_" | "CURL_REDIR_" => Some("c_ulong"),
            "CURLINFO_" => Some("CURLINFO"),
            "CURLOPTTYPE_" | "CURLOPT_" => Some("CURLoption"),
            "CURLPROTO_" | "CURL_HTTP_VERSION_" | "CURL_IPRESOLVE_" => Some("c_int"),
            "CURLPROXY_" => Some("curl_proxytype"),
            "CURLSSLBACKEND_" => Some("curl_sslbackend"),
            "CURLUSESSL_" => Some("curl_usessl"),
            "CURL_CHUNK_BGN_FUNC_" | "CURL_CHUNK_END_FUNC_" | "CURL_GLOBAL_" | "CURL_HTTPPOST_" => {
                Some("c_long")
            }
            "CURL_READFUNC_" | "CURL_WRITEFUNC_" => Some("size_t"),
            "CURL_SSLVERSION_" => Some("__enum_ty"),
            "CURL_TIMECOND_" => Some("curl_TimeCond"),
            "CURL_WAIT_POLL" => Some("c_short"),
            group => group.strip_prefix("enum "),
        },
    };
    let of_c = match row.c_type {
        CType::Enum | CType::Int => "c_int",
        CType::Long => "c_long",
        CType::Ulong => "c_ulong",
    };
    named.unwrap_or(of_c).to_owned()
}
