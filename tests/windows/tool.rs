//! `warmwire.exe` under Wine, against servers on loopback: what differs on Windows, and each kind of
//! transfer. `make test-windows` builds the program and runs these; WARMWIRE_EXE names it, WINE the command
//! that runs it (`wine`).

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use testkit::certs::Authority;
use testkit::ftp::FtpServer;
use testkit::http::{HttpServer, Response};
use testkit::temp::TempDir;

/// A command with the program in front, in that folder and with no settings of a user's.
fn tool(folder: &Path) -> Command {
    let program = std::env::var_os("WARMWIRE_EXE").expect("WARMWIRE_EXE names warmwire.exe");
    let mut command = Command::new(std::env::var_os("WINE").unwrap_or_else(|| "wine".into()));
    command.arg(program).current_dir(folder).stdin(Stdio::null()).env("WINEDEBUG", "-all");
    let settings = ["CURL_HOME", "XDG_CONFIG_HOME", "WINEHOME"];
    let proxies = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];
    let secrets = ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"];
    for name in settings.into_iter().chain(proxies).chain(secrets) {
        command.env_remove(name);
    }
    command
}

fn run(folder: &Path, words: &[&str]) -> Output {
    tool(folder).args(words).output().unwrap()
}

fn folder() -> TempDir {
    TempDir::new("windows").unwrap()
}

/// The names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn text_of(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Describes the result, including the status: Wine has its own codes for programs that do not start or
/// crash.
fn described(output: &Output) -> String {
    format!("{} {}", output.status, text_of(output))
}

fn text(folder: &Path, name: &str) -> String {
    String::from_utf8_lossy(&fs::read(folder.join(name)).unwrap()).into_owned()
}

/// A server whose replies name files: Content-Disposition is the text after `?`, and the body is the path.
fn naming() -> HttpServer {
    HttpServer::with(|request| {
        let reply = Response::ok(request.path().as_bytes().to_vec());
        let named = request.target.split_once('?').map(|(_, name)| name.replace('+', " "));
        Some(match named {
            Some(name) => reply.with("Content-Disposition", format!("attachment; filename=\"{name}\"")),
            None => reply,
        })
    })
}

#[test]
#[ignore = "make test-windows: needs wine and warmwire.exe"]
fn bytes_go_through_as_they_are() {
    let (server, folder) = (HttpServer::plain(), folder());
    // Bytes at which a text file on Windows would end or change.
    let body: Vec<u8> = b"a\nb\r\nc\x1ad\0\xff\xfe".repeat(1000);
    let url = server.url("/body");
    let mut command = tool(folder.path());
    command.args(["-s", "--data-binary", "@-", "-w", "\\n%{http_code}\\n", &url]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&body).unwrap();
    let mut out = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut out).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(out, [body.as_slice(), b"\n200\n"].concat());
    assert_eq!(server.last_request().unwrap().body, body);
}

