//! `--cache --compressed`: stored replies as compression dictionaries (RFC 9842). The command `zstd` and the
//! data of the web platform tests are the encoders.

use super::cache::{Home, fresh};
use super::folder_with;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};
use testkit::base64;
use testkit::certs::{Authority, Leaf};
use testkit::http::{Config, HttpServer, Request, Response};
use testkit::needs;
use testkit::temp::TempDir;

/// The header of `dcz` and of `dcb`, before the SHA-256 of the dictionary.
const DCZ: &[u8] = &[0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0];
const DCB: &[u8] = b"\xffDCB";

/// Content and brotli stream of the web platform tests, for the dictionary below.
const WPT_DICTIONARY: &str = "This is a test dictionary.\n";
const WPT_CONTENT: &str = "This is compressed test data using a test dictionary";
const WPT_BROTLI: &str = "oZgBgGKkTB3fEoSMrsLKYCIHboEFFMm3w0SOvBbgFQ7swe40Mz4N";

fn first_version() -> String {
    (0..20_000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 7).to_string()).collect()
}

fn second_version() -> String {
    first_version().replace("77", "seventy-seven")
}

fn sum(content: &str) -> Vec<u8> {
    Sha256::digest(content).to_vec()
}

/// The second version by `zstd -D`, with the first one as the dictionary.
static DIFFERENCE: LazyLock<Vec<u8>> = LazyLock::new(|| zstd(&first_version(), &second_version()));

