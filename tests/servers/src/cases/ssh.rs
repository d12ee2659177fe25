//! SFTP and SCP against OpenSSH's server, dropbear and one in Go, mostly by Debian's curl on either library:
//! every login method, host keys, rekeying, many and large files, cuts at any place.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use testkit::body::{fnv1a, pattern};
use testkit::cutter::Cutter;
use testkit::launch::{Agent, SSH_PASSWORD, SSH_USER, Sshd, keygen};

use super::{WAYS, case, deep, ours, sum};
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        case("ssh-files", files),
        case("ssh-passwords", passwords),
        case("ssh-key-files", key_files),
        ours("ssh-secrets-are-wiped", wiped),
        case("ssh-keys-at-home", keys_at_home),
        case("ssh-agent", agent),
        case("ssh-host-keys", host_keys),
        case("ssh-known-hosts-files", known_hosts_files),
        ours("ssh-host-certificates", host_certificates),
        case("ssh-command-lines", command_lines),
        case("ssh-rekey-every-megabyte", rekey),
        case("ssh-go", go),
        deep(case("ssh-a-gigabyte", gigabyte)),
        case("ssh-a-thousand", thousand),
        case("ssh-max-sessions", max_sessions),
        case("ssh-cut-off-and-resumed", cut_off),
        case("ssh-names", names),
        case("ssh-php-and-python", languages),
    ]
}

/// Algorithms that libssh2 1.10 needs beyond OpenSSH's current defaults.
const OLD: &str = "HostKeyAlgorithms +ssh-rsa\nPubkeyAcceptedAlgorithms +ssh-rsa";

fn openssh(config: &str) -> Sshd {
    Sshd::start(&format!("{OLD}\n{config}")).expect("OpenSSH's server starts")
}

fn openssh_with_password(config: &str) -> Sshd {
    Sshd::start_with_password(&format!("{OLD}\n{config}")).expect("OpenSSH's server starts")
}

fn dropbear(arguments: &[&str]) -> Sshd {
    Sshd::dropbear(arguments).expect("dropbear starts")
}

fn at(server: &Sshd, name: &str) -> String {
    server.path(name).display().to_string()
}

fn url(server: &Sshd, scheme: &str, name: &str) -> String {
    server.url(scheme, &at(server, name))
}

fn curl_command(arguments: &[&str]) -> Command {
    let mut command = Command::new("/usr/bin/curl");
    command.args(["-q", "-sS", "--max-time", "100"]).args(arguments);
    command
}

/// Debian's curl with the user's key, to whichever server answers.
fn curl(run: &Context, server: &Sshd, arguments: &[&str]) -> Output {
    let key = at(server, "user_ed25519");
    run.run(&mut curl_command(&[&["-k", "--key", &key][..], arguments].concat()))
}

fn put(server: &Sshd, name: &str, content: impl AsRef<[u8]>) -> String {
    server.write(name, content).expect("a file can be written").display().to_string()
}

fn sum_of(server: &Sshd, name: &str) -> String {
    format!("{:016x}", fnv1a(&fs::read(server.path(name)).unwrap_or_default()))
}

/// Each way to drive a handle, each protocol, each server; over one connection.
fn files(run: &Context) {
    for server in [openssh(""), dropbear(&[])] {
        put(&server, "file", pattern(300_000));
        put(&server, "empty", b"");
        let key = format!("SSH_PRIVATE_KEYFILE={}", at(&server, "user_ed25519"));
        for scheme in ["sftp", "scp"] {
            for way in WAYS.iter().chain(&["easy"]).filter(|way| run.ours() || **way != "waitfds") {
                let file = url(&server, scheme, "file");
                let output = run.program("fetch", &["-w", way, "-n", "3", "-o", &key, &file]);
                assert_eq!(output.facts("sum"), [&*sum(300_000); 3], "{scheme}, {way}: {output:?}");
            }
            let file = url(&server, scheme, "file");
            let kept = run.program("fetch", &["-n", "3", "-o", &key, &file]);
            assert_eq!(kept.facts("connects"), ["1", "0", "0"], "{scheme}: {kept:?}");
            let empty = curl(run, &server, &[&url(&server, scheme, "empty")]);
            assert_eq!((empty.status, empty.bytes()), (Some(0), &b""[..]), "{scheme}: {empty:?}");
            let up = at(&server, "file");
            for name in ["up", "up/", "none/up"] {
                let to = url(&server, scheme, name);
                let stored = curl(run, &server, &["-T", &up, &to]);
                match name {
                    "up" => assert_eq!((stored.status, sum_of(&server, name)), (Some(0), sum(300_000))),
                    _ => assert_ne!(stored.status, Some(0), "{scheme}, {name}: {stored:?}"),
                }
            }
        }
    }
}

