//! The broker of idle connections: how it starts, lives and ends. tests/cli/pool.rs has the connections.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use testkit::dns::{A, DnsAnswer, NameServer, address};
use testkit::http::HttpServer;

use super::{clean, empty_folder, shell_with_mounts, tool};

/// A folder of the broker, which ends with the test.
struct BrokerFolder(PathBuf);

impl BrokerFolder {
    fn new() -> BrokerFolder {
        BrokerFolder(empty_folder())
    }

    fn folder(&self) -> PathBuf {
        self.0.join("pool")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(tool());
        clean(command.args(words)).env("WARMWIRE_POOL_DIR", self.folder()).stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs the tool until it has started a broker, and returns the broker's process.
    fn start(&self, url: &str) -> u32 {
        assert!(self.run(&["-sS", "--pool", "user", url]).status.success());
        eventually(|| self.status().0 == 0);
        let (_, text) = self.status();
        let number = text.strip_prefix("broker ").and_then(|text| text.split(':').next()).unwrap();
        number.parse().unwrap()
    }

    fn status(&self) -> (i32, String) {
        let output = self.run(&["--pool-status"]);
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }
}

impl Drop for BrokerFolder {
    fn drop(&mut self) {
        let _ = self.run(&["--pool-stop"]);
    }
}

fn eventually(mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < end, "it did not happen in time");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_alive(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

#[test]
fn a_command_starts_the_broker_and_another_stops_it() {
    let (server, place) = (HttpServer::plain(), BrokerFolder::new());
    let (code, text) = place.status();
    assert_eq!((code, text.as_str()), (1, "no broker runs\n"));
    assert_eq!(place.run(&["--pool-stop"]).status.code(), Some(1));
    let broker = place.start(&server.url("/"));
    assert!(is_alive(broker));
    assert!(place.status().1.contains(", exits after 120 idle s\n"));
    assert_eq!(place.run(&["--pool-stop"]).status.code(), Some(0));
    eventually(|| !is_alive(broker));
    assert_eq!(place.status().0, 1);
    // A killed one is replaced.
    let broker = place.start(&server.url("/"));
    assert!(Command::new("sh").args(["-c", &format!("kill -9 {broker}")]).status().unwrap().success());
    eventually(|| !is_alive(broker));
    assert_ne!(place.start(&server.url("/")), broker);
}

/// Returns the session of a process. It is 0 if the session began outside of a container: `getsid` of rustix
/// panics there.
fn session(process: &Path) -> u32 {
    let status = fs::read_to_string(process.join("stat")).unwrap();
    status.rsplit(')').next().unwrap().split_whitespace().nth(3).unwrap().parse().unwrap()
}

/// Nothing of the caller stays with the broker: session, folder, environment, descriptors. It can be neither
/// dumped nor traced.
#[test]
fn the_broker_has_nothing_of_its_caller() {
    let (server, place) = (HttpServer::plain(), BrokerFolder::new());
    let mut shell = Command::new("sh");
    // Descriptor 9 is a pipe whose reader waits until nobody has it any more.
    let line = "{ \"$TOOL\" -sS --pool user \"$URL\" 9>&1 >out; } | cat";
    clean(shell.args(["-c", line])).env("TOOL", tool()).env("URL", server.url("/")).env("SECRET", "x");
    shell.env("WARMWIRE_POOL_DIR", place.folder()).current_dir(&place.0).stdin(Stdio::null());
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let broker = place.start(&server.url("/"));
    let about = PathBuf::from(format!("/proc/{broker}"));
    assert_ne!(session(&about), session(Path::new("/proc/self")));
    let Ok(descriptors) = fs::read_dir(about.join("fd")) else {
        testkit::left_out("needs root to look into a process that is not dumpable");
    };
    for descriptor in descriptors.flatten() {
        let target = fs::read_link(descriptor.path()).unwrap_or_default();
        let shown = target.to_string_lossy();
        let is_own = ["/dev/null", "anon_inode:", "socket:"].iter().any(|own| shown.starts_with(own));
        assert!(is_own || shown.ends_with("/broker.lock"), "{shown}");
    }
    assert_eq!(fs::read_link(about.join("cwd")).unwrap(), Path::new("/"));
    assert_eq!(fs::read(about.join("environ")).unwrap(), b"");
    let limits = fs::read_to_string(about.join("limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"]);
}

/// A command without a usable folder, or with a broker that cannot be started, works as without one.
#[test]
fn a_command_without_a_broker_works() {
    let (server, place) = (HttpServer::plain(), BrokerFolder::new());
    let url = server.url("/");
    let files = place.0.join("file");
    fs::write(&files, "").unwrap();
    let cases: [&[(&str, &str)]; 4] = [
        &[("WARMWIRE_POOL_DIR", files.to_str().unwrap())],
        &[("WARMWIRE_POOL_DIR", "/proc/none")],
        &[("WARMWIRE_BROKER", "/does/not/exist")],
        &[("WARMWIRE_BROKER", "/bin/true"), ("HOME", "/does/not/exist")],
    ];
    for variables in cases {
        let mut command = place.command(&["-sS", "--pool", "user", &url]);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{variables:?}: {output:?}");
    }
    assert_eq!(place.status().0, 1);
}

/// A place without a folder for the socket, or on a full disk, costs the warm connections alone.
#[test]
fn a_full_disk_and_a_missing_runtime_folder() {
    if !rustix::process::geteuid().is_root() {
        testkit::left_out("needs root to mount a small disk");
    }
    let (server, place) = (HttpServer::plain(), BrokerFolder::new());
    let get = "\"$TOOL\" -sS --pool user \"$URL\" >/dev/null";
    // No inode is left for the folder, or for the files in it; the disk is read-only; /run/user is missing.
    let full =
        format!("mount -t tmpfs -o nr_inodes=1 none \"$PLACE\" && WARMWIRE_POOL_DIR=$PLACE/pool && {get}");
    let fuller = format!(
        "mount -t tmpfs -o nr_inodes=2,mode=0700 none \"$PLACE\" && mkdir -m 700 \"$PLACE/pool\" && \
         WARMWIRE_POOL_DIR=$PLACE/pool && {get}"
    );
    let read_only = format!("mount -t tmpfs -o ro none \"$PLACE\" && WARMWIRE_POOL_DIR=$PLACE/pool && {get}");
    let no_run = format!(
        "mount -t tmpfs none /run && mount -t tmpfs -o mode=1777 none /tmp && unset WARMWIRE_POOL_DIR && \
         {get} && sleep 0.5 && test -d /tmp/warmwire-0 && \"$TOOL\" --pool-stop"
    );
    let mount = place.0.join("disk");
    fs::create_dir(&mount).unwrap();
    for script in [full, fuller, read_only, no_run] {
        let mut command = Command::new("unshare");
        clean(command.args(["-m", "sh", "-ec"]).arg(format!("export WARMWIRE_POOL_DIR; {script}")));
        command.env("TOOL", tool()).env("URL", server.url("/")).env("PLACE", &mount);
        command.env("WARMWIRE_POOL_DIR", "").env("HOME", "/does/not/exist").stdin(Stdio::null());
        let output = testkit::needs::output(&mut command);
        let stderr = String::from_utf8_lossy(&output.stderr);
        if stderr.contains("unshare failed") {
            testkit::left_out("needs the right to make a mount namespace");
        }
        assert!(output.status.success() && stderr.is_empty(), "{script}: {output:?}");
    }
    assert_eq!(server.accepts(), 4);
}

/// Thousands of processes, two at a time: all are served, by few connections, and the broker does not grow.
/// `PROCESSES` is their number.
#[test]
fn many_processes_share_few_connections() {
    let (server, place) = (HttpServer::plain(), BrokerFolder::new());
    let url = server.url("/bytes/1000");
    let broker = place.start(&url);
    let count: usize = std::env::var("PROCESSES").map_or(300, |text| text.parse().expect("a number"));
    let run = |from: usize, to: usize| {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for number in (from..to).step_by(2) {
                        let output = place.run(&["-sS", "--pool", "user", &url]);
                        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 1000), "{number}");
                    }
                });
            }
        });
    };
    run(0, count / 10);
    let before = resident_kib(broker);
    run(count / 10, count);
    let after = resident_kib(broker);
    assert!(after <= before + before / 10 + 256, "the broker grew from {before} to {after} KiB");
    assert!(server.accepts() < count / 2, "{} connections for {count} processes", server.accepts());
    println!("{count} processes: {} connections, broker {before} to {after} KiB", server.accepts());
}

