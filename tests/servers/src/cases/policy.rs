//! WARMWIRE_POLICY binds other people's programs: php-curl, pycurl and git.

use std::path::Path;
use std::process::Command;

use testkit::launch::{GitServer, Nginx};
use testkit::temp::TempDir;

use super::ours;
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![ours("policy-php", php), ours("policy-pycurl", pycurl), ours("policy-git", git)]
}

/// Writes a policy with these rules into the folder.
fn policy(folder: &TempDir, rules: &str) -> std::path::PathBuf {
    let path = folder.path().join("policy");
    std::fs::write(&path, format!("version 1\n{rules}\n")).expect("a policy is written");
    path
}

/// Runs a script of `programs/`, which fetches a file of nginx and prints code and message. Under a policy
/// without rules it is refused; with loopback allowed it is not; a policy with an error refuses everything.
fn script(run: &Context, interpreter: &Path, name: &str) {
    let nginx = Nginx::start(&run.world.authority.good(), &[1000]).expect("nginx starts");
    let folder = TempDir::new("policy").expect("a folder is made");
    let fetch = |rules: &str, url: &str| -> Output {
        let policy = policy(&folder, rules);
        let mut command = Command::new(interpreter);
        run.run(command.arg(run.world.script(name)).arg(url).env("WARMWIRE_POLICY", policy))
    };
    let url = nginx.http("/bytes-1000");
    let cases = [
        ("", "9 0 policy ", "refuses address 127.0.0.1: it is not public"),
        ("allow address loopback", "0 1000 ", ""),
        ("allow address loopback\nallow scheme https", "9 0 policy ", "refuses scheme \"http\""),
        ("allow address loopbac", "9 0 policy ", "refuses every transfer: line 2"),
    ];
    for (rules, start, part) in cases {
        let output = fetch(rules, &url);
        assert!(output.stdout.starts_with(start) && output.stdout.contains(part), "{rules}: {output:?}");
    }
    let inside = Nginx::start(&run.world.authority.good(), &[1000]).expect("nginx starts");
    let port = inside.http("").rsplit(':').next().map(str::to_owned).unwrap_or_default();
    let output = fetch(&format!("allow address loopback\ndeny port {port}"), &inside.http("/bytes-1000"));
    assert!(output.stdout.contains(&format!("line 3, \"deny port {port}\"")), "{output:?}");
}

fn php(run: &Context) {
    script(run, Path::new("php"), "guarded.php");
}

fn pycurl(run: &Context) {
    script(run, &run.world.python(), "guarded.py");
}

fn git(run: &Context) {
    let server = GitServer::start(&run.world.authority.good()).expect("git's service starts");
    let folder = TempDir::new("policy").expect("a folder is made");
    let bare = server.root().join("one.git");
    let made =
        run.run(Command::new("git").args(["init", "-q", "--bare"]).arg(bare).env("HOME", folder.path()));
    assert_eq!(made.status, Some(0), "{made:?}");
    let list = |rules: &str| {
        let mut command = Command::new("git");
        command.args(["ls-remote", &server.http("one.git")]).env("HOME", folder.path());
        run.run(command.env("WARMWIRE_POLICY", policy(&folder, rules)))
    };
    let refused = list("");
    assert!(refused.stderr.contains("refuses address 127.0.0.1"), "{refused:?}");
    let allowed = list("allow address loopback");
    assert_eq!(allowed.status, Some(0), "{allowed:?}");
}