// covers: CURLOPT_SSH_AUTH_TYPES, CURLOPT_USERPWD
fn passwords(run: &Context) {
    let asks = "PasswordAuthentication no\nKbdInteractiveAuthentication yes";
    let takes = "PasswordAuthentication yes\nKbdInteractiveAuthentication no";
    for (what, server) in [
        ("keyboard-interactive", openssh_with_password(asks)),
        ("password", openssh_with_password(takes)),
        ("dropbear", dropbear(&[])),
    ] {
        let file = put(&server, "file", pattern(5000));
        let place = |scheme: &str| format!("{scheme}://127.0.0.1:{}{file}", server.port);
        for scheme in ["sftp", "scp"] {
            let login = |password: &str| {
                let user = format!("{SSH_USER}:{password}");
                let home = server.path("");
                let words = ["-k", "-u", &user, &place(scheme)];
                run.run(curl_command(&words).env("HOME", home))
            };
            let right = login(SSH_PASSWORD);
            assert_eq!((right.status, right.bytes()), (Some(0), &pattern(5000)[..]), "{what}: {right:?}");
            let wrong = login("wrong");
            assert_eq!(wrong.status, Some(67), "{what}: {wrong:?}");
        }
        // In the URL, and where only the other way is wanted.
        let word = SSH_PASSWORD.replace(' ', "%20");
        let named = format!("sftp://{SSH_USER}:{word}@127.0.0.1:{}{file}", server.port);
        for (types, code) in [
            (if what == "keyboard-interactive" { 8 } else { 2 }, "0"),
            (if what == "keyboard-interactive" { 2 } else { 8 }, "67"),
            (1, "67"),
        ] {
            let types = format!("SSH_AUTH_TYPES={types}");
            let output = run.program("fetch", &["-o", &types, "-o", "SSH_PRIVATE_KEYFILE=/none", &named]);
            assert_eq!(output.fact("code"), code, "{what}, {types}: {output:?}");
        }
    }
}

/// A kind of key, its arguments for ssh-keygen(1), its passphrase, and whether libssh2 1.10 reads it.
const KEYS: [(&str, &[&str], &str, bool); 17] = [
    ("rsa", &["-t", "rsa", "-b", "2048"], "", true),
    ("rsa-pem", &["-t", "rsa", "-b", "3072", "-m", "PEM"], "", true),
    ("rsa-pkcs8", &["-t", "rsa", "-b", "2048", "-m", "PKCS8"], "", true),
    ("rsa-locked", &["-t", "rsa", "-b", "2048", "-a", "4"], "a phrase", true),
    ("rsa-pem-locked", &["-t", "rsa", "-b", "2048", "-m", "PEM"], "a phrase", true),
    ("rsa-pkcs8-locked", &["-t", "rsa", "-b", "2048", "-m", "PKCS8"], "a phrase", true),
    ("p256", &["-t", "ecdsa", "-b", "256"], "", true),
    ("p256-pem", &["-t", "ecdsa", "-b", "256", "-m", "PEM"], "", true),
    ("p256-pkcs8", &["-t", "ecdsa", "-b", "256", "-m", "PKCS8"], "", true),
    ("p384", &["-t", "ecdsa", "-b", "384"], "", true),
    ("p384-pem-locked", &["-t", "ecdsa", "-b", "384", "-m", "PEM"], "a phrase", true),
    ("p521", &["-t", "ecdsa", "-b", "521"], "", true),
    ("p521-pem", &["-t", "ecdsa", "-b", "521", "-m", "PEM"], "", true),
    ("p521-pkcs8-locked", &["-t", "ecdsa", "-b", "521", "-m", "PKCS8"], "a phrase", true),
    ("ed25519", &["-t", "ed25519"], "", true),
    ("ed25519-locked", &["-t", "ed25519", "-a", "4"], "a phrase", true),
    ("ed25519-aes-gcm", &["-t", "ed25519", "-a", "4", "-Z", "aes128-ctr"], "a phrase", true),
];

// covers: CURLOPT_SSH_PRIVATE_KEYFILE, CURLOPT_SSH_PUBLIC_KEYFILE, CURLOPT_KEYPASSWD, --key, --pubkey, --pass
fn key_files(run: &Context) {
    for (what, server) in [("OpenSSH", openssh("")), ("dropbear", dropbear(&[]))] {
        let file = put(&server, "file", pattern(5000));
        let mut all = String::new();
        for (name, arguments, phrase, _) in KEYS {
            keygen(&server.path(""), name, &[arguments, &["-N", phrase]].concat()).expect("ssh-keygen works");
            all += &fs::read_to_string(server.path(&format!("{name}.pub"))).expect("a public key was made");
        }
        put(&server, "authorized_keys", all);
        for (name, _, phrase, _) in KEYS.iter().filter(|key| run.ours() || key.3) {
            let (key, public, place) =
                (at(&server, name), at(&server, &format!("{name}.pub")), server.url("sftp", &file));
            let with =
                |more: &[&str]| run.run(&mut curl_command(&[&["-k", "--key", &key][..], more].concat()));
            for more in [&["--pass", phrase, &place][..], &["--pass", phrase, "--pubkey", &public, &place]] {
                let output = with(more);
                assert_eq!(
                    (output.status, output.bytes()),
                    (Some(0), &pattern(5000)[..]),
                    "{what}, {name}: {output:?}"
                );
            }
            if !phrase.is_empty() {
                let output = with(&["--pass", "wrong", &place]);
                assert_eq!(output.status, Some(67), "{what}, {name}, another passphrase: {output:?}");
            }
        }
        // A key that is not authorized.
        keygen(&server.path(""), "stranger", &["-t", "ed25519", "-N", ""]).expect("ssh-keygen works");
        let words = ["-k", "--key", &at(&server, "stranger"), &server.url("sftp", &file)];
        let output = run.run(&mut curl_command(&words));
        assert_eq!(output.status, Some(67), "{what}: {output:?}");
    }
}