/// Returns the resident memory of a process in KiB.
fn resident_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A take from a known broker costs twelve system calls. The second transfer's is counted: the first one
/// finds the broker.
#[test]
fn a_take_costs_twelve_system_calls() {
    let (servers, place) = ([HttpServer::plain(), HttpServer::plain()], BrokerFolder::new());
    let urls = servers.each_ref().map(|server| server.url("/"));
    place.start(&urls[0]);
    let (mut taken, mut calls) = (Vec::new(), String::new());
    // On a busy machine the broker may be too slow for the traced process, which then opens a connection.
    eventually(|| {
        // A process waits at most 20 ms for the broker at its end; on a busy machine a connection is lost.
        eventually(|| {
            assert!(place.run(&["-sS", "--pool", "user", &urls[0], &urls[1]]).status.success());
            let (_, list) = place.status();
            servers.iter().all(|server| list.contains(&format!(":{} ", server.port())))
        });
        let mut command = Command::new("strace");
        command.args(["-f", "-o", "calls", tool(), "-sS", "--pool", "user", &urls[0], &urls[1]]);
        clean(&mut command).env("WARMWIRE_POOL_DIR", place.folder()).current_dir(&place.0);
        let output = testkit::needs::output(command.stdin(Stdio::null()));
        assert!(output.status.success(), "{output:?}");
        calls = fs::read_to_string(place.0.join("calls")).unwrap();
        taken = calls_of_takes(&calls);
        taken.len() == 2
    });
    assert!(taken[1].len() <= 12, "{} calls: {:#?}", taken[1].len(), taken[1]);
    // The first one asks on the connection on which the process has greeted the broker.
    assert!(taken[0].len() <= 17, "{} calls: {:#?}", taken[0].len(), taken[0]);
    assert!(!calls.contains("clone"), "a short process starts no thread");
}

