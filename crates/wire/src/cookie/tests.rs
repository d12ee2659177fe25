//! Tests of the jar: accepted cookies, sent cookies, contents of files.

use super::{Command, FILE_HEADER, Jar, Rejected, Target, is_secure};

const NOW: i64 = 1_700_000_000;

fn at<'a>(host: &'a str, path: &'a str, secure: bool) -> Target<'a> {
    Target { host: host.as_bytes(), path: path.as_bytes(), secure }
}

/// Returns the jar's content after one header, as a line of a file, or why it was refused.
fn received(header: &str, origin: Target<'_>) -> String {
    let mut jar = Jar::new();
    match jar.receive(header.as_bytes(), origin, NOW).map(drop) {
        Ok(()) => jar.lines(0).iter().map(|line| String::from_utf8_lossy(line).replace('\t', "|")).collect(),
        Err(reason) => format!("{reason:?}"),
    }
}

#[test]
fn set_cookie_headers() {
    let rows = [
        ("a=b", "h.com|FALSE|/dir|FALSE|0|a|b"),
        (" a = b c ; other", "h.com|FALSE|/dir|FALSE|0|a|b c"),
        ("a=", "h.com|FALSE|/dir|FALSE|0|a|"),
        ("a==b=", "h.com|FALSE|/dir|FALSE|0|a|=b="),
        ("a=\"b\"", "h.com|FALSE|/dir|FALSE|0|a|\"b\""),
        ("a b=c", "h.com|FALSE|/dir|FALSE|0|a b|c"),
        ("a=b; path=/x/; domain=H.com", ".H.com|TRUE|/x|FALSE|0|a|b"),
        ("a=b; path=\"/x\"", "h.com|FALSE|/x|FALSE|0|a|b"),
        ("a=b; path=x", "h.com|FALSE|/|FALSE|0|a|b"),
        ("a=b; domain=.h.com; httponly", "#HttpOnly_.h.com|TRUE|/dir|FALSE|0|a|b"),
        ("a=b; domain=; path=/", "h.com|FALSE|/|FALSE|0|a|b"),
        ("a=b; domain=com", "Domain"),
        ("a=b; domain=.", "Domain"),
        ("a=b; domain=other.com", "Domain"),
        ("a=b; domain=sub.h.com", "Domain"),
        ("a=b; domain=xh.com", "Domain"),
        ("a=b; secure", "Insecure"),
        ("a=b;\tsecure", "Insecure"),
        ("secure=1; httponly=", "#HttpOnly_h.com|FALSE|/dir|FALSE|0|secure|1"),
        ("a=b; max-age=100", "h.com|FALSE|/dir|FALSE|1700000100|a|b"),
        (
            "a=b; max-age=\"100\"; expires=Fri, 1 Jan 2100 00:00:00 GMT",
            "h.com|FALSE|/dir|FALSE|1700000100|a|b",
        ),
        ("a=b; expires=Fri, 1 Jan 2100 00:00:00 GMT; max-age=100", "h.com|FALSE|/dir|FALSE|1700000100|a|b"),
        ("a=b; max-age=-1", "h.com|FALSE|/dir|FALSE|1|a|b"),
        ("a=b; max-age=x", "h.com|FALSE|/dir|FALSE|1|a|b"),
        ("a=b; max-age=0", "h.com|FALSE|/dir|FALSE|1|a|b"),
        ("a=b; max-age=99999999999999999999", "h.com|FALSE|/dir|FALSE|1734559980|a|b"),
        ("a=b; expires=Fri Feb 13 11:56:27 GMT 2525", "h.com|FALSE|/dir|FALSE|1734559980|a|b"),
        ("a=b; expires=Thu, 01-Jan-1970 00:00:00 GMT", "h.com|FALSE|/dir|FALSE|1|a|b"),
        ("a=b; expires=soon", "h.com|FALSE|/dir|FALSE|0|a|b"),
        ("__Secure-a=b", "Prefix"),
        ("__Host-a=b; path=/", "Prefix"),
        // The prefixes are compared with case, as curl 8.22 does.
        ("__host-a=b; path=/", "h.com|FALSE|/|FALSE|0|__host-a|b"),
        ("novalue", "Malformed"),
        ("novalue; domain=h.com", "Malformed"),
        ("", "Malformed"),
        (";", "Malformed"),
        ("=b", "Malformed"),
        ("a=b\tc", "Malformed"),
        ("a=b\x01c", "Malformed"),
        ("a\x7f=b", "Malformed"),
        ("a=b; path=/\tx", "Malformed"),
    ];
    for (header, wanted) in rows {
        assert_eq!(received(header, at("h.com", "/dir/page", false)), wanted, "{header:?}");
    }
}

