//! The URL rules as tables. Expected values are the results of curl 8.22 for the same input.

use super::flag::*;
use super::{Part, Url, UrlError};

fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|&octet| char::from(octet)).collect()
}

/// All parts in a row: a value, or the number of the error in its place.
fn parts(url: &Url, flags: u32) -> String {
    use Part::*;
    let shown = [Scheme, User, Password, Options, Host, ZoneId, Port, Path, Query, Fragment];
    let cells = shown.map(|part| match url.get(part, flags) {
        Ok(value) => text(&value),
        Err(error) => format!("!{}", error.number()),
    });
    cells.join("|")
}

#[test]
fn parts_of_a_url() {
    let rows: &[(&[u8], u32, u32, &str)] = &[
        (b"weird:///path", NON_SUPPORT_SCHEME | NO_AUTHORITY, 0, "weird|!11|!12|!13||!18|!15|/path|!16|!17"),
        (
            b"weird:////path",
            NON_SUPPORT_SCHEME | NO_AUTHORITY,
            0,
            "weird|!11|!12|!13||!18|!15|//path|!16|!17",
        ),
        (b"http://host/a%2f..%2f/", 0, 0, "http|!11|!12|!13|host|!18|!15|/a%2f..%2f/|!16|!17"),
        (b"example.com/p", GUESS_SCHEME, NO_GUESS_SCHEME, "!10|!11|!12|!13|example.com|!18|!15|/p|!16|!17"),
        (b"http://host/p?#", 0, GET_EMPTY, "http|!11|!12|!13|host|!18|!15|/p||"),
        (b"http://host/p?#", 0, 0, "http|!11|!12|!13|host|!18|!15|/p|!16|!17"),
        (b"http://host:0/", 0, 0, "http|!11|!12|!13|host|!18|0|/|!16|!17"),
        (b"http://host:00080/", 0, 0, "http|!11|!12|!13|host|!18|80|/|!16|!17"),
        (b"http://-a/", 0, 0, "http|!11|!12|!13|-a|!18|!15|/|!16|!17"),
        (b"http://[fe80::1%25eth0]/", 0, 0, "http|!11|!12|!13|[fe80::1]|eth0|!15|/|!16|!17"),
        (
            b"https://[%3A%3A13%2e1%2e68%2e3%25eth0]:1",
            0,
            0,
            "https|!11|!12|!13|[::13.1.68.3]|eth0|1|/|!16|!17",
        ),
        (
            b"https://[0:0:0:0:0:FFFF:7f00:0001]:1",
            0,
            0,
            "https|!11|!12|!13|[::ffff:127.0.0.1]|!18|1|/|!16|!17",
        ),
        (b"https://[0:0:0:0:0:0:0d01:4403]", 0, 0, "https|!11|!12|!13|[::13.1.68.3]|!18|!15|/|!16|!17"),
        (b"https://[::1%252]:1", 0, 0, "https|!11|!12|!13|[::1]|2|1|/|!16|!17"),
        (b"https://h/#  ", URLENCODE | ALLOW_SPACE, 0, "https|!11|!12|!13|h|!18|!15|/|!16|%20%20"),
        (b"https://u@h?he l lo", ALLOW_SPACE, URLENCODE, "https|u|!12|!13|h|!18|!15|/|he+l+lo|!17"),
        (b"https://u@h?he l lo", ALLOW_SPACE, 0, "https|u|!12|!13|h|!18|!15|/|he l lo|!17"),
        (b"https://u:p w@h/ge t", ALLOW_SPACE | URLENCODE, 0, "https|u|p w|!13|h|!18|!15|/ge%20t|!16|!17"),
        (b"hej.hej://h", NON_SUPPORT_SCHEME, 0, "hej.hej|!11|!12|!13|h|!18|!15|/|!16|!17"),
        (b"ftp+more://h", NON_SUPPORT_SCHEME, 0, "ftp+more|!11|!12|!13|h|!18|!15|/|!16|!17"),
        (b"https://a.com%252f%40@h", 0, URLDECODE, "https|a.com%2f@|!12|!13|h|!18|!15|/|!16|!17"),
        (b"https://:p@h", 0, 0, "https||p|!13|h|!18|!15|/|!16|!17"),
        (b"https://:@h", 0, 0, "https|||!13|h|!18|!15|/|!16|!17"),
        (b"[0:0:0:0:0:0:0:1]", GUESS_SCHEME, 0, "http|!11|!12|!13|[::1]|!18|!15|/|!16|!17"),
        (b"u:m@ftp.h.com/c/#g?r", GUESS_SCHEME, 0, "ftp|u|m|!13|ftp.h.com|!18|!15|/c/|!16|g?r"),
        (b"ftp.u:m@h.com/", GUESS_SCHEME, 0, "http|ftp.u|m|!13|h.com|!18|!15|/|!16|!17"),
        (b"https://e.#com/c/?g#n", 0, 0, "https|!11|!12|!13|e.|!18|!15|/|!16|com/c/?g#n"),
        (b"boing:80", DEFAULT_SCHEME | GUESS_SCHEME, 0, "https|!11|!12|!13|boing|!18|80|/|!16|!17"),
        (b"https://h:443", 0, NO_DEFAULT_PORT, "https|!11|!12|!13|h|!18|!15|/|!16|!17"),
        (
            b"http://%3a:%3a@e/%3f+?+%3f+%23#+%23%3f%g7",
            0,
            URLDECODE,
            "http|:|:|!13|e|!18|!15|/?+| ? #|+#?%g7",
        ),
        (b"http://%3a:%3a@e/%3f?%3f%35#%35%3f%g7", 0, 0, "http|%3a|%3a|!13|e|!18|!15|/%3f|%3f%35|%35%3f%g7"),
        (b"http://HO0_-st%41/", 0, 0, "http|!11|!12|!13|HO0_-stA|!18|!15|/|!16|!17"),
        (b"imap://u:p;o@s/path", 0, 0, "imap|u|p|o|s|!18|!15|/path|!16|!17"),
        (b"imap://u;o:p@s/path", 0, 0, "imap|u|p|o|s|!18|!15|/path|!16|!17"),
        (b"http://u:p;o@s/path", 0, 0, "http|u|p;o|!13|s|!18|!15|/path|!16|!17"),
        (b"file:/hello.html", 0, 0, "file|!11|!12|!13|!14|!18|!15|/hello.html|!16|!17"),
        (b"file://127.0.0.1/h", 0, 0, "file|!11|!12|!13|!14|!18|!15|/h|!16|!17"),
        (b"file://LOCALhost/h", 0, 0, "file|!11|!12|!13|!14|!18|!15|/h|!16|!17"),
        (b"file:////h", 0, 0, "file|!11|!12|!13|!14|!18|!15|//h|!16|!17"),
        (b"ftps://h", 0, DEFAULT_PORT, "ftps|!11|!12|!13|h|!18|990|/|!16|!17"),
        (b"gophers://h", 0, DEFAULT_PORT, "gophers|!11|!12|!13|h|!18|70|/|!16|!17"),
        (b"wss://h", 0, DEFAULT_PORT, "wss|!11|!12|!13|h|!18|443|/|!16|!17"),
        (b"http:///u:p@h:12/p?q=n#a", 0, 0, "http|u|p|!13|h|!18|12|/p|q=n|a"),
        (b"http:/u:p@h:12/p?q=n#a", 0, 0, "http|u|p|!13|h|!18|12|/p|q=n|a"),
        (b"https://h./", 0, 0, "https|!11|!12|!13|h.|!18|!15|/|!16|!17"),
        (b"http://u%aa:p%bb@h/%cc?%dd#%ee", 0, URLENCODE, "http|u%AA|p%BB|!13|h|!18|!15|/%CC|%DD|%EE"),
        (b"http://u%aa:p%bb@h/%cc?%dd#%ee", 0, 0, "http|u%aa|p%bb|!13|h|!18|!15|/%cc|%dd|%ee"),
        (b"h:", DEFAULT_SCHEME, 0, "https|!11|!12|!13|h|!18|!15|/|!16|!17"),
        (b"https://_%c0_", 0, URLENCODE, "https|!11|!12|!13|_%C0_|!18|!15|/|!16|!17"),
        (b"https://_%c0_", 0, 0, "https|!11|!12|!13|_\u{c0}_|!18|!15|/|!16|!17"),
        (
            "https://www.r\u{e4}ksm\u{f6}rg\u{e5}s.se".as_bytes(),
            0,
            PUNYCODE,
            "https|!11|!12|!13|www.xn--rksmrgs-5wao1o.se|!18|!15|/|!16|!17",
        ),
    ];
    for (input, parse_flags, show_flags, wanted) in rows {
        let url = Url::parse(input, *parse_flags).unwrap_or_else(|error| panic!("{}: {error}", text(input)));
        assert_eq!(parts(&url, *show_flags), *wanted, "{}", text(input));
    }
}

