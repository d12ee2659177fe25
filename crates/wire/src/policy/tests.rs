//! Tables of policies, questions and answers.

use super::*;

fn policy(rules: &str) -> Policy {
    let policy = Policy::parse("p", format!("version 1\n{rules}\n").as_bytes());
    assert_eq!(policy.fault(), None, "{rules}");
    policy
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn is_allowed(rules: &str, question: Question<'_>) -> bool {
    policy(rules).judge(question).is_ok()
}

#[test]
fn without_rules_http_to_public_addresses_is_allowed() {
    use Question::{AbstractUnix, Address, DataPort, Host, LookupByProxy, Port, Proxy, Scheme, Unix};
    let rows = [
        (Scheme("http"), true),
        (Scheme("HTTPS"), true),
        (Scheme("ftp"), false),
        (Scheme("file"), false),
        (Scheme("gopher"), false),
        (Scheme(""), false),
        (Host("any.test"), true),
        (Port(22), true),
        (DataPort(1024), true),
        (DataPort(1023), false),
        (Address(ip("8.8.8.8")), true),
        (Address(ip("127.0.0.1")), false),
        (Proxy { host: "p.test", port: 3128 }, false),
        (LookupByProxy("a.test"), false),
        (Unix(b"/run/x"), false),
        (AbstractUnix(b"x"), false),
    ];
    for (question, wanted) in rows {
        assert_eq!(is_allowed("", question), wanted, "{question:?}");
    }
}

#[test]
fn addresses_that_are_not_public() {
    // IANA's registries of special-purpose addresses, and forms that hold an IPv4 address.
    let refused = "0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.255 \
        169.254.169.254 \
        172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 \
        198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 \
        :: ::1 ::2 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 \
        ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 \
        64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::8.8.8.8 100::1 2001::1 2001:0:808:808:: 2001:db8::1 \
        2001:2::1 2002:7f00:1:: 2002:808:808:: 3fff::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 4000::1 \
        2606:4700::5efe:127.0.0.1 2606:4700::200:5efe:10.0.0.1";
    for address in refused.split_whitespace() {
        assert!(!is_allowed("", Question::Address(ip(address))), "{address}");
        assert!(is_allowed("allow address *", Question::Address(ip(address))), "{address}");
    }
    let allowed = "1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 \
        169.253.255.255 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 198.17.255.255 198.20.0.0 \
        223.255.255.255 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2606:4700::1111 2a00::1 2001:4860::8888 \
        2606:4700::5efe:8.8.8.8";
    for address in allowed.split_whitespace() {
        assert!(is_allowed("", Question::Address(ip(address))), "{address}");
    }
}

#[test]
fn the_first_rule_that_matches_decides() {
    use Question::{DataPort, Host, Port, Scheme};
    let rows = [
        ("allow scheme ftp", Scheme("FTP"), true),
        ("allow scheme ftp", Scheme("http"), false),
        ("deny scheme http", Scheme("https"), true),
        ("deny scheme http", Scheme("http"), false),
        ("allow scheme *", Scheme("gopher"), true),
        ("allow host a.test", Host("A.Test."), true),
        ("allow host a.test", Host("b.a.test"), false),
        ("allow host *.a.test", Host("b.a.test"), true),
        ("allow host *.a.test", Host("a.test"), false),
        ("allow host *.a.test", Host("xa.test"), false),
        ("allow host *.a.test", Host(".a.test"), false),
        ("deny host x.a.test\nallow host *.a.test", Host("x.a.test"), false),
        ("deny host x.a.test\nallow host *.a.test", Host("y.a.test"), true),
        ("allow host *.a.test\ndeny host x.a.test", Host("x.a.test"), true),
        ("allow host bücher.example", Host("xn--bcher-kva.example"), true),
        ("deny host 127.0.0.1", Host("127.0.0.1"), false),
        ("deny host 0x7f.1", Host("127.0.0.1"), false),
        ("deny host 127.0.0.1", Host("0177.0.0.1"), false),
        ("deny host 127.0.0.1", Host("2130706433"), false),
        ("deny host 127.0.0.1", Host("::ffff:127.0.0.1"), false),
        ("deny host ::1", Host("0:0::1"), false),
        ("deny host [::1]", Host("::1"), false),
        ("deny host fe80::1", Host("fe80::1%eth0"), false),
        ("allow port 443 8000-8002", Port(443), true),
        ("allow port 443 8000-8002", Port(8002), true),
        ("allow port 443 8000-8002", Port(8003), false),
        ("deny port 22", Port(80), true),
        ("deny port 22", Port(22), false),
        ("allow port 21", DataPort(40_000), true),
        ("allow port 21", DataPort(22), false),
        ("deny port 6379", DataPort(6379), false),
    ];
    for (rules, question, wanted) in rows {
        assert_eq!(is_allowed(rules, question), wanted, "{rules}: {question:?}");
    }
}

#[test]
fn networks_proxies_and_sockets_are_compared() {
    use Question::{Address, LookupByProxy, Proxy};
    let by = |host, port| Proxy { host, port };
    let rows = [
        ("allow address 10.1.0.0/16", Address(ip("10.1.2.3")), true),
        ("allow address 10.1.0.0/16", Address(ip("::ffff:10.1.2.3")), true),
        ("allow address 10.1.0.0/16", Address(ip("10.2.0.0")), false),
        ("allow address 10.1.0.0/16", Address(ip("8.8.8.8")), false),
        ("allow address 10.1.0.0/16 public", Address(ip("8.8.8.8")), true),
        ("allow address 10.1.0.0/16 public", Address(ip("64:ff9b::10.1.2.3")), true),
        ("allow address 10.1.0.0/16 public", Address(ip("64:ff9b::10.2.2.3")), false),
        ("deny address 8.8.8.0/24", Address(ip("8.8.8.8")), false),
        ("deny address 8.8.8.0/24", Address(ip("64:ff9b::8.8.8.8")), false),
        ("deny address 8.8.8.0/24", Address(ip("127.0.0.1")), false),
        ("deny address 8.8.8.0/24", Address(ip("9.9.9.9")), true),
        ("deny address 10.0.0.0/8\nallow address *", Address(ip("2002:a00:1::")), false),
        ("deny address 10.0.0.0/8\nallow address *", Address(ip("2001:0:a00:1::")), false),
        ("deny address 10.0.0.0/8\nallow address *", Address(ip("2001::f5ff:fffe")), false),
        ("deny address 10.0.0.0/8\nallow address *", Address(ip("64:ff9b:1:a00:0:100::")), false),
        ("allow address loopback", Address(ip("127.8.9.1")), true),
        ("allow address loopback", Address(ip("::1")), true),
        ("allow address private", Address(ip("192.168.1.1")), true),
        ("allow address private", Address(ip("fd00::1")), true),
        ("allow address link-local", Address(ip("fe80::1")), true),
        ("allow address link-local", Address(ip("169.254.169.254")), true),
        ("allow address 0.0.0.0/0", Address(ip("10.0.0.1")), true),
        ("allow address 0.0.0.0/0", Address(ip("::1")), false),
        ("allow address 2001:db8::/32", Address(ip("2001:db8:1::")), true),
        ("allow address 2001:db8::1", Address(ip("2001:db8::2")), false),
        ("allow proxy p.test:3128", by("P.TEST", 3128), true),
        ("allow proxy p.test:3128", by("p.test", 3129), false),
        ("allow proxy [::1]:1080", by("::1", 1080), true),
        ("allow proxy 127.0.0.1:*", by("127.1", 1), true),
        ("allow lookup-by-proxy *.a.test", LookupByProxy("x.a.test"), true),
        ("allow lookup-by-proxy *.a.test", LookupByProxy("x.b.test"), false),
        ("allow unix /run/x @y", Question::Unix(b"/run/x"), true),
        ("allow unix /run/x @y", Question::Unix(b"/run//x"), false),
        ("allow unix /run/x @y", Question::AbstractUnix(b"y"), true),
        ("allow unix /run/x @y", Question::AbstractUnix(b"/run/x"), false),
        ("allow unix /run/x @y", Question::Unix(b"@y"), false),
    ];
    for (rules, question, wanted) in rows {
        assert_eq!(is_allowed(rules, question), wanted, "{rules}: {question:?}");
    }
}

#[test]
fn refusals_name_their_rule() {
    use Question::{Address, Host, LookupByProxy, Port, Scheme};
    let rows = [
        (
            "# a comment\ndeny  host\t*.internal # all of them",
            Host("x.internal"),
            "policy p refuses host \"x.internal\": line 3, \"deny host *.internal\"",
        ),
        ("allow port 443", Port(22), "policy p refuses port 22: no \"allow port\" line covers it"),
        ("", Scheme("dict"), "policy p refuses scheme \"dict\": no \"allow scheme\" line covers it"),
        (
            "",
            Address(ip("64:ff9b::7f00:1")),
            "policy p refuses address 127.0.0.1 (in 64:ff9b::7f00:1): it is not public, and no \"allow \
             address\" line covers it",
        ),
        (
            "",
            LookupByProxy("a\n"),
            "policy p refuses host \"a\\n\", whose address only the proxy sees: no \"allow lookup-by-proxy\" \
             line covers it",
        ),
    ];
    for (rules, question, wanted) in rows {
        assert_eq!(policy(rules).judge(question).unwrap_err().to_string(), wanted);
    }
}

#[test]
fn refusals_name_their_check() {
    let free = Guard { own: Some(Arc::new(policy(""))), ..Guard::default() };
    let socket = |guard: &Guard, text: &str| guard.judge_socket(text.parse().unwrap());
    let rows = [
        (free.judge(Question::Scheme("dict")), Check::Url),
        (free.judge(Question::Proxy { host: "p", port: 80 }), Check::Proxy),
        (free.judge(Question::Unix(b"/run/x")), Check::UnixSocket),
        (free.judge_behind_proxy("host.test"), Check::LookupByProxy),
        (free.judge_behind_proxy("127.1"), Check::Address),
        (free.judge(Question::DataPort(22)), Check::DataConnection),
        (socket(&free, "127.0.0.1:80"), Check::Address),
        (socket(&free.for_data(), "127.0.0.1:80"), Check::DataConnection),
        (socket(&free.for_data(), "192.88.98.1:22"), Check::DataConnection),
    ];
    for (number, (verdict, wanted)) in rows.into_iter().enumerate() {
        let refusal = verdict.unwrap_err();
        assert_eq!((refusal.check, &*refusal.policy), (wanted, "p"), "row {number}: {refusal}");
    }
    let deny = Guard { own: Some(Arc::new(policy("deny port 80"))), ..Guard::default() };
    let refusal = socket(&deny, "192.88.98.1:80").unwrap_err();
    assert_eq!((refusal.check, &*refusal.subject), (Check::Address, "port 80"));
    assert_eq!(refusal.at(Check::AltSvc).rule, "line 2, \"deny port 80\"");
}

#[test]
fn a_file_with_an_error_refuses_everything() {
    let rows: [(&[u8], &str); 31] = [
        (b"", "it is empty; a policy begins with \"version 1\""),
        (b"# nothing\n", "it is empty; a policy begins with \"version 1\""),
        (b"allow host *", "line 1: a policy begins with \"version 1\", not with \"allow host *\""),
        (b"version 2", "line 1: a policy begins with \"version 1\", not with \"version 2\""),
        (b"version 1\n\xff", "it is not UTF-8 text"),
        (b"version 1\nallow host a\0b", "line 2: it has a control character"),
        (b"version 1\nallow", "line 2: \"allow\" is not a statement"),
        (b"version 1\npermit host a.test", "line 2: \"permit host a.test\" is not a statement"),
        (b"version 1\nversion 1", "line 2: \"version 1\" is not a statement"),
        (b"version 1\nallow host", "line 2: it names no value"),
        (b"version 1\nallow hosts a.test", "line 2: \"hosts\" is none of scheme, host"),
        (b"version 1\nallow scheme htps", "line 2: \"htps\" is not a scheme"),
        (b"version 1\nallow host a*.test", "line 2: \"a*.test\" is not a host"),
        (b"version 1\nallow host a.test:80", "line 2: \"a.test:80\" is not a host"),
        (b"version 1\nallow host http://a.test", "line 2: \"http://a.test\" is not a host"),
        (b"version 1\nallow host *.", "line 2: \"*.\" is not a host"),
        (b"version 1\nallow host *.127.0.0.1", "line 2: \"*.127.0.0.1\" is not a host"),
        (b"version 1\nallow port 65536", "line 2: \"65536\" is not a port"),
        (b"version 1\nallow port 90-80", "line 2: \"90-80\" is not a port"),
        (b"version 1\nallow port +80", "line 2: \"+80\" is not a port"),
        (b"version 1\nallow address 10.0.0.1/8", "line 2: \"10.0.0.1/8\" has bits beyond its prefix"),
        (b"version 1\nallow address 10.0.0.0/33", "line 2: \"10.0.0.0/33\" is not an address"),
        (b"version 1\nallow address 10.0.0.0/", "line 2: \"10.0.0.0/\" is not an address"),
        (b"version 1\nallow address 010.0.0.1", "line 2: \"010.0.0.1\" is not an address"),
        (b"version 1\ndeny address ::ffff:10.0.0.0/104", "holds IPv4 addresses: write them as IPv4"),
        (b"version 1\nallow proxy http://p:80", "is not HOST:PORT of a proxy; it has no scheme"),
        (b"version 1\nallow proxy p", "line 2: \"p\" is not HOST:PORT of a proxy"),
        (b"version 1\ndeny unix /run/x", "line 2: unix sockets can only be allowed"),
        (b"version 1\nallow unix run/x", "line 2: \"run/x\" is not the absolute path"),
        (b"version 1\ntls min 1.1", "line 2: the least TLS version is 1.2 or 1.3, not \"1.1\""),
        (b"version 1\npin a.test sha256//AAAA", "line 2: \"sha256//AAAA\" is not sha256//"),
    ];
    for (text, wanted) in rows {
        let policy = Policy::parse("p", text);
        let fault = policy.fault().unwrap_or_default();
        assert!(fault.contains(wanted), "{}: {fault}", text.escape_ascii());
        let refusal = policy.judge(Question::Scheme("https")).unwrap_err().to_string();
        assert!(refusal.starts_with("policy p refuses every transfer: "), "{refusal}");
    }
    let large = Policy::parse("p", &vec![b'#'; MAX_SIZE + 1]);
    assert!(large.fault().unwrap().contains("larger than 1048576 bytes"));
    assert!(Policy::unreadable("p", "gone").judge(Question::Port(443)).is_err());
}

#[test]
fn tls_has_a_least_version_and_pins() {
    let hash = |c: &str| format!("sha256//{}=", c.repeat(43));
    let (one, two) = (hash("A"), hash("E"));
    let policy = policy(&format!("tls min 1.3\npin *.a.test {one} {two}\npin x.a.test {two}"));
    assert_eq!(policy.least_tls(), Some(LeastTls::Tls13));
    let pins = |host: &str| policy.pins(host).map(<[String]>::to_vec).collect::<Vec<_>>();
    assert_eq!(pins("X.a.test."), [vec![one.clone(), two.clone()], vec![two.clone()]]);
    assert_eq!(pins("a.test").len(), 0);
    assert_eq!(Policy::parse("p", b"").least_tls(), None);
}

#[test]
fn both_policies_must_allow() {
    let guard = |process: Option<&str>, own: Option<&str>| Guard {
        process: process.map(|rules| Arc::new(policy(rules))),
        own: own.map(|rules| Arc::new(policy(rules))),
        of_data: false,
    };
    let port = |guard: &Guard, port| guard.judge(Question::Port(port)).is_ok();
    assert!(guard(None, None).is_free() && port(&guard(None, None), 22));
    let both = guard(Some("allow port 80 443"), Some("allow port 443 8080"));
    assert!(!both.is_free());
    assert_eq!([80, 443, 8080].map(|number| port(&both, number)), [false, true, false]);
    assert_eq!(guard(Some("allow port 80"), None), guard(Some("allow port 80"), None));
    assert_ne!(guard(Some("allow port 80"), None), guard(None, Some("allow port 80")));
}

#[test]
fn sockets_are_judged_by_address_and_port() {
    let guard = Guard { own: Some(Arc::new(policy("allow port 21"))), ..Guard::default() };
    let allowed = |guard: &Guard, address: &str| guard.judge_socket(address.parse().unwrap()).is_ok();
    let rows = [
        ("8.8.8.8:21", true, true),
        ("8.8.8.8:22", false, false),
        ("8.8.8.8:40000", false, true),
        ("127.0.0.1:21", false, false),
        ("[::ffff:127.0.0.1]:40000", false, false),
    ];
    for (address, wanted, of_data) in rows {
        assert_eq!(allowed(&guard, address), wanted, "{address}");
        assert_eq!(allowed(&guard.for_data(), address), of_data, "{address}");
    }
}

#[test]
fn addresses_behind_a_proxy_are_no_names() {
    let guard = Guard { own: Some(Arc::new(policy("allow lookup-by-proxy *"))), ..Guard::default() };
    let rows = [
        ("a.test", true),
        ("8.8.8.8", true),
        ("127.0.0.1", false),
        ("127.1", false),
        ("0x7f000001", false),
        ("2130706433", false),
        ("[::1]", false),
        ("::ffff:127.0.0.1", false),
    ];
    for (host, wanted) in rows {
        assert_eq!(guard.judge_behind_proxy(host).is_ok(), wanted, "{host}");
    }
}
