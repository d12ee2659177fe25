//! `--agent`: a call through an agent has the same results as one without, and only authorised processes may
//! use it.

use super::{Ran, folder_with};
use crate::{clean, empty_folder, tool};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::certs::Authority;
use testkit::http::HttpServer;
use testkit::launch::{Sshd, keygen};

/// A test's own agents: they are in a directory of its own, and end with it.
struct Agents {
    runtime: PathBuf,
    folder: PathBuf,
}

impl Agents {
    fn new() -> Agents {
        Agents { runtime: empty_folder(), folder: empty_folder() }
    }

    /// A program in the test's folder that finds these agents.
    fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        clean(&mut command).env("XDG_RUNTIME_DIR", &self.runtime).env("TOOL", tool());
        command.current_dir(&self.folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.program(tool());
        command.arg("-sS").args(words);
        command
    }

    fn call(&self, words: &[&str]) -> Ran {
        self.ran(&mut self.command(&[&["--agent"], words].concat()))
    }

    /// A call from another folder.
    fn call_in(&self, folder: &Path, words: &[&str]) -> Ran {
        self.ran(self.command(&[&["--agent"], words].concat()).current_dir(folder))
    }

    /// A shell; `$TOOL` is the tool.
    fn shell(&self, line: &str) -> Ran {
        self.ran(self.program("bash").args(["-c", line]))
    }

    fn ran(&self, command: &mut Command) -> Ran {
        let out = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = out.status.code().unwrap_or_else(|| -out.status.signal().unwrap_or(1));
        Ran { code, stdout: text(&out.stdout), stderr: text(&out.stderr), folder: self.folder.clone() }
    }

    fn status(&self) -> Ran {
        self.ran(&mut self.command(&["--agent-status"]))
    }

    /// The number after a word, of the only agent there is.
    fn told(&self, word: &str) -> u32 {
        let text = self.status().text();
        assert_eq!(text.lines().count(), 1, "{text}");
        let digits = text.split_once(word).unwrap_or_else(|| panic!("{word}: {text}")).1.trim_start();
        digits.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    }

    fn process(&self) -> u32 {
        self.told("agent")
    }

    fn place(&self) -> PathBuf {
        self.runtime.join("warmwire")
    }

    /// Returns the agents' files whose names end like this.
    fn files(&self, end: &str) -> Vec<PathBuf> {
        let all = fs::read_dir(self.place()).into_iter().flatten();
        let mut files: Vec<_> = all.map(|file| file.unwrap().path()).collect();
        files.retain(|path| path.to_string_lossy().ends_with(end));
        files.sort();
        files
    }

    /// The socket of the only agent.
    fn socket(&self) -> PathBuf {
        let sockets = self.files("");
        let is_socket = |path: &&PathBuf| fs::metadata(path).is_ok_and(|meta| meta.file_type().is_socket());
        sockets.iter().find(is_socket).unwrap_or_else(|| panic!("no socket: {sockets:?}")).clone()
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        let _ = self.command(&["--agent-stop"]).output();
    }
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn state(process: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next().filter(|state| !matches!(state, 'Z' | 'X'))
}

/// Leaves the test out if only root may do this. An agent's folders in /proc are closed to its own user.
fn allowed<T>(result: io::Result<T>) -> T {
    match result {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => testkit::left_out("needs root"),
        result => result.unwrap(),
    }
}

fn signal(name: &str, process: u32) {
    // The shell's own: procps may not be installed.
    let line = format!("kill -{name} {process}");
    assert!(Command::new("sh").args(["-c", &line]).status().unwrap().success());
}

fn ended(mut child: Child) -> (Option<i32>, Option<i32>, String) {
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    let status = child.wait().unwrap();
    (status.code(), status.signal(), text)
}

#[test]
fn the_next_command_finds_the_connection_warm() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let url = server.url("/bytes/10");
    let format = "%{num_connects} %{xfer_id} %{http_code}\n";
    assert_eq!(agents.status().code, 1);
    let first = agents.call(&["-w", format, "-o", "one", &url]).text();
    let second = agents.call(&["-w", format, "-o", "two", &url]).text();
    assert_eq!((first.as_str(), second.as_str()), ("1 0 200\n", "0 0 200\n"));
    assert_eq!(server.accepts(), 1);
    assert_eq!(fs::read(agents.folder.join("one")).unwrap(), fs::read(agents.folder.join("two")).unwrap());
    assert_eq!((agents.told("calls"), agents.told("connections")), (2, 1));
    let process = agents.process();
    assert_eq!(agents.ran(&mut agents.command(&["--agent-stop"])).text(), "agent: stopped\n");
    until("the agent goes, and closes its connections", || state(process).is_none() && server.open() == 0);
    assert_eq!(agents.status().code, 1);
    assert!(agents.files("").is_empty(), "{:?}", agents.files(""));
}

