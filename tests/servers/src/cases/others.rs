//! Third-party programs: Debian's curl, PHP with php-curl, pycurl.

use std::path::Path;
use std::process::Command;

use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::http::HttpServer;
use testkit::temp::TempDir;

use super::openssl::{Served, authority};
use super::{case, ours};
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        case("debian-curl-command-lines", command_lines),
        case("debian-curl-parallel", parallel),
        case("debian-curl-exit-codes", exit_codes),
        case("php-easy-multi-share", php),
        case("php-uploads-and-callbacks", php_uploads),
        case("php-fatal-error-in-write-callback", php_fatal),
        case("pycurl", pycurl),
        case("pycurl-of-debian", pycurl_of_debian),
        case("pycurl-cadata", cadata),
        ours("warmwire-command-lines", tool),
    ]
}

fn curl(run: &Context, arguments: &[&str]) -> Output {
    run.run(Command::new("/usr/bin/curl").args(["-q", "-sS", "--max-time", "60"]).args(arguments))
}

fn command_lines(run: &Context) {
    let server = HttpServer::plain();
    let ca = run.world.ca();
    let version = curl(run, &["-V"]);
    assert_eq!(version.stdout.to_lowercase().contains("warmwire"), run.ours(), "{version:?}");
    assert_eq!(curl(run, &[&server.url("/bytes/5000")]).bytes(), pattern(5000));
    assert_eq!(
        curl(run, &["--cacert", &ca, &run.world.nginx.https("/bytes-335114")]).bytes(),
        pattern(335_114)
    );
    assert_eq!(curl(run, &["-L", &server.url("/redirect/3")]).stdout, "arrived\n");
    assert!(curl(run, &["-I", &server.url("/bytes/9")]).stdout.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(curl(run, &["-i", &server.url("/bytes/9")]).stdout.contains("Content-Length: 9\r\n\r\n"));
    assert_eq!(curl(run, &["-d", "a=b", &server.url("/body")]).stdout, "a=b");
    assert_eq!(
        curl(run, &["-T", "/etc/hostname", &server.url("/body")]).bytes(),
        std::fs::read("/etc/hostname").unwrap()
    );
    assert_eq!(curl(run, &["-F", "x=y", &server.url("/sum")]).status, Some(0));
    assert_eq!(curl(run, &["-u", "user:secret", &server.url("/basic/user/secret")]).stdout, "welcome\n");
    assert_eq!(curl(run, &["--compressed", &server.url("/gzip/7000")]).bytes(), pattern(7000));
    assert_eq!(curl(run, &["-r", "5-9", &server.url("/bytes/100")]).bytes(), &pattern(10)[5..]);
    let line = "%{http_code} %{size_download} %{num_connects} %{content_type}|";
    let output = curl(run, &["-o", "/dev/null", "-w", line, &server.url("/bytes/77")]);
    assert_eq!(output.stdout, "200 77 1 |");
    let two = curl(run, &["-v", &server.url("/bytes/3"), &server.url("/bytes/4")]);
    assert_eq!(two.bytes(), [pattern(3), pattern(4)].concat());
    assert!(two.stderr.contains("> GET /bytes/4 HTTP/1.1"), "{two:?}");
    // Newer versions write "Reusing".
    assert!(two.stderr.contains("using existing "), "{two:?}");
}

fn parallel(run: &Context) {
    let server = HttpServer::plain();
    let range = server.url("/bytes/1000?[1-60]");
    let output = curl(run, &["-Z", "--parallel-max", "20", &range]);
    assert_eq!((output.status, output.bytes().len()), (Some(0), 60_000), "{output:?}");
}

fn exit_codes(run: &Context) {
    let server = HttpServer::plain();
    let port = testkit::raw::RawPeer::refused_port();
    let refused = curl(run, &[&format!("http://127.0.0.1:{port}/")]);
    assert_eq!(refused.status, Some(7), "{refused:?}");
    assert!(refused.stderr.starts_with("curl: (7) Failed to connect to 127.0.0.1"), "{refused:?}");
    let unknown = curl(run, &["http://nonexistent.invalid/"]);
    assert_eq!(unknown.stderr, "curl: (6) Could not resolve host: nonexistent.invalid\n");
    assert_eq!(curl(run, &["-f", &server.url("/status/404")]).status, Some(22));
    assert_eq!(curl(run, &[&server.url("/cut/100/bytes/5000")]).status, Some(18));
    assert_eq!(curl(run, &[&run.world.nginx.https("/")]).status, Some(60));
    assert_eq!(curl(run, &["-m", "0.3", &server.url("/delay/9000/bytes/1")]).status, Some(28));
    assert_eq!(curl(run, &["-o", "/dev/full", &server.url("/bytes/500000")]).status, Some(23));
}

fn script(run: &Context, command: &mut Command, name: &str, base: &str) -> Output {
    command.arg(run.world.script(name)).arg(base).env("CA", run.world.ca());
    run.run(command.env("SECURE", run.world.nginx.https("/bytes-335114")))
}

fn php(run: &Context) {
    let server = HttpServer::plain();
    php_at(run, &server.url(""));
}

/// PHP's easy, multi and share interfaces, with the built-in paths behind `base`.
pub(super) fn php_at(run: &Context, base: &str) {
    let ca = format!("curl.cainfo={}", run.world.ca());
    let output = script(run, Command::new("php").args(["-d", &ca]), "easy_multi_share.php", base);
    assert_eq!((output.status, &*output.stderr), (Some(0), ""), "{output:?}");
    assert_eq!(output.fact("ours"), if run.ours() { "1" } else { "0" }, "{output:?}");
    assert_eq!(output.fact("easy"), "5000,200,0", "{output:?}");
    assert_eq!(output.fact("secure"), "335114,0", "{output:?}");
    assert_eq!(output.fact("post"), "a=1&b=two", "{output:?}");
    assert_eq!(output.fact("multi"), "20,20000", "{output:?}");
    assert_eq!(output.fact("share"), "10", "{output:?}");
    assert_eq!(output.fact("headers"), "200", "{output:?}");
    assert_eq!(output.fact("refused"), "7", "{output:?}");
    assert_eq!(output.fact("aborted"), "23", "{output:?}");
}

// covers: CURLOPT_PUT, CURLOPT_UPLOAD, CURLOPT_INFILESIZE, CURLOPT_XFERINFOFUNCTION, curl_easy_pause,
// curl_easy_escape, curl_easy_unescape, curl_easy_strerror, CURLMOPT_MAX_HOST_CONNECTIONS
fn php_uploads(run: &Context) {
    let server = HttpServer::plain();
    let base = server.url("");
    let script = run.world.script("uploads_callbacks.php");
    let output = run.run(Command::new("php").arg(script).arg(base.trim_end_matches('/')));
    assert_eq!((output.status, output.fact("end")), (Some(0), "1"), "{output:?}");
    let expected = [
        ("put", "300000"),
        ("chunked", "300000"),
        ("read", "one_two_three"),
        ("form", "1,1,1,1"),
        ("custom", "PATCH,1,1,1"),
        ("cookies", "name=value,1"),
        ("callbacks", "8,200000,1"),
        ("stopped", "42,Callback_aborted"),
        ("exception", "thrown,0"),
        ("alive", "77"),
        ("paused", "2,200000,9000"),
        ("info", "200,2,1,127.0.0.1"),
    ];
    for (name, value) in expected {
        assert_eq!(output.fact(name), value, "{name}: {output:?}");
    }
    assert!(output.fact("escape").starts_with("a%20b%2F%C3%BC,1,Could"), "{output:?}");
}

fn php_fatal(run: &Context) {
    let server = HttpServer::plain();
    for caller in ["easy", "multi"] {
        let mut command = Command::new("php");
        let output = run.run(command.arg(run.world.script("fatal.php")).arg(server.url("")).arg(caller));
        // PHP jumps over our frames with longjmp, runs its shutdown functions, frees every handle and ends
        // with 255.
        assert_eq!(output.status, Some(255), "{caller}: {output:?}");
        assert!(!output.stdout.contains("unreachable"), "{caller}: {output:?}");
        assert!(
            output.stdout.contains("Allowed memory size") || output.stdout.contains("Fatal error"),
            "{caller}: {output:?}"
        );
        let after = output.stdout.contains("\nafter=1000\n");
        assert!(after, "the process must stay able to fetch: {caller}: {output:?}");
    }
}

fn pycurl(run: &Context) {
    pycurl_of(run, run.world.python().as_os_str());
}

/// Debian's loads libcurl-gnutls.so.4.
fn pycurl_of_debian(run: &Context) {
    pycurl_of(run, "/usr/bin/python3".as_ref());
}

/// Certificates that pycurl adds to OpenSSL's store are trusted, and nothing else.
// covers: CURLOPT_SSL_CTX_FUNCTION, CURLOPT_SSL_CTX_DATA
fn cadata(run: &Context) {
    let server = HttpServer::tls(run.world.authority.good().server_config().expect("a usable pair"));
    let other = TempDir::new("other").expect("a folder is made");
    let file = other.path().join("other.pem");
    std::fs::write(&file, Authority::new().ca_pem()).expect("a folder of our own");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/cadata.py");
    authority(other.path());
    let proxy = Served::start(other.path(), &[]);
    let ca = other.path().join("ca.pem").display().to_string();
    let ways: [&[&str]; 2] = [
        &[&server.url("/bytes/1000"), &run.world.ca(), &file.display().to_string()],
        // The proxy answers any request itself.
        &["http://origin.example/", &ca, &file.display().to_string(), &proxy.url],
    ];
    for way in ways {
        // Debian's own pycurl is made for GnuTLS, and has no such method.
        let output = run.run(Command::new(run.world.python()).arg(&script).args(way));
        assert_eq!(output.status, Some(0), "{output:?}");
        for (what, code) in [("text", "0"), ("octets", "0"), ("two", "0"), ("other", "60"), ("none", "60")] {
            assert_eq!(output.fact(what), code, "{what} of {way:?}: {output:?}");
        }
    }
}

fn pycurl_of(run: &Context, python: &std::ffi::OsStr) {
    let server = HttpServer::plain();
    pycurl_at(run, python, &server.url(""));
}

/// pycurl's easy and multi interfaces, with the built-in paths behind `base`.
pub(super) fn pycurl_at(run: &Context, python: &std::ffi::OsStr, base: &str) {
    let output = script(run, &mut Command::new(python), "pycurl_all.py", base);
    assert_eq!((output.status, &*output.stderr), (Some(0), ""), "{output:?}");
    assert_eq!(output.fact("ours"), if run.ours() { "1" } else { "0" }, "{output:?}");
    assert_eq!(output.fact("easy"), "5000,200", "{output:?}");
    assert_eq!(output.fact("secure"), "335114", "{output:?}");
    assert_eq!(output.fact("post"), "b'x=1'", "{output:?}");
    assert_eq!(output.fact("multi"), "25,25000", "{output:?}");
    assert_eq!(output.fact("event"), "25,25000", "{output:?}");
    assert_eq!(output.fact("refused"), "7", "{output:?}");
    assert_eq!(output.fact("raised"), "23", "{output:?}");
}

// covers: -o, -s, -S, -i, -I, -d, -L, -w, -u, --cacert, -r, -T, -m, -f, -H, -X, -V, --help
fn tool(run: &Context) {
    let server = HttpServer::plain();
    let tool =
        |arguments: &[&str]| run.run(Command::new(run.world.tool()).args(["-q", "-sS"]).args(arguments));
    assert!(tool(&["-V"]).stdout.to_lowercase().contains("warmwire"));
    assert!(tool(&["--help"]).stdout.contains("--output"));
    assert_eq!(tool(&[&server.url("/bytes/5000")]).bytes(), pattern(5000));
    let secure = run.world.nginx.https("/bytes-335114");
    assert_eq!(tool(&["--cacert", &run.world.ca(), &secure]).bytes(), pattern(335_114));
    assert_eq!(tool(&["-k", &secure]).bytes(), pattern(335_114));
    assert_eq!(tool(&[&secure]).status, Some(60));
    assert_eq!(tool(&["-L", &server.url("/redirect/3")]).stdout, "arrived\n");
    assert!(tool(&["-I", &server.url("/bytes/9")]).stdout.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(tool(&["-i", &server.url("/bytes/9")]).stdout.contains("Content-Length: 9\r\n\r\n"));
    assert_eq!(tool(&["-d", "a=b", &server.url("/body")]).stdout, "a=b");
    assert_eq!(
        tool(&["-T", "/etc/hostname", &server.url("/body")]).bytes(),
        std::fs::read("/etc/hostname").unwrap()
    );
    assert_eq!(tool(&["-u", "user:secret", &server.url("/basic/user/secret")]).stdout, "welcome\n");
    assert_eq!(tool(&["-r", "5-9", &server.url("/bytes/100")]).bytes(), &pattern(10)[5..]);
    tool(&["-X", "PURGE", "-H", "X-Own: yes", &server.url("/echo")]);
    let request = server.last_request().expect("a request came");
    assert_eq!((&*request.method, request.field("X-Own")), ("PURGE", Some("yes")));
    let line = "%{http_code} %{size_download} %{num_connects}|";
    let two = tool(&[
        "-o",
        "/dev/null",
        "-o",
        "/dev/null",
        "-w",
        line,
        &server.url("/bytes/7"),
        &server.url("/bytes/8"),
    ]);
    assert_eq!(two.stdout, "200 7 1|200 8 0|", "{two:?}");
    assert_eq!(tool(&["-Z", &server.url("/bytes/1000?[1-30]")]).bytes().len(), 30_000);
    assert_eq!(tool(&["-f", &server.url("/status/404")]).status, Some(22));
    assert_eq!(tool(&["-m", "0.3", &server.url("/delay/9000/bytes/1")]).status, Some(28));
    assert_eq!(tool(&["--no-such-flag"]).status, Some(2));
    assert_eq!(tool(&["-m", "soon", &server.url("/")]).status, Some(2));
}