/// Secrets that unlock a key or log in are not in memory any more after the application has cleaned up.
fn wiped(run: &Context) {
    let left = |server: &Sshd, option: &str, secret: &str, more: &[&str]| {
        let hidden: String = secret.bytes().map(|byte| format!("{:02x}", !byte)).collect();
        let place = url(server, "sftp", "file");
        let words = [&[option, &hidden, "VERBOSE=0"][..], more, &[&place]].concat();
        let output = run.program("wiped", &words);
        assert_eq!(output.fact("code"), "0", "{output:?}");
        assert!(
            output.number("given") > 0 && output.number("kept") > 0,
            "it is seen while it is there: {output:?}"
        );
        output.number("left")
    };
    let phrase = "Q7z passphrase Xk9";
    let server = openssh("");
    put(&server, "file", pattern(5000));
    let mut all = String::new();
    for (name, arguments) in [("openssh", &["-t", "ed25519"][..]), ("pem", &["-t", "rsa", "-m", "PEM"])] {
        keygen(&server.path(""), name, &[arguments, &["-N", phrase]].concat()).expect("ssh-keygen works");
        all += &fs::read_to_string(server.path(&format!("{name}.pub"))).expect("a public key was made");
    }
    put(&server, "authorized_keys", all);
    for name in ["openssh", "pem"] {
        let key = format!("SSH_PRIVATE_KEYFILE={}", at(&server, name));
        assert_eq!(left(&server, "KEYPASSWD", phrase, &[&format!("USERNAME={SSH_USER}"), &key]), 0, "{name}");
    }
    for kind in [
        "PasswordAuthentication yes\nKbdInteractiveAuthentication no",
        "PasswordAuthentication no\nKbdInteractiveAuthentication yes",
    ] {
        let server = openssh_with_password(kind);
        put(&server, "file", pattern(5000));
        let user = format!("USERNAME={SSH_USER}");
        assert_eq!(left(&server, "PASSWORD", SSH_PASSWORD, &[&user, "SSH_AUTH_TYPES=10"]), 0, "{kind}");
    }
}

/// Keys where keys usually are; ours tries more than the first that is there.
fn keys_at_home(run: &Context) {
    let server = openssh("");
    let file = put(&server, "file", pattern(5000));
    keygen(&server.path(""), "rsa", &["-t", "rsa", "-b", "2048", "-N", ""]).expect("ssh-keygen works");
    let login = || {
        let words = ["-k", &server.url("sftp", &file)];
        run.run(curl_command(&words).env("HOME", server.path("")))
    };
    assert_eq!(login().status, Some(67), "nobody has a key");
    let rsa = fs::read_to_string(server.path("rsa")).expect("a key was made");
    put(&server, ".ssh/id_rsa", rsa);
    assert_eq!(login().status, Some(67), "a stranger's key");
    let user = fs::read_to_string(server.path("user_ed25519")).expect("the user has a key");
    put(&server, ".ssh/id_ed25519", user);
    assert_eq!(login().status, Some(if run.ours() { 0 } else { 67 }));
    fs::copy(server.path("rsa.pub"), server.path("authorized_keys")).expect("a file can be copied");
    assert_eq!(login().status, Some(0));
}

/// Keys in an agent, the right one behind others; without a key in a file.
fn agent(run: &Context) {
    let server = openssh("");
    let file = put(&server, "file", pattern(5000));
    let mut all = String::new();
    for (name, arguments) in [
        ("other", &["-t", "ed25519"][..]),
        ("rsa", &["-t", "rsa", "-b", "2048"]),
        ("p384", &["-t", "ecdsa", "-b", "384"]),
    ] {
        keygen(&server.path(""), name, &[arguments, &["-N", ""]].concat()).expect("ssh-keygen works");
        if name != "other" {
            all += &fs::read_to_string(server.path(&format!("{name}.pub"))).expect("a public key was made");
        }
    }
    put(&server, "authorized_keys", all);
    let (other, user) = (server.path("other"), server.path("user_ed25519"));
    for right in ["rsa", "p384"] {
        let right = server.path(right);
        let agent = Agent::start(&[&other, &user, &right]).expect("ssh-agent starts");
        let strangers = Agent::start(&[&other, &user]).expect("ssh-agent starts");
        for (agent, code) in [(&agent, "0"), (&strangers, "67")] {
            for types in ["SSH_AUTH_TYPES=16", "SSH_AUTH_TYPES=-1"] {
                let mut command = Command::new(run.world.program("fetch"));
                command.args([
                    "-n",
                    "2",
                    "-o",
                    types,
                    "-o",
                    "SSH_PRIVATE_KEYFILE=/none",
                    &server.url("sftp", &file),
                ]);
                let output = run.run(command.env("SSH_AUTH_SOCK", agent.socket()));
                assert_eq!(output.facts("code"), [code; 2], "{types}, {}: {output:?}", right.display());
            }
        }
        let mut command = Command::new(run.world.program("fetch"));
        command.args([
            "-o",
            "SSH_AUTH_TYPES=1",
            "-o",
            "SSH_PRIVATE_KEYFILE=/none",
            &server.url("sftp", &file),
        ]);
        let output = run.run(command.env("SSH_AUTH_SOCK", agent.socket()));
        assert_eq!(output.fact("code"), "67", "an agent that nobody asked for: {output:?}");
    }
}

