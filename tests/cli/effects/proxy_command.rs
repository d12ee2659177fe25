//! `--proxy-command`: connections by way of a relay in Python and of OpenSSH.

use super::{Ran, curl, curl_in, folder_with, ran};
use crate::{empty_folder, here, run, tool};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use testkit::certs::Authority;
use testkit::ftp::FtpServer;
use testkit::http::{HttpServer, Response};
use testkit::launch::{Ftpd, FtpdKind, Sshd};

fn relay() -> String {
    format!("python3 {} %h %p", here().join("relay.py").display())
}

/// The arguments of the relays that a run has started, and their process IDs.
fn calls(folder: &Path) -> Vec<(String, u32)> {
    let text = std::fs::read_to_string(folder.join("calls")).unwrap_or_default();
    let split = |line: &str| {
        let (words, number) = line.rsplit_once(' ').unwrap();
        (words.to_owned(), number.parse().unwrap())
    };
    text.lines().map(split).collect()
}

fn destinations(ran: &Ran) -> Vec<String> {
    calls(&ran.folder).into_iter().map(|(words, _)| words).collect()
}

/// Waits until none of the commands is left.
fn are_gone(numbers: impl IntoIterator<Item = u32>) {
    let until = Instant::now() + Duration::from_secs(10);
    for number in numbers {
        let is_there = || {
            std::fs::read_to_string(format!("/proc/{number}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
        };
        while is_there() {
            assert!(Instant::now() < until, "process {number} is left");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_connection_keeps_its_command() {
    let server = HttpServer::plain();
    let urls = [1, 2, 3].map(|n| format!("http://name.test:{}/text/{n}", server.port()));
    let ran = curl(&["--proxy-command", &relay(), &urls[0], &urls[1], &urls[2]]);
    assert_eq!((ran.code, ran.stdout.len()), (0, 6), "{}", ran.stderr);
    assert_eq!(destinations(&ran), [format!("name.test {}", server.port())], "one connection");
    are_gone(calls(&ran.folder).into_iter().map(|(_, number)| number));
    // Another command is another way, also to the same place.
    let other = format!("env {}", relay());
    let ran = curl(&["--proxy-command", &relay(), &urls[0], "--next", "--proxy-command", &other, &urls[1]]);
    assert_eq!((ran.code, calls(&ran.folder).len()), (0, 2), "{}", ran.stderr);
    let words = ["-Z", "--parallel-immediate", "--proxy-command", &relay()];
    let ran = curl(&[&words[..], &urls.each_ref().map(String::as_str)].concat());
    assert_eq!((ran.code, ran.stdout.len()), (0, 6), "{}", ran.stderr);
}

// covers: --cacert
#[test]
fn tls_runs_through_a_command() {
    let authority = Authority::new();
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    let folder = folder_with("ca.pem", authority.ca_pem());
    let url = format!("https://localhost:{}/text/5", server.port());
    let ran = curl_in(folder, &["--cacert", "ca.pem", "--proxy-command", &relay(), &url]);
    assert_eq!((ran.code, ran.stdout.len()), (0, 5), "{}", ran.stderr);
    assert_eq!(destinations(&ran), [format!("localhost {}", server.port())]);
    let ran = curl(&["--proxy-command", &relay(), &url]);
    assert_eq!(ran.code, 60, "{}", ran.stderr);
    assert!(!ran.stderr.contains("--proxy-command"), "the command is not to blame: {}", ran.stderr);
}

#[test]
fn data_connections_of_ftp_have_commands_of_their_own() {
    let server = FtpServer::with_file("/file", "text\n");
    let url = format!("ftp://name.test:{}/file", server.address().port());
    let ran = curl(&["--proxy-command", &relay(), &url, &url]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "text\ntext\n"), "{}", ran.stderr);
    let found = destinations(&ran);
    assert_eq!((found.len(), server.accepts(), server.data_accepts()), (3, 1, 2), "{found:?}");
    are_gone(calls(&ran.folder).into_iter().map(|(_, number)| number));
    // vsftpd, with TLS for commands and data.
    let authority = Authority::new();
    let leaf = authority.good();
    let real = Ftpd::start(FtpdKind::Vsftpd, &leaf, &[]).unwrap();
    real.put("/f", &[b'x'; 3000]).unwrap();
    let url = real.url("/f");
    let folder = folder_with("ca.pem", authority.ca_pem());
    let ran = curl_in(folder, &["--ssl-reqd", "--cacert", "ca.pem", "--proxy-command", &relay(), &url]);
    assert_eq!((ran.code, ran.stdout.len(), destinations(&ran).len()), (0, 3000, 2), "{}", ran.stderr);
}

/// `ssh -W` is what people use: the gateway connects to the host.
// covers: --key
#[test]
fn openssh_is_the_command() {
    let gateway = Sshd::start("").unwrap();
    let (key, known) = (gateway.path("user_ed25519"), gateway.known_hosts().unwrap());
    let flags = format!(
        "-F /dev/null -i {} -o UserKnownHostsFile={} -o BatchMode=yes -p {} root@127.0.0.1",
        key.display(),
        known.display(),
        gateway.port
    );
    let server = HttpServer::plain();
    let command = format!("ssh -W %h:%p {flags}");
    let url = format!("http://localhost:{}/text/70000", server.port());
    let ran = curl(&["--proxy-command", &command, &url, "-o", "one", &url, "-o", "two"]);
    assert_eq!(
        (ran.code, ran.file("one").len(), ran.file("two").len()),
        (0, 70_000, 70_000),
        "{}",
        ran.stderr
    );
    // SFTP to the same server by way of it.
    let file = gateway.write("file", "text\n").unwrap();
    let url = gateway.url("sftp", &file.display().to_string());
    let words = ["--key", key.to_str().unwrap(), "--knownhosts", known.to_str().unwrap()];
    let ran = curl(&[&words[..], &["--proxy-command", &command, &url]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "text\n"), "{}", ran.stderr);
    // OpenSSH expands the same command to the same words.
    let command = format!("python3 {} %h %p a%%b", here().join("relay.py").display());
    let folder = empty_folder();
    let own = format!("ProxyCommand={command}");
    let words: Vec<&str> = flags.split(' ').collect();
    let out = run("ssh", &[&["-o", &own][..], &words, &["true"]].concat(), &folder);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let words = ["--key", key.to_str().unwrap(), "--knownhosts", known.to_str().unwrap()];
    let ran = curl(&[&words[..], &["--proxy-command", &command, &url]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(calls(&folder)[0].0, destinations(&ran)[0]);
}

#[test]
fn a_command_that_fails_is_named() {
    let server = HttpServer::plain();
    let url = server.url("/text/5");
    for (command, why) in [
        ("sh -c 'echo reason >&2; exit 3'", "exited with status 3"),
        ("/nonexistent/command", "exited with status 127"),
        ("sh -c 'kill -9 $$'", "was ended by signal 9"),
    ] {
        let ran = curl(&["--proxy-command", command, &url]);
        assert!(matches!(ran.code, 52 | 55 | 56), "{command}: {} {}", ran.code, ran.stderr);
        let line = format!("curl: the command of --proxy-command {why}\n");
        assert!(ran.stderr.ends_with(&line), "{command}: {}", ran.stderr);
        assert!(command.contains("reason") == ran.stderr.contains("reason\n"), "{}", ran.stderr);
    }
    // A server that ends is not the command's failure.
    let cut = HttpServer::with(|_| {
        Some(Response::raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", testkit::http::After::Cut))
    });
    let ran = curl(&["--proxy-command", &relay(), &cut.url("/")]);
    assert!(ran.code == 18 && !ran.stderr.contains("--proxy-command"), "{}", ran.stderr);
}

// covers: --max-time
#[test]
fn a_command_ends_with_its_transfer() {
    // nohup starts the tool, and so the command, with SIGHUP ignored.
    for before in ["", "trap '' HUP;"] {
        let mut tool_in_shell = Command::new("sh");
        tool_in_shell.args(["-c", &format!("{before} exec \"$0\" \"$@\""), tool(), "-sS", "-m", "1"]);
        let command = "sh -c 'echo %h %p $$ >calls; exec sleep 1000'";
        tool_in_shell.args(["--proxy-command", command, "http://name.test/"]);
        let ran = ran(&mut tool_in_shell, empty_folder());
        assert_eq!(ran.code, 28, "{}", ran.stderr);
        let numbers: Vec<u32> = calls(&ran.folder).into_iter().map(|(_, number)| number).collect();
        assert_eq!(numbers.len(), 1, "{before}");
        are_gone(numbers);
    }
}

/// CVE-2023-51385 of OpenSSH: a host from a URL or a redirect is a word of the command.
// covers: --location
#[test]
fn a_host_that_a_program_would_take_for_an_option_is_refused() {
    let server = HttpServer::with(|request| {
        let leads = request.path() == "/";
        Some(if leads {
            Response::status(302).with("Location", "http://-oProxyCommand.test/")
        } else {
            Response::ok("x")
        })
    });
    let url = server.url("/");
    let ran = curl(&["-L", "--proxy-command", &relay(), &url]);
    let why = "is not run: \"-oProxyCommand.test\" could be misread by a shell or a program\n";
    assert!(ran.code == 97 && ran.stderr.ends_with(why), "{} {}", ran.code, ran.stderr);
    assert_eq!(destinations(&ran).len(), 1);
}

// covers: --proxy, --noproxy, --preproxy, --unix-socket
#[test]
fn other_ways_beside_a_command() {
    let server = HttpServer::plain();
    let url = server.url("/text/5");
    let command = ["--proxy-command", "exit 1"];
    for other in [
        &["--preproxy", "socks5://127.0.0.1:1"][..],
        &["--unix-socket", "s"],
        &["--abstract-unix-socket", "s"],
    ] {
        let ran = curl(&[&command[..], other, &[&url]].concat());
        let text = format!("--proxy-command can't be combined with {}\n", other[0]);
        assert!(ran.code == 2 && ran.stderr.contains(&text), "{}", ran.stderr);
    }
    let ran = curl(&[&command[..], &["--proxy", &server.url("/"), "http://name.test/text/5"]].concat());
    assert_eq!(ran.code, 0, "the last one is used: {}", ran.stderr);
    let ran = curl(&["--noproxy", "127.0.0.1", "--proxy-command", "exit 1", &url]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = curl(&["--watch", "1", "--proxy-command", "exit 1", &url]);
    assert!(
        ran.code == 2 && ran.stderr.contains("--watch can't be combined with --proxy-command"),
        "{}",
        ran.stderr
    );
    let ran = curl(&["--proxy-command", "nc %x", &url]);
    assert!(ran.code == 2 && ran.stderr.contains("%h is the host"), "{}", ran.stderr);
}
