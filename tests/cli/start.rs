//! The cost of a start: no library except the C library, and no certificate file is read before a server's
//! certificate has arrived.

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