/// The arguments of host key functions, and the effect of each result.
// covers: CURLOPT_SSH_KEYFUNCTION, CURLOPT_SSH_KEYDATA, CURLOPT_SSH_HOSTKEYFUNCTION, CURLOPT_SSH_HOSTKEYDATA,
// CURLOPT_SSH_KNOWNHOSTS
fn host_keys(run: &Context) {
    let server = openssh("");
    put(&server, "file", b"x");
    let ed25519 = fs::read_to_string(server.path("host_ed25519.pub")).expect("the host has a key");
    keygen(&server.path(""), "other", &["-t", "ed25519", "-N", ""]).expect("ssh-keygen works");
    let other = fs::read_to_string(server.path("other.pub")).expect("a public key was made");
    let name = format!("[127.0.0.1]:{}", server.port);
    let around = format!("# mine\nelsewhere.example {other}");
    for (file, text) in [
        ("known", format!("{name} {ed25519}")),
        ("changed", format!("{name} {other}")),
        ("empty", String::new()),
        ("empty_to_add", around.clone()),
        ("changed_to_replace", format!("{around}{name} {other}")),
    ] {
        put(&server, file, text);
    }
    let base64 = |line: &str| line.split(' ').nth(1).unwrap_or_default().to_owned();
    let words = [&*url(&server, "sftp", "file"), &at(&server, "user_ed25519"), &at(&server, "")];
    // Debian's library never comes back from CURLKHSTAT_DEFER.
    let defer = if run.ours() { &["defer"][..] } else { &[] };
    let output = run.program("host_keys", &[&words[..], defer].concat());
    let ed = 5;
    for (what, code, matched, known) in [
        ("known_fine", 0, 0, true),
        ("known_reject", 60, 0, true),
        ("known_defer", 60, 0, true),
        ("changed_fine", 0, 1, true),
        ("changed_reject", 60, 1, true),
        ("missing_fine", 0, 2, false),
        ("missing_reject", 60, 2, false),
        ("missing_defer", 60, 2, false),
        ("missing_nonsense", 60, 2, false),
        ("missing_add", 0, 2, false),
        ("added_reject", 60, 0, true),
        ("changed_replace", 0, 1, true),
        ("replaced_reject", 60, 0, true),
    ] {
        if what.ends_with("_defer") && !run.ours() {
            continue;
        }
        let line =
            output.stdout.lines().find(|line| line.starts_with(&format!("{what}="))).unwrap_or_default();
        // Where the file names none, the server shows another kind to each library.
        let ecdsa = what == "added_reject" && !run.ours();
        let known_type = match known {
            true if ecdsa => 4,
            true => ed,
            false => -1,
        };
        let expected = format!(
            "{what}={code} asked=1 match={matched} known={} known_length=0 known_type={known_type}",
            i32::from(known)
        );
        assert!(line.starts_with(&expected), "{expected}: {output:?}");
        if known {
            let text = if what.starts_with("changed") { base64(&other) } else { base64(&ed25519) };
            let added = what == "added_reject"; // by whichever key the server showed
            assert!(added || output.fact(&format!("{what}_text")) == text, "{what}: {output:?}");
            assert!(added || line.ends_with(&format!("found_type={ed} blob=ssh-ed25519")), "{line}");
        }
    }
    for (what, code) in [
        ("alone_ok", "0"),
        ("alone_mismatch", "60"),
        ("file_known", "0"),
        ("file_changed", "60"),
        ("file_missing", "60"),
    ] {
        assert_eq!(output.fact(what), code, "{what}: {output:?}");
    }
    let read = |name: &str| fs::read_to_string(server.path(name)).unwrap_or_default();
    let added = read("empty_to_add");
    assert!(added.contains(&format!("elsewhere.example {}", base_line(&other))), "{added}");
    // 7.88 writes the host down without its port.
    let name = if run.ours() { name } else { "127.0.0.1".to_owned() };
    assert_eq!(added.matches(&name).count(), 1, "{added}");
    let replaced = read("changed_to_replace");
    assert!(replaced.contains(&format!("{name} ssh-ed25519 {}", base64(&ed25519))), "{replaced}");
    assert_eq!(replaced.matches(&name).count(), 1, "{replaced}");
    for untouched in ["known", "changed", "empty"] {
        assert!(read(untouched).lines().count() <= 1, "{untouched}");
    }
    if run.ours() {
        assert!(added.starts_with(&around) && replaced.starts_with(&around), "{added}{replaced}");
    }
}

