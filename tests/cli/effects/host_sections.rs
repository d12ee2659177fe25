//! Sections of config files, `[host NAME...]`: which host gets their options, also after redirects.

use super::{Ran, curl_in, folder_with, write};
use testkit::certs::Authority;
use testkit::http::{HttpServer, Request, Response};

const SECRETS: [&str; 4] = ["Authorization", "X-Key", "Cookie", "User-Agent"];

/// Runs the tool with a config file.
fn with_config(config: &str, words: &[&str]) -> Ran {
    curl_in(folder_with("config", config), &[&["-K", "config"], words].concat())
}

/// Returns the fields of a request that a section can give it.
fn given(request: &Request) -> [Option<String>; 4] {
    SECRETS.map(|name| request.field(name).map(str::to_owned))
}

fn all() -> [Option<String>; 4] {
    ["Basic bWU6c2VjcmV0", "1", "a=b", "section"].map(|value| Some(value.to_owned()))
}

fn nothing() -> [Option<String>; 4] {
    [None, None, None, Some("curl/8.22.0".to_owned())]
}

/// A section with a login, a field, a cookie and a name of the program.
fn section(hosts: &str) -> String {
    let options = "user = \"me:secret\"\nheader = \"X-Key: 1\"\ncookie = \"a=b\"\nuser-agent = section\n";
    format!("[host {hosts}]\n{options}")
}

/// Names of this machine that curl looks up by itself (RFC 6761).
fn at(host: &str, server: &HttpServer, path: &str) -> String {
    format!("http://{host}:{}{path}", server.port())
}

#[test]
fn each_host_gets_its_own_options() {
    let server = HttpServer::plain();
    let config = section("a.localhost *.b.localhost") + "[host c.localhost]\nuser = other\n";
    for (host, wanted) in [
        ("a.localhost", all()),
        ("A.localhost", all()),
        ("x.b.localhost", all()),
        ("b.localhost", nothing()),
        ("localhost", nothing()),
    ] {
        for mode in ["-Z", "-s"] {
            let ran = with_config(&config, &[mode, &at(host, &server, "/")]);
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            assert_eq!(given(&server.last_request().unwrap()), wanted, "{host}");
        }
    }
    // Many URLs in one command, one after the other and side by side.
    for mode in ["--no-parallel", "--parallel"] {
        let before = server.requests().len();
        let urls =
            ["a", "b", "c", "a"].map(|name| at(&format!("{name}.localhost"), &server, &format!("/{name}")));
        let words =
            [&[mode, "-o", "/dev/null", "--no-remote-name-all"][..], &urls.each_ref().map(String::as_str)];
        with_config(&config, &words.concat());
        for request in &server.requests()[before..] {
            let wanted = match request.path() {
                "/a" => "Basic bWU6c2VjcmV0",
                "/c" => "Basic b3RoZXI6",
                _ => "",
            };
            assert_eq!(request.field("Authorization").unwrap_or_default(), wanted, "{}", request.path());
        }
    }
}

/// A server whose `/to?URL` redirects to that URL.
fn redirecting() -> HttpServer {
    HttpServer::with(|request| {
        Some(match request.target.strip_prefix("/to?") {
            Some(url) => Response::status(302).with("Location", url),
            None => Response::ok("end"),
        })
    })
}

