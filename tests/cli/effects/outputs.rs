//! Files about transfers that variables of the environment ask for: archive, picture, log and spans.

use super::{clean, empty_folder, tool};
use std::path::PathBuf;
use std::process::Command;
use testkit::http::{HttpServer, Response};
use testkit::needs;

/// A server that redirects `/away` to another origin, by the name of this machine, and `/moved` to itself.
/// Spans are posted to it, too.
fn server() -> HttpServer {
    HttpServer::with(|request| {
        let port = request.field("Host").and_then(|host| host.rsplit_once(':')).map_or("", |(_, port)| port);
        Some(match request.path() {
            "/away" => Response::status(302).with("Location", format!("http://localhost:{port}/end")),
            "/moved" => Response::status(302)
                .with("Location", "/end?token=secret4&page=2")
                .with("Set-Cookie", "sid=secret5; path=/"),
            _ => Response::ok("body"),
        })
    })
}

/// Runs the tool with a variable in a new folder, which is returned.
fn run(variables: &[(&str, &str)], words: &[&str]) -> PathBuf {
    let folder = empty_folder();
    let mut command = Command::new(tool());
    command.args(["-q", "-sSL"]).args(words).current_dir(&folder).envs(variables.iter().copied());
    let output = needs::output(clean(&mut command));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

#[test]
fn archives_pictures_and_logs_keep_secrets() {
    use std::os::unix::fs::MetadataExt;
    let server = server();
    let url = server.url("/moved?api_key=secret1&page=1").replace("//", "//me:secret2@");
    let variables =
        [("WARMWIRE_HAR", "run.har"), ("WARMWIRE_TIMELINE", "run.svg"), ("WARMWIRE_LOG", "debug:run.log")];
    let words = ["-b", "a=secret3", "-H", "X-Api-Key: secret7", "-d", "password=secret9", url.as_str()];
    let folder = run(&variables, &words);
    for name in ["run.har", "run.svg", "run.log"] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        assert!(!text.contains("secret") && text.contains("127.0.0.1"), "{name}: {text}");
        assert_eq!(std::fs::metadata(folder.join(name)).unwrap().mode() & 0o777, 0o600, "{name}");
    }
    let kept = run(&[("WARMWIRE_HAR", "run.har"), ("WARMWIRE_HAR_SECRETS", "yes")], &words);
    let text = std::fs::read_to_string(kept.join("run.har")).unwrap();
    // No secret9: the archive has no bodies.
    for secret in [1, 3, 4, 5, 7] {
        assert!(text.contains(&format!("secret{secret}")), "{secret}: {text}");
    }
    assert!(!text.contains("secret9"), "{text}");
}

#[test]
fn only_hosts_that_the_application_names_get_a_traceparent() {
    let rows: [(&str, &str, &[bool]); 4] = [
        ("/moved", "", &[true, true]),
        ("/away", "", &[true, false]),
        ("/moved", "example.org", &[false, false]),
        ("/moved", "example.org,127.0.0.1", &[true, true]),
    ];
    for (path, hosts, wanted) in rows {
        let server = server();
        let collector = format!("otlp:{}", server.url("/v1/traces"));
        run(&[("WARMWIRE_TRACE", &collector), ("WARMWIRE_TRACE_HOSTS", hosts)], &[&server.url(path)]);
        let requests = server.requests();
        let (exports, own): (Vec<_>, Vec<_>) =
            requests.iter().partition(|request| request.path() == "/v1/traces");
        let sent: Vec<_> = own.iter().map(|request| request.field("traceparent").is_some()).collect();
        assert_eq!(sent, wanted, "{path} {hosts}");
        assert_eq!(exports.len(), 1, "{path} {hosts}");
        assert_eq!(exports[0].field("traceparent"), None);
    }
}

/// Each request on a kept connection has a span of its own, and an application's field stays as it is.
#[test]
fn a_request_carries_its_own_span() {
    let server = server();
    let collector = format!("otlp:{}", server.url("/v1/traces"));
    let url = server.url("/end");
    let own = "traceparent: 00-11111111111111111111111111111111-2222222222222222-01";
    let words = [&*url, &*url, "--next", "-sS", "-H", own, &*url];
    run(&[("WARMWIRE_TRACE", &collector)], &words);
    let requests = server.requests();
    let fields: Vec<_> = requests.iter().filter_map(|request| request.field("traceparent")).collect();
    assert_eq!(fields.len(), 3, "{fields:?}");
    assert_ne!(fields[0], fields[1]);
    assert_eq!(format!("traceparent: {}", fields[2]), own);
}

/// A record has the requests of the program alone, and a replay answers no export: spans leave in both.
#[test]
fn exports_are_neither_recorded_nor_replayed() {
    let server = server();
    let collector = format!("otlp:{}", server.url("/v1/traces"));
    let record = empty_folder();
    let folder = record.to_str().unwrap();
    for (count, variable) in [(1, "WARMWIRE_RECORD"), (2, "WARMWIRE_REPLAY")] {
        run(&[(variable, folder), ("WARMWIRE_TRACE", &collector)], &[&server.url("/end")]);
        assert_eq!(std::fs::read_dir(&record).unwrap().count(), 1, "{variable}");
        let requests = server.requests();
        let exports = requests.iter().filter(|request| request.path() == "/v1/traces").count();
        assert_eq!((exports, requests.len() - exports), (count, 1), "{variable}");
    }
}