/// Type and key, without the comment.
fn base_line(public: &str) -> String {
    public.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// Lines as ssh-keygen(1) and people write them.
// covers: --knownhosts, --hostpubmd5, --hostpubsha256
fn known_hosts_files(run: &Context) {
    let server = openssh("");
    put(&server, "file", b"text");
    let public = fs::read_to_string(server.path("host_ed25519.pub")).expect("the host has a key");
    let port = server.port;
    keygen(&server.path(""), "other", &["-t", "ed25519", "-N", ""]).expect("ssh-keygen works");
    let other = fs::read_to_string(server.path("other.pub")).expect("a public key was made");
    put(&server, "hashed", format!("[127.0.0.1]:{port} {public}"));
    let mut hash = Command::new("ssh-keygen");
    assert!(
        hash.args(["-q", "-H", "-f", &at(&server, "hashed")])
            .output()
            .expect("ssh-keygen runs")
            .status
            .success()
    );
    let hashed = fs::read_to_string(server.path("hashed")).expect("the file is there");
    assert!(hashed.starts_with("|1|"), "{hashed}");
    // Features that libssh2 lacks are tested only with ours.
    for (what, text, code, newer) in [
        ("the port", format!("[127.0.0.1]:{port} {public}"), 0, false),
        ("another port", format!("[127.0.0.1]:1 {public}"), 60, false),
        ("names", format!("a.example,[127.0.0.1]:{port} {public}"), 0, false),
        ("hashed", hashed, 0, false),
        ("empty lines and remarks", format!("\n# x\n[127.0.0.1]:{port} {public}"), 0, false),
        ("no line end", format!("[127.0.0.1]:{port} {}", public.trim_end()), 0, false),
        ("another key", format!("[127.0.0.1]:{port} {other}"), 60, false),
        ("another key besides", format!("[127.0.0.1]:{port} {other}[127.0.0.1]:{port} {public}"), 0, false),
        ("nothing", String::new(), 60, false),
        ("wildcards", format!("[127.0.*]:* {public}"), 0, true),
        ("a denied name", format!("!*,[127.0.0.1]:{port} {public}"), 60, true),
        ("revoked", format!("@revoked * {public}[127.0.0.1]:{port} {public}"), 60, true),
    ] {
        let file = put(&server, "hosts", text);
        if newer && !run.ours() {
            continue;
        }
        let words = ["--key", &at(&server, "user_ed25519"), &url(&server, "sftp", "file")];
        // Debian's tool has no flag for it and reads the file of the user's home.
        fs::create_dir_all(server.path(".ssh")).expect("a folder can be made");
        fs::copy(&file, server.path(".ssh/known_hosts")).expect("a file can be copied");
        let output = run.run(curl_command(&words).env("HOME", server.path("")));
        assert_eq!(output.status, Some(code), "{what}: {output:?}");
        assert_eq!(output.stdout == "text", code == 0, "{what}: {output:?}");
    }
}

/// An authority vouches for the host: its certificate is taken where the name, the time and the authority are
/// right.
fn host_certificates(run: &Context) {
    let server = openssh("");
    let place = server.path("");
    keygen(&place, "authority", &["-t", "ed25519", "-N", ""]).expect("ssh-keygen works");
    keygen(&place, "other", &["-t", "ecdsa", "-N", ""]).expect("ssh-keygen works");
    let authority = fs::read_to_string(server.path("authority.pub")).expect("a public key was made");
    let other = fs::read_to_string(server.path("other.pub")).expect("a public key was made");
    for (kind, arguments, line, code) in [
        ("ed25519", &["-n", "127.0.0.1"][..], format!("@cert-authority * {authority}"), 0),
        ("rsa", &["-n", "127.0.0.1,other"], format!("@cert-authority * {authority}"), 0),
        ("ecdsa", &[], format!("@cert-authority [127.0.0.1]:* {authority}"), 0),
        ("ed25519", &["-n", "elsewhere"], format!("@cert-authority * {authority}"), 60),
        ("ed25519", &["-V", "20200101:20210101"], format!("@cert-authority * {authority}"), 60),
        ("ed25519", &["-n", "127.0.0.1"], format!("@cert-authority elsewhere {authority}"), 60),
        ("ed25519", &["-n", "127.0.0.1"], format!("@cert-authority * {other}"), 60),
        ("ed25519", &["-n", "127.0.0.1"], format!("@cert-authority * {authority}@revoked * {authority}"), 60),
    ] {
        let public = at(&server, &format!("host_{kind}.pub"));
        let mut sign = Command::new("ssh-keygen");
        sign.args(["-q", "-s", &at(&server, "authority"), "-I", "host", "-h"]).args(arguments).arg(&public);
        let signed = sign.output().expect("ssh-keygen runs");
        assert!(signed.status.success(), "{}", String::from_utf8_lossy(&signed.stderr));
        let shown = Sshd::start(&format!(
            "HostKey {}\nHostCertificate {}",
            at(&server, &format!("host_{kind}")),
            at(&server, &format!("host_{kind}-cert.pub"))
        ));
        let shown = shown.expect("OpenSSH's server starts");
        put(&shown, "file", b"text");
        let known = put(&shown, "hosts", &line);
        let key = format!("SSH_PRIVATE_KEYFILE={}", at(&shown, "user_ed25519"));
        let output = run.program(
            "fetch",
            &["-o", &key, "-o", &format!("SSH_KNOWNHOSTS={known}"), &url(&shown, "sftp", "file")],
        );
        assert_eq!(output.fact("code"), code.to_string(), "{kind} {arguments:?} {line}: {output:?}");
    }
}

/// Command lines, with the results of Debian's library as well.
// covers: CURLOPT_QUOTE, CURLOPT_POSTQUOTE, CURLOPT_DIRLISTONLY, CURLOPT_FTP_CREATE_MISSING_DIRS,
// CURLOPT_NEW_FILE_PERMS,
// CURLOPT_NEW_DIRECTORY_PERMS, CURLOPT_APPEND, CURLOPT_RANGE, CURLOPT_NOBODY, CURLOPT_FILETIME
fn command_lines(run: &Context) {
    for server in [openssh(""), dropbear(&[])] {
        let folder = at(&server, "work");
        let fresh = || {
            let _ = fs::remove_dir_all(&folder);
            put(&server, "work/file", pattern(1000));
            put(&server, "work/empty", b"");
            put(&server, "work/new", b"0123456789");
        };
        let (scp, sftp) = (server.url("scp", &folder), server.url("sftp", &folder));
        let say = |words: &[&str]| {
            let output = curl(run, &server, words);
            (output.status.unwrap_or(-1), output)
        };
        let file = format!("{sftp}/file");
        let local = put(&server, "local", b"abcdefghij");
        let facts = |words: &[&str], code: i32, body: &[u8]| {
            fresh();
            let (status, output) = say(words);
            run.compare(&format!("{words:?}"), (status, output.bytes()), (code, body), &output);
        };
        let bytes = pattern(1000);
        // Downloads.
        facts(&[&file], 0, &bytes);
        facts(&["-r", "10-19", &file], 0, &bytes[10..20]);
        facts(&["-r", "990-2000", &file], 0, &bytes[990..]);
        facts(&["-r", "-7", &file], 0, &bytes[993..]);
        facts(&["-r", "0-0", &file], 0, &bytes[..1]);
        facts(&["-r", "2000-", &file], if run.ours() { 33 } else { 36 }, b""); // as in 8.22
        facts(&["-C", "995", &file], 0, &bytes[995..]);
        facts(&["-C", "1001", &file], 36, b"");
        facts(&[&format!("{sftp}/none")], 78, b"");
        facts(&[&format!("{scp}/none")], 78, b"");
        facts(&[&format!("{sftp}/none/")], 78, b"");
        facts(&["-I", &file], 0, b"");
        facts(&["-I", &format!("{scp}/file")], 0, b"");
        facts(&["-I", "-w", "%{exitcode}", &format!("{sftp}/none")], 78, b"78");
        facts(&["-r", "0-9", &format!("{sftp}/%6eew")], 0, b"0123456789");
        // Folders.
        fresh();
        let (status, listed) = say(&["-l", &format!("{sftp}/")]);
        let mut names: Vec<&str> = listed.stdout.lines().collect();
        names.sort_unstable();
        assert_eq!((status, names), (0, vec![".", "..", "empty", "file", "new"]), "{listed:?}");
        let (status, listed) = say(&[&format!("{sftp}/")]);
        assert_eq!(status, 0);
        assert!(
            listed
                .stdout
                .lines()
                .any(|l| l.starts_with("-rw") && l.contains(" 1000 ") && l.ends_with(" file")),
            "{listed:?}"
        );
        // Uploads.
        let mode = |name: &str| {
            use std::os::unix::fs::PermissionsExt;
            fs::metadata(server.path(name))
                .map(|known| known.permissions().mode() & 0o7777)
                .unwrap_or_default()
        };
        let read = |name: &str| fs::read(server.path(name)).unwrap_or_default();
        let goes = |words: &[&str], code: i32| {
            fresh();
            let (status, output) = say(words);
            run.compare(&format!("{words:?}"), status, code, &output);
        };
        goes(&["-T", &local, &format!("{sftp}/up")], 0);
        assert_eq!((read("work/up"), mode("work/up")), (b"abcdefghij".to_vec(), 0o644));
        goes(&["-T", &local, "--create-file-mode", "0600", &format!("{sftp}/up")], 0);
        assert_eq!(mode("work/up"), 0o600);
        goes(&["-T", &local, "--create-file-mode", "0600", &format!("{scp}/up")], 0);
        assert_eq!((read("work/up"), mode("work/up")), (b"abcdefghij".to_vec(), 0o600));
        goes(&["-T", &local, &format!("{sftp}/a/b/c/up")], 78);
        goes(&["-T", &local, "--ftp-create-dirs", &format!("{sftp}/a/b/c/up")], 0);
        assert_eq!((read("work/a/b/c/up"), mode("work/a/b")), (b"abcdefghij".to_vec(), 0o755));
        goes(&["-T", &local, "-a", &format!("{sftp}/new")], 0);
        assert_eq!(read("work/new"), b"0123456789abcdefghij");
        goes(&["-T", &local, "-a", &format!("{sftp}/newer")], 0);
        assert_eq!(read("work/newer"), b"abcdefghij");
        goes(&["-T", &local, &format!("{sftp}/new")], 0);
        assert_eq!(read("work/new"), b"abcdefghij", "what was longer is cut");
        goes(&["-T", &local, "-C", "4", &format!("{sftp}/new")], 0);
        // 7.88 opens the file to resume in append mode.
        assert_eq!(read("work/new"), if run.ours() { &b"0123efghij"[..] } else { b"0123456789efghij" });
        put(&server, "long", pattern(5000));
        fresh();
        put(&server, "work/part", &pattern(5000)[..1234]);
        let (status, output) = say(&["-T", &at(&server, "long"), "-C", "-", &format!("{sftp}/part")]);
        assert_eq!((status, read("work/part") == pattern(5000)), (0, true), "{output:?}");
        // Commands.
        let q = |command: &str| command.replace('@', &folder);
        // libssh2 1.10.0-3+deb12u1 makes no links any more: "Unknown error in libssh2".
        let link = if run.ours() { 0 } else { 21 };
        for (command, code) in [
            ("mkdir @/d", 0),
            ("mkdir @/file", 21),
            ("*mkdir @/file", 0),
            ("rm @/new", 0),
            ("rm @/none", 21),
            ("*rm @/none", 0),
            ("rmdir @/none", 21),
            ("rename @/new @/newer", 0),
            ("rename @/none @/newer", 21),
            ("chmod 600 @/new", 0),
            ("chmod 600 @/none", 21),
            ("ln @/new @/link", link),
            ("symlink @/new @/link", link),
            ("chown 12 @/new", 0),
            ("chgrp 12 @/new", 0),
            ("chown x @/new", 21),
            ("mtime \"Feb 3 04:05:06 2001 GMT\" @/new", 0),
            ("atime 'Feb 3 04:05:06 2001 GMT' @/new", 0),
            ("mtime never @/new", 21),
            ("statvfs @/new", 0),
            ("statvfs @/none", 21),
            ("rm \"@/new\"", 0),
            ("rm \"@/new", 21),
            ("nonsense @/new", 21),
            ("*nonsense @/new", 21),
        ] {
            goes(&["-o", "/dev/null", "-Q", &q(command), &file], code);
            // statvfs, and the codes of a second name, are the same after the transfer.
            goes(&["-o", "/dev/null", "-Q", &format!("-{}", q(command)), &file], code);
        }
        goes(&["-o", "/dev/null", "-Q", &q("chmod 640 @/new"), &file], 0);
        assert_eq!(mode("work/new"), 0o640);
        goes(&["-o", "/dev/null", "-Q", &q("-rm @/new"), &format!("{sftp}/none")], 78);
        assert!(server.path("work/new").exists(), "nothing is done behind a transfer that failed");
        // The time of the file.
        fresh();
        let got = at(&server, "got");
        let (status, output) =
            say(&["-R", "-o", &got, "-Q", &q("mtime \"Feb 3 04:05:06 2001 GMT\" @/file"), &file]);
        let time = fs::metadata(&got).and_then(|known| known.modified()).expect("the file is there");
        let since = time.duration_since(std::time::UNIX_EPOCH).map(|d| d.as_secs()).unwrap_or_default();
        assert_eq!((status, since), (0, 981_173_106), "{output:?}");
        // Where the user is at home.
        let home = |name: &str| format!("sftp://{SSH_USER}@127.0.0.1:{}/~/{name}", server.port);
        if server.path(".ssh").exists() {
            facts(&[&home("work/new")], 0, b"0123456789");
            facts(&[&home("work/new").replace("sftp:", "scp:")], 0, b"0123456789");
        }
    }
}

/// The server requests new keys with every megabyte, in both directions, and no byte is lost.
fn rekey(run: &Context) {
    through(run, 1, 64);
}

fn gigabyte(run: &Context) {
    through(run, 64, 1024);
}

/// So many megabytes, both ways, with new keys after so many.
fn through(run: &Context, renewed: usize, megabytes: usize) {
    let server = openssh(&format!("RekeyLimit {renewed}M\nLogLevel DEBUG1"));
    let large = at(&server, "large");
    let mut file = fs::File::create(&large).expect("a file can be made");
    for number in 0..megabytes {
        let piece = pattern((1 << 20) + number);
        std::io::Write::write_all(&mut file, &piece[number..]).expect("a file can be written");
    }
    for scheme in ["sftp", "scp"] {
        let (back, up) = (at(&server, "back"), url(&server, scheme, "up"));
        let got = curl(run, &server, &["-o", &back, &url(&server, scheme, "large")]);
        assert_eq!(got.status, Some(0), "{scheme}: {got:?}");
        assert!(same_files(&large, &back), "{scheme}: what came is not what there is");
        let stored = curl(run, &server, &["-T", &large, &up]);
        assert_eq!(stored.status, Some(0), "{scheme}: {stored:?}");
        assert!(same_files(&large, &at(&server, "up")), "{scheme}: what was stored is not what there is");
    }
    let count = server.log().matches("SSH2_MSG_NEWKEYS received").count();
    assert!(count > 2 * (megabytes / renewed), "keys were renewed {count} times");
}

fn same_files(one: &str, other: &str) -> bool {
    Command::new("cmp").args(["-s", one, other]).status().is_ok_and(|status| status.success())
}

/// Each way to exchange keys that Go's x/crypto has, ML-KEM among them, many times within a file, both ways.
fn go(run: &Context) {
    let content = pattern(3_000_000);
    for (method, theirs) in [
        ("mlkem768x25519-sha256", false),
        ("curve25519-sha256", true),
        ("ecdh-sha2-nistp256", true),
        ("ecdh-sha2-nistp384", true),
        ("ecdh-sha2-nistp521", true),
        ("diffie-hellman-group14-sha256", true),
        ("diffie-hellman-group16-sha512", true),
    ] {
        if !run.ours() && !theirs {
            continue;
        }
        let server = Sshd::go(method, 400_000, &content).expect("the server in Go starts");
        let file = url(&server, "scp", "file");
        let got = curl(run, &server, &[&file]);
        assert!(got.status == Some(0) && got.bytes() == content, "{method}: {:?} {}", got.status, got.stderr);
        let stored = curl(run, &server, &["-T", &at(&server, "file"), &file]);
        assert_eq!(stored.status, Some(0), "{method}: {stored:?}");
        let logins = server.log().matches(&format!("logged in, keys by {method}\n")).count();
        assert_eq!(logins, 2, "{method}: {}", server.log());
    }
}

/// A thousand small files by one handle, over one connection; dropbear and OpenSSH.
fn thousand(run: &Context) {
    for (accepted, server) in [("Accepted publickey", openssh("")), ("Pubkey auth succeeded", dropbear(&[]))]
    {
        put(&server, "file", pattern(1500));
        let key = format!("SSH_PRIVATE_KEYFILE={}", at(&server, "user_ed25519"));
        let output = run.program("fetch", &["-n", "1000", "-o", &key, &url(&server, "sftp", "file")]);
        assert_eq!(output.facts("sum"), vec![&*sum(1500); 1000], "{output:?}");
        assert_eq!(server.log().matches(accepted).count(), 1, "{}", server.log());
    }
}

/// A server that accepts two channels per connection: no transfer fails. Ours share connections.
fn max_sessions(run: &Context) {
    let server = openssh("MaxSessions 2");
    put(&server, "file", pattern(50_000));
    let key = format!("SSH_PRIVATE_KEYFILE={}", at(&server, "user_ed25519"));
    for scheme in ["sftp", "scp"] {
        let output =
            run.program("fetch", &["-w", "poll", "-n", "30", "-o", &key, &url(&server, scheme, "file")]);
        assert_eq!(output.facts("sum"), vec![&*sum(50_000); 30], "{scheme}: {output:?}");
    }
    let logins = server.log().matches("Accepted publickey").count();
    assert!(if run.ours() { logins <= 40 } else { logins == 60 }, "{logins} connections");
}

/// Cut in the middle at any place: never taken for whole, and the next attempts go on until all is there.
fn cut_off(run: &Context) {
    let server = openssh("");
    let length = 3_000_000;
    let large = put(&server, "large", pattern(length));
    let direct: SocketAddr = ([127, 0, 0, 1], server.port).into();
    let mut seed = 1_u64;
    let mut random = |most: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % most
    };
    for round in 0..6 {
        let (down, up) = (format!("down-{round}"), format!("up-{round}"));
        let mut cuts = 0;
        // A download, resumed until it is whole.
        for attempt in 0.. {
            assert!(attempt < 60, "no end: {cuts} cuts");
            let cutter = Cutter::start(direct, 5000 + random(1_500_000));
            let from = format!("sftp://{SSH_USER}@127.0.0.1:{}{large}", cutter.port());
            let output = curl(run, &server, &["-C", "-", "-o", &at(&server, &down), &from]);
            let have = fs::read(server.path(&down)).unwrap_or_default();
            assert!(pattern(length).starts_with(&have), "what came is the file's: {output:?}");
            if output.status == Some(0) {
                assert_eq!(have.len(), length, "{output:?}");
                break;
            }
            cuts += 1;
            assert!(have.len() <= length && output.status.is_some(), "{output:?}");
        }
        // An upload: the server sends little, so that few bytes are a cut in the middle.
        for attempt in 0.. {
            assert!(attempt < 60, "no end: {cuts} cuts");
            let cutter = Cutter::start(direct, 2500 + random(4000) + attempt * 300);
            let to = format!("sftp://{SSH_USER}@127.0.0.1:{}{}", cutter.port(), at(&server, &up));
            let output = curl(run, &server, &["-C", "-", "-T", &large, &to]);
            if output.status == Some(0) {
                break;
            }
            cuts += 1;
            assert!(output.status.is_some(), "{output:?}");
        }
        assert!(same_files(&large, &at(&server, &up)), "what was resumed is not what there is");
        assert!(cuts > 0);
    }
    for scheme in ["sftp", "scp"] {
        for _ in 0..6 {
            let cutter = Cutter::start(direct, random(1_000_000));
            let from = format!("{scheme}://{SSH_USER}@127.0.0.1:{}{large}", cutter.port());
            let output = curl(run, &server, &["-o", "/dev/null", &from]);
            assert!(output.status.is_some_and(|code| code > 0), "{scheme}: {output:?}");
        }
    }
}

