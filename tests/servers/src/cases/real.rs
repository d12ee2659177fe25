//! HTTP with third-party servers: nginx, Apache httpd and squid, by Debian's curl on either library.

use std::process::Command;

use testkit::body::pattern;
use testkit::launch::{Apache, Squid, SquidLogin};
use testkit::temp::TempDir;

use super::case;
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        case("nginx-downloads", downloads),
        case("nginx-uploads", uploads),
        case("nginx-conditions", conditions),
        case("apache-credentials", credentials),
        case("apache-webdav", webdav),
        case("apache-codings", codings),
        case("squid-plain-and-tunnel", through_squid),
        case("squid-credentials", squid_credentials),
        case("squid-ntlm", squid_ntlm),
    ]
}

const LINE: &str = "%{http_code} %{num_connects}|";

fn curl(run: &Context, arguments: &[&str]) -> Output {
    run.run(Command::new("/usr/bin/curl").args(["-q", "-sS", "--max-time", "60"]).args(arguments))
}

/// Codes and numbers of new connections, without the bodies.
fn outcome(run: &Context, arguments: &[&str]) -> String {
    curl(run, &[&["-o", "/dev/null", "-w", LINE][..], arguments].concat()).stdout
}

fn downloads(run: &Context) {
    let nginx = &run.world.nginx;
    for url in [nginx.http("/bytes-335114"), nginx.https("/bytes-335114")] {
        let ca = run.world.ca();
        let get = |more: &[&str]| curl(run, &[&["--cacert", &ca][..], more, &[&url]].concat());
        assert_eq!(get(&[]).bytes(), pattern(335_114));
        assert!(get(&["-I"]).stdout.contains("Content-Length: 335114"));
        assert_eq!(get(&["-r", "5-9"]).bytes(), &pattern(10)[5..]);
        assert_eq!(get(&["-r", "-7"]).bytes(), &pattern(335_114)[335_107..]);
        let parts = get(&["-r", "0-1,4-5"]).stdout;
        assert_eq!(parts.matches("Content-Range: bytes ").count(), 2, "{parts}");
        let folder = TempDir::new("resume").unwrap();
        let file = folder.write("got", &pattern(335_114)[..1000]).unwrap();
        let name = file.to_str().unwrap();
        assert_eq!(get(&["-C", "-", "-o", name]).status, Some(0));
        assert_eq!(std::fs::read(&file).unwrap(), pattern(335_114));
        // Complete already: 416 is no failure.
        assert_eq!(get(&["-C", "-", "-o", name, "-w", "%{http_code}"]).stdout, "416");
        assert_eq!(std::fs::read(&file).unwrap(), pattern(335_114));
    }
    let (one, two) = (nginx.http("/bytes-1000"), nginx.http("/bytes-1024"));
    assert_eq!(outcome(run, &[&one, "-o", "/dev/null", &two]), "200 1|200 0|");
    assert_eq!(outcome(run, &["-L", &nginx.http("/moved")]), "200 1|");
    assert_eq!(curl(run, &["-f", &nginx.http("/gone")]).status, Some(22));
}

fn uploads(run: &Context) {
    let nginx = &run.world.nginx;
    let name = if run.ours() { "ours" } else { "theirs" };
    let folder = TempDir::new("upload").unwrap();
    let file = folder.write("sent", pattern(2_000_000)).unwrap();
    let file = file.to_str().unwrap();
    for (more, at) in
        [(&[][..], "plain"), (&["-H", "Transfer-Encoding: chunked"], "chunks"), (&["-H", "Expect:"], "bare")]
    {
        let url = nginx.http(&format!("/put/{name}/{at}"));
        let put = outcome(run, &[more, &["-T", file, &url]].concat());
        assert!(["201 1|", "204 1|"].contains(&put.as_str()), "{at}: {put}");
        let back = nginx.http(&format!("/{name}/{at}"));
        assert_eq!(curl(run, &[&back]).bytes(), pattern(2_000_000), "{at}");
        assert_eq!(outcome(run, &["-X", "DELETE", &url]), "204 1|");
    }
    // Two bodies over one connection. Short ones: nginx replies here before it has read a long one, and
    // whether the rest of that is still sent is a race.
    let url = nginx.http("/taken");
    assert_eq!(outcome(run, &["-d", "x=1", &url, "-o", "/dev/null", &url]), "200 1|200 0|");
    assert_eq!(outcome(run, &["-F", &format!("f=@{file}"), &url]), "200 1|");
}