/// Returns the system calls of each take: from the check of the user to the end of the socket that brought
/// the connection. std's debug assertions add calls of fcntl, and the first buffer makes the heap grow (brk).
fn calls_of_takes(calls: &str) -> Vec<Vec<String>> {
    let arrivals = calls.lines().filter(|line| line.contains("recvmsg(") && line.contains("SCM_RIGHTS"));
    let take = |arrival: &&str| -> Option<Vec<String>> {
        let (process, _) = arrival.split_once(' ')?;
        let own: Vec<&str> = calls.lines().filter(|line| line.split(' ').next() == Some(process)).collect();
        let place = own.iter().position(|line| line == arrival)?;
        let start = own[..place].iter().rposition(|line| line.contains("/ns/net"))?;
        let start = own[..start].iter().rposition(|line| line.contains("geteuid("))?;
        let end = place + own[place..].iter().position(|line| line.contains("close("))?;
        let counts = |line: &&&str| !line.contains("fcntl(") && !line.contains("brk(");
        let calls = own[start..=end].iter().filter(counts);
        Some(calls.map(|line| line.to_string()).collect())
    };
    arrivals.map(|arrival| take(&arrival).unwrap_or_else(|| panic!("{calls}"))).collect()
}

/// A process finds the names that another one has looked up, and asks again when a file of the system's
/// resolver has changed.
#[test]
fn processes_share_names() {
    let number = std::process::id();
    let here = format!("127.36.{}.{}", number / 250 % 250, number % 250 + 1);
    let answer = |asked: &_| match asked {
        testkit::dns::ReceivedQuery { kind: A, .. } => address(A, "127.0.0.1"),
        _ => DnsAnswer::Records(Vec::new()),
    };
    let Ok(names) = NameServer::start_at(format!("{here}:53").parse().unwrap(), answer) else {
        testkit::left_out("needs root, and port 53 on loopback");
    };
    let (server, place) = (HttpServer::plain(), BrokerFolder::new());
    place.start(&server.url("/"));
    let write = |name: &str, text: &str| fs::write(place.0.join(name), text).unwrap();
    write("hosts", "127.0.0.1 localhost\n");
    write("resolv.conf", &format!("nameserver {here}\n"));
    write("nsswitch.conf", "hosts: files dns\n");
    let script = "for file in hosts resolv.conf nsswitch.conf; do mount --bind $file /etc/$file; done && \
        exec \"$TOOL\" -sS --pool user -H 'Connection: close' \"$URL\"";
    // Returns the number of queries of a process.
    let queries = || {
        let before = names.asked().len();
        let mut command = shell_with_mounts(script);
        clean(&mut command).env("WARMWIRE_POOL_DIR", place.folder()).current_dir(&place.0);
        command.env("TOOL", tool()).env("URL", format!("http://warm.example:{}/", server.port()));
        let output = testkit::needs::output(command.stdin(Stdio::null()));
        assert!(output.status.success(), "{output:?}");
        names.asked().len() - before
    };
    // On a busy machine the broker may be too slow to store a name or to find it.
    assert_ne!(queries(), 0);
    eventually(|| queries() == 0);
    write("hosts", "127.0.0.1 localhost\n127.0.0.1 other\n");
    assert_ne!(queries(), 0, "a changed hosts file");
    eventually(|| queries() == 0);
    write("resolv.conf", &format!("nameserver {here}\noptions timeout:3\n"));
    assert_ne!(queries(), 0, "a changed resolv.conf");
    eventually(|| queries() == 0);
}