/// CVE-2016-8625: the letter that IDNA 2003 made another host of.
#[test]
fn a_sharp_s_is_no_double_s() {
    let url = Url::parse("https://faß.de/".as_bytes(), 0).unwrap();
    assert_eq!(url.host_ascii(), Ok(b"xn--fa-hia.de".to_vec()));
}

/// Characters that become ASCII must not end the host or start a port: the request would go to another host
/// than the one shown.
#[test]
fn an_international_host_stays_one_host() {
    for odd in [
        "\u{ff0f}", "\u{ff1a}", "\u{ff20}", "\u{ff03}", "\u{ff1f}", "\u{3000}", "\u{2100}", "\u{ff05}",
        "\u{2048}",
    ] {
        let url = Url::parse(format!("https://good.com{odd}evil.com/").as_bytes(), 0).unwrap();
        assert_eq!(url.host_ascii(), Err(UrlError::BadHostname), "{odd}");
        assert_eq!(url.get(Part::Url, PUNYCODE), Err(UrlError::BadHostname), "{odd}");
    }
    let ascii = |host: &str| Url::parse(format!("https://{host}/").as_bytes(), 0).unwrap().host_ascii();
    assert_eq!(ascii("\u{ff11}\u{ff12}\u{ff17}.\u{ff11}"), Ok(b"127.0.0.1".to_vec()));
    assert_eq!(ascii("www\u{ff0e}H\u{e4}.com"), Ok(b"www.xn--h-0fa.com".to_vec()));
    assert!(ascii("a..\u{e4}").is_err());
}

