//! The cost of a start: no library except the C library, nothing of std's runtime, and no certificate file is
//! read before a server's certificate has arrived. And what the tool's own entry has to provide.

use super::{empty_folder, run, tool};
use testkit::http::HttpServer;
use testkit::launch::program;

#[test]
fn nothing_but_libc_is_loaded() {
    let out = run("readelf", &["-d", tool()], &empty_folder());
    let text = String::from_utf8(out.stdout).unwrap();
    let needed: Vec<&str> = text.lines().filter(|line| line.contains("(NEEDED)")).collect();
    assert!(!needed.is_empty(), "{text}");
    for line in needed {
        // Without optimisation, thread-locals use the loader; built together with the tests of the crate's
        // futures, the tool contains tokio, which uses C's mathematics.
        let known = ["[libc.so.6]", "[ld-linux", "[libm.so.6]"];
        assert!(known.iter().any(|name| line.contains(name)), "{line}");
    }
}

#[test]
fn no_certificates_are_read_for_plain_transfers() {
    let server = HttpServer::plain();
    let folder = empty_folder();
    std::fs::write(folder.join("file"), "content\n").unwrap();
    let strace = program("strace", "strace").unwrap();
    for url in [server.url("/bytes/1024"), format!("file://{}/file", folder.display())] {
        let words = ["-f", "-o", "calls", "-e", "trace=openat", tool(), "-sS", "-o", "got", &url];
        let out = run(&strace.display().to_string(), &words, &folder);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let calls = std::fs::read_to_string(folder.join("calls")).unwrap();
        assert!(calls.contains("\"got\""), "{calls}");
        assert!(!calls.contains("ssl") && !calls.contains("certs"), "{calls}");
    }
}

/// With std, memchr looks for AVX2 by ten CPUID instructions at its first call. Each one leaves a virtual
/// machine: that took 0.15 ms of 1.6 ms.
#[test]
fn searches_ask_for_no_features_of_the_processor() {
    let words =
        ["tree", "--offline", "--locked", "-p", "warmwire-tool", "-e", "normal,features", "-i", "memchr"];
    let out = run(env!("CARGO"), &words, env!("CARGO_MANIFEST_DIR").as_ref());
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.starts_with("memchr v"), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(!text.contains("memchr feature \"std\""), "{text}");
}

/// std's entry reads the map of the process, and prepares another stack for a handler of overflows.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn the_entry_is_not_that_of_std() {
    let folder = empty_folder();
    let strace = program("strace", "strace").unwrap();
    let out = run(&strace.display().to_string(), &["-o", "calls", tool(), "-q", "-V"], &folder);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let calls = std::fs::read_to_string(folder.join("calls")).unwrap();
    for call in ["/proc/self/maps", "sigaltstack", "SIGSEGV", "clone"] {
        assert!(!calls.contains(call), "{call}: {calls}");
    }
}

/// A descriptor that the caller has closed does not become a socket's, to which the output would be written.
#[test]
fn closed_standard_descriptors_are_opened() {
    let (server, folder) = (HttpServer::plain(), empty_folder());
    let line = format!("'{}' -sS {} <&- >&- 2>&-; echo $? >code", tool(), server.url("/bytes/1024"));
    run("sh", &["-c", &line], &folder);
    assert_eq!(std::fs::read_to_string(folder.join("code")).unwrap(), "0\n");
    assert_eq!(server.served(), 1);
}

/// A reader that ends is an error of the transfer, not a signal.
#[test]
fn a_broken_pipe_is_an_error() {
    let (server, folder) = (HttpServer::plain(), empty_folder());
    let url = server.url("/bytes/10000000");
    let line = format!("{{ '{}' -sS {url} 2>text; echo $? >code; }} | head -c 1 >/dev/null", tool());
    run("sh", &["-c", &line], &folder);
    assert_eq!(std::fs::read_to_string(folder.join("code")).unwrap(), "23\n");
}