/// CVE-2014-3613 (part of an address), CVE-2026-80255 (a tab before "secure").
#[test]
fn prefixes_addresses_and_suffixes() {
    let rows = [
        ("__Secure-a=b; secure", "h.com", "h.com|FALSE|/dir|TRUE|0|__Secure-a|b"),
        ("__Host-a=b; secure; path=/", "h.com", "h.com|FALSE|/|TRUE|0|__Host-a|b"),
        ("__Host-a=b; secure; path=/; domain=h.com", "h.com", "Prefix"),
        ("__Host-a=b; secure", "h.com", "Prefix"),
        ("a=b;\tsecure", "h.com", "h.com|FALSE|/dir|TRUE|0|a|b"),
        ("a=b; domain=127.0.0.1", "127.0.0.1", "127.0.0.1|FALSE|/dir|FALSE|0|a|b"),
        ("a=b; domain=.0.0.1", "127.0.0.1", "Domain"),
        ("a=b; domain=::1", "::1", "::1|FALSE|/dir|FALSE|0|a|b"),
        ("a=b; domain=co.uk", "a.co.uk", "Domain"),
        ("a=b; domain=co.uk", "co.uk", ".co.uk|TRUE|/dir|FALSE|0|a|b"),
        ("a=b; domain=a.co.uk", "b.a.co.uk", ".a.co.uk|TRUE|/dir|FALSE|0|a|b"),
        ("a=b; domain=localhost", "localhost", ".localhost|TRUE|/dir|FALSE|0|a|b"),
    ];
    for (header, host, wanted) in rows {
        assert_eq!(received(header, at(host, "/dir/page", true)), wanted, "{header:?} {host}");
    }
}

/// CVE-2014-3620, CVE-2022-27779, CVE-2023-46218, CVE-2026-8924: no cookie can be set for a public suffix,
/// however it is spelt.
#[test]
fn suffixes_are_refused_in_any_spelling() {
    for (header, host) in [
        ("a=b; domain=me", "curl.me"),
        ("a=b; domain=.me.", "curl.me."),
        ("a=b; domain=me.", "curl.me."),
        ("a=b; domain=cO.Uk", "example.cO.Uk"),
        ("a=b; domain=co.uk.", "example.co.uk."),
        ("a=b; domain=.co.uk.", "example.co.uk"),
    ] {
        assert_eq!(received(header, at(host, "/", true)), "Domain", "{header} {host}");
    }
}

/// CVE-2026-82209: a cookie that a public suffix sets is for itself only.
#[test]
fn a_suffix_shares_nothing_with_those_below_it() {
    let mut jar = Jar::new();
    jar.receive(b"a=b; domain=co.uk", at("co.uk", "/", true), NOW).unwrap();
    assert!(jar.header(at("co.uk", "/", true), None, NOW).is_some());
    assert!(jar.header(at("bank.co.uk", "/", true), None, NOW).is_none());
    // Nor does it when the jar was a file in between.
    let mut read = Jar::new();
    read.load(&jar.file(NOW), false, NOW);
    assert!(read.header(at("bank.co.uk", "/", true), None, NOW).is_none());
}

#[test]
fn sizes() {
    let pair = |length: usize| format!("a={}", "x".repeat(length - 1));
    let origin = at("h.com", "/", false);
    assert!(received(&pair(4096), origin).starts_with("h.com"));
    assert_eq!(received(&pair(4097), origin), "Oversized");
    assert_eq!(received(&format!("a=b; path=/{}", "x".repeat(5000)), origin), "Oversized");
}