/// Options of a section are for its hosts only.
// covers: --location, --location-trusted
#[test]
fn a_redirect_to_another_host_takes_a_section_back() {
    let server = redirecting();
    let to = |host: &str| format!("/to?{}", at(host, &server, "/end"));
    for flag in ["--location", "--location-trusted"] {
        for (host, wanted) in [("b.localhost", nothing()), ("a.localhost", all()), ("127.0.0.1", nothing())] {
            let ran = with_config(&section("a.localhost"), &[flag, &at("a.localhost", &server, &to(host))]);
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            let last = server.last_request().unwrap();
            assert_eq!((last.target.as_str(), given(&last)), ("/end", wanted), "{flag} {host}");
        }
        // Nor does a redirect to the section's host bring its options.
        let ran =
            with_config(&section("a.localhost"), &[flag, &at("b.localhost", &server, &to("a.localhost"))]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(given(&server.last_request().unwrap()), nothing(), "{flag}");
        // Back at the host, they are in force again.
        let back = format!("/to?{}", at("b.localhost", &server, &to("a.localhost")));
        with_config(&section("a.localhost"), &[flag, "-H", "X-Other: 2", &at("a.localhost", &server, &back)]);
        let [.., away, last] = &server.requests()[..] else { panic!("two requests") };
        assert_eq!((given(away), given(last)[1].as_deref()), (nothing(), Some("1")), "{flag}");
        assert_eq!(away.field("X-Other"), Some("2"), "options outside of sections stay");
    }
    // Another port is another place if the section names one.
    let other = redirecting();
    let config = section(&format!("a.localhost:{}", server.port()));
    let url = at("a.localhost", &server, &format!("/to?{}", at("a.localhost", &other, "/end")));
    assert_eq!(with_config(&config, &["-L", &url]).code, 0);
    assert_eq!(given(&other.last_request().unwrap()), nothing());
}

/// A retry starts at the host of the section again.
// covers: --retry
#[test]
fn a_retry_has_the_section_again() {
    let server = HttpServer::with(|request| {
        let host = request.field("Host").unwrap_or_default();
        let port = host.rsplit(':').next().unwrap_or_default();
        Some(match request.path() {
            "/" => Response::status(302).with("Location", format!("http://b.localhost:{port}/busy")),
            _ => Response::status(503),
        })
    });
    let words = ["-L", "--retry", "1", "--retry-delay", "0.01", &at("a.localhost", &server, "/")];
    with_config(&section("a.localhost"), &words);
    let seen: Vec<_> =
        server.requests().iter().map(|request| (request.path().to_owned(), given(request))).collect();
    let round = [("/".to_owned(), all()), ("/busy".to_owned(), nothing())];
    assert_eq!(seen, [round.clone(), round].concat());
}

/// Checks of certificates that a section weakens are weaker for its hosts only.
// covers: --insecure
#[test]
fn an_unverified_host_does_not_lead_to_another_one() {
    let authority = Authority::new();
    let leaf = authority.for_names(&["nowhere.test"]);
    let end = HttpServer::tls(leaf.server_config().unwrap());
    let to = format!("https://127.0.0.1:{}/text/3", end.port());
    let start = HttpServer::with(move |_| Some(Response::status(302).with("Location", to.clone())));
    let url = at("localhost", &start, "/");
    let ran = with_config("[host localhost]\ninsecure\n", &["-L", &url]);
    assert_eq!(ran.code, 60, "{}", ran.stderr);
    let ran =
        with_config("[host 127.0.0.1]\ninsecure\n", &[&format!("https://127.0.0.1:{}/text/3", end.port())]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "xxx"), "{}", ran.stderr);
}

// covers: --config
#[test]
fn faults_in_sections_are_named() {
    for (config, line) in [
        (
            "[host a.test]\noutput = x\n",
            "config:2 config file option 'output' may not stand in a section of hosts",
        ),
        (
            "silent\n[host]\n",
            "config:2 config file option '[host]' has to be the start of a section of hosts: ",
        ),
        ("[section]\n", "config:1 config file option '[section]' has to be the start of a section"),
        (
            "[host a.test]\ncookie = jar\n",
            "config file option 'cookie' takes NAME=VALUE in a section of hosts",
        ),
    ] {
        let ran = with_config(config, &["http://127.0.0.1:1/"]);
        // A long message continues on a second line.
        let text = ran.stderr.replace("\ncurl: ", "");
        assert!(ran.code == 2 && text.contains(line), "{config}: {}", ran.stderr);
    }
    let ran = with_config("[host 127.0.0.1]\nuser = x\n", &["--watch", "1", "http://127.0.0.1:1/"]);
    let text = ran.stderr.replace("\ncurl: ", "");
    assert!(text.contains("--watch can't be combined with a section of hosts"), "{}", ran.stderr);
    // A section ends with its file.
    let server = HttpServer::plain();
    let folder = folder_with("one", &section("a.localhost"));
    write(&folder, "two", "header = \"X-All: 1\"\n");
    curl_in(folder, &["-K", "one", "-K", "two", "-H", "X-Line: 2", &at("b.localhost", &server, "/")]);
    let request = server.last_request().unwrap();
    assert_eq!(
        (request.field("X-All"), request.field("X-Line"), given(&request)),
        (Some("1"), Some("2"), nothing())
    );
}
