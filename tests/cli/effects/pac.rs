//! PAC files and the system's proxies, seen from the proxies.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::dns::{A, DnsAnswer, NameServer, address};
use testkit::http::{HttpServer, Response};
use testkit::needs;
use testkit::temp::TempDir;

use super::{clean, curl, empty_folder, folder_with, tool};

/// Returns a PAC file whose function has this body.
fn file(body: &str) -> String {
    format!("function FindProxyForURL(url, host) {{ {body} }}")
}

/// A server that has a PAC file.
fn pac_server(body: &str) -> HttpServer {
    let file = file(body);
    HttpServer::with(move |request| (request.target == "/proxy.pac").then(|| Response::ok(file.clone())))
}

/// A proxy that is also the server at the end of its tunnels.
fn proxy() -> HttpServer {
    HttpServer::with(|request| (request.method == "CONNECT").then(|| Response::ok("")))
}

fn dead_proxy() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// The proxies of the file are tried in their order. It is fetched once for both transfers, and evaluated for
/// each.
// covers: --proxy, --noproxy
#[test]
fn a_pac_file_names_the_proxies_of_each_url() {
    let (by_proxy, direct) = (proxy(), HttpServer::plain());
    let body = format!(
        "return dnsDomainIs(host, '.far.example') ? 'PROXY {}; PROXY {}; DIRECT' : 'DIRECT'",
        dead_proxy(),
        by_proxy.address()
    );
    let pac = pac_server(&body);
    let far = "http://www.far.example/bytes/3";
    let words = ["--why", "--pac", &pac.url("/proxy.pac"), far, &direct.url("/bytes/4"), far];
    let ran = curl(&words);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!((by_proxy.served(), direct.served(), pac.served()), (2, 1, 1));
    let source = format!("from the PAC file {}", pac.url("/proxy.pac"));
    assert!(ran.stderr.contains(&format!("http://{}, {source}", by_proxy.address())), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("none: direct, {source}")), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches(" failed: ").count(), 1, "{}", ran.stderr);
    let exempt = curl(&["--pac", &pac.url("/none"), "--noproxy", "*", &direct.url("/bytes/5")]);
    assert_eq!((exempt.code, direct.served(), pac.served()), (0, 2, 1), "the file is not even fetched");
}

/// A file is named by its path or URL, by a flag or the variable, and read once.
#[test]
fn a_pac_file_is_named_by_path_or_url() {
    let by_proxy = proxy();
    let folder = folder_with("a b%.pac", &file(&format!("return 'PROXY {}'", by_proxy.address())));
    let path = folder.join("a b%.pac");
    let url = format!("pac+file://{}", path.to_str().unwrap().replace('%', "%25"));
    let rows: [(&[&str], Option<&str>); 4] = [
        (&["--pac", "a b%.pac"], None),
        (&["--pac", path.to_str().unwrap()], None),
        (&["--proxy", &url], None),
        (&[], Some(&url)),
    ];
    for (words, variable) in rows {
        let mut command = Command::new(tool());
        clean(&mut command).args(["-sS", "http://far.example/bytes/3"]).args(words).current_dir(&folder);
        command.envs(variable.map(|text| ("WARMWIRE_PROXY", text)));
        let out = needs::output(command.stdin(Stdio::null()));
        assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
    }
    assert_eq!(by_proxy.served(), 4);
}

/// The file sees neither path nor query of a URL of TLS, and never a login.
#[test]
fn a_pac_file_sees_no_secret() {
    let folder = folder_with("p.pac", &file("throw url + ' ' + host"));
    for (url, wanted) in [
        ("http://me:secret@H.example:8080/a/b?c=d#e", "http://h.example:8080/a/b?c=d h.example"),
        ("https://me:secret@h.example:8443/a/b?c=d#e", "https://h.example:8443/ h.example"),
        ("https://h.example/a", "https://h.example/ h.example"),
        ("ftp://[2001:db8::1]/a", "ftp://[2001:db8::1]/a 2001:db8::1"),
    ] {
        let ran = curl(&["--pac", folder.join("p.pac").to_str().unwrap(), url]);
        assert_eq!(ran.code, 5);
        assert!(ran.stderr.trim_end().ends_with(&format!("it throws: {wanted}")), "{}", ran.stderr);
    }
}