fn zstd(dictionary: &str, content: &str) -> Vec<u8> {
    let folder = TempDir::new("zstd").unwrap();
    let file = folder.write("dictionary", dictionary).unwrap();
    let content_file = folder.write("content", content).unwrap();
    let mut command = Command::new("zstd");
    command.args(["-q", "-c", "-D"]).arg(file).arg(content_file).stdin(Stdio::null());
    let output = needs::output(&mut command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Returns what a request offers: the dictionary, its name and the codings.
fn offer(request: &Request) -> [&str; 3] {
    ["Available-Dictionary", "Dictionary-ID", "Accept-Encoding"].map(|name| request.field(name).unwrap_or(""))
}

fn dictionary(content: impl Into<Vec<u8>>, field: &str) -> Response {
    fresh(content).with("Use-As-Dictionary", field)
}

fn coded(coding: &str, header: &[u8], dictionary: &str, data: &[u8]) -> Response {
    fresh([header, &sum(dictionary), data].concat())
        .with("Content-Encoding", coding)
        .with("Vary", "Accept-Encoding, Available-Dictionary")
}

fn answer(request: &Request) -> Response {
    let offers = |content: &str| offer(request)[0] == format!(":{}:", base64::encode(&sum(content)));
    match request.path() {
        "/app/1.js" => {
            dictionary(first_version(), "match=\"/app/*.js\", match-dest=(\"script\"), id=\"one \\\"1\\\"\"")
        }
        "/app/2.js" if offers(&first_version()) => coded("dcz", DCZ, &first_version(), &DIFFERENCE),
        "/app/2.js" => fresh(second_version()),
        "/wpt/dictionary" => dictionary(WPT_DICTIONARY, "match=\"/wpt/*\""),
        "/wpt/brotli" => coded("dcb", DCB, WPT_DICTIONARY, &base64::decode(WPT_BROTLI.as_bytes())),
        "/wpt/other" => coded("dcb", DCB, "another", &base64::decode(WPT_BROTLI.as_bytes())),
        "/wpt/cut" => coded("dcb", DCB, WPT_DICTIONARY, &base64::decode(WPT_BROTLI.as_bytes())[..20]),
        "/wpt/unasked" => coded("dcz", b"no header", "", b""),
        "/stale" => Response::ok("x").with("ETag", "\"a\"").with("Use-As-Dictionary", "match=\"/*\""),
        "/odd" => dictionary("odd", "match=\"/(.*)\""),
        "/long" => dictionary("long", "match=\"/long-pattern/*\""),
        "/short" => dictionary("short", "match=\"/long*\""),
        _ => Response::ok("plain").with("Cache-Control", "no-store"),
    }
}

fn server(leaf: Option<&Leaf>) -> HttpServer {
    let tls = leaf.map(|leaf| leaf.server_config().unwrap());
    let handler: testkit::http::Handler = Arc::new(|request| Some(answer(request)));
    HttpServer::start(Config { tls, handler: Some(handler), ..Config::default() }).unwrap()
}

struct Place {
    home: Home,
    server: HttpServer,
    authority: Authority,
}

impl Place {
    fn new() -> Place {
        let authority = Authority::new();
        let home = Home(folder_with("ca.pem", authority.ca_pem()));
        Place { home, server: server(Some(&authority.good())), authority }
    }

    fn get(&self, words: &[&str], url: &str) -> String {
        self.home.get(&[&["--cacert", "ca.pem", "--compressed"], words, &[url]].concat())
    }

    fn path(&self, path: &str) -> String {
        self.get(&[], &self.server.url(path))
    }

    /// Returns what the last request offered.
    fn offered(&self) -> [String; 3] {
        offer(&self.server.last_request().unwrap()).map(str::to_owned)
    }
}

#[test]
fn a_later_version_arrives_as_the_difference() {
    assert!(DIFFERENCE.len() < second_version().len() / 4, "{}", DIFFERENCE.len());
    let place = Place::new();
    assert_eq!(place.path("/app/1.js"), format!("{}|200 miss", first_version()));
    assert_eq!(place.offered(), ["", "", "deflate, gzip, br, zstd"]);
    assert_eq!(place.path("/app/2.js"), format!("{}|200 miss", second_version()));
    let sum = format!(":{}:", base64::encode(&sum(&first_version())));
    assert_eq!(place.offered(), [&sum, "\"one \\\"1\\\"\"", "deflate, gzip, br, zstd, dcb, dcz"]);
    // It is stored as it was decoded.
    assert_eq!(place.path("/app/2.js"), format!("{}|200 hit", second_version()));
    assert_eq!(place.server.served(), 2);
    let ran = place.home.ran(&[
        "--cacert",
        "ca.pem",
        "--compressed",
        "--why",
        "-H",
        "Cache-Control: no-cache",
        "-o",
        "f",
        &place.server.url("/app/2.js"),
    ]);
    assert!(
        ran.stderr.contains("  cache       a stored reply is offered as a dictionary (RFC 9842)\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(std::fs::read_to_string(place.home.0.join("f")).unwrap(), second_version());
}

#[test]
fn the_data_of_the_web_platform_tests_is_decoded() {
    let place = Place::new();
    place.path("/wpt/dictionary");
    assert_eq!(place.path("/wpt/brotli"), format!("{WPT_CONTENT}|200 miss"));
    assert_eq!(place.offered()[0], ":U5abz16WDg7b8KS93msLPpOB4Vbef1uRzoORYkJw9BY=:");
    for path in ["/wpt/other", "/wpt/cut", "/wpt/unasked"] {
        let words = ["--cacert", "ca.pem", "--compressed", &place.server.url(path)];
        let ran = place.home.ran(&words);
        assert_eq!(ran.code, 61, "{path} {}", ran.stderr);
        assert!(!ran.stdout.contains(WPT_CONTENT), "{path}");
        assert_eq!(place.home.ran(&words).code, 61, "{path}: it is not stored");
    }
}

#[test]
fn a_dictionary_serves_fresh_requests_of_its_origin_and_partition_alone() {
    let place = Place::new();
    let nothing = |why: &str| assert_eq!(place.offered()[0], "", "{why}");
    place.path("/wpt/dictionary");
    place.path("/wpt/x");
    assert_ne!(place.offered()[0], "", "of the same kind");
    place.path("/other");
    nothing("outside of the pattern");
    place.get(&["-u", "me:secret"], &place.server.url("/wpt/x"));
    nothing("another login");
    place.get(&["-H", "X-Api-Key: 1"], &place.server.url("/wpt/x"));
    nothing("an unknown field");
    place.get(&["-I"], &place.server.url("/wpt/x"));
    nothing("HEAD");
    place.home.get(&["--cacert", "ca.pem", &place.server.url("/wpt/x")]);
    nothing("the body is not decoded");
    place.get(&["-r", "0-1"], &place.server.url("/wpt/x"));
    nothing("a range");
    let other = server(Some(&place.authority.good()));
    place.get(&[], &other.url("/wpt/x"));
    assert_eq!(offer(&other.last_request().unwrap())[0], "", "another port");
    let plain = server(None);
    place.get(&[], &plain.url("/wpt/dictionary"));
    place.get(&[], &plain.url("/wpt/x"));
    assert_eq!(offer(&plain.last_request().unwrap())[0], "", "without TLS");
    // A reply that is removed takes its dictionary with it.
    place.get(&["-d", "x"], &place.server.url("/wpt/dictionary"));
    place.path("/wpt/x");
    nothing("removed by a POST");
    for path in ["/stale", "/odd"] {
        place.path(path);
        place.path("/x");
        nothing(path);
    }
}

#[test]
fn the_longest_pattern_wins_and_then_the_latest() {
    let place = Place::new();
    place.path("/long");
    place.path("/short");
    place.path("/long-pattern/x");
    assert_eq!(place.offered()[0], format!(":{}:", base64::encode(&sum("long"))));
    place.path("/longer");
    assert_eq!(place.offered()[0], format!(":{}:", base64::encode(&sum("short"))));
}

/// A dictionary file that was changed on the disk is not offered.
#[test]
fn a_damaged_dictionary_is_not_offered() {
    let place = Place::new();
    place.path("/wpt/dictionary");
    for body in place.home.files(".body") {
        std::fs::OpenOptions::new().append(true).open(body).unwrap().write_all(b"x").unwrap();
    }
    place.path("/wpt/x");
    assert_eq!(place.offered()[0], "");
}