#[test]
fn punycode_becomes_unicode() {
    for label in ["", "www."] {
        let url = Url::parse(format!("https://{label}xn--rksmrgs-5wao1o.se").as_bytes(), 0).unwrap();
        let wanted = format!("{label}r\u{e4}ksm\u{f6}rg\u{e5}s.se");
        assert_eq!(url.get(Part::Host, PUNY2IDN), Ok(wanted.into_bytes()));
    }
}

#[test]
fn whole_urls_are_normalised() {
    let rows = [
        ("https://127.0.0.%31.", 0, 0, "https://127.0.0.1/"),
        ("https://127.0.0.0%78f%46.", 0, 0, "https://127.0.0.255/"),
        ("https://%30%31%37%37%2e%31", 0, 0, "https://127.0.0.1/"),
        ("https://[fe80%3A%3A20c%3A29ff%3Afe9c%3A409b]/", 0, 0, "https://[fe80::20c:29ff:fe9c:409b]/"),
        ("http://host:65535/", 0, 0, "http://host:65535/"),
        ("https://h/r\u{e4}k", URLENCODE, 0, "https://h/r%C3%A4k"),
        ("http://h/?a=&b=", 0, 0, "http://h/?a=&b="),
        ("http://h///foo", 0, 0, "http://h///foo"),
        ("http://@h/", 0, 0, "http://@h/"),
        ("http://user:@h/", 0, 0, "http://user:@h/"),
        ("https://127.1.0x", 0, 0, "https://127.1.0x/"),
        ("https://127.0x.1", 0, 0, "https://127.0x.1/"),
        ("https://127.1.:443", 0, 0, "https://127.0.0.1:443/"),
        ("https://127.1.a", 0, 0, "https://127.1.a/"),
        ("https://127.1.1.?x", 0, 0, "https://127.1.0.1/?x"),
        ("https://127.0.0.0xff.", 0, 0, "https://127.0.0.255/"),
        ("018.0.0.0", GUESS_SCHEME, 0, "http://018.0.0.0/"),
        ("08", GUESS_SCHEME, 0, "http://08/"),
        ("07.1", GUESS_SCHEME, 0, "http://7.0.0.1/"),
        ("0x7.1", GUESS_SCHEME, 0, "http://7.0.0.1/"),
        ("0x", GUESS_SCHEME, 0, "http://0x/"),
        ("0", GUESS_SCHEME, 0, "http://0.0.0.0/"),
        ("0xg", GUESS_SCHEME, 0, "http://0xg/"),
        ("https://0.0x0/", 0, 0, "https://0.0.0.0/"),
        ("https://16843009", 0, 0, "https://1.1.1.1/"),
        ("https://0111.02.0X3.", 0, 0, "https://73.2.0.3/"),
        ("https://192.0x0000A80001", 0, 0, "https://192.168.0.1/"),
        ("https://0xffffffff", 0, 0, "https://255.255.255.255/"),
        ("https://1.0x1000000", 0, 0, "https://1.0x1000000/"),
        ("https://1.2.3.256.", 0, 0, "https://1.2.3.256./"),
        ("https://1.2.3.4.5", 0, 0, "https://1.2.3.4.5/"),
        ("https://4294967296", 0, 0, "https://4294967296/"),
        ("https://127.-0.0.1", 0, 0, "https://127.-0.0.1/"),
        ("https://127.+0.0.1", 0, 0, "!21"),
        ("https://1.2.com.99", 0, 0, "https://1.2.com.99/"),
        ("https://e.com:000000000000000000000443/f", 0, NO_DEFAULT_PORT, "https://e.com/f"),
        ("https://e.com:00000000000/f", 0, NO_DEFAULT_PORT, "https://e.com:0/f"),
        ("example.com", GUESS_SCHEME, NO_GUESS_SCHEME, "example.com/"),
        ("http://u@e.com?#", 0, GET_EMPTY, "http://u@e.com/?#"),
        ("http://u@e.com?#", 0, 0, "http://u@e.com/"),
        ("https://[fe80:0:0:0:409b::]:80/m", 0, 0, "https://[fe80::409b:0:0:0]:80/m"),
        ("https://[FE80:0:A:0:409B:0:0:0]:80/m", 0, 0, "https://[fe80:0:a:0:409b::]:80/m"),
        ("https://[fe80::1%eth0]:1", 0, 0, "https://[fe80::1%25eth0]:1/"),
        ("https://r\u{e4}k.se/p?q#f", 0, PUNYCODE, "https://xn--rk-via.se/p?q#f"),
        ("about:80", DEFAULT_SCHEME, 0, "https://about:80/"),
        ("https://%41", 0, 0, "https://A/"),
        ("smtp.e.com/p", GUESS_SCHEME, 0, "smtp://smtp.e.com/p"),
        ("https.e.com/p", GUESS_SCHEME, 0, "http://https.e.com/p"),
        ("imap.com/p", GUESS_SCHEME, 0, "imap://imap.com/p"),
        ("pop3/p", GUESS_SCHEME, 0, "http://pop3/p"),
        ("HTTP://test/", 0, 0, "http://test/"),
        ("http://HO0_-st..~./", 0, 0, "http://HO0_-st..~./"),
        ("imap://u:p;w@h/f", 0, 0, "imap://u:p;w@h/f"),
        ("http://u:p;w@h/f", 0, 0, "http://u:p;w@h/f"),
        ("file:///f#moo", 0, 0, "file:///f#moo"),
        ("file:///f?q", 0, 0, "file:///f?q"),
        ("file:///", 0, 0, "file:///"),
        ("file:///.", 0, 0, "file:///"),
        ("file:///./", 0, 0, "file:///"),
        ("http://e.com/hello/../here", PATH_AS_IS, 0, "http://e.com/hello/../here"),
        ("http://e.com/hello/../here", 0, 0, "http://e.com/here"),
        ("tp://e.com/p", NON_SUPPORT_SCHEME, 0, "tp://e.com/p"),
        ("c-s://?x=1", NON_SUPPORT_SCHEME | NO_AUTHORITY, 0, "c-s:///?x=1"),
        ("c-s://h?x=1", NON_SUPPORT_SCHEME | NO_AUTHORITY, 0, "c-s://h/?x=1"),
        ("https://[fe80::1]:0/foo", 0, 0, "https://[fe80::1]:0/foo"),
        ("e.com/p", DEFAULT_SCHEME, 0, "https://e.com/p"),
        (
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA://h/",
            NON_SUPPORT_SCHEME,
            0,
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa://h/",
        ),
    ];
    for (input, parse_flags, show_flags, wanted) in rows {
        let got = Url::parse(input.as_bytes(), parse_flags).and_then(|url| url.get(Part::Url, show_flags));
        let got = got.map_or_else(|error| format!("!{}", error.number()), |url| text(&url));
        assert_eq!(got, wanted, "{input}");
    }
}

