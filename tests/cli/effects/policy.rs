//! `--policy` and WARMWIRE_POLICY.

use super::records::{alias, alpn, service};
use super::{curl, empty_folder, tool};
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use testkit::dns::{A, DnsAnswer, HTTPS, NameServer, address};
use testkit::http::{HttpServer, Response};

/// Writes a policy, and returns its name.
fn policy(rules: &str) -> String {
    let file = empty_folder().join("policy");
    fs::write(&file, format!("version 1\n{rules}\n")).unwrap();
    file.display().to_string()
}

#[test]
fn a_transfer_that_a_policy_refuses_fails_with_its_rule() {
    let inside = HttpServer::plain();
    let (url, port) = (inside.url("/bytes/5"), inside.port());
    let to = url.clone();
    let outside = HttpServer::with(move |_| Some(Response::status(302).with("Location", &*to)));
    let run = |rules: &str, words: &[&str]| {
        let file = policy(rules);
        let ran = curl(&[&["--policy", &file, "-sS", "--noproxy", "*"], words].concat());
        (ran.code, ran.stdout.len(), ran.stderr.replace(&file, "FILE"))
    };
    let refused = "curl: (9) policy FILE refuses address 127.0.0.1: it is not public, and no \"allow \
                   address\" line covers it\n";
    assert_eq!(run("", &[&url]), (9, 0, refused.to_owned()));
    assert_eq!(run("allow address loopback", &[&url]), (0, 5, String::new()));
    let rules = format!("allow address loopback\ndeny port {port}");
    let refused = format!("curl: (9) policy FILE refuses port {port}: line 3, \"deny port {port}\"\n");
    assert_eq!(run(&rules, &["-L", &outside.url("/")]), (9, 0, refused.clone()));
    // It is no failure to connect: nothing tries again.
    let again = ["--retry", "3", "--retry-all-errors", "--retry-max-time", "1", &url];
    assert_eq!(run(&rules, &again).0, 9);
    assert_eq!(run(&rules, &["--retry", "3", "--retry-connrefused", &url]), (9, 0, refused));
    assert_eq!(inside.served(), 1);
}

#[test]
fn a_policy_that_is_wrong_transfers_nothing() {
    let server = HttpServer::plain();
    let wrong = policy("allow adress loopback");
    let ran = curl(&["--policy", &wrong, "-sS", &server.url("/")]);
    assert_eq!(ran.code, 9);
    let text = ran.stderr.replace("\ncurl: ", " ").replace("  ", " ");
    assert!(text.contains(&format!("--policy: policy {wrong}: line 2: \"adress\" is none of")), "{text}");
    let none = curl(&["--policy", "/nonexistent", "-sS", &server.url("/")]);
    assert_eq!(none.code, 9);
    let text = none.stderr.replace("\ncurl: ", " ").replace("  ", " ");
    assert!(text.contains("/nonexistent: the file cannot be read"), "{text}");
    for file in [wrong.as_str(), "/nonexistent", "/dev/zero", "/"] {
        let ran = Command::new(tool())
            .args(["-q", "-sS", &server.url("/")])
            .env("WARMWIRE_POLICY", file)
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(9), "{file}");
        let text = String::from_utf8_lossy(&ran.stderr).replace("\ncurl: ", " ").replace("  ", " ");
        assert!(text.contains(&format!("policy {file} refuses every transfer: ")), "{text}");
    }
    assert_eq!(server.accepts(), 0);
}

#[test]
fn both_policies_bind() {
    let server = HttpServer::plain();
    let (loose, strict) = (policy("allow address *"), policy(""));
    for (variable, flag) in [(&loose, &strict), (&strict, &loose)] {
        let mut command = Command::new(tool());
        command.args(["-q", "-sS", "--policy", flag, &server.url("/")]).env("WARMWIRE_POLICY", variable);
        assert_eq!(command.output().unwrap().status.code(), Some(9));
    }
    assert_eq!(server.accepts(), 0);
}

