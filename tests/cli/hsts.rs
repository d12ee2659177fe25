//! HSTS over the transfers of one command line (CURLOPT_HSTS): they share what they learn.

use testkit::certs::{Authority, Leaf};
use testkit::http::{Config, HttpServer, Request, Response};

use super::{empty_folder, run, tool};

/// A server that requires TLS permanently, and the file with its authority.
fn strict(authority: &Authority, leaf: &Leaf, folder: &std::path::Path) -> (HttpServer, String) {
    let answer = |_: &Request| Some(Response::ok("x").with("Strict-Transport-Security", "max-age=600"));
    let tls = Some(leaf.server_config().unwrap());
    let config = Config { tls, handler: Some(std::sync::Arc::new(answer)), ..Config::default() };
    let ca = folder.join("ca.pem");
    std::fs::write(&ca, authority.ca_pem()).unwrap();
    (HttpServer::start(config).unwrap(), ca.to_str().unwrap().to_owned())
}

/// CVE-2023-23914: with http forbidden, the second URL fails as unsupported (1) unless it has become https
/// (7: the port is closed).
#[test]
fn the_second_url_knows_what_the_first_learnt() {
    let (authority, folder) = (Authority::new(), empty_folder());
    let (server, ca) = strict(&authority, &authority.good(), &folder);
    let words = ["-sS", "--cacert", &ca, "--proto", "=https", "--hsts", "hsts", &server.url("/")];
    let out = run(tool(), &[&words[..], &["http://localhost:1/"]].concat(), &folder);
    assert_eq!(out.status.code(), Some(7), "{out:?}");
    let out = run(tool(), &["-sS", "--proto", "=https", "http://localhost:1/"], &folder);
    assert_eq!(out.status.code(), Some(1), "{out:?}");
}

/// CVE-2023-23915: the file contains the entries of all transfers.
#[test]
fn parallel_transfers_lose_nothing() {
    let (authority, folder) = (Authority::new(), empty_folder());
    let names: Vec<String> = (0..8).map(|n| format!("host{n}.localhost")).collect();
    let leaf = authority.for_names(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let (server, ca) = strict(&authority, &leaf, &folder);
    let mut words =
        vec!["-sS".to_owned(), "-Z".into(), "--cacert".into(), ca, "--hsts".into(), "hsts".into()];
    for name in &names {
        words.extend(["--resolve".into(), format!("{name}:{}:127.0.0.1", server.port())]);
    }
    words.extend(names.iter().map(|name| format!("https://{name}:{}/", server.port())));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let out = run(tool(), &words, &folder);
    assert_eq!(out.status.code(), Some(0), "{out:?}");
    let kept = std::fs::read_to_string(folder.join("hsts")).unwrap();
    assert!(names.iter().all(|name| kept.contains(name)), "{kept}");
}