fn conditions(run: &Context) {
    let nginx = &run.world.nginx;
    let url = nginx.http("/bytes-1000");
    assert_eq!(outcome(run, &["-z", "Fri, 01 Jan 2100 00:00:00 GMT", &url]), "304 1|");
    assert_eq!(outcome(run, &["-z", "Sun, 06 Nov 1994 08:49:37 GMT", &url]), "200 1|");
    let folder = TempDir::new("etag").unwrap();
    let tag = folder.path().join("tag");
    let tag = tag.to_str().unwrap();
    assert_eq!(outcome(run, &["--etag-save", tag, &url]), "200 1|");
    assert_eq!(outcome(run, &["--etag-compare", tag, &url]), "304 1|");
    let jar = folder.path().join("jar");
    let jar = jar.to_str().unwrap();
    assert_eq!(outcome(run, &["-c", jar, &nginx.http("/taken")]), "200 1|");
    assert!(std::fs::read_to_string(jar).unwrap().contains("\tvisit\t1"));
}

fn credentials(run: &Context) {
    let apache = Apache::start(&[2000]).expect("apache starts");
    for (place, scheme) in [("basic", "--basic"), ("digest", "--digest"), ("digest", "--anyauth")] {
        let url = apache.http(&format!("/{place}/bytes-2000"));
        let get = |who: &str| curl(run, &[scheme, "-u", who, &url]);
        assert_eq!(get("user:secret").bytes(), pattern(2000), "{place} {scheme}");
        assert_eq!(outcome(run, &[scheme, "-u", "user:wrong", &url]), "401 1|", "{place} {scheme}");
        assert_eq!(outcome(run, &[scheme, "-u", "nobody:secret", &url]), "401 1|", "{place} {scheme}");
        // The second request needs no challenge and no new connection.
        let two = outcome(run, &[scheme, "-u", "user:secret", &url, "-o", "/dev/null", &url]);
        assert_eq!(two, "200 1|200 0|", "{place} {scheme}");
    }
    assert_eq!(outcome(run, &[&apache.http("/digest/bytes-2000")]), "401 1|");
}

fn webdav(run: &Context) {
    let apache = Apache::start(&[]).expect("apache starts");
    let folder = TempDir::new("dav").unwrap();
    let file = folder.write("sent", pattern(300_000)).unwrap();
    let file = file.to_str().unwrap();
    let at = |path: &str| apache.http(path);
    assert_eq!(outcome(run, &["-X", "MKCOL", &at("/dav/new")]), "201 1|");
    assert_eq!(outcome(run, &["-T", file, &at("/dav/new/file")]), "201 1|");
    assert_eq!(curl(run, &[&at("/dav/new/file")]).bytes(), pattern(300_000));
    let listing = curl(run, &["-X", "PROPFIND", "-H", "Depth: 1", &at("/dav/new/")]).stdout;
    assert!(listing.contains("<D:href>/dav/new/file</D:href>"), "{listing}");
    let target = format!("Destination: {}", at("/dav/new/moved"));
    assert_eq!(outcome(run, &["-X", "MOVE", "-H", &target, &at("/dav/new/file")]), "201 1|");
    // With Digest the body travels with the second request only.
    let url = at("/davdigest/file");
    let put = ["--digest", "-u", "user:secret", "-T", file, &url];
    assert_eq!(outcome(run, &put), "201 1|");
    assert_eq!(curl(run, &["--digest", "-u", "user:secret", &url]).bytes(), pattern(300_000));
    assert_eq!(outcome(run, &["-X", "DELETE", &at("/dav/new/moved")]), "204 1|");
    assert_eq!(outcome(run, &["-i", "-X", "OPTIONS", &at("/dav/")]), "200 1|");
}

fn codings(run: &Context) {
    let apache = Apache::start(&[335_114]).expect("apache starts");
    for place in ["gzip", "br"] {
        let url = apache.http(&format!("/{place}/bytes-335114"));
        let packed = curl(run, &["-H", &format!("Accept-Encoding: {place}"), &url]);
        assert_ne!(packed.bytes(), pattern(335_114), "{place} is packed");
        let head = curl(run, &["-sI", "--compressed", &url]).stdout;
        assert!(head.contains(&format!("Content-Encoding: {place}")), "{head}");
        assert_eq!(curl(run, &["--compressed", &url]).bytes(), pattern(335_114), "{place}");
    }
    assert_eq!(curl(run, &["--compressed", &apache.http("/packed.zst")]).bytes(), pattern(200));
}