/// A look-up of the file is one of the transfer: by its name servers, each name once.
#[test]
fn a_pac_file_looks_up_names_as_the_transfer_does() {
    let is_inner = |name: &str| name.eq_ignore_ascii_case("inner.example");
    let dns = NameServer::start(move |asked| match asked.kind {
        A if is_inner(&asked.name) => address(A, "10.1.2.3"),
        _ => DnsAnswer::Code(3),
    });
    let by_proxy = proxy();
    let body = format!(
        "for (var i = 0; i < 100; i++) isResolvable(host); \
         if (dnsResolve('none.example') !== null || isResolvable('none.example')) return 'bad'; \
         return isInNet(host, '10.0.0.0', '255.0.0.0') ? 'PROXY {}' : 'DIRECT'",
        by_proxy.address()
    );
    let folder = folder_with("p.pac", &file(&body));
    let pac = folder.join("p.pac");
    let words = ["--dns-servers", &dns.address().to_string(), "--pac", pac.to_str().unwrap()];
    let ran = curl(&[&words[..], &["http://inner.example/bytes/3"]].concat());
    assert_eq!((ran.code, by_proxy.served()), (0, 1), "{}", ran.stderr);
    let asked = dns.asked();
    assert_eq!(asked.iter().filter(|asked| asked.kind == A && is_inner(&asked.name)).count(), 1);
}

/// A file that cannot be used is an error: the transfer does not go without a proxy.
#[test]
fn a_pac_file_that_fails_is_an_error() {
    let server = HttpServer::plain();
    let large = " ".repeat((1 << 20) + 1);
    let rows = [
        (file("return 'QUIC a:1'"), "it names no proxy by 'QUIC a:1'"),
        (file("return missing(url)"), "line 1: missing is not defined"),
        (file("for (;;);"), "it takes longer than 500 ms"),
        (file("for (var s = 'x';;) s += s"), "line 1: "),
        (
            file("for (var i = 0; i < 30; i++) isResolvable(i + '.invalid')"),
            "more than 20 names are looked up",
        ),
        (large, "it is larger than 1 MiB"),
        (String::new(), "it defines no function FindProxyForURL"),
    ];
    for (content, wanted) in rows {
        let folder = folder_with("p.pac", &content);
        let ran = curl(&["--pac", folder.join("p.pac").to_str().unwrap(), &server.url("/bytes/1")]);
        assert_eq!(ran.code, 5, "{wanted}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("p.pac cannot be used: ") && ran.stderr.contains(wanted),
            "{}",
            ran.stderr
        );
    }
    let missing = HttpServer::with(|request| {
        (request.target != "/large")
            .then(|| Response::status(404))
            .or_else(|| Some(Response::ok(" ".repeat(2 << 20))))
    });
    for (pac, wanted) in [
        ("/none.pac".to_owned(), "No such file"),
        ("/dev/zero".to_owned(), "it is not a regular file"),
        (missing.url("/none"), "404"),
        (missing.url("/large"), "it is larger than 1 MiB"),
        (format!("http://{}/", dead_proxy()), "Could not connect"),
        ("ftp://127.0.0.1/p.pac".to_owned(), "Protocol \"ftp\" is disabled"),
    ] {
        let ran = curl(&["--pac", &pac, &server.url("/bytes/1")]);
        assert!(ran.code == 5 && ran.stderr.contains(wanted), "{pac}: {}", ran.stderr);
    }
    assert_eq!(server.served(), 0);
}

/// A policy judges the proxies that a file names, and the place of the file itself.
#[test]
fn policies_judge_the_proxies_of_a_pac_file() {
    let by_proxy = proxy();
    let pac = pac_server(&format!("return 'PROXY {}'", by_proxy.address()));
    let folder = folder_with("policy", "version 1\nallow lookup-by-proxy far.example\n");
    let policy = folder.join("policy");
    let fetch =
        |pac: &str| curl(&["--policy", policy.to_str().unwrap(), "--pac", pac, "http://far.example/bytes/3"]);
    let ran = fetch(&pac.url("/proxy.pac"));
    assert!(
        ran.code == 5 && ran.stderr.contains("policy ") && ran.stderr.contains("127.0.0.1"),
        "{}",
        ran.stderr
    );
    fs::write(folder.join("p.pac"), file(&format!("return 'PROXY {}'", by_proxy.address()))).unwrap();
    let ran = fetch(folder.join("p.pac").to_str().unwrap());
    let refused = format!("proxy \"{}\"", by_proxy.address());
    assert!(ran.code == 9 && ran.stderr.contains(&refused), "{}", ran.stderr);
    assert_eq!((pac.served(), by_proxy.accepts()), (0, 0));
}