/// A relative name belongs to the caller's directory. Neither the connection nor the TLS session that a call
/// from one directory has left with the agent serves a call from another one, whose file of that name has
/// other contents; nor does it once the file is replaced.
#[test]
fn relative_names_belong_to_the_callers_folder() {
    let agents = Agents::new();
    let (authority, stranger) = (Authority::new(), Authority::new());
    let leaf = authority.good();
    let server = HttpServer::tls(authority.demanding(&leaf).unwrap());
    let url = server.url("/bytes/10");
    let client = |authority: &Authority| {
        let leaf = authority.client("me");
        leaf.cert_pem + &leaf.key_pem
    };
    let trusted = folder_with("ca.pem", authority.ca_pem()).join("ca.pem").display().to_string();
    let own = folder_with("me.pem", &client(&authority)).join("me.pem").display().to_string();
    let pin = stranger.good().public_key_pem();
    // A server that refuses a certificate of TLS 1.3 says so when the reply is read.
    let rows: [(&str, String, String, &[i32]); 4] = [
        ("--cacert", authority.ca_pem().to_owned(), stranger.ca_pem().to_owned(), &[60]),
        ("--cert", client(&authority), client(&stranger), &[35, 56]),
        ("--crlfile", authority.empty_crl(), "no list".to_owned(), &[82]),
        ("--pinnedpubkey", leaf.public_key_pem(), pin, &[90]),
    ];
    for (option, good, other, refused) in rows {
        let folders = [folder_with("f.pem", &good), folder_with("f.pem", &other)];
        let mut words = vec![option, "f.pem"];
        for (other_option, file) in [("--cacert", &trusted), ("--cert", &own)] {
            if other_option != option {
                words.extend([other_option, file]);
            }
        }
        words.push(&url);
        let fresh = server.accepts();
        for _ in 0..2 {
            assert_eq!(agents.call_in(&folders[0], &words).text().len(), 10, "{option}");
        }
        assert_eq!(server.accepts(), fresh + 1, "{option}: the connection is kept");
        let denied = |folder: &Path, why: &str| {
            let ran = agents.call_in(folder, &words);
            assert!(refused.contains(&ran.code) && ran.stdout.is_empty(), "{option} {why}: {}", ran.stderr);
        };
        denied(&folders[1], "in another folder");
        assert_eq!(agents.call_in(&folders[0], &words).text().len(), 10, "{option}");
        fs::write(folders[0].join("new"), &other).unwrap();
        fs::rename(folders[0].join("new"), folders[0].join("f.pem")).unwrap();
        denied(&folders[0], "replaced");
    }
}

