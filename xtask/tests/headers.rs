//! Compiles programs with our headers and with the distribution's, and compares every number, layout and
//! function type; also compares our headers with the tables.
//!
//! The distribution's curl is older: the tables' first versions say what it lacks, and the few things that
//! curl changed since are listed here with the change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tables::{Code, EasyOption, HeaderCode, Info, MultiCode, MultiOption, ProxyCode, ShareCode, UrlCode};
use tables::{code, constant, easy_option, export, info};

/// Values that were as wide as a long in older headers and have 32 bits since; CURLAUTH_HTTPSIG, which is
/// newer, is left out of CURLAUTH_ANY.
const NARROWED: [&str; 5] =
    ["CURLAUTH_ANY", "CURLAUTH_ANYSAFE", "CURLPROTO_ALL", "CURLSSH_AUTH_ANY", "CURLSSH_AUTH_DEFAULT"];

/// Exports that 7.88 does not have.
const YOUNG: [&str; 9] = [
    "curl_easy_ssls_export",
    "curl_easy_ssls_import",
    "curl_global_trace",
    "curl_multi_get_handles",
    "curl_multi_get_offt",
    "curl_multi_notify_disable",
    "curl_multi_notify_enable",
    "curl_multi_waitfds",
    "curl_ws_start_frame",
];

/// Functions whose C type changed after 7.88 (arguments and results became pointers to const).
const RETYPED: [&str; 4] = ["curl_url_dup", "curl_url_get", "curl_ws_meta", "curl_ws_recv"];

const STRUCTS: &[(&str, &[&str])] = &[
    ("struct curl_slist", &["data", "next"]),
    ("struct curl_blob", &["data", "len", "flags"]),
    (
        "struct curl_httppost",
        &[
            "next",
            "name",
            "namelength",
            "contents",
            "contentslength",
            "buffer",
            "bufferlength",
            "contenttype",
            "contentheader",
            "more",
            "flags",
            "showfilename",
            "userp",
            "contentlen",
        ],
    ),
    (
        "struct curl_fileinfo",
        &[
            "filename",
            "filetype",
            "time",
            "perm",
            "uid",
            "gid",
            "size",
            "hardlinks",
            "strings.time",
            "strings.perm",
            "strings.user",
            "strings.group",
            "strings.target",
            "flags",
            "b_data",
            "b_size",
            "b_used",
        ],
    ),
    ("struct curl_sockaddr", &["family", "socktype", "protocol", "addrlen", "addr"]),
    ("struct curl_khkey", &["key", "len", "keytype"]),
    ("struct curl_hstsentry", &["name", "namelen", "expire"]),
    ("struct curl_index", &["index", "total"]),
    ("struct curl_forms", &["option", "value"]),
    ("struct curl_ssl_backend", &["id", "name"]),
    ("struct curl_certinfo", &["num_of_certs", "certinfo"]),
    ("struct curl_tlssessioninfo", &["backend", "internals"]),
    ("struct CURLMsg", &["msg", "easy_handle", "data.whatever", "data.result"]),
    ("struct curl_waitfd", &["fd", "events", "revents"]),
    ("struct curl_easyoption", &["name", "id", "type", "flags"]),
    ("struct curl_header", &["name", "value", "amount", "index", "origin", "anchor"]),
    ("struct curl_ws_frame", &["age", "flags", "offset", "bytesleft"]),
    (
        "struct curl_version_info_data",
        &[
            "age",
            "version",
            "version_num",
            "host",
            "features",
            "ssl_version",
            "ssl_version_num",
            "libz_version",
            "protocols",
            "ares",
            "ares_num",
            "libidn",
            "iconv_ver_num",
            "libssh_version",
            "brotli_ver_num",
            "brotli_version",
            "nghttp2_ver_num",
            "nghttp2_version",
            "quic_version",
            "cainfo",
            "capath",
            "zstd_ver_num",
            "zstd_version",
            "hyper_version",
            "gsasl_version",
            "feature_names",
        ],
    ),
];

/// Structures that grew after 7.88; only the common beginning is compared.
const GROWN: [&str; 2] = ["struct curl_version_info_data", "struct curl_ws_frame"];