#[test]
fn matching_cookies_are_sent_longest_path_first() {
    let mut jar = Jar::new();
    let origin = at("www.h.com", "/a/b/c", true);
    for header in [
        "old=1; path=/",
        "new=2; path=/",
        "longer=3; path=/",
        "deep=4; path=/a/b",
        "wide=5; path=/a/b; domain=h.com",
        "off=6; path=/a/bc",
        "safe=7; path=/; secure",
        "gone=8; max-age=0",
    ] {
        jar.receive(header.as_bytes(), origin, NOW).unwrap();
    }
    let mut header = |host, path, secure| {
        let value = jar.header(at(host, path, secure), None, NOW).unwrap_or_default();
        String::from_utf8(value).unwrap()
    };
    assert_eq!(header("www.h.com", "/a/b", true), "deep=4; wide=5; longer=3; safe=7; new=2; old=1");
    assert_eq!(header("WWW.H.COM", "/a/bx", false), "longer=3; new=2; old=1");
    assert_eq!(header("h.com", "/a/b/", true), "wide=5");
    assert_eq!(header("x.www.h.com", "/", true), "");
    assert_eq!(header("evilh.com", "/a/b/", true), "");
    let literal = jar.header(at("h.com", "/a/b", true), Some(b"x=y"), NOW);
    assert_eq!(literal.as_deref(), Some(&b"wide=5; x=y"[..]));
    assert_eq!(jar.header(at("none.org", "/", true), Some(b"x=y"), NOW).as_deref(), Some(&b"x=y"[..]));
    assert_eq!(jar.header(at("none.org", "/", true), None, NOW), None);
}

#[test]
fn a_cookie_expires() {
    let mut jar = Jar::new();
    let origin = at("h.com", "/", false);
    jar.receive(b"a=b; max-age=10", origin, NOW).unwrap();
    assert!(jar.header(origin, None, NOW + 10).is_some());
    assert!(jar.header(origin, None, NOW + 11).is_none());
}

#[test]
fn replacing() {
    let mut jar = Jar::new();
    let insecure = at("h.com", "/", false);
    let secure = at("h.com", "/", true);
    jar.receive(b"a=1; path=/x", insecure, NOW).unwrap();
    jar.receive(b"b=1", insecure, NOW).unwrap();
    jar.receive(b"a=2; path=/x/", insecure, NOW).unwrap();
    jar.receive(b"a=3; path=/x; domain=h.com", insecure, NOW).unwrap();
    jar.receive(b"A=4; path=/x", insecure, NOW).unwrap();
    let values: Vec<_> = jar.file(NOW).split(|&octet| octet == b'\n').map(<[u8]>::to_vec).collect();
    let tails: Vec<_> = values.iter().filter_map(|line| line.last().copied()).map(char::from).collect();
    assert!(tails.ends_with(&['4', '3', '1', '2']), "{tails:?}");

    jar.receive(b"s=1; secure; path=/p", secure, NOW).unwrap();
    for overlay in ["s=2; path=/p", "s=2; path=/p/q", "s=2; path=/p; domain=h.com"] {
        let outcome = jar.receive(overlay.as_bytes(), insecure, NOW).map(drop);
        assert_eq!(outcome, Err(Rejected::WouldOverlay), "{overlay}");
    }
    assert!(jar.receive(b"s=2; path=/other", insecure, NOW).is_ok());
    assert!(jar.receive(b"s=2; path=/p", secure, NOW).is_ok());
}

#[test]
fn limits_of_a_request() {
    let mut jar = Jar::new();
    let origin = at("h.com", "/", false);
    for number in 0..200 {
        jar.receive(format!("n{number}=v").as_bytes(), origin, NOW).unwrap();
    }
    assert_eq!(jar.matching(origin, NOW).len(), 150);
    jar.clear();
    for number in 0..3 {
        jar.receive(format!("n{number}={}", "x".repeat(4000)).as_bytes(), origin, NOW).unwrap();
    }
    let value = jar.header(origin, Some(b"literal=1"), NOW).unwrap();
    assert_eq!(value.len(), 2 * 4003 + 2);
}

#[test]
fn files_there_and_back() {
    let lines = "#HttpOnly_h.com\tFALSE\t/func\tFALSE\t21709598616\thttp\t990\n\
                 .h.com\tTRUE\t/\tTRUE\t0\tsess\t\n";
    let mut jar = Jar::new();
    // The newest line of a file comes first, so loading turns the order around.
    let file = format!("# comment\n\nnot a cookie\n{lines}h.com\tFALSE\tFALSE\t5000000000\tnopath\tv\r\n");
    jar.load(file.as_bytes(), false, NOW);
    let written = String::from_utf8(jar.file(NOW)).unwrap();
    let mut wanted: Vec<&str> = lines.lines().collect();
    wanted.push("h.com\tFALSE\t/\tFALSE\t5000000000\tnopath\tv");
    wanted.reverse();
    assert_eq!(written, format!("{FILE_HEADER}{}\n", wanted.join("\n")));

    let mut again = Jar::new();
    again.load(written.as_bytes(), false, NOW);
    assert_eq!(again.lines(NOW).len(), 3);
    let mut fresh = Jar::new();
    fresh.load(written.as_bytes(), true, NOW);
    assert_eq!(fresh.lines(NOW).len(), 2);
    assert_eq!(Jar::new().file(NOW), FILE_HEADER.as_bytes(), "an empty jar has a header, too");
}