/// As above for a socket.
#[test]
fn a_socket_is_one_of_the_callers_folder() {
    let agents = Agents::new();
    let folders = [empty_folder(), empty_folder()];
    for (folder, name) in folders.iter().zip(["of a", "of b"]) {
        let listener = std::os::unix::net::UnixListener::bind(folder.join("s")).unwrap();
        std::thread::spawn(move || {
            for mut peer in listener.incoming().flatten() {
                std::thread::spawn(move || {
                    let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{name}", name.len());
                    while peer.read(&mut [0; 4096]).is_ok_and(|n| n > 0) {
                        peer.write_all(reply.as_bytes()).unwrap();
                    }
                });
            }
        });
    }
    let words = ["-w", " %{num_connects}", "--unix-socket", "s", "http://host.test/"];
    let asked = |folder: usize| agents.call_in(&folders[folder], &words).text();
    assert_eq!((asked(0), asked(0)), ("of a 1".into(), "of a 0".into()));
    assert_eq!((asked(1), asked(0)), ("of b 1".into(), "of a 0".into()));
}

/// As above for the key of an SSH login: one that is not authorised does not get in by the connection of one
/// that is.
#[test]
fn an_ssh_key_is_one_of_the_callers_folder() {
    let agents = Agents::new();
    let server = Sshd::start("").unwrap();
    let path = server.write("file", "text\n").unwrap().display().to_string();
    let url = server.url("sftp", &path);
    let folders = [empty_folder(), empty_folder()];
    fs::copy(server.path("user_ed25519"), folders[0].join("k")).unwrap();
    keygen(&folders[1], "k", &["-t", "ed25519", "-N", ""]).unwrap();
    let words = ["-w", "%{num_connects}", "--insecure", "--key", "k", &url];
    let call = |folder: usize| agents.call_in(&folders[folder], &words);
    assert_eq!((call(0).text(), call(0).text()), ("text\n1".into(), "text\n0".into()));
    let denied = call(1);
    assert_eq!(denied.code, 67, "{}{}", denied.stdout, denied.stderr);
    assert_eq!(call(0).text(), "text\n0");
}

#[test]
fn the_environment_asks_for_it_and_an_option_excepts_one() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let url = server.url("/bytes/1");
    let auto = |words: &[&str]| {
        let mut command = agents.command(words);
        agents.ran(command.env("WARMWIRE_AGENT", "auto").env("WARMWIRE_AGENT_IDLE", "77")).text()
    };
    auto(&[&url]);
    auto(&["--no-agent", &url]);
    assert_eq!((agents.told("calls"), agents.told("s of")), (1, 77));
    assert_eq!(server.accepts(), 2);
}

/// Output, messages and exit codes; each command twice, so that the agent's second time is seen as well.
#[test]
fn output_and_exit_codes_are_those_without() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let refused = format!("http://127.0.0.1:{}/", testkit::raw::RawPeer::refused_port());
    let urls = ["/bytes/100000", "/status/404", "/redirect/3", "/cut/5/bytes/9"].map(|path| server.url(path));
    let commands: Vec<Vec<&str>> = vec![
        vec![&urls[0]],
        vec!["-f", &urls[1]],
        vec!["-L", "-w", "%{num_redirects} %{stderr}%{url_effective}", &urls[2]],
        vec![&urls[3]],
        vec!["-Z", &urls[0], &urls[1], "-o", "a", "-o", "b"],
        vec![&refused],
        vec!["--nonsense"],
        vec!["--version"],
        vec!["-o", "/nowhere/at/all", &urls[0]],
        vec!["-K", "absent", &urls[0]],
        vec!["--dry-run", &urls[0]],
        vec!["--expand-data", "{{PWD}}{{_:trim}}", "--variable", "%PWD", "--variable", "%_=x", &urls[0]],
    ];
    for words in &commands {
        let own = agents.ran(&mut agents.command(words));
        for _ in 0..2 {
            let other = agents.call(words);
            // A transfer's time is in the message of a connection that was refused.
            let text = |ran: &Ran| ran.stderr.split(" after ").next().unwrap().to_string();
            assert_eq!((other.code, text(&other)), (own.code, text(&own)), "{words:?}");
            assert!(other.stdout == own.stdout, "{words:?}");
        }
    }
    assert_eq!(
        agents.told("calls"),
        2 * (commands.len() as u32 - 1),
        "only what is no command line is not handed over"
    );
}

