//! Encrypted Client Hello with NSS, which alone of Debian's servers knows it; what curl 8.21 with OpenSSL 4.0 ends with.

use super::{Judge, Ran, curl_in};
use crate::empty_folder;
use testkit::certs::Authority;
use testkit::launch::{COVER, EchServer};

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
    let site = Site::start(); // for its list alone
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
        // It has no certificate for the outer name, which is what shows that it may refuse.
        (60, &["--ech", &list]),
        (101, &["--ech", &list, "-k"]),
        (101, &["--ech", "true", "--ech", &list, "-k"]),
    ];
    for (code, words) in rows {
        let ran = judge.ask(&[&["--cacert", "ca.pem"], *words].concat());
        assert_eq!(ran.code, *code, "{words:?}: {}", ran.stderr);
    }
}
