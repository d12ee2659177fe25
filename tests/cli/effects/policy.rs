//! `--policy` and WARMWIRE_POLICY.

use super::{curl, empty_folder, tool};
use std::fs;
use std::process::Command;
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