#[test]
fn folder_umask_input_and_environment_are_the_callers() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let url = server.url("/body");
    fs::create_dir(agents.folder.join("below")).unwrap();
    let line = format!(
        "umask 077; cd below; $TOOL --agent -s {url} -d @- -o secret <<< one\n\
         umask 022; cd ..; (echo two; echo three) | $TOOL --agent -s {url} -T - -o open; stat -c %a below/secret open"
    );
    assert_eq!(agents.shell(&line).text(), "600\n644\n");
    let written = |name: &str| fs::read_to_string(agents.folder.join(name)).unwrap();
    assert_eq!((written("below/secret"), written("open")), ("one".to_string(), "two\nthree\n".to_string()));
    assert_eq!(agents.told("calls"), 2, "one agent for both folders");
    // Another environment is another agent's.
    let proxied = agents.ran(
        agents.command(&["--agent", "http://nowhere.invalid/bytes/3"]).env("http_proxy", server.url("/")),
    );
    assert_eq!((proxied.code, proxied.stdout.len()), (0, 3), "{}", proxied.stderr);
    let home = empty_folder();
    fs::write(home.join(".curlrc"), "write-out = told\n").unwrap();
    let configured =
        agents.ran(agents.command(&["--agent", &server.url("/bytes/0")]).env("CURL_HOME", &home));
    assert_eq!(configured.text(), "told");
    assert_eq!(agents.status().text().lines().count(), 3);
}

/// Input that a call does not read is left for the next reader, and output that it could not write does not
/// appear in another's.
#[test]
fn nothing_is_left_in_buffers() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let large = server.url("/bytes/3000000");
    let line =
        format!("printf 'url=%s\\nrest' {} > list; (head -n 1 > first; cat) < list", server.url("/bytes/1"));
    assert_eq!(agents.shell(&line).text(), "rest");
    let line =
        format!("$TOOL --agent -s {large} | head -c 3; $TOOL --agent -s {}", server.url("/status/200"));
    let own = agents.shell(&line.replace("--agent", ""));
    assert_eq!(agents.shell(&line).stdout, own.stdout);
    let full =
        format!("$TOOL --agent -s {0} > /dev/full; echo $?; $TOOL --agent -s {0}", server.url("/bytes/5"));
    assert_eq!(agents.shell(&full).stdout, agents.shell(&full.replace("--agent", "")).stdout);
}

#[test]
fn a_signal_ends_the_command_and_the_call() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let slow = server.url("/drip/1/50/bytes/100000");
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("KILL", 9), ("USR1", 10)] {
        agents.call(&[&server.url("/bytes/1")]).text();
        let process = agents.process();
        let before = server.served();
        // When the tests run in the background, the shell makes them ignore an interrupt, or nohup a hangup.
        let heeding = ["--default-signal=INT,HUP", tool(), "-sS", "--agent", "-N", "-o", "slow", &slow];
        let child = agents.program("env").args(heeding).spawn().unwrap();
        until("the transfer is under way", || server.requests().len() > before);
        assert_eq!(agents.status().text(), "agent: busy with a call\n");
        signal(name, child.id());
        assert_eq!(ended(child), (None, Some(number), String::new()), "{name}");
        until("the agent is gone", || state(process).is_none());
        until("and its connections", || server.open() == 0);
    }
}

