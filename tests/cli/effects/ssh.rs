//! The flags of SFTP and SCP, with OpenSSH's server.

use std::process::{Command, Stdio};

use super::curl;
use crate::{clean, empty_folder, tool};
use testkit::launch::{Sshd, keygen};

fn key(server: &Sshd, name: &str) -> String {
    server.path(name).display().to_string()
}

// covers: --key, --pubkey, --pass, --compressed-ssh, --knownhosts, --insecure
#[test]
fn keys_and_known_hosts() {
    let server = Sshd::start("").unwrap();
    let path = server.write("file", "text\n").unwrap().display().to_string();
    keygen(&server.path(""), "locked", &["-t", "ed25519", "-a", "4", "-N", "a phrase"]).unwrap();
    std::fs::copy(server.path("locked.pub"), server.path("authorized_keys")).unwrap();
    let known = server.known_hosts().unwrap().display().to_string();
    let (locked, public) = (key(&server, "locked"), key(&server, "locked.pub"));
    let login = ["--key", &locked, "--pubkey", &public, "--pass", "a phrase", "--compressed-ssh"];
    for scheme in ["sftp", "scp"] {
        let url = server.url(scheme, &path);
        let with = |flags: &[&str]| curl(&[&login[..], flags, &[url.as_str()]].concat());
        assert_eq!(with(&["--knownhosts", &known]).text(), "text\n");
        assert_eq!(with(&["--insecure"]).text(), "text\n");
        let unknown = with(&["--knownhosts", "/dev/null"]);
        assert_eq!(unknown.code, 60, "{}", unknown.stderr);
    }
    let url = server.url("sftp", &path);
    let wrong = curl(&["-k", "--key", &locked, "--pass", "wrong", &url]);
    assert_eq!((wrong.code, wrong.stderr.as_str()), (67, "curl: (67) Authentication failure\n"));
}

/// CVE-2025-15079: the user's own file is used if no other is named, and only then.
// covers: --knownhosts
#[test]
fn only_the_file_that_is_named_counts() {
    let server = Sshd::start("").unwrap();
    let path = server.write("file", "text\n").unwrap().display().to_string();
    let home = empty_folder();
    std::fs::create_dir(home.join(".ssh")).unwrap();
    std::fs::copy(server.known_hosts().unwrap(), home.join(".ssh/known_hosts")).unwrap();
    let (login, url) = (key(&server, "user_ed25519"), server.url("sftp", &path));
    let at_home = |flags: &[&str]| {
        let mut command = Command::new(tool());
        clean(&mut command).env("HOME", &home).env_remove("CURL_HOME").args(["-sS", "--key", &login]);
        command.args(flags).arg(&url).stdin(Stdio::null()).output().unwrap()
    };
    let out = at_home(&[]);
    assert_eq!((out.status.code(), &out.stdout[..]), (Some(0), &b"text\n"[..]), "{out:?}");
    let out = at_home(&["--knownhosts", "/dev/null"]);
    assert_eq!((out.status.code(), &out.stdout[..]), (Some(60), &b""[..]), "{out:?}");
}

/// CVE-2026-12064: they count where the URL has no scheme, too.
// covers: --hostpubmd5, --hostpubsha256
#[test]
fn fingerprints() {
    let server = Sshd::start("").unwrap();
    let path = server.write("file", "text\n").unwrap().display().to_string();
    let print = |kind: &str| {
        let mut command = std::process::Command::new("ssh-keygen");
        let out = command.args(["-l", "-E", kind, "-f", &key(&server, "host_ed25519.pub")]).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        text.split(' ').nth(1).unwrap().split_once(':').unwrap().1.to_owned()
    };
    let (sha256, md5) = (print("sha256"), print("md5").replace(':', ""));
    let (login, url) = (key(&server, "user_ed25519"), server.url("sftp", &path));
    let with = |flag: &str, print: &str| curl(&["--key", &login, flag, print, &url]);
    assert_eq!(with("--hostpubsha256", &sha256).stdout, "text\n");
    assert_eq!(with("--hostpubsha256", &format!("{sha256}=")).stdout, "text\n");
    assert_eq!(with("--hostpubmd5", &md5).stdout, "text\n");
    for (flag, print) in [("--hostpubsha256", "AAAA"), ("--hostpubmd5", "00000000000000000000000000000000")] {
        let refused = with(flag, print);
        assert_eq!(refused.code, 60, "{}", refused.stderr);
        assert!(refused.stderr.contains("Denied establishing ssh session: mismatch"), "{}", refused.stderr);
        let bare = url.strip_prefix("sftp://").unwrap();
        let refused = curl(&["--proto-default", "sftp", "--key", &login, flag, print, bare]);
        assert_eq!(refused.code, 60, "{}", refused.stderr);
    }
}

/// CVE-2026-12064: without a scheme in the URL, too, and before anything is sent.
#[test]
fn a_host_must_be_known_with_proto_default_too() {
    for words in [["sftp://127.0.0.1:1/a", "--next"], ["--proto-default", "sftp"], ["--proto-default", "scp"]]
    {
        let url = if words[0].starts_with("--") {
            [words[0], words[1], "127.0.0.1:1/a"]
        } else {
            [words[0], "-s", "-S"]
        };
        let ran = curl(&url);
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (2, "curl: Could not find a known_hosts file\ncurl: (2) Failed initialization\n"),
            "{url:?}"
        );
    }
}