/// A jar's own file restores every cookie that it took from a file or a list, even one that matches no host.
#[test]
fn odd_domains_and_paths_there_and_back() {
    let odd =
        ["#h", " h", ".h", "", "#HttpOnly_h", "Set-Cookie:h"].map(|domain| format!(".{domain}\tFALSE\t/"));
    let paths = ["/a//", "/a/", "/a\"\""].map(|path| format!("h.com\tFALSE\t{path}"));
    let lines: Vec<String> =
        odd.iter().chain(&paths).map(|start| format!("{start}\tFALSE\t5000000000\tn\tv")).collect();
    let mut jar = Jar::new();
    jar.load(lines.join("\n").as_bytes(), false, NOW);
    let mut again = Jar::new();
    again.load(&jar.file(NOW), false, NOW);
    let fields = |jar: &Jar| {
        let mut fields: Vec<_> =
            jar.cookies().map(|cookie| (cookie.domain.clone(), cookie.path.clone())).collect();
        fields.sort();
        fields
    };
    assert_eq!((fields(&again), fields(&jar).len()), (fields(&jar), lines.len()));
}

#[test]
fn malformed_lines() {
    let mut jar = Jar::new();
    for line in [
        "",
        "h.com",
        "h.com\tFALSE\t/\tFALSE\tx\tn\tv",
        "h.com\tFALSE\t/\tFALSE\t99999999999999999999\tn\tv",
        "h.com\tFALSE\t\tFALSE\t0\tn\tv",
        "h.com\tFALSE\t/\tFALSE\t0\t\t",
        "h.com\tFALSE\t/\tFALSE\t0\t__Secure-n\tv",
        "h.com\tFALSE\t/\tFALSE\t0\tn\tv\tw",
    ] {
        assert!(jar.add_line(line.as_bytes(), NOW).is_err(), "{line}");
    }
    assert!(jar.add_line(b"h.com\tFALSE\t/\tFALSE\t0\t\tv", NOW).is_ok(), "a value without a name is one");
}

#[test]
fn a_file_sets_no_cookies_for_public_suffixes() {
    let mut jar = Jar::new();
    let mut load = |line: &str| jar.load_line(line.as_bytes(), false, NOW).map(drop);
    assert_eq!(load(".co.uk\tTRUE\t/\tFALSE\t0\tn\tv"), Err(Rejected::Domain));
    assert_eq!(load("Set-Cookie: n=v; domain=co.uk"), Err(Rejected::Domain));
    assert_eq!(load("co.uk\tFALSE\t/\tFALSE\t0\tn\tv"), Ok(()));
    assert_eq!(load(".a.co.uk\tTRUE\t/\tFALSE\t0\tn\tv"), Ok(()));
    assert_eq!(load(".localhost\tTRUE\t/\tFALSE\t0\tn\tv"), Ok(()));
}

#[test]
fn cookies_outlive_files_that_are_loaded_after_the_first() {
    const FILE: &[u8] = b"h.com\tFALSE\t/\tFALSE\t0\ta\tfile";
    let mut jar = Jar::new();
    jar.receive(b"a=live", at("h.com", "/", false), NOW).unwrap();
    jar.load(FILE, false, NOW);
    assert_eq!(jar.lines(NOW), [FILE], "the first");
    jar.receive(b"a=live", at("h.com", "/", false), NOW).unwrap();
    assert_eq!(jar.load_line(FILE, false, NOW).map(drop), Err(Rejected::Outdated));
    assert!(jar.add_line(b"h.com\tFALSE\t/\tFALSE\t0\ta\tapp", NOW).is_ok());
}

#[test]
fn a_cookie_added_without_a_path_is_another_than_that_of_the_root() {
    let mut jar = Jar::new();
    jar.add_line(b"Set-Cookie: a=none; domain=h.com", NOW).unwrap();
    jar.add_line(b"h.com\tTRUE\t/\tFALSE\t0\ta\troot", NOW).unwrap();
    jar.receive(b"a=root again; path=/; domain=h.com", at("h.com", "/", false), NOW).unwrap();
    jar.add_line(b"Set-Cookie: a=none again; domain=h.com", NOW).unwrap();
    let lines: Vec<String> = jar.lines(NOW).iter().map(|l| String::from_utf8_lossy(l).into_owned()).collect();
    let ends = ["root again", "none again"];
    assert!(lines.len() == 2 && lines.iter().zip(ends).all(|(line, end)| line.ends_with(end)), "{lines:?}");
}