/// `-T .` sends available data while the connection is used; a separate thread reads it.
#[test]
#[ignore = "make test-windows: needs wine and warmwire.exe"]
fn input_that_comes_slowly_is_sent() {
    let (server, folder) = (HttpServer::plain(), folder());
    let mut command = tool(folder.path());
    command.args(["-s", "-T", ".", &server.url("/body")]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for piece in [b"one ", b"two ", b"three".as_slice()] {
        input.write_all(piece).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    drop(input);
    let out = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "one two three");
}

/// CVE-2010-3842 (-J), and other meanings of a name.
#[test]
#[ignore = "make test-windows: needs wine and warmwire.exe"]
fn no_name_of_others_is_a_device_or_a_stream() {
    let (server, folder) = (naming(), folder());
    let server_says =
        ["NUL", "con.txt", "..\\..\\up.txt", "C:\\dir\\deep.txt", "file.txt:stream", "end. . ", "COM1 .log"];
    for name in server_says {
        let url = server.url(&format!("/x?{}", name.replace(' ', "+")));
        let out = run(folder.path(), &["-sSOJ", &url]);
        assert!(out.status.success(), "{name}: {}", described(&out));
    }
    for path in ["/nul", "/Aux.h", "/a:b"] {
        assert!(run(folder.path(), &["-sSO", &server.url(path)]).status.success(), "{path}");
    }
    let out = run(folder.path(), &["-sS", &format!("{}{{prn,lpt1.txt}}", server.url("/")), "-o", "#1"]);
    assert!(out.status.success(), "{}", described(&out));
    let expected = [
        "Aux_h",
        "COM1 _log",
        "_NUL", // and `/nul` of the URL, which is the same file
        "_prn",
        "a_b",
        "con_txt",
        "deep.txt",
        "end",
        "file.txt_stream",
        "lpt1_txt",
        "up.txt",
    ];
    assert_eq!(names(folder.path()), expected);
    // Another download of that name overwrites nothing.
    let again = run(folder.path(), &["-sSOJ", &server.url("/other?NUL.")]);
    assert_eq!(again.status.code(), Some(23), "{}", text_of(&again));
    assert_eq!(text(folder.path(), "_NUL"), "/nul");
}

#[test]
#[ignore = "make test-windows: needs wine and warmwire.exe"]
fn names_that_the_user_wrote_are_as_written() {
    let (server, folder) = (HttpServer::plain(), folder());
    let url = server.url("/bytes/10");
    for name in ["NUL", "sub\\p\u{fc}\u{20ac}\u{1f980}.bin"] {
        let out = run(folder.path(), &["-sS", "--create-dirs", "-o", name, &url]);
        assert!(out.status.success(), "{name}: {}", described(&out));
    }
    assert_eq!(names(folder.path()), ["sub"]);
    assert_eq!(names(&folder.path().join("sub")), ["p\u{fc}\u{20ac}\u{1f980}.bin"]);
    let out = run(folder.path(), &["-sS", "-T", "sub/p\u{fc}\u{20ac}\u{1f980}.bin", &server.url("/sum/")]);
    assert!(text_of(&out).starts_with("10 "), "{}", text_of(&out));
    let missing = run(folder.path(), &["-o", "no\\such\\folder", &url]);
    assert_eq!(missing.status.code(), Some(23));
    assert!(
        text_of(&missing).contains("Failed to open the file no\\such\\folder: No such file"),
        "{}",
        text_of(&missing)
    );
}

/// The order of the places, and either name.
#[test]
#[ignore = "make test-windows: needs wine and warmwire.exe"]
fn the_default_config_file_is_found() {
    let (server, folder) = (HttpServer::plain(), folder());
    let url = server.url("/echo");
    let agent = |variables: &[(&str, &str)]| {
        let mut command = tool(folder.path());
        let root = format!("Z:{}", folder.path().display()).replace('/', "\\");
        for (name, place) in variables {
            command.env(name, format!("{root}\\{place}"));
        }
        let out = command.args(["-s", &url]).output().unwrap();
        let head = text_of(&out);
        head.lines().find_map(|line| line.strip_prefix("User-Agent: ").map(str::to_owned)).unwrap_or(head)
    };
    for (place, file, who) in [
        ("curl", ".curlrc", "dot"),
        ("curl", "_curlrc", "line"),
        ("home", "_curlrc", "home"),
        ("data", "_curlrc", "data"),
    ] {
        fs::create_dir_all(folder.path().join(place)).unwrap();
        fs::write(folder.path().join(place).join(file), format!("user-agent = \"{who}\"\r\n")).unwrap();
    }
    assert_eq!(agent(&[("CURL_HOME", "curl"), ("WINEHOME", "home")]), "dot");
    fs::remove_file(folder.path().join("curl/.curlrc")).unwrap();
    assert_eq!(agent(&[("CURL_HOME", "curl"), ("WINEHOME", "home")]), "line");
    assert_eq!(agent(&[("WINEHOME", "home")]), "home");
}

#[test]
#[ignore = "make test-windows: needs wine and warmwire.exe"]
fn a_connection_that_is_refused_ends_at_once() {
    let folder = folder();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", taken.local_addr().unwrap());
    drop(taken);
    // A tool that does not notice would wait for five minutes; the limit has another code.
    let out = run(folder.path(), &["-sS", "-m", "60", &url, &url]);
    assert_eq!(out.status.code(), Some(7), "{}", text_of(&out));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    assert_eq!(run(folder.path(), &["-sS", "-m", "0.5", &url]).status.code(), Some(28));
}

#[test]
#[ignore = "make test-windows: needs wine and warmwire.exe"]
fn each_kind_of_transfer() {
    let folder = folder();
    let authority = Authority::new();
    let tls = HttpServer::tls(authority.good().server_config().unwrap());
    fs::write(folder.path().join("ca.pem"), authority.ca_pem()).unwrap();
    let url = tls.url("/bytes/100000");
    let out = run(folder.path(), &["-sS", "--cacert", "ca.pem", "-o", "tls", &url]);
    assert!(out.status.success(), "{}", described(&out));
    assert_eq!(fs::metadata(folder.path().join("tls")).unwrap().len(), 100_000);
    // The system's own store does not know that authority.
    assert_eq!(run(folder.path(), &["-sS", &url]).status.code(), Some(60));

    let ftp = FtpServer::with_file("/dir/a.txt", "by ftp");
    let out = run(folder.path(), &["-sS", &ftp.url("/dir/a.txt")]);
    assert_eq!(text_of(&out), "by ftp");

    fs::write(folder.path().join("local.txt"), "by file").unwrap();
    let path = format!("{}/local.txt", folder.path().display());
    for url in
        [format!("file:///Z:{path}"), format!("file://localhost/Z:{path}"), format!("file:///z|{path}")]
    {
        assert_eq!(text_of(&run(folder.path(), &["-sS", &url])), "by file", "{url}");
    }

    let http = HttpServer::plain();
    let many = http.url("/bytes/[1-40]");
    let out = run(folder.path(), &["-sSZ", "-o", "many#1", &many]);
    assert!(out.status.success(), "{}", described(&out));
    assert_eq!(fs::metadata(folder.path().join("many40")).unwrap().len(), 40);

    let out = run(folder.path(), &["-sS", "--segments", "4", "-o", "parts", &http.url("/bytes/5000000")]);
    assert!(out.status.success(), "{}", described(&out));
    assert_eq!(fs::metadata(folder.path().join("parts")).unwrap().len(), 5_000_000);
    assert!(!names(folder.path()).iter().any(|name| name.contains(".part")));
}

/// Where a file is, in a URL.
fn file_url(path: &str) -> String {
    format!("file:///{}", path.replace('?', "%3F"))
}

/// CVE-2019-15601: no name of a URL's leads to another machine or a device, whichever way the kernel has of
/// naming them.
#[test]
#[ignore = "make test-windows: needs wine and warmwire.exe"]
fn a_file_url_names_a_file_of_this_machine() {
    let folder = folder();
    fs::write(folder.path().join("a\u{fc} b.txt"), "here").unwrap();
    fs::write(folder.path().join("plain.txt"), "here").unwrap();
    let path = folder.path().display().to_string();
    let back = path.replace('/', "\\");
    for url in [
        file_url(&format!("Z:{path}/a%C3%BC%20b.txt")),
        file_url(&format!("Z:{back}\\plain.txt")),
        file_url(&format!("z|{path}/plain.txt")),
        file_url(&format!("/Z:{path}/plain.txt")),
        format!("file://127.0.0.1/Z:{path}/plain.txt"),
    ] {
        assert_eq!(text_of(&run(folder.path(), &["-sS", "-g", &url])), "here", "{url}");
    }
    for url in [
        file_url(&format!("/machine{path}/plain.txt")),
        file_url(&format!("/?/Z:{path}/plain.txt")),
        file_url(&format!("??/Z:{path}/plain.txt")),
        file_url(&format!("%5C??%5CZ:{back}\\plain.txt")),
        file_url("/./pipe/name"),
        format!("file://machine{path}/plain.txt"),
    ] {
        let out = run(folder.path(), &["-sS", "-g", &url]);
        assert_eq!(out.status.code(), Some(3), "{url}: {}", text_of(&out));
    }
    let missing = run(folder.path(), &["-sS", &file_url(&format!("Z:{path}/missing"))]);
    assert_eq!(missing.status.code(), Some(37), "{}", text_of(&missing));
    let up = folder.path().join("sent.txt");
    let url = file_url(&format!("Z:{path}/sent.txt"));
    assert!(run(folder.path(), &["-sS", "-T", "plain.txt", &url]).status.success());
    assert_eq!(fs::read_to_string(up).unwrap(), "here");
}

/// Roots of the user's store are trusted, except those for other purposes or those that were disallowed; a
/// named file replaces the store unless both are requested.
#[test]
#[ignore = "make test-windows: needs wine and warmwire.exe"]
fn the_systems_store_is_trusted() {
    let folder = folder();
    let program = folder.path().join("trust.exe");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/windows/trust.c");
    let built = Command::new("x86_64-w64-mingw32-gcc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", source, "-lcrypt32", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", described(&built));
    let trust = |words: &[&str]| {
        let mut command = Command::new(std::env::var_os("WINE").unwrap_or_else(|| "wine".into()));
        let out = command.arg(&program).args(words).current_dir(folder.path()).output().unwrap();
        assert!(out.status.success(), "{words:?}: {}", described(&out));
    };
    let (authority, other) = (Authority::new(), Authority::new());
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    fs::write(folder.path().join("ca.pem"), authority.ca_pem()).unwrap();
    fs::write(folder.path().join("other.pem"), other.ca_pem()).unwrap();
    let url = server.url("/bytes/3");
    let code = |words: &[&str]| {
        let out = run(folder.path(), &[words, &["-sS", url.as_str()]].concat());
        (out.status.code(), text_of(&out))
    };
    let (ok, not_trusted) = (Some(0), Some(60));
    assert_eq!(code(&[]).0, not_trusted);
    trust(&["add", "ROOT", "ca.pem"]);
    let held = [
        code(&[]),
        code(&["--cacert", "other.pem"]),
        code(&["--ca-native", "--cacert", "other.pem"]),
        code(&["-k", "--cacert", "other.pem"]),
    ];
    // For client certificates only, then for servers, too.
    trust(&["add", "ROOT", "ca.pem", "1.3.6.1.5.5.7.3.2"]);
    let for_clients = code(&[]);
    trust(&["add", "ROOT", "ca.pem", "1.3.6.1.5.5.7.3.1"]);
    let for_servers = code(&[]);
    trust(&["add", "Disallowed", "ca.pem"]);
    let disallowed = code(&[]);
    trust(&["remove", "Disallowed", "ca.pem"]);
    let allowed = code(&[]);
    trust(&["remove", "ROOT", "ca.pem"]);
    let removed = code(&[]);
    assert_eq!(held.map(|(code, _)| code), [ok, not_trusted, ok, ok]);
    assert_eq!(for_clients.0, not_trusted, "{}", for_clients.1);
    assert_eq!(for_servers.0, ok, "{}", for_servers.1);
    assert_eq!(disallowed.0, not_trusted, "{}", disallowed.1);
    assert_eq!(allowed.0, ok, "{}", allowed.1);
    assert_eq!(removed.0, not_trusted, "{}", removed.1);
}

/// The key log for programs that decrypt captures; the file name is in Windows' form.
#[test]
#[ignore = "make test-windows: needs wine and warmwire.exe"]
fn secrets_go_to_the_file_that_is_named() {
    let folder = folder();
    let authority = Authority::new();
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    fs::write(folder.path().join("ca.pem"), authority.ca_pem()).unwrap();
    let named = format!("Z:{}\\keys \u{20ac}.txt", folder.path().display()).replace('/', "\\");
    for count in [1, 2] {
        let mut command = tool(folder.path());
        command.env("SSLKEYLOGFILE", &named).args(["-sS", "--cacert", "ca.pem", &server.url("/bytes/3")]);
        let out = command.output().unwrap();
        assert!(out.status.success(), "{}", described(&out));
        let text = text(folder.path(), "keys \u{20ac}.txt");
        assert_eq!(text.matches("CLIENT_TRAFFIC_SECRET_0 ").count(), count, "{text}");
    }
}

/// Features without a counterpart on Windows are refused by code, or reported.
#[test]
#[ignore = "make test-windows: needs wine and warmwire.exe"]
fn features_missing_on_windows_are_reported() {
    let (server, folder) = (HttpServer::plain(), folder());
    let url = server.url("/bytes/3");
    for word in ["--pool-stop", "--pool-status"] {
        let out = run(folder.path(), &[word]);
        assert_eq!(out.status.code(), Some(1), "{word}: {}", text_of(&out));
        assert!(text_of(&out).contains("this system has no broker"), "{}", text_of(&out));
    }
    assert!(run(folder.path(), &["--pool", "user", "-s", &url]).status.success());
    let out = run(folder.path(), &["-V"]);
    assert!(text_of(&out).contains("-w64-mingw32)"), "{}", text_of(&out));
    let out = run(folder.path(), &["--xattr", "-o", "f", &url]);
    assert!(out.status.success() && text_of(&out).contains("extended attributes"), "{}", text_of(&out));
}

/// A cache is stored and used: files are locked, renamed and removed while others are open.
#[test]
#[ignore = "make test-windows: needs wine and warmwire.exe"]
fn a_cache_works() {
    let folder = folder();
    let server = HttpServer::with(|_| Some(Response::ok("kept").with("Cache-Control", "max-age=1000")));
    for _ in 0..2 {
        let out = run(folder.path(), &["-sS", "--cache", "kept", &server.url("/x")]);
        assert_eq!(text_of(&out), "kept");
    }
    assert_eq!(server.requests().len(), 1);
}
