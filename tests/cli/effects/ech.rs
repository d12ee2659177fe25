//! Encrypted Client Hello with NSS, the only server of Debian's with it, and with Go, which reports what it
//! saw; expected values are those of curl 8.21 with OpenSSL 4.0.

use super::{Judge, Ran, curl_in};
use crate::empty_folder;
use testkit::base64;
use testkit::certs::Authority;
use testkit::dns::{A, DnsAnswer, HTTPS, NameServer, address};
use testkit::launch::{COVER, EchGo, EchServer, Nginx};
use testkit::tap::Tap;

struct Site {
    server: EchServer,
    authority: Authority,
}

impl Site {
    fn start() -> Site {
        let authority = Authority::new();
        let server = EchServer::start(&authority.for_names(&["localhost", COVER])).unwrap();
        Site { server, authority }
    }

    fn ask(&self, words: &[&str]) -> Ran {
        let folder = empty_folder();
        std::fs::write(folder.join("ca.pem"), self.authority.ca_pem()).unwrap();
        let url = format!("https://localhost:{}/", self.server.port);
        curl_in(folder, &[&["--cacert", "ca.pem", "-v"], words, &[&url]].concat())
    }
}

// covers: --ech, CURLOPT_ECH
#[test]
fn a_server_that_has_the_key() {
    let site = Site::start();
    let list = format!("ecl:{}", site.server.configs);
    for mode in [&["--ech", "true"][..], &["--ech", "hard"], &[]] {
        let ran = site.ask(&[mode, &["--ech", &list]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains("GET / HTTP/1.1"), "{}", ran.stdout);
        assert!(ran.stderr.contains("ECH: ECHConfig from command line"), "{}", ran.stderr);
        let result = format!("ECH: result: status is success, inner is localhost, outer is {COVER}");
        assert!(ran.stderr.contains(&result), "{}", ran.stderr);
    }
    let ran = site.ask(&["--ech", "hard", "--ech", &list, "--ech", "pn:other.example"]);
    assert_eq!(ran.code, 0, "another outer name: {}", ran.stderr);
    assert!(ran.stderr.contains("ECH: inner: 'localhost', outer: 'other.example'"), "{}", ran.stderr);
    let file = folder_file(&site.server.configs);
    let ran = site.ask(&["--ech", &format!("ecl:@{}", file.display())]);
    assert_eq!(ran.code, 0, "from a file: {}", ran.stderr);
}

fn folder_file(text: &str) -> std::path::PathBuf {
    let file = empty_folder().join("list");
    std::fs::write(&file, format!("{text}\n")).unwrap();
    file
}

#[test]
fn a_server_with_another_key() {
    let site = Site::start();
    let list = format!("ecl:{}", site.server.foreign);
    for mode in ["true", "hard"] {
        let ran = site.ask(&["--ech", mode, "--ech", &list]);
        assert_eq!(ran.code, 101, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("ECH required: error:0A0001A8:SSL routines::ech required"),
            "{}",
            ran.stderr
        );
    }
    let ran = site.ask(&["--ech", "grease"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("ECH: will GREASE ClientHello"), "{}", ran.stderr);
}

#[test]
fn a_server_that_knows_nothing_of_it() {
    let judge = Judge::start(&[]);
    let site = Site::start(); // only for its list
    let list = format!("ecl:{}", site.server.configs);
    let rows: &[(i32, &[&str])] = &[
        (0, &["--ech", "false"]),
        (0, &["--ech", "grease"]),
        (0, &["--ech", "grease", "--ech", &list]),
        (0, &["--ech", "grease", "--tls-max", "1.2"]),
        (0, &["--ech", "true"]),
        (0, &["--ech", "true", "--ech", "pn:other.example"]),
        (0, &["--ech", "true", "--ech", "ecl:notbase64"]),
        (0, &["--ech", "true", "--ech", "ecl:AAA="]),
        (35, &["--ech", "hard"]),
        (35, &["--ech", "pn:other.example"]),
        (35, &["--ech", "false", "--ech", "pn:other.example"]),
        (35, &["--ech", "ecl:notbase64"]),
        (35, &["--ech", "hard", "--ech", "ecl:notbase64"]),
        (35, &["--ech", &list, "--tls-max", "1.2"]),
        (43, &["--ech", "bogus"]),
        // It has no certificate for the outer name, which would authorise its refusal.
        (60, &["--ech", &list]),
        (101, &["--ech", &list, "-k"]),
        (101, &["--ech", "true", "--ech", &list, "-k"]),
    ];
    for (code, words) in rows {
        let ran = judge.ask(&[&["--cacert", "ca.pem"], *words].concat());
        assert_eq!(ran.code, *code, "{words:?}: {}", ran.stderr);
    }
}

const SECRET: &str = "secret.example";

/// A server in Go, the wire to it, and a name server that has published this list for it.
struct Published {
    server: EchGo,
    tap: Tap,
    dns: NameServer,
    authority: Authority,
}

impl Published {
    fn start(list: impl Fn(&EchGo) -> Option<Vec<u8>>) -> Published {
        let authority = Authority::new();
        let server = EchGo::start(&authority.for_names(&[SECRET, COVER])).unwrap();
        let tap = Tap::to(([127, 0, 0, 1], server.port).into()).unwrap();
        let record = list(&server).map(|list| record(&list));
        let dns = NameServer::start(move |asked| match (asked.kind, &record) {
            (A, _) => address(A, "127.0.0.1"),
            (HTTPS, Some(record)) => DnsAnswer::Records(vec![("", HTTPS, record.clone())]),
            _ => DnsAnswer::Records(Vec::new()),
        });
        Published { server, tap, dns, authority }
    }

    /// Returns the result, and whether the secret and the outer name were visible on the wire.
    fn ask(&self, words: &[&str]) -> (Ran, bool, bool) {
        let ran = self.ask_at(self.tap.port(), words);
        let sent = self.tap.take();
        let shows = |name: &str| sent.windows(name.len()).any(|at| at == name.as_bytes());
        (ran, shows(SECRET), shows(COVER))
    }

    fn ask_at(&self, port: u16, words: &[&str]) -> Ran {
        let folder = empty_folder();
        std::fs::write(folder.join("ca.pem"), self.authority.ca_pem()).unwrap();
        let (dns, url) = (self.dns.address().to_string(), format!("https://{SECRET}:{port}/"));
        let flags = ["--cacert", "ca.pem", "-v", "--dns-servers", &dns, &url];
        curl_in(folder, &[words, &flags].concat())
    }
}

/// Returns the data of an HTTPS record for the queried name, with an ECHConfigList (RFC 9460, section 2.2;
/// RFC 9848).
fn record(list: &[u8]) -> Vec<u8> {
    [&[0, 1, 0, 0, 5][..], &(list.len() as u16).to_be_bytes(), list].concat()
}

#[test]
fn a_published_configuration_keeps_the_name_off_the_wire() {
    let site = Published::start(|server| Some(server.configs.clone()));
    for mode in ["true", "hard"] {
        let (ran, secret, cover) = site.ask(&["--ech", mode]);
        assert_eq!((ran.code, secret, cover), (0, false, true), "{mode}: {}", ran.stderr);
        assert_eq!(ran.stdout, format!("name {SECRET}, encrypted true\n"));
        assert!(ran.stderr.contains("ECH: ECHConfig from HTTPS RR"), "{}", ran.stderr);
        let result = format!("ECH: result: status is success, inner is {SECRET}, outer is {COVER}");
        assert!(ran.stderr.contains(&result), "{}", ran.stderr);
    }
    let (ran, secret, cover) = site.ask(&["--ech", "hard", "--ech", "pn:other.example"]);
    assert_eq!((ran.code, secret, cover), (0, false, false), "another outer name: {}", ran.stderr);
    for mode in ["false", "grease"] {
        let (ran, secret, cover) = site.ask(&["--ech", mode]);
        assert_eq!((ran.code, secret, cover), (0, true, false), "{mode}: {}", ran.stderr);
        assert_eq!(ran.stdout, format!("name {SECRET}, encrypted false\n"));
    }
}

#[test]
fn without_a_published_configuration_only_hard_fails() {
    let site = Published::start(|_| None);
    let (ran, ..) = site.ask(&["--ech", "true"]);
    assert_eq!((ran.code, ran.stdout), (0, format!("name {SECRET}, encrypted false\n")));
    let (ran, secret, _) = site.ask(&["--ech", "hard"]);
    assert_eq!((ran.code, secret), (35, false), "{}", ran.stderr);
}

/// By QUIC as by TCP: a published configuration, a given one, and a key that the server lacks.
// covers: --ech, --http3-only
#[test]
fn ech_works_over_quic() {
    let published = |list: fn(&EchGo) -> Vec<u8>| {
        let site = Published::start(move |server| Some(list(server)));
        move |words: &[&str]| site.ask_at(site.server.port, &[&["--http3-only"], words].concat())
    };
    let right = published(|server| server.configs.clone());
    for mode in ["true", "hard"] {
        let ran = right(&["--ech", mode]);
        assert_eq!((ran.code, ran.stdout), (0, format!("name {SECRET}, encrypted true\n")), "{}", ran.stderr);
        let result = format!("ECH: result: status is success, inner is {SECRET}, outer is {COVER}");
        assert!(ran.stderr.contains(&result) && ran.stderr.contains("* using HTTP/3\n"), "{}", ran.stderr);
    }
    let ran = right(&["--ech", "hard", "--ech", "pn:other.example"]);
    assert_eq!(ran.stdout, format!("name {SECRET}, encrypted true\n"), "another outer name: {}", ran.stderr);
    for mode in ["false", "grease"] {
        let ran = right(&["--ech", mode]);
        assert_eq!(ran.stdout, format!("name {SECRET}, encrypted false\n"), "{mode}: {}", ran.stderr);
    }
    let wrong = published(|server| server.foreign.clone());
    let ran = wrong(&["--ech", "hard"]);
    assert_eq!(ran.code, 101, "{}", ran.stderr);
    let retry = ran.stderr.lines().find_map(|line| line.strip_prefix("* ECH: retry_configs "));
    let retry = retry.unwrap_or_else(|| panic!("{}", ran.stderr));
    let ran = wrong(&["--ech", &format!("ecl:{retry}")]);
    assert_eq!((ran.code, ran.stdout), (0, format!("name {SECRET}, encrypted true\n")), "{}", ran.stderr);
}

/// As in curl the user has to retry, with the configuration that the server has sent.
#[test]
fn a_server_that_wants_another_key_says_so() {
    let site = Published::start(|server| Some(server.foreign.clone()));
    for mode in ["true", "hard"] {
        let (ran, secret, _) = site.ask(&["--ech", mode]);
        assert_eq!((ran.code, secret), (101, false), "{}", ran.stderr);
        for line in [
            format!("* ECH: retry_configs {}\n", base64::encode(&site.server.configs)),
            format!("* ECH: retry_configs for {SECRET} from {COVER}, 424 -106\n"),
        ] {
            assert!(ran.stderr.contains(&line), "{line}: {}", ran.stderr);
        }
    }
    let (ran, ..) = site.ask(&["--ech", &format!("ecl:{}", base64::encode(&site.server.configs))]);
    assert_eq!((ran.code, ran.stdout), (0, format!("name {SECRET}, encrypted true\n")));
    let judge = Judge::start(&[]);
    let list = format!("ecl:{}", base64::encode(&site.server.configs));
    let ran = judge.ask(&["-k", "-v", "--ech", &list]);
    assert_eq!(ran.code, 101);
    assert!(ran.stderr.contains("* ECH: no retry_configs (rv = 1)\n"), "{}", ran.stderr);
}

#[test]
fn nginx_ignores_a_grease_extension() {
    let authority = Authority::new();
    let nginx = Nginx::start(&authority.good(), &[10]).unwrap();
    let folder = empty_folder();
    std::fs::write(folder.join("ca.pem"), authority.ca_pem()).unwrap();
    let ran = curl_in(folder, &["--cacert", "ca.pem", "--ech", "grease", &nginx.https("/bytes-10")]);
    assert_eq!((ran.code, ran.stdout.len()), (0, 10), "{}", ran.stderr);
}