/// CVE-2022-27780 (`a%2Fb` as a host), CVE-2014-8150 (line ends).
#[test]
fn refused_urls() {
    use UrlError::*;
    let hosts_refused = [
        "test%test",
        "exam|ple.net",
        "exam{ple",
        "exam]ple",
        "exam\\ple",
        "exam$ple",
        "exam'ple",
        "exam\"ple",
        "exam^ple",
        "exam`ple",
        "exam*ple",
        "exam<ple",
        "exam=ple",
        "exam;ple",
        "a,b",
        "a&b",
        "a+b",
        "a(b",
        ".",
        "..",
        "...",
        "127.1..",
        "127.0.0.256..",
        "hej..",
        "a%40b",
        "a%21b",
        "a%3fb",
        "a%23b",
        "a%3ab",
        "a%09b",
        "a%2Fb",
        "%20",
        "%41%0D",
        "%25",
        "a@b@c",
    ];
    for host in hosts_refused {
        assert_eq!(Url::parse(format!("https://{host}/x").as_bytes(), 0), Err(BadHostname), "{host}");
    }
    let rows: &[(&[u8], u32, UrlError)] = &[
        (b"http://host/path/?\x01#\x02", URLENCODE, MalformedInput),
        (b"http://host/\x7f", URLENCODE, MalformedInput),
        (b"http://host/\0", URLENCODE, MalformedInput),
        (b"http://host/\r\nX: y", URLENCODE | ALLOW_SPACE, MalformedInput),
        (b"http:/%1f/host/", URLENCODE, BadHostname),
        (b"http://host:65536/", 0, BadPortNumber),
        (b"http://host:-1/", 0, BadPortNumber),
        (b"http:/@h:123a/", 0, BadPortNumber),
        (b"https://fe80:8080::1/", 0, BadPortNumber),
        (b"https://::1/", 0, NoHost),
        (b"https://:-1/", 0, NoHost),
        (b"https://[::%25f];80/", 0, BadPortNumber),
        (b"https://[fe80::1]-80/", 0, BadPortNumber),
        (b"http:\\\\a", DEFAULT_SCHEME, Backslash),
        (b"http://h:11\\test", 0, Backslash),
        (b"http://[fe80::1%]/", 0, BadIpv6),
        (b"http://[fe80::1%25]/", 0, BadIpv6),
        (b"http://[ab.be:1]/x", 0, BadIpv6),
        (b"http://[v1.fe80::abcd]/", 0, BadIpv6),
        (b"http://[::1", 0, BadIpv6),
        (b"http://a:b@/x", 0, NoHost),
        (b"http:///", 0, NoHost),
        (b"https://?q=1", 0, NoHost),
        (b"", 0, MalformedInput),
        (b" ", 0, MalformedInput),
        (b" http://h/", 0, MalformedInput),
        (b"https://a b?c", DEFAULT_SCHEME, MalformedInput),
        (b"htt ps://h/", NON_SUPPORT_SCHEME | ALLOW_SPACE, BadScheme),
        (b"1h://h", 0, BadScheme),
        (b"..://h", 0, BadScheme),
        (b"+ftp://h", 0, BadScheme),
        (b"e.com/p", 0, BadScheme),
        (b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA://h/", NON_SUPPORT_SCHEME, BadScheme),
        (b"file://host.e.com/Share", 0, BadFileUrl),
        (b"file://hello.html", 0, BadFileUrl),
        (b"file:/", 0, BadFileUrl),
        (b"file:./", 0, BadFileUrl),
        (b"file:foo/bar", 0, BadFileUrl),
        (b"file:?q", 0, BadFileUrl),
        (b"data:text/html;x", 0, UnsupportedScheme),
        (b"d:anything", 0, UnsupportedScheme),
        (b"tp://h", 0, UnsupportedScheme),
        (b"mailto:a@b?c", 0, UnsupportedScheme),
        (b"http:////u:p@h", 0, BadSlashes),
        (b"http:foo", 0, BadSlashes),
        (b"https://u@h", DISALLOW_USER, UserNotAllowed),
        (b"https://u:p@h", DISALLOW_USER, UserNotAllowed),
        (b"c-s://?x", NON_SUPPORT_SCHEME, NoHost),
    ];
    for (input, flags, wanted) in rows {
        assert_eq!(Url::parse(input, *flags), Err(*wanted), "{}", text(input));
    }
    assert_eq!(Url::parse(&vec![b'a'; super::INPUT_LIMIT + 1], GUESS_SCHEME), Err(MalformedInput));
}

#[test]
fn relative_references() {
    let rows = [
        ("https://e.com", "", 0, "https://e.com/"),
        ("file:///test?test#test", "", 0, "file:///test?test"),
        ("https://u:p@e.com:84/path?query#frag", "", 0, "https://u:p@e.com:84/path?query"),
        ("http://[::1]/path#frag", "", 0, "http://[::1]/path"),
        ("http://a.e.com/want/1", "//b.e.com/r/1", 0, "http://b.e.com/r/1"),
        (
            "http://h:46/want?uri=http://x/2?s/2",
            "data/2?c=http://y/?a/2",
            0,
            "http://h:46/data/2?c=http://y/?a/2",
        ),
        ("file:///basic#", "#yay", 0, "file:///basic#yay"),
        ("file:///basic?", "?yay", 0, "file:///basic?yay"),
        ("file:///basic?hello", "#f", 0, "file:///basic?hello#f"),
        ("http://e.org#without/ash", "/moo#f", 0, "http://e.org/moo#f"),
        ("http://e.org/", "../p/././../././../moo", 0, "http://e.org/moo"),
        ("http://e.org/", ".%2e/p/./%2e/.%2E/%2E/./%2e%2E/moo", 0, "http://e.org/moo"),
        ("http://e.org?bar/moo", "?weird", 0, "http://e.org/?weird"),
        ("http://e.org/#o", "?weird#moo", 0, "http://e.org/?weird#moo"),
        ("http://e.org?bar/moo#yes/path", "#new/slash", 0, "http://e.org/?bar/moo#new/slash"),
        ("http://e.org/foo?bar", "moo?hey#weird", 0, "http://e.org/moo?hey#weird"),
        ("http://e.org/", "//e.org/../p/../../", 0, "http://e.org/"),
        ("http://e.org/", "///e.org/../p/../../", 0, "http://e.org/"),
        ("http://e.org/foo/bar", ":23", 0, "http://e.org/foo/:23"),
        ("http://e.org/foo/bar", "\\x", 0, "http://e.org/foo/\\x"),
        ("http://e.org/foo/bar", "#", 0, "http://e.org/foo/bar#"),
        ("http://e.org/foo/bar", "?#", 0, "http://e.org/foo/bar?#"),
        ("http://h/path?#", "#new", 0, "http://h/path?#new"),
        ("http://h/path?#", "sub", 0, "http://h/sub"),
        (
            "http://e.com/please/../g/%TEST?f#h",
            "http://e.net/there/it/is/../../tes t c=/%TEST2? yes no",
            URLENCODE | ALLOW_SPACE,
            "http://e.net/there/tes%20t%20c=/%TEST2?+yes+no",
        ),
        ("http://e.com/a", "b c?d e", 0, "http://e.com/b%20c?d+e"),
        ("http://e.com/a", "\u{e4}", 0, "http://e.com/%C3%A4"),
        ("http://l.test?r=http://l.test:80?-3", "http://l.test:80?-1", URLENCODE, "http://l.test:80/?-1"),
        ("file://localhost/path?q#f", "foo#another", 0, "file:///foo#another"),
        ("http://u:f@e.com/path?q#f", "../../new", 0, "http://u:f@e.com/new"),
        ("http://u:f@e.com/path?q#f", "http://?hi", NO_AUTHORITY, "http:///?hi"),
        ("http://[fe80::1%25eth0]/a", "b", 0, "http://[fe80::1%25eth0]/b"),
    ];
    for (base, reference, flags, wanted) in rows {
        let mut url = Url::parse(base.as_bytes(), 0).unwrap();
        assert_eq!(url.set(Part::Url, Some(reference.as_bytes()), flags), Ok(()), "{base} {reference}");
        assert_eq!(text(&url.get(Part::Url, GET_EMPTY).unwrap()), wanted, "{base} {reference}");
    }
}

#[test]
fn setting_parts() {
    use Part::*;
    let long = "b".repeat(40);
    type Row<'a> = (&'a str, Vec<(Part, &'a str)>, u32, String);
    let rows: Vec<Row> = vec![
        (
            "https://h/",
            vec![(Path, "one /$!$&'()*+;=:@{}[]%")],
            URLENCODE,
            "https://h/one%20/$!$&'()*+;=:@{}[]%25".into(),
        ),
        ("", vec![(Scheme, "https"), (Path, "/"), (Url, "")], 0, "!3".into()),
        ("", vec![(Scheme, "https"), (Host, "h"), (Path, "/"), (Url, "")], 0, "https://h/".into()),
        ("https://h/", vec![(Path, "one\ntwo")], 0, "https://h/one\ntwo".into()),
        ("https://h/", vec![(Path, "one\ntwo")], URLENCODE, "https://h/one%0Atwo".into()),
        ("https://h/", vec![(Host, "%43url.se")], 0, "https://%43url.se/".into()),
        ("https://h/", vec![(Host, "%25url.se")], 0, "!21".into()),
        ("https://h/?p=v", vec![(Query, "")], APPENDQUERY | URLENCODE, "https://h/".into()),
        ("https://h/", vec![(Host, "")], 0, "!21".into()),
        ("https://h", vec![(Path, "get")], 0, "https://h/get".into()),
        ("https://h/", vec![(Scheme, "ftp+-.123")], NON_SUPPORT_SCHEME, "ftp+-.123://h/".into()),
        ("https://h/", vec![(Scheme, "1http")], NON_SUPPORT_SCHEME, "!27".into()),
        ("https://h/", vec![(Scheme, "https://")], NON_SUPPORT_SCHEME, "!27".into()),
        ("https://h/", vec![(Scheme, "foo")], 0, "!5".into()),
        ("https://h/", vec![(Scheme, &long)], NON_SUPPORT_SCHEME, format!("{long}://h/")),
        ("https://h/", vec![(Host, "a%2fmoo")], 0, "!21".into()),
        ("https://h/", vec![(Host, "te st")], URLENCODE, "!21".into()),
        ("https://h/", vec![(Host, "0xff")], 0, "https://0xff/".into()),
        ("https://h/", vec![(Query, "Al2c+LX")], URLENCODE, "https://h/?Al2c%2BLX".into()),
        (
            "https://u:p@h/#f",
            vec![(User, ""), (Password, ""), (Fragment, "")],
            URLENCODE,
            "https://h/".into(),
        ),
        ("https://u@h/", vec![(User, "")], 0, "https://@h/".into()),
        ("https://h:12/", vec![(Port, "")], 0, "!4".into()),
        ("https://h:12/", vec![(Port, "56 78")], 0, "!4".into()),
        ("https://h:12/", vec![(Port, "65536")], 0, "!4".into()),
        ("https://h:12/", vec![(Port, "0")], 0, "https://h:0/".into()),
        ("https://h/", vec![(Path, "%4A%4b%4c%")], 0, "https://h/%4A%4B%4C%".into()),
        (
            "",
            vec![(Scheme, "https"), (User, "   @:"), (Host, "f")],
            URLENCODE,
            "https://%20%20%20%40%3A@f/".into(),
        ),
        (
            "",
            vec![(Scheme, "https"), (Host, "f"), (Path, "/this /p")],
            URLENCODE,
            "https://f/this%20/p".into(),
        ),
        (
            "imap://u:s;opt@h/",
            vec![(Options, "up"), (Scheme, "imaps"), (Password, "pw")],
            0,
            "imaps://u:pw;up@h/".into(),
        ),
        ("imap://u:s;opt@h/", vec![(Scheme, "https")], 0, "https://u:s@h/".into()),
        ("file:///file#a", vec![(Scheme, "https"), (Host, "e")], 0, "https://e/file#a".into()),
        ("", vec![(Scheme, "file"), (Host, "127.0.0.1"), (Path, "/no"), (User, "a")], 0, "file:///no".into()),
        ("http://h:80", vec![(User, "foo"), (Port, "1922")], 0, "http://foo@h:1922/".into()),
        ("https://h/", vec![(Host, "[FE80::0:1%25eth0]")], 0, "https://[fe80::1%25eth0]/".into()),
        ("https://[::1%25a]/", vec![(Host, "h")], 0, "https://h/".into()),
        ("https://[::1%25a]/", vec![(ZoneId, "clown")], 0, "https://[::1%25clown]/".into()),
        ("https://h/", vec![(Host, "[FE80::0:1]")], 0, "https://[FE80::0:1]/".into()),
        ("https://h/?q#f", vec![(Fragment, "")], 0, "https://h/?q#".into()),
        ("https://h/?q#f", vec![(Fragment, ""), (Url, "x")], 0, "https://h/x".into()),
        ("https://h/?q#", vec![(Query, "")], 0, "https://h/".into()),
        ("https://h/?q", vec![(Query, "")], APPENDQUERY, "https://h/?q&".into()),
        ("https://h/%2f", vec![(Url, "?%aa#%bb")], 0, "https://h/%2f?%AA#%BB".into()),
        ("https://h/", vec![(Url, "//i%41/%2f")], 0, "https://iA/%2F".into()),
        ("https://h/", vec![(Url, "https://i/%2f?%aa#%bb%zz")], URLENCODE, "https://i/%2F?%AA#%BB%zz".into()),
        ("https://h/", vec![(Url, "https://i/%2f?%aa#%bb")], 0, "https://i/%2f?%aa#%bb".into()),
    ];
    for (base, steps, flags, wanted) in rows {
        let mut url = if base.is_empty() {
            super::Url::default()
        } else {
            super::Url::parse(base.as_bytes(), 0).unwrap()
        };
        let mut outcome = Ok(());
        for (part, value) in &steps {
            outcome = outcome.and_then(|()| url.set(*part, Some(value.as_bytes()), flags));
        }
        let got = match outcome.and_then(|()| url.get(Url, 0)) {
            Ok(whole) => text(&whole),
            Err(error) => format!("!{}", error.number()),
        };
        assert_eq!(got, wanted, "{base} {steps:?}");
    }
}

#[test]
fn appending_to_the_query() {
    let rows: [(&str, &[u8], u32, &str); 7] = [
        ("HTTP://test/?s", b"name=joe\x02", URLENCODE, "http://test/?s&name=joe%02"),
        ("HTTP://test/?size=2#f", b"name=joe=", URLENCODE, "http://test/?size=2&name=joe%3D#f"),
        ("HTTP://test/?size=2#f", b"name=joe doe", URLENCODE, "http://test/?size=2&name=joe+doe#f"),
        ("HTTP://test/", b"name=joe", 0, "http://test/?name=joe"),
        ("HTTP://test/?size=2", b"name=joe", 0, "http://test/?size=2&name=joe"),
        ("HTTP://test/?size=2&", b"name=joe", 0, "http://test/?size=2&name=joe"),
        ("HTTP://test/?size=2#f", b"name=joe", 0, "http://test/?size=2&name=joe#f"),
    ];
    for (base, value, flags, wanted) in rows {
        let mut url = Url::parse(base.as_bytes(), 0).unwrap();
        url.set(Part::Query, Some(value), flags | APPENDQUERY).unwrap();
        assert_eq!(text(&url.get(Part::Url, 0).unwrap()), wanted);
    }
}

#[test]
fn clearing_parts() {
    use Part::*;
    let mut url = super::Url::parse(b"imap://u:p;o@[::1%25z]:1/path?q#f", 0).unwrap();
    let shown = [Scheme, User, Password, Options, Host, ZoneId, Port, Query, Fragment];
    for part in shown {
        assert!(url.get(part, 0).is_ok(), "{part:?}");
        url.set(part, None, 0).unwrap();
        assert!(url.get(part, 0).is_err(), "{part:?}");
    }
    url.set(Path, None, 0).unwrap();
    assert_eq!(url.get(Path, 0), Ok(b"/".to_vec()));
    assert_eq!(url, super::Url::default());
}

#[test]
fn control_characters_do_not_decode() {
    let url = Url::parse(b"http://h/%0a?%01", 0).unwrap();
    assert_eq!(url.get(Part::Path, URLDECODE), Err(UrlError::UrlDecode));
    assert_eq!(url.get(Part::Query, URLDECODE), Err(UrlError::UrlDecode));
    assert_eq!(url.get(Part::Path, 0), Ok(b"/%0a".to_vec()));
}

#[test]
fn parts_of_a_url_for_a_request() {
    let url = Url::parse("HTTPS://us%40er:p%20w@R\u{e4}K.se/p?".as_bytes(), 0).unwrap();
    let origin = url.origin().unwrap();
    assert_eq!(
        (origin.scheme.as_str(), origin.host.as_slice(), origin.port),
        ("https", &b"xn--rk-via.se"[..], 443)
    );
    assert_eq!(url.path_and_query(), b"/p?");
    assert_eq!(url.user_decoded(crate::escape::Reject::Control), Ok(Some(b"us@er".to_vec())));
    let ipv6 = Url::parse(b"http://[::1]:81/", 0).unwrap();
    assert_eq!((ipv6.host_unbracketed(), ipv6.port_or_default()), (Some(&b"::1"[..]), Some(81)));
}

#[test]
fn numbers_and_texts() {
    assert_eq!(UrlError::Backslash.number(), 32);
    assert_eq!(UrlError::NoHost.message(), "No host present");
    assert_eq!(tables::UrlCode::from(UrlError::TooLarge).name(), "TOO_LARGE");
    assert_eq!(Part::from_number(10), Some(Part::ZoneId));
    assert_eq!(Part::from_number(11), None);
    assert_eq!(Part::from_number(-1), None);
}

/// A host's route is reused for URLs with the same authority; any other URL must compare different.
#[test]
fn an_authority_is_scheme_login_host_and_port() {
    let of = |text: &str| Url::parse(text.as_bytes(), 0).unwrap();
    let one = of("ftp://me:secret@host:21/a");
    assert!(one.same_authority(&of("ftp://me:secret@host:21/b/c?d#e")));
    for other in [
        "http://me:secret@host:21/a",
        "ftp://you:secret@host:21/a",
        "ftp://me:other@host:21/a",
        "ftp://me@host:21/a",
        "ftp://host:21/a",
        "ftp://me:secret@host2:21/a",
        "ftp://me:secret@host:22/a",
        "ftp://me:secret@host/a",
    ] {
        assert!(!one.same_authority(&of(other)), "{other}");
    }
    assert!(!of("http://[fe80::1%251]/").same_authority(&of("http://[fe80::1%252]/")), "a zone");
    assert!(!of("imap://me;AUTH=PLAIN@host/").same_authority(&of("imap://me;AUTH=LOGIN@host/")), "options");
}

#[test]
fn drives_are_for_systems_that_have_them() {
    for url in ["file:///c:/x", "file:///C|/x", "file:/d:", "file://localhost/e:/"] {
        let parsed = Url::parse(url.as_bytes(), 0);
        assert_eq!(parsed.err(), (!super::parse::DRIVES).then_some(UrlError::BadFileUrl), "{url}");
    }
    assert_eq!(Url::parse(b"file://c:/x", 0).err(), (!super::parse::DRIVES).then_some(UrlError::BadFileUrl));
    for url in ["file://server/share", "file:c:/x"] {
        assert_eq!(Url::parse(url.as_bytes(), 0).err(), Some(UrlError::BadFileUrl), "{url}");
    }
}

#[test]
fn a_url_is_compared_with_a_text_as_it_is_written() {
    let texts = [
        "http://host/",
        "http://host:80/a?b#c",
        "https://me:secret@host.test:8443/a%20b?",
        "http://[fe80::1%25eth0]/x",
        "imap://me;AUTH=PLAIN@host/box",
        "file:///etc/passwd",
        "http://b\u{fc}cher.test/",
    ];
    for text in texts {
        let url = Url::parse(text.as_bytes(), GUESS_SCHEME).unwrap();
        let whole = url.get(Part::Url, GET_EMPTY).unwrap();
        assert!(url.is_written(&whole, GET_EMPTY), "{text}");
        assert!(!url.is_written(&whole[..whole.len() - 1], GET_EMPTY), "{text}, cut");
        assert!(!url.is_written(&[&whole[..], b"x"].concat(), GET_EMPTY), "{text}, and more");
    }
}