const CALLBACKS: &[&str] = &[
    "curl_progress_callback",
    "curl_xferinfo_callback",
    "curl_write_callback",
    "curl_resolver_start_callback",
    "curl_chunk_bgn_callback",
    "curl_chunk_end_callback",
    "curl_fnmatch_callback",
    "curl_seek_callback",
    "curl_read_callback",
    "curl_trailer_callback",
    "curl_sockopt_callback",
    "curl_opensocket_callback",
    "curl_closesocket_callback",
    "curl_ioctl_callback",
    "curl_malloc_callback",
    "curl_free_callback",
    "curl_realloc_callback",
    "curl_strdup_callback",
    "curl_calloc_callback",
    "curl_debug_callback",
    "curl_prereq_callback",
    "curl_conv_callback",
    "curl_ssl_ctx_callback",
    "curl_sshkeycallback",
    "curl_sshhostkeycallback",
    "curl_hstsread_callback",
    "curl_hstswrite_callback",
    "curl_formget_callback",
    "curl_lock_function",
    "curl_unlock_function",
    "curl_socket_callback",
    "curl_multi_timer_callback",
    "curl_push_callback",
    "curl_off_t",
    "curl_socket_t",
    "curl_socklen_t",
];

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a directory of the checkout").to_owned()
}