/// Runs the tool with a `gsettings` that prints this, or without one.
fn with_desktop(output: Option<&str>, variables: &[(&str, &str)], url: &str) -> (i32, String) {
    let folder = TempDir::new("desktop").unwrap();
    if let Some(output) = output {
        let program = folder.path().join("gsettings");
        fs::write(&program, format!("#!/bin/sh\n{output}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(tool());
    clean(&mut command).args(["-sS", "--why", "-o", "/dev/null", "--proxy", "auto", url]);
    command.env("PATH", folder.path()).envs(variables.iter().copied()).current_dir(empty_folder());
    let out = needs::output(command.stdin(Stdio::null()));
    (out.status.code().unwrap_or(-1), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// `--proxy auto`: GNOME's settings decide, then the environment. Without a program `gsettings`, or with one
/// that hangs, the environment decides.
// covers: --proxy
#[test]
fn the_systems_proxies() {
    let (by_proxy, direct) = (proxy(), HttpServer::plain());
    let pac = pac_server(&format!("return 'PROXY {}'", by_proxy.address()));
    let line = |key: &str, value: &str| format!("echo \"org.gnome.system.proxy{key} {value}\"\n");
    let port = by_proxy.port().to_string();
    let manual =
        [line(" mode", "'manual'"), line(".http host", "'127.0.0.1'"), line(".http port", &port)].concat();
    let ignoring = manual.clone() + &line(" ignore-hosts", "['*.example', '127.0.0.0/8']");
    let by_pac = line(" mode", "'auto'") + &line(" autoconfig-url", &format!("'{}'", pac.url("/proxy.pac")));
    let none = line(" mode", "'none'");
    let (far, near) = ("http://far.example/bytes/3".to_owned(), direct.url("/bytes/3"));
    let own = [("http_proxy", by_proxy.url("/"))];
    let own: Vec<_> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
    type Row<'a> = (Option<&'a str>, &'a [(&'a str, &'a str)], &'a str, &'a str);
    let rows: [Row; 9] = [
        (Some(&manual), &[], &far, "from GNOME's settings"),
        (Some(&ignoring), &[], &near, "none: direct, from GNOME's settings"),
        (Some(&by_pac), &[], &far, "from the PAC file "),
        (Some(&none), &own, &far, "from http_proxy"),
        (Some(&none), &[], &near, "none: direct, from the system, which names no proxy"),
        (None, &own, &far, "from http_proxy"),
        (Some("exit 1"), &own, &far, "from http_proxy"),
        (Some("exec /bin/sleep 30"), &own, &far, "from http_proxy"),
        (Some(&manual), &[("no_proxy", "127.0.0.1")], &near, "none: no_proxy names this host"),
    ];
    for (output, variables, url, wanted) in rows {
        let (code, reasons) = with_desktop(output, variables, url);
        assert!(code == 0 && reasons.contains(wanted), "{output:?} {variables:?}: {code} {reasons}");
    }
    assert_eq!((by_proxy.served(), direct.served()), (6, 3));
}

/// GNOME's own program and schema print what the parser reads.
#[test]
fn settings_of_the_real_gsettings() {
    let has_schema = Command::new("gsettings").args(["list-keys", "org.gnome.system.proxy"]).output();
    if !has_schema.is_ok_and(|out| out.status.success()) {
        testkit::left_out("gsettings or the schema org.gnome.system.proxy is missing");
    }
    let (by_proxy, folder) = (proxy(), TempDir::new("gsettings").unwrap());
    let settings = folder.path().join("glib-2.0/settings");
    fs::create_dir_all(&settings).unwrap();
    let port = by_proxy.port();
    let keys = format!(
        "[system/proxy]\nmode='manual'\nignore-hosts=['*.near.example']\n\n\
         [system/proxy/http]\nhost='127.0.0.1'\nport={port}\n\
         use-authentication=true\nauthentication-user='me'\nauthentication-password='it\\'s'\n"
    );
    fs::write(settings.join("keyfile"), keys).unwrap();
    let gnome = |url: &str| {
        let mut command = Command::new(tool());
        clean(&mut command).args(["-sS", "--why", "--proxy", "auto", url]).current_dir(empty_folder());
        command.env("GSETTINGS_BACKEND", "keyfile").env("XDG_CONFIG_HOME", folder.path());
        let out = needs::output(command.stdin(Stdio::null()));
        (out.status.success(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (fetched, reasons) = gnome("http://far.example/bytes/3");
    assert!(fetched && reasons.contains("from GNOME's settings"), "{reasons}");
    let login = by_proxy.last_request().unwrap().field("Proxy-Authorization").map(str::to_owned);
    assert_eq!(login.as_deref(), Some("Basic bWU6aXQncw=="));
    let (_, reasons) = gnome("http://www.near.example/bytes/3");
    assert!(reasons.contains("none: direct, from GNOME's settings"), "{reasons}");
}

/// libproxy names the same proxies by the environment, and its `proxy` is another implementation.
#[test]
fn libproxy_agrees_about_the_environment() {
    if Command::new("proxy").arg("--help").output().is_err() {
        testkit::left_out("the command proxy of libproxy-tools is missing");
    }
    let by_proxy = proxy();
    let own = by_proxy.url("");
    let (own, other) = (own.trim_end_matches('/'), "http://127.0.0.1:9");
    let rows: [(&[(&str, &str)], &str); 4] = [
        (&[("http_proxy", own)], "http://far.example/bytes/3"),
        (&[("http_proxy", own), ("no_proxy", "other.example")], "http://far.example/bytes/3"),
        (
            &[("http_proxy", other), ("https_proxy", other), ("no_proxy", "127.0.0.1")],
            &by_proxy.url("/bytes/3"),
        ),
        (&[("http_proxy", other), ("no_proxy", ".near.example, 127.0.0.1")], &by_proxy.url("/bytes/3")),
    ];
    for (variables, url) in rows {
        let mut command = Command::new("proxy");
        let out = clean(&mut command).arg(url).envs(variables.iter().copied()).output().unwrap();
        let theirs = String::from_utf8_lossy(&out.stdout).trim().to_owned();
        let (code, reasons) = with_desktop(None, variables, url);
        let expected = if theirs == "direct://" { "none: ".to_owned() } else { format!("{theirs}, from ") };
        assert!(code == 0 && reasons.contains(&expected), "{variables:?}: {theirs}, {reasons}");
    }
}

/// The proxies of a file are real ones: one tinyproxy is ended, and the other one is used then.
#[test]
fn a_proxy_that_is_ended_is_left_for_the_next() {
    let server = HttpServer::plain();
    let (first, second) = (Tinyproxy::start(), Tinyproxy::start());
    let body = format!("return 'PROXY 127.0.0.1:{}; PROXY 127.0.0.1:{}'", first.port, second.port);
    let folder = folder_with("p.pac", &file(&body));
    let pac = folder.join("p.pac");
    let fetch = || curl(&["--why", "-p", "--pac", pac.to_str().unwrap(), &server.url("/bytes/3")]);
    let ran = fetch();
    assert!(
        ran.code == 0 && ran.stderr.contains(&format!("http://127.0.0.1:{}, ", first.port)),
        "{}",
        ran.stderr
    );
    drop(first);
    let ran = fetch();
    assert!(
        ran.code == 0 && ran.stderr.contains(&format!("http://127.0.0.1:{}, ", second.port)),
        "{}",
        ran.stderr
    );
    assert_eq!(server.served(), 2);
}

/// tinyproxy on a free port.
struct Tinyproxy {
    port: u16,
    child: std::process::Child,
    _folder: TempDir,
}

impl Tinyproxy {
    fn start() -> Tinyproxy {
        let folder = TempDir::new("tinyproxy").unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = folder.path().join("conf");
        fs::write(&config, format!("Port {port}\nListen 127.0.0.1\nAllow 127.0.0.1\n")).unwrap();
        let mut command = Command::new("tinyproxy");
        command.args([Path::new("-d"), Path::new("-c"), &config]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let Ok(child) = child else { testkit::left_out("tinyproxy is missing") };
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(std::time::Instant::now() < end, "tinyproxy does not listen");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        Tinyproxy { port, child, _folder: folder }
    }
}

impl Drop for Tinyproxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