/// An HTTPS record may name another host, addresses and a port (RFC 9460): each is judged when a socket is
/// connected to it, although the URL's host has an allowed address.
#[test]
fn places_of_https_records_are_judged() {
    const URL: &str = "https://site.example/";
    let inside = TcpListener::bind(("127.0.0.2", 0)).unwrap();
    inside.set_nonblocking(true).unwrap();
    let port = inside.local_addr().unwrap().port();
    let leads = move |target: &str, hint: bool| {
        let mut parameters = vec![alpn(&["h2"]), (3, port.to_be_bytes().to_vec())];
        parameters.extend(hint.then(|| (4, vec![127, 0, 0, 2])));
        DnsAnswer::Records(vec![("", HTTPS, service(target, &parameters))])
    };
    for what in ["target", "hint", "alias"] {
        let names = NameServer::start(move |asked| {
            let is_site = asked.name.eq_ignore_ascii_case("site.example");
            match (asked.kind, is_site) {
                (A, true) => address(A, "127.0.0.1"),
                (A, false) => address(A, "127.0.0.2"),
                (HTTPS, true) if what == "alias" => alias("cdn.example"),
                (HTTPS, true) => leads("cdn.example", what == "hint"),
                (HTTPS, false) if what == "alias" => leads(".", false),
                _ => DnsAnswer::Records(Vec::new()),
            }
        });
        let dns = names.address().to_string();
        let run = |words: &[&str]| {
            let given = ["-sSk", "--max-time", "2", "--dns-servers", &dns, URL];
            let ran = curl(&[words, &given].concat());
            let mut reached = 0;
            while inside.accept().is_ok() {
                reached += 1;
            }
            (reached > 0, ran)
        };
        assert!(run(&[]).0, "{what}: without a policy the record leads there");
        let elsewhere = policy("allow address 127.0.0.1\nallow port *");
        let (reached, ran) = run(&["--policy", &elsewhere]);
        assert!(!reached && ran.code != 0, "{what}: {}", ran.stderr);
        let port = policy(&format!("allow address loopback\ndeny port {port}"));
        let (reached, ran) = run(&["--policy", &port]);
        assert!(!reached && ran.code != 0, "{what}: {}", ran.stderr);
        let open = policy("allow address loopback\nallow port *");
        assert!(run(&["--policy", &open]).0, "{what}: allowed");
    }
}

/// In active mode the server connects, and so can anybody who learns the port: the address is judged.
#[test]
fn an_active_data_connection_from_a_refused_address_gets_and_gives_nothing() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cli/foreign_data.py");
    let source = empty_folder().join("f");
    fs::write(&source, "secret").unwrap();
    let source = source.display().to_string();
    let local = policy("allow address 127.0.0.1\nallow scheme ftp\nallow port *");
    let loopback = policy("allow address loopback\nallow scheme ftp\nallow port *");
    for (from, rules, passes) in
        [("127.0.0.1", &local, true), ("127.0.0.2", &local, false), ("127.0.0.2", &loopback, true)]
    {
        for upload in [false, true] {
            let mut server = Command::new("python3");
            server.args([script, from]).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut server = server.spawn().unwrap();
            let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
            let port = lines.next().unwrap().unwrap();
            let url = format!("ftp://127.0.0.1:{port}/file");
            let given = ["--policy", rules, "-sS", "--why=json", "--max-time", "5", "-P", "127.0.0.1", &url];
            let sends = ["-T", source.as_str()];
            let ran = curl(&[&given[..], if upload { &sends } else { &[] }].concat());
            server.kill().unwrap();
            server.wait().unwrap();
            let what = format!("{from} {upload}: {} {}", ran.code, ran.stderr);
            assert_eq!(ran.code == 0, passes, "{what}");
            let body = if passes && !upload { "content" } else { "" };
            assert_eq!(ran.stdout, body, "{what}");
            assert!(passes || ran.stderr.contains("refuses address 127.0.0.2"), "{what}");
            let event = r#""event":"policy-refused","check":"data-connection""#;
            assert_eq!(ran.stderr.contains(event), !passes, "{what}");
            let received = lines.next().map(|line| line.unwrap()).unwrap_or_default();
            assert_eq!(received.ends_with("received 6"), passes && upload, "{what}: {received}");
        }
    }
}