/// Compiles and runs a program; `ours` puts our headers before the distribution's.
fn output(name: &str, source: &str, ours: bool) -> BTreeMap<String, String> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let whose = if ours { "ours" } else { "theirs" };
    let (file, program) = (dir.join(format!("{whose}-{name}")), dir.join(format!("{whose}-{name}.bin")));
    std::fs::write(&file, source).expect("the target directory is writable");
    let mut compiler = Command::new(if name.ends_with(".c") { "gcc" } else { "g++" });
    if ours {
        compiler.arg("-I").arg(checkout().join("include"));
    }
    let made =
        compiler.args(["-w", "-o"]).arg(&program).arg(&file).output().expect("a C compiler is installed");
    let errors = String::from_utf8_lossy(&made.stderr);
    // The words by which `cargo xtask test` counts a test as left out.
    let missing = !ours && errors.contains("curl/curl.h: No such file");
    assert!(!missing, "left out: curl/curl.h of libcurl4-openssl-dev is missing");
    assert!(made.status.success(), "{whose} {name}:\n{errors}");
    let ran = Command::new(&program).output().expect("what was just built runs");
    let text = String::from_utf8(ran.stdout).expect("the program prints ASCII");
    text.lines().filter_map(|line| line.split_once(' ')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

/// Name, number and first version of everything that has a number in C.
fn numbers() -> Vec<(String, i64, &'static str)> {
    let mut all = Vec::new();
    all.extend(constant::ALL.iter().map(|c| (c.name.to_owned(), c.value, c.since)));
    all.extend(EasyOption::ALL.iter().map(|o| (format!("CURLOPT_{}", o.name()), o.id().into(), o.since())));
    all.extend(
        easy_option::ALIASES.iter().map(|(n, o, since, _)| (format!("CURLOPT_{n}"), o.id().into(), *since)),
    );
    all.extend(MultiOption::ALL.iter().map(|o| (format!("CURLMOPT_{}", o.name()), o.id().into(), o.since())));
    all.extend(Info::ALL.iter().map(|i| (format!("CURLINFO_{}", i.name()), i.id().into(), i.since())));
    all.extend(info::ALIASES.iter().map(|(n, i, since, _)| (format!("CURLINFO_{n}"), i.id().into(), *since)));
    all.extend(code::ALIASES.iter().map(|(n, id, since)| ((*n).to_owned(), i64::from(*id), *since)));
    macro_rules! codes {
        ($($type:ident)*) => {
            $(all.extend($type::ALL.iter().map(|c| {
                (format!("{}{}", $type::PREFIX, c.name()), i64::from(c.id()), c.since())
            }));)*
        };
    }
    codes!(Code MultiCode ShareCode UrlCode HeaderCode ProxyCode);
    all
}

fn numbers_program(rows: &[(String, i64, &str)]) -> String {
    let mut source = "#include <curl/curl.h>\n#include <stdio.h>\nint main(void) {\n".to_owned();
    for (name, ..) in rows {
        source += &format!("  printf(\"{name} %lld\\n\", (long long)({name}));\n");
    }
    source + "  return 0;\n}\n"
}

fn at_most_7_88(since: &str) -> bool {
    let mut parts = since.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    !since.is_empty() && version <= (7, 88)
}

#[test]
fn every_number_in_our_headers_is_the_tables() {
    let rows = numbers();
    let ours = output("numbers.c", &numbers_program(&rows), true);
    for (name, value, _) in &rows {
        let printed: i64 = ours[name.as_str()].parse().expect("a number was printed");
        let expected = if name == "CURL_ZERO_TERMINATED" { -1 } else { *value };
        assert_eq!(printed, expected, "{name}");
    }
    assert!(rows.len() > 1100, "{}", rows.len());
}

#[test]
fn every_number_the_distribution_has_is_ours() {
    // Versions and the end marks of enumerations grow; the newest version of the info structure too.
    // Retired options gave their numbers back.
    let retired = ["CURLOPT_CLOSEPOLICY", "CURLOPT_WRITEINFO"];
    let moves = |n: &str| {
        retired.contains(&n)
            || n.starts_with("LIBCURL_VERSION")
            || n == "CURLVERSION_NOW"
            || n.ends_with("_LAST")
            || n == "CURLINFO_LASTONE"
    };
    let rows: Vec<_> =
        numbers().into_iter().filter(|(name, _, since)| at_most_7_88(since) && !moves(name)).collect();
    let program = numbers_program(&rows);
    let (ours, theirs) = (output("shared.c", &program, true), output("shared.c", &program, false));
    for (name, ..) in &rows {
        let (mut a, mut b): (i64, i64) = (ours[name].parse().unwrap(), theirs[name].parse().unwrap());
        let mask = 0xffff_ffff & !(constant::CURLAUTH_HTTPSIG as i64);
        if NARROWED.contains(&name.as_str()) {
            (a, b) = (a & mask, b & mask);
        }
        assert_eq!(a, b, "{name}");
    }
    assert!(rows.len() > 900, "{}", rows.len());
}

#[test]
fn structures_are_laid_out_as_the_distributions() {
    let mut source =
        "#include <curl/curl.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n".to_owned();
    for (name, members) in STRUCTS {
        let key = name.replace(' ', "_");
        if !GROWN.contains(name) {
            source += &format!("  printf(\"{key} %zu\\n\", sizeof({name}));\n");
        }
        for member in *members {
            source += &format!(
                "  printf(\"{key}.{member} %zu+%zu\\n\", offsetof({name}, {member}), sizeof((({name} *)0)->{member}));\n"
            );
        }
    }
    source += "  struct curl_hstsentry e = {0};\n  e.includeSubDomains = 1;\n";
    source += "  for(size_t i = 0; i < sizeof e; i++) if(((unsigned char *)&e)[i]) printf(\"bitfield %zu\\n\", i);\n";
    source += "  return 0;\n}\n";
    let (ours, theirs) = (output("structs.c", &source, true), output("structs.c", &source, false));
    assert_eq!(ours, theirs);
    assert!(ours.len() > 100, "{}", ours.len());
}

#[test]
fn functions_and_callbacks_have_the_distributions_types() {
    let same = |name: &&&str| !YOUNG.contains(name) && !RETYPED.contains(name);
    let mut source =
        "#include <curl/curl.h>\n#include <curl/mprintf.h>\n#include <stdio.h>\n#include <typeinfo>\n"
            .to_owned();
    source += "#undef curl_multi_socket\nint main() {\n";
    for name in export::EXPORTS.iter().filter(same) {
        source += &format!("  printf(\"{name} %s\\n\", typeid(decltype({name})).name());\n");
    }
    for name in CALLBACKS {
        source += &format!("  printf(\"{name} %s\\n\", typeid({name}).name());\n");
    }
    source += "  return 0;\n}\n";
    let (ours, theirs) = (output("types.cc", &source, true), output("types.cc", &source, false));
    for (name, ours) in &ours {
        assert_eq!(*ours, theirs[name], "{name}");
    }
    assert!(ours.len() > 120, "{}", ours.len());
}

#[test]
fn headers_compile_without_a_warning_in_every_dialect() {
    let source = "#include <curl/curl.h>\n#include <curl/easy.h>\n#include <curl/multi.h>\n#include <curl/urlapi.h>\n\
        #include <curl/mprintf.h>\n#include <curl/typecheck-gcc.h>\n\
        int main(void) {\n  CURL *c = curl_easy_init();\n  curl_easy_setopt(c, CURLOPT_URL, \"\");\n\
        curl_easy_cleanup(c);\n  return CURL_AT_LEAST_VERSION(8, 22, 0) ? 0 : 1;\n}\n";
    for (compiler, dialect) in [
        ("gcc", "c90"),
        ("gcc", "c99"),
        ("gcc", "gnu17"),
        ("g++", "c++98"),
        ("g++", "c++11"),
        ("g++", "gnu++20"),
    ] {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("dialect-{dialect}.{}", &compiler[1..].replace("cc", "c")));
        std::fs::write(&file, source).expect("the target directory is writable");
        let language = if compiler == "gcc" { "c" } else { "c++" };
        let made = Command::new(compiler)
            .args([
                "-Wall",
                "-Wextra",
                "-Werror",
                "-pedantic",
                "-D_DEFAULT_SOURCE",
                "-fsyntax-only",
                "-x",
                language,
            ])
            .arg(format!("-std={dialect}"))
            .arg("-I")
            .arg(checkout().join("include"))
            .arg(&file)
            .output()
            .expect("a C compiler is installed");
        assert!(made.status.success(), "{dialect}:\n{}", String::from_utf8_lossy(&made.stderr));
    }
}

#[test]
fn the_checked_in_headers_are_fresh() {
    let made =
        Command::new(env!("CARGO_BIN_EXE_xtask")).args(["headers", "--check"]).output().expect("xtask runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