/// Fifty commands at once start one broker.
#[test]
fn many_commands_start_one_broker() {
    let (server, place) = (HttpServer::plain(), BrokerFolder::new());
    let url = server.url("/");
    let start = || place.command(&["-sS", "--pool", "user", &url]).stdout(Stdio::null()).spawn().unwrap();
    let commands: Vec<_> = (0..50).map(|_| start()).collect();
    for mut command in commands {
        assert!(command.wait().unwrap().success());
    }
    eventually(|| place.status().0 == 0);
    let first = place.start(&url);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(place.start(&url), first);
    assert!(place.run(&["--pool-stop"]).status.success());
    eventually(|| !is_alive(first));
    // A second one would still listen.
    assert_eq!(place.status().0, 1);
}

/// systemd starts the broker with the listening socket as standard input, and keeps the socket.
#[test]
fn the_broker_serves_on_a_socket_that_it_is_given() {
    let (server, place) = (HttpServer::plain(), BrokerFolder::new());
    let listener = broker::Folder::at(&place.folder()).unwrap().listen().unwrap();
    let mut broker = place.command(&["--pool-broker"]);
    let mut broker = broker.stdin(listener).stdout(Stdio::null()).spawn().unwrap();
    let url = server.url("/");
    eventually(|| place.status().0 == 0);
    assert!(place.status().1.starts_with(&format!("broker {}:", broker.id())), "{}", place.status().1);
    eventually(|| {
        let before = server.accepts();
        assert!(place.run(&["-sS", "--pool", "user", &url]).status.success());
        server.accepts() == before
    });
    assert!(place.run(&["--pool-stop"]).status.success());
    assert!(broker.wait().unwrap().success());
}

/// A program with the capabilities of its file, or with another effective user, has more rights than the
/// user: it neither uses nor starts a broker. Without them it does both.
#[test]
fn programs_with_more_rights_have_no_broker() {
    if !rustix::process::geteuid().is_root() {
        testkit::left_out("needs root to give a file capabilities");
    }
    let (server, place) = (HttpServer::plain(), BrokerFolder::new());
    let url = server.url("/");
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    fs::create_dir(place.folder()).unwrap();
    std::os::unix::fs::chown(place.folder(), Some(65534), Some(65534)).unwrap();
    open(&place.folder(), 0o700);
    open(&place.0, 0o755);
    open(place.0.parent().unwrap(), 0o755);
    let program = place.0.join("warmwire");
    fs::copy(tool(), &program).unwrap();
    let as_nobody = |words: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program).args(words);
        clean(&mut command).env("WARMWIRE_POOL_DIR", place.folder()).env("WARMWIRE_BROKER", &program);
        command.env("WARMWIRE_POOL_EXIT", "77").current_dir("/").stdin(Stdio::null());
        testkit::needs::output(&mut command)
    };
    let get = || assert!(as_nobody(&["-sS", "--pool", "user", &url]).status.success());
    let mode = |mode| open(&program, mode);
    let caps = |text: &str| {
        let mut command = Command::new("setcap");
        assert!(testkit::needs::output(command.arg(text).arg(&program)).status.success(), "setcap {text}");
    };
    mode(0o755);
    caps("cap_net_raw+ep");
    (0..3).for_each(|_| get());
    caps("-r");
    mode(0o4755);
    (0..3).for_each(|_| get());
    mode(0o755);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(as_nobody(&["--pool-status"]).status.code(), Some(1), "nobody has started a broker");
    assert_eq!(server.accepts(), 6);
    get();
    eventually(|| as_nobody(&["--pool-status"]).status.success());
    let status = as_nobody(&["--pool-status"]).stdout;
    // The broker reads its limits although it forbids tracing: root could read its vector all the same.
    assert!(String::from_utf8_lossy(&status).contains("exits after 77 idle s"), "{status:?}");
    eventually(|| {
        let before = server.accepts();
        get();
        server.accepts() == before
    });
    caps("cap_net_raw+ep");
    let before = server.accepts();
    get();
    assert_eq!(server.accepts(), before + 1, "a connection is parked, and stays there");
    caps("-r");
    assert!(as_nobody(&["--pool-stop"]).status.success());
}