/// The reasons of a transfer name the policy and its rule.
#[test]
fn why_names_the_rule() {
    let server = HttpServer::plain();
    let (url, port) = (server.url("/"), server.port());
    let here = format!("port {port}");
    let line = |rule: &str| format!("line 2, \"{rule}\"");
    for (rules, check, subject, rule) in [
        (
            "",
            "address",
            "address 127.0.0.1",
            "it is not public, and no \"allow address\" line covers it".to_owned(),
        ),
        (&*format!("deny {here}"), "url", &*here, line(&format!("deny {here}"))),
        ("deny scheme http", "url", "scheme \"http\"", line("deny scheme http")),
        ("allow host a.test", "url", "host \"127.0.0.1\"", "no \"allow host\" line covers it".to_owned()),
    ] {
        let file = policy(rules);
        let event = format!("  policy      {file} refuses {subject} (check: {check}): {rule}\n");
        let quoted = |text: &str| text.replace('"', "\\\"");
        let (refused, why) = (quoted(subject), quoted(&rule));
        let member = format!(
            r#""event":"policy-refused","check":"{check}","policy":"{file}","refused":"{refused}","rule":"{why}""#
        );
        for form in ["--why=text", "--why=json"] {
            let ran = curl(&["--policy", &file, "-s", form, "--noproxy", "*", &url]);
            let text = format!("policy {file} refuses {subject}: {rule}");
            let (text, event) = if form == "--why=json" { (quoted(&text), &member) } else { (text, &event) };
            assert!(ran.code == 9 && ran.stderr.contains(&text), "{form} {text}: {}", ran.stderr);
            assert!(ran.stderr.contains(event), "{form} {event}: {}", ran.stderr);
        }
    }
}

/// The environment of a process with more rights than its user is the user's: it names no policy there, which
/// could show lines of a file that the user may not read. A policy of the program binds all the same.
#[test]
#[cfg(unix)]
fn a_process_with_more_rights_than_its_user_has_the_policy_of_the_program_alone() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let server = HttpServer::plain();
    let program = empty_folder().join("warmwire");
    fs::copy(tool(), &program).unwrap();
    if chown(&program, Some(65534), Some(65534)).is_err() {
        testkit::left_out("only root can make a program of another user");
    }
    fs::set_permissions(&program, PermissionsExt::from_mode(0o6755)).unwrap();
    let rules = empty_folder().join("rules");
    let secret = empty_folder().join("secret");
    for (file, text) in [(&rules, "version 1\n"), (&secret, "version 1\nallow hunter2 *\n")] {
        fs::write(file, text).unwrap();
        fs::set_permissions(file, PermissionsExt::from_mode(0o644)).unwrap();
    }
    let shown = |path: &std::path::Path| path.display().to_string();
    let run = |variable: &str, words: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["-q", "-sS", "--noproxy", "*"]).args(words).arg(server.url("/bytes/5"));
        let output = command.env("WARMWIRE_POLICY", variable).output().unwrap();
        (output.status.code(), output.stdout.len(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run(&shown(&secret), &[]), (Some(0), 5, String::new()), "the variable is not read");
    let (code, length, text) = run("", &["--policy", &shown(&rules)]);
    assert_eq!((code, length), (Some(9), 0), "{text}");
    let loose = policy("allow address *");
    assert_eq!(run(&loose, &["--policy", &shown(&rules)]).0, Some(9), "the variable allows nothing");
}