fn through_squid(run: &Context) {
    let squid = Squid::start().expect("squid starts");
    let (nginx, proxy, ca) = (&run.world.nginx, squid.url(), run.world.ca());
    let get = |more: &[&str]| curl(run, &[&["-x", &proxy, "--cacert", &ca][..], more].concat());
    assert_eq!(get(&[&nginx.http("/bytes-335114")]).bytes(), pattern(335_114));
    assert_eq!(get(&[&nginx.https("/bytes-335114")]).bytes(), pattern(335_114));
    assert_eq!(get(&["-p", &nginx.http("/bytes-1000")]).bytes(), pattern(1000));
    assert_eq!(get(&["-d", "a=b", &nginx.http("/taken")]).stdout, "taken\n");
    let head = get(&["-I", &nginx.http("/bytes-1000")]).stdout;
    assert!(head.contains("Via: ") && head.contains("Content-Length: 1000"), "{head}");
    for (one, two) in [
        (nginx.http("/bytes-1000"), nginx.http("/bytes-1024")),
        (nginx.https("/bytes-1000"), nginx.https("/bytes-1024")),
    ] {
        let both = ["-x", &proxy, "--cacert", &ca, &one, "-o", "/dev/null", &two];
        assert_eq!(outcome(run, &both), "200 1|200 0|");
    }
    // The port is closed: squid reports that itself, and a tunnel fails.
    let port = testkit::raw::RawPeer::refused_port();
    assert_eq!(outcome(run, &["-x", &proxy, &format!("http://127.0.0.1:{port}/")]), "503 1|");
    assert_ne!(get(&[&format!("https://127.0.0.1:{port}/")]).status, Some(0));
    assert_eq!(outcome(run, &["-x", &proxy, "--noproxy", "127.0.0.0/8", &nginx.http("/gone")]), "410 1|");
}

fn squid_credentials(run: &Context) {
    let (nginx, ca) = (&run.world.nginx, run.world.ca());
    for (login, scheme) in [
        (SquidLogin::Basic, "--proxy-basic"),
        (SquidLogin::Digest, "--proxy-digest"),
        (SquidLogin::Basic, "--proxy-anyauth"),
        (SquidLogin::Digest, "--proxy-anyauth"),
    ] {
        let squid = Squid::start_with(Some(login)).expect("squid starts");
        let proxy = squid.url();
        let get = |who: &str, url: &str| {
            let words = ["-x", &proxy, scheme, "-U", who, "--cacert", &ca, "-w", "|%{http_code}", url];
            curl(run, &words)
        };
        for url in [nginx.http("/bytes-1000"), nginx.https("/bytes-1000")] {
            let good = [&pattern(1000)[..], b"|200"].concat();
            assert_eq!(get("user:secret", &url).bytes(), good, "{login:?} {scheme} {url}");
        }
        assert!(get("user:wrong", &nginx.http("/bytes-1000")).stdout.ends_with("|407"), "{login:?} {scheme}");
        let refused = get("user:wrong", &nginx.https("/bytes-1000"));
        assert!(matches!(refused.status, Some(7 | 56)), "{refused:?}");
        let nobody = curl(run, &["-x", &proxy, "-w", "|%{http_code}", &nginx.http("/bytes-1000")]);
        assert!(nobody.stdout.ends_with("|407"), "{nobody:?}");
    }
}

/// NTLM belongs to a connection: one conversation serves two requests to the proxy itself, and each tunnel
/// has its own. squid's helper for tests checks the messages, and no password.
/// covers: --proxy-ntlm
fn squid_ntlm(run: &Context) {
    let (nginx, ca) = (&run.world.nginx, run.world.ca());
    let squid = Squid::start_with(Some(SquidLogin::Ntlm)).expect("squid starts");
    let proxy = squid.url();
    for scheme in ["--proxy-ntlm", "--proxy-anyauth"] {
        let base = [
            "-x",
            &proxy,
            scheme,
            "-U",
            "user:secret",
            "--cacert",
            &ca,
            "-w",
            "|%{http_code} %{num_connects}|",
        ];
        for url in [nginx.http("/bytes-1000"), nginx.https("/bytes-1000")] {
            let got = curl(run, &[&base[..], &[&url, &url]].concat());
            let part = |connects: &str| [&pattern(1000)[..], b"|200 ", connects.as_bytes(), b"|"].concat();
            assert_eq!(got.bytes(), [part("1"), part("0")].concat(), "{scheme} {url}");
        }
        let domain =
            curl(run, &["-x", &proxy, scheme, "-U", "REALM\\user:secret", &nginx.http("/bytes-1000")]);
        assert_eq!(domain.bytes(), pattern(1000), "{scheme}");
    }
    let nobody = curl(run, &["-x", &proxy, "-w", "|%{http_code}", &nginx.http("/bytes-1000")]);
    assert!(nobody.stdout.ends_with("|407"), "{nobody:?}");
    let nobody = curl(run, &["-x", &proxy, "--cacert", &ca, &nginx.https("/bytes-1000")]);
    assert!(matches!(nobody.status, Some(7 | 56)), "{nobody:?}");
}