#[test]
fn commands() {
    assert_eq!(Command::parse(b"all"), Command::All);
    assert_eq!(Command::parse(b"SESS"), Command::Session);
    assert_eq!(Command::parse(b"FLUSH"), Command::Flush);
    assert_eq!(Command::parse(b"RELOAD"), Command::Reload);
    assert_eq!(Command::parse(b"x"), Command::Line(b"x"));
    let mut jar = Jar::new();
    jar.add_line(b"Set-Cookie: a=b; secure", NOW).unwrap();
    jar.add_line(b"set-cookie: c=d; domain=h.com; max-age=50", NOW).unwrap();
    assert_eq!(jar.matching(at("any.org", "/", true), NOW).len(), 1);
    assert_eq!(jar.lines(NOW).len(), 1);
    jar.clear_session();
    assert_eq!(jar.cookies().count(), 1);
}

#[test]
fn an_insecure_origin_shadows_no_secure_cookie_above_or_below() {
    let set = |first: (&str, &str), second: (&str, &str)| {
        let mut jar = Jar::new();
        jar.receive(first.1.as_bytes(), at(first.0, "/", true), NOW).unwrap();
        jar.receive(second.1.as_bytes(), at(second.0, "/", false), NOW).map(drop)
    };
    let of_all = ("www.h.com", "n=s; secure; domain=h.com");
    assert_eq!(set(of_all, ("evil.h.com", "n=p; domain=h.com")), Err(Rejected::WouldOverlay));
    assert_eq!(set(of_all, ("evil.h.com", "n=p")), Err(Rejected::WouldOverlay));
    assert_eq!(set(of_all, ("h.com", "n=p")), Err(Rejected::WouldOverlay));
    let of_one = ("a.b.h.com", "n=s; secure");
    assert_eq!(set(of_one, ("c.h.com", "n=p; domain=h.com")), Err(Rejected::WouldOverlay));
    assert_eq!(set(of_one, ("b.h.com", "n=p")), Err(Rejected::WouldOverlay));
    assert_eq!(set(of_one, ("c.h.com", "n=p")), Ok(()), "neither is part of the other");
    assert_eq!(set(of_one, ("xa.b.h.com", "n=p")), Ok(()));
    assert_eq!(set(of_one, ("a.b.h.com", "m=p")), Ok(()));
    assert_eq!(
        set(("h.com", "n=s; secure; path=/Dir"), ("h.com", "n=p; path=/dir")),
        Ok(()),
        "another folder"
    );
    assert_eq!(
        set(("h.com", "n=s; secure; path=/d"), ("h.com", "n=p; path=/d/e")),
        Err(Rejected::WouldOverlay)
    );
}

#[test]
fn paths_differ_in_case() {
    let mut jar = Jar::new();
    for path in ["/Dir", "/dir", "/DIR"] {
        jar.receive(format!("n={path}; path={path}").as_bytes(), at("h.com", path, false), NOW).unwrap();
    }
    assert_eq!(jar.cookies().count(), 3);
    assert_eq!(jar.header(at("h.com", "/dir/x", false), None, NOW).unwrap(), b"n=/dir");
}

/// Cookies of one site do not slow down another: fifty thousand cookies elsewhere, and as many requests, in a
/// moment.
#[test]
fn sites_stand_apart() {
    let mut jar = Jar::new();
    for number in 0..50_000 {
        let host = format!("a.site{number}.com");
        jar.receive(b"n=v; max-age=1000", at(&host, "/", false), NOW).unwrap();
    }
    for number in 0..50_000 {
        let host = format!("A.site{number}.com");
        assert_eq!(jar.matching(at(&host, "/", false), NOW).len(), 1);
    }
    assert_eq!(jar.matching(at("a.site1.com", "/", false), NOW + 1001).len(), 0);
    assert!(jar.is_empty());
}

#[test]
fn secure_targets() {
    assert!(is_secure(true, b"h.com") && is_secure(false, b"LOCALHOST") && is_secure(false, b"::1"));
    assert!(!is_secure(false, b"h.com"));
}