#[test]
fn a_stop_stops_both_and_ignored_signals_are_ignored() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    // Started by a shell: its changes of the environment make another world.
    agents.shell(&format!("set -m; $TOOL --agent -s {}", server.url("/bytes/1"))).text();
    let process = agents.process();
    let slow = server.url("/drip/1/20/bytes/200");
    let line = format!("set -m; $TOOL --agent -sN {slow} > out & echo $!; wait -f $!");
    let mut shell = agents.program("bash").args(["-c", &line]).spawn().unwrap();
    let mut out = shell.stdout.take().unwrap();
    let mut number = Vec::new();
    while number.last() != Some(&b'\n') {
        let mut byte = [0];
        assert_eq!(out.read(&mut byte).unwrap(), 1);
        number.push(byte[0]);
    }
    let command: u32 = String::from_utf8(number).unwrap().trim().parse().unwrap();
    until("the transfer is under way", || server.requests().len() > 1);
    signal("TSTP", command);
    until("both are stopped", || state(command) == Some('T') && state(process) == Some('T'));
    signal("CONT", command);
    until("both go on", || state(command) != Some('T') && state(process) != Some('T'));
    shell.wait().unwrap();
    assert_eq!(fs::metadata(agents.folder.join("out")).unwrap().len(), 200);
    let line =
        format!("trap '' HUP; $TOOL --agent -sN {slow} & kill -HUP $!; sleep 0.2; kill -HUP $!; wait $!");
    let ran = agents.shell(&line);
    assert_eq!((ran.code, ran.stdout.len()), (0, 200));
}

/// No call is made twice, and the remains of a dead agent disturb none.
#[test]
fn an_agent_that_dies() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let url = server.url("/bytes/1");
    agents.call(&[&url]).text();
    let process = agents.process();
    let child =
        agents.command(&["--agent", "-o", "slow", &server.url("/drip/1/50/bytes/100000")]).spawn().unwrap();
    until("the transfer is under way", || server.requests().len() > 1);
    signal("KILL", process);
    let (code, _, text) = ended(child);
    assert_eq!((code, text.as_str()), (Some(2), "curl: (2) The agent ended in the middle of the call\n"));
    assert_eq!(server.requests().len(), 2);
    agents.call(&[&url]).text();
    let next = agents.process();
    assert_ne!(next, process);
    signal("TERM", next);
    until("an idle one goes at once", || state(next).is_none());
    agents.call(&[&url]).text();
    assert_eq!(agents.told("calls"), 1);
}

#[test]
fn an_agent_goes_when_nobody_wants_it() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    agents.call(&["--agent-idle", "1", &server.url("/bytes/1")]).text();
    until("it leaves nothing behind", || agents.files("").is_empty());
    until("and closes its connections", || server.open() == 0);
    assert_eq!(agents.call(&["--agent-idle", "soon", "http://127.0.0.1/"]).code, 2);
}

#[test]
fn commands_side_by_side() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let words = ["--agent", &server.url("/delay/300/bytes/1000")];
    let children: Vec<_> = (0..6).map(|_| agents.command(&words).spawn().unwrap()).collect();
    for child in children {
        let out = child.wait_with_output().unwrap();
        assert_eq!((out.status.code(), out.stdout.len()), (Some(0), 1000));
    }
    let count = agents.status().text().lines().count();
    assert!((2..=6).contains(&count), "{count}");
}

/// A pipe that the shell had open is not kept open, and the prompt returns at once.
#[test]
fn an_agent_holds_nothing_of_the_shells() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let line = format!("exec 5>&1 6>&2; $TOOL --agent -s {} -o f; echo $?", server.url("/bytes/1"));
    let began = Instant::now();
    assert_eq!(agents.shell(&line).text(), "0\n");
    assert!(began.elapsed() < Duration::from_secs(60));
    assert!(state(agents.process()).is_some());
    let folder = allowed(fs::read_link(format!("/proc/{}/cwd", agents.process())));
    assert_eq!(folder, Path::new("/"));
}