/// File names with all allowed characters, with both protocols and in both directions.
fn names(run: &Context) {
    let server = openssh("");
    let names: [&[u8]; 8] =
        [b"a b", b"it's", b"say \"it\"", b"$(id);`id`", b"a\\b", b"*?[x]", b"\xe4\xf6", b"-rf --"];
    for name in names {
        let encoded: String = name.iter().map(|byte| format!("%{byte:02x}")).collect();
        let path = server.path("").join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name));
        for scheme in ["sftp", "scp"] {
            let place = url(&server, scheme, &encoded);
            let local = put(&server, "local", name);
            let stored = curl(run, &server, &["-T", &local, &place]);
            assert_eq!(
                (stored.status, fs::read(&path).ok()),
                (Some(0), Some(name.to_vec())),
                "{scheme}: {stored:?}"
            );
            let back = curl(run, &server, &[&place]);
            assert_eq!((back.status, back.bytes()), (Some(0), name), "{scheme}: {back:?}");
            fs::remove_file(&path).expect("the file is there");
        }
    }
    assert!(!Path::new("id").exists());
}

/// PHP's curl and pycurl.
fn languages(run: &Context) {
    let server = openssh("");
    let known = server.known_hosts().expect("the host has keys");
    let folder = server.url("sftp", at(&server, "").trim_end_matches('/'));
    let php = (std::path::PathBuf::from("php"), "sftp.php", "php");
    for (program, script, name) in [php, (run.world.python(), "sftp.py", "python")] {
        let mut command = Command::new(program);
        command.arg(run.world.script(script)).arg(&folder).arg(server.path("user_ed25519")).arg(&known);
        let output = run.run(&mut command);
        assert_eq!(output.status, Some(0), "{output:?}");
        assert_eq!(output.fact("ours"), if run.ours() { "1" } else { "0" }, "{output:?}");
        for (fact, value) in [
            ("speaks", "1"),
            ("put", "0"),
            ("same", "1"),
            ("time", "1"),
            ("length", "300000"),
            ("end", "1"),
            ("names", ".,..,new"),
            ("none", "1"),
            ("none_code", "78"),
            ("unknown", "60"),
        ] {
            assert_eq!(output.fact(fact), value, "{name}, {fact}: {output:?}");
        }
        assert!(name == "php" || output.fact("judged") == "1", "{output:?}");
    }
}
