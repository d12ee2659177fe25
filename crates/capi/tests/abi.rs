//! Runs the C and C++ programs of `tests/abi` on the built library; each asserts its facts. Also compares the
//! library's dynamic symbols and their versions with the tables. `ABI=name` runs one program.

mod common;
#[path = "abi/faults.rs"]
mod faults;
#[path = "abi/guide.rs"]
mod guide;
#[path = "abi/servers.rs"]
mod servers;
#[path = "abi/uploads.rs"]
mod uploads;
#[path = "abi/watches.rs"]
mod watches;
#[path = "abi/windows.rs"]
mod windows;

use std::process::Command;

use testkit::certs::Authority;
use testkit::frames::FramePeer;
use testkit::http::HttpServer;

use common::{Kept, Scratch, compile, has_static_library, library, programs, root, run, sanitizer};
use servers::Servers;

/// Programs that must pass with either TLS library: these run a second time with OpenSSL. `openssl` and
/// `sessions` switch by themselves, `early_data` is for rustls only, and no others use TLS.
const EITHER_TLS: [&str; 4] = ["engines", "newer_options", "share", "version"];

#[test]
fn sane_programs_check_what_must_hold() {
    let scratch = Scratch::new("abi");
    let servers = Servers::start(&scratch.0);
    let include = format!("-I{}", root().join("include").display());
    let library = format!("-L{}", library().display());
    let (mut failed, mut without) = (Vec::new(), Vec::new());
    let only = std::env::var("ABI").ok();
    for source in programs("abi") {
        let text = std::fs::read_to_string(&source).unwrap();
        let chosen = only.as_deref().is_none_or(|only| source.file_stem().unwrap() == only);
        // The sanitizers report a stack that they do not know as a fault of the program.
        if !chosen || sanitizer().is_some() && text.contains("swapcontext") {
            continue;
        }
        if servers.missing().any(|variable| text.contains(variable)) {
            without.push(source.file_stem().unwrap().display().to_string());
            continue;
        }
        let program = compile(&source, &scratch.0, &["-Wall", "-Wextra", "-Werror", &include, &library]);
        let mut variables = servers.variables();
        if text.contains("setjmp(") {
            // Frames that an application jumps over never return, and what they own is leaked.
            variables.push(("LSAN_OPTIONS", "detect_leaks=0".to_owned()));
        }
        let either = EITHER_TLS.iter().any(|name| source.file_stem().unwrap() == *name);
        for openssl in [false, true].into_iter().take(1 + usize::from(either)) {
            if openssl {
                variables.push(("CURL_SSL_BACKEND", "openssl".to_owned()));
            }
            let output = run(&program, &scratch.0, true, &variables);
            if !output.status.success() {
                let text = [output.stdout, output.stderr].concat();
                let by = if openssl { " by OpenSSL" } else { "" };
                failed.push(format!(
                    "{}{by}: {}\n{}",
                    source.display(),
                    output.status,
                    String::from_utf8_lossy(&text)
                ));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    if let Some(reason) = servers.reason() {
        testkit::left_out(format!("{reason}: {} (all other programs passed)", without.join(", ")));
    }
}

/// Every export is called by the programs that pass invalid arguments to every function.
#[test]
fn every_export_is_fed_nonsense() {
    let of = |name: &str| std::fs::read_to_string(root().join("tests/abi").join(name)).unwrap();
    let texts = ["nulls.c", "handles.c", "garbage.c"].map(of).concat();
    let called = |name: &str| texts.contains(&format!("{name}("));
    let left: Vec<_> = tables::export::EXPORTS.iter().filter(|name| !called(name)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A kept program is used as long as its source, its headers and its command are as they were.
#[test]
fn a_program_is_compiled_again_after_a_change() {
    let scratch = Scratch::new("kept");
    let file = |name: &str| scratch.0.join(name);
    let source = file("one.c");
    std::fs::write(&source, "#include \"one.h\"\nint main(void) { return CODE; }\n").unwrap();
    std::fs::write(file("one.h"), "#define CODE 3\n").unwrap();
    let command = |flag: &str| {
        let mut command = Command::new("gcc");
        command.arg(flag).arg(&source);
        command
    };
    let kept = |flag: &str, links: &str| Kept::new(&file("programs"), &source, &command(flag), links);
    let (binary, made) = (file("one.bin"), file("one.d"));
    let compile = || {
        let mut gcc = command("-O0");
        let status = gcc.arg("-o").arg(&binary).arg("-MD").arg("-MF").arg(&made).status().unwrap();
        assert!(status.success());
        kept("-O0", "1").keep(&binary, &made);
    };
    let restored = || {
        std::fs::remove_file(&binary).unwrap();
        kept("-O0", "1").restore(&binary).then(|| Command::new(&binary).status().unwrap().code())
    };
    assert!(!kept("-O0", "1").restore(&binary));
    compile();
    assert_eq!(restored(), Some(Some(3)));
    assert!(!kept("-O1", "1").restore(&binary) && !kept("-O0", "2").restore(&binary));
    std::fs::write(file("one.h"), "#define CODE 14\n").unwrap();
    assert_eq!(restored(), None);
    compile();
    assert_eq!(restored(), Some(Some(14)));
    std::fs::remove_file(file("one.h")).unwrap();
    assert_eq!(restored(), None);
}

/// Eight threads with a handle each share connections over HTTP, TLS and HTTP/2: a connection belongs to one
/// thread while it has a stream, and to any when it has none.
#[test]
fn sane_eight_threads_share_connections() {
    let scratch = Scratch::new("threads");
    let authority = Authority::new();
    let ca = scratch.0.join("ca.pem");
    std::fs::write(&ca, authority.ca_pem()).unwrap();
    let include = format!("-I{}", root().join("include").display());
    let library_flag = format!("-L{}", library().display());
    let source = root().join("tests/servers/programs/share.c");
    let program = compile(&source, &scratch.0, &[&include, &library_flag]);
    let (plain, tls) = (HttpServer::plain(), HttpServer::tls(authority.good().server_config().unwrap()));
    let mut config = (*authority.good().server_config().unwrap()).clone();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let streams = FramePeer::tls(config.into(), |talk| {
        talk.greet(&[])?;
        loop {
            let stream = talk.request()?;
            talk.answer(stream, 200, &[b'x'; 1000])?;
        }
    });
    let over_streams = format!("https://localhost:{}/", streams.port());
    let servers: [(String, &dyn Fn() -> usize); 3] = [
        (plain.url("/bytes/1000"), &|| plain.accepts()),
        (tls.url("/bytes/1000"), &|| tls.accepts()),
        (over_streams, &|| streams.accepts()),
    ];
    // The sanitizers look for races, which are rare.
    let each = if sanitizer().is_some() { 1000 } else { 250 };
    for (url, accepts) in servers {
        let mut command = Command::new("timeout");
        command.args(["240", "setarch", "-R"]).arg(&program).arg(url).args(["8", &each.to_string()]);
        let output = command.env("CA", &ca).env("LD_LIBRARY_PATH", library()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{}\n{text}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(text.trim(), format!("set=0 ok={} wrong=0 cleanup=0", 8 * each));
        assert!(accepts() <= 8, "{} connections", accepts());
    }
}

/// The requested sanitizer detects a deliberate fault: otherwise its silence proves nothing.
#[test]
fn sane_only_where_faults_are_seen() {
    let Some(kind) = sanitizer() else { return };
    let scratch = Scratch::new("faults");
    let source = scratch.0.join("faults.c");
    let text = "#include <curl/curl.h>\n#include <pthread.h>\n#include <stdlib.h>\nlong shared;\nchar *freed;\n\
        void *add(void *p) { for (int i = 0; i < 100000; i++) shared++; return p; }\n\
        int main(void) { pthread_t a, b; curl_version(); freed = malloc(8); free(freed); freed[0]++;\n\
        pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0); pthread_join(a, 0); return pthread_join(b, 0); }\n";
    std::fs::write(&source, text).unwrap();
    let include = format!("-I{}", root().join("include").display());
    let program = compile(&source, &scratch.0, &["-w", &include, &format!("-L{}", library().display())]);
    let output = run(&program, &scratch.0, true, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let wanted =
        if kind == "thread" { "ThreadSanitizer: data race" } else { "AddressSanitizer: heap-use-after-free" };
    assert!(!output.status.success() && stderr.contains(wanted), "{}: {stderr}", output.status);
}

#[test]
fn the_library_exports_the_tables_symbols_and_nothing_else() {
    let file = library().join("libcurl.so.4");
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(&file).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let symbols = text.lines().filter(|line| !line.contains(" A "));
    let mut found: Vec<_> = symbols.map(|line| line.rsplit(' ').next().unwrap()).collect();
    found.sort_unstable();
    let own = tables::export::OWN_EXPORTS.iter().map(|name| format!("{name}@@{}", tables::export::OWN_NODE));
    let curls = |node| tables::export::EXPORTS.iter().map(move |name| format!("{name}@{node}"));
    let mut wanted: Vec<_> = curls("@CURL_OPENSSL_4").chain(curls("CURL_GNUTLS_3")).chain(own).collect();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    let output = Command::new("readelf").arg("-dW").arg(&file).output().unwrap();
    let dynamic = String::from_utf8(output.stdout).unwrap();
    for part in ["soname: [libcurl.so.4]", "NODELETE", "NOW"] {
        assert!(dynamic.contains(part), "{part}: {dynamic}");
    }
}

/// A program of each flavour, and one that loads both names, find the TLS library that they were built for.
/// The GnuTLS program is linked with a library of that name and node, as on the system where it was built.
#[test]
fn either_flavour_names_the_tls_library_that_programs_expect() {
    let scratch = Scratch::new("flavour");
    let file = |name: &str, text: &str| {
        let path = scratch.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let gcc = |words: &[&str]| {
        let output = Command::new("gcc").args(words).current_dir(&scratch.0).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    file("node.map", "CURL_GNUTLS_3 { global: curl_*; };\n");
    file("stub.c", "void curl_global_sslset(void) {}\nvoid curl_version_info(void) {}\n");
    let stub = ["-shared", "-o", "libcurl-gnutls.so", "stub.c", "-Wl,-soname,libcurl-gnutls.so.4"];
    gcc(&[&stub[..], &["-Wl,--version-script=node.map"]].concat());
    let body = "  const curl_ssl_backend **list;\n  curl_global_sslset((curl_sslbackend)0, NULL, &list);\n  \
        printf(\"%s %s\\n\", curl_version_info(CURLVERSION_NOW)->ssl_version, list[0]->name);\n";
    let heading = "#include <curl/curl.h>\n#include <dlfcn.h>\n#include <stdio.h>\n";
    file("one.c", &format!("{heading}int main(void) {{\n{body}  return 0;\n}}\n"));
    let load = "  dlopen(\"libcurl.so.4\", RTLD_NOW | RTLD_GLOBAL);\n";
    file("both.c", &format!("{heading}int main(void) {{\n{load}{body}  return 0;\n}}\n"));
    let include = format!("-I{}", root().join("include").display());
    let ours = format!("-L{}", library().display());
    let (openssl, gnutls) = (("OpenSSL/", "openssl"), ("GnuTLS/", "gnutls"));
    for (source, link, wanted) in [
        ("one.c", [ours.as_str(), "-lcurl"], openssl),
        ("one.c", ["-L.", "-lcurl-gnutls"], gnutls),
        ("both.c", ["-L.", "-lcurl-gnutls"], gnutls),
    ] {
        gcc(&[&[source, include.as_str()], &link[..], &["-o", "program"]].concat());
        let output = run(&scratch.0.join("program"), &scratch.0, true, &[]);
        let text = String::from_utf8(output.stdout).unwrap();
        let text = text.trim();
        assert!(text.starts_with(wanted.0) && text.ends_with(wanted.1), "{source} {link:?}: {text}");
        assert!(text.contains("rustls") && text.contains("Warmwire/"), "{source} {link:?}: {text}");
    }
}

/// The files of `make install` suffice to build with, through pkg-config, curl-config and statically.
#[test]
fn an_installed_copy_builds_programs() {
    if !has_static_library() {
        testkit::needs::left_out("libcurl.a, which `make test-all` links");
    }
    let scratch = Scratch::new("install");
    let prefix = scratch.0.join("usr");
    let install = root().join("crates/capi/install.sh");
    let status = Command::new("sh").arg(install).arg(library()).arg(&prefix).status().unwrap();
    assert!(status.success());
    let server = HttpServer::plain();
    let source = root().join("tests/abi/header.c");
    let words = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
        let output = testkit::needs::output(&mut command);
        assert!(output.status.success(), "{program} {arguments:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_whitespace().map(str::to_owned).collect::<Vec<String>>()
    };
    let config = prefix.join("bin/curl-config");
    let config = config.to_str().unwrap();
    let ways = [
        words("pkg-config", &["--cflags", "--libs", "libcurl"]),
        words(config, &["--cflags", "--libs"]),
        words(config, &["--cflags", "--static-libs"]),
        [words("pkg-config", &["--static", "--cflags", "--libs", "libcurl"]), vec!["-static".to_owned()]]
            .concat(),
    ];
    for (index, flags) in ways.iter().enumerate() {
        let binary = scratch.0.join(format!("program-{index}"));
        let compiled = Command::new("gcc")
            .arg(&source)
            .arg("-o")
            .arg(&binary)
            .args(flags)
            .arg("-lpthread")
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&compiled.stderr));
        let output = Command::new(&binary)
            .env("LD_LIBRARY_PATH", prefix.join("lib"))
            .env("SERVER", server.url("").trim_end_matches('/'))
            .output()
            .unwrap();
        assert!(output.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(words(config, &["--vernum"]), ["081600"]);
    assert_eq!(words(config, &["--built-shared"]), ["yes"]);
    assert!(
        words("pkg-config", &["--static", "--cflags", "libcurl"]).contains(&"-DCURL_STATICLIB".to_owned())
    );
    assert!(Command::new(config).args(["--checkfor", "8.23.0"]).output().unwrap().status.code() == Some(1));
}