/// Passwords are asked for on the command's terminal, and overwritten there.
#[test]
fn passwords_are_the_commands_business() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let url = server.url("/echo");
    let line = format!("(echo secret; echo rest) | (setsid -w $TOOL --agent -s -u me {url}; cat)");
    let ran = agents.shell(&line);
    assert!(ran.stdout.contains("Authorization: Basic bWU6c2VjcmV0"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("rest\n"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "Enter host password for user 'me':\n");
    assert_eq!(agents.told("calls"), 1);
    let slow = server.url("/delay/3000/bytes/1");
    let mut child = agents.command(&["--agent", "-u", "me:xyzzy", &slow]).spawn().unwrap();
    let line = || fs::read_to_string(format!("/proc/{}/cmdline", child.id())).unwrap();
    until("the secret is hidden", || line().contains("-u") && !line().contains("xyzzy"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn files_of_the_process_itself_are_read_by_it() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let line = format!("$TOOL --agent -sK <(echo url={}) -o /dev/stdout", server.url("/bytes/7"));
    assert_eq!(agents.shell(&line).text().len(), 7);
    assert_eq!(agents.status().code, 1, "no agent was asked");
    let limited = format!("ulimit -t 60; $TOOL --agent -s {}", server.url("/bytes/7"));
    assert_eq!(agents.shell(&limited).text().len(), 7);
    assert_eq!(agents.status().code, 1, "no agent was asked");
}

/// Another network, or rights that the agent's process has and the caller has not.
#[test]
fn another_standing_finds_another_agent() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let url = server.url("/bytes/1");
    agents.call(&[&url]).text();
    let socket = agents.socket();
    let elsewhere = agents.shell(&format!("unshare -n $TOOL --agent -s {url}"));
    assert_eq!(elsewhere.code, 7, "the loopback is down there: {}", elsewhere.stderr);
    assert_eq!(agents.files(".lock").len(), 2);
    let known = agents.files(".lock");
    let confined = format!("setpriv --no-new-privs $TOOL --agent -s {url}");
    assert_eq!(agents.shell(&confined).text().len(), 1);
    let locks = agents.files(".lock");
    let lock = locks.iter().find(|lock| !known.contains(lock)).expect("a third place");
    // Even where it reaches the first agent, that one looks who it is.
    let place = lock.with_extension("");
    fs::remove_file(&place).unwrap();
    symlink(&socket, &place).unwrap();
    assert_eq!(agents.shell(&confined).text().len(), 1);
    let calls = agents.status().text();
    assert!(!calls.contains("calls 2,"), "nobody made it for him: {calls}");
}

/// A process of another user is not accepted, and gets no reply.
#[test]
fn strangers_are_neither_heard_nor_told() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let url = server.url("/bytes/1");
    agents.call(&[&url]).text();
    let socket = agents.socket();
    // The directory excludes them; if it is opened, the socket does.
    let knock = format!(
        "import socket,sys\ns=socket.socket(socket.AF_UNIX)\n\
         try: s.connect({socket:?}); s.sendall(b'?\\0\\0\\0\\0'); print(len(s.recv(100)))\n\
         except OSError as e: print(type(e).__name__)"
    );
    let knocks = |user: &str| {
        agents
            .ran(agents.program("setpriv").args([
                "--reuid",
                user,
                "--clear-groups",
                "/usr/bin/python3",
                "-c",
                &knock,
            ]))
            .text()
    };
    fs::set_permissions(&agents.runtime, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(knocks("65534"), "PermissionError\n");
    for path in [agents.place(), socket.clone()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    // Closed in his face, before he has spoken or after.
    let refused = knocks("65534");
    assert!(["0\n", "ConnectionResetError\n", "BrokenPipeError\n"].contains(&refused.as_str()), "{refused}");
    assert_ne!(knocks("0"), "0\n", "one's own is answered");
    // A folder that others may enter is none to meet in.
    assert_eq!(agents.call(&["-w", "%{num_connects}", &url]).text().len(), 2);
    assert_eq!(agents.status().code, 1);
    fs::set_permissions(agents.place(), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(agents.told("calls"), 1);
    // Another user's socket in the directory receives nothing.
    agents.ran(&mut agents.command(&["--agent-stop"])).text();
    let squat = format!(
        "import os,socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.bind({socket:?})\nos.setuid(65534)\ns.listen()\n\
         print('ready',flush=True)\nc,_=s.accept()\nprint(len(c.recv(1000)),flush=True)"
    );
    let mut squatter = agents.program("python3").args(["-c", &squat]).spawn().unwrap();
    let mut out = squatter.stdout.take().unwrap();
    out.read_exact(&mut [0; 6]).unwrap();
    assert_eq!(agents.call(&[&url]).text().len(), 1);
    let mut heard = String::new();
    out.read_to_string(&mut heard).unwrap();
    squatter.wait().unwrap();
    assert_eq!(heard, "0\n");
}

#[test]
fn a_folder_of_somebody_elses_is_not_used() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let url = server.url("/bytes/1");
    let elsewhere = empty_folder();
    symlink(&elsewhere, agents.place()).unwrap();
    assert_eq!(agents.call(&[&url]).text().len(), 1);
    fs::remove_file(agents.place()).unwrap();
    fs::create_dir(agents.place()).unwrap();
    allowed(std::os::unix::fs::chown(agents.place(), Some(65534), None));
    assert_eq!(agents.call(&[&url]).text().len(), 1);
    assert!(agents.status().stdout.contains("belongs to another user"));
    assert!(agents.files("").is_empty() && fs::read_dir(&elsewhere).unwrap().next().is_none());
    fs::remove_dir(agents.place()).unwrap();
}

/// Neither malformed messages nor silence end an agent.
#[test]
fn an_agent_bears_nonsense() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    agents.call(&[&server.url("/bytes/1")]).text();
    let (process, socket) = (agents.process(), agents.socket());
    for words in [&b""[..], b"C\0\0\0\x01\0", b"Z\0\0\0\0", b"D\0\0\0\x04\0\0\0\0", b"C\xff\xff\xff\xff"] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(words).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(stream.read(&mut [0; 9]).unwrap_or(0), 0, "{words:?}");
    }
    agents.call(&[&server.url("/bytes/1")]).text();
    assert_eq!((agents.process(), agents.told("calls")), (process, 2));
}

/// The program was replaced: its agent exits, and one of the new program starts.
#[test]
fn an_agent_of_another_build_is_replaced() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let url = server.url("/bytes/1");
    agents.call(&[&url]).text();
    let old = agents.process();
    let newer = agents.folder.join("newer");
    // Copied by another process: a child of another test would keep open what this one had open for writing.
    assert!(Command::new("cp").arg(tool()).arg(&newer).status().unwrap().success());
    agents.ran(agents.program(newer.to_str().unwrap()).args(["--agent", "-s", &url])).text();
    until("the old one goes", || state(old).is_none());
    assert_ne!(agents.process(), old);
    assert_eq!(agents.told("calls"), 1);
}

/// Many calls do not grow it, and leave nothing open.
#[test]
fn an_agent_does_not_grow() {
    let agents = Agents::new();
    let server = HttpServer::plain();
    let line = |count: u32| {
        let (ok, gone) = (server.url("/bytes/5000"), server.url("/status/404"));
        format!(
            "for i in $(seq {count}); do $TOOL --agent -s {ok} -o f --trace t && $TOOL --agent -s {gone} -D h -o g; done"
        )
    };
    agents.shell(&line(20)).text();
    let process = agents.process();
    let resident = || {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    let open = || allowed(fs::read_dir(format!("/proc/{process}/fd"))).count();
    let before = (resident(), open());
    agents.shell(&line(200)).text();
    assert_eq!(agents.process(), process);
    // The end of the last caller may not have been noticed yet.
    until("nothing is left open", || open() <= before.1);
    assert!(resident() < before.0 + 2048, "from {} to {} KiB", before.0, resident());
    assert_eq!(server.accepts(), 1);
}
